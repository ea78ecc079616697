// The words that a plan's texts use, in sentences: layouts and families of kernels.
#pragma once

#include <map>
#include <string>

#include "korch/report/report.h"

namespace korch {

// "p0231" -> "axes 0, 2, 3, 1 from the outermost to the innermost in memory (channels last, NHWC)".
std::string meaning(const Layout& layout);

// Of every layout that tensors and implementations of the plan name, by its text.
std::map<std::string, std::string> layouts_explained(const Plan& plan);

// Those of `families` that implementations of the plan name.
std::map<std::string, ReportFamily> families_named(const Plan& plan,
                                                   const std::map<std::string, ReportFamily>& families);

}  // namespace korch
