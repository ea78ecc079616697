#pragma once

namespace korch {

// Between these lines a source may have one function that refers to nothing outside itself,
//
//   static __attribute__((noinline)) void NAME(PARAMETERS){...}
//
// It is compiled once in a process for all sources that have it. (A linear primitive has a handful of
// micro-kernels, most of the instructions of each of the hundreds of kernels that it is fused into.)
inline constexpr char kSharedFunction[] = "//shared function\n";
inline constexpr char kEndOfSharedFunction[] = "//end of shared function\n";

}  // namespace korch
