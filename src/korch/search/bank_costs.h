// Costs of real kernels, by way of the kernel bank.
#pragma once

#include "korch/profile/kernel_bank.h"
#include "korch/search/cost_source.h"
#include "korch/search/plan_builder.h"

namespace korch {

class BankCosts : public CostSource {
 public:
  // All of them outlive it.
  BankCosts(const Graph& graph, const Columns& columns, KernelBank& bank, const Device& target)
      : graph_(graph), columns_(columns), bank_(bank), target_(target) {}

  std::vector<Result<Cost>> measure(const std::vector<int>& columns, Care care) override;
  std::optional<Cost> carried(int column) override;
  std::optional<double> modelled_us(int column) override;
  std::vector<std::optional<Refusal>> build(const std::vector<int>& columns) override;
  double occupancy(int column) const override;
  bool has_rounds(int column) const override;
  void release_memory() override { bank_.release_memory(); }

 private:
  std::vector<KernelRequest> requests(const std::vector<int>& columns) const;

  const Graph& graph_;
  const Columns& columns_;
  KernelBank& bank_;
  const Device& target_;
};

}  // namespace korch
