#include "runtime/load/Encoding.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/Validation.h"

#include <cstring>
#include <type_traits>

namespace tile::runtime {

namespace {

constexpr unsigned char magic[8] = {0x89, 'T', 'I', 'L', 'E', 'A', 'R', 'T'};

//===-- Bytes -------------------------------------------------------------===//

class Writer {
public:
  std::vector<std::byte> bytes;

  template <typename T>
  void number(T value) {
    for (size_t n = 0; n < sizeof(T); ++n)
      bytes.push_back(static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * n)));
  }
  void raw(const std::byte *data, size_t size) { bytes.insert(bytes.end(), data, data + size); }
};

/// Reads forward; after the first mistake everything is zero and empty.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : rest(bytes) {}

  /// What is wrong; null if nothing is.
  const char *problem = nullptr;
  /// Of the format.
  uint32_t version = artifactVersion;

  void fail(const char *what) {
    if (!problem)
      problem = what;
    rest = {};
  }

  template <typename T>
  void number(T &value) {
    uint64_t bits = 0;
    if (rest.size() < sizeof(T))
      return fail("it ends too early");
    for (size_t n = 0; n < sizeof(T); ++n)
      bits |= static_cast<uint64_t>(rest[n]) << (8 * n);
    rest = rest.subspan(sizeof(T));
    value = static_cast<T>(bits);
  }

  std::span<const std::byte> raw(uint64_t size) {
    if (size > rest.size()) {
      fail("a length in it is beyond its end");
      return {};
    }
    std::span<const std::byte> taken = rest.first(static_cast<size_t>(size));
    rest = rest.subspan(static_cast<size_t>(size));
    return taken;
  }

  size_t left() const { return rest.size(); }

private:
  std::span<const std::byte> rest;
};

//===-- Parts: one description for both directions ------------------------===//

template <typename T>
requires std::is_integral_v<T>
void code(Writer &writer, const T &value) { writer.number(value); }
template <typename T>
requires std::is_integral_v<T>
void code(Reader &reader, T &value) { reader.number(value); }

void code(Writer &writer, const bool &value) { writer.number(uint8_t(value)); }
void code(Reader &reader, bool &value) {
  uint8_t bits = 0;
  reader.number(bits);
  if (bits > 1)
    reader.fail("a truth value in it is neither 0 nor 1");
  value = bits == 1;
}

/// How many values an enumeration has.
constexpr unsigned count(Number) { return numNumbers; }
constexpr unsigned count(Opcode) { return numOpcodes; }
constexpr unsigned count(ParamMode) { return unsigned(ParamMode::Reduce) + 1; }
constexpr unsigned count(CpuCombine) { return unsigned(CpuCombine::Xor) + 1; }
constexpr unsigned count(PlanStep::Kind) { return unsigned(PlanStep::Kind::Close) + 1; }

template <typename T>
requires std::is_enum_v<T>
void code(Writer &writer, const T &value) { writer.number(static_cast<uint8_t>(value)); }
template <typename T>
requires std::is_enum_v<T>
void code(Reader &reader, T &value) {
  uint8_t bits = 0;
  reader.number(bits);
  if (bits >= count(T()))
    return reader.fail("it has a code that this version doesn't know");
  value = static_cast<T>(bits);
}

void code(Writer &writer, const std::string &text) {
  writer.number(static_cast<uint32_t>(text.size()));
  writer.raw(reinterpret_cast<const std::byte *>(text.data()), text.size());
}
void code(Reader &reader, std::string &text) {
  uint32_t size = 0;
  reader.number(size);
  std::span<const std::byte> bytes = reader.raw(size);
  text.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

void code(Writer &writer, const std::vector<std::byte> &bytes) {
  writer.number(static_cast<uint64_t>(bytes.size()));
  writer.raw(bytes.data(), bytes.size());
}
void code(Reader &reader, std::vector<std::byte> &bytes) {
  uint64_t size = 0;
  reader.number(size);
  std::span<const std::byte> taken = reader.raw(size);
  bytes.assign(taken.begin(), taken.end());
}

template <typename Coder, typename T>
concept HasParts = requires(Coder &coder, T &value) {
  parts(coder, value);
};

template <typename T>
requires HasParts<Writer, const T>
void code(Writer &writer, const T &value) { parts(writer, value); }
template <typename T>
requires HasParts<Reader, T>
void code(Reader &reader, T &value) { parts(reader, value); }

template <typename Coder, typename First, typename Second>
void parts(Coder &coder, std::pair<First, Second> &value) {
  code(coder, value.first);
  code(coder, value.second);
}
template <typename First, typename Second>
void parts(Writer &writer, const std::pair<First, Second> &value) {
  code(writer, value.first);
  code(writer, value.second);
}

template <typename T>
void code(Writer &writer, const std::optional<T> &value) {
  code(writer, value.has_value());
  if (value)
    code(writer, *value);
}
template <typename T>
void code(Reader &reader, std::optional<T> &value) {
  bool isThere = false;
  code(reader, isThere);
  if (isThere)
    code(reader, value.emplace());
}

template <typename T>
void code(Writer &writer, const std::vector<T> &list) {
  writer.number(static_cast<uint32_t>(list.size()));
  for (const T &value : list)
    code(writer, value);
}
/// Grows as elements come: a length alone takes no memory.
template <typename T>
void code(Reader &reader, std::vector<T> &list) {
  uint32_t size = 0;
  reader.number(size);
  if (size > reader.left())
    return reader.fail("a length in it is beyond its end");
  for (uint32_t n = 0; n < size && !reader.problem; ++n)
    code(reader, list.emplace_back());
}

template <typename Coder, typename... Fields>
void all(Coder &coder, Fields &...fields) {
  (code(coder, fields), ...);
}

/// The same fields of a T, to be written or to be read.
#define TILE_PARTS(TYPE, ...)                                                                      \
  template <typename Coder, typename Value>                                                        \
  requires std::is_same_v<std::remove_const_t<Value>, TYPE>                                        \
  void parts(Coder &coder, Value &v) { all(coder, __VA_ARGS__); }

template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, Instruction>
void parts(Writer &writer, Value &v) {
  all(writer, v.opcode, v.type);
  const OpcodeInfo &info = opcodeInfo[size_t(v.opcode)];
  for (unsigned n = 0; n < info.operands; ++n)
    code(writer, v.operands[n]);
  if (info.immediate != ImmediateRole::None)
    code(writer, v.immediate);
}
template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, Instruction>
void parts(Reader &reader, Value &v) {
  all(reader, v.opcode, v.type);
  const OpcodeInfo &info = opcodeInfo[size_t(v.opcode)];
  for (unsigned n = 0; n < info.operands; ++n)
    code(reader, v.operands[n]);
  if (info.immediate != ImmediateRole::None)
    code(reader, v.immediate);
}

TILE_PARTS(ExtentRule, v.text, v.program, v.dims)
TILE_PARTS(ParamRule, v.name, v.type, v.mode, v.isTensor, v.shape, v.defaultBits, v.reachesIndex,
           v.combine)
TILE_PARTS(ConstantRule, v.dim, v.value)
TILE_PARTS(RequireRule, v.program, v.text, v.dims, v.scalars)
TILE_PARTS(Signature, v.name, v.dims, v.constants, v.bound, v.params, v.requirements)
TILE_PARTS(ImageData, v.platform, v.cpu, v.features, v.id, v.bytes)
TILE_PARTS(VariantData, v.guard, v.schedule, v.image, v.symbol)
TILE_PARTS(CudaFunction, v.name, v.threads, v.sharedBytes, v.blocks)
TILE_PARTS(CudaReduceCopies, v.param, v.bytes)

template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, CudaTensorMap>
void parts(Writer &writer, Value &v) {
  all(writer, v.param, v.bytes, v.extents, v.box, v.swizzle, v.roundsToTf32);
}
template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, CudaTensorMap>
void parts(Reader &reader, Value &v) {
  all(reader, v.param, v.bytes, v.extents, v.box, v.swizzle);
  if (reader.version > 4)
    code(reader, v.roundsToTf32);
}

template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, CudaCode>
void parts(Writer &writer, Value &v) {
  all(writer, v.target, v.function, v.start, v.finish, v.copies, v.foldsItself, v.maps,
      v.isPersistent, v.startsEarly, v.keptBinders, v.storesAlone, v.sites, v.programs, v.image);
}
template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, CudaCode>
void parts(Reader &reader, Value &v) {
  all(reader, v.target, v.function, v.start, v.finish, v.copies);
  if (reader.version > 2)
    code(reader, v.foldsItself);
  if (reader.version > 3)
    all(reader, v.maps, v.isPersistent);
  if (reader.version > 5)
    code(reader, v.startsEarly);
  if (reader.version > 6)
    all(reader, v.keptBinders, v.storesAlone);
  all(reader, v.sites, v.programs, v.image);
}
TILE_PARTS(CudaVariant, v.guard, v.condition, v.schedule, v.code, v.cubin)

template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, KernelData>
void parts(Writer &writer, Value &v) { all(writer, v.signature, v.variants, v.cuda); }
template <typename Value>
requires std::is_same_v<std::remove_const_t<Value>, KernelData>
void parts(Reader &reader, Value &v) {
  all(reader, v.signature, v.variants);
  if (reader.version > 1)
    code(reader, v.cuda);
}
TILE_PARTS(PlanOperand, v.isTensor, v.index)
TILE_PARTS(PlanConstant, v.name, v.value)
TILE_PARTS(PlanRequirement, v.value, v.text)
TILE_PARTS(PlanFrame, v.signature, v.program, v.requirements, v.caller, v.inputs, v.constants,
           v.results, v.place)
TILE_PARTS(PlanCall, v.kernel, v.frame, v.inputs, v.constants, v.outputs, v.place)
TILE_PARTS(PlanStep, v.kind, v.index)
TILE_PARTS(GraphPlan, v.frames, v.calls, v.steps, v.numTensors)
TILE_PARTS(EntryData, v.name, v.isGraph, v.index, v.types)
TILE_PARTS(ArtifactData, v.producer, v.images, v.kernels, v.graphs, v.entries)

//===-- The header --------------------------------------------------------===//

struct Header {
  uint32_t version = artifactVersion;
  uint32_t flags = 0;
  uint64_t size = 0;
  Hash128 hash;
  /// XXH64 of all before it.
  uint64_t checksum = 0;
};
TILE_PARTS(Header, v.version, v.flags, v.size, v.hash.low, v.hash.high, v.checksum)

uint64_t checksumOf(std::span<const std::byte> header) {
  return hashBytes(header.first(artifactHeaderSize - sizeof(uint64_t)));
}

Error damaged(const std::string &how) {
  return {"the artifact is damaged: " + how, "compile it anew, or copy it again"};
}

} // namespace

bool isArtifact(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof magic && std::memcmp(bytes.data(), magic, sizeof magic) == 0;
}

std::vector<std::byte> serialize(const ArtifactData &artifact) {
  Writer payload;
  code(payload, artifact);
  Header header;
  header.size = payload.bytes.size();
  header.hash = hash128(payload.bytes);
  Writer writer;
  writer.raw(reinterpret_cast<const std::byte *>(magic), sizeof magic);
  code(writer, header);
  header.checksum = checksumOf(writer.bytes);
  writer.bytes.resize(writer.bytes.size() - sizeof header.checksum);
  code(writer, header.checksum);
  writer.raw(payload.bytes.data(), payload.bytes.size());
  return std::move(writer.bytes);
}

Result<ArtifactData> parseArtifact(std::span<const std::byte> bytes) {
  if (!isArtifact(bytes))
    return Error{"this is no artifact", "`tilec compile FILE --emit=artifact` makes one"};
  if (bytes.size() < artifactHeaderSize)
    return damaged("it ends too early");
  Reader headerReader(bytes.subspan(sizeof magic));
  Header header;
  code(headerReader, header);
  // The version comes first: of another one, the rest may be otherwise.
  if (header.version < oldestArtifactVersion || header.version > artifactVersion)
    return Error{"the artifact has version " + std::to_string(header.version) +
                     " of the format; this program reads versions " +
                     std::to_string(oldestArtifactVersion) + " to " +
                     std::to_string(artifactVersion),
                 "compile it with a tilec of this program's version"};
  if (header.checksum != checksumOf(bytes) || header.flags != 0)
    return damaged("its header has the wrong checksum");
  std::span<const std::byte> payload = bytes.subspan(artifactHeaderSize);
  if (header.size != payload.size())
    return damaged("it has " + std::to_string(payload.size()) + " bytes of content instead of " +
                   std::to_string(header.size));
  if (header.hash != hash128(payload))
    return damaged("its content has the wrong hash");
  return parsePayload(payload, header.version);
}

Result<ArtifactData> parsePayload(std::span<const std::byte> payload, uint32_t version) {
  Reader reader(payload);
  reader.version = version;
  ArtifactData artifact;
  code(reader, artifact);
  if (!reader.problem && reader.left() > 0)
    reader.fail("there are bytes after its end");
  if (reader.problem)
    return damaged(reader.problem);
  if (Status valid = validate(artifact); !valid)
    return damaged(valid.error().message);
  return artifact;
}

std::vector<std::byte> serialize(const CudaVariant &variant) {
  Writer writer;
  code(writer, variant);
  return std::move(writer.bytes);
}

std::optional<CudaVariant> parseCudaVariant(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  CudaVariant result;
  code(reader, result);
  if (reader.problem || reader.left() > 0)
    return std::nullopt;
  return result;
}

Hash128 contentHash(std::span<const std::byte> bytes) {
  Reader reader(bytes.subspan(sizeof magic));
  Header header;
  code(reader, header);
  return header.hash;
}

} // namespace tile::runtime
