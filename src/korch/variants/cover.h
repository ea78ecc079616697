// A few variants that together are nearly as good as all, at every sample.
#pragma once

#include <cstddef>
#include <vector>

namespace korch::variants {

struct CoverOptions {
  size_t most = 16;       // variants
  bool has_first = true;  // variant 0 is among them, whatever it is good for
  // Relative: a smaller set is taken if its regret is larger by no more.
  double free_regret = 0.01;
};

struct Cover {
  std::vector<size_t> chosen;  // variant 0 first where it has to be among them, then what gains most
  double regret = 1;           // see below, of the chosen ones
  bool optimal = false;        // no other choice of as many has less
};

// The geometric mean over the samples of the best of these variants' times over the best of all variants'
// times. A sample that none of them can run counts kCannot.
constexpr double kCannot = 1000;
double regret(const std::vector<std::vector<double>>& us, const std::vector<size_t>& variants);

// us[variant][sample]; infinite if a variant cannot run. Of the sets of at most `most` variants, the smallest
// whose regret is nearly the least. All sets are tried while they are few. Else each further variant is the
// one that gains most, and then single ones are exchanged while that gains. A set's gain in the logarithm of
// the regret is submodular: each greedy step leaves at most (1 - 1/k) of what k further variants can gain, so
// greedy selection reaches at least 1 - 1/e of it.
Cover cover(const std::vector<std::vector<double>>& us, const CoverOptions& options = {});

}  // namespace korch::variants
