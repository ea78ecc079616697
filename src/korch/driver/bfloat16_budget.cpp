#include "korch/driver/bfloat16_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/inspect/output_error.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/rewrite/bfloat16_products.h"

namespace korch {
namespace {

constexpr int kSamples = 3;
// Of the budget, by the interpreter: kernels add in another order, and other inputs than those drawn here are
// as far off by a little more.
constexpr double kShare = 0.8;
constexpr size_t kMostGroups = 16;  // of products that follow one another, whose error is found together

struct Sample {
  std::vector<HostTensor> inputs, exact;
};

bool is_moderate(const std::vector<HostTensor>& outputs) {
  constexpr double kHuge = 1e18;
  for (const HostTensor& output : outputs)
    for (int64_t i = 0; i < output.elements() && is_float(output.dtype()); ++i)
      if (!(std::abs(element_as_double(output, i)) <= kHuge)) return false;
  return true;
}

Sample drawn_sample(const Graph& graph, uint64_t seed, const Deadline& deadline) {
  Sample sample;
  for (FloatInputs floats : {FloatInputs::normal, FloatInputs::unit}) {
    sample.inputs = random_inputs(graph, seed, floats, deadline);
    sample.exact = interpret(graph, sample.inputs,
                             {.precision = Precision::float64, .observe = {}, .deadline = deadline});
    if (is_moderate(sample.exact)) break;
  }
  return sample;
}

// ONNX nodes of products that follow one another.
struct ProductGroup {
  std::set<std::string> names;
  double error = 0;  // with these products of bfloat16 alone
};

class Bfloat16Budget {
 public:
  Bfloat16Budget(const Graph& graph, double allowed, const Deadline& deadline)
      : graph_(graph), most_(kShare * allowed), deadline_(deadline) {
    for (NodeId id : graph.topological_order())
      if (may_be_of_bfloat16(graph, graph.node(id))) products_.push_back(id);
  }

  Bfloat16Products run() {
    Bfloat16Products result;
    result.products = static_cast<int>(products_.size());
    try {
      deadline_.check();
      for (int i = 0; i < kSamples && !products_.empty(); ++i)
        samples_.push_back(drawn_sample(graph_, VerifyOptions().seed + static_cast<uint64_t>(i), deadline_));
      result.error = error_with({});
      if (result.error > most_) choose_groups(result);
    } catch (const BudgetSpent&) {
      result.budget_spent = true;
      result.kept = names_of(products_);
      result.error = 0;
    }
    for (NodeId id : products_) {
      const auto& origins = graph_.node(id).origins;
      result.taken += std::none_of(origins.begin(), origins.end(),
                                   [&](const auto& name) { return result.kept.count(name) != 0; });
    }
    return result;
  }

 private:
  std::set<std::string> names_of(const std::vector<NodeId>& nodes) const {
    std::set<std::string> names;
    for (NodeId id : nodes) names.insert(graph_.node(id).origins.begin(), graph_.node(id).origins.end());
    return names;
  }

  double error_with(const std::set<std::string>& kept) const {
    const Graph narrow = with_bfloat16_products(graph_, kept);
    double largest = 0;
    for (const Sample& sample : samples_) {
      const double error =
          relative_error(interpret(narrow, sample.inputs,
                                   {.precision = Precision::native, .observe = {}, .deadline = deadline_}),
                         sample.exact);
      largest = std::max(largest, error);
    }
    return largest;
  }

  std::vector<ProductGroup> groups() const {
    const size_t size = static_cast<size_t>(ceil_div(static_cast<int64_t>(products_.size()), kMostGroups));
    std::vector<ProductGroup> result;
    for (size_t first = 0; first < products_.size(); first += size) {
      const auto begin = products_.begin() + static_cast<std::ptrdiff_t>(first);
      const size_t count = std::min(size, products_.size() - first);
      result.push_back({names_of({begin, begin + static_cast<std::ptrdiff_t>(count)}), 0});
    }
    return result;
  }

  // The groups with the smallest errors, which add up as their squares do; then fewer, until it is true.
  void choose_groups(Bfloat16Products& result) {
    const std::set<std::string> all = names_of(products_);
    std::vector<ProductGroup> found = groups();
    for (ProductGroup& group : found) group.error = error_with(without(all, group.names));
    std::stable_sort(found.begin(), found.end(),
                     [](const ProductGroup& a, const ProductGroup& b) { return a.error < b.error; });
    size_t count = 0;
    for (double squares = 0; count < found.size(); ++count) {
      squares += found[count].error * found[count].error;
      if (squares > most_ * most_) break;
    }
    result.kept = all;
    result.error = 0;
    for (; count > 0; --count) {
      std::set<std::string> kept = all;
      for (size_t i = 0; i < count; ++i) kept = without(std::move(kept), found[i].names);
      const double error = error_with(kept);
      if (error > most_) continue;
      result.kept = std::move(kept);
      result.error = error;
      return;
    }
  }

  static std::set<std::string> without(std::set<std::string> names, const std::set<std::string>& other) {
    for (const std::string& name : other) names.erase(name);
    return names;
  }

  const Graph& graph_;
  const double most_;
  const Deadline deadline_;
  std::vector<NodeId> products_;
  std::vector<Sample> samples_;
};

}  // namespace

Bfloat16Products fit_bfloat16_products(const Graph& primitives, double allowed, const Deadline& deadline) {
  return Bfloat16Budget(primitives, allowed, deadline).run();
}

std::string to_string(const Bfloat16Products& products, double allowed) {
  std::string text = fmt::format(
      "products of bfloat16: {} of {} may be; an output's relative error is then {:.2g} by the "
      "interpreter, {:g} is allowed",
      products.taken, products.products, products.error, allowed);
  if (products.budget_spent) return text + "; float32 for all, since the time was spent before it was known";
  if (products.kept.empty()) return text;
  constexpr size_t kMostNamed = 16;
  std::vector<std::string> names(products.kept.begin(), products.kept.end());
  const size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(std::min(names.size(), kMostNamed));
  return text + fmt::format("; float32 for {}{}", fmt::join(names, ", "),
                            more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace korch
