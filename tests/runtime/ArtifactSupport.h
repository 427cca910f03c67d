// Signatures, programs and artifacts for tests, made by hand.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/artifact/CpuReport.h"
#include "runtime/load/Encoding.h"

#include <span>

namespace tile::runtime::test {

inline Instruction dim(uint64_t index) { return {Opcode::Dim, Number::I64, {}, index}; }
inline Instruction constant(int64_t value, Number type = Number::I64) {
  return {Opcode::Constant, type, {}, static_cast<uint64_t>(value)};
}
inline Instruction binary(Opcode opcode, uint32_t x, uint32_t y, Number type = Number::I64) {
  return {opcode, type, {x, y, 0}, 0};
}

inline ParamRule vector(const std::string &name, ParamMode mode, const std::string &type = "i64") {
  ParamRule rule;
  rule.name = name;
  rule.type = type;
  rule.mode = mode;
  rule.isTensor = true;
  rule.shape.push_back({"N", {dim(0)}, {0}});
  return rule;
}

inline ParamRule scalar(const std::string &name, const std::string &type = "i64") {
  ParamRule rule;
  rule.name = name;
  rule.type = type;
  return rule;
}

inline Signature signature(const std::string &name, std::vector<ParamRule> params) {
  Signature result;
  result.name = name;
  result.dims = {"N"};
  result.params = std::move(params);
  return result;
}

inline std::vector<std::byte> bytesOf(const std::string &text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// "dim <= most", or with `divides` "dim % most == 0", as a guard.
inline Program guardOf(uint64_t index, int64_t most, bool divides = false) {
  Program program{dim(index), constant(most)};
  if (divides) {
    program.push_back(binary(Opcode::RemFloor, 0, 1));
    program.push_back(constant(0));
  }
  auto last = static_cast<uint32_t>(program.size() - 1);
  program.push_back(binary(Opcode::Compare, divides ? 2 : 0, last, Number::I1));
  program.back().immediate = static_cast<uint64_t>(divides ? CompareInt::Eq : CompareInt::Sle);
  return program;
}

/// GPU code whose PTX has nothing but the entries' names, for programs of 4 elements.
inline CudaVariant cudaVariant(const std::string &target, const std::string &name) {
  CudaVariant variant;
  variant.schedule = {{"i", 4}};
  variant.code.target = target;
  variant.code.function = {name, 128, 0, 1};
  variant.code.programs = {{dim(0), constant(4), binary(Opcode::DivCeil, 0, 1)}};
  variant.code.image = bytesOf(".version 8.0\n.target " + target + "\n.entry " + name + "(\n");
  return variant;
}

/// An artifact with something in every list.
inline ArtifactData sampleArtifact() {
  ArtifactData artifact;
  artifact.producer = "a test";
  artifact.images.push_back({"x86_64-linux", "x86-64-v2", {"sse3", "popcnt"}, 7, {}});
  for (int n = 0; n < 100; ++n)
    artifact.images[0].bytes.push_back(static_cast<std::byte>(n * 37));

  KernelData kernel;
  kernel.signature =
      signature("scale.i64", {vector("x", ParamMode::In), scalar("by"),
                              vector("z", ParamMode::InOut), vector("y", ParamMode::Out)});
  Signature &rules = kernel.signature;
  rules.dims.push_back("G");
  rules.constants.push_back({1, 4});
  rules.bound.emplace_back(1, 4);
  rules.params[1].defaultBits = 3;
  rules.params[1].reachesIndex = true;
  rules.params[3].shape[0] = {"(N + 3) / 4 * 4",
                              {dim(0), constant(3), binary(Opcode::Add, 0, 1), constant(4),
                               binary(Opcode::DivFloor, 2, 3), constant(4),
                               binary(Opcode::Mul, 4, 5)},
                              {0}};
  Instruction holds = binary(Opcode::Compare, 0, 1, Number::I1);
  holds.immediate = static_cast<uint64_t>(CompareInt::Sgt);
  rules.requirements.push_back(
      {{dim(0), {Opcode::Scalar, Number::I64, {}, 1}, holds}, "N > by", {0}, {1}});
  kernel.variants.push_back({{dim(0), constant(8), holds}, {{"i", 64}}, 0, "scale.i64"});
  kernel.variants.push_back({{}, {}, 0, "scale.i64"});
  kernel.cuda.push_back(cudaVariant("sm_90a", "scale_i64"));
  kernel.cuda[0].guard = guardOf(0, 8, true);
  kernel.cuda[0].condition = "N % 8 == 0";
  kernel.cuda[0].cubin = bytesOf("\x7f"
                                 "ELF and so on");
  kernel.cuda[0].code.sites = {encodeSite({"0", "a.tile:3:5", "positive", "i", "i"})};
  kernel.cuda[0].code.maps = {{3, 8, {rules.params[3].shape[0].program}, {16}, 128}};
  kernel.cuda[0].code.isPersistent = true;
  kernel.cuda.push_back(cudaVariant("sm_80", "scale_i64"));
  artifact.kernels.push_back(std::move(kernel));

  KernelData sum;
  sum.signature = signature("sum", {vector("x", ParamMode::In), vector("s", ParamMode::Reduce)});
  sum.signature.params[1].combine = CpuCombine::Max;
  sum.cuda.push_back(cudaVariant("sm_80", "sum"));
  sum.cuda[0].code.start = {"sum_start", 256, 0, 1};
  sum.cuda[0].code.finish = {"sum_finish", 1024, 8448, 1};
  sum.cuda[0].code.copies = {{1, 8}};
  sum.cuda[0].code.foldsItself = true;
  artifact.kernels.push_back(std::move(sum));

  GraphPlan plan;
  plan.frames.resize(2);
  plan.frames[0].signature =
      signature("net", {vector("a", ParamMode::In), vector("b", ParamMode::Out)});
  plan.frames[0].program = {constant(5), dim(0), binary(Opcode::Compare, 1, 0, Number::I1)};
  plan.frames[0].program[2].immediate = static_cast<uint64_t>(CompareInt::Ne);
  plan.frames[0].requirements.push_back({2, "N != 5"});
  plan.frames[1].signature =
      signature("inner", {vector("p", ParamMode::In), vector("q", ParamMode::Out)});
  plan.frames[1].inputs.push_back({true, 2});
  plan.frames[1].constants.push_back({"N", 1});
  plan.frames[1].place = "net.tile:3:9";
  plan.calls.push_back(
      {0, 0, {{true, 0}, {false, 1}, {true, 0}}, {{"G", 0}}, {1, 2}, "net.tile:2:1"});
  plan.calls.push_back({1, 1, {{true, 2}}, {}, {3}, "net.tile:7:1"});
  plan.frames[0].results = {3};
  plan.frames[1].results = {3};
  using Kind = PlanStep::Kind;
  plan.steps = {{Kind::Open, 0}, {Kind::Call, 0},  {Kind::Open, 1},
                {Kind::Call, 1}, {Kind::Close, 1}, {Kind::Close, 0}};
  plan.numTensors = 4;
  artifact.graphs.push_back(std::move(plan));

  artifact.entries.push_back({"scale", false, 0, {{"T", "i64"}}});
  artifact.entries.push_back({"net", true, 0, {}});
  return artifact;
}

} // namespace tile::runtime::test
