#include "open_case.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "korch/device/device.h"
#include "korch/driver/pipeline.h"
#include "korch/interp/interpreter.h"
#include "korch/package/loaded.h"
#include "oracle.h"

namespace korch::fuzz {
namespace {

// `from` where the indices of a larger tensor of its type begin.
void place(const HostTensor& from, HostTensor& into) {
  const size_t width = size_bytes(from.dtype());
  const Shape strides = row_major_strides(into.shape());
  for (int64_t i = 0; i < from.elements(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t axis = strides.size(); axis-- > 0; rest /= from.shape()[axis])
      at += rest % from.shape()[axis] * strides[axis];
    std::memcpy(static_cast<char*>(into.mutable_raw()) + static_cast<size_t>(at) * width,
                static_cast<const char*>(from.raw()) + static_cast<size_t>(i) * width, width);
  }
}

// What one run should give.
struct Expected {
  explicit Expected(const OpenModel& model, size_t run)
      : graph(model.of_run(run)), inputs(model.data(run)), oracle(graph, inputs), extents(model.runs[run]) {
    std::vector<HostTensor> values;
    for (ValueId output : graph.outputs()) values.push_back(oracle.exact(output));
    shapes = output_shapes(graph, values);
    shapes.resize(values.size() - graph.extents().size());
  }
  Expected(const Expected&) = delete;

  std::optional<std::string> difference(const std::vector<HostTensor>& got) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const ValueId output = graph.outputs()[i];
      if (got[i].shape() != shapes[i])
        return fmt::format("output {}: {} instead of {}", i, korch::to_string(got[i].shape()),
                           korch::to_string(shapes[i]));
      // What a bound leaves unused has no say.
      const bool is_whole = shapes[i] == graph.value(output).type.shape;
      if (const auto what = oracle.difference(output, is_whole ? got[i] : in_exact(output, got[i])))
        return fmt::format("output {}: {}", i, *what);
    }
    return std::nullopt;
  }
  // `got` within the exact Value, whose extents depend on the data.
  HostTensor in_exact(ValueId output, const HostTensor& got) const {
    const HostTensor& exact = oracle.exact(output);
    HostTensor result(exact.type());
    std::memcpy(result.mutable_raw(), exact.raw(), static_cast<size_t>(exact.bytes()));
    place(converted(got, exact.dtype()), result);
    return result;
  }

  Graph graph;
  std::vector<HostTensor> inputs;
  Oracle oracle;
  Extents extents;
  std::vector<Shape> shapes;
  bool is_refused = false;  // by its data
};

std::string text(const Extents& extents) {
  std::string result;
  for (const auto& [symbol, extent] : extents)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", symbol, extent);
  return result;
}

// The graph of the ranges takes inputs at their bounds, with what is no number beyond the extents, and then
// the extents.
std::vector<HostTensor> interpreted(const Graph& graph, const Expected& run) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    HostTensor whole(graph.value(graph.inputs()[i]).type);
    if (whole.bytes() > 0)
      std::memset(whole.mutable_raw(), is_float(whole.dtype()) ? 0xff : 0x7e,
                  static_cast<size_t>(whole.bytes()));
    place(run.inputs[i], whole);
    inputs.push_back(std::move(whole));
  }
  for (const OpenDimension& dimension : graph.open_dimensions())
    inputs.push_back(HostTensor::of<int64_t>(DType::i64, {}, {run.extents.at(dimension.name)}));
  std::vector<HostTensor> outputs = interpret(graph, inputs);
  const std::vector<Shape> shapes = output_shapes(graph, outputs);
  outputs.resize(outputs.size() - graph.extents().size());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs[i].cropped(shapes[i]);
  return outputs;
}

std::vector<PlanChoice> plans_of(Random& random) {
  std::vector<PlanChoice> plans{{Subject::Kind::random, static_cast<uint64_t>(random.below(1 << 20))}};
  if (random.one_in(2))
    plans.push_back({Subject::Kind::random, static_cast<uint64_t>(random.below(1 << 20))});
  if (random.one_in(2)) plans.push_back({Subject::Kind::greedy, 1});
  return plans;
}

std::shared_ptr<const LoadedCode> compiled(const Graph& graph, const PlanChoice& plan, uint64_t seed,
                                           const std::string& folder) {
  Random random(seed);
  CompileOptions options;
  options.threads = random.one_in(2) ? 1 : 2;
  if (random.one_in(3) && runs_here(Isa::x86_64_v3)) options.target = name(Isa::x86_64_v3);
  options.strategy = plan.kind == Subject::Kind::greedy ? Strategy::greedy : Strategy::random;
  options.random_seed = plan.seed;
  options.measure = Measure::none;
  options.verify = options.heal = false;
  options.database_path = folder + "/kernels.db";  // with this machine's speeds
  const std::string file = fmt::format("{}/{}.so", folder, ::getpid());
  compile_graph(graph, "open", file, options);
  auto result = std::make_shared<const LoadedCode>(read_executable(file));
  ::unlink(file.c_str());
  return result;
}

// Whether korch takes these extents at all: where axes of different symbols meet, it takes equal ones alone.
bool takes(const Graph& graph, const Extents& run) {
  std::vector<int64_t> extents;
  for (const OpenDimension& dimension : graph.open_dimensions()) extents.push_back(run.at(dimension.name));
  return fitting_extents(graph.open_dimensions(), extents) == extents;
}

// Of a dimension that no option gives: whether it is what it must be in this run. The others are as given.
bool follows(const Graph& graph, const std::string& symbol, const Extents& run) {
  std::vector<int64_t> extents;
  const OpenDimension* derived = nullptr;
  for (const OpenDimension& dimension : graph.open_dimensions()) {
    extents.push_back(run.at(dimension.name));
    if (dimension.name == symbol) derived = &dimension;
  }
  return derived == nullptr || (derived->sum && derived->sum->of(extents) == run.at(symbol));
}

// Runs with a state give the bytes that runs without one do, which take what the ones before gave. What
// differs; nothing where runs are refused.
std::optional<std::string> state_difference(const std::shared_ptr<const LoadedCode>& code,
                                            LoadedExecutable& alone,
                                            const std::vector<std::unique_ptr<Expected>>& runs) {
  LoadedExecutable executable(code, alone.threads());
  LoadedState state(code);
  std::vector<HostTensor> kept(code->states.size());  // what the next run takes without one
  bool has_run = false;
  for (size_t round = 0; round < 2 * runs.size(); ++round) {
    std::vector<HostTensor> inputs = runs[round * 7 % runs.size()]->inputs;
    std::vector<const void*> given;
    std::vector<const int64_t*> dims;
    for (size_t s = 0; s < kept.size(); ++s) {
      const StatePair& pair = code->states[s];
      HostTensor& input = inputs[static_cast<size_t>(pair.input)];
      if (has_run) {
        input = kept[s];
      } else if (pair.axis >= 0) {
        Shape none = input.shape();
        none[static_cast<size_t>(pair.axis)] = 0;
        input = HostTensor(TensorType{input.dtype(), none});
      } else {
        input = HostTensor(input.type());
      }
    }
    std::vector<HostTensor> made;
    try {
      made = alone.run(inputs);
    } catch (const Error&) {  // the state is as long as it may be, or the batch is another one
      continue;
    }
    for (const HostTensor& input : inputs) {
      given.push_back(input.raw());
      dims.push_back(input.shape().data());
    }
    std::vector<HostTensor> outputs = executable.allocate_outputs();
    std::vector<void*> wanted;
    for (HostTensor& output : outputs) wanted.push_back(output.mutable_raw());
    for (size_t s = 0; s < kept.size(); ++s) {
      const StatePair& pair = code->states[s];
      given[static_cast<size_t>(pair.input)] = nullptr;
      dims[static_cast<size_t>(pair.input)] = nullptr;
      wanted[static_cast<size_t>(pair.output)] = nullptr;
      kept[s] = made[static_cast<size_t>(pair.output)];
    }
    has_run = true;
    executable.run_on(given.data(), wanted.data(), nullptr, dims.data(), state.get());
    for (size_t o = 0; o < made.size(); ++o) {
      if (executable.output_shape(o) != made[o].shape())
        return fmt::format("output {} has another shape with a state", o);
      if (wanted[o] != nullptr &&
          std::memcmp(outputs[o].raw(), made[o].raw(), static_cast<size_t>(made[o].bytes())) != 0)
        return fmt::format("output {} differs with a state of length {}", o, state.length());
    }
  }
  return std::nullopt;
}

class OpenCase {
 public:
  OpenCase(uint64_t seed, CaseResult& result)
      : seed_(seed), result_(result), model_(random_open_model(seed)) {}

  void check(const std::string& folder, const std::function<void(const PlanChoice&)>& progress) {
    Graph graph;
    try {
      graph = model_.of_ranges();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) throw;
      ++result_.coverage[fmt::format("refused: {}", error.what())];
      return;
    }
    for (const std::string& symbol : model_.derived)
      for (const Extents& run : model_.runs)
        if (!follows(graph, symbol, run) && !is_restricted(graph)) {
          add_finding("derived", {}, fmt::format("{}: {} is something else", text(run), symbol));
          return;
        }
    for (size_t run = 0; run < model_.runs.size(); ++run)
      if (takes(graph, model_.runs[run]))
        runs_.push_back(std::make_unique<Expected>(model_, run));
      else
        ++result_.coverage["refused: a run's extents"];
    for (const auto& run : runs_)
      if (!run->oracle.is_moderate(false)) {
        result_.is_defined = false;
        return;
      }
    const auto by_interpreter = [&](const Expected& run) { return interpreted(graph, run); };
    if (!compare("import", {}, by_interpreter)) return;
    Random random(seed_ ^ 0x5851f42d4c957f2d);
    for (const PlanChoice& plan : plans_of(random)) {
      if (progress) progress(plan);
      const auto code = compiled(graph, plan, random.bits(), folder);
      LoadedExecutable executable(code);
      if (!compare("output", plan, [&](const Expected& run) { return executable.run(run.inputs); })) continue;
      for (const std::string& symbol : model_.derived) expect_refusal(executable, graph, plan, symbol);
      check_states(code, executable, plan);
    }
  }

 private:
  // Whether dimensions that have ranges must be equal, or the like: then not all runs are right.
  bool is_restricted(const Graph& graph) const {
    return std::any_of(
        graph.open_dimensions().begin(), graph.open_dimensions().end(), [&](const OpenDimension& dimension) {
          return model_.ranges.contains(dimension.name) && (dimension.sum || !dimension.fitting.empty());
        });
  }

  // Of a run with one element more or less along a dimension that follows from others.
  void expect_refusal(LoadedExecutable& executable, const Graph& graph, const PlanChoice& plan,
                      const std::string& symbol) {
    for (const OpenDimension& dimension : graph.open_dimensions()) {
      if (dimension.name != symbol || runs_.empty() || dimension.axes.size() != 1) continue;
      const auto& [input, axis] = dimension.axes[0];
      std::vector<HostTensor> inputs = runs_.back()->inputs;
      Shape shape = inputs[static_cast<size_t>(input)].shape();
      int64_t& extent = shape[static_cast<size_t>(axis)];
      extent += extent < dimension.most ? 1 : -1;
      if (extent < dimension.least) continue;
      inputs[static_cast<size_t>(input)] = HostTensor(TensorType{DType::f32, shape});
      ++result_.pairs;
      try {
        executable.run(inputs);
        add_finding("derived", plan, fmt::format("ran with {} of {}", extent, symbol));
      } catch (const Error& error) {
        const std::string what = error.what();
        if (error.kind() != ErrorKind::invalid || what.find(", which is ") == std::string::npos)
          add_finding("derived", plan, what);
      }
    }
  }

  void add_finding(const char* kind, const PlanChoice& plan, const std::string& what) {
    result_.findings.push_back({seed_, {kind, fmt::format("{}", fmt::join(model_.motifs, " ")), what}, plan});
  }

  void check_states(const std::shared_ptr<const LoadedCode>& code, LoadedExecutable& executable,
                    const PlanChoice& plan) {
    if (code->states.empty()) return;
    ++result_.pairs;
    ++result_.coverage["states"];
    if (const auto what = state_difference(code, executable, runs_)) add_finding("state", plan, *what);
  }

  bool compare(const char* kind, const PlanChoice& plan,
               const std::function<std::vector<HostTensor>(const Expected&)>& results) {
    for (const auto& run : runs_) {
      ++result_.pairs;
      for (const std::string& motif : model_.motifs) ++result_.coverage[motif];
      std::optional<std::string> what;
      try {
        what = run->difference(results(*run));
        if (run->is_refused) what = "the interpreter refuses its extents, and this does not";
      } catch (const Error& error) {
        what = error.what();
        // Extents that the data say differ where they meet.
        if (what->find("with the extents of this run") != std::string::npos) {
          if (std::string_view(kind) == "import") {
            run->is_refused = true;
            ++result_.coverage["refused: a run's data"];
          }
          if (run->is_refused) what.reset();
        }
      }
      if (!what) continue;
      add_finding(kind, plan, fmt::format("{}: {}", text(run->extents), *what));
      return false;
    }
    return true;
  }

  const uint64_t seed_;
  CaseResult& result_;
  const OpenModel model_;
  std::vector<std::unique_ptr<Expected>> runs_;
};

}  // namespace

CaseResult check_open_case(uint64_t seed, const std::string& folder,
                           const std::function<void(const PlanChoice&)>& progress) {
  CaseResult result;
  PlanChoice plan;
  try {
    OpenCase(seed, result).check(folder, [&](const PlanChoice& next) {
      plan = next;
      if (progress) progress(plan);
    });
  } catch (const std::exception& error) {
    result.findings.push_back({seed, {"error", error.what(), error.what()}, plan});
  }
  return result;
}

}  // namespace korch::fuzz
