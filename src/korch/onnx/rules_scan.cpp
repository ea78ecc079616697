// Scan: a body for each of the slices of its inputs, with states.
#include <fmt/format.h>

#include <algorithm>

#include "korch/onnx/bounded.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/running_loop.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Rows along the first axis, along another.
Term placed(Term stack, int64_t axis, bool reversed) {
  NodeImport& n = stack.node();
  const int64_t place = n.axis(axis, stack.rank());
  if (reversed && extent_of(stack, 0) != nullptr)
    stack = flipped(stack, 0);
  else if (reversed) {
    SliceAttrs all{Shape(stack.shape().size(), 0), stack.shape(), Shape(stack.shape().size(), 1)};
    all.starts[0] = stack.extent(0) - 1;
    all.steps[0] = -1;
    stack = apply(Op::Slice, {stack}, all);
  }
  std::vector<int64_t> perm;
  for (int64_t i = 1; i < stack.rank(); ++i) perm.push_back(i);
  perm.insert(perm.begin() + place, 0);
  return place == 0 ? stack : transpose(stack, perm);
}

// What a Scan does for one batch.
struct Scanning {
  const proto::GraphProto& body;
  Results states;
  std::vector<Term> sources;
  std::vector<int64_t> axes, in_reversed, out_axes, out_reversed;  // of each source, of each row made
  std::string label = "";                                          // before the step's
  int64_t batches = 1;                                             // that are done like it

  int64_t steps() const { return sources[0].extent(axes[0]); }
  int64_t carried() const { return static_cast<int64_t>(states.size()); }
  int64_t made() const { return static_cast<int64_t>(out_axes.size()); }
};

std::vector<int64_t> numbers_of_each(NodeImport& n, const char* name, int64_t count) {
  std::vector<int64_t> values = n.ints_attr(name, std::vector<int64_t>(static_cast<size_t>(count), 0));
  if (static_cast<int64_t>(values.size()) != count)
    n.invalid(fmt::format("{} needs {} entries", name, count));
  return values;
}

void require_same_lengths(NodeImport& n, const Scanning& s) {
  for (size_t i = 0; i < s.sources.size(); ++i)
    if (s.sources[i].extent(s.axes[i]) != s.steps())
      n.invalid("the inputs that are scanned have different lengths");
}

std::optional<Results> running_scan(NodeImport& n, const Scanning& s, std::string* refusal = nullptr) {
  RunningLoop loop;
  loop.may_vary = refusal != nullptr;
  loop.count = n.length(s.sources[0], s.axes[0]);
  loop.condition = n.scalar(DType::bool_, 1);
  loop.most = s.steps();
  loop.states = s.states;
  loop.step = [&](const Operand& number, const Results& before) {
    Results inputs = before;
    const Term forward(n, number), backward = Term(n, loop.count) - 1 - forward;
    for (size_t i = 0; i < s.sources.size(); ++i)
      inputs.push_back(
          n.emit(Op::Gather, AxisAttrs{s.axes[i]},
                 {s.sources[i].operand(), (s.in_reversed[i] != 0 ? backward : forward).operand()}));
    Results outputs = n.import_body(s.body, inputs, s.label + "step", &loop.refusal);
    if (!outputs.empty()) outputs.insert(outputs.begin(), n.scalar(DType::bool_, 1));
    return outputs;
  };
  std::optional<Results> results = run_loop(n, loop);
  if (!results && refusal != nullptr) *refusal = loop.refusal;
  for (int64_t i = 0; results && i < s.made(); ++i) {
    Operand& stack = (*results)[s.carried() + i];
    stack = placed(Term(n, stack), s.out_axes[i], s.out_reversed[i] != 0).operand();
  }
  return results;
}

// One slice along the axis, without it.
Term row_of(const Term& x, int64_t axis, int64_t at) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + axis);
  return reshape(slice(x, axis, at, 1), shape);
}

Results scanned(NodeImport& n, const Scanning& s) {
  const int64_t steps = s.steps();
  if (!is_short(steps, s.body))
    if (std::optional<Results> results = running_scan(n, s)) return *results;
  require_few(n, steps * s.batches, s.body);
  Results states = s.states;
  std::vector<std::vector<Term>> made(static_cast<size_t>(s.made()));
  for (int64_t step = 0; step < steps; ++step) {
    Results inputs = states;
    for (size_t i = 0; i < s.sources.size(); ++i)
      inputs.push_back(row_of(s.sources[i], s.axes[i], s.in_reversed[i] != 0 ? steps - 1 - step : step));
    const Results outputs = n.import_body(s.body, inputs, s.label + std::to_string(step));
    for (int64_t i = 0; i < s.carried(); ++i) states[i] = outputs[i];
    for (int64_t i = 0; i < s.made(); ++i) made[i].push_back({n, outputs[s.carried() + i]});
  }
  Results results = states;
  for (int64_t i = 0; i < s.made(); ++i)
    results.push_back(stacked(n, made[i], s.out_axes[i], s.out_reversed[i] != 0,
                              s.body.output(static_cast<int>(s.carried() + i))));
  return results;
}

// Its inputs from the `first` on: states, and what is scanned.
Scanning read_scanning(NodeImport& n, int64_t first) {
  Scanning s{n.graph_attr("body"), {}, {}, {}, {}, {}, {}};
  const int64_t count = static_cast<int64_t>(n.input_count()) - first,
                scanned = n.int_attr("num_scan_inputs");
  const int64_t carried = count - scanned, made = s.body.output_size() - carried;
  if (scanned < 1 || carried < 0 || made < 0) n.invalid(fmt::format("num_scan_inputs {}", scanned));
  for (int64_t i = 0; i < carried; ++i) s.states.push_back(n.input(first + i));
  for (int64_t i = carried; i < count; ++i) s.sources.push_back({n, n.input(first + i)});
  s.axes = s.in_reversed = std::vector<int64_t>(static_cast<size_t>(scanned), 0);
  s.out_axes = s.out_reversed = std::vector<int64_t>(static_cast<size_t>(made), 0);
  return s;
}

// Of opset 8: batch after batch along the first axis, each scanned along its own first axis.
Results scan_batches(NodeImport& n) {
  for (size_t i = 1; i < n.input_count(); ++i)
    if (n.has_input(i)) n.require_known(n.input(i), "an extent of what it scans");
  if (n.has_input(0)) n.unsupported("sequence_lens; leave them out and pad the sequences, or use opset 9");
  Scanning all = read_scanning(n, 1);
  all.in_reversed = numbers_of_each(n, "directions", static_cast<int64_t>(all.sources.size()));
  std::vector<Term> split;
  for (const Operand& state : all.states) split.push_back({n, state});
  split.insert(split.end(), all.sources.begin(), all.sources.end());
  const int64_t batches = split[0].rank() > 0 ? split[0].extent(0) : 0;
  for (size_t i = 0; i < split.size(); ++i)
    if (split[i].rank() < (i < all.states.size() ? 1 : 2) || split[i].extent(0) != batches)
      n.invalid(fmt::format("input {} of type {} is not {} batches", i + 1,
                            to_string(split[i].operand()->type), batches));
  if (batches == 0) n.unsupported("no batches");
  all.batches = batches;
  require_few(n, batches, all.body);
  std::vector<std::vector<Term>> results;
  for (int64_t batch = 0; batch < batches; ++batch) {
    Scanning one = all;
    one.label = fmt::format("{}.", batch);
    for (size_t i = 0; i < one.states.size(); ++i) one.states[i] = row_of(split[i], 0, batch);
    for (Term& source : one.sources) source = row_of(source, 0, batch);
    require_same_lengths(n, one);
    const Results made = scanned(n, one);
    results.resize(made.size());
    for (size_t i = 0; i < made.size(); ++i) results[i].push_back(insert_axis(Term(n, made[i]), 0));
  }
  Results outputs;
  for (const std::vector<Term>& of_batches : results) {
    for (const Term& part : of_batches)
      if (part.shape() != of_batches[0].shape()) n.unsupported("a state whose shape changes");
    outputs.push_back(concat(of_batches, 0));
  }
  return outputs;
}

Results scan(NodeImport& n) {
  if (n.opset() < 9) return scan_batches(n);
  Scanning s = read_scanning(n, 0);
  const auto sources = static_cast<int64_t>(s.sources.size());
  s.axes = numbers_of_each(n, "scan_input_axes", sources);
  for (int64_t i = 0; i < sources; ++i) s.axes[i] = n.axis(s.axes[i], s.sources[i].rank());
  s.in_reversed = numbers_of_each(n, "scan_input_directions", sources);
  s.out_axes = numbers_of_each(n, "scan_output_axes", s.made());
  s.out_reversed = numbers_of_each(n, "scan_output_directions", s.made());
  require_same_lengths(n, s);
  if (std::none_of(s.sources.begin(), s.sources.end(),
                   [](const Term& source) { return is_bounded(source); }) &&
      std::none_of(s.states.begin(), s.states.end(), is_bounded))
    return scanned(n, s);
  std::string refusal;
  if (std::optional<Results> results = running_scan(n, s, &refusal)) return *results;
  n.unsupported("over extents that are ranges or depend on the data: " + refusal);
}

}  // namespace

std::vector<RuleRow> scan_rules() {
  return {{"Scan", scan, 8, 25}};
}

}  // namespace korch::onnx
