#!/usr/bin/env python3
"""What the search for block graphs gains: networks compiled with it and without, run in turns.

    PYTHON bench/structures.py NETWORK... [--threads 2] [--ort] [--korch FILE] [--folder build/structures]

--ort also times ONNX Runtime (PYTHON has onnxruntime then), in turns with both. Prints a row per network: microseconds without and with the search, the
ratio with its 95 % interval, seconds of compiling without and with, seconds of the search, kernels of block graphs in the plan; at
the end the geometric mean.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

def compiled(arguments, network, name, options):
    path = os.path.join(arguments.folder, name + ".so")
    begin = time.monotonic()
    done = subprocess.run([arguments.korch, "compile", network, "-o", path, "--threads", str(arguments.threads), "--no-profile-db",
                           "--json", *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{network}: {done.stderr}")
    seconds = time.monotonic() - begin
    plan = json.loads(subprocess.run([arguments.korch, "explain", path, "--json"], capture_output=True, text=True, check=True).stdout)
    kernels = sum(step["implementation"].startswith("blocks(") for step in plan["steps"])
    return path, seconds, kernels


def ort_us(network, threads, seconds=3):
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    feeds = {i.name: random.random(i.shape) < 0.1 if "bool" in i.type else random.standard_normal(i.shape).astype(np.float32)
             for i in session.get_inputs()}
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 5:
        begin = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--ort", action="store_true")
    parser.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    parser.add_argument("--folder", default=os.path.join(ROOT, "build/structures"))
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    ratios = []
    for network in arguments.networks:
        name = os.path.basename(network).removesuffix(".onnx")
        without, seconds_without, _ = compiled(arguments, network, name + ".without", ["--no-structures"])
        found, seconds, kernels = compiled(arguments, network, name + ".with", [])
        ort = [ort_us(network, arguments.threads)] if arguments.ort else []
        bench = subprocess.run([arguments.korch, "bench", without, found, "--json"], capture_output=True, text=True, check=True)
        if arguments.ort:
            ort.append(ort_us(network, arguments.threads))
        a, b = json.loads(bench.stdout)["rows"]
        gain = 1 / b["ratio"]
        ratios.append(gain)
        row = [name, f"{a['median_us']:.0f}", f"{b['median_us']:.0f}",
               f"{gain:.3f} [{1 / b['ratio_high']:.3f}, {1 / b['ratio_low']:.3f}]",
               f"{seconds_without:.1f}, {seconds:.1f}", str(kernels)]
        if ort:
            row.append(f"{statistics.mean(ort):.0f} ({statistics.mean(ort) / b['median_us']:.2f} x)")
        print("| " + " | ".join(row) + " |", flush=True)
    print(f"geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.3f}, least {min(ratios):.3f}")


if __name__ == "__main__":
    main()
