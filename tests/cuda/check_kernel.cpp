#include "check_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "korch/codegen/packing.h"
#include "korch/interp/interpreter.h"
#include "offsets.h"

namespace korch::testing {
namespace {

constexpr size_t kGuardBytes = 4096;  // before and after every buffer, unless the device checks
constexpr unsigned char kUnwritten = 0x7f;
constexpr int64_t kWorkspaceBlocks = 132;  // launched at a time where each needs a workspace

std::string laid_out(const HostTensor& tensor, const Layout& layout) {
  const size_t size = size_bytes(tensor.dtype());
  std::string bytes(static_cast<size_t>(physical_bytes(tensor.type(), layout)), '\0');
  const char* from = static_cast<const char*>(tensor.raw());
  if (layout.is_row_major()) return std::string(from, bytes.size());
  for_each_offset(tensor.type(), layout, [&](int64_t i, int64_t at) {
    std::memcpy(bytes.data() + at * size, from + i * size, size);
  });
  return bytes;
}

HostTensor row_major(const std::string& bytes, const TensorType& type, const Layout& layout) {
  HostTensor tensor(type);
  const size_t size = size_bytes(type.dtype);
  char* to = static_cast<char*>(tensor.mutable_raw());
  if (layout.is_row_major()) {
    std::memcpy(to, bytes.data(), bytes.size());
    return tensor;
  }
  for_each_offset(type, layout,
                  [&](int64_t i, int64_t at) { std::memcpy(to + i * size, bytes.data() + at * size, size); });
  return tensor;
}

// 0 where both are NaN or equal; infinity where only one is finite.
double relative_error(double actual, double expected, double scale = 1) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double error = std::abs(actual - expected) / (scale + std::abs(expected));
  return std::isfinite(error) ? error : INFINITY;
}

// Those of the first axis.
HostTensor rows_of(const HostTensor& tensor, const std::vector<int64_t>& rows) {
  TensorType type = tensor.type();
  const int64_t row_bytes = tensor.bytes() / type.shape[0];
  type.shape[0] = static_cast<int64_t>(rows.size());
  HostTensor result(type);
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(static_cast<char*>(result.mutable_raw()) + static_cast<int64_t>(i) * row_bytes,
                static_cast<const char*>(tensor.raw()) + rows[i] * row_bytes, static_cast<size_t>(row_bytes));
  return result;
}

bool has_nan(const std::vector<HostTensor>& tensors) {
  for (const HostTensor& tensor : tensors)
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (std::isnan(element_as_double(tensor, i))) return true;
  return false;
}

// Every float32 one step up or down.
HostTensor one_ulp_away(const HostTensor& tensor) {
  if (tensor.dtype() != DType::f32) return tensor;
  HostTensor result(tensor.type());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    result.mutable_data<float>()[i] = std::nextafter(tensor.data<float>()[i], i % 3 == 0 ? 9.0f : -9.0f);
  return result;
}

double largest_error(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& expected) {
  double worst = 0;
  for (size_t k = 0; k < expected.size(); ++k)
    for (int64_t i = 0; i < expected[k].elements(); ++i)
      worst =
          std::max(worst, relative_error(element_as_double(actual[k], i), element_as_double(expected[k], i)));
  return worst;
}

class DeviceBuffer {
 public:
  DeviceBuffer(Gpu& device, size_t bytes)
      : device_(device),
        bytes_(bytes),
        guard_(device.checks() ? 0 : kGuardBytes),
        base_(device.allocate(bytes + 2 * guard_)) {
    if (!device.checks()) device_.fill(base_, kUnwritten, bytes_ + 2 * guard_);
  }
  ~DeviceBuffer() { device_.free(base_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  Gpu::Pointer data() const { return base_ + guard_; }
  std::string content() const {
    std::string bytes(bytes_, '\0');
    device_.to_host(bytes.data(), data(), bytes_);
    return bytes;
  }
  bool guards_intact() const {
    std::string guards(2 * guard_, '\0');
    device_.to_host(guards.data(), base_, guard_);
    device_.to_host(guards.data() + guard_, data() + bytes_, guard_);
    return std::all_of(guards.begin(), guards.end(),
                       [](char byte) { return static_cast<unsigned char>(byte) == kUnwritten; });
  }

 private:
  Gpu& device_;
  size_t bytes_, guard_;
  Gpu::Pointer base_;
};

}  // namespace

double scale_of(const HostTensor& tensor) {
  double squares = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (const double x = element_as_double(tensor, i); std::isfinite(x * x)) squares += x * x;
  return std::max(1.0, std::sqrt(squares / std::max<double>(1, static_cast<double>(tensor.elements()))));
}

Reference reference_of(const Graph& graph, const Candidate& candidate, Trial trial) {
  Reference reference;
  for (const Range& range : {kInputRange, kPositiveInputRange}) {
    std::vector<HostTensor> inputs, beside;
    for (ValueId input : graph.inputs()) {
      Range values = range;
      values.count = index_count(graph, input);
      inputs.push_back(random_tensor(graph.value(input).type, inputs.size(), values));
      beside.push_back(one_ulp_away(inputs.back()));
      reference.values[input] = inputs.back();
    }
    const std::vector<HostTensor> outputs = interpret(graph, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) reference.values[graph.outputs()[i]] = outputs[i];
    reference.nan = has_nan(outputs);
    reference.range = range;
    if (trial == Trial::once) break;
    if (!reference.nan && largest_error(interpret(graph, beside), outputs) < kTolerance / 20) break;
  }
  for (ValueId constant : candidate.constants) reference.values[constant] = *graph.constant(constant);
  return reference;
}

Reference reference_of_rows(const Graph& graph, const Candidate& candidate, int64_t count) {
  Reference reference;
  const int64_t spread = graph.value(graph.inputs()[0]).type.shape[0] / count;
  constexpr int64_t kStep = 37;  // so that they lie in different places of their tiles
  for (int64_t i = 0; i < count; ++i) reference.rows.push_back(i * spread + i * kStep % spread);
  Graph part;
  std::map<ValueId, ValueId> placed;
  std::vector<HostTensor> inputs;
  for (ValueId input : graph.inputs()) {
    reference.values[input] = random_tensor(graph.value(input).type, inputs.size(), kInputRange);
    inputs.push_back(inputs.empty() ? rows_of(reference.values[input], reference.rows)
                                    : reference.values[input]);
    placed[input] = part.add_input(inputs.back().type(), graph.value(input).name);
  }
  for (ValueId constant : candidate.constants) {
    reference.values[constant] = *graph.constant(constant);
    placed[constant] = part.add_constant(reference.values[constant]);
  }
  for (NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    std::vector<ValueId> operands;
    for (ValueId input : node.inputs) operands.push_back(placed.at(input));
    placed[node.outputs[0]] = part.add(node.op, node.attrs, operands);
  }
  part.set_outputs({placed.at(graph.outputs()[0])}, {"y"});
  reference.values[graph.outputs()[0]] = interpret(part, inputs)[0];
  return reference;
}

namespace {

// The arguments of a kernel in device memory, in order.
class Arguments {
 public:
  explicit Arguments(Gpu& device) : device_(device) {}
  void add(size_t bytes) {
    buffers_.push_back(std::make_unique<DeviceBuffer>(device_, bytes));
    bytes_ += static_cast<double>(bytes);
  }
  void add(const std::string& bytes) {
    add(bytes.size());
    device_.to_device(buffers_.back()->data(), bytes.data(), bytes.size());
  }
  std::vector<Gpu::Pointer> pointers() const {
    std::vector<Gpu::Pointer> list;
    for (const auto& buffer : buffers_) list.push_back(buffer->data());
    return list;
  }
  const DeviceBuffer& operator[](size_t i) const { return *buffers_[i]; }
  size_t size() const { return buffers_.size(); }
  double bytes() const { return bytes_; }
  bool guards_intact() const {
    return std::all_of(buffers_.begin(), buffers_.end(), [](const auto& b) { return b->guards_intact(); });
  }

 private:
  Gpu& device_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
  double bytes_ = 0;
};

void compare(const HostTensor& actual, const HostTensor& expected, KernelCheck& result) {
  const double scale = scale_of(expected);
  double worst = 0;
  int64_t at = 0, wrong = 0;
  for (int64_t i = 0; i < actual.elements(); ++i) {
    const double error = relative_error(element_as_double(actual, i), element_as_double(expected, i), scale);
    wrong += error > kTolerance ? 1 : 0;
    if (error > worst) {
      worst = error;
      at = i;
    }
  }
  result.worst_error = std::max(result.worst_error, worst);
  if (wrong != 0)
    result.problem = std::to_string(wrong) + " of " + std::to_string(actual.elements()) +
                     " elements differ, element " + std::to_string(at) + " is " +
                     std::to_string(element_as_double(actual, at)) + ", expected " +
                     std::to_string(element_as_double(expected, at));
}

}  // namespace

Launch launch_of(const CudaKernel& kernel, const Implementation& implementation) {
  std::vector<int64_t> grids;
  for (const CudaPhase& phase : kernel.phases) grids.push_back(phase.grid);
  return {{},
          grids,
          kernel.threads,
          kernel.workspace_bytes,
          kernel.temporary_bytes,
          kernel.constant_packing,
          implementation.input_layouts,
          implementation.output_layouts};
}

KernelCheck check_kernel(Gpu& device, const Graph& graph, const Candidate& candidate,
                         const Reference& reference, const Launch& launch, int runs) {
  KernelCheck result;
  Arguments arguments(device);
  for (size_t i = 0; i < candidate.inputs.size(); ++i)
    arguments.add(laid_out(reference.values.at(candidate.inputs[i]), launch.input_layouts[i]));
  for (size_t i = 0; i < candidate.constants.size(); ++i)
    arguments.add(pack(reference.values.at(candidate.constants[i]), launch.constant_packing[i]));
  const size_t first_output = arguments.size();
  for (size_t i = 0; i < candidate.outputs.size(); ++i)
    arguments.add(static_cast<size_t>(
        physical_bytes(graph.value(candidate.outputs[i]).type, launch.output_layouts[i])));
  result.moved_bytes = arguments.bytes();
  for (int64_t bytes : launch.temporary_bytes) arguments.add(static_cast<size_t>(bytes));
  const size_t status = arguments.size();
  const std::string good(sizeof(int32_t), '\0');
  arguments.add(good);
  std::vector<int64_t> blocks = launch.grids;
  if (launch.workspace_bytes > 0)
    for (int64_t& count : blocks) count = std::min(count, kWorkspaceBlocks);
  arguments.add(
      static_cast<size_t>(*std::max_element(blocks.begin(), blocks.end()) * launch.workspace_bytes));

  device.set_roles(arguments.pointers()[status], arguments.pointers()[status + 1],
                   static_cast<size_t>(launch.workspace_bytes));
  result.best_us = INFINITY;
  for (int i = 0; i < runs; ++i) {
    double us = 0;
    for (size_t phase = 0; phase < blocks.size(); ++phase)
      us += device.run(launch.functions[phase], blocks[phase], launch.threads, arguments.pointers());
    result.best_us = std::min(result.best_us, us);
  }
  if (arguments[status].content() != good) result.problem = "the status is not 0";
  if (!arguments.guards_intact()) result.problem = "it wrote beside a buffer";
  for (size_t i = 0; i < candidate.outputs.size() && result.problem.empty(); ++i) {
    const HostTensor all = row_major(arguments[first_output + i].content(),
                                     graph.value(candidate.outputs[i]).type, launch.output_layouts[i]);
    compare(reference.rows.empty() ? all : rows_of(all, reference.rows),
            reference.values.at(candidate.outputs[i]), result);
  }
  return result;
}

}  // namespace korch::testing
