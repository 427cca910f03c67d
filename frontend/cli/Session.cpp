//===- Session.cpp - what the commands of tilec share ---------------------===//

#include "frontend/cli/Session.h"
#include "codegen/gpu/Passes.h"

#include "frontend/base/CrashReport.h"
#include "frontend/base/Units.h"
#include "runtime/base/FileIO.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/load/Encoding.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <unistd.h>

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

bool tile::frontend::cli::wantsColour(const std::string &mode) {
  if (mode != "auto")
    return mode == "always";
  const char *disabled = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(disabled && *disabled) &&
         !(terminal && llvm::StringRef(terminal) == "dumb");
}

std::string tile::frontend::cli::didYouMean(const std::string &name,
                                            const std::vector<std::string> &candidates) {
  std::optional<std::string> near = dsl::nearestName(name, candidates);
  return near ? "did you mean `" + *near + "`?" : "";
}

//===-- Files -------------------------------------------------------------===//

Outcome<std::string> tile::frontend::cli::readSource(const std::string &path) {
  constexpr uint64_t limit = dsl::maxSourceBytes;
  auto tooLarge = [&] {
    return Failure::environment({"'" + path + "' is larger than 256 MiB", "is it a source file?"});
  };
  auto isArtifact = [](const std::string &text) {
    return runtime::isArtifact(std::as_bytes(std::span(text)));
  };
  if (path == "-") {
    std::string text;
    std::vector<char> chunk(1 << 16);
    while (size_t count = fread(chunk.data(), 1, chunk.size(), stdin)) {
      text.append(chunk.data(), count);
      if (text.size() > limit)
        return tooLarge();
    }
    if (isArtifact(text))
      return Failure::usage({"standard input is an artifact, not a source",
                             "keep it in a file: `tilec info` and `tilec run` read it"});
    return text;
  }
  auto file = runtime::InputFile::open(path);
  if (!file)
    return Failure::environment(file.takeError());
  if (file->size() > limit)
    return tooLarge();
  std::string text(file->size(), 0);
  if (auto read = file->readAt(0, std::as_writable_bytes(std::span(text))); !read)
    return Failure::environment(read.takeError());
  if (isArtifact(text))
    return Failure::usage({"'" + path + "' is an artifact, not a source",
                           "`tilec info " + path + "` shows what is in it, `tilec run " + path +
                               "` runs it; its sources are .tile files"});
  return text;
}

Outcome<std::monostate> tile::frontend::cli::checkThreads() {
  if (auto pool = runtime::ThreadPool::global(); !pool)
    return Failure::usage(pool.takeError());
  return Done{};
}

std::pair<std::string, std::string> tile::frontend::cli::splitEntry(const std::string &path) {
  size_t colon = path.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(path))
    return {path, ""};
  llvm::StringRef name = llvm::StringRef(path).drop_front(colon + 1);
  bool isName =
      !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isName)
    return {path, ""};
  std::string file = path.substr(0, colon);
  return {file == standardInputName ? "-" : file, name.str()};
}

Outcome<std::pair<std::string, std::string>>
tile::frontend::cli::chosenEntry(const std::string &file, const std::string &entry) {
  auto [path, name] = splitEntry(file);
  if (!entry.empty() && !name.empty() && entry != name)
    return Failure::usage({"'" + file + "' names `" + name + "`, and --entry names `" + entry + "`",
                           "one of them is enough"});
  return std::pair(path, name.empty() ? entry : name);
}

Outcome<TileSizes> ScheduleOptions::read() const {
  TileSizes result, given;
  if (!file.empty())
    if (auto done = result.readFile(file); !done)
      return done.takeFailure();
  for (const std::string &text : sizes)
    if (auto done = given.parse(text); !done)
      return done.takeFailure();
  result.overrideWith(given);
  return result;
}

//===-- Session -----------------------------------------------------------===//

Session::Session(const SourceOptions &options)
    : context(MLIRContext::Threading::DISABLED),
      diags(options.errorLimit, llvm::is_contained(options.warnings, "error")),
      program(diags, options.includePath, options.importsFromAnywhere),
      elaborator(context, program, diags), bridge(context, program, diags), options(options) {
  // Notes say what the user needs; the op that a diagnostic stands on is none of it.
  context.printOpOnDiagnostic(false);
}

Session::~Session() { print(); }

Outcome<dsl::LoadedFile *> Session::load(const std::string &path) {
  Outcome<std::string> text = readSource(path);
  if (!text)
    return text.takeFailure();
  std::string name = path == "-" ? standardInputName.str() : path;
  CrashReport::addSource(name, *text);
  CrashReport::Scope scope("parsing " + name);
  StageTimer timer(compiler.times, "parse");
  dsl::LoadedFile *file = program.load(name, *std::move(text));
  if (diags.errorCount())
    return Failure::reported();
  return file;
}

bool Session::isSource(const std::string &path) const {
  std::string place = runtime::canonicalPath(path);
  return llvm::any_of(program.fileNames(), [&](const std::string &name) {
    return runtime::canonicalPath(name) == place;
  });
}

/// A graph that calls a kernel, in the words of its source.
static std::string graphOf(const dsl::Decl &kernel, const dsl::LoadedFile &file) {
  auto textOf = [&](dsl::Range range) {
    return std::string(file.source.text().substr(range.begin, range.end - range.begin));
  };
  auto declared = [&](const std::vector<dsl::Param> &params) {
    return llvm::join(llvm::map_range(params,
                                      [&](const dsl::Param &param) {
                                        return param.name.text + ": " + textOf(param.type.range);
                                      }),
                      ", ");
  };
  const std::string &name = kernel.name.text;
  if (!kernel.generics.empty() || kernel.outputs.size() != 1)
    return "graph NAME(…) -> (…) { … = " + name + "(…) }";
  auto names = llvm::map_range(kernel.params, [](const dsl::Param &p) { return p.name.text; });
  return "graph NAME(" + declared(kernel.params) + ") -> (" + declared(kernel.outputs) + ") { " +
         kernel.outputs[0].name.text + " = " + name + "(" + llvm::join(names, ", ") + ") }";
}

Outcome<dsl::DeclRef> Session::entry(dsl::LoadedFile &file, const std::string &name,
                                     bool wantsGraph) {
  std::vector<std::string> names, graphs;
  dsl::DeclRef found, only, onlyGraph;
  for (const dsl::Decl &decl : file.module.decls) {
    bool isGraph = decl.kind == dsl::Decl::Kind::Graph;
    if (!isGraph && decl.kind != dsl::Decl::Kind::Kernel)
      continue;
    names.push_back(decl.name.text);
    only = {&decl, &file};
    if (isGraph) {
      graphs.push_back(decl.name.text);
      onlyGraph = only;
    }
    if (decl.name.text == name)
      found = only;
  }
  if (found)
    return found;
  const std::string &source = file.source.name();
  std::string list = "it has " + llvm::join(names, ", ");
  if (names.empty())
    return Failure::usage({"'" + source + "' has no kernel and no graph", ""});
  if (!name.empty()) {
    std::string advice = didYouMean(name, names);
    return Failure::usage({"'" + source + "' has no kernel or graph `" + name + "`",
                           advice.empty() ? list : advice + " " + list});
  }
  if (graphs.size() == 1)
    return onlyGraph;
  if (wantsGraph && graphs.empty())
    return Failure::usage({"'" + source + "' has no graph",
                           "write one that calls its kernels: " + graphOf(*only.decl, file)});
  if (names.size() == 1)
    return only;
  const std::vector<std::string> &choices = wantsGraph ? graphs : names;
  return Failure::usage({"'" + source + "' has several " +
                             (wantsGraph ? "graphs" : "kernels and graphs") + ": which one?",
                         "it has " + llvm::join(choices, ", ") + "; say --entry=" +
                             choices.front() + " or " + source + ":" + choices.front()});
}

Outcome<std::string> Session::elaborate(dsl::DeclRef decl, const dsl::TypeBindings &types) {
  CrashReport::Scope scope("elaborating " + decl.decl->name.text);
  std::string symbol;
  {
    StageTimer timer(compiler.times, elaborateStage);
    symbol = elaborator.elaborate(decl, types);
  }
  if (symbol.empty())
    return Failure::reported();
  observe(elaborateStage, [&](llvm::raw_ostream &stream) { stream << module(); });
  return symbol;
}

bool tile::frontend::cli::isOfGpus(llvm::StringRef pass) {
  return llvm::is_contained(codegen::codeStages, pass) ||
         llvm::any_of(codegen::gpu::gpuPasses(),
                      [&](const codegen::gpu::GpuPass &known) { return known.name == pass; });
}

Outcome<std::monostate> Session::configure(const PipelineOptions &wanted) {
  std::vector<std::string> known = passNames();
  auto check = [&](const std::string &name) -> Outcome<std::monostate> {
    if (llvm::is_contained(known, name))
      return Done{};
    std::string advice = didYouMean(name, known);
    return Failure::usage(
        {"there is no pass '" + name + "'",
         advice + (advice.empty() ? "" : " ") + "the passes are " + llvm::join(known, ", ")});
  };
  if (!wanted.stopAfter.empty())
    if (auto checked = check(wanted.stopAfter); !checked)
      return checked;
  for (llvm::StringRef stage : codegen::codeStages)
    known.push_back(stage.str());
  for (const std::string &name : wanted.printAfter)
    if (auto checked = check(name); !checked)
      return checked;
  pipeline = wanted;
  compiler.stopAfter = wanted.stopAfter;
  compiler.observer = [this](llvm::StringRef pass,
                             llvm::function_ref<void(llvm::raw_ostream &)> print) {
    observe(pass, print);
  };
  return Done{};
}

void Session::observe(llvm::StringRef pass, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (!llvm::is_contained(pipeline.printAfter, pass))
    return;
  llvm::errs() << "// after " << pass << "\n";
  print(llvm::errs());
  llvm::errs() << "\n";
}

void Session::useCache() {
  if (!pipeline.printAfter.empty()) // what is kept has passed no pass
    return;
  std::optional<runtime::Error> problem;
  compiler.cache = runtime::processCache(problem);
  if (problem)
    warnOfCache(*problem);
}

/// Not a diagnostic of the program: -Werror has nothing to say about it.
void Session::warnOfCache(const runtime::Error &problem) {
  llvm::errs() << "warning: " << problem.message << "; compiled code is not kept\n";
  if (!problem.hint.empty())
    llvm::errs() << "  hint: " << problem.hint << "\n";
}

//===-- Messages ----------------------------------------------------------===//

void Session::print() {
  if (isPrinted)
    return;
  isPrinted = true;
  llvm::errs() << diags.print(wantsColour(options.colour));
  if (compiler.cacheProblem)
    warnOfCache(*compiler.cacheProblem);
  if (!options.timing)
    return;
  llvm::errs() << "time by stage:\n";
  size_t width = 14;
  for (const auto &[stage, seconds] : compiler.times)
    width = std::max(width, stage.size());
  for (const auto &[stage, seconds] : compiler.times)
    llvm::errs() << "  " << padRight(stage, width) << " " << padLeft(timeText(seconds), 12) << "\n";
}

int Session::fail(Failure failure) {
  if (failure.kind == Failure::Kind::Internal) {
    print();
    CrashReport::fail(failure.message);
  }
  if (!failure.message.empty()) {
    dsl::Diagnostic &error = diags.error(nullptr, {}, failure.message);
    if (!failure.hint.empty())
      error.hints.push_back(failure.hint);
    for (std::string &note : failure.notes)
      error.notes.push_back(
          {dsl::Diagnostic::Severity::Note, nullptr, {}, std::move(note), {}, {}, {}});
  }
  print();
  return exitCodeOf(failure.kind);
}

int Session::finish() {
  print();
  return diags.errorCount() ? invalid : success;
}
