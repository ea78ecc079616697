#include "korch/fleet/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <random>
#include <thread>

#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/printable.h"
#include "korch/base/stopwatch.h"
#include "korch/base/usable_cpus.h"
#include "korch/profile/cost_row.h"

namespace korch {
namespace {

// Of the host, the process and chance: a host's name alone may be that of many containers.
std::string worker_name(const std::string& host) {
  std::string name;
  for (const char c : host.substr(0, 40)) name += is_plain_name(std::string_view(&c, 1)) ? c : '-';
  return fmt::format("{}-{}-{:04x}", name, ::getpid(), std::random_device{}() & 0xffff);
}

// Keeps the meter of the last kernel, which has memory paged in, for the next one.
class KeptMeter {
 public:
  explicit KeptMeter(const MakeMeter& make) : make_(make) {}
  Meter& of(const Device& device, int64_t footprint_bytes) {
    if (meter_ == nullptr || !(device == device_) || footprint_bytes != footprint_bytes_) {
      meter_.reset();
      meter_ = make_(device, footprint_bytes);
      device_ = device;
      footprint_bytes_ = footprint_bytes;
    }
    return *meter_;
  }

 private:
  const MakeMeter& make_;
  std::unique_ptr<Meter> meter_;
  Device device_;
  int64_t footprint_bytes_ = 0;
};

class Worker {
 public:
  explicit Worker(const ServeOptions& options)
      : options_(options),
        name_(options.name.empty() ? worker_name(options.machine.host) : options.name),
        folder_(options.folder),
        heart_(folder_, name_, options.times.beat_s),
        meter_(options.make_meter) {
    options_.say(fmt::format("worker {} serves {}", name_, printable(folder_.path())));
  }
  ~Worker() {
    folder_.remove(Room::notes, name_);
    folder_.remove(Room::verdicts, name_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Served run() {
    Stopwatch idle;
    while (!options_.is_over()) {
      throw_if_interrupted();
      const std::optional<LeaderNote> leader = leader_that_lives();
      if (!leader) {
        if (options_.once && !session_.empty()) break;
        if (idle.seconds() > options_.idle_s) break;
        wait();
        continue;
      }
      idle = Stopwatch();
      if (leader->session != session_) introduce(*leader);
      if (!served_.set_aside.empty() && options_.once) break;
      if (!is_taken() || !measure_one()) wait();
    }
    return served_;
  }

 private:
  void wait() const { std::this_thread::sleep_for(std::chrono::duration<double>(options_.times.poll_s)); }

  // Its heart is looked at as often as it beats; in between what was seen holds.
  std::optional<LeaderNote> leader_that_lives() {
    if (leader_ && since_look_.seconds() < options_.times.beat_s) return leader_;
    since_look_ = Stopwatch();
    const std::optional<std::string> text = folder_.read(Room::notes, kLeader);
    leader_ = text ? leader_note(*text) : std::nullopt;
    // A leader that is not ready has no sentinels yet.
    if (leader_ && (!is_plain_name(leader_->session) || leader_->sentinels.empty())) leader_.reset();
    if (leader_ && beats_.look(folder_, leader_->session) >= options_.times.lost_after) leader_.reset();
    return leader_;
  }

  // Answers a new leader. Code of another build or for other processors is not run.
  void introduce(const LeaderNote& leader) {
    session_ = leader.session;
    served_.set_aside.clear();
    taken_ = false;
    WorkerNote note = options_.machine;
    note.session = session_;
    note.can_run = options_.can_run(leader.device);
    const std::string refused = mismatch(leader, note);
    if (refused.empty()) note.sentinels_us = sentinels_of(leader);
    folder_.write(Room::notes, name_, to_text(note));
  }

  std::vector<double> sentinels_of(const LeaderNote& leader) {
    std::vector<KernelWork> sentinels;
    for (const std::string& key : leader.sentinels)
      if (std::optional<KernelWork> work = work_in(Room::sentinels, key, key))
        sentinels.push_back(std::move(*work));
    if (sentinels.size() != leader.sentinels.size()) return {};
    return sentinel_times_us(sentinels, options_.make_meter);
  }

  // What stands there is what its name says, and whole.
  std::optional<KernelWork> work_in(Room room, const std::string& name, const std::string& key) {
    const std::optional<std::string> bytes = is_plain_name(key) ? folder_.read(room, name) : std::nullopt;
    if (!bytes) return std::nullopt;
    if (hash_text(*bytes).hex() != key) {
      options_.say(fmt::format("{} is not what its name says, and is not run", printable(name)));
      return std::nullopt;
    }
    try {
      return work_from_bytes(*bytes);
    } catch (const Error& error) {
      options_.say(fmt::format("{}: {}", printable(name), error.what()));
      return std::nullopt;
    }
  }

  bool is_taken() {
    if (since_verdict_.seconds() < options_.times.beat_s && taken_) return true;
    since_verdict_ = Stopwatch();
    const std::optional<std::string> text = folder_.read(Room::verdicts, name_);
    const std::optional<Judgement> verdict = text ? judgement_of(*text) : std::nullopt;
    if (!verdict || verdict->session != session_) return taken_ = false;
    if (!verdict->is_taken && served_.set_aside.empty()) {
      served_.set_aside = printable(verdict->reason);
      options_.say(fmt::format("set aside by the leader: this worker {}", served_.set_aside));
    }
    return taken_ = verdict->is_taken;
  }

  // False where nothing is offered.
  bool measure_one() {
    if (offers_.empty()) offers_ = folder_.names(Room::offer);
    while (!offers_.empty()) {
      const std::string key = std::move(offers_.back());
      offers_.pop_back();
      const std::string claimed = claim_name(key, name_);
      if (!is_plain_name(key) || !folder_.move(Room::offer, key, Room::claimed, claimed)) continue;
      // Where it ends without a result others take it.
      struct GivenBack {
        const FleetFolder& folder;
        const std::string &claimed, &key;
        bool done = false;
        ~GivenBack() {
          if (!done) folder.try_move(Room::claimed, claimed, Room::offer, key);
        }
      } claim{folder_, claimed, key};
      const FoundCost finding = find(key, claimed);
      folder_.write(Room::done, key, to_text(finding));
      claim.done = true;
      folder_.remove(Room::claimed, claimed);
      ++served_.measured;
      return true;
    }
    return false;
  }

  FoundCost find(const std::string& key, const std::string& claimed) {
    FoundCost finding{key, name_, std::nullopt, ""};
    const std::optional<KernelWork> work = work_in(Room::claimed, claimed, key);
    if (!work) {
      finding.refusal = "it cannot be read";
      return finding;
    }
    try {
      Result<Cost> cost =
          meter_.of(work->device, work->footprint_bytes).measure(measured_kernel(*work), work->care);
      if (cost)
        finding.cost = cost.value();
      else
        finding.refusal = cost.refusal().detail;
    } catch (const std::bad_alloc&) {
      finding.refusal = "out of memory";
    }
    return finding;
  }

  const ServeOptions& options_;
  const std::string name_;
  const FleetFolder folder_;
  const Heartbeat heart_;
  BeatWatch beats_;
  KeptMeter meter_;
  std::optional<LeaderNote> leader_;
  Stopwatch since_look_, since_verdict_;
  std::string session_;  // answered last
  bool taken_ = false;
  std::vector<std::string> offers_;  // seen, and perhaps gone
  Served served_;
};

}  // namespace

WorkerNote this_machine() {
  const Device native = detect_device("native", 0);
  WorkerNote machine;
  machine.host = host_name();
  machine.build = build_of_this_program();
  machine.protocol = kCostProtocol;
  machine.processor = native.name;
  machine.cpus = usable_cpus();
  return machine;
}

Served serve(const ServeOptions& options) {
  return Worker(options).run();
}

}  // namespace korch
