// Launch parameters that are chosen on some machines and carried to another, on spaces that others have
// measured in full: tuned_spaces FOLDER, of files KERNEL_MACHINE.csv.gz. Each file: a head, the parameters of
// a configuration, what it takes (empty where it does not run). The same configurations in the same order for
// all machines of a kernel.
//
// The cover (variants/cover.h) has a sample for each two values of parameters: what the configurations that
// have both take, as if others could not run. Of another machine nobody knows which values it will want; the
// cover has a good configuration for as many as it can.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "korch/variants/cover.h"

namespace {

using Table = std::vector<std::vector<double>>;

struct Space {
  std::vector<std::vector<std::string>> configurations;  // values of the parameters
  std::map<std::string, std::vector<double>> ms;         // by machine; infinite where it does not run
};

std::string unpacked(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  std::string text;
  char part[1 << 16];
  for (int bytes = 0; file != nullptr && (bytes = gzread(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(bytes));
  return text;
}

// Rows without the last column, and the last column.
void read_table(const std::string& path, std::vector<std::vector<std::string>>& rows,
                std::vector<double>& ms) {
  std::istringstream lines(unpacked(path));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> row(1);
    for (const char c : line) {
      if (c == ',')
        row.emplace_back();
      else if (c != '\r')
        row.back() += c;
    }
    ms.push_back(row.back().empty() ? INFINITY : std::stod(row.back()));
    row.pop_back();
    rows.push_back(std::move(row));
  }
}

std::map<std::string, Space> read_spaces(const std::string& folder) {
  std::map<std::string, Space> spaces;
  const std::string ending = ".csv.gz";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename(); name.ends_with(ending)) names.push_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const size_t gap = name.find('_');
    Space& space = spaces[name.substr(0, gap)];
    std::vector<std::vector<std::string>> rows;
    std::vector<double> ms;
    read_table(folder + "/" + name, rows, ms);
    if (space.configurations.empty()) space.configurations = rows;
    std::map<std::vector<std::string>, double> of;
    for (size_t i = 0; i < rows.size(); ++i) of[rows[i]] = ms[i];
    std::vector<double>& all = space.ms[name.substr(gap + 1, name.size() - gap - 1 - ending.size())];
    for (const std::vector<std::string>& configuration : space.configurations) {
      const auto found = of.find(configuration);
      all.push_back(found == of.end() ? INFINITY : found->second);
    }
  }
  return spaces;
}

// A sample of each machine and value of a parameter: what the configurations with that value take.
Table conditioned(const Space& space, const std::vector<std::string>& machines) {
  const size_t count = space.configurations.size();
  Table us(count);
  for (const std::string& machine : machines) {
    const std::vector<double>& ms = space.ms.at(machine);
    for (size_t p = 0; p < space.configurations[0].size(); ++p) {
      std::set<std::string> values;
      for (size_t c = 0; c < count; ++c)
        if (std::isfinite(ms[c])) values.insert(space.configurations[c][p]);
      for (const std::string& value : values)
        for (size_t c = 0; c < count; ++c)
          us[c].push_back(space.configurations[c][p] == value ? ms[c] : INFINITY);
    }
  }
  return us;
}

std::vector<size_t> best_of(const std::vector<double>& ms, size_t count) {
  std::vector<size_t> order(ms.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ms[a] < ms[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

std::vector<size_t> covering(const Space& space, const std::vector<std::string>& machines, size_t most) {
  return korch::variants::cover(conditioned(space, machines),
                                {.most = most, .has_first = false, .free_regret = 0})
      .chosen;
}

// The best of the first `count`, once they are measured on the machine, over the best of all.
double slowdown(const std::vector<double>& ms, const std::vector<size_t>& chosen, size_t count) {
  double best = INFINITY;
  for (size_t i = 0; i < std::min(count, chosen.size()); ++i) best = std::min(best, ms[chosen[i]]);
  return best / *std::min_element(ms.begin(), ms.end());
}

void print_kernel(const std::string& name, const Space& space) {
  constexpr size_t kMost = 16;
  const std::string source = "A100";
  if (!space.ms.contains(source)) return;
  fmt::print(
      "\n{}, chosen on {}, carried to\n\n| machine | best 1 | best 16 | best 50 | cover, 4 | cover, 16 | "
      "cover of the others, 16 |\n|---|---|---|---|---|---|---|\n",
      name, source);
  const std::vector<size_t> best = best_of(space.ms.at(source), 50);
  const std::vector<size_t> chosen = covering(space, {source}, kMost);
  std::vector<double> logs(6, 0);
  for (const auto& [machine, ms] : space.ms) {
    if (machine == source) continue;
    std::vector<std::string> others;
    for (const auto& [other, unused] : space.ms)
      if (other != machine) others.push_back(other);
    const std::vector<size_t> of_others = covering(space, others, kMost);
    const std::vector<double> row = {slowdown(ms, best, 1),       slowdown(ms, best, 16),
                                     slowdown(ms, best, 50),      slowdown(ms, chosen, 4),
                                     slowdown(ms, chosen, kMost), slowdown(ms, of_others, kMost)};
    fmt::print("| {} |", machine);
    for (size_t i = 0; i < row.size(); ++i) {
      fmt::print(" {:.2f} |", row[i]);
      logs[i] += std::log(row[i]) / static_cast<double>(space.ms.size() - 1);
    }
    fmt::print("\n");
  }
  fmt::print("| geometric mean |");
  for (const double log : logs) fmt::print(" {:.2f} |", std::exp(log));
  fmt::print("\nThe cover of {} has {} configurations.\n", source, chosen.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: tuned_spaces FOLDER, of KERNEL_MACHINE.csv.gz\n");
    return 2;
  }
  for (const auto& [name, space] : read_spaces(argv[1])) print_kernel(name, space);
  return 0;
}
