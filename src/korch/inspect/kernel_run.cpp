#include "korch/inspect/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include "korch/backend/backend.h"
#include "korch/backend/spell.h"
#include "korch/kernel/interpret.h"
#include "korch/runtime/abi.h"

namespace korch {
namespace {

using tile::Buffer;
using tile::BufferRole;

bool is_given(const Buffer& buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::constant;
}

int64_t least_checked_extent(const tile::TileGraph& graph) {
  int64_t least = 8;
  for (int id = 0; id < graph.pool.size(); ++id)
    if (graph.pool[id].kind == tile::ExprKind::checked) least = std::min(least, graph.pool[id].integer);
  return least;
}

std::vector<HostTensor> random_arguments(const tile::TileGraph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t extent = least_checked_extent(graph);
  std::vector<HostTensor> arguments;
  for (const Buffer& buffer : graph.buffers) {
    if (!is_given(buffer)) continue;
    HostTensor wide(TensorType{DType::f64, {buffer.elements}});
    for (int64_t i = 0; i < buffer.elements; ++i) {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      wide.mutable_data<double>()[i] = is_float(buffer.type) ? 4 * unit - 2
                                       : buffer.type == DType::bool_
                                           ? std::round(unit)
                                           : std::floor(unit * static_cast<double>(extent));
    }
    arguments.push_back(converted(wide, buffer.type));
  }
  return arguments;
}

// The outputs, flat. Slices one after the other: what threads do to them is the executor's matter.
std::vector<HostTensor> run_phases(const tile::TileGraph& graph, const MeasuredKernel& kernel, Meter& meter,
                                   std::vector<HostTensor> arguments) {
  std::vector<HostTensor> outputs, temporaries;
  std::vector<void*> pointers;
  size_t given = 0;
  for (const Buffer& buffer : graph.buffers) {
    if (buffer.role == BufferRole::scratch) continue;
    if (is_given(buffer)) {
      pointers.push_back(arguments[given++].mutable_raw());
      continue;
    }
    std::vector<HostTensor>& list = buffer.role == BufferRole::output ? outputs : temporaries;
    list.emplace_back(TensorType{buffer.type, {buffer.elements}});
    pointers.push_back(list.back().mutable_raw());
  }
  const Result<int32_t> code = meter.run(kernel, pointers.data());
  if (!code) throw Error(ErrorKind::internal, "the kernel cannot be run: " + code.refusal().detail);
  if (code.value() != KORCH_KERNEL_OK)
    throw Error(ErrorKind::invalid, fmt::format("the kernel ends with code {}", code.value()));
  return outputs;
}

// What the meter needs to know beside its outputs.
MeasuredKernel as_measured(const tile::TileGraph& graph, const Kernel& kernel, const std::string& object,
                           const std::vector<HostTensor>& arguments) {
  MeasuredKernel measured;
  measured.kernel = &kernel;
  measured.object = &object;
  size_t given = 0;
  for (const Buffer& buffer : graph.buffers) {
    if (buffer.role == BufferRole::output) measured.output_bytes.push_back(buffer.bytes());
    if (!is_given(buffer)) continue;
    const HostTensor& argument = arguments[given++];
    if (buffer.role == BufferRole::constant) {
      measured.constants.push_back(std::make_shared<const std::string>(
          static_cast<const char*>(argument.raw()), static_cast<size_t>(argument.bytes())));
      continue;
    }
    measured.inputs.push_back({buffer.type, {buffer.elements}});
    measured.input_bytes.push_back(buffer.bytes());
  }
  return measured;
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : INFINITY;
}

KernelOutput compared(const HostTensor& got, const HostTensor& native, const HostTensor& exact) {
  constexpr double kOfNoise = 20, kOfMagnitude = 1e-6;
  KernelOutput output;
  double noise = 0, magnitude = 0;
  for (int64_t i = 0; i < got.elements(); ++i) {
    const double wanted = element_as_double(exact, i);
    const double error = distance(element_as_double(got, i), wanted);
    if (error > output.error) {
      output.error = error;
      output.at = i;
    }
    const double rounding = distance(element_as_double(native, i), wanted);
    if (std::isfinite(rounding)) noise = std::max(noise, rounding);
    if (std::isfinite(wanted)) magnitude = std::max(magnitude, std::abs(wanted));
  }
  if (is_float(got.dtype())) output.allowed = std::max(kOfNoise * noise, kOfMagnitude * magnitude);
  return output;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

KernelRun run_kernel_alone(const tile::ScheduledGraph& graph, const Device& target, uint64_t seed) {
  const Backend& backend = backend_of(target);
  const std::unique_ptr<Meter> meter = backend.meter(target, target.own_bytes());
  const Kernel kernel = spelled(graph, target);
  const Result<std::string> object = backend.compile({kernel.source}, target)[0];
  if (!object) throw Error(ErrorKind::internal, "the kernel's text is refused: " + object.refusal().detail);
  const std::vector<HostTensor> arguments = random_arguments(graph, seed);
  const std::vector<HostTensor> exact = tile::interpret(graph, arguments, tile::Arithmetic::float64);
  const std::vector<HostTensor> native = tile::interpret(graph, arguments, tile::Arithmetic::native);
  const MeasuredKernel measured = as_measured(graph, kernel, object.value(), arguments);
  const std::vector<HostTensor> got = run_phases(graph, measured, *meter, arguments);
  KernelRun run;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    if (graph.buffers[i].role != BufferRole::output) continue;
    const size_t number = run.outputs.size();
    run.outputs.push_back(compared(got[number], native[number], exact[number]));
    run.outputs.back().name = graph.name(static_cast<int>(i));
  }
  const Result<Cost> cost = meter->measure(measured, Care::thorough);
  if (!cost) throw Error(ErrorKind::internal, "the kernel cannot be measured: " + cost.refusal().detail);
  run.us = cost.value().us;
  run.low_us = cost.value().low_us;
  run.high_us = cost.value().high_us;
  return run;
}

Equivalence check_kernel_equivalence(const tile::TileGraph& a, const tile::TileGraph& b,
                                     const tile::FieldTests& tests) {
  Equivalence result;
  result.field = tile::compare_over_field(a, b, tests);
  const std::vector<HostTensor> arguments = random_arguments(a, tests.seed);
  const std::vector<HostTensor> of_a = tile::interpret(a, arguments, tile::Arithmetic::float64),
                                of_b = tile::interpret(b, arguments, tile::Arithmetic::float64);
  for (size_t o = 0; o < of_a.size(); ++o) {
    const double difference = largest_difference(of_a[o], of_b[o]);
    if (o != 0 && difference <= result.float64_difference) continue;
    result.float64_difference = difference;
    result.worst_output = fmt::format("out{}", o);
  }
  result.verdict = verdict_of(result.field, result.float64_difference);
  return result;
}

std::string text_difference(const std::string& first, const std::string& second) {
  const std::vector<std::string> a = lines_of(first), b = lines_of(second);
  // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<std::string> lines;
  bool differ = false;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back("  " + a[i]);
      ++i, ++j;
      continue;
    }
    differ = true;
    if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      lines.push_back("- " + a[i++]);
    else
      lines.push_back("+ " + b[j++]);
  }
  if (!differ) return {};
  constexpr size_t kContext = 2;
  std::string text;
  bool skipping = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    bool near = false;
    for (size_t k = i - std::min(i, kContext); k <= i + kContext && k < lines.size(); ++k)
      near = near || lines[k][0] != ' ';
    if (near) text += lines[i] + "\n";
    if (!near && !skipping) text += "  ...\n";
    skipping = !near;
  }
  return text;
}

}  // namespace korch
