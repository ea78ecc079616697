#include "korch/profile/cost_row.h"

#include <algorithm>
#include <cmath>

#include "korch/base/json.h"

namespace korch {
namespace {

using Json = nlohmann::ordered_json;

// The fields of CostConditions, listed once; the compiler counts them.
template <typename Conditions, typename Visit>
void visit_fields(Conditions& conditions, Visit&& visit) {
  auto& [protocol, device, spec, implementation, primitives, arguments, part, compiler, footprint_bytes,
         flops, bytes, bound_us, disturbed, measured_at_s, feature_set, features, network] = conditions;
  visit("protocol", protocol), visit("device", device), visit("spec", spec),
      visit("implementation", implementation), visit("primitives", primitives), visit("arguments", arguments),
      visit("part", part), visit("compiler", compiler), visit("footprint_bytes", footprint_bytes),
      visit("flops", flops), visit("bytes", bytes), visit("bound_us", bound_us),
      visit("disturbed", disturbed), visit("measured_at_s", measured_at_s), visit("feature_set", feature_set),
      visit("features", features), visit("network", network);
}

bool is_plausible(const std::string&) {
  return true;
}
bool is_plausible(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}
template <typename Number>
bool is_plausible(Number number) {
  return std::isfinite(static_cast<double>(number)) && number >= 0;
}

}  // namespace

std::array<const std::string*, 3> texts_of(const CostConditions& conditions) {
  return {&conditions.device, &conditions.spec, &conditions.compiler};
}

std::string to_text(const CostConditions& conditions) {
  Json json;
  visit_fields(conditions, [&](const char* name, const auto& field) { json[name] = field; });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<CostConditions> cost_conditions_from_text(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  json.emplace("feature_set", 0);  // of rows that are older than features
  json.emplace("features", Json::array());
  json.emplace("network", "");
  CostConditions conditions;
  bool is_whole = true;
  visit_fields(conditions, [&](const char* name, auto& field) {
    try {
      json.at(name).get_to(field);
      is_whole = is_whole && is_plausible(field);
    } catch (const Json::exception&) {
      is_whole = false;
    }
  });
  return is_whole ? std::optional(std::move(conditions)) : std::nullopt;
}

}  // namespace korch
