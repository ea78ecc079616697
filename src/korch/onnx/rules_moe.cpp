// Mixtures of experts: each token's rows go through the few experts that its router chooses. Per expert there
// is a loop over blocks of the rows that were routed to it (running_loop.h), so what no token needs does not
// run.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "korch/onnx/model_file.h"
#include "korch/onnx/rules.h"
#include "korch/onnx/running_loop.h"
#include "korch/onnx/term.h"

namespace korch::onnx {
namespace {

// Rows of a step. They share one reading of the expert's weights, which takes longer than so few rows'
// products; of many, those beyond an expert's last are computed for nothing.
constexpr int64_t kLeastBlockRows = 4, kMostBlockRows = 64;

// Loops that are written out, one for each.
constexpr int64_t kMostExperts = 1024;

// What a router made of its logits [tokens, experts].
struct Routing {
  int64_t block;  // rows of a step
  Term tokens;  // [experts * places]: of each expert the tokens routed to it in order, then the number of all
  Term weights;  // [experts * (tokens + 1)], the sum's type: 0 behind
  Term steps;    // [experts], blocks there are
  int64_t places, count;
};

// A linear layer of each expert: `count` rows of its weights [experts, rows, columns] from `first` on, each
// `stride`th, and a bias [experts, rows] or none.
struct Layer {
  Operand weights, bias;
  int64_t first, stride, count;
};

class Experts {
 public:
  explicit Experts(NodeImport& n) : n_(n), x_(n, n.input(0)) {}

  Results run() {
    read_attributes();
    read_operands();
    const Shape shape = x_.shape();
    if (tokens_ == 0) return {x_};
    x_ = reshape(x_, {tokens_, hidden_});
    const Routing routing = route();
    // One row more, where the rows go that a block has beyond its expert's tokens.
    Term sum = expand(reshape(Term(n_, sum_type(), 0), {1, 1}), {tokens_ + 1, hidden_});
    for (int64_t expert = 0; expert < experts_; ++expert) sum = added(sum, routing, expert);
    return {cast(reshape(slice(sum, 0, 0, tokens_), shape), x_.dtype())};
  }

 private:
  void read_attributes() {
    activation_ = n_.string_attr("activation_type", "relu");
    const std::vector<std::string> known = {"relu", "gelu", "silu", "identity", "swiglu"};
    if (std::find(known.begin(), known.end(), activation_) == known.end())
      n_.unsupported("activation_type " + quoted_name(activation_));
    k_ = n_.int_attr("k", 1);
    normalizes_ = n_.flag("normalize_routing_weights", false);
    if (n_.flag("use_sparse_mixer", false)) n_.unsupported("use_sparse_mixer");
    if (n_.flag("swiglu_limit_after_activation", false)) n_.unsupported("swiglu_limit_after_activation");
    fusion_ = n_.int_attr("swiglu_fusion", 0);
    n_.bounded("swiglu_fusion", {fusion_}, 0, 2);
    alpha_ = n_.float_attr("activation_alpha", 1);
    beta_ = n_.float_attr("activation_beta", 0);
    has_limit_ = n_.has("swiglu_limit");
    limit_ = n_.float_attr("swiglu_limit", 0);
  }

  void read_operands() {
    if (x_.rank() != 2 && x_.rank() != 3) n_.invalid("the data need rank 2 or 3");
    const Operand &logits = n_.input(1), &fc1 = n_.input(2), &fc2 = n_.input(4);
    hidden_ = x_.shape().back();
    tokens_ = x_.rank() == 2 ? x_.extent(0) : x_.extent(0) * x_.extent(1);
    if (fc1->rank() != 3 || fc2->rank() != 3 || logits->rank() != 2)
      n_.invalid("weights need rank 3, and what the router says rank 2");
    experts_ = logits->shape()[1];
    n_.require_shape(logits, "what the router says", {tokens_, experts_});
    n_.bounded("k", {k_}, 1, experts_);
    if (experts_ > kMostExperts)
      n_.unsupported(fmt::format("{} experts, more than {}", experts_, kMostExperts));
    const int64_t inner = fc2->shape()[2];
    const bool gated = activation_ == "swiglu", fused = gated && fusion_ != 0;
    // Older models declare fc1 and fc2 the other way round, and readers disagree where the elements stand
    // then.
    if (fc2->shape()[1] != hidden_)
      n_.unsupported(fmt::format("fc2 weights {}, not [experts, hidden, inner]", to_string(fc2->type)));
    n_.require_shape(fc2, "fc2 weights", {experts_, hidden_, inner});
    n_.require_shape(fc1, "fc1 weights", {experts_, fused ? 2 * inner : inner, hidden_});
    const Operand bias1 = bias(3, fc1), bias3 = n_.has_input(6) ? bias(7, n_.input(6)) : nullptr;
    out_ = Layer{fc2, bias(5, fc2), 0, 1, hidden_};
    if (fused && n_.has_input(6)) n_.invalid("fc3 beside a fused swiglu");
    if (gated && !fused && !n_.has_input(6)) n_.invalid("swiglu needs fc3 or swiglu_fusion");
    if (!n_.has_input(6) && n_.has_input(7)) n_.invalid("a bias of fc3 without weights");
    if (n_.has_input(6)) n_.require_shape(n_.input(6), "fc3 weights", {experts_, inner, hidden_});
    if (fused) {
      const bool interleaved = fusion_ == 1;
      gate_ = Layer{fc1, bias1, 0, interleaved ? 2 : 1, inner};
      up_ = Layer{fc1, bias1, interleaved ? 1 : inner, interleaved ? 2 : 1, inner};
    } else {
      gate_ = Layer{fc1, bias1, 0, 1, inner};
      if (n_.has_input(6)) up_ = Layer{n_.input(6), bias3, 0, 1, inner};
    }
  }

  Operand bias(size_t input, const Operand& weights) {
    if (!n_.has_input(input)) return nullptr;
    n_.require_shape(n_.input(input), "bias", {weights->shape()[0], weights->shape()[1]});
    return n_.input(input);
  }

  DType sum_type() const { return is_small_float(x_.dtype()) ? DType::f32 : x_.dtype(); }

  // A power of two, about half of what an expert gets where all get as many.
  int64_t block_rows() const {
    int64_t rows = 1;
    while (rows < kMostBlockRows && 2 * rows <= tokens_ &&
           (rows < kLeastBlockRows || 4 * rows * experts_ <= tokens_ * k_))
      rows *= 2;
    return rows;
  }

  Routing route() {
    const Term shares = softmax(widened({n_, n_.input(1)}), 1);
    const Results top = n_.emit_all(Op::TopK, TopKAttrs{1, k_}, {shares});
    Term weights(n_, top[0]);
    if (normalizes_) weights = weights / reduce(Op::ReduceSum, weights, {1});
    // [experts, tokens, k]: whether it is the expert that a token chose.
    const Term chosen = insert_axis(cast({n_, top[1]}, DType::i64), 0) ==
                        reshape(positions(n_, DType::i64, experts_, 0, 1), {experts_, 1, 1});
    const Term share =
        reduce(Op::ReduceSum, select(chosen, insert_axis(cast(weights, sum_type()), 0), 0.0), {2}, false);
    const Term ones = reduce(Op::ReduceSum, cast(chosen, DType::i64), {2}, false);  // [experts, tokens]
    const int64_t block = block_rows(), places = (tokens_ + block - 1) / block * block;
    const Term ends = apply(Op::CumSum, {ones}, ScanAttrs{1});
    // One place behind for the tokens of others.
    const Term place = select(number_like(ones, 0) < ones, ends - 1.0, static_cast<double>(places));
    const Term nobody =
        expand(reshape(Term(n_, DType::i64, static_cast<double>(tokens_)), {1, 1}), {experts_, places + 1});
    const Term token = expand(positions(n_, DType::i64, tokens_, 1, 2), {experts_, tokens_});
    const Term order = slice(apply(Op::ScatterElements, {nobody, place, token}, AxisAttrs{1}), 1, 0, places);
    const Term steps = (reduce(Op::ReduceSum, ones, {1}, false) + static_cast<double>(block - 1)) /
                       static_cast<double>(block);
    return {block,
            reshape(order, {experts_ * places}),
            reshape(pad(share, 1, 0, 1, 0), {experts_ * (tokens_ + 1)}),
            steps,
            places,
            tokens_};
  }

  // The sum, and what an expert makes of its tokens.
  Term added(const Term& sum, const Routing& routing, int64_t expert) {
    const Linear gate = linear(gate_, expert), out = linear(out_, expert);
    const std::optional<Linear> up = up_ ? std::optional(linear(*up_, expert)) : std::nullopt;
    RunningLoop loop;
    loop.count = reshape(slice(routing.steps, 0, expert, 1), {});
    loop.condition = n_.scalar(DType::bool_, 1);
    loop.most = routing.places / routing.block;
    loop.states = {sum};
    loop.step = [&](const Operand& number, const Results& states) -> Results {
      const Term first = Term(n_, number) * static_cast<double>(routing.block) +
                         static_cast<double>(expert * routing.places);
      const Term token = gather(routing.tokens, first + positions(n_, DType::i64, routing.block, 0, 1));
      const Term before(n_, states[0]);
      const Term rows = gather(x_, min(token, number_like(token, static_cast<double>(routing.count - 1))));
      const Term inner =
          activated(product(rows, gate), up ? std::optional(product(rows, *up)) : std::nullopt);
      const Term weight = gather(routing.weights, token + static_cast<double>(expert * (routing.count + 1)));
      const Term made = cast(product(inner, out), sum_type()) * insert_axis(weight, 1);
      const Term after = apply(Op::ScatterND, {before, insert_axis(token, 1), gather(before, token) + made});
      return {n_.scalar(DType::bool_, 1), after};
    };
    const std::optional<Results> results = run_loop(n_, loop);
    KORCH_ASSERT(results.has_value(), "an expert's step does not keep its state's type");
    return {n_, (*results)[0]};
  }

  Term gather(const Term& data, const Term& rows) { return apply(Op::Gather, {data, rows}, AxisAttrs{0}); }

  struct Linear {
    Term weights;  // [rows, columns]
    std::optional<Term> bias;
  };

  Linear linear(const Layer& layer, int64_t expert) {
    Linear result{part(layer, layer.weights, expert), std::nullopt};
    if (layer.bias) result.bias = part(layer, layer.bias, expert);
    return result;
  }

  // An expert's. Of a constant by copying: the work that folding may do would not suffice for many experts.
  Term part(const Layer& layer, const Operand& all, int64_t expert) {
    Shape shape(all->shape().begin() + 1, all->shape().end());
    const int64_t before = expert * shape[0] + layer.first;
    shape[0] = layer.count;
    if (all->constant) {
      HostTensor copy(TensorType{all->dtype(), shape});
      const int64_t row = copy.bytes() / std::max<int64_t>(layer.count, 1);
      auto* to = static_cast<std::byte*>(copy.mutable_raw());
      const auto* from = static_cast<const std::byte*>(all->constant->raw()) + before * row;
      for (int64_t i = 0; i < layer.count; ++i)
        std::memcpy(to + i * row, from + i * layer.stride * row, static_cast<size_t>(row));
      return {n_, n_.constant(std::move(copy))};
    }
    const Term own = slice(Term(n_, all), 0, expert, 1);
    return reshape(slice(own, 1, layer.first, layer.count, layer.stride), shape);
  }

  // Of rows [block, columns], in the model's own type as ONNX Runtime does.
  Term product(const Term& rows, const Linear& layer) {
    const Term result = apply(Op::MatMul, {rows, layer.weights}, MatMulAttrs{false, true});
    return layer.bias ? result + *layer.bias : result;
  }

  Term activated(const Term& fc1, const std::optional<Term>& fc3) {
    Term x = widened(fc1);
    if (activation_ == "swiglu") {
      Term up = widened(*fc3);
      if (has_limit_) {
        x = min(x, number_like(x, limit_));
        up = clamp(up, -limit_, limit_);
      }
      return cast(x * sigmoid(x * alpha_) * (up + beta_), fc1.dtype());
    }
    if (activation_ == "relu") x = max(x, number_like(x, 0));
    if (activation_ == "silu") x = x * sigmoid(x);
    if (activation_ == "gelu") x = Term(n_, gelu_by_tanh(n_, x));
    if (fc3) x = x * widened(*fc3);
    return cast(x, fc1.dtype());
  }

  NodeImport& n_;
  Term x_;
  std::string activation_;
  int64_t k_ = 1, fusion_ = 0, hidden_ = 0, tokens_ = 0, experts_ = 0;
  bool normalizes_ = false, has_limit_ = false;
  double alpha_ = 1, beta_ = 0, limit_ = 0;
  Layer gate_, out_;
  std::optional<Layer> up_;
};

Results mixture_of_experts(NodeImport& n) {
  return Experts(n).run();
}

}  // namespace

std::vector<RuleRow> runtime_moe_rules() {
  return {
      {"MoE", mixture_of_experts},
  };
}

}  // namespace korch::onnx
