//===- FitProducts.cpp - the model of products beside what was measured ---===//
//
//   tile_fit_products TIMES.csv [--fit NAME[,NAME…]] [--set NAME=VALUE …]
//
// TIMES.csv is what sweep_products.py has measured: a line for each product and schedule,
// `rows,columns,depth,bytes,i,j,k,split,seconds`. For each product it prints how much longer the
// schedule takes that the model likes best (ProductModel.h) than the fastest one, and last how far
// the model is off: the spread of ln(predicted / measured) around its mean, which is the clock's.
// --fit has the constants that it names moved, by turns and in ever smaller steps, as long as that
// gets less; --set gives one another value first.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/plan/ProductModel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <map>
#include <tuple>
#include <vector>

using namespace tile::codegen;
using namespace tile::codegen::gpu;
using llvm::StringRef;

namespace {
struct Measured {
  ProductExtents extents;
  ProductBlock block;
  double seconds = 0;

  auto product() const {
    return std::tuple(extents.rows, extents.columns, extents.depth, extents.bytes);
  }
};

/// How far the model is off: standard deviation of ln(predicted / measured).
double spread(llvm::ArrayRef<Measured> all, const GpuTarget &target, const ProductCosts &costs) {
  double sum = 0, squares = 0;
  for (const Measured &one : all) {
    double error = std::log(cyclesOf(one.extents, one.block, target, costs) / one.seconds);
    sum += error, squares += error * error;
  }
  auto count = static_cast<double>(all.size());
  return std::sqrt(std::max(0.0, squares / count - sum / count * sum / count));
}

/// For each product: the measured time of the schedule that the model likes best, and the least.
void printChoices(llvm::ArrayRef<Measured> all, const GpuTarget &target,
                  const ProductCosts &costs) {
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, std::vector<const Measured *>> products;
  for (const Measured &one : all)
    products[one.product()].push_back(&one);
  for (const auto &[product, schedules] : products) {
    auto cycles = [&](const Measured *one) {
      return cyclesOf(one->extents, one->block, target, costs);
    };
    const Measured *liked = *std::min_element(
        schedules.begin(), schedules.end(),
        [&](const Measured *x, const Measured *y) { return cycles(x) < cycles(y); });
    const Measured *fastest = *std::min_element(
        schedules.begin(), schedules.end(),
        [](const Measured *x, const Measured *y) { return x->seconds < y->seconds; });
    auto text = [](const Measured *one) {
      return std::to_string(one->block.rows) + "x" + std::to_string(one->block.columns) + "x" +
             std::to_string(one->block.depth) + "/" + std::to_string(one->block.splits);
    };
    llvm::outs() << std::get<0>(product) << " x " << std::get<1>(product) << " x "
                 << std::get<2>(product) << ": " << text(liked) << " takes "
                 << llvm::format("%.3f", liked->seconds / fastest->seconds) << " of "
                 << text(fastest) << "'s " << llvm::format("%.1f", fastest->seconds * 1e6)
                 << " us, of " << schedules.size() << "\n";
  }
}

void fit(llvm::ArrayRef<Measured> all, const GpuTarget &target,
         llvm::ArrayRef<double ProductCosts::*> fields, ProductCosts &costs) {
  double best = spread(all, target, costs);
  for (double step = 0.2; step > 0.005; step /= 2)
    for (bool isBetter = true; isBetter;) {
      isBetter = false;
      for (double ProductCosts::*field : fields)
        for (double factor : {1 + step, 1 / (1 + step)}) {
          ProductCosts changed = costs;
          changed.*field *= factor;
          if (double now = spread(all, target, changed); now < best * (1 - 1e-6))
            best = now, costs = changed, isBetter = true;
        }
    }
}

/// Null, with a message, for a name that there is not.
double ProductCosts::*fieldNamed(StringRef name) {
  for (const ProductCostField &field : productCostFields())
    if (field.name == name)
      return field.field;
  llvm::errs() << "there is no constant '" << name << "'; there are:";
  for (const ProductCostField &field : productCostFields())
    llvm::errs() << " " << field.name;
  llvm::errs() << "\n";
  return nullptr;
}

bool read(StringRef path, std::vector<Measured> &all) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    llvm::errs() << "cannot read '" << path << "': " << buffer.getError().message() << "\n";
    return false;
  }
  llvm::SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.starts_with("rows") || line.starts_with("#"))
      continue;
    llvm::SmallVector<StringRef> cells;
    line.split(cells, ',');
    int64_t values[8] = {};
    double seconds = 0;
    bool isRight = cells.size() == 9 && !cells[8].trim().getAsDouble(seconds) && seconds > 0;
    for (size_t n = 0; isRight && n < 8; ++n)
      isRight = !cells[n].trim().getAsInteger(10, values[n]) && values[n] > 0;
    if (!isRight) {
      llvm::errs() << path << ":" << number + 1
                   << ": not rows,columns,depth,bytes,i,j,k,split,seconds\n";
      return false;
    }
    all.push_back(
        {{values[0], values[1], values[2], 1, values[3]},
         {.rows = values[4], .columns = values[5], .depth = values[6], .splits = values[7]},
         seconds});
  }
  if (all.empty())
    llvm::errs() << path << ": no times\n";
  return !all.empty();
}
} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::vector<Measured> all;
  std::vector<double ProductCosts::*> fields;
  ProductCosts costs;
  if (argc < 2 || !read(argv[1], all)) {
    llvm::errs() << "usage: tile_fit_products TIMES.csv [--fit NAME,NAME...] [--set NAME=VALUE]\n";
    return 2;
  }
  for (int n = 2; n < argc; n += 2) {
    StringRef option = argv[n], value = n + 1 < argc ? argv[n + 1] : "";
    auto [name, number] = value.split('=');
    llvm::SmallVector<StringRef> names;
    (option == "--fit" ? value : name).split(names, ',');
    for (StringRef each : names) {
      double ProductCosts::*field = fieldNamed(each);
      bool isSet = option == "--set";
      if (!field || (!isSet && option != "--fit") || (isSet && number.getAsDouble(costs.*field)))
        return 2;
      if (!isSet)
        fields.push_back(field);
    }
  }
  const GpuTarget &target = GpuTarget::of(usualGpuTarget);
  if (!fields.empty()) {
    ProductCosts before = costs;
    llvm::outs() << "spread before: " << llvm::format("%.4f", spread(all, target, before)) << "\n";
    fit(all, target, fields, costs);
    for (const ProductCostField &field : productCostFields())
      if (costs.*field.field != before.*field.field)
        llvm::outs() << field.name << ": " << llvm::format("%g", before.*field.field) << " -> "
                     << llvm::format("%g", costs.*field.field) << "\n";
  }
  printChoices(all, target, costs);
  llvm::outs() << "spread: " << llvm::format("%.4f", spread(all, target, costs)) << " of "
               << all.size() << " times\n";
  return 0;
}
