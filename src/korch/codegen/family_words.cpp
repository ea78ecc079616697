#include "korch/codegen/family_words.h"

namespace korch {
namespace {

constexpr const char* kTileNumbers =
    "vectors and rows of a tile of results; into how many blocks rows are cut";
constexpr const char* kWinogradNumbers =
    "results along each axis of a transformed tile; vectors and rows of a tile";

}  // namespace

const std::vector<FamilyWords>& family_words() {
  static const std::vector<FamilyWords> table = {
      {"loop", "elementwise operators, reductions and moves of data, as loops over memory", ""},
      {"opaque", "one operator that has a kernel of its own", ""},
      {"recurrence", "all steps of one direction of an LSTM, GRU or RNN",
       "whether workers share each step (1) or one does all; steps of a round; vectors and rows of a tile"},
      {"loop_end", "an end of a loop: carries tensors from one iteration to the next", ""},
      {"append", "new rows behind those that a state holds", ""},
      {"conv_direct", "a convolution as products over pixels; tiles of results stay in registers",
       kTileNumbers},
      {"conv_pixels", "a convolution to few channels, with vectors along neighbouring pixels", kTileNumbers},
      {"conv_winograd",
       "a convolution by Winograd's algorithm (1x1: by Strassen's), with fewer multiplications",
       kWinogradNumbers},
      {"winograd_part", "one of the three parts of a convolution by Winograd's algorithm", kWinogradNumbers},
      {"depthwise", "a convolution of each channel with weights of its own, with vectors along channels", ""},
      {"matmul", "products of matrices; tiles of results stay in registers", kTileNumbers},
      {"blocks", "several products and reductions, block by block, by a structure that a search found",
       "number of the structure; rows of a slice; values of the loop's axis in a block"},
      {"staged", "a product or convolution on a GPU, in tiles of thread blocks that share what they read",
       "rows and columns of a block's tile; terms that it multiplies at a time; then options"},
      {"linear_generic", "a product or convolution that no faster family takes, as plain loops", ""},
  };
  return table;
}

}  // namespace korch
