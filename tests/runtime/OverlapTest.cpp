// Overlaps of random places, against a look at all pairs.
#include "TestSupport.h"

#include "runtime/tensor/Overlap.h"

namespace tile::runtime {
namespace {

using test::freshSeed;

bool doMeet(const CallPlace &x, const CallPlace &y) {
  return (x.isWritten || y.isWritten) && x.data && y.data && x.bytes && y.bytes &&
         x.data < y.data + y.bytes && y.data < x.data + x.bytes;
}

TEST(Overlap, IsWhatPairsSay) {
  uint64_t seed = freshSeed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  std::vector<std::byte> memory(256);
  int refused = 0, allowed = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<CallPlace> places(1 + engine() % 6);
    for (size_t n = 0; n < places.size(); ++n)
      places[n] = {"p" + std::to_string(n), engine() % 8 ? memory.data() + engine() % 200 : nullptr,
                   engine() % (1 + engine() % 50), engine() % 3 == 0};
    bool meet = false;
    for (size_t x = 0; x < places.size(); ++x)
      for (size_t y = 0; y < x; ++y)
        meet |= doMeet(places[x], places[y]);
    Status status = checkApart("f", places);
    ASSERT_EQ(!status, meet);
    ++(meet ? refused : allowed);
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(allowed, 100);
}

TEST(Overlap, NamesBoth) {
  std::vector<std::byte> memory(64);
  CallPlace places[] = {{"x", memory.data(), 16, false}, {"y", memory.data() + 12, 16, true}};
  Status status = checkApart("f", places);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "`y` of `f`, which is written, overlaps `x`: they have 4 bytes in common");
  EXPECT_FALSE(status.error().hint.empty());
}

} // namespace
} // namespace tile::runtime
