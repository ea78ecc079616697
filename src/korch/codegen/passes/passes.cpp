#include "korch/codegen/passes/passes.h"

#include <fmt/format.h>

#include "korch/codegen/passes/expand.h"
#include "korch/codegen/passes/partition.h"
#include "korch/codegen/passes/segment.h"
#include "korch/codegen/passes/vectorize.h"

namespace korch::tile {

namespace {

// What of the scheduled graph a pass may change, and so has to be a graph, and to fit it, afterwards.
enum class Changes { all, schedule };

void verify_after(const char* pass, Changes changes, const ScheduledGraph& graph) {
  const std::string fault = changes == Changes::all ? structural_fault(graph) : schedule_fault(graph);
  if (!fault.empty())
    throw Unproven(ErrorKind::internal, fmt::format("after {}: {}\n{}", pass, fault, print(graph)));
}

}  // namespace

void lower_for_cpu(ScheduledGraph& graph, const Device& target) {
  // First: loops that are gone are none that lanes could run along.
  if (expand(graph)) verify_after("expand", Changes::all, graph);
  vectorize(graph, target.lanes());  // then: segment asks along which variable vectors run
  verify_after("vectorize", Changes::schedule, graph);
  segment(graph);  // its parts have lost the conditions that vectorize looks at
  verify_after("segment", Changes::all, graph);
  // Last: what constants cut is left to segment, and every segment is printed twice here.
  partition(graph, target.vector_registers == 32 ? 8 : 4);
  verify_after("partition", Changes::schedule, graph);
}

}  // namespace korch::tile
