// What the steps of a block graph are to a kernel: which are products of rows and columns, in register tiles;
// which Values are kept in scratch; and which axis the rows of a slice are of.
#pragma once

#include <optional>
#include <vector>

#include "korch/block/block_graph.h"

namespace korch::blocks {

using block::Axis;
using block::axis_set;
using block::AxisSet;
using block::BlockGraph;
using block::Step;

// A fold `sum k (Mul(left, right))`: left has rows by terms, right terms by columns.
struct RowProduct {
  int left = -1, right = -1;  // steps
  int rows = -1;              // an axis; -1: one row
  int columns = -1, terms = -1;
  AxisSet around = 0;   // other axes of the result within a slice: one product for each of their values
  bool packed = false;  // right follows from arguments alone: a first phase packs it
};

// How products are made: in register tiles of a few rows by vectors, of columns that are packed; or, by a
// thread block, in one tile for all rows of a slice, of panels that are staged term by term; or, direct, as
// all other folds, of operands that are read where they lie.
enum class Products { packed, staged, direct };

struct Roles {
  Products way = Products::packed;
  AxisSet single = 0;  // axes of the grid of which a slice has one value
  int rows = -1;       // the axis of the grid of which a slice has a block; -1: none
  int columns = -1;    // the same, of the columns of staged products
  std::vector<bool> used;
  std::vector<bool> held;  // in scratch: folds, operands of products, and what several nests read
  std::vector<std::optional<RowProduct>> products;
  std::vector<std::vector<int>> readers;  // steps that are held, folds or results and compute with the step

  AxisSet local(AxisSet axes) const { return axes & ~single; }
};

// `blocks`: of its loop's axis; if there is one, accumulators are not rescaled.
Roles roles_of(const BlockGraph& graph, bool in_blocks, Products way);

// The steps that computing `step` takes, itself the last: not through those that are held, unless they are in
// `through`; folds are not passed.
std::vector<int> steps_of(const BlockGraph& graph, const std::vector<bool>& held, int step);

// Whether one product, or one other step of those in Roles::readers, alone computes with the leaf.
bool is_read_by_one(const BlockGraph& graph, const Roles& roles, int leaf);

bool has_windows(const BlockGraph& graph);
// A sum over few values of a window: where it is read, tap by tap.
bool is_written_out(const BlockGraph& graph, int step);

// Whether the step is Exp(x - r), where r is a maximum of x, or of x and others before x: never above 1.
bool decays(const BlockGraph& graph, int step);

std::vector<int> axes_in(AxisSet set);

}  // namespace korch::blocks
