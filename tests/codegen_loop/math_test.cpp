// The vector math library, densely over float32: at most 4 units in the last place from the float64 function,
// special values included, in whole vectors and in tails.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "generate.h"
#include "kernel_runner.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/runtime/abi.h"

namespace korch::testing {
namespace {

constexpr uint64_t kStride =
    997;  // bit patterns between two tested values; a prime, so that low bits vary too
constexpr int64_t kBlock =
    65536 + 13;  // elements per call; the rest beyond whole vectors takes the masked path
constexpr double kAllowedUlp = 4;

double ulp_error(float actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : INFINITY;
  const auto nearest = static_cast<float>(expected);
  if (std::isinf(nearest))
    return actual == nearest || std::abs(actual) == std::numeric_limits<float>::max() ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(expected, &exponent);
  const double ulp =
      std::abs(expected) < std::numeric_limits<float>::min() ? 0x1p-149 : std::ldexp(1.0, exponent - 24);
  return std::abs(static_cast<double>(actual) - expected) / ulp;
}

struct Function {
  const char* name;
  Op op;
  double alpha;  // ScalarAttrs
  double (*exact)(double);
};

const Function kFunctions[] = {
    {"exp", Op::Exp, 0, std::exp},
    {"log", Op::Log, 0, std::log},
    {"tanh", Op::Tanh, 0, std::tanh},
    {"erf", Op::Erf, 0, std::erf},
    {"sqrt", Op::Sqrt, 0, std::sqrt},
    {"expm1", Op::Elu, 1, [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {"log1p", Op::Softplus, 0,
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) + (x != x ? x : 0); }},
};

class LoadedFunction {
 public:
  LoadedFunction(const Function& function, Isa isa) {
    Graph graph;
    const ValueId x = graph.add_input({DType::f32, {kBlock}}, "x");
    Attrs attrs = NoAttrs{};
    if (function.op == Op::Elu) attrs = ScalarAttrs{function.alpha, 0};
    graph.set_outputs({graph.add(function.op, attrs, {x})}, {"y"});
    const Candidate candidate = whole_graph(graph);
    const Device target = test_target(isa);
    const Implementation way = implementations(graph, candidate, target, Accuracy::strict).front();
    kernel_ = generate(graph, candidate, way, target).value();
    const std::string object = compile_object(kernel_.source, name(isa)).value();
    call_ = reinterpret_cast<korch_kernel_fn>(loaded_.load(object, {kernel_.phases[0].symbol}).value()[0]);
  }

  void operator()(const std::vector<float>& x, std::vector<float>& y) {
    void* args[] = {const_cast<float*>(x.data()), y.data()};
    const korch_kernel_context context{args, nullptr, nullptr, 0};
    ASSERT_EQ(call_(&context, 0, kernel_.phases[0].grid), 0);
  }

 private:
  Kernel kernel_;
  LoadedKernels loaded_;
  korch_kernel_fn call_ = nullptr;
};

class VectorMath : public ::testing::TestWithParam<Function> {};

TEST_P(VectorMath, WithinFourUlp) {
  const Function& function = GetParam();
  std::vector<std::unique_ptr<LoadedFunction>> compiled;
  const std::vector<Isa> isas = runnable_isas();
  for (Isa isa : isas) compiled.push_back(std::make_unique<LoadedFunction>(function, isa));
  std::vector<float> x(kBlock), y(kBlock);
  std::vector<double> exact(kBlock);
  std::vector<double> worst(isas.size(), 0);
  std::vector<float> worst_at(isas.size(), 0);
  for (uint64_t pattern = 0; pattern < (uint64_t{1} << 32);) {
    for (int64_t i = 0; i < kBlock; ++i, pattern += kStride) {
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(pattern));  // wraps at the end: some values twice
      exact[i] = function.exact(static_cast<double>(x[i]));
    }
    for (size_t k = 0; k < isas.size(); ++k) {
      (*compiled[k])(x, y);
      for (int64_t i = 0; i < kBlock; ++i) {
        const double error = ulp_error(y[i], exact[i]);
        if (error > worst[k]) {
          worst[k] = error;
          worst_at[k] = x[i];
        }
      }
    }
  }
  for (size_t k = 0; k < isas.size(); ++k) {
    EXPECT_LE(worst[k], kAllowedUlp) << name(isas[k]) << " at " << worst_at[k];
    RecordProperty(name(isas[k]), std::to_string(worst[k]));
    std::cout << function.name << " " << name(isas[k]) << ": " << worst[k] << " ulp at " << worst_at[k]
              << "\n";
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorMath, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(VectorMath, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(kBlock, 0), y(kBlock);
  const float special[] = {0.0f,  -0.0f,  inf,    -inf,   nan,     1e-45f, -1e-45f, 1e-38f,
                           3e38f, -3e38f, 88.72f, -87.4f, -103.9f, 1.0f,   -1.0f};
  std::copy(std::begin(special), std::end(special), x.begin());
  for (const Function& function : kFunctions)
    for (Isa isa : runnable_isas()) {
      LoadedFunction compiled(function, isa);
      compiled(x, y);
      for (size_t i = 0; i < std::size(special); ++i)
        EXPECT_LE(ulp_error(y[i], function.exact(special[i])), kAllowedUlp)
            << function.name << "(" << special[i] << ") = " << y[i] << " on " << name(isa);
    }
}

}  // namespace
}  // namespace korch::testing
