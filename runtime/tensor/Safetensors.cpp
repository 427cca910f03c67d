#include "runtime/tensor/Safetensors.h"
#include "runtime/base/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace tile::runtime {

using Json = nlohmann::json;
using Entry = SafetensorsFile::Entry;

namespace {

/// The format's own limit.
constexpr uint64_t longestHeader = 100'000'000;
constexpr std::string_view metadataKey = "__metadata__";

struct TypeCode {
  DType type;
  std::string_view name;
};
constexpr TypeCode typeCodes[] = {
    {DType::Bool, "BOOL"}, {DType::I8, "I8"},          {DType::I16, "I16"},
    {DType::I32, "I32"},   {DType::I64, "I64"},        {DType::U8, "U8"},
    {DType::U16, "U16"},   {DType::U32, "U32"},        {DType::U64, "U64"},
    {DType::F16, "F16"},   {DType::BF16, "BF16"},      {DType::F32, "F32"},
    {DType::F64, "F64"},   {DType::F8E4M3, "F8_E4M3"}, {DType::F8E5M2, "F8_E5M2"},
};

const TypeCode *findType(std::string_view name) {
  for (const TypeCode &code : typeCodes)
    if (code.name == name)
      return &code;
  return nullptr;
}

Error damaged(const std::string &path, const std::string &what,
              std::string hint = "the file is damaged, or is no .safetensors file") {
  return {"cannot read " + quote(path) + ": " + what, std::move(hint)};
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

/// Takes the header's JSON event by event, so that no document of a hostile header is ever built.
/// Accepts {"name": {"dtype": …, "shape": […], "data_offsets": […]}, "__metadata__": {…}, …}.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
  std::vector<Entry> takeEntries() { return std::move(entries); }
  const std::string &failure() const { return message; }

  bool null() override { return misplaced("null"); }
  bool boolean(bool) override { return misplaced("a truth value"); }
  bool number_integer(number_integer_t value) override {
    return fail("negative number " + std::to_string(value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    return fail("number " + quote(text) + " that is no 64-bit integer");
  }
  bool binary(binary_t &) override { return misplaced("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place != Place::ShapeItems && place != Place::OffsetItems)
      return misplaced("a number");
    if (place == Place::OffsetItems) {
      offsets.push_back(value);
      return offsets.size() <= 2 || fail("more than two data_offsets");
    }
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return fail("impossible extent " + std::to_string(value));
    if (entries.back().shape.size() == maxRank)
      return fail("more than " + std::to_string(maxRank) + " dimensions");
    entries.back().shape.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t &value) override {
    if (place == Place::Metadata)
      return true;
    if (place != Place::TypeValue)
      return misplaced("a string");
    entries.back().typeName = value;
    place = Place::Fields;
    return true;
  }

  bool start_object(size_t) override {
    if (place == Place::Start)
      place = Place::Names;
    else if (place == Place::TensorValue)
      place = Place::Fields;
    else if (place == Place::MetadataValue)
      place = Place::Metadata;
    else
      return misplaced("an object");
    return true;
  }

  bool key(string_t &name) override {
    if (place == Place::Metadata)
      return true;
    if (place == Place::Names)
      return beginTensor(name);
    Place next = name == "dtype"          ? Place::TypeValue
                 : name == "shape"        ? Place::ShapeValue
                 : name == "data_offsets" ? Place::OffsetValue
                                          : Place::Start;
    if (next == Place::Start)
      return fail("unknown field " + quote(name));
    if (!seenFields.insert(next).second)
      return fail("second field " + quote(name));
    place = next;
    return true;
  }

  bool end_object() override {
    if (place == Place::Fields) {
      if (seenFields.size() != 3)
        return fail("without dtype, shape or data_offsets");
      current.clear();
    }
    place = place == Place::Names ? Place::End : Place::Names;
    return true;
  }

  bool start_array(size_t) override {
    if (place != Place::ShapeValue && place != Place::OffsetValue)
      return misplaced("an array");
    place = place == Place::ShapeValue ? Place::ShapeItems : Place::OffsetItems;
    return true;
  }

  bool end_array() override {
    if (place == Place::OffsetItems) {
      if (offsets.size() != 2 || offsets[0] > offsets[1])
        return fail("data_offsets that are no [begin, end]");
      entries.back().begin = offsets[0];
      entries.back().end = offsets[1];
    }
    place = Place::Fields;
    return true;
  }

  bool parse_error(size_t position, const std::string &token, const Json::exception &) override {
    // Positions count from 1 in the JSON, which starts at byte 8.
    message = "at byte " + std::to_string(7 + position) + ": malformed JSON near " + quote(token);
    return false;
  }

private:
  /// What the next event belongs to.
  enum class Place {
    Start,
    Names,
    MetadataValue,
    Metadata,
    TensorValue,
    Fields,
    TypeValue,
    ShapeValue,
    ShapeItems,
    OffsetValue,
    OffsetItems,
    End,
  };

  bool beginTensor(const std::string &name) {
    current = name;
    if (!names.insert(name).second)
      return fail("second entry of this name");
    if (name == metadataKey) {
      place = Place::MetadataValue;
      return true;
    }
    entries.emplace_back().name = name;
    seenFields.clear();
    offsets.clear();
    place = Place::TensorValue;
    return true;
  }

  bool misplaced(const std::string &what) { return fail(what + " out of place"); }
  bool fail(const std::string &what) {
    message = (current.empty() ? "header: " : "tensor " + quote(current) + ": ") + what;
    return false;
  }

  Place place = Place::Start;
  std::vector<Entry> entries;
  std::set<std::string> names;
  std::set<Place> seenFields;
  std::vector<uint64_t> offsets;
  /// The tensor being read, for messages.
  std::string current;
  std::string message;
};

/// Every byte of the data belongs to exactly one tensor.
Status checkLayout(const std::string &path, const std::vector<Entry> &entries, uint64_t dataSize) {
  std::vector<const Entry *> order;
  for (const Entry &entry : entries) {
    if (entry.end > dataSize)
      return damaged(path,
                     "tensor " + quote(entry.name) + " ends at byte " + std::to_string(entry.end) +
                         " of the data, which has only " + std::to_string(dataSize),
                     "the file is truncated or damaged");
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const Entry *a, const Entry *b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t covered = 0;
  for (const Entry *entry : order) {
    if (entry->begin < covered)
      return damaged(path, "tensor " + quote(entry->name) + " overlaps another at byte " +
                               std::to_string(entry->begin) + " of the data");
    if (entry->begin > covered)
      return damaged(path, "bytes " + std::to_string(covered) + " to " +
                               std::to_string(entry->begin) + " of the data belong to no tensor");
    covered = entry->end;
  }
  if (covered != dataSize)
    return damaged(path, std::to_string(dataSize - covered) + " bytes follow the last tensor");
  return {};
}

/// Shape and type ask for exactly the bytes that the offsets give. Types that we lack are left.
Status checkSizes(const std::string &path, const std::vector<Entry> &entries) {
  for (const Entry &entry : entries) {
    const TypeCode *code = findType(entry.typeName);
    if (!code)
      continue;
    Result<int64_t> count = countElements(code->type, entry.shape);
    if (!count)
      return damaged(path, "tensor " + quote(entry.name) + ": " + count.error().message);
    auto needed = static_cast<uint64_t>(*count * sizeOf(code->type));
    if (needed != entry.end - entry.begin)
      return damaged(path, "tensor " + quote(entry.name) + ": " + entry.typeName + "[" +
                               formatShape(entry.shape) + "] needs " + std::to_string(needed) +
                               " bytes, its data_offsets give " +
                               std::to_string(entry.end - entry.begin));
  }
  return {};
}

Result<std::string> readHeaderText(const InputFile &file) {
  if (file.size() < 8)
    return damaged(file.path(), "it has " + formatBytes(file.size()) + ", fewer than 8");
  std::array<std::byte, 8> prefix;
  if (Status read = file.readAt(0, prefix); !read)
    return read.takeError();
  uint64_t length = 0;
  for (size_t i = 0; i < prefix.size(); ++i)
    length |= static_cast<uint64_t>(prefix[i]) << (8 * i);
  if (length > longestHeader)
    return damaged(file.path(), "header length " + std::to_string(length) + " is over the limit " +
                                    std::to_string(longestHeader));
  if (length > file.size() - 8)
    return damaged(file.path(), "header length " + std::to_string(length) + ", but only " +
                                    std::to_string(file.size() - 8) + " bytes follow");
  std::string text(length, '\0');
  if (Status read = file.readAt(8, std::as_writable_bytes(std::span(text))); !read)
    return read.takeError();
  return text;
}

} // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  Result<std::string> text = readHeaderText(*file);
  if (!text)
    return text.takeError();
  HeaderReader reader;
  if (!Json::sax_parse(*text, &reader))
    return damaged(path, reader.failure());
  std::vector<Entry> entries = reader.takeEntries();
  uint64_t dataOffset = 8 + text->size();
  if (Status layout = checkLayout(path, entries, file->size() - dataOffset); !layout)
    return layout.takeError();
  if (Status sizes = checkSizes(path, entries); !sizes)
    return sizes.takeError();
  return SafetensorsFile(*std::move(file), dataOffset, std::move(entries));
}

/// The name most likely meant, or what there is to choose from.
static std::string hintForUnknown(std::string_view name, const std::vector<Entry> &tensors) {
  if (tensors.empty())
    return "the file holds no tensors";
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const Entry &entry : tensors)
    names.push_back(entry.name);
  if (std::string_view meant = nearest(name, names); !meant.empty())
    return "did you mean " + quote(meant) + "?";
  constexpr size_t few = 12;
  std::string hint = "the file holds ";
  for (size_t i = 0; i < std::min(names.size(), few); ++i)
    hint += (i ? ", " : "") + quote(names[i]);
  return hint + (names.size() > few ? ", …" : "");
}

Result<const SafetensorsFile::Entry *> SafetensorsFile::find(std::string_view name) const {
  for (const Entry &entry : tensors)
    if (entry.name == name)
      return &entry;
  return Error{"no tensor " + quote(name) + " in " + quote(file.path()),
               hintForUnknown(name, tensors)};
}

Result<Tensor> SafetensorsFile::read(std::string_view name) const {
  Result<const Entry *> found = find(name);
  if (!found)
    return found.takeError();
  const Entry *entry = *found;
  std::string context = "cannot read tensor " + quote(name) + " of " + quote(file.path()) + ": ";
  const TypeCode *code = findType(entry->typeName);
  if (!code) {
    std::vector<std::string_view> known;
    for (const TypeCode &c : typeCodes)
      known.push_back(c.name);
    return Error{context + "unsupported type " + quote(entry->typeName),
                 "supported are " + join(known, " ")};
  }
  Result<Tensor> tensor = Tensor::createUninitialized(code->type, entry->shape);
  if (!tensor)
    return Error{context + tensor.error().message, tensor.error().hint};
  if (Status data = file.readAt(dataOffset + entry->begin, tensor->bytes()); !data)
    return data.takeError();
  tensor->normalizeBools();
  return tensor;
}

Result<Tensor> readSafetensors(const std::string &path, std::string_view name) {
  Result<SafetensorsFile> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  return file->read(name);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The name as JSON; JSON has no way to write other bytes than UTF-8.
static Result<std::string> encodeName(const std::string &name) {
  std::string text = Json(name).dump(-1, ' ', false, Json::error_handler_t::ignore);
  Json back = Json::parse(text, nullptr, false);
  if (!back.is_string() || back.get_ref<const std::string &>() != name)
    return Error{"tensor name " + quote(name) + " is no UTF-8", "rename the tensor"};
  return text;
}

Status writeSafetensors(const std::string &path, std::span<const NamedTensor> tensors) {
  // Wide elements first, so that each tensor starts at a multiple of its element size; the order
  // among equals is by name, so that the same tensors always give the same bytes.
  std::vector<const NamedTensor *> order;
  for (const NamedTensor &named : tensors)
    order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const NamedTensor *a, const NamedTensor *b) {
    int64_t sizeA = sizeOf(a->tensor->dtype()), sizeB = sizeOf(b->tensor->dtype());
    return sizeA != sizeB ? sizeA > sizeB : a->name < b->name;
  });

  std::set<std::string_view> names{metadataKey};
  std::string header = "{";
  std::vector<std::span<const std::byte>> pieces(1);
  uint64_t offset = 0;
  for (const NamedTensor *named : order) {
    const Tensor &tensor = *named->tensor;
    Result<std::string> name = encodeName(named->name);
    if (!name)
      return Error{"cannot write " + quote(path) + ": " + name.error().message, name.error().hint};
    if (!names.insert(named->name).second)
      return Error{"cannot write " + quote(path) + ": two entries named " + quote(named->name),
                   "give each tensor a name of its own"};
    auto code = std::find_if(std::begin(typeCodes), std::end(typeCodes),
                             [&](const TypeCode &c) { return c.type == tensor.dtype(); });
    header += header.size() > 1 ? "," : "";
    header += *name + R"(:{"dtype":")" + std::string(code->name) + R"(","shape":[)";
    for (int64_t d = 0; d < tensor.rank(); ++d)
      header.append(d ? "," : "").append(std::to_string(tensor.shape()[static_cast<size_t>(d)]));
    header += R"(],"data_offsets":[)" + std::to_string(offset);
    offset += tensor.byteSize();
    header.append(",").append(std::to_string(offset)).append("]}");
    pieces.push_back(tensor.bytes());
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');

  std::string head;
  for (int shift = 0; shift < 64; shift += 8)
    head += static_cast<char>(header.size() >> shift & 0xff);
  head += header;
  pieces[0] = std::as_bytes(std::span(head));
  return replaceFile(path, pieces);
}

} // namespace tile::runtime
