//===- FusedKernel.cpp - the signature of two kernels that become one -----===//

#include "ir/fusion/FusedKernel.h"
#include "ir/fusion/CallOrigins.h"
#include "ir/fusion/ShortNames.h"
#include "ir/fusion/UniteAxes.h"
#include "ir/proofs/Proofs.h"
#include "ir/proofs/Spelling.h"
#include "ir/transforms/FormFma.h"
#include "ir/transforms/Specialize.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace tile::ir;

FusedKernel::FusedKernel(CallOp producer, CallOp consumer, ArrayRef<Value> tensors,
                         ArrayRef<Value> kept, GraphShapes &shapes)
    : guest(shapes.kernelOf(producer)), origin(shapes.kernelOf(consumer)), producer(producer),
      consumer(consumer), tensors(tensors), kept(kept), shapes(shapes),
      dims(producer, consumer, this->tensors, shapes) {
  addParams();
  addConsts(guest, producer, dims.ofGuest);
  addConsts(origin, consumer, dims.ofOrigin);
}

//===-- Dims --------------------------------------------------------------===//

SmallVector<AffineExpr> FusedKernel::shapeOf(KernelOp kernel, unsigned param,
                                             ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> extents;
  if (AffineMap shape = kernel.getParamShape(param))
    for (AffineExpr expr : shape.getResults())
      extents.push_back(expr.replaceSymbols(dims));
  return extents;
}

SmallVector<AffineExpr> FusedKernel::guestShape(unsigned param) {
  return shapeOf(guest, param, dims.ofGuest);
}

void FusedKernel::addConsts(KernelOp kernel, CallOp call, ArrayRef<AffineExpr> dimsOf) {
  DictionaryAttr of = kernel.getConstsAttr();
  if (!of)
    return;
  for (NamedAttribute entry : of) {
    unsigned position = llvm::find(kernel.getDims(), entry.getName()) - kernel.getDims().begin();
    auto symbol = dyn_cast<AffineSymbolExpr>(dimsOf[position]);
    if (!symbol)
      continue; // it follows from others
    auto name = cast<StringAttr>(dims.names[symbol.getPosition()]);
    if (consts.get(name))
      continue; // both have it
    consts.set(name, entry.getValue());
    for (auto [given, value] : llvm::zip(call.getConstNames(), call.getConstValues()))
      if (given == entry.getName()) {
        constNames.push_back(name);
        constValues.push_back(value);
      }
  }
}

//===-- Parameters --------------------------------------------------------===//

/// The attributes with a name that no other parameter has.
DictionaryAttr FusedKernel::named(DictionaryAttr attrs) {
  NamedAttrList list(attrs);
  std::string name = freshName(cast<StringAttr>(attrs.get("tile.name")),
                               [&](StringRef name) { return paramNames.contains(name); });
  paramNames.insert(name);
  list.set("tile.name", StringAttr::get(attrs.getContext(), name));
  return list.getDictionary(attrs.getContext());
}

void FusedKernel::addParams() {
  guestParams.resize(guest.getNumArguments());
  originParams.resize(origin.getNumArguments());
  auto attrsOf = [](KernelOp kernel, unsigned n) {
    return cast<DictionaryAttr>(kernel.getArgAttrsAttr()[n]);
  };
  auto add = [&](KernelOp kernel, unsigned n, ArrayRef<AffineExpr> dimsOf, Value operand) {
    params.push_back({kernel.getArgument(n).getType(), named(attrsOf(kernel, n)),
                      shapeOf(kernel, n, dimsOf), kernel.getArgument(n).getLoc(), operand});
    return params.size() - 1;
  };
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin)))
    if (!isTensor(operand))
      originParams[n] = add(origin, n, dims.ofOrigin, operand);
  for (auto [operand, n] : llvm::zip(producer.getInputs(), inputPositions(guest))) {
    for (auto [position, param] : llvm::enumerate(params))
      if (param.operand == operand && param.shape == guestShape(n))
        guestParams[n] = position;
    if (!guestParams[n])
      guestParams[n] = add(guest, n, dims.ofGuest, operand);
  }
  for (unsigned n = 0, e = origin.getNumArguments(); n < e; ++n)
    if (ParamMode mode = origin.getParamMode(n);
        mode == ParamMode::Out || mode == ParamMode::Reduce)
      originParams[n] = add(origin, n, dims.ofOrigin, {});
  for (Value result : kept) {
    unsigned n = outputPosition(guest, cast<OpResult>(result).getResultNumber());
    guestParams[n] = add(guest, n, dims.ofGuest, {});
  }
}

Value FusedKernel::keptParam(unsigned param) {
  return guestParams[param] ? Value(host.getArgument(*guestParams[param])) : Value();
}

void FusedKernel::bindGuest(Transplant &transplant) {
  for (auto [n, position] : llvm::enumerate(guestParams))
    if (position)
      transplant.bindParam(n, host.getArgument(*position));
  for (auto [name, expr] : llvm::zip(guest.getDims().getAsRange<StringAttr>(), dims.ofGuest))
    transplant.bindDim(name, expr);
}

void FusedKernel::replaceOutput(unsigned ofOrigin, unsigned ofGuest) {
  Param &param = params[*originParams[ofOrigin]];
  guestParams[ofGuest] = originParams[ofOrigin];
  NamedAttrList attrs(cast<DictionaryAttr>(guest.getArgAttrsAttr()[ofGuest]));
  attrs.set("tile.name", param.attrs.get("tile.name"));
  param.attrs = attrs.getDictionary(guest.getContext());
  param.type = guest.getArgument(ofGuest).getType();
}

//===-- The kernel --------------------------------------------------------===//

/// The parameters of the guest that the new kernel has.
IRMapping FusedKernel::mapGuest() {
  IRMapping mapping;
  for (auto [n, position] : llvm::enumerate(guestParams))
    if (position)
      mapping.map(guest.getArgument(n), host.getArgument(*position));
  return mapping;
}

/// What stands around the guest's programs: requirements on scalars and dims, and what its `reduce`
/// outputs become in the end.
void FusedKernel::cloneAround() {
  IRMapping mapping = mapGuest();
  Block &from = guest.getBody().front(), &body = host.getBody().front();
  bool isNeeded = !from.getOps<RequireOp>().empty() || !from.getOps<FinishOp>().empty();
  OpBuilder before = OpBuilder::atBlockBegin(&body), behind(body.getTerminator());
  for (Operation &op : from.without_terminator()) {
    // Whole axes that stand here are the programs', which bring their own.
    if (!isNeeded || isa<ParallelOp, AxisOp, RestrictOp>(op))
      continue;
    if (auto dim = dyn_cast<DimOp>(op)) {
      unsigned n = llvm::find(guest.getDims(), dim.getNameAttr()) - guest.getDims().begin();
      mapping.map(dim.getResult(),
                  materializeDims(before, dim.getLoc(), dims.ofGuest[n], host.getDims()));
    } else if (auto finish = dyn_cast<FinishOp>(op)) {
      if (mapping.contains(finish.getOutput()))
        behind.clone(op, mapping);
    } else {
      before.clone(op, mapping);
    }
  }
}

/// A loop that computed nothing is gone; another one that gets its name must not get its size.
static void dropStaleSizes(KernelOp kernel) {
  DictionaryAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return;
  llvm::SmallPtrSet<Attribute, 8> names;
  for (Attribute binder : kernel.getParallel().getNames())
    names.insert(binder);
  kernel.walk([&](ForOp loop) { names.insert(loop.getNameAttr()); });
  NamedAttrList kept;
  for (NamedAttribute entry : schedule)
    if (names.contains(entry.getName()))
      kept.append(entry);
  kernel.setScheduleAttr(kept.getDictionary(kernel.getContext()));
}

/// Dims that come of either kernel are called otherwise in the new one, or follow from others
/// there.
void FusedKernel::replaceDims(ArrayRef<DimOp> old, KernelOp kernel, ArrayRef<AffineExpr> dimsOf) {
  for (DimOp op : old) {
    unsigned n = llvm::find(kernel.getDims(), op.getNameAttr()) - kernel.getDims().begin();
    OpBuilder builder(op);
    op.replaceAllUsesWith(materializeDims(builder, op.getLoc(), dimsOf[n], host.getDims()));
    op.erase();
  }
  if (llvm::any_of(dimsOf, llvm::IsaPred<AffineConstantExpr>))
    fixAxes(host);
}

void FusedKernel::build() {
  MLIRContext *context = origin.getContext();
  Builder attrs(context);
  SmallVector<Type> types;
  SmallVector<Attribute> argAttrs;
  for (Param &param : params) {
    NamedAttrList list(param.attrs);
    if (isa<MemRefType>(param.type))
      list.set("tile.shape",
               AffineMapAttr::get(AffineMap::get(0, dims.names.size(), param.shape, context)));
    types.push_back(param.type);
    argAttrs.push_back(list.getDictionary(context));
  }
  std::string name = fusedName(guest.getSymName(), origin.getSymName());
  OpBuilder builder(context);
  Location loc = FusedLoc::get(context, {guest.getLoc(), origin.getLoc()});
  host = KernelOp::create(
      builder, loc, name, builder.getFunctionType(types, {}), builder.getArrayAttr(dims.names),
      consts.empty() ? DictionaryAttr() : consts.getDictionary(context), origin.getScheduleAttr(),
      StringAttr(), builder.getArrayAttr(argAttrs), ArrayAttr());
  owned = host;
  Block &body = host.getBody().emplaceBlock();
  for (Param &param : params)
    body.addArgument(param.type, param.loc);
  IRMapping mapping;
  for (auto [n, position] : llvm::enumerate(originParams))
    if (position)
      mapping.map(origin.getArgument(n), body.getArgument(*position));
  placeholders.resize(tensors.size());
  for (auto [operand, n] : llvm::zip(consumer.getInputs(), inputPositions(origin))) {
    if (!isTensor(operand))
      continue;
    Value &placeholder = placeholders[llvm::find(tensors, operand) - tensors.begin()];
    if (!placeholder)
      placeholder = body.addArgument(origin.getArgument(n).getType(), consumer.getLoc());
    mapping.map(origin.getArgument(n), placeholder);
  }
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : origin.getBody().front())
    builder.clone(op, mapping);
  SmallVector<DimOp> old;
  host.walk([&](DimOp op) { old.push_back(op); });
  replaceDims(old, origin, dims.ofOrigin);
  cloneAround();
  dropStaleSizes(host);
}

std::optional<unsigned> FusedKernel::tensorAt(Value memory) const {
  auto *found = llvm::find(placeholders, memory);
  return found == placeholders.end() ? std::nullopt
                                     : std::optional<unsigned>(found - placeholders.begin());
}

void FusedKernel::dropTensors() {
  Block &body = host.getBody().front();
  body.eraseArguments(params.size(), body.getNumArguments() - params.size());
}

void FusedKernel::takePrograms() {
  ParallelOp old = host.getParallel();
  SmallVector<Operation *> gone = {old};
  llvm::append_range(gone, host.getBody().front().getOps<AxisOp>());
  OpBuilder builder(old);
  IRMapping mapping = mapGuest();
  SmallVector<DimOp> theirs;
  for (Operation &op : guest.getBody().front().without_terminator())
    if (!isa<RequireOp, FinishOp>(op))
      builder.clone(op, mapping)->walk([&](DimOp dim) { theirs.push_back(dim); });
  for (Operation *op : gone)
    op->erase();
  replaceDims(theirs, guest, dims.ofGuest);
  host.setScheduleAttr(guest.getScheduleAttr());
}

void FusedKernel::mergeSchedules(const Transplant &transplant) {
  DictionaryAttr of = guest.getScheduleAttr();
  if (!of)
    return;
  NamedAttrList merged(host.getScheduleAttr());
  for (auto [old, now] : transplant.loops)
    if (Attribute size = of.get(old))
      merged.set(now, size);
  if (!merged.empty())
    host.setScheduleAttr(merged.getDictionary(host.getContext()));
}

/// Whether each element is computed by itself.
static bool isElementwise(KernelOp kernel) {
  bool result = true;
  kernel.walk([&](Operation *op) {
    result &= !isa<AlongAxes, CountOp, ForOp, scf::ForOp, scf::WhileOp>(op);
  });
  return result;
}

void FusedKernel::takeSizes(ArrayRef<std::pair<StringAttr, StringAttr>> binders) {
  if (isElementwise(guest))
    return;
  bool isTheirs = isElementwise(origin);
  NamedAttrList merged(host.getScheduleAttr());
  DictionaryAttr of = guest.getScheduleAttr();
  for (auto [theirs, ours] : binders) {
    Attribute size = of ? of.get(theirs) : Attribute();
    // Where two kernels want blocks of other sizes, each for what meets in its own, neither knows
    // those of both.
    bool isOpen = !isTheirs && size && merged.get(ours) && size != merged.get(ours);
    if (isTheirs || isOpen)
      merged.erase(ours);
    if (isTheirs && size)
      merged.set(ours, size);
  }
  host.setScheduleAttr(merged.getDictionary(host.getContext()));
}

/// Whole axes stand before the programs, as those of other kernels do; one that a loop restricts
/// stays in that loop.
static void hoistAxes(KernelOp kernel) {
  ParallelOp parallel = kernel.getParallel();
  kernel.walk([&](AxisOp axis) {
    bool isFixed = llvm::none_of(axis->getOperands(), [&](Value bound) {
      return parallel.getBody().isAncestor(bound.getParentRegion());
    });
    bool isRestrictedInside = llvm::any_of(axis->getUsers(), [&](Operation *user) {
      return isa<RestrictOp>(user) && user->getParentOp() != parallel;
    });
    if (isFixed && !isRestrictedInside && parallel->isProperAncestor(axis))
      axis->moveBefore(parallel);
  });
}

LogicalResult FusedKernel::finish(FusionRefusal &refusal, bool formsFma) {
  KernelOp kernel = host;
  std::string complaint;
  ScopedDiagnosticHandler handler(kernel.getContext(), [&](Diagnostic &diagnostic) {
    if (complaint.empty())
      complaint = diagnostic.str();
    return success();
  });
  simplify(kernel);
  uniteAxes(kernel);
  KeepOrigins origins;
  IRRewriter rewriter(kernel.getContext(), &origins);
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  if (formsFma)
    formFma(kernel);
  closeFma(kernel);
  hoistAxes(kernel);
  bool isSound = succeeded(mlir::verify(kernel));
  if (isSound && succeeded(prove(kernel))) {
    dropNeedlessBounds(kernel);
    return success();
  }
  // What is not sound is a fault of ours.
  refusal.fault = (isSound ? "not proved: " : "not verified: ") + complaint;
  refusal.reason = isSound ? "the two as one kernel are not proved to stay inside of their tensors "
                             "and to store each element once"
                           : "tilec has found no way to write the two as one kernel";
  return failure();
}

SmallVector<Value> FusedKernel::operands() {
  SmallVector<Value> values;
  for (Param &param : params)
    if (param.operand)
      values.push_back(param.operand);
  return values;
}

SmallVector<AffineExpr> FusedKernel::callDims() {
  Builder attrs(host.getContext());
  return shapes.bind(host, operands(), attrs.getArrayAttr(constNames), constValues);
}

/// Moves a call behind all that it needs, and what needs it behind it; all else stays in order.
static void putInOrder(CallOp call) {
  Operation *last = call;
  for (Value operand : call->getOperands())
    if (Operation *op = operand.getDefiningOp(); op && last->isBeforeInBlock(op))
      last = op;
  SmallVector<Operation *> open(call->getUsers()), early;
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!op->isBeforeInBlock(last) || !seen.insert(op).second)
      continue;
    early.push_back(op);
    llvm::append_range(open, op->getUsers());
  }
  llvm::sort(early, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (last != call)
    call->moveAfter(last);
  Operation *before = call;
  for (Operation *op : early) {
    op->moveAfter(before);
    before = op;
  }
}

CallOp FusedKernel::commit() {
  if (owned)
    shapes.symbolTable().insert(owned.release(), std::next(origin->getIterator()));
  OpBuilder builder(consumer);
  Location loc = FusedLoc::get(consumer.getContext(), {producer.getLoc(), consumer.getLoc()});
  SmallVector<Type> types(consumer.getResultTypes());
  llvm::append_range(types, ValueRange(kept).getTypes());
  auto call = CallOp::create(builder, loc, types, host.getSymName(), operands(),
                             builder.getArrayAttr(constNames), constValues);
  unsigned count = consumer.getNumResults();
  SmallVector<Value> replaced(consumer.getResults());
  llvm::append_range(replaced, kept);
  for (auto [old, now] : llvm::zip(replaced, call.getResults()))
    if (StringRef name = nameOfResult(cast<OpResult>(old)); !name.empty())
      nameResult(now, name);
  consumer.replaceAllUsesWith(call.getResults().take_front(count));
  consumer.erase();
  for (auto [old, now] : llvm::zip(kept, call.getResults().drop_front(count)))
    old.replaceAllUsesWith(now);
  if (!kept.empty())
    putInOrder(call);
  shapes.add(call);
  return call;
}
