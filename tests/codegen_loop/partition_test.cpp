// Panels: blocks of a padded image, copied into scratch where conditions along the loops change at values
// known at run time. The printed kernels give what the interpreter gives, element by element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "guarded_buffer.h"
#include "kernel_runner.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/backend/spell.h"
#include "korch/codegen/cuda/print_cuda.h"
#include "korch/codegen/passes/passes.h"
#include "korch/kernel/interpret.h"
#include "korch/runtime/abi.h"

namespace korch::testing {
namespace {

// What is stored: the element or zero; the element of another input; the same with a condition for rows
// around the one for pixels; the sum of three neighbours with a condition each; the element, behind the
// image's pixels another input's, or zero; the element or zero in the panel's pixels 1..5, else zero; what is
// the same for the whole block.
enum class Body { zeros, other, nested, window, joined, cut, block };

// Element (row, pixel) of panel (y, x) is that of the image at row * scale.rows + y * step.rows - pad.rows,
// and likewise for pixels; counted from the far end where flipped.
struct Extent {
  int64_t rows = 1, pixels = 1;
};
struct Panel {
  Extent image, blocks, size, step, pad, scale;
  int64_t channels = 1;
  int64_t chunk = 0;  // of pixels, which are then a variable of the grid, too
  bool channels_innermost = true, flipped = false;
  Body body = Body::zeros;
};

std::string body_text(const Panel& p) {
  std::string row = fmt::format("y * {} + pr * {} - {}", p.step.rows, p.scale.rows, p.pad.rows);
  std::string pixel = fmt::format("x * {} + px * {} - {}", p.step.pixels, p.scale.pixels, p.pad.pixels);
  if (p.flipped) {
    row = fmt::format("{} - ({})", p.image.rows - 1, row);
    pixel = fmt::format("{} - ({})", p.image.pixels - 1, pixel);
  }
  const auto offset = [&](int64_t shift) {
    return p.channels_innermost ? fmt::format("(({}) * {} + {} + ({})) * {} + channel", row, p.image.pixels,
                                              pixel, shift, p.channels)
                                : fmt::format("(channel * {} + {}) * {} + {} + ({})", p.image.rows, row,
                                              p.image.pixels, pixel, shift);
  };
  const std::string row_inside = fmt::format("0 <= {} <= {}", row, p.image.rows - 1);
  const auto pixel_inside = [&](int64_t shift) {
    return fmt::format("0 <= {} + ({}) <= {}", pixel, shift, p.image.pixels - 1);
  };
  std::string text = fmt::format("      %0 = in0[{}]\n      %1 = f32 0\n", offset(0));
  switch (p.body) {
    case Body::joined:
      return text + fmt::format(
                        "      %3 = in1[channel]\n      %4 = %3 if {} <= {} <= {} else %1\n"
                        "      %2 = %0 if {} and {} else %4\n",
                        p.image.pixels, pixel, p.image.pixels + 2, row_inside, pixel_inside(0));
    case Body::cut:
      return text + fmt::format("      %3 = %0 if {} and {} else %1\n      %2 = %3 if 1 <= px <= 5 else %1\n",
                                row_inside, pixel_inside(0));
    case Body::block:
      text = fmt::format("      %0 = in0[({} + x * {}) * {}]\n      %1 = f32 0\n",
                         (p.image.rows - 1) * p.image.pixels, p.step.pixels, p.channels);
      return text + fmt::format("      %2 = %0 if {} else %1\n", pixel_inside(0));
    case Body::other:
      text = fmt::format("      %0 = in0[{}]\n      %1 = in1[channel + y * 2 + x]\n", offset(0));
      [[fallthrough]];
    case Body::zeros:
      return text + fmt::format("      %2 = %0 if {} and {} else %1\n", row_inside, pixel_inside(0));
    case Body::nested:
      return text + fmt::format("      %3 = %0 if {} else %1\n      %2 = %3 if {} else %1\n", pixel_inside(0),
                                row_inside);
    case Body::window:
      return text + fmt::format(
                        "      %3 = in0[{}]\n      %4 = in0[{}]\n"
                        "      %5 = %3 if {} and {} else %1\n      %6 = %0 if {} and {} else %1\n"
                        "      %7 = %4 if {} and {} else %1\n"
                        "      %8 = f32 add(%5, %6)\n      %2 = f32 add(%8, %7)\n",
                        offset(-1), offset(1), row_inside, pixel_inside(-1), row_inside, pixel_inside(0),
                        row_inside, pixel_inside(1));
  }
  return {};
}

std::string panel_text(const Panel& p) {
  const int64_t elements = p.size.rows * p.size.pixels * p.channels;
  const int64_t panels = p.blocks.rows * p.blocks.pixels;
  const std::string loops =
      p.channels_innermost ? "pr in {0}, px in {1}, channel in {2}" : "channel in {2}, pr in {0}, px in {1}";
  const std::string nest = "map " + fmt::format(fmt::runtime(loops), p.size.rows, p.size.pixels, p.channels);
  const std::string place =
      p.channels_innermost
          ? fmt::format("pr * {} + px * {} + channel", p.size.pixels * p.channels, p.channels)
          : fmt::format("channel * {} + pr * {} + px", p.size.rows * p.size.pixels, p.size.pixels);
  const std::string pixels = p.chunk > 0 ? fmt::format(", px in {} by {}", p.size.pixels, p.chunk) : "";
  return fmt::format(R"(kernel {{
  in0: f32[{}]
  in1: f32[{}]
  out0: f32[{}]
  s0: f32[{}] at 0
  scratch {}
  phase y in {}, x in {}{} {{
    {} {{
{}      s0[{}] <- %2
    }}
    {} {{
      %0 = s0[{}]
      out0[(y * {} + x) * {} + {}] <- %0
    }}
  }}
}}
)",
                     p.image.rows * p.image.pixels * p.channels,
                     p.channels + 2 * p.blocks.rows + p.blocks.pixels, panels * elements, elements,
                     elements * 4, p.blocks.rows, p.blocks.pixels, pixels, nest, body_text(p), place, nest,
                     place, p.blocks.pixels, elements, place);
}

std::vector<HostTensor> arguments_of(const tile::ScheduledGraph& graph) {
  std::vector<HostTensor> arguments;
  for (const tile::Buffer& buffer : graph.buffers)
    if (buffer.role == tile::BufferRole::input)
      arguments.push_back(random_tensor({buffer.type, {buffer.elements}}, arguments.size() + 1));
  return arguments;
}

// The only output. Every buffer ends at an unmapped page.
HostTensor run(const tile::ScheduledGraph& graph, const Kernel& kernel, Isa isa,
               const std::vector<HostTensor>& arguments) {
  LoadedKernels loaded;
  const std::string object = compile_object(kernel.source, name(isa)).value();
  const auto function =
      reinterpret_cast<korch_kernel_fn>(loaded.load(object, {kernel.phases[0].symbol}).value()[0]);
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<void*> pointers;
  HostTensor output;
  for (size_t i = 0; i < graph.buffers.size(); ++i) {
    const tile::Buffer& buffer = graph.buffers[i];
    if (buffer.role == tile::BufferRole::scratch) continue;
    buffers.push_back(std::make_unique<GuardedBuffer>(static_cast<size_t>(buffer.bytes())));
    pointers.push_back(buffers.back()->data());
    if (i < arguments.size())
      std::memcpy(pointers.back(), arguments[i].raw(), static_cast<size_t>(buffer.bytes()));
    else
      output = HostTensor(TensorType{buffer.type, {buffer.elements}});
  }
  GuardedBuffer scratch(static_cast<size_t>(kernel.scratch_bytes + 63) / 64 * 64);
  const korch_kernel_context context{pointers.data(), scratch.data(), nullptr, 0};
  EXPECT_EQ(function(&context, 0, kernel.phases[0].grid), 0);
  std::memcpy(output.mutable_raw(), pointers.back(), static_cast<size_t>(output.bytes()));
  return output;
}

// Runs on this instruction set; gives the printed C++ of the phase.
std::string check_panel(const std::string& text, Isa isa) {
  const tile::ScheduledGraph graph = tile::parse_tile_graph(text);
  const Kernel kernel = spelled(graph, test_target(isa));
  const std::vector<HostTensor> arguments = arguments_of(graph);
  const HostTensor expected = tile::interpret(graph, arguments, tile::Arithmetic::native)[0];
  const HostTensor actual = run(graph, kernel, isa, arguments);
  for (int64_t i = 0; i < expected.elements(); ++i)
    if (actual.data<float>()[i] != expected.data<float>()[i]) {
      ADD_FAILURE() << "element " << i << " is " << actual.data<float>()[i] << ", expected "
                    << expected.data<float>()[i] << "\n"
                    << text << kernel.source.substr(kernel.source.find("extern"));
      break;
    }
  return kernel.source.substr(kernel.source.find("extern \"C\" int32_t"));
}

std::string lowered(const std::string& text, Isa isa = Isa::x86_64_v4) {
  tile::ScheduledGraph graph = tile::parse_tile_graph(text);
  tile::lower_for_cpu(graph, test_target(isa));
  return tile::print(graph);
}

// A 3x3 convolution's panels of an image of 11x37 with 20 channels, in blocks of 4 rows and 16 pixels.
constexpr Panel kConvolution{.image = {11, 37},
                             .blocks = {3, 3},
                             .size = {6, 18},
                             .step = {4, 16},
                             .pad = {1, 1},
                             .scale = {1, 1},
                             .channels = 20};

Panel changed(const std::function<void(Panel&)>& change) {
  Panel panel = kConvolution;
  change(panel);
  return panel;
}

struct PanelCase {
  const char* name;
  Panel panel;
  const char* partitioned;
};

std::vector<PanelCase> panel_cases() {
  std::vector<PanelCase> cases = {
      {"plain", kConvolution, "partition along pr, px"},
      {"dilated", changed([](Panel& p) {
         p.scale = {2, 2};
         p.pad = {3, 3};
       }),
       "partition along pr, px"},
      {"shorter than a vector", changed([](Panel& p) {
         p.size.pixels = 3;
         p.channels = 3;
       }),
       "partition along pr, px"},
      {"panels wholly outside", changed([](Panel& p) {
         p.blocks = {6, 5};
         p.pad = {9, 40};
       }),
       "partition along pr, px"},
      {"padded before alone", changed([](Panel& p) {
         p.image = {40, 80};
       }),
       "partition along pr, px"},
      {"padded behind alone", changed([](Panel& p) {
         p.pad = {0, 0};
       }),
       "partition along pr, px"},
      {"one row of pixels", changed([](Panel& p) {
         p.size = {1, 18};
         p.step = {1, 16};
         p.blocks = {13, 3};
       }),
       "partition along y, px"},
      {"one pixel", changed([](Panel& p) {
         p.size = {1, 1};
       }),
       "partition along y, x"},
      {"rows alone", changed([](Panel& p) {
         p.blocks = {3, 1};
         p.pad.pixels = 0;
       }),
       "partition along pr"},
      {"pixels in chunks", changed([](Panel& p) { p.chunk = 5; }), "partition along pr, px"},
      {"flipped", changed([](Panel& p) { p.flipped = true; }), "partition along pr, px"},
      {"another input outside", changed([](Panel& p) { p.body = Body::other; }), "partition along pr, px"},
      {"conditions in each other", changed([](Panel& p) { p.body = Body::nested; }),
       "partition along pr, px"},
      // Where a block is wholly outside, its element lies behind the input.
      {"one element for a block", changed([](Panel& p) {
         p.body = Body::block;
         p.blocks.pixels = 5;
         p.pad.pixels = 0;
       }),
       "partition along px"},
      {"segments", changed([](Panel& p) { p.body = Body::cut; }), "partition along pr, px"},
      {"another condition outside", changed([](Panel& p) { p.body = Body::joined; }),
       "partition along pr, px"},
      {"neighbours", changed([](Panel& p) { p.body = Body::window; }), "partition along pr, px"},
  };
  return cases;
}

TEST(Partition, PanelsAreWhatTheInterpreterGives) {
  for (const PanelCase& c : panel_cases())
    for (bool channels_innermost : {true, false}) {
      Panel panel = c.panel;
      panel.channels_innermost = channels_innermost;
      const std::string text = panel_text(panel);
      EXPECT_NE(lowered(text).find(c.partitioned), std::string::npos) << c.name << "\n" << lowered(text);
      for (Isa isa : runnable_isas()) {
        const std::string source = check_panel(text, isa);
        ASSERT_FALSE(HasFailure()) << c.name
                                   << (channels_innermost ? ", channels innermost" : ", pixels innermost");
        if (panel.body == Body::window || panel.body == Body::joined || panel.size.pixels == 1) continue;
        EXPECT_EQ(source.find("else {"), std::string::npos) << c.name << " asks conditions again\n" << source;
      }
    }
}

// The blocks of a grid variable, and loops around the nest, are known before its own loops.
TEST(Partition, BlocksAndLoopsAroundDecideToo) {
  const std::string text = R"(kernel {
  in0: f32[330]
  out0: f32[1080]
  s0: f32[120] at 0
  scratch 512
  phase y in 9 by 3 {
    for t in 3 {
      map pr in 5, px in 24 {
        %0 = in0[(y_block * 3 - 1 + pr) * 33 + t * 16 - 2 + px]
        %1 = f32 -1
        %2 = %0 if 0 <= y_block * 3 - 1 + pr <= 9 and 0 <= t * 16 - 2 + px <= 32 else %1
        s0[pr * 24 + px] <- %2
      }
      map pr in 5, px in 24 {
        %0 = s0[pr * 24 + px]
        out0[((y_block * 3 + t) * 5 + pr) * 24 + px] <- %0
      }
    }
  }
}
)";
  EXPECT_NE(lowered(text).find("partition along pr, px {"), std::string::npos) << lowered(text);
  for (Isa isa : runnable_isas()) EXPECT_EQ(check_panel(text, isa).find("else {"), std::string::npos);
}

TEST(Partition, RandomPanelsAreWhatTheInterpreterGives) {
  // KORCH_SEED=n looks at one panel alone.
  const char* only = std::getenv("KORCH_SEED");
  const uint64_t first = only != nullptr ? static_cast<uint64_t>(std::atoi(only)) : 0;
  int partitioned = 0;
  for (uint64_t seed = first; seed < first + (only != nullptr ? 1 : 60) && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
    };
    Panel p;
    p.image = {between(1, 12), between(1, 40)};
    p.blocks = {between(1, 4), between(1, 4)};
    p.size = {between(1, 6), between(1, 40)};
    p.step = {between(1, 6), between(1, 20)};
    p.pad = {between(0, 6), between(0, 25)};
    p.scale = {between(1, 3), between(1, 3)};
    p.channels = between(1, 35);
    p.chunk = between(0, 3) == 0 ? between(2, 20) : 0;
    p.channels_innermost = between(0, 1) == 0;
    p.flipped = between(0, 3) == 0;
    p.body = static_cast<Body>(between(0, 5));  // no block: it asks for no padding
    const std::string text = panel_text(p);
    partitioned += lowered(text).find("partition along") != std::string::npos ? 1 : 0;
    check_panel(text, runnable_isas()[seed % runnable_isas().size()]);
    if (HasFailure()) std::cout << "rerun: KORCH_SEED=" << seed << "\n";
  }
  EXPECT_GT(partitioned, only == nullptr ? 40 : -1);
}

TEST(Partition, LoweringTwiceIsLoweringOnce) {
  for (const PanelCase& c : panel_cases())
    for (Isa isa : {Isa::x86_64_v3, Isa::x86_64_v4}) {
      const std::string once = lowered(panel_text(c.panel), isa);
      EXPECT_EQ(lowered(once, isa), once) << c.name;
    }
}

// A worker that goes on to the next slice fills again what depends on the slice by where it is stored, or
// whether, alone. One call runs all slices, in order.
TEST(Partition, WhatIsKeptDependsOnWhereItIsStored) {
  const auto text = [](const std::string& loops, const std::string& store) {
    return "kernel {\n  in0: f32[24]\n  out0: f32[24]\n  s0: f32[24] at 0\n  scratch 128\n"
           "  phase t in 24 by 8 {\n    kept map " +
           loops + " {\n      %0 = in0[" + (loops[0] == 't' ? "3" : "i") + "]\n      " + store +
           "\n    }\n    for t in 24 {\n      map {\n        %0 = s0[t]\n        out0[t] <- %0\n      }\n"
           "    }\n  }\n}\n";
  };
  for (Isa isa : runnable_isas()) {
    check_panel(text("i in 8", "s0[i + t_block * 8] <- %0"), isa);
    check_panel(text("t in 24", "s0[t] <- %0"), isa);
    check_panel(text("i in 24", "s0[i] <- %0 if 0 <= i - t_block * 8 <= 7"), isa);
  }
}

TEST(Partition, CudaPrintsTheSame) {
  const std::string text = panel_text(kConvolution);
  std::string with = text;
  with.replace(with.find(" {\n      %0"), 2, " partition along pr, px {");
  const tile::ScheduledGraph partitioned = tile::parse_tile_graph(with);
  ASSERT_EQ(partitioned.schedule[0][0].partitioned.size(), 2u);
  EXPECT_EQ(tile::print_cuda(partitioned, "k"), tile::print_cuda(tile::parse_tile_graph(text), "k"));
}

}  // namespace
}  // namespace korch::testing
