//===- FormatterTest.cpp - the one form of a source -----------------------===//

#include "SyntaxTest.h"

#include "dsl/Unicode.h"

namespace tile::dsl::test {
namespace {

std::string formatted(const std::string &text, unsigned width = 100) {
  const SourceFile file("f.tile", text);
  FormatOptions options;
  options.width = width;
  const std::string out = format(file, options);
  EXPECT_EQ(format(SourceFile("f.tile", out), options), out) << "is not its own form";
  return out;
}

TEST(Formatter, Spaces) {
  EXPECT_EQ(formatted("fn  f ( x,axis  a )=x [ i,: ]*-( a+b )-!c .pad( 0 ) [ j ]"),
            "fn f(x, axis a) = x[i, :]*-(a + b) - !c.pad(0)[j]\n");
  EXPECT_EQ(formatted("fn f()=a+b*c/d%e<<f>>g&h^i|j==k&&l||m"),
            "fn f() = a + b*c/d%e << f >> g & h ^ i | j == k && l || m\n");
  EXPECT_EQ(formatted("fn f() = 2*p+r - 1*q * s*t"), "fn f() = 2*p + r - 1*q * s*t\n");
  EXPECT_EQ(formatted("fn f() = a* b + c *d"), "fn f() = a * b + c * d\n");
  EXPECT_EQ(formatted("fn f() = g(-1,!a,~b,n=- 2)- -3"), "fn f() = g(-1, !a, ~b, n = -2) - -3\n");
  EXPECT_EQ(formatted("fn f() = ((a))+(b)+[1,2,]+(a,b,)"),
            "fn f() = ((a)) + (b) + [1, 2] + (a, b)\n");
  EXPECT_EQ(formatted("kernel k<T:f16|bf16,const G:int=4>(x:T[..S],inout y:f32[ "
                      "])->(z:f32[N]reduce unordered+,w:i32[N]reduce max){}"),
            "kernel k<T: f16 | bf16, const G: int = 4>(x: T[..S], inout y: f32[])\n"
            "        -> (z: f32[N] reduce unordered +, w: i32[N] reduce max) {}\n");
  EXPECT_EQ(formatted("fn f(){m max=x;m  min = y;max=3;x [ ]+=1}"),
            "fn f() {\n    m max= x\n    m min= y\n    max = 3\n    x[] += 1\n}\n");
  EXPECT_EQ(formatted("fn f(){for r in 0 .. n step(-1){};for r in -3..x step -1{}}"),
            "fn f() {\n    for r in 0..n step (-1) {}\n    for r in -3..x step -1 {}\n}\n");
  EXPECT_EQ(formatted("fn f(){for k in tiles ( K )if k<(n)sequential ( 4 ){return(a,b)}}"),
            "fn f() {\n    for k in tiles(K) if k < (n) sequential(4) {\n        return (a, b)\n   "
            " }\n}\n");
  EXPECT_EQ(formatted("import std . nn;import\"a b\""), "import std.nn\nimport \"a b\"\n");
  EXPECT_EQ(formatted("fn f() = 1 .m"), "fn f() = 1 .m\n");
}

TEST(Formatter, Lines) {
  EXPECT_EQ(
      formatted("fn f() {\n\n\n  a = 1; b = 2\n\n\n\n  if a { b = 1 } else if b {\n\n} else\n{ c = "
                "3\n\n}\n\n}\n\n\n\nfn g() = 1\nfn h() = 2\n\n"),
      "fn f() {\n    a = 1\n    b = 2\n\n    if a {\n        b = 1\n    } else if b {} else {\n"
      "        c = 3\n    }\n}\n\nfn g() = 1\nfn h() = 2\n");
  EXPECT_EQ(formatted("kernel k() -> ()\n{\n} schedule{i=1;;j=[1,2];}\n\nschedule cuda { split "
                      "k\npersistent }"),
            "kernel k() -> () {} schedule { i = 1; j = [1, 2] }\n"
            "schedule cuda {\n    split k\n    persistent\n}\n");
  EXPECT_EQ(formatted("\r\n\tfn f() = 1\r\n"), "fn f() = 1\n");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted("\n\n;\n"), "");
}

TEST(Formatter, Comments) {
  EXPECT_EQ(formatted("// top\n\n\n// second\n/// doc\nfn f() { // open\n// own\n\n\na = 1 // one\n"
                      "// before\n} // close\n// end\n\n// last"),
            "// top\n\n// second\n/// doc\nfn f() { // open\n    // own\n\n    a = 1 // one\n"
            "    // before\n} // close\n// end\n\n// last\n");
  // Comments behind code keep their column if they can.
  EXPECT_EQ(formatted("fn f() {\n  a = 1       // x\n  bcd = 22    // y\n}\n"),
            "fn f() {\n    a = 1     // x\n    bcd = 22  // y\n}\n");
  // A list with comments has an element a line.
  EXPECT_EQ(formatted("fn f(a, // first\n  b, c // last\n  ) = g(\n  // alone\n  a, b)"),
            "fn f(\n        a, // first\n        b,\n        c // last\n        ) = g(\n        // "
            "alone\n"
            "        a,\n        b)\n");
  EXPECT_EQ(formatted("fn f() {\n if a { b = 1 } // then\n // otherwise\n else { c = 2 }\n}"),
            "fn f() {\n    if a {\n        b = 1\n    } // then\n    // otherwise\n    else {\n"
            "        c = 2\n    }\n}\n");
  EXPECT_EQ(formatted("fn f() = a + // why\n  b"), "fn f() = a + // why\n        b\n");
  EXPECT_EQ(formatted("fn f() {\n  // nothing\n}"), "fn f() {\n    // nothing\n}\n");
}

TEST(Formatter, LongLines) {
  EXPECT_EQ(
      formatted("fn f() {\nlet value = first(aaaa, bbbb) + second(cccc, dddd) * third(eeee)\n}",
                40),
      "fn f() {\n    let value = first(aaaa, bbbb) +\n            second(cccc, dddd) *\n"
      "            third(eeee)\n}\n");
  EXPECT_EQ(
      formatted("fn f() {\nlet value = first(aaaaaaaa, bbbbbbbb, cccccccc, dddddddd)\n}", 41),
      "fn f() {\n    let value = first(aaaaaaaa, bbbbbbbb,\n            cccccccc, dddddddd)\n}\n");
  EXPECT_EQ(
      formatted("kernel k(a: f32[M, N], b: f32[M, N]) -> (c: f32[M, N]) requires M > 0 {}", 40),
      "kernel k(a: f32[M, N], b: f32[M, N])\n        -> (c: f32[M, N])\n        requires M > 0 "
      "{}\n");
  EXPECT_EQ(formatted("kernel k(a: f32[M, N], b: f32[M, N]) -> (c: f32[M, N]) {} schedule { iiiii "
                      "= 64; jjjjj = 64 }",
                      72),
            "kernel k(a: f32[M, N], b: f32[M, N]) -> (c: f32[M, N]) {} schedule {\n    iiiii = 64\n"
            "    jjjjj = 64\n}\n");
  EXPECT_EQ(formatted("map long_name(x: f32) -> f32 = aaaaaaaaaa(x) * bbbbbbbbbb(x)", 40),
            "map long_name(x: f32) -> f32 =\n        aaaaaaaaaa(x) * bbbbbbbbbb(x)\n");
  // Breaks that the author made between clauses stay, others go.
  EXPECT_EQ(formatted("kernel k(a: f32[M],\n  b: f32[M])\n  -> (c: f32[P])\n  dim P = M +\n 1\n  "
                      "requires M > 0\n{}"),
            "kernel k(a: f32[M], b: f32[M])\n        -> (c: f32[P])\n        dim P = M + 1\n"
            "        requires M > 0 {}\n");
}

TEST(Formatter, BrokenTokensStay) {
  const std::string text = "fn  f() = \"abc\n";
  EXPECT_EQ(format(SourceFile("f", text)), text);
}

TEST(Formatter, SourcesOfTheRepository) {
  for (const std::string &text : validSources())
    expectFormats(text);
}

TEST(Formatter, OddGolden) {
  const SourceFile file("odd.tile", readFile(sourceRoot() / "tests/dsl/inputs/odd.tile"));
  expectGolden(format(file), "odd.formatted");
}

/// A program of random form with comments and line breaks wherever the language allows them.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string make() {
    for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i)
      declaration();
    return text;
  }

private:
  bool chance(unsigned in) { return random() % in == 0; }
  std::string name() {
    static const char *names[] = {"a", "bc", "tiles", "step", "max", "reduce", "a_rather_long_name",
                                  "i"};
    return names[random() % std::size(names)];
  }
  /// A word; `breaks` says that the line may end before it.
  void put(const std::string &word, bool breaks = false) {
    static const char *gaps[] = {"\n", "\n\n", " // c\n", "\n// own\n", "\n\n/// d\n  "};
    const bool free = breaks || brackets > 0 || inHead;
    if (free && chance(12))
      text += gaps[random() % std::size(gaps)];
    else
      text += std::string(1 + random() % 2, ' ');
    text += word;
  }
  void end() {
    static const char *ends[] = {"\n", "\n\n\n", ";", " // end\n", "\n// own\n", ";;\n"};
    text += ends[random() % std::size(ends)];
  }
  void open(const char *bracket) {
    put(bracket);
    ++brackets;
  }
  void close(const char *bracket) {
    put(bracket);
    --brackets;
  }
  template <typename F>
  void list(const char *opener, const char *closer, unsigned most, F element) {
    open(opener);
    for (unsigned i = 0, count = random() % (most + 1); i < count; ++i) {
      element();
      if (i + 1 < count || chance(4))
        put(",");
    }
    close(closer);
  }

  void expr(unsigned depth, bool breaks = false) {
    static const char *ops[] = {"+", "-", "*", "/", "%", "<<", ">>", "&", "^", "|", "&&", "||"};
    if (chance(6))
      put(chance(2) ? "-" : chance(2) ? "!" : "~", breaks), breaks = false;
    operand(depth, breaks);
    for (unsigned i = 0; i < 3 && depth > 0 && chance(2); ++i) {
      put(ops[random() % std::size(ops)]);
      operand(depth - 1, true);
    }
  }
  void operand(unsigned depth, bool breaks) {
    static const char *leaves[] = {"1", "2.5", "true", "\"s é\"", "0x1F"};
    if (depth > 0 && chance(5)) {
      put("(", breaks);
      ++brackets;
      expr(depth - 1);
      if (chance(3))
        put(chance(2) ? "<" : "=="), expr(depth - 1, true);
      close(")");
    } else if (chance(4)) {
      put(leaves[random() % std::size(leaves)], breaks);
      return;
    } else {
      put(name(), breaks);
      if (depth > 0 && chance(3))
        list("(", ")", 3, [&] {
          if (chance(4))
            put(name()), put("=");
          expr(depth - 1);
        });
    }
    if (depth > 0 && chance(4))
      list("[", "]", 3, [&] { chance(3) ? put(":") : expr(depth - 1); });
    if (chance(8))
      put("."), put(name());
  }

  void block(unsigned depth) {
    put("{", true);
    const bool headBefore = inHead;
    const unsigned bracketsBefore = brackets;
    inHead = false;
    brackets = 0;
    if (chance(3))
      end();
    for (unsigned i = 0, count = random() % 4; i < count; ++i) {
      statement(depth);
      end();
    }
    put("}");
    inHead = headBefore;
    brackets = bracketsBefore;
  }
  void statement(unsigned depth) {
    static const char *assigns[] = {"=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "max=", "min ="};
    switch (depth == 0 ? random() % 3 : random() % 8) {
    case 0:
      put("let");
      if (chance(3))
        put("("), put("p"), put(","), put("q"), put(")");
      else
        put(name());
      put("=");
      expr(3, true);
      if (chance(4))
        put("if"), expr(2);
      return;
    case 1:
      put(name());
      if (chance(2))
        list("[", "]", 2, [&] { expr(2); });
      put(assigns[random() % std::size(assigns)]);
      expr(3, true);
      return;
    case 2:
      put("print");
      list("(", ")", 4, [&] { expr(2); });
      return;
    case 3:
      put("if");
      expr(2);
      block(depth - 1);
      while (chance(3)) {
        put("else", true);
        put("if");
        expr(2);
        block(depth - 1);
      }
      if (chance(2))
        put("else", true), block(depth - 1);
      return;
    case 4:
      put("while");
      expr(2);
      block(depth - 1);
      return;
    case 5:
      put("for");
      put(name());
      put("in");
      if (chance(2)) {
        put("tiles");
        open("(");
        expr(1);
        if (chance(2))
          put(".."), expr(1);
        close(")");
      } else {
        put("2"); // a call of `tiles` here would be a domain
        put("+");
        expr(1, true);
        put("..");
        expr(1, true);
        if (chance(3))
          put("step"), expr(1);
      }
      if (chance(3))
        put("if"), expr(1);
      if (chance(3)) {
        put("reassociable");
        if (chance(2))
          put("merge"), put("f");
      } else if (chance(3)) {
        put("sequential");
        open("(");
        put("4");
        close(")");
      }
      block(depth - 1);
      return;
    default:
      put("parallel");
      for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i) {
        put(name(), i > 0);
        put("in");
        put(chance(2) ? "tiles" : "each");
        open("(");
        expr(1);
        close(")");
        if (chance(3))
          put("if"), expr(1);
        if (i + 1 < count)
          put(",");
      }
      block(depth - 1);
    }
  }

  void type() {
    put(chance(2) ? "f32" : "T");
    if (chance(2))
      list("[", "]", 3, [&] { expr(1); });
  }
  void declaration() {
    inHead = true;
    text += chance(2) ? "/// A declaration.\n" : "";
    if (chance(3)) {
      text += "map";
      put(name());
      list("(", ")", 4, [&] { put(name()), put(":"), type(); });
      put("->");
      type();
      put("=");
      inHead = false;
      expr(4, true);
    } else {
      text += "kernel";
      put(name());
      if (chance(2))
        list("<", ">", 3, [&] {
          if (chance(2))
            put("T"), put(":"), put("f16"), put("|"), put("bf16");
          else
            put("const"), put("G"), put(":"), put("int"), put("="), put("2"), put("*"), put("3");
        });
      list("(", ")", 5, [&] {
        if (chance(4))
          put("inout");
        put(name()), put(":"), type();
      });
      put("->");
      list("(", ")", 3, [&] {
        put(name()), put(":"), type();
        if (chance(3))
          put("reduce"), put(chance(2) ? "unordered" : ""), put(chance(2) ? "+" : "max");
      });
      for (unsigned i = 0, count = random() % 3; i < count; ++i) {
        if (chance(2))
          put("requires"), expr(2);
        else
          put("dim"), put("P"), put("="), expr(2);
        if (chance(4))
          put(","), put("requires"), expr(1);
      }
      block(3);
      inHead = false;
      for (unsigned i = 0, count = random() % 3; i < count; ++i)
        schedule();
    }
    text += chance(2) ? "\n" : " // behind\n\n";
  }
  void schedule() {
    put("schedule", true);
    if (chance(3))
      put("cuda");
    put("{");
    for (unsigned j = 0, entries = random() % 4; j < entries; ++j) {
      put("key");
      if (chance(3))
        put("k");
      if (chance(2))
        put("="), list("[", "]", 4, [&] { expr(1); });
      chance(2) ? end() : static_cast<void>(text += ";");
    }
    put("}");
  }

  std::mt19937 random;
  std::string text;
  unsigned brackets = 0;
  bool inHead = false;
};

TEST(Formatter, RandomPrograms) {
  for (unsigned seed = 0; seed < 1500 && !testing::Test::HasFatalFailure(); ++seed)
    expectFormats(RandomProgram(seed).make());
}

/// Lines are no longer than asked for, unless one word or a comment is.
TEST(Formatter, RandomProgramsFit) {
  for (unsigned seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    std::istringstream lines(formatted(RandomProgram(seed).make(), 100));
    for (std::string line; std::getline(lines, line);) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_LE(displayColumns(code), 101u) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    }
  }
}

} // namespace
} // namespace tile::dsl::test
