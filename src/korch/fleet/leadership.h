// One leader per folder.
#pragma once

#include <memory>
#include <string>

#include "korch/fleet/heartbeat.h"
#include "korch/fleet/notes.h"

namespace korch {

class Leadership {
 public:
  // Takes over from a leader whose heart stands still, which takes `times.lost_after` looks. Throws
  // Error{usage} where another one lives. The folder outlives it.
  Leadership(const FleetFolder& folder, const FleetTimes& times);
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  const std::string& session() const { return session_; }
  // What workers answer; before, they wait.
  void announce(LeaderNote note) const;
  // False once another one has taken over, as after this process slept.
  bool holds() const;

 private:
  const FleetFolder& folder_;
  const std::string session_;
  Heartbeat heart_;
};

}  // namespace korch
