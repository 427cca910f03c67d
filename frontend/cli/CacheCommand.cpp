//===- CacheCommand.cpp - tilec cache -------------------------------------===//

#include "frontend/cli/Commands.h"
#include "frontend/cli/DiagnosticJson.h"
#include "runtime/base/Text.h"
#include "runtime/load/Cache.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;

namespace {
struct CacheOptions {
  std::string action;
  bool json = false;
  SourceOptions source;
};

/// "2026-11-20 17:03".
std::string dateText(int64_t seconds) {
  auto when = static_cast<time_t>(seconds);
  tm local = {};
  char text[32] = "";
  if (localtime_r(&when, &local))
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

Outcome<Done> list(const runtime::Cache &cache, bool json) {
  auto entries = cache.list();
  if (!entries)
    return Failure::environment(entries.takeError());
  uint64_t bytes = 0;
  llvm::json::Array array;
  for (const runtime::CacheEntry &entry : *entries) {
    bytes += entry.bytes;
    if (json)
      array.push_back(llvm::json::Object{
          {"key", entry.key}, {"bytes", entry.bytes}, {"last_used", entry.lastUsed}});
    else
      llvm::outs() << entry.key << "  " << dateText(entry.lastUsed) << "  "
                   << runtime::formatBytes(entry.bytes) << "\n";
  }
  if (json)
    printJson(llvm::json::Object{{"ok", true},
                                 {"diagnostics", llvm::json::Array()},
                                 {"folder", textOf(cache.folder())},
                                 {"bytes", bytes},
                                 {"max_bytes", cache.maxBytes()},
                                 {"entries", std::move(array)}});
  else
    llvm::outs() << cache.folder() << ": " << entries->size()
                 << (entries->size() == 1 ? " entry, " : " entries, ")
                 << runtime::formatBytes(bytes) << " of at most "
                 << runtime::formatBytes(cache.maxBytes()) << "\n";
  return Done{};
}

Outcome<Done> clear(runtime::Cache &cache, bool json) {
  auto removed = cache.clear();
  if (!removed)
    return Failure::environment(removed.takeError());
  if (json)
    printJson(llvm::json::Object{{"ok", true},
                                 {"diagnostics", llvm::json::Array()},
                                 {"folder", textOf(cache.folder())},
                                 {"removed", *removed}});
  else
    llvm::outs() << cache.folder() << ": " << *removed << (*removed == 1 ? " entry" : " entries")
                 << " removed\n";
  return Done{};
}

Outcome<Done> verify(runtime::Cache &cache, bool json) {
  auto verified = cache.verify();
  if (!verified)
    return Failure::environment(verified.takeError());
  llvm::json::Array damaged;
  for (const std::string &key : verified->damaged) {
    damaged.push_back(key);
    if (!json)
      llvm::outs() << key << " was damaged; removed\n";
  }
  if (json)
    printJson(llvm::json::Object{{"ok", true},
                                 {"folder", textOf(cache.folder())},
                                 {"good", verified->good},
                                 {"damaged", std::move(damaged)}});
  else
    llvm::outs() << cache.folder() << ": " << verified->good
                 << (verified->good == 1 ? " entry is" : " entries are") << " good, "
                 << verified->damaged.size() << " damaged\n";
  return Done{};
}

int run(const CacheOptions &options) {
  Session session(options.source);
  std::optional<runtime::Error> problem;
  std::shared_ptr<runtime::Cache> cache = runtime::processCache(problem);
  if (problem)
    return failCall(session, Failure::environment(*problem), options.json);
  if (!cache)
    return failCall(session,
                    Failure::environment({"there is no cache", "TILE_CACHE_DIR is empty, or there "
                                                               "is no home directory"}),
                    options.json);
  Outcome<Done> done = options.action == "ls"      ? list(*cache, options.json)
                       : options.action == "clear" ? clear(*cache, options.json)
                                                   : verify(*cache, options.json);
  return done ? session.finish() : failCall(session, done.takeFailure(), options.json);
}
} // namespace

Command tile::frontend::cli::addCacheCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand("cache", "Look after the cache of compiled code");
  auto options = std::make_shared<CacheOptions>();
  command
      ->add_option("ACTION", options->action,
                   "ls: list what it holds; clear: remove everything; verify: read every entry,\n"
                   "and remove what is damaged")
      ->required()
      ->check(oneOf({"ls", "clear", "verify"}));
  addJsonOption(*command, options->json, "The answer");
  command->footer(
      "The cache is in TILE_CACHE_DIR, else in tilec of XDG_CACHE_HOME or ~/.cache; an empty\n"
      "TILE_CACHE_DIR means none. TILE_CACHE_SIZE (500M, 2G; 1G without it) bounds it: what was\n"
      "used least recently goes first. Removing it, whole or in part, is always safe.");
  return {command, [options] { return run(*options); }};
}
