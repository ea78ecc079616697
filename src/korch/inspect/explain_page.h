// `korch explain --html`: an executable's plan as a page to look at (report/report.h). Reads the file; never
// runs its code.
#pragma once

#include <string>
#include <vector>

#include "korch/plan/plan.h"
#include "korch/report/report.h"

namespace korch {

// What a run told, if there was one.
struct PageTimes {
  std::vector<double> step_us;    // ReportInput::step_us
  std::vector<ReportSpan> spans;  // ReportInput::spans
};

// `plan`: the executable's. `text`: what explain() says of it.
std::string explain_page(const std::string& executable, const Plan& plan, const std::string& text,
                         const PageTimes& times);

}  // namespace korch
