#include "korch/search/learned_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "korch/search/kernel_kinds.h"

namespace korch {
namespace {

constexpr int kEnough = 4;            // kernels of a kind before it says anything
constexpr double kMargin = 0.8;       // how much faster than all that was seen of its kind a kernel may be
constexpr double kUnusual = 1.4;      // how much slower than the best of its kind is no accident
constexpr double kPlainMargin = 0.9;  // how much faster than its linear primitive alone a kernel may be
constexpr double kPartMargin = 0.8;   // how much faster than a kernel for a part of it a kernel may be
constexpr double kSlowReading = 3;    // how much longer than at best a kernel may spend on an operand
constexpr double kUnknown = std::numeric_limits<double>::infinity();

}  // namespace

LearnedBounds::LearnedBounds(const Graph& graph, const Columns& columns, std::vector<double> plain_us)
    : columns_(columns), plain_us_(std::move(plain_us)) {
  std::unordered_map<std::string, int> numbers;
  for (const ColumnInfo& info : columns.infos) {
    std::vector<int> kinds;
    for (const std::string& name : kind_names(graph, columns, info))
      kinds.push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
    kinds_.push_back(std::move(kinds));
  }
  seen_.resize(numbers.size());
  cost_us_.assign(columns.infos.size(), kUnknown);
  find_parts(graph);
}

// A part makes no more bytes than the whole: what it computes and writes, the whole does too.
void LearnedBounds::find_parts(const Graph& graph) {
  struct Entry {
    int column;
    std::vector<NodeId> nodes;  // ascending
    uint64_t signature = 0;     // of the nodes: a part's is contained in the whole's
    double made_bytes = 0;
  };
  std::map<std::string, std::vector<Entry>> by_kernel;
  for (size_t i = 0; i < columns_.infos.size(); ++i) {
    const ColumnInfo& info = columns_.infos[i];
    if (info.kind != ColumnInfo::Kind::kernel) continue;
    const Candidate& candidate = columns_.candidates[info.candidate];
    Entry entry{static_cast<int>(i), candidate.nodes, 0, bytes_of(graph, candidate.outputs)};
    std::sort(entry.nodes.begin(), entry.nodes.end());
    for (NodeId node : entry.nodes) entry.signature |= uint64_t{1} << (node * 0x9e3779b97f4a7c15 >> 58);
    by_kernel[kernel_name(info.implementation)].push_back(std::move(entry));
  }
  parts_.resize(columns_.infos.size());
  for (const auto& [name, entries] : by_kernel) {
    std::unordered_map<NodeId, std::vector<const Entry*>> by_last;
    for (const Entry& entry : entries) by_last[entry.nodes.back()].push_back(&entry);
    for (const Entry& whole : entries)
      for (NodeId node : whole.nodes) {
        const auto found = by_last.find(node);
        if (found == by_last.end()) continue;
        for (const Entry* part : found->second) {
          if ((part->signature & ~whole.signature) != 0 || part->nodes.size() >= whole.nodes.size() ||
              part->made_bytes > whole.made_bytes ||
              !std::includes(whole.nodes.begin(), whole.nodes.end(), part->nodes.begin(), part->nodes.end()))
            continue;
          const ColumnInfo& info = columns_.infos[part->column];
          const auto& reads = columns_.candidates[columns_.infos[whole.column].candidate].inputs;
          std::vector<ValueId> spared = columns_.candidates[info.candidate].inputs;
          std::erase_if(spared, [&](ValueId value) {
            return std::find(reads.begin(), reads.end(), value) != reads.end();
          });
          const double share = bytes_of(graph, spared) / std::max(1.0, info.implementation.bytes);
          parts_[whole.column].push_back({info.representative, kSlowReading * share * info.bound_us});
        }
      }
  }
}

double LearnedBounds::by_parts_us(int column) const {
  double least = 0;
  for (const Part& part : parts_[column])
    if (cost_us_[part.column] != kUnknown)
      least = std::max(least, kPartMargin * (cost_us_[part.column] - part.saved_us));
  return least;
}

void LearnedBounds::observe(int column, double cost_us) {
  for (int kind : kinds_[column]) ++seen_[kind].count;
  correct(column, cost_us);
}

void LearnedBounds::correct(int column, double cost_us) {
  cost_us_[column] = cost_us;
  const double factor = cost_us / columns_.infos[column].bound_us;
  for (int kind : kinds_[column]) seen_[kind].least = std::min(seen_[kind].least, factor);
}

double LearnedBounds::least_of_kind_us(int column) const {
  for (int kind : kinds_[column])
    if (seen_[kind].count >= kEnough) return columns_.infos[column].bound_us * seen_[kind].least;
  return 0;
}

bool LearnedBounds::is_unusual(int column) const {
  const double least = least_of_kind_us(column);
  return least > 0 && cost_us_[column] != kUnknown && cost_us_[column] > kUnusual * least;
}

double LearnedBounds::bound_us(int column) const {
  return std::max({columns_.infos[column].bound_us, kPlainMargin * plain_us_[column], by_parts_us(column),
                   kMargin * least_of_kind_us(column)});
}

}  // namespace korch
