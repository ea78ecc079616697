// The plain meaning of a tile graph, element by element: the oracle of every printer.
#pragma once

#include <vector>

#include "korch/kernel/tile_graph.h"
#include "korch/tensor/host_tensor.h"

namespace korch::tile {

enum class Arithmetic {
  native,  // in the types that the graph states
  float64  // all floats as float64, unrounded: what the kernel would compute exactly
};

// Runs all phases. `arguments`: one tensor per input and constant, in order, with the buffer's number of
// elements as they lie in memory; floats may be of any float type. Gives the outputs, flat, of their buffers'
// types (floats f64 in float64). Throws Error{invalid} where an index from data is out of range, and
// Error{internal} where the graph reads what nothing wrote or leaves a buffer.
std::vector<HostTensor> interpret(const TileGraph& graph, const std::vector<HostTensor>& arguments,
                                  Arithmetic arithmetic);

// The same in another arithmetic, whose elements the arguments hold.
class ScalarMath;
std::vector<HostTensor> interpret(const TileGraph& graph, const std::vector<HostTensor>& arguments,
                                  const ScalarMath& math);

// Runs one slice of a phase alone. `arguments` are also outputs and temporaries, as they are before: they
// come back as they are then.
std::vector<HostTensor> interpret_slice(const TileGraph& graph, const Phase& phase, int64_t slice,
                                        const std::vector<HostTensor>& arguments, Arithmetic arithmetic);

}  // namespace korch::tile
