#!/usr/bin/env python3
"""What a machine's measured speeds and proven bounds become beside other programs.

    build/bench-venv/bin/python bench/peaks.py [MODEL.onnx ...] [--loads quiet,nice19,equal,build] [--rounds 3] [--budget 20]

Each round begins with an empty kernel database: `korch doctor` measures the speeds, then `korch compile` each model. Loads: none
(quiet); one process at nice 19; one of equal priority, bound to the second core; a build with eight jobs. Without models: candy_224.
Prints a row per measurement: over the median of the quiet ones, and whether korch said that the machine is busy. A speed off by
more than 10 % or a larger bound must have the warning beside it.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

from korch_so import disturbance

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPEEDS = ["peak_gflops", "L1", "L2", "L3", "memory"]  # the latter in GB/s
BOUND = {"nice19": ("nice", "-n", "19"), "equal": ("taskset", "-c", "1")}
WARNINGS = ("machine is busy", "bound in doubt")


@contextlib.contextmanager
def build(jobs=8):
    """As a build with eight jobs: so many loops that start the compiler again and again."""
    compile_one = "while :; do echo '#include <map>\n#include <regex>\nint main() { return 0; }' | c++ -O2 -xc++ - -c -o /dev/null; done"
    beside = [subprocess.Popen(["sh", "-c", compile_one], start_new_session=True) for _ in range(jobs)]
    try:
        yield
    finally:
        for process in beside:
            os.killpg(process.pid, 9)
            process.wait()


def loaded(load):
    if load == "build":
        return build()
    return disturbance(load != "quiet", BOUND.get(load, ()))


def measured(korch, models, budget):
    """Name -> number, and name -> what was said: of the speeds and of each model's bound."""
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, XDG_CACHE_HOME=folder)
        doctor = json.loads(subprocess.run([korch, "doctor", "--json"], check=True, capture_output=True, env=env).stdout)
        device = doctor["device"]
        numbers = {"peak_gflops": device["flops_per_us"] / 1e3}
        numbers.update({level["name"]: level["bytes_per_us"] / 1e3 for level in device["memory"]})
        said = {speed: "busy" if doctor.get("doubt") else "" for speed in SPEEDS}
        for model in models:
            so, name = folder + "/model.so", os.path.basename(model)[:-5]
            run = subprocess.run([korch, "compile", model, "-o", so, "--budget", "%gs" % budget, "--profile-db", folder + "/db"],
                                 capture_output=True, text=True, env=env)
            if run.returncode != 0:
                raise SystemExit("%s: exit %d: %s" % (model, run.returncode, run.stderr[-1000:]))
            explained = json.loads(subprocess.run([korch, "explain", so, "--json"], check=True, capture_output=True).stdout)
            numbers[name + ": bound"] = explained["report"]["bound_us"]
            words = run.stdout + run.stderr
            said[name + ": bound"] = "busy" if any(warning in words for warning in WARNINGS) else ""
        return numbers, said


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--loads", default="quiet,nice19,equal,build")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--budget", type=float, default=20)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    args = p.parse_args()
    loads, results, false = args.loads.split(","), {}, 0
    with tempfile.TemporaryDirectory() as folder:
        models = args.models or [os.path.join(folder, "candy_224.onnx")]
        if not args.models:
            subprocess.run([args.korch, "model", "candy_224", "-o", models[0]], check=True, capture_output=True)
        for _ in range(args.rounds):
            for load in loads:
                with loaded(load):
                    results.setdefault(load, []).append(measured(args.korch, models, args.budget))
    quiet = {name: statistics.median(numbers[name] for numbers, _ in results[loads[0]]) for name in results[loads[0]][0][0]}
    print("| what | load | over the median of %s | said to be busy |\n|---|---|---|---|" % loads[0])
    for name, base in quiet.items():
        for load in loads:
            ratios = [numbers[name] / base for numbers, _ in results[load]]
            words = [said[name] for _, said in results[load]]
            for ratio, word in zip(ratios, words):
                wrong = ratio > 1.001 if name.endswith("bound") else not 0.9 <= ratio <= 1.1
                false += wrong and not word and load != "quiet"
            print("| %s (%.4g) | %s | %s | %s |" % (name, base, load, ", ".join("%.3f" % r for r in ratios),
                                                   ", ".join(word or "no" for word in words)))
    print("\n%d beyond what is allowed without a warning" % false)
    return false > 0


if __name__ == "__main__":
    sys.exit(main())
