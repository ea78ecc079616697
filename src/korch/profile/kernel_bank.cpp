#include "korch/profile/kernel_bank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <unordered_set>

#include "korch/base/parallel.h"
#include "korch/base/usable_cpus.h"
#include "korch/estimate/tile_features.h"

namespace korch {
KernelBank::KernelBank(const Graph& graph, const Device& target, Database* database, int64_t footprint_bytes,
                       Strikes* strikes, const Backend* backend, WorkClock* clock)
    : graph_(graph),
      target_(target),
      database_(database),
      strikes_(strikes),
      footprint_bytes_(footprint_bytes),
      constants_(graph),
      backend_(backend != nullptr ? *backend : backend_of(target)),
      clock_(clock),
      compiler_(backend_.compiler()) {}

Meter& KernelBank::meter() {
  if (meter_ == nullptr) meter_ = backend_.meter(target_, footprint_bytes_);
  return *meter_;
}

const Result<BuiltKernel>* KernelBank::find(const Hash& key) const {
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : &found->second;
}

Result<Spec> KernelBank::propose_one(const KernelRequest& request) {
  ++proposed_now_;
  if (request.candidate == nullptr)
    return std::make_shared<const KernelSpec>(propose_reorder(request.reorder_type, request.reorder_from,
                                                              request.reorder_to, target_, Checked::later));
  Result<KernelSpec> spec =
      propose(graph_, *request.candidate, *request.implementation, target_, Checked::later);
  if (!spec) return spec.refusal();
  return std::make_shared<const KernelSpec>(std::move(spec).value());
}

const Result<Spec>& KernelBank::spec(const KernelRequest& request) {
  const auto known = specs_.find(request.key);
  return known != specs_.end() ? known->second
                               : specs_.emplace(request.key, propose_one(request)).first->second;
}

// What the analysis of accesses cannot follow is no kernel; another covers its primitives.
Result<Kernel> proven(const KernelSpec& spec, const Device& target) {
  if (const std::string fault = fault_in(spec); !fault.empty())
    return Refusal{RefusalReason::unproven, fault};
  try {
    return spelled(spec, target);
  } catch (const tile::Unproven& unproven) {
    return Refusal{RefusalReason::unproven, unproven.what()};
  }
}

bool KernelBank::is_offered(const KernelRequest& request) {
  const Result<Spec>& offered = spec(request);
  if (!offered.ok() || strikes_ == nullptr) return offered.ok();
  const Result<Kernel> kernel = proven(*offered.value(), target_);
  return kernel.ok() && !strikes_->find(kernel.value());
}

Hash KernelBank::object_key(const BuiltKernel& built) const {
  return hash_text(compiler_ + target_.code + built.kernel.source);
}

Result<BuiltKernel> KernelBank::spell_one(const Spec& spec) {
  const Result<Kernel> kernel = proven(*spec, target_);
  if (!kernel) return kernel.refusal();
  BuiltKernel built{spec, kernel.value(), {}, {}};
  if (strikes_ != nullptr)
    if (const std::optional<StruckKernel> struck = strikes_->find(built.kernel))
      return Refusal{RefusalReason::struck, struck->kernel + ": " + struck->reason};
  if (database_ != nullptr && !built.kernel.source.empty())
    built.object = database_->get_object(object_key(built)).value_or("");
  return built;
}

// Those that have a source and no object.
void KernelBank::compile(std::vector<std::optional<Result<BuiltKernel>>>& kernels) {
  std::vector<size_t> missing;
  std::vector<std::string> sources;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Result<BuiltKernel>& kernel = *kernels[i];
    if (!kernel || kernel.value().kernel.source.empty() || !kernel.value().object.empty()) continue;
    missing.push_back(i);
    sources.push_back(kernel.value().kernel.source);
  }
  if (missing.empty()) return;
  std::vector<Result<std::string>> objects = backend_.compile(sources, target_);
  for (size_t m = 0; m < missing.size(); ++m) {
    Result<BuiltKernel>& kernel = *kernels[missing[m]];
    if (!objects[m]) {
      kernel = objects[m].refusal();
      continue;
    }
    BuiltKernel built = std::move(kernel).value();
    built.object = std::move(objects[m]).value();
    if (database_ != nullptr) database_->put_object(object_key(built), built.object);
    ++compiled_now_;
    kernel = std::move(built);
  }
}

Result<BuiltKernel> KernelBank::with_resources(BuiltKernel built) const {
  if (built.object.empty()) return built;
  Result<std::vector<FunctionResources>> resources =
      backend_.resources(*built.spec, built.kernel, built.object);
  if (!resources) return resources.refusal();
  built.kernel.resources = std::move(resources).value();
  return built;
}

void KernelBank::propose_all(const std::vector<KernelRequest>& requests) {
  const WorkClock::Timed timed(clock_, "propose kernels");
  std::vector<const KernelRequest*> missing;
  std::unordered_set<Hash, HashHasher> known;
  for (const KernelRequest& request : requests)
    if (specs_.count(request.key) == 0 && known.insert(request.key).second) missing.push_back(&request);
  std::vector<std::optional<Result<Spec>>> specs(missing.size());
  run_in_parallel(missing.size(), threads(), [&](size_t i) { specs[i] = propose_one(*missing[i]); });
  for (size_t i = 0; i < missing.size(); ++i) specs_.emplace(missing[i]->key, std::move(*specs[i]));
}

void KernelBank::build(const std::vector<KernelRequest>& requests) {
  propose_all(requests);
  const WorkClock::Timed timed(clock_, "compile kernels");
  std::vector<const KernelRequest*> missing;
  std::unordered_set<Hash, HashHasher> known;
  for (const KernelRequest& request : requests)
    if (kernels_.count(request.key) == 0 && known.insert(request.key).second) missing.push_back(&request);
  std::vector<std::optional<Result<BuiltKernel>>> built(missing.size());
  run_in_parallel(missing.size(), threads(), [&](size_t i) {
    const Result<Spec>& spec = specs_.at(missing[i]->key);
    built[i] = spec ? spell_one(spec.value()) : Result<BuiltKernel>(spec.refusal());
  });
  if (backend_.missing().empty()) compile(built);
  for (size_t i = 0; i < missing.size(); ++i)
    kernels_.emplace(missing[i]->key,
                     *built[i] ? with_resources(std::move(*built[i]).value()) : std::move(*built[i]));
}

int KernelBank::threads() const {
  return target_.is_gpu() ? usable_cpus() : target_.workers;
}

std::string KernelBank::types_of(const KernelRequest& request) const {
  if (request.candidate == nullptr) return to_string(request.reorder_type);
  std::string types;
  for (const auto* values :
       {&request.candidate->inputs, &request.candidate->outputs, &request.candidate->constants})
    for (ValueId value : *values) types += to_string(graph_.value(value).type) + ",";
  return types;
}

Hash KernelBank::cost_key(const KernelRequest& request, const BuiltKernel& built) const {
  return hash_text(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", kCostProtocol, built.kernel.key().hex(),
                               types_of(request), target_.name, target_.code, target_.workers, compiler_,
                               footprint_bytes_));
}

CostConditions KernelBank::conditions_of(const KernelRequest& request) const {
  CostConditions conditions;
  if (request.candidate == nullptr) {
    conditions.implementation =
        fmt::format("reorder {} -> {}", to_string(request.reorder_from), to_string(request.reorder_to));
    conditions.primitives = "reorder";
  } else {
    conditions.implementation = to_string(*request.implementation);
    conditions.primitives = operators_text(graph_, request.candidate->nodes);
  }
  conditions.arguments = types_of(request);
  conditions.footprint_bytes = footprint_bytes_;
  conditions.bound_us = request.bound_us;
  return conditions;
}

Features KernelBank::features_of(const KernelRequest& request) const {
  const Surroundings surroundings{target_, footprint_bytes_, request.bound_us};
  return request.candidate == nullptr
             ? reorder_features(request.reorder_type, request.reorder_from, request.reorder_to, surroundings)
             : kernel_features(graph_, *request.candidate, *request.implementation, surroundings);
}

std::vector<CostEstimate> KernelBank::estimates(const std::vector<KernelRequest>& requests) {
  propose_all(requests);
  const WorkClock::Timed timed(clock_, "estimate kernels");
  std::vector<CostEstimate> estimates(requests.size());
  run_in_parallel(requests.size(), threads(), [&](size_t i) {
    const Result<Spec>& spec = specs_.at(requests[i].key);
    if (!spec) return;
    Features features = features_of(requests[i]);
    const std::vector<float> more = tile_features(spec.value()->tiles, target_, requests[i].bound_us);
    features.insert(features.end(), more.begin(), more.end());
    estimates[i] = cost_model_.estimate(features);
  });
  return estimates;
}

const CarriedCosts& KernelBank::carried() {
  if (!carried_) carried_.emplace(*database_, target_);
  return *carried_;
}

std::string KernelBank::costs_of_other_gpus() {
  return database_ == nullptr ? "" : carried().of_other_gpus();
}

CostFrom KernelBank::cost_from(const KernelRequest& request) {
  const Result<BuiltKernel>* built = find(request.key);
  if (built != nullptr && built->ok() && built->value().cost) return CostFrom::here;
  if (carried_cost(request)) return is_here(target_) ? CostFrom::here : CostFrom::carried;
  return has_model() ? CostFrom::model : CostFrom::here;
}

std::optional<Cost> KernelBank::carried_cost(const KernelRequest& request) {
  if (database_ == nullptr) return std::nullopt;
  return carried().find(conditions_of(request), [&]() -> std::string {
    const Result<Spec>& known = spec(request);
    return known ? print(*known.value()) : "";
  });
}

Result<Cost> KernelBank::modelled_cost(const KernelRequest& request) {
  const Result<Spec>& known = spec(request);
  if (!known) return known.refusal();
  const Result<BuiltKernel>* built = find(request.key);
  if (built != nullptr && !*built) return built->refusal();
  const double us =
      std::max(request.bound_us, backend_.modelled_us(*known.value(),
                                                      built != nullptr ? built->value().kernel.resources
                                                                       : std::vector<FunctionResources>(),
                                                      target_));
  return Cost{us, us, us, 0, Care::twice};
}

void KernelBank::record(const Hash& key, const KernelRequest& request, const BuiltKernel& built,
                        const Cost& cost, const std::string& part) {
  ++measured_now_;
  if (database_ == nullptr) return;
  const auto kept = [&](const std::string& text) {
    const Hash hash = hash_text(text);
    if (!database_->get_text(hash)) database_->put_text(hash, text);
    return hash.hex();
  };
  CostConditions conditions = conditions_of(request);
  conditions.protocol = kCostProtocol;
  conditions.feature_set = kFeatureSet;
  conditions.features = features_of(request);
  conditions.network = network_;
  conditions.device = kept(to_text(target_));
  conditions.spec = kept(print(*built.spec));
  conditions.part = part;
  conditions.compiler = kept(compiler_);
  conditions.flops = built.kernel.flops;
  conditions.bytes = built.kernel.bytes;
  // Who uses the processors does not disturb a GPU.
  if (!target_.is_gpu()) conditions.disturbed = load_.disturbance();
  conditions.measured_at_s = std::time(nullptr);
  database_->put_conditions(key, conditions);
  database_->put_cost(key, cost);
}

MeasuredKernel KernelBank::job_of(const KernelRequest& request, const BuiltKernel& built) {
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
    for (size_t i = 0; i < candidate.constants.size(); ++i) {
      job.constants.push_back(constants_.get(candidate.constants[i], built.kernel.constant_packing[i]));
      job.constant_types.push_back(graph_.value(candidate.constants[i]).type.dtype);
    }
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
  std::string part;
  for (const NeededSlices& n : needed)
    part += fmt::format("|{} {} {} {}", n.phase, n.stride, n.count, n.needed);
  const Hash key = hash_text(
      fmt::format("part of {} {}{}", cost_key(request, built.value()).hex(), static_cast<int>(care), part));
  if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
  if (database_ != nullptr)
    if (const std::optional<Cost> known = database_->get_cost(key)) return parts_[key] = *known;
  MeasuredKernel job = job_of(request, built.value());
  job.needed = needed;
  const Result<Cost> cost = meter().measure(job, care);
  if (!cost) return std::nullopt;
  record(key, request, built.value(), cost.value(), part);
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
  const Result<std::string> first = meter().outputs(job_of(a, one.value()));
  if (!first) return false;
  const Result<std::string> second = meter().outputs(job_of(b, other.value()));
  const bool same = second.ok() && first.value() == second.value();
  if (database_ != nullptr) database_->put_text(key, same ? "yes" : "no");
  return same;
}

void KernelBank::measure(const std::vector<KernelRequest>& requests, Care care) {
  build(requests);
  const WorkClock::Timed timed(clock_, "measure kernels");
  std::vector<const KernelRequest*> all;
  for (const KernelRequest& request : requests) all.push_back(&request);
  look(all, care);
}

void KernelBank::look(const std::vector<const KernelRequest*>& requests, Care care) {
  const auto suffices = [&](const std::optional<Cost>& cost) { return cost && cost->care >= care; };
  struct Wanted {
    const KernelRequest* request;
    Hash key;
  };
  std::vector<Wanted> wanted;
  std::vector<const KernelRequest*>
      later;  // the same kernels for other requests: the database knows them then
  std::unordered_set<Hash, HashHasher> keys;
  std::unordered_set<const void*> slots;
  for (const KernelRequest* request : requests) {
    Result<BuiltKernel>& slot = kernels_.at(request->key);
    if (!slot || suffices(slot.value().cost) || !slots.insert(&slot).second) continue;
    const Hash key = cost_key(*request, slot.value());
    // Also where a quick look is known: the same kernel may have been measured thoroughly for another
    // request.
    if (database_ != nullptr)
      if (const std::optional<Cost> known = database_->get_cost(key)) {
        BuiltKernel built = std::move(slot).value();
        built.cost = known;
        slot = std::move(built);
      }
    if (suffices(slot.value().cost)) continue;
    if (database_ != nullptr && !keys.insert(key).second)
      later.push_back(request);
    else
      wanted.push_back({request, key});
  }
  if (wanted.empty()) return;
  meter().measure_all(
      wanted.size(),
      [&](size_t i) { return job_of(*wanted[i].request, kernels_.at(wanted[i].request->key).value()); }, care,
      [&](size_t i, const Result<Cost>& cost) {
        Result<BuiltKernel>& slot = kernels_.at(wanted[i].request->key);
        if (!cost) {
          slot = cost.refusal();
          return;
        }
        BuiltKernel built = std::move(slot).value();
        const bool was_lower = care == Care::twice && built.cost && built.cost->care == Care::thorough &&
                               built.cost->us < cost.value().us;
        if (!was_lower) built.cost = cost.value();
        built.cost->care = care;
        record(wanted[i].key, *wanted[i].request, built, *built.cost, "");
        slot = std::move(built);
      });
  if (!later.empty()) look(later, care);
}

}  // namespace korch
