// How the runtime reports failure: a value or an Error, never an exception.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tile::runtime {

/// What went wrong (lower case, names the file or the text at fault) and what to do about it.
struct Error {
  std::string message;
  std::string hint;
  /// What belongs to it elsewhere: "net.tile:12:9: called here".
  std::vector<std::string> notes = {};

  /// "message", with "\nhint: hint" and "\nnote: note" for each where there are any.
  std::string str() const {
    std::string text = hint.empty() ? message : message + "\nhint: " + hint;
    for (const std::string &note : notes)
      text += "\nnote: " + note;
    return text;
  }
};

/// Ends the program where a Result is taken for what it isn't: with the text that nobody read, in
/// every build.
[[noreturn, gnu::cold, gnu::noinline]] inline void misusedResult(const Error *error) {
  if (error)
    std::fprintf(stderr, "tile: the value of a Result that failed was taken; test it first: %s\n",
                 error->str().c_str());
  else
    std::fprintf(stderr, "tile: the error of a Result that succeeded was taken\n");
  std::abort();
}

/// A T or an Error. Test it before taking the value: taking what isn't there ends the program.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }

  T &operator*() & { return value(); }
  const T &operator*() const & { return const_cast<Result *>(this)->value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &const_cast<Result *>(this)->value(); }

  const Error &error() const { return const_cast<Result *>(this)->failure(); }
  Error takeError() { return std::move(failure()); }

private:
  T &value() {
    if (state.index() != 0)
      misusedResult(std::get_if<1>(&state));
    return *std::get_if<0>(&state);
  }
  Error &failure() {
    if (state.index() != 1)
      misusedResult(nullptr);
    return *std::get_if<1>(&state);
  }

  std::variant<T, Error> state;
};

/// Success (`return {};`) or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }

  const Error &error() const {
    if (!failure)
      misusedResult(nullptr);
    return *failure;
  }
  Error takeError() {
    if (!failure)
      misusedResult(nullptr);
    return std::move(*failure);
  }

private:
  std::optional<Error> failure;
};

using Status = Result<void>;

} // namespace tile::runtime
