//===- Names.h - the names the language itself has ------------------------===//
#ifndef TILE_DSL_NAMES_H
#define TILE_DSL_NAMES_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tile::dsl {

/// Everything that is called without being declared: functions, reductions, `dot`, and what makes
/// tiles and axes.
const std::vector<std::string> &functionNames();
bool isFunctionName(std::string_view name);
/// Those that run along an axis, take options by name and may give several values (BodyAlong.cpp).
bool isAlongFunction(std::string_view name);
/// Those whose first argument is a function.
bool takesFunction(std::string_view name);

/// Types, and the classes float, int and num.
bool isTypeName(std::string_view name);
/// The words that may follow the value of a cast: sat and toward_zero.
bool isCastModifier(std::string_view name);
/// inf and nan.
bool isConstantName(std::string_view name);

/// What a name is to the language ("a function", "a type", "a constant"), if anything. No
/// declaration may have such a name; values may have those of functions, but are not called then.
std::optional<std::string> roleInLanguage(std::string_view name);

/// The type that is probably meant by a name of none: what other languages call it, or the nearest
/// of the types and `others`.
std::optional<std::string> typeMeantBy(std::string_view name,
                                       const std::vector<std::string> &others = {});

} // namespace tile::dsl

#endif // TILE_DSL_NAMES_H
