//===- Elaborator.cpp - instances of kernels and graphs -------------------===//

#include "dsl/ElaboratorImpl.h"

#include "dsl/BodyElaborator.h"
#include "dsl/FunctionCheck.h"
#include "dsl/Locations.h"
#include "ir/proofs/Proofs.h"

#include "mlir/IR/Verifier.h"

#include <atomic>
#include <thread>

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

/// Instances of one declaration that are checked at most.
static constexpr size_t maxInstances = 64;

std::vector<TypeBindings> Elaborator::instances(DeclRef decl) {
  std::vector<std::pair<std::string, std::vector<ir::ElementType>>> generics;
  size_t all = 1, longest = 1;
  for (const Generic &generic : decl.decl->generics) {
    if (generic.isConst)
      continue;
    std::vector<ir::ElementType> choices = alternatives(decl, generic);
    if (choices.empty())
      return {};
    all = std::min(all * choices.size(), maxInstances + 1);
    longest = std::max(longest, choices.size());
    generics.emplace_back(generic.name.text, std::move(choices));
  }
  std::vector<TypeBindings> result;
  for (size_t n = 0; n < std::min(all, maxInstances); ++n) {
    TypeBindings types;
    size_t rest = n;
    for (auto &[name, choices] : llvm::reverse(generics)) {
      // All of them: n in mixed radix, the last generic fastest. Of too many: first the generics
      // step through their types together, then each one type further than the one after it, ….
      size_t choice = rest;
      if (all > maxInstances)
        rest += n / longest;
      else
        rest /= choices.size();
      types[name] = choices[choice % choices.size()];
    }
    if (!llvm::is_contained(result, types))
      result.push_back(std::move(types));
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
  if (isChecking && refused.count(decl.decl))
    return "";
  if (llvm::is_contained(active, decl.decl)) {
    diags
        .error(&decl.file->source, decl.decl->name.range,
               "graph `" + decl.decl->name.text + "` calls itself")
        .hints.push_back("what repeats goes into a kernel, with `for`");
    return done[key] = "";
  }
  static constexpr size_t deepest = 128; // each takes some of the stack
  if (active.size() >= deepest) {
    diags.error(&decl.file->source, decl.decl->name.range,
                "graphs call each other more than " + std::to_string(deepest) + " deep");
    return done[key] = "";
  }
  active.push_back(decl.decl);
  size_t first = diags.diagnostics().size();
  std::string symbol = decl.decl->kind == Decl::Kind::Graph ? Impl::graph(*this, decl, types)
                                                            : Impl::kernel(*this, decl, types);
  noteInstance(diags, first, decl, types);
  active.pop_back();
  if (symbol.empty())
    refused.insert(decl.decl);
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

void Elaborator::Impl::map(Elaborator &self, DeclRef decl, const TypeBindings &types) {
  DiagnosticBridge bridge(self.context, self.program, self.diags);
  size_t first = self.diags.diagnostics().size();
  Signature signature = signatureOf(&self.context, self.diags, decl, types);
  if (!signature.isValid)
    return noteInstance(self.diags, first, decl, types);
  Location loc = toLocation(&self.context, decl.file->source, decl.decl->name.range);
  OwningOpRef<ModuleOp> scratch(ModuleOp::create(loc));
  ir::KernelBuilder builder(*scratch, signature.spec, loc);
  BodyElaborator body(builder, self.program, self.diags, *decl.file, types, signature);
  builder.beginParallel({});
  body.checkMap(decl);
  builder.endParallel();
}

void Elaborator::check(DeclRef decl) {
  if (decl.decl->kind == Decl::Kind::Fn)
    return checkNames(program, decl, diags);
  isChecking = true;
  for (const TypeBindings &types : instances(decl)) {
    unsigned errorsBefore = diags.errorCount();
    if (decl.decl->kind == Decl::Kind::Map)
      Impl::map(*this, decl, types);
    else
      elaborate(decl, types);
    if (diags.errorCount() != errorsBefore)
      break; // the other instances would say the same
  }
  isChecking = false;
  moduleOp->getBody()->clear();
  done.clear();
  launches.clear();
}

/// Declarations that one thread checks at a time: enough to outweigh a context.
static constexpr size_t checkChunk = 256;

void tile::dsl::checkFile(Program &program, LoadedFile &file, DiagnosticEngine &diags) {
  std::vector<DeclRef> decls;
  for (const Decl &decl : file.module.decls)
    if (decl.kind != Decl::Kind::Import)
      decls.push_back({&decl, &file});
  size_t chunks = llvm::divideCeil(decls.size(), checkChunk);
  std::vector<DiagnosticEngine> found(chunks, DiagnosticEngine(/*errorLimit=*/0));
  std::atomic<size_t> next = 0;
  auto work = [&] {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    for (size_t chunk = next++; chunk < chunks; chunk = next++) {
      Elaborator elaborator(context, program, found[chunk]);
      auto part = llvm::ArrayRef(decls).slice(chunk * checkChunk).take_front(checkChunk);
      for (DeclRef decl : part)
        elaborator.check(decl);
    }
  };
  size_t threads = std::min<size_t>(chunks, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (size_t n = 1; n < threads; ++n)
    others.emplace_back(work);
  if (chunks != 0)
    work();
  for (std::thread &other : others)
    other.join();
  for (const DiagnosticEngine &part : found)
    diags.append(part);
}
