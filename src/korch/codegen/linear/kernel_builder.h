// A tile graph in the making, of a candidate around one linear primitive: its buffers, and the fused Values
// of its prologue and epilogue as expressions.
#pragma once

#include <string>
#include <vector>

#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/loop/compose.h"
#include "korch/codegen/tile_builder.h"

namespace korch::linear {

class KernelBuilder : public tile::TileBuilder {
 public:
  KernelBuilder(const LinearWorkload& workload, const Implementation& implementation, const Device& target);

  // Why the candidate cannot be computed element by element around its linear primitive; empty when it can.
  std::string obstacle() const;

  int buffer_of(ValueId argument) const;
  void pack(ValueId constant, Packing packing, int64_t elements);
  // Of the constant's numbers in a narrower type.
  void pack(ValueId constant, Packing packing, int64_t elements, DType type);
  // A candidate's input or constant as it lies in memory.
  int read(ValueId argument, const Coords& coords);
  // The Value at these coordinates. The linear primitive's result, if it is needed, is `result`. `places`
  // replaces variables of the coordinates: ranges known of the places simplify the expression, and hold
  // wherever the Value is read.
  int compose(ValueId value, const Coords& coords, int result = -1, const tile::Replacements& places = {});
  // Every output of the candidate, for an element of the linear primitive's result at `coords`.
  // Stored where the condition holds.
  std::vector<tile::Store> outputs(const Coords& coords, int result, const tile::Replacements& places = {},
                                   const tile::Condition& condition = {});

 private:
  const LinearWorkload& workload_;
  const Implementation& implementation_;
  tile::ExprPool composed_;
  tile::Composer composer_;
};

}  // namespace korch::linear
