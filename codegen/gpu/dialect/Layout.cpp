//===- Layout.cpp - which thread holds which elements of a tile -----------===//

#include "codegen/gpu/dialect/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <map>

using namespace tile::codegen::gpu;
using Coords = Layout::Coords;

void Layout::addBasis(Part part, Coords step) {
  assert(step.size() == rank() && "one coordinate an axis");
  theBases[index(part)].push_back(std::move(step));
}

//===-- Making one --------------------------------------------------------===//

Layout Layout::blocked(const Blocked &shape) {
  Layout layout(shape.extents.size());
  Coords atom(layout.rank(), 1);
  auto give = [&](Part part, unsigned axis) {
    Coords step(layout.rank(), 0);
    step[axis] = atom[axis];
    layout.addBasis(part, step);
    atom[axis] *= 2;
  };
  auto giveAlong = [&](Part part, unsigned bits, llvm::ArrayRef<unsigned> order) {
    for (; bits > 0; --bits) {
      auto hasRoom = [&](unsigned axis) { return atom[axis] < shape.extents[axis]; };
      auto axis = llvm::find_if(order, hasRoom);
      if (axis != order.end())
        give(part, *axis);
      else
        layout.addBasis(part, Coords(layout.rank(), 0));
    }
  };
  if (!shape.order.empty()) {
    unsigned first = shape.order.front();
    while (atom[first] < shape.vector && atom[first] < shape.extents[first])
      give(Part::Register, first);
  }
  giveAlong(Part::Lane, laneBits, shape.order);
  giveAlong(Part::Warp, llvm::Log2_32(shape.warps),
            shape.warpOrder.empty() ? shape.order : shape.warpOrder);
  giveAlong(Part::Block, llvm::Log2_32(shape.blocks), shape.order);
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    layout.setRepeat(axis, std::max<int64_t>(1, llvm::divideCeil(shape.extents[axis], atom[axis])));
  return layout;
}

//===-- Places ------------------------------------------------------------===//

int64_t Layout::atomExtent(unsigned axis) const {
  int64_t all = 0;
  for (const auto &steps : theBases)
    for (const Coords &step : steps)
      all |= step[axis];
  return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(all) + 1));
}

int64_t Layout::extentOfBlock(unsigned axis) const {
  int64_t whole = extent(axis);
  for (const Coords &step : bases(Part::Block))
    whole /= step[axis] != 0 ? 2 : 1;
  return whole;
}

int64_t Layout::numRegisters() const {
  int64_t count = int64_t(1) << bases(Part::Register).size();
  for (int64_t repeat : theRepeats)
    count *= repeat;
  return count;
}

Coords Layout::at(Part part, unsigned number) const {
  Coords place(rank(), 0);
  for (auto [bit, step] : llvm::enumerate(bases(part)))
    if (number >> bit & 1)
      for (unsigned axis = 0; axis < rank(); ++axis)
        place[axis] ^= step[axis];
  return place;
}

Coords Layout::ofRegister(int64_t number) const {
  unsigned bits = bases(Part::Register).size();
  Coords place = at(Part::Register, number & ((int64_t(1) << bits) - 1));
  int64_t repeat = number >> bits;
  for (unsigned axis = rank(); axis-- > 0; repeat /= theRepeats[axis])
    place[axis] += repeat % theRepeats[axis] * atomExtent(axis);
  return place;
}

Coords Layout::of(int64_t reg, unsigned lane, unsigned warp, unsigned block) const {
  Coords ofLane = at(Part::Lane, lane), ofWarp = at(Part::Warp, warp), place = ofRegister(reg);
  Coords ofBlock = at(Part::Block, block);
  // Repeats are multiples of the atom's extent: they have no bits in common with its places.
  for (unsigned axis = 0; axis < rank(); ++axis)
    place[axis] ^= ofLane[axis] ^ ofWarp[axis] ^ ofBlock[axis];
  return place;
}

std::optional<int64_t> Layout::registerAt(llvm::ArrayRef<int64_t> place) const {
  int64_t repeat = 0;
  Coords within(rank(), 0);
  for (unsigned axis = 0; axis < rank(); ++axis) {
    int64_t atom = atomExtent(axis);
    if (place[axis] < 0 || place[axis] >= extent(axis))
      return std::nullopt;
    repeat = repeat * theRepeats[axis] + place[axis] / atom;
    within[axis] = place[axis] % atom;
  }
  unsigned bits = bases(Part::Register).size();
  for (int64_t number = 0; number < int64_t(1) << bits; ++number)
    if (at(Part::Register, number) == within)
      return repeat << bits | number;
  return std::nullopt;
}

//===-- Bits --------------------------------------------------------------===//

unsigned Layout::freeBits(Part part, llvm::ArrayRef<unsigned> axes) const {
  unsigned mask = 0;
  for (auto [bit, step] : llvm::enumerate(bases(part)))
    if (llvm::all_of(axes, [&, &step = step](unsigned axis) { return step[axis] == 0; }))
      mask |= 1u << bit;
  return mask;
}

unsigned Layout::freeBits(Part part) const {
  return freeBits(part, llvm::to_vector(llvm::seq<unsigned>(0, rank())));
}

Layout Layout::project(llvm::ArrayRef<unsigned> axes) const {
  Layout result(axes.size());
  for (unsigned n = 0; n < numParts; ++n) {
    auto part = static_cast<Part>(n);
    for (const Coords &step : bases(part)) {
      Coords kept = llvm::map_to_vector<4>(axes, [&](unsigned axis) { return step[axis]; });
      if (part != Part::Register || llvm::any_of(kept, [](int64_t x) { return x != 0; }))
        result.addBasis(part, std::move(kept));
    }
  }
  for (auto [position, axis] : llvm::enumerate(axes))
    result.setRepeat(position, theRepeats[axis]);
  return result;
}

Layout Layout::partial(unsigned axis) const {
  Layout result(rank());
  int64_t place = 1;
  for (unsigned n = 0; n < numParts; ++n) {
    auto part = static_cast<Part>(n);
    for (Coords step : bases(part)) {
      if (part == Part::Register)
        step[axis] = 0;
      else if (step[axis] != 0)
        step[axis] = std::exchange(place, 2 * place);
      if (part != Part::Register || llvm::any_of(step, [](int64_t x) { return x != 0; }))
        result.addBasis(part, std::move(step));
    }
  }
  for (unsigned other = 0; other < rank(); ++other)
    result.setRepeat(other, other == axis ? 1 : theRepeats[other]);
  return result;
}

int64_t Layout::contiguity(unsigned axis) const {
  int64_t count = 1;
  for (const Coords &step : bases(Part::Register)) {
    for (unsigned other = 0; other < rank(); ++other)
      if (step[other] != (other == axis ? count : 0))
        return count;
    count *= 2;
  }
  return count;
}

bool Layout::isOnto() const {
  // Gaussian elimination; a place is one number, the axes' bits side by side.
  llvm::SmallVector<unsigned> shift(rank(), 0);
  unsigned bits = 0;
  for (unsigned axis = 0; axis < rank(); ++axis) {
    shift[axis] = bits;
    bits += llvm::Log2_64(atomExtent(axis));
  }
  if (bits > 64)
    return false;
  llvm::SmallVector<uint64_t> pivots;
  for (const auto &steps : theBases) {
    for (const Coords &step : steps) {
      uint64_t packed = 0;
      for (unsigned axis = 0; axis < rank(); ++axis)
        packed |= static_cast<uint64_t>(step[axis]) << shift[axis];
      bool isStep = packed != 0;
      for (uint64_t pivot : pivots) // each has a leading bit of its own
        packed = std::min(packed, packed ^ pivot);
      if (isStep && packed == 0)
        return false;
      if (packed != 0)
        pivots.push_back(packed);
    }
  }
  return pivots.size() == bits;
}

bool Layout::hasSameThreads(const Layout &other) const {
  if (rank() != other.rank() || theRepeats != other.theRepeats ||
      bases(Part::Lane) != other.bases(Part::Lane) ||
      bases(Part::Warp) != other.bases(Part::Warp) ||
      bases(Part::Block) != other.bases(Part::Block))
    return false;
  for (int64_t number = 0, count = numRegisters(); number < count; ++number)
    if (!other.registerAt(ofRegister(number)))
      return false;
  return numRegisters() == other.numRegisters();
}

std::optional<WarpExchange> tile::codegen::gpu::exchangeInWarp(const Layout &from,
                                                               const Layout &to) {
  constexpr int64_t mostRegisters = 32; // beyond that shared memory takes fewer instructions
  if (from.rank() != to.rank() || from.bases(Part::Warp) != to.bases(Part::Warp) ||
      from.bases(Part::Block) != to.bases(Part::Block) || from.numRegisters() > mostRegisters ||
      to.numRegisters() > mostRegisters)
    return std::nullopt;
  // Of lanes with copies the first: without the bits that make none.
  constexpr unsigned numLanes = 1u << laneBits;
  std::map<Layout::Coords, std::pair<int64_t, unsigned>> holders;
  for (unsigned lane = 0; lane < numLanes; ++lane)
    for (int64_t reg = 0; reg < from.numRegisters(); ++reg)
      holders.try_emplace(from.of(reg, lane, 0), reg, lane);
  WarpExchange exchange;
  for (int64_t reg = 0; reg < to.numRegisters(); ++reg) {
    std::array<std::pair<int64_t, unsigned>, numLanes> sources;
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      auto found = holders.find(to.of(reg, lane, 0));
      if (found == holders.end())
        return std::nullopt;
      sources[lane] = found->second;
    }
    auto [source, first] = sources[0];
    for (unsigned bit = 0; reg == 0 && bit < laneBits; ++bit)
      exchange.steps[bit] = sources[1u << bit].second ^ first;
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      unsigned expected = first;
      for (unsigned bit = 0; bit < laneBits; ++bit)
        expected ^= lane >> bit & 1 ? exchange.steps[bit] : 0;
      if (sources[lane] != std::pair(source, expected))
        return std::nullopt;
    }
    exchange.registers.push_back(source);
    exchange.lanes.push_back(first);
  }
  return exchange;
}

//===-- Text --------------------------------------------------------------===//

static std::string listOf(llvm::ArrayRef<int64_t> numbers) {
  auto text = llvm::map_range(numbers, [](int64_t number) { return std::to_string(number); });
  return "[" + llvm::join(text, ", ") + "]";
}

std::string Layout::str() const {
  static constexpr const char *names[] = {"register", "lane", "warp", "block"};
  std::string text;
  for (unsigned n = 0; n < numParts; ++n) {
    if (static_cast<Part>(n) == Part::Block && theBases[n].empty())
      continue;
    auto steps = llvm::map_range(theBases[n], [](const Coords &step) { return listOf(step); });
    text += std::string(names[n]) + " = [" + llvm::join(steps, ", ") + "], ";
  }
  return text + "repeat = " + listOf(theRepeats);
}
