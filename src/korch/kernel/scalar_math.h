// Arithmetic on single elements, in which the interpreter runs a tile graph: in the types that the graph
// states, in float64, or in another one (field_math.h).
#pragma once

#include <cmath>
#include <vector>

#include "korch/ir/scalar_functions.h"
#include "korch/kernel/interpret.h"
#include "korch/tensor/element.h"

namespace korch::tile {

// Floats are held in `real`, everything else in `integer`.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
};

inline int64_t narrowed(int64_t value, DType type) {
  return with_element_type(type, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return convert_element<int64_t>(convert_element<S>(value));
  });
}

class ScalarMath {
 public:
  virtual ~ScalarMath() = default;

  virtual Scalar constant(const Expr& expr) const = 0;
  virtual Scalar call(ScalarFn fn, DType result, DType operands, const Scalar* args, int count) const = 0;
  // An element of an argument, of a buffer of this type; and what such a buffer holds of a value.
  virtual Scalar load(const HostTensor& tensor, int64_t at, DType type) const = 0;
  virtual Scalar stored(Scalar value, DType type) const = 0;
  virtual HostTensor to_tensor(const std::vector<Scalar>& values, DType type) const = 0;
  // What nests that look for extremes ask.
  virtual bool is_less(const Scalar& a, const Scalar& b, DType type) const = 0;
  virtual bool is_equal(const Scalar& a, const Scalar& b, DType type) const = 0;
  virtual bool is_nan(const Scalar& value, DType type) const = 0;
  virtual double number(const Scalar& value) const = 0;  // of a float
};

class NativeMath final : public ScalarMath {
 public:
  explicit NativeMath(Arithmetic arithmetic) : exact_(arithmetic == Arithmetic::float64) {}

  Scalar constant(const Expr& e) const override {
    return {rounded(e.number, is_float(e.type) ? e.type : DType::f64), e.integer};
  }

  Scalar stored(Scalar value, DType type) const override {
    if (is_float(type)) value.real = rounded(value.real, type);
    return value;
  }

  bool is_less(const Scalar& a, const Scalar& b, DType type) const override {
    if (is_float(type)) return a.real < b.real;
    if (type == DType::u64) return static_cast<uint64_t>(a.integer) < static_cast<uint64_t>(b.integer);
    return a.integer < b.integer;
  }
  bool is_equal(const Scalar& a, const Scalar& b, DType type) const override {
    return is_float(type) ? a.real == b.real : a.integer == b.integer;
  }
  bool is_nan(const Scalar& value, DType type) const override {
    return is_float(type) && std::isnan(value.real);
  }
  double number(const Scalar& value) const override { return value.real; }

  Scalar call(ScalarFn fn, DType result, DType operands, const Scalar* args, int count) const override {
    if (fn == ScalarFn::cast) return cast(args[0], operands, result);
    if (!is_float(operands))
      return operands == DType::u64 ? as<uint64_t>(fn, result, args, count)
                                    : as<int64_t>(fn, result, args, count);
    return exact_ || operands == DType::f64 ? as<double>(fn, result, args, count)
                                            : as<float>(fn, result, args, count);
  }

  Scalar load(const HostTensor& tensor, int64_t at, DType) const override {
    Scalar value;
    if (is_float(tensor.dtype()))
      value.real = element_as_double(tensor, at);
    else
      value.integer = element_as_int(tensor, at);
    return value;
  }

  HostTensor to_tensor(const std::vector<Scalar>& values, DType type) const override {
    const DType stored = exact_ && is_float(type) ? DType::f64 : type;
    HostTensor tensor(TensorType{stored, {static_cast<int64_t>(values.size())}});
    with_element_type(stored, [&](auto tag) {
      using S = typename decltype(tag)::type;
      S* data = tensor.mutable_data<S>();
      for (size_t i = 0; i < values.size(); ++i)
        data[i] = is_float(type) ? convert_element<S>(values[i].real) : convert_element<S>(values[i].integer);
    });
    return tensor;
  }

 private:
  double rounded(double value, DType type) const {
    if (exact_ || type == DType::f64) return value;
    return with_element_type(type, [&](auto tag) {
      return convert_element<double>(convert_element<typename decltype(tag)::type>(value));
    });
  }

  // select's first operand is a condition.
  template <typename C>
  Scalar as(ScalarFn fn, DType result, const Scalar* args, int count) const {
    C in[3] = {}, out{};
    for (int i = 0; i < count; ++i) {
      const bool real = std::is_floating_point_v<C> && !(fn == ScalarFn::select && i == 0);
      in[i] = real ? static_cast<C>(args[i].real) : static_cast<C>(args[i].integer);
    }
    apply_block(fn, 1, &in[0], &in[1], &in[2], &out);
    Scalar value;
    if (is_float(result))
      value.real = static_cast<double>(out);
    else
      value.integer = narrowed(static_cast<int64_t>(out), result);
    return value;
  }

  Scalar cast(const Scalar& from, DType type, DType to) const {
    Scalar value;
    if (is_float(type) && is_float(to))
      value.real = rounded(from.real, to);
    else if (is_float(to))
      value.real = rounded(type == DType::u64 ? static_cast<double>(static_cast<uint64_t>(from.integer))
                                              : static_cast<double>(from.integer),
                           to);
    else if (!is_float(type))
      value.integer = narrowed(from.integer, to);
    else
      value.integer = with_element_type(to, [&](auto tag) {
        return convert_element<int64_t>(convert_element<typename decltype(tag)::type>(from.real));
      });
    return value;
  }

  bool exact_;
};

}  // namespace korch::tile
