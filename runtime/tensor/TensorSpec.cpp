#include "runtime/tensor/TensorSpec.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Text.h"
#include "runtime/tensor/Npy.h"
#include "runtime/tensor/Safetensors.h"

#include <charconv>
#include <map>
#include <set>

namespace tile::runtime {

using Kind = GeneratorSpec::Kind;

namespace {

struct Generator {
  std::string_view name;
  Kind kind;
  std::string_view usage;
};
constexpr Generator generators[] = {
    {"randn", Kind::Randn, "randn:SHAPE:TYPE[:SEED]"},
    {"uniform", Kind::Uniform, "uniform:SHAPE:TYPE[:SEED[:LO:HI]]"},
    {"arange", Kind::Arange, "arange:SHAPE:TYPE"},
    {"zeros", Kind::Zeros, "zeros:SHAPE:TYPE"},
    {"ones", Kind::Ones, "ones:SHAPE:TYPE"},
    {"full", Kind::Full, "full:VALUE:SHAPE:TYPE"},
};

constexpr const char *specForms =
    "write FILE.npy, FILE.safetensors:KEY, a number, or a generator such as randn:128x64:f32";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0;;) {
    size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos)
      return parts;
    start = end + 1;
  }
}

Error inSpec(std::string_view text, Error error) {
  error.message = "in " + quote(text) + ": " + error.message;
  return error;
}

Result<int64_t> parseExtent(std::string_view text, std::string_view shape) {
  int64_t extent = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  bool whole = end == text.data() + text.size();
  if (error == std::errc::result_out_of_range && whole)
    return Error{"extent " + quote(text) + " is too large", "use smaller extents"};
  if (error != std::errc() || !whole)
    return Error{"shape " + quote(shape) + " is malformed",
                 "write extents joined by x, such as 1823x781, or scalar"};
  if (extent < 0)
    return Error{"extent " + std::to_string(extent) + " is negative", "extents are 0 or more"};
  return extent;
}

Result<uint64_t> parseSeed(std::string_view text) {
  uint64_t seed = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    return Error{"seed " + quote(text) + " is no integer from 0 to 2^64 - 1",
                 "write a seed such as 42"};
  return seed;
}

/// Takes the parts after the generator's name; errors speak of the part at fault.
Result<TensorSpec> parseGenerator(const Generator &generator,
                                  std::span<const std::string_view> parts) {
  Error usage{std::string(generator.name) + " with " + std::to_string(parts.size()) +
                  (parts.size() == 1 ? " part" : " parts") + " after its name",
              "write " + std::string(generator.usage)};
  GeneratorSpec spec;
  spec.kind = generator.kind;
  if (spec.kind == Kind::Full && !parts.empty()) {
    Result<Scalar> value = parseScalar(parts[0]);
    if (!value)
      return value.takeError();
    spec.value = *std::move(value);
    parts = parts.subspan(1);
  }
  bool ranged = spec.kind == Kind::Uniform && parts.size() == 5;
  size_t most = spec.kind == Kind::Full ? 2 : 3;
  if (parts.size() < 2 || (parts.size() > most && !ranged))
    return usage;

  Result<Shape> shape = parseShape(parts[0]);
  if (!shape)
    return shape.takeError();
  spec.shape = *std::move(shape);
  Result<DType> type = parseDType(parts[1]);
  if (!type)
    return type.takeError();
  spec.type = *type;
  if (Result<int64_t> count = countElements(spec.type, spec.shape); !count)
    return count.takeError();
  if (parts.size() > 2) {
    Result<uint64_t> seed = parseSeed(parts[2]);
    if (!seed)
      return seed.takeError();
    spec.seed = *seed;
  }
  if (ranged) {
    for (auto [bound, part] : {std::pair(&spec.lo, parts[3]), std::pair(&spec.hi, parts[4])}) {
      Result<Scalar> scalar = parseScalar(part);
      if (!scalar)
        return scalar.takeError();
      *bound = *std::move(scalar);
    }
  }
  if (Status sound = checkGenerator(spec); !sound)
    return sound.takeError();
  return TensorSpec(std::move(spec));
}

/// A file if the text looks like one: FILE.npy, FILE.safetensors or FILE.safetensors:KEY.
std::optional<FileSpec> parseFile(std::string_view text) {
  constexpr std::string_view extension = ".safetensors";
  if (size_t at = text.find(".safetensors:"); at != std::string_view::npos) {
    size_t end = at + extension.size();
    return FileSpec{std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
  }
  if (text.ends_with(extension) || text.ends_with(".npy"))
    return FileSpec{std::string(text), ""};
  return std::nullopt;
}

/// For text that is neither file nor generator nor number: what its writer may have meant.
Error unknownSpec(std::string_view text) {
  if (text.empty())
    return {"empty tensor spec", specForms};
  bool looksLikeFile =
      text.find('/') != std::string_view::npos ||
      (text.find('.') != std::string_view::npos && text.find(':') == std::string_view::npos);
  if (looksLikeFile)
    return {"unknown kind of file " + quote(text),
            ".npy and .safetensors files can be read and written"};
  std::vector<std::string_view> names;
  for (const Generator &generator : generators)
    names.push_back(generator.name);
  std::string_view meant = nearest(text.substr(0, text.find(':')), names);
  for (const Generator &generator : generators)
    if (generator.name == meant)
      return {"unknown tensor spec " + quote(text),
              "did you mean " + std::string(generator.usage) + "?"};
  return {"unknown tensor spec " + quote(text), specForms};
}

} // namespace

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Result<Shape> parseShape(std::string_view text) {
  Shape shape;
  if (text == "scalar")
    return shape;
  for (std::string_view part : split(text, 'x')) {
    Result<int64_t> extent = parseExtent(part, text);
    if (!extent)
      return extent.takeError();
    shape.push_back(*extent);
  }
  return shape;
}

Result<TensorSpec> parseTensorSpec(std::string_view text) {
  if (std::optional<FileSpec> file = parseFile(text)) {
    if (file->isSafetensors() && file->key.empty())
      return Error{quote(text) + " names no tensor of the file", "write " + file->path + ":KEY"};
    return TensorSpec(*std::move(file));
  }
  std::vector<std::string_view> parts = split(text, ':');
  for (const Generator &generator : generators) {
    if (parts[0] != generator.name)
      continue;
    Result<TensorSpec> spec = parseGenerator(generator, std::span(parts).subspan(1));
    if (!spec)
      return inSpec(text, spec.takeError());
    return spec;
  }
  if (Result<Scalar> scalar = parseScalar(text))
    return TensorSpec(*std::move(scalar));
  else if (text.find_first_of("0123456789") <= 1 && parts.size() == 1 &&
           text.find('/') == std::string_view::npos)
    return scalar.takeError();
  return unknownSpec(text);
}

Status checkName(const TensorSpec &spec) {
  const auto *file = std::get_if<FileSpec>(&spec);
  if (!file || !file->isSafetensors())
    return {};
  Result<SafetensorsFile> opened = SafetensorsFile::open(file->path);
  if (!opened)
    return {};
  Result<const SafetensorsFile::Entry *> found = opened->find(file->key);
  return found ? Status() : Status(found.takeError());
}

Result<Tensor> makeTensor(const TensorSpec &spec, std::string_view name,
                          std::optional<DType> scalarType) {
  if (const auto *file = std::get_if<FileSpec>(&spec))
    return file->isSafetensors() ? readSafetensors(file->path, file->key) : readNpy(file->path);
  if (const auto *generator = std::get_if<GeneratorSpec>(&spec))
    return generate(*generator, hashBytes(std::as_bytes(std::span(name))));

  const Scalar &scalar = std::get<Scalar>(spec);
  if (!scalarType)
    return Error{quote(name) + " is a tensor, and " + quote(scalar.text) + " is a number",
                 "write full:" + scalar.text + ":SHAPE:TYPE for a tensor of one value"};
  Result<Tensor> tensor = Tensor::create(*scalarType, {});
  if (!tensor)
    return tensor;
  if (Status fits = storeScalar(scalar, *scalarType, tensor->data()); !fits)
    return fits.takeError();
  return tensor;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Result<FileSpec> parseOutputSpec(std::string_view text, std::string_view name) {
  std::optional<FileSpec> file = parseFile(text);
  if (!file)
    return Error{"unknown kind of file " + quote(text),
                 "name a .npy file, or a .safetensors file, with :KEY if it isn't " + quote(name)};
  if (file->isSafetensors() && file->key.empty())
    file->key = name;
  return *std::move(file);
}

Status checkPlaces(std::span<const FileSpec> targets) {
  std::set<std::pair<std::string, std::string_view>> places;
  for (const FileSpec &target : targets)
    if (!places.insert({canonicalPath(target.path), target.key}).second)
      return Error{"two outputs go to " +
                       quote(target.path + (target.key.empty() ? "" : ":" + target.key)),
                   "give each output a file or a key of its own"};
  return {};
}

Status writeOutputs(std::span<const Output> outputs) {
  struct Collection {
    std::string path;
    std::vector<NamedTensor> tensors;
  };
  std::map<std::string, Collection> collections;
  std::vector<FileSpec> targets;
  for (const Output &output : outputs) {
    const FileSpec &target = targets.emplace_back(output.target);
    if (!target.isSafetensors())
      continue;
    Collection &collection = collections[canonicalPath(target.path)];
    collection.path = target.path;
    collection.tensors.push_back({target.key, output.tensor});
  }
  if (Status distinct = checkPlaces(targets); !distinct)
    return distinct;
  for (const Output &output : outputs)
    if (!output.target.isSafetensors())
      if (Status written = writeNpy(output.target.path, *output.tensor); !written)
        return written;
  for (const auto &[place, collection] : collections)
    if (Status written = writeSafetensors(collection.path, collection.tensors); !written)
      return written;
  return {};
}

} // namespace tile::runtime
