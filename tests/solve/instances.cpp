#include "instances.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <sstream>

namespace korch {
namespace {

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}
double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

}  // namespace

std::optional<double> brute_force(const Problem& problem) {
  const auto mask_of = [](const std::vector<int>& tensors) {
    uint32_t mask = 0;
    for (const int t : tensors) mask |= 1u << t;
    return mask;
  };
  std::vector<uint32_t> inputs, outputs;
  for (const Column& column : problem.columns) {
    inputs.push_back(mask_of(column.inputs));
    outputs.push_back(mask_of(column.outputs));
  }
  const uint32_t goal = mask_of(problem.required);
  std::vector<double> cost(size_t{1} << problem.tensor_class.size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({0, mask_of(problem.available)});
  cost[queue.top().second] = 0;
  while (!queue.empty()) {
    const auto [at, state] = queue.top();
    queue.pop();
    if ((state & goal) == goal) return at;
    if (at > cost[state]) continue;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const uint32_t next = state | outputs[k];
      const double total = at + problem.columns[k].cost_us;
      if ((inputs[k] & ~state) != 0 || next == state || !(total < cost[next])) continue;
      cost[next] = total;
      queue.push({total, next});
    }
  }
  return std::nullopt;
}

namespace {

struct Primitive {
  int made;
  std::vector<int> read;
};

// Builds the columns of random_graph_problem.
class GraphProblem {
 public:
  explicit GraphProblem(Random& random) : random_(random) {}

  Problem make() {
    classes_ = pick(random_, 2, 6);
    layouts_ = classes_ <= 5 ? pick(random_, 1, classes_ <= 3 ? 3 : 2) : 1;
    for (int c = 0; c <= classes_; ++c)
      for (int l = 0; l < layouts_; ++l) problem_.tensor_class.push_back(c);
    problem_.available = {tensor(classes_, 0)};
    make_primitives();
    const int sets = pick(random_, classes_, 4 * classes_);
    for (int s = 0; s < sets; ++s) add_set();
    for (size_t p = 0; p < primitives_.size(); ++p)
      if (pick(random_, 0, 9) > 0) add_columns({static_cast<int>(p)});
    add_reorders();
    add_views();
    const int outputs = pick(random_, 1, 2);
    for (int i = 0; i < outputs; ++i)
      problem_.required.push_back(
          tensor(pick(random_, classes_ / 2, classes_ - 1), pick(random_, 0, layouts_ - 1)));
    std::shuffle(problem_.columns.begin(), problem_.columns.end(), random_);
    return std::move(problem_);
  }

 private:
  int tensor(int c, int layout) const { return c * layouts_ + layout; }
  double cost() { return pick(random_, 0, 3) == 0 ? pick(random_, 1, 5) : uniform(random_, 0.5, 8); }

  void make_primitives() {
    for (int c = 0; c < classes_; ++c) {
      const int ways = pick(random_, 0, 3) == 0 ? 2 : 1;
      for (int w = 0; w < ways; ++w) {
        Primitive primitive{c, {}};
        const int reads = pick(random_, 1, 2);
        for (int r = 0; r < reads; ++r)
          primitive.read.push_back(c == 0 || pick(random_, 0, 5) == 0 ? classes_ : pick(random_, 0, c - 1));
        // An alternative may also be computed backwards, from a later class: circles arise.
        if (w == 1 && c + 1 < classes_ && pick(random_, 0, 1) == 0)
          primitive.read = {pick(random_, c + 1, classes_ - 1)};
        primitives_.push_back(primitive);
      }
    }
  }

  // Grows a set of primitives, at most one per class, along shared classes.
  void add_set() {
    std::vector<int> members = {pick(random_, 0, static_cast<int>(primitives_.size()) - 1)};
    const int size = pick(random_, 2, 4);
    for (int tries = 0; tries < 8 && static_cast<int>(members.size()) < size; ++tries) {
      const int next = pick(random_, 0, static_cast<int>(primitives_.size()) - 1);
      const auto touches = [&](int m) {
        const Primitive &a = primitives_[m], &b = primitives_[next];
        const auto reads = [](const Primitive& p, int c) {
          return std::count(p.read.begin(), p.read.end(), c) > 0;
        };
        return reads(a, b.made) || reads(b, a.made) ||
               std::any_of(a.read.begin(), a.read.end(), [&](int c) { return reads(b, c); });
      };
      const auto same_class = [&](int m) { return primitives_[m].made == primitives_[next].made; };
      if (std::any_of(members.begin(), members.end(), touches) &&
          std::none_of(members.begin(), members.end(), same_class))
        members.push_back(next);
    }
    if (is_acyclic(members)) add_columns(members);
  }

  bool is_acyclic(std::vector<int> members) const {
    for (bool progress = true; progress && !members.empty();) {
      progress = false;
      for (size_t i = 0; i < members.size() && !progress; ++i) {
        const auto& read = primitives_[members[i]].read;
        const auto waits = [&](int m) {
          return std::count(read.begin(), read.end(), primitives_[m].made) > 0;
        };
        if (std::any_of(members.begin(), members.end(), waits)) continue;
        members.erase(members.begin() + static_cast<int>(i));
        progress = true;
      }
    }
    return members.empty();
  }

  void add_columns(const std::vector<int>& members) {
    std::set<int> made, read;
    for (const int m : members) made.insert(primitives_[m].made);
    for (const int m : members)
      for (const int c : primitives_[m].read)
        if (made.count(c) == 0) read.insert(c);
    const int ways = pick(random_, 1, layouts_ + 1);
    for (int w = 0; w < ways; ++w) {
      Column column;
      column.cost_us = cost();
      column.measured = pick(random_, 0, 1) == 0;
      for (const int c : read) column.inputs.push_back(tensor(c, pick(random_, 0, layouts_ - 1)));
      std::vector<int> outputs(made.begin(), made.end());
      std::shuffle(outputs.begin(), outputs.end(), random_);
      outputs.resize(pick(random_, 1, std::min<int>(3, static_cast<int>(outputs.size()))));
      for (const int c : outputs) column.outputs.push_back(tensor(c, pick(random_, 0, layouts_ - 1)));
      column.covers.assign(made.begin(), made.end());
      problem_.columns.push_back(column);
    }
  }

  void add_reorders() {
    for (int c = 0; c <= classes_; ++c)
      for (int from = 0; from < layouts_; ++from)
        for (int to = 0; to < layouts_; ++to) {
          if (from == to || pick(random_, 0, 4) == 0) continue;
          const double price = pick(random_, 0, 5) == 0 ? 0 : uniform(random_, 0.1, 2);
          problem_.columns.push_back({price, price == 0, {tensor(c, from)}, {tensor(c, to)}, {c}, true});
        }
  }

  void add_views() {
    for (int i = pick(random_, 0, 2); i > 0; --i) {
      const int from = pick(random_, 0, static_cast<int>(problem_.tensor_class.size()) - 1);
      const int to = pick(random_, 0, static_cast<int>(problem_.tensor_class.size()) - 1);
      if (problem_.tensor_class[from] == problem_.tensor_class[to]) continue;
      problem_.columns.push_back({0, true, {from}, {to}, {problem_.tensor_class[to]}, false});
      if (pick(random_, 0, 1) == 0)
        problem_.columns.push_back({0, true, {to}, {from}, {problem_.tensor_class[from]}, false});
    }
  }

  Random& random_;
  int classes_ = 0, layouts_ = 0;
  std::vector<Primitive> primitives_;
  Problem problem_;
};

}  // namespace

Problem random_graph_problem(Random& random) {
  return GraphProblem(random).make();
}

Problem random_problem(Random& random) {
  Problem problem;
  const int tensors = pick(random, 2, 10);
  const int classes = pick(random, 1, tensors);
  for (int t = 0; t < tensors; ++t) problem.tensor_class.push_back(pick(random, 0, classes - 1));
  if (pick(random, 0, 3) > 0) problem.available = {0};
  for (int i = pick(random, 1, 2); i > 0; --i) problem.required.push_back(pick(random, 0, tensors - 1));
  const int columns = pick(random, 2, 25);
  for (int k = 0; k < columns; ++k) {
    Column column;
    column.cost_us = pick(random, 0, 7) == 0   ? 0
                     : pick(random, 0, 1) == 0 ? pick(random, 1, 4)
                                               : uniform(random, 0.1, 5);
    if (pick(random, 0, 19) == 0) column.cost_us = std::numeric_limits<double>::infinity();
    column.measured = pick(random, 0, 1) == 0;
    for (int i = pick(random, 0, 2); i > 0; --i) column.inputs.push_back(pick(random, 0, tensors - 1));
    for (int i = pick(random, 1, 3); i > 0; --i) column.outputs.push_back(pick(random, 0, tensors - 1));
    for (const int t : column.outputs) column.covers.push_back(problem.tensor_class[t]);
    problem.columns.push_back(column);
  }
  return problem;
}

namespace {

// Builds the columns of network_problem.
class NetworkProblem {
 public:
  explicit NetworkProblem(const NetworkOptions& options) : options_(options), random_(options.seed) {}

  Problem make() {
    make_blocks();
    const int classes = static_cast<int>(bytes_.size());
    for (int c = 0; c < classes; ++c)
      for (int l = 0; l < options_.layouts; ++l) problem_.tensor_class.push_back(c);
    problem_.available = {tensor(0, 0)};
    problem_.required = {tensor(classes - 1, 0)};
    readers_.resize(classes);
    for (size_t p = 0; p < primitives_.size(); ++p)
      for (const int c : primitives_[p].read) readers_[c].push_back(static_cast<int>(p));
    for (size_t p = 0; p < primitives_.size(); ++p) grow({static_cast<int>(p)});
    for (const std::vector<int>& set : sets_) add_columns(set);
    for (int c = 0; c < classes; ++c) add_reorders(c);
    return std::move(problem_);
  }

 private:
  int tensor(int c, int layout) const { return c * options_.layouts + layout; }

  int new_class(double bytes) {
    bytes_.push_back(bytes);
    return static_cast<int>(bytes_.size()) - 1;
  }
  int add(std::vector<int> read, double bytes, bool linear = false) {
    const int made = new_class(bytes);
    primitives_.push_back({made, std::move(read)});
    linear_.push_back(linear);
    return made;
  }
  void add_alternative(int made, std::vector<int> read) {
    primitives_.push_back({made, std::move(read)});
    linear_.push_back(false);
  }

  void make_blocks() {
    int x = new_class(1 << 20), skip = x;
    for (int b = 0; b < options_.blocks; ++b) {
      const double size = 1 << (16 + pick(random_, 0, 5));
      x = add({x}, size, true);
      x = add({x}, size);
      if (pick(random_, 0, 1) == 0) {
        const int mean = add({x}, size / 64);
        const int centred = add({x, mean}, size);
        const int squares = add({centred}, size);
        if (pick(random_, 1, 100) <= options_.alternatives) add_alternative(squares, {x, mean});
        const int variance = add({squares}, size / 64);
        if (pick(random_, 1, 100) <= options_.alternatives) add_alternative(variance, {x, mean});
        const int inverse = add({variance}, size / 64);
        const int scaled = add({centred, inverse}, size);
        if (pick(random_, 1, 100) <= options_.alternatives) add_alternative(scaled, {x, mean, inverse});
        x = scaled;
      }
      x = add({x}, size);
      if (pick(random_, 0, 2) == 0) x = add({x}, size);
      if (pick(random_, 0, 2) == 0) {
        x = add({x, skip}, size);
        skip = x;
      }
    }
  }

  // All connected sets with at most one linear primitive and one primitive per class, up to the size limit.
  void grow(std::vector<int> set) {
    std::sort(set.begin(), set.end());
    if (!seen_.insert(set).second) return;
    if (is_convex(set)) sets_.push_back(set);
    if (static_cast<int>(set.size()) == options_.max_set) return;
    const bool has_linear = std::any_of(set.begin(), set.end(), [&](int p) { return linear_[p]; });
    std::set<int> near;
    for (const int p : set) {
      for (const int q : readers_[primitives_[p].made]) near.insert(q);
      for (const int c : primitives_[p].read)
        for (size_t q = 0; q < primitives_.size(); ++q)
          if (primitives_[q].made == c) near.insert(static_cast<int>(q));
    }
    for (const int q : near) {
      const auto same = [&](int p) { return primitives_[p].made == primitives_[q].made; };
      if (std::any_of(set.begin(), set.end(), same) || (has_linear && linear_[q])) continue;
      std::vector<int> bigger = set;
      bigger.push_back(q);
      grow(bigger);
    }
  }

  // No input of the set may need one of its classes.
  bool is_convex(const std::vector<int>& set) {
    std::set<int> made;
    for (const int p : set) made.insert(primitives_[p].made);
    const int first = *made.begin();
    std::vector<int> queue;
    for (const int p : set)
      for (const int c : primitives_[p].read)
        if (made.count(c) == 0) queue.push_back(c);
    std::set<int> visited(queue.begin(), queue.end());
    while (!queue.empty()) {
      const int c = queue.back();
      queue.pop_back();
      for (const Primitive& p : primitives_) {
        if (p.made != c) continue;
        for (const int r : p.read) {
          if (made.count(r) > 0) return false;
          if (r >= first && visited.insert(r).second) queue.push_back(r);
        }
      }
    }
    return true;
  }

  void add_columns(const std::vector<int>& set) {
    std::set<int> made, read, used_inside, needed;
    double linear_bytes = 0;
    for (const int p : set) {
      made.insert(primitives_[p].made);
      if (linear_[p]) linear_bytes += bytes_[primitives_[p].made];
    }
    for (const int p : set)
      for (const int c : primitives_[p].read) (made.count(c) > 0 ? used_inside : read).insert(c);
    std::vector<int> sinks, extras;
    for (const int c : made) {
      const bool outside = std::any_of(readers_[c].begin(), readers_[c].end(),
                                       [&](int p) { return std::count(set.begin(), set.end(), p) == 0; });
      if (used_inside.count(c) == 0) {
        sinks.push_back(c);
      } else if (outside) {
        extras.push_back(c);
      }
    }
    if (static_cast<int>(sinks.size()) > options_.max_outputs) return;
    add_ways(made, read, sinks, linear_bytes);
    if (!extras.empty() && static_cast<int>(sinks.size()) < options_.max_outputs) {
      sinks.push_back(extras[0]);
      add_ways(made, read, sinks, linear_bytes);
    }
  }

  void add_ways(const std::set<int>& made, const std::set<int>& read, const std::vector<int>& outputs,
                double linear_bytes) {
    double bytes = 0;
    for (const int c : read) bytes += bytes_[c];
    for (const int c : outputs) bytes += bytes_[c];
    constexpr double kLaunch_us = 2, kBytesPer_us = 40e3;
    for (int l = 0; l < options_.layouts; ++l) {
      Column column;
      column.cost_us = kLaunch_us + bytes / kBytesPer_us + linear_bytes / kBytesPer_us * (l == 1 ? 6 : 10);
      for (const int c : read) column.inputs.push_back(tensor(c, l));
      for (const int c : outputs) column.outputs.push_back(tensor(c, l));
      column.covers.assign(made.begin(), made.end());
      problem_.columns.push_back(column);
    }
  }

  void add_reorders(int c) {
    for (int from = 0; from < options_.layouts; ++from)
      for (int to = 0; to < options_.layouts; ++to)
        if (from != to)
          problem_.columns.push_back(
              {2 + 2 * bytes_[c] / 30e3, false, {tensor(c, from)}, {tensor(c, to)}, {c}, true});
  }

  NetworkOptions options_;
  Random random_;
  std::vector<Primitive> primitives_;
  std::vector<bool> linear_;
  std::vector<double> bytes_;
  std::vector<std::vector<int>> readers_;
  std::set<std::vector<int>> seen_;
  std::vector<std::vector<int>> sets_;
  Problem problem_;
};

}  // namespace

Problem network_problem(const NetworkOptions& options) {
  return NetworkProblem(options).make();
}

std::vector<double> true_costs(const Problem& problem, uint64_t seed) {
  Random random(seed);
  std::vector<double> costs;
  for (const Column& column : problem.columns)
    costs.push_back(column.measured
                        ? column.cost_us
                        : column.cost_us * (1.1 + std::exponential_distribution<double>(3)(random)));
  return costs;
}

std::string describe(const Problem& problem) {
  std::ostringstream text;
  auto list = [&](const char* name, const std::vector<int>& numbers) {
    text << name << " {";
    for (size_t i = 0; i < numbers.size(); ++i) text << (i > 0 ? ", " : "") << numbers[i];
    text << "} ";
  };
  list("tensor_class", problem.tensor_class);
  list("available", problem.available);
  list("required", problem.required);
  for (size_t k = 0; k < problem.columns.size(); ++k) {
    const Column& column = problem.columns[k];
    text << "\n  " << k << ": cost " << column.cost_us << (column.measured ? " measured " : " ");
    list("inputs", column.inputs);
    list("outputs", column.outputs);
    list("covers", column.covers);
    if (column.is_reorder) text << "reorder";
  }
  return text.str();
}

}  // namespace korch
