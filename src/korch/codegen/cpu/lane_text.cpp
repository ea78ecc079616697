#include "korch/codegen/cpu/lane_text.h"

#include <fmt/format.h>

#include "korch/codegen/cpu/source_text.h"

namespace korch::tile {
namespace {

std::string shuffle(const std::string& to, const std::string& a, const std::string& b, int lanes,
                    const std::function<int(int)>& lane) {
  return fmt::format("  V {} = __builtin_shufflevector({}, {}, {});\n", to, a, b, lane_numbers(lanes, lane));
}

}  // namespace

std::string lane_list(int lanes, const std::function<std::string(int)>& lane) {
  std::string text;
  for (int l = 0; l < lanes; ++l) text += (l == 0 ? "" : ", ") + lane(l);
  return text;
}

// r[j] lane l = p[l * stride + j] for j < rows, l < columns: a block of `lanes` x `lanes`, transposed in
// registers. First 4 x 4 blocks inside the 128-bit parts (shuffles that stay inside them are the cheap ones),
// then the parts.
std::string transposed_load(int lanes) {
  std::string body;
  const int parts = lanes / 4;
  for (int g = 0; g < parts; ++g) {
    for (int pair : {0, 2}) {
      const std::string a = fmt::format("v{}", 4 * g + pair), b = fmt::format("v{}", 4 * g + pair + 1);
      for (int half : {0, 1})
        body += shuffle(fmt::format("u{}_{}_{}", g, pair, half), a, b, lanes,
                        [&](int l) { return l / 4 * 4 + 2 * half + l % 4 / 2 + (l % 2 == 0 ? 0 : lanes); });
    }
    for (int half : {0, 1})
      for (int quarter : {0, 1})
        body += shuffle(fmt::format("q{}_{}", g, 2 * half + quarter), fmt::format("u{}_0_{}", g, half),
                        fmt::format("u{}_2_{}", g, half), lanes,
                        [&](int l) { return l / 4 * 4 + 2 * quarter + l % 2 + (l % 4 < 2 ? 0 : lanes); });
  }
  auto part_shuffle = [&](const std::string& to, const std::string& a, const std::string& b, int odd) {
    // The even or odd 128-bit parts of a, then of b.
    return shuffle(to, a, b, lanes, [&](int l) {
      const int part = l / 4, from_b = part >= parts / 2 ? 1 : 0;
      return (2 * (part - from_b * parts / 2) + odd) * 4 + l % 4 + from_b * lanes;
    });
  };
  for (int k = 0; k < 4; ++k) {
    if (parts == 1) body += fmt::format("  r[{0}] = q0_{0};\n", k);
    for (int odd : {0, 1}) {
      if (parts == 2) {
        body += part_shuffle(fmt::format("o{}_{}", k, odd), fmt::format("q0_{}", k), fmt::format("q1_{}", k),
                             odd);
        body += fmt::format("  r[{}] = o{}_{};\n", 4 * odd + k, k, odd);
      }
      if (parts != 4) continue;
      for (int pair : {0, 2})
        body += part_shuffle(fmt::format("s{}_{}_{}", k, pair, odd), fmt::format("q{}_{}", pair, k),
                             fmt::format("q{}_{}", pair + 1, k), odd);
      for (int high : {0, 1}) {
        body += part_shuffle(fmt::format("o{}_{}_{}", k, odd, high), fmt::format("s{}_0_{}", k, odd),
                             fmt::format("s{}_2_{}", k, odd), high);
        body += fmt::format("  r[{}] = o{}_{}_{};\n", 4 * (odd + 2 * high) + k, k, odd, high);
      }
    }
  }
  std::string whole, masked;
  for (int l = 0; l < lanes; ++l) {
    whole += fmt::format("    v{0} = load<V>(p + {0} * stride);\n", l);
    masked += fmt::format("    v{0} = {0} < columns ? load_first<V>(p + {0} * stride, rows) : (V){{}};\n", l);
  }
  std::string names = "v0";
  for (int l = 1; l < lanes; ++l) names += fmt::format(", v{}", l);
  return fmt::format(
      R"(__attribute__((always_inline)) static inline void load_transposed({0}* r, const float* p, int64_t stride, int rows, int columns) {{
  typedef {0} V;
  V {2};
  if (rows == {1} && columns == {1}) {{
{3}  }} else {{
{4}  }}
{5}}}
)",
      type_name(DType::f32, lanes), lanes, names, whole, masked, body);
}

// One value out of all lanes, by halves.
std::string across(const std::string& name, const std::string& combine, int lanes) {
  const std::string v = type_name(DType::f32, lanes);
  std::string text = fmt::format("static inline float {}({} v) {{\n", name, v);
  for (int step = lanes / 2; step >= 1; step /= 2)
    text += fmt::format(
        "  v = {};\n",
        fmt::vformat(combine, fmt::make_format_args("v", fmt::format("__builtin_shufflevector(v, v, {})",
                                                                     lane_numbers(lanes, [&](int l) {
                                                                       return (l + step) % lanes;
                                                                     })))));
  return text + "  return v[0];\n}\n";
}

// Every second element by two whole loads; nothing beyond the last needed element is touched.
std::string every_second_load(int lanes) {
  return fmt::format(
      "static inline {0} load_every_second(const float* p) {{\n  const {0} a = load<{0}>(p), b = load<{0}>(p "
      "+ {1});\n"
      "  return __builtin_shufflevector(a, b, {2});\n}}\n",
      type_name(DType::f32, lanes), lanes - 1,
      lane_numbers(lanes, [&](int l) { return l < lanes / 2 ? 2 * l : lanes + 2 * (l - lanes / 2) + 1; }));
}

std::string any_outside(int lanes) {
  return fmt::format(
      "static inline bool any_outside({0} at, int32_t extent) {{\n"
      "  return __builtin_reduce_or(({0})(({1})at >= ({1})splat_{0}(extent))) != 0;\n}}\n",
      type_name(DType::i32, lanes), type_name(DType::u32, lanes));
}

std::string looked_up_load(int lanes) {
  const std::string f = type_name(DType::f32, lanes), i = type_name(DType::i32, lanes);
  const std::string call =
      lanes == 16 ? "__builtin_ia32_gathersiv16sf((f32x16){}, p, at, (unsigned short)((1u << n) - 1), 4)"
                  : fmt::format("__builtin_ia32_gatherd_ps{}(({}){{}}, p, at, ({})lanes_below_m{}(n), 4)",
                                lanes == 8 ? "256" : "", f, f, lanes);
  return fmt::format(
      "static inline {1} lane_numbers_{0}() {{ return ({1}){{{2}}}; }}\n"
      "static inline {3} load_looked_up(const float* p, {1} at, int n) {{\n  return ({3}){4};\n}}\n",
      lanes, i, lane_numbers(lanes, [](int l) { return l; }), f, call);
}

}  // namespace korch::tile
