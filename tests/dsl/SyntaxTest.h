//===- SyntaxTest.h - what the tests of the syntax share ------------------===//
#ifndef TILE_TESTS_DSL_SYNTAXTEST_H
#define TILE_TESTS_DSL_SYNTAXTEST_H

#include "dsl/AstPrinter.h"
#include "dsl/Formatter.h"
#include "dsl/Lexer.h"
#include "dsl/Parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace tile::dsl::test {

/// A text, parsed.
struct Parsed {
  explicit Parsed(std::string text, unsigned errorLimit = 20, std::string name = "test.tile")
      : file(std::move(name), std::move(text)), diags(errorLimit), module(parse(file, diags)) {}

  std::string errors() const { return diags.print(false); }
  std::string ast() const { return printAst(module); }

  SourceFile file;
  DiagnosticEngine diags;
  Module module;
};

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::filesystem::path sourceRoot() { return TILE_SOURCE_DIR; }

/// All `.tile` files under a folder of the repository, in a fixed order.
inline std::vector<std::filesystem::path> tileFiles(const char *folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(sourceRoot() / folder))
    if (entry.path().extension() == ".tile")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The valid sources of the repository: samples, the standard library and this folder's inputs.
inline std::vector<std::string> validSources() {
  std::vector<std::string> sources;
  for (const char *folder : {"samples", "dsl/std", "tests/dsl/inputs"})
    for (const auto &path : tileFiles(folder))
      sources.push_back(readFile(path));
  return sources;
}

/// Compares with a file beside the tests; writes it where TILE_UPDATE_GOLDENS is set.
inline void expectGolden(const std::string &actual, const std::string &name) {
  const std::filesystem::path path = sourceRoot() / "tests/dsl/goldens" / name;
  if (std::getenv("TILE_UPDATE_GOLDENS")) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(actual, readFile(path))
      << "differs from " << path << "; TILE_UPDATE_GOLDENS=1 writes it anew";
}

/// What must hold of the formatted form of a source without errors.
inline void expectFormats(const std::string &text) {
  const Parsed before(text);
  ASSERT_EQ(before.diags.errorCount(), 0u) << before.errors() << "\nof\n" << text;
  const std::string formatted = format(before.file);
  const Parsed after(formatted);
  ASSERT_EQ(after.diags.errorCount(), 0u) << after.errors() << "\nof\n"
                                          << text << "\nformatted as\n"
                                          << formatted;
  ASSERT_EQ(before.ast(), after.ast()) << "of\n" << text << "\nformatted as\n" << formatted;
  ASSERT_EQ(format(after.file), formatted) << "of\n" << text;
  const auto comments = [](const SourceFile &file) {
    DiagnosticEngine ignored;
    std::string texts;
    for (const Comment &comment : lex(file, ignored).comments) {
      texts += file.text().substr(comment.range.begin, comment.range.end - comment.range.begin);
      texts += '\n';
    }
    return texts;
  };
  ASSERT_EQ(comments(before.file), comments(after.file)) << "of\n" << text;
}

} // namespace tile::dsl::test

#endif // TILE_TESTS_DSL_SYNTAXTEST_H
