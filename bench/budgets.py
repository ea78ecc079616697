#!/usr/bin/env python3
"""How long compilations with a budget take, the check included, on a quiet machine and beside others.

    build/bench-venv/bin/python bench/budgets.py [MODEL.onnx ...] [--budgets 30,60,120] [--loads quiet,nice19,equal]

Each compilation begins with an empty kernel database. Without models: the bundled networks. Allowed: the budget, 20 % and 5 s.
Loads: none (quiet); one process at nice 19; one of equal priority, bound to the second core. Prints a row per compilation:
seconds, their share of what is allowed, what the executable's check came to, and what the report says was left out.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from korch_so import disturbance

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOADS = {"quiet": None, "nice19": ("nice", "-n", "19"), "equal": ("taskset", "-c", "1")}


def bundled(korch, folder):
    names = subprocess.run([korch, "model", "--list"], check=True, capture_output=True, text=True).stdout.split()
    for name in names:
        path = os.path.join(folder, name + ".onnx")
        subprocess.run([korch, "model", name, "-o", path], check=True, capture_output=True)
        yield path


def compiled(korch, model, budget, options):
    """Seconds, "checked" or why not, and the report's limits."""
    with tempfile.TemporaryDirectory() as folder:
        so = os.path.join(folder, "model.so")
        begin = time.monotonic()
        run = subprocess.run([korch, "compile", model, "-o", so, "--budget", "%gs" % budget, "--profile-db", folder + "/db"] + options,
                             capture_output=True, text=True)
        seconds = time.monotonic() - begin
        if run.returncode != 0:
            return seconds, "exit %d: %s" % (run.returncode, run.stderr.strip().splitlines()[-1:]), []
        told = json.loads(subprocess.run([korch, "explain", so, "--json"], check=True, capture_output=True, text=True).stdout)
        checked = "no" if "not verified" in run.stderr + run.stdout else "checked"
        return seconds, checked, [limit.split(":")[0] for limit in told["report"].get("limits", [])]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--budgets", default="30,60,120")
    p.add_argument("--loads", default="quiet,nice19,equal")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--option", action="append", default=[], help="further options of korch compile, e.g. --option=--shape=batch=1..4")
    args = p.parse_args()
    late = 0
    with tempfile.TemporaryDirectory() as folder:
        models = args.models or list(bundled(args.korch, folder))
        print("| network | load | budget s | took s | of allowed | check | left out |\n|---|---|---|---|---|---|---|", flush=True)
        for load in args.loads.split(","):
            for model in models:
                for budget in map(float, args.budgets.split(",")):
                    with disturbance(LOADS[load] is not None, LOADS[load] or ()):
                        seconds, checked, limits = compiled(args.korch, model, budget, args.option)
                    allowed = 1.2 * budget + 5
                    late += seconds > allowed or checked != "checked"
                    print("| %s | %s | %g | %.1f | %.2f | %s | %s |" % (os.path.basename(model)[:-5], load, budget, seconds,
                                                                         seconds / allowed, checked, ", ".join(sorted(set(limits)))),
                          flush=True)
    print("\n%d late or unchecked" % late)
    return late > 0


if __name__ == "__main__":
    sys.exit(main())
