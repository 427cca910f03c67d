//===- DeviceDescription.cpp - what a device can do, from a file ----------===//

#include "frontend/model/DeviceDescription.h"
#include "runtime/cuda/Device.h"

#include "codegen/gpu/GpuCompiler.h"
#include "frontend/base/JsonFile.h"
#include "runtime/base/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

using namespace tile;
using namespace tile::frontend;
using runtime::DType;
using Json = nlohmann::json;

static constexpr const char *embedded[] = {
#include "frontend/model/EmbeddedDevices.inc"
};

/// The figures that there are, and their units.
static constexpr std::pair<const char *, const char *> knownFigures[] = {
    {"memory_bandwidth", "B/s"},
    {"warp_bandwidth", "B/s"},
    {"cluster_bandwidth", "B/s"},
    {"core_bandwidth", "B/s"},
    {"core_cache", "B"},
    {"memory", "B"},
    {"l2", "B"},
    {"multiprocessors", "1"},
    {"clock", "Hz"},
    {"shared_per_multiprocessor", "B"},
    {"shared_per_block", "B"},
    {"registers_per_multiprocessor", "1"},
    {"threads_per_multiprocessor", "1"},
    {"launch", "s"},
    {"vector_f64", "FLOP/s"},
    {"vector_f32", "FLOP/s"},
    {"vector_f16", "FLOP/s"},
    {"vector_bf16", "FLOP/s"},
    {"matrix_f64", "FLOP/s"},
    {"matrix_tf32", "FLOP/s"},
    {"matrix_f16", "FLOP/s"},
    {"matrix_bf16", "FLOP/s"},
    {"matrix_f8", "FLOP/s"},
    {"matrix_i8", "op/s"},
};

double DeviceDescription::figure(const std::string &key) const {
  auto found = figures.find(key);
  return found == figures.end() ? 0 : found->second.value;
}

double DeviceDescription::operations(Unit unit, DType type) const {
  // Each type's figure, then those of wider ones.
  auto first = [&](std::initializer_list<const char *> keys) {
    for (const char *key : keys)
      if (double value = figure(key))
        return value;
    return 0.0;
  };
  bool isMatrix = unit == Unit::Matrix;
  switch (type) {
  case DType::F64:
    return isMatrix ? first({"matrix_f64"}) : first({"vector_f64"});
  case DType::F16:
    return isMatrix ? first({"matrix_f16"}) : first({"vector_f16", "vector_f32"});
  case DType::BF16:
    return isMatrix ? first({"matrix_bf16"}) : first({"vector_bf16", "vector_f32"});
  case DType::F8E4M3:
  case DType::F8E5M2:
    return isMatrix ? first({"matrix_f8", "matrix_f16"}) : first({"vector_f16", "vector_f32"});
  case DType::I8:
  case DType::U8:
    return isMatrix ? first({"matrix_i8"}) : first({"vector_f32"});
  default:
    // Products of f32 stay f32: rounding to tf32 is the source's to ask for.
    return isMatrix ? 0 : first({"vector_f32"});
  }
}

//===-- Reading -----------------------------------------------------------===//

namespace {
/// What is wrong with a description, thrown up to `parse`.
struct Wrong {
  std::string message, hint;
};

const Json &member(const Json &object, const char *key, Json::value_t type, const char *what) {
  auto found = object.find(key);
  if (found == object.end() || found->type() != type)
    throw Wrong{std::string("a description needs \"") + key + "\", " + what, ""};
  return *found;
}

/// These texts go to terminals and into pictures: no control characters, of either kind.
std::string printable(std::string value, const std::string &key) {
  for (size_t n = 0; n < value.size(); ++n) {
    auto at = [&](size_t k) { return k < value.size() ? static_cast<unsigned char>(value[k]) : 0; };
    bool isC1 = at(n) == 0xc2 && at(n + 1) >= 0x80 && at(n + 1) < 0xa0;
    bool isSeparator =
        at(n) == 0xe2 && at(n + 1) == 0x80 && (at(n + 2) == 0xa8 || at(n + 2) == 0xa9);
    if (at(n) < 0x20 || at(n) == 0x7f || isC1 || isSeparator)
      throw Wrong{"the text of " + runtime::quote(key) + " has a control character",
                  "write one line of text"};
  }
  return value;
}

std::string text(const Json &object, const char *key) {
  std::string value = member(object, key, Json::value_t::string, "a text").get<std::string>();
  if (value.empty())
    throw Wrong{std::string("\"") + key + "\" is empty", ""};
  return printable(std::move(value), key);
}

void refuseOthers(const Json &object, std::initializer_list<const char *> known,
                  const std::string &where) {
  for (const auto &[key, value] : object.items())
    if (!llvm::is_contained(known, llvm::StringRef(key)))
      throw Wrong{where + " has no " + runtime::quote(key), ""};
}

/// What no device has makes no picture and no prediction: the product and quotient of any two
/// figures stay far from the limits of a double.
void checkRange(const std::string &key, const DeviceDescription::Figure &figure) {
  bool isCount = figure.unit == "1", isWhole = isCount || figure.unit == "B";
  double least = isWhole ? 1 : 1e-12, most = isCount ? 1e9 : 1e21;
  if (!(figure.value >= least && figure.value <= most)) // NaN is neither
    throw Wrong{"\"" + key + "\": its value has to be from " + (isWhole ? "1" : "1e-12") + " to " +
                    (isCount ? "1e9" : "1e21"),
                "in " + (isCount ? "numbers" : figure.unit) + ": no prefixes"};
  if (isWhole && figure.value != std::floor(figure.value))
    throw Wrong{"\"" + key + "\": its value has to be a whole number", ""};
}

DeviceDescription::Figure figureOf(const std::string &key, const Json &value,
                                   const std::map<std::string, std::string> &sources) {
  auto known = llvm::find_if(knownFigures, [&](auto &entry) { return entry.first == key; });
  if (known == std::end(knownFigures)) {
    std::vector<std::string_view> names;
    for (const auto &entry : knownFigures)
      names.push_back(entry.first);
    std::string_view near = runtime::nearest(key, names);
    throw Wrong{"there is no figure " + runtime::quote(key),
                near.empty() ? "docs/bench.md lists them"
                             : "did you mean '" + std::string(near) + "'?"};
  }
  auto fail = [&](const std::string &what) { throw Wrong{"\"" + key + "\": " + what, ""}; };
  if (!value.is_object())
    fail("a figure is {\"value\": …, \"unit\": …, \"source\": …}");
  refuseOthers(value, {"value", "unit", "source"}, "\"" + key + "\"");
  DeviceDescription::Figure figure;
  if (!value.contains("value") || !value["value"].is_number())
    fail("its value is no number");
  figure.value = value["value"].get<double>();
  figure.unit = text(value, "unit");
  if (figure.unit != known->second)
    fail("its unit is " + std::string(known->second) + ", not " + runtime::quote(figure.unit));
  checkRange(key, figure);
  figure.source = text(value, "source");
  if (!sources.contains(figure.source))
    fail("there is no source " + runtime::quote(figure.source));
  return figure;
}

/// Whoever gives a key twice meant one of them.
Json parseOnce(const std::string &text) {
  std::vector<std::set<std::string>> keys;
  return Json::parse(text, [&](int, Json::parse_event_t event, Json &value) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(value.get<std::string>()).second)
      throw Wrong{"the key " + runtime::quote(value.get<std::string>()) + " is there twice",
                  "which of them is meant?"};
    return true;
  });
}

DeviceDescription describe(const Json &json) {
  if (!json.is_object())
    throw Wrong{"a description is an object: {\"name\": …, \"figures\": {…}}", ""};
  refuseOthers(json, {"name", "title", "kind", "target", "known_as", "sources", "figures"},
               "a description");
  DeviceDescription result;
  result.name = text(json, "name");
  result.title = text(json, "title");
  std::string kind = text(json, "kind");
  if (kind != "gpu" && kind != "cpu")
    throw Wrong{"\"kind\" is \"gpu\" or \"cpu\", not " + runtime::quote(kind), ""};
  result.isGpu = kind == "gpu";
  if (result.isGpu) {
    result.target = text(json, "target");
    if (!runtime::GpuTarget::find(result.target))
      throw Wrong{"\"target\" is " + runtime::quote(result.target) + ", which no code is made for",
                  "the targets are " + llvm::join(runtime::GpuTarget::names(), ", ")};
  } else if (json.contains("target")) {
    throw Wrong{"\"target\" is for GPUs", "leave it out"};
  }
  if (json.contains("known_as"))
    for (const Json &name : member(json, "known_as", Json::value_t::array, "a list of texts")) {
      if (!name.is_string())
        throw Wrong{"\"known_as\" is a list of texts", ""};
      result.knownAs.push_back(printable(name.get<std::string>(), "known_as"));
    }
  for (const auto &[key, value] :
       member(json, "sources", Json::value_t::object, "an object of texts").items()) {
    if (!value.is_string())
      throw Wrong{"\"sources\" is an object of texts", ""};
    result.sources[printable(key, "sources")] = printable(value.get<std::string>(), "sources");
  }
  for (const auto &[key, value] :
       member(json, "figures", Json::value_t::object, "an object").items())
    result.figures[key] = figureOf(key, value, result.sources);
  for (const char *key : {"memory_bandwidth", "launch", "vector_f32"})
    if (!result.figures.contains(key))
      throw Wrong{std::string("there is no figure \"") + key + "\", which predictions need", ""};
  return result;
}

/// "line:column" of a position in bytes, which counts from 1.
std::string placeOf(llvm::StringRef text, size_t byte) {
  llvm::StringRef before = text.take_front(byte > 0 ? byte - 1 : 0);
  size_t column = before.size() - (before.rfind('\n') + 1); // npos + 1 is 0
  return std::to_string(before.count('\n') + 1) + ":" + std::to_string(column + 1);
}
} // namespace

Outcome<DeviceDescription> DeviceDescription::parse(const std::string &text,
                                                    const std::string &origin) {
  try {
    return describe(parseOnce(text));
  } catch (const Json::parse_error &error) {
    return Failure::invalid({origin + ":" + placeOf(text, error.byte) + ": malformed JSON",
                             "docs/bench.md has the format"});
  } catch (const Json::exception &) {
    return Failure::invalid({origin + ": a number is out of range", ""});
  } catch (const Wrong &wrong) {
    return Failure::invalid({origin + ": " + wrong.message, wrong.hint});
  }
}

Outcome<DeviceDescription> DeviceDescription::read(const std::string &path) {
  auto text = readText(path, 1, "a description");
  if (!text)
    return text.takeFailure();
  return parse(*text, path);
}

//===-- Those that are built in -------------------------------------------===//

const std::vector<DeviceDescription> &DeviceDescription::builtIn() {
  static const std::vector<DeviceDescription> all = [] {
    std::vector<DeviceDescription> list;
    for (const char *text : embedded) {
      Outcome<DeviceDescription> parsed = parse(text, "a built-in description");
      assert(parsed && "the tests read them all");
      if (parsed)
        list.push_back(*std::move(parsed));
    }
    return list;
  }();
  return all;
}

const DeviceDescription *DeviceDescription::of(const std::string &deviceName) {
  for (const DeviceDescription &description : builtIn())
    if (llvm::is_contained(description.knownAs, deviceName))
      return &description;
  return nullptr;
}

/// Takes what is known of a device.
static void describe(double bandwidth, double clock, int64_t multiprocessors,
                     runtime::GpuTarget &target) {
  if (bandwidth > 0)
    target.memoryBandwidth = bandwidth;
  if (clock > 0)
    target.clock = clock;
  if (multiprocessors > 0)
    target.multiprocessors = multiprocessors;
}

runtime::GpuTarget DeviceDescription::gpuTarget() const {
  runtime::GpuTarget result = runtime::GpuTarget::of(isGpu ? target : "");
  const runtime::GpuTarget &own =
      runtime::GpuTarget::of(ownTarget.empty() ? result.name : ownTarget);
  if (isGpu && own.major == result.major && own.minor == result.minor)
    describe(bandwidth(), figure("clock"), static_cast<int64_t>(figure("multiprocessors")), result);
  return result;
}

void DeviceDescription::compileFor(const std::string &name) {
  if (ownTarget.empty())
    ownTarget = target;
  target = name;
}

runtime::GpuTarget tile::frontend::gpuTargetOf(llvm::StringRef target,
                                               const runtime::cuda::DeviceProperties &device) {
  runtime::GpuTarget result = runtime::GpuTarget::of(std::string_view(target));
  constexpr double perKilo = 1e3;
  describe(device.memoryBandwidth(), perKilo * device.clockKHz, device.multiprocessors, result);
  const DeviceDescription *known = DeviceDescription::of(device.name);
  if (!known)
    return result;
  // A part of a device has a part of its bandwidth.
  double all = known->figure("multiprocessors"), part = 1;
  if (device.multiprocessors > 0 && device.multiprocessors < all)
    part = device.multiprocessors / all;
  describe(part * known->bandwidth(), known->figure("clock"), 0, result);
  return result;
}

Outcome<DeviceDescription> DeviceDescription::find(const std::string &nameOrPath) {
  if (llvm::StringRef(nameOrPath).ends_with(".json"))
    return read(nameOrPath);
  std::vector<std::string_view> names;
  for (const DeviceDescription &description : builtIn()) {
    if (description.name == nameOrPath)
      return description;
    names.push_back(description.name);
  }
  std::string_view near = runtime::nearest(nameOrPath, names);
  return Failure::usage({"there is no device '" + nameOrPath + "'",
                         near.empty()
                             ? "the devices are cpu, cuda, the descriptions " +
                                   runtime::join(names, ", ") + ", and files that end with .json"
                             : "did you mean '" + std::string(near) + "'?"});
}
