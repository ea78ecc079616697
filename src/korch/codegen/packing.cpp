#include "korch/codegen/packing.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "korch/base/ceil_div.h"
#include "korch/base/error.h"
#include "korch/ir/winograd.h"
#include "korch/kernel/product.h"

namespace korch {

namespace {

using Params = std::vector<int64_t>;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string pack_row_major(const HostTensor& constant, const Params&) {
  return std::string(static_cast<const char*>(constant.raw()), static_cast<size_t>(constant.bytes()));
}

// A K x N matrix inside a constant, by element strides; K may be two nested runs (taps, channels).
template <typename T>
struct MatrixView {
  const T* data;
  int64_t outer_k, outer_stride, inner_k, inner_stride, columns, column_stride;
};

// Columns [first, first + lanes) as [K][lanes]; those beyond the matrix stay zero.
template <typename T>
void pack_block(const MatrixView<T>& m, int64_t first, int64_t lanes, T*& out) {
  const int64_t valid = std::min(lanes, m.columns - first);
  for (int64_t o = 0; o < m.outer_k; ++o)
    for (int64_t i = 0; i < m.inner_k; ++i, out += lanes)
      for (int64_t l = 0; l < valid; ++l)
        out[l] = m.data[o * m.outer_stride + i * m.inner_stride + (first + l) * m.column_stride];
}

// Lanes of the block that starts at column `first`.
int64_t lanes_at(int64_t first, int64_t columns, int64_t block, int64_t tail) {
  if (columns - first >= block) return block;
  KORCH_ASSERT(columns - first <= tail, "column packing");
  return tail;
}

// Taps keep their groups of rows apart, each of a multiple of `multiple` rows, the last of them 0.
template <typename T>
void pack_groups(const MatrixView<T>& m, int64_t first, int64_t lanes, int64_t multiple,
                 std::vector<T>& out) {
  constexpr int64_t kTogether = 4 / sizeof(T);
  const int64_t valid = std::min(lanes, m.columns - first);
  const int64_t rows = ceil_div(m.inner_k, multiple) * multiple;
  for (int64_t o = 0; o < m.outer_k; ++o)
    for (int64_t i = 0; i < rows; i += kTogether)
      for (int64_t l = 0; l < lanes; ++l)
        for (int64_t at = i; at < i + kTogether; ++at)
          out.push_back(l < valid && at < m.inner_k
                            ? m.data[o * m.outer_stride + at * m.inner_stride + (first + l) * m.column_stride]
                            : 0);
}

template <typename T>
void pack_matrix(const MatrixView<T>& m, int64_t block, int64_t tail, T*& out) {
  for (int64_t first = 0; first < m.columns; first += block)
    pack_block(m, first, lanes_at(first, m.columns, block, tail), out);
}

// The matrices of a `columns` packing, in order.
template <typename T>
std::vector<MatrixView<T>> matrices(const Shape& shape, const T* data, int64_t source, int64_t group) {
  std::vector<MatrixView<T>> views;
  if (source == 0) {
    int64_t taps = 1;
    for (size_t i = 2; i < shape.size(); ++i) taps *= shape[i];
    const int64_t columns = shape[0] / group;
    for (int64_t g = 0; g < group; ++g)
      views.push_back(
          {data + g * columns * shape[1] * taps, taps, 1, shape[1], taps, columns, shape[1] * taps});
    return views;
  }
  if (element_count(shape) == 0) return views;
  const int64_t rows = shape[shape.size() - 2], cols = shape[shape.size() - 1];
  const int64_t batches = element_count(shape) / (rows * cols);
  for (int64_t b = 0; b < batches; ++b) {
    const T* matrix = data + b * rows * cols;
    views.push_back(source == 1 ? MatrixView<T>{matrix, 1, 0, rows, cols, cols, 1}
                                : MatrixView<T>{matrix, 1, 0, cols, 1, rows, cols});
  }
  return views;
}

int64_t padded_columns(int64_t columns, int64_t block, int64_t tail) {
  return columns / block * block + (columns % block ? tail : 0);
}

template <typename T>
std::string columns_of(const HostTensor& constant, const Params& p) {
  const auto views = matrices(constant.shape(), constant.data<T>(), p[0], p[1]);
  int64_t elements = 0;
  for (const MatrixView<T>& m : views)
    elements += m.outer_k * m.inner_k * padded_columns(m.columns, p[2], p[3]);
  std::vector<T> values(static_cast<size_t>(elements));
  T* out = values.data();
  for (const MatrixView<T>& m : views) pack_matrix(m, p[2], p[3], out);
  KORCH_ASSERT(out == values.data() + values.size(), "columns packing size");
  return bytes_of(values);
}

template <typename T>
std::string column_groups_of(const HostTensor& constant, const Params& p) {
  std::vector<T> values;
  for (const auto& m : matrices(constant.shape(), constant.data<T>(), p[0], p[1]))
    for (int64_t first = 0; first < m.columns; first += p[2])
      pack_groups(m, first, lanes_at(first, m.columns, p[2], p[3]), p.size() > 4 ? p[4] : 1, values);
  return bytes_of(values);
}

std::string pack_column_groups(const HostTensor& constant, const Params& p) {
  KORCH_ASSERT(p.size() == 4 || p.size() == 5, "column_groups packing");
  if (constant.dtype() == DType::i8) return column_groups_of<int8_t>(constant, p);
  KORCH_ASSERT(constant.dtype() == DType::i16 || constant.dtype() == DType::bf16, "column_groups packing");
  const HostTensor bits = constant.dtype() == DType::bf16 ? constant.retyped(DType::i16) : constant;
  return column_groups_of<int16_t>(bits, p);
}

std::string pack_columns(const HostTensor& constant, const Params& p) {
  KORCH_ASSERT(p.size() == 4, "columns packing");
  if (size_bytes(constant.dtype()) == 1) return columns_of<uint8_t>(constant, p);
  if (is_small_float(constant.dtype())) return columns_of<uint16_t>(constant, p);
  KORCH_ASSERT(tile::has_register_tiles(constant.dtype()), "columns packing");
  return constant.dtype() == DType::f32 ? columns_of<float>(constant, p) : columns_of<int32_t>(constant, p);
}

template <typename T>
std::string nibbles_of(const HostTensor& constant, const Params& p) {
  constexpr int64_t kTogether = 8;  // in an int32
  std::string bytes;
  for (const auto& m : matrices(constant.shape(), constant.data<T>(), p[0], p[1]))
    for (int64_t first = 0; first < m.columns; first += p[2]) {
      const int64_t lanes = lanes_at(first, m.columns, p[2], p[3]);
      for (int64_t k = 0; k < m.inner_k; k += kTogether)
        for (int64_t l = 0; l < lanes; ++l) {
          const auto at = [&](int64_t row) {
            if (row >= m.inner_k || first + l >= m.columns) return 0;
            return m.data[row * m.inner_stride + (first + l) * m.column_stride] & 15;
          };
          for (int64_t row = k; row < k + kTogether; row += 2)
            bytes.push_back(static_cast<char>(at(row) | at(row + 1) << 4));
        }
    }
  return bytes;
}

std::string pack_nibbles(const HostTensor& constant, const Params& p) {
  KORCH_ASSERT(p.size() == 4 && p[0] != 0, "nibbles packing");
  if (constant.dtype() == DType::i8) return nibbles_of<int8_t>(constant, p);
  KORCH_ASSERT(constant.dtype() == DType::u8, "nibbles packing");
  return nibbles_of<uint8_t>(constant, p);
}

template <typename T>
std::string depthwise_of(const HostTensor& constant, const Params& p) {
  const int64_t channels = constant.shape()[0], taps = constant.elements() / channels;
  std::vector<T> values(static_cast<size_t>(taps * p[0]));
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t) values[t * p[0] + c] = constant.data<T>()[c * taps + t];
  return bytes_of(values);
}

std::string pack_depthwise(const HostTensor& constant, const Params& p) {
  KORCH_ASSERT(p.size() == 1, "depthwise packing");
  const DType type = constant.dtype();
  if (type == DType::i32) return depthwise_of<int32_t>(constant, p);
  if (type == DType::i16) return depthwise_of<int16_t>(constant, p);
  KORCH_ASSERT(type == DType::f32, "depthwise packing");
  return depthwise_of<float>(constant, p);
}

// Of each of a tile's elements, result and channel.
std::vector<float> transformed_weights(const HostTensor& constant, const WinogradAttrs& attrs) {
  const int64_t elements = tile_elements(attrs), columns = constant.shape()[0] / channel_parts(attrs),
                channels = constant.shape()[1] / channel_parts(attrs), taps = attrs.taps * attrs.taps;
  const float* const weights = constant.data<float>();
  std::vector<float> transformed(static_cast<size_t>(elements * columns * channels));
  if (is_strassen(attrs)) {
    for (int64_t t = 0; t < elements; ++t)
      for (int64_t nc = 0; nc < columns * channels; ++nc)
        transformed[t * columns * channels + nc] = static_cast<float>(
            strassen_weight(weights, constant.shape(), t, nc / channels, nc % channels, Doubles()));
    return transformed;
  }
  const auto rows = winograd_matrices(attrs.tile, attrs.taps, Doubles()).weights;
  for (int64_t nc = 0; nc < columns * channels; ++nc) {
    const float* filter = weights + nc * taps;
    const std::vector<double> u = on_both_sides(rows, std::vector<double>(filter, filter + taps), Doubles());
    for (int64_t t = 0; t < elements; ++t)
      transformed[t * columns * channels + nc] = static_cast<float>(u[t]);
  }
  return transformed;
}

std::string pack_winograd(const HostTensor& constant, const Params& p) {
  KORCH_ASSERT(p.size() == 3 && constant.dtype() == DType::f32, "winograd packing");
  WinogradAttrs attrs;
  attrs.tile = p[0];
  attrs.taps = constant.shape()[2];
  const int64_t elements = tile_elements(attrs), columns = constant.shape()[0] / channel_parts(attrs),
                channels = constant.shape()[1] / channel_parts(attrs);
  // U[t][n][c], then each of the matrices as columns.
  const std::vector<float> transformed = transformed_weights(constant, attrs);
  std::vector<float> values(static_cast<size_t>(elements * channels * padded_columns(columns, p[1], p[2])));
  float* out = values.data();
  for (int64_t first = 0; first < columns; first += p[1])
    for (int64_t t = 0; t < elements; ++t)
      pack_block<float>({transformed.data() + t * columns * channels, 1, 0, channels, 1, columns, channels},
                        first, lanes_at(first, columns, p[1], p[2]), out);
  return bytes_of(values);
}

struct PackingKind {
  const char* kind;
  std::string (*pack)(const HostTensor&, const Params&);
};

constexpr PackingKind kKinds[] = {
    {"row_major", pack_row_major},         {"columns", pack_columns},
    {"depthwise", pack_depthwise},         {"winograd", pack_winograd},
    {"column_groups", pack_column_groups}, {"nibbles", pack_nibbles},
};

}  // namespace

std::string pack(const HostTensor& constant, const Packing& packing) {
  for (const PackingKind& row : kKinds)
    if (packing.kind == row.kind) return row.pack(constant, packing.params);
  KORCH_ASSERT(false, "unknown packing " + packing.kind);
  return {};
}

}  // namespace korch
