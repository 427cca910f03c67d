//===- WidenBinder.cpp - one program for all blocks of a binder -----------===//

#include "ir/fusion/WidenBinder.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile::ir;

void tile::ir::widenBinder(KernelOp kernel, StringAttr binder) {
  ParallelOp parallel = kernel.getParallel();
  SmallVector<Value> lower, upper;
  SmallVector<Attribute> names;
  SmallVector<bool> each;
  SmallVector<int64_t> sizes;
  std::optional<unsigned> position;
  for (auto [n, name] : llvm::enumerate(parallel.getNames())) {
    if (name == binder) {
      position = n;
      continue;
    }
    lower.push_back(parallel.getLower()[n]);
    upper.push_back(parallel.getUpper()[n]);
    names.push_back(name);
    each.push_back(parallel.getEach()[n]);
    sizes.push_back(parallel.getSizes()[n]);
  }
  assert(position && !parallel.getEach()[*position] && "not a binder of blocks");
  OpBuilder builder(parallel);
  auto narrower =
      ParallelOp::create(builder, parallel.getLoc(), lower, upper, builder.getArrayAttr(names),
                         builder.getDenseBoolArrayAttr(each), builder.getDenseI64ArrayAttr(sizes));
  Block &body = parallel.getBody().front();
  builder.setInsertionPointToStart(&body);
  BlockArgument span = body.getArgument(*position);
  Value axis = AxisOp::create(builder, span.getLoc(), span.getType(),
                              parallel.getLower()[*position], parallel.getUpper()[*position]);
  span.replaceAllUsesWith(axis);
  body.eraseArgument(*position);
  narrower.getBody().takeBody(parallel.getBody());
  parallel.erase();
  if (DictionaryAttr schedule = kernel.getScheduleAttr()) {
    NamedAttrList kept(schedule);
    kept.erase(binder);
    kernel.setScheduleAttr(kept.getDictionary(kernel.getContext()));
  }
}
