//===- FusionSteps.cpp - how a step makes one call of two -----------------===//

#include "ir/fusion/FusionSteps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::ir;
using Transform = FusionEntry::Transform;

SmallVector<CallOp> tile::ir::hostsOf(const FusionStep &step, CallOp first, CallOp second) {
  if (step.transform != Transform::InlineAll)
    return {second};
  llvm::SmallSetVector<Operation *, 8> users(first->user_begin(), first->user_end());
  return llvm::map_to_vector(users, llvm::CastTo<CallOp>);
}

Pairing tile::ir::pairingOf(const FusionStep &step, CallOp first, CallOp host) {
  if (step.transform == Transform::Merge)
    return {first, host, {}};
  SmallVector<Value> tensors = tensorsBetween(first, host);
  if (step.isSingle)
    tensors.assign({first.getResult(step.tensor)});
  return {first,
          host,
          std::move(tensors),
          {.widens = step.widens,
           .keeps = step.transform == Transform::InlineAndKeep,
           .finishes = step.transform == Transform::Finish}};
}

bool tile::ir::isNeededAfter(const Pairing &pairing) {
  if (pairing.isMerge() || pairing.options.finishes || pairing.options.keeps)
    return false;
  return llvm::any_of(CallOp(pairing.guest).getResults(), [&](Value result) {
    if (!llvm::is_contained(pairing.tensors, result))
      return !result.use_empty();
    return llvm::any_of(result.getUsers(), [&](Operation *op) { return op != pairing.host; });
  });
}

bool tile::ir::mayPerform(const FusionStep &step, CallOp first, CallOp second, Proposals &proposals,
                          FusionRefusal &refusal) {
  if (step.transform == Transform::Merge) {
    if (reaches(first, second) || reaches(second, first))
      return false;
  } else if (step.tensor >= first.getNumResults() ||
             !llvm::is_contained(tensorsBetween(first, second), first.getResult(step.tensor))) {
    return false;
  }
  if (step.transform == Transform::InlineAll &&
      !llvm::all_of(first->getUsers(), llvm::IsaPred<CallOp>))
    return false;
  return llvm::all_of(hostsOf(step, first, second), [&](CallOp host) {
    return proposals.costOf(pairingOf(step, first, host), refusal).has_value();
  });
}
