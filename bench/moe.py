#!/usr/bin/env python3
"""A mixture of experts (ONNX Runtime's MoE: 8 experts, the top 2, 512 to 1024 and back, SiLU) through korch and ONNX Runtime.

    bench/setup
    build/bench-venv/bin/python bench/moe.py [--tokens 1,8,64] [--options=--no-measure] [--disturb]

A process per engine, interleaved. `dense` is the same layer in korch as plain operators: all experts for all tokens, weighted sums.
Routing is `uniform` (random logits) or `skewed` (two experts get every token). Ratio: time over korch's MoE, median of the rounds,
with its 95 % interval; above 1 korch's MoE is faster.
"""
import argparse
import contextlib
import os
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from engine_worker import Worker, interleaved_processes, print_ratios
from korch_so import add_round_options, disturbance
from strategies import ROOT

EXPERTS, TOP, HIDDEN, INNER = 8, 2, 512, 1024


def saved(nodes, tokens, constants, path):
    value = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "layer", [value("x", tokens, HIDDEN), value("logits", tokens, EXPERTS)],
                              [value("y", tokens, HIDDEN)], [numpy_helper.from_array(c, name) for name, c in constants.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


def write_moe(tokens, weights, path):
    node = helper.make_node("MoE", ["x", "logits", "w1", "", "w2"], ["y"], domain="com.microsoft", k=TOP, activation_type="silu",
                            normalize_routing_weights=1)
    saved([node], tokens, weights, path)


def write_dense(tokens, weights, path):
    node = helper.make_node
    nodes = [node("Softmax", ["logits"], ["p"], axis=1), node("TopK", ["p", "k"], ["best", "which"], axis=1),
             node("ReduceSum", ["best", "last"], ["sum"]), node("Div", ["best", "sum"], ["share"]),
             node("OneHot", ["which", "experts", "off_on"], ["hot"], axis=-1), node("Unsqueeze", ["share", "behind"], ["column"]),
             node("Mul", ["hot", "column"], ["shares"]), node("ReduceSum", ["shares", "last"], ["gate"], keepdims=0)]
    constants = {"k": np.array([TOP]), "last": np.array([1]), "behind": np.array([2]), "experts": np.array(EXPERTS),
                 "off_on": np.array([0, 1], np.float32)}
    for e in range(EXPERTS):
        at = lambda name: name + str(e)
        constants.update({at("w1_"): weights["w1"][e].T.copy(), at("w2_"): weights["w2"][e].T.copy(), at("from"): np.array([e]),
                          at("to"): np.array([e + 1])})
        nodes += [node("MatMul", ["x", at("w1_")], [at("h")]), node("Sigmoid", [at("h")], [at("s")]),
                  node("Mul", [at("h"), at("s")], [at("a")]), node("MatMul", [at("a"), at("w2_")], [at("o")]),
                  node("Slice", ["gate", at("from"), at("to"), "last"], [at("g")]), node("Mul", [at("o"), at("g")], [at("z")])]
    nodes.append(node("Sum", ["z" + str(e) for e in range(EXPERTS)], ["y"]))
    saved(nodes, tokens, constants, path)


def job_of(path, inputs, args):
    so = path[:-5] + ".so"
    subprocess.run([args.korch, "compile", path, "-o", so, "--threads", str(args.threads)] + args.options, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"so": so, "onnx": path, "threads": args.threads, "inputs": inputs, "input_names": ["x", "logits"], "output_names": ["y"]}


def compare(tokens, skewed, jobs, args):
    random = np.random.default_rng(1)
    draw = lambda *shape: random.standard_normal(shape).astype(np.float32)
    logits = draw(tokens, EXPERTS)
    if skewed:
        logits[:, [2, 5]] += 20
    inputs = jobs["MoE"]["inputs"]
    np.save(os.path.join(inputs, "x.npy"), draw(tokens, HIDDEN))
    np.save(os.path.join(inputs, "logits.npy"), logits)
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, engine, job in (("MoE", "korch", "MoE"), ("dense", "korch", "dense"), ("ONNX Runtime", "onnxruntime", "MoE")):
            workers[name] = Worker(engine, jobs[job], os.path.join(args.work, name + ".log"))
            stack.callback(workers[name].close)
        times = interleaved_processes(workers, args)
        results = {name: worker.outputs[0] for name, worker in workers.items()}
    print("%d tokens, %s, %d rounds" % (tokens, "skewed" if skewed else "uniform", len(times["MoE"])))
    print_ratios(times, results, "MoE", "ONNX Runtime")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tokens", default="1,8,64")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-moe"))
    add_round_options(p, 101, 10)
    args = p.parse_args()
    random = np.random.default_rng(0)
    draw = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
    weights = {"w1": draw(EXPERTS, INNER, HIDDEN), "w2": draw(EXPERTS, HIDDEN, INNER)}
    with disturbance(args.disturb):
        for tokens in map(int, args.tokens.split(",")):
            folder = os.path.join(args.work, str(tokens))
            inputs = os.path.join(folder, "inputs")
            os.makedirs(inputs, exist_ok=True)
            jobs = {}
            for name, write in (("MoE", write_moe), ("dense", write_dense)):
                path = os.path.join(folder, name + ".onnx")
                write(tokens, weights, path)
                jobs[name] = job_of(path, inputs, args)
            for skewed in (False, True):
                compare(tokens, skewed, jobs, args)


if __name__ == "__main__":
    main()
