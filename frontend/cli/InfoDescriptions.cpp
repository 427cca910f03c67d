//===- InfoDescriptions.cpp - the descriptions of devices, for people ------===//

#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "frontend/fusion/Fusion.h"
#include "frontend/model/DeviceDescription.h"
#include "runtime/base/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using llvm::left_justify;

namespace {
/// "4.8 TB/s", "52.4 MB", "1.98 GHz", "2.3 µs", "132".
std::string show(double value, const std::string &unit) {
  if (unit == "1")
    return std::to_string(static_cast<int64_t>(value)); // at most 1e9
  static constexpr std::pair<double, const char *> prefixes[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {0, "n"}};
  for (auto [least, prefix] : prefixes)
    if (value >= least) {
      char number[32];
      snprintf(number, sizeof number, "%.4g", value / (least > 0 ? least : 1e-9));
      return std::string(number) + " " + prefix + unit;
    }
  return "";
}
} // namespace

void tile::frontend::cli::listDescriptions() {
  llvm::outs() << "descriptions, for --device=NAME:\n";
  for (const DeviceDescription &device : DeviceDescription::builtIn())
    llvm::outs() << "    " << left_justify(device.name, 13) << left_justify(device.title, 41)
                 << show(device.bandwidth(), "B/s") << ", "
                 << show(device.figure("vector_f32"), "FLOP/s") << " of f32\n";
}

static llvm::json::Object toJson(const DeviceDescription &device) {
  llvm::json::Object figures, sources;
  for (const auto &[key, figure] : device.figures)
    figures[key] = llvm::json::Object{
        {"value", figure.value}, {"unit", figure.unit}, {"source", figure.source}};
  for (const auto &[name, source] : device.sources)
    sources[name] = source;
  llvm::json::Object object{{"ok", true},
                            {"name", device.name},
                            {"title", device.title},
                            {"kind", device.isGpu ? "gpu" : "cpu"},
                            {"figures", std::move(figures)},
                            {"sources", std::move(sources)},
                            {"diagnostics", llvm::json::Array()}};
  if (device.isGpu)
    object["target"] = device.target;
  return object;
}

int tile::frontend::cli::describeDevice(const std::string &nameOrPath, const SourceOptions &options,
                                        bool json) {
  Session session(options);
  Outcome<DeviceDescription> device = findDescription(nameOrPath);
  if (!device)
    return failCall(session, device.takeFailure(), json);
  if (json) {
    printJson(::toJson(*device));
    return success;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << device->name << ": " << device->title << "\n";
  if (device->isGpu)
    stream << "    " << left_justify("target", 30) << device->target << "\n";
  for (const auto &[key, figure] : device->figures)
    stream << "    " << left_justify(key, 30) << left_justify(show(figure.value, figure.unit), 16)
           << "[" << figure.source << "]\n";
  for (const auto &[name, source] : device->sources)
    stream << "[" << name << "] " << source << "\n";
  llvm::outs() << runtime::visible(text);
  return success;
}
