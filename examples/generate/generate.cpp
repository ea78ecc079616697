// Greedy generation with an executable of a decoder (export.py; generate.py compiles it):
//   generate decoder.onnx.so [TOKENS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <korch/korch.hpp>

namespace {

constexpr int64_t kPrompt[] = {17, 2025, 4, 711, 64, 3001, 8, 1};

class Decoder {
 public:
  explicit Decoder(const std::string& path)
      : code_(path),
        instance_(code_),
        state_(code_),
        inputs_(code_.model().input_count),
        outputs_(code_.model().output_count),
        dims_(code_.model().input_count),
        scores_(code_.model().outputs[0].size_bytes / sizeof(float)) {}

  std::vector<int64_t> generate(std::vector<int64_t> tokens, size_t count) {
    state_.reset();
    std::vector<int64_t> made;
    while (made.size() < count) {
      made.push_back(next(tokens));
      tokens = {made.back()};
    }
    return made;
  }

 private:
  // Keys and values are the state's: the tokens and the scores are the only arrays of a run.
  int64_t next(const std::vector<int64_t>& tokens) {
    const int64_t dims[] = {1, static_cast<int64_t>(tokens.size())};
    inputs_[0] = tokens.data();
    dims_[0] = dims;
    outputs_[0] = scores_.data();
    instance_.run(inputs_.data(), outputs_.data(), state_, dims_.data());
    return std::max_element(scores_.begin(), scores_.end()) - scores_.begin();
  }

  korch::Executable code_;
  korch::Instance instance_;
  korch::State state_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<const int64_t*> dims_;
  std::vector<float> scores_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: generate DECODER.so [TOKENS]\n"), 2;
  try {
    const size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 64;
    Decoder decoder(argv[1]);
    const std::vector<int64_t> prompt(std::begin(kPrompt), std::end(kPrompt));
    std::printf("tokens:");
    for (const int64_t token : decoder.generate(prompt, count))
      std::printf(" %lld", static_cast<long long>(token));
    const auto begin = std::chrono::steady_clock::now();
    decoder.generate(prompt, count);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("\nkorch: %.1f tokens/s\n", static_cast<double>(count) / seconds.count());
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  return 0;
}
