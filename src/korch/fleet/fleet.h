// The leader of a fleet: other machines measure this compilation's kernels (docs/design/fleet.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/fleet/commands.h"
#include "korch/fleet/heartbeat.h"
#include "korch/fleet/roster.h"
#include "korch/fleet/sentinels.h"

namespace korch {

struct FleetOptions {
  std::string folder;
  std::vector<std::string> commands;  // that start workers (commands.h); none: somebody else does
  std::vector<std::string> hosts;
  double tolerance = 0.05;  // of a worker's sentinels
  FleetTimes times = {};
  // By the device's backend; tests make them up.
  MakeMeter make_meter = nullptr;
  std::function<std::vector<KernelWork>(const Device&)> make_sentinels = nullptr;
};

class Fleet {
 public:
  // Takes the folder. Throws Error{usage} where it is not this user's alone, or another leader's, or a
  // command is none; Error{io} and Error{resource} as files give them.
  explicit Fleet(FleetOptions options);
  ~Fleet();

  // Starts the workers at its first call. From then on kernels of devices like this one go to them; this
  // process measures what they cannot, and everything where none is left.
  std::unique_ptr<Meter> meter(const Device& device, int64_t footprint_bytes);
  FleetReport report() const;
  // Who was lost or set aside, and why, since the last call.
  std::vector<std::string> take_warnings();

  struct State;  // fleet_state.h

 private:
  std::unique_ptr<State> state_;
};

}  // namespace korch
