// Who is alive. A process raises a number in the folder; who watches it counts its own looks at which the
// number stood still. No clock of another machine counts, and none that can be set.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "korch/fleet/folder.h"

namespace korch {

// Of the waits of leader and workers. Tests hurry.
struct FleetTimes {
  double poll_s = 0.02;  // between looks for work and for results
  double beat_s = 0.5;   // between beats, and between looks at those of others
  int lost_after = 10;   // looks at which a number stood still: its process is lost
  double meet_s = 10;    // that a leader waits for workers that live or are being started, once
  double stuck_s = 180;  // that one kernel may take a worker that is alive
};

// Beats while it lives. The file's space is taken first, so that a disk that fills up later stops no heart.
class Heartbeat {
 public:
  // Throws as FleetFolder::write. The folder outlives it.
  Heartbeat(const FleetFolder& folder, const std::string& name, double beat_s);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  const FleetFolder& folder_;
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

// One look at a time, by whoever watches.
class BeatWatch {
 public:
  // The looks, this one included, since the number last changed; 0: it has changed, or this is the first
  // look.
  int look(const FleetFolder& folder, const std::string& name);

 private:
  struct Seen {
    std::string beat;
    int looks = 0;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace korch
