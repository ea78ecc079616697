#include "korch/profile/packed_constants.h"

#include <algorithm>

#include "korch/codegen/packing.h"

namespace korch {

std::shared_ptr<const std::string> PackedConstants::get(ValueId constant, const Packing& packing) {
  const auto known = std::ranges::find_if(
      kept_, [&](const Kept& kept) { return kept.constant == constant && kept.packing == packing; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return known->bytes;
  }
  kept_.push_front(
      {constant, packing, std::make_shared<const std::string>(pack(*graph_.constant(constant), packing))});
  bytes_ += static_cast<int64_t>(kept_.front().bytes->size());
  const std::shared_ptr<const std::string> result = kept_.front().bytes;
  while (bytes_ > most_bytes_) {
    bytes_ -= static_cast<int64_t>(kept_.back().bytes->size());
    kept_.pop_back();
  }
  return result;
}

void PackedConstants::release() {
  kept_.clear();
  bytes_ = 0;
}

}  // namespace korch
