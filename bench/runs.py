#!/usr/bin/env python3
"""One executable of an open network, at some of the shapes that it is for, beside ONNX Runtime with the same file.

    build/bench-venv/bin/python bench/runs.py MODEL.onnx MODEL.so --at seq=1,past=300 --at seq=64,past=0 [--seconds 4]

One process and one thread of each engine, in turns; the process's processor time, so that others on the machine count
less. Each `--at` gives all dimensions but those whose name is a sum of others ("past + seq"). Ratio: ONNX Runtime's
time over the executable's, median of the rounds with its 95 % interval; above 1 the executable is faster.
"""
import argparse
import os
import statistics
import time

import numpy as np
import onnx

from korch_so import Executable, interval
from open_shapes import feeds_of


class Derived(dict):
    """Extents; of a name that is a sum of others their sum."""

    def get(self, name, default=None):
        if name in self or "+" not in name:
            return super().get(name, default)
        return sum(int(part) if part.strip().isdigit() else self[part.strip()] for part in name.split("+"))


def measured(runs, seconds):
    """Processor seconds of each round of `runs` (name -> callable), in turns."""
    times, order, start, rounds = {name: [] for name in runs}, list(runs), time.time(), 0
    while rounds < 9 or (time.time() - start < seconds and rounds < 400):
        for name in order[rounds % len(order):] + order[:rounds % len(order)]:
            t = time.process_time()
            runs[name]()
            if rounds > 1:
                times[name].append(time.process_time() - t)
        rounds += 1
    return times


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("executable", nargs="+", help="executables of the model, in turns")
    p.add_argument("--at", action="append", required=True)
    p.add_argument("--seconds", type=float, default=4, help="of each shape")
    args = p.parse_args()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    graph = onnx.load(args.model, load_external_data=False).graph
    executables = [Executable(os.path.abspath(path), threads=1) for path in args.executable]
    print("| run | executable, ms | ONNX Runtime, ms | ratio | largest difference |\n|---|---|---|---|---|")
    for at in args.at:
        extents = Derived({k: int(v) for k, v in (pair.split("=") for pair in at.split(","))})
        feeds = feeds_of(graph, extents, np.random.default_rng(1))
        feeds = {name: np.ones_like(a) if "mask" in name else a for name, a in feeds.items()}
        runs = {"ort": lambda: session.run(names, feeds)}
        for number, executable in enumerate(executables):
            executable.bind(feeds)
            runs[number] = executable.run
        wanted = dict(zip(names, session.run(names, feeds)))
        times = measured(runs, args.seconds)
        for number, executable in enumerate(executables):
            results = dict(zip([name for name, _, _ in executable.outputs], executable.dense_results()))
            error = max(float(np.max(np.abs(results[n] - wanted[n]), initial=0)) for n in names)
            ms = [1e3 * statistics.median(times[name]) for name in (number, "ort")]
            print("| %s | %.2f | %.2f | %s | %.2g |" % (
                at, *ms, "%.3f [%.3f, %.3f]" % interval([b / a for a, b in zip(times[number], times["ort"])]), error), flush=True)


if __name__ == "__main__":
    main()
