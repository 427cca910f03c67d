//===- Kernel.h - the statements of a kernel ------------------------------===//
//
// `Module::kernel` hands a Kernel to the function that builds one: first its
// signature (dims, parameters, requirements), then its body. Statements stand in
// the order of their calls, as in the language:
//
//   kernel matmul(a: f16[M, K], b: f16[K, N]) -> (c: f16[M, N]) {
//
//   auto [M, K, N] = k.dims("M", "K", "N");
//   auto a = k.input("a", f16, {M, K});
//   auto b = k.input("b", f16, {K, N});
//   auto c = k.output("c", f16, {M, N});
//
//       parallel i in tiles(M), j in tiles(N) {
//           var acc = zeros(f32, i, j)
//           for k in tiles(K) { acc += dot(a[i, k], b[k, j], k) }
//           c[i, j] = f16(acc)
//       }
//
//   k.parallel({tiles("i", M), tiles("j", N)}, [&](Span i, Span j) {
//     auto acc = k.var("acc", zeros(f32, i, j));
//     k.for_(tiles("k", K), [&](Span kk) { acc += dot(a[{i, kk}], b[{kk, j}], kk); });
//     c[{i, j}] = f16(acc);
//   });
//
// C++'s own `if` and loops run while the kernel is built; `if_`, `for_` and
// `while_` are part of the kernel. Mistakes become Errors of the module.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TILE_KERNEL_H
#define TILE_FRONTEND_TILE_KERNEL_H

#include "frontend/tile/Value.h"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace tile {

/// A parameter of a kernel that is a tensor. One index a dimension: a span, an integer, `colon`,
/// or arithmetic on them; or data (then through `pad` or `clamp`). Every access is proved to lie
/// inside the tensor. An `each`, integer or number drops its dimension; spans become axes.
class Param {
public:
  Element operator[](std::initializer_list<Operand> indices) const {
    return at({indices.begin(), indices.size()});
  }
  Element operator[](const Operand &index) const { return at({&index, 1}); }

  /// Reads `value` outside the tensor: `x.pad(0)[{…}]`.
  Param pad(const Operand &value) const;
  /// Reads the nearest element outside the tensor.
  Param clamp() const;
  /// Promises that indices which are data are inside. It is not checked; what is read outside is
  /// undefined.
  Param within() const;
  /// Leaves out what is written outside the tensor, in grid kernels: `x.drop()[{…}] = …`.
  Param drop() const;

private:
  friend class Kernel;
  enum class Access { Exact, Pad, Clamp, Within };
  Param(uint64_t kernel, std::string name) : kernel(kernel), name(std::move(name)) {}
  Element at(std::span<const Operand> indices) const;

  uint64_t kernel;
  std::string name;
  Access access = Access::Exact;
  bool drops = false;
  detail::NodePtr padValue;
};

/// What `parallel`, `for_` or `let` binds, and over which range.
class Binder {
public:
  enum class Kind { Tiles, Each, Count, Whole, Range };
  using Place = std::source_location;

  Binder(Kind kind, std::string name, Operand lower, Operand upper, Operand step, Place place)
      : kind(kind), name(std::move(name)), lower(std::move(lower)), upper(std::move(upper)),
        step(std::move(step)), place(place) {}

  /// `… if condition`: only the coordinates where it holds exist. `condition` is called with this
  /// binder's span, or with the spans of all (two or three) binders of the
  /// same `parallel`; it gives comparisons
  /// of coordinates, scalars, and `scalar || comparison`, joined by `&&`.
  template <typename F>
  requires std::invocable<const F &, Span> || std::invocable<const F &, Span, Span> ||
      std::invocable<const F &, Span, Span, Span>
          Binder when(F given) && {
    using Spans = std::vector<Span>;
    if constexpr (std::invocable<const F &, Span>) {
      conditionArity = 1;
      condition = [given](const Spans &all, size_t own) -> Operand { return given(all[own]); };
    } else if constexpr (std::invocable<const F &, Span, Span>) {
      conditionArity = 2;
      condition = [given](const Spans &all, size_t) -> Operand { return given(all[0], all[1]); };
    } else {
      conditionArity = 3;
      condition = [given](const Spans &all, size_t) -> Operand {
        return given(all[0], all[1], all[2]);
      };
    }
    return std::move(*this);
  }
  /// Of loops that carry more than sums: the author's promise that the order of the blocks does
  /// not matter.
  Binder reassociable() && {
    isReassociable = true;
    return std::move(*this);
  }
  /// `merge` joins the variables that the loop changes, in the order of their declaration, of two
  /// parts of its range: the same result, by the author's promise.
  Binder reassociable(Combination merge) && {
    mergeParts = std::move(merge);
    return std::move(*this).reassociable();
  }
  /// Of loops whose order matters: blocks of `size` elements from the start on, the last one
  /// short. The size is part of the meaning.
  Binder sequential(int64_t size) && {
    sequentialSize = size;
    return std::move(*this);
  }

private:
  friend class Kernel;
  Kind kind;
  std::string name;
  Operand lower, upper, step;
  Place place;
  std::function<Operand(const std::vector<Span> &, size_t)> condition;
  size_t conditionArity = 0;
  bool isReassociable = false;
  Combination mergeParts;
  std::optional<int64_t> sequentialSize;
};

/// Blocks of [0, size) or [lower, upper); their size stands in the schedule under `name`.
Binder tiles(std::string name, Operand size,
             std::source_location place = std::source_location::current());
Binder tiles(std::string name, Operand lower, Operand upper,
             std::source_location place = std::source_location::current());
/// Single elements of [0, size), in `parallel`: integers.
Binder each(std::string name, Operand size,
            std::source_location place = std::source_location::current());
/// The integers of [lower, upper), `step` > 0 apart, one after the other, in `for_`.
Binder count(std::string name, Operand lower, Operand upper, Operand step = 1,
             std::source_location place = std::source_location::current());
/// A whole dimension as a named axis, in `let`.
Binder whole(std::string name, Operand size,
             std::source_location place = std::source_location::current());
/// The axis of the coordinates [0, size), in `let`.
Binder range(std::string name, Operand size,
             std::source_location place = std::source_location::current());

/// How a `reduce` output combines what programs update it with: "+", "*", "max", "min", "&", "|"
/// or "^". It starts at the operator's identity.
struct Reduce {
  std::string op;
  bool isUnordered = false;
};
inline Reduce reduce(std::string op) { return {std::move(op), false}; }
/// In no fixed order: results may differ from run to run by rounding.
inline Reduce unordered(std::string op) { return {std::move(op), true}; }

/// Values of a schedule's key: numbers from 1 on, words, or candidates.
class ScheduleValue {
public:
  template <IntegerLiteral T>
  ScheduleValue(T number) : numbers{static_cast<int64_t>(number)} {}
  ScheduleValue(std::initializer_list<int64_t> candidates) : numbers(candidates), isList(true) {}
  ScheduleValue(const char *word) : word(word) {}
  ScheduleValue(std::string word) : word(std::move(word)) {}
  ScheduleValue() = default;

private:
  friend class Kernel;
  std::vector<int64_t> numbers;
  bool isList = false;
  std::string word;
};

/// What `print` shows: a text or a value.
class PrintPart {
public:
  PrintPart(const char *text) : text(text) {}
  PrintPart(std::string text) : text(std::move(text)) {}
  template <std::convertible_to<Operand> T>
  requires(!std::convertible_to<T, std::string>) PrintPart(T &&value)
      : value(std::forward<T>(value)) {}

private:
  friend class Kernel;
  std::string text;
  std::optional<Operand> value;
};

class Kernel {
public:
  using Place = std::source_location;
  explicit Kernel(uint64_t identity) : identity(identity) {}
  Kernel(const Kernel &) = delete;

  //===-- Signature: before the first statement ---------------------------===//

  /// Names of dimensions. Each has to stand alone as an extent of some input.
  Extent dim(std::string name, Place place = Place::current());
  template <std::convertible_to<std::string>... Names>
  std::array<Extent, sizeof...(Names)> dims(Names... names) {
    return {dim(std::string(names))...};
  }
  /// Names an expression over dimensions: `dim P = (H + 2) / 3`. Its `:` is then an axis.
  Extent dim(std::string name, const Extent &value, Place place = Place::current());
  /// A number that a call gives by name, with a default if it has one: `const G: int = 128`.
  Extent constant(std::string name, std::optional<int64_t> defaultValue = std::nullopt,
                  Place place = Place::current());

  /// A tensor that is read.
  Param input(std::string name, Type type, std::vector<Extent> shape,
              Place place = Place::current());
  /// A tensor whose every element is written exactly once, as the module proves.
  Param output(std::string name, Type type, std::vector<Extent> shape,
               Place place = Place::current());
  /// A tensor that programs combine into: `dg[{colon}] += …`.
  Param output(std::string name, Type type, std::vector<Extent> shape, Reduce reduce,
               Place place = Place::current());
  /// A tensor of which each element is read and written by one program.
  Param inout(std::string name, Type type, std::vector<Extent> shape,
              Place place = Place::current());
  /// A number given at the call, with a default of its own type if it has one.
  Value scalar(std::string name, Type type, Place place = Place::current());
  template <typename T>
  requires std::integral<T> || std::floating_point<T>
      Value scalar(std::string name, Type type, T defaultValue, Place place = Place::current()) {
    Literal literal;
    literal.isReal = std::floating_point<T>;
    literal.isBool = std::same_as<T, bool>;
    if constexpr (std::floating_point<T>)
      literal.real = static_cast<double>(defaultValue);
    else
      literal.integer = static_cast<int64_t>(defaultValue);
    literal.isUnsigned = std::unsigned_integral<T>;
    return addScalar(std::move(name), type, literal, place);
  }

  /// What a call has to satisfy; checked at each, and used by the proofs. `A == B` makes two
  /// dimensions one.
  void require(const Condition &condition, Place place = Place::current());
  /// The same for scalar parameters, after all parameters; `text` says it in the error.
  void require(const Operand &condition, std::string text);

  /// Tile sizes by binder, and `stages`, `warps`, `cluster`, `order`, `split`, `persistent` and
  /// `specialize`: one value or candidates. They never change what the kernel computes.
  void schedule(std::string key, ScheduleValue value = {}, Place place = Place::current());
  /// The same for one target only, such as "cuda".
  void scheduleFor(std::string target, std::string key, ScheduleValue value = {},
                   Place place = Place::current());

  //===-- Body ------------------------------------------------------------===//

  /// The program space, once at the top of a kernel: `body` gets one Span a binder.
  template <size_t N, typename Body>
  void parallel(const Binder (&binders)[N], Body body, Place place = Place::current()) {
    parallel(
        std::vector<Binder>(binders, binders + N),
        [&](const std::vector<Span> &spans) { call(body, spans, std::make_index_sequence<N>()); },
        place);
  }
  template <typename Body>
  void parallel(const Binder &binder, Body body, Place place = Place::current()) {
    parallel(
        std::vector<Binder>{binder}, [&](const std::vector<Span> &spans) { body(spans[0]); },
        place);
  }
  /// In the place of `parallel`: one program for each combination of integers, `count`. Loads and
  /// stores go where their index says, and programs may meet in an `inout`, by the operations of
  /// Grid.h. Nothing is proved; `body` gets one Span a binder, an integer.
  template <size_t N, typename Body>
  void grid(const Binder (&binders)[N], Body body, Place place = Place::current()) {
    grid(
        std::vector<Binder>(binders, binders + N),
        [&](const std::vector<Span> &spans) { call(body, spans, std::make_index_sequence<N>()); },
        place);
  }
  template <typename Body>
  void grid(const Binder &binder, Body body, Place place = Place::current()) {
    grid(
        std::vector<Binder>{binder}, [&](const std::vector<Span> &spans) { body(spans[0]); },
        place);
  }
  /// A loop over blocks (`tiles`) or integers (`count`).
  void for_(const Binder &binder, const std::function<void(Span)> &body,
            Place place = Place::current());
  /// The condition is a scalar.
  void if_(const Operand &condition, const std::function<void()> &then,
           const std::function<void()> &otherwise = {});
  void while_(const std::function<Operand()> &condition, const std::function<void()> &body,
              Place place = Place::current());
  /// Ends the launch with an error, of this line and with the message, where an element of the
  /// condition doesn't hold; what follows in the same program runs only if all do. Of the elements
  /// of the lowest program that fails, the first is named.
  void assert_(const Operand &condition, std::string message = "the condition does not hold",
               Place place = Place::current());
  /// Shows texts, scalars and tiles with a space between any two, on standard error and in the
  /// order of the programs: `k.print({"row", i, x[{i, colon}]})`.
  void print(const std::vector<PrintPart> &parts, Place place = Place::current());
  /// A named axis: `auto c = k.let(range("c", 128))`.
  Span let(const Binder &binder, Place place = Place::current());
  Var var(std::string name, const Operand &init);

private:
  struct Literal {
    bool isReal = false, isBool = false, isUnsigned = false;
    int64_t integer = 0; // its bits, where it is unsigned
    double real = 0;
  };
  Value addScalar(std::string name, Type type, std::optional<Literal> defaultValue, Place place);
  enum class ParamKind { Input, Output, InOut };
  Param addTensor(std::string name, Type type, std::vector<Extent> shape, ParamKind kind,
                  std::optional<Reduce> reduce, Place place);
  void parallel(const std::vector<Binder> &binders,
                const std::function<void(const std::vector<Span> &)> &body, Place place);
  void grid(const std::vector<Binder> &binders,
            const std::function<void(const std::vector<Span> &)> &body, Place place);
  void applyCondition(const Binder &binder, const std::vector<Span> &spans, size_t own);
  void countLoop(const Binder &binder, const std::function<void(Span)> &body);
  template <typename Body, size_t... N>
  static void call(Body &body, const std::vector<Span> &spans, std::index_sequence<N...>) {
    body(spans[N]...);
  }

  uint64_t identity;
};

} // namespace tile

#endif // TILE_FRONTEND_TILE_KERNEL_H
