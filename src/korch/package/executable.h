// The content of an executable of ours, read without running any of its code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "korch/device/device.h"

namespace korch {

constexpr const char* kTablesSection = ".korch.tables";
constexpr const char* kWeightsSection = ".korch.weights";
constexpr const char* kPlanSection = ".korch.plan";
constexpr const char* kTargetSection = ".korch.target";
constexpr const char* kSourcesSection = ".korch.sources";
constexpr const char* kGraphsSection = ".korch.graphs";

struct ExecutableInfo {
  std::string path;
  std::string plan_json;
  std::string code;                 // Device::code
  std::vector<std::string> needed;  // sonames of the shared libraries it loads
};

// Throws Error{io} when the file cannot be read, is not an executable written by korch, has another format or
// has any byte that korch did not write (seal.h).
ExecutableInfo read_executable(const std::string& path);

std::string read_plan_json(const std::string& path);

// An rt::Model and what it refers to, except code and weights; checked as read_executable does.
std::vector<uint64_t> read_tables(const std::string& path);

}  // namespace korch
