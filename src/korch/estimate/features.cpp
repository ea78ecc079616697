#include "korch/estimate/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "korch/base/ceil_div.h"
#include "korch/codegen/block/lower.h"
#include "korch/codegen/linear/workload.h"
#include "korch/codegen/loop/cost.h"
#include "korch/estimate/feature_row.h"
#include "korch/estimate/tile_features.h"
#include "korch/ir/index_map.h"

namespace korch {
namespace {

// The families as numbers; the place of a new one is the end.
constexpr std::array<std::string_view, 15> kFamilies = {
    "reorder",       "loop",          "depthwise", "conv_direct", "conv_pixels",
    "conv_winograd", "winograd_part", "matmul",    "attention",   "linear_generic",
    "opaque",        "recurrence",    "loop_end",  "staged",      "append"};

double elements(const TensorType& type) {
  return static_cast<double>(type.elements());
}

// Of the last vector of a row.
double idle_share(int64_t extent, int64_t width) {
  if (extent <= 0 || width <= 0) return 0;
  return 1 - static_cast<double>(extent) / static_cast<double>(ceil_div(extent, width) * width);
}

struct Operand {
  TensorType type;
  Layout layout;
  double bytes() const { return static_cast<double>(physical_bytes(type, layout)); }
  // 0 row-major, 1 in another order, 2 in blocks
  int kind() const { return layout.is_row_major() ? 0 : layout.block_axis >= 0 ? 2 : 1; }
  int64_t innermost() const {
    const Shape shape = physical_shape(type.shape, layout);
    return shape.empty() ? 1 : shape.back();
  }
};

// What is read, made and done, however it was described.
struct Work {
  std::vector<Operand> inputs, outputs;
  std::vector<TensorType> constants;
  std::string_view family = "reorder";
  double flops = 0, bytes = 0;

  double input_bytes() const { return sum_of(inputs); }
  double output_bytes() const { return sum_of(outputs); }
  double constant_bytes() const {
    double sum = 0;
    for (const TensorType& type : constants) sum += static_cast<double>(type.bytes());
    return sum;
  }
  static double sum_of(const std::vector<Operand>& operands) {
    double sum = 0;
    for (const Operand& operand : operands) sum += operand.bytes();
    return sum;
  }
};

// The times that its arithmetic and its bytes take at the device's speeds, and where its bytes may lie.
void add_work(const Work& work, const Surroundings& around, FeatureRow& row) {
  const Device& device = around.device;
  constexpr std::array kTimes = {"us_level_1", "us_level_2", "us_level_3", "us_level_4"};
  constexpr std::array kFits = {"fits_level_1", "fits_level_2", "fits_level_3"};
  row.add("bound_us", log2_of(around.bound_us));
  row.add("us_arithmetic", log2_of(work.flops / std::max(1.0, device.flops_per_us)));
  const auto level = [&](size_t i) { return device.memory[std::min(i, device.memory.size() - 1)]; };
  for (size_t i = 0; i < kTimes.size(); ++i)
    row.add(kTimes[i], log2_of(work.bytes / std::max(1.0, level(i).bytes_per_us)));
  for (size_t i = 0; i < kFits.size(); ++i) {
    const MemoryLevel at = level(i);
    const double all = static_cast<double>(at.bytes) * (at.is_shared ? 1 : device.workers);
    row.add(kFits[i], log2_of(work.bytes / std::max(1.0, all)));
  }
  row.add("launch_share", log2_of(device.launch_us / std::max(1e-6, around.bound_us)));
  const double cache = std::max(1.0, static_cast<double>(device.cache_bytes())),
               own = std::max(1.0, static_cast<double>(device.own_bytes()) * device.workers);
  row.add("footprint", log2_of(static_cast<double>(around.footprint_bytes) / cache));
  row.add("footprint_own", log2_of(static_cast<double>(around.footprint_bytes) / own));
  const double all_bytes = std::max(1.0, work.input_bytes() + work.output_bytes() + work.constant_bytes());
  row.add("input_share", work.input_bytes() / all_bytes);
  row.add("constant_share", work.constant_bytes() / all_bytes);
  row.add("constants_own", log2_of(work.constant_bytes() / own));
  row.add("touched_share", work.bytes / all_bytes);
}

void add_device(const Device& device, FeatureRow& row) {
  row.add("workers", device.workers);
  row.add("lanes", device.lanes());
  row.add("registers", device.vector_registers);
  row.add("multiplies_bytes", device.multiplies_bytes ? 1 : 0);
  const double last = device.memory.empty() ? 1 : std::max(1.0, device.memory.back().bytes_per_us);
  row.add("balance", log2_of(device.flops_per_us / last));
}

// How the operands lie in memory, and how much there is to share.
void add_operands(const Work& work, const Device& device, FeatureRow& row) {
  const Operand none;
  const auto largest = [&](const std::vector<Operand>& operands) -> const Operand& {
    const auto found =
        std::max_element(operands.begin(), operands.end(),
                         [](const Operand& a, const Operand& b) { return a.bytes() < b.bytes(); });
    return found == operands.end() ? none : *found;
  };
  const Operand &in = largest(work.inputs), &out = largest(work.outputs);
  double other_kind = 0;
  for (const Operand& operand : work.inputs)
    if (operand.kind() != out.kind()) other_kind += operand.bytes();
  row.add("inputs", static_cast<double>(work.inputs.size()));
  row.add("outputs", static_cast<double>(work.outputs.size()));
  row.add("constants", static_cast<double>(work.constants.size()));
  row.add("output_kind", out.kind());
  row.add("input_kind", in.kind());
  row.add("other_kind_share", other_kind / std::max(1.0, work.input_bytes()));
  row.add("output_rank", static_cast<double>(out.type.shape.size()));
  row.add("output_innermost", log2_of(static_cast<double>(out.innermost())));
  row.add("output_idle", idle_share(out.innermost(), device.lanes()));
  row.add("input_innermost", log2_of(static_cast<double>(in.innermost())));
  row.add("output_elements", log2_of(elements(out.type) / std::max(1, device.workers)));
  row.add("input_elements", log2_of(elements(in.type) / std::max(1.0, elements(out.type))));
  row.add("input_type", static_cast<double>(size_bytes(in.type.dtype)));
  row.add("output_type", static_cast<double>(size_bytes(out.type.dtype)));
  row.add("is_float", is_float(in.type.dtype) ? 1 : 0);
}

// Which primitives there are, and how many elements they make in all for each that is kept.
struct Operators {
  double elementwise = 0, expensive = 0, reduce = 0, window = 0, transpose = 0, cuts = 0, gather = 0,
         opaque = 0;
  double elementwise_work = 0, expensive_work = 0, reduce_work = 0, taps = 0, moved_work = 0;
  double reduced = 0, reduces_innermost = 0, moves_innermost = 0;
  double before = 0, after = 0, before_work = 0;  // of a linear primitive
  double weighs_window = 0, nodes = 0;
};

void count(const Graph& graph, const Node& node, Operators& sum) {
  const OpInfo& op = info(node.op);
  const TensorType& made = graph.value(node.outputs[0]).type;
  const TensorType& read = node.inputs.empty() ? made : graph.value(node.inputs[0]).type;
  switch (op.category) {
    case Category::elementwise:
      ++sum.elementwise;
      sum.elementwise_work += elements(made);
      if (!tile::is_expensive(node.op)) break;
      ++sum.expensive;
      sum.expensive_work += elements(made);
      break;
    case Category::reduce:
      ++sum.reduce;
      sum.reduce_work += elements(read);
      sum.reduced = std::max(sum.reduced, elements(read) / std::max(1.0, elements(made)));
      if (const auto* attrs = std::get_if<ReduceAttrs>(&node.attrs); attrs != nullptr && !attrs->axes.empty())
        sum.reduces_innermost += attrs->axes.back() + 1 == static_cast<int64_t>(read.shape.size());
      break;
    case Category::window:
      ++sum.window;
      sum.weighs_window += node.op == Op::WindowDot;
      if (const auto* attrs = std::get_if<PoolAttrs>(&node.attrs)) {
        double taps = 1;
        for (const int64_t k : attrs->kernel) taps *= static_cast<double>(k);
        sum.taps = std::max(sum.taps, taps);
        sum.reduce_work += taps * elements(made);
      }
      break;
    case Category::layout:
      if (node.op == Op::Transpose) {
        ++sum.transpose;
        const IndexMap map = index_maps(graph, node).operands[0];
        sum.moves_innermost += !map.coordinates.empty() &&
                               map.coordinates.back().axis + 1 != static_cast<int>(made.shape.size());
        sum.moved_work += elements(made);
      } else if (looks_up(node.op)) {
        ++sum.gather;
      } else if (node.op != Op::Reshape) {
        ++sum.cuts;
      }
      break;
    case Category::opaque:
      ++sum.opaque;
      break;
    case Category::constant:
    case Category::linear:
    case Category::composite:
      break;
  }
}

Operators operators_of(const Graph& graph, const Candidate& candidate) {
  Operators sum;
  sum.nodes = static_cast<double>(candidate.nodes.size());
  bool is_before = std::any_of(candidate.nodes.begin(), candidate.nodes.end(), [&](NodeId id) {
    return info(graph.node(id).op).category == Category::linear;
  });
  const bool is_linear = is_before;
  for (const NodeId id : candidate.nodes) {
    const Node& node = graph.node(id);
    count(graph, node, sum);
    if (info(node.op).category == Category::linear) {
      is_before = false;
    } else if (is_before) {
      ++sum.before;
      sum.before_work += elements(graph.value(node.outputs[0]).type);
    } else if (is_linear) {
      ++sum.after;
    }
  }
  return sum;
}

void add_operators(const Operators& sum, double kept_elements, const Surroundings& around, FeatureRow& row) {
  const double kept = std::max(1.0, kept_elements);
  row.add("nodes", sum.nodes);
  row.add("elementwise", sum.elementwise);
  row.add("expensive", sum.expensive);
  row.add("reduce", sum.reduce);
  row.add("window", sum.window);
  row.add("transpose", sum.transpose);
  row.add("cuts", sum.cuts);
  row.add("gather", sum.gather);
  row.add("opaque", sum.opaque);
  row.add("elementwise_work", log2_of(sum.elementwise_work / kept));
  row.add("us_expensive",
          log2_of(tile::kExpensive * sum.expensive_work / std::max(1.0, around.device.flops_per_us) /
                  std::max(1e-6, around.bound_us)));
  row.add("us_elementwise", log2_of(sum.elementwise_work / std::max(1.0, around.device.flops_per_us) /
                                    std::max(1e-6, around.bound_us)));
  row.add("reduce_work", log2_of(sum.reduce_work / kept));
  row.add("reduced", log2_of(sum.reduced));
  row.add("reduces_innermost", sum.reduces_innermost);
  row.add("taps", sum.taps);
  row.add("weighs_window", sum.weighs_window);
  row.add("moves_innermost", sum.moves_innermost);
  row.add("moved_work", log2_of(sum.moved_work / kept));
  row.add("before", sum.before);
  row.add("before_work", log2_of(sum.before_work / kept));
  row.add("after", sum.after);
}

// The extents of a linear primitive: rows times columns of sums of terms, so many times.
struct Product {
  double rows = 0, columns = 0, terms = 0, batches = 0, taps = 0, stride = 0, dilation = 0, width = 0;
  double padded = 0, data_fused = 0, weight_fused = 0, weight_constant = 0, groups = 0;
};

Product product_of(const Graph& graph, const Candidate& candidate) {
  Product product;
  const Result<linear::LinearWorkload> workload = linear::analyze(graph, candidate);
  if (!workload) return product;
  const linear::LinearWorkload& w = workload.value();
  product.data_fused = w.data_fused;
  product.weight_fused = w.weight_fused;
  product.weight_constant = w.weight_constant;
  product.batches = 1;
  if (w.conv) {
    const linear::ConvShape& c = *w.conv;
    product.rows = static_cast<double>(c.images * c.out_height * c.out_width);
    product.columns = static_cast<double>(c.out_channels / c.group);
    product.taps = static_cast<double>(c.kernel_h * c.kernel_w);
    product.terms = static_cast<double>(c.in_channels / c.group) * product.taps;
    product.stride = static_cast<double>(c.stride_w);
    product.dilation = static_cast<double>(c.dilation_w);
    product.width = static_cast<double>(c.out_width);
    product.padded = c.padded();
    product.groups = static_cast<double>(c.group);
  } else if (w.matmul) {
    product.rows = static_cast<double>(w.matmul->m);
    product.columns = static_cast<double>(w.matmul->n);
    product.terms = static_cast<double>(w.matmul->k);
    product.batches = static_cast<double>(w.matmul->batches);
    product.stride = (w.matmul->transpose_a ? 1 : 0) + (w.matmul->transpose_b ? 2 : 0);
  }
  return product;
}

// Kernels of block graphs are told by their first product and the width of the last one.
Product product_of(const std::vector<blocks::BlockProduct>& products) {
  Product product;
  if (products.empty()) return product;
  product.rows = static_cast<double>(products.front().rows);
  product.columns = static_cast<double>(products.front().columns);
  product.terms = static_cast<double>(products.front().terms);
  product.batches = static_cast<double>(products.front().matrices);
  product.width = static_cast<double>(products.back().columns);
  return product;
}

struct ScheduleNumbers {
  double rows = 0, vectors = 0, blocks = 0, algorithm = 0;
};

ScheduleNumbers numbers_of(const Schedule& schedule) {
  ScheduleNumbers numbers;
  const auto take = [&](const TileShape& tile) {
    numbers.rows = tile.rows;
    numbers.vectors = tile.vectors;
  };
  if (const auto* rows = std::get_if<RowSchedule>(&schedule)) {
    take(rows->tile);
    numbers.blocks = static_cast<double>(rows->row_blocks);
  } else if (const auto* winograd = std::get_if<WinogradSchedule>(&schedule)) {
    numbers.algorithm = static_cast<double>(winograd->outputs);
    if (winograd->product) take(*winograd->product);
  } else if (const auto* recurrence = std::get_if<RecurrenceSchedule>(&schedule)) {
    take(recurrence->tile);
    numbers.blocks = static_cast<double>(recurrence->steps);
    numbers.algorithm = recurrence->shared ? 1 : 0;
  }
  return numbers;
}

void add_product(const Product& product, const ScheduleNumbers& schedule, const Device& device,
                 FeatureRow& row) {
  const auto width = static_cast<int64_t>(schedule.vectors) * device.lanes();
  row.add("rows", log2_of(product.rows));
  row.add("columns", log2_of(product.columns));
  row.add("terms", log2_of(product.terms));
  row.add("batches", log2_of(product.batches));
  row.add("groups", log2_of(product.groups));
  row.add("product_taps", product.taps);
  row.add("stride", product.stride);
  row.add("dilation", product.dilation);
  row.add("width", log2_of(product.width));
  row.add("padded", product.padded);
  row.add("data_fused", product.data_fused);
  row.add("weight_fused", product.weight_fused);
  row.add("weight_constant", product.weight_constant);
  row.add("tile_rows", schedule.rows);
  row.add("tile_vectors", schedule.vectors);
  row.add("row_blocks", schedule.blocks);
  row.add("algorithm", schedule.algorithm);
  row.add("idle_columns", idle_share(static_cast<int64_t>(product.columns), width));
  row.add("idle_lanes", idle_share(static_cast<int64_t>(product.columns), device.lanes()));
  row.add("idle_rows", idle_share(static_cast<int64_t>(product.width > 0 ? product.width : product.rows),
                                  static_cast<int64_t>(schedule.rows)));
  const double tile = schedule.rows * schedule.vectors;
  row.add("loads", tile > 0 ? (schedule.rows + schedule.vectors) / tile : 0);
  row.add("tiles", log2_of(width > 0 && schedule.rows > 0
                               ? product.batches * std::max(1.0, product.rows / schedule.rows) *
                                     std::ceil(product.columns / static_cast<double>(width))
                               : 0));
}

FeatureRow row_of(const Work& work, const Operators& operators, const Product& product,
                  const ScheduleNumbers& schedule, const Surroundings& around) {
  FeatureRow row;
  const auto family = std::find(kFamilies.begin(), kFamilies.end(), work.family);
  row.add("family", static_cast<double>(family - kFamilies.begin()));
  add_work(work, around, row);
  add_device(around.device, row);
  add_operands(work, around.device, row);
  double kept = 0;
  for (const Operand& operand : work.outputs) kept += elements(operand.type);
  add_operators(operators, kept, around, row);
  add_product(product, schedule, around.device, row);
  return row;
}

FeatureRow reorder_row(const TensorType& type, const Layout& from, const Layout& to,
                       const Surroundings& around) {
  Work work;
  work.inputs = {{type, from}};
  work.outputs = {{type, to}};
  work.bytes = 2.0 * static_cast<double>(type.bytes());
  return row_of(work, {}, {}, {}, around);
}

}  // namespace

namespace {

// What stands between the products is as of attention, and counts as little.
Features block_features(Work work, const Candidate& candidate, const BlockSchedule& schedule,
                        const Surroundings& surroundings) {
  const block::BlockGraph& graph = candidate.structures[static_cast<size_t>(schedule.structure)]->graph;
  const auto products = blocks::products_of(graph, schedule, surroundings.device);
  work.family = "attention";
  ScheduleNumbers numbers;
  if (!products.empty()) numbers = numbers_of(RowSchedule{products.front().tile});
  numbers.blocks = static_cast<double>(schedule.rows);
  numbers.algorithm = static_cast<double>(schedule.block);
  Operators operators;
  operators.nodes = 1;
  return row_of(work, operators, product_of(products), numbers, surroundings).values;
}

}  // namespace

Features kernel_features(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
                         const Surroundings& surroundings) {
  Work work;
  work.family = implementation.family;
  work.flops = implementation.flops / static_cast<double>(implementation.flops_at_once);
  work.bytes = implementation.bytes;
  for (size_t i = 0; i < candidate.inputs.size(); ++i)
    work.inputs.push_back({graph.value(candidate.inputs[i]).type, implementation.input_layouts[i]});
  for (size_t i = 0; i < candidate.outputs.size(); ++i)
    work.outputs.push_back({graph.value(candidate.outputs[i]).type, implementation.output_layouts[i]});
  for (const ValueId value : candidate.constants) work.constants.push_back(graph.value(value).type);
  if (const auto* schedule = std::get_if<BlockSchedule>(&implementation.schedule))
    return block_features(std::move(work), candidate, *schedule, surroundings);
  const Operators operators = operators_of(graph, candidate);
  const bool is_linear = work.family != "loop" && work.family != "opaque";
  return row_of(work, operators, is_linear ? product_of(graph, candidate) : Product(),
                numbers_of(implementation.schedule), surroundings)
      .values;
}

Features reorder_features(const TensorType& type, const Layout& from, const Layout& to,
                          const Surroundings& surroundings) {
  return reorder_row(type, from, to, surroundings).values;
}

size_t draft_features() {
  static const size_t count = reorder_row(TensorType{DType::f32, {1}}, {}, {}, {Device()}).names.size();
  return count;
}

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = [] {
    const FeatureRow draft = reorder_row(TensorType{DType::f32, {1}}, {}, {}, {Device()});
    std::vector<std::string> all(draft.names.begin(), draft.names.end());
    all.insert(all.end(), tile_feature_names().begin(), tile_feature_names().end());
    return all;
  }();
  return names;
}

}  // namespace korch
