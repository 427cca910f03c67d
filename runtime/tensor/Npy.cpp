#include "runtime/tensor/Npy.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace tile::runtime {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// Longer headers describe no tensor that we could hold; NumPy itself stops at 10,000 bytes.
constexpr uint64_t longestHeader = 1 << 20;

struct TypeCode {
  DType type;
  char kind;
};
constexpr TypeCode typeCodes[] = {
    {DType::Bool, 'b'}, {DType::I8, 'i'},  {DType::I16, 'i'}, {DType::I32, 'i'},
    {DType::I64, 'i'},  {DType::U8, 'u'},  {DType::U16, 'u'}, {DType::U32, 'u'},
    {DType::U64, 'u'},  {DType::F16, 'f'}, {DType::F32, 'f'}, {DType::F64, 'f'},
};

struct Header {
  DType type = DType::Bool;
  bool bigEndian = false;
  bool columnMajor = false;
  Shape shape;
  uint64_t dataOffset = 0;
};

Error damaged(const std::string &path, uint64_t offset, const std::string &what,
              std::string hint = "the file is damaged, or is no .npy file") {
  return {"cannot read " + quote(path) + ": at byte " + std::to_string(offset) + ": " + what,
          std::move(hint)};
}

//===----------------------------------------------------------------------===//
// The header: a Python dictionary
//===----------------------------------------------------------------------===//

/// Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }": each key once, in any
/// order, and nothing but white space after it.
class HeaderParser {
public:
  HeaderParser(const std::string &path, std::string_view text, uint64_t base)
      : path(path), text(text), base(base) {}

  Result<Header> parse() {
    if (!accept('{'))
      return expected("a '{'");
    while (!accept('}')) {
      if (Status entry = parseEntry(); !entry)
        return entry.takeError();
      if (accept(','))
        continue;
      if (!accept('}'))
        return expected("a ',' or '}'");
      break;
    }
    skipSpace();
    if (position != text.size())
      return expected("the end of the header");
    if (!hasDescr || !hasOrder || !hasShape)
      return damaged(path, base,
                     std::string("header without ") + (!hasDescr   ? "'descr'"
                                                       : !hasOrder ? "'fortran_order'"
                                                                   : "'shape'"));
    return std::move(header);
  }

private:
  Status parseEntry() {
    size_t start = skipSpace();
    std::optional<std::string_view> key = acceptString();
    if (!key)
      return expected("a quoted key");
    bool *seen = *key == "descr"           ? &hasDescr
                 : *key == "fortran_order" ? &hasOrder
                 : *key == "shape"         ? &hasShape
                                           : nullptr;
    if (!seen)
      return damaged(path, base + start, "unknown header key " + quote(*key));
    if (std::exchange(*seen, true))
      return damaged(path, base + start, "second header key " + quote(*key));
    if (!accept(':'))
      return expected("a ':'");
    if (seen == &hasDescr)
      return parseDescr();
    return seen == &hasOrder ? parseOrder() : parseShape();
  }

  Status parseDescr() {
    size_t start = skipSpace();
    if (position < text.size() && text[position] == '[')
      return damaged(path, base + start, "structured element type", "store each field by itself");
    std::optional<std::string_view> descr = acceptString();
    if (!descr)
      return expected("a quoted type");
    if (*descr == "|O" || *descr == "O")
      return damaged(path, base + start,
                     "element type " + quote(*descr) + ": Python objects are not read",
                     "convert it to an array of numbers before it is saved");
    if (descr->size() < 3)
      return damaged(path, base + start, "unknown element type " + quote(*descr));
    char order = descr->front();
    char kind = (*descr)[1];
    std::string_view size = descr->substr(2);
    if (std::string_view("<>=|").find(order) == std::string_view::npos)
      return damaged(path, base + start, "unknown element type " + quote(*descr));
    header.bigEndian = order == '>';
    for (const TypeCode &code : typeCodes)
      if (code.kind == kind && std::to_string(sizeOf(code.type)) == size) {
        header.type = code.type;
        return {};
      }
    // Libraries that extend NumPy store bf16 and fp8 as raw bytes, without saying which.
    if (kind == 'V' && (size == "1" || size == "2"))
      return damaged(path, base + start, "raw element type " + quote(*descr) + " (bf16 or fp8?)",
                     "store bf16, f8e4m3 and f8e5m2 as .safetensors");
    return damaged(path, base + start, "unsupported element type " + quote(*descr),
                   "bool, 8- to 64-bit integers, f16, f32 and f64 are supported");
  }

  Status parseOrder() {
    skipSpace();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (!text.substr(position).starts_with(word))
        continue;
      position += word.size();
      header.columnMajor = value;
      return {};
    }
    return expected("True or False");
  }

  Status parseShape() {
    size_t start = skipSpace();
    if (!accept('('))
      return expected("a '('");
    bool comma = true;
    while (!accept(')')) {
      if (!comma)
        return expected("a ',' or ')'");
      if (header.shape.size() == maxRank)
        return damaged(path, base + start,
                       "shape of more than " + std::to_string(maxRank) + " dimensions");
      if (Status extent = parseExtent(); !extent)
        return extent;
      comma = accept(',');
    }
    // In Python "(3)" is a number, and "(,)" is nothing.
    if (header.shape.size() == 1 && !comma)
      return damaged(path, base + start, "shape that is no tuple");
    return {};
  }

  Status parseExtent() {
    size_t start = skipSpace();
    int64_t extent;
    const char *first = text.data() + position;
    auto [end, error] = std::from_chars(first, text.data() + text.size(), extent);
    if (error == std::errc::result_out_of_range || (error == std::errc() && extent < 0))
      return damaged(path, base + start, "impossible extent " + quote(text.substr(position, 24)));
    if (error != std::errc())
      return expected("an extent");
    position += static_cast<size_t>(end - first);
    // Python 2 wrote long integers as 3L.
    if (position < text.size() && text[position] == 'L')
      ++position;
    header.shape.push_back(extent);
    return {};
  }

  size_t skipSpace() {
    position = std::min(text.find_first_not_of(" \t\n\r\f", position), text.size());
    return position;
  }

  bool accept(char c) {
    skipSpace();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  /// A string in either quotes. No key or type needs an escape, so a backslash stands for itself.
  std::optional<std::string_view> acceptString() {
    skipSpace();
    if (position == text.size() || (text[position] != '\'' && text[position] != '"'))
      return std::nullopt;
    size_t end = text.find(text[position], position + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string_view content = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return content;
  }

  Error expected(const std::string &what) {
    skipSpace();
    std::string found =
        position == text.size() ? "the end of the header" : quote(text.substr(position, 8));
    return damaged(path, base + position, "expected " + what + ", found " + found);
  }

  const std::string &path;
  std::string_view text;
  uint64_t base;
  size_t position = 0;
  Header header;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

Result<Header> readHeader(const InputFile &file) {
  const std::string &path = file.path();
  std::array<std::byte, 12> prefix{};
  size_t available = std::min<uint64_t>(file.size(), prefix.size());
  if (Status read = file.readAt(0, std::span(prefix).first(available)); !read)
    return read.takeError();
  std::string_view bytes(reinterpret_cast<const char *>(prefix.data()), available);
  if (!bytes.starts_with(magic)) {
    if (file.size() < magic.size() && magic.starts_with(bytes))
      return damaged(path, file.size(), "the file ends inside the magic string");
    return damaged(path, 0, "no .npy magic string", "only .npy files can be read here");
  }
  auto byteAt = [&](size_t i) { return static_cast<uint64_t>(prefix[i]); };
  size_t lengthBytes = byteAt(6) == 1 ? 2 : 4;
  size_t base = 8 + lengthBytes;
  if (file.size() < base)
    return damaged(path, file.size(), "the file ends inside the header");
  if (byteAt(6) < 1 || byteAt(6) > 3 || byteAt(7) != 0)
    return damaged(path, 6,
                   "unknown version " + std::to_string(byteAt(6)) + "." + std::to_string(byteAt(7)),
                   "versions 1.0, 2.0 and 3.0 can be read");
  uint64_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= byteAt(8 + i) << (8 * i);
  if (length > file.size() - base)
    return damaged(path, 8,
                   "header length " + std::to_string(length) + ", but only " +
                       std::to_string(file.size() - base) + " bytes follow");
  if (length > longestHeader)
    return damaged(path, 8, "header length " + std::to_string(length) + ", more than any tensor's");

  std::string text(length, '\0');
  if (Status read = file.readAt(base, std::as_writable_bytes(std::span(text))); !read)
    return read.takeError();
  Result<Header> header = HeaderParser(path, text, base).parse();
  if (header)
    header->dataOffset = base + length;
  return header;
}

//===----------------------------------------------------------------------===//
// The data
//===----------------------------------------------------------------------===//

void swapBytes(Tensor &tensor) {
  auto size = static_cast<size_t>(sizeOf(tensor.dtype()));
  if (size == 1)
    return;
  for (std::byte *p = tensor.data(), *end = p + tensor.byteSize(); p != end; p += size)
    std::reverse(p, p + size);
}

/// Element by element in the order of the result, stepping through the source with its strides.
template <size_t elementSize>
void transposeElements(const std::byte *from, std::byte *to, const Shape &shape, int64_t count) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = elementSize;
  for (size_t d = 0; d < shape.size(); stride *= shape[d++])
    strides[d] = stride;
  std::vector<int64_t> index(shape.size());
  for (int64_t i = 0, source = 0; i < count; ++i) {
    std::memcpy(to + i * int64_t(elementSize), from + source, elementSize);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d])
        break;
      source -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

Result<Tensor> columnToRowMajor(const Tensor &tensor) {
  Result<Tensor> result = Tensor::createUninitialized(tensor.dtype(), tensor.shape());
  if (!result)
    return result;
  auto transpose = sizeOf(tensor.dtype()) == 1   ? transposeElements<1>
                   : sizeOf(tensor.dtype()) == 2 ? transposeElements<2>
                   : sizeOf(tensor.dtype()) == 4 ? transposeElements<4>
                                                 : transposeElements<8>;
  transpose(tensor.data(), result->data(), tensor.shape(), tensor.numElements());
  return result;
}

} // namespace

Result<Tensor> readNpy(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  Result<Header> header = readHeader(*file);
  if (!header)
    return header.takeError();

  // Compare sizes before allocating: a damaged shape must not ask for memory.
  Result<int64_t> count = countElements(header->type, header->shape);
  if (!count)
    return damaged(path, header->dataOffset, count.error().message);
  auto needed = static_cast<uint64_t>(*count * sizeOf(header->type));
  uint64_t present = file->size() - header->dataOffset;
  std::string what = std::string(nameOf(header->type)) + "[" + formatShape(header->shape) + "]";
  if (present < needed)
    return damaged(path, file->size(),
                   "the file ends, but " + what + " needs " + std::to_string(needed) +
                       " bytes from byte " + std::to_string(header->dataOffset) + " on",
                   "the file is damaged, or still being written");
  if (present > needed)
    return damaged(path, header->dataOffset + needed,
                   std::to_string(present - needed) + " bytes follow the data of " + what,
                   "one array a file can be read: store others in files of their own");

  Result<Tensor> tensor = Tensor::createUninitialized(header->type, std::move(header->shape));
  if (!tensor)
    return Error{"cannot read " + quote(path) + ": " + tensor.error().message, tensor.error().hint};
  if (Status read = file->readAt(header->dataOffset, tensor->bytes()); !read)
    return read.takeError();
  if (header->bigEndian)
    swapBytes(*tensor);
  tensor->normalizeBools();
  if (header->columnMajor && tensor->rank() > 1 && tensor->numElements() > 1)
    return columnToRowMajor(*tensor);
  return tensor;
}

Status writeNpy(const std::string &path, const Tensor &tensor) {
  auto code = std::find_if(std::begin(typeCodes), std::end(typeCodes),
                           [&](const TypeCode &c) { return c.type == tensor.dtype(); });
  if (code == std::end(typeCodes))
    return Error{"cannot write " + quote(path) + ": .npy has no element type for " +
                     std::string(nameOf(tensor.dtype())),
                 "write a .safetensors file"};
  int64_t size = sizeOf(tensor.dtype());
  std::string dictionary = std::string("{'descr': '") + (size == 1 ? '|' : '<') + code->kind +
                           std::to_string(size) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : tensor.shape())
    dictionary += std::to_string(extent) + (tensor.rank() == 1 ? "," : ", ");
  if (tensor.rank() > 1)
    dictionary.resize(dictionary.size() - 2);
  dictionary += "), }";

  // The data begins at a multiple of 64, after a newline. With at most 64 dimensions the length
  // always fits the two bytes of version 1.
  constexpr size_t fixed = 10;
  size_t padding = (64 - (fixed + dictionary.size() + 1) % 64) % 64;
  dictionary.append(padding, ' ');
  dictionary += '\n';
  std::string head(magic);
  head += {'\1', '\0', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  head += dictionary;
  std::array<std::span<const std::byte>, 2> pieces{std::as_bytes(std::span(head)), tensor.bytes()};
  return replaceFile(path, pieces);
}

} // namespace tile::runtime
