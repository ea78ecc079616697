#include "korch/search/bank_costs.h"

namespace korch {

std::vector<KernelRequest> BankCosts::requests(const std::vector<int>& columns) const {
  std::vector<KernelRequest> requests;
  for (int column : columns) requests.push_back(kernel_request(graph_, columns_, column));
  return requests;
}

std::vector<Result<Cost>> BankCosts::measure(const std::vector<int>& columns, Care care) {
  std::vector<Result<Cost>> costs;
  if (by_model_) {
    const std::vector<KernelRequest> asked = requests(columns);
    bank_.propose_all(asked);
    for (const KernelRequest& request : asked) {
      const std::optional<Cost> known = bank_.carried_cost(request);
      costs.push_back(known ? Result<Cost>(*known) : bank_.modelled_cost(request));
      modelled_ += known ? 0 : 1;
    }
    return costs;
  }
  bank_.measure(requests(columns), care);
  for (int column : columns) {
    const Result<BuiltKernel>& built = *bank_.find(columns_.infos[column].key);
    costs.push_back(built ? Result<Cost>(*built.value().cost) : built.refusal());
  }
  return costs;
}

std::optional<Cost> BankCosts::carried(int column) {
  return bank_.carried_cost(kernel_request(graph_, columns_, column));
}

// Carried costs were measured, of whatever the compiler made.
std::optional<Cost> BankCosts::cost_when_built(int column) {
  const KernelRequest request = kernel_request(graph_, columns_, column);
  if (!by_model_ || bank_.carried_cost(request)) return std::nullopt;
  const Result<Cost> cost = bank_.modelled_cost(request);
  return cost ? std::optional(cost.value()) : std::nullopt;
}

double BankCosts::occupancy(int column) const {
  const Result<Spec>& spec = bank_.spec(kernel_request(graph_, columns_, column));
  return spec.ok() ? korch::occupancy(spec.value()->kernel, target_.workers) : 1;
}

bool BankCosts::has_rounds(int column) const {
  const Result<Spec>& spec = bank_.spec(kernel_request(graph_, columns_, column));
  return spec.ok() && korch::has_rounds(spec.value()->kernel);
}

std::vector<std::optional<Refusal>> BankCosts::build(const std::vector<int>& columns) {
  bank_.build(requests(columns));
  std::vector<std::optional<Refusal>> refusals;
  for (int column : columns) {
    const Result<BuiltKernel>& built = *bank_.find(columns_.infos[column].key);
    refusals.push_back(built ? std::nullopt : std::optional(built.refusal()));
  }
  return refusals;
}

std::vector<std::optional<Refusal>> BankCosts::refusals_of(const std::vector<int>& columns) {
  const std::vector<KernelRequest> asked = requests(columns);
  bank_.propose_all(asked);
  std::vector<std::optional<Refusal>> refusals;
  for (const KernelRequest& request : asked) {
    const Result<Spec>& spec = bank_.spec(request);
    refusals.push_back(spec ? std::nullopt : std::optional(spec.refusal()));
  }
  return refusals;
}

}  // namespace korch
