// The statements of Winograd's data and result transform in one dimension (ir/winograd.h); two dimensions are
// its square. The data transform depends on the number of inputs alpha alone. Points +-sqrt(1/2), +-sqrt(2)
// give F(4,3) half the error of the usual +-1, +-2 (the table of docs/design/codegen-linear.md).
#pragma once

#include <string>

namespace korch::linear {

// C++ statements that declare `out`0 .. from `in`0 .. : the data transform (alpha to alpha values) and the
// result transform (alpha to m values) along one dimension. `type` is the vector type.
std::string data_transform_text(int alpha, const std::string& type, const std::string& in,
                                const std::string& out);
std::string result_transform_text(int alpha, int m, const std::string& type, const std::string& in,
                                  const std::string& out);

}  // namespace korch::linear
