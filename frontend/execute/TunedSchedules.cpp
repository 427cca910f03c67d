//===- TunedSchedules.cpp - schedules that were measured ------------------===//

#include "frontend/execute/TunedSchedules.h"

#include "frontend/base/Interface.h"
#include "frontend/base/JsonFile.h"
#include "ir/dialect/IndexLimits.h"
#include "runtime/base/FileIO.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <filesystem>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using Measured = TunedSchedule::Measured;

static constexpr int64_t version = 1;

std::string TunedFile::pathFor(StringRef source) {
  return source.consume_back(".tile") && !source.empty() ? (source + ".tuned.json").str() : "";
}

std::map<std::string, int64_t> tile::frontend::dimsByName(ir::KernelOp kernel,
                                                          ArrayRef<int64_t> dims) {
  std::map<std::string, int64_t> named;
  for (auto [name, value] : llvm::zip_equal(kernel.getDims().getAsValueRange<StringAttr>(), dims))
    named[name.str()] = value;
  return named;
}

TunedSchedule *TunedFile::find(StringRef kernel, StringRef device,
                               const std::map<std::string, int64_t> &dims) {
  auto entry = llvm::find_if(entries, [&](const TunedSchedule &entry) {
    return entry.kernel == kernel && entry.device == device && entry.dims == dims;
  });
  return entry == entries.end() ? nullptr : &*entry;
}

//===-- Reading -----------------------------------------------------------===//

namespace {
class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {}
  Outcome<std::vector<TunedSchedule>> read(StringRef text);

private:
  /// The first problem is the one that is told.
  bool fail(const Twine &what) {
    if (problem.empty())
      problem = what.str();
    return false;
  }
  bool readText(const llvm::json::Object &object, StringRef key, std::string &text);
  bool readNumbers(const llvm::json::Object &object, StringRef key, int64_t least, int64_t most,
                   std::map<std::string, int64_t> &numbers);
  bool readMeasured(const llvm::json::Object *object, Measured &measured);
  bool readTried(const llvm::json::Object &object, TunedSchedule &entry);
  bool readEntry(const llvm::json::Value &value);
  bool readAll(const llvm::json::Value &value);

  const std::string &path;
  std::string problem;
  std::vector<TunedSchedule> entries;
};
} // namespace

bool Reader::readText(const llvm::json::Object &object, StringRef key, std::string &text) {
  auto found = object.getString(key);
  if (!found)
    return fail("\"" + key + "\" is no text");
  text = found->str();
  return true;
}

bool Reader::readNumbers(const llvm::json::Object &object, StringRef key, int64_t least,
                         int64_t most, std::map<std::string, int64_t> &numbers) {
  const llvm::json::Object *list = object.getObject(key);
  if (!list)
    return fail("\"" + key + "\" is missing");
  for (const auto &[name, value] : *list) {
    auto number = value.getAsInteger();
    if (!number || *number < least || *number > most)
      return fail("`" + name.str() + "` of \"" + key + "\" is no whole number from " +
                  Twine(least) + " to " + Twine(most));
    numbers[name.str()] = *number;
  }
  return true;
}

bool Reader::readMeasured(const llvm::json::Object *object, Measured &measured) {
  if (!object)
    return fail("what was measured is no {…}");
  measured.seconds = object->getNumber("seconds").value_or(0);
  if (!(measured.seconds >= 0 && measured.seconds < 1e9))
    return fail("\"seconds\" is no time");
  return readNumbers(*object, "schedule", 1, ir::maxTileSize, measured.schedule);
}

bool Reader::readTried(const llvm::json::Object &object, TunedSchedule &entry) {
  const llvm::json::Array *tried = object.getArray("tried");
  if (!tried)
    return true;
  for (const llvm::json::Value &value : *tried)
    if (!readMeasured(value.getAsObject(), entry.tried.emplace_back()))
      return false;
  return readText(object, "compiler", entry.compiler);
}

bool Reader::readEntry(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("an entry is no {…}");
  TunedSchedule &entry = entries.emplace_back();
  entry.candidates = static_cast<size_t>(
      std::clamp<int64_t>(object->getInteger("candidates").value_or(0), 0, INT32_MAX));
  return readText(*object, "kernel", entry.kernel) && readText(*object, "device", entry.device) &&
         readNumbers(*object, "dims", -ir::maxExtent, ir::maxExtent, entry.dims) &&
         readMeasured(object->getObject("best"), entry.best) &&
         readMeasured(object->getObject("usual"), entry.usual) && readTried(*object, entry);
}

bool Reader::readAll(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  auto found = object ? object->getInteger("tuned") : std::nullopt;
  if (!found)
    return fail("no tuned schedules");
  if (*found != version)
    return fail("tuned schedules of version " + Twine(*found) + "; this is tilec with version " +
                Twine(version));
  const llvm::json::Array *list = object->getArray("schedules");
  if (!list)
    return fail("\"schedules\" are missing");
  return llvm::all_of(*list, [&](const llvm::json::Value &value) { return readEntry(value); });
}

Outcome<std::vector<TunedSchedule>> Reader::read(StringRef text) {
  auto value = parseJson(text);
  if (!value)
    fail("malformed JSON: " + llvm::toString(value.takeError()));
  else if (readAll(*value))
    return std::move(entries);
  return Failure::invalid(
      {path + ": " + problem, "`tilec tune` writes such files; without it the model chooses"});
}

Outcome<TunedFile> TunedFile::read(std::string path) {
  TunedFile file;
  file.path = std::move(path);
  std::error_code error;
  if (!std::filesystem::exists(file.path, error))
    return file;
  auto text = readText(file.path, 16, "a file of tuned schedules");
  if (!text)
    return text.takeFailure();
  auto entries = Reader(file.path).read(*text);
  if (!entries)
    return entries.takeFailure();
  file.entries = *std::move(entries);
  return file;
}

//===-- Writing -----------------------------------------------------------===//

/// On one line.
static void write(llvm::json::OStream &stream, StringRef key,
                  const std::map<std::string, int64_t> &numbers) {
  llvm::json::Object object;
  for (const auto &[name, number] : numbers)
    object[name] = number;
  stream.attributeBegin(key);
  stream.rawValue(llvm::formatv("{0}", llvm::json::Value(std::move(object))).str());
  stream.attributeEnd();
}

static void write(llvm::json::OStream &stream, const Measured &measured) {
  write(stream, "schedule", measured.schedule);
  if (measured.seconds == 0)
    return;
  stream.attributeBegin("seconds");
  stream.rawValue([&](llvm::raw_ostream &raw) { raw << llvm::format("%.4g", measured.seconds); });
  stream.attributeEnd();
}

static void write(llvm::json::OStream &stream, const TunedSchedule &entry) {
  stream.attribute("kernel", entry.kernel);
  stream.attribute("device", entry.device);
  write(stream, "dims", entry.dims);
  stream.attributeObject("best", [&] { write(stream, entry.best); });
  stream.attributeObject("usual", [&] { write(stream, entry.usual); });
  stream.attribute("candidates", static_cast<int64_t>(entry.candidates));
  if (entry.isFinished())
    return;
  stream.attribute("compiler", entry.compiler);
  stream.attributeArray("tried", [&] {
    for (const Measured &measured : entry.tried)
      stream.object([&] { write(stream, measured); });
  });
}

Outcome<std::monostate> TunedFile::write() const {
  std::string text;
  llvm::raw_string_ostream raw(text);
  llvm::json::OStream stream(raw, 2);
  stream.object([&] {
    stream.attribute("tuned", version);
    stream.attributeArray("schedules", [&] {
      for (const TunedSchedule &entry : entries)
        stream.object([&] { ::write(stream, entry); });
    });
  });
  text += "\n";
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (auto written = runtime::replaceFile(path, {&bytes, 1}); !written)
    return Failure::environment(written.takeError());
  return Done{};
}

//===-- Finding -----------------------------------------------------------===//

/// Whether a kernel has all that a schedule names; else a remark.
static bool isFor(ir::KernelOp kernel, const Schedule &schedule, const std::string &path) {
  for (const auto &[name, size] : schedule)
    if (!ir::isCountSetting(kernel, name) &&
        !llvm::is_contained(ir::sizableBinders(kernel),
                            StringAttr::get(kernel.getContext(), name))) {
      auto remark = kernel.emitRemark("the schedule of `")
                    << sourceName(kernel.getSymName()) << "` in '" << path << "' has `" << name
                    << "`, which is no binder of it any more, and is not used";
      remark.attachNote() << "hint: `tilec tune` measures anew";
      return false;
    }
  return true;
}

Outcome<const Schedule *> TunedSchedules::find(ir::KernelOp kernel, StringRef device,
                                               ArrayRef<int64_t> dims) {
  const Schedule *none = nullptr;
  auto place = kernel.getLoc()->findInstanceOf<FileLineColLoc>();
  std::string path =
      place && !isFused(kernel) ? TunedFile::pathFor(place.getFilename().getValue()) : "";
  if (path.empty())
    return none;
  auto known = files.find(path);
  if (known == files.end()) {
    auto read = TunedFile::read(path);
    if (!read)
      return read.takeFailure();
    known = files.emplace(path, *std::move(read)).first;
  }
  TunedFile &file = known->second;
  TunedSchedule *entry = file.find(kernel.getSymName(), device, dimsByName(kernel, dims));
  if (!entry)
    return none;
  if (isFor(kernel, entry->best.schedule, path))
    return &entry->best.schedule;
  entry->kernel.clear(); // told once, and not found again
  return none;
}
