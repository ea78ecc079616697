// Teaches a model of costs from a database's rows, and tells how good a model is (`korch costs train|score`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "korch/estimate/tree_model.h"
#include "korch/profile/database.h"
#include "korch/profile/low_quantile.h"

namespace korch {

struct CostSet {
  std::vector<CostRow> rows;  // of whole kernels, with all features (estimate/features.h)
  int left_out = 0;           // rows of older programs, which lack some
};

// Rows of another protocol and costs that no kernel has are left out.
// The rows of a database, but for those of networks whose names are among `without`; or, if `only`, those
// alone.
CostSet costs_to_learn_from(Database& database, const std::vector<std::string>& without, bool only = false);

// What a model is to say of a row: ln(cost / bound).
double log_factor(const CostRow& row);

// What a row counts in training: less if it was measured with little care, or while others ran.
double weight_of(const CostRow& row);

// By network, what is computed and of which types. Rows of one candidate are kernels that a plan chooses
// among.
std::string candidate_of(const CostRow& row);

// The first word of its implementation.
std::string family_of(const CostRow& row);

struct FamilyScore {
  std::string family;
  int rows = 0;
  double middle_error = 0;
};

// How well a model's estimates agree with measured costs.
struct CostScore {
  int rows = 0, networks = 0;
  double rmse = 0, r2 = 0;  // of ln(cost / bound)
  double middle_error = 0;  // of |ln(cost / estimate)|
  double least = 0;         // all but 5 % of ln(cost / estimate) exceed it
  int pairs = 0,
      right_pairs =
          0;  // of kernels of one candidate whose costs differ by a twentieth: how many it orders as measured
  int choices = 0,
      right_choices = 0;  // of candidates with several kernels: how often its cheapest is the cheapest
  double regret = 0;      // by how much, in the mean, its cheapest costs more than the cheapest
  std::vector<FamilyScore> families;  // those with the most rows first
};

// Of the costs, against a model's estimates.
std::vector<Residual> residuals_of(const TreeModel& model, const CostSet& costs);
CostScore score_of(const TreeModel& model, const CostSet& costs);

struct Trained {
  TreeModel model;
  CostScore held_out;                // of models that learned from the other networks, five times a fifth
  std::vector<NetworkAudit> audits;  // of its low quantile, likewise
};

// A model that another one begins with: trees are added to its own, for what it misses of these costs.
struct Beginning {
  TreeModel model;
  // Of what it misses, so much is added: 1 for a model of the machine that measured these costs, 0.5 for one
  // that is halfway between that machine and those which `model` knows.
  double share = 1;
};

// `lightgbm`: its library (estimate/lightgbm.h). Throws Error{usage} where there are too few rows or
// networks.
Trained train(const CostSet& costs, const std::string& lightgbm,
              const std::optional<Beginning>& beginning = {});

// By another learner, of however few.
Trained train_by(const LearnTrees& learn, const CostSet& costs, const std::optional<Beginning>& beginning);

// The model with a low quantile that is calibrated on these costs; it learns nothing else from them.
Trained calibrate(TreeModel model, const CostSet& costs, const std::string& lightgbm);

}  // namespace korch
