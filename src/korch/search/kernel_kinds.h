// Kinds of kernels: those of one kind are about equally far from their bounds.
#pragma once

#include <string>
#include <vector>

#include "korch/search/columns.h"

namespace korch {

// Family, kind of schedule and layouts.
std::string kernel_name(const Implementation& implementation);

// Of a column, narrow first: with the operators and the size (in powers of four of the bound), with the size,
// and without either. None of a view.
std::vector<std::string> kind_names(const Graph& graph, const Columns& columns, const ColumnInfo& info);

}  // namespace korch
