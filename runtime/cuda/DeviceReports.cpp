#include "runtime/cuda/DeviceReports.h"
#include "runtime/launch/KernelReports.h"

#include <algorithm>
#include <cstring>

namespace tile::runtime::cuda {

Result<DeviceReports> DeviceReports::create(std::shared_ptr<Stream> stream, uint64_t capacity) {
  auto buffer = DeviceBuffer::allocate(std::move(stream), sizeof(GpuReport) + capacity);
  if (!buffer) {
    Error error = buffer.takeError();
    if (capacity)
      error.hint =
          "what the kernel prints, and what --sanitize watches, takes memory of the device: "
          "smaller shapes take less";
    return error;
  }
  DeviceReports reports(*std::move(buffer), capacity);
  if (Status done = reports.buffer.upload(std::as_bytes(std::span(&reports.header, 1))); !done)
    return done.takeError();
  return reports;
}

Status DeviceReports::read() {
  if (Status done = buffer.download(std::as_writable_bytes(std::span(&header, 1))); !done)
    return done;
  records.clear();
  if (!isWhole())
    return {};
  records.resize(header.used);
  return buffer.download(std::span(records), sizeof(GpuReport));
}

/// The offsets of a print's words as addresses; none where they lead out of the record.
static bool resolve(std::byte *record, uint64_t bytes, const std::string &site) {
  std::vector<std::string_view> fields = decodeSite(site.data());
  uint64_t at = sizeof(GpuRecord);
  auto makeAddress = [&](uint64_t place) {
    uint64_t word;
    std::memcpy(&word, record + place, sizeof word);
    if (word >= bytes)
      return false;
    word = word ? reinterpret_cast<uint64_t>(record + word) : 0;
    std::memcpy(record + place, &word, sizeof word);
    return true;
  };
  for (size_t n = 3; n < fields.size(); n += 2) {
    auto rank = static_cast<uint64_t>(std::count(fields[n].begin(), fields[n].end(), '\n'));
    uint64_t size = 8 * (rank ? 2 + 3 * rank : 1);
    if (size > bytes - at)
      return false;
    if (rank && (!makeAddress(at) || !makeAddress(at + 8)))
      return false;
    at += size;
  }
  return true;
}

static int64_t wordAt(const std::byte *data, uint64_t offset) {
  int64_t word;
  std::memcpy(&word, data + offset, sizeof word);
  return word;
}

/// Whether a record of a watched kernel has the form it ought to have.
static bool isAccess(const GpuRecord &record, const std::byte *data, size_t sites) {
  constexpr uint64_t head = sizeof(GpuRecord) + 8;
  if (record.site == gpuProgramRecord)
    return true;
  if (record.bytes < head || record.site - gpuAccessRecord >= sites)
    return false;
  constexpr int64_t mostIndices = 64;
  int64_t rank = wordAt(data, sizeof(GpuRecord));
  return rank >= 0 && rank <= mostIndices &&
         (record.bytes - head) % (8 * (1 + static_cast<uint64_t>(rank))) == 0;
}

static void watch(KernelReports::Chunk &chunk, const GpuRecord &record, const std::byte *data) {
  constexpr uint64_t head = sizeof(GpuRecord) + 8;
  std::vector<int64_t> words;
  if (record.site == gpuProgramRecord) {
    for (uint64_t at = sizeof(GpuRecord); at < record.bytes; at += 8)
      words.push_back(wordAt(data, at));
    return chunk.enter(&chunk, record.program, words.data());
  }
  auto rank = static_cast<uint64_t>(wordAt(data, sizeof(GpuRecord)));
  words.resize(rank);
  for (uint64_t at = head; at < record.bytes; at += 8 * (1 + rank)) {
    for (uint64_t d = 0; d < rank; ++d)
      words[d] = wordAt(data, at + 8 * (1 + d));
    (void)chunk.access(&chunk, static_cast<int64_t>(record.site - gpuAccessRecord), words.data(),
                       wordAt(data, at));
  }
}

Status DeviceReports::tell(KernelReports &reports, std::span<const std::string> sites) {
  const Error damaged{"what a kernel said on the device can't be read: its code and this program "
                      "don't belong together",
                      "compile it anew"};
  struct Said {
    GpuRecord record;
    std::byte *data;
  };
  std::vector<Said> said;
  for (uint64_t at = 0; at < records.size();) {
    GpuRecord record;
    if (records.size() - at < sizeof record)
      return damaged;
    std::memcpy(&record, records.data() + at, sizeof record);
    if (record.bytes < sizeof record || record.bytes > records.size() - at)
      return damaged;
    bool isWatched = record.site >= gpuAccessRecord;
    if (isWatched ? !isAccess(record, records.data() + at, sites.size())
                  : record.site >= sites.size() || sites[record.site].empty() ||
                        !resolve(records.data() + at, record.bytes, sites[record.site]))
      return damaged;
    said.push_back({record, records.data() + at});
    at += record.bytes;
  }
  bool failed = header.failedProgram != INT64_MAX;
  if (failed && (header.failedSite >= sites.size() || sites[header.failedSite].empty()))
    return damaged;
  // Those of one program stay in their order.
  std::stable_sort(said.begin(), said.end(), [](const Said &x, const Said &y) {
    return x.record.program < y.record.program;
  });
  KernelReports::Chunk chunk(reports, 0);
  for (const Said &one : said) {
    if (one.record.program > header.failedProgram)
      break;
    if (one.record.site < gpuAccessRecord)
      chunk.print(&chunk, sites[one.record.site].data(), one.data + sizeof(GpuRecord));
    else
      watch(chunk, one.record, one.data);
  }
  if (failed)
    chunk.fail(&chunk, sites[header.failedSite].data(), header.failedProgram, header.values);
  chunk.finish(0, INT64_MAX);
  return {};
}

} // namespace tile::runtime::cuda
