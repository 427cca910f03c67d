// Lesson 28: a program without a compiler.
//
//   classify [ARTIFACT]    by default the one that the build made of layers.tile
//
// It loads the artifact, runs the graph in f32 and in f64, on the processor and, where there is
// one, on a GPU, and compares all with plain loops. What it links is the runtime alone: `ldd` shows
// neither MLIR nor LLVM, nor anything of CUDA.
#include "frontend/tile/Artifact.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace {

int fail(const std::string &message) {
  std::cerr << "classify: error: " << message << "\n";
  return 1;
}

/// Numbers between −1 and 1 that look random and are the same everywhere.
tile::Result<tile::Tensor> make(tile::DType type, tile::Shape shape, uint64_t seed) {
  tile::Result<tile::Tensor> tensor = tile::Tensor::create(type, std::move(shape));
  if (tensor)
    for (int64_t n = 0; n < tensor->numElements(); ++n) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      tensor->setDouble(n, static_cast<double>(seed >> 40) / (1 << 23) - 1);
    }
  return tensor;
}

/// max(x·w + b, 0), by plain loops.
std::vector<double> dense(const std::vector<double> &x, const tile::Tensor &w,
                          const tile::Tensor &b) {
  int64_t inner = w.shape()[0], columns = w.shape()[1];
  int64_t rows = static_cast<int64_t>(x.size()) / inner;
  std::vector<double> y(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double sum = b.getDouble(j);
      for (int64_t k = 0; k < inner; ++k)
        sum += x[i * inner + k] * w.getDouble(k * columns + j);
      y[i * columns + j] = std::max(sum, 0.0);
    }
  return y;
}

void softmax(std::vector<double> &x, int64_t columns) {
  for (auto row = x.begin(); row != x.end(); row += columns) {
    double greatest = *std::max_element(row, row + columns), sum = 0;
    for (auto at = row; at != row + columns; ++at)
      sum += *at = std::exp(*at - greatest);
    for (auto at = row; at != row + columns; ++at)
      *at /= sum;
  }
}

using Inputs = std::vector<std::pair<std::string, const tile::Tensor *>>;

tile::Result<tile::Tensor> runOnProcessor(const tile::ArtifactFunction &classify,
                                          const Inputs &inputs) {
  std::vector<tile::NamedLaunchArgument> arguments;
  for (auto [name, tensor] : inputs)
    arguments.push_back({name, *tensor});
  tile::Result<tile::NamedTensors> outputs = classify(arguments);
  if (!outputs)
    return outputs.takeError();
  return outputs->at("y")->clone();
}

/// The weights would stay there in a program that classifies more than once.
tile::Result<tile::Tensor> runOnGpu(const tile::ArtifactFunction &classify, const tile::Gpu &gpu,
                                    const Inputs &inputs) {
  std::vector<tile::NamedLaunchArgument> arguments;
  for (auto [name, tensor] : inputs) {
    tile::Result<tile::DeviceTensor> uploaded = gpu.upload(*tensor);
    if (!uploaded)
      return uploaded.takeError();
    arguments.push_back({name, *uploaded});
  }
  tile::Result<tile::NamedDeviceTensors> outputs = classify.launch(gpu, arguments);
  if (!outputs)
    return outputs.takeError();
  return gpu.download(outputs->at("y"));
}

/// Runs the graph in one type; the greatest error, or less than 0 after a message.
double run(const tile::ArtifactFunction &classify, const tile::Gpu *gpu, tile::DType type) {
  const int64_t rows = 61, inputs = 97, hidden = 33, classes = 10;
  tile::Result<tile::Tensor> tensors[] = {
      make(type, {rows, inputs}, 1), make(type, {inputs, hidden}, 2), make(type, {hidden}, 3),
      make(type, {hidden, classes}, 4), make(type, {classes}, 5)};
  for (auto &tensor : tensors)
    if (!tensor)
      return fail(tensor.error().str()), -1;
  auto &[x, w1, b1, w2, b2] = tensors;
  const Inputs given = {{"x", &*x}, {"w1", &*w1}, {"b1", &*b1}, {"w2", &*w2}, {"b2", &*b2}};
  tile::Result<tile::Tensor> y =
      gpu ? runOnGpu(classify, *gpu, given) : runOnProcessor(classify, given);
  if (!y)
    return fail(y.error().str()), -1;

  std::vector<double> values(x->numElements());
  for (int64_t n = 0; n < x->numElements(); ++n)
    values[n] = x->getDouble(n);
  values = dense(dense(values, *w1, *b1), *w2, *b2);
  softmax(values, classes);
  double worst = 0;
  for (int64_t n = 0; n < y->numElements(); ++n)
    worst = std::max(worst, std::fabs(y->getDouble(n) - values[n]));
  std::printf("%s on the %s: %s, greatest error %.1e\n", std::string(tile::nameOf(type)).c_str(),
              gpu ? "GPU" : "processor", y->describe().c_str(), worst);
  return worst;
}

} // namespace

int main(int argc, char **argv) {
  tile::Result<tile::Artifact> artifact =
      tile::Artifact::load(argc > 1 ? argv[1] : LAYERS_ARTIFACT);
  if (!artifact)
    return fail(artifact.error().str());
  tile::Result<tile::ArtifactFunction> classify = artifact->function("classify");
  if (!classify)
    return fail(classify.error().str());
  tile::Result<tile::Gpu> gpu = tile::Gpu::open();
  if (!gpu)
    std::printf("no GPU: %s\n", gpu.error().message.c_str());
  std::vector<const tile::Gpu *> devices = {nullptr};
  if (gpu)
    devices.push_back(&*gpu);
  for (const tile::Gpu *device : devices) {
    double f32 = run(*classify, device, tile::DType::F32);
    double f64 = run(*classify, device, tile::DType::F64);
    if (f32 < 0 || f64 < 0)
      return 1;
    if (f32 > 1e-5 || f64 > 1e-13)
      return fail("that is not what the loops compute");
  }
  return 0;
}
