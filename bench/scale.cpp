// How planning scales: a generated transformer or convolution network of any depth, compiled as `korch
// compile` does.
//
//     build/release/bench/bench_scale transformer --layers 48
//     build/release/bench/bench_scale convolutions --layers 500
//
// Configure with -DKORCH_BENCH=ON. Repeated blocks share their kernels, so that nearly all of the time is
// enumeration and solving.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <random>

#include "korch/base/files.h"
#include "korch/driver/pipeline.h"

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

  Graph finish() {
    graph_.set_outputs({value_}, {"y"});
    return graph_;
  }

 private:
  Graph graph_;
  std::mt19937 random_{1};
  ValueId value_;
};

void run(const std::string& kind, int layers, CompileOptions& options) {
  const TempDir folder;
  if (options.database_path.empty()) options.database_path = folder.path() + "/kernels.db";
  const bool transformer = kind == "transformer";
  Network network(transformer ? Shape{1, 128, 128} : Shape{1, 64, 14, 14});
  for (int i = 0; i < (transformer ? layers : layers / 3); ++i) {
    if (transformer)
      network.add_transformer_layer(128, 128, 4);
    else
      network.add_convolutions(64);
  }
  const CompileResult result = compile_graph(network.finish(), kind, folder.path() + "/m.so", options);
  const PlanReport& r = result.plan.report;
  fmt::print(
      "{} of {} layers: {} primitives, {} candidates, {} columns of {} different kernels, "
      "{} measured, {} now\n",
      kind, layers, r.primitives, r.candidates, r.columns, r.kernels, r.measured, result.measured);
  fmt::print("objective {:.1f} us, bound {:.1f} us, gap {:.3f} %, {}, {} solves, {:.1f} s\n", r.objective_us,
             r.bound_us, 100 * r.gap, r.solver_status, r.solves, r.solver_s);
  for (const auto& [stage, seconds] : result.stage_seconds)
    fmt::print("  {:<14} {:8.1f} s\n", stage, seconds);
}

}  // namespace
}  // namespace korch

int main(int argc, char** argv) {
  CLI::App app("a generated network, compiled");
  std::string kind;
  int layers = 48;
  korch::CompileOptions options;
  options.threads = 2;
  options.verify = false;
  app.add_option("kind", kind)->required()->check(CLI::IsMember({"transformer", "convolutions"}));
  app.add_option("--layers", layers)->check(CLI::Range(1, 100000));
  app.add_option("--profile-db", options.database_path);
  app.add_flag("!--no-alternatives", options.alternatives);
  CLI11_PARSE(app, argc, argv);
  try {
    korch::run(kind, layers, options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
