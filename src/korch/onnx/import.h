// ONNX model file -> operator Graph.
//
// Reads the operators of rules.h, float and integer tensors, inline and external weights.
// Operators whose parameters are static become simpler ones (Squeeze -> Reshape, Split -> Slices, Shape ->
// Constant, Dropout -> nothing), and nodes that depend on constants alone are folded, so that shape
// arithmetic vanishes. Only nodes that a graph output depends on are imported. Values carry their ONNX names,
// Nodes the name of the ONNX node they stem from
// ("<operator>_<index>" where it has none). The result passes verify(graph, GraphForm::imported).
//
// The file is untrusted. Errors name the node, the operator and what to do:
//   invalid      no ONNX model, a cycle, duplicate or unknown names, data of the wrong size, shapes that do
//   not agree,
//                a dynamic dimension without a shape in the options
//   unsupported  operators, element types and data-dependent shapes that korch does not know, all of them at
//   once resource     tensors larger than the machine's memory io           the file or its external data
//   cannot be read
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "korch/interp/work.h"
#include "korch/ir/graph.h"

namespace korch {

// A dimension of graph inputs that the options leave out, since it follows from others: a mask's `total` is
// `past + seq`.
struct DerivedDimension {
  int64_t least = 0, most = -1;  // below 0 where the options leave one of the others out
  int64_t plus = 0;
  std::vector<std::pair<std::string, int64_t>> terms = {};  // others, by their names, and factors
};
// By name; a dimension without one is called `input:axis`.
using DerivedDimensions = std::map<std::string, DerivedDimension>;

// Inputs that outputs of the run before are for (Graph::states).
struct StateOptions {
  std::vector<std::pair<std::string, std::string>> pairs = {};  // of an input and an output, by their names
  // Those too to which an output appends along an open axis, and the states of recurrent layers.
  bool find = true;
  // By their inputs: how long states become that grow, where others than the bounds tell.
  std::map<std::string, int64_t> capacities = {};
};

struct ImportOptions {
  // Shapes that the file leaves open: of a graph input, by its name; or by the name of a symbolic dimension,
  // which several inputs may have, a shape of one extent.
  std::map<std::string, Shape> shapes;
  // Under the same names, for shapes that each run tells (Graph::open_dimensions): the least extents.
  // `shapes` holds the largest, and where both are equal the extent is fixed. Symbols that an input shares
  // with others are one dimension.
  std::map<std::string, Shape> least_shapes = {};
  // Of dimensions that are open then, by their names: the largest extents, instead of those of `shapes`.
  std::map<std::string, int64_t> bounds = {};
  // What derived_dimensions() gave for these shapes; none: the import asks it.
  std::optional<DerivedDimensions> derived = std::nullopt;
  // The most that values of the model may be, by their names: integers of rank 0 or 1 that become extents. A
  // run in which one is larger, or less than 0, ends with an error.
  std::map<std::string, int64_t> value_bounds = {};
  StateOptions states = {};
  // Limits of folding: bytes added to a model in all, and work (interp/work.h).
  int64_t max_folding_growth_bytes = int64_t{256} << 20;
  double max_folding_work = kMaxFoldingWork;
  uint64_t seed = 0;  // of random numbers, of nodes without a seed of their own
  std::function<void(const std::string& path)> on_external_file = nullptr;  // before one is read
  std::function<void(const std::string& text)> on_warning = nullptr;
};

// Of the dimensions that the options leave out those that must be sums of multiples of others, or numbers:
// else what the network joins would not fit together, or that is what their names say ("past + 1"). The file
// is read with presumed extents for that, unless nothing is left out. Throws as import_onnx of a file that is
// no model.
DerivedDimensions derived_dimensions(const std::string& path, const ImportOptions& options);

Graph import_onnx(const std::string& path, const ImportOptions& options = {});
// A model in memory, which cannot have external data.
Graph import_onnx_bytes(std::string_view bytes, const ImportOptions& options = {});

}  // namespace korch
