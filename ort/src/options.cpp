#include "options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "korch/base/error.h"
#include "korch/base/printable.h"

namespace korch::ort {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& value, const std::string& wanted) {
  throw Error(ErrorKind::usage, fmt::format("option {}: {}, not '{}'", name, wanted, printable(value)));
}

template <typename T>
T number(const std::string& name, const std::string& value, T most, const std::string& wanted) {
  T result{};
  const char* end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, result);
  if (code != std::errc() || stop != end || !(result >= 0 && result <= most)) fail(name, value, wanted);
  return result;
}

std::string default_cache() {
  const char* base = std::getenv("XDG_CACHE_HOME");
  if (base != nullptr && base[0] == '/') return std::string(base) + "/korch/ort";
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/korch/ort" : "";
}

struct Row {
  const char* name;
  std::function<void(Options&, const std::string& name, const std::string& value)> set;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> result = {
      {"threads",
       [](Options& options, const std::string& name, const std::string& value) {
         options.threads = number(name, value, std::numeric_limits<int>::max(), "a number of threads, or 0");
       }},
      {"accuracy",
       [](Options& options, const std::string& name, const std::string& value) {
         if (value != "strict" && value != "standard") fail(name, value, "strict or standard");
         options.accuracy = value;
       }},
      {"cache",
       [](Options& options, const std::string&, const std::string& value) { options.cache = value; }},
      {"measure",
       [](Options& options, const std::string& name, const std::string& value) {
         if (value != "0" && value != "1") fail(name, value, "0 or 1");
         options.measure = value == "1";
       }},
      {"budget_s",
       [](Options& options, const std::string& name, const std::string& value) {
         options.budget_s = number(name, value, 1e9, "a number of seconds, or 0");
       }},
      {"compiler",
       [](Options& options, const std::string&, const std::string& value) { options.compiler = value; }},
  };
  return result;
}

}  // namespace

Options parse_options(const std::map<std::string, std::string>& given) {
  Options options;
  options.cache = default_cache();
  for (const auto& [name, value] : given) {
    const Row* found = nullptr;
    std::vector<std::string> names;
    for (const Row& row : rows()) {
      names.push_back(row.name);
      if (row.name == name) found = &row;
    }
    if (found == nullptr)
      throw Error(ErrorKind::usage,
                  fmt::format("no option '{}'; there are {}", printable(name), fmt::join(names, ", ")));
    found->set(options, name, value);
  }
  return options;
}

}  // namespace korch::ort
