// Watches every access of a kernel that was compiled to be watched, with a shadow of each tensor
// that it writes: what is outside, what is read before it is written, where programs meet, and
// what nobody writes.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/artifact/CpuReport.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tile::runtime {

/// A load, store or update of the kernel.
struct SanitizerSite {
  enum class Kind : uint8_t { None, Load, Store, Update };
  Kind kind = Kind::None; // of other sites: no access
  uint32_t param = 0;
  /// By dimension: whether what is outside there is left out, by the language's rules; else it is a
  /// fault.
  std::vector<bool> drops;
  /// Two such accesses of an element are no race: atomic operations, and what may stand beside
  /// them.
  bool isAtomic = false;
};

struct SanitizerTensor {
  std::string name;
  ParamMode mode = ParamMode::In;
  std::vector<int64_t> shape;
};

/// What is wrong, the first time that it was seen, and how often it was.
struct SanitizerFinding {
  enum class Kind : uint8_t {
    Outside,     // an access outside its tensor
    Unwritten,   // an element of an output is read before it is stored
    Race,        // two programs, at least one of them writing
    NeverStored, // an element of an output that no program stores
  };
  Kind kind = Kind::Outside;
  /// By number in the kernel; of NeverStored none.
  std::optional<uint32_t> site;
  /// Of a race: the access before.
  std::optional<uint32_t> otherSite;
  uint32_t param = 0;
  std::vector<int64_t> index;
  /// Coordinates by binder.
  std::vector<int64_t> program, otherProgram;
  int64_t count = 0;
};

/// One launch, whose programs run one after the other.
class Sanitizer {
public:
  /// `sites` by their numbers, `tensors` by parameter (empty names of scalars).
  Sanitizer(std::vector<SanitizerSite> sites, std::vector<SanitizerTensor> tensors,
            uint32_t numBinders);

  /// Of all kinds and places, in the order in which they were first seen.
  const std::vector<SanitizerFinding> &findings() const { return found; }
  const std::vector<SanitizerTensor> &tensors() const { return allTensors; }

  /// A program begins; its coordinates by binder.
  void enter(int64_t program, const int64_t *coordinates);
  /// Whether the access may happen: it is inside.
  bool access(uint32_t site, const int64_t *indices);
  /// All programs have run.
  void finish();

private:
  struct Access {
    int64_t program = -1; // none yet
    uint32_t site = 0;
  };
  struct Shadow {
    Access writer;
    /// Two readers, of different programs: no more are needed to find one that is not the writer.
    Access readers[2];
  };
  void add(SanitizerFinding finding);
  SanitizerFinding make(SanitizerFinding::Kind kind, uint32_t site, const int64_t *indices) const;
  void race(uint32_t site, const Access &other, const int64_t *indices);
  std::vector<int64_t> coordinatesOf(int64_t program) const;
  std::vector<int64_t> indexOf(uint32_t param, int64_t element) const;

  std::vector<SanitizerSite> sites;
  std::vector<SanitizerTensor> allTensors;
  /// By parameter; of outputs and inouts.
  std::vector<std::vector<Shadow>> shadows;
  uint32_t numBinders;
  int64_t program = -1;
  std::map<int64_t, std::vector<int64_t>> coordinates;
  std::vector<SanitizerFinding> found;
  /// Where findings of one kind at one place are.
  std::map<std::tuple<SanitizerFinding::Kind, int64_t, int64_t, uint32_t>, size_t> known;
};

} // namespace tile::runtime
