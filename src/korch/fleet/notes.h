// What leader and workers tell each other, as JSON in the folder. Readers take nothing for granted: a text
// that lacks a field is no note.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "korch/backend/meter.h"
#include "korch/device/device.h"

namespace korch {

struct LeaderNote {
  std::string session;  // of one compilation; new ones are served anew
  std::string host;
  std::string build;                   // build_of_this_program()
  int protocol = 0;                    // kCostProtocol
  Device device;                       // that kernels are measured on
  std::vector<std::string> sentinels;  // keys
};

struct WorkerNote {
  std::string session;  // of the leader that it answers
  std::string host;
  std::string build;
  int protocol = 0;
  std::string processor;  // Device::name
  bool can_run = false;   // the code of the leader's device
  int cpus = 0;
  std::vector<double> sentinels_us;  // in their order; empty: it measured none
};

struct Judgement {
  std::string session;
  bool is_taken = false;
  std::string reason;  // why not
};

// A measured kernel, or why it was not.
struct FoundCost {
  std::string key, worker;
  std::optional<Cost> cost;
  std::string refusal;
};

std::string to_text(const LeaderNote& note);
std::string to_text(const WorkerNote& note);
std::string to_text(const Judgement& verdict);
std::string to_text(const FoundCost& finding);
std::optional<LeaderNote> leader_note(const std::string& text);
std::optional<WorkerNote> worker_note(const std::string& text);
std::optional<Judgement> judgement_of(const std::string& text);
// Also nothing where the cost is no time that a kernel takes.
std::optional<FoundCost> found_cost(const std::string& text);

// A hash of the program's file: programs that differ may measure differently.
std::string build_of_this_program();
std::string host_name();

// Why the worker cannot measure for the leader, as the end of "it ..."; "": it can, by what both say.
std::string mismatch(const LeaderNote& leader, const WorkerNote& worker);

// The sentinel's times: why the worker is another machine than the leader's, as above. `tolerance`: a share
// of the leader's times.
std::string difference(const std::vector<double>& leader_us, const std::vector<double>& worker_us,
                       double tolerance);

}  // namespace korch
