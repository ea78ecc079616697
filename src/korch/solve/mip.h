// A mixed-integer program in, a solution and a proven bound out: everything korch knows of its solver library
// (HiGHS). Single-threaded, silent, and deterministic unless a time limit cuts in.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace korch {

struct Rows {
  std::vector<double> lower, upper;
  std::vector<int> start;  // of each row in `index` and `value`
  std::vector<int> index;
  std::vector<double> value;
  int count() const { return static_cast<int>(start.size()); }
  // lower <= sum of coefficient * variable <= upper; a variable may not appear twice.
  void add(double row_lower, double row_upper, const std::vector<std::pair<int, double>>& terms);
  void append(const Rows& other);
  void erase(const std::vector<bool>& which);
  int end(int row) const { return row + 1 < count() ? start[row + 1] : static_cast<int>(index.size()); }
  double activity(int row, std::span<const double> values) const;
};

// Minimize cost * v subject to the rows and lower <= v <= upper.
struct Mip {
  std::vector<double> cost, lower, upper;
  std::vector<bool> integer;
  Rows rows;
  int variable_count() const { return static_cast<int>(cost.size()); }
};

enum class MipStatus { optimal, feasible, infeasible, unknown };

struct MipResult {
  MipStatus status = MipStatus::unknown;
  double bound = 0;            // no solution is below
  std::vector<double> values;  // empty unless optimal or feasible
};

// Gap zero. `start`: values of a feasible solution, or empty.
MipResult solve_mip(const Mip& mip, double time_limit_s, std::span<const double> start);

struct RelaxationResult {
  MipStatus status = MipStatus::unknown;  // optimal, infeasible or unknown
  std::vector<double> values;
  std::vector<double> row_duals;
};

// The program without integrality, solved again and again while its costs, bounds and rows change; each time
// from the basis of the time before.
class Relaxation {
 public:
  explicit Relaxation(const Mip& mip);
  ~Relaxation();
  Relaxation(const Relaxation&) = delete;
  Relaxation& operator=(const Relaxation&) = delete;

  void set_costs(std::span<const double> cost);
  void set_bounds(std::span<const double> lower, std::span<const double> upper);
  void add_rows(const Rows& rows);
  void erase_rows(const std::vector<bool>& which);
  RelaxationResult solve(double time_limit_s);

 private:
  struct State;
  std::unique_ptr<State> state_;
  int variable_count_, row_count_;
};

}  // namespace korch
