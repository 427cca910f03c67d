// Writes the seed corpus of fuzz_artifact into a folder: an artifact and its content.

#include "tests/runtime/ArtifactSupport.h"

#include <filesystem>
#include <fstream>

using namespace tile::runtime;

static void write(const std::filesystem::path &path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  std::vector<std::byte> bytes = serialize(test::sampleArtifact());
  write(folder / "artifact", bytes);
  write(folder / "content", std::span(bytes).subspan(artifactHeaderSize));
  return 0;
}
