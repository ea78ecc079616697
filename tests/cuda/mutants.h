// Mistakes put into the text of a kernel, each one that somebody might make in a printer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace korch::testing {

enum class Mutation {
  barrier_removed,
  barrier_moved,
  wait_removed,  // for copies
  index,         // a constant in an index
  stride,        // what a variable is multiplied by in an index
  offset,        // of a whole access, or of a buffer within shared memory or the workspace
  guard,         // a condition dropped, or its constant changed
  bound,         // of a loop, its first value or its step
  split,         // of a number into variables, or of threads among rows and columns
  fill,          // a first value left out
  lanes,         // of a shuffle
};
const char* name(Mutation mutation);

struct Mutant {
  Mutation mutation;
  size_t line = 0;  // of the text
  std::string before, after;
  std::string text;
};

// All of a text by print_cuda; its functions before the first kernel stay.
std::vector<Mutant> all_mutants(const std::string& source);

// `count` of them: as many of each kind, as far as there are.
std::vector<Mutant> some_mutants(const std::string& source, size_t count, uint64_t seed);

}  // namespace korch::testing
