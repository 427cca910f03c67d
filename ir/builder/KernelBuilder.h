//===- KernelBuilder.h - builds kernels by the language's rules -----------===//
//
// The one place that knows how an expression of the language becomes tile IR:
// types and their errors, alignment of axes by identity, affine forms of
// indices, halves computed in f32, variables carried through loops. The parser's
// elaborator and the C++ API both drive it, so the same kernel gives the same IR.
//
// Errors go to MLIR's diagnostic engine at the current location; the result is
// then an invalid Expr, and operations on invalid Exprs stay silent. Notes that
// begin with "hint: " are advice.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_BUILDER_KERNELBUILDER_H
#define TILE_IR_BUILDER_KERNELBUILDER_H

#include "ir/dialect/Literal.h"
#include "ir/dialect/TileOps.h"

#include "mlir/IR/Builders.h"

#include <array>
#include <memory>

namespace tile::ir {

/// One conjunct of a condition on coordinates: `expr ≥ 0` (or `= 0`), unless a
/// scalar holds. Without an expression the scalar itself is the condition.
struct Relation {
  mlir::AffineExpr expr;
  bool isEquality = false;
  mlir::Value unless; // i1 scalar, or null
  mlir::Value scalar; // i1 scalar, where expr is null
};

/// A value of the language.
struct Expr {
  enum class Kind {
    Invalid, // an error was reported
    Int,     // an integer literal
    Float,   // a float literal
    Value,   // a tile or scalar
  };
  Kind kind = Kind::Invalid;
  /// Of literals; an integer has both.
  WideInteger integer = 0;
  double number = 0;
  /// The type it has in the language. The IR value of a half is f32 ("wide")
  /// after arithmetic, until a cast, store or call rounds it.
  ElementType type = ElementType::F32;
  /// Null for an affine form that has not been needed as a value yet.
  mlir::Value value;
  /// i64 values that are affine in spans and integers keep their form, over
  /// the builder's atoms; null otherwise.
  mlir::AffineExpr form;
  /// Comparisons of forms, and conjunctions of them, remember what they relate.
  std::shared_ptr<llvm::SmallVector<Relation>> relations;
  /// Of `where(condition, 1, 0)`, the three of them: like the literals that it
  /// chooses from, it takes the type of what it meets.
  std::shared_ptr<std::array<Expr, 3>> choice;

  bool isValid() const { return kind != Kind::Invalid; }
  bool isLiteral() const { return kind == Kind::Int || kind == Kind::Float; }
};

/// A tensor parameter inside its kernel.
struct TensorRef {
  std::string name;
  unsigned position = 0;
  ElementType type = ElementType::F32;
  /// The name that `type` has in the source: one of the kernel's type parameters, or its own.
  std::string typeName;
  mlir::Value memory;
  /// Extents over the kernel's dims as symbols.
  llvm::SmallVector<mlir::AffineExpr> shape;
};

/// What stands between the brackets: `:` or an expression.
struct Index {
  bool isColon = false;
  Expr expr;
  mlir::Location loc;
};

/// One parameter of a kernel to be built.
struct ParamSpec {
  std::string name;
  ElementType type = ElementType::F32;
  /// The type parameter that it is in the source; where this is empty, messages name the type.
  std::string typeName;
  bool isTensor = false;
  ParamMode mode = ParamMode::In;
  std::optional<CombineKind> reduce;
  bool unordered = false;
  /// Extents over the kernel's dims as symbols.
  llvm::SmallVector<mlir::AffineExpr> shape;
  mlir::Attribute defaultValue;
  mlir::Location loc;
};

struct KernelSpec {
  std::string name;
  llvm::SmallVector<std::string> dims;
  /// Names among dims that inputs don't bind, with a default (or unit).
  llvm::SmallVector<std::pair<std::string, mlir::Attribute>> consts;
  /// Names of expressions over dims (`dim P = …`), for `:` over such a dimension.
  llvm::SmallVector<std::pair<std::string, mlir::AffineExpr>> derivedDims;
  /// Pairs of dims that `requires A == B` makes one, which has the name declared first.
  llvm::SmallVector<std::pair<std::string, std::string>> sameDims;
  llvm::SmallVector<ParamSpec> params;
  /// `schedulePlaces`: where the source has its entries (Specialize.h); null where that is not
  /// known.
  mlir::DictionaryAttr schedule, schedulePlaces;
};

struct BinderSpec {
  std::string name;
  bool isEach = false;
  Expr lower, upper; // a literal 0 for lower where none was written
  mlir::Location loc;
};

class KernelBuilder {
public:
  /// Opens a kernel at the end of the module.
  KernelBuilder(mlir::ModuleOp module, KernelSpec spec, mlir::Location loc);
  KernelBuilder(const KernelBuilder &) = delete;

  mlir::MLIRContext *context() const { return ctx; }
  KernelOp kernel() const { return op; }
  /// Where errors and ops are placed from now on.
  void setLoc(mlir::Location newLoc) { loc = newLoc; }
  mlir::Location getLoc() const { return loc; }
  mlir::InFlightDiagnostic error() const { return mlir::emitError(loc); }

  //===-- Names -----------------------------------------------------------===//
  const TensorRef *tensor(llvm::StringRef name) const;
  /// A scalar parameter; invalid (and silent) for another name.
  Expr scalarParam(llvm::StringRef name);
  /// A dimension or constant of the kernel.
  Expr dim(llvm::StringRef name);
  bool isDim(llvm::StringRef name) const;
  /// The value of an expression over the dims as symbols.
  Expr shapeExpr(mlir::AffineExpr expr);
  /// The axis that a bare span or whole axis stands for; empty for other values.
  std::string axisNameOf(const Expr &x) const;
  /// A named axis, span or `:` as a value.
  Expr axisExpr(llvm::StringRef name) { return spanExpr(axes.lookup(name)); }
  /// The whole axis of a dimension, which `:` over it is.
  Expr dimAxis(llvm::StringRef dimension);
  /// The axis an operation means by a dimension's name.
  std::string canonicalDim(llvm::StringRef name) const;
  /// The dimension that an extent is, which names its `:`; empty if none.
  std::string nameOfExtent(mlir::AffineExpr extent) const;
  /// True if `max(x, name)` reduces: not where the name is a dimension's, and
  /// x has no such axis; then it compares.
  bool reducesOver(const Expr &x, llvm::StringRef axis) const;
  /// True if some span, `:` or named axis has this name.
  bool isAxis(llvm::StringRef name) const { return axes.contains(name); }
  llvm::SmallVector<std::string> axisNames() const;

  //===-- Literals and casts ----------------------------------------------===//
  static Expr literal(int64_t value) { return literal(WideInteger(value)); }
  static Expr literal(WideInteger value);
  static Expr literal(double value);
  Expr boolean(bool value);
  Expr castTo(ElementType type, Expr x);
  struct CastModifiers {
    bool saturates = false;  // what is too large, infinities too, becomes the greatest number
    bool towardZero = false; // and not to nearest
  };
  /// The same where modifiers say how; an error where they say nothing.
  Expr castTo(ElementType type, Expr x, CastModifiers modifiers);
  /// The same bits as a number of another type of that width.
  Expr bitcastTo(ElementType type, const Expr &x);
  /// The expression, in that type if it is made of literals alone.
  Expr adapted(Expr x, ElementType type);
  /// The same, in i64 or f32: the type of what nothing else types.
  Expr settled(Expr x);
  /// zeros, full: the value on the given spans (bare spans or axes).
  Expr full(ElementType type, Expr value, llvm::ArrayRef<Expr> spans);

  //===-- Elementwise -----------------------------------------------------===//
  enum class Unary { Neg, Not, BitNot };
  enum class Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or
  };
  Expr unary(Unary op, Expr x);
  Expr binary(Binary op, Expr a, Expr b);
  /// A function of the language by name: exp, where, expdiff, max(a, b), …
  Expr call(llvm::StringRef function, llvm::ArrayRef<Expr> args);
  static bool isFunction(llvm::StringRef name);
  static llvm::ArrayRef<llvm::StringRef> functionNames();

  //===-- Tiles -----------------------------------------------------------===//
  /// sum, prod, max, min, fmax, fmin, any, all, xor, mean, argmax, argmin.
  Expr reduce(llvm::StringRef function, Expr x, llvm::ArrayRef<std::string> axisNames);
  static bool isReduction(llvm::StringRef name);
  /// Of f32 operands: as they are; rounded to tf32; each as the sum of two tf32, of whose four
  /// products the least is left out. Narrower floats are tf32 already.
  enum class DotPrecision { Ieee, Tf32, Tf32x3 };
  Expr dot(Expr a, Expr b, llvm::StringRef axis, DotPrecision precision = DotPrecision::Ieee);

  //===-- Random numbers (KernelBuilderRandom.cpp) ------------------------===//
  /// rand, randn, rand_bits: by seed, stream and the row-major number that the coordinates are.
  Expr random(llvm::StringRef function, Expr seed, Expr stream, llvm::ArrayRef<Expr> coordinates);
  static bool isRandom(llvm::StringRef name);

  //===-- Scans and sorts (KernelBuilderScans.cpp) ------------------------===//
  /// Combines two states, given part by part, the earlier one first: on scalars, elementwise.
  using Combination = llvm::function_ref<llvm::SmallVector<Expr>(llvm::ArrayRef<Expr> states)>;
  struct Scanned {
    llvm::SmallVector<Expr> tiles; // the states after each element
    llvm::SmallVector<Expr> last;
  };
  /// Runs along an axis from `inits`, one for each of `elements`. `function` is what errors call
  /// it. None after an error.
  std::optional<Scanned> scan(llvm::StringRef function, llvm::ArrayRef<Expr> elements,
                              llvm::ArrayRef<Expr> inits, llvm::StringRef axisName, bool reverse,
                              Combination combination);
  /// cumsum, cumprod, cummax, cummin; without `init` from what changes nothing.
  std::optional<Scanned> cumulate(llvm::StringRef function, Expr x, std::optional<Expr> init,
                                  llvm::StringRef axisName, bool reverse);
  static bool isCumulative(llvm::StringRef name);
  struct Sorted {
    Expr values, coordinates;
  };
  /// sort, argsort, topk: along an axis, into the same one or another (`rankName`).
  std::optional<Sorted> sort(llvm::StringRef function, Expr x, llvm::StringRef axisName,
                             llvm::StringRef rankName, bool descending);

  //===-- Shapes (KernelBuilderShapes.cpp) --------------------------------===//
  // Of whole axes without conditions. Lengths that differ are an error, of the launch where only
  // it knows them.
  Expr flip(Expr x, llvm::StringRef axis);
  /// The elements of the axes `from`, in row-major order, on the axes `to`.
  Expr reshape(Expr x, llvm::ArrayRef<std::string> from, llvm::ArrayRef<std::string> to);
  /// One after the other, each along an axis of its own, on the axis `into`.
  Expr concat(llvm::ArrayRef<Expr> xs, llvm::ArrayRef<std::string> along, llvm::StringRef into);
  /// Value n at coordinate n of an axis of constant length; and back.
  Expr join(llvm::ArrayRef<Expr> xs, llvm::StringRef into);
  llvm::SmallVector<Expr> split(Expr x, llvm::StringRef axis);

  enum class Access { Exact, Pad, Clamp, Within };
  Expr load(const TensorRef &tensor, llvm::ArrayRef<Index> indices, Access access = Access::Exact,
            Expr pad = {});
  /// `drops`, in grid kernels: what falls outside is left out.
  void store(const TensorRef &tensor, llvm::ArrayRef<Index> indices, Expr value,
             bool drops = false);
  void update(const TensorRef &tensor, llvm::ArrayRef<Index> indices, CombineKind kind, Expr value);

  //===-- Grid kernels (KernelBuilderGrid.cpp) ----------------------------===//
  /// Opens the programs of a grid kernel, one an integer; one Expr a binder. Ends with endParallel.
  llvm::SmallVector<Expr> beginGrid(llvm::ArrayRef<BinderSpec> binders);
  bool inGrid() const { return gridOpen; }
  struct Place {
    const TensorRef *tensor;
    llvm::ArrayRef<Index> indices;
    bool drops = false; // what falls outside is left out
  };
  /// atomic_add and its like, which take a value; atomic_cas takes what it expects, and then the
  /// value. Gives the old elements.
  Expr atomic(llvm::StringRef function, const Place &place, llvm::ArrayRef<Expr> values,
              MemoryOrder order);
  static bool isAtomic(llvm::StringRef name);
  static unsigned atomicArity(llvm::StringRef name);
  static llvm::ArrayRef<llvm::StringRef> atomicNames();

  //===-- Axes, program space, loops --------------------------------------===//
  /// A named whole axis over [lower, upper).
  Expr axis(llvm::StringRef name, Expr lower, Expr upper);
  /// Restricts the domain by the condition of a binder, just after it was bound.
  void restrict(Expr condition, Expr binder);
  void require(Expr condition, llvm::StringRef text);

  /// Opens the program space; one Expr a binder.
  llvm::SmallVector<Expr> beginParallel(llvm::ArrayRef<BinderSpec> binders);
  void endParallel();
  struct LoopSpec {
    LoopKind kind = LoopKind::fold;
    int64_t blockSize = mlir::ShapedType::kDynamic; // of sequential loops
  };
  Expr beginFor(const BinderSpec &binder, const LoopSpec &spec);
  /// `merge` joins the variables that the loop changes, in the order of their declaration: those
  /// of an earlier part of the range, then those of a later one.
  void endFor(Combination merge = nullptr);
  /// `for r in lo..hi step s`: ordinary integers, from hi − 1 down if s is a negative constant.
  Expr beginCount(llvm::StringRef name, Expr lower, Expr upper, Expr step);
  void endCount();
  void beginIf(Expr condition);
  void beginElse();
  void endIf();
  /// `while`: build the condition after beginWhile, then the body.
  void beginWhile();
  void whileBody(Expr condition);
  void endWhile();

  //===-- What kernels say (KernelBuilderReports.cpp) ---------------------===//
  /// Each element of the condition's domain has to be true.
  void assertHolds(const Expr &condition, llvm::StringRef message);
  /// A text, or a value: a scalar or a tile of any axes.
  struct PrintItem {
    std::optional<std::string> text;
    Expr value;
  };
  /// Shows the items, with a space between any two.
  void print(llvm::ArrayRef<PrintItem> items);

  //===-- Variables -------------------------------------------------------===//
  /// A mutable variable of the current block; it keeps its type and axes.
  unsigned declare(llvm::StringRef name, Expr init);
  Expr read(unsigned variable);
  void assign(unsigned variable, Expr value);

  /// Ends the kernel; false if any error was reported while building it.
  bool finish();
  bool inParallel() const { return parallelOpen; }

  bool hasAxes(const Expr &x) const;
  /// The value of an expression (literals become `hint`'s type, or that of `settled`). Null after
  /// an error: a literal may not fit.
  mlir::Value materialize(const Expr &x, std::optional<ElementType> hint = std::nullopt);
  /// An i64 scalar for bounds and integer operands; null after an error.
  mlir::Value integerScalar(Expr x, llvm::StringRef what);

private:
  struct Variable {
    std::string name;
    ElementType type;
    mlir::Value value;  // in arithmeticType(type)
    mlir::Location loc; // where it is declared, with its name
  };
  struct Frame { // an open region
    mlir::Operation *op = nullptr;
    mlir::OpBuilder::InsertPoint after;
    unsigned variables = 0;                    // alive when it was opened
    llvm::SmallVector<mlir::Value> entry;      // their values on entry
    llvm::SmallVector<mlir::Value> thenValues; // of an if, once else has begun
    mlir::Value condition;
    Frame(mlir::OpBuilder::InsertPoint after) : after(after) {}
  };

  Expr make(mlir::Value value, ElementType type);
  Expr makeForm(mlir::AffineExpr form);
  Expr spanExpr(mlir::Value span);
  /// True if it has an affine form by itself.
  static bool isFormed(const Expr &x);
  /// The affine form of an i64 expression; what has none becomes an atom.
  mlir::AffineExpr formOf(const Expr &x);
  mlir::AffineExpr dimAtom(mlir::Value value);
  mlir::AffineExpr symbolAtom(mlir::Value value);
  mlir::Value materializeForm(mlir::AffineExpr form);

  mlir::Value broadcastTo(mlir::Value value, mlir::Type tile);
  /// Broadcasts all to the union of their axes.
  void align(llvm::MutableArrayRef<mlir::Value> values);
  mlir::Value constant(ElementType type, int64_t integer, double number);
  mlir::Value convert(mlir::Value value, ElementType from, ElementType to, bool towardZero = false);
  void checkForward(const Expr &lower, const Expr &upper);
  bool checkModifiers(ElementType from, ElementType to, CastModifiers modifiers);
  mlir::Value saturated(mlir::Value value, ElementType from, ElementType to);
  /// Rounds a wide half to its own type.
  mlir::Value narrow(const Expr &x);
  mlir::Value widen(const Expr &x);

  /// The one way by which a literal gets a type; null, and reported, where it does not fit.
  mlir::Value literalValue(const Expr &x, ElementType type);
  /// An operand of arithmetic on that type, which it has or takes; null after an error.
  mlir::Value operandOf(const Expr &x, ElementType type);
  static ElementType holderOf(llvm::ArrayRef<Expr> xs);
  void adaptAll(llvm::MutableArrayRef<Expr> xs);
  std::optional<ElementType> commonType(llvm::StringRef what, llvm::ArrayRef<Expr> xs);
  Expr shiftCount(Expr count, ElementType type);
  Expr compare(Binary op, const Expr &a, const Expr &b);
  Expr logical(Binary op, const Expr &a, const Expr &b);
  Expr simplifiedForm(Binary op, const Expr &a, const Expr &b);
  Expr formArithmetic(Binary op, const Expr &a, const Expr &b);
  Expr accumulate(const Expr &a, const Expr &b);
  struct Split { // x ≈ high + low, in tf32
    mlir::Value high, low;
    mlir::Value finite; // high, or 0 for what is infinite
  };
  Split splitIntoTf32(mlir::Value x);
  std::optional<std::pair<mlir::Value, mlir::Value>> boundsOf(const Expr &x) const;
  mlir::Value linearIndex(llvm::StringRef function, llvm::ArrayRef<Expr> coordinates);
  std::optional<Expr> foldLiterals(Binary op, const Expr &a, const Expr &b);
  std::optional<Expr> foldIntegers(Binary op, WideInteger x, WideInteger y);
  std::optional<Expr> literalCall(llvm::StringRef function, llvm::ArrayRef<Expr> args);
  Expr realResult(double value, bool isOverflow);
  mlir::Value integerBinary(Binary op, ElementType type, mlir::Value a, mlir::Value b);
  mlir::Value floatBinary(Binary op, mlir::Value a, mlir::Value b);
  std::optional<llvm::SmallVector<mlir::Value>>
  operandsOf(llvm::StringRef function, llvm::ArrayRef<Expr> args, ElementType &type);
  Expr where(llvm::ArrayRef<Expr> args);
  Expr floatCall(llvm::StringRef function, ElementType type, llvm::ArrayRef<mlir::Value> v);
  Expr integerCall(llvm::StringRef function, ElementType type, llvm::ArrayRef<mlir::Value> v);
  /// The type a reduction computes and gives, or none where it does not apply.
  static std::optional<ElementType> reducedType(llvm::StringRef function, ElementType type);
  /// The axis of that name, which one of the values has to have.
  std::optional<mlir::StringAttr>
  axisAlong(llvm::StringRef function, llvm::ArrayRef<mlir::Value> values, llvm::StringRef given);
  bool combineInto(ScanOp op, llvm::StringRef function, llvm::ArrayRef<ElementType> types,
                   Combination combination);
  bool mergeInto(ForOp loop, llvm::ArrayRef<unsigned> carried, Combination merge);
  mlir::Value unrestrictedAxis(llvm::StringRef function, llvm::StringRef name);
  Expr lengthOf(llvm::StringRef axis);
  std::optional<std::string> spellLength(mlir::AffineExpr form) const;
  bool requireEqual(llvm::StringRef function, const Expr &from, const Expr &to);
  Expr take(llvm::StringRef function, const Expr &x, llvm::ArrayRef<mlir::AffineExpr> coordinates);
  llvm::SmallVector<mlir::AffineExpr>
  coordinatesOf(const Expr &x, const llvm::StringMap<mlir::AffineExpr> &instead);
  bool hasAxis(llvm::StringRef function, const Expr &x, llvm::StringRef axis);
  std::optional<int64_t> constantLength(llvm::StringRef function, llvm::StringRef axis);
  Expr extreme(ElementType type, bool isGreatest);
  mlir::Value highProduct(ElementType type, mlir::Value x, mlir::Value y);
  mlir::Value countOf(mlir::Type tile, llvm::ArrayRef<mlir::StringAttr> counted);
  static std::string axesText(mlir::Type tile);
  mlir::Value minMax(llvm::StringRef function, ElementType type, mlir::Value a, mlir::Value b);

  struct AccessMap {
    mlir::AffineMap map;
    llvm::SmallVector<mlir::Value> dims, syms;
  };
  std::optional<AccessMap> accessMap(const TensorRef &tensor, llvm::ArrayRef<Index> indices);
  mlir::AffineExpr compress(mlir::AffineExpr expr, llvm::SmallVectorImpl<mlir::Value> &dims,
                            llvm::SmallVectorImpl<mlir::Value> &syms);
  bool checkAtomic(llvm::StringRef function, const TensorRef &tensor);
  mlir::Value elementValue(const TensorRef &tensor, Expr value);
  mlir::Value storedValue(const TensorRef &tensor, const AccessMap &at, Expr value);
  mlir::Value colonAxis(const TensorRef &tensor, unsigned dimension);
  mlir::Value wholeAxis(llvm::StringRef name, mlir::AffineExpr extent);
  void addAxisName(llvm::StringRef name, mlir::Value span);

  /// Reports what stands outside the program space but belongs into it.
  bool checkInParallel(llvm::StringRef what);
  Frame &openFrame(mlir::Operation *op);
  void closeFrame();
  llvm::SmallVector<mlir::Value> currentValues(unsigned count) const;
  void setValues(mlir::ValueRange values);

  mlir::MLIRContext *ctx;
  mlir::ModuleOp module;
  KernelSpec spec;
  KernelOp op;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Operation *entryEnd = nullptr; // whole axes and dims go before it
  mlir::OpBuilder::InsertPoint entryPoint() const;
  bool parallelOpen = false, parallelSeen = false, gridOpen = false;
  bool hasMisplaced = false; // reported: something stands outside `parallel`
  mutable unsigned errors = 0;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> counter;
  llvm::SmallVector<TensorRef> tensors;
  llvm::StringMap<unsigned> scalars;
  llvm::StringMap<mlir::Value> dimValues;
  llvm::StringMap<mlir::Value> axes;
  llvm::StringMap<mlir::AffineExpr> lengths; // of whole axes
  /// Last operations of dots in three steps.
  llvm::DenseSet<mlir::Operation *> threefold;
  llvm::SmallVector<mlir::Value> dimAtoms, symbolAtoms;
  llvm::SmallVector<Variable> variables;
  llvm::SmallVector<Frame> frames;
  /// The axes of each restrict so far.
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr>> restrictions;
};

} // namespace tile::ir

#endif // TILE_IR_BUILDER_KERNELBUILDER_H
