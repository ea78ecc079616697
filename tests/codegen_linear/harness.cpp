#include "harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "generate.h"
#include "guarded_buffer.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/packing.h"
#include "korch/interp/interpreter.h"
#include "korch/runtime/abi.h"
#include "offsets.h"
#include "tile_graph_check.h"

namespace korch::testing {

namespace {

constexpr double kOneByOne = 20;  // longer sums, where a tile graph's interpreter adds one term to the next
constexpr int64_t kInterpretedElements = 2000;  // of larger results the compiled code alone is compared

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

std::string laid_out(const HostTensor& tensor, const Layout& layout) {
  std::string bytes(static_cast<size_t>(physical_bytes(tensor.type(), layout)), '\0');
  const size_t element = size_bytes(tensor.dtype());
  for_each_offset(tensor.type(), layout, [&](int64_t i, int64_t at) {
    std::memcpy(bytes.data() + at * element, static_cast<const char*>(tensor.raw()) + i * element, element);
  });
  return bytes;
}

void add_buffer(Buffers& buffers, const std::string& bytes) {
  buffers.push_back(std::make_unique<GuardedBuffer>(bytes.size()));
  std::memcpy(buffers.back()->data(), bytes.data(), bytes.size());
}

HostTensor read_output(const TensorType& type, const Layout& layout, const char* bytes) {
  HostTensor result(type);
  const size_t element = size_bytes(type.dtype);
  for_each_offset(type, layout, [&](int64_t i, int64_t at) {
    std::memcpy(static_cast<char*>(result.mutable_raw()) + i * element, bytes + at * element, element);
  });
  return result;
}

// Runs all phases, slices in a scrambled order over several workers' scratch.
int32_t run_phases(const Kernel& kernel, const std::vector<korch_kernel_fn>& functions, const void* state,
                   uint64_t scratch_bytes, std::vector<void*>& args) {
  constexpr int kWorkers = 2;
  Buffers scratch;
  for (int i = 0; i < kWorkers; ++i)
    scratch.push_back(std::make_unique<GuardedBuffer>((scratch_bytes + 63) / 64 * 64));
  for (size_t phase = 0; phase < kernel.phases.size(); ++phase) {
    const int64_t grid = kernel.phases[phase].grid;
    KORCH_ASSERT(kernel.phases[phase].rounds == 1, "a linear kernel with rounds");
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (int64_t begin = 0; begin < grid;) {
      const int64_t end = std::min(grid, begin + 1 + begin % 3);
      ranges.push_back({begin, end});
      begin = end;
    }
    std::reverse(ranges.begin(), ranges.end());
    for (size_t i = 0; i < ranges.size(); ++i) {
      const korch_kernel_context context{args.data(), scratch[i % kWorkers]->data(), state,
                                         static_cast<int32_t>(i % kWorkers)};
      if (const int32_t status = functions[phase](&context, ranges[i].first, ranges[i].second)) return status;
    }
  }
  return 0;
}

// Compiles generated code and runs it.
void execute(const Kernel& kernel, Isa isa, int32_t status, std::vector<void*>& args) {
  Result<std::string> object = compile_object(kernel.source, name(isa));
  ASSERT_TRUE(object.ok()) << object.refusal().detail << "\n" << kernel.source;
  LoadedKernels loaded;
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : kernel.phases) symbols.push_back(phase.symbol);
  Result<std::vector<void*>> addresses = loaded.load(object.value(), symbols);
  ASSERT_TRUE(addresses.ok()) << addresses.refusal().detail;
  std::vector<korch_kernel_fn> functions;
  for (void* address : addresses.value()) functions.push_back(reinterpret_cast<korch_kernel_fn>(address));
  EXPECT_EQ(run_phases(kernel, functions, nullptr, static_cast<uint64_t>(kernel.scratch_bytes), args),
            status);
}

struct Reference {
  std::vector<HostTensor> inputs, outputs;
  std::vector<double> scales;  // per output: what rounding errors are measured against
};

// The scale of an output is its root mean square or 1, whichever is larger: inputs are of unit size and
// weights are scaled so that sums stay so.
Reference reference_for(const Graph& graph, std::vector<HostTensor> inputs, const CheckOptions& options) {
  Reference reference;
  reference.inputs = std::move(inputs);
  while (reference.inputs.size() < graph.inputs().size())
    reference.inputs.push_back(random_tensor(graph.value(graph.inputs()[reference.inputs.size()]).type,
                                             options.seed + reference.inputs.size()));
  if (options.status != 0) return reference;
  reference.outputs = interpret(graph, reference.inputs, {.precision = Precision::float64, .observe = {}});
  for (const HostTensor& output : reference.outputs) {
    double squares = 0;
    for (int64_t i = 0; i < output.elements(); ++i) {
      const double value = element_as_double(output, i);
      squares += std::isfinite(value) ? value * value : 0;
    }
    reference.scales.push_back(std::max(1.0, std::sqrt(squares / std::max<int64_t>(1, output.elements()))));
  }
  return reference;
}

void compare(const HostTensor& actual, const HostTensor& expected, double tolerance,
             const std::string& what) {
  double worst = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double is = element_as_double(actual, i), wanted = element_as_double(expected, i);
    const bool same = is == wanted || (std::isnan(is) && std::isnan(wanted));
    const double off = std::fabs(is - wanted);
    const double error = same ? 0 : std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
    if (error > worst) worst = error, at = i;
  }
  EXPECT_LE(worst, tolerance) << what << ": element " << at << " is "
                              << element_as_double(actual, std::max<int64_t>(at, 0)) << ", not "
                              << element_as_double(expected, std::max<int64_t>(at, 0));
}

void check_one(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
               const Device& target, const Reference& reference, const CheckOptions& options) {
  const std::string what = to_string(implementation) + " for " + target.code;
  SCOPED_TRACE(what);
  Result<Kernel> generated = generate(graph, candidate, implementation, target);
  EXPECT_TRUE(generated.ok()) << generated.refusal().detail;
  if (!generated.ok()) return;
  const Kernel& kernel = generated.value();

  Buffers buffers;
  for (size_t i = 0; i < candidate.inputs.size(); ++i)
    add_buffer(buffers, laid_out(reference.inputs[i], implementation.input_layouts[i]));
  for (size_t i = 0; i < candidate.constants.size(); ++i)
    add_buffer(buffers, pack(*graph.constant(candidate.constants[i]), kernel.constant_packing[i]));
  const size_t first_output = buffers.size();
  for (size_t i = 0; i < candidate.outputs.size(); ++i)
    buffers.push_back(std::make_unique<GuardedBuffer>(
        physical_bytes(graph.value(candidate.outputs[i]).type, implementation.output_layouts[i])));
  for (int64_t bytes : kernel.temporary_bytes) buffers.push_back(std::make_unique<GuardedBuffer>(bytes));
  std::vector<void*> args;
  for (const auto& buffer : buffers) args.push_back(buffer->data());
  execute(kernel, *isa_named(target.code), options.status, args);
  if (options.status != 0) return;
  for (size_t i = 0; i < candidate.outputs.size(); ++i)
    compare(read_output(graph.value(candidate.outputs[i]).type, implementation.output_layouts[i],
                        buffers[first_output + i]->data()),
            reference.outputs[i], options.tolerance * reference.scales[i], what);
  if (element_count(graph.value(candidate.outputs[0]).type.shape) <= kInterpretedElements)
    check_tile_graph(graph, candidate, implementation, target, reference.inputs, reference.outputs,
                     kOneByOne * options.tolerance, what);
}

}  // namespace

Candidate whole_graph(const Graph& graph) {
  Candidate candidate;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op == Op::Constant) continue;
    candidate.nodes.push_back(id);
    for (ValueId input : graph.node(id).inputs)
      if (graph.constant(input) != nullptr &&
          std::find(candidate.constants.begin(), candidate.constants.end(), input) ==
              candidate.constants.end())
        candidate.constants.push_back(input);
  }
  candidate.inputs = graph.inputs();
  candidate.outputs = graph.outputs();
  return candidate;
}

int check_family(const Graph& graph, const std::string& family, const CheckOptions& options,
                 std::vector<HostTensor> inputs) {
  Device target = cpu_device(options.isa, options.threads);
  target.memory[0].bytes = std::min(target.memory[0].bytes, options.l2_bytes);
  target.memory[1].bytes = options.l2_bytes;
  target.memory[2].bytes = options.l3_bytes;
  Candidate candidate = whole_graph(graph);
  candidate.structures = options.structures;
  std::vector<Refusal> refused;
  const Reference reference = reference_for(graph, std::move(inputs), options);
  int ran = 0;
  std::vector<Implementation> listed;
  if (family == "linear_generic")  // which stands back where others list
    list_linear_generic(graph, candidate, target, options.accuracy, listed, refused);
  else
    listed = implementations(graph, candidate, target, options.accuracy, &refused);
  for (const Implementation& implementation : listed) {
    if (implementation.family != family) continue;
    std::vector<Implementation> ways = {implementation};
    if (options.rescheduled) ways = rescheduled(graph, candidate, implementation, target);
    for (const Implementation& way : ways) {
      check_one(graph, candidate, way, target, reference, options);
      ++ran;
    }
  }
  return ran;
}

HostTensor random_tensor(const TensorType& type, int64_t seed, double scale) {
  std::mt19937_64 generator(static_cast<uint64_t>(seed));
  HostTensor real(TensorType{DType::f64, type.shape});
  for (int64_t i = 0; i < real.elements(); ++i) {
    const double uniform = static_cast<double>(generator() >> 11) / 9007199254740992.0 * 2 - 1;
    real.mutable_data<double>()[i] = is_integer(type.dtype) ? std::floor(uniform * 8) : uniform * 1.7 * scale;
  }
  return converted(real, type.dtype);
}

std::vector<Isa> isas_that_run_here() {
  std::vector<Isa> isas;
  for (const IsaRow& level : kIsas)
    if (!level.multiplies_bfloat16 && runs_here(level.isa)) isas.push_back(level.isa);
  return isas;
}

std::vector<Isa> vector_isas() {
  std::vector<Isa> isas = isas_that_run_here();
  if (isas.size() > 1) isas.erase(isas.begin());
  return isas;
}

}  // namespace korch::testing
