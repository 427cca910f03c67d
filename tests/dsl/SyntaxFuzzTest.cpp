//===- SyntaxFuzzTest.cpp - broken sources break nothing ------------------===//

#include "SyntaxTest.h"

namespace tile::dsl::test {
namespace {

/// Checks what the parser promises of any tree it returns.
class TreeChecker {
public:
  explicit TreeChecker(const SourceFile &file) : size(static_cast<uint32_t>(file.text().size())) {}

  void check(const Module &module) {
    uint32_t end = 0;
    for (const Decl &decl : module.decls) {
      EXPECT_LE(end, decl.range.begin);
      end = decl.range.end;
      check(decl.range);
      check(decl.body, 1);
      check(decl.bodyExpr);
    }
  }

private:
  void check(Range range) {
    EXPECT_LT(range.begin, range.end);
    EXPECT_LE(range.end, size);
  }
  void check(const Block &block, unsigned depth) {
    EXPECT_LE(depth, maxNesting + 1);
    for (const StmtPtr &stmt : block) {
      ASSERT_TRUE(stmt);
      check(stmt->range);
      for (const Binder &binder : stmt->binders) {
        EXPECT_TRUE(binder.hi);
        check(binder.range);
        check(binder.hi);
      }
      for (const ExprPtr *expr : {&stmt->target, &stmt->value, &stmt->condition, &stmt->sequential})
        check(*expr);
      check(stmt->body, depth + 1);
      check(stmt->elseBody, depth + 1);
    }
  }
  unsigned check(const ExprPtr &expr) {
    if (!expr)
      return 0;
    check(expr->range);
    unsigned height = 0;
    for (const ExprPtr &child : expr->children) {
      EXPECT_TRUE(child);
      height = std::max(height, check(child));
    }
    for (const Arg &arg : expr->args) {
      EXPECT_TRUE(arg.value);
      height = std::max(height, check(arg.value));
    }
    EXPECT_EQ(expr->height, height + 1);
    EXPECT_LE(expr->height, maxExprHeight);
    return height + 1;
  }
  uint32_t size;
};

/// Parses, prints and formats; what is without errors must keep its tree.
void survive(const std::string &text) {
  const Parsed parsed(text);
  TreeChecker(parsed.file).check(parsed.module);
  const std::string errors = parsed.errors();
  EXPECT_EQ(errors.empty(), parsed.diags.errorCount() == 0);
  EXPECT_EQ(errors.find("boost"), std::string::npos) << "a parser without a name:\n" << errors;
  if (errors.empty())
    expectFormats(text);
  else
    format(parsed.file);
}

std::string mutateBytes(std::string text, std::mt19937 &random) {
  static const std::string odd[] = {"(",
                                    ")",
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    "\n",
                                    ";",
                                    "\"",
                                    "//",
                                    "\\",
                                    "é",
                                    std::string(1, '\0'),
                                    "\xff",
                                    "..",
                                    "=",
                                    "-",
                                    ",",
                                    "if ",
                                    "kernel ",
                                    "1.",
                                    "<",
                                    ">",
                                    "max=",
                                    "\r\n",
                                    "\t"};
  const unsigned edits = 1 + random() % 8;
  for (unsigned i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    const size_t length = std::min<size_t>(1 + random() % 12, text.size() - at);
    switch (random() % 6) {
    case 0:
      text[at] = static_cast<char>(random());
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, odd[random() % std::size(odd)]);
      break;
    case 3:
      text.insert(random() % text.size(), text.substr(at, length));
      break;
    case 4:
      text.resize(at);
      break;
    case 5:
      text.replace(at, length, odd[random() % std::size(odd)]);
      break;
    }
  }
  return text;
}

/// Exchanges, drops and doubles whole tokens and the space between them: more of these are valid.
std::string mutateTokens(const std::string &text, std::mt19937 &random) {
  static const std::string gaps[] = {" ",        "\n",         "\n\n\n",     "\t",
                                     "  // c\n", "\n// own\n", "\n/// doc\n"};
  const SourceFile file("f", text);
  DiagnosticEngine ignored;
  const TokenStream stream = lex(file, ignored);
  std::vector<std::string> tokens;
  uint32_t end = 0;
  for (const Token &token : stream.tokens) {
    if (token.kind == TokenKind::Newline)
      continue;
    tokens.push_back(text.substr(end, token.begin - end));
    tokens.push_back(text.substr(token.begin, token.end - token.begin));
    end = token.end;
  }
  const unsigned edits = 1 + random() % 4;
  for (unsigned i = 0; i < edits; ++i) {
    std::string &gap = tokens[random() % (tokens.size() / 2) * 2];
    std::string &token = tokens[random() % (tokens.size() / 2) * 2 + 1];
    std::string &other = tokens[random() % (tokens.size() / 2) * 2 + 1];
    switch (random() % 8) {
    case 0:
      token = other;
      break;
    case 1:
      token.clear();
      break;
    case 2:
      token += " " + other;
      break;
    case 3:
      std::swap(token, other);
      break;
    default:
      gap += gaps[random() % std::size(gaps)];
    }
  }
  std::string out;
  for (const std::string &token : tokens)
    out += token;
  return out;
}

TEST(SyntaxFuzz, EditedBytes) {
  const std::vector<std::string> sources = validSources();
  std::mt19937 random(1);
  for (unsigned round = 0; round < 6000 && !testing::Test::HasFailure(); ++round)
    survive(mutateBytes(sources[random() % sources.size()], random));
}

TEST(SyntaxFuzz, EditedTokens) {
  const std::vector<std::string> sources = validSources();
  std::mt19937 random(2);
  unsigned valid = 0;
  for (unsigned round = 0; round < 6000 && !testing::Test::HasFailure(); ++round) {
    const std::string text = mutateTokens(sources[random() % sources.size()], random);
    valid += Parsed(text).diags.errorCount() == 0;
    survive(text);
  }
  EXPECT_GT(valid, 500u) << "the edits hardly ever leave a source valid: they test little";
}

TEST(SyntaxFuzz, RandomTokens) {
  static const std::string words[] = {
#define TILE_KEYWORD(name, text) text,
#define TILE_WORD(name, text) text,
#define TILE_PUNCTUATION(name, text) text,
#include "dsl/Tokens.def"
      "a", "b", "1", "2.5", "\"s\"", "\n", "\n", "// c\n"};
  std::mt19937 random(3);
  for (unsigned round = 0; round < 6000 && !testing::Test::HasFailure(); ++round) {
    std::string text = random() % 2 ? "fn f(x) {\n" : "";
    for (unsigned i = 0, count = random() % 60; i < count; ++i)
      text += words[random() % std::size(words)] + (random() % 4 ? " " : "");
    survive(text);
  }
}

TEST(SyntaxFuzz, RandomBytes) {
  std::mt19937 random(4);
  for (unsigned round = 0; round < 500 && !testing::Test::HasFailure(); ++round) {
    std::string text;
    for (unsigned i = 0, count = random() % 400; i < count; ++i)
      text += static_cast<char>(random() % (round % 2 ? 256 : 128));
    survive(text);
  }
}

} // namespace
} // namespace tile::dsl::test
