#include <algorithm>

#include "korch/package/tables.h"
#include "korch/runtime/korch.h"

namespace korch {
namespace {

class InfoWriter {
 public:
  explicit InfoWriter(const Plan& plan) : plan_(plan) { blob_.add<korch_model_info>(); }

  Blob write(const std::vector<Placement>& placements, const WeightsLayout& weights,
             const std::string& code) {
    info()->api_version = KORCH_API_VERSION;
    info()->threads = static_cast<uint32_t>(plan_.threads);
    for (const Placement& placed : placements)
      info()->arena_bytes = std::max(info()->arena_bytes, static_cast<uint64_t>(placed.memory.arena_bytes));
    info()->weights_bytes = static_cast<uint64_t>(weights.size_bytes);
    const Rows isa_name = blob_.put_text(code), inputs = tensors(plan_.inputs),
               outputs = tensors(plan_.outputs);
    refer(info()->isa, isa_name);
    refer(info()->inputs, info()->input_count, inputs);
    refer(info()->outputs, info()->output_count, outputs);
    add_step_names(placements);
    add_dimensions();
    add_states();
    return std::move(blob_);
  }

 private:
  korch_model_info* info() { return blob_.at<korch_model_info>({}); }

  template <typename T>
  void refer(T* const& field, const Rows& rows) {
    if (rows.count > 0) blob_.link(field, kInfoSymbol, rows.at);
  }
  template <typename T>
  void refer(T* const& field, uint32_t& count, const Rows& rows) {
    refer(field, rows);
    count = static_cast<uint32_t>(rows.count);
  }

  Rows tensors(const std::vector<PlanIo>& values) {
    const Rows at = blob_.add<korch_tensor_info>(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const PlanIo& value = values[i];
      const Rows text = blob_.put_text(value.name), dtype = blob_.put_text(name(value.type.dtype)),
                 dims = blob_.put(value.type.shape);
      korch_tensor_info* tensor = blob_.at<korch_tensor_info>(at, i);
      refer(tensor->name, text);
      refer(tensor->dtype, dtype);
      refer(tensor->dims, tensor->rank, dims);
      tensor->size_bytes = static_cast<uint64_t>(value.type.bytes());
    }
    return at;
  }

  void add_step_names(const std::vector<Placement>& placements) {
    std::vector<std::string> names;
    for (const PlanStep& step : plan_.steps) names.push_back(step.label);
    for (const Placement& placed : placements)
      names.insert(names.end(), placed.memory.copies.size(), "copy output");
    const Rows at = blob_.add<const char*>(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const Rows text = blob_.put_text(names[i]);
      refer(*blob_.at<const char*>(at, i), text);
    }
    refer(info()->step_names, info()->step_count, at);
  }

  void add_dimensions() {
    const Rows at = blob_.add<korch_dimension>(plan_.dimensions.size());
    std::vector<korch_open_axis> axes;
    for (size_t d = 0; d < plan_.dimensions.size(); ++d) {
      const OpenDimension& dimension = plan_.dimensions[d];
      const Rows text = blob_.put_text(dimension.name);
      korch_dimension* row = blob_.at<korch_dimension>(at, d);
      refer(row->name, text);
      row->least = dimension.least;
      row->most = dimension.most;
      for (const auto& [input, axis] : dimension.axes)
        axes.push_back({static_cast<uint32_t>(input), static_cast<uint32_t>(axis), static_cast<uint32_t>(d)});
    }
    const Rows open_axes = blob_.put(axes);
    refer(info()->dimensions, info()->dimension_count, at);
    refer(info()->open_axes, info()->open_axis_count, open_axes);
  }

  void add_states() {
    std::vector<korch_state_info> rows;
    for (const StatePair& state : plan_.states)
      rows.push_back(
          {static_cast<uint32_t>(state.input), static_cast<uint32_t>(state.output), state.axis, 0});
    const Rows at = blob_.put(rows);
    refer(info()->states, info()->state_count, at);
  }

  const Plan& plan_;
  Blob blob_;
};

}  // namespace

Blob model_info(const Plan& plan, const std::vector<Placement>& placements, const WeightsLayout& weights,
                const std::string& code) {
  return InfoWriter(plan).write(placements, weights, code);
}

}  // namespace korch
