#include "runtime/launch/KernelReports.h"
#include "runtime/launch/PrintText.h"
#include "runtime/launch/Sanitizer.h"

#include <charconv>
#include <cstdio>
#include <vector>

namespace tile::runtime {

static_assert(sizeof(std::atomic<int64_t>) == sizeof(int64_t) &&
              std::atomic<int64_t>::is_always_lock_free);

static std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

KernelReports::Chunk::Chunk(KernelReports &all, int64_t number) : all(all), number(number) {
  failedProgram = reinterpret_cast<const int64_t *>(&all.failedProgram);
  fail = &KernelReports::onFail;
  print = &KernelReports::onPrint;
  enter = &KernelReports::onEnter;
  access = &KernelReports::onAccess;
}

//===-- Watching ----------------------------------------------------------===//

void KernelReports::onEnter(CpuReport *report, int64_t program, const int64_t *coordinates) {
  if (Sanitizer *sanitizer = static_cast<Chunk *>(report)->all.sanitizer)
    sanitizer->enter(program, coordinates);
}

int64_t KernelReports::onAccess(CpuReport *report, int64_t site, const int64_t *indices,
                                int64_t happens) {
  Sanitizer *sanitizer = static_cast<Chunk *>(report)->all.sanitizer;
  return happens && (!sanitizer || sanitizer->access(static_cast<uint32_t>(site), indices));
}

//===-- Assertions --------------------------------------------------------===//

void KernelReports::onFail(CpuReport *report, const char *site, int64_t program,
                           const int64_t *values) {
  KernelReports &all = static_cast<Chunk *>(report)->all;
  std::vector<std::string_view> fields = decodeSite(site);
  auto coordinates = [&](std::string_view names) {
    std::string text;
    for (std::string_view name : linesOf(names))
      text += (text.empty() ? "" : ", ") + std::string(name) + " = " + std::to_string(*values++);
    return text;
  };
  AssertionFailure failure;
  std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), failure.site);
  failure.place = fields[1];
  std::string at = coordinates(fields[3]), element = coordinates(fields[4]);
  failure.message = "assertion failed: " + std::string(fields[2]) +
                    (element.empty() ? "" : ", at [" + element + "]") +
                    (at.empty() ? "" : " (in the program at " + at + ")");
  std::lock_guard lock(all.mutex);
  if (program >= all.failedProgram.load(std::memory_order_relaxed))
    return;
  all.failedProgram.store(program, std::memory_order_relaxed);
  all.first = std::move(failure);
}

//===-- Prints ------------------------------------------------------------===//

void KernelReports::onPrint(CpuReport *report, const char *site, const void *values) {
  auto *chunk = static_cast<Chunk *>(report);
  std::vector<std::string_view> fields = decodeSite(site);
  const auto *word = static_cast<const std::byte *>(values);
  auto take = [&]<typename T>(T &into) {
    std::memcpy(&into, word, sizeof into);
    word += 8;
  };
  PrintText text;
  for (size_t n = 2; n < fields.size(); ++n) {
    if (n % 2 == 0) {
      text.add(fields[n]);
      continue;
    }
    std::vector<std::string_view> names = linesOf(fields[n]);
    PrintValue value;
    Result<DType> type = parseDType(names[0]);
    if (!type)
      return; // no code of ours
    value.type = *type;
    value.data = word;
    std::vector<PrintAxis> axes(names.size() - 1);
    if (axes.empty()) {
      word += 8;
    } else {
      take(value.data);
      take(value.defined);
    }
    for (size_t d = 0; d < axes.size(); ++d) {
      axes[d].name = names[d + 1];
      take(axes[d].lower);
      take(axes[d].upper);
      take(axes[d].stride);
    }
    value.axes = axes;
    text.add(value);
  }
  chunk->text += text.take();
  KernelReports &all = chunk->all;
  std::lock_guard lock(all.mutex);
  if (all.next == chunk->number)
    all.show(chunk->text);
}

/// With the mutex held.
void KernelReports::show(std::string &text) {
  if (text.empty())
    return;
  if (to && to->print)
    to->print(text);
  else
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
  text.clear();
}

void KernelReports::Chunk::finish(int64_t, int64_t hi) {
  std::lock_guard lock(all.mutex);
  all.waiting[number] = {std::move(text), hi};
  int64_t failed = all.failedProgram.load(std::memory_order_relaxed);
  while (!all.waiting.empty() && all.waiting.begin()->first == all.next) {
    Waiting first = std::move(all.waiting.begin()->second);
    all.waiting.erase(all.waiting.begin());
    all.show(first.text);
    // What comes after a failure is not shown: it might not have run.
    if (failed < first.end)
      return;
    ++all.next;
  }
}

} // namespace tile::runtime
