#include "korch/profile/peaks_text.h"

#include <cmath>

#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::json;

struct Field {
  const char* name;
  double Peaks::*rate;
};
constexpr Field kFields[] = {
    {"flops", &Peaks::flops_per_us},     {"l2", &Peaks::l2_bytes_per_us}, {"l3", &Peaks::l3_bytes_per_us},
    {"dram", &Peaks::dram_bytes_per_us}, {"launch", &Peaks::launch_us},
};

}  // namespace

std::string to_text(const Peaks& peaks) {
  Json json;
  for (const Field& field : kFields) json[field.name] = peaks.*field.rate;
  return json.dump();
}

std::optional<Peaks> peaks_from_text(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Peaks peaks;
  for (const Field& field : kFields) {
    const auto found = json.find(field.name);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    peaks.*field.rate = found->get<double>();
    if (!std::isfinite(peaks.*field.rate) || peaks.*field.rate <= 0) return std::nullopt;
  }
  return peaks;
}

}  // namespace korch
