// Plans of graphs: what shares memory is never in use at the same time, and results are those of
// calls that run one after the other on tensors of their own.

#include "runtime/launch/GraphRun.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/launch/BufferPlan.h"
#include "runtime/load/Validation.h"
#include "tests/runtime/ArtifactSupport.h"
#include "tests/runtime/TestSupport.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <span>

using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

//===-- Buffers -----------------------------------------------------------===//

/// Random calls, each reading some earlier ones.
std::vector<std::vector<uint32_t>> randomCalls(std::mt19937 &random, uint32_t count) {
  std::vector<std::vector<uint32_t>> dependencies(count);
  for (uint32_t call = 1; call < count; ++call)
    for (unsigned n = random() % 3; n > 0; --n)
      dependencies[call].push_back(static_cast<uint32_t>(random() % call));
  return dependencies;
}

std::span<const std::byte> bytesOf(const Tensor &tensor) { return tensor.bytes(); }

TEST(BufferPlan, SharesOnlyWhatIsOver) {
  std::mt19937 random(3);
  uint64_t shared = 0, inPlace = 0;
  for (int round = 0; round < 600; ++round) {
    auto count = static_cast<uint32_t>(random() % 40 + 1);
    auto dependencies = randomCalls(random, count);
    CallOrder order(dependencies);
    std::vector<BufferRequest> requests(count);
    for (uint32_t call = 0; call < count; ++call) {
      requests[call].bytes = random() % 5 ? (random() % 4) * 64 : random() % 1000;
      requests[call].writer = call;
      for (uint32_t earlier : dependencies[call])
        requests[earlier].readers.push_back(call);
      if (!dependencies[call].empty() && random() % 2)
        requests[call].inPlaceOf = dependencies[call].front();
    }
    BufferPlan plan = planBuffers(requests, order);
    ASSERT_LE(plan.bytes, plan.sumBytes);
    shared += plan.bytes < plan.sumBytes;
    for (uint32_t a = 0; a < count; ++a) {
      ASSERT_LE(plan.offsets[a] + requests[a].bytes, plan.bytes);
      ASSERT_EQ(plan.offsets[a] % 64, 0u);
      inPlace += plan.isInPlace[a];
      for (uint32_t b = a + 1; b < count; ++b) {
        bool overlaps = plan.offsets[a] < plan.offsets[b] + requests[b].bytes &&
                        plan.offsets[b] < plan.offsets[a] + requests[a].bytes;
        if (!overlaps)
          continue;
        // All uses of a are before b is written; the last may be b's own writer, in place.
        EXPECT_TRUE(order.isBefore(a, b));
        for (uint32_t reader : requests[a].readers)
          EXPECT_TRUE(order.isBefore(reader, b) ||
                      (reader == b && plan.isInPlace[b] && requests[b].inPlaceOf == a))
              << "round " << round;
      }
    }
  }
  EXPECT_GT(shared, 100u);
  EXPECT_GT(inPlace, 100u);
}

TEST(BufferPlan, AChainTakesTwo) {
  std::vector<std::vector<uint32_t>> dependencies(20);
  std::vector<BufferRequest> requests(20);
  for (uint32_t call = 0; call < 20; ++call) {
    requests[call] = {1000, call, {}, {}};
    if (call > 0) {
      dependencies[call] = {call - 1};
      requests[call - 1].readers = {call};
    }
  }
  CallOrder order(dependencies);
  EXPECT_EQ(order.waves().size(), 20u);
  EXPECT_EQ(planBuffers(requests, order).bytes, 2 * 1024u);
  for (uint32_t call = 1; call < 20; ++call)
    requests[call].inPlaceOf = call - 1;
  EXPECT_EQ(planBuffers(requests, order).bytes, 1024u);
}

/// What is small and comes first doesn't sit where two large ones would have room.
TEST(BufferPlan, LargeOnesArePlacedFirst) {
  // large → small → two large ones → none
  CallOrder order({{}, {0}, {1}, {2}});
  std::vector<BufferRequest> requests = {
      {6400, 0, {1}, {}}, {64, 1, {2}, {}}, {6400, 2, {3}, {}}, {6400, 2, {3}, {}}};
  EXPECT_EQ(planBuffers(requests, order).bytes, 2 * 6400u + 64);
}

TEST(CallOrder, KnowsWhatComesBefore) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    auto dependencies = randomCalls(random, 150);
    CallOrder order(dependencies);
    // Reachability, the slow way.
    std::vector<std::vector<bool>> reaches(150, std::vector<bool>(150));
    for (uint32_t call = 0; call < 150; ++call)
      for (uint32_t earlier : dependencies[call])
        for (uint32_t other = 0; other < 150; ++other)
          if (other == earlier || reaches[earlier][other])
            reaches[call][other] = true;
    for (uint32_t a = 0; a < 150; ++a)
      for (uint32_t b = 0; b < 150; ++b)
        ASSERT_EQ(order.isBefore(a, b), reaches[b][a]);
  }
}

//===-- Graphs ------------------------------------------------------------===//

/// Kernels of two inputs: y = 3 a − b, and one that changes a: a += 2 b.
std::vector<KernelData> kernels() {
  std::vector<KernelData> kernels(2);
  kernels[0].signature = signature(
      "mix", {vector("a", ParamMode::In), vector("b", ParamMode::In), vector("y", ParamMode::Out)});
  kernels[1].signature =
      signature("change", {vector("a", ParamMode::InOut), vector("b", ParamMode::In)});
  return kernels;
}

const auto launch = [](const KernelLaunch &bound) -> Status {
  auto at = [&](size_t p) { return static_cast<int64_t *>(const_cast<void *>(bound.params[p])); };
  auto wrap = [](uint64_t x) { return static_cast<int64_t>(x); };
  for (int64_t i = 0; i < bound.elements[0]; ++i)
    if (bound.kernel == 0)
      at(2)[i] = wrap(3 * uint64_t(at(0)[i]) - uint64_t(at(1)[i]));
    else
      at(0)[i] = wrap(uint64_t(at(0)[i]) + 2 * uint64_t(at(1)[i]));
  return {};
};

struct RandomGraph {
  GraphPlan plan;
  /// What each tensor is, computed one after the other.
  std::vector<std::vector<int64_t>> expected;
};

/// Calls on random earlier tensors; some of them are results, one or two are inputs as well.
RandomGraph randomGraph(std::mt19937 &random, const std::vector<std::vector<int64_t>> &inputs) {
  RandomGraph graph;
  graph.expected = inputs;
  GraphPlan &plan = graph.plan;
  PlanFrame frame;
  frame.signature = signature("g", {});
  plan.steps.push_back({PlanStep::Kind::Open, 0});
  for (size_t n = 0; n < inputs.size(); ++n)
    frame.signature.params.push_back(vector("in" + std::to_string(n), ParamMode::In));
  auto pick = [&] { return static_cast<uint32_t>(random() % graph.expected.size()); };
  auto count = static_cast<uint32_t>(random() % 40 + 1);
  for (uint32_t n = 0; n < count; ++n) {
    uint32_t a = pick(), b = pick(), kernel = random() % 3 == 0;
    auto output = static_cast<uint32_t>(graph.expected.size());
    plan.calls.push_back({kernel, 0, {{true, a}, {true, b}}, {}, {output}, ""});
    plan.steps.push_back({PlanStep::Kind::Call, n});
    std::vector<int64_t> result(inputs[0].size());
    for (size_t i = 0; i < result.size(); ++i) {
      auto x = uint64_t(graph.expected[a][i]), y = uint64_t(graph.expected[b][i]);
      result[i] = static_cast<int64_t>(kernel == 0 ? 3 * x - y : x + 2 * y);
    }
    graph.expected.push_back(std::move(result));
  }
  for (unsigned n = random() % 3 + 1; n > 0; --n) {
    frame.results.push_back(pick());
    frame.signature.params.push_back(vector("out" + std::to_string(n), ParamMode::Out));
  }
  plan.numTensors = static_cast<uint32_t>(graph.expected.size());
  plan.frames.push_back(std::move(frame));
  plan.steps.push_back({PlanStep::Kind::Close, 0});
  return graph;
}

TEST(GraphRun, RandomGraphsGiveWhatCallsOneByOneGive) {
  std::mt19937 random(5);
  std::vector<KernelData> all = kernels();
  std::vector<const Signature *> signatures{&all[0].signature, &all[1].signature};
  uint64_t peak = 0, sum = 0, inPlace = 0;
  for (int round = 0; round < 300; ++round) {
    int64_t size = random() % 200;
    std::vector<std::vector<int64_t>> values(random() % 3 + 1, std::vector<int64_t>(size));
    std::vector<GraphInput> inputs;
    for (std::vector<int64_t> &input : values) {
      for (int64_t &value : input)
        value = static_cast<int64_t>(random());
      auto tensor = std::make_shared<Tensor>(*Tensor::create(DType::I64, {size}));
      std::ranges::copy(std::as_bytes(std::span(input)), tensor->data());
      inputs.push_back({tensor, 0});
    }
    RandomGraph graph = randomGraph(random, values);
    ASSERT_TRUE(validatePlan(graph.plan, all));
    GraphOptions options;
    options.isParallel = round % 2;
    options.poisons = true;
    GraphOutcome outcome = runGraph(graph.plan, signatures, inputs, {}, launch, options);
    ASSERT_FALSE(outcome.failure) << outcome.failure->error.str();
    const std::vector<uint32_t> &results = graph.plan.frames[0].results;
    ASSERT_EQ(outcome.results.size(), results.size());
    for (size_t n = 0; n < results.size(); ++n)
      ASSERT_TRUE(std::ranges::equal(bytesOf(*outcome.results[n]),
                                     std::as_bytes(std::span(graph.expected[results[n]]))))
          << "round " << round << ", result " << n;
    // The inputs are the caller's.
    for (size_t n = 0; n < values.size(); ++n)
      ASSERT_TRUE(
          std::ranges::equal(bytesOf(*inputs[n].tensor), std::as_bytes(std::span(values[n]))));
    peak += outcome.memory.peakBytes;
    sum += outcome.memory.sumBytes;
    inPlace += outcome.memory.inPlace;
  }
  EXPECT_LT(peak, sum);
  EXPECT_GT(inPlace, 20u);
}

/// Runs a random graph of a vector of three.
GraphOutcome runSmall(const GraphPlan &plan, LaunchFunction launch, const GraphOptions &options) {
  std::vector<KernelData> all = kernels();
  std::vector<const Signature *> signatures{&all[0].signature, &all[1].signature};
  std::vector<GraphInput> inputs{{std::make_shared<Tensor>(*Tensor::create(DType::I64, {3})), 0}};
  return runGraph(plan, signatures, inputs, {}, launch, options);
}

TEST(GraphRun, OneByOneInTheOrderOfThePlan) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 20; ++round) {
    GraphPlan plan = randomGraph(random, {std::vector<int64_t>(3)}).plan;
    auto fails = static_cast<uint32_t>(random() % (plan.calls.size() + 1));
    std::vector<uint32_t> order, expected;
    for (uint32_t call = 0; call < plan.calls.size() && call <= fails; ++call)
      expected.push_back(call);
    auto note = [&](const KernelLaunch &bound) -> Status {
      order.push_back(bound.call);
      return bound.call == fails ? Status(Error{"no", ""}) : launch(bound);
    };
    GraphOptions options;
    options.isParallel = false;
    GraphOutcome outcome = runSmall(plan, note, options);
    EXPECT_EQ(order, expected);
    EXPECT_EQ(outcome.failure.has_value(), fails < plan.calls.size());
  }
}

TEST(GraphRun, LargeCallsOfAWaveFollowEachOther) {
  std::mt19937 random(std::random_device{}());
  std::atomic<int> beside = 0, besideLarge = 0; // times that a call found others running
  bool hasThreads = (*ThreadPool::global())->numThreads() > 1;
  auto hasSeenAll = [&] { return !hasThreads || (beside && besideLarge); };
  for (int round = 0; round < 20 || (round < 1000 && !hasSeenAll()); ++round) {
    GraphPlan plan = randomGraph(random, {std::vector<int64_t>(3)}).plan;
    std::vector<char> isLarge(plan.calls.size());
    for (char &large : isLarge)
      large = random() % 2;
    std::atomic<int> running[2] = {0, 0}, runs = 0, wrong = 0; // small and large ones
    auto watch = [&](const KernelLaunch &bound) -> Status {
      auto &alike = running[isLarge[bound.call] ? 1 : 0];
      ++alike;
      ++runs;
      // Long enough for another thread to begin with a call of the same wave.
      auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
      bool isBeside = false, isBesideLarge = false;
      do {
        wrong += running[1] > 1;
        isBeside |= running[0] > 1;
        isBesideLarge |= running[0] && running[1];
      } while (std::chrono::steady_clock::now() < end);
      beside += isBeside;
      besideLarge += isBesideLarge;
      --alike;
      return launch(bound);
    };
    GraphOptions options;
    options.keepsAllBusy = [&](const KernelLaunch &bound) { return bool(isLarge[bound.call]); };
    GraphOutcome outcome = runSmall(plan, watch, options);
    ASSERT_FALSE(outcome.failure) << outcome.failure->error.str();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(static_cast<size_t>(runs), plan.calls.size());
  }
  EXPECT_TRUE(hasSeenAll()); // small ones run at the same time, and beside large ones
}

TEST(GraphRun, FindsErrorsBeforeAnythingRuns) {
  std::vector<KernelData> all = kernels();
  std::vector<const Signature *> signatures{&all[0].signature, &all[1].signature};
  std::mt19937 random(1);
  RandomGraph graph = randomGraph(random, {std::vector<int64_t>(7), std::vector<int64_t>(7)});
  std::atomic<int> launches = 0;
  auto count = [&](const KernelLaunch &) -> Status {
    ++launches;
    return Error{"no", ""};
  };
  auto tensor = [](int64_t size) {
    return GraphInput{std::make_shared<Tensor>(*Tensor::create(DType::I64, {size})), 0};
  };
  std::vector<GraphInput> inputs{tensor(7), tensor(8)};
  GraphOutcome outcome = runGraph(graph.plan, signatures, inputs, {}, count);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, GraphFailure::Kind::Invalid);
  EXPECT_EQ(outcome.failure->error.message, "`N` is 7 in `in0` but 8 in `in1`");
  EXPECT_EQ(launches, 0);
  inputs[1] = tensor(7);
  outcome = runGraph(graph.plan, signatures, inputs, {}, count);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->kind, GraphFailure::Kind::Launch);
  EXPECT_EQ(outcome.failure->call, 0u);
  EXPECT_GE(launches, 1);
}

} // namespace
