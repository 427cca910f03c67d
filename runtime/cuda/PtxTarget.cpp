#include "runtime/cuda/PtxTarget.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <charconv>

namespace tile::runtime::cuda {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Cuts comments and blanks off the front.
std::string_view skipBlanks(std::string_view text) {
  for (;;) {
    size_t end = std::string_view::npos;
    if (text.starts_with("//"))
      end = text.find('\n');
    else if (text.starts_with("/*"))
      end = std::min(text.find("*/", 2), text.size() - 2) + 2;
    else if (!text.empty() && blanks.find(text[0]) != std::string_view::npos)
      end = text.find_first_not_of(blanks);
    else
      return text;
    text.remove_prefix(std::min(end, text.size()));
  }
}

/// The word at the front, which is removed.
std::string_view takeWord(std::string_view &text) {
  text = skipBlanks(text);
  size_t size = std::min(text.find_first_of(" \t\r\n,;/"), text.size());
  std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

} // namespace

std::optional<PtxTarget> parseTarget(std::string_view name) {
  PtxTarget target;
  if (!name.starts_with("sm_"))
    return std::nullopt;
  int number = 0;
  const char *last = name.data() + name.size();
  auto [end, problem] = std::from_chars(name.data() + 3, last, number);
  if (problem != std::errc() || last - end > 1 || number < 0)
    return std::nullopt;
  target.name = name;
  target.major = number / 10;
  target.minor = number % 10;
  target.suffix = end == last ? '\0' : *end;
  return target;
}

std::optional<PtxTarget> parsePtxTarget(std::string_view ptx) {
  PtxTarget target;
  // Both stand before everything else.
  for (std::string_view word = takeWord(ptx); !word.empty(); word = takeWord(ptx)) {
    if (word == ".version")
      target.version = takeWord(ptx);
    if (word != ".target")
      continue;
    std::optional<PtxTarget> named = parseTarget(takeWord(ptx));
    if (named)
      named->version = std::move(target.version);
    return named;
  }
  return std::nullopt;
}

bool runsOn(const PtxTarget &target, const DeviceProperties &device) {
  return bool(checkPtxTarget(target, device));
}

Status checkPtxTarget(const PtxTarget &target, const DeviceProperties &device) {
  int wanted = target.major * 10 + target.minor, have = device.major * 10 + device.minor;
  std::string number = std::to_string(target.major) + "." + std::to_string(target.minor);
  std::string needed;
  if (target.suffix == 'a' && have != wanted)
    needed = number + " alone";
  else if (target.suffix == 'f' && (target.major != device.major || have < wanted))
    needed = number + " to " + std::to_string(target.major) + ".9";
  else if (have < wanted)
    needed = number + " or newer";
  if (needed.empty())
    return {};
  Result<std::string> fitting = targetFor(device.major, device.minor);
  return Error{"code for " + quote(target.name) + " runs on devices of compute capability " +
                   needed + "; " + device.label() + " has " + device.capability(),
               fitting ? "compile for this device: --target=" + *fitting : fitting.error().message};
}

Result<std::string> describePtx(std::string_view ptx, const DeviceProperties &device) {
  std::optional<PtxTarget> target = parsePtxTarget(ptx);
  if (!target)
    return std::string("code in PTX"); // the driver says what is wrong
  if (Status status = checkPtxTarget(*target, device); !status)
    return status.takeError();
  return "code in PTX" + (target->version.empty() ? "" : " " + target->version) + " for " +
         target->name;
}

} // namespace tile::runtime::cuda
