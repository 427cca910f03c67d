// Runs the programs of an artifact: numbers from dimensions and scalars.
#pragma once

#include "runtime/artifact/Program.h"

#include <optional>
#include <span>
#include <vector>

namespace tile::runtime {

/// Whether every instruction is one, names earlier values, dimensions and scalars that are there,
/// and has types that its operation takes. `evaluate` asks for nothing else.
bool isValid(std::span<const Instruction> program, size_t numDims,
             std::span<const std::optional<Number>> scalars);

/// The bits of every value, zero-extended; nothing where a number leaves the 64-bit integers.
std::optional<std::vector<uint64_t>> evaluate(std::span<const Instruction> program,
                                              std::span<const int64_t> dims,
                                              std::span<const uint64_t> scalars);

/// The last value of a program of integers, sign-extended.
std::optional<int64_t> evaluateInteger(std::span<const Instruction> program,
                                       std::span<const int64_t> dims,
                                       std::span<const uint64_t> scalars = {});

unsigned bitWidth(Number number);
bool isFloat(Number number);

} // namespace tile::runtime
