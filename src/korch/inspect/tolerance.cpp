#include "korch/inspect/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "korch/base/ceil_div.h"
#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/fission/fission.h"
#include "korch/interp/interpreter.h"
#include "korch/interp/random_rounding.h"

namespace korch {
namespace {

// The distance from one to the next number, and the smallest normal number: what is smaller may become zero.
std::pair<double, double> precision_of(DType type) {
  if (type == DType::f64) return {0x1p-52, 0x1p-1022};
  if (type == DType::f16) return {0x1p-10, 0x1p-14};
  if (type == DType::bf16) return {0x1p-7, 0x1p-126};
  if (const SmallFormat format = small_format(type); format.exponent_bits > 0)
    return {std::ldexp(1, -format.mantissa_bits), std::ldexp(1, 1 - format.bias)};
  return {0x1p-23, 0x1p-126};
}

bool is_real(DType type) {
  return is_float(type) || small_format(type).exponent_bits > 0;
}

// What was computed as bytes of the type.
HostTensor of_type(const HostTensor& tensor, DType type) {
  return as_type(tensor, {type, tensor.shape()}).value_or(tensor);
}

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

std::string to_string(const Deviation& d) {
  if (!d.shape.empty()) return "the extents are " + d.shape;
  if (d.element < 0) return fmt::format("nothing to compare ({} elements not judged)", d.unjudged);
  std::string text = fmt::format("error {:.3g} at element {}, allowed {:.3g}", d.error, d.element, d.allowed);
  text += fmt::format(" ({:g} x rounding noise {:.3g} there, or more; value {:.3g})", Tolerance::kNoiseFactor,
                      d.noise, d.exact);
  if (d.undecided) text += "; undecided: the time ended before more runs could allow it";
  if (d.unjudged > 0)
    text += fmt::format("; {} elements not judged: float32 itself does not settle them", d.unjudged);
  return text;
}

Tolerance::Tolerance(DType type, const HostTensor& exact)
    : type_(type),
      exact_(converted(exact, type)),
      ulp_(precision_of(type).first),
      smallest_(precision_of(type).second),
      block_noise_(static_cast<size_t>(ceil_div(exact.elements(), kBlock)), 0.0F) {}

// Infinite where something else than rounding differs.
double Tolerance::error(int64_t element, const HostTensor& got) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!is_real(type_)) return element_as_int(exact_, element) == element_as_int(got, element) ? 0 : kInfinite;
  const double a = element_as_double(exact_, element), b = element_as_double(got, element);
  return is_same(a, b) ? 0 : std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : kInfinite;
}

void Tolerance::add_run(const HostTensor& run) {
  shape_is_settled_ = shape_is_settled_ && run.shape() == exact_.shape();
  if (!shape_is_settled_) return;
  const HostTensor rounded = of_type(run, type_);
  for (int64_t i = 0, count = exact_.elements(); i < count; ++i) {
    const double noise = error(i, rounded);
    if (!std::isfinite(noise)) {
      unjudged_.insert(i);
      continue;
    }
    float& block = block_noise_[static_cast<size_t>(i / kBlock)];
    block = std::max(block, static_cast<float>(noise));
    squares_ += noise * noise;
    ++squared_;
  }
}

double Tolerance::noise(int64_t element) const {
  const int64_t block = element / kBlock, last = static_cast<int64_t>(block_noise_.size()) - 1;
  float largest = 0;
  for (int64_t b = std::max<int64_t>(0, block - 1); b <= std::min(last, block + 1); ++b)
    largest = std::max(largest, block_noise_[static_cast<size_t>(b)]);
  return largest;
}

double Tolerance::allowed(int64_t element) const {
  if (!is_real(type_)) return 0;
  const double tensor_noise = squared_ > 0 ? std::sqrt(squares_ / static_cast<double>(squared_)) : 0;
  return std::max({kNoiseFactor * noise(element), kTensorFactor * tensor_noise,
                   kFloorUlps * ulp_ * std::fabs(element_as_double(exact_, element)), smallest_});
}

Deviation Tolerance::compare(const HostTensor& run) const {
  const HostTensor got = of_type(run, type_);
  Deviation result;
  // Whole numbers most of which the runs disagree on are places in an order, say: any of them may move.
  const bool is_settled = is_real(type_) || static_cast<int64_t>(2 * unjudged_.size()) <= exact_.elements();
  if (!shape_is_settled_ || !is_settled) {
    result.unjudged = exact_.elements();
    return result;
  }
  if (got.shape() != exact_.shape()) {
    result.shape = to_string(got.shape());
    result.element = 0;
    result.ratio = result.error = result.max_error = std::numeric_limits<double>::infinity();
    return result;
  }
  result.unjudged = static_cast<int64_t>(unjudged_.size());
  for (int64_t i = 0, count = exact_.elements(); i < count; ++i) {
    if (!is_judged(i)) continue;
    const double error_here = error(i, got), allowed_here = allowed(i);
    const double ratio = error_here == 0 || std::isinf(error_here) ? error_here : error_here / allowed_here;
    result.max_error = std::max(result.max_error, error_here);
    if (result.element >= 0 && ratio <= result.ratio) continue;
    result.ratio = ratio;
    result.element = i;
    result.error = error_here;
    result.allowed = allowed_here;
    result.noise = noise(i);
    result.exact = element_as_double(exact_, i);
  }
  return result;
}

namespace {

// Of the floats that choices compare: what each may be off by, from what runs made of it.
class ChoiceOperands {
 public:
  explicit ChoiceOperands(const Graph& graph) {
    for (NodeId id : graph.topological_order())
      if (is_choice(graph.node(id).op))
        for (ValueId input : graph.node(id).inputs)
          if (is_float(graph.value(input).type.dtype)) wanted_.insert(input);
  }
  bool empty() const { return wanted_.empty(); }
  bool is_wanted(ValueId value) const { return wanted_.count(value) != 0; }

  // Of one run.
  void add(const std::map<ValueId, HostTensor>& run) {
    for (const auto& [value, tensor] : run)
      tolerances_.try_emplace(value, tensor.dtype(), converted(tensor, DType::f64))
          .first->second.add_run(tensor);
  }

  Offsets offsets() const {
    Offsets result;
    for (const auto& [value, tolerance] : tolerances_) {
      const HostTensor& exact = tolerance.exact();
      HostTensor& offset =
          result.emplace(value, HostTensor(TensorType{DType::f64, exact.shape()})).first->second;
      for (int64_t i = 0; i < exact.elements(); ++i)  // an infinity stays what it is
        offset.mutable_data<double>()[i] =
            std::isfinite(element_as_double(exact, i)) ? tolerance.allowed(i) : 0;
    }
    return result;
  }

 private:
  std::set<ValueId> wanted_;
  std::map<ValueId, Tolerance> tolerances_;  // from what the first run made
};

// The tolerances of a network's outputs, which grow with every run.
class OutputNoise {
 public:
  OutputNoise(const Graph& imported, const std::vector<HostTensor>& inputs,
              const std::vector<HostTensor>& exact, uint64_t seed, const Deadline& deadline,
              ProductType products)
      : imported_(imported),
        primitives_(fission(imported)),
        inputs_(inputs),
        deadline_(deadline),
        products_(products),
        operands_(primitives_),
        next_seed_(seed * (Tolerance::kRunsWhenFew + Tolerance::kChoosingRuns)) {
    const std::vector<Shape> shapes = output_shapes(imported, exact);
    for (size_t i = 0; i < exact.size(); ++i) {
      tolerances.emplace_back(imported.value(imported.outputs()[i]).type.dtype, exact[i].cropped(shapes[i]));
      is_small_ = is_small_ || element_count(shapes[i]) < Tolerance::kFewElements;
    }
  }

  void add_usual_runs() {
    add_runs(is_small_ ? Tolerance::kRunsWhenFew : Tolerance::kRuns, Roundings::of_operators);
  }

  // So many, and those that choose.
  void add_runs(int count, Roundings roundings) {
    run(count, roundings, {}, true);
    if (!operands_.empty()) run(Tolerance::kChoosingRuns, roundings, operands_.offsets(), false);
  }

  std::vector<Tolerance> tolerances;

 private:
  void run(int count, Roundings roundings, const Offsets& offsets, bool tells_operands) {
    std::vector<std::vector<HostTensor>> runs(static_cast<size_t>(count));
    std::vector<std::map<ValueId, HostTensor>> compared(runs.size());
    run_in_parallel(runs.size(), usable_cpus(), [&](size_t number) {
      const auto observe = [&](ValueId value, const HostTensor& tensor) {
        deadline_.check();
        if (tells_operands && operands_.is_wanted(value)) compared[number].insert_or_assign(value, tensor);
      };
      runs[number] = interpret_rounding_at_random(primitives_, inputs_, next_seed_ + number, observe, offsets,
                                                  roundings, deadline_, products_);
    });
    next_seed_ += runs.size();
    for (const auto& operands : compared) operands_.add(operands);
    for (const std::vector<HostTensor>& rounded : runs) {
      const std::vector<Shape> own = output_shapes(imported_, rounded);
      for (size_t i = 0; i < rounded.size(); ++i) tolerances[i].add_run(rounded[i].cropped(own[i]));
    }
  }

  const Graph& imported_;
  const Graph primitives_;
  const std::vector<HostTensor>& inputs_;
  const Deadline& deadline_;
  const ProductType products_;
  ChoiceOperands operands_;
  uint64_t next_seed_;
  bool is_small_ = false;  // an output
};

}  // namespace

std::vector<Tolerance> output_tolerances(const Graph& imported, const std::vector<HostTensor>& inputs,
                                         const std::vector<HostTensor>& exact, uint64_t seed,
                                         const Deadline& deadline, ProductType products) {
  OutputNoise noise(imported, inputs, exact, seed, deadline, products);
  noise.add_usual_runs();
  return std::move(noise.tolerances);
}

std::vector<Deviation> output_deviations(const Graph& imported, const std::vector<HostTensor>& inputs,
                                         const std::vector<HostTensor>& exact,
                                         const std::vector<HostTensor>& got, uint64_t seed,
                                         const Deadline& deadline, ProductType products) {
  OutputNoise noise(imported, inputs, exact, seed, deadline, products);
  const auto compare = [&] {
    std::vector<Deviation> deviations;
    for (size_t i = 0; i < got.size(); ++i) deviations.push_back(noise.tolerances[i].compare(got[i]));
    return deviations;
  };
  noise.add_usual_runs();
  std::vector<Deviation> deviations = compare();
  try {
    for (int time = 0; time < Tolerance::kMoreTimes; ++time) {
      if (std::all_of(deviations.begin(), deviations.end(), [](const Deviation& d) { return d.passed(); }))
        break;
      noise.add_runs(Tolerance::kMoreRuns, time == 0 ? Roundings::of_operators : Roundings::of_kernels);
      deviations = compare();
    }
  } catch (const BudgetSpent&) {
    for (Deviation& deviation : deviations) deviation.undecided = !deviation.passed();
  }
  return deviations;
}

}  // namespace korch
