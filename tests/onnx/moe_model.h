// Models of one MoE node, and what they compute by the dense formula: every token through every expert.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>

#include "one_node.h"

namespace korch {

struct MoeCase {
  std::string activation = "relu";
  int64_t k = 1, tokens = 5, experts = 4, hidden = 3, inner = 6;
  bool normalizes = true, biases = false, fc3 = false;
  int64_t fusion = 0;                     // of swiglu: 1 interleaved, 2 one behind the other
  double limit = 0, alpha = 1, beta = 0;  // of swiglu; 0: no limit
  std::vector<int64_t> routed = {};       // each token's first expert; none: as numbers fall
  std::vector<int64_t> poisoned = {};     // experts whose weights are no numbers
  bool weights_are_inputs = false;

  bool fused() const { return fusion != 0; }
};

class MoeModel {
 public:
  explicit MoeModel(const MoeCase& c) : c_(c) {
    const int64_t rows = c.fused() ? 2 * c.inner : c.inner;
    x_ = drawn({c.tokens, c.hidden});
    logits_ = drawn({c.tokens, c.experts});
    for (size_t token = 0; token < c.routed.size(); ++token)
      logits_.mutable_data<float>()[static_cast<int64_t>(token) * c.experts + c.routed[token]] = 4;
    fc_[0] = drawn({c.experts, rows, c.hidden}), bias_[0] = drawn({c.experts, rows});
    fc_[1] = drawn({c.experts, c.hidden, c.inner}), bias_[1] = drawn({c.experts, c.hidden});
    fc_[2] = drawn({c.experts, c.inner, c.hidden}), bias_[2] = drawn({c.experts, c.inner});
    for (HostTensor& weights : fc_)
      for (int64_t expert : c.poisoned) {
        const int64_t each = weights.elements() / c.experts;
        std::fill_n(weights.mutable_data<float>() + expert * each, each,
                    std::numeric_limits<float>::quiet_NaN());
      }
  }

  ModelBuilder model() const {
    ModelBuilder b{21};
    b.model.add_opset_import()->set_domain("com.microsoft");
    b.model.mutable_opset_import(1)->set_version(1);
    b.input("x", x_.shape()).input("logits", logits_.shape()).output("y");
    std::vector<std::string> names = {"x", "logits"};
    for (int i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i + 1);
      for (const auto& [tensor, name, there] :
           {std::tuple(&fc_[i], "fc" + number, i < 2 || c_.fc3),
            std::tuple(&bias_[i], "bias" + number, c_.biases && (i < 2 || c_.fc3))}) {
        names.push_back(there ? name : "");
        if (!there) continue;
        if (c_.weights_are_inputs)
          b.input(name, tensor->shape());
        else
          b.initializer(name, *tensor);
      }
    }
    auto& node = b.node("MoE", names, {"y"}, "mixture");
    node.set_domain("com.microsoft");
    set_attribute(node, "activation_type", c_.activation);
    set_attribute(node, "k", c_.k);
    set_attribute(node, "normalize_routing_weights", static_cast<int64_t>(c_.normalizes));
    if (c_.activation != "swiglu") return b;
    set_attribute(node, "swiglu_fusion", c_.fusion);
    set_float(node, "activation_alpha", static_cast<float>(c_.alpha));
    set_float(node, "activation_beta", static_cast<float>(c_.beta));
    if (c_.limit != 0) set_float(node, "swiglu_limit", static_cast<float>(c_.limit));
    return b;
  }

  std::vector<HostTensor> inputs() const {
    std::vector<HostTensor> result = {x_, logits_};
    for (int i = 0; c_.weights_are_inputs && i < (c_.fc3 ? 3 : 2); ++i) {
      result.push_back(fc_[i]);
      if (c_.biases) result.push_back(bias_[i]);
    }
    return result;
  }

  // Of experts that a token does not choose, the share is 0 and what they make is not asked for.
  Values dense() const {
    Values sum;
    for (int64_t token = 0; token < c_.tokens; ++token) {
      Values row(static_cast<size_t>(c_.hidden));
      const Values shares = shares_of(token);
      for (int64_t expert = 0; expert < c_.experts; ++expert) {
        if (shares[expert] == 0) continue;
        const Values made = through(expert, token);
        for (int64_t i = 0; i < c_.hidden; ++i) row[i] += shares[expert] * made[i];
      }
      sum.insert(sum.end(), row.begin(), row.end());
    }
    return sum;
  }

 private:
  // In [-1, 1], no two rows alike.
  HostTensor drawn(const Shape& shape) {
    HostTensor tensor(TensorType{DType::f32, shape});
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      tensor.mutable_data<float>()[i] = static_cast<float>(static_cast<double>(state_ >> 40) / 0x1p23 - 1);
    }
    return tensor;
  }

  Values shares_of(int64_t token) const {
    const float* logits = logits_.data<float>() + token * c_.experts;
    double all = 0, chosen = 0;
    Values shares, result(static_cast<size_t>(c_.experts));
    for (int64_t expert = 0; expert < c_.experts; ++expert) shares.push_back(std::exp(logits[expert]));
    for (double share : shares) all += share;
    std::vector<int64_t> order(shares.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return shares[a] > shares[b]; });
    for (int64_t i = 0; i < c_.k; ++i) chosen += shares[order[i]];
    for (int64_t i = 0; i < c_.k; ++i) result[order[i]] = shares[order[i]] / (c_.normalizes ? chosen : all);
    return result;
  }

  // x W^T + b of an expert's layer.
  Values layer(int which, int64_t expert, const Values& x) const {
    const int64_t rows = fc_[which].shape()[1], columns = fc_[which].shape()[2];
    Values result;
    for (int64_t row = 0; row < rows; ++row) {
      double sum = c_.biases ? bias_[which].data<float>()[expert * rows + row] : 0.0;
      for (int64_t i = 0; i < columns; ++i)
        sum += x[i] * fc_[which].data<float>()[(expert * rows + row) * columns + i];
      result.push_back(sum);
    }
    return result;
  }

  Values through(int64_t expert, int64_t token) const {
    const float* row = x_.data<float>() + token * c_.hidden;
    const Values x(row, row + c_.hidden), first = layer(0, expert, x);
    const Values third = c_.fc3 ? layer(2, expert, x) : Values{};
    Values inner;
    for (int64_t i = 0; i < c_.inner; ++i) {
      const double gate = first[c_.fusion == 1 ? 2 * i : i];
      if (c_.activation == "swiglu") {
        const double up = c_.fc3 ? third[i] : first[c_.fusion == 1 ? 2 * i + 1 : c_.inner + i];
        inner.push_back(swiglu(gate, up));
      } else {
        inner.push_back(activated(gate) * (c_.fc3 ? third[i] : 1));
      }
    }
    return layer(1, expert, inner);
  }

  double swiglu(double gate, double up) const {
    if (c_.limit != 0) gate = std::min(gate, c_.limit), up = std::clamp(up, -c_.limit, c_.limit);
    return gate / (1 + std::exp(-c_.alpha * gate)) * (up + c_.beta);
  }

  double activated(double x) const {
    if (c_.activation == "relu") return std::max(x, 0.0);
    if (c_.activation == "silu") return x / (1 + std::exp(-x));
    if (c_.activation == "gelu")
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    return x;
  }

  const MoeCase c_;
  uint64_t state_ = 1;
  HostTensor x_, logits_, fc_[3], bias_[3];
};

}  // namespace korch
