// Intervals of a Value's elements, from the nodes that compute it: bounds for extents that are computed from
// the data, such as the corners of a box after they were clipped to an image.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "korch/ir/graph.h"

namespace korch::onnx {

// Numbers from `low` to `high`. The element may still be NaN, and off by a rounding if kernels round
// otherwise than operators one by one; so users of a bound clamp.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  bool is_one() const { return low == high; }
};

// One element of a Value, row-major; kAny: each of them.
struct Element {
  ValueId value = kNoId;
  int64_t index = 0;

  auto operator<=>(const Element&) const = default;
};
constexpr int64_t kAny = -1;

class Ranges {
 public:
  explicit Ranges(const Graph& graph) : graph_(graph) {}

  Range of(Element element) { return of(element, 0); }
  // An element as another one plus a constant. Walks through nodes that move elements, through sums with
  // constants, and through a maximum or minimum with a bound that the element never crosses.
  std::pair<Element, int64_t> origin(Element element);
  // If the element is computed as x - `other`: x.
  std::optional<Element> whole(Element element, Element other);
  // An upper bound of how much an element exceeds another one, if that is not negative; infinity if none is
  // known.
  double growth(Element element, Element than) {
    int nodes = kMostGrowthNodes;
    return growth(element, than, nodes);
  }

 private:
  Range of(Element element, int depth);
  Range computed(const Node& node, Element element, int depth);
  static constexpr int kMostGrowthNodes = 2000;  // looked at for one answer
  double growth(Element element, Element than, int& nodes_left);
  Range elementwise(const Node& node, Element element, int depth);

  const Graph& graph_;  // grows; what there is stays
  std::map<Element, Range> known_;
};

}  // namespace korch::onnx
