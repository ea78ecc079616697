// Regions against machine code: a slice computes the same whatever lies outside of the region that it reads,
// and changes nothing outside of the region that it writes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "cases.h"
#include "generate.h"
#include "kernel_runner.h"
#include "korch/backend/cpu/compiler.h"
#include "korch/backend/spell.h"
#include "korch/ir/text.h"
#include "korch/kernel/region.h"
#include "korch/runtime/abi.h"

namespace korch::testing {
namespace {

using tile::Buffer;
using tile::BufferRole;
using tile::Direction;

constexpr int64_t kSlices = 6;  // of a phase, spread over its grid

bool is_read_only(const Buffer& buffer) {
  return buffer.role == BufferRole::input || buffer.role == BufferRole::constant;
}

// The kernel of a graph, loaded, with memory for its arguments.
class LoadedGraph {
 public:
  LoadedGraph(tile::ScheduledGraph graph, const Device& target)
      : graph_(std::move(graph)), kernel_(spelled(graph_, target)) {
    const std::string object = compile_object(kernel_.source, target.code).value();
    std::vector<std::string> symbols;
    for (const KernelPhase& phase : kernel_.phases) symbols.push_back(phase.symbol);
    functions_ = loaded_.load(object, symbols).value();
  }

  const tile::ScheduledGraph& graph() const { return graph_; }

  // What one slice makes of these arguments (inputs, constants, outputs and temporaries in order).
  std::vector<HostTensor> run(std::vector<HostTensor> arguments, size_t phase, int64_t slice) const {
    std::vector<void*> pointers;
    for (HostTensor& argument : arguments) {
      HostTensor copy(argument.type());
      std::memcpy(copy.mutable_raw(), argument.raw(), static_cast<size_t>(argument.bytes()));
      argument = std::move(copy);
      pointers.push_back(argument.mutable_raw());
    }
    HostTensor scratch(TensorType{DType::u8, {kernel_.scratch_bytes + 64}});
    const korch_kernel_context context{pointers.data(), scratch.mutable_raw(), nullptr, 0};
    EXPECT_EQ(reinterpret_cast<korch_kernel_fn>(functions_[phase])(&context, slice, slice + 1), 0);
    return arguments;
  }

 private:
  tile::ScheduledGraph graph_;
  Kernel kernel_;
  LoadedKernels loaded_;
  std::vector<void*> functions_;
};

std::vector<bool> mask_of(const tile::Region& region, int64_t elements) {
  std::vector<bool> mask(static_cast<size_t>(elements));
  tile::for_each_element(region, [&](int64_t element) { mask[static_cast<size_t>(element)] = true; });
  return mask;
}

void copy_element(HostTensor& to, const HostTensor& from, int64_t at) {
  const size_t size = size_bytes(to.dtype());
  std::memcpy(static_cast<char*>(to.mutable_raw()) + at * size,
              static_cast<const char*>(from.raw()) + at * size, size);
}

bool same_element(const HostTensor& a, const HostTensor& b, int64_t at) {
  const size_t size = size_bytes(a.dtype());
  return std::memcmp(static_cast<const char*>(a.raw()) + at * size,
                     static_cast<const char*>(b.raw()) + at * size, size) == 0;
}

using RegionOf = std::function<tile::Region(Direction, int buffer, int64_t slice)>;

// What contradicts the regions of this slice; empty when nothing does.
std::string contradiction(const LoadedGraph& loaded, const RegionOf& region, int64_t slice,
                          size_t phase = 0) {
  const tile::ScheduledGraph& graph = loaded.graph();
  std::vector<HostTensor> first, second;
  std::vector<std::vector<bool>> written;
  for (size_t i = 0; i < graph.buffers.size() && graph.buffers[i].role != BufferRole::scratch; ++i) {
    const Buffer& buffer = graph.buffers[i];
    const TensorType type{buffer.type, {buffer.elements}};
    const int number = static_cast<int>(i);
    first.push_back(random_tensor(type, 100 + i));
    second.push_back(random_tensor(type, 200 + i));
    if (is_read_only(buffer)) {
      written.emplace_back();
      const std::vector<bool> read = mask_of(region(Direction::read, number, slice), buffer.elements);
      for (int64_t at = 0; at < buffer.elements; ++at)
        if (read[static_cast<size_t>(at)]) copy_element(second.back(), first.back(), at);
    } else {
      const tile::Region here = region(Direction::written, number, slice);
      written.push_back(mask_of(here, buffer.elements));
      if (!here.exact) second.back() = first.back();  // what data leaves out stays
    }
  }
  const std::vector<HostTensor> one = loaded.run(first, phase, slice),
                                other = loaded.run(second, phase, slice);
  for (size_t i = 0; i < first.size(); ++i)
    for (int64_t at = 0; at < first[i].elements(); ++at) {
      if (is_read_only(graph.buffers[i])) continue;
      const bool inside = written[i][static_cast<size_t>(at)];
      if (inside && !same_element(one[i], other[i], at))
        return graph.name(static_cast<int>(i)) + " depends on what lies outside of what is read";
      if (!inside && !same_element(one[i], first[i], at))
        return graph.name(static_cast<int>(i)) + " is written outside of its region";
    }
  return {};
}

RegionOf regions_of(const tile::ScheduledGraph& graph, size_t phase = 0) {
  return [&graph, phase](Direction direction, int buffer, int64_t slice) {
    return tile::region(graph, graph.phases[phase], direction, buffer, slice, slice + 1);
  };
}

std::vector<int64_t> some_slices(int64_t count) {
  std::vector<int64_t> slices;
  for (int64_t i = 0; i < std::min(count, kSlices); ++i)
    slices.push_back(i * (count - 1) / std::max<int64_t>(1, kSlices - 1));
  return slices;
}

// How many kernels were looked at.
int check_regions(const Graph& graph, const std::string& family) {
  const Candidate candidate = whole_graph(graph);
  const Device target = test_target(runnable_isas().back());
  int checked = 0;
  for (const Implementation& way : listed(graph, candidate, target, family)) {
    Result<tile::ScheduledGraph> tiles = tile_graph(graph, candidate, way, target);
    if (!tiles) continue;
    const LoadedGraph loaded(std::move(tiles.value()), target);
    for (size_t phase = 0; phase < loaded.graph().phases.size(); ++phase)
      for (int64_t slice : some_slices(loaded.graph().phases[phase].slices()))
        EXPECT_EQ(contradiction(loaded, regions_of(loaded.graph(), phase), slice, phase), "")
            << to_string(way) << " phase " << phase << " slice " << slice << "\n"
            << print(graph) << tile::print(loaded.graph());
    ++checked;
  }
  return checked;
}

TEST(Regions, HoldForHandWrittenCandidates) {
  for (const Case& c : hand_written()) EXPECT_GT(check_regions(parse_graph(c.text), "loop"), 0) << c.name;
  for (const Case& c : products())
    EXPECT_GT(check_regions(parse_graph(c.text), "linear_generic"), 0) << c.name;
}

TEST(Regions, HoldForOpaquePrimitives) {
  for (const Case& c : opaque_primitives())
    EXPECT_GT(check_regions(parse_graph(c.text), "opaque"), 0) << c.name;
}

TEST(Regions, HoldForRandomCandidates) {
  // KORCH_SEED=n looks at one graph alone, KORCH_GRAPHS=n at so many.
  const char *only = std::getenv("KORCH_SEED"), *many = std::getenv("KORCH_GRAPHS");
  const int first = only != nullptr ? std::atoi(only) : 0;
  const int count = only != nullptr ? 1 : many != nullptr ? std::atoi(many) : 30;
  int checked = 0;
  for (int seed = first; seed < first + count && !HasFailure(); ++seed) {
    checked += check_regions(random_graph(static_cast<uint64_t>(seed)), "loop");
    if (HasFailure()) std::cout << "rerun: KORCH_SEED=" << seed << "\n";
  }
  std::cout << checked << " kernels\n";
  EXPECT_GT(checked, count);
}

// The check itself: a region without its last element contradicts the machine code.
TEST(Regions, TooSmallByOneAreNoticed) {
  const Graph graph = parse_graph("graph {\ninput %x : f32[40x24] \"x\"\n%y = Exp(%x)\noutput %y \"y\"\n}");
  const Candidate candidate = whole_graph(graph);
  const Device target = test_target(runnable_isas().back());
  const LoadedGraph loaded(
      std::move(tile_graph(graph, candidate, listed(graph, candidate, target, "loop")[0], target).value()),
      target);
  const RegionOf right = regions_of(loaded.graph());
  EXPECT_EQ(contradiction(loaded, right, 0), "");
  for (Direction smaller : {Direction::read, Direction::written}) {
    const RegionOf wrong = [&](Direction direction, int buffer, int64_t slice) {
      tile::Region region = right(direction, buffer, slice);
      if (direction == smaller) --region.boxes.back().axes.back().extent;
      return region;
    };
    EXPECT_NE(contradiction(loaded, wrong, 0), "");
  }
}

}  // namespace
}  // namespace korch::testing
