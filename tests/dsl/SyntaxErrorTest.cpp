//===- SyntaxErrorTest.cpp - what broken sources are told -----------------===//

#include "SyntaxTest.h"

namespace tile::dsl::test {
namespace {

/// Every `goldens/*.tile` prints what stands beside it.
TEST(SyntaxErrors, Goldens) {
  unsigned count = 0;
  for (const auto &path : tileFiles("tests/dsl/goldens")) {
    const Parsed parsed(readFile(path), 0, path.filename().string());
    EXPECT_GT(parsed.diags.errorCount(), 0u) << path;
    expectGolden(parsed.errors(), path.stem().string() + ".errors");
    ++count;
  }
  EXPECT_GE(count, 5u);
}

/// The message and place of the first error in statements.
void expectStatementError(const std::string &statements, const std::string &message,
                          const std::string &place) {
  const Parsed parsed("fn f() {\n" + statements + "\n}\n");
  ASSERT_EQ(parsed.diags.errorCount(), 1u) << statements << "\n" << parsed.errors();
  const Diagnostic &error = parsed.diags.diagnostics().front();
  EXPECT_EQ(error.message, message) << statements;
  const auto at = parsed.file.position(error.range.begin);
  EXPECT_EQ(std::to_string(at.line - 1) + ":" + std::to_string(at.column), place) << statements;
}

TEST(SyntaxErrors, Messages) {
  expectStatementError("let x = ", "expected an expression after `=`, found `}`", "2:1");
  expectStatementError("let x", "expected `=`, found the end of the line", "1:6");
  expectStatementError("let x\n= 3", "expected `=`, found the end of the line", "1:6");
  expectStatementError("let 3 = x", "expected a name or `(`, found `3`", "1:5");
  expectStatementError("let for = 3", "expected a name, but `for` is a keyword", "1:5");
  expectStatementError("let (a, in) = 3", "expected a name, but `in` is a keyword", "1:9");
  expectStatementError("let x: f32 = 3", "expected `=`, found `:`", "1:6");
  expectStatementError("x = (a + b\ny = 2", "expected `)` to close this `(`", "1:11");
  expectStatementError("x = f(a b)", "expected `,` or `)`, found `b`", "1:9");
  expectStatementError("x = (a b)", "expected `,` or `)`, found `b`", "1:8");
  expectStatementError("x = a[i\ny = 2", "expected `]` to close this `[`", "1:8");
  expectStatementError("x = f(a,\ny = 2", "expected `)` to close this `(`", "2:6");
  expectStatementError("x = a)", "`)` without its partner", "1:6");
  expectStatementError("x = ()", "expected an expression between `(` and `)`", "1:5");
  expectStatementError("x = a < b < c", "comparisons do not chain", "1:11");
  expectStatementError("x = a == b != c", "comparisons do not chain", "1:12");
  expectStatementError("x = a\n  + b", "expected a statement, found `+`", "2:3");
  expectStatementError("x = a\n  -b", "expected an assignment or a call", "2:3");
  expectStatementError("x", "expected an assignment or a call", "1:1");
  expectStatementError("a + b = c", "cannot assign to this", "1:1");
  expectStatementError("f(x)[i] = c", "cannot assign to this", "1:1");
  expectStatementError("x = 3 4", "expected the end of the statement, found `4`", "1:7");
  expectStatementError("x = .5", "expected an expression after `=`, found `.`", "1:5");
  expectStatementError("x = a.5", "expected a name, found `5`", "1:7");
  expectStatementError("x = a.", "expected a name, found the end of the line", "1:7");
  expectStatementError("x = a(b)(c)", "only a name can be called", "1:5");
  expectStatementError("x = a + * b", "expected an expression after `+`, found `*`", "1:9");
  expectStatementError("paralell i in tiles(M) { y = 1 }", "unknown statement `paralell`", "1:1");
  expectStatementError("whlie (a) { }", "unknown statement `whlie`", "1:1");
  expectStatementError("retrun x", "unknown statement `retrun`", "1:1");
  expectStatementError("if a { } esle { }", "unknown word `esle`", "1:10");
  expectStatementError("for k in tile(K) { }", "expected `..`, found `{`", "1:18");
  expectStatementError("for k tiles(K) { }", "expected `in`, found `tiles`", "1:7");
  expectStatementError("parallel i in 0..3 { }", "expected `tiles(…)` or `each(…)`, found `0`",
                       "1:15");
  expectStatementError("grid i in { }", "expected a range `lo..hi`, found `{`", "1:11");
  expectStatementError("for i in tiles() { }", "expected an expression, found `)`", "1:16");
  expectStatementError("while a", "expected `{`, found the end of the line", "1:8");
  expectStatementError("else { }", "expected a statement, found `else`", "1:1");
  expectStatementError("@", "unexpected character `@`", "1:1");
  expectStatementError("let x = 1.", "expected a digit after the decimal point", "1:9");
}

TEST(SyntaxErrors, HintsAndNotes) {
  const auto hint = [](const std::string &statements) {
    const Parsed parsed("fn f() {\n" + statements + "\n}\n");
    const auto &hints = parsed.diags.diagnostics().front().hints;
    return hints.empty() ? "" : hints.front();
  };
  EXPECT_EQ(hint("x = a < b + 1 < c"), "write `a < b + 1 && b + 1 < c`");
  EXPECT_EQ(hint("x = (a\n) < b < c"), "write `a < b && b < c`");
  EXPECT_EQ(hint("x = (a < b) < (c < d) < e"), "write `(a < b) < (c < d) && (c < d) < e`");
  const std::string continues = "outside brackets a line goes on only after an operator: end the "
                                "line above with it";
  for (const char *rest : {"+ b", "* b", "&& b", ".m", "- b", "(b)", "[b]", "== b"})
    EXPECT_EQ(hint(std::string("x = a\n") + rest), continues) << rest;
  EXPECT_EQ(hint("x = .5"), "a number begins with a digit: `0.5`");
  const Parsed unclosed("fn f() {\n  x = (a\n}\n");
  const Diagnostic &error = unclosed.diags.diagnostics().front();
  ASSERT_EQ(error.notes.size(), 1u);
  EXPECT_EQ(error.notes.front().message, "`(` is here");
  EXPECT_EQ(error.notes.front().range.begin, 15u);
  const Parsed misspelt("kernal k() -> () { }");
  EXPECT_EQ(misspelt.diags.diagnostics().front().fixIts.front().replacement, "kernel");
}

/// Each broken statement is told once, and what stands between and after is read.
TEST(SyntaxErrors, Recovery) {
  const std::vector<std::string> broken = {"let = 3",
                                           "x = (1",
                                           "x = 1 2",
                                           "let x = a b { y = 1 }",
                                           "f(a b)",
                                           "for { x = }",
                                           "if a b { } else { }",
                                           "let if = 3",
                                           "x = @",
                                           "2 3",
                                           "x = ]",
                                           "x = [1, , 2]",
                                           "while { }",

                                           "in"};
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    std::string text = "fn before() = 1\nfn f() {\n";
    unsigned errors = 0;
    const unsigned count = 1 + random() % 6;
    for (unsigned i = 0; i < count; ++i) {
      if (random() % 2) {
        text += "let ok = 1\nif ok { g(ok) }\n";
      } else {
        text += broken[random() % broken.size()] + "\n";
        ++errors;
      }
    }
    text += "}\nfn after() = 2\n";
    const Parsed parsed(text, 0);
    ASSERT_EQ(parsed.diags.errorCount(), errors) << text << parsed.errors();
    ASSERT_EQ(parsed.module.decls.size(), errors ? 2u : 3u) << text;
    EXPECT_EQ(parsed.module.decls.back().name.text, "after");
  }
}

/// A broken declaration does not take the next ones with it, whatever it lacks.
TEST(SyntaxErrors, DeclarationsAfterBroken) {
  for (const char *broken :
       {"kernel k(", "kernel k(x: f32[M) -> (y: f32[M]) { }", "kernel { }", "map m(x) -> T = x",
        "fn f() {\n  if a {\n  x = 1\n", "fn f() }", "} }", "kernal k() -> () { x = 1 }", "x = 3",
        "kernel k() -> () { x = (1 }", "graph g() -> () requires { }", "import", "import 3",
        "kernel k() -> () { } schedule { i = }", "map m() -> T", "fn f(x", "let x = 3", "\"abc",
        "1."}) {
    const std::string text =
        std::string(broken) + "\n\nkernel last(x: f32[M]) -> (y: f32[M]) { }\n";
    const Parsed parsed(text);
    EXPECT_GT(parsed.diags.errorCount(), 0u) << text;
    EXPECT_LE(parsed.diags.errorCount(), 2u) << text << parsed.errors();
    ASSERT_EQ(parsed.module.decls.size(), 1u) << text << parsed.errors();
    EXPECT_EQ(parsed.module.decls.front().name.text, "last");
  }
}

TEST(SyntaxErrors, LimitStops) {
  std::string text = "fn f() {\n";
  for (int i = 0; i < 1000; ++i)
    text += "let = 1\n";
  text += "}\n";
  const Parsed few(text, 3);
  EXPECT_EQ(few.diags.errorCount(), 3u);
  EXPECT_NE(few.errors().find("too many errors; stopped after 3"), std::string::npos);
  const Parsed all(text, 0);
  EXPECT_EQ(all.diags.errorCount(), 1000u);
  EXPECT_EQ(all.errors().find("too many"), std::string::npos);
  const Parsed exact("fn f() {\nlet = 1\nlet = 2\nlet = 3\n}\n", 3);
  EXPECT_EQ(exact.errors().find("too many"), std::string::npos);
}

/// Errors come in order of place, whoever finds them.
TEST(SyntaxErrors, InOrder) {
  const Parsed parsed("fn f() {\nlet = 1\nx = 1.\nlet = 2\nx = \"a\n}\nfn g() = @\n", 0);
  uint32_t last = 0;
  EXPECT_EQ(parsed.diags.errorCount(), 5u) << parsed.errors();
  for (const Diagnostic &diagnostic : parsed.diags.diagnostics()) {
    EXPECT_LE(last, diagnostic.range.begin);
    last = diagnostic.range.begin;
  }
}

} // namespace
} // namespace tile::dsl::test
