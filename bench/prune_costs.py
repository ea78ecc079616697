#!/usr/bin/env python3
"""Which tenth of the costs teaches a model nearly as much as all of them?

    PYTHON bench/prune_costs.py TABLE [--share 0.1] [--seeds 3]

PYTHON has lightgbm, scikit-learn and numpy. TABLE is of `korch costs table`. Networks are held out, a fifth at a time; of the rows of
the others a share is kept, of each family as many as its part of the rows, and trees learn from these alone:

random      without looking
farthest    one after another, the row that is farthest from all that are kept (standardised features)
middles     the row nearest to each middle that k-means finds
weighted    the same, each counting as much as the rows of its middle
leaves      as farthest, by the share of trees of a model of all rows that take two rows to different leaves; so costs are known
candidates  all kernels of random candidates
"""
import argparse

import numpy as np

import cost_table


def standardised(rows):
    features = rows.features
    return np.clip((features - features.mean(0)) / np.maximum(features.std(0), 1e-3), -4, 4)


def farthest(count, distances_to, size, random):
    """`distances_to(i)`: of all `size` from one."""
    kept = [int(random.integers(size))]
    nearest = distances_to(kept[0])
    while len(kept) < count:
        kept.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances_to(kept[-1]))
    return np.array(kept)


def by_family(rows, share, choose):
    """(chosen rows, what each counts), by `choose(members, count)` of each family."""
    at, counts = [], []
    for family in sorted(set(rows.family)):
        members = np.flatnonzero(rows.family == family)
        kept, counted = choose(members, max(1, round(share * len(members))))
        at.append(members[kept])
        counts.append(counted)
    return np.concatenate(at), np.concatenate(counts)


def middles_of(places, count, seed):
    from sklearn.cluster import MiniBatchKMeans
    if count >= len(places):
        return np.arange(len(places)), np.ones(len(places))
    fit = MiniBatchKMeans(count, random_state=seed, n_init=1, batch_size=2048).fit(places)
    distances = ((places - fit.cluster_centers_[fit.labels_]) ** 2).sum(1)
    clusters = [np.flatnonzero(fit.labels_ == middle) for middle in range(count)]
    kept = [members[np.argmin(distances[members])] for members in clusters if len(members)]
    return np.array(kept), np.array([(fit.labels_ == fit.labels_[at]).sum() for at in kept], float)


def ways(rows, leaves, share, seed):
    """name -> (rows that are kept, what each counts)"""
    random, places = np.random.default_rng(seed), standardised(rows)
    even = lambda kept: (kept, np.ones(len(kept)))
    by_distance = lambda of: lambda members, count: even(farthest(count, lambda i: of(members, i), len(members), random))
    apart = by_distance(lambda members, i: ((places[members] - places[members[i]]) ** 2).sum(1))
    in_leaves = by_distance(lambda members, i: (leaves[members] != leaves[members[i]]).mean(1))
    middles = by_family(rows, share, lambda members, count: middles_of(places[members], count, seed))
    candidates = random.permutation(sorted(set(rows.candidate)))
    place = {candidate: i for i, candidate in enumerate(candidates)}
    order = np.argsort([place[candidate] for candidate in rows.candidate], kind="stable")
    return {"random": even(random.permutation(len(rows))[:round(share * len(rows))]), "farthest": by_family(rows, share, apart),
            "middles": even(middles[0]), "weighted": middles, "leaves": by_family(rows, share, in_leaves),
            "candidates": even(order[:round(share * len(rows))])}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table")
    p.add_argument("--share", type=float, default=0.1)
    p.add_argument("--seeds", type=int, default=3)
    args = p.parse_args()
    rows = cost_table.read(args.table)
    folds, estimates = cost_table.folds_of(rows), {}
    for fold in range(cost_table.FOLDS):
        learned, asked = rows.where(folds != fold), folds == fold
        booster = cost_table.trees(learned)
        estimates.setdefault(("all", 0), np.zeros(len(rows)))[asked] = booster.predict(rows.features[asked])
        leaves = booster.predict(learned.features, pred_leaf=True, num_iteration=100).astype(np.int16)
        for seed in range(args.seeds):
            for name, (kept, counted) in ways(learned, leaves, args.share, seed).items():
                some = learned.where(kept)
                said = cost_table.trees(some, some.weight * counted).predict(rows.features[asked])
                estimates.setdefault((name, seed), np.zeros(len(rows)))[asked] = said
    print("| of %d rows of %d networks | %s pairs, each seed |" % (len(rows), len(set(rows.network)), cost_table.Score.HEAD))
    for name in dict.fromkeys(name for name, _ in estimates):
        scores = [cost_table.score(rows, said) for (own, _), said in estimates.items() if own == name]
        mean = cost_table.Score(**{key: np.mean([vars(score)[key] for score in scores]) for key in vars(scores[0])})
        print("| %s | %s %s |" % (name, mean.row(), ", ".join("%.1f" % (100 * score.in_order) for score in scores)))


if __name__ == "__main__":
    main()
