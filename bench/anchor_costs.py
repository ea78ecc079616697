#!/usr/bin/env python3
"""A model of costs on a device that it has not seen, before and after some kernels (anchors) are measured there.

    PYTHON bench/anchor_costs.py TABLE [--anchors 10,30,100] [--seeds 20] [--shipped src/korch/estimate/cpu_costs.json]

PYTHON has lightgbm and numpy. TABLE is of `korch costs table`. Networks are held out, a fifth at a time, and anchors are of the others,
so no kernel of a network that is asked for was seen on any device. The correction: ln(cost / estimate) of the anchors by a ridge on the
estimate, the family and the bottleneck; how strongly it is held back is chosen by leaving one anchor out at a time. Also for the model
that korch ships, on each device's rows (its networks may be among those that are asked for, on another machine), and, to compare, for
models that learned from the device itself.
"""
import argparse
import json
import os

import numpy as np

import cost_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEVICES = {"AVX-512": 16, "AVX2": 8}  # elements of a vector
HELD_BACK = (0.3, 1, 3, 10, 30, 100, 300)


def shipped(path, rows):
    """Estimates of the model in korch's form (estimate/tree_model.h)."""
    with open(path) as file:
        model = json.load(file)
    if [name.split(".", 1)[1] for name in rows.names] != model["features"]:
        raise SystemExit("%s has learned from other features than the table has" % path)
    total = np.zeros(len(rows))
    for tree in model["trees"]:
        feature, at, less, more, leaf = (np.array(tree[key]) for key in ("feature", "at", "less", "more", "leaf"))
        node = np.zeros(len(rows), int) if len(feature) else np.full(len(rows), -1)
        while (open_ := node >= 0).any():
            own = node[open_]
            goes_less = rows.features[open_, feature[own]] <= at[own].astype(np.float32)
            node[open_] = np.where(goes_less, less[own], more[own])
        total += leaf[-(node + 1)]
    return total


def bottlenecks(rows):
    """0: starting; 1: arithmetic; 2 to 5: bytes, by the level that holds them."""
    levels = np.array([rows.column("draft.us_level_%d" % i) for i in (1, 2, 3, 4)])
    fits = np.array([rows.column("draft.fits_level_%d" % i) <= 0 for i in (1, 2, 3)] + [np.ones(len(rows), bool)])
    level = fits.argmax(0)
    by = np.where(rows.column("draft.us_arithmetic") > levels[level, np.arange(len(rows))], 1, 2 + level)
    return np.where(rows.column("draft.launch_share") > -1, 0, by)


def columns_of(rows, estimates):
    """What the ridge reads: 1, the estimate, and whether a row is of each family, each bottleneck."""
    families = sorted(set(rows.family))
    kinds = [rows.family == family for family in families] + [bottlenecks(rows) == kind for kind in range(6)]
    return np.column_stack([np.ones(len(rows)), estimates - estimates.mean(), *kinds]).astype(float)


def corrected(columns, errors, anchors):
    """What to add to all estimates, from the errors [anchors] of some; the constant is hardly held back."""
    x, y = columns[anchors], errors[anchors]
    best = None
    for held_back in HELD_BACK:
        hold = np.diag(np.r_[0.1, np.full(x.shape[1] - 1, held_back)])
        inverse = np.linalg.inv(x.T @ x + hold) @ x.T
        hat = x @ inverse
        loss = np.abs((y - hat @ y) / (1 - np.diag(hat))).mean()  # of each anchor, by the others
        if best is None or loss < best[0]:
            best = loss, inverse @ y
    return columns @ best[1]


def print_row(name, scores):
    mean = cost_table.Score(**{key: np.mean([vars(score)[key] for score in scores]) for key in vars(scores[0])})
    print("| %s | %s" % (name, mean.row()), flush=True)


def print_corrected(name, rows, estimates, args):
    print_row(name, [cost_table.score(rows, estimates)])
    folds, columns, errors = cost_table.folds_of(rows), columns_of(rows, estimates), rows.log_factor - estimates
    for count in map(int, args.anchors.split(",")):
        scores = []
        for seed in range(args.seeds):
            random, said = np.random.default_rng(seed), estimates.copy()
            for fold in range(cost_table.FOLDS):
                anchors = random.choice(np.flatnonzero(folds != fold), count, replace=False)
                said[folds == fold] += corrected(columns, errors, anchors)[folds == fold]
            scores.append(cost_table.score(rows, said))
        print_row("%s, %d anchors" % (name, count), scores)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table")
    p.add_argument("--anchors", default="10,30,100")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--shipped", default=os.path.join(ROOT, "src/korch/estimate/cpu_costs.json"))
    args = p.parse_args()
    rows = cost_table.read(args.table)
    folds = cost_table.folds_of(rows)
    parts = {name: rows.lanes(lanes) for name, lanes in DEVICES.items()}
    print("| model, on | %s\n|---|---:|---:|---:|---:|---:|---:|" % cost_table.Score.HEAD)
    said = {(there, here): np.zeros(len(rows)) for there in parts for here in parts}
    for fold in range(cost_table.FOLDS):
        for there, of_there in parts.items():
            booster = cost_table.trees(rows.where(of_there & (folds != fold)))
            for here, of_here in parts.items():
                asked = of_here & (folds == fold)
                said[there, here][asked] = booster.predict(rows.features[asked])
    for (there, here), estimates in said.items():
        own, name = rows.where(parts[here]), "of %s, on %s" % (there, here)
        if there == here:
            print_row(name, [cost_table.score(own, estimates[parts[here]])])
        else:
            print_corrected(name, own, estimates[parts[here]], args)
    for here, of_here in parts.items():
        own = rows.where(of_here)
        print_corrected("shipped, on %s" % here, own, shipped(args.shipped, own), args)


if __name__ == "__main__":
    main()
