#include "korch/profile/strikes.h"

#include <fmt/format.h>

#include "korch/backend/backend.h"

namespace korch {

Strikes::Strikes(Database* database, const Device& device)
    : database_(database), code_(device.code), compiler_(backend_of(device).compiler()) {}

Hash Strikes::database_key(const std::string& kernel_key) const {
  return hash_text(fmt::format("struck|{}|{}|{}|{}", kernel_key, code_, compiler_, KORCH_VERSION));
}

void Strikes::strike(const StruckKernel& kernel) {
  const std::lock_guard lock(mutex_);
  met_.insert_or_assign(kernel.key, kernel);
  if (database_ != nullptr)
    database_->put_text(database_key(kernel.key), kernel.kernel + "\n" + kernel.reason);
}

std::optional<StruckKernel> Strikes::find(const std::string& kernel_key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = met_.find(kernel_key); found != met_.end()) return found->second;
  if (database_ == nullptr) return std::nullopt;
  const std::optional<std::string> text = database_->get_text(database_key(kernel_key));
  if (!text) return std::nullopt;
  const size_t end = text->find('\n');
  if (end == std::string::npos) return std::nullopt;
  return met_.emplace(kernel_key, StruckKernel{kernel_key, text->substr(0, end), text->substr(end + 1)})
      .first->second;
}

std::vector<StruckKernel> Strikes::met() const {
  const std::lock_guard lock(mutex_);
  std::vector<StruckKernel> kernels;
  for (const auto& [key, kernel] : met_) kernels.push_back(kernel);
  return kernels;
}

}  // namespace korch
