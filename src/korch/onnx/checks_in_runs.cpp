#include "korch/onnx/checks_in_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "korch/base/error.h"
#include "korch/onnx/model_file.h"

namespace korch::onnx {
namespace {

Operand holds_in_run(GraphBuilder& builder, const MeetingExtents& pair, const Operand& a, const Operand& b) {
  const auto emit = [&](Op op, const Operand& x, const Operand& y) {
    return builder.emit(op, NoAttrs{}, {x, y}, pair.origin)[0];
  };
  switch (pair.relation) {
    case ExtentRelation::equal:
      return emit(Op::Equal, a, b);
    case ExtentRelation::equal_or_one: {
      const Operand one = builder.constant(HostTensor::of<int64_t>(DType::i64, {}, {1}));
      return emit(Op::Or, emit(Op::Equal, a, b), emit(Op::Equal, a, one));
    }
    case ExtentRelation::at_most:
      return emit(Op::LessOrEqual, a, b);
    case ExtentRelation::different:
      return builder.emit(Op::Not, NoAttrs{}, {emit(Op::Equal, a, b)}, pair.origin)[0];
  }
  return nullptr;
}

std::string what_is_wrong(const MeetingExtents& pair) {
  const char* wrong = "extents that it joins differ";
  if (pair.relation == ExtentRelation::at_most) wrong = "it needs more elements than there are";
  if (pair.relation == ExtentRelation::different) wrong = "an axis has extent 1, which would leave it out";
  return fmt::format("node {}: {} with the extents of this run", quoted_name(pair.origin), wrong);
}

}  // namespace

void check_in_runs(GraphBuilder& builder, const std::vector<MeetingExtents>& unchecked) {
  Graph& graph = builder.graph();
  std::vector<ValueId> outputs = graph.outputs();
  const auto size = [&](size_t i) { return graph.value(outputs[i]).type.bytes(); };
  std::optional<size_t> smallest;
  for (size_t i = 0; i + graph.extents().size() < outputs.size(); ++i)
    if (!is_storage(graph.value(outputs[i]).type.dtype) && (!smallest || size(i) < size(*smallest)))
      smallest = i;
  if (!smallest)
    throw Error(ErrorKind::unsupported,
                fmt::format("extents that runs decide meet at {}, and no output can wait for them",
                            unchecked[0].origin));
  const auto operand = [&](ValueId value) {
    auto known = std::make_shared<OperandState>();
    known->id = value;
    known->type = graph.value(value).type;
    return known;
  };
  Operand all;
  std::set<std::tuple<ValueId, ValueId, ExtentRelation>> seen;
  for (const MeetingExtents& pair : unchecked) {
    const bool is_symmetric =
        pair.relation == ExtentRelation::equal || pair.relation == ExtentRelation::different;
    const auto [least, most] = std::minmax(pair.a, pair.b);
    if (!seen.insert({is_symmetric ? least : pair.a, is_symmetric ? most : pair.b, pair.relation}).second)
      continue;
    const Operand one = builder.required(holds_in_run(builder, pair, operand(pair.a), operand(pair.b)),
                                         what_is_wrong(pair), pair.origin);
    all = all == nullptr ? one : builder.emit(Op::Mul, NoAttrs{}, {all, one}, pair.origin)[0];
  }
  const std::string& origin = unchecked[0].origin;
  const Operand zero =
      builder.constant(HostTensor(TensorType{graph.value(outputs[*smallest]).type.dtype, {}}));
  const Operand is_right = builder.emit(Op::Cast, CastAttrs{DType::bool_}, {all}, origin)[0];
  outputs[*smallest] = builder.value(
      builder.emit(Op::Where, NoAttrs{}, {is_right, operand(outputs[*smallest]), zero}, origin)[0]);
  graph.set_outputs(outputs, graph.output_names(), graph.extents());
}

}  // namespace korch::onnx
