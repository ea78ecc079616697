// Recurrences against the interpreter: every cell and option, weights constant and not, one sequence and
// many, hidden elements that fill no vector.
#include "korch/ir/recurrence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "generate.h"
#include "kernel_runner.h"

namespace korch::testing {
namespace {

struct RecurrenceCase {
  const char* name;
  RecurrenceAttrs attrs;
  int64_t steps, batch, hidden;
  bool constant = true;  // the weights
  bool last_only = false;
  DType type = DType::f32;
};

void PrintTo(const RecurrenceCase& c, std::ostream* out) {
  *out << c.name;
}

Graph graph_of(const RecurrenceCase& c) {
  const RecurrenceOperands operands = *recurrence_operands(c.attrs);
  const double scale = 1 / std::sqrt(static_cast<double>(c.hidden));
  Graph graph;
  const auto operand = [&](const Shape& shape, const char* name, uint64_t seed) {
    const TensorType type{c.type, shape};
    return c.constant ? graph.add_constant(random_tensor(type, seed, scale)) : graph.add_input(type, name);
  };
  std::vector<ValueId> inputs = {
      graph.add_input({c.type, {c.steps, c.batch, operands.gates * c.hidden}}, "gates"),
      operand({operands.gates, c.hidden, c.hidden}, "weights", 1),
      graph.add_input({c.type, {operands.states, c.batch, c.hidden}}, "state")};
  if (operands.bias >= 0) inputs.push_back(operand({c.hidden}, "bias", 2));
  if (operands.peepholes >= 0) inputs.push_back(operand({3, c.hidden}, "peepholes", 3));
  if (operands.mask >= 0) inputs.push_back(graph.add_input({DType::bool_, {c.steps, c.batch}}, "mask"));
  const std::vector<ValueId> results = graph.node(graph.add_node(Op::Recurrence, c.attrs, inputs)).outputs;
  if (c.last_only)
    graph.set_outputs({results[1]}, {"last"});
  else
    graph.set_outputs(results, {"steps", "last"});
  return graph;
}

RecurrenceAttrs lstm() {
  return {.cell = "lstm", .activations = "Sigmoid Tanh Tanh", .alphas = {0, 0, 0}, .betas = {0, 0, 0}};
}
RecurrenceAttrs gru(bool linear_before_reset) {
  return {.cell = "gru",
          .activations = "Sigmoid Tanh",
          .alphas = {0, 0},
          .betas = {0, 0},
          .linear_before_reset = linear_before_reset};
}
RecurrenceAttrs rnn(const char* activation) {
  return {.cell = "rnn", .activations = activation, .alphas = {0.1}, .betas = {0.4}};
}
RecurrenceAttrs with(RecurrenceAttrs attrs, void (*change)(RecurrenceAttrs&)) {
  change(attrs);
  return attrs;
}

std::vector<RecurrenceCase> cases() {
  const auto all = [](RecurrenceAttrs& a) {
    a.reverse = a.peepholes = a.masked = true;
    a.clip = 0.3;
  };
  const auto masked = [](RecurrenceAttrs& a) { a.masked = true; };
  const auto reversed = [](RecurrenceAttrs& a) { a.reverse = true; };
  const auto forgets = [](RecurrenceAttrs& a) { a.input_forget = true; };
  return {
      {"lstm", lstm(), 7, 1, 64},
      {"lstm_of_many_columns", lstm(), 3, 1, 300},
      {"lstm_of_batch", lstm(), 5, 13, 37},
      {"lstm_with_all", with(lstm(), all), 6, 3, 40},
      {"lstm_couples_gates", with(lstm(), forgets), 4, 2, 16},
      {"lstm_of_given_weights", lstm(), 4, 2, 19, false},
      {"lstm_of_one_step", lstm(), 1, 2, 48},
      {"lstm_of_doubles", lstm(), 3, 2, 24, true, false, DType::f64},
      {"lstm_last_state", with(lstm(), masked), 5, 2, 33, true, true},
      {"lstm_of_one_element", lstm(), 3, 1, 1},
      {"gru", gru(false), 6, 1, 96},
      {"gru_of_batch_in_reverse", with(gru(false), reversed), 5, 17, 23},
      {"gru_masked", with(gru(false), masked), 5, 4, 30},
      {"gru_linear_before_reset", gru(true), 6, 1, 80},
      {"gru_linear_before_reset_masked", with(gru(true), masked), 5, 9, 21},
      {"gru_of_given_weights", gru(true), 4, 2, 20, false},
      {"lstm_in_rounds", lstm(), 17, 1, 64},
      {"lstm_in_rounds_with_all", with(lstm(), all), 11, 3, 64},
      {"gru_in_rounds_reversed", with(gru(false), reversed), 13, 2, 64},
      {"gru_in_rounds_linear_before_reset", with(gru(true), masked), 13, 2, 64},
      {"rnn", rnn("Tanh"), 9, 1, 128},
      {"rnn_of_batch", with(rnn("HardSigmoid"), reversed), 4, 6, 50},
      {"rnn_relu", with(rnn("Relu"), masked), 4, 3, 17},
  };
}

class Recurrences : public ::testing::TestWithParam<RecurrenceCase> {};

TEST_P(Recurrences, AgreeWithInterpreter) {
  EXPECT_GT(check(graph_of(GetParam()), {.tolerance = 5e-6, .family = "recurrence"}), 1);
}

INSTANTIATE_TEST_SUITE_P(All, Recurrences, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class Rounds : public ::testing::TestWithParam<RecurrenceCase> {};

// To the last bit, however many steps make a round, and whoever shares them.
TEST_P(Rounds, ChangeNothing) {
  const Graph graph = graph_of(GetParam());
  const Candidate candidate = whole_graph(graph);
  const Device target = test_target(runnable_isas().back());
  Implementation way = listed(graph, candidate, target, "recurrence")[0];
  const TileShape tile = std::get<RecurrenceSchedule>(way.schedule).tile;
  std::vector<HostTensor> inputs;
  for (ValueId input : candidate.inputs)
    inputs.push_back(random_tensor(graph.value(input).type, inputs.size() + 1));
  std::vector<HostTensor> wanted;
  for (const auto& [shared, steps] :
       {std::pair<bool, int64_t>{false, GetParam().steps}, {false, 1}, {false, 4}, {true, 1}}) {
    way.schedule = RecurrenceSchedule{shared, steps, tile};
    const Result<Kernel> kernel = generate(graph, candidate, way, target);
    ASSERT_TRUE(kernel);
    const int64_t rounds = (GetParam().steps + steps - 1) / steps;
    const bool resets_operand = recurrence_operands(GetParam().attrs)->resets_operand;
    EXPECT_EQ(kernel.value().phases.back().rounds, shared && resets_operand ? 2 * rounds : rounds);
    const RunResult result = run_kernel(graph, candidate, kernel.value(), way, target, inputs);
    ASSERT_EQ(result.status, 0);
    if (wanted.empty()) wanted = result.outputs;
    for (size_t o = 0; o < wanted.size(); ++o)
      EXPECT_EQ(std::memcmp(result.outputs[o].raw(), wanted[o].raw(), wanted[o].bytes()), 0) << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Rounds,
    ::testing::Values(
        RecurrenceCase{"lstm", with(lstm(), [](RecurrenceAttrs& a) { a.reverse = a.masked = true; }), 11, 3,
                       40},
        RecurrenceCase{"gru", with(gru(false), [](RecurrenceAttrs& a) { a.masked = true; }), 9, 1, 64},
        RecurrenceCase{"gru_linear_before_reset", gru(true), 7, 2, 33}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace korch::testing
