// What `cuda_write` leaves for `cuda_check`: a folder of cubins, of each image one for every architecture,
// and kernels.json. Inputs, generated constants and results do not travel: the checker makes them anew
// (check_kernel.h).
#pragma once

#include <string>
#include <vector>

#include "../check_kernel.h"

namespace korch::testing {

struct ListedKernel {
  std::string image;           // IMAGE.sm_90.cubin is a file in the folder
  std::string implementation;  // as it is printed
  double flops = 0;
  std::vector<std::string> symbols;  // functions in it
  Launch launch;                     // without the functions
};

struct ListedGraph {
  std::string model;  // or what it is
  bool timed = false;
  int64_t checked_rows = 0;  // 0: all results are compared
  CandidateGraph candidate;
  std::vector<ListedKernel> kernels;  // its implementations
};

void write_kernel_list(const std::string& folder, const std::vector<ListedGraph>& list);
std::vector<ListedGraph> read_kernel_list(const std::string& folder);

// As it will be read: the order of a candidate's arguments may depend on ids, which printing and parsing
// change.
CandidateGraph as_read_back(const CandidateGraph& candidate);

}  // namespace korch::testing
