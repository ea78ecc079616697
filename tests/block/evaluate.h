// Terms and block graphs on numbers, in float64, apart from everything that the search does with them.
#pragma once

#include <cstdint>
#include <vector>

#include "korch/block/block_graph.h"

namespace korch::block {

// A number for each point of all axes; of axes that a value does not depend on the same for all.
using Numbers = std::vector<double>;

class Evaluator {
 public:
  explicit Evaluator(std::vector<Axis> axes);

  size_t points() const { return points_; }
  // The same for the same seed.
  Numbers random(AxisSet axes, DType type, uint64_t seed) const;
  Numbers call(Op op, const ScalarAttrs& scalars, const std::vector<const Numbers*>& args) const;
  Numbers at(const Window& window, const Numbers& arg) const;
  // Over points whose coordinate along `axis` lies in [first, end); -1: all.
  Numbers fold(ScalarFn combine, AxisSet over, const Numbers& arg, int axis = -1, int64_t first = 0,
               int64_t end = 0) const;

  // Of all terms.
  std::vector<Numbers> evaluate(const Terms& terms, const std::vector<Numbers>& leaves) const;
  // The results: loops go block by block, accumulators hold what they hold.
  std::vector<Numbers> run(const BlockGraph& graph, const std::vector<Numbers>& leaves, int64_t block) const;

 private:
  Numbers exp_of(const BlockGraph& graph, const Step& step, const std::vector<Numbers>& now) const;
  int64_t coordinate(size_t point, int axis) const {
    return static_cast<int64_t>(point) / strides_[static_cast<size_t>(axis)] %
           axes_[static_cast<size_t>(axis)].extent;
  }

  std::vector<Axis> axes_;
  std::vector<int64_t> strides_;
  size_t points_ = 1;
};

// Whether they are the same but for rounding; NaN is the same as NaN.
bool close(const Numbers& a, const Numbers& b);

}  // namespace korch::block
