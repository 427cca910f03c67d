//===- PeerLoops.h - the same kernels as plain C++ loops ------------------===//
//
// What a C++ programmer would write, compiled by g++ -O3 -march=native
// -ffast-math -fopenmp: the peers of tilec's CPU backend. Matrices are row-major.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_BENCH_PEERLOOPS_H
#define TILE_TESTS_BENCH_PEERLOOPS_H

#include <cstdint>

namespace tile::bench {

void setLoopThreads(int threads);
/// to = from, each thread a contiguous part by memcpy.
void copyBytes(const char *from, char *to, int64_t bytes);
void addLoop(const float *a, const float *b, float *c, int64_t n);
/// sigmoid(relu((x + y) · 2) − 1)
void chainLoop(const float *x, const float *y, float *z, int64_t n);
void softmaxLoop(const float *x, float *y, int64_t rows, int64_t columns);
void layerNormLoop(const float *x, const float *g, const float *b, float *y, int64_t rows,
                   int64_t columns);
void geluLoop(const float *x, float *y, int64_t n);
/// Multiply-adds of f32 that depend on nothing but registers, by every thread for about
/// `work` rounds; gives the flops done.
double multiplyAdds(int64_t work);

} // namespace tile::bench

#endif // TILE_TESTS_BENCH_PEERLOOPS_H
