#include "runtime/cpu/CpuImage.h"
#include "runtime/artifact/CpuReport.h"
#include "runtime/artifact/Library.h"
#include "runtime/base/Text.h"
#include "runtime/cpu/CpuFeatures.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tile::runtime {

namespace {

//===-- The library -------------------------------------------------------===//

using D1 = double (*)(double);
using D2 = double (*)(double, double);
using D3 = double (*)(double, double, double);
using F1 = float (*)(float);
using F2 = float (*)(float, float);
using F3 = float (*)(float, float, float);

template <typename Type>
void *address(Type function) {
  return reinterpret_cast<void *>(function);
}

/// The address of a function of libraryFunctions.
void *libraryFunction(size_t index) {
  static void *const functions[] = {
#define TILE_LIBRARY_FUNCTION(NAME, KIND) TILE_##KIND(NAME)
#define TILE_Memory(NAME) reinterpret_cast<void *>(&::NAME),
#define TILE_D1(NAME) address(static_cast<D1>(&::NAME)),
#define TILE_D2(NAME) address(static_cast<D2>(&::NAME)),
#define TILE_D3(NAME) address(static_cast<D3>(&::NAME)),
#define TILE_F1(NAME) address(static_cast<F1>(&::NAME)),
#define TILE_F2(NAME) address(static_cast<F2>(&::NAME)),
#define TILE_F3(NAME) address(static_cast<F3>(&::NAME)),
#include "runtime/artifact/Library.def"
#undef TILE_LIBRARY_FUNCTION
  };
  static_assert(std::size(functions) == numLibraryFunctions);
  return functions[index];
}

//===-- Files -------------------------------------------------------------===//

bool writeAll(int descriptor, const std::vector<std::byte> &bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t put = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    done += static_cast<size_t>(put);
  }
  return true;
}

struct Loaded {
  void *handle = nullptr;
  int descriptor = -1;
};

Loaded loadFromMemory(const std::vector<std::byte> &bytes, std::string &reason) {
  int descriptor = ::memfd_create("tile-kernels", MFD_CLOEXEC);
  if (descriptor < 0) {
    reason = "memfd_create: " + std::generic_category().message(errno);
    return {};
  }
  if (!writeAll(descriptor, bytes)) {
    reason = "memfd: " + std::generic_category().message(errno);
    ::close(descriptor);
    return {};
  }
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle)
    return {handle, descriptor};
  const char *message = ::dlerror();
  reason = message ? message : "dlopen";
  ::close(descriptor);
  return {};
}

Loaded loadFromFile(const std::vector<std::byte> &bytes, std::string &reason) {
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/tile-XXXXXX";
  int descriptor = ::mkstemp(path.data()); // 0600
  if (descriptor < 0) {
    reason += "; " + path + ": " + std::generic_category().message(errno);
    return {};
  }
  bool written = writeAll(descriptor, bytes);
  int code = errno;
  ::close(descriptor);
  void *handle = written ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!written) {
    reason += "; " + path + ": " + std::generic_category().message(code);
  } else if (!handle) {
    const char *message = ::dlerror();
    reason += std::string("; ") + (message ? message : "dlopen");
  }
  ::unlink(path.c_str());
  return {handle, -1};
}

} // namespace

//===-- Images ------------------------------------------------------------===//

std::string CpuImage::reasonAgainst(const ImageData &data) {
  if (data.platform != hostPlatform())
    return "it is for " + quote(data.platform) + ", this is " + std::string(hostPlatform());
  std::vector<std::string> missing = missingCpuFeatures(data.features);
  if (missing.empty())
    return "";
  std::string text;
  for (const std::string &name : missing)
    text += (text.empty() ? "" : ", ") + name;
  return "it is for " + data.cpu + ", and this processor has no " + text;
}

Result<std::shared_ptr<const CpuImage>> CpuImage::load(const ImageData &data) {
  if (std::string reason = reasonAgainst(data); !reason.empty())
    return Error{"the code can't run here: " + reason,
                 "compile it with a --target that this machine has, such as x86-64-v2"};
  std::string reason;
  Loaded loaded = loadFromMemory(data.bytes, reason);
  // The dynamic loader knows code by its file's name: another one may have it still, if somebody
  // closed that one's descriptor.
  auto wrap = [&] {
    return std::shared_ptr<CpuImage>(new CpuImage(loaded.handle, loaded.descriptor));
  };
  std::shared_ptr<CpuImage> image;
  if (loaded.handle)
    image = wrap();
  if (!image || !image->isOwn(data.id)) {
    image = nullptr;
    loaded = loadFromFile(data.bytes, reason);
    if (!loaded.handle)
      return Error{"the code can't be loaded: " + reason, ""};
    image = wrap();
    if (!image->isOwn(data.id))
      return Error{"the code can't be loaded: it is not what it should be", ""};
  }
  if (Status filled = image->fillLibrary(); !filled)
    return filled.takeError();
  return std::shared_ptr<const CpuImage>(std::move(image));
}

CpuImage::~CpuImage() {
  ::dlclose(handle);
  if (descriptor >= 0)
    ::close(descriptor);
}

void *CpuImage::find(const std::string &symbol) const { return ::dlsym(handle, symbol.c_str()); }

bool CpuImage::isOwn(uint64_t id) const {
  const void *own = find(imageIdSymbol);
  uint64_t value = 0;
  if (own)
    std::memcpy(&value, own, sizeof value);
  return own && value == id;
}

Status CpuImage::fillLibrary() const {
  const void *size = find(librarySizeSymbol);
  void *table = find(libraryTableSymbol);
  int64_t wanted = 0;
  if (size)
    std::memcpy(&wanted, size, sizeof wanted);
  if (!size || !table || wanted < 0 || static_cast<uint64_t>(wanted) > numLibraryFunctions)
    return Error{"the code calls functions that this program doesn't have",
                 "it was compiled by a newer tilec: use its runtime"};
  auto *functions = static_cast<void **>(table);
  for (int64_t n = 0; n < wanted; ++n)
    functions[n] = libraryFunction(static_cast<size_t>(n));
  return {};
}

CpuEntry describeEntry(const Signature &signature) {
  CpuEntry entry;
  entry.numParams = static_cast<uint32_t>(signature.params.size());
  entry.numDims = static_cast<uint32_t>(signature.dims.size());
  for (uint32_t n = 0; n < entry.numParams; ++n)
    if (const ParamRule &param = signature.params[n]; param.mode == ParamMode::Reduce)
      entry.reduceOutputs.push_back({n, param.combine, param.type});
  return entry;
}

Result<CpuEntry> CpuImage::entry(const Signature &signature, const std::string &symbol) const {
  CpuEntry entry = describeEntry(signature);
  entry.kernel = reinterpret_cast<CpuKernelFunction>(find(symbol));
  if (!entry.kernel) {
    entry.kernel = reinterpret_cast<CpuKernelFunction>(find(symbol + wideSumsSuffix));
    entry.hasWideSums = true;
  }
  entry.programs = reinterpret_cast<CpuQueryFunction>(find(symbol + ".programs"));
  entry.scratch = reinterpret_cast<CpuQueryFunction>(find(symbol + ".scratch"));
  entry.work = reinterpret_cast<CpuQueryFunction>(find(symbol + ".work"));
  entry.apart = reinterpret_cast<CpuQueryFunction>(find(symbol + apartSuffix));
  entry.reports = find(symbol + reportsSuffix) != nullptr;
  if (!entry.kernel || !entry.programs || !entry.scratch || !entry.work)
    return Error{"the code has no kernel " + quote(symbol), ""};
  return entry;
}

} // namespace tile::runtime
