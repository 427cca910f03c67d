//===- ArtifactInfo.cpp - tilec info on artifacts -------------------------===//

#include "frontend/cli/DiagnosticJson.h"
#include "frontend/cli/RunOptions.h"
#include "runtime/base/Text.h"
#include "runtime/load/Artifact.h"

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

static llvm::json::Object toJson(const runtime::EntryData &entry,
                                 const runtime::ArtifactData &data) {
  const runtime::Signature &signature =
      entry.isGraph ? data.graphs[entry.index].signature() : data.kernels[entry.index].signature;
  llvm::json::Array inputs, outputs;
  llvm::json::Object types;
  for (const ParamRule &param : signature.params)
    (isInput(param) ? inputs : outputs)
        .push_back(llvm::json::Object{{"name", param.name},
                                      {"declaration", runtime::declarationOf(param)},
                                      {"inout", param.mode == ParamMode::InOut}});
  for (const auto &[generic, type] : entry.types)
    types[generic] = type;
  llvm::json::Object object{{"kind", entry.isGraph ? "graph" : "kernel"},
                            {"name", entry.name},
                            {"types", std::move(types)},
                            {"inputs", std::move(inputs)},
                            {"outputs", std::move(outputs)}};
  if (entry.isGraph)
    return object;
  llvm::json::Array variants;
  auto sizesOf = [](const auto &schedule) {
    llvm::json::Object sizes;
    for (const auto &[binder, size] : schedule)
      sizes[binder] = size;
    return sizes;
  };
  for (const runtime::VariantData &variant : data.kernels[entry.index].variants)
    variants.push_back(llvm::json::Object{{"target", data.images[variant.image].cpu},
                                          {"schedule", sizesOf(variant.schedule)}});
  for (const runtime::CudaVariant &variant : data.kernels[entry.index].cuda)
    variants.push_back(llvm::json::Object{{"target", variant.code.target},
                                          {"schedule", sizesOf(variant.schedule)},
                                          {"condition", textOf(variant.condition)},
                                          {"threads", variant.code.function.threads},
                                          {"shared_bytes", variant.code.function.sharedBytes}});
  object["variants"] = std::move(variants);
  return object;
}

static void printArtifact(const std::string &path, const std::string &name,
                          const runtime::Artifact &artifact, const Session &session) {
  const runtime::ArtifactData &data = artifact.data();
  llvm::json::Array entries, images;
  for (const runtime::EntryData &entry : data.entries)
    if (name.empty() || entry.name == name)
      entries.push_back(toJson(entry, data));
  for (const runtime::ImageData &image : data.images)
    images.push_back(llvm::json::Object{{"target", image.cpu},
                                        {"platform", image.platform},
                                        {"bytes", static_cast<int64_t>(image.bytes.size())},
                                        {"needs", llvm::json::Array(image.features)}});
  printJson(llvm::json::Object{{"ok", true},
                               {"file", textOf(path)},
                               {"artifact", artifact.hash().str()},
                               {"producer", textOf(data.producer)},
                               {"code", std::move(images)},
                               {"declarations", std::move(entries)},
                               {"diagnostics", cli::toJson(session.diags)}});
}

int tile::frontend::cli::describeArtifact(const std::string &path, const std::string &name,
                                          const SourceOptions &options, bool json) {
  Session session(options);
  auto artifact = runtime::Artifact::load(path);
  if (!artifact)
    return failCall(session, Failure::environment(artifact.takeError()), json);
  if (!name.empty())
    if (auto function = artifact->function(name); !function)
      return failCall(session, Failure::usage(function.takeError()), json);
  if (json) {
    printArtifact(path, name, *artifact, session);
    return success;
  }
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
