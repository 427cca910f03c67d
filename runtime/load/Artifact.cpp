#include "runtime/base/FileIO.h"
#include "runtime/base/Text.h"
#include "runtime/launch/Evaluate.h"
#include "runtime/load/ArtifactState.h"
#include "runtime/load/Encoding.h"

#include <algorithm>

namespace tile::runtime {

//===-- Code --------------------------------------------------------------===//

Result<const CpuEntry *> Artifact::State::entry(uint32_t kernel, std::span<const int64_t> dims) {
  const KernelData &what = data.kernels[kernel];
  std::string reasons;
  for (const VariantData &variant : what.variants) {
    std::optional<int64_t> holds = 1; // without a guard
    if (!variant.guard.empty())
      holds = evaluateInteger(variant.guard, dims);
    if (!holds || !*holds)
      continue;
    std::lock_guard lock(mutex);
    if (auto known = entries.find(&variant); known != entries.end())
      return &known->second;
    if (std::string reason = CpuImage::reasonAgainst(data.images[variant.image]); !reason.empty()) {
      if (reasons.find(reason) == std::string::npos)
        reasons += (reasons.empty() ? "" : "; ") + reason;
      continue;
    }
    Result<std::shared_ptr<const CpuImage>> image = load(variant.image);
    if (!image)
      return image.takeError();
    Result<CpuEntry> entry = (*image)->entry(what.signature, variant.symbol);
    if (!entry)
      return entry.takeError();
    return &entries.emplace(&variant, *std::move(entry)).first->second;
  }
  if (reasons.empty())
    return Error{"the artifact has no code of " + inCode(what.signature.name) +
                     (what.variants.empty() ? " for processors" : " for these dimensions"),
                 what.variants.empty() ? "compile it with a --target such as native, too" : ""};
  return Error{"the code of " + inCode(what.signature.name) + " can't run here: " + reasons,
               "compile the artifact with a --target that this machine has, such as x86-64-v2"};
}

Result<std::shared_ptr<const CpuImage>> Artifact::State::load(uint32_t index) {
  if (images.empty())
    images.resize(data.images.size());
  if (images[index])
    return images[index];
  Result<std::shared_ptr<const CpuImage>> loaded = CpuImage::load(data.images[index]);
  if (loaded)
    images[index] = *loaded;
  return loaded;
}

//===-- Loading -----------------------------------------------------------===//

Result<Artifact> Artifact::fromBytes(std::span<const std::byte> bytes) {
  Result<ArtifactData> data = parseArtifact(bytes);
  if (!data)
    return data.takeError();
  auto state = std::make_shared<State>();
  state->data = *std::move(data);
  state->hash = contentHash(bytes);
  for (const KernelData &kernel : state->data.kernels)
    state->signatures.push_back(&kernel.signature);
  return Artifact(std::move(state));
}

Result<Artifact> Artifact::load(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.takeError();
  Result<AlignedBytes> bytes = allocateAligned(file->size(), "the artifact " + quote(path));
  if (!bytes)
    return bytes.takeError();
  std::span<std::byte> content(bytes->get(), file->size());
  if (Status read = file->readAt(0, content); !read)
    return read.takeError();
  Result<Artifact> artifact = fromBytes(content);
  if (!artifact) {
    Error error = artifact.takeError();
    return Error{quote(path) + ": " + error.message, error.hint};
  }
  return artifact;
}

std::vector<std::string> Artifact::names() const {
  std::vector<std::string> names;
  for (const EntryData &entry : state->data.entries)
    if (std::find(names.begin(), names.end(), entry.name) == names.end())
      names.push_back(entry.name);
  return names;
}

Hash128 Artifact::hash() const { return state->hash; }
const ArtifactData &Artifact::data() const { return state->data; }

Result<ArtifactFunction> Artifact::function(const std::string &name) const {
  auto found = std::make_shared<ArtifactFunction::State>();
  found->artifact = state;
  found->name = name;
  for (const EntryData &entry : state->data.entries)
    if (entry.name == name)
      found->entries.push_back(&entry);
  if (!found->entries.empty())
    return ArtifactFunction(std::move(found));
  std::string list;
  std::vector<std::string> all = names();
  for (const std::string &known : all)
    list += (list.empty() ? "" : ", ") + known;
  std::vector<std::string_view> candidates(all.begin(), all.end());
  std::string_view near = nearest(name, candidates);
  return Error{"the artifact has no kernel or graph " + inCode(name),
               (near.empty() ? "" : "did you mean `" + std::string(near) + "`? ") +
                   (list.empty() ? "it has none" : "it has " + list)};
}

} // namespace tile::runtime
