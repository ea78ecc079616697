// Storage types of the DTypes and conversion between them, for code that works on elements.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "korch/tensor/dtype.h"

namespace korch {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t bit;
};

template <typename T>
struct ElementTag {
  using type = T;
};

// Calls f(ElementTag<S>{}) where S is how `dtype` is stored; of storage types the bytes.
template <typename F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(ElementTag<float>{});
    case DType::f64:
      return f(ElementTag<double>{});
    case DType::f16:
      return f(ElementTag<Half>{});
    case DType::bf16:
      return f(ElementTag<BFloat16>{});
    case DType::i16:
      return f(ElementTag<int16_t>{});
    case DType::i32:
      return f(ElementTag<int32_t>{});
    case DType::i64:
      return f(ElementTag<int64_t>{});
    case DType::u16:
      return f(ElementTag<uint16_t>{});
    case DType::u32:
      return f(ElementTag<uint32_t>{});
    case DType::u64:
      return f(ElementTag<uint64_t>{});
    case DType::bool_:
      return f(ElementTag<Bool>{});
    case DType::i8:
    case DType::i4:
    case DType::i2:
      return f(ElementTag<int8_t>{});
    case DType::u8:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
    case DType::f4e2m1:
    case DType::u4:
    case DType::u2:
      break;
  }
  return f(ElementTag<uint8_t>{});
}

// Toward zero; what a 64-bit integer cannot hold becomes its smallest value, as x86 does; narrower types
// wrap.
template <typename To>
To truncate_to_integer(double value) {
  if constexpr (std::is_same_v<To, uint64_t>) {
    if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value - 0x1p63) + (uint64_t{1} << 63);
  }
  const bool fits = value >= -0x1p63 && value < 0x1p63;
  return static_cast<To>(fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min());
}

// Rounds to nearest even among floats, truncates floats to integers, wraps integers; nonzero is true.
template <typename To, typename From>
To convert_element(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert_element<To>(half_to_float(value.bits));
  } else if constexpr (std::is_same_v<From, BFloat16>) {
    return convert_element<To>(bfloat16_to_float(value.bits));
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert_element<To>(static_cast<int64_t>(value.bit != 0));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{float_to_half(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return BFloat16{float_to_bfloat16(static_cast<float>(value))};
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(value != From{})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace korch
