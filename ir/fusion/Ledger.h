//===- Ledger.h - what the fuser did, and why not more --------------------===//
//
// Every pair of kernels that the fuser has looked at has an entry, with its
// verdict and the reason. Nothing is taken back: a later entry on the same calls
// says more than an earlier one.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_FUSION_LEDGER_H
#define TILE_IR_FUSION_LEDGER_H

#include "ir/fusion/CostModel.h"

#include <string>
#include <vector>

namespace tile::ir {

struct FusionEntry {
  enum class Transform {
    /// The consumer computes what it read.
    Inline,
    /// All consumers do, and the tensor disappears.
    InlineAll,
    /// The consumer computes it, and stores it for others.
    InlineAndKeep,
    /// The producer does the consumer's work when its sum is complete.
    Finish,
    /// Side by side in the same programs.
    Merge,
  };
  enum class Verdict {
    Fused,
    /// It would not be the same, or can't be proved to be.
    Illegal,
    /// It would be the same, and more than the device or the compiler takes.
    TooLarge,
    /// It would be the same, and slower.
    Slower,
  };
  Transform transform = Transform::Inline;
  Verdict verdict = Verdict::Illegal;
  /// The calls that the graph had at first, by number, on either side: producers and consumers, or
  /// siblings.
  std::vector<unsigned> first, second;
  /// Between the two, or read by both.
  std::string tensor;
  double tensorBytes = 0;
  /// Why not; and where that shows, if a place is known.
  std::string reason;
  std::string place;
  /// What the verifier or a proof said of a kernel that was built and is not sound, for tests and
  /// whoever works on the fuser. No report shows it.
  std::string fault;
  /// It is elements that programs share that keep the two apart: a boundary may have a witness.
  bool isShared = false;
  /// Where the two are possible as one: what they cost apart, and as one.
  KernelCost apart, together;
};

/// An element that keeps two kernels apart, and the programs that meet in it.
struct FusionWitness {
  /// "s[0]"
  std::string element;
  /// Programs of the producer write parts of it, or one stores it.
  bool isUpdated = false;
  /// Programs of the producer that write it and of the consumer that read it, two at most: "i =
  /// 0..64".
  std::vector<std::string> writers, readers;
};

/// Two calls become one. Calls have numbers: first those of the graph that nothing has taken away,
/// in their order, then new ones as they come.
struct FusionStep {
  FusionEntry::Transform transform = FusionEntry::Transform::Inline;
  /// Producer and consumer, or guest and host.
  unsigned first = 0, second = 0;
  /// The producer's result, by number.
  unsigned tensor = 0;
  /// Of inlining: the consumer gets whole rows where it had blocks; and the tensor alone is
  /// inlined, not all that are between the two.
  bool widens = false, isSingle = false;
  bool operator==(const FusionStep &) const = default;
};

/// Calls that are not to be one kernel, nor together in a larger one.
struct FusionVeto {
  /// By number, in ascending order.
  std::vector<unsigned> calls;
  /// What was seen of the kernel that they were: "a thread would keep 96 bytes in local memory".
  std::string reason;
};

struct FusionLedger {
  struct Call {
    /// What it calls: the symbol, and what the source has.
    std::string callee, name;
    /// file:line:column; then those of the calls of graphs that it stands in.
    std::string place;
    std::vector<std::string> callers;
    KernelCost cost;
    /// What became of it before anything was fused.
    enum class Fate {
      Stays,
      /// Nobody uses what it gives, so it goes.
      Dead,
      /// It gives what an earlier call gives.
      Equal,
    };
    Fate fate = Fate::Stays;
    /// That call, by number.
    unsigned same = 0;
  };
  struct Kernel {
    std::string symbol;
    /// What it is made of.
    std::vector<unsigned> calls;
    KernelCost cost;
  };
  /// A tensor that one kernel still leaves in memory for another.
  struct Boundary {
    std::string tensor;
    double bytes = 0;
    /// Kernels, by number.
    unsigned from = 0, to = 0;
    /// Which of the producer's results it is.
    unsigned result = 0;
    /// The last entry about it; none if nobody has looked.
    std::optional<unsigned> entry;
    /// If it was looked for (Witness.h) and found.
    std::optional<FusionWitness> witness;
  };
  /// What the search took: fused kernels that it asked for, and those that were built for it.
  struct Effort {
    unsigned long asked = 0, built = 0;
  };
  /// All calls of kernels as they are written, those in graphs that it calls included.
  std::vector<Call> calls;
  std::vector<Kernel> kernels;
  std::vector<FusionEntry> entries;
  /// All that was done, in order.
  std::vector<FusionStep> steps;
  /// What was not to be.
  std::vector<FusionVeto> vetoes;
  /// Of steps that were given: why one can't be done; empty if all were.
  std::string staleStep;
  /// The largest first.
  std::vector<Boundary> boundaries;
  /// What two kernels read, each for itself, where it was tried to make them one: `from` and `to`
  /// are the two. The largest first.
  std::vector<Boundary> sharedReads;
  Effort effort;

  /// "file:line:column, called at file:line:column"
  std::string placeOf(unsigned call) const {
    std::string text = calls[call].place;
    for (const std::string &caller : calls[call].callers)
      text += ", called at " + caller;
    return text;
  }
  /// Why a call is in no kernel; empty if it is in one.
  std::string whyGone(unsigned call) const {
    switch (calls[call].fate) {
    case Call::Fate::Stays:
      return "";
    case Call::Fate::Dead:
      return "nobody uses what it gives";
    case Call::Fate::Equal:
      return "it gives what `" + calls[calls[call].same].name + "` at " +
             placeOf(calls[call].same) + " gives";
    }
    return "";
  }
  KernelCost before() const {
    KernelCost sum;
    for (const Call &call : calls)
      sum += call.cost;
    return sum;
  }
  KernelCost after() const {
    KernelCost sum;
    for (const Kernel &kernel : kernels)
      sum += kernel.cost;
    return sum;
  }
};

} // namespace tile::ir

#endif // TILE_IR_FUSION_LEDGER_H
