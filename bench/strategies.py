#!/usr/bin/env python3
"""Strategies against each other: the same network as `optimal`, `greedy` and `unfused`, interleaved, paired ratios.

    bench/strategies.py [--models a,b] [--threads 2] [--rounds 31]

Ratio: time of optimal / time of the other, median of the rounds, with its 95 % interval. Predicted: the sum of the kernels'
costs, as measured one by one. Needs only Python; one kernel database serves all compilations, so costs are the same.
"""
import argparse
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = [f[:-len(".skeleton.onnx")] for f in sorted(os.listdir(os.path.join(ROOT, "models"))) if f.endswith(".skeleton.onnx")]
STRATEGIES = ["optimal", "greedy", "unfused"]


def call(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def written(model, args):
    """The network's file and the folder of its inputs, in args.work."""
    onnx, folder = os.path.join(args.work, model + ".onnx"), os.path.join(args.work, model + ".inputs")
    if not (os.path.exists(onnx) and os.path.exists(folder)):
        subprocess.run([args.korch, "model", model, "-o", onnx, "--inputs", folder], check=True, stdout=subprocess.DEVNULL)
    return onnx, folder


def compare(model, args):
    onnx, folder = written(model, args)
    paths = []
    for strategy in STRATEGIES:
        path = os.path.join(args.work, "%s.%s.%s.so" % (model, args.threads, strategy))
        if args.recompile or not os.path.exists(path):
            subprocess.run([args.korch, "compile", "--no-heal", "--measure", "prove", onnx, "-o", path, "--threads", args.threads,
                            "--strategy", strategy, "--profile-db", os.path.join(args.work, args.database.format(model=model)),
                            "--no-verify"], check=True, stdout=subprocess.DEVNULL)
        paths.append(path)
    inputs = []
    for f in sorted(os.listdir(folder)):
        inputs += ["--input", f[:-4] + "=" + os.path.join(folder, f)]
    predicted = [call(args.korch, "explain", p, "--json")["report"]["predicted_us"] for p in paths]
    # The ratio is over the first; each of the others comes first once.
    rows = {s: {"predicted_us": p} for s, p in zip(STRATEGIES, predicted)}
    for other in (1, 2):
        result = call(args.korch, "bench", paths[other], paths[0], "--rounds", str(args.rounds), "--max-seconds",
                      str(args.max_seconds), "--json", *inputs)["rows"]
        rows[STRATEGIES[other]].update(measured_us=result[0]["median_us"], ratio=result[1]["ratio"], low=result[1]["ratio_low"],
                                       high=result[1]["ratio_high"], rounds=result[1]["rounds"])
        rows["optimal"]["measured_us"] = result[1]["median_us"]
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench"))
    p.add_argument("--database", default="strategies.db", help="in --work; {model} stands for the model's name")
    p.add_argument("--models", default=",".join(MODELS))
    p.add_argument("--threads", default="2")
    p.add_argument("--rounds", type=int, default=31)
    p.add_argument("--max-seconds", type=float, default=60)
    p.add_argument("--recompile", action="store_true")
    p.add_argument("--json")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    print("                       optimal ms          greedy ms          unfused ms         optimal/greedy        optimal/unfused")
    print("model                predicted measured  predicted measured  predicted measured  ratio [95 %]          ratio [95 %]")
    table = {}
    for model in args.models.split(","):
        r = table[model] = compare(model, args)
        times = "  ".join("%9.2f %8.2f" % (r[s]["predicted_us"] / 1e3, r[s]["measured_us"] / 1e3) for s in STRATEGIES)
        ratios = "  ".join("%.3f [%.3f, %.3f]" % (r[s]["ratio"], r[s]["low"], r[s]["high"]) for s in STRATEGIES[1:])
        print("%-20s %s  %s" % (model, times, ratios), flush=True)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(table, f, indent=1)


if __name__ == "__main__":
    main()
