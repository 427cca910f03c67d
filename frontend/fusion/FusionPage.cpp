//===- FusionPage.cpp - a report on fusion to look at and click through ---===//
//
// The page is in frontend/fusion/page; its script draws what is in the data, so
// all that is written here is the data. Nothing of it is ever read as HTML: the
// script makes text nodes of it.
//
//===----------------------------------------------------------------------===//

#include "frontend/fusion/FusionPage.h"
#include "frontend/base/SvgText.h"
#include "frontend/fusion/FusionPrint.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;
using namespace tile::frontend;
namespace json = llvm::json;

static const std::map<std::string, std::string> &parts() {
  static const std::map<std::string, std::string> texts = {
#include "frontend/fusion/EmbeddedPage.inc"
  };
  return texts;
}

static std::string irOf(ir::CallOp call) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (Operation *kernel = SymbolTable::lookupNearestSymbolFrom(call, call.getCalleeAttr()))
    kernel->print(stream, OpPrintingFlags().useLocalScope());
  return json::fixUTF8(text);
}

static json::Object toJson(const SourceExcerpt &excerpt) {
  return json::Object{{"file", json::fixUTF8(excerpt.file)},
                      {"line", excerpt.line},
                      {"text", json::fixUTF8(excerpt.text)}};
}

/// As a script's text has to be: no `<` may end it, or begin a comment.
static std::string dataOf(const FusionReport &report, ArrayRef<CallSources> sources) {
  json::Object ir;
  for (const GraphView *graph : {&report.before, &report.after})
    for (const GraphView::Call &call : graph->calls)
      ir.try_emplace(call.callee, irOf(call.op));
  json::Array texts;
  for (const CallSources &source : sources)
    texts.push_back(
        json::Object{{"call", toJson(source.call)},
                     {"kernel", source.kernel ? json::Value(toJson(*source.kernel)) : nullptr}});
  json::Object data = toJson(report);
  data["ir"] = std::move(ir);
  data["sources"] = std::move(texts);
  std::string text;
  for (char c : llvm::formatv("{0}", json::Value(std::move(data))).str())
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

/// For who has no scripts.
static std::string textOf(const FusionReport &report) {
  std::string text, result;
  llvm::raw_string_ostream stream(text);
  printText(report, stream);
  for (StringRef line : llvm::split(text, '\n'))
    result += svg::escaped(line) + "\n";
  return result;
}

void tile::frontend::printPage(const FusionReport &report, ArrayRef<CallSources> sources,
                               llvm::raw_ostream &stream) {
  llvm::StringMap<std::string> values;
  values["title"] = svg::escaped(report.graph);
  values["text"] = textOf(report);
  values["data"] = dataOf(report, sources);
  for (const auto &[name, part] : parts())
    values[name] = part;
  for (StringRef rest = parts().at("page.html"); !rest.empty();) {
    auto [before, after] = rest.split("{{");
    auto [name, next] = after.split("}}");
    stream << before << values.lookup(name);
    rest = next;
  }
}
