// A few variants that are together nearly as good as all, whatever comes.
#pragma once

#include <cstddef>
#include <vector>

namespace korch::launch {

struct CoverOptions {
  size_t most = 16;       // variants
  bool has_first = true;  // variant 0 is among them, whatever it is good for
  // Relative: fewer are taken as long as the regret grows by no more.
  double free_regret = 0.01;
};

struct Cover {
  std::vector<size_t> chosen;  // variant 0 first where it has to be among them, then what gains most
  double regret = 1;           // see below, of the chosen ones
  bool optimal = false;        // no other choice of as many has less
};

// The geometric mean over the samples of what the best of the variants takes there over what the best of all
// does; a sample that none of them can run counts kCannot.
constexpr double kCannot = 1000;
double regret(const std::vector<std::vector<double>>& us, const std::vector<size_t>& variants);

// us[variant][sample]; infinite where a variant cannot run. Of the covers of `most` variants and fewer the
// smallest whose regret is next to the least. All are tried while they are few; else each further variant is
// the one that gains most, and then single ones are exchanged as long as that gains. What a set takes off the
// logarithm of the regret is submodular in the set: each step of greedy leaves at most (1 - 1/k) of what k
// further variants can gain, so that it reaches at least 1 - 1/e of that.
Cover cover(const std::vector<std::vector<double>>& us, const CoverOptions& options = {});

}  // namespace korch::launch
