#!/usr/bin/env python3
"""What each part of the joint choice brings: one network, planned with more and more freedom, measured interleaved.

    bench/ablation.py [--models a,b] [--threads 2] [--accuracy standard] [--json FILE]
    bench/ablation.py --cold --rows fusion,alternatives    # what a cold compilation takes, with and without

  unfused       one kernel per primitive, of any family and layout, the library's Winograd among them
  greedy        every memory-bound primitive goes into its only consumer, epilogues into linear primitives
  published     as Korch (ASPLOS 2024): rewritten first (rules that never do more work), kernels of one output, linear
                primitives alone, row-major tensors; a binary linear program chooses
  fusion        + fusion around linear primitives, several outputs, layouts, recomputation: --no-alternatives
  alternatives  + other algebra, our own Winograd among it, in the same program: the default

Every row of a network reads and fills one kernel database, whatever the accuracy policy, so equal kernels have equal costs;
the compile time of a row is therefore that of what the rows before it have not measured. With --cold every row begins with an
empty database. Ratio: time of the row / time of `fusion`, median of the rounds, with its 95 % interval. Predicted and whole: the
kept plan's kernels added up, and the plan run whole at the end of its compilation. Needs Python, and for `published` the program
bench_published (-DKORCH_BENCH=ON).
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import time

from strategies import MODELS, ROOT, call, written

ROWS = {
    "unfused": ["--strategy", "unfused"],
    "greedy": ["--strategy", "greedy"],
    "published": None,  # bench_published
    "fusion": ["--no-alternatives"],
    "alternatives": [],
}


def compile_row(model, row, args):
    onnx, _ = written(model, args)
    name = "cold" if args.cold else "ablation"
    path = os.path.join(args.work, "%s.%s.%s.%s.%s.so" % (name, model, args.threads, args.accuracy, row))
    database = os.path.join(args.work, "%s.%s.%s.db" % (name, model, args.threads))
    for leftover in glob.glob(database + "*") if args.cold else []:
        os.remove(leftover)
    start = time.time()
    asked = ["--threads", args.threads, "--accuracy", args.accuracy, "--profile-db", database]
    if ROWS[row] is None:
        subprocess.run([args.published, onnx, path, *asked], check=True)
        result = {"seconds": {}}
    else:
        result = call(args.korch, "compile", "--no-heal", "--measure", "prove", onnx, "-o", path, *asked, "--no-verify", "--json",
                      *ROWS[row])
    report = call(args.korch, "explain", path, "--json")["report"]
    return path, {"compile_s": time.time() - start, "solve_s": result["seconds"].get("solve", 0), "report": report}


def prediction_error(report):
    return abs(report["predicted_us"] / report["measured_us"] - 1)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--published", default=os.path.join(ROOT, "build/release/bench/bench_published"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench"))
    p.add_argument("--models", default=",".join(MODELS))
    p.add_argument("--rows", default=",".join(ROWS))
    p.add_argument("--threads", default="2")
    p.add_argument("--accuracy", default="standard")
    p.add_argument("--rounds", type=int, default=31)
    p.add_argument("--max-seconds", type=float, default=20)
    p.add_argument("--cold", action="store_true")
    p.add_argument("--json")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    print("model                row           measured ms  ratio to fusion [95 %]   objective us     bound us  predicted     whole  error  primitives    states  columns"
          "  measured  share  solves  solver s  solve s  compile s")
    table = {}
    for model in args.models.split(","):
        rows = args.rows.split(",")
        built = {row: compile_row(model, row, args) for row in rows}
        reference = "fusion" if "fusion" in rows else rows[0]
        table[model] = {}
        for row in rows:
            path, facts = built[row]
            bench = call(args.korch, "bench", built[reference][0], path, "--rounds", str(args.rounds), "--max-seconds",
                         str(args.max_seconds), "--json")["rows"]
            r = facts["report"]
            facts.update(measured_us=bench[1]["median_us"], ratio=bench[1]["ratio"], low=bench[1]["ratio_low"], high=bench[1]["ratio_high"])
            table[model][row] = facts
            print("%-20s %-12s %12.2f  %.3f [%.3f, %.3f]  %14.1f %12.1f %10.1f %9.1f %5.1f%% %11d %9s %8d %9d %5.1f%% %7d %9.1f %8.1f %10.1f" % (
                model, row, facts["measured_us"] / 1e3, facts["ratio"], facts["low"], facts["high"], r["objective_us"], r["bound_us"],
                r["predicted_us"], r["measured_us"], 100 * prediction_error(r), r["primitives"], "%.1e" % r["execution_states"] if r.get("execution_states") else "-", r["columns"], r["measured"],
                100.0 * r["measured"] / max(1, r["kernels"]), r["solves"], r["solver_s"], facts["solve_s"], facts["compile_s"]), flush=True)
        if args.json:
            with open(args.json, "w") as f:
                json.dump(table, f, indent=1)
    for row in args.rows.split(","):
        errors = [prediction_error(rows[row]["report"]) for rows in table.values()]
        print("predicted against whole, %s: median error %.1f %% of %d" % (row, 100 * statistics.median(errors), len(errors)))


if __name__ == "__main__":
    main()
