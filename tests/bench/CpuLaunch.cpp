// What a call costs on the CPU besides the kernel: outputs just below and above sizes at which the
// runtime asks for more.
//
//   tile_bench_cpu_launch [CALLS]
//
// y = x + 1 by tile::Function, compiled before; the least and the median of CALLS calls, by turns.

#include "frontend/tile/Tile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct Row {
  const char *what;
  int64_t elements;
  std::vector<double> microseconds = {};
};

} // namespace

int main(int argc, char **argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 2000;
  tile::Module module = tile::Module::parse("kernel add(x: f32[N]) -> (y: f32[N]) {\n"
                                            "    parallel i in tiles(N) {\n"
                                            "        y[i] = x[i] + 1\n"
                                            "    }\n"
                                            "}\n");
  tile::Result<tile::Function> add = module.compile("add");
  if (!add) {
    std::fprintf(stderr, "%s\n", add.error().str().c_str());
    return 1;
  }
  Row rows[] = {{"one element", 1},
                {"an output of 1 MiB", 262144},
                {"one element more", 262145},
                {"an output of 4 MiB", 1 << 20}};
  std::vector<tile::Tensor> inputs;
  for (const Row &row : rows)
    inputs.push_back(*tile::Tensor::create(tile::f32, {row.elements}));
  for (int call = -3; call < calls; ++call)
    for (size_t n = 0; n < inputs.size(); ++n) {
      auto start = std::chrono::steady_clock::now();
      tile::Result<tile::Outputs> outputs = (*add)({{"x", inputs[n]}});
      auto end = std::chrono::steady_clock::now();
      if (!outputs) {
        std::fprintf(stderr, "%s\n", outputs.error().str().c_str());
        return 1;
      }
      if (call >= 0) // the first ones compile
        rows[n].microseconds.push_back(
            std::chrono::duration<double, std::micro>(end - start).count());
    }
  for (Row &row : rows) {
    std::sort(row.microseconds.begin(), row.microseconds.end());
    std::printf("%-20s %8.1f µs at least, %8.1f µs in the middle\n", row.what,
                row.microseconds.front(), row.microseconds[row.microseconds.size() / 2]);
  }
}
