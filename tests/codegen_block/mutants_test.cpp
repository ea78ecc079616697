// Mutants of tile graphs that block graphs were lowered to, for cores and for thread blocks: a swapped
// buffer, a block or an offset off by one, a dropped restart, a nest or store that is missing (a rescaling,
// say), a wrong axis, another function. Those that compute something else are not taken for equal over
// fields. KORCH_MUTANTS says how many of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
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

// In register tiles, in nests that read products' operands where they lie, the same in two phases, and in the
// nests of a thread block.
enum class Way { tiles, direct, two_phases, staged };
constexpr Way kWays[] = {Way::tiles, Way::direct, Way::two_phases, Way::staged};

struct SmallKernel {
  std::string name;
  Way way;
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

BlockSchedule small_schedule(Way way, const SmallSizes& sizes) {
  BlockSchedule schedule{.structure = 0, .rows = 2, .block = sizes.block};
  schedule.direct = way == Way::direct || way == Way::two_phases;
  if (way == Way::two_phases) schedule.parts = 2;
  if (way == Way::staged) {
    schedule.columns = schedule.k_tile = 2;
    schedule.matrix_units = ProductType::tf32;  // tiles of 32 columns: those of threads alone have 2048
  }
  return schedule;
}

// Nothing where it has no two phases, or a block cuts a register tile.
std::optional<SmallKernel> small_kernel(const std::string& name, Way way, const SmallSizes& sizes) {
  std::ostringstream text;
  text << std::ifstream(std::string(KORCH_SOURCE_DIR) + "/tests/block/structures/" + name + ".kt").rdbuf();
  block::BlockGraph graph = block::parse_block_graph(text.str());
  for (size_t i = 0; i < graph.axes.size(); ++i)
    graph.axes[i].extent = (graph.grid & block::axis_set(static_cast<int>(i))) != 0
                               ? 2 + static_cast<int64_t>(i % 2)
                               : sizes.whole + static_cast<int64_t>(i % 2);
  for (int loop : graph.loops)
    graph.axes[static_cast<size_t>(loop)].extent = sizes.full_blocks * sizes.block + 1;
  Device device = way == Way::staged ? cuda_device() : cpu_device(Isa::portable, 1);
  if (way != Way::staged)
    device.vector_bytes = static_cast<int>(sizes.lanes * static_cast<int64_t>(sizeof(float)));
  const auto arguments = plain_arguments(graph);
  const Result<tile::ScheduledGraph> kernel =
      lower(graph, small_schedule(way, sizes), device, *arguments, Division::by_quotients);
  if (!kernel.ok()) return std::nullopt;
  SmallKernel small{name, way, reference_kernel(block::meaning_of(graph).terms), tile::print(kernel.value()),
                    {},   {}};
  small.arguments = random_values(small.reference);
  small.results = tile::interpret(small.reference, small.arguments, tile::Arithmetic::float64);
  return small;
}

using Places = std::vector<std::pair<size_t, size_t>>;  // of a text: where, and how long

// What a mistake may be made in.
enum class Part { number, buffer, axis, operand, function, restart, store, nest };
constexpr int kParts = 8;

Places places_of(const std::string& text, Part part) {
  static const std::regex patterns[kParts] = {
      std::regex("\\b[0-9]+\\b"),
      std::regex("\\b(?:in|const|out|temp|s)[0-9]+(?=\\[)"),
      std::regex("\\b(?:at_|i_|block|row|col|tile|k_tile|r|c|k)[a-z0-9_]*\\b(?= \\*| \\+|\\])"),
      std::regex("%[0-9]+(?=[,)\\n ])(?! =)"),
      std::regex("\\b(?:add|sub|mul|max|div|min)(?=\\()"),
      std::regex(" anew [^{\\n]*(?= registers)| anew [^{\\n]*(?= \\{)"),
      std::regex("\\n *[a-z]+[0-9]+\\[[^\\n]*<-[^\\n]*"),
      std::regex("\\n( *)(?:map|reduce)[^\\n]*\\{")};
  Places places;
  const auto first = static_cast<std::ptrdiff_t>(text.find("phase"));
  const std::regex& pattern = patterns[static_cast<size_t>(part)];
  for (std::sregex_iterator i(text.begin() + first, text.end(), pattern), end; i != end; ++i)
    places.emplace_back(static_cast<size_t>(i->position() + first), static_cast<size_t>(i->length()));
  return places;
}

// Of one text: texts with one mistake each.
class TileMutator {
 public:
  explicit TileMutator(std::string text) : text_(std::move(text)) {
    for (int part = 0; part < kParts; ++part) places_[part] = places_of(text_, static_cast<Part>(part));
  }

  std::string mutant(std::mt19937_64& random) const {
    const auto part = static_cast<Part>(random() % kParts);
    const Places& places = places_[static_cast<size_t>(part)];
    if (places.empty()) return text_;
    const auto [at, size] = places[random() % places.size()];
    std::string text = text_;
    switch (part) {
      case Part::number:
        if (text[at - 1] == '%') return text;
        return text.replace(at, size, other_number(std::stoi(text.substr(at, size)), random));
      case Part::buffer:  // a store to, or a load from, another one
      case Part::axis:
      case Part::operand:
      case Part::function: {
        const auto [from, length] = places[random() % places.size()];
        return text.replace(at, size, text_.substr(from, length));
      }
      case Part::restart:
      case Part::store:
        return text.erase(at, size);
      case Part::nest:
        return text.erase(at, end_of_nest(at, size) - at);
    }
    return text;
  }

 private:
  // In an index, a range or a condition.
  static std::string other_number(int number, std::mt19937_64& random) {
    return std::to_string(number == 0 || random() % 2 == 0 ? number + 1 : number - 1);
  }

  size_t end_of_nest(size_t at, size_t size) const {
    const size_t indent = text_.find_first_not_of(' ', at + 1) - at - 1;
    const std::string close = "\n" + std::string(indent, ' ') + "}";
    return text_.find(close, at + size) + close.size();
  }

  std::string text_;
  Places places_[kParts];
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
                           "rms_swiglu", "absmax_matmul", "ntrans", "qk_norm_gqa", "inverted_residual"})
    for (const Way way : kWays)
      for (const SmallSizes& sizes : kSmallSizes)
        if (auto kernel = small_kernel(name, way, sizes)) kernels.push_back(std::move(*kernel));
  return kernels;
}

TEST(TileMutants, ThoseThatComputeSomethingElseAreNotEqual) {
  const char* wanted = std::getenv("KORCH_MUTANTS");
  const int mutants = wanted != nullptr ? std::stoi(wanted) : 1000;
  const std::vector<SmallKernel> kernels = small_kernels();
  for (const SmallKernel& kernel : kernels) {
    const tile::ScheduledGraph parsed = tile::parse_tile_graph(kernel.text);
    ASSERT_FALSE(differs(kernel, parsed)) << kernel.name << "\n" << kernel.text;
    ASSERT_EQ(tile::compare_over_field(parsed, kernel.reference, {4, 1}).says, FieldResult::Says::same)
        << kernel.name << "\n"
        << kernel.text;
  }
  std::vector<TileMutator> mutators;
  for (const SmallKernel& kernel : kernels) mutators.emplace_back(kernel.text);
  std::mt19937_64 random(48);
  std::set<std::string> seen;
  std::map<Way, int> different;
  for (int count = 0, draws = 0; count < mutants; ++draws) {
    ASSERT_LT(draws, 100 * mutants) << count << " mutants were found, " << seen.size() << " tried";
    const size_t which = random() % kernels.size();
    const SmallKernel& kernel = kernels[which];
    const std::string text = mutators[which].mutant(random);
    if (!seen.insert(kernel.name + text).second) continue;
    try {
      const tile::ScheduledGraph mutant = tile::parse_tile_graph(text);
      if (!tile::structural_fault(mutant).empty() || !tile::coverage_fault(mutant).empty() ||
          !differs(kernel, mutant))
        continue;
      ++count;
      ++different[kernel.way];
      EXPECT_NE(tile::compare_over_field(mutant, kernel.reference, {16, 1}).says, FieldResult::Says::same)
          << kernel.name << "\n"
          << text << "\nin place of\n"
          << kernel.text;
    } catch (const Error&) {  // no graph, or one with other arguments
    }
  }
  for (const Way way : kWays) EXPECT_GT(different[way], mutants / 10);
}

}  // namespace
}  // namespace korch::blocks
