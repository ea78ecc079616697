// Winograd's minimal filtering F(m,r) in one dimension, m outputs of r taps from alpha = m + r - 1 inputs, by
// Cook and Toom over alpha - 1 chosen points and infinity; two dimensions are its square (Lavin and Gray,
// arXiv 1509.09308). The points depend on alpha alone, and so does the data transform: 0, +-1 for 4, and
// 0, +-sqrt(1/2), +-sqrt(2) for 6, which give F(4,3) half the error of the usual 0, +-1, +-2 (the table of
// docs/design/codegen-linear.md).
#pragma once

#include <string>
#include <vector>

namespace korch::linear {

constexpr int kWinogradAlphas[] = {6, 4};
constexpr int kFewestWinogradTaps = 2, kMostWinogradTaps = 5;

// u[alpha x alpha] = G g G^T for a kernel g of r x r taps, in double.
void winograd_weights(int alpha, int r, const float* g, double* u);

// C++ statements that declare `out`0 .. from `in`0 .. : the data transform (alpha to alpha values) and the
// result transform (alpha to m values) along one dimension. `type` is the vector type.
std::string data_transform_text(int alpha, const std::string& type, const std::string& in,
                                const std::string& out);
std::string result_transform_text(int alpha, int m, const std::string& type, const std::string& in,
                                  const std::string& out);

}  // namespace korch::linear
