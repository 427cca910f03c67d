// Gives a target of libFuzzer files instead of random bytes: the seeds, and what was found once.
// Any compiler builds it, so that CI runs the targets without libFuzzer, with its sanitizers.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const std::filesystem::path &path) {
  std::cout << path.string() << std::endl; // the last one is it, should the target end here
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  // Memory of just this size: what is read behind it is an error to AddressSanitizer.
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  size_t count = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(argv[1]))
    if (entry.is_regular_file()) {
      replay(entry.path());
      ++count;
    }
  std::cout << count << " inputs\n";
  return count ? 0 : 1;
}
