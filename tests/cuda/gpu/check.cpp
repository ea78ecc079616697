// cuda_check [FOLDER]: runs the kernels that cuda_write left in FOLDER on the first GPU and compares every
// element of their results with the interpreter in float64. Without a FOLDER it names the GPU; without a GPU
// it says why and exits with 77.
#include <algorithm>
#include <iostream>
#include <map>

#include "../check_kernel.h"
#include "cuda_driver.h"
#include "kernel_list.h"
#include "korch/base/error.h"
#include "korch/base/files.h"
#include "korch/ir/text.h"

namespace korch::testing {
namespace {

constexpr int kSkipped = 77;              // CTest's SKIP_RETURN_CODE
constexpr int kRuns = 3;                  // of which the fastest is told
constexpr int kTimedRuns = 20;            // of what is there to be timed
constexpr double kMeasurable = 16 << 20;  // bytes; below, launching takes longest

class Checker {
 public:
  Checker(CudaDriver& cuda, std::string folder) : cuda_(cuda), folder_(std::move(folder)) {}

  void check(const ListedGraph& listed) {
    const Graph& graph = listed.candidate.graph;
    const Candidate candidate = whole_candidate(graph);
    const Reference reference = listed.checked_rows == 0
                                    ? reference_of(graph, candidate)
                                    : reference_of_rows(graph, candidate, listed.checked_rows);
    with_nan_ += reference.nan ? 1 : 0;
    for (const ListedKernel& kernel : listed.kernels) {
      Launch launch = kernel.launch;
      for (const std::string& symbol : kernel.symbols)
        launch.functions.push_back(cuda_.function(module(kernel.image), symbol));
      const KernelCheck result = run(listed, kernel, [&] {
        return check_kernel(cuda_, graph, candidate, reference, launch, listed.timed ? kTimedRuns : kRuns);
      });
      ++ran_;
      if (listed.timed) tell_time(listed, kernel, launch, result);
      worst_error_ = std::max(worst_error_, result.worst_error);
      if (result.moved_bytes >= kMeasurable) speeds_.push_back(result.moved_bytes / result.best_us / 1000);
      if (result.problem.empty()) continue;
      ++wrong_;
      std::cout << "WRONG " << listed.model << " " << kernel.image << " " << kernel.symbols[0] << ": "
                << result.problem << "\n"
                << print(graph) << std::flush;
    }
  }

  int summary() {
    std::cout << ran_ << " kernels ran, " << wrong_ << " are wrong; largest error " << worst_error_
              << " of (1 + |expected|); NaN among the expected of " << with_nan_ << " candidates\n";
    std::sort(speeds_.begin(), speeds_.end());
    if (!speeds_.empty())
      std::cout << speeds_.size() << " kernels move at least 16 MiB, GB/s: slowest " << speeds_.front()
                << ", median " << speeds_[speeds_.size() / 2] << ", fastest " << speeds_.back() << "\n";
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  // A kernel that fails leaves nothing of the driver to go on with.
  template <typename F>
  static KernelCheck run(const ListedGraph& listed, const ListedKernel& kernel, F&& check) {
    try {
      return check();
    } catch (const Error& error) {
      throw Error(error.kind(), listed.model + ", " + kernel.implementation + ", " + kernel.image + " " +
                                    kernel.symbols[0] + ": " + error.what() + "\n" +
                                    print(listed.candidate.graph));
    }
  }

  void tell_time(const ListedGraph& listed, const ListedKernel& kernel, const Launch& launch,
                 const KernelCheck& result) const {
    const CudaDriver::Function last = launch.functions.back();
    std::cout << listed.model << ", " << kernel.implementation << ": " << result.best_us << " us, "
              << kernel.flops / result.best_us / 1e6 << " TFLOP/s, error " << result.worst_error << ", "
              << cuda_.registers(last) << " registers, " << cuda_.local_bytes(last) << " bytes local\n"
              << std::flush;
  }

  CudaDriver::Module module(const std::string& image) {
    if (modules_.count(image) == 0)
      modules_[image] = cuda_.load(read_file(folder_ + "/" + image + "." + cuda_.architecture() + ".cubin"));
    return modules_.at(image);
  }

  CudaDriver& cuda_;
  const std::string folder_;
  std::map<std::string, CudaDriver::Module> modules_;
  std::vector<double> speeds_;
  double worst_error_ = 0;
  int ran_ = 0, wrong_ = 0, with_nan_ = 0;
};

int run(const std::string& folder) {
  CudaDriver cuda;
  if (!cuda.why_not().empty()) {
    std::cout << "skipped: " << cuda.why_not() << "\n";
    return kSkipped;
  }
  std::cout << "on " << cuda.device() << std::endl;
  if (folder.empty()) return 0;
  Checker checker(cuda, folder);
  for (const ListedGraph& listed : read_kernel_list(folder)) checker.check(listed);
  return checker.summary();
}

}  // namespace
}  // namespace korch::testing

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: cuda_check [FOLDER]\n";
    return 2;
  }
  try {
    return korch::testing::run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
