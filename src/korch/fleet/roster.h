// The workers that a leader knows: who is taken, lost, or set aside, and what each has measured.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "korch/base/stopwatch.h"
#include "korch/fleet/heartbeat.h"
#include "korch/fleet/notes.h"

namespace korch {

struct FleetReport {
  struct Member {
    std::string name;
    int kernels = 0;
    std::string set_aside;  // why; empty: it was not
    bool is_lost = false;
  };
  std::vector<Member> workers;
  int by_leader = 0;  // kernels that this process measured itself
};

class Roster {
 public:
  // `say` gets a sentence about everybody who is lost or set aside. The folder outlives it.
  Roster(const FleetFolder& folder, LeaderNote leader, std::vector<double> sentinels_us, double tolerance,
         FleetTimes times, std::function<void(const std::string&)> say);

  // Looks at hearts and at who is new, not more often than hearts beat; whether it looked. Throws as
  // FleetFolder::write.
  bool attend();
  bool is_taken(const std::string& worker) const;
  bool is_set_aside(const std::string& worker) const;
  int taken() const;
  // By the last look: so many live and have not answered this leader yet.
  int expected() const { return expected_; }
  void set_aside(const std::string& worker, const std::string& reason);
  void count(const std::string& worker) { ++members_[worker].kernels; }
  std::vector<FleetReport::Member> report() const;

 private:
  enum class State { unknown, taken, lost, set_aside, gone };
  struct Member {
    State state = State::unknown;
    int kernels = 0;
    std::string reason;
  };
  void judge(const std::string& name, Member& member);
  void tell(const std::string& name, bool is_taken, const std::string& reason);

  const FleetFolder& folder_;
  const LeaderNote leader_;
  const std::vector<double> sentinels_us_;
  const double tolerance_;
  const FleetTimes times_;
  const std::function<void(const std::string&)> say_;
  std::map<std::string, Member> members_;
  BeatWatch beats_;
  Stopwatch since_look_;
  bool looked_ = false;
  int expected_ = 0;
};

}  // namespace korch
