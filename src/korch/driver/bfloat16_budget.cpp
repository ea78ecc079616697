#include "korch/driver/bfloat16_budget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/inspect/output_error.h"
#include "korch/inspect/verify.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/work.h"
#include "korch/rewrite/bfloat16_products.h"
#include "korch/rewrite/bfloat16_storage.h"

namespace korch {
namespace {

constexpr int kSamples = 3;
// Of the budget, by the interpreter: kernels add in another order, and other inputs than those drawn here are
// as far off by a little more.
constexpr double kShare = 0.8;
// Of nodes whose error is found together. Results matter less, and each group is a run of the interpreter.
constexpr int64_t kProductGroups = 16, kResultGroups = 8;

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

using Names = std::set<std::string>;  // of ONNX nodes

// Products, or results, of ONNX nodes that follow one another.
struct RoundedGroup {
  Names names;
  double gain = 0;    // see gain_of
  double square = 0;  // what these alone add to the error's square
};

class Bfloat16Budget {
 public:
  Bfloat16Budget(const Graph& graph, bool multiplies, double allowed, const Deadline& deadline)
      : graph_(graph), most_(kShare * allowed), deadline_(deadline) {
    for (NodeId id : graph.topological_order()) {
      const Node& node = graph.node(id);
      if (multiplies && may_be_of_bfloat16(graph, node)) products_.push_back(id);
      if (std::any_of(node.outputs.begin(), node.outputs.end(),
                      [&](ValueId output) { return may_be_stored_as_bfloat16(graph, output); }))
        results_.push_back(id);
    }
  }

  Bfloat16Choice run() {
    Bfloat16Choice choice;
    try {
      choose(choice);
    } catch (const BudgetSpent&) {
      choice.budget_spent = true;
      choice.float_products = names_of(products_);
      choice.float_results = names_of(results_);
      choice.error = 0;
    }
    choice.products = static_cast<int>(products_.size());
    choice.taken = count_of(products_, choice.float_products);
    choice.results = static_cast<int>(results_.size());
    choice.stored = count_of(results_, choice.float_results);
    return choice;
  }

 private:
  using ErrorOf = std::function<double(const Names& kept, int samples)>;

  // Products first, since they save more; then results, as far as the products' error leaves room.
  void choose(Bfloat16Choice& choice) {
    deadline_.check();
    if (products_.empty() && results_.empty()) return;
    for (int i = 0; i < kSamples; ++i)
      samples_.push_back(drawn_sample(graph_, VerifyOptions().seed + static_cast<uint64_t>(i), deadline_));
    choice.error = error_with({}, {}, kSamples);
    if (choice.error <= most_) return;
    const Names no_results = names_of(results_);
    choice.float_products = kept_of(
        products_, true,
        [&](const Names& kept, int samples) { return error_with(kept, no_results, samples); }, choice.error);
    const Names& products = choice.float_products;
    choice.float_results = kept_of(
        results_, false, [&](const Names& kept, int samples) { return error_with(products, kept, samples); },
        choice.error);
  }

  Names names_of(const std::vector<NodeId>& nodes) const {
    Names names;
    for (NodeId id : nodes) names.insert(graph_.node(id).origins.begin(), graph_.node(id).origins.end());
    return names;
  }

  int count_of(const std::vector<NodeId>& nodes, const Names& kept) const {
    return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
      const auto& origins = graph_.node(id).origins;
      return std::none_of(origins.begin(), origins.end(),
                          [&](const auto& name) { return kept.count(name) != 0; });
    }));
  }

  double error_with(const Names& float_products, const Names& float_results, int samples) const {
    Graph narrow = with_bfloat16_storage(graph_, float_results);
    if (!products_.empty()) narrow = with_bfloat16_products(narrow, float_products);
    double largest = 0;
    for (int i = 0; i < samples && largest <= most_; ++i) {  // what exceeds it is not taken, however far
      const Sample& sample = samples_[static_cast<size_t>(i)];
      const double error =
          relative_error(interpret(narrow, sample.inputs,
                                   {.precision = Precision::native, .observe = {}, .deadline = deadline_}),
                         sample.exact);
      largest = std::max(largest, error);
    }
    return largest;
  }

  // What a product costs, or storing results, in products of numbers.
  double gain_of(NodeId id, bool is_product) const {
    constexpr double kProductsPerByte = 5;  // that a core makes while a byte arrives from memory, about
    const Node& node = graph_.node(id);
    std::vector<TensorType> types = output_types(node), inputs = input_types(graph_, node);
    const double work = is_product ? evaluation_work(node.op, node.attrs, inputs, types) : 0;
    if (is_product) types.insert(types.end(), inputs.begin(), inputs.end());
    double bytes = 0;
    for (const TensorType& type : types) bytes += static_cast<double>(type.bytes());
    return work + kProductsPerByte * bytes;
  }

  std::vector<TensorType> output_types(const Node& node) const {
    std::vector<TensorType> types;
    for (ValueId output : node.outputs) types.push_back(graph_.value(output).type);
    return types;
  }

  std::vector<RoundedGroup> groups(const std::vector<NodeId>& nodes, bool are_products) const {
    const int64_t most = are_products ? kProductGroups : kResultGroups;
    const size_t size = static_cast<size_t>(ceil_div(static_cast<int64_t>(nodes.size()), most));
    std::vector<RoundedGroup> result;
    for (size_t first = 0; first < nodes.size(); first += size) {
      const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(size, nodes.size() - first));
      RoundedGroup group{names_of({begin, end})};
      for (auto node = begin; node != end; ++node) group.gain += gain_of(*node, are_products);
      result.push_back(std::move(group));
    }
    return result;
  }

  // Those of the nodes that are not rounded. All may be, or the groups that cost the least error for their
  // gain, which add up as squares do; then fewer, until it is true. `error` is then that of what is rounded.
  Names kept_of(const std::vector<NodeId>& nodes, bool are_products, const ErrorOf& error_of, double& error) {
    const Names all = names_of(nodes);
    if (nodes.empty()) return all;
    if (error = error_of({}, kSamples); error <= most_) return {};
    const double before = error_of(all, kSamples);
    std::vector<RoundedGroup> found = groups(nodes, are_products);
    for (RoundedGroup& group : found) {
      const double alone = error_of(without(all, group.names), 1);  // a sample tells which are worse
      group.square = std::max(0.0, alone * alone - before * before);
    }
    const std::vector<const RoundedGroup*> taken = cheapest(found, most_ * most_ - before * before);
    Names kept = all;
    error = before;
    size_t fits = 0, exceeds = taken.size() + 1;  // as many groups; all of them first, then halving
    for (size_t count = taken.size(); count > fits; count = (fits + exceeds) / 2) {
      Names others = all;
      for (size_t i = 0; i < count; ++i) others = without(std::move(others), taken[i]->names);
      if (const double found_error = error_of(others, kSamples); found_error <= most_) {
        fits = count;
        error = found_error;
        kept = std::move(others);
      } else {
        exceeds = count;
      }
    }
    return kept;
  }

  // The best first, as many as have room.
  static std::vector<const RoundedGroup*> cheapest(std::vector<RoundedGroup>& groups, double room) {
    std::stable_sort(groups.begin(), groups.end(), [](const RoundedGroup& a, const RoundedGroup& b) {
      return a.square * b.gain < b.square * a.gain;
    });
    std::vector<const RoundedGroup*> taken;
    for (const RoundedGroup& group : groups) {
      if (group.square > room) continue;
      room -= group.square;
      taken.push_back(&group);
    }
    return taken;
  }

  static Names without(Names names, const Names& other) {
    for (const std::string& name : other) names.erase(name);
    return names;
  }

  const Graph& graph_;
  const double most_;
  const Deadline deadline_;
  std::vector<NodeId> products_, results_;  // results: what makes them
  std::vector<Sample> samples_;
};

std::string named(const Names& all) {
  constexpr size_t kMostNamed = 16;
  std::vector<std::string> names(all.begin(), all.end());
  const size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(std::min(names.size(), kMostNamed));
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Bfloat16Choice fit_bfloat16(const Graph& primitives, bool multiplies, double allowed,
                            const Deadline& deadline) {
  return Bfloat16Budget(primitives, multiplies, allowed, deadline).run();
}

std::string to_string(const Bfloat16Choice& choice, double allowed) {
  std::string text = fmt::format(
      "products of bfloat16: {} of {} may be, results stored as bfloat16: {} of {}; an output's relative "
      "error is then {:.2g} by the interpreter, {:g} is allowed",
      choice.taken, choice.products, choice.stored, choice.results, choice.error, allowed);
  if (choice.budget_spent) return text + "; float32 for all, since the time was spent before it was known";
  if (!choice.float_products.empty()) text += "; float32 for products of " + named(choice.float_products);
  if (!choice.float_results.empty()) text += "; float32 for results of " + named(choice.float_results);
  return text;
}

}  // namespace korch
