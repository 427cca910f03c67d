// Artifacts as bytes: version 6 of the format (docs/artifact.md). Versions from 1
// on are read as well.
#pragma once

#include "runtime/artifact/ArtifactData.h"
#include "runtime/artifact/CudaCode.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Result.h"

#include <optional>
#include <span>
#include <vector>

namespace tile::runtime {

inline constexpr uint32_t artifactVersion = 7, oldestArtifactVersion = 1;
inline constexpr size_t artifactHeaderSize = 48;

/// Whether bytes begin as those of an artifact do, of whatever version.
bool isArtifact(std::span<const std::byte> bytes);

/// The same data gives the same bytes.
std::vector<std::byte> serialize(const ArtifactData &artifact);

/// Reads an artifact and checks all that can be checked without running it: lengths, hash, and
/// that what it says is consistent (Validation.h). Safe for any bytes: reads none outside of
/// them, and takes memory in proportion to them.
Result<ArtifactData> parseArtifact(std::span<const std::byte> bytes);

/// What stands after the header, as `parseArtifact` reads it once the hash is right: for whoever
/// tries damaged content on purpose.
Result<ArtifactData> parsePayload(std::span<const std::byte> payload,
                                  uint32_t version = artifactVersion);

/// The hash of the content, as the header has it. For bytes that `parseArtifact` takes.
Hash128 contentHash(std::span<const std::byte> bytes);

/// For caches, which have checksums of their own. What is read is consistent only as far as what
/// was written was.
std::vector<std::byte> serialize(const CudaVariant &variant);
std::optional<CudaVariant> parseCudaVariant(std::span<const std::byte> bytes);

} // namespace tile::runtime
