// Statements of Winograd's transforms (ir/winograd.h) of vectors along channels, shared by the kernels of all
// three primitives and of one alone.
#pragma once

#include <functional>
#include <string>

#include "korch/codegen/implementation.h"
#include "korch/codegen/linear/output_map.h"
#include "korch/codegen/loop/emitter.h"
#include "korch/ir/winograd.h"

namespace korch::linear {

// Transformed elements of a tile that follow one another in memory: a row of inputs, one for Strassen's.
inline int elements_per_row(const WinogradAttrs& attrs) {
  return is_strassen(attrs) ? 1 : static_cast<int>(tile_inputs(attrs));
}

struct WinogradText {
  const Problem& problem;  // its `conv`, `data` and `value`
  tile::ValueEmitter& emitter;
  int m, alpha;              // outputs and inputs of a tile per axis; Strassen's: 2 pixels, of 7 rows of 1
  int64_t tiles_h, tiles_w;  // of an image

  // Declares tile, and image, ty and tx where tiles lie in two dimensions.
  std::string decode_tile(const std::string& tile) const;

  // B^T d B of `width` channels, `valid` of them there, from `channel` on. Variable i of e0 .. is the
  // transformed row i, column j (a C++ variable); store(i) keeps it, after the statements `place`.
  using PerRow = std::function<std::string(int i)>;
  std::string data_vectors(int width, int64_t valid, const Index& channel, const std::string& place,
                           const PerRow& store) const;

  // A^T p A, the epilogue, and the stores of the candidate's outputs. load(i) declares r0 .., of which
  // variable i is the product's row i, column j.
  std::string result_vectors(const Implementation& implementation, const Target& target, int width,
                             int64_t valid, const Index& column, const std::string& place,
                             const PerRow& load) const;

 private:
  bool is_strassen() const { return problem.conv->kernel_h == 1; }
  std::string pixel_of_tile(int64_t pixel) const;
  std::string strassen_data(int width, int64_t valid, const Index& channel, const std::string& place,
                            const PerRow& store) const;
  std::string strassen_result(const Implementation& implementation, const Target& target, int width,
                              int64_t valid, const Index& column, const std::string& place,
                              const PerRow& load) const;
};

}  // namespace korch::linear
