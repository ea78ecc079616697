#include "korch/search/bank_costs.h"

#include "korch/codegen/implementation.h"

namespace korch {

std::vector<KernelRequest> BankCosts::requests(const std::vector<int>& columns) const {
  std::vector<KernelRequest> requests;
  for (int column : columns) requests.push_back(kernel_request(graph_, columns_, column));
  return requests;
}

std::vector<Result<Cost>> BankCosts::measure(const std::vector<int>& columns, Care care) {
  bank_.measure(requests(columns), care);
  std::vector<Result<Cost>> costs;
  for (int column : columns) {
    const Result<BuiltKernel>& built = *bank_.find(columns_.infos[column].key);
    costs.push_back(built ? Result<Cost>(*built.value().cost) : built.refusal());
  }
  return costs;
}

template <typename Value>
Value BankCosts::of_kernel(int column, Value otherwise,
                           const std::function<Value(const Kernel&)>& what) const {
  if (const Result<BuiltKernel>* built = bank_.find(columns_.infos[column].key))
    return built->ok() ? what(built->value().kernel) : otherwise;
  const KernelRequest request = kernel_request(graph_, columns_, column);
  if (request.candidate == nullptr) return otherwise;
  const Result<Kernel> kernel = generate(graph_, *request.candidate, *request.implementation, target_);
  return kernel ? what(kernel.value()) : otherwise;
}

double BankCosts::occupancy(int column) const {
  return of_kernel<double>(column, 1, [&](const Kernel& k) { return korch::occupancy(k, target_.threads); });
}

bool BankCosts::has_rounds(int column) const {
  return of_kernel<bool>(column, false, [](const Kernel& k) { return korch::has_rounds(k); });
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

}  // namespace korch
