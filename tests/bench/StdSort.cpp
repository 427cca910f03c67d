// std::sort of rows, and of their places, beside what tilec makes of them (orders.py).
//
//   stdsort ROWS LENGTH BITS REPEAT   prints the least milliseconds for both, of 32 or 64 bits

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

static double millisecondsOf(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

template <typename T>
static void measure(int64_t rows, int64_t length, int repeat) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<T> values(rows * length), sorted;
  for (T &value : values)
    value = static_cast<T>(normal(random));
  std::vector<int64_t> places(length);
  double sorts = 1e30, argsorts = 1e30;
  for (int turn = 0; turn < repeat; ++turn) {
    sorted = values;
    sorts =
        std::min(sorts, millisecondsOf([&] {
                   for (int64_t row = 0; row < rows; ++row)
                     std::sort(sorted.begin() + row * length, sorted.begin() + (row + 1) * length);
                 }));
    argsorts = std::min(argsorts, millisecondsOf([&] {
                          for (int64_t row = 0; row < rows; ++row) {
                            const T *line = &values[row * length];
                            std::iota(places.begin(), places.end(), 0);
                            std::sort(places.begin(), places.end(),
                                      [&](int64_t x, int64_t y) { return line[x] < line[y]; });
                          }
                        }));
  }
  std::printf("%.4f %.4f\n", sorts, argsorts);
}

int main(int, char **arguments) {
  int64_t rows = std::atoll(arguments[1]), length = std::atoll(arguments[2]);
  int repeat = std::atoi(arguments[4]);
  if (std::atoi(arguments[3]) == 64)
    measure<double>(rows, length, repeat);
  else
    measure<float>(rows, length, repeat);
}
