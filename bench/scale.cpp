// How compiling scales: a generated network of any depth, compiled as `korch compile` does, or written as a
// model.
//
//     build/release/bench/bench_scale transformer --layers 48
//     build/release/bench/bench_scale convolutions --layers 500
//     build/release/bench/bench_scale pointwise --layers 20000 --measure none --strategy greedy
//     build/release/bench/bench_scale pointwise --layers 5000 --write chain.onnx
//
// Configure with -DKORCH_BENCH=ON. A layer of transformer and a convolution of convolutions are several
// primitives each, a layer of the others is one primitive or two. Repeated blocks share their kernels, so
// that nearly all of the time is enumeration and solving; in `pointwise` no two kernels are alike.
#include <fmt/format.h>

#include <optional>
#include <random>

#include "command_line.h"
#include "korch/base/files.h"
#include "korch/base/stopwatch.h"
#include "korch/driver/pipeline.h"
#include "korch/fission/fission.h"
#include "korch/onnx/export.h"

namespace korch {
namespace {

class Network {
 public:
  explicit Network(Shape input) : value_(graph_.add_input({DType::f32, std::move(input)}, "x")) {}

  ValueId weights(Shape shape) {
    HostTensor tensor(TensorType{DType::f32, std::move(shape)});
    std::normal_distribution<float> normal(0, 0.05f);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_data<float>()[i] = normal(random_);
    return graph_.add_constant(tensor);
  }
  ValueId op(Op op, std::vector<ValueId> inputs, Attrs attrs = NoAttrs{}) {
    return graph_.add(op, std::move(attrs), std::move(inputs), {fmt::format("node{}", graph_.node_count())});
  }
  ValueId linear(ValueId x, int64_t in, int64_t out) {
    return op(Op::Add, {op(Op::MatMul, {x, weights({in, out})}, MatMulAttrs{}), weights({out})});
  }
  ValueId norm(ValueId x, int64_t width) {
    return op(Op::LayerNormalization, {x, weights({width}), weights({width})}, NormAttrs{2, 1e-5, 1});
  }

  void add_transformer_layer(int64_t tokens, int64_t width, int64_t heads) {
    const int64_t head = width / heads;
    const ValueId x = norm(value_, width);
    std::vector<ValueId> qkv;
    for (int i = 0; i < 3; ++i) {
      const ValueId split = op(Op::Reshape, {linear(x, width, width)}, ShapeAttrs{{1, tokens, heads, head}});
      qkv.push_back(op(Op::Transpose, {split}, PermAttrs{{0, 2, 1, 3}}));
    }
    ValueId scores = op(Op::MatMul, {qkv[0], qkv[1]}, MatMulAttrs{false, true});
    scores = op(Op::Div, {scores, graph_.add_constant(HostTensor::of<float>(DType::f32, {}, {5.5f}))});
    const ValueId mixed = op(Op::MatMul, {op(Op::Softmax, {scores}, AxisAttrs{3}), qkv[2]}, MatMulAttrs{});
    const ValueId rows = op(Op::Reshape, {op(Op::Transpose, {mixed}, PermAttrs{{0, 2, 1, 3}})},
                            ShapeAttrs{{1, tokens, width}});
    value_ = op(Op::Add, {value_, linear(rows, width, width)});
    const ValueId hidden = op(Op::Gelu, {linear(norm(value_, width), width, 4 * width)});
    value_ = op(Op::Add, {value_, linear(hidden, 4 * width, width)});
  }

  // Three convolutions and a residual sum.
  void add_convolutions(int64_t width) {
    ValueId y = value_;
    for (const auto& [in, out, kernel] :
         {std::tuple{width, width / 4, 1}, std::tuple{width / 4, width / 4, 3},
          std::tuple{width / 4, width, 1}}) {
      const int64_t pad = kernel / 2;
      const ConvAttrs attrs{{1, 1}, {1, 1}, {pad, pad}, {pad, pad}, {0, 0}, 1};
      y = op(Op::Conv, {y, weights({out, in, kernel, kernel}), weights({out})}, attrs);
      if (kernel == 3 || in > out) y = op(Op::Relu, {y});
    }
    value_ = op(Op::Relu, {op(Op::Add, {value_, y})});
  }

  // Of a chain: Relu, a sum and a product with constants of their own.
  void add_pointwise(int i) {
    const double constant = 1 + 1e-4 * i;
    const auto scalar = [&] {
      return graph_.add_constant(HostTensor::of<float>(DType::f32, {}, {static_cast<float>(constant)}));
    };
    value_ = i % 3 == 0   ? op(Op::Relu, {value_})
             : i % 3 == 1 ? op(Op::Add, {value_, scalar()})
                          : op(Op::Mul, {value_, scalar()});
  }

  void add_conv_relu(int64_t width) {
    const ConvAttrs attrs{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
    value_ = op(Op::Relu, {op(Op::Conv, {value_, weights({width, width, 3, 3}), weights({width})}, attrs)});
  }

  void add_matmul(int64_t width) {
    value_ = op(Op::MatMul, {value_, weights({width, width})}, MatMulAttrs{});
  }

  // Each sum reads one made a while before as well.
  void add_skip(int i) {
    constexpr size_t kBack = 40;
    values_.push_back(value_);
    const ValueId other = i % 7 == 0 && values_.size() > kBack ? values_[values_.size() - kBack] : value_;
    value_ = i % 2 == 0 ? op(Op::Add, {value_, other}) : op(Op::Tanh, {value_});
  }

  // One Value that everything reads.
  void add_reader(int i) {
    const ValueId x = graph_.inputs()[0];
    const ValueId scaled =
        op(Op::Mul, {x, graph_.add_constant(HostTensor::of<float>(DType::f32, {}, {1 + 0.01f * i}))});
    value_ = op(Op::Add, {value_, scaled});
  }

  // Two slices of the Value so far, exchanged.
  void add_concat(int64_t width) {
    const auto half = [&](int64_t start) {
      return op(Op::Slice, {value_}, SliceAttrs{{0, start}, {1, width / 2}, {1, 1}});
    };
    const ValueId first = half(0), second = half(width / 2);
    value_ = op(Op::Relu, {op(Op::Concat, {second, first}, AxisAttrs{1})});
  }

  // All inputs of one Concat.
  void concat_all(int count) {
    std::vector<ValueId> parts;
    for (int i = 0; i < count; ++i)
      parts.push_back(op(i % 2 == 0 ? Op::Relu : Op::Tanh, {graph_.inputs()[0]}));
    value_ = op(Op::Concat, std::move(parts), AxisAttrs{0});
  }

  Graph finish() {
    graph_.set_outputs({value_}, {"y"});
    return graph_;
  }

 private:
  Graph graph_;
  std::mt19937 random_{1};
  ValueId value_;
  std::vector<ValueId> values_;
};

const std::vector<std::string> kKinds = {"transformer", "convolutions", "pointwise", "conv_relu", "matmul",
                                         "skips",       "fan_out",      "concats",   "concat"};

Graph network(const std::string& kind, int layers) {
  if (kind == "transformer") {
    Network n({1, 128, 128});
    for (int i = 0; i < layers; ++i) n.add_transformer_layer(128, 128, 4);
    return n.finish();
  }
  if (kind == "convolutions") {
    Network n({1, 64, 14, 14});
    for (int i = 0; i < layers / 3; ++i) n.add_convolutions(64);
    return n.finish();
  }
  if (kind == "conv_relu") {
    Network n({1, 8, 14, 14});
    for (int i = 0; i < layers / 2; ++i) n.add_conv_relu(8);
    return n.finish();
  }
  constexpr int64_t kWidth = 64;
  Network n({1, kWidth});
  for (int i = 0; i < layers && kind != "concat"; ++i) {
    if (kind == "pointwise") n.add_pointwise(i);
    if (kind == "matmul") n.add_matmul(kWidth);
    if (kind == "skips") n.add_skip(i);
    if (kind == "fan_out" && i % 2 == 0) n.add_reader(i);
    if (kind == "concats" && i % 4 == 0) n.add_concat(kWidth);
  }
  if (kind == "concat") n.concat_all(layers);
  return n.finish();
}

void run(const std::string& kind, int layers, CompileOptions& options) {
  const TempDir folder;
  if (options.database_path.empty()) options.database_path = folder.path() + "/kernels.db";
  const Stopwatch stopwatch;
  const CompileResult result = compile_graph(network(kind, layers), kind, folder.path() + "/m.so", options);
  const double seconds = stopwatch.seconds();
  const PlanReport& r = result.plan.report;
  fmt::print(
      "{} of {} layers: {} primitives, {} candidates, {} columns of {} different kernels, "
      "{} measured, {} now\n",
      kind, layers, r.primitives, r.candidates, r.columns, r.kernels, r.measured, result.measured);
  fmt::print("objective {:.1f} us, bound {:.1f} us, gap {:.3f} %, {}, {} solves, {:.1f} s\n", r.objective_us,
             r.bound_us, 100 * r.gap, r.solver_status, r.solves, r.solver_s);
  for (const auto& [stage, stage_s] : result.stage_seconds)
    fmt::print("  {:<14} {:8.1f} s\n", stage, stage_s);
  for (const std::string& limit : r.limits) fmt::print("  {}\n", limit);
  fmt::print("{} steps, {} kernels compiled, {:.1f} s in all\n", result.plan.steps.size(), result.compiled,
             seconds);
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  korch::CommandLine command_line("a generated network, compiled");
  std::string kind;
  int layers = 48;
  korch::CompileOptions options;
  options.threads = 2;
  options.verify = false;
  command_line.option("kind", kind).required().one_of(korch::kKinds);
  command_line.option("--layers", layers).between(1, 100000);
  command_line.option("--profile-db", options.database_path);
  command_line.flag("!--no-alternatives", options.alternatives);
  command_line.choice("--measure", options.measure, "",
                      std::map<std::string, korch::Measure>{{"none", korch::Measure::none},
                                                            {"plan", korch::Measure::plan},
                                                            {"prove", korch::Measure::prove}});
  command_line.flag("--verify", options.verify);
  command_line.option("--budget", options.budget_s, "seconds");
  command_line.choice("--strategy", options.strategy, "",
                      std::map<std::string, korch::Strategy>{{"optimal", korch::Strategy::optimal},
                                                             {"greedy", korch::Strategy::greedy}});
  std::string model;
  command_line.option("--write", model, "the network as an ONNX model, instead of compiling it");
  if (const std::optional<int> code = command_line.parse(argc, argv)) return *code;
  try {
    if (!model.empty())
      korch::export_onnx(korch::fission(korch::network(kind, layers)), model);
    else
      korch::run(kind, layers, options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
