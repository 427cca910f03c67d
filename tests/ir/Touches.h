// What a run of the interpreter touches, against what the summary of its kernel says.
#pragma once

#include "ir/fusion/Summary.h"
#include "ir/interpreter/Interpreter.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

namespace tile::ir::test {

class Touches {
public:
  /// Records the run with these options.
  explicit Touches(InterpreterOptions &options) {
    options.touch = [this](mlir::Operation *access, int64_t program, int64_t element) {
      touched[access].insert({program, element});
    };
  }

  /// Compares with the summary of the kernel that ran, access by access and program by program; or
  /// with that of its template, whose accesses together have to reach what was touched. Gives what
  /// is wrong, or the empty string.
  std::string compare(KernelOp summarized, KernelOp ran,
                      llvm::ArrayRef<InterpreterArgument> arguments, llvm::ArrayRef<int64_t> dims) {
    KernelSummary summary(summarized);
    llvm::SmallVector<uint64_t> scalars;
    for (const InterpreterArgument &argument : arguments)
      scalars.push_back(argument.bits);
    Point launch = summary.launchPoint(dims, scalars);
    bool isTemplate = summarized != ran;
    std::map<std::pair<AccessSummary::Kind, unsigned>, Elements> reached;
    for (const AccessSummary &access : summary.accesses()) {
      auto elements = elementsOf(summary, access, launch, arguments[access.parameter].shape);
      if (!elements)
        return "";
      if (isTemplate) {
        for (auto [program, element] : *elements)
          reached[{access.kind, access.parameter}].insert({anyProgram, element});
        continue;
      }
      (access.precision == AccessSummary::Precision::Exact ? exact : inexact) += 1;
      std::string wrong = difference(access, *elements, touched[access.op]);
      if (!wrong.empty())
        return wrong + "\n" + summary.text();
    }
    if (!isTemplate)
      return "";
    KernelSummary summaryOfRun(ran);
    for (const AccessSummary &access : summaryOfRun.accesses())
      for (auto [program, element] : touched[access.op])
        if (!reached[{access.kind, access.parameter}].count({anyProgram, element}))
          return llvm::formatv("the template's summary lacks element {0} of `{1}`\n{2}", element,
                               access.text, summary.text());
    return "";
  }

  /// How many accesses were compared.
  int64_t exact = 0, inexact = 0;

private:
  using Elements = std::set<std::pair<int64_t, int64_t>>; // program and element
  static constexpr int64_t anyProgram = -1;

  static std::optional<Elements> elementsOf(const KernelSummary &summary,
                                            const AccessSummary &access, const Point &launch,
                                            llvm::ArrayRef<int64_t> shape) {
    Elements elements;
    bool isComplete = summary.forEachElement(
        access, launch, shape, /*budget=*/200000,
        [&](const Point &point, llvm::ArrayRef<int64_t> at) {
          int64_t element = 0;
          for (auto [coordinate, extent] : llvm::zip(at, shape))
            element = element * extent + coordinate;
          elements.insert({summary.programAt(point).value_or(anyProgram), element});
        });
    return isComplete ? std::optional(elements) : std::nullopt;
  }

  static std::string difference(const AccessSummary &access, const Elements &stated,
                                const Elements &touched) {
    for (auto [program, element] : touched)
      if (!stated.count({program, element}) && !stated.count({anyProgram, element}))
        return llvm::formatv("program {0} touches element {1} by `{2}`, which its summary lacks",
                             program, element, access.text);
    if (access.precision == AccessSummary::Precision::Exact)
      for (auto [program, element] : stated)
        if (!touched.count({program, element}))
          return llvm::formatv("program {0} doesn't touch element {1} by `{2}`, which its summary "
                               "has",
                               program, element, access.text);
    return "";
  }

  std::map<mlir::Operation *, Elements> touched;
};

} // namespace tile::ir::test
