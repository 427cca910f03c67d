// Programs on numbers: what a launch computes from dimensions and scalars before anything runs.
// Plain data, no dependencies; runtime/launch/Evaluate.h runs them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace tile::runtime {

/// The types of numbers; integers have no sign, operations do.
enum class Number : uint8_t { I1, I8, I16, I32, I64, F16, BF16, F32, F64, F8E4M3, F8E5M2 };
inline constexpr unsigned numNumbers = 11;

/// What an instruction computes. Integer operations read their operands sign-extended, those
/// called unsigned zero-extended, and keep the low bits of the result; x / 0 is 0, a remainder by
/// 0 is x, a shift by the width or more is 0. In 64 bits Add, Sub and Mul don't wrap: a program
/// that would has no value. Operations on floats compute in double precision and round once.
enum class Opcode : uint8_t {
#define TILE_OPCODE(NAME, OPERANDS, IMMEDIATE) NAME,
#include "runtime/artifact/Opcodes.def"
#undef TILE_OPCODE
};

enum class ImmediateRole : uint8_t { None, Value, Index, CmpI, CmpF };

struct OpcodeInfo {
  uint8_t operands;
  ImmediateRole immediate;
};
inline constexpr OpcodeInfo opcodeInfo[] = {
#define TILE_OPCODE(NAME, OPERANDS, IMMEDIATE) {OPERANDS, ImmediateRole::IMMEDIATE},
#include "runtime/artifact/Opcodes.def"
#undef TILE_OPCODE
};
inline constexpr unsigned numOpcodes = sizeof(opcodeInfo) / sizeof(opcodeInfo[0]);

/// The immediates of Compare and CompareF.
enum class CompareInt : uint8_t { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge };
inline constexpr unsigned numCompareInt = 10;
/// Ordered comparisons (false for NaN), then unordered ones (true for NaN).
enum class CompareFloat : uint8_t {
  False,
  OEq,
  OGt,
  OGe,
  OLt,
  OLe,
  ONe,
  Ord,
  UEq,
  UGt,
  UGe,
  ULt,
  ULe,
  UNe,
  Uno,
  True
};
inline constexpr unsigned numCompareFloat = 16;

struct Instruction {
  Opcode opcode = Opcode::Constant;
  /// Of the result.
  Number type = Number::I64;
  /// Results of earlier instructions, by position.
  std::array<uint32_t, 3> operands = {};
  /// The bits of a constant, the number of a dimension or parameter, or a comparison.
  uint64_t immediate = 0;

  bool operator==(const Instruction &) const = default;
};

/// Instruction n computes value n from earlier ones; the last one is the program's value.
using Program = std::vector<Instruction>;

} // namespace tile::runtime
