#include "PeerLoops.h"

#include <cmath>
#include <cstring>
#include <omp.h>

namespace tile::bench {

void setLoopThreads(int threads) { omp_set_num_threads(threads); }

void copyBytes(const char *from, char *to, int64_t bytes) {
#pragma omp parallel
  {
    int64_t threads = omp_get_num_threads(), lines = (bytes + 63) / 64;
    int64_t lo = lines * omp_get_thread_num() / threads * 64;
    int64_t hi = lines * (omp_get_thread_num() + 1) / threads * 64;
    if (hi > bytes)
      hi = bytes;
    std::memcpy(to + lo, from + lo, static_cast<size_t>(hi - lo));
  }
}

void addLoop(const float *a, const float *b, float *c, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i)
    c[i] = a[i] + b[i];
}

void chainLoop(const float *x, const float *y, float *z, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    float t = (x[i] + y[i]) * 2;
    t = t > 0 ? t : 0;
    z[i] = 1 / (1 + std::exp(-(t - 1)));
  }
}

void softmaxLoop(const float *x, float *y, int64_t rows, int64_t columns) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x + r * columns;
    float *out = y + r * columns;
    float most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
    for (int64_t c = 0; c < columns; ++c)
      most = in[c] > most ? in[c] : most;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c) {
      out[c] = std::exp(in[c] - most);
      sum += out[c];
    }
    float scale = 1 / sum;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c)
      out[c] *= scale;
  }
}

void layerNormLoop(const float *x, const float *g, const float *b, float *y, int64_t rows,
                   int64_t columns) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float *in = x + r * columns;
    float *out = y + r * columns;
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t c = 0; c < columns; ++c)
      sum += in[c];
    float mean = sum / columns;
#pragma omp simd reduction(+ : squares)
    for (int64_t c = 0; c < columns; ++c)
      squares += (in[c] - mean) * (in[c] - mean);
    float scale = 1 / std::sqrt(squares / columns + 1e-5f);
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c)
      out[c] = (in[c] - mean) * scale * g[c] + b[c];
  }
}

void geluLoop(const float *x, float *y, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i)
    y[i] = 0.5f * x[i] * (1 + std::tanh(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

double multiplyAdds(int64_t work) {
#ifdef __AVX512F__
  constexpr int lanes = 16;
#else
  constexpr int lanes = 8;
#endif
  using Vector = float __attribute__((vector_size(lanes * 4)));
  // Named one by one: an array of them would live in memory.
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
  constexpr int chains = 12;
  double total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Vector x, y;
    for (int l = 0; l < lanes; ++l) {
      x[l] = 0.999f + 1e-5f * l;
      y[l] = 1e-3f;
    }
#define DECLARE(N) Vector sum##N = y;
    ALL(DECLARE)
    for (int64_t n = 0; n < work; ++n) {
#ifdef __FMA__
#define STEP(N) asm volatile("vfmadd213ps %2, %1, %0" : "+v"(sum##N) : "v"(x), "v"(y));
#else
#define STEP(N) sum##N = sum##N * x + y;
#endif
      ALL(STEP)
    }
    Vector all = y;
#define ADD(N) all += sum##N;
    ALL(ADD)
    // Never so large; but the compiler can't know.
    total += all[0] > 1e30f ? 0.0 : 2.0 * chains * lanes * static_cast<double>(work);
  }
  return total;
}

} // namespace tile::bench
