// cuda_write FOLDER [SAMPLE]: compiles kernels of the models of models/ for sm_90, those of the greedy plans
// and SAMPLE others per model, and leaves them in FOLDER for cuda_check, which may run on another machine.
#include <iostream>
#include <random>
#include <unordered_set>

#include "../model_candidates.h"
#include "../nvrtc.h"
#include "kernel_list.h"
#include "korch/base/files.h"
#include "korch/onnx/models.h"

namespace korch::testing {
namespace {

constexpr size_t kBatch = 32;  // kernels of one image
constexpr uint64_t kSeed = 1;

class Writer {
 public:
  Writer(std::string folder, size_t sample) : folder_(std::move(folder)), sample_(sample) {}

  void add_model(const std::string& model) {
    const ModelCandidates found = memory_bound_candidates(model, sample_, kSeed);
    const size_t before = kernels_;
    for (const std::vector<Candidate>* list : {&found.greedy, &found.sampled})
      for (const Candidate& candidate : *list)
        if (seen_.insert(canonical_hash(found.graph, candidate)).second)
          add_candidate(model, found.graph, candidate);
    compile_waiting();
    std::cout << model << ": " << kernels_ - before << " kernels\n";
  }

  void write_list() const { write_kernel_list(folder_, list_); }

 private:
  // Row-major, and one other choice of layouts if there is one.
  void add_candidate(const std::string& model, const Graph& graph, const Candidate& candidate) {
    ListedGraph listed{model, as_read_back(candidate_graph(graph, candidate)), {}};
    const Candidate whole = whole_candidate(listed.candidate.graph);
    std::vector<Implementation> ways = loop_implementations(listed.candidate.graph, whole);
    if (ways.size() > 2) std::swap(ways[1], ways[1 + random_() % (ways.size() - 1)]);
    ways.resize(std::min<size_t>(ways.size(), 2));
    for (const Implementation& way : ways) {
      Result<CudaKernel> kernel =
          generate_cuda(listed.candidate.graph, whole, way, "k" + std::to_string(kernels_));
      if (!kernel.ok()) continue;
      listed.kernels.push_back({image_name(), {}, launch_of(kernel.value(), way)});
      for (const CudaPhase& phase : kernel.value().phases)
        listed.kernels.back().symbols.push_back(phase.symbol);
      waiting_.push_back(std::move(kernel).value());
      ++kernels_;
      if (waiting_.size() == kBatch) compile_waiting();
    }
    if (!listed.kernels.empty()) list_.push_back(std::move(listed));
  }

  std::string image_name() const { return std::to_string(images_) + ".cubin"; }

  void compile_waiting() {
    if (waiting_.empty()) return;
    const Result<std::string> cubin = nvrtc_.compile(as_one_program(waiting_));
    if (!cubin.ok()) throw Error(ErrorKind::internal, cubin.refusal().detail);
    write_file(folder_ + "/" + image_name(), cubin.value());
    ++images_;
    waiting_.clear();
  }

  const Nvrtc nvrtc_;
  const std::string folder_;
  const size_t sample_;
  std::mt19937_64 random_{kSeed};
  std::unordered_set<Hash, HashHasher> seen_;
  std::vector<ListedGraph> list_;
  std::vector<CudaKernel> waiting_;
  size_t kernels_ = 0, images_ = 0;
};

int run(const std::string& folder, size_t sample) {
  if (!Nvrtc().loaded()) {
    std::cerr << kNvrtcIsMissing << "\n";
    return 1;
  }
  make_directories(folder);
  Writer writer(folder, sample);
  for (const std::string& model : list_models(KORCH_SOURCE_DIR "/models")) writer.add_model(model);
  writer.write_list();
  return 0;
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: cuda_write FOLDER [SAMPLE]\n";
    return 2;
  }
  try {
    return korch::testing::run(argv[1], argc > 2 ? std::stoul(argv[2]) : 40);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
