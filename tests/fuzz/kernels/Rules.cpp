#include "tests/fuzz/kernels/Generator.h"

#include <sstream>

using namespace tile::fuzz;

const std::vector<ElementwiseRule> tile::fuzz::elementwiseRules = {
    // text, results, operands, others, weight
    {"($0 + $1)", "num", "TT", "", 12},
    {"($0 - $1)", "num", "TT", "", 8},
    {"($0 * $1)", "num", "TT", "", 10},
    {"($0 * $1 + $2)", "float", "TTT", "", 5},
    {"($0 - $1 * $2)", "float", "TTT", "", 3},
    {"(($0 * $1 + $2) - $0 * $1)", "float", "TTT", "", 3},
    {"($0 / $1)", "num", "TT", "", 5},
    {"($0 % $1)", "int", "TT", "", 4},
    {"(-$0)", "num", "T", "", 3},
    {"abs($0)", "num", "T", "", 3},
    {"max($0, $1)", "num", "TT", "", 4},
    {"min($0, $1)", "num", "TT", "", 4},
    {"clamp($0, $1, $2)", "num", "TTT", "", 2},
    {"where($0, $1, $2)", "any", "BTT", "", 11},
    {"$T($0)", "any", "U", "any", 14},
    {"$T($0 + $1)", "any", "UU", "half", 3},
    {"$T($0, sat)", "half", "U", "float half", 3},
    {"$T($0, sat)", "f8e4m3 f8e5m2 f16", "U", "i64 u64 i32 u16", 2},
    {"$T($0, toward_zero)", "half", "U", "float half", 3},
    {"$T($0, sat, toward_zero)", "half", "U", "float half", 2},
    {"$T($0, toward_zero)", "f32", "U", "f64", 1},
    {"$T($0, sat)", "i32 i16 u16 i8 u8", "U", "i64 u64", 3},
    // Integers.
    {"cdiv($0, $1)", "int", "TT", "", 2},
    {"tdiv($0, $1)", "int", "TT", "", 2},
    {"trem($0, $1)", "int", "TT", "", 2},
    {"($0 & $1)", "int", "TT", "", 3},
    {"($0 | $1)", "int", "TT", "", 3},
    {"($0 ^ $1)", "int", "TT", "", 3},
    {"(~$0)", "int", "T", "", 2},
    {"($0 << $1)", "int", "TU", "int", 2},
    {"($0 >> $1)", "int", "TU", "int", 3},
    {"($0 >> ($1 & 7))", "int", "TT", "", 2},
    {"mulhi($0, $1)", "int", "TT", "", 2},
    {"popcount($0)", "int", "T", "", 1},
    {"clz($0)", "int", "T", "", 1},
    {"ctz($0)", "int", "T", "", 1},
    {"bitcast($T, $0)", "i32", "U", "u32 f32", 2},
    {"bitcast($T, $0)", "u16", "U", "i16 f16 bf16", 2},
    {"bitcast($T, $0)", "f32", "U", "i32 u32", 1},
    {"bitcast($T, $0)", "f64", "U", "i64 u64", 1},
    // Floats.
    {"trunc($0)", "float", "T", "", 2},
    {"copysign($0, $1)", "float", "TT", "", 2},
    {"fmax($0, $1)", "float", "TT", "", 4},
    {"fmin($0, $1)", "float", "TT", "", 4},
    {"fma($0, $1, $2)", "float", "TTT", "", 2},
    {"sqrt($0)", "float", "T", "", 2},
    {"floor($0)", "float", "T", "", 2},
    {"ceil($0)", "float", "T", "", 2},
    {"round($0)", "float", "T", "", 2},
    {"rsqrt($0)", "float", "T", "", 1},
    {"exp($0)", "float", "T", "", 1},
    {"exp2($0)", "float", "T", "", 1},
    {"expm1($0)", "float", "T", "", 1},
    {"expdiff($0, $1)", "float", "TT", "", 1},
    {"log($0)", "float", "T", "", 1},
    {"log2($0)", "float", "T", "", 1},
    {"log10($0)", "float", "T", "", 1},
    {"log1p($0)", "float", "T", "", 1},
    {"sin($0)", "float", "T", "", 1},
    {"cos($0)", "float", "T", "", 1},
    {"tan($0)", "float", "T", "", 1},
    {"tanh($0)", "float", "T", "", 1},
    {"erf($0)", "float", "T", "", 1},
    {"sigmoid($0)", "float", "T", "", 1},
    {"pow($0, $1)", "float", "TT", "", 1},
    // Bools.
    {"($0 == $1)", "bool", "UU", "num", 4},
    {"($0 != $1)", "bool", "UU", "num", 3},
    {"($0 < $1)", "bool", "UU", "num", 6},
    {"($0 <= $1)", "bool", "UU", "num", 5},
    {"($0 > $1)", "bool", "UU", "num", 4},
    {"($0 >= $1)", "bool", "UU", "num", 4},
    {"($0 && $1)", "bool", "BB", "", 4},
    {"($0 || $1)", "bool", "BB", "", 4},
    {"(!$0)", "bool", "B", "", 3},
    {"isnan($0)", "bool", "U", "float", 2},
    {"isinf($0)", "bool", "U", "float", 1},
};

const std::vector<ReductionRule> tile::fuzz::reductionRules = {
    // name, operands, result, may be partial, how it is folded, weight
    {"sum", "num bool", ReductionRule::Accumulator, true, "+=", 8},
    {"prod", "num", ReductionRule::Accumulator, true, "*=", 3},
    {"max", "num", ReductionRule::Same, true, "max=", 5},
    {"min", "num", ReductionRule::Same, true, "min=", 5},
    {"fmax", "float", ReductionRule::Same, false, nullptr, 4},
    {"fmin", "float", ReductionRule::Same, false, nullptr, 4},
    {"any", "bool", ReductionRule::Bool, true, "|=", 3},
    {"all", "bool", ReductionRule::Bool, true, "&=", 3},
    {"xor", "int bool", ReductionRule::Same, true, "^=", 3},
    {"mean", "float", ReductionRule::Accumulator, false, nullptr, 6},
    {"argmax", "num", ReductionRule::Index, false, nullptr, 3},
    {"argmin", "num", ReductionRule::Index, false, nullptr, 3},
};

std::vector<std::string> tile::fuzz::typesOf(const std::string &classes) {
  static const std::vector<std::string> floats = {"f32", "f32", "f32", "f64", "f16", "bf16"};
  static const std::vector<std::string> halves = {"f16", "bf16", "f8e4m3", "f8e5m2"};
  static const std::vector<std::string> ints = {"i32", "i32", "i64", "i8", "i16",
                                                "u8",  "u16", "u32", "u64"};
  std::vector<std::string> types;
  auto add = [&](const std::vector<std::string> &more) {
    types.insert(types.end(), more.begin(), more.end());
  };
  std::istringstream words(classes);
  for (std::string word; words >> word;) {
    bool isAny = word == "any", isNum = word == "num";
    if (isAny || isNum || word == "float")
      add(floats);
    if (isAny || isNum || word == "int")
      add(ints);
    if (isAny || word == "half")
      add(halves);
    if (isAny || word == "bool")
      add({"bool"});
    bool isClass = isAny || isNum || word == "float" || word == "int" || word == "half";
    if (!isClass && word != "bool")
      types.push_back(word);
  }
  return types;
}

bool tile::fuzz::isFloatType(const std::string &type) { return type[0] == 'f' || type == "bf16"; }

std::string tile::fuzz::accumulatorOf(const std::string &type) {
  if (isFloatType(type))
    return type == "f64" ? type : "f32";
  if (type == "i64" || type == "u64")
    return type;
  return type[0] == 'u' ? "u32" : "i32";
}

std::string tile::fuzz::literal(Random &random, const std::string &type) {
  if (type == "bool")
    return random.chance(50) ? "true" : "false";
  if (isFloatType(type)) {
    static const std::vector<std::string> numbers = {
        "0.0",  "1.0", "-1.0",  "0.5", "2.0",  "-3.0", "0.1",     "-0.0", "inf",
        "-inf", "nan", "1e-40", "7.0", "0.25", "3",    "65504.0", "65504"};
    // Integers are exact until they become floats; narrow floats become infinite by a cast of f32.
    static const std::vector<std::string> large = {"1e30", "9223372036854775808",
                                                   "-9223372036854775809", "18446744073709551615",
                                                   "3.4028234663852886e38"};
    bool isLarge = random.chance(20), isWide = type == "f32" || type == "f64";
    std::string number = random.pick(isLarge ? large : numbers);
    bool fits = isWide || (!isLarge && type[1] != '8');
    return type + (fits ? "(" + number + ")" : "(f32(" + number + "))");
  }
  static const std::vector<std::string> numbers = {"0", "1",  "2",   "3",  "5",
                                                   "7", "15", "100", "127"};
  bool isUnsigned = type[0] == 'u';
  unsigned bits = static_cast<unsigned>(std::stoi(type.substr(1)));
  if (random.chance(20)) { // the least and the greatest value, as numbers and as expressions
    uint64_t greatest = ~uint64_t(0) >> (64 - bits + (isUnsigned ? 0 : 1));
    bool isLeast = !isUnsigned && random.chance(50);
    if (random.chance(50))
      return type + "(" + (isLeast ? "-" : "") + std::to_string(greatest + (isLeast ? 1 : 0)) + ")";
    if (isUnsigned)
      return "(~" + type + "(0))";
    return (isLeast ? "(" : "(~") + type + "(1) << " + std::to_string(bits - 1) + ")";
  }
  return type + "(" + (!isUnsigned && random.chance(30) ? "-" : "") + random.pick(numbers) + ")";
}
