//===- GpuAssembly.cpp - from PTX to machine code, ahead of time ----------===//

#include "frontend/artifact/GpuAssembly.h"

#include "runtime/base/Text.h"
#include "runtime/cuda/Assemble.h"
#include "runtime/cuda/PtxTarget.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <memory>

using namespace tile;
using namespace tile::frontend;
namespace cuda = tile::runtime::cuda;

//===-- Programs ----------------------------------------------------------===//

std::string tile::frontend::findToolkitProgram(llvm::StringRef name) {
  if (auto found = llvm::sys::findProgramByName(name))
    return *found;
  bool isNamed = false;
  llvm::SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable)) {
      isNamed = true;
      folders.push_back(std::string(folder) + "/bin");
    }
  if (!isNamed)
    folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders)
    if (auto found = llvm::sys::findProgramByName(name, {folder}))
      return *found;
  return "";
}

namespace {
/// A file that is gone when this is, or when the process is interrupted.
class TemporaryFile {
public:
  static Outcome<TemporaryFile> create(llvm::StringRef suffix, llvm::StringRef content) {
    llvm::SmallString<128> path;
    int descriptor;
    if (auto problem = llvm::sys::fs::createTemporaryFile("tilec", suffix, descriptor, path))
      return cannotWrite("a temporary file", problem.message());
    TemporaryFile file(path.str());
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << content;
    stream.close();
    if (stream.has_error()) {
      std::string reason = stream.error().message();
      stream.clear_error();
      return cannotWrite(runtime::quote(file.path()), reason);
    }
    return file;
  }

  const std::string &path() const { return *owned; }

private:
  struct Remover {
    void operator()(const std::string *path) const {
      llvm::sys::fs::remove(*path);
      llvm::sys::DontRemoveFileOnSignal(*path);
      delete path;
    }
  };

  explicit TemporaryFile(llvm::StringRef path) : owned(new std::string(path)) {
    llvm::sys::RemoveFileOnSignal(*owned);
  }
  static Failure cannotWrite(const std::string &what, const std::string &reason) {
    return Failure::environment(
        {what + " can't be written: " + reason, "TMPDIR names the folder of temporary files"});
  }

  std::unique_ptr<const std::string, Remover> owned;
};

struct Ran {
  int code = 0;
  /// Standard output and standard error.
  std::string output, errors;
};
} // namespace

/// Runs a program to its end.
static Outcome<Ran> runProgram(const std::string &program, llvm::ArrayRef<std::string> arguments) {
  auto output = TemporaryFile::create("out", "");
  if (!output)
    return output.takeFailure();
  auto errors = TemporaryFile::create("err", "");
  if (!errors)
    return errors.takeFailure();
  llvm::SmallVector<llvm::StringRef> words = {program};
  words.append(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), llvm::StringRef(output->path()),
                                                llvm::StringRef(errors->path())};
  Ran ran;
  std::string reason;
  ran.code = llvm::sys::ExecuteAndWait(program, words, std::nullopt, redirects,
                                       /*SecondsToWait=*/600, /*MemoryLimit=*/0, &reason);
  if (ran.code < 0)
    return Failure::environment({runtime::quote(program) + " can't be run: " + reason, ""});
  for (auto [file, text] : {std::pair(&*output, &ran.output), std::pair(&*errors, &ran.errors)})
    if (auto buffer = llvm::MemoryBuffer::getFile(file->path(), /*IsText=*/false,
                                                  /*RequiresNullTerminator=*/false))
      *text = (*buffer)->getBuffer().str();
  return ran;
}

static Failure programFailed(const std::string &program, const Ran &ran, const std::string &hint) {
  std::string said = llvm::StringRef(ran.errors.empty() ? ran.output : ran.errors).trim().str();
  return Failure::environment({runtime::quote(program) + " fails with exit code " +
                                   std::to_string(ran.code) + (said.empty() ? "" : ": " + said),
                               hint});
}

//===-- Targets -----------------------------------------------------------===//

Outcome<GpuChoice> tile::frontend::chooseGpu(llvm::StringRef target) {
  if (target != "native")
    return GpuChoice{target.str(), std::nullopt};
  auto none = [](runtime::Error error) {
    return Failure::environment(
        {"--target=native is the GPU of this machine: " + std::move(error.message),
         "name the target to compile for, such as --target=sm_90a; that needs no device"});
  };
  auto driver = cuda::Driver::open();
  if (!driver)
    return none(driver.takeError());
  auto devices = cuda::Device::list(**driver);
  if (!devices)
    return none(devices.takeError());
  if (devices->empty())
    return none(cuda::Device::noDevice());
  const cuda::DeviceProperties &device = devices->front();
  auto name = cuda::targetFor(device.major, device.minor);
  if (!name)
    return none(name.takeError());
  return GpuChoice{*name, device};
}

/// Whether code for a target runs on a device without being compiled anew: the same major, and no
/// newer a minor.
static bool runsCubin(const cuda::PtxTarget &target, const cuda::DeviceProperties &device) {
  return target.major == device.major && target.minor <= device.minor;
}

//===-- Cubins ------------------------------------------------------------===//

/// "    48 bytes stack frame, 40 bytes spill stores, 40 bytes spill loads", of each function: the
/// most. ptxas says it with -v, and the driver's compiler in the same words.
static int64_t localBytesOf(llvm::StringRef said) {
  int64_t most = 0;
  while (!said.empty()) {
    auto [line, rest] = said.split('\n');
    auto [before, after] = line.split(" bytes stack frame");
    int64_t bytes;
    if (before.size() != line.size() && !before.trim().getAsInteger(10, bytes))
      most = std::max(most, bytes);
    said = rest;
  }
  return most;
}

static Outcome<Cubin> assembleByPtxas(const std::string &ptxas, llvm::StringRef ptx,
                                      const std::string &target) {
  auto input = TemporaryFile::create("ptx", ptx);
  if (!input)
    return input.takeFailure();
  auto output = TemporaryFile::create("cubin", "");
  if (!output)
    return output.takeFailure();
  auto ran = runProgram(ptxas, {"-arch=" + target, input->path(), "-o", output->path(), "-v"});
  if (!ran)
    return ran.takeFailure();
  if (ran->code != 0)
    return programFailed(ptxas, *ran, "it may be older than the target: --emit=ptx shows the code");
  auto buffer = llvm::MemoryBuffer::getFile(output->path(), false, false);
  if (!buffer || (*buffer)->getBufferSize() == 0)
    return Failure::environment({runtime::quote(ptxas) + " gives no code", ""});
  return Cubin{(*buffer)->getBuffer().str(), localBytesOf(ran->errors + "\n" + ran->output)};
}

static Outcome<Cubin> assembleByDriver(llvm::StringRef ptx, const GpuChoice &choice) {
  auto target = cuda::parsePtxTarget({ptx.data(), ptx.size()});
  auto failed = [&](const std::string &reason) {
    return Failure::environment(
        {"a cubin for " + choice.target +
             " is made by ptxas, which isn't found, or by the driver "
             "of such a device: " +
             reason,
         "put the `bin` of NVIDIA's toolkit into PATH, or its folder into CUDA_HOME; --emit=ptx "
         "needs neither"});
  };
  auto driver = cuda::Driver::open();
  if (!driver)
    return failed(driver.error().message);
  auto device = cuda::Device::open(*driver);
  if (!device)
    return failed(device.error().message);
  const cuda::DeviceProperties &properties = (*device)->properties();
  // The driver compiles for its own device alone.
  bool isAsked = target && target->major == properties.major && target->minor == properties.minor;
  if (!choice.device && !isAsked)
    return failed(properties.label() + " has compute capability " + properties.capability());
  auto code = cuda::assemble(**device, {ptx.data(), ptx.size()});
  if (!code)
    return Failure::environment(code.takeError());
  return Cubin{{reinterpret_cast<const char *>(code->cubin.data()), code->cubin.size()},
               localBytesOf(code->infoLog)};
}

Outcome<Cubin> tile::frontend::assembleCubin(llvm::StringRef ptx, const GpuChoice &choice) {
  auto target = cuda::parsePtxTarget({ptx.data(), ptx.size()});
  // What ptxas makes for the target may be of no use to the very device that was asked for.
  bool isForDriver = choice.device && target && !runsCubin(*target, *choice.device);
  std::string ptxas = isForDriver ? "" : findToolkitProgram("ptxas");
  return ptxas.empty() ? assembleByDriver(ptx, choice) : assembleByPtxas(ptxas, ptx, choice.target);
}

//===-- Text --------------------------------------------------------------===//

Outcome<std::string> tile::frontend::disassemble(llvm::StringRef cubin) {
  std::string program = findToolkitProgram("nvdisasm");
  std::vector<std::string> arguments = {"-c"};
  if (program.empty()) {
    program = findToolkitProgram("cuobjdump");
    arguments = {"-sass"};
  }
  if (program.empty())
    return Failure::environment(
        {"machine code is shown by nvdisasm or cuobjdump, and neither is found",
         "put the `bin` of NVIDIA's toolkit into PATH, or its folder into CUDA_HOME; --emit=ptx "
         "and --emit=cubin need neither"});
  auto input = TemporaryFile::create("cubin", cubin);
  if (!input)
    return input.takeFailure();
  arguments.push_back(input->path());
  auto ran = runProgram(program, arguments);
  if (!ran)
    return ran.takeFailure();
  if (ran->code != 0)
    return programFailed(program, *ran, "");
  return std::move(ran->output);
}
