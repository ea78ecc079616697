// ONNX's cases with an axis of an input opened: one graph for a range of extents, compared with the graphs of
// single ones.
#pragma once

#include <string>
#include <vector>

#include "cases.h"
#include "engines.h"

namespace korch {

struct OpenAxesScore {
  int right = 0;     // axes
  int one_only = 0;  // refused, but there is nothing to open: ONNX's rules allow one extent
  std::vector<std::string> wrong, refused;  // "node/test_relu input 0 axis 1: why"
};

// Opens each axis of each input that is read in a run, for 1 up to twice its extent: alone, and if that is
// refused together with all axes of its extent.
// Runs are the interpreter's; of one axis in `one_in` also `engine`'s, if there is one.
void open_axes(const OnnxCase& c, OpenAxesScore& score, const Engine* engine, int one_in);

}  // namespace korch
