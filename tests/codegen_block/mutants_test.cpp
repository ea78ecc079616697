// Mutants of tile graphs that block graphs were lowered to: a swapped buffer, a block or an offset off by
// one, a dropped restart, a nest or store that is missing (a rescaling, say), a wrong axis, another function.
// Those that compute something else are not taken for equal over fields. KORCH_MUTANTS says how many of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "korch/codegen/block/lower.h"
#include "korch/codegen/block/reference.h"
#include "korch/kernel/interpret.h"
#include "korch/kernel/region.h"
#include "korch/kernel/tile_equivalence.h"

namespace korch::blocks {
namespace {

// How a structure is made small. A loop has full blocks, and one of one value.
struct SmallSizes {
  int64_t lanes, block, full_blocks, whole;
};
constexpr SmallSizes kSmallSizes[] = {{2, 2, 1, 2}, {2, 4, 2, 3}};

struct SmallKernel {
  std::string name;
  tile::TileGraph reference;
  std::string text;
  std::vector<HostTensor> arguments, results;
};

std::vector<HostTensor> random_values(const tile::TileGraph& graph) {
  std::mt19937 random(5);
  std::vector<HostTensor> arguments;
  for (const tile::Buffer& buffer : graph.buffers) {
    if (buffer.role != tile::BufferRole::input && buffer.role != tile::BufferRole::constant) continue;
    HostTensor tensor(TensorType{buffer.type, {buffer.elements}});
    for (int64_t i = 0; i < buffer.elements; ++i)
      if (buffer.type == DType::bool_)
        tensor.mutable_data<bool>()[i] = i == 0 || random() % 3 != 0;
      else
        tensor.mutable_data<float>()[i] = static_cast<float>(random() % 4001) / 1000 - 2;
    arguments.push_back(std::move(tensor));
  }
  return arguments;
}

std::optional<SmallKernel> small_kernel(const std::string& name, const SmallSizes& sizes) {
  std::ostringstream text;
  text << std::ifstream(std::string(KORCH_SOURCE_DIR) + "/tests/block/structures/" + name + ".kt").rdbuf();
  block::BlockGraph graph = block::parse_block_graph(text.str());
  for (size_t i = 0; i < graph.axes.size(); ++i)
    graph.axes[i].extent = (graph.grid & block::axis_set(static_cast<int>(i))) != 0
                               ? 2 + static_cast<int64_t>(i % 2)
                               : sizes.whole + static_cast<int64_t>(i % 2);
  for (int loop : graph.loops)
    graph.axes[static_cast<size_t>(loop)].extent = sizes.full_blocks * sizes.block + 1;
  Device device = cpu_device(Isa::portable, 1);
  device.vector_bytes = static_cast<int>(sizes.lanes * static_cast<int64_t>(sizeof(float)));
  const auto arguments = plain_arguments(graph);
  const Result<tile::ScheduledGraph> kernel = lower(graph, {.structure = 0, .rows = 2, .block = sizes.block},
                                                    device, *arguments, Division::by_quotients);
  if (!kernel.ok()) return std::nullopt;  // a block that cuts a register tile
  SmallKernel small{
      name, reference_kernel(block::meaning_of(graph).terms), tile::print(kernel.value()), {}, {}};
  small.arguments = random_values(small.reference);
  small.results = tile::interpret(small.reference, small.arguments, tile::Arithmetic::float64);
  return small;
}

class TileMutator {
 public:
  explicit TileMutator(uint64_t seed) : draw_(seed) {}

  size_t pick(size_t count) { return static_cast<size_t>(draw_() % count); }

  std::string mutant(const std::string& text) {
    switch (pick(8)) {
      case 0:
        return with_other_number(text);
      case 1:  // a store to, or a load from, another buffer
        return swapped(text, std::regex("\\b(?:in|const|out|temp|s)[0-9]+(?=\\[)"));
      case 2:  // another axis
        return swapped(text,
                       std::regex("\\b(?:at_|i_|block|row|tile|column|r|c|k)[a-z0-9_]*\\b(?= \\*| \\+|\\])"));
      case 3:
        return swapped(text, std::regex("%[0-9]+(?=[,)\\n ])(?! =)"));
      case 4:
        return swapped(text, std::regex("\\b(?:add|sub|mul|max|div|min)(?=\\()"));
      case 5:
        return without(text, std::regex(" anew [^{\\n]*(?= registers)| anew [^{\\n]*(?= \\{)"));
      case 6:
        return without(text, std::regex("\\n *[a-z]+[0-9]+\\[[^\\n]*<-[^\\n]*"));
      default:
        return without_nest(text);
    }
  }

 private:
  using Places = std::vector<std::pair<size_t, size_t>>;  // where, and how long

  static size_t body_of(const std::string& text) { return text.find("phase"); }

  static Places places_of(const std::string& text, const std::regex& what) {
    Places places;
    const auto first = static_cast<std::ptrdiff_t>(body_of(text));
    for (std::sregex_iterator i(text.begin() + first, text.end(), what), end; i != end; ++i)
      places.emplace_back(static_cast<size_t>(i->position() + first), static_cast<size_t>(i->length()));
    return places;
  }

  // In place of one, another one.
  std::string swapped(std::string text, const std::regex& what) {
    const Places places = places_of(text, what);
    if (places.empty()) return text;
    const auto [at, size] = places[pick(places.size())];
    const auto [from, length] = places[pick(places.size())];
    return text.replace(at, size, text.substr(from, length));
  }

  std::string without(std::string text, const std::regex& what) {
    const Places places = places_of(text, what);
    if (places.empty()) return text;
    const auto [at, size] = places[pick(places.size())];
    return text.erase(at, size);
  }

  // In an index, a range or a condition.
  std::string with_other_number(std::string text) {
    const Places places = places_of(text, std::regex("\\b[0-9]+\\b"));
    const auto [at, size] = places[pick(places.size())];
    if (text[at - 1] == '%') return text;
    const int number = std::stoi(text.substr(at, size));
    return text.replace(at, size, std::to_string(number == 0 || pick(2) == 0 ? number + 1 : number - 1));
  }

  std::string without_nest(std::string text) {
    const Places places = places_of(text, std::regex("\\n( *)(?:map|reduce)[^\\n]*\\{"));
    if (places.empty()) return text;
    const auto [at, size] = places[pick(places.size())];
    const size_t indent = text.find_first_not_of(' ', at + 1) - at - 1;
    const std::string close = "\n" + std::string(indent, ' ') + "}";
    const size_t end = text.find(close, at + size);
    return end == std::string::npos ? text : text.erase(at, end + close.size() - at);
  }

  std::mt19937_64 draw_;
};

// Whether it computes something else: not if it is no graph, reads what nothing wrote, or gives no number.
bool differs(const SmallKernel& kernel, const tile::TileGraph& mutant) {
  const auto own = tile::interpret(mutant, kernel.arguments, tile::Arithmetic::float64);
  for (size_t r = 0; r < own.size(); ++r)
    for (int64_t i = 0; i < own[r].elements(); ++i) {
      const double is = element_as_double(own[r], i), should = element_as_double(kernel.results[r], i);
      if (std::isfinite(is) && std::isfinite(should) &&
          std::fabs(is - should) > 1e-8 * std::max(1.0, std::fabs(should)))
        return true;
    }
  return false;
}

std::vector<SmallKernel> small_kernels() {
  std::vector<SmallKernel> kernels;
  for (const char* name : {"attention", "attention_where", "attention_soft_cap", "attention_two_terms",
                           "linear_attention", "log_sum_exp", "rms_norm_matmul", "gated_mlp", "lora",
                           "rms_swiglu", "absmax_matmul", "ntrans", "inverted_residual"})
    for (const SmallSizes& sizes : kSmallSizes)
      if (auto kernel = small_kernel(name, sizes)) kernels.push_back(std::move(*kernel));
  return kernels;
}

TEST(TileMutants, ThoseThatComputeSomethingElseAreNotEqual) {
  const char* wanted = std::getenv("KORCH_MUTANTS");
  const int mutants = wanted != nullptr ? std::stoi(wanted) : 600;
  const std::vector<SmallKernel> kernels = small_kernels();
  ASSERT_GT(kernels.size(), 16U);
  for (const SmallKernel& kernel : kernels) {
    const tile::ScheduledGraph parsed = tile::parse_tile_graph(kernel.text);
    ASSERT_FALSE(differs(kernel, parsed)) << kernel.name << "\n" << kernel.text;
    ASSERT_EQ(tile::compare_over_field(parsed, kernel.reference, {4, 1}).says, FieldResult::Says::same)
        << kernel.name << "\n"
        << kernel.text;
  }
  TileMutator mutator(48);
  std::set<std::string> seen;
  for (int different = 0, draws = 0; different < mutants; ++draws) {
    ASSERT_LT(draws, 100 * mutants);
    const SmallKernel& kernel = kernels[mutator.pick(kernels.size())];
    const std::string text = mutator.mutant(kernel.text);
    if (!seen.insert(kernel.name + text).second) continue;
    try {
      const tile::ScheduledGraph mutant = tile::parse_tile_graph(text);
      if (!tile::structural_fault(mutant).empty() || !tile::coverage_fault(mutant).empty() ||
          !differs(kernel, mutant))
        continue;
      ++different;
      EXPECT_NE(tile::compare_over_field(mutant, kernel.reference, {16, 1}).says, FieldResult::Says::same)
          << kernel.name << "\n"
          << text << "\nin place of\n"
          << kernel.text;
    } catch (const Error&) {  // no graph, or one with other arguments
    }
  }
}

}  // namespace
}  // namespace korch::blocks
