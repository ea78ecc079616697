// GraphBuilder: emits operators into a Graph, and folds those whose inputs are all constant.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "korch/ir/graph.h"
#include "korch/onnx/extent_sums.h"
#include "korch/onnx/known_tensor.h"
#include "korch/onnx/meeting_extents.h"
#include "korch/onnx/ranges.h"

namespace korch::onnx {

struct NarrowMatrix;

// An operand or result of a node: a constant that is not in the Graph yet, or a Value of the Graph. A
// constant enters the Graph when the first node that cannot be folded reads it, so folded chains leave
// nothing behind.
struct OperandState {
  TensorType type;
  KnownTensor constant;
  ValueId id = kNoId;
  std::string name;
  std::vector<std::string> origins;
  std::optional<std::vector<std::shared_ptr<OperandState>>> sequence;  // no tensor then
  // Where extents depend on the data (bounded.h): per axis null or one, an i64 of rank 0 up to what the shape
  // states.
  std::vector<std::shared_ptr<OperandState>> extents;
  // The elements of a small tensor of integers that was made of extents: i64 of rank 0, some constant.
  std::vector<std::shared_ptr<OperandState>> elements;
  std::optional<int64_t> upper;           // of one that is an extent: no larger, and not negative
  bool from_data = false;                 // of an element: no extent, nor made of extents alone
  std::shared_ptr<OperandState> integer;  // for a float of one element: such an element, of which it was made
  // For quantized numbers less their zero point: the same as float32, before they became integers.
  std::shared_ptr<OperandState> unquantized;
  double zero_point = 0;
  // For whole numbers of a quantized type times factors, all in float32: the whole numbers, and the factors.
  std::shared_ptr<OperandState> whole, factor;

  // For a constant made of narrow weights (narrow.h): these. For one of floats in fewer bits: it as float32.
  std::shared_ptr<const NarrowMatrix> narrow;
  std::shared_ptr<OperandState> float32;

  // Where an input grew: all of it, of which this is the beginning that a run may have.
  std::shared_ptr<OperandState> appended;

  // For a constant: bytes that the file holds or folding has counted. A constant folded from it takes them
  // over.
  int64_t counted_bytes = 0;

  // For a row of a tensor that a loop stacked along the first axis: that tensor, and the row's number.
  std::shared_ptr<OperandState> stack;
  int64_t row = 0;

  const Shape& shape() const { return type.shape; }
  DType dtype() const { return type.dtype; }
  int64_t rank() const { return static_cast<int64_t>(type.shape.size()); }
};
using Operand = std::shared_ptr<OperandState>;
using Results = std::vector<Operand>;

class GraphBuilder {
 public:
  // Limits of folding, so that it does not inflate a model or take long: bytes of constants that the file
  // does not hold, and elements read to compute them (interp/work.h).
  GraphBuilder(int64_t max_growth_bytes, double max_work, uint64_t seed = 0)
      : max_growth_bytes_(max_growth_bytes), max_work_(max_work), seed_(seed) {}
  uint64_t seed() const { return seed_; }  // of random numbers
  int64_t max_growth_bytes() const { return max_growth_bytes_; }
  // Of a constant that the file does not hold. Throws Error{resource} when it exceeds max_growth_bytes().
  void require_moderate(const TensorType& type) const;
  Operand input(TensorType type, const std::string& name);
  Operand constant(HostTensor value, std::vector<std::string> origins = {});
  // A constant that is made when somebody reads it.
  Operand known_by(const TensorType& type, std::function<HostTensor()> make,
                   std::vector<std::string> origins);
  // 0, 1, 2, ... along an axis of a tensor of this rank. Throws Error{resource}: require_moderate.
  Operand positions(DType dtype, int64_t count, int64_t axis, int64_t rank, const std::string& origin);
  // The outputs of one operator; constants when all inputs are, the result is not much larger than they are
  // and folding does not take long. Throws Error{invalid} from the shape rules, Error{resource} when a result
  // exceeds the machine's memory.
  std::vector<Operand> emit(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                            const std::string& origin);
  // Where an extent of an input depends on the data: as if it were its bound.
  std::vector<Operand> emit_at_bounds(Op op, Attrs attrs, const std::vector<Operand>& inputs,
                                      const std::string& origin);
  int64_t new_loop() { return loops_++; }  // a number of its own
  // Elements that the nodes emitted so far read (interp/work.h), those without effect among them.
  double emitted_work() const { return emitted_work_; }
  // The interval of an element of an operand (ranges.h), row-major; kAny: of every element.
  Range range(const Operand& operand, int64_t index);
  // An element of one operand less an element of another, if that is a known number.
  std::optional<int64_t> difference(const Operand& a, int64_t index, const Operand& b, int64_t other_index);
  // What one i64 of rank 0 less another can be.
  Range distance(const Operand& a, const Operand& b) { return sums_.difference(value(a), value(b)); }
  // Whether two i64 are one number, by how they are computed.
  bool is_same(ValueId a, ValueId b) { return sums_.is_same(a, b); }
  // Of an i64 of rank 0 the number, the Value or the multiple of one that it is, if it was computed in a
  // longer way.
  Operand simplified(const Operand& operand, const std::string& origin);
  // If b was computed as x - a: x, one i64; else null.
  Operand whole(const Operand& a, const Operand& b);
  // The tensor of rank 0 or 1, and the place in it, that this element was only moved from.
  std::pair<Operand, int64_t> origin(const Operand& operand, int64_t index);
  // An upper bound of how much one extent exceeds another, if one is known.
  std::optional<int64_t> growth(const Operand& extent, const Operand& than);
  // Notes that the operator that is being emitted joins these two extents (meeting_extents.h).
  // `results`: what is right then alone; none: what is emitted.
  void note_meeting(const Operand& a, const Operand& b, const std::string& origin,
                    const Results& results = {}, ExtentRelation relation = ExtentRelation::equal) {
    const ValueId x = value(a), y = value(b);
    if (relation != ExtentRelation::different && is_same(x, y)) return;
    meeting_.push_back({x, y, origin, bodies_ == 0, {}, relation});
    for (const Operand& result : results) meeting_.back().results.push_back(value(result));
  }
  // Two extents that are equal as exporters use the operator that is being emitted, which defines more: where
  // the options leave one of them out, it is the other.
  void note_usual(const Operand& a, const Operand& b) { usual_.emplace_back(value(a), value(b)); }
  const std::vector<std::pair<ValueId, ValueId>>& usual() const { return usual_; }
  // Ones, i64, one for each element of a condition of bools: a run in which one is false ends with an error
  // that says what is wrong with it.
  Operand required(const Operand& condition, const std::string& what_is_wrong, const std::string& origin);
  // Narrow weights of so many bytes have become floats of so many, since no product reads them.
  void note_widened(int64_t narrow_bytes, int64_t bytes) {
    ++widened_.tensors;
    widened_.narrow_bytes += narrow_bytes;
    widened_.bytes += bytes;
  }
  struct Widened {
    int tensors = 0;
    int64_t narrow_bytes = 0, bytes = 0;
  };
  const Widened& widened() const { return widened_; }
  // A constant of floats that was made of narrow weights of so many bytes, where no product could read them.
  void note_floats(const Operand& operand, int64_t narrow_bytes) {
    floats_.emplace_back(operand, narrow_bytes);
  }
  const std::vector<std::pair<Operand, int64_t>>& floats() const { return floats_; }
  // What is joined behind this input is appended to it in place (ir/append.h), up to this capacity at least.
  void let_grow(const Operand& input, int64_t capacity) { capacities_[input->id] = capacity; }
  std::optional<int64_t> capacity_of(const Operand& operand) const {
    const auto found = capacities_.find(operand->id);
    return found == capacities_.end() || bodies_ > 0 ? std::nullopt : std::optional(found->second);
  }
  void warn(const std::string& text) { warnings_.push_back(text); }
  const std::vector<std::string>& warnings() const { return warnings_; }
  // While one lives, emitted operators belong to a body or a branch, which a run may leave out.
  class Body {
   public:
    explicit Body(GraphBuilder& builder) : builder_(builder) { ++builder_.bodies_; }
    ~Body() { --builder_.bodies_; }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

   private:
    GraphBuilder& builder_;
  };
  const std::vector<MeetingExtents>& meeting() const { return meeting_; }
  // The Value of an operand; puts a constant into the Graph.
  ValueId value(const Operand& operand);
  // Names an operand and its Value after an ONNX value; the first name stays.
  void name(const Operand& operand, const std::string& name);
  Graph& graph() { return graph_; }

 private:
  bool may_work(double work);
  // If so, the inputs' counted bytes are the results'.
  bool may_grow(const std::vector<TensorType>& results, const std::vector<Operand>& inputs);

  const int64_t max_growth_bytes_;
  const double max_work_;
  const uint64_t seed_;
  Graph graph_;
  Ranges ranges_{graph_};
  ExtentSums sums_{graph_, ranges_};
  std::vector<MeetingExtents> meeting_;
  std::vector<std::pair<ValueId, ValueId>> usual_;
  std::vector<std::string> warnings_;
  Widened widened_;
  std::vector<std::pair<Operand, int64_t>> floats_;
  std::map<ValueId, int64_t> capacities_;  // of inputs that grow
  int bodies_ = 0;                         // that are being imported
  int64_t loops_ = 0;
  int64_t growth_bytes_ = 0;  // what folding has added so far
  int64_t small_bytes_ = 0;   // and beside it, of what is always folded
  double work_ = 0;           // elements it has read (interp/work.h)
  double emitted_work_ = 0;
};

}  // namespace korch::onnx
