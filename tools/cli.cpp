#include "cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "korch/base/error.h"
#include "korch/base/interrupt.h"
#include "korch/base/printable.h"
#include "korch/tensor/npz.h"

namespace korch {
namespace {

template <typename T>
bool parse_number(const std::string& text, T* value) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return code == std::errc() && rest == text.data() + text.size();
}

}  // namespace

std::map<std::string, std::string> parse_assignments(const std::string& option,
                                                     const std::vector<std::string>& items) {
  std::map<std::string, std::string> result;
  for (const std::string& item : items) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage, option + " wants NAME=VALUE, not '" + item + "'");
    if (!result.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      throw Error(ErrorKind::usage, option + " names '" + item.substr(0, equals) + "' twice");
  }
  return result;
}

StandardInput::StandardInput(const std::string& name) : path_(folder_.path() + "/" + name) {
  constexpr size_t kPiece = 1 << 20;
  std::string bytes;
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const ssize_t count = ::read(STDIN_FILENO, bytes.data() + before, kPiece);
    const int code = errno;
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    throw_if_interrupted();
    if (count < 0 && code != EINTR)
      throw Error(ErrorKind::io, fmt::format("cannot read the standard input: {}", std::strerror(code)));
    if (count == 0) break;
  }
  write_file(path_, bytes);
}

ModelFile::ModelFile(const std::string& argument) : path_(argument) {
  if (argument == "-") path_ = input_.emplace("standard-input.onnx").path();
}

InputFiles::InputFiles(const std::vector<std::string>& items) {
  std::vector<std::string> assignments;
  for (const std::string& item : items) {
    if (item.find('=') != item.npos) {
      assignments.push_back(item);
      continue;
    }
    if (item != "-" && !item.ends_with(".npz"))
      throw Error(ErrorKind::usage,
                  fmt::format("--input wants NAME=FILE.npy or FILE.npz, not '{}'", printable(item)));
    if (item == "-" && input_) throw Error(ErrorKind::usage, "--input names the standard input twice");
    const std::string path = item == "-" ? input_.emplace("standard-input.npz").path() : item;
    for (const auto& [name, tensor] : read_npz(path))
      if (!files_.emplace(name, path).second)
        throw Error(ErrorKind::usage, fmt::format("--input names '{}' twice", printable(name)));
  }
  for (const auto& [name, file] : parse_assignments("--input", assignments))
    if (!files_.emplace(name, file).second)
      throw Error(ErrorKind::usage, fmt::format("--input names '{}' twice", printable(name)));
}

std::map<std::string, int64_t> parse_extents(const std::vector<std::string>& items) {
  std::map<std::string, int64_t> result;
  for (const auto& [name, text] : parse_assignments("--shape", items))
    if (!parse_number(text, &result[name]) || result[name] < 0)
      throw Error(ErrorKind::usage, "'" + text + "' is no extent of '" + name + "'");
  return result;
}

std::map<std::string, int64_t> parse_bounds(const std::vector<std::string>& items) {
  std::map<std::string, int64_t> result;
  for (const auto& [name, text] : parse_assignments("--bound", items))
    if (!parse_number(text, &result[name]) || result[name] < 0)
      throw Error(ErrorKind::usage, "'" + text + "' is no bound of '" + name + "'");
  return result;
}

void parse_shapes(const std::vector<std::string>& items, std::map<std::string, Shape>* most,
                  std::map<std::string, Shape>* least) {
  for (const auto& [name, text] : parse_assignments("--shape", items)) {
    // Each extent, or the least of a range of them.
    Shape& from = (*least)[name];
    Shape& to = (*most)[name];
    for (size_t start = 0; start <= text.size();) {
      const size_t end = std::min(text.find('x', start), text.size());
      const std::string extent = text.substr(start, end - start);
      const size_t dots = extent.find("..");
      int64_t low = 0, high = 0;
      const bool is_read = parse_number(extent.substr(0, dots), &low) &&
                           parse_number(dots == std::string::npos ? extent : extent.substr(dots + 2), &high);
      if (is_read && high < low)
        throw Error(ErrorKind::usage,
                    "--shape " + name + "=" + text + ": the range " + extent + " ends before it begins");
      if (!is_read || low < 0)
        throw Error(ErrorKind::usage,
                    "--shape " + name + ": '" + text +
                        "' is not a shape; write it like 1x3x224x224, or with ranges, 1..8x3x224x224");
      from.push_back(low);
      to.push_back(high);
      start = end + 1;
    }
    if (from == to) least->erase(name);
  }
}

std::map<std::string, PlanSchedule> schedules_by_name() {
  std::map<std::string, PlanSchedule> schedules;
  for (PlanSchedule schedule : kSchedules) schedules[name(schedule)] = schedule;
  return schedules;
}

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}", json_text(json));
}

}  // namespace korch
