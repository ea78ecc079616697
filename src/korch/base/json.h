// nlohmann-json for untrusted texts: an integer is read from an integer that fits, never from 1e300 or 0.5.
// Everything in korch that uses the library includes this header instead of the library's (tests/layering),
// since all must agree.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

template <std::integral T>
requires(!std::same_as<T, bool>) struct nlohmann::adl_serializer<T> {
  static void to_json(auto& json, T number) { nlohmann::to_json(json, number); }
  // Throws type_error for another kind of value, out_of_range for a number that T cannot hold.
  static void from_json(const auto& json, T& number) {
    const auto take = [&](auto value) {
      if (!std::in_range<T>(value)) throw nlohmann::json::out_of_range::create(406, "number overflow", &json);
      number = static_cast<T>(value);
    };
    if (json.is_number_unsigned())
      take(json.template get_ref<const std::uint64_t&>());
    else
      take(json.template get_ref<const std::int64_t&>());
  }
};
