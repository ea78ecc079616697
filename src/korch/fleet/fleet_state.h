// What a leader's meters share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "korch/fleet/fleet.h"
#include "korch/fleet/leadership.h"

namespace korch {

struct Fleet::State {
  explicit State(FleetOptions options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start(const Device& device);
  void say(const std::string& warning) { warnings.push_back("fleet: " + warning); }
  // Attends to workers, and to whether this is still the leader; whether it was time to look.
  bool attend();
  void set_aside(const std::string& worker, const std::string& reason);
  // Before the first round: until those who are on their way have come, but not for long.
  void meet();
  // Gives up the others; says why, once.
  void go_alone(const std::string& why);

  FleetOptions options;
  FleetFolder folder;
  Leadership leadership;
  std::optional<Roster> roster;  // once it has started
  std::optional<StartedCommands> started{std::in_place};
  bool is_alone = false, has_met = false;
  int by_leader = 0;
  std::vector<std::string> warnings;
};

// Measures these kernels through the folder, and by `own` what nobody else can.
void measure_by_fleet(Fleet::State& fleet, Meter& own, const Device& device, int64_t footprint_bytes,
                      size_t count, const std::function<MeasuredKernel(size_t)>& kernel, Care care,
                      const std::function<void(size_t, Result<Cost>)>& done);

}  // namespace korch
