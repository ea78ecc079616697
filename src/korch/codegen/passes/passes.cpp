#include "korch/codegen/passes/passes.h"

#include "korch/codegen/passes/expand.h"
#include "korch/codegen/passes/partition.h"
#include "korch/codegen/passes/segment.h"
#include "korch/codegen/passes/vectorize.h"

namespace korch::tile {

void lower_for_cpu(TileGraph& graph, const Device& target) {
  expand(graph);                     // first: loops that are gone are none that lanes could run along
  vectorize(graph, target.lanes());  // then: segment asks along which variable vectors run
  segment(graph);                    // its parts have lost the conditions that vectorize looks at
  partition(graph,
            target.vector_registers == 32
                ? 8
                : 4);  // last: what constants cut is left to segment, and every segment is printed twice here
}

}  // namespace korch::tile
