#include "runtime/load/ValidationCuda.h"
#include "runtime/artifact/GpuReport.h"
#include "runtime/cuda/PtxTarget.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/tensor/DType.h"

#include <algorithm>
#include <functional>

namespace tile::runtime {

namespace {

/// What no device has more of.
constexpr uint32_t mostThreads = 1024, mostBlocks = 16;
constexpr uint64_t mostShared = uint64_t(1) << 20;

bool isValidFunction(const CudaFunction &function, bool mayLack) {
  if (function.name.empty())
    return mayLack;
  // An end within the name would be another name's.
  return function.name.find('\0') == std::string::npos && function.threads > 0 &&
         function.threads <= mostThreads && function.sharedBytes <= mostShared &&
         function.blocks > 0 && function.blocks <= mostBlocks;
}

bool isIntegerProgram(const Program &program, size_t numDims,
                      std::span<const std::optional<Number>> scalars) {
  return !program.empty() && isValid(program, numDims, scalars) && !isFloat(program.back().type);
}

/// The fields of a site, as `decodeSite` takes them apart; nothing where they lead out of it.
std::optional<std::vector<std::string_view>> fieldsOf(std::string_view site) {
  size_t at = 0;
  auto next = [&]() -> std::optional<uint32_t> {
    if (site.size() - at < 4)
      return std::nullopt;
    uint32_t number = 0;
    for (int shift = 0; shift < 32; shift += 8)
      number |= static_cast<uint32_t>(static_cast<unsigned char>(site[at++])) << shift;
    return number;
  };
  std::vector<std::string_view> fields;
  std::optional<uint32_t> count = next();
  if (!count || *count > site.size())
    return std::nullopt;
  for (uint32_t n = 0; n < *count; ++n) {
    std::optional<uint32_t> length = next();
    if (!length || *length > site.size() - at)
      return std::nullopt;
    fields.push_back(site.substr(at, *length));
    at += *length;
  }
  return at == site.size() ? std::optional(std::move(fields)) : std::nullopt;
}

/// An assertion's or a print's; empty where a number says nothing.
bool isValidSite(const std::string &site) {
  if (site.empty())
    return true;
  auto fields = fieldsOf(site);
  if (!fields || fields->size() < 3 || fields->size() % 2 == 0)
    return false;
  return std::all_of(fields->begin(), fields->end(), [](std::string_view field) {
    return std::count(field.begin(), field.end(), '\n') < mostReportedValues / 2;
  });
}

bool isValidCopy(const CudaReduceCopies &copy, const Signature &signature) {
  if (copy.param >= signature.params.size())
    return false;
  const ParamRule &param = signature.params[copy.param];
  return param.isTensor && param.mode == ParamMode::Reduce && copy.bytes > 0 && copy.bytes <= 8;
}

/// That of a tensor of the signature.
bool isValidMap(const CudaTensorMap &map, const Signature &signature) {
  constexpr uint32_t mostOfBox = 256;
  if (map.param >= signature.params.size() || !signature.params[map.param].isTensor)
    return false;
  auto isExtent = [&](const Program &program) {
    return isIntegerProgram(program, signature.dims.size(), {});
  };
  auto isBox = [](uint32_t elements) { return elements > 0 && elements <= mostOfBox; };
  Result<DType> type = parseDType(signature.params[map.param].type);
  return type && map.bytes == sizeOf(*type) && (!map.roundsToTf32 || *type == DType::F32) &&
         map.extents.size() == signature.params[map.param].shape.size() && map.extents.size() > 0 &&
         map.extents.size() <= 5 && map.box.size() == map.extents.size() &&
         std::all_of(map.extents.begin(), map.extents.end(), isExtent) &&
         std::all_of(map.box.begin(), map.box.end(), isBox) &&
         (map.swizzle == 0 || map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128);
}

} // namespace

bool isValidVariant(const CudaVariant &variant, const Signature &signature,
                    std::span<const std::optional<Number>> scalars) {
  const CudaCode &code = variant.code;
  size_t numDims = signature.dims.size();
  auto isProgram = [&](const Program &program) {
    return isIntegerProgram(program, numDims, scalars);
  };
  auto isCopy = [&](const CudaReduceCopies &copy) { return isValidCopy(copy, signature); };
  auto isMap = [&](const CudaTensorMap &map) { return isValidMap(map, signature); };
  bool isGuard = variant.guard.empty() ||
                 (isValid(variant.guard, numDims, {}) && variant.guard.back().type == Number::I1);
  return isGuard && cuda::parseTarget(code.target) && isValidFunction(code.function, false) &&
         isValidFunction(code.start, true) && isValidFunction(code.finish, true) &&
         !code.image.empty() &&
         std::all_of(code.programs.begin(), code.programs.end(), isProgram) &&
         std::all_of(code.copies.begin(), code.copies.end(), isCopy) &&
         std::all_of(code.maps.begin(), code.maps.end(), isMap) &&
         ((code.maps.empty() && !code.startsEarly) || cuda::parseTarget(code.target)->major >= 9) &&
         !(code.isPersistent && !code.copies.empty()) &&
         std::all_of(code.keptBinders.begin(), code.keptBinders.end(),
                     [&](uint32_t n) { return n < code.programs.size(); }) &&
         std::adjacent_find(code.keptBinders.begin(), code.keptBinders.end(),
                            std::greater_equal<>()) == code.keptBinders.end() &&
         (!code.keptBinders.empty() || !code.storesAlone) &&
         (!code.copies.empty() || code.keptBinders.empty()) &&
         std::all_of(code.sites.begin(), code.sites.end(), isValidSite);
}

} // namespace tile::runtime
