//===- JsonFile.cpp - small texts from files ------------------------------===//

#include "frontend/JsonFile.h"
#include "runtime/FileIO.h"

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

static int64_t depthOf(llvm::StringRef text) {
  int64_t depth = 0, most = 0;
  for (char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    most = std::max(most, depth);
  }
  return most;
}

llvm::Expected<llvm::json::Value> tile::frontend::parseJson(llvm::StringRef text) {
  constexpr int64_t deepest = 16;
  if (depthOf(text) > deepest)
    return llvm::createStringError("brackets stand too deep in each other");
  return llvm::json::parse(text);
}
