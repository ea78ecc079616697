#!/usr/bin/env python3
"""Recurrent layers through korch, ONNX Runtime and OpenVINO, a process each, interleaved: one sequence, 64 steps.

    bench/setup
    build/bench-venv/bin/python bench/recurrent.py [--widths 256,1024] [--options=--no-measure] [--disturb]

Ratio: time over korch's, median of the rounds, with its 95 % interval; above 1 korch is faster. A step reads all recurrent
weights: beside it stands how fast that is, and how fast one product of a row by the same matrix is in korch alone.
--both adds the other direction, --layers 2 another layer on top: what is independent may overlap.
--cells Scan is the layer h = tanh(x w + h r + b) as a loop of single operators (with --steps 512, too many to write out).
"""
import argparse
import contextlib
import os
import statistics
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from engine_worker import Worker, interleaved_processes
from korch_so import add_round_options, disturbance, interval
from strategies import ROOT

GATES = {"LSTM": 4, "GRU": 3, "Scan": 1}


def saved(nodes, shape, weights, path):
    graph = helper.make_graph(nodes, "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(w, name) for name, w in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def scan(weights):
    """A loop whose body is one step of single operators."""
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    body = helper.make_graph(
        [helper.make_node("MatMul", ["row", "w"], ["p"]), helper.make_node("MatMul", ["before", "r"], ["q"]),
         helper.make_node("Add", ["p", "q"], ["s"]), helper.make_node("Add", ["s", "b"], ["t"]),
         helper.make_node("Tanh", ["t"], ["after"]), helper.make_node("Identity", ["after"], ["made"])],
        "step", [value("before"), value("row")], [value("after"), value("made")])
    width = weights["b"].shape[-1]
    weights.update({"w": weights["w"][0].T.copy(), "r": weights["r"][0].T.copy(), "b": weights["b"][:, :width // 2].copy(),
                    "zero": np.zeros((1, width // 2), np.float32)})
    return helper.make_node("Scan", ["zero", "x"], ["last", "y"], body=body, num_scan_inputs=1)


def write(cell, width, args):
    """The layer, and a product of one row by its recurrent weights."""
    random, gates = np.random.default_rng(1), GATES[cell]
    draw = lambda *shape: (random.standard_normal(shape) / np.sqrt(width)).astype(np.float32)
    layer, product = (os.path.join(args.work, "%s%d.%s.onnx" % (cell.lower(), width, kind)) for kind in ("layer", "product"))
    more = {"linear_before_reset": 1} if cell == "GRU" else {}
    if cell == "Scan":
        weights = {"w": draw(1, gates * width, width), "r": draw(1, gates * width, width), "b": draw(1, 2 * gates * width)}
        saved([scan(weights)], [args.steps, 1, width], weights, layer)
    else:
        saved(*stacked(cell, width, more, draw, args), layer)
    saved([helper.make_node("MatMul", ["x", "r"], ["y"])], [1, width], {"r": draw(width, gates * width)}, product)
    return layer, product


def stacked(cell, width, more, draw, args):
    """Nodes, shape of the data and weights of the layers, each on what both directions of the one below give."""
    directions, gates = 1 + args.both, GATES[cell]
    more["direction"] = "bidirectional" if args.both else "forward"
    nodes, weights, below = [], {"shape": np.array([0, 0, -1])}, "x"
    for k in range(args.layers):
        data = width if k == 0 else directions * width
        names = ["w%d" % k, "r%d" % k, "b%d" % k]
        weights.update(zip(names, (draw(directions, gates * width, data), draw(directions, gates * width, width),
                                   draw(directions, 2 * gates * width))))
        top = k + 1 == args.layers
        nodes.append(helper.make_node(cell, [below] + names, ["y" if top else "y%d" % k], hidden_size=width, **more))
        if not top:
            nodes.append(helper.make_node("Transpose", ["y%d" % k], ["t%d" % k], perm=[0, 2, 1, 3]))
            nodes.append(helper.make_node("Reshape", ["t%d" % k, "shape"], ["x%d" % k]))
            below = "x%d" % k
    return nodes, [args.steps, 1, width], weights


def compiled(path, x, args):
    """The job of an engine's process."""
    so, inputs = path[:-5] + ".so", path[:-5] + ".inputs"
    subprocess.run([args.korch, "compile", path, "-o", so, "--threads", str(args.threads)] + args.options, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.makedirs(inputs, exist_ok=True)
    np.save(os.path.join(inputs, "x.npy"), x)
    return {"so": so, "onnx": path, "threads": args.threads, "inputs": inputs, "input_names": ["x"], "output_names": ["y"]}


def compare(cell, width, args):
    random = np.random.default_rng(2)
    x = random.standard_normal((args.steps, 1, width)).astype(np.float32)
    layer, product = [compiled(path, x if i == 0 else x[0], args)
                      for i, path in enumerate(write(cell, width, args))]
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, engine, job in (("korch", "korch", layer), ("ONNX Runtime", "onnxruntime", layer),
                                  ("OpenVINO", "openvino", layer), ("product", "korch", product)):
            workers[name] = Worker(engine, job, os.path.join(args.work, engine + ".log"))
            stack.callback(workers[name].close)
        times = interleaved_processes(workers, args)
        results = {name: worker.outputs[0] for name, worker in workers.items() if name != "product"}
    gigabytes = GATES[cell] * width * width * 4e-9 * (1 + args.both) * args.layers
    print("%s, %d wide, %d rounds" % (cell, width, len(times["korch"])))
    for name, result in results.items():
        ratios = [t / base for t, base in zip(times[name], times["korch"])]
        time = statistics.median(times[name])
        print("  %-13s %9.3f ms  %6.1f GB/s  %.3f [%.3f, %.3f]  differs by %.2g at most" % (
            (name, time * 1e3, gigabytes * args.steps / time) + interval(ratios) +
            (float(np.max(np.abs(result - results["ONNX Runtime"]))),)), flush=True)
    print("  %-13s %9.3f ms  %6.1f GB/s" % ("one product", statistics.median(times["product"]) * 1e3,
                                           gigabytes / statistics.median(times["product"])), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--cells", default="LSTM,GRU")
    p.add_argument("--widths", default="256,1024")
    p.add_argument("--steps", type=int, default=64)
    p.add_argument("--both", action="store_true", help="directions")
    p.add_argument("--layers", type=int, default=1)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-recurrent"))
    add_round_options(p, 61, 30)
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    with disturbance(args.disturb):
        for cell in args.cells.split(","):
            for width in args.widths.split(","):
                compare(cell, int(width), args)


if __name__ == "__main__":
    main()
