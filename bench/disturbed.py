#!/usr/bin/env python3
"""Executables against each other on a quiet machine and beside a process that computes all the time.

    python3 bench/disturbed.py NEW.so:OLD.so ... [--rounds 60] [--max-seconds 8] [--korch PROGRAM]

Each pair by `korch bench NEW.so OLD.so`, three times: alone (quiet), beside one process at nice 19, and beside one of equal priority
that is bound to the second core. Prints a table: time of OLD over NEW's, median [95 %], and the geometric means.
"""
import argparse
import json
import math
import os
import subprocess

from korch_so import disturbance
from strategies import ROOT

LOADS = {"quiet": None, "nice 19": ("nice", "-n", "19"), "equal": ("taskset", "-c", "1")}


def ratio(pair, args):
    """Of the second's time to the first's: median, low, high."""
    words = [args.korch, "bench", *pair.split(":"), "--rounds", str(args.rounds), "--max-seconds", str(args.max_seconds), "--json"]
    row = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)["rows"][1]
    return row["ratio"], row["ratio_low"], row["ratio_high"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pairs", nargs="+", help="NEW.so:OLD.so")
    p.add_argument("--rounds", type=int, default=60)
    p.add_argument("--max-seconds", type=float, default=8)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    args = p.parse_args()
    found = {}
    for load, binding in LOADS.items():
        with disturbance(binding is not None, binding or ()):
            for pair in args.pairs:
                found[pair, load] = ratio(pair, args)
    print("| pair | " + " | ".join(LOADS) + " |\n|" + "---|" * (len(LOADS) + 1))
    for pair in args.pairs:
        print("| %s | " % pair + " | ".join("%.3f [%.3f, %.3f]" % found[pair, load] for load in LOADS) + " |")
    means = [math.exp(sum(math.log(found[pair, load][0]) for pair in args.pairs) / len(args.pairs)) for load in LOADS]
    print("| geometric mean | " + " | ".join("%.3f" % mean for mean in means) + " |")


main()
