#!/usr/bin/env python3
"""How well measured costs agree with themselves: no model can order pairs of kernels better than a second measurement does.

    bench/repeat_costs.py TABLE AGAIN

Both are of `korch costs table`, AGAIN of a database in which the same kernels were measured once more: a copy of the first one
without its costs (`sqlite3 COPY 'DELETE FROM costs'`), so that the machine's speeds, and with them the sample, are the same. Prints
the pairs of one candidate that differ by a twentieth in TABLE, and the share that AGAIN orders alike; and how much a cost changes.
"""
import argparse
import collections
import csv
import itertools
import math
import statistics


def costs(path):
    """{(candidate, kernel, bound): microseconds} where that names one row."""
    with open(path, newline="") as file:
        found = collections.defaultdict(list)
        for row in csv.DictReader(file):
            found[row["candidate"], row["kernel"], row["bound_us"]].append(float(row["cost_us"]))
    return {key: us[0] for key, us in found.items() if len(us) == 1}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table")
    p.add_argument("again")
    args = p.parse_args()
    first, again = costs(args.table), costs(args.again)
    both = sorted(first.keys() & again.keys())
    changes = [abs(math.log(again[key] / first[key])) for key in both]
    pairs = alike = 0
    for _, members in itertools.groupby(both, key=lambda key: key[0]):
        for a, b in itertools.combinations(members, 2):
            if abs(math.log(first[a] / first[b])) >= 0.05:
                pairs += 1
                alike += (first[a] < first[b]) == (again[a] < again[b])
    print("%d kernels twice; |ln(again / first)| %.3f in the middle, %.3f at nine in ten" % (
        len(both), statistics.median(changes), statistics.quantiles(changes, n=10)[-1]))
    print("pairs that differ by 5 %%: %d, in the same order again: %.1f %%" % (pairs, 100 * alike / max(1, pairs)))


if __name__ == "__main__":
    main()
