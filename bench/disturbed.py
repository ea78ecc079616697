#!/usr/bin/env python3
"""Executables on a quiet machine and beside a process that computes all the time, against others and other engines.

    build/bench-venv/bin/python bench/disturbed.py NEW.so[,old=OLD.so][,MODEL.onnx] ... [--loads quiet,nice19,equal]

Each NEW.so by the schedule that it was compiled with, beside itself phase after phase (`barrier`), OLD.so, and where the model is
given ONNX Runtime and OpenVINO: a process each, interleaved. Loads: none (quiet); one process at nice 19; one of equal priority,
bound to the second core. Prints a table per load: time over NEW.so's, median [95 %], and the geometric means; above 1 NEW.so is
faster.
"""
import argparse
import contextlib
import math
import os
import tempfile

import numpy as np

from engine_worker import Worker, interleaved_processes
from korch_so import Executable, add_round_options, disturbance, interval

LOADS = {"quiet": None, "nice19": ("nice", "-n", "19"), "equal": ("taskset", "-c", "1")}
BARRIER = 1  # korch_options::schedule


def jobs_of(subject, folder, args):
    """Name -> (engine, job) of a command-line argument, NEW.so first."""
    new, *others = subject.split(",")
    executable, random = Executable(new), np.random.default_rng(1)
    inputs = os.path.join(folder, os.path.basename(new))
    os.makedirs(inputs)
    for name, dtype, shape in executable.inputs:
        data = random.standard_normal(shape) if np.dtype(dtype).kind == "f" else random.integers(0, 2, shape)
        np.save(os.path.join(inputs, name.replace("/", "_") + ".npy"), data.astype(dtype))
    job = {"so": os.path.abspath(new), "threads": args.threads, "inputs": inputs,
           "input_names": [name for name, _, _ in executable.inputs], "output_names": [name for name, _, _ in executable.outputs]}
    executable.close()
    jobs = {"new": ("korch", job), "barrier": ("korch", dict(job, schedule=BARRIER))}
    for other in others:
        if other.startswith("old="):
            jobs["old"] = ("korch", dict(job, so=os.path.abspath(other[4:])))
        else:
            jobs.update({engine: (engine, dict(job, onnx=other)) for engine in ("onnxruntime", "openvino")})
    return jobs


def compare(jobs, folder, args):
    """Name -> time over NEW.so's (median, low, high), and NEW.so's milliseconds."""
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, (engine, job) in jobs.items():
            workers[name] = Worker(engine, job, os.path.join(folder, name + ".log"))
            stack.callback(workers[name].close)
            if workers[name].failed:
                raise SystemExit("%s: %s" % (name, workers[name].failed))
        times = interleaved_processes(workers, args)
    ratios = {name: interval([t / base for t, base in zip(times[name], times["new"])]) for name in jobs if name != "new"}
    return ratios, 1e3 * sorted(times["new"])[len(times["new"]) // 2]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("subjects", nargs="+", metavar="NEW.so[,old=OLD.so][,MODEL.onnx]")
    p.add_argument("--loads", default="quiet,nice19,equal")
    add_round_options(p, 60, 8)
    args = p.parse_args()
    for load in args.loads.split(","):
        rows = {}
        with tempfile.TemporaryDirectory() as folder, disturbance(LOADS[load] is not None, LOADS[load] or ()):
            for subject in args.subjects:
                name = os.path.basename(subject.split(",")[0])[:-3]
                rows[name] = compare(jobs_of(subject, folder, args), folder, args)
                print("# %s %s %s" % (load, name, rows[name]), flush=True)
        against = list(dict.fromkeys(other for ratios, _ in rows.values() for other in ratios))
        print("\n%s\n\n| network | ms | %s |\n|---|---|%s" % (load, " | ".join(against), "---|" * len(against)))
        for name, (ratios, ms) in rows.items():
            cells = ["%.3f [%.3f, %.3f]" % ratios[other] if other in ratios else "" for other in against]
            print("| %s | %.2f | %s |" % (name, ms, " | ".join(cells)))
        means = [math.exp(np.mean([math.log(ratios[other][0]) for ratios, _ in rows.values() if other in ratios]))
                 for other in against]
        print("| geometric mean | | %s |\n" % " | ".join("%.3f" % mean for mean in means), flush=True)


if __name__ == "__main__":
    main()
