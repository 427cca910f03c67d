#include "runtime/cuda/Cubin.h"

#include <cstring>
#include <string>
#include <utility>

#include <elf.h>

namespace tile::runtime::cuda {

namespace {

/// A structure at an offset, at any alignment; the caller has checked the range.
template <typename T>
T readAt(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool isInside(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// Whether a table of headers, and what each of them names, lie inside.
template <typename Header, typename PlaceOf>
bool areInside(std::span<const std::byte> bytes, uint64_t offset, uint64_t count,
               uint64_t entryBytes, PlaceOf placeOf) {
  if (count == 0)
    return true;
  if (entryBytes != sizeof(Header) || !isInside(bytes, offset, count * entryBytes))
    return false;
  for (uint64_t n = 0; n < count; ++n) {
    auto [start, size] = placeOf(readAt<Header>(bytes, offset + n * entryBytes));
    if (!isInside(bytes, start, size))
      return false;
  }
  return true;
}

} // namespace

Status checkCubin(std::span<const std::byte> bytes) {
  const char *hint = "compile it anew";
  std::string size = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return Error{size + " are no cubin: they don't begin as one", hint};
  auto header = readAt<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_CUDA)
    return Error{size + " are no cubin: the code is for another processor", hint};
  using Place = std::pair<uint64_t, uint64_t>;
  bool isWhole =
      areInside<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum, header.e_shentsize,
                            [](const Elf64_Shdr &section) {
                              bool hasBytes = section.sh_type != SHT_NOBITS;
                              return hasBytes ? Place{section.sh_offset, section.sh_size} : Place();
                            }) &&
      areInside<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum, header.e_phentsize,
                            [](const Elf64_Phdr &segment) {
                              return Place{segment.p_offset, segment.p_filesz};
                            });
  if (!isWhole)
    return Error{"a cubin of " + size + " is damaged: a part of it lies beyond its end", hint};
  return {};
}

} // namespace tile::runtime::cuda
