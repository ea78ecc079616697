#include "korch/driver/variant_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace korch {
namespace {

class VariantBudget {
 public:
  explicit VariantBudget(BuiltPlan& built) : plan_(built.plan) {
    const std::vector<ShapePlan> shape_plans = shape_plans_of(plan_);
    std::set<int> first;
    for (size_t s = 0; s < plan_.steps.size(); ++s)
      for (const int tensor : plan_.steps[s].constants) {
        own_.insert(constant_of(tensor));
        if (static_cast<int>(s) < shape_plans[0].end_step) first.insert(constant_of(tensor));
      }
    most_ = static_cast<int64_t>(kMostOfOneShape * static_cast<double>(bytes_of(first)));
    for (const PlanStep& step : plan_.steps)
      for (const KernelVariant& variant : step.variants.list)
        for (const int tensor : variant.constants) count(tensor, 1);
  }

  void apply() {
    int left_out = 0;
    while (bytes_ + bytes_of(own_) > most_) {
      const auto [step, variant] = least_worth();
      if (step == nullptr) break;  // the plans alone take as much
      for (const int tensor : step->variants.list[variant].constants) count(tensor, -1);
      step->variants.list.erase(step->variants.list.begin() + static_cast<std::ptrdiff_t>(variant));
      if (step->variants.list.size() == 1) {
        for (const int tensor : step->variants.list[0].constants) count(tensor, -1);
        step->variants = {};
      }
      ++left_out;
    }
    if (left_out > 0)
      plan_.report.limits.push_back(
          fmt::format("variant_bytes: {} kernel variants were left out, whose constants would make the file "
                      "larger than {:g} times one shape's",
                      left_out, kMostOfOneShape));
  }

 private:
  int constant_of(int tensor) const { return plan_.tensors[static_cast<size_t>(tensor)].index; }
  int64_t bytes_of(int constant) const { return plan_.constants[static_cast<size_t>(constant)].size_bytes; }
  int64_t bytes_of(const std::set<int>& constants) const {
    int64_t bytes = 0;
    for (const int constant : constants) bytes += bytes_of(constant);
    return bytes;
  }

  void count(int tensor, int by) {
    const int constant = constant_of(tensor);
    if (own_.contains(constant)) return;
    int& readers = readers_[constant];
    if (readers == 0) bytes_ += bytes_of(constant);
    readers += by;
    if (readers == 0) bytes_ -= bytes_of(constant);
  }

  // What would be freed if the variant were the only one to read it; what others read, too, is shared out.
  double freed(const KernelVariant& variant) const {
    double bytes = 0;
    for (const int tensor : variant.constants)
      if (const auto readers = readers_.find(constant_of(tensor)); readers != readers_.end())
        bytes += static_cast<double>(bytes_of(constant_of(tensor))) / std::max(1, readers->second);
    return bytes;
  }

  // By how many microseconds the step takes longer without the variant, on average over the samples.
  static double worth(const KernelVariants& variants, size_t variant) {
    double sum = 0;
    for (size_t s = 0; s < variants.samples.size(); ++s) {
      double others = std::numeric_limits<double>::infinity();
      for (size_t w = 0; w < variants.list.size(); ++w)
        if (w != variant) others = std::min(others, variants.list[w].measured_us[s]);
      sum += std::max(0.0, others - variants.list[variant].measured_us[s]);
    }
    return sum / static_cast<double>(variants.samples.size());
  }

  std::pair<PlanStep*, size_t> least_worth() {
    std::pair<PlanStep*, size_t> found{nullptr, 0};
    double least = std::numeric_limits<double>::infinity();
    for (PlanStep& step : plan_.steps)
      for (size_t w = 1; w < step.variants.list.size(); ++w) {
        const double bytes = freed(step.variants.list[w]);
        if (bytes == 0) continue;
        const double value = worth(step.variants, w) / bytes;
        if (value >= least) continue;
        least = value;
        found = {&step, w};
      }
    return found;
  }

  Plan& plan_;
  std::set<int> own_;             // constants that plans' own kernels read
  std::map<int, int> readers_;    // of the others, how many variants
  int64_t bytes_ = 0, most_ = 0;  // of what has readers; of all constants
};

// Their tensors stay, of no bytes.
void empty_unread_constants(BuiltPlan& built) {
  std::set<int> read;
  for (const PlanStep& step : built.plan.steps) visit_tensors(step, [&](int tensor) { read.insert(tensor); });
  for (const PlanTensor& tensor : built.plan.tensors) read.insert(tensor.alias_of);  // an output that is one
  std::set<int> constants;
  for (size_t t = 0; t < built.plan.tensors.size(); ++t) {
    PlanTensor& tensor = built.plan.tensors[t];
    if (tensor.role != TensorRole::constant) continue;
    if (read.contains(static_cast<int>(t)))
      constants.insert(tensor.index);
    else
      tensor.size_bytes = 0;
  }
  for (size_t c = 0; c < built.plan.constants.size(); ++c) {
    if (constants.contains(static_cast<int>(c))) continue;
    built.constant_bytes[c].clear();
    built.plan.constants[c].size_bytes = 0;
    built.plan.constants[c].content = hash_bytes(nullptr, 0);
  }
}

void drop_unused_kernels(BuiltPlan& built) {
  std::vector<int> place(built.plan.kernels.size(), -1);
  for (const PlanStep& step : built.plan.steps)
    visit_kernels(step, [&](int kernel) { place[static_cast<size_t>(kernel)] = 0; });
  std::vector<Kernel> kernels;
  std::vector<std::string> objects;
  for (size_t k = 0; k < place.size(); ++k) {
    if (place[k] < 0) continue;
    place[k] = static_cast<int>(kernels.size());
    kernels.push_back(std::move(built.plan.kernels[k]));
    objects.push_back(std::move(built.objects[k]));
  }
  built.plan.kernels = std::move(kernels);
  built.objects = std::move(objects);
  for (PlanStep& step : built.plan.steps)
    visit_kernels(step, [&](int& kernel) { kernel = place[static_cast<size_t>(kernel)]; });
}

}  // namespace

void limit_variant_bytes(BuiltPlan& merged) {
  VariantBudget(merged).apply();
  empty_unread_constants(merged);
  drop_unused_kernels(merged);
}

}  // namespace korch
