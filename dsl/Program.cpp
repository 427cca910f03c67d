//===- Program.cpp - loaded files, imports and names ----------------------===//

#include "dsl/Program.h"

#include "dsl/Names.h"
#include "dsl/Parser.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace tile::dsl;
namespace fs = std::filesystem;

std::optional<std::string> tile::dsl::readText(const std::string &path, std::string &error) {
  std::error_code code;
  if (fs::is_directory(path, code)) {
    error = "is a directory";
    return std::nullopt;
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    error = std::strerror(errno);
    return std::nullopt;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) {
    error = "can't be read";
    return std::nullopt;
  }
  return std::move(text).str();
}

std::vector<std::string> Program::fileNames() const {
  std::vector<std::string> names;
  for (const auto &file : files)
    names.push_back(file->source.name());
  return names;
}

LoadedFile *Program::load(std::string name, std::string text) {
  LoadedFile &file =
      *files.emplace_back(std::make_unique<LoadedFile>(std::move(name), std::move(text)));
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

void Program::import(LoadedFile &into, const Decl &decl) {
  std::string name = decl.name.text, error;
  std::optional<std::string> text;
  if (decl.isPath) {
    std::vector<std::string> directories = {fs::path(into.source.name()).parent_path().string()};
    directories.insert(directories.end(), includePath.begin(), includePath.end());
    std::string path;
    for (const std::string &directory : directories) {
      path = fs::path(directory) / name;
      text = readText(path, error);
      if (text)
        break;
    }
    if (!text) {
      Diagnostic &report =
          diags.error(&into.source, decl.name.range, "can't import \"" + name + "\": " + error);
      report.hints.push_back("it is looked for beside this file and in the -I directories");
      return;
    }
    name = fs::path(path).lexically_normal().string();
  } else {
    std::string library = name.starts_with("std.") ? name.substr(4) : name;
    const std::string *found = name.starts_with("std.") ? standardModule(library) : nullptr;
    if (!found) {
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
    text = *found;
  }
  for (auto &file : files)
    if (file->source.name() == name) {
      into.imports.push_back(file.get()); // loaded before, or being loaded: a cycle is fine
      return;
    }
  into.imports.push_back(load(name, std::move(*text)));
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
