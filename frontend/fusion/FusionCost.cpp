//===- FusionCost.cpp - what a kernel costs, by a device's description ----===//

#include "frontend/fusion/FusionCost.h"

#include "codegen/cpu/ChooseTiles.h"
#include "codegen/gpu/plan/Shortage.h"
#include "codegen/gpu/plan/TileSizes.h"
#include "frontend/execute/CudaExecution.h"
#include "ir/dialect/AffineEval.h"
#include "runtime/launch/BufferPlan.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;

FusionCost::FusionCost(const DeviceDescription &device, TileSizes sizes,
                       const FusionConstants &constants)
    : device(device), sizes(std::move(sizes)), constants(constants) {
  double share = constants.fewCores / device.figure("multiprocessors");
  if (device.isGpu || !(share < 1))
    return;
  DeviceDescription few = device;
  few.figures["multiprocessors"].value = constants.fewCores;
  if (double each = few.figure("core_bandwidth"); each > 0)
    few.figures["memory_bandwidth"].value = constants.fewCores * each;
  few.figures["launch"].value = std::min(few.launchSeconds(), constants.launchOnFewCores);
  for (auto &[name, figure] : few.figures)
    if (figure.unit == "FLOP/s")
      figure.value *= share;
  onFewCores = std::make_shared<FusionCost>(few, TileSizes(), constants);
}

double FusionCost::launchSeconds() const { return device.launchSeconds(); }

double FusionCost::bandwidth() const { return device.bandwidth() > 0 ? device.bandwidth() : 1e11; }

double FusionCost::memory() const {
  double bytes = device.figure("memory");
  return bytes > 0 ? bytes : ir::CostModel::memory();
}

double FusionCost::bytesAtATime(ArrayRef<ir::TensorLife> tensors,
                                std::vector<std::vector<uint32_t>> dependencies) {
  // Dims that nobody gave may make more of it than 64 bits count.
  double unit = std::max(1.0, ir::CostModel::bytesAtATime(tensors, {}) / 0x1p62);
  std::vector<runtime::BufferRequest> requests;
  for (const ir::TensorLife &tensor : tensors)
    requests.push_back({static_cast<uint64_t>(tensor.bytes / unit), tensor.writer, tensor.readers,
                        tensor.changed});
  runtime::CallOrder order(std::move(dependencies));
  return unit * static_cast<double>(planBuffers(requests, order).bytes);
}

codegen::CpuMachine FusionCost::machine() const {
  return {std::max(1, static_cast<int>(device.figure("multiprocessors")))};
}

llvm::StringMap<int64_t> FusionCost::tileSizes(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  ir::Bindings given = sizes.of(kernel);
  if (device.isGpu)
    return codegen::gpu::sizesInCode(kernel, dims, given.sizes, device.gpuTarget());
  for (const auto &[binder, size] : codegen::chooseTiles(kernel, dims, given.sizes, machine()))
    given.sizes.try_emplace(binder, size);
  return given.sizes;
}

/// On a CPU a thread runs a program at a time. On a GPU the compiler is asked; but not what CTAs of
/// plain arithmetic are like where there are so many that it makes no difference.
codegen::gpu::KernelShape FusionCost::shapeOf(ir::KernelOp kernel, ArrayRef<int64_t> dims,
                                              const llvm::StringMap<int64_t> &blocks,
                                              const Work &work) const {
  constexpr double many = 256;
  if (!device.isGpu)
    return {.ctas = 1, .warps = 1, .ctasAtATime = 1, .contractions = {}};
  if (work.contractions.empty() && work.programs > many * device.figure("multiprocessors"))
    return {};
  return codegen::gpu::kernelShape(kernel, dims, blocks, device.gpuTarget());
}

codegen::gpu::KernelShape FusionCost::fit(ir::KernelOp kernel, ArrayRef<int64_t> dims,
                                          llvm::StringMap<int64_t> &blocks, const Work &work,
                                          bool &isSmaller) const {
  codegen::gpu::KernelShape shape = shapeOf(kernel, dims, blocks, work);
  if (shape.elementsOfThread <= CudaSpecialization().mostElements)
    return shape;
  std::vector<std::string> open = codegen::gpu::openBinders(kernel, sizes.of(kernel).sizes);
  while (shape.elementsOfThread > CudaSpecialization().mostElements) {
    int64_t *largest = nullptr;
    for (const std::string &binder : open)
      if (int64_t &size = blocks[binder]; size > 1 && (!largest || size > *largest))
        largest = &size;
    if (!largest)
      break;
    *largest /= 2;
    isSmaller = true;
    shape = shapeOf(kernel, dims, blocks, work);
  }
  return shape;
}

/// Contractions of whole axes have operands in shared memory, all at a time; pipelines have as much
/// as there is.
unsigned FusionCost::ctasByShared(const Work &work, const codegen::gpu::KernelShape &shape) const {
  auto isPipeline = [](const auto &one) { return one.path == ir::ContractionPath::Pipeline; };
  double bytes = static_cast<double>(runtime::GpuTarget::of(device.target).sharedBytes);
  return work.contractedBytes < 1 || llvm::any_of(shape.contractions, isPipeline)
             ? shape.ctasAtATime
             : static_cast<unsigned>(std::max(1.0, bytes / work.contractedBytes));
}

/// How much longer arithmetic takes than on all multiprocessors, as the last of them have fewer of
/// so many CTAs, or none.
static double shareLost(double ctas, double multiprocessors) {
  if (multiprocessors < 1 || !(ctas >= 1) || !std::isfinite(ctas))
    return 1;
  return std::ceil(ctas / multiprocessors) * multiprocessors / ctas;
}

double FusionCost::fastest(const Work::Contraction &contraction) const {
  double matrix = device.operations(Unit::Matrix, contraction.type);
  return matrix > 0 ? matrix : device.operations(Unit::Vector, contraction.type);
}

double FusionCost::contractionRate(const Work::Contraction &contraction,
                                   const codegen::gpu::ContractionShape &shape) const {
  if (contraction.isOfVectors)
    return device.operations(Unit::Vector, contraction.type);
  using Path = ir::ContractionPath;
  if (shape.path == Path::Scalar)
    return constants.shareOfPlain / (1 + constants.costOfRead * shape.reads) *
           device.operations(Unit::Vector, contraction.type) / shape.copies;
  bool isByWarps = shape.path == Path::WarpMma && contraction.type != runtime::DType::F64 &&
                   runtime::GpuTarget::of(device.target).hasWarpgroupMma;
  double share =
      isByWarps ? constants.shareOfWarpMma * (shape.isOneByOne ? constants.shareOneByOne : 1) : 1;
  return share * fastest(contraction);
}

FusionCost::Multiplying
FusionCost::contractionSeconds(const Work &work, const codegen::gpu::KernelShape &shape) const {
  double multiprocessors = std::max(1.0, device.figure("multiprocessors")),
         clock = device.figure("clock"), ctas = work.programs * shape.ctas;
  // CTAs of a multiprocessor, at a time and one after the other.
  double each = std::clamp(std::ceil(ctas / multiprocessors), 1.0, double(shape.ctasAtATime));
  double rounds = std::max(1.0, std::ceil(ctas / multiprocessors / each));
  Multiplying all;
  size_t next = 0;
  for (const Work::Contraction &contraction : work.contractions) {
    codegen::gpu::ContractionShape one;
    if (!contraction.isOfVectors && next < shape.contractions.size())
      one = shape.contractions[next++];
    double rate = contractionRate(contraction, one);
    if (!(rate > 0) || !std::isfinite(contraction.operations))
      continue;
    double busy = contraction.operations / rate;
    // Multiply-adds count twice.
    if (double vector = device.operations(Unit::Vector, runtime::DType::F32); vector > 0)
      busy += contraction.operations / 2 / one.columns * one.boxes *
              constants.instructionsOfComputed / (vector / 2);
    double whole = busy * shareLost(ctas, multiprocessors);
    all.busy += busy;
    if (contraction.isOfVectors) {
      all.whole += whole;
      continue;
    }
    bool isPlain = one.path == ir::ContractionPath::Scalar;
    // Plain threads have had the rate that was fitted where registers alone limit their blocks.
    if (!isPlain || shape.lacksShared)
      whole *= waiting(shape.warps, ctas, shape);
    if ((!isPlain && !one.isComputed) || clock <= 0) {
      all.whole += whole;
      continue;
    }
    double ofProgram = contraction.operations / 2 / std::max(1.0, work.programs);
    double turns = rounds * std::max(1.0, std::ceil(ofProgram / one.ofTurn));
    double issue =
        isPlain ? one.depth * (one.sums * (1 + one.reads) + constants.instructionsOfStep) / clock
                : 0;
    double turn =
        (one.isFirst ? constants.secondsOfTurn : 0) + std::max(whole / each / turns, issue);
    all.whole += std::max(whole, turns * turn);
  }
  return all;
}

/// Seconds in which its bytes move, and so many come once more, which a cache has; an equal part of
/// them by each CTA. Waves of CTAs that fill the device have its bandwidth; fewer have what so many
/// warps draw, wherever it comes from. They wait for each access, and have as many elements of it
/// as go into a vector of the widest ones.
double FusionCost::memorySeconds(const Work &work, double again, double ctas,
                                 const codegen::gpu::KernelShape &shape) const {
  double bytes = work.bytes() + work.restOfPieces;
  double drawn = bytes + again;
  if (device.isGpu)
    drawn = std::max(drawn, work.bytesAbreast);
  // What a core reads again is not in its own cache any more where so much lies in between.
  else if (double cache = device.figure("core_cache"); cache > 0)
    drawn += constants.lostReread * work.rereadBeyond(cache);
  bytes += again / constants.cacheSpeedup;
  double perWarp = device.figure(device.isGpu ? "warp_bandwidth" : "core_bandwidth");
  double ofCluster = device.figure("cluster_bandwidth");
  double slots = device.figure("multiprocessors") * shape.ctasAtATime;
  if (perWarp <= 0 || slots < 1 || !(ctas >= 1) || !std::isfinite(ctas))
    return bytes / bandwidth();
  double perProgram =
      shape.ctas * shape.warps * perWarp * (shape.isPhased ? constants.shareOfPhases : 1);
  if (shape.ctas > 1 && ofCluster > 0)
    perProgram = std::min(perProgram, ofCluster);
  auto wave = [&](double atATime) {
    return std::max(atATime * bytes / bandwidth(), shape.ctas * drawn / perProgram) / ctas;
  };
  double waves = std::floor(ctas / slots), rest = ctas - waves * slots;
  return waves * wave(slots) + (rest > 0 ? wave(rest) : 0);
}

double FusionCost::waiting(double warps, double ctas,
                           const codegen::gpu::KernelShape &shape) const {
  double multiprocessors = device.figure("multiprocessors");
  if (!device.isGpu || multiprocessors < 1)
    return 1;
  double each = std::min<double>(shape.ctasAtATime, std::ceil(ctas / multiprocessors));
  return std::max(1.0, constants.busyWarps / std::max(1.0, each * warps));
}

ir::LaunchTimes FusionCost::timesOf(const Work &work, const codegen::gpu::KernelShape &shape,
                                    double cycles) const {
  double multiprocessors = device.figure("multiprocessors"), ctas = work.programs * shape.ctas;
  double vector = device.operations(Unit::Vector, runtime::DType::F32),
         clock = device.figure("clock");
  Work rest = work;
  for (const Work::Contraction &contraction : work.contractions)
    rest.operations.erase({Unit::Matrix, contraction.type});
  double compute = rest.computeSeconds(device);
  Multiplying multiply;
  if (device.isGpu) {
    multiply = contractionSeconds(work, shape);
  } else {
    double all = work.computeSeconds(device) - compute;
    // Not all loops around a contraction are known to the cycles.
    if (clock > 0 && multiprocessors > 0)
      all = std::max(all, cycles * work.programs / (clock * multiprocessors));
    if (clock > 0 && multiprocessors > 0 && !work.contractions.empty()) {
      double waits = static_cast<double>(work.contractions.size()) - (work.reduced > 0 ? 0 : 1);
      all += waits * constants.cyclesOfWait * work.programs / (clock * multiprocessors);
    }
    multiply = {all, all * shareLost(ctas, multiprocessors)};
  }
  if (vector > 0)
    compute +=
        ((device.isGpu ? constants.operationsOfFunction : constants.operationsOfFunctionOnCpu) -
         1) *
        (work.functions + (device.isGpu ? 0 : work.functionsOfFew)) / vector;
  if (vector > 0 && !device.isGpu)
    compute += constants.operationsOfReductionOnCpu * work.reduced / vector;
  double busy = compute + multiply.busy;
  bool isPipeline = llvm::any_of(shape.contractions, [](const auto &one) {
    return one.path == ir::ContractionPath::Pipeline;
  });
  double ofWaiting = waiting(shape.warps, ctas, shape);
  if (!isPipeline)
    compute *= ofWaiting;
  double again = std::max(0.0, work.bytesAccessed - work.bytes());
  ir::LaunchTimes times;
  times.launch = device.launchSeconds();
  times.memory = memorySeconds(work, again, ctas, shape);
  times.compute = compute * shareLost(ctas, multiprocessors);
  if (isPipeline && work.reduced > 0 && multiprocessors > 0)
    times.compute =
        std::max(times.compute, constants.secondsOfReducedTurn * std::ceil(ctas / multiprocessors));
  times.compute += multiply.whole;
  // Where so few warps run, none multiplies while one waits for what it reads behind its loop.
  if (!isPipeline && shape.readsBehind && ofWaiting > 1)
    times.compute += constants.secondsOfTurn *
                     std::ceil(ctas / (multiprocessors * std::max(1U, shape.ctasAtATime)));
  // Blocks that run all programs, one after the other, wait for each one's operands, and for each
  // other's threads.
  const codegen::gpu::OutputCopies &copies = shape.copies;
  if (copies.blocks > 0 && copies.meets)
    times.memory =
        std::max(times.memory, constants.secondsOfTurn * std::ceil(work.programs / copies.blocks));
  times.all = secondsOf(times.launch, times.memory, times.compute);
  double folding = copies.launches * times.launch +
                   2 * copies.count * copies.bytes / constants.cacheSpeedup / bandwidth();
  times.all += folding;
  if (device.isGpu) {
    double begun = ctas * constants.secondsOfCta;
    double bytes = work.bytes() + work.restOfPieces + again / constants.cacheSpeedup;
    times.all = std::max(times.all, times.launch + begun);
    times.busy = std::max(begun, secondsOf(0, bytes / bandwidth(), busy)) + folding;
  }
  // Others have the places that its last programs leave. On a CPU they don't begin meanwhile.
  double places = multiprocessors * std::max(1U, shape.ctasAtATime);
  times.busy = std::max(times.busy, (times.all - times.launch) / shareLost(ctas, places)) +
               times.launch * (device.isGpu ? ir::launchShare : 1);
  return times;
}

ir::KernelCost FusionCost::costOf(ir::KernelOp kernel, ArrayRef<int64_t> dims) {
  llvm::StringMap<int64_t> blocks = tileSizes(kernel, dims);
  unsigned count = kernel.getNumArguments();
  SmallVector<SmallVector<int64_t>> extents(count);
  for (unsigned n = 0; n < count; ++n)
    if (AffineMap shape = kernel.getParamShape(n))
      for (AffineExpr expr : shape.getResults())
        extents[n].push_back(std::max<int64_t>(0, ir::evaluateAffine(expr, {}, dims).value_or(0)));
  SmallVector<ArrayRef<int64_t>> shapes(extents.begin(), extents.end());
  SmallVector<uint64_t> scalars(count);
  // Where data decides how far a loop goes, it is taken to go as far as the largest dim.
  double usual = dims.empty() ? 1 : static_cast<double>(*llvm::max_element(dims));
  Work work = countWork(kernel, dims, shapes, scalars, blocks, usual);
  bool isSmaller = false;
  codegen::gpu::KernelShape shape = fit(kernel, dims, blocks, work, isSmaller);
  if (isSmaller)
    work = countWork(kernel, dims, shapes, scalars, blocks, usual);
  if (unsigned most = ctasByShared(work, shape); device.isGpu && most < shape.ctasAtATime) {
    shape.ctasAtATime = most;
    shape.lacksShared = true;
  }

  ir::KernelCost cost;
  double registers = constants.shareOfRegisters * 4 * device.figure("registers_per_multiprocessor");
  auto kib = [](double bytes) {
    return std::to_string(static_cast<int64_t>(bytes / 1024)) + " KiB";
  };
  if (device.isGpu && work.contractedBytes > codegen::gpu::mostSharedOfOp)
    cost.obstacle = "a contraction would have " + kib(work.contractedBytes) +
                    " of its operands at a time, more than " + kib(codegen::gpu::mostSharedOfOp) +
                    " of shared memory";
  else if (device.isGpu && work.carriedBytes > registers)
    cost.obstacle = "a program's loop would carry " + kib(work.carriedBytes) +
                    " from block to block, more than " + kib(registers) +
                    " of a multiprocessor's registers";
  cost.bytesRead = work.bytesRead;
  cost.bytesWritten = work.bytesWritten;
  cost.operations = work.totalOperations();
  cost.functions = work.functions;
  double moved = work.bytes() + work.restOfPieces;
  double again = std::max(0.0, work.bytesAccessed - work.bytes());
  cost.leastMemorySeconds = (moved + again / constants.cacheSpeedup) / bandwidth();
  cost.leastComputeSeconds = work.computeSeconds(device);
  cost.programs = work.programs;
  cost.fillsDevice = !(work.programs * shape.ctas < device.figure("multiprocessors"));
  cost.contractions = shape.contractions.size();
  cost.products = device.isGpu ? 0 : work.contractions.size();
  cost.wholeScalars = shape.wholeScalars;
  for (const codegen::gpu::ContractionShape &one : shape.contractions) {
    cost.pipelines += one.path == ir::ContractionPath::Pipeline;
    cost.scalars += one.path == ir::ContractionPath::Scalar;
  }
  codegen::CpuProgram program;
  if (!device.isGpu)
    program = codegen::programOf(kernel, dims, blocks, machine());
  if (double cache = device.figure("core_cache"); cache > 0 && program.keptBytes > cache)
    work.bytesAccessed += constants.movesOfKept * work.programs * program.keptBytes;
  ir::LaunchTimes times = timesOf(work, shape, program.contractionCycles);
  cost.launchSeconds = times.launch;
  cost.memorySeconds = times.memory;
  cost.computeSeconds = times.compute;
  cost.busySeconds = times.busy;
  cost.seconds = times.all;
  if (onFewCores)
    cost.onFewCores = onFewCores->timesOf(work, shape, program.contractionCycles);
  return cost;
}
