// `korch measure --serve DIR`: measures what a leader offers in a folder.
#pragma once

#include <functional>
#include <string>

#include "korch/fleet/heartbeat.h"
#include "korch/fleet/notes.h"
#include "korch/fleet/sentinels.h"

namespace korch {

struct ServeOptions {
  std::string folder;
  bool once = false;    // ends with the leader that it served; else waits for the next one
  double idle_s = 600;  // without a leader: ends
  std::string name;     // plain; "": of the host and the process
  // Of this machine; tests make them up.
  WorkerNote machine;
  std::function<bool(const Device&)> can_run;
  MakeMeter make_meter;
  FleetTimes times = {};
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<bool()> is_over = [] { return false; };  // between looks
};

// This program on this machine.
WorkerNote this_machine();

struct Served {
  int measured = 0;
  std::string set_aside;  // why the last leader took nothing
};

// Until there is nothing to do. Throws Error{usage} for a folder that is not this user's alone,
// Error{resource} where results cannot be written: the claim is given back before.
Served serve(const ServeOptions& options);

}  // namespace korch
