//===- Launch.cpp - binds dimensions to the shapes of a call --------------===//

#include "ir/interpreter/Launch.h"
#include "ir/dialect/AffineEval.h"
#include "ir/dialect/IndexLimits.h"
#include "ir/interpreter/Interpreter.h"
#include "ir/transforms/Specialize.h"

#include "ir/proofs/Spelling.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tile::ir;

namespace {
/// A parameter or result, as its signature says.
struct Signature {
  StringRef name;
  AffineMap shape; // null for scalars
  bool isInput;
  int64_t elementBytes;
};

std::string quote(StringRef name) { return ("`" + name + "`").str(); }

class Binder {
public:
  Binder(Operation *owner, StringRef symbol, UserError &error)
      : owner(owner), ownerName(nameInSource(symbol)), error(error) {
    for (Attribute name : owner->getAttrOfType<ArrayAttr>("dims"))
      names.push_back(cast<StringAttr>(name).getValue());
    values.resize(names.size());
    origins.resize(names.size());
  }

  FailureOr<LaunchBinding> bind(ArrayRef<Signature> signatures,
                                ArrayRef<ArrayRef<int64_t>> inputShapes,
                                const llvm::StringMap<int64_t> &explicitDims) {
    if (failed(bindExplicit(explicitDims)))
      return failure();
    for (auto [position, signature] : llvm::enumerate(signatures))
      if (signature.isInput && failed(bindBare(signature, position, inputShapes)))
        return failure();
    if (failed(bindDefaults()))
      return failure();
    LaunchBinding binding;
    for (const std::optional<int64_t> &value : values)
      binding.dims.push_back(*value);
    for (auto [position, signature] : llvm::enumerate(signatures)) {
      auto shape = shapeOf(signature, binding.dims);
      if (failed(shape))
        return failure();
      if (signature.isInput && signature.shape &&
          failed(checkGiven(signature, *shape, inputShapes[position])))
        return failure();
      binding.shapes.push_back(std::move(*shape));
    }
    return binding;
  }

private:
  LogicalResult fail(const Twine &message, const Twine &hint = "") {
    error = {message.str(), hint.str()};
    return failure();
  }

  /// Takes a value for a dim; `origin` says where it comes from ("in `x`").
  LogicalResult set(unsigned dim, int64_t value, const Twine &origin) {
    if (value > maxExtent || value < -maxExtent)
      return fail(quote(names[dim]) + " is " + Twine(value) + " " + origin + ", beyond 2^47");
    if (values[dim] && *values[dim] != value)
      return fail(quote(names[dim]) + " is " + Twine(*values[dim]) + " " + origins[dim] + " but " +
                  Twine(value) + " " + origin);
    if (!values[dim])
      origins[dim] = origin.str();
    values[dim] = value;
    return success();
  }

  /// What the caller gave, and what the kernel was specialized for.
  LogicalResult bindExplicit(const llvm::StringMap<int64_t> &explicitDims) {
    SmallVector<StringRef> sorted(explicitDims.keys());
    llvm::sort(sorted); // the same first error every time
    for (StringRef name : sorted) {
      auto found = llvm::find(names, name);
      if (found == names.end())
        return fail(quote(ownerName) + " has no dimension or constant " + quote(name),
                    adviseName(name, names, "it has"));
      if (failed(set(found - names.begin(), explicitDims.lookup(name), "as given by name")))
        return failure();
    }
    if (auto kernel = dyn_cast<KernelOp>(owner))
      if (DictionaryAttr bound = boundDims(kernel))
        for (NamedAttribute entry : bound)
          if (failed(set(llvm::find(names, entry.getName()) - names.begin(),
                         cast<IntegerAttr>(entry.getValue()).getInt(),
                         "in this specialized kernel")))
            return failure();
    return success();
  }

  LogicalResult bindBare(const Signature &signature, size_t position,
                         ArrayRef<ArrayRef<int64_t>> inputShapes) {
    if (position >= inputShapes.size())
      return fail("no shape is given for " + quote(signature.name));
    if (!signature.shape)
      return success();
    ArrayRef<int64_t> shape = inputShapes[position];
    if (shape.size() != signature.shape.getNumResults())
      return fail(quote(signature.name) + " has " + Twine(signature.shape.getNumResults()) +
                      " dimensions, the argument has " + Twine(shape.size()),
                  "its shape is [" + formatShape(signature.shape) + "]");
    for (auto [extent, expr] : llvm::zip(shape, signature.shape.getResults())) {
      if (extent < 0)
        return fail("an extent of " + quote(signature.name) + " is " + Twine(extent) +
                    ", less than 0");
      if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        if (failed(set(symbol.getPosition(), extent, "in " + quote(signature.name))))
          return failure();
    }
    return success();
  }

  LogicalResult bindDefaults() {
    auto consts = owner->getAttrOfType<DictionaryAttr>("consts");
    for (auto [name, value] : llvm::zip(names, values)) {
      Attribute entry = consts ? consts.get(name) : Attribute();
      if (auto number = dyn_cast_or_null<IntegerAttr>(entry); number && !value)
        value = number.getInt();
      if (value)
        continue;
      if (entry)
        return fail("the constant " + quote(name) + " of " + quote(ownerName) + " has no value",
                    "give it by name, such as " + name + " = 1");
      return fail("the dimension " + quote(name) + " of " + quote(ownerName) +
                      " stands bare in no input shape, so nothing says what it is",
                  "give it by name, such as " + name + " = 1");
    }
    return success();
  }

  FailureOr<SmallVector<int64_t>> shapeOf(const Signature &signature, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> shape;
    if (!signature.shape)
      return shape;
    for (AffineExpr expr : signature.shape.getResults()) {
      std::optional<int64_t> extent = evaluateAffine(expr, {}, dims);
      if (!extent)
        return fail("extent " + quote(formatAffine(expr, names)) + " of " + quote(signature.name) +
                    " exceeds 64 bits" + where(expr));
      if (*extent < 0)
        return fail("extent " + quote(formatAffine(expr, names)) + " of " + quote(signature.name) +
                    " is " + Twine(*extent) + ", less than 0" + where(expr));
      shape.push_back(*extent);
    }
    // What is empty has no bytes, but its extents take part in indices.
    std::optional<int64_t> bytes = signature.elementBytes;
    for (int64_t extent : shape)
      bytes = bytes ? llvm::checkedMul(*bytes, std::max<int64_t>(extent, 1)) : std::nullopt;
    if (!bytes || *bytes > maxExtent)
      return fail(quote(signature.name) + " with shape [" + formatExtents(shape) +
                  "] has more bytes than an address space, 2^47");
    return shape;
  }

  LogicalResult checkGiven(const Signature &signature, ArrayRef<int64_t> expected,
                           ArrayRef<int64_t> given) {
    for (auto [index, expr] : llvm::enumerate(signature.shape.getResults()))
      if (given[index] != expected[index])
        return fail("dimension " + Twine(index) + " of " + quote(signature.name) + " is " +
                    Twine(given[index]) + ", but " + quote(formatAffine(expr, names)) + " is " +
                    Twine(expected[index]) + where(expr));
    return success();
  }

  /// " with K = 127": the dims of a compound expression.
  std::string where(AffineExpr expr) const {
    if (isa<AffineSymbolExpr, AffineConstantExpr>(expr))
      return "";
    std::string text;
    for (auto [position, name] : llvm::enumerate(names))
      if (expr.isFunctionOfSymbol(position))
        text +=
            (Twine(text.empty() ? " with " : ", ") + name + " = " + Twine(*values[position])).str();
    return text;
  }

  std::string formatShape(AffineMap shape) const {
    return llvm::join(llvm::map_range(shape.getResults(),
                                      [&](AffineExpr expr) { return formatAffine(expr, names); }),
                      ", ");
  }

  static std::string formatExtents(ArrayRef<int64_t> extents) {
    return llvm::join(llvm::map_range(extents, [](int64_t x) { return std::to_string(x); }), ", ");
  }

  Operation *owner;
  std::string ownerName;
  UserError &error;
  SmallVector<StringRef> names;
  SmallVector<std::optional<int64_t>> values;
  SmallVector<std::string> origins;
};

int64_t bytesOf(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

/// The extents of a graph's parameter or result.
AffineMap shapeIn(DictionaryAttr attributes) {
  auto shape = attributes ? attributes.getAs<AffineMapAttr>("tile.shape") : AffineMapAttr();
  return shape ? shape.getValue() : AffineMap();
}

StringRef declaredName(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>("tile.name") : StringAttr();
  return name ? name.getValue() : StringRef("?");
}
} // namespace

FailureOr<LaunchBinding> tile::ir::bindLaunch(KernelOp kernel,
                                              ArrayRef<ArrayRef<int64_t>> inputShapes,
                                              const llvm::StringMap<int64_t> &explicitDims,
                                              UserError &error) {
  SmallVector<Signature> signatures;
  for (auto [param, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    ParamMode mode = kernel.getParamMode(param);
    signatures.push_back({kernel.getParamName(param), kernel.getParamShape(param),
                          mode == ParamMode::In || mode == ParamMode::InOut,
                          bytesOf(getElementTypeOrSelf(type))});
  }
  return Binder(kernel, kernel.getSymName(), error).bind(signatures, inputShapes, explicitDims);
}

FailureOr<LaunchBinding> tile::ir::bindLaunch(GraphOp graph,
                                              ArrayRef<ArrayRef<int64_t>> inputShapes,
                                              const llvm::StringMap<int64_t> &explicitDims,
                                              UserError &error) {
  SmallVector<Signature> signatures;
  auto add = [&](DictionaryAttr attributes, Type type, bool isInput) {
    AffineMap shape = isa<ShapedType>(type) ? shapeIn(attributes) : AffineMap();
    signatures.push_back(
        {declaredName(attributes), shape, isInput, bytesOf(getElementTypeOrSelf(type))});
  };
  for (auto [param, type] : llvm::enumerate(graph.getArgumentTypes()))
    add(graph.getArgAttrDict(param), type, /*isInput=*/true);
  for (auto [result, type] : llvm::enumerate(graph.getResultTypes()))
    add(graph.getResultAttrDict(result), type, /*isInput=*/false);
  return Binder(graph, graph.getSymName(), error).bind(signatures, inputShapes, explicitDims);
}

/// True if the integer takes part in an index, a bound or a condition.
static bool reachesIndex(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto isAmong = [&](OperandRange operands) {
      return llvm::any_of(operands, [&](Value operand) { return operand == value; });
    };
    bool reaches =
        llvm::TypeSwitch<Operation *, bool>(user)
            .Case<LoadOp, StoreOp, UpdateOp, AtomicOp>(
                [&](auto access) { return isAmong(access.getDims()) || isAmong(access.getSyms()); })
            .Case([&](ForOp loop) { return value == loop.getLower() || value == loop.getUpper(); })
            .Case([&](scf::ForOp loop) { return use.getOperandNumber() < 3; })
            .Case<ParallelOp, AxisOp, RestrictOp, RequireOp, scf::IfOp>([](auto) { return true; })
            .Default(false);
    if (reaches)
      return true;
    if (user->getNumRegions() == 0 && seen.insert(user).second)
      for (Value result : user->getResults())
        if (getElementTypeOrSelf(result.getType()).isInteger() && reachesIndex(result, seen))
          return true;
  }
  return false;
}

bool tile::ir::reachesIndex(BlockArgument parameter) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  return parameter.getType().isInteger(64) && ::reachesIndex(parameter, seen);
}

/// Scalars that indices are made of are as small as dimensions are.
static LogicalResult checkScalars(KernelOp kernel, ArrayRef<uint64_t> scalars, UserError &error) {
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned param = argument.getArgNumber();
    if (param >= scalars.size())
      continue;
    auto value = static_cast<int64_t>(scalars[param]);
    if ((value <= maxExtent && value >= -maxExtent) || !tile::ir::reachesIndex(argument))
      continue;
    error = {(quote(kernel.getParamName(param)) + " of `" + nameInSource(kernel.getSymName()) +
              "` is " + Twine(value) + ", beyond 2^47, and takes part in indices or conditions")
                 .str(),
             ""};
    return failure();
  }
  return success();
}

LogicalResult tile::ir::checkRequires(KernelOp kernel, ArrayRef<int64_t> dims,
                                      ArrayRef<uint64_t> scalars, UserError &error) {
  if (failed(checkScalars(kernel, scalars, error)))
    return failure();
  SmallVector<InterpreterArgument> args;
  for (auto [param, type] : llvm::enumerate(kernel.getArgumentTypes()))
    args.push_back(InterpreterArgument::scalar(
        !isa<MemRefType>(type) && param < scalars.size() ? scalars[param] : 0));
  RequireOp failed;
  InterpreterResult result = interpretRequires(kernel, args, dims, &failed);
  if (result.ok())
    return success();
  error = {result.message, ""};
  if (!failed)
    return failure();

  // The dimensions and scalars that the condition speaks of.
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true; // the condition itself may read a scalar
  (void)getBackwardSlice(failed.getCondition(), &slice, options);
  SmallVector<std::string> facts;
  for (auto [name, value] : llvm::zip(kernel.getDims().getAsValueRange<StringAttr>(), dims))
    if (llvm::any_of(slice, [&](Operation *op) {
          auto dim = dyn_cast<DimOp>(op);
          return dim && dim.getName() == name;
        }))
      facts.push_back((name + " = " + Twine(value)).str());
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    unsigned param = argument.getArgNumber();
    bool isMeant =
        llvm::any_of(argument.getUsers(), [&](Operation *op) { return slice.contains(op); });
    if (isMeant && argument.getType().isInteger() && param < scalars.size()) {
      APInt value(argument.getType().getIntOrFloatBitWidth(), scalars[param], false, true);
      bool isUnsigned = kernel.getParamType(param).starts_with("u");
      facts.push_back((kernel.getParamName(param) + " = " +
                       llvm::toString(value, 10, !isUnsigned && value.getBitWidth() > 1))
                          .str());
    }
  }
  error.message =
      ("`" + nameInSource(kernel.getSymName()) + "` requires " + failed.getMessage()).str();
  if (!facts.empty())
    error.message += ", but " + llvm::join(facts, ", ");
  if (result.hasOverflow)
    error.message += facts.empty() ? ", which exceeds 64 bits" : ": that exceeds 64 bits";
  return failure();
}
