// Planted faults that the language's proofs would refuse, in tile IR: each has to be found, on its
// line, and nothing else.

#include "frontend/execute/Execution.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <random>

using namespace tile;
using namespace tile::frontend;

namespace {

/// Of the kernels below: x is read, y stored, t read and stored; ids are data.
constexpr const char *head = R"(
#n = affine_map<()[n] -> (n)>
#id = affine_map<(d0) -> (d0)>
#first = affine_map<() -> (0)>
#next = affine_map<(d0) -> (d0 + 1)>
!s = !tile.span<"i", 4>
!t = tensor<4xf32, #tile.axes<"i">>
!d = tensor<4xi64, #tile.axes<"i">>
tile.kernel @planted(
    %ids: memref<?xi64> {tile.name = "ids", tile.type = "i64", tile.mode = "in", tile.shape = #n},
    %x: memref<?xf32> {tile.name = "x", tile.type = "f32", tile.mode = "in", tile.shape = #n},
    %t: memref<?xf32> {tile.name = "t", tile.type = "f32", tile.mode = "inout", tile.shape = #n},
    %y: memref<?xf32> {tile.name = "y", tile.type = "f32", tile.mode = "out", tile.shape = #n},
    %h: memref<?xf32> {tile.name = "h", tile.type = "f32", tile.mode = "reduce",
                       tile.reduce = #tile.combine<add>, tile.shape = #n})
    attributes {dims = ["N"]} {
  %c0 = arith.constant 0 : i64
  %N = tile.dim "N"
  %one = arith.constant dense<1.0> : !t
  tile.parallel (%i = tiles "i" %c0 to %N by 4) {
    %at = tile.load %ids at #id(%i)[] <exact> : memref<?xi64>, (!s) -> !d
)";
constexpr const char *tail = R"(
  }
  tile.return
}
)";
// What the sound kernel does, a line each.
constexpr const char *loadX =
    "%v = tile.load %x at #id(%i)[] <exact> : memref<?xf32>, (!s) -> !t\n";
constexpr const char *storeY = "tile.store %v, %y at #id(%i)[] : !t, memref<?xf32>, (!s)\n";
constexpr const char *loadT = "%u = tile.load %t at #id(%i)[] <exact> : memref<?xf32>, (!s) -> !t\n"
                              "%w = arith.addf %u, %one : !t\n";
constexpr const char *storeT = "tile.store %w, %t at #id(%i)[] : !t, memref<?xf32>, (!s)\n";
constexpr const char *count =
    "tile.update <add> %one, %h at #id(%at)[] : !t, memref<?xf32>, (!d)\n";

struct Result {
  bool ok = false;
  /// The errors, with the line of the body that each is on, and the notes that are no hints.
  std::vector<std::string> errors, notes;
  std::vector<float> y;
};

unsigned lineOf(mlir::Location loc) {
  auto place = loc->findInstanceOf<mlir::FileLineColLoc>();
  auto lines = static_cast<unsigned>(llvm::StringRef(head).count('\n'));
  return place && place.getLine() > lines ? place.getLine() - lines : 0;
}

Result run(const std::string &body, std::vector<int64_t> ids, bool sanitizes = true) {
  Result result;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::TileDialect>();
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    result.errors.push_back(std::to_string(lineOf(diagnostic.getLocation())) + ": " +
                            diagnostic.str());
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      if (!llvm::StringRef(note.str()).starts_with("hint"))
        result.notes.push_back(std::to_string(lineOf(note.getLocation())) + ": " + note.str());
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(head + body + tail, &context);
  if (!module) {
    ADD_FAILURE() << result.errors.front();
    return result;
  }
  Compiler compiler;
  Executor executor(compiler, *module, Device::Cpu);
  executor.sanitizes = sanitizes;
  executor.sizes.everywhere["i"] = 4; // as the kernels have it
  auto extent = static_cast<int64_t>(ids.size());
  auto tensor = [&](runtime::DType type) {
    return std::make_shared<runtime::Tensor>(*runtime::Tensor::create(type, {extent}));
  };
  auto data = tensor(runtime::DType::I64), x = tensor(runtime::DType::F32),
       t = tensor(runtime::DType::F32);
  for (int64_t n = 0; n < extent; ++n) {
    data->setInt(n, ids[n]);
    x->setDouble(n, static_cast<double>(n));
  }
  auto outputs = executor.run("planted", {{data}, {x}, {t}}, {});
  result.ok = bool(outputs);
  if (!outputs)
    (void)outputs.takeFailure();
  else
    for (int64_t n = 0; n < extent; ++n)
      result.y.push_back(static_cast<float>((*outputs)[1]->getDouble(n)));
  return result;
}

std::vector<int64_t> inside(int64_t extent) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<int64_t> ids(extent);
  for (int64_t &id : ids)
    id = static_cast<int64_t>(random() % extent);
  return ids;
}

using Lines = std::vector<std::string>;

TEST(Sanitizer, soundKernelsAreLeftInPeace) {
  std::string body = std::string(loadX) + storeY + loadT + storeT + count;
  for (int64_t extent : {1, 4, 7, 50}) {
    Result result = run(body, inside(extent));
    EXPECT_TRUE(result.ok);
    EXPECT_EQ(result.errors, Lines());
    EXPECT_EQ(result.y, run(body, inside(extent), false).y);
  }
  // An update through data that falls outside is dropped: no fault.
  EXPECT_TRUE(run(body, {0, -5, 1 << 20, 2, 3}).ok);
  EXPECT_TRUE(run(body, {}).ok);
}

TEST(Sanitizer, brokenPromise) {
  std::string gather = "%v = tile.load %x at #id(%at)[] <within> : memref<?xf32>, (!d) -> !t\n";
  std::vector<int64_t> ids = inside(10);
  EXPECT_TRUE(run(gather + storeY, ids).ok);
  ids[6] = 10;
  ids[9] = -(int64_t(1) << 40);
  Result result = run(gather + storeY, ids);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors,
            Lines{"1: `x[10]` is outside [0, 10) (in the program at i = 4); 2 times in all"});
}

TEST(Sanitizer, outside) {
  std::string shifted = "%v = tile.load %x at #next(%i)[] <exact> : memref<?xf32>, (!s) -> !t\n";
  Result result = run(shifted + storeY, inside(10));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors, Lines{"1: `x[10]` is outside [0, 10) (in the program at i = 8)"});
  // Padded and clamped ones are inside.
  std::string padded = "%p = arith.constant 0.0 : f32\n"
                       "%v = tile.load %x at #next(%i)[] <pad> else %p : memref<?xf32>, (!s), f32 "
                       "-> !t\n";
  EXPECT_TRUE(run(padded + storeY, inside(10)).ok);
  // A store; then what it misses is missing.
  std::string store = "tile.store %v, %y at #next(%i)[] : !t, memref<?xf32>, (!s)\n";
  EXPECT_EQ(run(loadX + store, inside(10)).errors,
            (Lines{"2: `y[10]` is outside [0, 10) (in the program at i = 8)",
                   "0: `y[0]` is never stored"}));
  // An update whose index is no data.
  std::string update = "tile.update <add> %one, %h at #next(%i)[] : !t, memref<?xf32>, (!s)\n";
  EXPECT_EQ(run(std::string(loadX) + storeY + update, inside(10)).errors,
            Lines{"3: `h[10]` is outside [0, 10) (in the program at i = 8)"});
}

TEST(Sanitizer, readBeforeStored) {
  std::string early = "%e = tile.load %y at #id(%i)[] <exact> : memref<?xf32>, (!s) -> !t\n"
                      "%v = arith.addf %e, %one : !t\n";
  Result result = run(early + storeY, inside(9));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors, Lines{"1: `y[0]` is read before it is stored (in the program at i = 0); "
                                 "9 times in all"});
}

TEST(Sanitizer, twoProgramsStore) {
  std::string clash = "tile.store %one, %t at #id(%at)[] : !t, memref<?xf32>, (!d)\n";
  // Twice in one program is no race, and other programs keep to their own.
  EXPECT_TRUE(run(std::string(loadX) + storeY + clash, {0, 0, 0, 0, 4, 5, 5}).ok);
  Result result = run(std::string(loadX) + storeY + clash, {0, 1, 2, 3, 4, 2, 5});
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors, Lines{"3: the program at i = 4 stores `t[2]`, which the one at i = 0 "
                                 "stores"});
  EXPECT_EQ(result.notes, Lines());
}

TEST(Sanitizer, oneReadsWhatAnotherStores) {
  // The neighbour's element: of the last one of each block another program's.
  std::string neighbour =
      "%z = arith.constant 0.0 : f32\n"
      "%u = tile.load %t at #next(%i)[] <pad> else %z : memref<?xf32>, (!s), f32 "
      "-> !t\n"
      "%w = arith.addf %u, %one : !t\n";
  Result result = run(std::string(loadX) + storeY + neighbour + storeT, inside(8));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors,
            Lines{"6: the program at i = 4 stores `t[4]`, which the one at i = 0 reads"});
  EXPECT_EQ(result.notes, Lines{"4: the program at i = 0 reads it here"});
  // The other way round: read after another one has stored.
  std::string before = "%u = tile.load %t at #first()[] <exact> : memref<?xf32>, () -> f32\n"
                       "%w = tile.broadcast %u : f32 to !t\n";
  EXPECT_EQ(run(std::string(loadX) + storeY + before + storeT, inside(8)).errors,
            Lines{"3: the program at i = 4 reads `t[0]`, which the one at i = 0 stores"});
}

TEST(Sanitizer, manyFaults) {
  std::string body = loadX;
  for (int n = 0; n < 14; ++n)
    body += "tile.store %v, %y at #next(%i)[] : !t, memref<?xf32>, (!s)\n";
  Result result = run(body, inside(5));
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.errors.size(), 10u);
}

} // namespace
