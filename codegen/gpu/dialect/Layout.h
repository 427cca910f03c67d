//===- Layout.h - which thread holds which elements of a tile -------------===//
//
// A tile of 8 × 128 elements, held by 4 warps of 32 lanes: each thread has 8 of
// the 1024 elements in registers. A *layout* says which. It is a table of *bases*:
// for each bit of the register's, the lane's and the warp's number the step that
// it makes, one coordinate an axis:
//
//     register  [0, 1]  [0, 2]                              4 neighbours along axis 1
//     lane      [0, 4]  [0, 8]  [0, 16]  [0, 32]  [0, 64]   a warp is a row of 128
//     warp      [1, 0]  [2, 0]                              4 rows
//     repeat    [2, 1]                                      all of it twice along axis 0
//
// A place is the sum of the steps of those bits that are set, without carry (xor):
// register 3 of lane 5 in warp 2 is at [2, 1 + 2 + 4 + 16] = [2, 23]. That is a
// linear map over the field of two elements (F2), and so all questions about
// layouts are linear algebra on bits: vectors of 16 bytes are register bits with
// the steps 1, 2, …; a bit whose step is zero means that threads hold copies; a
// reduction along an axis is a shuffle for each lane bit that moves along it.
//
// A long row may be held by a cluster of programs' blocks: then the number of the
// block in its cluster has bits with steps, too (`block = …`).
//
// The map covers the *atom*, whose extents are powers of two. The atom is repeated
// a whole number of times along each axis, so that a row of 5000 elements takes 5
// atoms of 1024 and not 8. What a layout covers beyond a tile's extent is padding:
// registers exist there, elements do not.
//
// See docs/gpu.md for pictures. The notion follows K. Zhou et al., "Linear Layouts:
// Robust Code Generation of Efficient Tensor Computation Using F2" (2025).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CODEGEN_GPU_DIALECT_LAYOUT_H
#define TILE_CODEGEN_GPU_DIALECT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace tile::codegen::gpu {

/// What numbers an element's holder, or rather the bits of that number.
enum class Part : unsigned { Register, Lane, Warp, Block };
inline constexpr unsigned numParts = 4;
inline constexpr unsigned laneBits = 5, blockBits = 4;

class Layout {
public:
  /// One number an axis.
  using Coords = llvm::SmallVector<int64_t, 4>;

  /// One element: no bits, no repeats.
  explicit Layout(unsigned rank = 0) : theRepeats(rank, 1) {}

  /// What `blocked` is to make.
  struct Blocked {
    llvm::ArrayRef<int64_t> extents;
    /// Axes, the one that is neighbours in memory first. Warps go along `warpOrder`, or if that is
    /// empty along `order`.
    llvm::ArrayRef<unsigned> order, warpOrder;
    /// Neighbours along the first axis that a thread holds, at most; a power of two.
    int64_t vector = 1;
    /// Powers of two. Blocks of a cluster go along `order`, after the warps.
    unsigned warps = 4, blocks = 1;
  };
  /// Neighbouring elements in a thread, neighbouring threads along the first axis with room, and so
  /// on; threads that are left over hold copies, elements that are left over are repeats.
  static Layout blocked(const Blocked &shape);

  unsigned rank() const { return theRepeats.size(); }
  llvm::ArrayRef<Coords> bases(Part part) const { return theBases[index(part)]; }
  llvm::ArrayRef<int64_t> repeats() const { return theRepeats; }
  void addBasis(Part part, Coords step);
  void setRepeat(unsigned axis, int64_t count) { theRepeats[axis] = count; }

  int64_t atomExtent(unsigned axis) const;
  /// What the layout covers: at least the tile's extent.
  int64_t extent(unsigned axis) const { return atomExtent(axis) * theRepeats[axis]; }
  /// What each block of a cluster has of it, if its steps are those of whole shares.
  int64_t extentOfBlock(unsigned axis) const;
  unsigned numWarps() const { return 1u << bases(Part::Warp).size(); }
  unsigned numBlocks() const { return 1u << bases(Part::Block).size(); }
  /// Registers of a thread, repeats included. Register n is number n % 2^bits of the atom's, in
  /// repeat n / 2^bits, counted along the last axis first.
  int64_t numRegisters() const;
  /// Where the bits of a part's number lead.
  Coords at(Part part, unsigned number) const;
  /// The place of a register of thread 0.
  Coords ofRegister(int64_t number) const;
  Coords of(int64_t reg, unsigned lane, unsigned warp, unsigned block = 0) const;
  /// The register of thread 0 at this place; none if it has none there.
  std::optional<int64_t> registerAt(llvm::ArrayRef<int64_t> place) const;

  /// Bits of a part that don't move along any of the axes, as a mask: what they number are copies.
  unsigned freeBits(Part part, llvm::ArrayRef<unsigned> axes) const;
  unsigned freeBits(Part part) const;
  /// The layout of a tile with these axes alone, in this order: each element stays where it is,
  /// once. Register bits without a step go away.
  Layout project(llvm::ArrayRef<unsigned> axes) const;
  /// The layout of what threads have when each has folded what it holds along an axis: in the place
  /// of that one an axis with an element for each thread that had a part, in the order of `project`
  /// without the axis.
  Layout partial(unsigned axis) const;
  /// How many registers from number 0 on are neighbours along an axis: a power of two. Every
  /// aligned group of so many registers are.
  int64_t contiguity(unsigned axis) const;
  /// Whether the steps that are not zero are independent, and reach all of the atom.
  bool isOnto() const;
  /// Whether the same threads hold the same elements, if not in the same registers.
  bool hasSameThreads(const Layout &other) const;

  bool operator==(const Layout &other) const = default;
  /// "register = [[0, 1]], lane = …, warp = …, repeat = [1, 2]".
  std::string str() const;

private:
  static unsigned index(Part part) { return static_cast<unsigned>(part); }
  std::array<llvm::SmallVector<Coords, 6>, numParts> theBases;
  Coords theRepeats;
};

/// How a tile gets from one layout to another within each warp: register r of a lane is what
/// another lane has in its register `registers[r]`, one for all lanes. That lane's number is
/// `lanes[r]` xor the steps of those of the lane's bits that are set.
struct WarpExchange {
  llvm::SmallVector<int64_t> registers;
  llvm::SmallVector<unsigned> lanes;
  std::array<unsigned, laneBits> steps = {};
};

/// None if elements have to go to other warps, if lanes would need different registers, or if
/// there are too many registers for it to pay.
std::optional<WarpExchange> exchangeInWarp(const Layout &from, const Layout &to);

} // namespace tile::codegen::gpu

#endif // TILE_CODEGEN_GPU_DIALECT_LAYOUT_H
