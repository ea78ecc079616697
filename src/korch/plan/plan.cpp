#include "korch/plan/plan.h"

namespace korch {

const char* name(PlanSchedule schedule) {
  switch (schedule) {
    case PlanSchedule::barrier:
      return "barrier";
    case PlanSchedule::dynamic:
      return "dynamic";
    case PlanSchedule::assigned:
      return "static";
  }
  return "?";
}

bool parse_schedule(const std::string& text, PlanSchedule* schedule) {
  for (PlanSchedule known : kSchedules) {
    if (text != name(known)) continue;
    *schedule = known;
    return true;
  }
  return false;
}

}  // namespace korch
