// What open models are made of: images, and rows as images of one axis.
#include "open_maker.h"

namespace korch::fuzz {
namespace {

using Names = OpenMaker::Names;
using Ints = std::vector<int64_t>;

size_t spatial(const OpenValue& x) {
  return x.rank() - 2;
}

Ints each(OpenMaker& m, size_t count, const Ints& choices) {
  Ints result(count);
  for (int64_t& value : result) value = m.random.of(choices);
  return result;
}
Shape weights_of(int64_t features, int64_t channels, const Ints& kernel) {
  Shape result{features, channels};
  result.insert(result.end(), kernel.begin(), kernel.end());
  return result;
}
const std::string& auto_pad(OpenMaker& m) {
  static const Names all = {"SAME_UPPER", "SAME_LOWER"};
  return m.random.of(all);
}

Names convolution(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image()) return {};
  const bool depthwise = m.random.one_in(3);
  const int64_t features = depthwise ? x.extent(1) : m.random.of(Ints{1, 4, 8, 12});
  const Ints kernel = each(m, spatial(x), {1, 2, 3, 3, 5});
  auto made = m.add("Conv", {x.name, m.weight(weights_of(features, depthwise ? 1 : x.extent(1), kernel)),
                             m.weight({features})})
                  .with("group", depthwise ? x.extent(1) : int64_t{1})
                  .with("strides", each(m, spatial(x), {1, 1, 2, 3}));
  if (m.random.one_in(4))
    made.with("auto_pad", auto_pad(m));
  else
    made.with("dilations", each(m, spatial(x), {1, 1, 2}))
        .with("pads", each(m, 2 * spatial(x), {0, 1, 1, 2}));
  return {m.random.one_in(2) ? made.outputs[0] : m.add("Relu", {made}).outputs[0]};
}
Names transposed_convolution(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image()) return {};
  const Ints kernel = each(m, spatial(x), {2, 3, 4}), strides = each(m, spatial(x), {1, 2});
  auto made = m.add("ConvTranspose", {x.name, m.weight(weights_of(x.extent(1), 4, kernel)), m.weight({4})})
                  .with("strides", strides);
  if (m.random.one_in(2)) made.with("pads", each(m, 2 * spatial(x), {0, 1}));
  if (m.random.one_in(3)) {
    Ints more = strides;
    for (int64_t& value : more) value = m.random.below(value);
    made.with("output_padding", more);
  }
  return {made};
}
Names pool(OpenMaker& m, const OpenValue& x) {
  if (!x.is_float() || x.rank() < 3 || x.rank() > 4) return {};
  const int64_t kind = m.random.below(4);
  auto made = m.add(kind == 0   ? "MaxPool"
                    : kind == 3 ? "LpPool"
                                : "AveragePool",
                    {x.name})
                  .with("kernel_shape", each(m, spatial(x), {2, 3}))
                  .with("strides", each(m, spatial(x), {1, 2}));
  if (kind == 1 || kind == 2) made.with("count_include_pad", m.random.below(2));
  if (m.random.one_in(3))
    made.with("auto_pad", auto_pad(m));
  else
    made.with("pads", each(m, 2 * spatial(x), {0, 1}))
        .with("ceil_mode", static_cast<int64_t>(kind != 3 && m.random.one_in(3)));
  return {made};
}
Names global_pool(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image()) return {};
  const std::string pooled = m.add(m.random.one_in(2) ? "GlobalAveragePool" : "GlobalMaxPool", {x.name});
  if (m.random.one_in(2)) return {m.add("Sub", {x.name, pooled})};
  Ints one(spatial(x), 1);
  const std::string gate = m.add("Conv", {pooled, m.weight(weights_of(x.extent(1), x.extent(1), one))});
  return {m.add("Mul", {x.name, m.add("Sigmoid", {gate})})};
}
Names resized(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image()) return {};
  const std::string mode = m.random.of(Names{"linear", "nearest", "cubic"});
  Names operands{x.name, ""};
  if (m.random.one_in(2)) {
    HostTensor scales(TensorType{DType::f32, {static_cast<int64_t>(x.rank())}});
    for (size_t axis = 0; axis < x.rank(); ++axis)
      scales.mutable_data<float>()[axis] =
          axis < 2 ? 1 : m.random.of(std::vector<float>{1, 2, 3, 0.5f, 1.5f});
    operands.push_back(m.constant(scales));
  } else {
    const OpenValue& like = m.random.of(m.values());
    if (like.rank() != x.rank()) return {};
    Names sizes;
    for (size_t axis = 0; axis < x.rank(); ++axis)
      sizes.push_back(m.extent_of(axis < 2 ? x.name : like.name, axis));
    operands.insert(operands.end(), {"", m.add("Concat", sizes).with("axis", int64_t{0})});
  }
  return {m.add("Resize", operands)
              .with("mode", mode)
              .with("nearest_mode", "floor")
              .with("coordinate_transformation_mode",
                    m.random.of(Names{"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}))};
}
Names normalized_images(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image()) return {};
  const int64_t c = x.extent(1);
  switch (m.random.below(4)) {
    case 0:
      return {m.add("InstanceNormalization", {x.name, m.weight({c}), m.weight({c})})
                  .with_float("epsilon", 0.02f)};
    case 1:
      return {m.add("BatchNormalization", {x.name, m.weight({c}), m.weight({c}), m.weight({c}),
                                           m.constant(random_tensor({DType::f32, {c}}, Contents::ones, 1))})};
    case 2: {
      if (c % 2 != 0) return {};
      const std::string groups = m.add("Reshape", {x.name, m.ints({0, 2, -1})});
      const std::string done =
          m.add("InstanceNormalization", {groups, m.weight({2}), m.weight({2})}).with_float("epsilon", 0.02f);
      return {m.add("Reshape", {done, m.add("Shape", {x.name})})};
    }
    default:
      return {m.add("LRN", {x.name}).with("size", int64_t{3})};
  }
}
Names blocks(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  if (m.random.one_in(2)) return {m.add("SpaceToDepth", {x.name}).with("blocksize", int64_t{2})};
  if (x.extent(1) % 4 != 0) return {};
  return {m.add("DepthToSpace", {x.name})
              .with("blocksize", int64_t{2})
              .with("mode", m.random.of(Names{"DCR", "CRD"}))};
}
Names tokens(OpenMaker& m, const OpenValue& x) {
  // Pixels attend to each other.
  if (!x.is_image()) return {};
  const std::string rows = m.add("Reshape", {x.name, m.ints({0, x.extent(1), -1})});
  const std::string pixels = m.add("Transpose", {rows}).with("perm", Ints{0, 2, 1});
  const std::string scores =
      m.add("Softmax", {m.add("Mul", {m.add("MatMul", {pixels, rows}), m.number(0.2f)})})
          .with("axis", int64_t{-1});
  const std::string mixed =
      m.add("Transpose", {m.add("MatMul", {scores, pixels})}).with("perm", Ints{0, 2, 1});
  return {m.add("Reshape", {mixed, m.add("Shape", {x.name})})};
}
Names patches(OpenMaker& m, const OpenValue& x) {
  if (!x.is_image() || x.rank() != 4) return {};
  const std::string y = m.add("Conv", {x.name, m.weight({8, x.extent(1), 2, 2})}).with("strides", Ints{2, 2});
  const std::string rows =
      m.add("Transpose", {m.add("Reshape", {y, m.ints({0, 8, -1})})}).with("perm", Ints{0, 2, 1});
  return {m.add("LayerNormalization", {rows, m.weight({8}), m.weight({8})}).with_float("epsilon", 0.01f)};
}

}  // namespace

const std::vector<OpenMotif>& open_image_motifs() {
  static const std::vector<OpenMotif> all = {
      {"convolution", convolution},
      {"transposed_convolution", transposed_convolution},
      {"pool", pool},
      {"global_pool", global_pool},
      {"resized", resized},
      {"normalized_images", normalized_images},
      {"blocks", blocks},
      {"tokens", tokens},
      {"patches", patches},
  };
  return all;
}

}  // namespace korch::fuzz
