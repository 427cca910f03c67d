// Numbers and truth values as written on a command line.
#pragma once

#include "runtime/tensor/DType.h"

#include <string>
#include <string_view>
#include <variant>

namespace tile::runtime {

__extension__ typedef __int128 Int128;

/// A literal without a type: it gets one from the parameter that it is for.
struct Scalar {
  /// As written, for messages.
  std::string text;
  std::variant<bool, Int128, double> value;
};

/// `true`, `42`, `-0xff`, `1e-5`, `-inf`, `nan`. Integers too long for Int128 become reals.
Result<Scalar> parseScalar(std::string_view text);

/// Writes one element. Refuses what `type` can't hold: a fraction for an integer, a number beyond
/// the range, an infinity where there is none, a truth value for a number or the reverse. A real
/// within the range of a float type rounds to it.
Status storeScalar(const Scalar &scalar, DType type, void *element);

} // namespace tile::runtime
