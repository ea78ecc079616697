#!/usr/bin/env python3
"""What the kernels of whole plans move, against the least: by the text and its regions, on an emulator. Needs no GPU.

    bench/gpu/traffic.py [MODEL...] [--target sm_90] [--strategy greedy] [--korch FILE] [--traffic FILE] [--verbose]

MODEL: bundled ones (korch model --list) or .onnx files; all bundled ones. Prints a table; ends with 1 where all of
them together miss a bar.

    DRAM       bytes over the least, geometric mean over the steps: each launch moves what it reads and what it writes
               once, as if the second-level cache held it meanwhile; the least is what a step needs of its operands and
               results, once. Temporaries and workspace between launches of a step stay in that cache where they are at
               most half of it
    all        the same with all temporaries and workspace
    sectors    of 32 bytes that accesses of warps to global memory move, over the least for their bytes, median of the
               launches
    wavefronts of shared memory, over the least for their bytes, in launches with products, all together
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST = {"DRAM": 1.15, "sectors": 1.1, "wavefronts": 1.05}
SHOWN = 12  # of the worst
UNSUPPORTED, SKIPPED = 4, 77  # exit codes: of korch, of a test that was skipped


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode == UNSUPPORTED and "NVRTC" in done.stderr:
        print(done.stderr, end="")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        raise SystemExit("%s: %s" % (" ".join(arguments[:3]), done.stderr))
    return done.stdout


class Tally:
    def __init__(self):
        self.logs, self.all_logs, self.sectors, self.wavefronts, self.least_wavefronts, self.rows = [], [], [], 0, 0, []

    def add(self, other):
        self.logs += other.logs
        self.all_logs += other.all_logs
        self.sectors += other.sectors
        self.wavefronts += other.wavefronts
        self.least_wavefronts += other.least_wavefronts
        self.rows += other.rows

    def add_step(self, name, kernel, cache_bytes):
        moved = sum(phase["moved"] for phase in kernel["phases"])
        between = sum(phase["between"] for phase in kernel["phases"])
        ratio = moved / kernel["least"] if kernel["least"] else 1
        in_cache = between if kernel["temporaries"] <= cache_bytes / 2 else 0
        self.all_logs.append(math.log(ratio))
        self.logs.append(math.log((moved - in_cache) / kernel["least"] if kernel["least"] else 1))
        sectors = []
        for phase in kernel["phases"]:
            if phase["least_sectors"]:
                sectors.append(phase["sectors"] / phase["least_sectors"])
            if phase["product"]:
                self.wavefronts += phase["wavefronts"]
                self.least_wavefronts += phase["least_wavefronts"]
        self.sectors += sectors
        self.rows.append((name, ratio, moved, max(sectors, default=1)))

    def figures(self):
        return {"DRAM": math.exp(statistics.fmean(self.logs)), "all": math.exp(statistics.fmean(self.all_logs)),
                "sectors": statistics.median(self.sectors), "wavefronts": self.wavefronts / max(1, self.least_wavefronts)}

    def row(self, name):
        figures = self.figures()
        return "| %s | %d | %.3f | %.3f | %.3f | %.2f | %.3f |" % (
            name, len(self.logs), figures["DRAM"], figures["all"], figures["sectors"], max(self.sectors),
            figures["wavefronts"])


def look_at(args, model, folder):
    onnx, so, dumps = model, os.path.join(folder, "m.so"), os.path.join(folder, "dumps")
    if not model.endswith(".onnx"):
        onnx = os.path.join(folder, "m.onnx")
        run(args.korch, "model", model, "-o", onnx)
    run(args.korch, "compile", onnx, "-o", so, "--target", args.target, "--no-measure", "--no-profile-db", "--strategy",
        args.strategy, "--dump-dir", dumps)
    plan = json.loads(run(args.korch, "explain", so, "--json"))
    numbers = [n for n in range(len(plan["kernels"])) if os.path.exists(os.path.join(dumps, "kernel-%03d.tile" % n))]
    lines = run(args.traffic, *[os.path.join(dumps, "kernel-%03d.tile" % n) for n in numbers]).splitlines()
    kernels = dict(zip(numbers, map(json.loads, lines)))
    cache_bytes = next(level["bytes"] for level in plan["report"]["device"]["memory"] if level["name"] == "L2")
    tally = Tally()
    for number, step in enumerate(plan["steps"]):
        if step["kernel"] in kernels:
            tally.add_step("%s, step %d, kernel %d" % (os.path.basename(model), number, step["kernel"]),
                           kernels[step["kernel"]], cache_bytes)
    return tally


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--target", default="sm_90")
    p.add_argument("--strategy", default="greedy")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--traffic", default=os.path.join(ROOT, "build/release/tests/cuda/cuda_traffic"))
    p.add_argument("--verbose", action="store_true", help="the steps that move most over the least")
    args = p.parse_args()
    models = args.models or [line.split()[0] for line in run(args.korch, "model", "--list").splitlines() if line.strip()]
    print("| network | steps | DRAM | all | sectors | worst | wavefronts of products |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    total = Tally()
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            tally = look_at(args, model, folder)
        print(tally.row(os.path.basename(model)), flush=True)
        total.add(tally)
    print(total.row("all"))
    missed = [(name, figure) for name, figure in total.figures().items() if figure > MOST.get(name, figure)]
    for name, figure in missed:
        print("%s: %.3f times the least, %.2f allowed" % (name, figure, MOST[name]))
    if args.verbose:
        for name, ratio, moved, _ in sorted(total.rows, key=lambda row: row[1], reverse=True)[:SHOWN]:
            print("  %s: %.2f times the least bytes, %d KiB" % (name, ratio, moved >> 10))
        for name, _, _, sectors in sorted(total.rows, key=lambda row: row[3], reverse=True)[:SHOWN]:
            print("  %s: %.2f times the least sectors" % (name, sectors))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
