// Extents that meet, as linear equations of the open dimensions: solved for one dimension each, they say
// which follow from the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::onnx {

class ExtentEquations {
 public:
  // The sums that the graph's open dimensions have already are taken as given. `sought`: of each dimension,
  // whether its extents are what is asked for; equations are solved for these first. They may be of no other
  // dimension then, but a number: a sum without terms. None given: nothing is sought.
  explicit ExtentEquations(const Graph& graph, std::vector<bool> sought = {});

  // `a` and `b` are of one i64 and equal in every run. Nothing where their difference is not linear, or
  // solves to no sum of multiples of other dimensions.
  void add(ValueId a, ValueId b);
  // Likewise, unless it solves to none of those sought.
  void add_sought(ValueId a, ValueId b);

  // With the sums; a warning for each whose range another one implies.
  std::vector<OpenDimension> take(std::vector<std::string>* warnings);

 private:
  // plus + the sum of factors * extents; a factor per open dimension.
  struct Linear {
    std::vector<int64_t> factors;
    int64_t plus = 0;

    int64_t of(const std::vector<int64_t>& extents) const;
    // With what a dimension must be in its place.
    void replace(size_t dimension, const ExtentSum& sum);
  };

  std::optional<int64_t> difference_at(ValueId a, ValueId b, const std::vector<int64_t>& extents) const;
  std::optional<Linear> difference_of(ValueId a, ValueId b) const;
  std::optional<Linear> open_difference(ValueId a, ValueId b) const;
  bool solve(const Linear& difference, bool sought);
  bool solve_for(size_t d, const Linear& difference);
  void replace_in(std::optional<ExtentSum>& known, size_t d, const ExtentSum& sum) const;

  const Graph& graph_;
  std::vector<bool> sought_;
  std::vector<OpenDimension> open_;
  std::vector<ValueId> inputs_;  // the extent of each
};

}  // namespace korch::onnx
