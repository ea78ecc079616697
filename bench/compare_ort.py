#!/usr/bin/env python3
"""korch against ONNX Runtime: same process, same inputs, interleaved rounds, medians and paired ratios.

    bench/setup && build/bench-venv/bin/python bench/compare_ort.py [--models a,b] [--threads 1,2] [--accuracy standard,strict]

Also checks the outputs against the reference files of models/ (tolerance max(20 x noise, 1e-5 x std)).
The last line is the geometric mean of ORT time / korch time.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import time

import onnxruntime

from korch_so import Executable, inputs_of, interval
from reference import reference_error
from strategies import ROOT, written

GFLOP = {"candy_224": 15.43, "efficientvit_2048": 60.10, "efficientvit_512": 3.76, "yolox_nano_416": 1.05,
         "yolox_nano_416_b16": 16.72, "yolov4_416": 66.79, "segformer_b0_512": 16.78, "resnet50_224": 8.18,
         "mobilenet_v2_224": 0.60, "vit_b_16_224": 35.13, "bert_base_128": 22.35, "llama_like_4l_128": 7.16,
         "unet_like_32": 3.04}  # models/README.md


def compare(model, threads, accuracy, args):
    onnx, folder = written(model, args)
    so = os.path.join(args.work, "%s.%d.%s.so" % (model, threads, accuracy))
    if args.recompile or not os.path.exists(so):
        subprocess.run([args.korch, "compile", "--no-heal", "--measure", "prove", onnx, "-o", so, "--threads", str(threads),
                        "--accuracy", accuracy, "--no-verify"], check=True, stdout=subprocess.DEVNULL)
    arrays = inputs_of(folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
    executable = Executable(so)
    by_io_name = {n: arrays[n.replace("/", "_")] for n, _, _ in executable.inputs}
    executable.bind(by_io_name)
    times = {"korch": [], "ort": []}
    start = time.time()
    for i in range(args.rounds + 3):
        for who, run in (("ort", lambda: session.run(None, by_io_name)), ("korch", executable.run)):
            time.sleep(args.pause)  # the other one's workers stop spinning
            ready = time.perf_counter() + args.warm_up
            run()               # wakes the workers and warms the caches and clocks, as back-to-back requests would
            while time.perf_counter() < ready:
                run()
            t = time.perf_counter()
            run()
            if i >= 3:
                times[who].append(time.perf_counter() - t)
        if i >= 8 and time.time() - start > args.max_seconds:
            break
    error = reference_error(os.path.join(ROOT, "models", model + ".ref.npz"), [n for n, _, _ in executable.outputs],
                            executable.results)
    executable.close()
    ratio, low, high = interval([o / k for o, k in zip(times["ort"], times["korch"])])
    k, o = statistics.median(times["korch"]), statistics.median(times["ort"])
    return dict(model=model, threads=threads, accuracy=accuracy, korch_ms=k * 1e3, ort_ms=o * 1e3, speedup=ratio, low=low,
                high=high, korch_gflops=GFLOP[model] / k, ort_gflops=GFLOP[model] / o, error_over_tolerance=error)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench"))
    p.add_argument("--models", default=",".join(GFLOP))
    p.add_argument("--threads", default="1,2")
    p.add_argument("--accuracy", default="standard,strict")
    p.add_argument("--rounds", type=int, default=30)
    p.add_argument("--max-seconds", type=float, default=60)
    p.add_argument("--pause", type=float, default=0.03)
    p.add_argument("--warm-up", type=float, default=0.02, help="seconds of runs before each timed one")
    p.add_argument("--recompile", action="store_true")
    p.add_argument("--json")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    peaks = {t: json.loads(subprocess.run([args.korch, "doctor", "--json", "--threads", t], check=True, capture_output=True,
                                          text=True).stdout)["device"]["flops_per_us"] / 1e3 for t in args.threads.split(",")}
    rows = []
    print("model                threads accuracy  korch ms    ORT ms  ORT/korch [95 %]        GFLOP/s  %peak  (ORT)  error/tol")
    for accuracy in args.accuracy.split(","):
        for threads in args.threads.split(","):
            group = []
            for model in args.models.split(","):
                r = compare(model, int(threads), accuracy, args)
                group.append(r)
                print("%-20s %7s %-8s %9.2f %9.2f  %5.2f [%5.2f, %5.2f] %14.1f %6.1f %6.1f %10.2f" % (
                    model, threads, accuracy, r["korch_ms"], r["ort_ms"], r["speedup"], r["low"], r["high"],
                    r["korch_gflops"], 100 * r["korch_gflops"] / peaks[threads], 100 * r["ort_gflops"] / peaks[threads],
                    r["error_over_tolerance"]), flush=True)
            rows += group
            print("geometric mean of ORT/korch, %s threads, %s: %.3f" % (
                threads, accuracy, math.exp(statistics.mean(math.log(r["speedup"]) for r in group))), flush=True)
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    main()
