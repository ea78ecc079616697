#include "kernel_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>

#include "generate.h"
#include "guarded_buffer.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/codegen/linear/linear_families.h"
#include "korch/codegen/packing.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/runtime/abi.h"
#include "offsets.h"
#include "tile_graph_check.h"

namespace korch::testing {
namespace {}  // namespace

Candidate whole_graph(const Graph& graph) {
  Candidate candidate;
  for (NodeId id : graph.topological_order()) {
    if (graph.node(id).op == Op::Constant) continue;
    candidate.nodes.push_back(id);
    for (ValueId input : graph.node(id).inputs) {
      auto& list = graph.constant(input) != nullptr ? candidate.constants : candidate.inputs;
      const bool outside = graph.constant(input) != nullptr || graph.is_input(input);
      if (outside && std::find(list.begin(), list.end(), input) == list.end()) list.push_back(input);
    }
  }
  candidate.outputs = graph.outputs();
  return candidate;
}

Device test_target(Isa isa, int threads) {
  return cpu_device(isa, threads);
}

std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (const IsaRow& level : kIsas) {
    if (runs_here(level.isa))
      isas.push_back(level.isa);
    else
      std::cout << "not run: " << level.name << ", which this machine does not have\n";
  }
  return isas;
}

HostTensor random_tensor(const TensorType& type, uint64_t seed, double scale) {
  std::mt19937_64 random(seed);
  HostTensor wide(TensorType{DType::f64, type.shape});
  for (int64_t i = 0; i < wide.elements(); ++i) {
    const double unit = static_cast<double>(random() >> 11) / 9007199254740992.0;
    double value = (2 * unit - 1) * scale;
    if (is_integer(type.dtype)) value = std::floor(unit * scale);
    if (type.dtype == DType::bool_) value = unit < 0.5 ? 0 : 1;
    wide.mutable_data<double>()[i] = value;
  }
  return converted(wide, type.dtype);
}

RunResult run_kernel(const Graph& graph, const Candidate& candidate, const Kernel& kernel,
                     const Implementation& implementation, const Device& target,
                     const std::vector<HostTensor>& inputs) {
  RunResult result;
  const Result<std::string> object = compile_object(kernel.source, target.code);
  if (!object.ok()) {
    ADD_FAILURE() << object.refusal().detail << "\n" << kernel.source;
    return result;
  }
  LoadedKernels loaded;
  std::vector<std::string> symbols;
  for (const KernelPhase& phase : kernel.phases) symbols.push_back(phase.symbol);
  const std::vector<void*> functions = loaded.load(object.value(), symbols).value();

  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  auto lay_out = [&](const HostTensor& tensor, const Layout& layout) {
    buffers.push_back(std::make_unique<GuardedBuffer>(physical_bytes(tensor.type(), layout)));
    const size_t size = size_bytes(tensor.dtype());
    for_each_offset(tensor.type(), layout, [&](int64_t i, int64_t at) {
      std::memcpy(buffers.back()->data() + at * size, static_cast<const char*>(tensor.raw()) + i * size,
                  size);
    });
  };
  for (size_t i = 0; i < candidate.inputs.size(); ++i) lay_out(inputs[i], implementation.input_layouts[i]);
  for (size_t i = 0; i < candidate.constants.size(); ++i) {
    const std::string bytes = pack(*graph.constant(candidate.constants[i]), kernel.constant_packing[i]);
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes.size()));
    std::memcpy(buffers.back()->data(), bytes.data(), bytes.size());
  }
  const size_t first_output = buffers.size();
  for (size_t i = 0; i < candidate.outputs.size(); ++i)
    buffers.push_back(std::make_unique<GuardedBuffer>(
        physical_bytes(graph.value(candidate.outputs[i]).type, implementation.output_layouts[i])));
  for (int64_t bytes : kernel.temporary_bytes) buffers.push_back(std::make_unique<GuardedBuffer>(bytes));
  std::vector<void*> args;
  for (const auto& buffer : buffers) args.push_back(buffer->data());
  // Where the kernel allows it, let an output share an input's memory, as a plan may.
  if (!kernel.in_place.empty()) {
    const auto [input, output] = kernel.in_place.back();
    buffers[first_output + output].reset();
    args[first_output + output] = args[input];
  }
  GuardedBuffer scratch((kernel.scratch_bytes + 63) / 64 * 64);
  const korch_kernel_context context{args.data(), scratch.data(), nullptr, 0};
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    const KernelPhase& phase = kernel.phases[i];
    const auto function = reinterpret_cast<korch_kernel_fn>(functions[i]);
    // Backwards and in odd pieces: slices of a round must not depend on their order.
    for (int64_t first = 0; first < phase.rounds * phase.grid; first += phase.grid)
      for (int64_t end = phase.grid; end > 0;) {
        const int64_t begin = std::max<int64_t>(0, end - 1 - end % 3);
        if ((result.status = function(&context, first + begin, first + end)) != 0) return result;
        end = begin;
      }
  }
  for (size_t i = 0; i < candidate.outputs.size(); ++i) {
    HostTensor output(graph.value(candidate.outputs[i]).type);
    const size_t size = size_bytes(output.dtype());
    for_each_offset(output.type(), implementation.output_layouts[i], [&](int64_t k, int64_t at) {
      std::memcpy(static_cast<char*>(output.mutable_raw()) + k * size,
                  static_cast<const char*>(args[first_output + i]) + at * size, size);
    });
    result.outputs.push_back(std::move(output));
  }
  return result;
}

std::vector<Implementation> listed(const Graph& graph, const Candidate& candidate, const Device& target,
                                   const std::string& family) {
  std::vector<Implementation> found;
  std::vector<Refusal> refused;
  if (family == "linear_generic")
    list_linear_generic(graph, candidate, target, Accuracy::strict, found, refused);
  else
    found = implementations(graph, candidate, target, Accuracy::strict);
  std::erase_if(found, [&](const Implementation& way) { return way.family != family; });
  return found;
}

int check_with(const Graph& graph, const std::vector<HostTensor>& graph_inputs, const CheckOptions& options) {
  const Candidate candidate = whole_graph(graph);
  std::vector<HostTensor> inputs;
  for (ValueId input : candidate.inputs) {
    const auto at = std::find(graph.inputs().begin(), graph.inputs().end(), input) - graph.inputs().begin();
    inputs.push_back(graph_inputs[at]);
  }
  const std::vector<HostTensor> expected = interpret(graph, graph_inputs);
  int ran = 0;
  for (Isa isa : runnable_isas()) {
    const Device target = test_target(isa);
    for (const Implementation& way : listed(graph, candidate, target, options.family)) {
      const std::string what = std::string(name(isa)) + " " + to_string(way);
      const Result<Kernel> kernel = generate(graph, candidate, way, target);
      if (!kernel.ok()) {
        if (options.must_run)
          ADD_FAILURE() << what << ": " << kernel.refusal().detail << "\n" << print(graph);
        continue;
      }
      check_tile_graph(graph, candidate, way, target, inputs, expected, options.tolerance, what);
      const RunResult result = run_kernel(graph, candidate, kernel.value(), way, target, inputs);
      EXPECT_EQ(result.status, 0) << what;
      for (size_t i = 0; i < result.outputs.size(); ++i)
        expect_close(result.outputs[i], expected[i], options.tolerance,
                     what + " output " + std::to_string(i));
      if (::testing::Test::HasFailure()) {
        std::cout << print(graph) << "\n"
                  << kernel.value().source.substr(kernel.value().source.find("extern \"C\"")) << "\n";
        return ran;
      }
      ++ran;
    }
  }
  return ran;
}

int check(const Graph& graph, const CheckOptions& options) {
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs())
    inputs.push_back(random_tensor(graph.value(input).type, 1 + inputs.size(), options.scale));
  return check_with(graph, inputs, options);
}

int check_text(const std::string& text, const CheckOptions& options) {
  return check(parse_graph(text), options);
}

}  // namespace korch::testing
