//===- Program.h - loaded files, imports and names ------------------------===//
//
// A Program owns the source files of one compilation and their syntax trees.
// `import std.nn` brings in the standard library's `nn`, `import "mine.tile"` a
// file beside the importing one or on the include path. Whoever wrote a source
// is not asked to be trusted: what it imports are regular files below the folder
// of the first file and those of the include path, wherever links lead, of a
// bounded size, number and depth. A name means the
// declaration of the file it stands in, else the one imported; two imports
// that both have it make it ambiguous.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_DSL_PROGRAM_H
#define TILE_DSL_PROGRAM_H

#include "dsl/Source.h"

#include <map>
#include <string>
#include <vector>

namespace tile::dsl {

struct LoadedFile {
  SourceFile source;
  /// One name for all paths to it; that of the source where it is no file.
  std::string place;
  /// How many imports lead to it.
  unsigned depth = 0;
  Module module;
  /// The files it imports, in order.
  std::vector<LoadedFile *> imports;
  std::map<std::string, const Decl *> names;

  LoadedFile(std::string name, std::string text) : source(std::move(name), std::move(text)) {}
};

/// A declaration and the file it stands in.
struct DeclRef {
  const Decl *decl = nullptr;
  LoadedFile *file = nullptr;
  explicit operator bool() const { return decl; }
};

class Program {
public:
  Program(DiagnosticEngine &diags, std::vector<std::string> includePath,
          bool importsFromAnywhere = false)
      : diags(diags), includePath(std::move(includePath)),
        importsFromAnywhere(importsFromAnywhere) {}

  /// Parses a text and all it imports. Errors go to the engine; what parsed is there.
  LoadedFile *load(std::string name, std::string text);

  /// Keeps a text that is not of this language, for diagnostics that stand in it.
  LoadedFile &keep(std::string name, std::string text);

  /// The declaration a name means in a file; reports an ambiguous one at `use`.
  DeclRef lookup(LoadedFile &from, std::string_view name, Range use, DiagnosticEngine &diags) const;
  /// All names a file sees, for suggestions.
  std::vector<std::string> visibleNames(const LoadedFile &from) const;
  /// The file a diagnostic's location names; null for an unknown one.
  const SourceFile *file(std::string_view name) const;
  /// The names of all files loaded, imported ones among them.
  std::vector<std::string> fileNames() const;
  /// The first file loaded.
  LoadedFile *root() const { return files.empty() ? nullptr : files.front().get(); }

private:
  /// A file that an import means.
  struct Imported {
    std::string name, place, text;
  };
  LoadedFile *load(std::string name, std::string place, std::string text, unsigned depth);
  void import(LoadedFile &into, const Decl &decl);
  LoadedFile *loaded(const std::string &place) const;
  std::optional<Imported> findFile(const LoadedFile &into, const Decl &decl);
  bool mayImport(const std::string &place) const;

  DiagnosticEngine &diags;
  std::vector<std::string> includePath;
  bool importsFromAnywhere;
  std::vector<std::unique_ptr<LoadedFile>> files;
  /// Of all files together.
  uint64_t bytes = 0;
};

/// The text of a standard library module (`nn`); null for an unknown one.
const std::string *standardModule(const std::string &name);
std::vector<std::string> standardModules();

/// A source has this many bytes at most, and one with all that it imports: offsets are 32 bits, and
/// what comes near that is no source.
inline constexpr uint64_t maxSourceBytes = uint64_t(1) << 28;

/// Reads a whole regular file, of at most `maxSourceBytes`. On failure null, with the reason in
/// `error`.
std::optional<std::string> readText(const std::string &path, std::string &error);

} // namespace tile::dsl

#endif // TILE_DSL_PROGRAM_H
