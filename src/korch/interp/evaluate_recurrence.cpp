// One direction of LSTM, GRU or RNN, a step at a time.
#include <algorithm>

#include "korch/interp/evaluate.h"
#include "korch/ir/recurrence.h"

namespace korch {
namespace {

// A step's vectors, [B, H] each, in f64.
class Steps {
 public:
  explicit Steps(const Evaluation& e)
      : stop_(e.stop),
        a_(e.attrs<RecurrenceAttrs>()),
        operands_(*recurrence_operands(a_)),
        activations_(activations_of(a_)),
        gates_(widened(e.inputs[0])),
        weights_(widened(e.inputs[1])),
        steps_(e.inputs[0].shape()[0]),
        batch_(e.inputs[0].shape()[1]),
        hidden_(e.inputs[1].shape()[2]),
        out_(doubles({steps_, batch_, hidden_})),
        state_(doubles(e.inputs[2].shape())) {
    const HostTensor state = widened(e.inputs[2]);
    std::copy_n(state.data<double>(), state.elements(), state_.mutable_data<double>());
    if (operands_.bias >= 0) bias_ = widened(e.inputs[operands_.bias]);
    if (operands_.peepholes >= 0) peepholes_ = widened(e.inputs[operands_.peepholes]);
    if (operands_.mask >= 0) mask_ = e.inputs[operands_.mask];
  }

  Results run() {
    for (int64_t i = 0; i < steps_; ++i) step(a_.reverse ? steps_ - 1 - i : i);
    return {out_, state_};
  }

 private:
  using Vector = std::vector<double>;  // [B, H]

  double* state(int64_t s) { return state_.mutable_data<double>() + s * batch_ * hidden_; }

  // What gate g's activation reads, without the product with the state.
  Vector data(int64_t t, int64_t g) const {
    Vector result(batch_ * hidden_);
    for (int64_t b = 0; b < batch_; ++b)
      for (int64_t j = 0; j < hidden_; ++j)
        result[b * hidden_ + j] =
            gates_.data<double>()[((t * batch_ + b) * operands_.gates + g) * hidden_ + j];
    return result;
  }

  // Gate g's weights times h.
  Vector product(int64_t g, const double* h) const {
    Vector result(batch_ * hidden_);
    const double* weights = weights_.data<double>() + g * hidden_ * hidden_;
    for (int64_t b = 0; b < batch_; ++b)
      for (int64_t j = 0; j < hidden_; ++j) {
        stop_.after(hidden_);
        for (int64_t k = 0; k < hidden_; ++k)
          result[b * hidden_ + j] += h[b * hidden_ + k] * weights[j * hidden_ + k];
      }
    return result;
  }

  template <typename F>
  Vector each(F&& f) const {
    Vector result(batch_ * hidden_);
    for (int64_t b = 0; b < batch_; ++b)
      for (int64_t j = 0; j < hidden_; ++j) result[b * hidden_ + j] = f(b * hidden_ + j, j);
    return result;
  }

  Vector activate(size_t which, Vector values) const {
    if (a_.clip > 0)
      for (double& value : values) value = std::clamp(value, -a_.clip, a_.clip);
    const TensorType type{DType::f64, {batch_, hidden_}};
    const HostTensor result =
        evaluate_scalar(activations_[which].op, activations_[which].scalars,
                        {HostTensor::of<double>(DType::f64, type.shape, values)}, type, stop_);
    return {result.data<double>(), result.data<double>() + result.elements()};
  }

  Vector sum(const Vector& a, const Vector& b) const {
    return each([&](int64_t i, int64_t) { return a[i] + b[i]; });
  }

  Vector peep(Vector values, int64_t which, const double* c) const {
    if (operands_.peepholes < 0) return values;
    const double* weights = peepholes_->data<double>() + which * hidden_;
    return each([&](int64_t i, int64_t j) { return values[i] + weights[j] * c[i]; });
  }

  bool runs(int64_t t, int64_t b) const { return !mask_ || element_as_int(*mask_, t * batch_ + b) != 0; }

  void step(int64_t t) {
    std::vector<Vector> next;
    if (a_.cell == "lstm")
      next = lstm(t);
    else
      next = {a_.cell == "gru" ? gru(t) : activate(0, sum(data(t, 0), product(0, state(0))))};
    for (size_t s = 0; s < next.size(); ++s)
      for (int64_t b = 0; b < batch_; ++b)
        if (runs(t, b))
          std::copy_n(next[s].begin() + b * hidden_, hidden_, state(static_cast<int64_t>(s)) + b * hidden_);
    for (int64_t b = 0; b < batch_; ++b)
      if (runs(t, b))
        std::copy_n(state(0) + b * hidden_, hidden_,
                    out_.mutable_data<double>() + (t * batch_ + b) * hidden_);
  }

  std::vector<Vector> lstm(int64_t t) {
    const double* c = state(1);
    const auto gate = [&](int64_t g) { return sum(data(t, g), product(g, state(0))); };
    const Vector input = activate(0, peep(gate(0), 0, c));
    const Vector forget = a_.input_forget ? each([&](int64_t i, int64_t) { return 1 - input[i]; })
                                          : activate(0, peep(gate(2), 2, c));
    const Vector candidate = activate(1, gate(3));
    const Vector cell = each([&](int64_t i, int64_t) { return forget[i] * c[i] + input[i] * candidate[i]; });
    const Vector output = activate(0, peep(gate(1), 1, cell.data()));
    const Vector shown = activate(2, cell);
    return {each([&](int64_t i, int64_t) { return output[i] * shown[i]; }), cell};
  }

  Vector gru(int64_t t) {
    const double* h = state(0);
    const Vector update = activate(0, sum(data(t, 0), product(0, h)));
    const Vector reset = activate(0, sum(data(t, 1), product(1, h)));
    Vector inner;
    if (operands_.resets_operand) {
      inner = product(2, each([&](int64_t i, int64_t) { return reset[i] * h[i]; }).data());
    } else {
      const Vector whole = product(2, h);
      inner = each([&](int64_t i, int64_t j) { return reset[i] * (whole[i] + bias_->data<double>()[j]); });
    }
    const Vector candidate = activate(1, sum(data(t, 2), inner));
    return each([&](int64_t i, int64_t) { return (1 - update[i]) * candidate[i] + update[i] * h[i]; });
  }

  StopCheck& stop_;
  const RecurrenceAttrs& a_;
  const RecurrenceOperands operands_;
  const std::vector<Activation> activations_;
  const HostTensor gates_, weights_;
  const int64_t steps_, batch_, hidden_;
  HostTensor out_, state_;
  std::optional<HostTensor> bias_, peepholes_, mask_;
};

}  // namespace

Results evaluate_recurrence(const Evaluation& e) {
  return Steps(e).run();
}

}  // namespace korch
