#!/usr/bin/env python3
"""Is an executable for a range of shapes right? Against ONNX Runtime at random shapes within the range.

    bench/setup
    build/bench-venv/bin/python bench/random_shapes.py MODEL.onnx --shape h=64..320 --shape w=64..320 [--count 50]

`--shape` as korch compile takes it. The first shapes are those of all least and all largest extents. Each tensor of each shape must
agree within `--tolerance` times its largest element. One process for all shapes: what a run leaves in memory meets the next one, and
with --poison that is what the largest shape makes of inputs that are no numbers.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

from korch_so import Executable
from open_shapes import feeds_of, ranges_of
from strategies import ROOT


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--shape", action="append", required=True)
    p.add_argument("--count", type=int, default=50)
    p.add_argument("--step", type=int, default=1, help="extents are the least one and multiples of this above it")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--uniform", action="store_true", help="inputs in [0, 1), as images are, instead of normal ones")
    p.add_argument("--poison", action="store_true", help="a run of the largest shape with NaN before each")
    p.add_argument("--tolerance", type=float, default=1e-4)
    p.add_argument("--options", default="--strategy greedy --no-measure", help="for korch compile")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--so", help="where the executable lies or is to lie")
    p.add_argument("--threads", type=int, default=2)
    args = p.parse_args()
    graph = onnx.load(args.model, load_external_data=False).graph
    ranges, random = ranges_of(graph, args.shape), np.random.default_rng(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        so = args.so or os.path.join(folder, "all.so")
        if not os.path.exists(so):
            subprocess.run([args.korch, "compile", args.model, "-o", so, "--threads", str(args.threads), *args.options.split(),
                            *(w for s in args.shape for w in ("--shape", s))], check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = args.threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
        executable = Executable(os.path.abspath(so), args.threads)
        names = [value.name for value in session.get_outputs()]
        worst, wrong = 0.0, 0
        for number in range(args.count):
            pick = [lambda low, high: low, lambda low, high: high][number] if number < 2 else (
                lambda low, high: low + args.step * int(random.integers(0, (high - low) // args.step + 1)))
            extents = {name: pick(*pair) for name, pair in ranges.items()}
            feeds = feeds_of(graph, extents, random, args.uniform)
            if args.poison:
                largest = feeds_of(graph, {name: pair[1] for name, pair in ranges.items()}, random)
                executable.bind({k: np.full_like(v, np.nan) if v.dtype.kind == "f" else v for k, v in largest.items()})
                executable.run()
            executable.bind(feeds)
            executable.run()
            got = dict(zip([name for name, _, _ in executable.outputs], executable.dense_results()))
            errors = []
            for name, wanted in zip(names, session.run(None, feeds)):
                same = got[name].shape == wanted.shape
                scale = max(float(np.max(np.abs(wanted), initial=0)), 1e-30) if same else 1
                errors.append(float(np.max(np.abs(got[name] - wanted), initial=0)) / scale if same else float("inf"))
            worst = float(np.max([worst, *errors]))  # NaN stays
            if not np.max(errors) <= args.tolerance:
                wrong += 1
                print("%s: %s" % (",".join("%s=%d" % pair for pair in extents.items()), " ".join("%.2g" % e for e in errors)))
        executable.close()
    print("%s: %d shapes, %d wrong, largest difference %.2g of the largest element" % (
        os.path.basename(args.model), args.count, wrong, worst))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
