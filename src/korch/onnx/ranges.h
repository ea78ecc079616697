// What the elements of a Value can be, from the nodes that compute it: bounds for extents that are computed
// from the data, as the corners of a box are after they were clipped to an image.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "korch/ir/graph.h"

namespace korch::onnx {

// Numbers from `low` to `high`. It may be NaN all the same, and, where kernels round otherwise than one
// operator after the other, off by a rounding: who relies on a bound clamps.
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
  // An element as another one plus a constant: through what moves elements, sums with constants, and the
  // greater or lesser of it and what it never crosses.
  std::pair<Element, int64_t> origin(Element element);
  // What an element is the rest to: x of one that is x less `other`, if that is how it is computed.
  std::optional<Element> whole(Element element, Element other);
  // By how much an element is larger than another one at most, whatever that is as long as it is not
  // negative; infinity where that is not known.
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
