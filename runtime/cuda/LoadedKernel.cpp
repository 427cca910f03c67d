#include "runtime/cuda/LoadedKernel.h"
#include "runtime/launch/Evaluate.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tile::runtime::cuda {

//===-- Loading -----------------------------------------------------------===//

static bool isCubin(std::span<const std::byte> image) {
  constexpr unsigned char magic[] = {0x7f, 'E', 'L', 'F'};
  return image.size() >= sizeof magic && std::memcmp(image.data(), magic, sizeof magic) == 0;
}

Status LoadedKernel::find(Module &module, const CudaFunction &what, Entry &entry) {
  if (what.name.empty())
    return {};
  auto function = module.function(what.name);
  if (!function)
    return function.takeError();
  if (Status allowed = (*function)->allowShared(what.sharedBytes); !allowed)
    return allowed;
  constexpr uint32_t promised = 8; // to every device that has clusters
  if (what.blocks > promised)
    if (Status allowed = (*function)->allowLargeClusters(); !allowed)
      return allowed;
  entry.blocks = std::max(what.blocks, 1u);
  entry.function = *std::move(function);
  entry.config.block.x = what.threads;
  entry.config.sharedBytes = static_cast<uint32_t>(what.sharedBytes);
  return {};
}

Result<std::shared_ptr<const LoadedKernel>>
LoadedKernel::load(std::shared_ptr<Device> device, const CudaCode &code, const std::string &name) {
  std::string_view text(reinterpret_cast<const char *>(code.image.data()), code.image.size());
  auto module = isCubin(code.image) ? Module::fromCubin(std::move(device), code.image)
                                    : Module::fromPtx(std::move(device), text);
  if (!module)
    return module.takeError();
  std::shared_ptr<LoadedKernel> kernel(new LoadedKernel());
  kernel->label = name;
  for (auto [what, entry] :
       {std::pair(&code.function, &kernel->code), std::pair(&code.start, &kernel->start),
        std::pair(&code.finish, &kernel->finish)})
    if (Status found = find(**module, *what, *entry); !found)
      return found.takeError();
  if (!kernel->code.function)
    return Error{"the code of `" + name + "` has no kernel", ""};
  kernel->code.config.isDependent = code.startsEarly;
  kernel->copies = code.copies;
  kernel->foldsItself = code.foldsItself;
  kernel->storesAlone = code.storesAlone;
  for (uint32_t binder : code.keptBinders)
    kernel->keptPrograms.push_back(code.programs[binder]);
  kernel->maps = code.maps;
  kernel->theSites = code.sites;
  kernel->programs = code.programs;
  if (code.isPersistent) {
    Entry &entry = kernel->code;
    Result<int> each = entry.function->blocksPerMultiprocessor(
        static_cast<int>(entry.config.block.x), entry.config.sharedBytes);
    if (!each)
      return each.takeError();
    auto blocks = static_cast<uint32_t>(std::max(1, *each) *
                                        entry.function->device().properties().multiprocessors);
    kernel->residentBlocks = std::max(1u, blocks / entry.blocks) * entry.blocks;
  }
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

/// No launch has more blocks.
static constexpr int64_t mostBlocks = std::numeric_limits<int32_t>::max();

/// The product of what the programs give, or one more than any launch has.
static int64_t productOf(std::span<const Program> programs, std::span<const int64_t> dims,
                         std::span<const uint64_t> scalars) {
  int64_t count = 1; // stays at most 2^31
  for (const Program &program : programs) {
    std::optional<int64_t> blocks = evaluateInteger(program, dims, scalars);
    if (blocks && *blocks <= 0)
      return 0; // whatever the others are
    count = blocks ? std::min(mostBlocks + 1, count * std::min(mostBlocks + 1, *blocks))
                   : mostBlocks + 1;
  }
  return count;
}

Result<uint32_t> LoadedKernel::numPrograms(std::span<const int64_t> dims,
                                           std::span<const uint64_t> scalars) const {
  int64_t count = productOf(programs, dims, scalars);
  if (count * code.blocks <= mostBlocks)
    return static_cast<uint32_t>(count);
  return Error{"`" + label + "` has more programs than a launch takes, which is 2^31 - 1",
               "larger tile sizes make fewer"};
}

//===-- Launches ----------------------------------------------------------===//

/// Blocks for so much work, not more than keep a device busy.
static uint32_t blocksFor(int64_t elements, int64_t elementsPerBlock) {
  constexpr int64_t most = 4096;
  return static_cast<uint32_t>(std::min(most, elements / elementsPerBlock + 1));
}

void PreparedLaunch::addStage(const LoadedKernel::Entry &entry, uint32_t blocks) {
  if (!entry.function)
    return;
  Stage &stage = stages[numStages++];
  stage.function = entry.function.get();
  stage.config = entry.config;
  stage.config.grid.x = blocks;
}

/// What one map is made for; rank 0 for a tensor without elements, from which nothing is copied.
static Result<TensorMapLayout> layoutOf(const CudaTensorMap &map, uint64_t address,
                                        std::span<const int64_t> dims) {
  TensorMapLayout layout{.address = address, .rank = 0};
  layout.type = map.roundsToTf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                : map.bytes == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                : map.bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                : map.bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                 : CU_TENSOR_MAP_DATA_TYPE_UINT64;
  layout.swizzle = map.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                   : map.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                   : map.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                       : CU_TENSOR_MAP_SWIZZLE_NONE;
  uint64_t stride = map.bytes;
  for (const Program &extent : map.extents) {
    std::optional<int64_t> elements = evaluateInteger(extent, dims);
    if (!elements || *elements < 0)
      return Error{"the extent of a tensor leaves the 64-bit integers", ""};
    if (*elements == 0)
      return TensorMapLayout{.rank = 0};
    uint32_t d = layout.rank++;
    if (d > 0)
      layout.strides[d - 1] = stride;
    layout.extents[d] = static_cast<uint64_t>(*elements);
    layout.box[d] = map.box[d];
    stride *= static_cast<uint64_t>(*elements);
  }
  return layout;
}

Status PreparedLaunch::makeMaps(std::span<const uint64_t> params, std::span<const int64_t> dims) {
  const std::vector<CudaTensorMap> &wanted = kernel->maps;
  for (size_t n = 0; n < wanted.size(); ++n) {
    Result<TensorMapLayout> layout = layoutOf(wanted[n], params[wanted[n].param], dims);
    Status made = layout && layout->rank
                      ? encodeTensorMap(kernel->function().device(), *layout, maps[n])
                  : layout ? Status()
                           : layout.takeError();
    if (!made)
      return Error{"`" + kernel->name() + "`, parameter " + std::to_string(wanted[n].param + 1) +
                       ": " + made.error().message,
                   made.error().hint};
  }
  return {};
}

void PreparedLaunch::pack(std::span<const uint64_t> values) {
  size_t count = values.size() + kernel->maps.size();
  words = std::make_unique<uint64_t[]>(values.size());
  pointers = std::make_unique<void *[]>(count);
  std::copy(values.begin(), values.end(), words.get());
  for (size_t n = 0; n < count; ++n)
    pointers[n] = n < values.size() ? static_cast<void *>(&words[n]) : &maps[n - values.size()];
}

Result<PreparedLaunch> PreparedLaunch::create(std::shared_ptr<const LoadedKernel> kernel,
                                              std::shared_ptr<Stream> stream,
                                              std::span<const uint64_t> params,
                                              std::span<const int64_t> elements,
                                              std::span<const int64_t> dims, uint64_t report) {
  Result<uint32_t> programs = kernel->numPrograms(dims, params);
  if (!programs)
    return programs.takeError();
  std::vector<uint64_t> words(params.begin(), params.end());
  words.insert(words.end(), dims.begin(), dims.end());
  if (!kernel->sites().empty())
    words.push_back(report);
  PreparedLaunch result;
  int64_t bytes = 0, longest = 0;
  for (const CudaReduceCopies &copy : kernel->copies) {
    bytes += copy.bytesOf(elements[copy.param]);
    longest = std::max(longest, elements[copy.param]);
  }
  uint32_t blocks = *programs * kernel->code.blocks;
  if (kernel->residentBlocks)
    blocks = std::min(blocks, kernel->residentBlocks);
  bool finishes = true;
  int64_t copies = 1;
  if (!kernel->copies.empty()) {
    // Those that share a copy; none where the outputs have no elements.
    int64_t sharing = productOf(kernel->keptPrograms, dims, params);
    copies = kernel->keptPrograms.empty()
                 ? numReduceCopies(*programs, bytes)
                 : numSharedCopies(*programs, bytes, sharing, kernel->code.config.block.x);
    if (copies * sharing > mostBlocks)
      return Error{"`" + kernel->name() + "` has more blocks than a launch takes, 2^31 - 1",
                   "larger tile sizes make fewer"};
    blocks = static_cast<uint32_t>(copies * sharing);
    // One block takes less time for a few elements than another launch.
    bool folds = kernel->foldsItself && longest <= CudaCode::mostFolded;
    bool isAlone = kernel->storesAlone && copies == 1;
    folds &= !isAlone;
    finishes = !folds && !isAlone;
    CUdeviceptr counter = 0;
    if (!isAlone) {
      uint64_t size = static_cast<uint64_t>(bytes) * static_cast<uint64_t>(copies);
      Result<DeviceBuffer> made = DeviceBuffer::allocate(stream, size + (folds ? 4 : 0));
      if (!made)
        return made.takeError();
      result.workspace = *std::move(made);
      if (folds) {
        counter = result.workspace.address() + size;
        if (Status cleared = stream->fill(counter, 0, 4); !cleared)
          return cleared.takeError();
      }
    }
    words.insert(words.end(),
                 {result.workspace.address(), static_cast<uint64_t>(copies), *programs, counter});
  }
  int64_t most = elements.empty() ? 0 : *std::max_element(elements.begin(), elements.end());
  result.addStage(kernel->start, blocksFor(most, kernel->start.config.block.x));
  result.addStage(kernel->code, blocks);
  if (finishes) {
    int64_t each = copies <= CudaCode::mostFoldedAlone ? kernel->finish.config.block.x : 32;
    result.addStage(kernel->finish,
                    blocksFor(longest, each) * std::max<uint32_t>(1, kernel->copies.size()));
  }
  result.kernel = std::move(kernel);
  result.maps = std::make_unique<CUtensorMap[]>(result.kernel->maps.size());
  if (blocks > 0)
    if (Status made = result.makeMaps(params, dims); !made)
      return made.takeError();
  result.pack(words);
  return result;
}

} // namespace tile::runtime::cuda
