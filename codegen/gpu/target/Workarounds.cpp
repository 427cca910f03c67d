//===- Workarounds.cpp - what LLVM and ptxas get wrong --------------------===//

#include "codegen/gpu/target/Workarounds.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

/// Whether its bits, narrowed or widened at most, go into a minimum or maximum.
static bool feedsExtreme(const llvm::Instruction &op) {
  return llvm::any_of(op.users(), [](const llvm::User *user) {
    auto *cast = llvm::dyn_cast<llvm::CastInst>(user);
    return llvm::isa<llvm::MinMaxIntrinsic>(user) || (cast && feedsExtreme(*cast));
  });
}

void tile::codegen::gpu::hideNegations(llvm::Module &module) {
  using namespace llvm::PatternMatch;
  bool hasExtremes = false;
  llvm::SmallVector<llvm::BinaryOperator *> negations;
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function)) {
      if (!op.getType()->isIntegerTy() || op.getType()->getIntegerBitWidth() > 32)
        continue;
      hasExtremes |= llvm::isa<llvm::MinMaxIntrinsic>(op);
      if (match(&op, m_Neg(m_Value())) || match(&op, m_Mul(m_Value(), m_NegatedPower2())) ||
          (match(&op, m_Sub(m_Value(), m_Value())) && feedsExtreme(op)))
        negations.push_back(llvm::cast<llvm::BinaryOperator>(&op));
    }
  if (!hasExtremes)
    return;
  for (llvm::BinaryOperator *negation : negations) {
    llvm::IRBuilder<> builder(negation);
    llvm::Type *word = builder.getInt32Ty();
    auto *text = llvm::InlineAsm::get(llvm::FunctionType::get(word, word, false),
                                      "not.b32 $0, $1;\n\tadd.s32 $0, $0, 1;", "=r,r",
                                      /*hasSideEffects=*/false);
    // x · -4, which LLVM makes a shift and a negation of, is 0 - (x · 4).
    llvm::Value *from = negation->getOperand(0), *subtracted = negation->getOperand(1);
    if (negation->getOpcode() == llvm::Instruction::Mul) {
      auto *factor = llvm::cast<llvm::ConstantInt>(subtracted);
      subtracted = builder.CreateShl(from, (-factor->getValue()).logBase2());
      from = builder.getIntN(negation->getType()->getIntegerBitWidth(), 0);
    }
    llvm::Value *input = builder.CreateZExt(subtracted, word);
    llvm::Value *negated = builder.CreateCall(text, input);
    negated = builder.CreateTrunc(negated, negation->getType());
    negation->replaceAllUsesWith(builder.CreateAdd(from, negated));
    negation->eraseFromParent();
  }
}

/// The one of two values whose other one is a zero, of either sign; null without a zero.
static llvm::Value *besideZero(llvm::Value *a, llvm::Value *b) {
  using namespace llvm::PatternMatch;
  return match(a, m_AnyZeroFP()) ? b : match(b, m_AnyZeroFP()) ? a : nullptr;
}

void tile::codegen::gpu::hideMinima(llvm::Module &module) {
  using namespace llvm::PatternMatch;
  llvm::SmallVector<llvm::SelectInst *> selects;
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function)) {
      llvm::Value *left, *right, *ifTrue, *ifFalse;
      if (!match(&op, m_Select(m_FCmp(m_Value(left), m_Value(right)), m_Value(ifTrue),
                               m_Value(ifFalse))) ||
          !op.getType()->isFPOrFPVectorTy())
        continue;
      llvm::Value *compared = besideZero(left, right);
      if (compared && compared == besideZero(ifTrue, ifFalse))
        selects.push_back(llvm::cast<llvm::SelectInst>(&op));
    }
  for (llvm::SelectInst *select : selects) {
    llvm::IRBuilder<> builder(select);
    llvm::Type *type = select->getType();
    llvm::Type *bits = builder.getIntNTy(type->getScalarSizeInBits());
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
      bits = llvm::FixedVectorType::get(bits, vector->getNumElements());
    llvm::Value *selected = builder.CreateSelect(
        select->getCondition(), builder.CreateBitCast(select->getTrueValue(), bits),
        builder.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(builder.CreateBitCast(selected, type));
    select->eraseFromParent();
  }
}
