//===- Names.cpp - the names the language itself has ----------------------===//

#include "dsl/Names.h"

#include "dsl/Source.h"
#include "ir/builder/KernelBuilder.h"
#include "ir/dialect/ElementType.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tile;
using namespace tile::dsl;

const std::vector<std::string> &tile::dsl::functionNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (llvm::StringRef function : ir::KernelBuilder::functionNames())
      result.push_back(function.str());
    for (llvm::StringRef function : ir::KernelBuilder::atomicNames())
      result.push_back(function.str());
    for (const char *function :
         {"sum",     "prod",   "mean",   "any",     "all",      "xor",    "bitcast",
          "argmax",  "argmin", "dot",    "zeros",   "full",     "whole",  "range",
          "scan",    "reduce", "cumsum", "cumprod", "cummax",   "cummin", "sort",
          "argsort", "topk",   "flip",   "reshape", "concat",   "join",   "split",
          "assert",  "print",  "rand",   "randn",   "rand_bits"})
      result.emplace_back(function);
    return result;
  }();
  return names;
}

bool tile::dsl::isFunctionName(std::string_view name) {
  return llvm::is_contained(functionNames(), name);
}

bool tile::dsl::takesFunction(std::string_view name) { return name == "scan" || name == "reduce"; }

bool tile::dsl::isTypeName(std::string_view name) {
  return ir::elementTypeNamed(name) || name == "float" || name == "int" || name == "num";
}

bool tile::dsl::isCastModifier(std::string_view name) {
  return name == "sat" || name == "toward_zero";
}

bool tile::dsl::isConstantName(std::string_view name) { return name == "inf" || name == "nan"; }

std::optional<std::string> tile::dsl::roleInLanguage(std::string_view name) {
  if (isFunctionName(name))
    return "a function";
  if (isTypeName(name))
    return "a type";
  if (isConstantName(name))
    return "a constant";
  return std::nullopt;
}

std::optional<std::string> tile::dsl::typeMeantBy(std::string_view name,
                                                  const std::vector<std::string> &others) {
  llvm::StringRef elsewhere = llvm::StringSwitch<llvm::StringRef>(name)
                                  .Cases({"float32", "fp32", "single"}, "f32")
                                  .Cases({"float64", "fp64", "double"}, "f64")
                                  .Cases({"float16", "fp16", "half"}, "f16")
                                  .Cases({"bfloat16", "bfloat"}, "bf16")
                                  .Cases({"float8_e4m3", "float8_e4m3fn", "fp8"}, "f8e4m3")
                                  .Case("float8_e5m2", "f8e5m2")
                                  .Cases({"int8", "int8_t"}, "i8")
                                  .Cases({"int16", "int16_t", "short"}, "i16")
                                  .Cases({"int32", "int32_t"}, "i32")
                                  .Cases({"int64", "int64_t", "long"}, "i64")
                                  .Cases({"uint8", "uint8_t", "byte"}, "u8")
                                  .Cases({"uint16", "uint16_t"}, "u16")
                                  .Cases({"uint32", "uint32_t", "uint"}, "u32")
                                  .Cases({"uint64", "uint64_t", "size_t"}, "u64")
                                  .Case("float", "f32")
                                  .Case("boolean", "bool")
                                  .Default("");
  if (!elsewhere.empty())
    return elsewhere.str();
  std::vector<std::string> candidates = others;
  for (ir::ElementType known : ir::allElementTypes())
    candidates.push_back(ir::nameOf(known).str());
  return nearestName(name, candidates);
}
