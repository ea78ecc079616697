// cuda_write FOLDER products: compiles the kernels of linear_cases.h, small ones to check and large ones to
// time, for every architecture of nvrtc.h, and leaves them in FOLDER for cuda_check, which may run on another
// machine. cuda_write FOLDER models [SAMPLE]: those of the models of models/, of the greedy plans and SAMPLE
// others per model, where the interpreter is quick.
#include <iostream>
#include <random>
#include <unordered_set>

#include "../linear_cases.h"
#include "../model_candidates.h"
#include "../nvrtc.h"
#include "kernel_list.h"
#include "korch/base/files.h"
#include "korch/onnx/models.h"

namespace korch::testing {
namespace {

constexpr size_t kBatch = 32;  // kernels of one image
constexpr uint64_t kSeed = 1;
constexpr double kQuick = 2e8;  // arithmetic that the interpreter does in a second or so

class Writer {
 public:
  Writer(std::string folder, size_t sample) : folder_(std::move(folder)), sample_(sample) {}

  void add_model(const std::string& model) {
    const ModelCandidates found = model_candidates(model, sample_, kSeed);
    const size_t before = kernels_;
    for (const std::vector<Candidate>* list : {&found.greedy, &found.sampled})
      for (const Candidate& candidate : *list)
        if (seen_.insert(canonical_hash(found.graph, candidate)).second)
          add_candidate(model, found.graph, candidate);
    compile_waiting();
    std::cout << model << ": " << kernels_ - before << " kernels\n";
  }

  void add_products() {
    for (const LinearCase& c : linear_cases()) {
      ListedGraph listed{c.name, false, 0, as_read_back(case_graph(c.text)), {}};
      const Graph& graph = listed.candidate.graph;
      add_kernels(listed, cuda_implementations(graph, whole_candidate(graph)));
    }
    for (const TimedCase& c : timed_cases()) {
      ListedGraph listed{c.name, true, c.checked_rows, as_read_back(case_graph(c.text)), {}};
      const Graph& graph = listed.candidate.graph;
      std::vector<Implementation> ways = cuda_implementations(graph, whole_candidate(graph));
      std::erase_if(ways, [](const Implementation& way) { return way.family != "staged"; });
      add_kernels(listed, ways);
    }
    compile_waiting();
  }

  void write_list() const { write_kernel_list(folder_, list_); }

 private:
  // The first, the last, in stages where it is a product, and one in between.
  void add_candidate(const std::string& model, const Graph& graph, const Candidate& candidate) {
    ListedGraph listed{model, false, 0, as_read_back(candidate_graph(graph, candidate)), {}};
    std::vector<Implementation> ways =
        cuda_implementations(listed.candidate.graph, whole_candidate(listed.candidate.graph));
    if (ways.back().flops > kQuick) return;
    if (ways.size() > 3) ways = {ways.front(), ways[1 + random_() % (ways.size() - 2)], ways.back()};
    add_kernels(std::move(listed), ways);
  }

  void add_kernels(ListedGraph listed, const std::vector<Implementation>& ways) {
    const Candidate whole = whole_candidate(listed.candidate.graph);
    for (const Implementation& way : ways) {
      Result<CudaKernel> kernel =
          generate_cuda(listed.candidate.graph, whole, way, "k" + std::to_string(kernels_));
      if (!kernel.ok()) continue;
      listed.kernels.push_back(
          {std::to_string(images_), to_string(way), way.flops, {}, launch_of(kernel.value(), way)});
      for (const CudaPhase& phase : kernel.value().phases)
        listed.kernels.back().symbols.push_back(phase.symbol);
      waiting_.push_back(std::move(kernel).value());
      ++kernels_;
      if (waiting_.size() == kBatch) compile_waiting();
    }
    if (!listed.kernels.empty()) list_.push_back(std::move(listed));
  }

  void compile_waiting() {
    if (waiting_.empty()) return;
    const std::string text = as_one_program(waiting_);
    write_file(folder_ + "/" + std::to_string(images_) + ".cu", text);
    for (const std::string architecture : kArchitectures) {
      const Result<std::string> cubin = Nvrtc::get().compile(text, architecture);
      if (!cubin.ok()) throw Error(ErrorKind::internal, cubin.refusal().detail);
      write_file(folder_ + "/" + std::to_string(images_) + "." + architecture + ".cubin", cubin.value());
    }
    ++images_;
    waiting_.clear();
  }

  const std::string folder_;
  const size_t sample_;
  std::mt19937_64 random_{kSeed};
  std::unordered_set<Hash, HashHasher> seen_;
  std::vector<ListedGraph> list_;
  std::vector<CudaKernel> waiting_;
  size_t kernels_ = 0, images_ = 0;
};

int run(const std::string& folder, const std::string& what, size_t sample) {
  if (!Nvrtc::get().missing().empty()) {
    std::cerr << Nvrtc::get().missing() << "\n";
    return 1;
  }
  make_directories(folder);
  Writer writer(folder, sample);
  if (what == "products")
    writer.add_products();
  else
    for (const std::string& model : list_models(KORCH_SOURCE_DIR "/models")) writer.add_model(model);
  writer.write_list();
  return 0;
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[2] : "";
  if (argc > 4 || (what != "products" && what != "models")) {
    std::cerr << "usage: cuda_write FOLDER products | cuda_write FOLDER models [SAMPLE]\n";
    return 2;
  }
  try {
    return korch::testing::run(argv[1], what, argc > 3 ? std::stoul(argv[3]) : 40);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
