#include "runtime/base/FileIO.h"
#include "runtime/base/Text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tile::runtime {

namespace fs = std::filesystem;

namespace {

std::string systemMessage(int code) {
  std::string text = std::generic_category().message(code);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] + 32);
  return text;
}

std::string hintFor(int code) {
  switch (code) {
  case ENOENT:
    return "check the name and the current directory";
  case EACCES:
  case EPERM:
    return "check the permissions of the file and of its directory";
  case ENOSPC:
  case EDQUOT:
    return "free some space or write elsewhere";
  case ELOOP:
    return "its symbolic links lead in a circle: name the file itself";
  case EISDIR:
    return "name a file inside it";
  default:
    return "";
  }
}

Error readError(const std::string &path, int code) {
  return {"cannot read " + quote(path) + ": " + systemMessage(code), hintFor(code)};
}

Error writeError(const std::string &path, int code) {
  return {"cannot write " + quote(path) + ": " + systemMessage(code), hintFor(code)};
}

/// Calls until it is not interrupted by a signal.
template <typename Call>
auto uninterrupted(Call call) {
  decltype(call()) result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

/// The kernel moves at most about 2 GiB a call.
constexpr size_t mostPerCall = size_t(1) << 30;

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Result<InputFile> InputFile::open(const std::string &path) {
  if (path.find('\0') != std::string::npos)
    return Error{"cannot read " + quote(path) + ": the name holds a zero byte", ""};
  // Not blocking, so that opening a pipe without a writer returns.
  int descriptor =
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (descriptor < 0)
    return readError(path, errno);
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    int code = errno;
    ::close(descriptor);
    return readError(path, code);
  }
  InputFile file(path, descriptor, static_cast<uint64_t>(status.st_size));
  if (S_ISDIR(status.st_mode))
    return readError(path, EISDIR);
  if (!S_ISREG(status.st_mode))
    return Error{"cannot read " + quote(path) + ": it is a pipe or a device",
                 "store the data in an ordinary file first"};
  return file;
}

InputFile::InputFile(InputFile &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)),
      length(other.length) {}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status InputFile::readAt(uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    size_t wanted = std::min(bytes.size(), mostPerCall);
    ssize_t got = uninterrupted(
        [&] { return ::pread(descriptor, bytes.data(), wanted, static_cast<off_t>(offset)); });
    if (got < 0)
      return readError(name, errno);
    if (got == 0)
      return Error{"cannot read " + quote(name) + ": it ends at byte " + std::to_string(offset) +
                       ", " + formatBytes(bytes.size()) + " too early",
                   "the file is damaged, or another program is writing it"};
    bytes = bytes.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// A new file beside the target; removed again unless it was renamed to the target.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string target) : target(std::move(target)) {}
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (descriptor >= 0)
      ::close(descriptor);
    if (!name.empty())
      ::unlink(name.c_str());
  }

  /// 0 or an error number, like the other steps.
  int create() {
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; attempt < 1000; ++attempt) {
      // A name of fixed length: the target's own may already be the longest that there can be.
      std::string candidate =
          (fs::path(target).parent_path() /
           (".tile-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp"))
              .string();
      descriptor = uninterrupted(
          [&] { return ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
      if (descriptor >= 0) {
        name = std::move(candidate);
        return 0;
      }
      if (errno != EEXIST)
        return errno;
    }
    return EEXIST;
  }

  int write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      size_t wanted = std::min(bytes.size(), mostPerCall);
      ssize_t put = uninterrupted([&] { return ::write(descriptor, bytes.data(), wanted); });
      if (put < 0)
        return errno;
      bytes = bytes.subspan(static_cast<size_t>(put));
    }
    return 0;
  }

  int setMode(mode_t mode) { return ::fchmod(descriptor, mode) == 0 ? 0 : errno; }

  int renameToTarget() {
    // Network file systems report a full disk only here.
    if (::close(std::exchange(descriptor, -1)) != 0)
      return errno;
    if (::rename(name.c_str(), target.c_str()) != 0)
      return errno;
    name.clear();
    return 0;
  }

private:
  std::string target, name;
  int descriptor = -1;
};

} // namespace

std::string canonicalPath(const std::string &path) {
  // Of a relative path that doesn't exist, `weakly_canonical` leaves a relative one.
  std::error_code problem;
  fs::path absolute = fs::absolute(path, problem);
  fs::path canonical = problem ? fs::path() : fs::weakly_canonical(absolute, problem);
  return problem ? path : canonical.string();
}

namespace {
/// What a new file takes the place of.
struct Place {
  std::string target;
  /// Of the file that is there.
  std::optional<mode_t> mode;
};
} // namespace

static Result<Place> placeFor(const std::string &path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Error{"cannot write to " + quote(path) + ": this is no file name", ""};
  // Renaming would replace a link by a file; the file that it names is meant, also where there is
  // none yet.
  std::error_code problem;
  Place place{path, {}};
  for (int links = 0; fs::is_symlink(place.target, problem); ++links) {
    constexpr int mostLinks = 40; // as the system follows
    fs::path next = fs::read_symlink(place.target, problem);
    if (problem || links == mostLinks)
      return writeError(path, problem ? problem.value() : ELOOP);
    place.target = (fs::path(place.target).parent_path() / next).string();
  }

  struct stat existing;
  bool exists = ::stat(place.target.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode))
    return writeError(path, EISDIR);
  if (exists && !S_ISREG(existing.st_mode))
    return Error{"cannot write " + quote(path) + ": it is a pipe or a device",
                 "name an ordinary file"};
  // Renaming asks only the directory; a file marked read-only should stay.
  if (exists && ::faccessat(AT_FDCWD, place.target.c_str(), W_OK, AT_EACCESS) != 0)
    return writeError(path, errno);
  if (exists)
    place.mode = existing.st_mode & 07777;
  return place;
}

static Error createError(const std::string &path, int code) {
  return code == ENOENT ? Error{"cannot write " + quote(path) + ": its directory doesn't exist",
                                "create the directory first"}
                        : writeError(path, code);
}

Status checkReplaceable(const std::string &path) {
  Result<Place> place = placeFor(path);
  if (!place)
    return place.takeError();
  TemporaryFile temporary(place->target);
  if (int code = temporary.create())
    return createError(path, code);
  return {};
}

Status replaceFile(const std::string &path, std::span<const std::span<const std::byte>> pieces) {
  Result<Place> place = placeFor(path);
  if (!place)
    return place.takeError();
  TemporaryFile temporary(place->target);
  if (int code = temporary.create())
    return createError(path, code);
  for (std::span<const std::byte> piece : pieces)
    if (int code = temporary.write(piece))
      return writeError(path, code);
  if (place->mode)
    if (int code = temporary.setMode(*place->mode))
      return writeError(path, code);
  if (int code = temporary.renameToTarget())
    return writeError(path, code);
  return {};
}

} // namespace tile::runtime
