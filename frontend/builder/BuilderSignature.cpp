//===- BuilderSignature.cpp - dims, parameters and schedule of a kernel ---===//

#include "frontend/builder/BuilderImpl.h"
#include "ir/transforms/Specialize.h"

#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::detail;
using Place = std::source_location;

//===-- Names -------------------------------------------------------------===//

bool KernelImpl::checkName(const std::string &given, const char *what, const Place &where) {
  bool isName = !given.empty() && !llvm::isDigit(given[0]) &&
                llvm::all_of(given, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName || ir::elementTypeNamed(given)) {
    error(where) << what << " is a word of letters, digits and `_` that is no type; this is `"
                 << given << "`";
    return false;
  }
  bool taken =
      llvm::is_contained(declaredDims, given) ||
      llvm::any_of(derivedDims, [&](const DerivedDim &dim) { return dim.name == given; }) ||
      llvm::any_of(constants, [&](auto &constant) { return constant.first == given; }) ||
      llvm::any_of(parameters, [&](const Parameter &p) { return p.spec.name == given; });
  if (taken)
    error(where) << "`" << given << "` already means something here; nothing is shadowed";
  return !taken;
}

void KernelImpl::addDim(const std::string &dim, const Place &where) {
  if (checkSignatureTime("a dimension", where) && checkName(dim, "a dimension's name", where))
    declaredDims.push_back(dim);
}

void KernelImpl::addDerivedDim(const std::string &dim, const Extent &value, const Place &where) {
  if (checkSignatureTime("a dimension", where) && checkName(dim, "a dimension's name", where))
    derivedDims.push_back({dim, value, where});
}

void KernelImpl::addConstant(const std::string &dim, std::optional<int64_t> value,
                             const Place &where) {
  if (checkSignatureTime("a constant", where) && checkName(dim, "a constant's name", where))
    constants.emplace_back(dim, value);
}

void KernelImpl::addParameter(Parameter parameter) {
  if (checkSignatureTime("a parameter", parameter.place) &&
      checkName(parameter.spec.name, "a parameter's name", parameter.place))
    parameters.push_back(std::move(parameter));
}

void KernelImpl::addRequirement(const Condition &condition, const Place &where) {
  if (checkSignatureTime("a requirement on dimensions", where))
    requirements.push_back({condition, where});
}

bool KernelImpl::checkSignatureTime(const char *what, const Place &where) {
  if (!isOpen)
    return true;
  error(where) << what << " is declared before the first statement";
  return false;
}

bool KernelImpl::isWrittenOnly(const std::string &param) const {
  return llvm::any_of(parameters, [&](const Parameter &p) {
    return p.spec.name == param &&
           (p.spec.mode == ir::ParamMode::Out || p.spec.mode == ir::ParamMode::Reduce);
  });
}

//===-- Extents -----------------------------------------------------------===//

std::optional<unsigned> KernelImpl::dimIndex(const std::string &dim) const {
  auto found = llvm::find(spec.dims, dim);
  if (found == spec.dims.end())
    return std::nullopt;
  return found - spec.dims.begin();
}

const mlir::AffineExpr *KernelImpl::derived(const std::string &dim) const {
  for (auto &[known, expr] : spec.derivedDims)
    if (known == dim)
      return &expr;
  return nullptr;
}

void KernelImpl::reportUnboundDim(const std::string &dim, const Place &where) {
  if (!llvm::is_contained(declaredDims, dim)) {
    error(where) << "`" << dim << "` is no dimension of kernel `" << name << "`";
    return;
  }
  auto diagnostic = error(where) << "dimension `" << dim << "` stands alone in no input";
  diagnostic.attachNote(at(where)) << "hint: give it as a constant, `k.constant(\"" << dim
                                   << "\")`, or let an input have it as an extent of its own";
}

mlir::AffineExpr KernelImpl::affine(const ExtentNode &extent, const Place &where) {

  using BinaryOp = ir::KernelBuilder::Binary;
  switch (extent.kind) {
  case ExtentNode::Kind::Number:
    return mlir::getAffineConstantExpr(extent.number, context);
  case ExtentNode::Kind::Dim:
    if (std::optional<unsigned> index = dimIndex(extent.name))
      return mlir::getAffineSymbolExpr(*index, context);
    if (const mlir::AffineExpr *value = derived(extent.name))
      return *value;
    reportUnboundDim(extent.name, where);
    return {};
  case ExtentNode::Kind::Negate: {
    mlir::AffineExpr operand = affine(*extent.left, where);
    return operand ? -operand : operand;
  }
  case ExtentNode::Kind::Binary:
    break;
  }
  mlir::AffineExpr left = affine(*extent.left, where), right = affine(*extent.right, where);
  if (!left || !right)
    return {};
  auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(right);
  switch (extent.op) {
  case BinaryOp::Add:
    return left + right;
  case BinaryOp::Sub:
    return left - right;
  case BinaryOp::Mul:
    return left * right;
  case BinaryOp::Div:
  case BinaryOp::Rem:
    if (divisor && divisor.getValue() <= 0) {
      error(where) << "an extent is divided by a positive number";
      return {};
    }
    return extent.op == BinaryOp::Div ? left.floorDiv(right) : left % right;
  default:
    llvm_unreachable("a Condition is no Extent");
  }
}

/// The constants, then what stands alone in an input, in order of first appearance.
void KernelImpl::bindDims() {
  mlir::Builder attributes(module.getContext());
  for (auto &[constant, value] : constants) {
    spec.dims.push_back(constant);
    spec.consts.emplace_back(constant, value ? mlir::Attribute(attributes.getI64IntegerAttr(*value))
                                             : mlir::Attribute());
  }
  for (const Parameter &parameter : parameters) {
    if (parameter.spec.mode != ir::ParamMode::In && parameter.spec.mode != ir::ParamMode::InOut)
      continue;
    for (const Extent &extent : parameter.shape) {
      const ExtentNode &node = *extent.get();
      if (node.kind == ExtentNode::Kind::Dim && llvm::is_contained(declaredDims, node.name) &&
          !dimIndex(node.name))
        spec.dims.push_back(node.name);
    }
  }
  for (const DerivedDim &dim : derivedDims)
    if (mlir::AffineExpr value = affine(*dim.value.get(), dim.place))
      spec.derivedDims.emplace_back(dim.name, value);
}

bool KernelImpl::open() {
  if (isOpen)
    return builder != nullptr;
  isOpen = true;
  spec.name = name;
  bindDims();
  // Inputs first, then outputs, as a signature has them.
  llvm::stable_sort(parameters, [](const Parameter &a, const Parameter &b) {
    auto isOutput = [](const Parameter &p) {
      return p.spec.mode == ir::ParamMode::Out || p.spec.mode == ir::ParamMode::Reduce;
    };
    return isOutput(a) < isOutput(b);
  });
  for (Parameter &parameter : parameters) {
    for (const Extent &extent : parameter.shape)
      if (mlir::AffineExpr value = affine(*extent.get(), parameter.place))
        parameter.spec.shape.push_back(value);
    spec.params.push_back(parameter.spec);
  }
  for (const Requirement &requirement : requirements) {
    const ExtentNode &node = *requirement.condition.get();
    if (node.op == ir::KernelBuilder::Binary::Eq && node.left->kind == ExtentNode::Kind::Dim &&
        node.right->kind == ExtentNode::Kind::Dim && dimIndex(node.left->name) &&
        dimIndex(node.right->name))
      spec.sameDims.emplace_back(node.left->name, node.right->name);
  }
  if (errors != 0)
    return false;
  builder = std::make_unique<ir::KernelBuilder>(module, spec, at(place));
  for (const Requirement &requirement : requirements) {
    builder->setLoc(at(requirement.place));
    ir::Expr condition = evaluate(*requirement.condition.get(), requirement.place);
    builder->require(condition, requirement.condition.str());
  }
  return true;
}

//===-- Schedule ----------------------------------------------------------===//

void KernelImpl::addSchedule(const std::string &target, const std::string &key,
                             mlir::Attribute value, const Place &where) {
  scheduleEntries.push_back({target, key, value, where});
}

void KernelImpl::setSchedule() {
  mlir::NamedAttrList plain, places;
  std::map<std::string, std::pair<mlir::NamedAttrList, mlir::NamedAttrList>> targets;
  for (const ScheduleEntry &entry : scheduleEntries) {
    if (!binders.count(entry.key) && !llvm::is_contained(ir::scheduleSettings, entry.key)) {
      auto diagnostic = error(entry.place) << "the schedule names `" << entry.key
                                           << "`, which is no binder of this kernel";
      diagnostic.attachNote(at(entry.place))
          << "hint: its binders are " << llvm::join(binders, ", ");
      continue;
    }
    mlir::LocationAttr place = at(entry.place);
    mlir::NamedAttrList &entries = entry.target.empty() ? plain : targets[entry.target].first;
    if (entries.get(entry.key)) {
      auto diagnostic = error(entry.place) << "`" << entry.key << "` is scheduled twice";
      diagnostic.attachNote(at(entry.place))
          << "hint: candidates are a list: `k.schedule(\"" << entry.key << "\", {64, 128})`";
      continue;
    }
    entries.set(entry.key, entry.value);
    (entry.target.empty() ? places : targets[entry.target].second).set(entry.key, place);
  }
  mlir::MLIRContext *context = module.getContext();
  for (auto &[target, entries] : targets) {
    plain.set("target." + target, entries.first.getDictionary(context));
    places.set("target." + target, entries.second.getDictionary(context));
  }
  if (plain.empty())
    return;
  builder->kernel().setScheduleAttr(plain.getDictionary(context));
  ir::setPlacesOfSchedule(builder->kernel(), places.getDictionary(context));
}
