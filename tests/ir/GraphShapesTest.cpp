// Dims that a graph requires to be equal.

#include "ir/fusion/GraphShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile::ir;

namespace {

struct Parsed {
  explicit Parsed(const std::string &text) {
    context.loadDialect<TileDialect, arith::ArithDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }
  GraphOp graph() { return *module->getOps<GraphOp>().begin(); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// A graph whose dims D0, D1, … are required to be equal, each to the one before, in one condition.
std::string chainOf(int dims) {
  std::string names, body, all;
  for (int n = 0; n < dims; ++n) {
    std::string number = std::to_string(n), dim = "D" + number;
    names += (n ? ", \"" : "\"") + dim + "\"";
    body += "%" + dim + " = tile.dim \"" + dim + "\"\n";
    if (n == 0)
      continue;
    body +=
        "%e" + number + " = arith.cmpi eq, %D" + std::to_string(n - 1) + ", %" + dim + " : i64\n";
    std::string both = "%a" + number;
    if (n > 1)
      body += both + " = arith.andi " + all + ", %e" + number + " : i1\n";
    all = n > 1 ? both : "%e" + number;
  }
  return "tile.graph @g() attributes {dims = [" + names + "]} {\n" + body + "tile.require " + all +
         ", \"all are equal\"\ntile.return\n}\n";
}

TEST(GraphShapesTest, OneValueIsThatOfAllEqualDims) {
  for (int dims : {2, 3, 40}) {
    Parsed parsed(chainOf(dims));
    ASSERT_TRUE(parsed.module) << chainOf(dims);
    for (int given : {0, dims / 2, dims - 1}) {
      llvm::StringMap<int64_t> values = {{"D" + std::to_string(given), 77}};
      GraphShapes(parsed.graph()).addEqual(values);
      EXPECT_EQ(values.size(), static_cast<unsigned>(dims));
      for (const auto &entry : values)
        EXPECT_EQ(entry.second, 77) << entry.first().str();
    }
  }
}

} // namespace
