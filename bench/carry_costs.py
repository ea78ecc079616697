#!/usr/bin/env python3
"""Costs that move: from configurations that other machines have timed in full to the best one of a machine that times 10 or 16.

    PYTHON bench/carry_costs.py FOLDER [--form NAME] [--kernel NAME] [--seeds 10]

PYTHON has numpy and scipy. FOLDER has KERNEL_MACHINE.csv.gz: a head, the parameters of a configuration, its time (empty where it does
not run); the same configurations for all machines of a kernel, in any order. Each machine in turn is left out. What is known of it
is only what is measured: one configuration after another, each chosen by what the measured ones say and by the others' times.

The model says ln(time / best), no more than a cap, as a Gaussian process. Its mean is the mean of a subset of the other machines; all
subsets are tried, weighted by how well they explain what was measured. Its covariance lets the machines weigh otherwise, lets each
parameter have an effect of its own, and lets configurations that are near have residuals that are near. How much of each: fitted to
the other machines, each from the rest of them. The next configuration is the one with the greatest expected improvement.

The form (Form) is chosen without the machine that is left out: each of the others is left out once more and carried to from the rest;
the form that most often stays within GOALS counts; of equals the one with the least mean logarithm. --form NAME: that one for all.
--seeds: also without a random tenth of the configurations, so many times.
"""
import argparse
import csv
import glob
import gzip
import itertools
import os
import re
import sys
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

MEASURED = (1, 10, 16)
GOALS = {10: 1.05, 16: 1.02}  # slowdown after so many measurements
OFFSET = 9.0  # variance of the constant: nobody knows how far the first measurement is from the best


@dataclass(frozen=True)
class Form:
    caps: tuple  # of ln(time / best): what is worse is only bad. The next configuration is chosen by each in turn
    subsets: bool = True  # else the mean of all machines alone
    effects: bool = True  # of single parameters


FORMS = {"mean, cap 1.5": Form((1.5,), False, False), "cap 1": Form((1.0,)), "cap 1.5": Form((1.5,)), "cap 2.5": Form((2.5,)),
         "caps 1, 2.5": Form((1.0, 2.5))}


def spaces(folder):
    """{kernel: (names of parameters, values [configurations, parameters], {machine: times, NaN where it does not run})}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.csv.gz"))):
        kernel, machine = re.fullmatch(r"(.*)_([^_]*)\.csv\.gz", os.path.basename(path)).groups()
        with gzip.open(path, "rt") as file:
            head, *rows = csv.reader(file)
        rows.sort()  # files have their rows in different orders
        values = np.array([[float(value) for value in row[:-1]] for row in rows])
        names, known, machines = found.setdefault(kernel, (head[:-1], values, {}))
        if names != head[:-1] or not np.array_equal(known, values):
            sys.exit("%s: other configurations than those of the other machines" % path)
        machines[machine] = np.array([float(row[-1]) if row[-1] else np.nan for row in rows])
    return found


def features_of(names, values):
    """Standardised [configurations, features]: parameters, and what a GPU makes of them: threads, a thread's work, tiles, idle lanes."""
    def product(pattern):
        return np.prod([values[:, i] for i, name in enumerate(names) if re.fullmatch(pattern, name)], axis=0)

    threads = product("block_size_.")
    columns = [np.log2(np.maximum(column, 1)) if column.max() > 2 else column for column in values.T]
    made = [threads, *(product(pattern) for pattern in ("tile_size_.", ".*_size_x", ".*_size_y", ".*_size_."))]
    columns += [np.log2(column) for column in made]
    columns.append(-threads % 32 / threads)
    return np.array([(column - column.mean()) / column.std() for column in columns if column.std() > 0]).T


def above_best(times, cap):
    logs = np.log(times)
    return np.minimum(np.where(np.isnan(logs), np.inf, logs - np.nanmin(logs, axis=-1, keepdims=True)), cap)


def matern(squares):
    distances = np.sqrt(3 * squares)
    return (1 + distances) * np.exp(-distances)


def means_of(others, form):
    """[hypotheses, configurations] from [configurations, machines]"""
    count = others.shape[1]
    least = 1 if form.subsets else count
    subsets = [subset for size in range(least, count + 1) for subset in itertools.combinations(range(count), size)]
    return np.array([others[:, list(subset)].mean(1) for subset in subsets])


class Scales:
    """Logarithms: of weights, residuals, noise, weights that change from place to place; of lengths and effects of each feature."""
    def __init__(self, theta, features):
        self.weights, self.residual, self.noise, self.local = np.exp(2 * theta[:4])
        self.lengths = np.exp(theta[4:4 + features])
        self.effects = np.exp(2 * theta[4 + features:])


def covariance(scales, others, features, at):
    """Of all configurations with the one at `at`."""
    both = others @ others[at]
    near = matern((((features - features[at]) / scales.lengths) ** 2).sum(1))
    kept = OFFSET + scales.weights * both + (scales.residual + scales.local * both) * near
    return kept + matern((features - features[at]) ** 2) @ scales.effects if len(scales.effects) else kept


def variance(scales, others):
    own = (others ** 2).sum(1)
    return OFFSET + scales.weights * own + scales.residual + scales.local * own + scales.effects.sum()


def misfit(theta, tasks, expected, spread):
    """-ln of how likely the tasks' values are, and its gradient.

    A task: others, means, values, squares of distances by feature, matern of these."""
    features = tasks[0][3].shape[0]
    s = Scales(theta, features)
    total, gradient = 0.5 * (((theta - expected) / spread) ** 2).sum(), (theta - expected) / spread ** 2
    for others, means, values, squares, single in tasks:
        near_squares = np.einsum("fab,f->ab", squares, s.lengths ** -2.0)
        near, both, unit = matern(near_squares), others @ others.T, np.eye(len(values))
        amount = s.residual + s.local * both
        matrix = OFFSET + s.weights * both + amount * near + (s.noise + 1e-8) * unit
        if len(s.effects):
            matrix += np.einsum("fab,f->ab", single, s.effects)
        lower = np.linalg.cholesky(matrix)
        inverse = np.linalg.inv(matrix)
        errors = values - means
        solved = errors @ inverse
        each = 0.5 * (errors * solved).sum(1)
        share = np.exp(each.min() - each)
        total += each.min() - np.log(share.mean()) + np.log(np.diag(lower)).sum()
        slope = 0.5 * (inverse - np.einsum("ha,hb,h->ab", solved, solved, share / share.sum()))
        gradient[:4] += 2 * np.array([s.weights * (slope * both).sum(), s.residual * (slope * near).sum(),
                                      s.noise * np.trace(slope), s.local * (slope * both * near).sum()])
        turn = slope * amount * 3 * np.exp(-np.sqrt(3 * near_squares))
        gradient[4:4 + features] += np.einsum("fab,ab->f", squares, turn) / s.lengths ** 2
        if len(s.effects):
            gradient[4 + features:] += 2 * s.effects * np.einsum("fab,ab->f", single, slope)
    return total, gradient


def fitted(known, features, form, points=150):
    """Scales that explain each row of `known` [machines, configurations] from the others; points near the best ones count more."""
    random, tasks = np.random.default_rng(0), []
    for i, own in enumerate(known):
        others = np.delete(known, i, 0).T
        chance = np.exp(-3 * np.minimum(others.mean(1), own))
        at = random.choice(len(own), min(points, len(own)), replace=False, p=chance / chance.sum())
        squares = (features[at].T[:, :, None] - features[at].T[:, None, :]) ** 2
        tasks.append((others[at], means_of(others[at], form), own[at], squares, matern(squares)))
    count = features.shape[1]
    effects = count if form.effects else 0
    expected = np.concatenate([[-1.5, -1, -3.5, -2], np.full(count, 1.0), np.full(effects, -2.5)])
    spread = np.concatenate([np.ones(4), np.full(count, 0.7), np.ones(effects)])
    limits = [(-5, 1), (-5, 2), (-4.5, -3), (-5, 1)] + [(-2, 5)] * count + [(-6, 1)] * effects
    done = minimize(misfit, expected, args=(tasks, expected, spread), jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 60})
    return Scales(done.x, count)


def improvement(scales, others, means, columns, measured, values):
    """Expected, of each configuration, over the best of `values` [measured], which are above it."""
    matrix = columns[measured] + (scales.noise + 1e-8) * np.eye(len(measured))
    inverse = np.linalg.inv(matrix)
    errors = values - means[:, measured]
    solved = errors @ inverse
    spread = np.sqrt(np.maximum(variance(scales, others) - np.einsum("na,ab,nb->n", columns, inverse, columns), 1e-9))
    misfits = 0.5 * (errors * solved).sum(1)
    share = np.exp(misfits.min() - misfits)
    total = np.zeros(len(spread))
    for weight, mean, by in zip(share / share.sum(), means, solved):
        if weight > 1e-4:
            gain = -(mean + columns @ by) / spread
            total += weight * spread * (gain * norm.cdf(gain) + norm.pdf(gain))
    return total


class Model:
    """Of a machine's times, from those of the others [machines, configurations]."""
    def __init__(self, times_of_others, features, cap, form):
        known = above_best(times_of_others, cap)
        self.cap, self.features, self.others = cap, features, known.T
        self.means = means_of(self.others, form)
        self.scales = fitted(known, features, form)

    def start(self):
        self.columns = np.empty((len(self.features), 0))

    def worth(self, measured, times):
        """Of measuring each configuration, when those of `measured` took `times`."""
        if not measured:
            return -self.others.mean(1)
        for at in measured[self.columns.shape[1]:]:
            self.columns = np.column_stack([self.columns, covariance(self.scales, self.others, self.features, at)])
        values = above_best(times, self.cap) if np.isfinite(times).any() else np.full(len(times), self.cap)
        return improvement(self.scales, self.others, self.means, self.columns, measured, values)


def carried(models, times):
    """Best time so far over the best of all, after each measurement."""
    measured, best = [], []
    for model in models:
        model.start()
    for step in range(max(MEASURED)):
        worth = models[step % len(models)].worth(measured, times[measured])
        worth[measured] = -np.inf
        measured.append(int(np.argmax(worth)))
        best.append(np.nanmin(np.append(times[measured], np.inf)))
    return np.array(best) / np.nanmin(times)


def slowdowns(space, machine, without, form, seed=None):
    """After each measurement, on `machine`, from all others but `without`; of all configurations, or nine tenths."""
    names, values, machines = space
    kept = np.arange(len(values))
    if seed is not None:
        kept = np.sort(np.random.default_rng(seed).permutation(len(values))[len(values) // 10:])
    features = features_of(names, values)[kept]
    others = np.array([times[kept] for name, times in machines.items() if name not in (machine, *without)])
    return carried([Model(others, features, cap, form) for cap in form.caps], machines[machine][kept])


def chosen_form(space, machine):
    """By the other machines alone."""
    def loss(form):
        runs = [slowdowns(space, other, (machine,), form) for other in space[2] if other != machine]
        ends = np.array([[run[count - 1] for count in GOALS] for run in runs])
        return (ends > list(GOALS.values())).sum(), np.log(ends).mean()

    return min(FORMS, key=lambda name: loss(FORMS[name]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--form", choices=list(FORMS))
    p.add_argument("--seeds", type=int, default=0)
    p.add_argument("--kernel", default="", help="only this one")
    args = p.parse_args()
    print("| kernel | machine | form | after %d | %d | %d | median, mean of %d after %d | %d |\n|---|---|---|---:|---:|---:|---:|---:|" %
          (*MEASURED, args.seeds, *MEASURED[1:]))
    for kernel, space in spaces(args.folder).items():
        for machine in space[2] if args.kernel in ("", kernel) else ():
            name = args.form or chosen_form(space, machine)
            run = slowdowns(space, machine, (), FORMS[name])
            more = np.array([slowdowns(space, machine, (), FORMS[name], seed=seed) for seed in range(args.seeds)] or [run])
            shown = ["%.3f" % run[n - 1] for n in MEASURED]
            shown += ["%.3f, %.3f" % (np.median(more[:, n - 1]), more[:, n - 1].mean()) for n in MEASURED[1:]]
            print("|", " | ".join([kernel, machine, name, *shown]), "|", flush=True)


if __name__ == "__main__":
    main()
