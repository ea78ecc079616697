#!/usr/bin/env python3
"""Quantized networks against their float32 original, through korch, ONNX Runtime and OpenVINO, a process each, interleaved.

    bench/setup
    build/bench-venv/bin/python bench/quantized.py NETWORK.onnx... [--options=--no-measure]

Each network is quantized by ONNX Runtime's tools: `dynamic` (weights in int8, activations as they come) and `qdq` (static, in
uint8, calibrated with one random input). Ratio: time over korch's of the float32 network, median of the rounds, with its 95 %
interval; below 1 it is faster. --disturb runs a process beside it that computes all the time, at nice 19.

    build/bench-venv/bin/python bench/quantized.py qdq.onnx --executables before.so after.so [--seconds 12]

One quantized network, compiled already: executables and engines in one process, one thread, in turns. Processor time, as a
ratio of the last executable's.
"""
import argparse
import contextlib
import os
import statistics
import subprocess
import time

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from engine_worker import Worker, interleaved_processes
from korch_so import Executable, add_round_options, disturbance, interval
from strategies import ROOT

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def random_inputs(path):
    """Of the model's inputs; integers are 0 or 1, extents that are left open 1."""
    random, arrays = np.random.default_rng(1), {}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for tensor in session.get_inputs():
        shape, dtype = [extent if isinstance(extent, int) else 1 for extent in tensor.shape], TYPES[tensor.type]
        draw = random.standard_normal if dtype == np.float32 else lambda s: random.integers(0, 2, s)
        arrays[tensor.name] = draw(shape).astype(dtype)
    return arrays


class OneInput(CalibrationDataReader):
    def __init__(self, arrays):
        self.left = [arrays]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantized(path, folder, arrays):
    """Paths of the float32 network and its quantized ones, by kind."""
    paths = {kind: os.path.join(folder, kind + ".onnx") for kind in ("float32", "dynamic", "qdq")}
    if not all(os.path.exists(p) for p in paths.values()):
        quant_pre_process(path, paths["float32"])
        quantize_dynamic(paths["float32"], paths["dynamic"], weight_type=QuantType.QInt8)
        quantize_static(paths["float32"], paths["qdq"], OneInput(arrays), quant_format=QuantFormat.QDQ,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    return paths


ENGINES = {"korch": "korch", "ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}


def job_of(path, folder, args):
    """Of an engine's process; the executable is compiled unless it is there."""
    so = path[:-5] + ".so"
    if args.recompile or not os.path.exists(so):
        subprocess.run([args.korch, "compile", path, "-o", so, "--threads", str(args.threads)] + args.options,
                       check=True, stdout=subprocess.DEVNULL)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return {"so": so, "onnx": path, "threads": args.threads, "inputs": folder,
            "input_names": [i.name for i in session.get_inputs()], "output_names": [o.name for o in session.get_outputs()]}


def compare(path, args):
    folder = os.path.join(args.work, os.path.basename(path)[:-5])
    inputs = os.path.join(folder, "inputs")
    os.makedirs(inputs, exist_ok=True)
    arrays = random_inputs(path)
    for name, array in arrays.items():
        np.save(os.path.join(inputs, name.replace("/", "_") + ".npy"), array)
    with contextlib.ExitStack() as stack:
        workers = {}
        for kind, p in quantized(path, folder, arrays).items():
            if kind not in args.kinds.split(","):
                continue
            job = job_of(p, inputs, args)
            for name in args.engines.split(","):
                worker = Worker(ENGINES[name], job, os.path.join(folder, kind + "." + ENGINES[name] + ".log"))
                stack.callback(worker.close)
                if worker.failed:
                    print("  %-13s %-8s %s" % (name, kind, worker.failed))
                else:
                    workers[name, kind] = worker
        times = interleaved_processes(workers, args)
    print("%s, %d rounds" % (os.path.basename(path), len(times["korch", "float32"])))
    for name, kind in workers:
        ratios = [t / base for t, base in zip(times[name, kind], times["korch", "float32"])]
        print("  %-13s %-8s %9.2f ms  %.3f [%.3f, %.3f]  %s" % (
            (name, kind, statistics.median(times[name, kind]) * 1e3) + interval(ratios) +
            (difference(workers, name, kind),)), flush=True)


def difference(workers, name, kind):
    """How far an engine's results are from korch's of the same file and from korch's of the float32 network."""
    own = workers[name, kind].outputs
    parts = []
    for other in (("korch", kind), ("korch", "float32")):
        if other in workers and other != (name, kind):
            largest = max(float(np.max(np.abs(b))) for b in workers[other].outputs)
            apart = max(float(np.max(np.abs(a - b))) for a, b in zip(own, workers[other].outputs))
            parts.append("%.3g of the largest from %s's %s" % ((apart / largest,) + other))
    return ", ".join(parts)


def engines_of(path, arrays):
    """A run of each engine, one thread."""
    import openvino

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in arrays.items():
        binding.bind_cpu_input(name, array)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"}
    request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    for name, array in arrays.items():
        request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
    return {"ONNX Runtime": lambda: session.run_with_iobinding(binding), "OpenVINO": request.infer}


def in_turns(path, paths, seconds):
    arrays = random_inputs(path)
    runs, executables = {}, [Executable(so) for so in paths]
    for so, executable in zip(paths, executables):
        executable.bind(arrays)
        runs[so] = executable.run
    runs |= engines_of(path, arrays)
    times = {name: [] for name in runs}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            run()
            begin = time.process_time()
            run()
            times[name].append(time.process_time() - begin)
    for name, own in times.items():
        ratios = [t / base for t, base in zip(own, times[paths[-1]])]
        print("%-20s %9.2f ms  %.3f [%.3f, %.3f]" % ((name, statistics.median(own) * 1e3) + interval(ratios)), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("networks", nargs="+")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-quantized"))
    p.add_argument("--kinds", default="float32,dynamic,qdq", help="at least float32")
    p.add_argument("--engines", default=",".join(ENGINES), help="at least korch")
    p.add_argument("--recompile", action="store_true")
    p.add_argument("--executables", nargs="+", default=[], help="of the one network, in turns with the engines")
    p.add_argument("--seconds", type=float, default=12, help="with --executables")
    add_round_options(p, 41, 60)
    args = p.parse_args()
    if args.executables:
        return in_turns(args.networks[0], args.executables, args.seconds)
    with disturbance(args.disturb):
        for path in args.networks:
            compare(path, args)


if __name__ == "__main__":
    main()
