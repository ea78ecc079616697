#!/usr/bin/env python3
"""Two versions of korch against each other: each compiles every network, the executables run interleaved in one process.

    bench/setup
    build/bench-venv/bin/python bench/versions.py --before BUILD/tools/korch [--after BUILD/tools/korch] [--models a,b]

Ratio: time of before / time of after, median of the rounds, with its 95 % interval; above 1 the newer one is faster. The last
line is the geometric mean. --disturb runs a process beside it that computes all the time, at nice 19.
"""
import argparse
import json
import math
import os
import statistics
import subprocess

from korch_so import Executable, add_round_options, disturbance, inputs_of, interleaved, interval
from strategies import MODELS, ROOT, written


def compiled(korch, onnx, so, args):
    if args.recompile or not os.path.exists(so):
        usage = subprocess.run([korch, "compile", "--help"], capture_output=True, text=True).stdout
        options = ["--no-heal"] if "--no-heal" in usage else []
        subprocess.run([korch, "compile", onnx, "-o", so, "--threads", str(args.threads), "--no-verify", "--profile-db", so + ".db"] +
                       options, check=True, stdout=subprocess.DEVNULL)
    return Executable(so)


def compare(model, args):
    onnx, folder = written(model, args)
    arrays = inputs_of(folder)
    executables = []
    for which in ("before", "after"):
        executable = compiled(getattr(args, which), onnx, os.path.join(args.work, "%s.%s.so" % (model, which)), args)
        executable.bind({n: arrays[n.replace("/", "_")] for n, _, _ in executable.inputs})
        executables.append(executable)
    times = interleaved({k: executable.run for k, executable in enumerate(executables)}, args)
    for executable in executables:
        executable.close()
    ratio, low, high = interval([b / a for b, a in zip(times[0], times[1])])
    return dict(model=model, threads=args.threads, before_ms=statistics.median(times[0]) * 1e3,
                after_ms=statistics.median(times[1]) * 1e3, ratio=ratio, low=low, high=high, rounds=len(times[0]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--before", required=True, help="the older korch")
    p.add_argument("--after", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--korch", help="what writes the networks [--after]")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-versions"))
    p.add_argument("--models", default=",".join(MODELS))
    p.add_argument("--recompile", action="store_true")
    add_round_options(p, 41, 40)
    p.add_argument("--json")
    args = p.parse_args()
    args.korch = args.korch or args.after
    os.makedirs(args.work, exist_ok=True)
    rows = []
    with disturbance(args.disturb):
        print("model                 before ms   after ms  before/after [95 %]")
        for model in args.models.split(","):
            r = compare(model, args)
            rows.append(r)
            print("%-20s %10.2f %10.2f  %.3f [%.3f, %.3f]" % (model, r["before_ms"], r["after_ms"], r["ratio"], r["low"], r["high"]),
                  flush=True)
    print("geometric mean of before/after: %.3f" % math.exp(statistics.mean(math.log(r["ratio"]) for r in rows)))
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
