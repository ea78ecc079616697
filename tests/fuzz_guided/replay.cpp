// Feeds the files of corpus/<target>/ to their target: what the fuzzers found, without a fuzzer.
// test_fuzz_guided [TARGET FILE...]: those files alone.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "korch/base/files.h"
#include "target.h"

namespace {

namespace fs = std::filesystem;
using korch::fuzz::Target;

bool replay(const Target& target, const fs::path& file) {
  try {
    target.run(korch::read_file(file.string()));
    return true;
  } catch (const std::exception& error) {
    std::printf("FAILED %s\n%s\nrun alone: test_fuzz_guided %s %s\n", file.c_str(), error.what(), target.name,
                file.c_str());
    return false;
  }
}

std::vector<fs::path> corpus_of(const Target& target) {
  const fs::path folder = fs::path(KORCH_SOURCE_DIR) / "tests/fuzz_guided/corpus" / target.name;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  int failures = 0, targets = 0;
  for (const Target& target : korch::fuzz::kTargets) {
    if (argc > 1 && std::string_view(argv[1]) != target.name) continue;
    ++targets;
    const std::vector<fs::path> files =
        argc > 2 ? std::vector<fs::path>(argv + 2, argv + argc) : corpus_of(target);
    for (const fs::path& file : files) failures += replay(target, file) ? 0 : 1;
    std::printf("%s: %zu files\n", target.name, files.size());
    if (files.empty()) ++failures;
  }
  if (targets == 0) std::printf("no target '%s'\n", argv[1]);
  return failures == 0 && targets > 0 ? 0 : 1;
}
