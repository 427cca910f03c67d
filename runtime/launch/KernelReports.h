// What the programs of one launch say, put in order: prints come as if the programs had run one
// after the other, and of all that fail the lowest one counts.
#pragma once

#include "runtime/artifact/CpuReport.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace tile::runtime {

class Sanitizer;

struct AssertionFailure {
  /// The assertion's number in its kernel.
  uint32_t site = 0;
  /// "softmax.tile:7:9"; empty where none is known.
  std::string place;
  /// "assertion failed: x > 0, at [i = 17] (in the program at i = 16)"
  std::string message;

  /// Both together.
  std::string str() const { return (place.empty() ? "" : place + ": ") + message; }
};

/// Where a launch leaves what its kernel says.
struct LaunchReport {
  /// Gets the prints, whole lines at a time, never two at the same time. None: standard error.
  std::function<void(std::string_view)> print = {};
  /// Of the lowest program with one.
  std::optional<AssertionFailure> failure = {};
};

/// Collects from chunks of programs, which may run at the same time.
class KernelReports {
public:
  /// `to` may be null, and so may `sanitizer`; with one the chunks run one after the other.
  explicit KernelReports(LaunchReport *to, Sanitizer *sanitizer = nullptr)
      : to(to), sanitizer(sanitizer) {}

  /// What the kernel gets for one chunk; chunks are numbered in the order of their programs, and
  /// each is opened and finished once.
  class Chunk : public CpuReport {
  public:
    Chunk(KernelReports &all, int64_t number);
    /// Its programs [lo, hi) have run, or none of them had to.
    void finish(int64_t lo, int64_t hi);

  private:
    friend class KernelReports;
    KernelReports &all;
    int64_t number;
    std::string text;
  };

  /// Once all chunks are finished.
  const std::optional<AssertionFailure> &failure() const { return first; }

private:
  static void onFail(CpuReport *report, const char *site, int64_t program, const int64_t *values);
  static void onPrint(CpuReport *report, const char *site, const void *values);
  static void onEnter(CpuReport *report, int64_t program, const int64_t *coordinates);
  static int64_t onAccess(CpuReport *report, int64_t site, const int64_t *indices, int64_t happens);
  void show(std::string &text);

  LaunchReport *to;
  Sanitizer *sanitizer;
  std::mutex mutex;
  std::atomic<int64_t> failedProgram = INT64_MAX;
  std::optional<AssertionFailure> first;
  /// The chunk whose turn it is to print, and what later ones have said.
  int64_t next = 0;
  struct Waiting {
    std::string text;
    int64_t end; // its programs are before this one
  };
  std::map<int64_t, Waiting> waiting;
};

} // namespace tile::runtime
