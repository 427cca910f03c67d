// libFuzzer target: any bytes as an artifact, and as what stands behind an artifact's header, whose
// hash random bytes would never have. What is read is consistent: it can be written again, and
// shapes can be bound by its rules. Nothing crashes, leaks or takes memory beyond its size.

#include "runtime/launch/Binding.h"
#include "runtime/load/Encoding.h"

#include <cstdlib>

using namespace tile::runtime;

/// Runs the signature's programs on small shapes.
static void bind(const Signature &signature) {
  std::vector<std::vector<int64_t>> shapes;
  std::vector<uint64_t> scalars;
  for (const ParamRule &param : signature.params) {
    shapes.emplace_back(param.isTensor ? param.shape.size() : 0, 3);
    scalars.push_back(shapes.size());
  }
  std::vector<std::span<const int64_t>> views(shapes.begin(), shapes.end());
  if (Result<LaunchBinding> binding = bindLaunch(signature, views, {}))
    (void)checkRequires(signature, binding->dims, scalars);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span bytes = std::as_bytes(std::span(data, size));
  (void)isArtifact(bytes);
  (void)parseArtifact(bytes);
  (void)parsePayload(bytes, oldestArtifactVersion);
  Result<ArtifactData> artifact = parsePayload(bytes);
  if (!artifact)
    return 0;
  std::vector<std::byte> written = serialize(*artifact);
  Result<ArtifactData> again = parseArtifact(written);
  if (!again || serialize(*again) != written)
    std::abort();
  for (const KernelData &kernel : artifact->kernels)
    bind(kernel.signature);
  return 0;
}
