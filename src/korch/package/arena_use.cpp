#include "korch/package/arena_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "korch/base/error.h"
#include "korch/package/executable.h"
#include "korch/package/memory.h"

namespace korch {
namespace {

// Of one shape plan.
class ArenaReader {
 public:
  ArenaReader(const Plan& plan, const ShapePlan& shape_plan, const rt::Program& program)
      : plan_(plan), shape_plan_(shape_plan), program_(program) {}

  // False if tables and plan do not belong together.
  bool read(std::vector<ArenaBuffer>& buffers) {
    if (program_.step_count < static_cast<uint32_t>(shape_plan_.end_step - shape_plan_.first_step))
      return false;
    for (int s = shape_plan_.first_step; s < shape_plan_.end_step; ++s)
      if (!read_step(s)) return false;
    keep_outputs();
    keep_through_loops();
    for (const auto& [root, buffer] : tensors_) buffers.push_back(buffer);
    buffers.insert(buffers.end(), temporaries_.begin(), temporaries_.end());
    return true;
  }

 private:
  // The tensor that `tensor` is a view of, if any, and where in it the view begins.
  std::pair<int, int64_t> root_of(int tensor) const {
    int64_t offset_bytes = 0;
    while (plan_.tensors[static_cast<size_t>(tensor)].alias_of >= 0) {
      offset_bytes += plan_.tensors[static_cast<size_t>(tensor)].alias_offset_bytes;
      tensor = plan_.tensors[static_cast<size_t>(tensor)].alias_of;
    }
    return {tensor, offset_bytes};
  }

  bool read_step(int s) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
    const rt::Step& row = program_.steps[s - shape_plan_.first_step];
    const size_t others = step.inputs.size() + step.constants.size();
    if (row.arg_count < others + step.outputs.size()) return false;
    for (size_t o = 0; o < step.outputs.size(); ++o) written(step.outputs[o], row.args[others + o], s);
    visit_tensors(step, [&](int tensor) {
      const auto known = tensors_.find(root_of(tensor).first);
      if (known != tensors_.end()) known->second.last_step = std::max(known->second.last_step, s);
    });
    return read_temporaries(s, others + step.outputs.size());
  }

  void written(int tensor, const rt::BufferRef& place, int s) {
    if (place.memory != rt::kArena) return;
    const auto [root, offset_bytes] = root_of(tensor);
    tensors_.try_emplace(root, ArenaBuffer{root, s, s, static_cast<int64_t>(place.offset) - offset_bytes,
                                           plan_.tensors[static_cast<size_t>(root)].size_bytes});
  }

  // Of the kernel variant that needs most of them, which has them where the others have theirs.
  bool read_temporaries(int s, size_t first) {
    const PlanStep& step = plan_.steps[static_cast<size_t>(s)];
    const std::vector<int64_t> sizes = temporary_bytes(plan_, step);
    const rt::Step* row = &program_.steps[s - shape_plan_.first_step];
    const rt::VariantTable* variants = row->variants;
    int kernel = step.kernel;
    const auto count = [&](int k) { return plan_.kernels[static_cast<size_t>(k)].temporary_bytes.size(); };
    for (size_t v = 1;
         variants != nullptr && v < std::min<size_t>(variants->count, step.variants.list.size()); ++v)
      if (count(step.variants.list[v].kernel) > count(kernel)) {
        kernel = step.variants.list[v].kernel;
        row = &variants->others[v - 1];
        first = step.inputs.size() + step.variants.list[v].constants.size() + step.outputs.size();
      }
    if (row->arg_count < first + sizes.size()) return false;
    for (size_t t = 0; t < sizes.size(); ++t)
      temporaries_.push_back({-1, s, s, static_cast<int64_t>(row->args[first + t].offset), sizes[t]});
    return true;
  }

  // Outputs that are made in the arena are copied after the last step.
  void keep_outputs() {
    for (int t = shape_plan_.first_tensor; t < shape_plan_.end_tensor; ++t) {
      if (plan_.tensors[static_cast<size_t>(t)].role != TensorRole::output) continue;
      const auto known = tensors_.find(root_of(t).first);
      if (known != tensors_.end()) known->second.last_step = shape_plan_.end_step - 1;
    }
  }

  // What a step of a loop reads of before it, every iteration reads.
  void keep_through_loops() {
    for (int s = shape_plan_.first_step; s < shape_plan_.end_step; ++s) {
      const int end = plan_.steps[static_cast<size_t>(s)].other_end;
      if (end <= s) continue;
      for (auto& [root, buffer] : tensors_)
        if (buffer.first_step < s && buffer.last_step > s) buffer.last_step = std::max(buffer.last_step, end);
    }
  }

  const Plan& plan_;
  const ShapePlan& shape_plan_;
  const rt::Program& program_;
  std::map<int, ArenaBuffer> tensors_;  // by root
  std::vector<ArenaBuffer> temporaries_;
};

}  // namespace

ArenaUse read_arena(const std::string& path, const Plan& plan) {
  const std::vector<uint64_t> tables = read_tables(path);
  const auto& model = *reinterpret_cast<const rt::Model*>(tables.data());
  const std::vector<ShapePlan> shape_plans = shape_plans_of(plan);
  ArenaUse use;
  use.weights_bytes = static_cast<int64_t>(model.weights_bytes);
  bool is_right = model.shape_plan_count == shape_plans.size();
  for (size_t p = 0; is_right && p < shape_plans.size(); ++p) {
    const rt::Program& program = model.shape_plans[p].program;
    use.arena_bytes = std::max(use.arena_bytes, static_cast<int64_t>(program.arena_bytes));
    is_right = ArenaReader(plan, shape_plans[p], program).read(use.buffers);
  }
  if (!is_right)
    throw Error(ErrorKind::io, fmt::format("'{}' cannot be used: its plan is not that of its tables; compile "
                                           "the model again",
                                           path));
  return use;
}

}  // namespace korch
