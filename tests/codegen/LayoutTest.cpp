// Layouts against what enumerating all their threads and registers says.
#include "codegen/gpu/dialect/Layout.h"
#include "codegen/gpu/dialect/Mma.h"
#include "codegen/gpu/dialect/TileGpuOps.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/Sequence.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace tile::codegen::gpu;
using Coords = std::vector<int64_t>;

namespace {
struct Holder {
  int64_t reg;
  unsigned lane, warp, block;
  auto operator<=>(const Holder &) const = default;
};

Coords plain(const Layout::Coords &place) { return {place.begin(), place.end()}; }

/// Who holds each place, by trying everything.
std::map<Coords, std::vector<Holder>> holdersOf(const Layout &layout) {
  std::map<Coords, std::vector<Holder>> holders;
  for (unsigned block = 0; block < layout.numBlocks(); ++block)
    for (unsigned warp = 0; warp < layout.numWarps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
          holders[plain(layout.of(reg, lane, warp, block))].push_back({reg, lane, warp, block});
  return holders;
}

struct Random {
  std::mt19937 engine{std::random_device{}()};
  int64_t upTo(int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(engine); }
};

struct Made {
  Layout layout;
  std::vector<int64_t> extents;
};

Made randomLayout(Random &random) {
  unsigned rank = random.upTo(3);
  std::vector<int64_t> extents;
  std::vector<unsigned> order, warpOrder;
  for (unsigned axis = 0; axis < rank; ++axis) {
    extents.push_back(random.upTo(rank == 1 ? 700 : rank == 2 ? 40 : 12));
    order.push_back(axis);
  }
  std::shuffle(order.begin(), order.end(), random.engine);
  warpOrder = order;
  std::shuffle(warpOrder.begin(), warpOrder.end(), random.engine);
  Layout layout = Layout::blocked({extents, order, warpOrder, int64_t(1) << (random.upTo(4) - 1),
                                   1u << (random.upTo(4) - 1), 1u << (random.upTo(3) - 1)});
  return {layout, extents};
}

std::vector<Coords> allPlaces(const std::vector<int64_t> &extents) {
  std::vector<Coords> places = {{}};
  for (int64_t extent : extents) {
    std::vector<Coords> longer;
    for (const Coords &place : places)
      for (int64_t x = 0; x < extent; ++x) {
        longer.push_back(place);
        longer.back().push_back(x);
      }
    places = std::move(longer);
  }
  return places;
}
} // namespace

TEST(Layout, TheExampleOfTheHeader) {
  Layout layout(2);
  for (int64_t step : {1, 2})
    layout.addBasis(Part::Register, {0, step});
  for (int64_t step : {4, 8, 16, 32, 64})
    layout.addBasis(Part::Lane, {0, step});
  for (int64_t step : {1, 2})
    layout.addBasis(Part::Warp, {step, 0});
  layout.setRepeat(0, 2);
  EXPECT_EQ(plain(layout.of(3, 5, 2)), (Coords{2, 23}));
  EXPECT_EQ(layout.numRegisters(), 8);
  EXPECT_EQ(layout.extent(0), 8);
  EXPECT_EQ(layout.extent(1), 128);
  EXPECT_EQ(layout.contiguity(1), 4);
  EXPECT_EQ(plain(layout.ofRegister(5)), (Coords{4, 1}));
  EXPECT_EQ(layout.str(), "register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], "
                          "[0, 64]], warp = [[1, 0], [2, 0]], repeat = [2, 1]");
}

TEST(Layout, BlockedLayoutsHoldEachElementAsOftenAsTheirFreeBitsSay) {
  Random random;
  for (int round = 0; round < 60; ++round) {
    auto [layout, extents] = randomLayout(random);
    SCOPED_TRACE(layout.str());
    auto holders = holdersOf(layout);
    unsigned free = __builtin_popcount(layout.freeBits(Part::Lane)) +
                    __builtin_popcount(layout.freeBits(Part::Warp)) +
                    __builtin_popcount(layout.freeBits(Part::Block));
    for (const Coords &place : allPlaces(extents)) {
      ASSERT_TRUE(holders.count(place));
      ASSERT_EQ(holders[place].size(), size_t(1) << free);
      // Copies are in the same register of other threads.
      for (const Holder &holder : holders[place])
        ASSERT_EQ(holder.reg, holders[place][0].reg);
    }
    EXPECT_TRUE(layout.isOnto());
    // No atom more than needed.
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      EXPECT_LT(layout.extent(axis) - layout.atomExtent(axis), extents[axis]);
  }
}

TEST(Layout, RegistersAreFoundWhereTheyAre) {
  Random random;
  for (int round = 0; round < 60; ++round) {
    Layout layout = randomLayout(random).layout;
    SCOPED_TRACE(layout.str());
    std::set<Coords> taken;
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      Layout::Coords place = layout.ofRegister(reg);
      EXPECT_EQ(layout.registerAt(place), reg);
      taken.insert(plain(place));
    }
    std::vector<int64_t> covered;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      covered.push_back(layout.extent(axis) + 1);
    for (const Coords &place : allPlaces(covered))
      EXPECT_EQ(layout.registerAt(place).has_value(), taken.count(place) == 1);
  }
}

TEST(Layout, NeighboursAreNeighbours) {
  Random random;
  for (int round = 0; round < 60; ++round) {
    Layout layout = randomLayout(random).layout;
    SCOPED_TRACE(layout.str());
    for (unsigned axis = 0; axis < layout.rank(); ++axis) {
      int64_t count = layout.contiguity(axis);
      ASSERT_EQ(layout.numRegisters() % count, 0);
      for (unsigned lane : {0u, 7u, 31u})
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
          Coords expected = plain(layout.of(reg - reg % count, lane, layout.numWarps() - 1));
          ASSERT_EQ(expected[axis] % count, 0);
          expected[axis] += reg % count;
          ASSERT_EQ(plain(layout.of(reg, lane, layout.numWarps() - 1)), expected);
        }
    }
  }
}

TEST(Layout, ProjectionsKeepElementsWhereTheyAre) {
  Random random;
  for (int round = 0; round < 60; ++round) {
    Layout layout = randomLayout(random).layout;
    std::vector<unsigned> axes;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      if (random.upTo(2) == 1)
        axes.push_back(axis);
    std::shuffle(axes.begin(), axes.end(), random.engine);
    Layout projected = layout.project(axes);
    SCOPED_TRACE(layout.str() + "\n" + projected.str());
    // A thread has the places that it had, without the other axes, each in one register.
    for (unsigned warp = 0; warp < layout.numWarps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane) {
        std::set<Coords> expected, actual;
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
          Layout::Coords place = layout.of(reg, lane, warp);
          Coords kept;
          for (unsigned axis : axes)
            kept.push_back(place[axis]);
          expected.insert(kept);
        }
        for (int64_t reg = 0; reg < projected.numRegisters(); ++reg)
          actual.insert(plain(projected.of(reg, lane, warp)));
        ASSERT_EQ(actual, expected);
        ASSERT_EQ(static_cast<int64_t>(actual.size()), projected.numRegisters());
      }
  }
}

TEST(Layout, SameThreadsMeansTheSamePlacesInEachThread) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    auto [layout, extents] = randomLayout(random);
    std::vector<unsigned> order;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      order.push_back(axis);
    Layout other = Layout::blocked({extents, order, {}, 2, layout.numWarps(), layout.numBlocks()});
    bool isSame = true;
    for (unsigned warp = 0; warp < layout.numWarps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane) {
        std::set<Coords> x, y;
        for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
          x.insert(plain(layout.of(reg, lane, warp)));
        for (int64_t reg = 0; reg < other.numRegisters(); ++reg)
          y.insert(plain(other.of(reg, lane, warp)));
        isSame &= x == y;
      }
    // It may say no where a repeat and a bit of the register do the same.
    if (layout.hasSameThreads(other)) {
      EXPECT_TRUE(isSame) << layout.str() << "\n" << other.str();
    }
    EXPECT_TRUE(layout.hasSameThreads(layout));
  }
}

TEST(Layout, ExchangesInWarps) {
  Random random;
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    Made made = randomLayout(random);
    // The same, held by other lanes: bits change places, and some go between lane and register.
    Layout other(made.layout.rank());
    std::vector<Layout::Coords> steps(made.layout.bases(Part::Lane).begin(),
                                      made.layout.bases(Part::Lane).end());
    std::shuffle(steps.begin(), steps.end(), random.engine);
    for (const Layout::Coords &step : steps)
      other.addBasis(Part::Lane, step);
    for (Part part : {Part::Register, Part::Warp})
      for (const Layout::Coords &step : made.layout.bases(part))
        other.addBasis(part, step);
    for (unsigned axis = 0; axis < other.rank(); ++axis)
      other.setRepeat(axis, made.layout.repeats()[axis]);
    if (round % 4 == 0)
      other = randomLayout(random).layout;
    auto exchange = exchangeInWarp(made.layout, other);
    if (!exchange)
      continue;
    ++found;
    for (unsigned warp = 0; warp < other.numWarps(); ++warp)
      for (unsigned lane = 0; lane < 32; ++lane)
        for (int64_t reg = 0; reg < other.numRegisters(); ++reg) {
          unsigned source = exchange->lanes[reg];
          for (unsigned bit = 0; bit < laneBits; ++bit)
            source ^= lane >> bit & 1 ? exchange->steps[bit] : 0;
          ASSERT_EQ(plain(made.layout.of(exchange->registers[reg], source, warp)),
                    plain(other.of(reg, lane, warp)))
              << made.layout.str() << "\n"
              << other.str();
        }
  }
  EXPECT_GT(found, 100);
}

TEST(Layout, AttributesRoundTrip) {
  mlir::MLIRContext context;
  context.loadDialect<tile::ir::TileDialect, TileGpuDialect>();
  Random random;
  for (int round = 0; round < 60; ++round) {
    Layout layout = randomLayout(random).layout;
    std::vector<mlir::StringAttr> names;
    for (unsigned axis = 0; axis < layout.rank(); ++axis)
      names.push_back(mlir::StringAttr::get(&context, "axis" + std::to_string(axis)));
    auto attribute = LayoutAttr::get(&context, names, layout);
    EXPECT_EQ(attribute.getLayout(), layout);
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    EXPECT_EQ(mlir::parseAttribute(text, &context), attribute) << text;
  }
}

// The formula of the PTX ISA's figures, for element n of a lane.
TEST(Layout, OfTensorCores) {
  for (unsigned warps : {4, 8, 16})
    for (int64_t columns : {8, 24, 64, 192, 256, 320}) {
      int64_t perGroup = warps / 4 * 64, width = mmaColumns(columns);
      for (int64_t rows : {perGroup, 3 * perGroup}) {
        Layout layout = mmaLayout(rows, columns, warps);
        int64_t perInstruction = width / 2;
        ASSERT_EQ(layout.numRegisters(), rows * columns / (warps * 32));
        for (unsigned warp = 0; warp < warps; ++warp)
          for (unsigned lane = 0; lane < 32; ++lane)
            for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
              int64_t n = reg % perInstruction, repeat = reg / perInstruction;
              int64_t row =
                  repeat / (columns / width) * perGroup + 16 * warp + lane / 4 + 8 * (n / 2 % 2);
              int64_t column =
                  repeat % (columns / width) * width + 8 * (n / 4) + 2 * (lane % 4) + n % 2;
              ASSERT_EQ(plain(layout.of(reg, lane, warp)), (Coords{row, column}));
            }
      }
    }
}
