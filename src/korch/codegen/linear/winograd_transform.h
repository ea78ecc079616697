// Winograd's minimal filtering F(m,3) in one dimension, m = 2 or 4, by Cook and Toom over chosen points and
// infinity; two dimensions are its square (Lavin and Gray, arXiv 1509.09308). For F(4,3) the points are 0,
// +-sqrt(1/2), +-sqrt(2): on normal data with 128 channels the error is 1.6 times that of a direct float32
// sum, half of what the usual points 0, +-1, +-2 give. F(2,3) uses 0, +-1 and is as accurate as the direct
// sum.
#pragma once

#include <string>
#include <vector>

namespace korch::linear {

// u[(m+2) x (m+2)] = G g G^T for a 3x3 kernel g, in double.
void winograd_weights(int m, const float* g, double* u);

// C++ statements that declare `out`0 .. from `in`0 .. : the data transform (m + 2 to m + 2 values) and the
// result transform (m + 2 to m values) along one dimension. `type` is the vector type.
std::string data_transform_text(int m, const std::string& type, const std::string& in,
                                const std::string& out);
std::string result_transform_text(int m, const std::string& type, const std::string& in,
                                  const std::string& out);

}  // namespace korch::linear
