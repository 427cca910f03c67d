//===- ArtifactInfo.cpp - tilec info on artifacts -------------------------===//

#include "frontend/cli/RunOptions.h"
#include "runtime/Artifact.h"
#include "runtime/Text.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::frontend;
using namespace tile::frontend::cli;
using runtime::ParamMode;
using runtime::ParamRule;

static bool isInput(const ParamRule &param) {
  return param.mode == ParamMode::In || param.mode == ParamMode::InOut;
}

static void showEntry(llvm::raw_ostream &out, const runtime::EntryData &entry,
                      const runtime::ArtifactData &data) {
  const runtime::Signature &signature =
      entry.isGraph ? data.graphs[entry.index].signature() : data.kernels[entry.index].signature;
  std::string inputs, outputs, types;
  for (const ParamRule &param : signature.params) {
    std::string mode = param.mode == ParamMode::InOut ? "inout " : "";
    if (isInput(param))
      inputs += (inputs.empty() ? "" : ", ") + mode + runtime::declarationOf(param);
    else
      outputs += (outputs.empty() ? "" : ", ") + runtime::declarationOf(param);
  }
  for (const auto &[generic, type] : entry.types)
    types += (types.empty() ? "<" : ", ") + generic + " = " + type;
  out << (entry.isGraph ? "graph " : "kernel ") << entry.name << types << (types.empty() ? "" : ">")
      << "(" << inputs << ") -> (" << outputs << ")\n";
  if (entry.isGraph)
    return;
  auto show = [&](const std::string &target, const auto &schedule) {
    out << "    for " << target;
    for (const auto &[binder, size] : schedule)
      out << " " << binder << "=" << size;
  };
  for (const runtime::VariantData &variant : data.kernels[entry.index].variants) {
    show(data.images[variant.image].cpu, variant.schedule);
    out << "\n";
  }
  for (const runtime::CudaVariant &variant : data.kernels[entry.index].cuda) {
    const runtime::CudaFunction &function = variant.code.function;
    show(variant.code.target, variant.schedule);
    out << (variant.condition.empty() ? "" : " where ") << variant.condition << ": "
        << function.threads << " threads, " << function.sharedBytes << " bytes of shared memory";
    if (function.blocks > 1)
      out << ", " << function.blocks << " blocks a program";
    out << "\n";
  }
}

/// What code for GPUs takes, by target.
static void showGpuCode(llvm::raw_ostream &out, const runtime::ArtifactData &data) {
  struct Total {
    size_t variants = 0, ptx = 0, cubins = 0;
  };
  llvm::MapVector<llvm::StringRef, Total> totals;
  for (const runtime::KernelData &kernel : data.kernels)
    for (const runtime::CudaVariant &variant : kernel.cuda) {
      Total &total = totals[variant.code.target];
      ++total.variants;
      total.ptx += variant.code.image.size();
      total.cubins += variant.cubin.size();
    }
  for (const auto &[target, total] : totals) {
    out << "code for " << target << ", " << total.variants << " variants, " << total.ptx
        << " bytes of PTX";
    if (total.cubins)
      out << " and " << total.cubins << " of machine code";
    out << "\n";
  }
}

int tile::frontend::cli::describeArtifact(const std::string &file, const SourceOptions &options) {
  Session session(options);
  auto [path, name] = splitEntry(file);
  auto artifact = runtime::Artifact::load(path);
  if (!artifact)
    return session.fail(Failure::environment(artifact.takeError()));
  if (!name.empty())
    if (auto function = artifact->function(name); !function)
      return session.fail(Failure::usage(function.takeError()));
  const runtime::ArtifactData &data = artifact->data();
  std::string text;
  llvm::raw_string_ostream out(text);
  if (name.empty()) {
    out << path << ": artifact " << artifact->hash().str() << " by " << data.producer << "\n";
    for (const runtime::ImageData &image : data.images)
      out << "code for " << image.cpu << " (" << image.platform << "), " << image.bytes.size()
          << " bytes, needs " << llvm::join(image.features, " ") << "\n";
    showGpuCode(out, data);
    out << "\n";
  }
  for (const runtime::EntryData &entry : data.entries)
    if (name.empty() || entry.name == name)
      showEntry(out, entry, data);
  // Names in an artifact are whatever its author wrote.
  llvm::outs() << runtime::visible(text);
  return session.finish();
}
