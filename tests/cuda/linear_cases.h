// Candidates around one linear primitive, small enough for the emulator.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "candidate_graph.h"

namespace korch::testing {

struct LinearCase {
  const char* name;
  std::vector<std::string> families;  // that list for it on a GPU
  const char* text;
};

inline void PrintTo(const LinearCase& c, std::ostream* out) {
  *out << c.name;
}

const std::vector<LinearCase>& linear_cases();

// Large ones, for a GPU.
struct TimedCase {
  const char* name;
  int64_t checked_rows;  // 0: all
  const char* text;
};
const std::vector<TimedCase>& timed_cases();

// Inputs whose names begin with "w" are generated constants.
CandidateGraph case_graph(const char* text);

}  // namespace korch::testing
