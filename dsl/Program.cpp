//===- Program.cpp - loaded files, imports and names ----------------------===//

#include "dsl/Program.h"

#include "dsl/Names.h"
#include "dsl/Parser.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace tile::dsl;
namespace fs = std::filesystem;

namespace {
/// A file that is open for reading.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
};
} // namespace

std::optional<std::string> tile::dsl::readText(const std::string &path, std::string &error) {
  auto fail = [&](const char *reason) {
    error = reason;
    return std::nullopt;
  };
  if (path.find('\0') != std::string::npos)
    return fail("its name holds a zero byte");
  // Not blocking, so that opening a pipe without a writer returns.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status;
  if (file.number < 0 || ::fstat(file.number, &status) != 0)
    return fail(std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    return fail("is a directory");
  if (!S_ISREG(status.st_mode))
    return fail("is a pipe or a device, not a regular file");
  // Files of the system say that they are empty, and are not: the end is where reading ends.
  std::string text;
  for (std::vector<char> chunk(1 << 16);;) {
    ssize_t count = ::read(file.number, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(std::strerror(errno));
    if (count == 0)
      return text;
    text.append(chunk.data(), static_cast<size_t>(count));
    if (text.size() > maxSourceBytes)
      return fail("is larger than 256 MiB");
  }
}

/// One name for all paths to a file, whether it exists or not.
static std::string placeOf(const fs::path &path) {
  std::error_code problem;
  fs::path absolute = fs::absolute(path, problem);
  fs::path result = problem ? path : fs::weakly_canonical(absolute, problem);
  return problem ? path.lexically_normal().string() : result.string();
}

std::vector<std::string> Program::fileNames() const {
  std::vector<std::string> names;
  for (const auto &file : files)
    names.push_back(file->source.name());
  return names;
}

LoadedFile *Program::load(std::string name, std::string text) {
  std::string place = placeOf(name);
  return load(std::move(name), std::move(place), std::move(text), 0);
}

LoadedFile &Program::keep(std::string name, std::string text) {
  LoadedFile &file =
      *files.emplace_back(std::make_unique<LoadedFile>(std::move(name), std::move(text)));
  file.place = placeOf(file.source.name());
  return file;
}

LoadedFile *Program::load(std::string name, std::string place, std::string text, unsigned depth) {
  bytes += text.size();
  LoadedFile &file =
      *files.emplace_back(std::make_unique<LoadedFile>(std::move(name), std::move(text)));
  file.place = std::move(place);
  file.depth = depth;
  file.module = parse(file.source, diags);
  for (const Decl &decl : file.module.decls) {
    if (decl.kind == Decl::Kind::Import) {
      import(file, decl);
      continue;
    }
    if (std::optional<std::string> role = roleInLanguage(decl.name.text))
      diags
          .error(&file.source, decl.name.range,
                 "`" + decl.name.text + "` is " + *role + " of the language")
          .hints.push_back("give this one another name");
    auto [position, isNew] = file.names.try_emplace(decl.name.text, &decl);
    if (isNew)
      continue;
    Diagnostic &error =
        diags.error(&file.source, decl.name.range, "`" + decl.name.text + "` is declared twice");
    Diagnostic note;
    note.severity = Diagnostic::Severity::Note;
    note.file = &file.source;
    note.range = position->second->name.range;
    note.message = "the first one is here";
    error.notes.push_back(std::move(note));
  }
  return &file;
}

/// Whether a file lies below one of the folders that imports may come from.
bool Program::mayImport(const std::string &place) const {
  if (importsFromAnywhere)
    return true;
  auto isBelow = [&](const fs::path &folder) {
    fs::path inside = fs::path(place).lexically_relative(placeOf(folder.empty() ? "." : folder));
    return !inside.empty() && *inside.begin() != "..";
  };
  return isBelow(fs::path(root()->source.name()).parent_path()) ||
         std::any_of(includePath.begin(), includePath.end(), isBelow);
}

LoadedFile *Program::loaded(const std::string &place) const {
  for (const auto &file : files)
    if (file->place == place)
      return file.get();
  return nullptr;
}

/// The path of an import as the source has it: in quotes, with its escapes.
static std::string writtenPath(const LoadedFile &file, const Decl &decl) {
  Range range = decl.name.range;
  return std::string(file.source.text().substr(range.begin, range.end - range.begin));
}

std::optional<Program::Imported> Program::findFile(const LoadedFile &into, const Decl &decl) {
  const std::string &name = decl.name.text;
  std::vector<std::string> folders = {fs::path(into.source.name()).parent_path().string()};
  folders.insert(folders.end(), includePath.begin(), includePath.end());
  std::string reason, outside;
  for (const std::string &folder : folders) {
    fs::path path = fs::path(folder) / name;
    std::string place = placeOf(path);
    // What lies elsewhere is not even looked at.
    if (!mayImport(place)) {
      outside = "it lies outside of this source's folder and those of -I";
      continue;
    }
    Imported found{path.lexically_normal().string(), place, ""};
    if (loaded(place))
      return found;
    std::optional<std::string> text = readText(place, reason);
    if (!text)
      continue;
    found.text = *std::move(text);
    return found;
  }
  Diagnostic &report = diags.error(&into.source, decl.name.range,
                                   "can't import " + writtenPath(into, decl) + ": " +
                                       (outside.empty() ? reason : outside));
  report.hints.push_back(outside.empty()
                             ? "it is looked for beside this file and in the -I directories"
                             : "-I DIR lets its folder in, --allow-imports-outside any");
  return std::nullopt;
}

void Program::import(LoadedFile &into, const Decl &decl) {
  constexpr unsigned deepest = 200; // each takes some of the stack
  std::optional<Imported> found;
  if (decl.isPath) {
    found = findFile(into, decl);
    if (!found)
      return;
  } else {
    const std::string &name = decl.name.text;
    std::string library = name.starts_with("std.") ? name.substr(4) : name;
    const std::string *text = name.starts_with("std.") ? standardModule(library) : nullptr;
    if (!text) {
      Diagnostic &report =
          diags.error(&into.source, decl.name.range, "there is no module `" + name + "`");
      std::vector<std::string> known;
      for (const std::string &module : standardModules())
        known.push_back("std." + module);
      if (std::optional<std::string> near = nearestName(name, known))
        report.hints.push_back("did you mean `" + *near + "`?");
      else
        report.hints.push_back("a file is imported by its path: import \"" + name + ".tile\"");
      return;
    }
    found = Imported{name, name, *text};
  }
  if (LoadedFile *known = loaded(found->place)) {
    into.imports.push_back(known); // loaded before, or being loaded: a cycle is fine
    return;
  }
  auto refuse = [&](const std::string &reason) {
    diags.error(&into.source, decl.name.range,
                "can't import " + writtenPath(into, decl) + ": " + reason);
  };
  if (into.depth >= deepest)
    return refuse("imports lead more than " + std::to_string(deepest) + " files deep");
  if (found->text.size() > maxSourceBytes - std::min(bytes, maxSourceBytes))
    return refuse("a source and what it imports have more than 256 MiB");
  into.imports.push_back(load(std::move(found->name), std::move(found->place),
                              std::move(found->text), into.depth + 1));
}

DeclRef Program::lookup(LoadedFile &from, std::string_view name, Range use,
                        DiagnosticEngine &diags) const {
  if (auto found = from.names.find(std::string(name)); found != from.names.end())
    return {found->second, &from};
  DeclRef result;
  for (LoadedFile *imported : from.imports) {
    auto found = imported->names.find(std::string(name));
    if (found == imported->names.end() || found->second == result.decl)
      continue;
    if (result) {
      Diagnostic &error =
          diags.error(&from.source, use, "`" + std::string(name) + "` is in two imports");
      error.hints.push_back("it is in " + result.file->source.name() + " and in " +
                            imported->source.name());
      return result;
    }
    result = {found->second, imported};
  }
  return result;
}

std::vector<std::string> Program::visibleNames(const LoadedFile &from) const {
  std::vector<std::string> names;
  auto add = [&](const LoadedFile &file) {
    for (const auto &[name, decl] : file.names)
      names.push_back(name);
  };
  add(from);
  for (const LoadedFile *imported : from.imports)
    add(*imported);
  return names;
}

const SourceFile *Program::file(std::string_view name) const {
  for (const auto &file : files)
    if (file->source.name() == name)
      return &file->source;
  return nullptr;
}
