// For kernels of other families (convolution, matmul): C++ text that computes a fused Value of the candidate
// at given coordinates, W elements along one variable at a time. Epilogues declare the accumulator's Value as
// provided; prologues ask for the linear primitive's operand at the coordinates they read.
//
//   ValueEmitter emitter(graph, candidate, implementation, target);
//   emitter.provide(conv_output, [&](const std::vector<Index>& coords) { return "acc3"; });
//   Block block{.vector_variable = "c", .lanes = 16};
//   std::string result = emitter.emit(candidate.outputs[0], {n, c, h, w}, block);   // coords mention
//   variable "c" emitter.emit_store(candidate.outputs[0], {n, c, h, w}, result, block); source =
//   emitter.preamble() + ... block.code ...
//
// Conventions of the emitted text: arguments are `args` (inputs, constants, outputs, temporaries as in
// plan/kernel.h), declared by `argument_declarations`; vector types are f32x16, i32x16, i64x16, m16
// (comparison mask) and so on; a function that contains emitted text returns int32_t (a data-dependent gather
// may `return 1`).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "korch/codegen/implementation.h"
#include "korch/kernel/index.h"

namespace korch::tile {

// Where emitted statements go, and how they are vectorized.
struct Block {
  std::string vector_variable;  // the lanes are vector_variable + 0 .. lanes - 1; empty when lanes is 1
  int lanes = 1;
  std::string count;  // valid lanes as a C++ int expression; empty: all. No memory is touched beyond them.
  std::string code;   // statements, appended
  std::string indent = "      ";
};

// Of `width` lanes along the variable, the first `valid` are there.
Block vector_block(const std::string& variable, int width, int64_t valid);

class ValueEmitter {
 public:
  ValueEmitter(const Graph& graph, const Candidate& candidate, const Implementation& implementation,
               const Target& target);
  ~ValueEmitter();

  // A Value that needs no computing: returns the name of a C++ variable, a vector of the block's lanes when
  // the coordinates mention the vector variable, else a single element. Called with the coordinates at which
  // the fused expression reads it.
  using Provider = std::function<std::string(const std::vector<Index>& coords)>;
  void provide(ValueId value, Provider provider);

  // Why the candidate's part between what is provided and `value` cannot be emitted inline; empty when it can
  // (a reduction over a whole axis cannot, an opaque or second linear primitive cannot).
  std::string obstacle(ValueId value) const;

  // Appends statements to block.code; the result is the name of a variable of `lanes` elements of the Value's
  // type. Coordinates that do not mention the vector variable give a broadcast. Names are unique within this
  // emitter.
  std::string emit(ValueId value, const std::vector<Index>& coords, Block& block);
  // Stores a vector into the candidate's output in its layout.
  void emit_store(ValueId output, const std::vector<Index>& coords, const std::string& vector, Block& block);

  // The caller's own text calls this function of the vector math library ("fn_exp", "across_max", ...).
  void use_function(const std::string& name, int lanes);

  // C++ text before the kernel: context struct, vector types, the math functions that were used. Call it
  // last. `more_lanes` are widths that the caller's own text uses besides those of its blocks.
  std::string preamble(const std::vector<int>& more_lanes = {}) const;
  // `const float* in0 = (const float*)context->args[0]; ...` for every argument: in0.., const0.., out0..,
  // temp0...
  std::string argument_declarations(int temporaries = 0) const;
  // The packing of each of candidate.constants, as the emitted text reads them.
  std::vector<Packing> constant_packing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace korch::tile
