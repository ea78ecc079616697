// Kernels of the models: tile graph, machine code and primitives agree, and slices access what their regions
// say.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <random>

#include "compare.h"
#include "kernel_runner.h"
#include "korch/backend/spell.h"
#include "korch/base/error.h"
#include "korch/interp/interpreter.h"
#include "korch/ir/text.h"
#include "korch/tensor/element.h"
#include "model_kernels.h"
#include "options.h"
#include "shrink.h"
#include "slices.h"
#include "tile_graph_check.h"

namespace korch::testing {
namespace {

// Evaluations of single expressions, some ten million of which the interpreter does in a second.
constexpr double kWholeWork = 4e6, kSliceWork = 1.5e6;
// Multiply-adds and the like of a slice that is traced.
constexpr double kTracedWork = 5e8;
// Of a kernel too long for the tile graph's interpreter, for the primitives' interpreter.
constexpr double kCodeFlops = 2e8;

struct Counts {
  int kernels = 0;
  int whole = 0, shrunken = 0, slices_alone = 0;  // of these
  int same_way = 0;                               // of the shrunken: tiles and layouts, too
  int full_code = 0;  // of those not whole: machine code whole at full shape against the primitives
  int compared_slices = 0, long_slices = 0;        // those too long for the interpreter
  int traced = 0, traced_slices = 0, between = 0;  // those that load between every second element
  int covered = 0, not_exact = 0;                  // outputs once by all slices; regions that do not tell
};

double work_of(const tile::ScheduledGraph& graph, const tile::Phase& phase) {
  double work = 0;
  for (const tile::Nest& nest : phase.nests) {
    tile::Phase alone = phase;
    alone.nests = {nest};
    work += alone.slice_work() * static_cast<double>(graph.pool.reachable(nest.roots()).size());
  }
  for (const tile::GridVariable& grid : phase.grid)
    if (grid.chunk > 1) work *= static_cast<double>(grid.chunk) / static_cast<double>(grid.variable.extent);
  return work;
}

double work_of(const tile::ScheduledGraph& graph) {
  double work = 0;
  for (const tile::Phase& phase : graph.phases)
    work += work_of(graph, phase) * static_cast<double>(phase.slices());
  return work;
}

bool has_nan(const std::vector<HostTensor>& tensors) {
  for (const HostTensor& tensor : tensors)
    for (int64_t i = 0; i < tensor.elements(); ++i)
      if (std::isnan(element_as_double(tensor, i))) return true;
  return false;
}

// Near which sums of either sign would be rounding errors blown up.
bool has_pole(const Graph& graph) {
  for (NodeId id : graph.topological_order())
    for (Op op : {Op::Reciprocal, Op::Div, Op::Log, Op::Sqrt, Op::Pow})
      if (graph.node(id).op == op) return true;
  return false;
}

// Implementations of the same family that the other shapes have, those most like this one first.
std::vector<Implementation> like(const Alone& other, const ModelKernel& kernel) {
  if (kernel.reorder) return {kernel.way};
  std::vector<Implementation> ways =
      implementations(other.graph, other.candidate, model_target(), Accuracy::standard);
  std::erase_if(ways, [&](const Implementation& way) { return way.family != kernel.way.family; });
  const auto distance = [&](const Implementation& way) {
    if (to_string(way) == to_string(kernel.way)) return 0;
    return way.input_layouts == kernel.way.input_layouts && way.output_layouts == kernel.way.output_layouts
               ? 1
               : 2;
  };
  std::stable_sort(ways.begin(), ways.end(), [&](const Implementation& a, const Implementation& b) {
    return distance(a) < distance(b);
  });
  return ways;
}

class KernelCheck {
 public:
  KernelCheck(const ModelKernel& kernel, uint64_t seed, Counts& counts)
      : kernel_(kernel), random_(seed), counts_(counts) {}

  void run() {
    const Alone full = alone(*kernel_.graph, kernel_.candidate);
    const Result<tile::ScheduledGraph> tiles =
        tile_graph_of(full.graph, full.candidate, kernel_.way, kernel_.reorder);
    if (!tiles.ok()) {
      ADD_FAILURE() << tiles.refusal().detail;
      return;
    }
    ++counts_.kernels;
    EXPECT_EQ(tile::structural_fault(tiles.value()), "") << tile::print(tiles.value());
    const Coverage coverage = coverage_by_slices(tiles.value());
    EXPECT_EQ(coverage.fault, "");
    ++(coverage.exact ? counts_.covered : counts_.not_exact);
    if (!coverage.exact && options().verbose)
      std::cout << "which elements are written is not known\n" << tile::print(tiles.value());
    const bool whole = work_of(tiles.value()) <= kWholeWork;
    if (whole) {
      check_whole(full, kernel_.way, true);
      ++counts_.whole;
    } else if (check_shrunken()) {
      ++counts_.shrunken;
    } else {
      ++counts_.slices_alone;
    }
    if (!whole && kernel_.way.flops <= kCodeFlops) {
      check_whole(full, kernel_.way, false);
      ++counts_.full_code;
    }
    check_slices(tiles.value(), whole);
  }

 private:
  bool check_shrunken() {
    for (int64_t least : {2 * kTail, kTail}) {
      const std::optional<Alone> small = shrunken(*kernel_.graph, kernel_.candidate, least);
      if (!small) return false;
      for (const Implementation& way : like(*small, kernel_)) {
        const Result<tile::ScheduledGraph> tiles =
            tile_graph_of(small->graph, small->candidate, way, kernel_.reorder);
        if (!tiles.ok()) continue;
        if (work_of(tiles.value()) > kWholeWork) break;
        SCOPED_TRACE("shrunken, " + to_string(way) + "\n" + print(small->graph));
        check_whole(*small, way, true);
        counts_.same_way += to_string(way) == to_string(kernel_.way);
        return true;
      }
    }
    return false;
  }

  // `interpreted`: the tile graph, too.
  void check_whole(const Alone& alone, const Implementation& way, bool interpreted) {
    constexpr double kNoise = 20, kLeast = 1e-4, kConditioned = 2e-6;
    std::vector<HostTensor> inputs, expected;
    double noise = 0;
    for (double low : {-2.0, 0.125}) {  // positive where results would not be numbers, or mostly rounding
      if (low < 0 && has_pole(alone.graph)) continue;
      inputs.clear();
      for (ValueId input : alone.candidate.inputs)
        inputs.push_back(random_memory(alone.graph.value(input).type, random_(), low, 2));
      expected = interpret(alone.graph, inputs);
      const std::vector<HostTensor> rounded =
          interpret(alone.graph, inputs, {.precision = Precision::native, .observe = {}});
      noise = 0;
      for (size_t i = 0; i < expected.size(); ++i)
        noise = std::max(noise, largest_difference(rounded[i], expected[i]));
      positive_ = low > 0;
      if (!has_nan(expected) && noise <= kConditioned) break;
    }
    const double tolerance = std::max(kLeast, kNoise * noise);
    tile::ScheduledGraph tiles = tile_graph_of(alone.graph, alone.candidate, way, kernel_.reorder).value();
    Kernel kernel = spelled(tiles, model_target());
    if (interpreted)
      check_tiles(std::move(tiles), alone.graph, alone.candidate, way, model_target(), inputs, expected,
                  tolerance, "tile graph");
    const RunResult result = run_kernel(alone.graph, alone.candidate, kernel, way, model_target(), inputs);
    EXPECT_EQ(result.status, 0);
    for (size_t i = 0; i < result.outputs.size(); ++i)
      expect_close(result.outputs[i], expected[i], tolerance, "machine code, output " + std::to_string(i));
  }

  // `whole`: the kernel was compared whole, at this shape.
  void check_slices(const tile::ScheduledGraph& tiles, bool whole) {
    Slices slices(tiles, model_target(), positive_ ? 0.125 : -2, 2);
    ++counts_.traced;
    for (size_t phase = 0; phase < tiles.phases.size(); ++phase) {
      const int64_t count = tiles.phases[phase].slices();
      std::vector<int64_t> some{count - 1};  // the last one has the tails
      if (count > 1) some.push_back(static_cast<int64_t>(random_() % static_cast<uint64_t>(count - 1)));
      const double work = work_of(tiles, tiles.phases[phase]);
      for (int64_t slice : some) {
        SCOPED_TRACE("phase " + std::to_string(phase) + " slice " + std::to_string(slice));
        if (work > kTracedWork) {
          ++counts_.long_slices;
          continue;
        }
        slices.run(phase, slice);
        EXPECT_EQ(slices.stray_accesses(), "");
        ++counts_.traced_slices;
        if (whole) continue;  // compared as a part of that
        if (work > kSliceWork) {
          ++counts_.long_slices;
          continue;
        }
        EXPECT_EQ(slices.differences(), "");
        ++counts_.compared_slices;
      }
    }
    counts_.between += slices.loads_between();
  }

  const ModelKernel& kernel_;
  std::mt19937_64 random_;
  Counts& counts_;
  bool positive_ = false;
};

std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << c.kernels << " kernels: " << c.whole << " whole, " << c.shrunken
             << " whole on smaller shapes (" << c.same_way << " with the same tiles), " << c.slices_alone
             << " by slices alone; " << c.full_code << " of both: code whole at full shape; "
             << c.compared_slices << " slices compared, " << c.long_slices << " too long for that; "
             << c.traced << " kernels traced (" << c.between << " load between every second element) in "
             << c.traced_slices << " slices; outputs of " << c.covered << " covered once, of " << c.not_exact
             << " not known";
}

void check_one(const std::string& model, size_t number, const ModelKernel& kernel, Counts& counts) {
  const std::string what = to_string(kernel.way);
  if (options().verbose)
    std::cout << model << " " << number << " " << kernel.origin << " " << what << std::endl;
  // What a model before has, too, is not looked at again: numbers are of these models together.
  const std::string models = fmt::format("{}", fmt::join(options().models, ","));
  SCOPED_TRACE("rerun: test_model_kernels --gtest_filter='ModelKernels.*' --plans --models " + models +
               " --sample " + std::to_string(options().sample) + " --seed " + std::to_string(options().seed) +
               " --kernel " + std::to_string(number) + "\n" + kernel.origin + ", " + what + "\n" + model +
               ": " + print(alone(*kernel.graph, kernel.candidate).graph));
  try {
    KernelCheck(kernel, options().seed + number, counts).run();
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST(ModelKernels, ComputeWhatPrimitivesDoAndAccessTheirRegions) {
  ModelKernelSource source(options().seed);
  std::map<std::string, Counts> by_origin;
  size_t left = options().sample, models = options().models.size();
  for (const std::string& model : options().models) {
    const size_t sample = left / models--;
    std::vector<ModelKernel> kernels = source.next(model, sample);
    size_t sampled = 0;
    std::map<std::string, size_t> of_plans;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const bool drawn = kernels[i].origin == "sample";
      sampled += drawn;
      if (options().only >= 0 ? static_cast<size_t>(options().only) != i
                              : i % options().parts != static_cast<size_t>(options().part))
        continue;
      if (!drawn && !options().plans && ++of_plans[kernels[i].origin] > sample) continue;
      check_one(model, i, kernels[i], by_origin[kernels[i].origin]);
    }
    left -= sampled;
    std::cout << model << ": " << kernels.size() << " kernels, " << sampled
              << " of them sampled; looked at so far:\n";
    for (const auto& [origin, counts] : by_origin) std::cout << "  " << origin << ": " << counts << std::endl;
  }
}

}  // namespace
}  // namespace korch::testing
