//===- JsonFile.cpp - small texts from files ------------------------------===//

#include "frontend/base/JsonFile.h"
#include "runtime/base/FileIO.h"

using namespace tile;
using namespace tile::frontend;

Outcome<std::string> tile::frontend::readText(const std::string &path, uint64_t mostMiB,
                                              llvm::StringRef what) {
  auto file = runtime::InputFile::open(path);
  if (!file)
    return Failure::environment(file.takeError());
  if (file->size() > mostMiB << 20)
    return Failure::environment(
        {"'" + path + "' is larger than " + std::to_string(mostMiB) + " MiB",
         "is it " + what.str() + "?"});
  std::string text(file->size(), 0);
  if (auto read = file->readAt(0, std::as_writable_bytes(std::span(text))); !read)
    return Failure::environment(read.takeError());
  return text;
}

/// Where brackets stand deeper in each other than so many; those in texts are none.
static std::optional<size_t> tooDeep(llvm::StringRef text, int64_t most) {
  int64_t depth = 0;
  bool isText = false;
  for (size_t n = 0; n < text.size(); ++n) {
    char c = text[n];
    if (c == '"')
      isText = !isText;
    else if (isText)
      n += c == '\\'; // what follows stands for itself
    else
      depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (depth > most)
      return n;
  }
  return std::nullopt;
}

llvm::Expected<llvm::json::Value> tile::frontend::parseJson(llvm::StringRef text) {
  constexpr int64_t deepest = 16;
  if (std::optional<size_t> place = tooDeep(text, deepest)) {
    // As the parser says where something is.
    llvm::StringRef before = text.take_front(*place + 1);
    size_t column = before.size() - (before.rfind('\n') + 1); // npos + 1 is 0
    return llvm::createStringError("[" + llvm::Twine(before.count('\n') + 1) + ":" +
                                   llvm::Twine(column) + ", byte=" + llvm::Twine(before.size()) +
                                   "]: brackets stand too deep in each other");
  }
  return llvm::json::parse(text);
}
