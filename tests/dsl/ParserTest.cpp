//===- ParserTest.cpp - every construct, its tree and its places ----------===//

#include "SyntaxTest.h"

namespace tile::dsl::test {
namespace {

std::string astOf(const std::string &text) {
  const Parsed parsed(text);
  EXPECT_EQ(parsed.errors(), "") << text;
  return parsed.ast();
}

/// The tree of an expression.
std::string exprOf(const std::string &text) {
  const Parsed parsed("map f() -> T = " + text);
  EXPECT_EQ(parsed.errors(), "") << text;
  if (parsed.module.decls.size() != 1)
    return "";
  return printAst(*parsed.module.decls.front().bodyExpr);
}

/// The trees of statements, without what holds them.
std::string stmtsOf(const std::string &text) {
  const std::string ast = astOf("fn f() {\n" + text + "\n}");
  std::istringstream lines(ast);
  std::string line, out;
  std::getline(lines, line);
  while (std::getline(lines, line))
    out += line.substr(2) + "\n";
  return out;
}

//===-- Expressions -------------------------------------------------------===//

TEST(Parser, Literals) {
  EXPECT_EQ(exprOf("1_000"), "1_000");
  EXPECT_EQ(exprOf("0x1F"), "0x1F");
  EXPECT_EQ(exprOf("1e-5"), "1e-5");
  EXPECT_EQ(exprOf("true"), "true");
  EXPECT_EQ(exprOf("-inf"), "(neg inf)");
  EXPECT_EQ(exprOf(R"("a\"\n")"), R"("a\"\x0a")");
  const Parsed kinds("map f() -> T = g(1, 1.5, false, nan, \"s\")");
  const auto &args = kinds.module.decls.at(0).bodyExpr->args;
  const std::vector<Expr::Kind> expected = {Expr::Kind::Int, Expr::Kind::Float, Expr::Kind::Bool,
                                            Expr::Kind::Name, Expr::Kind::String};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(args.at(i).value->kind, expected[i]);
}

TEST(Parser, Postfix) {
  EXPECT_EQ(exprOf("f()"), "(call f)");
  EXPECT_EQ(exprOf("scan(f, t, k, init = h + 1)"), "(call scan f t k init=(+ h 1))");
  EXPECT_EQ(exprOf("f(a,\n  b,\n)"), "(call f a b)");
  EXPECT_EQ(exprOf("x[i, :, 2*p + r - 1]"), "(index x i : (- (+ (* 2 p) r) 1))");
  EXPECT_EQ(exprOf("x[]"), "(index x)");
  EXPECT_EQ(exprOf("x.pad(0)[n, :]"), "(index (call (.pad x) 0) n :)");
  EXPECT_EQ(exprOf("x.clamp[i]"), "(index (.clamp x) i)");
  EXPECT_EQ(exprOf("w[ids[b, i], j]"), "(index w (index ids b i) j)");
  EXPECT_EQ(exprOf("-x[i]"), "(neg (index x i))");
  EXPECT_EQ(exprOf("(a, b + 1)"), "(tuple a (+ b 1))");
  EXPECT_EQ(exprOf("[64, [1], []]"), "(list 64 (list 1) (list))");
  EXPECT_EQ(exprOf("((a))"), "a");
  // What is special in one place is a name everywhere else.
  EXPECT_EQ(exprOf("tiles + each * max(step, min, reduce) - axis[dim, merge]"),
            "(- (+ tiles (* each (call max step min reduce))) (index axis dim merge))");
}

/// Binary operators as LANGUAGE.md ranks them, tightest first; written apart from the parser's.
const std::vector<std::vector<std::string>> ranks = {{"*", "/", "%"},
                                                     {"+", "-"},
                                                     {"<<", ">>"},
                                                     {"&"},
                                                     {"^"},
                                                     {"|"},
                                                     {"==", "!=", "<", "<=", ">", ">="},
                                                     {"&&"},
                                                     {"||"}};
constexpr size_t comparisons = 6;

TEST(Parser, EveryPairOfOperators) {
  for (size_t i = 0; i < ranks.size(); ++i)
    for (size_t j = 0; j < ranks.size(); ++j)
      for (const std::string &p : ranks[i])
        for (const std::string &q : ranks[j]) {
          if (i == comparisons && j == comparisons)
            continue;
          const std::string text = "a " + p + " b " + q + " c";
          EXPECT_EQ(exprOf(text),
                    i <= j ? "(" + q + " (" + p + " a b) c)" : "(" + p + " a (" + q + " b c))")
              << text;
          EXPECT_EQ(exprOf("-a " + p + " !b"), "(" + p + " (neg a) (! b))");
        }
}

/// Random trees: written with the fewest parentheses and with many, both read as the tree.
class RandomExpr {
public:
  explicit RandomExpr(unsigned seed) : random(seed) {}

  struct Text {
    std::string tree, tight, loose;
    size_t rank; // of the outermost operator; 0: an operand
  };

  Text make(unsigned depth) {
    const unsigned pick = depth == 0 ? 0 : random() % 8;
    if (pick <= 1)
      return leaf();
    if (pick == 2) {
      const Text x = make(depth - 1);
      const char *ops[][2] = {{"-", "neg"}, {"!", "!"}, {"~", "~"}};
      const auto &op = ops[random() % 3];
      const bool parens = x.rank > 0;
      return {"(" + std::string(op[1]) + " " + x.tree + ")",
              op[0] + (parens ? "(" + x.tight + ")" : x.tight), op[0] + ("(" + x.loose + ")"), 0};
    }
    if (pick == 3) {
      const Text x = make(depth - 1), y = make(depth - 1);
      return {"(index (call f " + x.tree + " n=" + y.tree + ") :)",
              "f(" + x.tight + ", n = " + y.tight + ")[:]",
              "f ( (" + x.loose + ") , n=" + y.loose + "\n) [ :\n, ]", 0};
    }
    const size_t rank = 1 + random() % ranks.size();
    const auto &ops = ranks[rank - 1];
    const std::string op = ops[random() % ops.size()];
    const Text x = make(depth - 1), y = make(depth - 1);
    const bool chains = rank - 1 != comparisons;
    const bool left = x.rank > rank || (!chains && x.rank == rank), right = y.rank >= rank;
    return {"(" + op + " " + x.tree + " " + y.tree + ")",
            (left ? "(" + x.tight + ")" : x.tight) + " " + op + " " +
                (right ? "(" + y.tight + ")" : y.tight),
            "(" + x.loose + ")" + op + "\n" + "((" + y.loose + "))", rank};
  }

private:
  Text leaf() {
    static const char *leaves[] = {"a", "b", "0", "1.5", "true", "x_1", "max"};
    const std::string text = leaves[random() % std::size(leaves)];
    return {text, text, text, 0};
  }
  std::mt19937 random;
};

TEST(Parser, RandomExpressions) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const RandomExpr::Text text = RandomExpr(seed).make(2 + seed % 6);
    ASSERT_EQ(exprOf(text.tight), text.tree) << text.tight;
    ASSERT_EQ(exprOf(text.loose), text.tree) << text.loose;
  }
}

//===-- Statements --------------------------------------------------------===//

TEST(Parser, LetAndVar) {
  EXPECT_EQ(stmtsOf("let x = a + 1"), "let x = (+ a 1)\n");
  EXPECT_EQ(stmtsOf("let (y, c) = scan(f, t, k)"), "let y c = (call scan f t k)\n");
  EXPECT_EQ(stmtsOf("let c = range(128) if 128*g + c < K"),
            "let c = (call range 128) if (< (+ (* 128 g) c) K)\n");
  EXPECT_EQ(stmtsOf("var acc = zeros(f32, i)"), "var acc = (call zeros f32 i)\n");
}

TEST(Parser, Assignments) {
  const std::vector<std::pair<std::string, Stmt::AssignOp>> ops = {
      {"=", Stmt::AssignOp::Set},    {"+=", Stmt::AssignOp::Add},   {"-=", Stmt::AssignOp::Sub},
      {"*=", Stmt::AssignOp::Mul},   {"/=", Stmt::AssignOp::Div},   {"max=", Stmt::AssignOp::Max},
      {"min=", Stmt::AssignOp::Min}, {"&=", Stmt::AssignOp::And},   {"|=", Stmt::AssignOp::Or},
      {"^=", Stmt::AssignOp::Xor},   {"max =", Stmt::AssignOp::Max}};
  for (const auto &[spelling, op] : ops) {
    const Parsed parsed("fn f() { x[i, :] " + spelling + " y }");
    ASSERT_EQ(parsed.errors(), "");
    const Stmt &stmt = *parsed.module.decls.at(0).body.at(0);
    EXPECT_EQ(stmt.kind, Stmt::Kind::Assign);
    EXPECT_EQ(stmt.op, op) << spelling;
    const auto range = stmt.opRange;
    EXPECT_EQ(parsed.file.text().substr(range.begin, range.end - range.begin), spelling);
  }
  EXPECT_EQ(stmtsOf("max = 3; max max= 4"), "assign max = 3\nassign max max= 4\n");
}

TEST(Parser, Parallel) {
  EXPECT_EQ(
      stmtsOf("parallel i in tiles(M) if i < n, j in tiles(lo..hi + 1), b in each(B) { x = 1 }"),
      "parallel\n"
      "  binder i tiles hi M if (< i n)\n"
      "  binder j tiles lo lo hi (+ hi 1)\n"
      "  binder b each hi B\n"
      "  assign x = 1\n");
  EXPECT_EQ(stmtsOf("parallel i in tiles(M),\n  j in tiles(N)\n{\n}"),
            "parallel\n  binder i tiles hi M\n  binder j tiles hi N\n");
  EXPECT_EQ(
      stmtsOf("grid p in 0..n, q in -1..m step 2 if q < 3 { }"),
      "grid\n  binder p count lo 0 hi n\n  binder q count lo (neg 1) hi m step 2 if (< q 3)\n");
}

TEST(Parser, For) {
  EXPECT_EQ(stmtsOf("for k in tiles(K) { f() }"), "for\n  binder k tiles hi K\n  do (call f)\n");
  EXPECT_EQ(stmtsOf("for j in tiles(0..len[b]) if !causal || j <= i reassociable { }"),
            "for reassociable\n"
            "  binder j tiles lo 0 hi (index len b) if (|| (! causal) (<= j i))\n");
  EXPECT_EQ(stmtsOf("for j in tiles(L) reassociable merge joined { }"),
            "for reassociable merge joined\n  binder j tiles hi L\n");
  EXPECT_EQ(stmtsOf("for k in tiles(K) sequential(2 * n) { }"),
            "for sequential (* 2 n)\n  binder k tiles hi K\n");
  EXPECT_EQ(stmtsOf("for r in 3..-1 step -2 { }"),
            "for\n  binder r count lo 3 hi (neg 1) step (neg 2)\n");
  EXPECT_EQ(stmtsOf("for r in tiles..n { }"), "for\n  binder r count lo tiles hi n\n");
}

TEST(Parser, Control) {
  EXPECT_EQ(stmtsOf("while a && b < 3 { a = false }"),
            "while (&& a (< b 3))\n  assign a = false\n");
  EXPECT_EQ(stmtsOf("if a { x = 1 } else if b { x = 2 }\nelse\n{ x = 3 }\ny = 4"),
            "if a\n  assign x = 1\nelse\n  if b\n    assign x = 2\n  else\n    assign x = 3\n"
            "assign y = 4\n");
  EXPECT_EQ(stmtsOf("return (a, b)"), "return (tuple a b)\n");
  EXPECT_EQ(stmtsOf("assert(a == b, \"m\"); print(x)"),
            "do (call assert (== a b) \"m\")\ndo (call print x)\n");
  EXPECT_EQ(stmtsOf(";; x = 1;\n; y = 2 ;"), "assign x = 1\nassign y = 2\n");
  EXPECT_EQ(stmtsOf("x =\n  a +\n  b\ny = f(\n a\n + b)"),
            "assign x = (+ a b)\nassign y = (call f (+ a b))\n");
}

//===-- Declarations ------------------------------------------------------===//

TEST(Parser, Imports) {
  EXPECT_EQ(astOf("import std.nn\nimport \"a\\\\b.tile\"; import x"),
            "import std.nn\nimport \"a\\\\b.tile\"\nimport x\n");
  EXPECT_TRUE(Parsed("import \"m.tile\"").module.decls.at(0).isPath);
  EXPECT_FALSE(Parsed("import m").module.decls.at(0).isPath);
}

TEST(Parser, KernelHeads) {
  EXPECT_EQ(
      astOf("kernel k<T: f16 | bf16, U, const G: int = 2 * 64, V: float = f32>"
            "(inout x: T[N], n: i64 = -1, b: bool = false, s: f32[])"
            " -> (y: T[N, (K + 127) / 128], h: i32[G] reduce +, m: f32[N] reduce unordered max)\n"
            "  requires N % 2 == 0, n > 0\n"
            "  dim P = N / 2, requires P != 3 { }"),
      "kernel k\n"
      "  generic T: f16 | bf16\n"
      "  generic U\n"
      "  const G: int = (* 2 64)\n"
      "  generic V: float = f32\n"
      "  param inout x: T[N]\n"
      "  param n: i64 = (neg 1)\n"
      "  param b: bool = false\n"
      "  param s: f32[]\n"
      "  output y: T[N, (/ (+ K 127) 128)]\n"
      "  output h: i32[G] reduce +\n"
      "  output m: f32[N] reduce unordered max\n"
      "  requires (== (% N 2) 0)\n"
      "  requires (> n 0)\n"
      "  dim P = (/ N 2)\n"
      "  requires (!= P 3)\n");
  for (const char *op : {"+", "*", "max", "min", "&", "|", "^"}) {
    const Parsed parsed(std::string("kernel k() -> (y: f32[N] reduce ") + op + ") { }");
    ASSERT_EQ(parsed.errors(), "");
    EXPECT_EQ(parsed.module.decls.at(0).outputs.at(0).reduce, op);
  }
}

TEST(Parser, Schedules) {
  EXPECT_EQ(astOf("kernel k() -> () { } schedule { i = [64, 128]; order = grouped(8)\n split k; "
                  "persistent }\n"
                  "schedule cuda { split j = [1, 2]\n; }"),
            "kernel k\n"
            "  schedule\n"
            "    entry i = (list 64 128)\n"
            "    entry order = (call grouped 8)\n"
            "    entry split k\n"
            "    entry persistent\n"
            "  schedule cuda\n"
            "    entry split j = (list 1 2)\n");
}

TEST(Parser, MapsFnsGraphs) {
  EXPECT_EQ(
      astOf("map add<T: num>(a: T[..S], b: T = 1) -> T =\n  a + b"),
      "map add\n  generic T: num\n  param a: T[..S]\n  param b: T = 1\n  result T\n  = (+ a b)\n");
  EXPECT_EQ(
      astOf("fn f(x, axis a, axis: i32, t: T[M, N] = z) -> f32 { return x }"),
      "fn f\n  param x\n  param axis a\n  param axis: i32\n  param t: T[M, N] = z\n  result f32\n"
      "  return x\n");
  EXPECT_EQ(astOf("fn g(x) = x * x\nfn h() { }"), "fn g\n  param x\n  = (* x x)\nfn h\n");
  EXPECT_EQ(astOf("graph g(x: f32[M], s: f32 = 2.0) -> (y: f32[M]) requires M > 0 { let h = f(x); "
                  "y = h * s }"),
            "graph g\n  param x: f32[M]\n  param s: f32 = 2.0\n  output y: f32[M]\n"
            "  requires (> M 0)\n  let h = (call f x)\n  assign y = (* h s)\n");
}

TEST(Parser, Docs) {
  EXPECT_EQ(astOf("// plain\n/// one\n///two\n\n///\n/// three\nfn f() = 1\n"
                  "/// behind\nfn g() = 2 /// no doc\nfn h() = 3\n//// no doc\nfn i() = 4"),
            "fn f\n  doc \"one\"\n  doc \"two\"\n  doc \"\"\n  doc \"three\"\n  = 1\n"
            "fn g\n  doc \"behind\"\n  = 2\nfn h\n  = 3\nfn i\n  = 4\n");
  EXPECT_EQ(Parsed("/// a\n// b\n/// c\nfn f() = 1").module.decls.at(0).doc, "c");
}

/// Ranges cover what was written.
TEST(Parser, Ranges) {
  const std::string text = "/// d\nkernel k(x: f32[M + 1]) -> (y: f32[M]) requires a == (b) {\n"
                           "  for k in tiles(K) if k < (n) { y[i] += -(a + b) * f(c, n = 2).m }\n"
                           "} schedule { i = 3 }\n";
  const Parsed parsed(text);
  ASSERT_EQ(parsed.errors(), "");
  const auto at = [&](Range range) { return text.substr(range.begin, range.end - range.begin); };
  const Decl &decl = parsed.module.decls.at(0);
  EXPECT_EQ(at(decl.range), text.substr(6, text.size() - 7));
  EXPECT_EQ(at(decl.name.range), "k");
  EXPECT_EQ(at(decl.params.at(0).range), "x: f32[M + 1]");
  EXPECT_EQ(at(decl.params.at(0).type.range), "f32[M + 1]");
  EXPECT_EQ(at(decl.params.at(0).type.dims.at(0)->range), "M + 1");
  EXPECT_EQ(at(decl.clauses.at(0).range), "requires a == (b)");
  EXPECT_EQ(at(decl.schedules.at(0).range), "schedule { i = 3 }");
  EXPECT_EQ(at(decl.schedules.at(0).entries.at(0).range), "i = 3");
  const Stmt &loop = *decl.body.at(0);
  EXPECT_EQ(at(loop.binders.at(0).range), "k in tiles(K) if k < (n)");
  const Stmt &stmt = *loop.body.at(0);
  EXPECT_EQ(at(stmt.range), "y[i] += -(a + b) * f(c, n = 2).m");
  EXPECT_EQ(at(stmt.opRange), "+=");
  EXPECT_EQ(at(stmt.target->range), "y[i]");
  EXPECT_EQ(at(stmt.target->opRange), "[i]");
  EXPECT_EQ(at(stmt.value->opRange), "*");
  EXPECT_EQ(at(stmt.value->children.at(0)->range), "-(a + b)");
  EXPECT_EQ(at(stmt.value->children.at(0)->children.at(0)->range), "(a + b)");
  EXPECT_EQ(at(stmt.value->children.at(1)->opRange), "m");
  EXPECT_EQ(at(stmt.value->children.at(1)->children.at(0)->args.at(1).name->range), "n");
}

//===-- Whole sources -----------------------------------------------------===//

TEST(Parser, EverySourceOfTheRepository) {
  unsigned count = 0;
  for (const char *folder : {"samples", "dsl/std", "tests/dsl/inputs"})
    for (const auto &path : tileFiles(folder)) {
      const Parsed parsed(readFile(path), 20, path.string());
      EXPECT_EQ(parsed.errors(), "");
      EXPECT_FALSE(parsed.module.decls.empty()) << path;
      ++count;
    }
  EXPECT_GE(count, 3u);
}

TEST(Parser, LanguageGolden) {
  for (const char *name : {"language", "odd"}) {
    const Parsed parsed(
        readFile(sourceRoot() / "tests/dsl/inputs" / (std::string(name) + ".tile")));
    EXPECT_EQ(parsed.errors(), "");
    expectGolden(parsed.ast(), std::string(name) + ".ast");
  }
}

TEST(Parser, EmptySources) {
  for (const char *text : {"", "\n", "// c", "/// d\n", ";;\n;", "\xef\xbb\xbf"}) {
    const Parsed parsed(text);
    EXPECT_EQ(parsed.errors(), "");
    EXPECT_TRUE(parsed.module.decls.empty());
  }
}

//===-- Bounds ------------------------------------------------------------===//

std::string repeat(const std::string &text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

/// Parses; expects one error with the message, none if it is empty.
void expectError(const std::string &text, const std::string &message) {
  const Parsed parsed(text);
  if (message.empty()) {
    EXPECT_EQ(parsed.errors(), "");
    return;
  }
  ASSERT_EQ(parsed.diags.errorCount(), 1u) << parsed.errors();
  EXPECT_EQ(parsed.diags.diagnostics().front().message, message);
  EXPECT_TRUE(parsed.module.decls.empty());
}

TEST(Parser, NestingIsBounded) {
  const std::string deep = "nesting deeper than 256";
  const std::string fn = "fn f(x) = ";
  for (const auto &[open, close] : std::vector<std::pair<std::string, std::string>>{
           {"(", ")"}, {"[", "]"}, {"f(", ")"}, {"x[", "]"}, {"-f(1 + ", ")"}}) {
    expectError(fn + repeat(open, 256) + "x" + repeat(close, 256), "");
    expectError(fn + repeat(open, 257) + "x" + repeat(close, 257), deep);
    expectError(fn + repeat(open, 300000) + "x" + repeat(close, 300000), deep);
  }
  const auto blocks = [](size_t count) {
    return "fn f(x) {" + repeat("if x {", count) + repeat("}", count) + "}";
  };
  expectError(blocks(255), "");
  expectError(blocks(256), deep);
  expectError(blocks(100000), deep);
  const auto elseIfs = [](size_t count) {
    return "fn f(x) { if x { }" + repeat(" else if x { }", count) + "}";
  };
  expectError(elseIfs(254), "");
  expectError(elseIfs(300), deep);
  expectError(elseIfs(100000), deep);
  // Together.
  expectError("fn f(x) {" + repeat("if x {", 200) + "y = " + repeat("(", 55) + "x" +
                  repeat(")", 55) + repeat("}", 200) + "}",
              "");
  expectError("fn f(x) {" + repeat("if x {", 200) + "y = " + repeat("(", 56) + "x" +
                  repeat(")", 56) + repeat("}", 200) + "}",
              deep);
}

TEST(Parser, HeightIsBounded) {
  const std::string high = "this expression chains more than 1023 operations";
  for (const std::string link : {" + x", " && x", "[i]", ".m"}) {
    expectError("fn f(x) = x" + repeat(link, 1023), "");
    expectError("fn f(x) = x" + repeat(link, 1024), high);
    expectError("fn f(x) = x" + repeat(link, 100000), high);
  }
  expectError("fn f(x) = " + repeat("-", 1023) + "x", "");
  expectError("fn f(x) = " + repeat("-", 1024) + "x", high);
  expectError("fn f(x) = " + repeat("! ", 300000) + "x", high);
  // Along a path through everything.
  const std::string mixed = "fn f(x) = " + repeat("-f(x + ", 250) + "x" + repeat(")", 250);
  const Parsed parsed(mixed);
  ASSERT_EQ(parsed.errors(), "");
  EXPECT_EQ(parsed.module.decls.at(0).bodyExpr->height, 751);
  EXPECT_FALSE(printAst(parsed.module).empty());
}

TEST(Parser, LongLinesAndFiles) {
  std::string line = "fn f(x) { ";
  for (int i = 0; i < 20000; ++i)
    line += "let v" + std::to_string(i) + " = (x[i] + 1) * g(x, n = 2); ";
  const Parsed parsed(line + "}\n");
  ASSERT_EQ(parsed.errors(), "");
  EXPECT_EQ(parsed.module.decls.at(0).body.size(), 20000u);
  const Parsed broken(line + "let }\n");
  EXPECT_EQ(broken.diags.errorCount(), 1u);
  EXPECT_LT(broken.errors().size(), 1000u);
}

} // namespace
} // namespace tile::dsl::test
