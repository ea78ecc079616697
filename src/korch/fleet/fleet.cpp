#include "korch/fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "korch/backend/backend.h"
#include "korch/base/error.h"
#include "korch/base/hash.h"
#include "korch/base/interrupt.h"
#include "korch/base/stopwatch.h"
#include "korch/fleet/fleet_state.h"
#include "korch/profile/cost_row.h"

namespace korch {
namespace {

constexpr Room kAllRooms[] = {Room::offer,     Room::claimed,  Room::done,
                              Room::sentinels, Room::verdicts, Room::logs};

FleetOptions with_defaults(FleetOptions options) {
  if (!options.make_meter)
    options.make_meter = [](const Device& device, int64_t footprint_bytes) {
      return backend_of(device).meter(device, footprint_bytes);
    };
  if (!options.make_sentinels)
    options.make_sentinels = [](const Device& device) { return make_sentinels(backend_of(device), device); };
  return options;
}

WorkerCommands commands_of(const FleetOptions& options, const std::string& folder, int threads) {
  return {options.commands, options.hosts, folder, std::filesystem::read_symlink("/proc/self/exe").string(),
          threads};
}

class FleetMeter : public Meter {
 public:
  FleetMeter(Fleet::State& fleet, const Device& device, int64_t footprint_bytes)
      : fleet_(fleet),
        device_(device),
        footprint_bytes_(footprint_bytes),
        own_(fleet.options.make_meter(device, footprint_bytes)) {}

  Result<Cost> measure(const MeasuredKernel& kernel, Care care) override {
    ++fleet_.by_leader;
    return own_->measure(kernel, care);
  }
  void measure_all(size_t count, const std::function<MeasuredKernel(size_t)>& kernel, Care care,
                   const std::function<void(size_t, Result<Cost>)>& done) override {
    measure_by_fleet(fleet_, *own_, device_, footprint_bytes_, count, kernel, care, done);
  }
  int machines() override {
    fleet_.attend();
    return fleet_.is_alone ? 1 : std::max(1, fleet_.roster->taken());
  }
  Result<std::string> outputs(const MeasuredKernel& kernel) override { return own_->outputs(kernel); }
  Result<int32_t> run(const MeasuredKernel& kernel, void* const* arguments) override {
    return own_->run(kernel, arguments);
  }
  void release_memory() override { own_->release_memory(); }

 private:
  Fleet::State& fleet_;
  const Device device_;
  const int64_t footprint_bytes_;
  const std::unique_ptr<Meter> own_;
};

}  // namespace

// Results of a leader that was killed stay: they are of the same kernels on the same kind of machine.
Fleet::State::State(FleetOptions given)
    : options(with_defaults(std::move(given))), folder(options.folder), leadership(folder, options.times) {
  shell_commands(commands_of(options, folder.path(), 1));  // refuses those that are none
  for (const Room room : {Room::offer, Room::claimed, Room::sentinels, Room::verdicts, Room::logs})
    folder.clear(room);
}

Fleet::State::~State() {
  started.reset();  // before the rooms are cleared: they write results
  if (!leadership.holds()) return;
  for (const Room room : kAllRooms) folder.clear(room);
}

void Fleet::State::start(const Device& device) {
  if (roster || is_alone) return;
  if (device.is_gpu())
    throw Error(ErrorKind::usage,
                "a fleet measures kernels of CPUs, and " + device.code + " is a GPU's code");
  const std::vector<KernelWork> sentinels = options.make_sentinels(device);
  LeaderNote note;
  note.session = leadership.session();
  note.host = host_name();
  note.build = build_of_this_program();
  note.protocol = kCostProtocol;
  note.device = device;
  const std::vector<double> times_us = sentinel_times_us(sentinels, options.make_meter);
  for (const KernelWork& sentinel : sentinels) {
    const std::string bytes = to_bytes(sentinel);
    note.sentinels.push_back(hash_text(bytes).hex());
    folder.write(Room::sentinels, note.sentinels.back(), bytes);
  }
  roster.emplace(folder, note, times_us, options.tolerance, options.times,
                 [this](const std::string& what) { say(what); });
  leadership.announce(note);
  int number = 0;
  for (const std::string& command : shell_commands(commands_of(options, folder.path(), device.workers)))
    started->start(command, folder.path_of(Room::logs, fmt::format("{}", number++)));
}

bool Fleet::State::attend() {
  if (is_alone) return false;
  try {
    if (!roster->attend()) return false;
  } catch (const Error& error) {
    go_alone(error.what());
    return true;
  }
  for (const std::string& failure : started->failures()) say(failure);
  if (!leadership.holds()) go_alone("another compilation has taken the folder over");
  return true;
}

void Fleet::State::meet() {
  if (std::exchange(has_met, true)) return;
  const Stopwatch watch;
  while (!is_alone && watch.seconds() < options.times.meet_s) {
    throw_if_interrupted();
    attend();
    const bool nobody_yet = roster->report().empty() && started->any_runs();
    if (roster->expected() == 0 && !nobody_yet) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.times.poll_s));
  }
}

void Fleet::State::set_aside(const std::string& worker, const std::string& reason) {
  try {
    roster->set_aside(worker, reason);
  } catch (const Error& error) {
    go_alone(error.what());
  }
}

void Fleet::State::go_alone(const std::string& why) {
  if (is_alone) return;
  is_alone = true;
  say(why + "; from here on this machine measures alone");
}

Fleet::Fleet(FleetOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Fleet::~Fleet() {
  const FleetFolder folder = state_->folder;
  state_.reset();
  folder.remove_all();
}

std::unique_ptr<Meter> Fleet::meter(const Device& device, int64_t footprint_bytes) {
  state_->start(device);
  return std::make_unique<FleetMeter>(*state_, device, footprint_bytes);
}

FleetReport Fleet::report() const {
  return {state_->roster ? state_->roster->report() : std::vector<FleetReport::Member>(), state_->by_leader};
}

std::vector<std::string> Fleet::take_warnings() {
  return std::exchange(state_->warnings, {});
}

}  // namespace korch
