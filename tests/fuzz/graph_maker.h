// A random graph that grows node by node, together with what every Value is for one set of inputs: a node
// whose result is no number, or too large, is not added.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "korch/ir/graph.h"

namespace korch::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}
  uint64_t bits() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t limit) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(limit)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool one_in(int64_t n) { return below(n) == 0; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double normal();
  template <typename T>
  const T& of(const std::vector<T>& items) {
    return items[below(static_cast<int64_t>(items.size()))];
  }

 private:
  uint64_t state_;
};

enum class Contents { normal, positive, few, ones };  // few: of 0, 1, -1, 2, 0.5, equal ones often

// Deterministic: what a findings file writes as `random KIND SEED`.
HostTensor random_tensor(const TensorType& type, Contents contents, uint64_t seed);

class GraphMaker {
 public:
  explicit GraphMaker(uint64_t seed) : random(seed) {}

  Random random;

  // An extent, odd ones and those beside a vector's width often.
  int64_t extent(int64_t limit);
  Shape shape(int rank, int64_t most_elements);

  ValueId input(const TensorType& type);
  ValueId constant(const TensorType& type, Contents contents = Contents::normal);
  ValueId constant(HostTensor tensor);
  // A second operand of this type: a constant, an input, a Value that is there, or something made of one.
  ValueId operand(const TensorType& type, Contents contents = Contents::normal);
  // Among the last few that were made, or of all; nothing when none has such a type.
  std::optional<ValueId> pick(const std::vector<DType>& types, int least_rank = 0, int most_rank = 9);
  ValueId pick_float(int least_rank = 0, int most_rank = 9);  // makes an input where there is none

  // Nothing where shapes or numbers forbid it.
  std::optional<ValueId> add(Op op, Attrs attrs, std::vector<ValueId> inputs);
  ValueId must(Op op, Attrs attrs, std::vector<ValueId> inputs);  // throws GaveUp instead
  struct GaveUp {};
  // A loop of so many steps at most (ir/loops.h). `step` returns the condition to go on, the next states, of
  // the same types, and rows of what is stacked. What it makes cannot be picked afterwards, the loop's
  // results can.
  using Step = std::function<std::vector<ValueId>(ValueId number, const std::vector<ValueId>& states)>;
  std::optional<ValueId> loop(int64_t count, const std::vector<ValueId>& states, size_t rows,
                              const Step& step);

  TensorType type(ValueId value) const { return graph_.value(value).type; }
  Shape shape_of(ValueId value) const { return graph_.value(value).type.shape; }
  const HostTensor& number(ValueId value) const { return numbers_[value]; }
  int computing_nodes() const { return computing_nodes_; }
  // Larger tensors than usual may follow, and the graph is then complete.
  void enlarge(int64_t most_elements) { most_elements_ = most_elements; }
  bool is_enlarged() const { return most_elements_ != kMostElements; }
  DType float_type = DType::f32;  // of this graph's inputs

  // With outputs chosen among what nobody reads, inputs and what is inside; without dead nodes.
  Graph finish();

 private:
  void note(ValueId value, HostTensor number);
  std::vector<ValueId> must_all(Op op, Attrs attrs, std::vector<ValueId> inputs);

  Graph graph_;
  std::vector<HostTensor> numbers_;  // by Value, floats as f64
  std::vector<ValueId> made_;        // neither constants nor inputs that a maker asked for as operands
  static constexpr int64_t kMostElements = 30000;  // of a tensor: the interpreter is slow
  int64_t most_elements_ = kMostElements;
  int computing_nodes_ = 0;
  int inputs_ = 0, loops_ = 0, open_loops_ = 0;
};

}  // namespace korch::fuzz
