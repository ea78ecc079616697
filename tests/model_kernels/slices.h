// One kernel's slices, each alone: machine code against the interpreter, and its accesses against regions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/backend/cpu/compiler.h"
#include "korch/device/device.h"
#include "korch/kernel/region.h"
#include "korch/kernel/schedule.h"
#include "korch/plan/kernel.h"
#include "korch/tensor/host_tensor.h"
#include "trace.h"

namespace korch::testing {

// The kernel of a tile graph, traced. Every buffer has random content.
class Slices {
 public:
  // Floats lie in [low, high]; integers are 0 or 1, indices that every axis has.
  Slices(tile::ScheduledGraph graph, const Device& target, double low, double high);

  const tile::ScheduledGraph& graph() const { return graph_; }

  // Runs one slice alone. The next two are about the slice that ran last.
  void run(size_t phase, int64_t slice);

  // What it accessed and its regions do not have, or what exact ones have and it did not write. Vectors of
  // every second element are loaded with what lies between (`loads_between`): that is not looked at.
  using RegionOf = std::function<tile::Region(tile::Direction, int buffer)>;
  std::string stray_accesses(const RegionOf& region);
  std::string stray_accesses();
  bool loads_between() const { return loads_between_; }
  tile::Region region(tile::Direction direction, int buffer) const;

  // What it wrote, against the interpreter in float64: what differs by more than 20 times what the
  // interpreter in the graph's types is off; empty: nothing does.
  std::string differences() const;

 private:
  tile::ScheduledGraph graph_;
  Kernel kernel_;
  LoadedKernels loaded_;
  std::vector<void*> functions_;
  std::vector<HostTensor> arguments_;  // all but scratch
  size_t phase_ = 0;                   // of the slice that ran
  int64_t slice_ = 0;
  int32_t status_ = 0;
  std::vector<HostTensor> after_;  // the arguments
  std::unique_ptr<Trace> trace_;
  bool loads_between_ = false;
};

// For each phase: no element of an output is in the regions of two slices, or twice in that of one; and over
// all phases every element is. Scatters go over what is written: not counted.
struct Coverage {
  bool exact = true;  // all regions are; else nothing is known
  std::string fault;  // empty: this holds
};
Coverage coverage_by_slices(const tile::ScheduledGraph& graph);

}  // namespace korch::testing
