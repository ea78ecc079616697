"""Rows of `korch costs table`, and how well estimates agree with them, as `korch costs score` defines it (profile/cost_training.cpp)."""
import csv
from dataclasses import dataclass

import numpy as np

FOLDS = 5


@dataclass
class Rows:
    """Of kernels: arrays of one length, and [rows, features]."""
    features: np.ndarray
    names: list  # of the features
    log_factor: np.ndarray  # ln(cost / bound): what is learned
    weight: np.ndarray
    cost: np.ndarray
    bound: np.ndarray
    network: np.ndarray
    device: np.ndarray
    candidate: np.ndarray
    family: np.ndarray

    def __len__(self):
        return len(self.cost)

    def where(self, kept):
        of = lambda value: value if isinstance(value, list) else value[kept]
        return Rows(**{name: of(value) for name, value in vars(self).items()})

    def column(self, name):
        return self.features[:, self.names.index(name)]

    def lanes(self, count):
        """Where vectors of so many elements are used: 16 is AVX-512, 8 AVX2."""
        return self.column("draft.lanes") == count


def read(path):
    with open(path, newline="") as file:
        head, *lines = csv.reader(file)
    at = {name: i for i, name in enumerate(head)}
    first = at["log_factor"] + 1
    numbers = np.array([[float(field) for field in line[at["weight"]:]] for line in lines])
    texts = {name: np.array([line[at[name]] for line in lines]) for name in ("network", "device", "candidate", "family")}
    of = lambda name: numbers[:, at[name] - at["weight"]]
    return Rows(numbers[:, first - at["weight"]:].astype(np.float32), head[first:], of("log_factor"), of("weight"), of("cost_us"),
                of("bound_us"), **texts)


def folds_of(rows):
    """Which fifth of the networks each row belongs to: kernels of one network are alike, so whole networks are held out."""
    networks = {name: i % FOLDS for i, name in enumerate(sorted(set(rows.network)))}
    return np.array([networks[name] for name in rows.network])


@dataclass
class Score:
    rmse: float
    r2: float
    in_order: float  # share of the pairs of a candidate's kernels whose costs differ by a twentieth
    top: float  # share of the candidates whose cheapest kernel is the model's cheapest
    regret: float  # what the model's cheapest costs more than the cheapest, in the mean
    middle: float  # of the errors' magnitudes

    HEAD = "RMSE | R2 | middle error | pairs in order | top 1 | regret |"

    def row(self):
        shares = ("%.1f %%" % (100 * share) for share in (self.in_order, self.top, self.regret))
        return "%.3f | %.3f | %.3f | %s |" % (self.rmse, self.r2, self.middle, " | ".join(shares))


def score(rows, estimates):
    """`estimates` of ln(cost / bound)."""
    errors = rows.log_factor - estimates
    said = estimates + np.log(rows.bound)
    order = np.argsort(rows.candidate, kind="stable")
    groups = np.split(order, np.flatnonzero(rows.candidate[order][1:] != rows.candidate[order][:-1]) + 1)
    pairs = right = right_choices = 0
    regrets = []
    for members in groups:
        if len(members) < 2:
            continue
        us, estimate = rows.cost[members], said[members]
        a, b = np.triu_indices(len(members), 1)
        differ = np.abs(np.log(us[a] / us[b])) >= 0.05
        pairs += differ.sum()
        right += ((us[a] < us[b]) == (estimate[a] < estimate[b]))[differ].sum()
        chosen = np.argmin(estimate)
        right_choices += chosen == np.argmin(us)
        regrets.append(us[chosen] / us.min() - 1)
    return Score(np.sqrt((errors ** 2).mean()), 1 - (errors ** 2).mean() / rows.log_factor.var(), right / max(1, pairs),
                 right_choices / max(1, len(regrets)), float(np.mean(regrets)) if regrets else 0.0, float(np.median(np.abs(errors))))


def trees(rows, weight=None, seed=1):
    """A LightGBM booster, trained as `korch costs train` does (estimate/lightgbm.cpp)."""
    import lightgbm
    parameters = dict(objective="l1", num_leaves=31, min_data_in_leaf=8, learning_rate=0.05, bagging_fraction=0.8, bagging_freq=1,
                      feature_fraction=0.6, lambda_l2=1, seed=seed, deterministic=True, force_row_wise=True, verbosity=-1, num_threads=2)
    data = lightgbm.Dataset(rows.features, rows.log_factor, weight=rows.weight if weight is None else weight)
    return lightgbm.train(parameters, data, num_boost_round=400)
