//===- LexerTest.cpp - tokens, and where statements end -------------------===//

#include "SyntaxTest.h"

#include "dsl/Unicode.h"

namespace tile::dsl::test {
namespace {

struct Lexed {
  explicit Lexed(std::string text) : file("test.tile", std::move(text)), stream(lex(file, diags)) {}

  /// The tokens as text; `⏎` is a Newline, `?` an invalid token.
  std::string tokens() const {
    std::string out;
    for (const Token &token : stream.tokens) {
      const bool last = token.kind == TokenKind::Newline && (&token)[1].kind == TokenKind::End;
      if (token.kind == TokenKind::End || last)
        break;
      out += out.empty() ? "" : " ";
      if (token.kind == TokenKind::Newline)
        out += "⏎";
      else if (token.kind == TokenKind::Invalid)
        out += "?";
      else
        out += file.text().substr(token.begin, token.end - token.begin);
    }
    return out;
  }
  std::string errors() const { return diags.print(false); }

  SourceFile file;
  DiagnosticEngine diags;
  TokenStream stream;
};

std::string tokensOf(const std::string &text) {
  const Lexed lexed(text);
  EXPECT_EQ(lexed.errors(), "");
  return lexed.tokens();
}

/// The one token that the text is.
TokenKind kindOf(const std::string &text) {
  const Lexed lexed(text);
  EXPECT_EQ(lexed.stream.tokens.size(), 2u) << text;
  return lexed.stream.tokens.front().kind;
}

/// Message of the one error.
std::string errorOf(const std::string &text) {
  const Lexed lexed(text);
  EXPECT_EQ(lexed.diags.errorCount(), 1u) << text << "\n" << lexed.errors();
  return lexed.diags.diagnostics().empty() ? "" : lexed.diags.diagnostics().front().message;
}

TEST(Lexer, KnowsEveryWord) {
#define TILE_KEYWORD(name, text) EXPECT_EQ(kindOf(text), TokenKind::Kw##name);
#define TILE_PUNCTUATION(name, text) EXPECT_EQ(kindOf(text), TokenKind::name);
#define TILE_WORD(name, text)                                                                      \
  EXPECT_EQ(kindOf(text), TokenKind::Ident);                                                       \
  EXPECT_EQ(Lexed(text).stream.tokens.front().word, Word::name);
#include "dsl/Tokens.def"
  for (const char *name : {"x", "_", "_1", "formal", "lets", "iF", "A0_b", "tiles2"}) {
    EXPECT_EQ(kindOf(name), TokenKind::Ident);
    EXPECT_EQ(Lexed(name).stream.tokens.front().word, Word::None);
  }
}

TEST(Lexer, SplitsGreedily) {
  EXPECT_EQ(tokensOf("a<=b>=c==d!=e<<f>>g&&h||i"), "a <= b >= c == d != e << f >> g && h || i");
  EXPECT_EQ(tokensOf("a+=b-=c*=d/=e&=f|=g^=h"), "a += b -= c *= d /= e &= f |= g ^= h");
  EXPECT_EQ(tokensOf("(0..n)->x.y[..S]"), "( 0 .. n ) -> x . y [ .. S ]");
  EXPECT_EQ(tokensOf("a<-b>-c!d"), "a < - b > - c ! d");
  EXPECT_EQ(tokensOf("m max=x"), "m max = x");
}

TEST(Lexer, Numbers) {
  for (const char *text : {"0", "7", "1_000", "007", "0x1F", "0Xab_CD", "0b1010", "0B1"})
    EXPECT_EQ(kindOf(text), TokenKind::Int) << text;
  for (const char *text : {"0.5", "1e5", "1E-5", "1e+5", "12.25e-3", "1_0.0_1e1_0"})
    EXPECT_EQ(kindOf(text), TokenKind::Float) << text;
  EXPECT_EQ(tokensOf("1..2 1.5..x 0x1..2"), "1 .. 2 1.5 .. x 0x1 .. 2");
  EXPECT_EQ(errorOf("1."), "expected a digit after the decimal point");
  EXPECT_EQ(errorOf("1.x"), "expected a digit after the decimal point");
  EXPECT_EQ(errorOf("1e"), "expected the exponent's digits");
  EXPECT_EQ(errorOf("1.5e+"), "expected the exponent's digits");
  EXPECT_EQ(errorOf("0x"), "expected hexadecimal digits after `0x`");
  EXPECT_EQ(errorOf("0b2"), "expected `0` or `1` after `0b`");
  EXPECT_EQ(errorOf("0b12"), "`2` cannot follow a number directly");
  EXPECT_EQ(errorOf("12ab"), "`ab` cannot follow a number directly");
  EXPECT_EQ(errorOf("1.5f"), "`f` cannot follow a number directly");
  for (const char *text : {"1_", "1__0", "1_.5", "1._5", "0x_1", "1e_5"})
    EXPECT_EQ(Lexed(text).diags.errorCount(), 1u) << text;
}

TEST(Lexer, Strings) {
  const Lexed lexed(R"("a\n\t\r\0\\\"\x41\u{e9}\u{1F600}z")");
  ASSERT_EQ(lexed.stream.tokens.size(), 2u) << lexed.errors();
  EXPECT_EQ(unescape(lexed.file.text()), std::string("a\n\t\r\0\\\"Aé😀z", 15));
  EXPECT_EQ(unescape("\"\""), "");
  EXPECT_EQ(tokensOf("\"// no comment\" // one"), "\"// no comment\"");
  EXPECT_EQ(errorOf("\"abc"), "expected `\"` to close this string");
  EXPECT_EQ(errorOf("\"abc\\"), "expected `\"` to close this string");
  EXPECT_EQ(errorOf("\"abc\r\n"), "expected `\"` to close this string");
  EXPECT_EQ(errorOf(R"("\q")"), "unknown escape in a string");
  EXPECT_EQ(errorOf(R"("\x4")"), "expected two hexadecimal digits after `\\x`");
  EXPECT_EQ(errorOf(R"("\x80")"), "`\\x` names ASCII characters only; use `\\u{…}`");
  EXPECT_EQ(errorOf(R"("\u41")"), "expected `{` after `\\u`");
  EXPECT_EQ(errorOf(R"("\u{}")"), "expected up to six hexadecimal digits and `}`");
  EXPECT_EQ(errorOf(R"("\u{1234567}")"), "expected up to six hexadecimal digits and `}`");
  EXPECT_EQ(errorOf(R"("\u{D800}")"), "the escape is no Unicode character");
  EXPECT_EQ(errorOf(R"("\u{110000}")"), "the escape is no Unicode character");
}

TEST(Lexer, Characters) {
  EXPECT_EQ(tokensOf("\xef\xbb\xbf"
                     "a // ünïcödé ∀\n\"ß\""),
            "a ⏎ \"ß\"");
  EXPECT_EQ(errorOf("@"), "unexpected character `@`");
  EXPECT_EQ(errorOf("é"), "unexpected character `é` (U+00E9)");
  EXPECT_EQ(errorOf("\f"), "unexpected character U+000C");
  EXPECT_EQ(errorOf("a // \xff"), "the source is not valid UTF-8 here");
  EXPECT_EQ(errorOf("\"\xc3\""), "the source is not valid UTF-8 here");
  EXPECT_EQ(errorOf("\xc0\x80\xff"), "the source is not valid UTF-8 here");
  EXPECT_EQ(errorOf(std::string("\0\0", 2)), "the source has a NUL byte");
  EXPECT_EQ(errorOf(std::string("// \0", 4)), "the source has a NUL byte");
  EXPECT_EQ(errorOf("/* c\n */ x"), "there are no block comments");
  EXPECT_EQ(Lexed("a ≤ b").tokens(), "a ? b");
  EXPECT_EQ(Lexed("a ≤ b").diags.diagnostics().front().fixIts.front().replacement, "<=");
}

/// Every code point up to a bound, and broken sequences, against the definition of UTF-8.
TEST(Lexer, Utf8) {
  for (char32_t value = 1; value <= 0x10ffff; value += value < 0x3000 ? 1 : 251) {
    std::string bytes;
    appendUtf8(bytes, value);
    const bool surrogate = value >= 0xd800 && value <= 0xdfff;
    const CodePoint point = decodeUtf8(bytes);
    EXPECT_EQ(point.length, surrogate ? 0 : bytes.size()) << std::hex << uint32_t(value);
    EXPECT_TRUE(point.value == (surrogate ? 0 : value)) << std::hex << uint32_t(value);
    for (size_t cut = 1; cut < bytes.size(); ++cut)
      EXPECT_EQ(decodeUtf8(bytes.substr(0, cut)).length, 0u);
    EXPECT_EQ(findInvalidUtf8("abcdefg" + bytes + "abcdefghijk") == std::string_view::npos,
              !surrogate);
  }
  for (const char *bytes :
       {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80"})
    EXPECT_EQ(decodeUtf8(bytes).length, 0u);
}

TEST(Lexer, LinesEndStatements) {
  EXPECT_EQ(tokensOf("a\nb"), "a ⏎ b");
  EXPECT_EQ(tokensOf("\n\na\r\n\n// c\n\nb\n"), "a ⏎ b");
  EXPECT_EQ(tokensOf("f(a\n,\nb)\n[x\n]\ny"), "f ( a , b ) ⏎ [ x ] ⏎ y");
  EXPECT_EQ(tokensOf("a\n+ b"), "a ⏎ + b");
  EXPECT_EQ(tokensOf("a\n(b)"), "a ⏎ ( b )");
  EXPECT_EQ(tokensOf("a[i\n]\n= b"), "a [ i ] ⏎ = b");
  for (const char *op :
       {"+",  "-",  "*", "/", "%",  "<<", ">>", "&",  "^",  "|",  "==", "!=", "<",  "<=", ">", ">=",
        "&&", "||", ",", "=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "->", "..", "{",  ";"})
    EXPECT_EQ(tokensOf(std::string("a ") + op + " // c\n\nb"), std::string("a ") + op + " b");
  for (const char *op : {"!", "~", ":", ".", "}", ")"})
    EXPECT_EQ(tokensOf(std::string("a ") + op + "\nb"), std::string("a ") + op + " ⏎ b");
  EXPECT_EQ(tokensOf("if a\n{\nb\n}\nelse\n{\n}\nc"), "if a { b ⏎ } else { } ⏎ c");
  EXPECT_EQ(tokensOf("m max=\nx"), "m max = x");
}

TEST(Lexer, HeadsSpanLines) {
  EXPECT_EQ(
      tokensOf(
          "kernel\nf\n<\nT\n>\n(\n)\n->\n(\n)\nrequires a\ndim P = b\n{\na\nb\n}\nschedule {\n}\n"
          "map g(x: T)\n-> T\n= x\nlet\ny"),
      "kernel f < T > ( ) -> ( ) requires a dim P = b { a ⏎ b ⏎ } schedule { } ⏎ "
      "map g ( x : T ) -> T = x ⏎ let ⏎ y");
  EXPECT_EQ(tokensOf("fn f<const G: int = 1>(x)\n= x\ny"),
            "fn f < const G : int = 1 > ( x ) = x ⏎ y");
  EXPECT_EQ(tokensOf("import std.nn\nimport x\n"), "import std . nn ⏎ import x");
}

/// What was forgotten ends where a statement or declaration shows it.
TEST(Lexer, ForgottenBracketsEnd) {
  EXPECT_EQ(tokensOf("x = (a\ny"), "x = ( a ⏎ y");
  EXPECT_EQ(tokensOf("f(a, (b)\ny = (c\n)"), "f ( a , ( b ) ⏎ y = ( c )");
  EXPECT_EQ(tokensOf("f((a\nlet y\nz)"), "f ( ( a ⏎ let y ⏎ z )");
  EXPECT_EQ(tokensOf("f(a]\nb"), "f ( a ] ⏎ b");
  EXPECT_EQ(tokensOf("f([a)\nb"), "f ( [ a ) ⏎ b");
  EXPECT_EQ(tokensOf("kernel f(x\nkernel g\n{\na\nb"), "kernel f ( x ⏎ kernel g { a ⏎ b");
}

TEST(Lexer, CommentsKnowTheirPlace) {
  const Lexed lexed("/// doc\na // behind\n  //// plain\n");
  ASSERT_EQ(lexed.stream.comments.size(), 3u);
  EXPECT_TRUE(lexed.stream.comments[0].doc && lexed.stream.comments[0].ownLine);
  EXPECT_FALSE(lexed.stream.comments[1].doc || lexed.stream.comments[1].ownLine);
  EXPECT_FALSE(lexed.stream.comments[2].doc);
  EXPECT_TRUE(lexed.stream.comments[2].ownLine);
}

TEST(SourceFile, Positions) {
  const SourceFile file("f", "ab\n\r\ncdé\r\nx");
  const auto at = [&](uint32_t offset) {
    const auto position = file.position(offset);
    return std::pair(position.line, position.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(2), std::pair(1u, 3u));
  EXPECT_EQ(at(3), std::pair(2u, 1u));
  EXPECT_EQ(at(5), std::pair(3u, 1u));
  EXPECT_EQ(at(11), std::pair(4u, 1u));
  EXPECT_EQ(at(999), std::pair(4u, 2u));
  EXPECT_EQ(file.line(1), "ab");
  EXPECT_EQ(file.line(2), "");
  EXPECT_EQ(file.line(3), "cdé");
  EXPECT_EQ(file.line(4), "x");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(5), "");
  for (uint32_t offset = 0; offset <= 12; ++offset)
    EXPECT_EQ(file.offset(file.position(offset)), offset);
  EXPECT_EQ(file.offset({1, 99}), 2u);
  EXPECT_EQ(file.offset({99, 1}), 12u);
  EXPECT_EQ(SourceFile("f", "").position(0).line, 1u);
}

} // namespace
} // namespace tile::dsl::test
