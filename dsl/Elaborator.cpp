//===- Elaborator.cpp - instances of kernels and graphs -------------------===//

#include "dsl/ElaboratorImpl.h"

#include "dsl/BodyElaborator.h"
#include "dsl/Locations.h"
#include "ir/Proofs.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace tile;
using namespace tile::dsl;

Elaborator::Elaborator(MLIRContext &context, Program &program, DiagnosticEngine &diags)
    : context(context), program(program), diags(diags),
      moduleOp(ModuleOp::create(UnknownLoc::get(&context))) {
  context.loadDialect<ir::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
}

std::vector<ir::ElementType> Elaborator::alternatives(DeclRef decl, const Generic &generic) {
  return genericAlternatives(diags, decl.file->source, generic);
}

std::vector<TypeBindings> Elaborator::instances(DeclRef decl) {
  std::vector<TypeBindings> result(1);
  for (const Generic &generic : decl.decl->generics) {
    if (generic.isConst)
      continue;
    std::vector<TypeBindings> longer;
    std::vector<ir::ElementType> choices = alternatives(decl, generic);
    for (const TypeBindings &bindings : result)
      for (ir::ElementType type : choices) {
        longer.push_back(bindings);
        longer.back()[generic.name.text] = type;
      }
    result = std::move(longer);
  }
  return result;
}

/// `matmul`, or `matmul.f16` for an instance; another declaration of that name
/// gets a number.
std::string Elaborator::Impl::symbolFor(Elaborator &self, DeclRef decl, const TypeBindings &types) {
  std::string symbol = decl.decl->name.text;
  for (const Generic &generic : decl.decl->generics)
    if (auto bound = types.find(generic.name.text); !generic.isConst && bound != types.end())
      symbol += "." + ir::nameOf(bound->second).str();
  std::string unique = symbol;
  for (unsigned n = 2; self.moduleOp->lookupSymbol(unique); ++n)
    unique = symbol + "." + std::to_string(n);
  return unique;
}

std::string Elaborator::elaborate(DeclRef decl, const TypeBindings &types) {
  auto key = std::pair(decl.decl, types);
  if (auto found = done.find(key); found != done.end())
    return found->second;
  if (llvm::is_contained(active, decl.decl)) {
    diags.error(&decl.file->source, decl.decl->name.range,
                "graph `" + decl.decl->name.text + "` calls itself");
    return done[key] = "";
  }
  active.push_back(decl.decl);
  std::string symbol = decl.decl->kind == Decl::Kind::Graph ? Impl::graph(*this, decl, types)
                                                            : Impl::kernel(*this, decl, types);
  active.pop_back();
  return done[key] = symbol;
}

std::string Elaborator::Impl::kernel(Elaborator &self, DeclRef decl, const TypeBindings &types) {
  const SourceFile &source = decl.file->source;
  DiagnosticBridge bridge(self.context, self.program, self.diags);
  unsigned errorsBefore = self.diags.errorCount();
  Signature signature = signatureOf(&self.context, self.diags, decl, types);
  if (!signature.isValid)
    return "";
  signature.spec.name = symbolFor(self, decl, types);
  ir::KernelBuilder builder(*self.moduleOp, signature.spec,
                            toLocation(&self.context, source, decl.decl->name.range));
  BodyElaborator body(builder, self.program, self.diags, *decl.file, types, signature);
  for (const Clause &clause : decl.decl->clauses) {
    if (clause.kind != Clause::Kind::Requires)
      continue;
    dsl::Range range = clause.value->range;
    ir::Expr condition = body.evaluate(*clause.value);
    builder.setLoc(toLocation(&self.context, source, range));
    builder.require(condition, source.text().substr(range.begin, range.end - range.begin));
  }
  body.elaborate(decl.decl->body);
  builder.setLoc(toLocation(&self.context, source, decl.decl->name.range));
  bool built = builder.finish() && self.diags.errorCount() == errorsBefore;
  if (built && succeeded(verify(builder.kernel())) && succeeded(ir::prove(builder.kernel())) &&
      self.diags.errorCount() == errorsBefore)
    return signature.spec.name;
  builder.kernel()->erase();
  return "";
}

void Elaborator::checkAll(LoadedFile &file) {
  for (const Decl &decl : file.module.decls) {
    if (diags.limitReached())
      return;
    DeclRef ref{&decl, &file};
    if (decl.kind != Decl::Kind::Kernel && decl.kind != Decl::Kind::Graph)
      continue;
    for (const TypeBindings &types : instances(ref)) {
      unsigned errorsBefore = diags.errorCount();
      elaborate(ref, types);
      if (diags.errorCount() != errorsBefore)
        break; // the other instances would say the same
    }
    // Checked is enough: thousands of kernels need not stay. What a graph calls
    // is elaborated again for the next one.
    moduleOp->getBody()->clear();
    done.clear();
  }
}
