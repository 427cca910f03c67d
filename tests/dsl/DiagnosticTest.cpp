//===- DiagnosticTest.cpp - how diagnostics are printed and counted -------===//

#include "SyntaxTest.h"

namespace tile::dsl::test {
namespace {

using Severity = Diagnostic::Severity;

/// An error at a piece of the text, printed.
std::string printed(const std::string &text, const std::string &piece) {
  const SourceFile file("f.tile", text);
  DiagnosticEngine engine;
  const auto begin = static_cast<uint32_t>(text.find(piece));
  engine.error(&file, {begin, begin + static_cast<uint32_t>(piece.size())}, "bad");
  return engine.print(false);
}

TEST(Diagnostics, PointAtTheSource) {
  EXPECT_EQ(printed("let x = abc + 1\n", "abc"), "f.tile:1:9: error: bad\n"
                                                 "let x = abc + 1\n"
                                                 "        ^~~\n");
  EXPECT_EQ(printed("a\n  b\r\n", "b"), "f.tile:2:3: error: bad\n  b\n  ^\n");
  // Tabs are eight columns wide; columns count bytes, carets count characters.
  EXPECT_EQ(printed("\tab\tcd\n", "cd"),
            "f.tile:1:5: error: bad\n        ab      cd\n                ^~\n");
  EXPECT_EQ(printed("é = \"日本\" + xy\n", "xy"), "f.tile:1:17: error: bad\n"
                                                  "é = \"日本\" + xy\n"
                                                  "             ^~\n");
  EXPECT_EQ(printed("e\xcc\x81 xy\n", "xy"), "f.tile:1:5: error: bad\ne\xcc\x81 xy\n  ^~\n");
  // What no terminal shows as it is, is named.
  EXPECT_EQ(printed("\x1b[0m\xff\xe2\x80\xae xy\n", "xy"),
            "f.tile:1:10: error: bad\n<1B>[0m<FF><U+202E> xy\n                    ^~\n");
  // A range ends with its line; an empty one is a caret.
  EXPECT_EQ(printed("ab (c\nd)\n", "(c\nd)"), "f.tile:1:4: error: bad\nab (c\n   ^~\n");
  EXPECT_EQ(printed("ab\n", ""), "f.tile:1:1: error: bad\nab\n^\n");
}

TEST(Diagnostics, PointBehindTheEnd) {
  const SourceFile file("f.tile", "ab");
  DiagnosticEngine engine;
  engine.error(&file, {2, 2}, "end");
  engine.error(&file, {7, 9}, "beyond");
  EXPECT_EQ(engine.print(false), "f.tile:1:3: error: end\nab\n  ^\n"
                                 "f.tile:1:3: error: beyond\nab\n  ^\n");
}

TEST(Diagnostics, ShortenLongLines) {
  const std::string text = std::string(300, 'a') + " xyz " + std::string(300, 'b') + "\n";
  const std::string out = printed(text, "xyz");
  std::istringstream lines(out);
  std::string head, line, caret;
  std::getline(lines, head);
  std::getline(lines, line);
  std::getline(lines, caret);
  EXPECT_EQ(head, "f.tile:1:302: error: bad");
  EXPECT_LT(line.size(), 130u);
  // Column of the caret, where the ellipsis takes one column and three bytes.
  EXPECT_EQ(line.substr(caret.find('^') + 2, 3), "xyz");
  EXPECT_EQ(caret.substr(caret.find('^')), "^~~");
  // At the line's ends.
  EXPECT_EQ(printed(std::string(500, 'a'), "a").find("…"), 23u + 120);
  const SourceFile file("f.tile", std::string(10'000'000, 'a'));
  DiagnosticEngine engine;
  engine.error(&file, {9'999'999, 10'000'000}, "last");
  EXPECT_LT(engine.print(false).size(), 300u);
  // Wide, broken and combining characters around the cut.
  for (const std::string unit : {"日", "\xff", "e\xcc\x81", "\t", "é"}) {
    std::string wide;
    for (int i = 0; i < 200; ++i)
      wide += unit;
    const std::string shown = printed(wide + "xyz" + wide, "xyz");
    EXPECT_NE(shown.find("xyz"), std::string::npos);
    EXPECT_NE(shown.find("^~~\n"), std::string::npos) << shown;
  }
}

TEST(Diagnostics, NotesHintsFixIts) {
  const SourceFile file("f.tile", "let x = 3\nlet x = 4\n");
  DiagnosticEngine engine;
  Diagnostic &error = engine.error(&file, {14, 15}, "`x` is defined twice");
  error.hints.push_back("call it `y`");
  error.fixIts.push_back({{14, 15}, "y"});
  error.fixIts.push_back({{18, 19}, "5"});
  error.fixIts.push_back({{4, 5}, "on another line"});
  Diagnostic note;
  note.severity = Severity::Note;
  note.file = &file;
  note.range = {4, 5};
  note.message = "here first";
  error.notes.push_back(note);
  note.file = nullptr;
  note.message = "no place";
  error.notes.push_back(note);
  EXPECT_EQ(engine.print(false), "f.tile:2:5: error: `x` is defined twice\n"
                                 "let x = 4\n"
                                 "    ^\n"
                                 "    y   5\n"
                                 "hint: call it `y`\n"
                                 "f.tile:1:5: note: here first\n"
                                 "let x = 3\n"
                                 "    ^\n"
                                 "note: no place\n");
  const std::string coloured = engine.print(true);
  EXPECT_NE(coloured.find("\033[1;31merror: \033[0m"), std::string::npos);
  // Without its colours it says the same.
  std::string plain;
  for (size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\033')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  }
  EXPECT_EQ(plain, engine.print(false));
}

TEST(Diagnostics, LimitAndWarnings) {
  DiagnosticEngine engine(2);
  engine.report(Severity::Warning, nullptr, {}, "w");
  EXPECT_EQ(engine.errorCount(), 0u);
  engine.error(nullptr, {}, "1");
  EXPECT_FALSE(engine.limitReached());
  engine.error(nullptr, {}, "2");
  EXPECT_TRUE(engine.limitReached());
  EXPECT_EQ(engine.print(false), "warning: w\nerror: 1\nerror: 2\n");
  engine.error(nullptr, {}, "3").hints.push_back("unseen");
  engine.error(nullptr, {}, "4");
  EXPECT_EQ(engine.errorCount(), 2u);
  EXPECT_EQ(engine.print(false), "warning: w\nerror: 1\nerror: 2\n"
                                 "error: too many errors; stopped after 2\n"
                                 "hint: --error-limit=0 shows all of them\n");
  DiagnosticEngine unlimited(0);
  for (int i = 0; i < 100; ++i)
    unlimited.error(nullptr, {}, "e");
  EXPECT_EQ(unlimited.diagnostics().size(), 100u);
  EXPECT_FALSE(unlimited.limitReached());
  DiagnosticEngine strict(20, true);
  strict.report(Severity::Warning, nullptr, {}, "w");
  EXPECT_EQ(strict.print(false), "error: w\n");
  EXPECT_EQ(strict.errorCount(), 1u);
}

TEST(Diagnostics, NearestName) {
  const std::vector<std::string> names = {"kernel", "parallel", "let", "for", "if", "softmax"};
  EXPECT_EQ(nearestName("kernal", names), "kernel");
  EXPECT_EQ(nearestName("paralell", names), "parallel");
  EXPECT_EQ(nearestName("lte", names), "let");
  EXPECT_EQ(nearestName("fro", names), "for");
  EXPECT_EQ(nearestName("soft_max", names), "softmax");
  EXPECT_EQ(nearestName("xyzzy", names), std::nullopt);
  EXPECT_EQ(nearestName("q", names), std::nullopt);
  EXPECT_EQ(nearestName("", names), std::nullopt);
  EXPECT_EQ(nearestName(std::string(100000, 'k'), names), std::nullopt);
  EXPECT_EQ(nearestName("kernel", names), std::nullopt);          // it is one
  EXPECT_EQ(nearestName("sm_90", {"sm_80", "sm_90a"}), "sm_90a"); // goes on where it ends
  EXPECT_EQ(nearestName("sm_90", {"sm_90a", "sm_80"}), "sm_90a");
}

} // namespace
} // namespace tile::dsl::test
