//===- Outcome.h - a value, or what went wrong and whose turn it is -------===//
#ifndef TILE_FRONTEND_BASE_OUTCOME_H
#define TILE_FRONTEND_BASE_OUTCOME_H

#include "ir/dialect/UserError.h"
#include "runtime/base/Result.h"

#include <cassert>
#include <variant>

namespace tile::frontend {

struct Failure {
  /// Who can do something about it; decides the exit code of `tilec`.
  enum class Kind {
    Reported,    // diagnostics with places have been reported already; no message
    Invalid,     // the program and its data don't go together
    Usage,       // the call is wrong
    Environment, // files, devices, memory
    Internal,    // a fault of tilec
  };
  Kind kind = Kind::Reported;
  std::string message;
  std::string hint;
  std::vector<std::string> notes = {};

  static Failure reported() { return {}; }
  static Failure invalid(ir::UserError error) {
    return {Kind::Invalid, std::move(error.message), std::move(error.hint)};
  }
  static Failure usage(runtime::Error error) {
    return {Kind::Usage, std::move(error.message), std::move(error.hint)};
  }
  static Failure environment(runtime::Error error) {
    return {Kind::Environment, std::move(error.message), std::move(error.hint)};
  }
  static Failure internal(std::string message) { return {Kind::Internal, std::move(message), ""}; }
};

/// A T or a Failure. Test it before taking the value.
template <typename T>
class [[nodiscard]] Outcome {
public:
  Outcome(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() & { return *value(); }
  T &&operator*() && { return std::move(*value()); }
  T *operator->() { return value(); }
  Failure takeFailure() {
    assert(state.index() == 1 && "failure of a success");
    return std::move(*std::get_if<1>(&state));
  }

private:
  T *value() {
    assert(state.index() == 0 && "value of a failure");
    return std::get_if<0>(&state);
  }

  std::variant<T, Failure> state;
};

/// Success (`return Done{};`) or a Failure.
using Done = std::monostate;

} // namespace tile::frontend

#endif // TILE_FRONTEND_BASE_OUTCOME_H
