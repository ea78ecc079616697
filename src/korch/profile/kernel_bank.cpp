#include "korch/profile/kernel_bank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "korch/base/parallel.h"
#include "korch/codegen/cpu/compiler.h"
#include "korch/codegen/packing.h"

namespace korch {

constexpr int kCostProtocol = 6;  // raised when the way of measuring changes, so that old costs are misses

KernelBank::KernelBank(const Graph& graph, const Target& target, Database* database, int64_t footprint_bytes,
                       Strikes* strikes)
    : graph_(graph),
      target_(target),
      database_(database),
      strikes_(strikes),
      footprint_bytes_(footprint_bytes),
      meter_(target, footprint_bytes_) {}

const Result<BuiltKernel>* KernelBank::find(const Hash& key) const {
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : &found->second;
}

Result<BuiltKernel> KernelBank::build_one(const KernelRequest& request) {
  Result<Kernel> kernel =
      request.candidate != nullptr
          ? generate(graph_, *request.candidate, *request.implementation, target_)
          : generate_reorder(request.reorder_type, request.reorder_from, request.reorder_to, target_);
  if (!kernel) return kernel.refusal();
  if (strikes_ != nullptr)
    if (const std::optional<StruckKernel> struck = strikes_->find(kernel.value()))
      return Refusal{RefusalReason::struck, struck->kernel + ": " + struck->reason};
  BuiltKernel built{std::move(kernel).value(), {}, {}};
  if (built.kernel.source.empty()) return built;
  const Hash key = hash_text(compiler_version() + name(target_.isa) + built.kernel.source);
  if (database_ != nullptr) {
    if (std::optional<std::string> object = database_->get_object(key)) {
      built.object = std::move(*object);
      return built;
    }
  }
  Result<std::string> object = compile_object(built.kernel.source, target_.isa);
  if (!object) return object.refusal();
  built.object = std::move(object).value();
  if (database_ != nullptr) database_->put_object(key, built.object);
  ++compiled_now_;
  return built;
}

void KernelBank::build(const std::vector<KernelRequest>& requests) {
  std::vector<const KernelRequest*> missing;
  std::unordered_map<Hash, int, HashHasher> slot;
  for (const KernelRequest& request : requests)
    if (kernels_.count(request.key) == 0 &&
        slot.emplace(request.key, static_cast<int>(missing.size())).second)
      missing.push_back(&request);
  std::vector<std::optional<Result<BuiltKernel>>> built(missing.size());
  run_in_parallel(missing.size(), target_.threads, [&](size_t i) { built[i] = build_one(*missing[i]); });
  for (size_t i = 0; i < missing.size(); ++i) kernels_.emplace(missing[i]->key, std::move(*built[i]));
}

Hash KernelBank::cost_key(const KernelRequest& request, const BuiltKernel& built) const {
  std::string types;
  if (request.candidate != nullptr) {
    for (ValueId value : request.candidate->inputs) types += to_string(graph_.value(value).type) + ",";
    for (ValueId value : request.candidate->outputs) types += to_string(graph_.value(value).type) + ",";
    for (ValueId value : request.candidate->constants) types += to_string(graph_.value(value).type) + ",";
  } else {
    types = to_string(request.reorder_type);
  }
  return hash_text(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", kCostProtocol, built.kernel.key().hex(), types,
                               target_.cpu_name, name(target_.isa), target_.threads, compiler_version(),
                               footprint_bytes_));
}

MeasuredKernel KernelBank::job_of(const KernelRequest& request, const BuiltKernel& built) const {
  MeasuredKernel job;
  job.kernel = &built.kernel;
  job.object = &built.object;
  if (request.candidate != nullptr) {
    const Candidate& candidate = *request.candidate;
    for (size_t i = 0; i < candidate.inputs.size(); ++i) {
      job.inputs.push_back(graph_.value(candidate.inputs[i]).type);
      job.input_bytes.push_back(physical_bytes(job.inputs.back(), request.implementation->input_layouts[i]));
    }
    for (size_t i = 0; i < candidate.outputs.size(); ++i)
      job.output_bytes.push_back(
          physical_bytes(graph_.value(candidate.outputs[i]).type, request.implementation->output_layouts[i]));
    for (size_t i = 0; i < candidate.constants.size(); ++i)
      job.constants.push_back(
          pack(*graph_.constant(candidate.constants[i]), built.kernel.constant_packing[i]));
  } else {
    job.inputs = {request.reorder_type};
    job.input_bytes = {physical_bytes(request.reorder_type, request.reorder_from)};
    job.output_bytes = {physical_bytes(request.reorder_type, request.reorder_to)};
  }
  return job;
}

std::optional<Cost> KernelBank::measure_part(const KernelRequest& request,
                                             const std::vector<NeededSlices>& needed, Care care) {
  build({request});
  const Result<BuiltKernel>& built = kernels_.at(request.key);
  if (!built) return std::nullopt;
  // By care, so that who looks again decides by the same costs as the first time.
  std::string text =
      fmt::format("part of {} {}", cost_key(request, built.value()).hex(), static_cast<int>(care));
  for (const NeededSlices& n : needed)
    text += fmt::format("|{} {} {} {}", n.phase, n.stride, n.count, n.needed);
  const Hash key = hash_text(text);
  if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
  if (database_ != nullptr)
    if (const std::optional<Cost> known = database_->get_cost(key)) return parts_[key] = *known;
  MeasuredKernel job = job_of(request, built.value());
  job.needed = needed;
  const Result<Cost> cost = meter_.measure(job, care);
  if (!cost) return std::nullopt;
  ++measured_now_;
  if (database_ != nullptr) database_->put_cost(key, cost.value());
  return parts_[key] = cost.value();
}

bool KernelBank::same_results(const KernelRequest& a, const KernelRequest& b) {
  build({a, b});
  const Result<BuiltKernel>&one = kernels_.at(a.key), &other = kernels_.at(b.key);
  if (!one || !other) return false;
  const Hash key =
      hash_text("same results " + cost_key(a, one.value()).hex() + cost_key(b, other.value()).hex());
  if (database_ != nullptr)
    if (const std::optional<std::string> known = database_->get_text(key)) return *known == "yes";
  const Result<std::string> first = meter_.outputs(job_of(a, one.value()));
  if (!first) return false;
  const Result<std::string> second = meter_.outputs(job_of(b, other.value()));
  const bool same = second.ok() && first.value() == second.value();
  if (database_ != nullptr) database_->put_text(key, same ? "yes" : "no");
  return same;
}

void KernelBank::measure(const std::vector<KernelRequest>& requests, Care care) {
  build(requests);
  const auto suffices = [&](const std::optional<Cost>& cost) { return cost && cost->care >= care; };
  for (const KernelRequest& request : requests) {
    Result<BuiltKernel>& slot = kernels_.at(request.key);
    if (!slot || suffices(slot.value().cost)) continue;
    BuiltKernel built = std::move(slot).value();
    const Hash key = cost_key(request, built);
    // Also where a quick look is known: the same kernel may have been measured thoroughly for another
    // request.
    if (database_ != nullptr)
      if (const std::optional<Cost> known = database_->get_cost(key)) built.cost = known;
    if (suffices(built.cost)) {
      slot = std::move(built);
      continue;
    }
    Result<Cost> cost = meter_.measure(job_of(request, built), care);
    if (cost) {
      ++measured_now_;
      const bool was_lower = care == Care::twice && built.cost && built.cost->care == Care::thorough &&
                             built.cost->us < cost.value().us;
      if (!was_lower) built.cost = cost.value();
      built.cost->care = care;
      if (database_ != nullptr) database_->put_cost(key, *built.cost);
      slot = std::move(built);
    } else {
      slot = cost.refusal();
    }
  }
}

}  // namespace korch
