#include "korch/solve/mip.h"

#include <algorithm>
#include <string>

#include "korch/base/error.h"
#include "korch/base/shortage.h"
#include "korch/solve/highs_c.h"

namespace korch {
namespace {

// Constants of HiGHS's C interface.
constexpr int kStatusError = -1;
constexpr int kRowwise = 2, kMinimize = 1;
constexpr int kModelOptimal = 7, kModelInfeasible = 8, kModelUnboundedOrInfeasible = 9, kModelEmpty = 6;
constexpr int kSolutionFeasible = 2;

void check(int status, const char* what) {
  if (status == kStatusError) throw Error(ErrorKind::internal, std::string("HiGHS refused ") + what);
}

class Library {
 public:
  Library() : highs_(Highs_create()) {
    KORCH_ASSERT(Highs_getSizeofHighsInt(highs_) == sizeof(int), "HiGHS was built with 64-bit indices");
    check(Highs_setBoolOptionValue(highs_, "output_flag", 0), "option output_flag");
    check(Highs_setIntOptionValue(highs_, "threads", 1), "option threads");
    check(Highs_setIntOptionValue(highs_, "random_seed", 0), "option random_seed");
  }
  ~Library() {
    const EndOnShortage scope;  // it allocates, where an exception would end the process out of order
    Highs_destroy(highs_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* highs() const { return highs_; }
  int run(double time_limit_s, const char* what) {
    // HiGHS counts its limit from the first run of the instance.
    check(Highs_setDoubleOptionValue(highs_, "time_limit",
                                     Highs_getRunTime(highs_) + std::max(0.0, time_limit_s)),
          "option time_limit");
    check(Highs_run(highs_), what);
    return Highs_getModelStatus(highs_);
  }

 private:
  void* highs_;
};

}  // namespace

void Rows::erase(const std::vector<bool>& which) {
  Rows kept;
  for (int row = 0; row < count(); ++row) {
    if (which[row]) continue;
    kept.lower.push_back(lower[row]);
    kept.upper.push_back(upper[row]);
    kept.start.push_back(static_cast<int>(kept.index.size()));
    kept.index.insert(kept.index.end(), index.begin() + start[row], index.begin() + end(row));
    kept.value.insert(kept.value.end(), value.begin() + start[row], value.begin() + end(row));
  }
  *this = std::move(kept);
}

double Rows::activity(int row, std::span<const double> values) const {
  double sum = 0;
  for (int at = start[row]; at < end(row); ++at) sum += value[at] * values[index[at]];
  return sum;
}

struct Relaxation::State {
  Library library;
};

void Rows::add(double row_lower, double row_upper, const std::vector<std::pair<int, double>>& terms) {
  lower.push_back(row_lower);
  upper.push_back(row_upper);
  start.push_back(static_cast<int>(index.size()));
  for (const auto& [variable, coefficient] : terms) {
    index.push_back(variable);
    value.push_back(coefficient);
  }
}

void Rows::append(const Rows& other) {
  const int offset = static_cast<int>(index.size());
  lower.insert(lower.end(), other.lower.begin(), other.lower.end());
  upper.insert(upper.end(), other.upper.begin(), other.upper.end());
  for (const int at : other.start) start.push_back(at + offset);
  index.insert(index.end(), other.index.begin(), other.index.end());
  value.insert(value.end(), other.value.begin(), other.value.end());
}

Relaxation::Relaxation(const Mip& mip)
    : state_(std::make_unique<State>()), variable_count_(mip.variable_count()), row_count_(mip.rows.count()) {
  check(Highs_passLp(state_->library.highs(), variable_count_, row_count_,
                     static_cast<int>(mip.rows.index.size()), kRowwise, kMinimize, 0, mip.cost.data(),
                     mip.lower.data(), mip.upper.data(), mip.rows.lower.data(), mip.rows.upper.data(),
                     mip.rows.start.data(), mip.rows.index.data(), mip.rows.value.data()),
        "the relaxation");
}

Relaxation::~Relaxation() = default;

void Relaxation::set_costs(std::span<const double> cost) {
  check(Highs_changeColsCostByRange(state_->library.highs(), 0, variable_count_ - 1, cost.data()),
        "new costs");
}

void Relaxation::set_bounds(std::span<const double> lower, std::span<const double> upper) {
  check(Highs_changeColsBoundsByRange(state_->library.highs(), 0, variable_count_ - 1, lower.data(),
                                      upper.data()),
        "new bounds");
}

void Relaxation::add_rows(const Rows& rows) {
  check(Highs_addRows(state_->library.highs(), rows.count(), rows.lower.data(), rows.upper.data(),
                      static_cast<int>(rows.index.size()), rows.start.data(), rows.index.data(),
                      rows.value.data()),
        "new rows");
  row_count_ += rows.count();
}

void Relaxation::erase_rows(const std::vector<bool>& which) {
  if (std::find(which.begin(), which.end(), true) == which.end()) return;
  std::vector<int> mask(which.begin(), which.end());
  check(Highs_deleteRowsByMask(state_->library.highs(), mask.data()), "to forget rows");
  row_count_ -= static_cast<int>(std::count(which.begin(), which.end(), true));
}

RelaxationResult Relaxation::solve(double time_limit_s) {
  RelaxationResult result;
  const int status = state_->library.run(time_limit_s, "to solve the relaxation");
  if (status == kModelInfeasible || status == kModelUnboundedOrInfeasible)
    result.status = MipStatus::infeasible;
  if (status != kModelOptimal && status != kModelEmpty) return result;
  result.status = MipStatus::optimal;
  result.values.resize(variable_count_);
  result.row_duals.resize(row_count_);
  check(Highs_getSolution(state_->library.highs(), result.values.data(), nullptr, nullptr,
                          result.row_duals.data()),
        "to hand out the relaxation's solution");
  return result;
}

namespace {

// The variables that are not fixed at zero, and the rows that they are in. HiGHS would find the same; but
// most of a program may be fixed, and handing it over takes longer than solving the rest.
struct Smaller {
  std::vector<int> kept;  // variables of the whole
  Mip mip;
  bool infeasible = false;
};

Smaller without_zeros(const Mip& mip) {
  const int variables = mip.variable_count();
  std::vector<bool> zero(variables);
  for (int v = 0; v < variables; ++v) zero[v] = mip.upper[v] == 0 && mip.lower[v] == 0;
  Smaller result;
  std::vector<int> number(variables, -1);
  for (int v = 0; v < variables; ++v) {
    if (zero[v]) continue;
    number[v] = static_cast<int>(result.kept.size());
    result.kept.push_back(v);
    result.mip.cost.push_back(mip.cost[v]);
    result.mip.lower.push_back(mip.lower[v]);
    result.mip.upper.push_back(mip.upper[v]);
    result.mip.integer.push_back(mip.integer[v]);
  }
  std::vector<std::pair<int, double>> terms;
  for (int row = 0; row < mip.rows.count(); ++row) {
    terms.clear();
    for (int at = mip.rows.start[row]; at < mip.rows.end(row); ++at)
      if (const int v = number[mip.rows.index[at]]; v >= 0) terms.emplace_back(v, mip.rows.value[at]);
    if (!terms.empty())
      result.mip.rows.add(mip.rows.lower[row], mip.rows.upper[row], terms);
    else if (mip.rows.lower[row] > 0 || mip.rows.upper[row] < 0)
      result.infeasible = true;
  }
  return result;
}

}  // namespace

MipResult solve_mip(const Mip& whole, double time_limit_s, std::span<const double> whole_start) {
  const Smaller smaller = without_zeros(whole);
  const Mip& mip = smaller.mip;
  if (smaller.infeasible) {
    MipResult impossible;
    impossible.status = MipStatus::infeasible;
    return impossible;
  }
  std::vector<double> start;
  if (!whole_start.empty())
    for (const int v : smaller.kept) start.push_back(whole_start[v]);
  Library library;
  void* highs = library.highs();
  check(Highs_setDoubleOptionValue(highs, "mip_rel_gap", 0), "option mip_rel_gap");
  check(Highs_setDoubleOptionValue(highs, "mip_abs_gap", 0), "option mip_abs_gap");
  const std::vector<int> integrality(mip.integer.begin(), mip.integer.end());
  check(Highs_passMip(highs, mip.variable_count(), mip.rows.count(), static_cast<int>(mip.rows.index.size()),
                      kRowwise, kMinimize, 0, mip.cost.data(), mip.lower.data(), mip.upper.data(),
                      mip.rows.lower.data(), mip.rows.upper.data(), mip.rows.start.data(),
                      mip.rows.index.data(), mip.rows.value.data(), integrality.data()),
        "the program");
  if (!start.empty())
    check(Highs_setSolution(highs, start.data(), nullptr, nullptr, nullptr), "the start solution");
  MipResult result;
  const int status = library.run(time_limit_s, "to solve the program");
  if (status == kModelInfeasible || status == kModelUnboundedOrInfeasible) {
    result.status = MipStatus::infeasible;
    return result;
  }
  check(Highs_getDoubleInfoValue(highs, "mip_dual_bound", &result.bound), "to tell the bound");
  int solution_status = 0;
  check(Highs_getIntInfoValue(highs, "primal_solution_status", &solution_status),
        "to tell the solution's status");
  if (status != kModelOptimal && solution_status != kSolutionFeasible) return result;
  result.status = status == kModelOptimal ? MipStatus::optimal : MipStatus::feasible;
  std::vector<double> values(mip.variable_count());
  check(Highs_getSolution(highs, values.data(), nullptr, nullptr, nullptr), "to hand out the solution");
  result.values.assign(whole.variable_count(), 0);
  for (size_t i = 0; i < values.size(); ++i) result.values[smaller.kept[i]] = values[i];
  return result;
}

}  // namespace korch
