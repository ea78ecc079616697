// What motifs are made of, and the motifs themselves, which motifs.cpp lists with their weights.
#pragma once

#include "graph_maker.h"

namespace korch::fuzz::motif {

using Ints = std::vector<int64_t>;
inline const NoAttrs kNone;

ValueId activation(GraphMaker& m, ValueId x);
// A vector along one axis.
ValueId channels_of(GraphMaker& m, ValueId x, size_t axis);
// What follows a linear operator: biases, residuals, factors, activations, rearrangements.
ValueId dressed(GraphMaker& m, ValueId x, int64_t most = 4);
// What stands before a linear operator.
ValueId prologue(GraphMaker& m, ValueId x);
int64_t few(GraphMaker& m);
DType floats(GraphMaker& m);
// Of four axes.
ValueId image(GraphMaker& m, int64_t channels, int64_t most_extent);
int64_t channels(GraphMaker& m);
ValueId conv(GraphMaker& m, ValueId x, int64_t features, Ints kernel, ConvAttrs attrs);
ConvAttrs plain(int64_t stride, int64_t pad, int64_t group = 1);
ValueId matmul(GraphMaker& m, ValueId x, int64_t columns);
ValueId transpose(GraphMaker& m, ValueId x, Ints perm);
ValueId reshape(GraphMaker& m, ValueId x, Shape shape);
ValueId sum_of(GraphMaker& m, ValueId x, Ints axes);
ValueId scalar(GraphMaker& m, ValueId x, double value);
ValueId slice(GraphMaker& m, ValueId x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);

void rows_times_matrix(GraphMaker& m);
void pointwise(GraphMaker& m);
void convolution(GraphMaker& m);
void winograd(GraphMaker& m);
void strassen(GraphMaker& m);
void grouped(GraphMaker& m);
void depthwise(GraphMaker& m);
void long_attention(GraphMaker& m);
void quantized_product(GraphMaker& m);
ValueId narrow_product(GraphMaker& m);
void small_attention(GraphMaker& m);
void large_attention(GraphMaker& m);
void large_normalization(GraphMaker& m);
void normalization(GraphMaker& m);
void upsampling(GraphMaker& m);
void merges(GraphMaker& m);
void scaling(GraphMaker& m);
void factor_after(GraphMaker& m);
void matmul_chain(GraphMaker& m);
void sum_beside_matmul(GraphMaker& m);
void rows_as_images(GraphMaker& m);
void layout_chain(GraphMaker& m);
void slices_concatenated(GraphMaker& m);
void beside_itself(GraphMaker& m);
void repetition(GraphMaker& m);
void pools(GraphMaker& m);
void patches(GraphMaker& m);
void focus(GraphMaker& m);
void transposed(GraphMaker& m);
void large_kernel(GraphMaker& m);
void strided(GraphMaker& m);
void library_chain(GraphMaker& m);
void one_operator(GraphMaker& m);
void elementwise(GraphMaker& m);
void reductions(GraphMaker& m);

}  // namespace korch::fuzz::motif
