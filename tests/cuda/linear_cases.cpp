#include "linear_cases.h"

#include <map>

#include "korch/ir/text.h"

namespace korch::testing {

const std::vector<LinearCase>& linear_cases() {
  static const std::vector<LinearCase> cases = {
      {"matmul_between_activations", {"matmul", "staged"}, R"(graph {
  input %x : f32[37x40] "x"
  input %w : f32[40x29] "w"
  input %b : f32[29] "b"
  %r = Relu(%x)
  %m = MatMul(%r, %w)
  %a = Add(%m, %b)
  %y = Relu(%a)
  output %y "y"
})"},
      {"matmul_long_sum", {"matmul", "staged"}, R"(graph {
  input %x : f32[19x2000] "x"
  input %w : f32[2000x10] "w"
  %y = MatMul(%x, %w)
  output %y "y"
})"},
      {"matmul_batched", {"matmul", "staged"}, R"(graph {
  input %x : f32[3x1x21x18] "x"
  input %z : f32[2x18x34] "z"
  %n = Neg(%z)
  %m = MatMul(%x, %n)
  %t = Transpose(%m) {perm=[0,2,1,3]}
  %y = Tanh(%t)
  output %y "y"
})"},
      {"matmul_of_images_with_residual", {"matmul", "staged"}, R"(graph {
  input %x : f32[2x35x24] "x"
  input %w : f32[24x70] "w"
  input %r : f32[2x35x70] "r"
  %m = MatMul(%x, %w)
  %y = Add(%m, %r)
  output %y "y"
})"},
      {"matmul_both_turned", {"matmul", "staged"}, R"(graph {
  input %x : f32[2x44x69] "x"
  input %w : f32[2x66x44] "w"
  %y = MatMul(%x, %w) {transpose_a=true, transpose_b=true}
  output %y "y"
})"},
      {"matmul_of_whole_tiles", {"matmul", "staged"}, R"(graph {
  input %x : f32[128x64] "x"
  input %z : f32[64x64] "z"
  %y = MatMul(%x, %z)
  output %y "y"
})"},
      {"matmul_of_large_tiles", {"matmul", "staged"}, R"(graph {
  input %x : f32[130x35] "x"
  input %w : f32[35x132] "w"
  input %b : f32[132] "b"
  %m = MatMul(%x, %w)
  %a = Add(%m, %b)
  %y = Tanh(%a)
  output %y "y"
})"},
      {"matmul_of_vectors", {"matmul", "staged"}, R"(graph {
  input %x : f32[1x40] "x"
  input %z : f32[40x1] "z"
  %y = MatMul(%x, %z)
  output %y "y"
})"},
      {"heads", {"matmul", "staged"}, R"(graph {
  input %x : f32[1x30x32] "x"
  input %w : f32[32x24] "w"
  %m = MatMul(%x, %w)
  %s = Reshape(%m) {shape=[1,30,2,12]}
  %y = Transpose(%s) {perm=[0,2,1,3]}
  output %y "y"
})"},
      {"conv_padded", {"conv_direct", "staged"}, R"(graph {
  input %x : f32[2x20x7x9] "x"
  input %w : f32[37x20x3x3] "w"
  input %b : f32[1x37x1x1] "b"
  %r = Relu(%x)
  %c = Conv(%r, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  %a = Add(%c, %b)
  %y = Sigmoid(%a)
  output %y "y"
})"},
      {"conv_of_whole_k_tiles", {"conv_direct", "staged"}, R"(graph {
  input %x : f32[2x32x6x7] "x"
  input %w : f32[64x32x3x3] "w"
  input %b : f32[1x64x1x1] "b"
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  %a = Add(%c, %b)
  %y = Relu(%a)
  output %y "y"
})"},
      {"conv_strided_groups", {"conv_direct", "staged"}, R"(graph {
  input %x : f32[1x24x9x8] "x"
  input %w : f32[36x6x3x2] "w"
  %y = Conv(%x, %w) {strides=[2,1], dilations=[1,2], pads_before=[1,0], pads_after=[0,2], output_padding=[0,0], group=4}
  output %y "y"
})"},
      {"conv_pointwise", {"conv_direct", "staged"}, R"(graph {
  input %x : f32[3x16x5x6] "x"
  input %w : f32[70x16x1x1] "w"
  input %r : f32[3x70x5x6] "r"
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  %y = Add(%c, %r)
  output %y "y"
})"},
      {"conv_few_channels", {"conv_direct", "conv_pixels", "staged"}, R"(graph {
  input %x : f32[1x12x6x17] "x"
  input %w : f32[3x12x3x3] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  output %y "y"
})"},
      {"conv_one_axis", {"conv_direct", "staged"}, R"(graph {
  input %x : f32[2x10x31] "x"
  input %w : f32[18x10x5] "w"
  %y = Conv(%x, %w) {strides=[2], dilations=[1], pads_before=[2], pads_after=[1], output_padding=[0]}
  output %y "y"
})"},
      {"conv_computed_weights", {"staged"}, R"(graph {
  input %x : f32[1x6x8x8] "x"
  input %v : f32[10x6x3x3] "v"
  %y = Conv(%x, %v) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
})"},
      {"padded_conv_computed_weights", {"linear_generic"}, R"(graph {
  input %x : f32[1x6x8x8] "x"
  input %v : f32[10x6x3x3] "v"
  %y = Conv(%x, %v) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  output %y "y"
})"},
      {"depthwise", {"depthwise"}, R"(graph {
  input %x : f32[2x21x9x10] "x"
  input %w : f32[21x1x3x3] "w"
  %c = Conv(%x, %w) {strides=[2,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0], group=21}
  %y = Relu(%c)
  output %y "y"
})"},
      {"winograd", {"conv_winograd"}, R"(graph {
  input %x : f32[1x21x9x10] "x"
  input %w : f32[37x21x3x3] "w"
  %v = WinogradInput(%x) {tile=4, taps=3, pads_before=[1,1], pads_after=[1,1]}
  %p = WinogradProduct(%v, %w) {tile=4, taps=3}
  %c = WinogradOutput(%p) {tile=4, taps=3, shape=[1,37,9,10]}
  %y = Relu(%c)
  output %y "y"
})"},
      {"winograd_input", {"winograd_part"}, R"(graph {
  input %x : f32[1x5x9x10] "x"
  %y = WinogradInput(%x) {tile=4, taps=3, pads_before=[1,1], pads_after=[1,1]}
  output %y "y"
})"},
      {"lstm", {"recurrence"}, R"(graph {
  input %g : f32[3x2x80] "g"
  input %w : f32[4x20x20] "w"
  input %s : f32[2x2x20] "s"
  %y, %l = Recurrence(%g, %w, %s) {activations="Sigmoid Tanh Tanh", alphas=[0,0,0], betas=[0,0,0]}
  output %y "y"
})"},
      {"gru", {"recurrence"}, R"(graph {
  input %g : f32[3x1x60] "g"
  input %w : f32[3x20x20] "w"
  input %s : f32[1x1x20] "s"
  %y, %l = Recurrence(%g, %w, %s) {cell="gru", activations="Sigmoid Tanh", alphas=[0,0], betas=[0,0]}
  output %y "y"
})"},
  };
  return cases;
}

const std::vector<TimedCase>& timed_cases() {
  static const std::vector<TimedCase> cases = {
      {"matmul 1024 x 1024 x 1024", 64, R"(graph {
  input %x : f32[1024x1024] "x"
  input %z : f32[1024x1024] "z"
  %y = MatMul(%x, %z)
  output %y "y"
})"},
      {"matmul 4096 x 4096 x 4096", 16, R"(graph {
  input %x : f32[4096x4096] "x"
  input %z : f32[4096x4096] "z"
  %y = MatMul(%x, %z)
  output %y "y"
})"},
      {"matmul 4096 x 4096 x 4096, second turned", 16, R"(graph {
  input %x : f32[4096x4096] "x"
  input %z : f32[4096x4096] "z"
  %y = MatMul(%x, %z) {transpose_b=true}
  output %y "y"
})"},
      {"gelu-like of matmul 2048 x 768 x 3072, constant weights and bias", 32, R"(graph {
  input %x : f32[2048x768] "x"
  input %w : f32[768x3072] "w"
  input %wb : f32[3072] "wb"
  %m = MatMul(%x, %w)
  %a = Add(%m, %wb)
  %s = Sigmoid(%a)
  %y = Mul(%a, %s)
  output %y "y"
})"},
      {"conv 3x3 64 -> 64, 56 x 56, bias, relu", 0, R"(graph {
  input %x : f32[1x64x56x56] "x"
  input %w : f32[64x64x3x3] "w"
  input %wb : f32[1x64x1x1] "wb"
  %c = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  %a = Add(%c, %wb)
  %y = Relu(%a)
  output %y "y"
})"},
      {"conv 3x3 64 -> 64, 32 images of 56 x 56", 1, R"(graph {
  input %x : f32[32x64x56x56] "x"
  input %w : f32[64x64x3x3] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[1,1], pads_after=[1,1], output_padding=[0,0]}
  output %y "y"
})"},
      {"conv 1x1 256 -> 128, 16 images of 28 x 28", 1, R"(graph {
  input %x : f32[16x256x28x28] "x"
  input %w : f32[128x256x1x1] "w"
  %y = Conv(%x, %w) {strides=[1,1], dilations=[1,1], pads_before=[0,0], pads_after=[0,0], output_padding=[0,0]}
  output %y "y"
})"},
      {"conv 7x7 / 2 3 -> 64, 8 images of 224 x 224", 1, R"(graph {
  input %x : f32[8x3x224x224] "x"
  input %w : f32[64x3x7x7] "w"
  %y = Conv(%x, %w) {strides=[2,2], dilations=[1,1], pads_before=[3,3], pads_after=[3,3], output_padding=[0,0]}
  output %y "y"
})"},
  };
  return cases;
}

CandidateGraph case_graph(const char* text) {
  const Graph read = parse_graph(text);
  CandidateGraph made;
  std::map<ValueId, ValueId> placed;
  for (ValueId input : read.inputs()) {
    const Value& value = read.value(input);
    if (value.name[0] != 'w') {
      placed[input] = made.graph.add_input(value.type, value.name);
      continue;
    }
    placed[input] = made.graph.add_constant(generated_constant(value.type, made.generated.size()));
    made.generated.push_back(value.type);
  }
  for (NodeId id : read.topological_order()) {
    const Node& node = read.node(id);
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(placed.at(input));
    const std::vector<ValueId> outputs =
        made.graph.node(made.graph.add_node(node.op, node.attrs, inputs)).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) placed[node.outputs[i]] = outputs[i];
  }
  made.graph.set_outputs({placed.at(read.outputs()[0])}, {"y"});
  return made;
}

}  // namespace korch::testing
