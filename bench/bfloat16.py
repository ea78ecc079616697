#!/usr/bin/env python3
"""Executables with products of bfloat16 beside the same network in float32, and beside OpenVINO in both, in turns.

    korch compile net.onnx --accuracy relaxed:1e-2 --threads 1 -o narrow.so
    korch compile net.onnx --threads 1 -o wide.so
    build/bench-venv/bin/python bench/bfloat16.py net.onnx narrow.so wide.so [--seconds 8]

One thread and one process; medians, the median ratio of neighbouring runs with its 95 % interval, and how far the
first output is from OpenVINO's in float32: root mean square of the differences over that of the output.
"""
import argparse
import statistics
import time

import numpy as np
import openvino

from korch_so import Executable, interval


def inputs_of(executable):
    random, arrays = np.random.default_rng(0), {}
    for name, dtype, shape in executable.inputs:
        whole = np.issubdtype(dtype, np.integer)
        arrays[name] = random.integers(0, 2, shape).astype(dtype) if whole else random.standard_normal(shape).astype(dtype)
    return arrays


def by_openvino(path, precision, arrays):
    settings = {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    return lambda: request.infer(arrays, share_inputs=True)[0]


def relative_error(output, exact):
    return float(np.sqrt(np.mean(np.square(output - exact, dtype=np.float64)) / np.mean(np.square(exact, dtype=np.float64))))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("narrow")
    p.add_argument("wide")
    p.add_argument("--seconds", type=float, default=8)
    args = p.parse_args()
    executables = {"korch, bfloat16": Executable(args.narrow), "korch": Executable(args.wide)}
    arrays = inputs_of(executables["korch"])
    for executable in executables.values():
        executable.bind(arrays)
    runs = {name: executable.run for name, executable in executables.items()}
    runs |= {"OpenVINO, bfloat16": by_openvino(args.model, "bf16", arrays), "OpenVINO": by_openvino(args.model, "f32", arrays)}
    times = {name: [] for name in runs}
    for run in runs.values():
        for _ in range(5):
            run()
    end = time.perf_counter() + args.seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - begin)
    outputs = {name: executable.results[0] for name, executable in executables.items()}
    outputs |= {name: np.array(runs[name]()) for name in ("OpenVINO, bfloat16", "OpenVINO")}
    own = times["korch, bfloat16"]
    for name, others in times.items():
        ratio = interval([other / mine for other, mine in zip(others, own)])
        error = relative_error(outputs[name], outputs["OpenVINO"])
        print("%-20s %9.3f ms  %.3f [%.3f, %.3f]  error %.2g" % ((name, statistics.median(others) * 1e3) + ratio + (error,)))


if __name__ == "__main__":
    main()
