#!/usr/bin/env python3
"""One executable for a range of shapes, at some of them: against the executable compiled for that shape alone, ONNX
Runtime and OpenVINO.

    bench/setup
    build/bench-venv/bin/python bench/shapes.py MODEL.onnx --shape seq=1..512 --at seq=16 --at seq=100 [--options=--no-measure] [--disturb]

`--shape` as korch compile takes it, with one range at least; each `--at` is a shape within, NAME=N or several with commas. A process
per engine, interleaved. Ratio: time over that of korch's executable of all shapes, median of the rounds, with its 95 % interval; above
1 that one is faster. `of all`: its time over what it takes at the largest shape. Outputs are compared with ONNX Runtime's.
"""
import argparse
import contextlib
import os
import statistics
import subprocess
import tempfile

import numpy as np
import onnx

from engine_worker import Worker, interleaved_processes
from korch_so import add_round_options, disturbance, interval
from open_shapes import feeds_of, ranges_of
from strategies import ROOT


def saved_feeds(graph, extents, folder):
    """Random inputs of these extents, as .npy files."""
    os.makedirs(folder, exist_ok=True)
    for name, array in feeds_of(graph, extents, np.random.default_rng(1)).items():
        np.save(os.path.join(folder, name + ".npy"), array)
    return folder


def compiled(args, shapes, path):
    words = [args.korch, "compile", args.model, "-o", path, "--threads", str(args.threads), "--quiet", *args.options.split()]
    if not os.path.exists(path):
        subprocess.run([*words, *(w for s in shapes for w in ("--shape", s))], check=True, stdout=subprocess.DEVNULL)
    return path


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--shape", action="append", required=True)
    p.add_argument("--at", action="append", required=True)
    p.add_argument("--options", default="", help="for korch compile")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--keep", help="a folder for the executables; those that are there are used again")
    add_round_options(p, rounds=60, max_seconds=20)
    args = p.parse_args()
    graph = onnx.load(args.model, load_external_data=False).graph
    most = {name: pair[1] for name, pair in ranges_of(graph, args.shape).items()}
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        whole = compiled(args, args.shape, os.path.join(folder, "all.so"))
        print("one executable: %.1f MB" % (os.path.getsize(whole) / 1e6))
        stack.enter_context(disturbance(args.disturb))
        print("| shape | ms | of all | one shape's executable | its MB | ONNX Runtime | OpenVINO | largest difference |\n|---|---|---|---|---|---|---|---|")
        largest = None
        for at in [",".join("%s=%d" % pair for pair in most.items()), *args.at]:
            extents = {**most, **{k: int(v) for k, v in (pair.split("=") for pair in at.split(","))}}
            feeds = saved_feeds(graph, extents, os.path.join(temporary, at))
            shape = ["%s=%d" % pair for pair in extents.items()]
            one = compiled(args, shape, os.path.join(folder, "-".join(shape) + ".so"))
            job = {"onnx": os.path.abspath(args.model), "threads": args.threads, "inputs": feeds,
                   "input_names": [f[:-4] for f in sorted(os.listdir(feeds))],
                   "output_names": [value.name for value in graph.output]}
            log = os.path.join(temporary, "log")
            workers = {"all": Worker("korch", {**job, "so": whole}, log), "one": Worker("korch", {**job, "so": one}, log),
                       "ort": Worker("onnxruntime", job, log), "openvino": Worker("openvino", job, log)}
            for name, worker in workers.items():
                if worker.failed:
                    raise RuntimeError("%s: %s" % (name, worker.failed))
            times = interleaved_processes(workers, args)
            error = max(float(np.max(np.abs(a - b), initial=0)) for a, b in zip(workers["all"].outputs, workers["ort"].outputs))
            for worker in workers.values():
                worker.close()
            ms = 1e3 * statistics.median(times["all"])
            largest = largest or ms
            ratio = lambda name: "%.3f [%.3f, %.3f]" % interval([b / a for a, b in zip(times["all"], times[name])])
            print("| %s | %.3f | %.3f | %s | %.1f | %s | %s | %.2g |" % (
                at, ms, ms / largest, ratio("one"), os.path.getsize(one) / 1e6, ratio("ort"), ratio("openvino"), error), flush=True)


if __name__ == "__main__":
    main()
