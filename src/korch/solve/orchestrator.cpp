#include "korch/solve/orchestrator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "korch/base/interrupt.h"

namespace korch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kArcsToImprove = 500;  // that are free at a time
constexpr double kPositive = 1e-6;      // the solver's own feasibility tolerance: below it a value is zero
// Relative slack for comparing costs that were summed in different orders. Two plans closer than this are
// equal.
constexpr double kRounding = 1e-9;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Orchestrator::Orchestrator(const Problem& problem)
    : problem_(problem), network_(reduce(problem)), formulation_(network_), readers_(network_.node_count) {
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    for (const int node : network_.arcs[a].inputs) readers_[node].push_back(static_cast<int>(a));
  arcs_by_layer_ = arcs_by_layer();
}

void Orchestrator::read_costs() {
  cheapest_.resize(network_.arcs.size());
  cost_us_.assign(network_.arcs.size(), kInfinity);
  for (size_t a = 0; a < network_.arcs.size(); ++a) {
    cheapest_[a] = network_.arcs[a].columns[0];
    for (const int column : network_.arcs[a].columns) {
      const Column& c = problem_.columns[column];
      const Column& best = problem_.columns[cheapest_[a]];
      const bool tie = c.cost_us == best.cost_us && c.measured && !best.measured;
      if (c.cost_us < best.cost_us || tie) cheapest_[a] = column;
    }
    cost_us_[a] = problem_.columns[cheapest_[a]].cost_us;
  }
  formulation_.set_costs(cost_us_);
  const Mip& mip = formulation_.mip();
  if (relaxation_ == nullptr) {
    relaxation_ = std::make_unique<Relaxation>(mip);
  } else {
    relaxation_->set_costs(mip.cost);
    relaxation_->set_bounds(mip.lower, mip.upper);
  }
}

double Orchestrator::cost_of(const std::vector<int>& arcs) const {
  double sum = 0;
  for (const int arc : arcs) sum += cost_us_[arc];
  return sum;
}

std::vector<int> Orchestrator::columns_of(const std::vector<int>& arcs) const {
  std::vector<int> columns;
  for (const int arc : arcs) columns.push_back(cheapest_[arc]);
  return columns;
}

double Orchestrator::prove_bound(const std::vector<double>& row_duals) {
  const Mip& mip = formulation_.mip();
  reduced_ = mip.cost;
  double bound = 0;
  for (int row = 0; row < mip.rows.count(); ++row) {
    double dual = row_duals[row];
    if (dual > 0 && mip.rows.lower[row] == -kInfinity) dual = 0;
    if (dual < 0 && mip.rows.upper[row] == kInfinity) dual = 0;
    if (dual == 0) continue;
    bound += dual * (dual > 0 ? mip.rows.lower[row] : mip.rows.upper[row]);
    for (int at = mip.rows.start[row]; at < mip.rows.end(row); ++at)
      reduced_[mip.rows.index[at]] -= dual * mip.rows.value[at];
  }
  for (int v = 0; v < mip.variable_count(); ++v)
    bound += reduced_[v] > 0 ? reduced_[v] * mip.lower[v] : reduced_[v] * mip.upper[v];
  return bound;
}

// A plan along the relaxation: each node by the maker that adds least, where what the relaxation took is
// nearly paid for.
std::vector<int> Orchestrator::round(const std::vector<double>& values) const {
  constexpr double kStillToPay = 0.01;   // keeps arcs that the relaxation took comparable with each other
  using Entry = std::pair<double, int>;  // the dearest chain up to and with this arc, arc
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<int> missing = input_counts();
  std::vector<double> dearest(network_.arcs.size(), 0);
  auto weigh = [&](int arc) {
    const double own = cost_us_[arc] * (1 + kStillToPay - std::min(1.0, values[arc]));
    if (std::isfinite(own)) ready.push({dearest[arc] + own, arc});
  };
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    if (missing[a] == 0) weigh(static_cast<int>(a));
  std::vector<bool> made(network_.node_count);
  std::vector<int> plan;
  while (!ready.empty()) {
    const auto [cost, arc] = ready.top();
    ready.pop();
    bool is_first = false;
    for (const int node : network_.arcs[arc].outputs) {
      if (made[node]) continue;
      made[node] = is_first = true;
      for (const int reader : readers_[node]) {
        dearest[reader] = std::max(dearest[reader], cost);
        if (--missing[reader] == 0) weigh(reader);
      }
    }
    if (is_first) plan.push_back(arc);
  }
  return plan;
}

void Orchestrator::offer(std::optional<Incumbent>& best, const std::vector<int>& arcs) const {
  ArcOrder ordered = order_arcs(network_, arcs);
  if (!ordered.reached) return;
  const double cost = cost_of(ordered.order);
  if (std::isfinite(cost) && (!best || cost < best->cost_us))
    best = Incumbent{cost, std::move(ordered.order)};
}

// What no plan as cheap as the incumbent can use is fixed at zero.
Mip Orchestrator::without_hopeless(double incumbent_us) const {
  Mip mip = formulation_.mip();
  const double limit = incumbent_us + kRounding * std::abs(incumbent_us);
  for (int v = 0; v < mip.variable_count(); ++v)
    if (mip.lower[v] == 0 && bound_us_ + reduced_[v] > limit) mip.upper[v] = 0;
  return mip;
}

// Only arcs that the relaxation took lately, and those of the incumbent.
Mip Orchestrator::liked(const std::vector<double>& values, const std::optional<Incumbent>& best) const {
  constexpr double kLately = 1e-3;  // after some 20 solutions a value has faded from the average
  std::vector<bool> keep(network_.arcs.size());
  for (size_t a = 0; a < keep.size(); ++a) keep[a] = values[a] > kPositive || average_[a] > kLately;
  if (best)
    for (const int arc : best->order) keep[arc] = true;
  return only(keep, formulation_.mip());
}

Mip Orchestrator::only(const std::vector<bool>& arcs, Mip mip) const {
  for (size_t a = 0; a < arcs.size(); ++a)
    if (!arcs[a]) mip.upper[a] = 0;
  return mip;
}

// Arcs by how many of them, one after the other, it takes at least until what they make is there.
std::vector<int> Orchestrator::arcs_by_layer() const {
  std::vector<int> layer(network_.node_count, 0), missing = input_counts(), ready;
  for (size_t a = 0; a < missing.size(); ++a)
    if (missing[a] == 0) ready.push_back(static_cast<int>(a));
  for (int now = 1; !ready.empty(); ++now) {
    std::vector<int> next;
    for (const int arc : ready)
      for (const int node : network_.arcs[arc].outputs) {
        if (layer[node] != 0) continue;
        layer[node] = now;
        for (const int reader : readers_[node])
          if (--missing[reader] == 0) next.push_back(reader);
      }
    ready = std::move(next);
  }
  auto reached = [&](int arc) {
    int last = 0;
    for (const int node : network_.arcs[arc].outputs) last = std::max(last, layer[node]);
    return last;
  };
  std::vector<int> arcs(network_.arcs.size());
  std::iota(arcs.begin(), arcs.end(), 0);
  std::stable_sort(arcs.begin(), arcs.end(), [&](int a, int b) { return reached(a) < reached(b); });
  return arcs;
}

std::vector<int> Orchestrator::input_counts() const {
  std::vector<int> counts;
  for (const Arc& arc : network_.arcs) counts.push_back(static_cast<int>(arc.inputs.size()));
  return counts;
}

// Improves the best plan where a stretch of the network is free: arcs that make something there, and those of
// the plan. (Large neighbourhood search: Shaw, CP 1998.) `mip` makes the program anew, since solutions that
// wait for themselves add rows.
template <typename MakeMip>
void Orchestrator::free_stretch(Search& search, size_t from, size_t count, const MakeMip& mip,
                                double time_limit_s) {
  const Stopwatch watch;
  std::vector<bool> keep(network_.arcs.size());
  for (const int arc : search.best->order) keep[arc] = true;
  for (size_t i = from; i < std::min(from + count, arcs_by_layer_.size()); ++i)
    keep[arcs_by_layer_[i]] = true;
  bool waits_for_itself = true;
  while (waits_for_itself && watch.seconds() < time_limit_s)
    waits_for_itself = !branch(search, only(keep, mip()), false, time_limit_s - watch.seconds());
}

// One stretch after the other, until going through them brings little.
void Orchestrator::polish(Search& search, double time_limit_s) {
  constexpr size_t kArcs = 1500;  // that are free at a time
  constexpr double kStretchLimit_s = 5, kLittle = 5e-4;
  const Stopwatch watch;
  for (bool better = true; better;) {
    const double start_us = search.best->cost_us;
    for (size_t from = 0; from == 0 || from + kArcs / 2 <= arcs_by_layer_.size(); from += kArcs / 2) {
      throw_if_interrupted();
      const double left_s = time_limit_s - watch.seconds();
      if (left_s <= 0 || search.meets_bound()) return;
      free_stretch(
          search, from, kArcs, [&] { return without_hopeless(search.best->cost_us); },
          std::min(left_s, kStretchLimit_s));
    }
    better = search.best->cost_us < (1 - kLittle) * start_us;
  }
}

// The relaxation, with entry rows until they bring no more. Rows that cut off the moving average of its
// solutions reach deeper than rows that cut off the last corner it jumped to.
RelaxationResult Orchestrator::solve_relaxation(double time_limit_s, const Effort& effort) {
  constexpr double kNewest = 0.3;  // weight of the newest solution in the average
  const Stopwatch watch;
  RelaxationResult result = relaxation_->solve(time_limit_s);
  if (result.status != MipStatus::optimal) return result;
  bound_us_ = prove_bound(result.row_duals);
  for (int idle = 0; idle < effort.patience;) {
    throw_if_interrupted();
    // Before rows are made: the formulation and the relaxation must have the same ones.
    const double left_s = time_limit_s - watch.seconds();
    if (left_s <= 0) break;
    if (average_.empty()) average_ = result.values;
    for (size_t v = 0; v < average_.size(); ++v) average_[v] += kNewest * (result.values[v] - average_[v]);
    relaxation_->erase_rows(formulation_.forget_entries(result.values));
    Rows cuts = formulation_.cut_entries(average_, effort.split);
    if (cuts.count() == 0) cuts = formulation_.cut_entries(result.values, effort.split);
    if (cuts.count() == 0) break;
    relaxation_->add_rows(cuts);
    RelaxationResult next = relaxation_->solve(left_s);
    if (next.status != MipStatus::optimal) break;
    result = std::move(next);
    const double before = std::exchange(bound_us_, prove_bound(result.row_duals));
    idle = bound_us_ - before > effort.gain * std::abs(bound_us_) ? 0 : idle + 1;
  }
  return result;
}

Orchestrator::Relaxed Orchestrator::relax(double time_limit_s, const Effort& effort) {
  const Stopwatch watch;
  Relaxed relaxed;
  if (network_.feasible && !network_.required.empty()) {
    read_costs();
    const RelaxationResult result = solve_relaxation(time_limit_s, effort);
    if (result.status == MipStatus::optimal) {
      relaxed.bound_us = std::max(0.0, bound_us_);
      for (size_t a = 0; a < network_.arcs.size(); ++a)
        if (result.values[a] > kPositive) relaxed.columns.push_back(cheapest_[a]);
    }
  }
  relaxed.seconds = watch.seconds();
  return relaxed;
}

// Relaxation; branch and bound among the arcs that the relaxation likes, for a good plan; branch and bound
// among all arcs that could be part of a better plan, for the proof; where that takes long, the plan is
// polished. Arcs that wait for each other are cut off and all begins again.
void Orchestrator::search(Search& search, double time_limit_s) {
  const Stopwatch watch;
  bool polished = false;
  for (bool again = true; again && watch.seconds() < time_limit_s;) {
    throw_if_interrupted();
    ++search.rounds;
    constexpr double kForRelaxation = 0.4;  // share of the time; a good plan needs the rest
    const RelaxationResult relaxed =
        solve_relaxation(kForRelaxation * (time_limit_s - watch.seconds()), kThorough);
    if (relaxed.status == MipStatus::infeasible) search.infeasible = true;
    if (relaxed.status != MipStatus::optimal) return;
    search.bound_us = std::max(search.bound_us, bound_us_);
    offer(search.best, round(relaxed.values));
    if (search.meets_bound()) return;
    auto share = [&](double part) { return part * (time_limit_s - watch.seconds()); };
    auto all = [&] { return search.best ? without_hopeless(search.best->cost_us) : formulation_.mip(); };
    again = !branch(search, liked(relaxed.values, search.best), false, share(0.3));
    if (!again) again = !branch(search, all(), true, share(0.3));
    const bool open = again || search.cut_short;
    if (open && search.best && !polished) polish(search, share(0.7));
    polished = polished || search.best.has_value();
    if (!again && open) again = !branch(search, all(), true, share(1));
  }
}

// False when the solution waits for itself: the rows that say so are added. `all`: nothing is missing in
// `mip` that could be part of a plan better than the best.
bool Orchestrator::branch(Search& search, Mip mip, bool all, double time_limit_s) {
  if (search.meets_bound()) return true;
  const std::vector<double> start =
      search.best ? formulation_.point(search.best->order) : std::vector<double>();
  mip.rows.append(formulation_.reorder_rows());
  const MipResult result = solve_mip(mip, time_limit_s, start);
  if (result.status == MipStatus::infeasible && all) (search.best ? search.proven : search.infeasible) = true;
  search.cut_short = result.status == MipStatus::feasible || result.status == MipStatus::unknown;
  if (result.values.empty()) return true;
  if (all) {
    // What was left out costs more than the best plan.
    const double bound = search.best ? std::min(result.bound, search.best->cost_us) : result.bound;
    search.bound_us = std::max(search.bound_us, bound);
  }
  const std::vector<int> arcs = formulation_.chosen(result.values);
  const ArcOrder ordered = order_arcs(network_, arcs);
  offer(search.best, arcs);
  if (!ordered.reached) {
    const Rows cuts = formulation_.cut_cycles(ordered);
    relaxation_->add_rows(cuts);
    search.cuts += cuts.count();
  }
  search.proven = all && ordered.reached && result.status == MipStatus::optimal;
  return ordered.reached;
}

bool Orchestrator::Search::meets_bound() const {
  return best && best->cost_us <= bound_us + kRounding * std::abs(bound_us);
}

Solution Orchestrator::solve(double time_limit_s, const std::vector<int>& plan) {
  const Stopwatch watch;
  Search search;
  search.infeasible = !network_.feasible;
  if (!search.infeasible && network_.required.empty()) search.best = Incumbent{};
  if (!search.infeasible && !search.best) {
    read_costs();
    offer(search.best, arcs_of(plan));
    this->search(search, time_limit_s);
  }
  Solution solution = solution_of(search);
  solution.seconds = watch.seconds();
  return solution;
}

int Orchestrator::stretches() const {
  return std::max(1, static_cast<int>(arcs_by_layer_.size() / (kArcsToImprove / 2)));
}

Solution Orchestrator::improve(const std::vector<int>& plan, int stretch, double time_limit_s) {
  const Stopwatch watch;
  Search search;
  throw_if_interrupted();
  if (!network_.feasible || network_.required.empty()) return {};
  read_costs();
  offer(search.best, arcs_of(plan));
  // The last relaxation may have been one of other costs: what it calls hopeless need not be.
  if (search.best)
    free_stretch(
        search, static_cast<size_t>(stretch) * (kArcsToImprove / 2), kArcsToImprove,
        [&] { return formulation_.mip(); }, time_limit_s);
  Solution solution = solution_of(search);
  solution.seconds = watch.seconds();
  return solution;
}

Solution Orchestrator::solution_of(const Search& search) const {
  Solution solution;
  solution.rounds = search.rounds;
  solution.cycle_cuts = search.cuts;
  solution.bound_us = search.bound_us;
  if (search.infeasible) {
    solution.status = SolveStatus::infeasible;
  } else if (search.best) {
    solution.status = search.proven || search.meets_bound() ? SolveStatus::optimal : SolveStatus::feasible;
    solution.chosen = order_columns(problem_, columns_of(search.best->order));
    for (const int column : solution.chosen) solution.objective_us += problem_.columns[column].cost_us;
    solution.bound_us = std::min(solution.bound_us, solution.objective_us);
    if (solution.status == SolveStatus::optimal) solution.bound_us = solution.objective_us;
  }
  return solution;
}

std::vector<int> Orchestrator::arcs_of(const std::vector<int>& columns) const {
  std::vector<int> arc_of(problem_.columns.size(), -1);
  for (size_t a = 0; a < network_.arcs.size(); ++a)
    for (const int column : network_.arcs[a].columns) arc_of[column] = static_cast<int>(a);
  std::vector<int> arcs;
  for (const int column : columns)
    if (arc_of[column] >= 0) arcs.push_back(arc_of[column]);
  return arcs;
}

}  // namespace korch
