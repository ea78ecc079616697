// One batch of kernels through the folder.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/base/interrupt.h"
#include "korch/fleet/fleet_state.h"

namespace korch {
namespace {

class Round {
 public:
  Round(Fleet::State& fleet, Meter& own, const std::function<MeasuredKernel(size_t)>& kernel, Care care,
        const std::function<void(size_t, Result<Cost>)>& done)
      : fleet_(fleet), folder_(fleet.folder), own_(own), kernel_(kernel), care_(care), done_(done) {}

  // What nobody has taken yet, where this round ends early.
  ~Round() {
    for (const auto& [key, open] : open_) folder_.remove(Room::offer, key);
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void offer(const Device& device, int64_t footprint_bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      throw_if_interrupted();
      const MeasuredKernel kernel = kernel_(i);
      if (!can_travel(kernel)) {
        mine_.push_back(i);
        continue;
      }
      const std::string bytes = to_bytes(work_of(kernel, device, footprint_bytes, care_));
      const std::string key = hash_text(bytes).hex();
      Open& open = open_[key];
      open.kernels.push_back(i);
      if (open.kernels.size() == 1 && !is_found(key)) offer(key, bytes);
    }
  }

  void finish() {
    while (!open_.empty() || !mine_.empty()) {
      throw_if_interrupted();
      bool progressed = collect();
      if (fleet_.attend() && !fleet_.is_alone) look_at_claims();
      if (mine_.empty() && (fleet_.is_alone || fleet_.roster->taken() == 0)) take_one_back();
      if (!mine_.empty()) {
        measure_own();
        progressed = true;
      }
      if (!progressed)
        std::this_thread::sleep_for(std::chrono::duration<double>(fleet_.options.times.poll_s));
    }
  }

 private:
  struct Open {
    std::vector<size_t> kernels;  // equal ones
    std::string claimed_by;
    Stopwatch claimed;
    int given_back = 0, missing = 0;  // so many times; at so many looks one after the other
  };

  // Without a worker nobody would take it, and on a disk that is full nobody can.
  void offer(const std::string& key, const std::string& bytes) {
    if (fleet_.is_alone || fleet_.roster->taken() == 0) return;
    try {
      folder_.write(Room::offer, key, bytes);
    } catch (const Error& error) {
      fleet_.go_alone(error.what());
    }
  }

  // From a worker whose word counts.
  std::optional<FoundCost> found(const std::string& key) {
    const std::optional<std::string> text = folder_.read(Room::done, key);
    if (!text) return std::nullopt;
    std::optional<FoundCost> finding = found_cost(*text);
    const bool counts = finding && finding->key == key && !fleet_.roster->is_set_aside(finding->worker) &&
                        (!finding->cost || finding->cost->care == care_);
    if (counts) return finding;
    folder_.remove(Room::done, key);
    return std::nullopt;
  }
  bool is_found(const std::string& key) { return found(key).has_value(); }

  // Whether there was a result. A worker's refusal may be for want of its memory: this process looks itself.
  bool collect() {
    bool any = false;
    for (const std::string& key : folder_.names(Room::done)) {
      const auto open = open_.find(key);
      if (open == open_.end()) continue;
      const std::optional<FoundCost> finding = found(key);
      if (!finding) {
        take(key);
        continue;
      }
      any = true;
      if (!finding->cost) {
        folder_.remove(Room::done, key);
        take(key);
        continue;
      }
      const std::vector<size_t> kernels = std::move(open->second.kernels);
      open_.erase(open);
      fleet_.roster->count(finding->worker);
      for (const size_t i : kernels) done_(i, *finding->cost);
    }
    return any;
  }

  // To this process; who measures it all the same does no harm.
  void take(const std::string& key) {
    folder_.remove(Room::offer, key);
    const auto open = open_.find(key);
    mine_.insert(mine_.end(), open->second.kernels.begin(), open->second.kernels.end());
    open_.erase(open);
  }

  void take_one_back() {
    if (!open_.empty()) take(std::string(open_.begin()->first));
  }

  void measure_own() {
    const size_t i = mine_.back();
    mine_.pop_back();
    ++fleet_.by_leader;
    done_(i, own_.measure(kernel_(i), care_));
  }

  // In the order in which work moves, so that none is missed on its way.
  void look_at_claims() {
    const std::vector<std::string> offered = folder_.names(Room::offer),
                                   claimed = folder_.names(Room::claimed), done = folder_.names(Room::done);
    std::set<std::string> there(offered.begin(), offered.end());
    there.insert(done.begin(), done.end());
    for (const std::string& name : claimed)
      if (const std::optional<Claim> claim = parse_claim(name); claim && open_.contains(claim->key)) {
        there.insert(claim->key);
        look_at(*claim, open_.at(claim->key));
      }
    constexpr int kMissed = 3;
    std::vector<std::string> lost;
    for (auto& [key, open] : open_) {
      open.missing = there.contains(key) ? 0 : open.missing + 1;
      if (open.missing >= kMissed || open.given_back >= kOftenGivenBack) lost.push_back(key);
    }
    for (const std::string& key : lost) take(key);
  }

  void look_at(const Claim& claim, Open& open) {
    if (open.claimed_by != claim.worker) {
      open.claimed_by = claim.worker;
      open.claimed = Stopwatch();
    }
    if (fleet_.roster->is_taken(claim.worker)) {
      if (open.claimed.seconds() < fleet_.options.times.stuck_s) return;
      fleet_.set_aside(claim.worker,
                       fmt::format("has measured one kernel for {:.0f} s", fleet_.options.times.stuck_s));
    }
    if (!folder_.try_move(Room::claimed, claim_name(claim.key, claim.worker), Room::offer, claim.key)) return;
    open.claimed_by.clear();
    ++open.given_back;
  }

  // By workers that were lost or stuck: it may be the kernel. Then as alone.
  static constexpr int kOftenGivenBack = 2;

  Fleet::State& fleet_;
  const FleetFolder& folder_;
  Meter& own_;
  const std::function<MeasuredKernel(size_t)>& kernel_;
  const Care care_;
  const std::function<void(size_t, Result<Cost>)>& done_;
  std::map<std::string, Open> open_;  // by key
  std::vector<size_t> mine_;
};

}  // namespace

void measure_by_fleet(Fleet::State& fleet, Meter& own, const Device& device, int64_t footprint_bytes,
                      size_t count, const std::function<MeasuredKernel(size_t)>& kernel, Care care,
                      const std::function<void(size_t, Result<Cost>)>& done) {
  fleet.meet();
  fleet.attend();
  Round round(fleet, own, kernel, care, done);
  round.offer(device, footprint_bytes, count);
  round.finish();
}

}  // namespace korch
