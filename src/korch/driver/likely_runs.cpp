#include "korch/driver/likely_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <utility>

#include "korch/base/error.h"
#include "korch/base/printable.h"

namespace korch {
namespace {

constexpr double kLeastCounts = 3;  // levels, if it is 0 or 1
// Several new tokens behind a cache that has some: beside others of that level.
constexpr double kLaterPrompt = 0.1;
constexpr double kMostRuns = 512;  // of those that stand for all; of many dimensions few levels

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? ""
                                         : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// An extent, and how much of all runs has it.
using Level = std::pair<int64_t, double>;

std::vector<Level> likely_levels(const OpenDimension& dimension, size_t most) {
  std::vector<int64_t> extents = extent_levels(dimension);
  if (extents.size() > most) extents.resize(most);
  std::vector<Level> levels;
  double all = 0;
  for (const int64_t extent : extents) {
    levels.emplace_back(extent, extent <= 1 && extent == dimension.least ? kLeastCounts : 1.0);
    all += levels.back().second;
  }
  if (dimension.least > 0) return levels;
  // What grows from nothing has each extent once: a level stands for those down to the next one, too.
  for (size_t i = 0; i < levels.size(); ++i) {
    const int64_t below = i + 1 < levels.size() ? extents[i + 1] : -1;
    const auto share = static_cast<double>(extents[i] - below) / static_cast<double>(extents[0] + 1);
    levels[i].second = (levels[i].second / all + share) / 2;
  }
  return levels;
}

class RunReader {
 public:
  explicit RunReader(const std::vector<OpenDimension>& dimensions) : dimensions_(dimensions) {}

  // Adds the runs that the text stands for; `where` is for people.
  void read(std::string_view text, const std::string& where) {
    where_ = fmt::format("{}: '{}'", where, printable(std::string(text)));
    levels_.assign(dimensions_.size(), {});
    given_.assign(dimensions_.size(), -1);
    double weight = 1;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      pair(trimmed(text.substr(begin, end - begin)), end == text.size() ? &weight : nullptr);
      begin = end + 1;
    }
    complete(weight);
  }

  void add_all() {
    levels_.assign(dimensions_.size(), {});
    given_.assign(dimensions_.size(), -1);
    complete(1);
  }

  std::vector<LikelyRun> take() { return std::move(runs_); }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", where_, why));
  }

  size_t dimension_named(std::string_view name) const {
    std::vector<std::string> names;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (dimensions_[d].name == name) return d;
      names.push_back(dimensions_[d].name);
    }
    refuse(fmt::format("no dimension '{}' is open; there are {}", printable(std::string(name)),
                       printable(fmt::format("{}", fmt::join(names, ", ")))));
  }

  // NAME=EXTENT; of the last one with :WEIGHT, if there is one.
  void pair(std::string_view text, double* weight) {
    const size_t equals = text.rfind('=');
    if (equals == std::string_view::npos)
      refuse("a run is NAME=EXTENT,NAME=EXTENT, or with :WEIGHT behind it");
    std::string_view number = text.substr(equals + 1);
    if (const size_t colon = number.find(':'); weight != nullptr && colon != std::string_view::npos) {
      const std::optional<double> read = number_in<double>(number.substr(colon + 1));
      if (!read || !(*read > 0) || !std::isfinite(*read)) refuse("a weight is a number above 0");
      *weight = *read;
      number = number.substr(0, colon);
    }
    const size_t d = dimension_named(trimmed(text.substr(0, equals)));
    const OpenDimension& dimension = dimensions_[d];
    const std::optional<int64_t> extent = number_in<int64_t>(trimmed(number));
    if (!extent || !fits(dimension, *extent))
      refuse(fmt::format("{} is {}..{}{}, not '{}'", printable(dimension.name), dimension.least,
                         dimension.most, dimension.fitting.empty() ? "" : ", " + to_string(dimension.fitting),
                         printable(std::string(number))));
    if (given_[d] >= 0) refuse(fmt::format("{} is there twice", printable(dimension.name)));
    given_[d] = *extent;
  }

  void complete(double weight) {
    size_t open = 0;
    for (size_t d = 0; d < dimensions_.size(); ++d) open += !dimensions_[d].sum && given_[d] < 0 ? 1 : 0;
    const double each = std::pow(kMostRuns, 1 / static_cast<double>(std::max<size_t>(open, 1))) + 1e-9;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (given_[d] >= 0 || dimensions_[d].sum)
        levels_[d] = {{std::max(given_[d], dimensions_[d].least), 1.0}};
      else
        levels_[d] = likely_levels(dimensions_[d], std::max<size_t>(1, static_cast<size_t>(each)));
    }
    std::vector<LikelyRun> all = {{{}, weight}};
    for (const std::vector<Level>& levels : levels_) {
      double sum = 0;
      for (const Level& level : levels) sum += level.second;
      std::vector<LikelyRun> longer;
      for (const Level& level : levels)
        for (LikelyRun run : all) {
          run.extents.push_back(level.first);
          run.weight *= level.second / sum;
          longer.push_back(std::move(run));
        }
      all = std::move(longer);
    }
    for (LikelyRun& run : all) {
      if (is_later_prompt(run.extents)) run.weight *= kLaterPrompt;
      add(std::move(run));
    }
  }

  // A cache that begins empty is filled by one prompt, then by single tokens. Of dimensions that are not
  // given.
  bool is_later_prompt(const std::vector<int64_t>& extents) const {
    bool has_cache = false, has_several = false;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (dimensions_[d].sum || given_[d] >= 0) continue;
      has_cache = has_cache || (dimensions_[d].least == 0 && extents[d] > 0);
      has_several = has_several || (dimensions_[d].least == 1 && extents[d] > 1);
    }
    return has_cache && has_several;
  }

  void add(LikelyRun run) {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (!dimensions_[d].sum) continue;
      const int64_t sum = dimensions_[d].sum->of(run.extents);
      if (given_[d] >= 0 && given_[d] != sum)
        refuse(fmt::format("{} must be {}", printable(dimensions_[d].name), sum));
      run.extents[d] = std::clamp(sum, dimensions_[d].least, dimensions_[d].most);
    }
    runs_.push_back(std::move(run));
  }

  const std::vector<OpenDimension>& dimensions_;
  std::vector<std::vector<Level>> levels_;  // of each dimension
  std::vector<int64_t> given_;              // likewise; below 0 where it is left out
  std::string where_;
  std::vector<LikelyRun> runs_;
};

void read_file(const std::string& file, RunReader& reader) {
  std::ifstream lines(file);
  if (!lines) throw Error(ErrorKind::usage, fmt::format("runs: cannot read '{}'", printable(file)));
  std::string line;
  bool any = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    reader.read(text, fmt::format("{}, line {}", printable(file), number));
    any = true;
  }
  if (lines.bad() || !any) throw Error(ErrorKind::usage, fmt::format("runs: '{}' has none", printable(file)));
}

}  // namespace

std::vector<int64_t> extent_levels(const OpenDimension& dimension) {
  const int64_t least = std::max<int64_t>(dimension.least, 1);
  const int64_t step = dimension.least < 1 ? 1 : std::gcd(dimension.least, dimension.most);
  std::vector<int64_t> levels = {dimension.most};
  if (dimension.sum) return levels;  // it follows the others
  const auto add = [&](int64_t level) {
    level = fitting_up_to(dimension, level);
    if (level < levels.back()) levels.push_back(level);
  };
  for (int64_t half = dimension.most / 2; half >= least; half /= 2) add((half + step - 1) / step * step);
  add(dimension.least);
  return levels;
}

std::vector<LikelyRun> likely_runs(const std::vector<OpenDimension>& dimensions,
                                   const std::vector<std::string>& at, const std::string& file) {
  RunReader reader(dimensions);
  for (const std::string& text : at) reader.read(text, "at");
  if (!file.empty()) read_file(file, reader);
  if (at.empty() && file.empty()) reader.add_all();
  return reader.take();
}

}  // namespace korch
