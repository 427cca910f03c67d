// What a running kernel says to its launch: assertions that fail, and what it prints. Plain data,
// no dependencies.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Kernels with `assert` or `print` (CpuEntry::reports) find a pointer to one of these behind
/// their last parameter, in params[numParams]. They call through its pointers, so that their code
/// needs no symbols. Each call of a kernel has a report of its own. All fields are 8 bytes.
struct CpuReport {
  /// The lowest program of the launch that failed so far, read and written as an atomic. Programs
  /// from it on need not run.
  const int64_t *failedProgram = nullptr;
  /// An assertion fails. The kernel returns after the call: of a program, the first failure is
  /// told and nothing follows it. `values` are the coordinates of the program, by binder, then
  /// those of the element, by axis.
  void (*fail)(CpuReport *report, const char *site, int64_t program,
               const int64_t *values) = nullptr;
  /// A print. `values` has for a scalar one word that begins with its bytes; for a tile the
  /// addresses of its elements and of a byte each for whether it is inside the domain (null: all
  /// are), then for each axis its first coordinate, the one after the last, and the distance of
  /// neighbours in elements.
  void (*print)(CpuReport *report, const char *site, const void *values) = nullptr;
  /// Of code that was compiled to be watched (CpuOptions::sanitizes): a program begins, at these
  /// coordinates by binder; and an access is about to happen, unless `happens` is 0. Gives whether
  /// it may.
  void (*enter)(CpuReport *report, int64_t program, const int64_t *coordinates) = nullptr;
  int64_t (*access)(CpuReport *report, int64_t site, const int64_t *indices,
                    int64_t happens) = nullptr;
};
static_assert(sizeof(CpuReport) == 5 * 8);

/// The positions of the fields, for code generators.
enum class CpuReportField : unsigned { FailedProgram, Fail, Print, Enter, Access };

/// A symbol NAME.reports says that the kernel NAME of an image has `assert` or `print`.
inline constexpr const char *reportsSuffix = ".reports";

//===-- Sites -------------------------------------------------------------===//

// What a `site` points to: texts, each with its length before it. Of an assertion: its number in
// the kernel, its place, its message, the binders' names, the axes' names (both one a line). Of a
// print: its number and place, then texts and values in turns, a value as its element type and its
// axes' names, each on a line.

inline std::string encodeSite(const std::vector<std::string> &fields) {
  std::string bytes;
  auto add = [&](uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(number >> shift & 255);
  };
  add(static_cast<uint32_t>(fields.size()));
  for (const std::string &field : fields) {
    add(static_cast<uint32_t>(field.size()));
    bytes += field;
  }
  return bytes;
}

inline std::vector<std::string_view> decodeSite(const char *site) {
  auto next = [&] {
    uint32_t number = 0;
    for (int shift = 0; shift < 32; shift += 8)
      number |= static_cast<uint32_t>(static_cast<unsigned char>(*site++)) << shift;
    return number;
  };
  std::vector<std::string_view> fields(next());
  for (std::string_view &field : fields) {
    uint32_t length = next();
    field = {site, length};
    site += length;
  }
  return fields;
}

} // namespace tile::runtime
