// LSTM, GRU and RNN: the data times the input weights for all steps at once, then a Recurrence per direction.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "korch/ir/recurrence.h"
#include "korch/onnx/bounded.h"
#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"

namespace korch::onnx {
namespace {

// The operator's inputs by what they are; -1: it has none such.
struct RecurrentLayer {
  const char* cell;
  std::vector<std::string> activations;  // by default
  int64_t gates;
  int cell_state = -1, peepholes = -1;
};

// `count` of an operand's elements along an axis, from `first` on.
Operand part(NodeImport& n, const Operand& operand, size_t axis, int64_t first, int64_t count) {
  SliceAttrs slice{Shape(operand->shape().size(), 0), operand->shape(), Shape(operand->shape().size(), 1)};
  slice.starts[axis] = first;
  slice.sizes[axis] = count;
  return sliced(n, operand, slice);
}

class Import {
 public:
  Import(NodeImport& n, RecurrentLayer layer) : n_(n), layer_(std::move(layer)) {}

  Results run() {
    read_attributes();
    read_operands();
    std::vector<Operand> steps, hidden, cell;
    for (int64_t d = 0; d < directions_; ++d) {
      const bool reverse = direction_ == "reverse" || d == 1;
      Results made = one_direction(d, reverse);
      steps.push_back(n_.reshape(made[0], {steps_, 1, batch_, hidden_}));
      hidden.push_back(part(n_, made[1], 0, 0, 1));
      if (layer_.cell_state >= 0) cell.push_back(part(n_, made[1], 0, 1, 1));
    }
    Results results = {n_.bounded(join(steps, 1), {of_steps_, nullptr, of_batch_, nullptr}),
                       n_.bounded(join(hidden, 0), {nullptr, of_batch_, nullptr})};
    if (layer_.cell_state >= 0) results.push_back(n_.bounded(join(cell, 0), {nullptr, of_batch_, nullptr}));
    for (const Operand& batch : batches_)
      n_.builder().note_meeting(whole_batch_, batch, n_.origin(), results);
    if (batch_first_) {
      results[0] = n_.emit(Op::Transpose, PermAttrs{{2, 0, 1, 3}}, {results[0]});
      for (size_t i = 1; i < results.size(); ++i)
        results[i] = n_.emit(Op::Transpose, PermAttrs{{1, 0, 2}}, {results[i]});
    }
    return results;
  }

 private:
  Operand join(const std::vector<Operand>& parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : n_.emit(Op::Concat, AxisAttrs{axis}, parts);
  }

  void read_attributes() {
    direction_ = n_.string_attr("direction", "forward");
    if (direction_ != "forward" && direction_ != "reverse" && direction_ != "bidirectional")
      n_.invalid("direction is forward, reverse or bidirectional");
    directions_ = direction_ == "bidirectional" ? 2 : 1;
    batch_first_ = n_.flag("layout", false);
    attrs_.cell = layer_.cell;
    attrs_.clip = n_.float_attr("clip", 0);
    if (attrs_.clip < 0) n_.invalid("clip is negative");
    if (attrs_.cell == "lstm") attrs_.input_forget = n_.flag("input_forget", false);
    if (attrs_.cell == "gru") attrs_.linear_before_reset = n_.flag("linear_before_reset", false);
    if (n_.opset() < 7) n_.ignore("output_sequence");
    read_activations();
  }

  void read_activations() {
    const size_t each = layer_.activations.size();
    std::vector<std::string> names;
    for (int64_t d = 0; d < directions_; ++d)
      names.insert(names.end(), layer_.activations.begin(), layer_.activations.end());
    names = n_.strings_attr("activations", names);
    if (names.size() != each * directions_)
      n_.invalid(fmt::format("activations need {} names for each direction", each));
    const std::vector<double> alphas = n_.floats_attr("activation_alpha"),
                              betas = n_.floats_attr("activation_beta");
    size_t alpha = 0, beta = 0;  // listed for the activations that have some
    for (std::string& name : names) {
      name = spelled(name);
      const auto [has_alpha, has_beta] = scalars_of(name);
      activations_.push_back(name);
      alphas_.push_back(!has_alpha ? 0 : alpha < alphas.size() ? alphas[alpha++] : default_alpha(name));
      betas_.push_back(!has_beta ? 0 : beta < betas.size() ? betas[beta++] : 0.5);
    }
  }

  // Names are compared without regard to case.
  std::string spelled(const std::string& name) const {
    for (const char* known : {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu",
                              "Softsign", "Softplus"})
      if (std::equal(name.begin(), name.end(), known, known + std::char_traits<char>::length(known),
                     [](char a, char b) { return std::tolower(a) == std::tolower(b); }))
        return known;
    n_.unsupported("activation " + quoted_name(name));
  }

  static std::pair<bool, bool> scalars_of(const std::string& name) {
    return {name == "LeakyRelu" || name == "ThresholdedRelu" || name == "HardSigmoid" || name == "Elu",
            name == "HardSigmoid"};
  }

  static double default_alpha(const std::string& name) {
    return name == "LeakyRelu" ? 0.01 : name == "HardSigmoid" ? 0.2 : 1;
  }

  void read_operands() {
    data_ = n_.input(0);
    weights_ = n_.input(1);
    recurrent_ = n_.input(2);
    if (data_->rank() != 3 || weights_->rank() != 3 || recurrent_->rank() != 3)
      n_.invalid("data, weights and recurrent weights need rank 3");
    if (batch_first_) data_ = n_.emit(Op::Transpose, PermAttrs{{1, 0, 2}}, {data_});
    n_.require_known(data_, 2, "the number of features");
    n_.require_known(weights_, "an extent of the weights");
    n_.require_known(recurrent_, "an extent of the recurrent weights");
    // Steps and batches are by themselves: all is computed at the bounds, steps beyond the extent are masked.
    of_steps_ = extent_of(data_, 0), of_batch_ = extent_of(data_, 1), whole_batch_ = n_.length(data_, 1);
    data_ = n_.bounded(data_, {});
    steps_ = data_->shape()[0], batch_ = data_->shape()[1], width_ = data_->shape()[2];
    hidden_ = recurrent_->shape()[2];
    if (const int64_t size = n_.int_attr("hidden_size", hidden_); size != hidden_)
      n_.invalid(fmt::format("hidden_size is {}, but the recurrent weights are {}", size,
                             to_string(recurrent_->type)));
    n_.require_shape(weights_, "weights", {directions_, layer_.gates * hidden_, width_});
    n_.require_shape(recurrent_, "recurrent weights", {directions_, layer_.gates * hidden_, hidden_});
    if (n_.has_input(3)) {
      bias_ = n_.input(3);
      n_.require_known(bias_, "an extent of the bias");
      n_.require_shape(bias_, "bias", {directions_, 2 * layer_.gates * hidden_});
    }
    if (n_.has_input(4)) read_lengths(n_.input(4));
    if (of_steps_ != nullptr) mask_open_steps();
    state_ = initial_state(5);
    if (layer_.cell_state >= 0) cell_state_ = initial_state(static_cast<size_t>(layer_.cell_state));
    if (layer_.peepholes >= 0 && n_.has_input(static_cast<size_t>(layer_.peepholes))) {
      peepholes_ = n_.input(static_cast<size_t>(layer_.peepholes));
      n_.require_known(peepholes_, "an extent of the peepholes");
      n_.require_shape(peepholes_, "peepholes", {directions_, 3 * hidden_});
    }
  }

  // As a mask of steps; none where every sequence has all of them.
  void read_lengths(const Operand& lengths) {
    n_.require_shape(lengths, "sequence lengths", {batch_});
    batches_.push_back(n_.length(lengths, 0));
    bool all = lengths->constant.has_value();
    for (int64_t b = 0; lengths->constant && b < batch_; ++b) {
      const int64_t length = element_as_int(*lengths->constant, b);
      if (length < 0 || length > steps_)
        n_.invalid(fmt::format("sequence length {} is not within 0 and {} steps", length, steps_));
      all = all && length == steps_;
    }
    if (all) return;
    mask_ = n_.emit(Op::Less, {n_.positions(DType::i64, steps_, 0, 2),
                               n_.reshape(n_.cast(n_.bounded(lengths, {}), DType::i64), {1, batch_})});
  }

  void mask_open_steps() {
    const Operand there = n_.emit(Op::Expand, ShapeAttrs{{steps_, batch_}},
                                  {n_.emit(Op::Less, {n_.positions(DType::i64, steps_, 0, 2), of_steps_})});
    mask_ = mask_ == nullptr ? there : n_.emit(Op::And, {mask_, there});
  }

  // [D, B, H]
  Operand initial_state(size_t input) {
    const Shape shape = {directions_, batch_, hidden_};
    if (!n_.has_input(input))
      return n_.emit(Op::Expand, ShapeAttrs{shape}, {n_.reshape(n_.scalar(data_->type.dtype, 0), {1, 1, 1})});
    Operand state = n_.input(input);
    if (batch_first_) state = n_.emit(Op::Transpose, PermAttrs{{1, 0, 2}}, {state});
    n_.require_shape(state, "initial states", shape);
    n_.require_known(state, 0, "the number of directions");
    n_.require_known(state, 2, "the hidden size");
    batches_.push_back(n_.length(state, 1));
    return n_.bounded(state, {});
  }

  Results one_direction(int64_t d, bool reverse) {
    const int64_t width = layer_.gates * hidden_;
    Operand gates = n_.emit(Op::MatMul, MatMulAttrs{false, true},
                            {n_.reshape(data_, {steps_ * batch_, width_}),
                             n_.reshape(part(n_, weights_, 0, d, 1), {width, width_})});
    std::vector<Operand> operands = {
        nullptr, n_.reshape(part(n_, recurrent_, 0, d, 1), {layer_.gates, hidden_, hidden_}),
        part(n_, state_, 0, d, 1)};
    if (cell_state_ != nullptr)
      operands[2] = n_.emit(Op::Concat, AxisAttrs{0}, {operands[2], part(n_, cell_state_, 0, d, 1)});
    if (bias_ != nullptr)
      gates = add_bias(gates, n_.reshape(part(n_, bias_, 0, d, 1), {2, width}), operands);
    else if (attrs_.linear_before_reset)
      operands.push_back(
          n_.emit(Op::Expand, ShapeAttrs{{hidden_}}, {n_.reshape(n_.scalar(data_->type.dtype, 0), {1})}));
    gates = n_.reshape(gates, {steps_, batch_, width});
    RecurrenceAttrs attrs = attrs_;
    for (size_t i = 0; i < layer_.activations.size(); ++i) {
      const size_t at = d * layer_.activations.size() + i;
      attrs.activations += (i > 0 ? " " : "") + activations_[at];
      attrs.alphas.push_back(alphas_[at]);
      attrs.betas.push_back(betas_[at]);
    }
    attrs.peepholes = peepholes_ != nullptr;
    if (attrs.peepholes) operands.push_back(n_.reshape(part(n_, peepholes_, 0, d, 1), {3, hidden_}));
    attrs.masked = mask_ != nullptr;
    if (attrs.masked) operands.push_back(mask_);
    attrs.reverse = reverse;
    operands[0] = gates;
    return n_.emit_all(Op::Recurrence, attrs, operands);
  }

  // Both biases go to the data but the recurrent one of a gate whose product is scaled before it is added.
  Operand add_bias(const Operand& gates, const Operand& biases, std::vector<Operand>& operands) {
    const int64_t width = layer_.gates * hidden_;
    const Operand data = n_.reshape(part(n_, biases, 0, 0, 1), {width}),
                  recurrent = n_.reshape(part(n_, biases, 0, 1, 1), {width});
    if (!attrs_.linear_before_reset) return n_.emit(Op::Add, {gates, n_.emit(Op::Add, {data, recurrent})});
    operands.push_back(part(n_, recurrent, 0, 2 * hidden_, hidden_));
    const Operand zero = n_.emit(Op::Mul, {operands.back(), n_.scalar(data_->type.dtype, 0)});
    const Operand others = n_.emit(Op::Concat, AxisAttrs{0}, {part(n_, recurrent, 0, 0, 2 * hidden_), zero});
    return n_.emit(Op::Add, {gates, n_.emit(Op::Add, {data, others})});
  }

  NodeImport& n_;
  const RecurrentLayer layer_;
  RecurrenceAttrs attrs_;
  std::string direction_;
  bool batch_first_ = false;
  Operand of_steps_, of_batch_;   // their extents, where they are open
  Operand whole_batch_;           // its extent
  std::vector<Operand> batches_;  // the extents of those of other operands
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, width_ = 0, hidden_ = 0;
  std::vector<std::string> activations_;
  std::vector<double> alphas_, betas_;
  Operand data_, weights_, recurrent_, bias_, mask_, state_, cell_state_, peepholes_;
};

Results lstm(NodeImport& n) {
  return Import(n, {"lstm", {"Sigmoid", "Tanh", "Tanh"}, 4, 6, 7}).run();
}

Results gru(NodeImport& n) {
  return Import(n, {"gru", {"Sigmoid", "Tanh"}, 3}).run();
}

Results rnn(NodeImport& n) {
  return Import(n, {"rnn", {"Tanh"}, 1}).run();
}

}  // namespace

std::vector<RuleRow> recurrent_rules() {
  return {{"LSTM", lstm, 7, 22}, {"GRU", gru, 7, 22}, {"RNN", rnn, 7, 22}};
}

}  // namespace korch::onnx
