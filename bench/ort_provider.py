#!/usr/bin/env python3
"""The ONNX Runtime provider on real networks: outputs with and without it, and how many nodes went to korch.

Run by bench/ort_provider. Every model is compiled without measuring (speed is not looked at) and compared with ONNX Runtime's CPU
provider, both in float32: within TOLERANCE of the largest magnitude of an output, integers equal. Then once more from the
cache, from four threads at once, and in a session of one thread. Small models try what networks seldom have, and wrong options.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TOLERANCE = 1e-3
PROVIDER = "KorchExecutionProvider"
LEAST = {"resnet18_224": 1, "resnet18_warped_224": 0.9, "bert_base_128": 1}  # share of the nodes that has to be korch's


def options(args, cache=None, overrides=(), level=None, threads=2, **given):
    """Of a session: with the provider where there is a cache."""
    result = onnxruntime.SessionOptions()
    result.intra_op_num_threads = threads
    result.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL if threads == 1 else onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    result.log_severity_level = args.log_level
    result.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    if level is not None:
        result.graph_optimization_level = level
    for name, extent in overrides:
        result.add_free_dimension_override_by_name(name, extent)
    if cache is not None:
        devices = [d for d in onnxruntime.get_ep_devices() if d.ep_name == PROVIDER]
        result.add_provider_for_devices(devices, {"compiler": args.korch, "measure": "0", "threads": "2", "cache": cache, **given})
    return result


def taken(session):
    """(nodes of korch's subgraphs, all nodes, number of korch's subgraphs)"""
    own = whole = groups = 0
    for subgraph in session.get_provider_graph_assignment_info():
        nodes = len(subgraph.get_nodes())
        whole += nodes
        if subgraph.ep_name == PROVIDER:
            own += nodes
            groups += 1
    return own, whole, groups


def largest_error(expected, computed):
    """Of all outputs, over the largest magnitude of each; infinite where integers differ."""
    worst = 0.0
    for e, c in zip(expected, computed):
        assert e.dtype == c.dtype and e.shape == c.shape, (e.dtype, c.dtype, e.shape, c.shape)
        if e.dtype.kind != "f":
            worst = max(worst, 0.0 if np.array_equal(e, c) else np.inf)
        elif e.size:
            assert np.isfinite(e).all(), "the reference is not finite"
            worst = max(worst, float(np.max(np.abs(e.astype("f8") - c)) / max(np.max(np.abs(e)), 1e-30)))
    return worst


def check(name, model, inputs, args, cache, least=None, **kinds):
    """`least`: the share of the nodes that has to be korch's."""
    cpu = onnxruntime.InferenceSession(model, options(args, **kinds), providers=["CPUExecutionProvider"])
    expected = cpu.run(None, inputs)
    del cpu
    start = time.time()
    session = onnxruntime.InferenceSession(model, options(args, cache, **kinds))
    seconds = time.time() - start
    files = sorted(os.listdir(cache))
    own, whole, groups = taken(session)
    errors = [largest_error(expected, session.run(None, inputs))]
    again = onnxruntime.InferenceSession(model, options(args, cache, **kinds))
    assert sorted(os.listdir(cache)) == files, "the second session compiled anew"
    results = [None] * 4

    def call(i):
        results[i] = again.run(None, inputs)
    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    errors += [largest_error(expected, result) for result in results]
    assert taken(again) == (own, whole, groups)
    alone = onnxruntime.InferenceSession(model, options(args, cache, threads=1, **kinds))
    errors.append(largest_error(expected, alone.run(None, inputs)))
    good = max(errors) <= TOLERANCE and (least is None or own >= least * whole)
    row = dict(model=name, nodes=whole, korch=own, subgraphs=groups, error=max(errors), seconds=round(seconds, 1), good=good)
    print("%-36s %5d of %5d nodes, %2d subgraphs, error %.1e, session in %5.1f s%s" % (
        name, own, whole, groups, row["error"], seconds, "" if good else "   WRONG"), flush=True)
    return row


def conv_net(middle, batch=2, listed=False):
    """A small network around `middle`: nodes from "m" [batch, 8, 16, 16] to "n". Weights that are listed may be given by callers."""
    random = np.random.default_rng(1)
    weights = [numpy_helper.from_array(random.standard_normal(shape).astype("f4") / 8, name)
               for name, shape in (("w1", (8, 3, 3, 3)), ("w2", (4, 8, 3, 3)))]
    nodes = [helper.make_node("Conv", ["x", "w1"], ["c"], "first", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["m"], "relu"), *middle,
             helper.make_node("Conv", ["n", "w2"], ["d"], "second", pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["d", "s"], ["e"], "add"),
             helper.make_node("Sigmoid", ["e"], ["y"], "sigmoid")]
    weights.append(numpy_helper.from_array(np.float32([0.5]), "s"))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 16, 16])]
    if listed:
        inputs += [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in weights]
    graph = helper.make_graph(nodes, "net", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 4, 16, 16])],
                              weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def small_models():
    """name -> (model, inputs, keyword arguments of check)"""
    x = np.random.default_rng(2).standard_normal((2, 3, 16, 16)).astype("f4")
    grid = numpy_helper.from_array(np.random.default_rng(3).uniform(-1, 1, (2, 16, 16, 2)).astype("f4"))
    sample = [helper.make_node("Constant", [], ["grid"], value=grid),
              helper.make_node("GridSample", ["m", "grid"], ["n"], "sample", mode="bilinear")]

    def branch(name, op):
        return helper.make_graph([helper.make_node(op, ["m"], [name + "a"], name + "_" + op),
                                  helper.make_node("Tanh", [name + "a"], [name + "b"], name + "_tanh"),
                                  helper.make_node("Mul", [name + "b", "m"], [name], name + "_mul")], name, [],
                                 [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 8, 16, 16])])
    choice = [helper.make_node("ReduceSum", ["m"], ["sum"], "sum", keepdims=0),
              helper.make_node("Greater", ["sum", "s"], ["q"], "greater"),
              helper.make_node("Squeeze", ["q"], ["b"], "squeeze"),
              helper.make_node("If", ["b"], ["n"], "if", then_branch=branch("then", "Relu"), else_branch=branch("else", "Neg"))]
    carried = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 8, 16, 16]) for name in ("before", "after")]
    flags = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in ("go", "on")]
    body = helper.make_graph([helper.make_node("Identity", ["go"], ["on"], "on"),
                              helper.make_node("Conv", ["before", "w"], ["conv"], "body_conv", pads=[1, 1, 1, 1]),
                              helper.make_node("Add", ["conv", "m"], ["sum"], "body_add"),
                              helper.make_node("Tanh", ["sum"], ["after"], "body_tanh")], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []), flags[0], carried[0]],
                             [flags[1], carried[1]],
                             [numpy_helper.from_array(np.random.default_rng(4).standard_normal((8, 8, 3, 3)).astype("f4") / 8, "w")])
    loop = [helper.make_node("Constant", [], ["count"], value=numpy_helper.from_array(np.int64(3))),
            helper.make_node("Constant", [], ["true"], value=numpy_helper.from_array(np.bool_(True))),
            helper.make_node("Loop", ["count", "true", "m"], ["n"], "loop", body=body)]
    plain = [helper.make_node("Softplus", ["m"], ["n"], "softplus")]
    shapes = [helper.make_node("Shape", ["m"], ["h"], "shape"), helper.make_node("Reshape", ["m", "h"], ["n"], "reshape")]
    quantized = [helper.make_node("Constant", [], ["scale"], value=numpy_helper.from_array(np.float32(0.05))),
                 helper.make_node("Constant", [], ["zero"], value=numpy_helper.from_array(np.uint8(3))),
                 helper.make_node("QuantizeLinear", ["m", "scale", "zero"], ["q"], "quantize"),
                 helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["n"], "dequantize")]
    off = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return {
        "whole": (conv_net(plain), {"x": x}, dict(least=1)),
        "around_grid_sample": (conv_net(sample), {"x": x}, dict(least=0.7)),
        "around_if": (conv_net(choice), {"x": x}, {}),
        "around_loop": (conv_net(loop), {"x": x}, {}),
        "unoptimized": (conv_net(shapes), {"x": x}, dict(least=1, level=off)),
        "weights_as_inputs": (conv_net(plain, listed=True), {"x": x}, dict(least=1)),
        "around_quantized": (conv_net(quantized), {"x": x}, dict(least=0.2)),
        "open_batch": (conv_net(plain, "batch"), {"x": x}, {}),
        "open_batch_given": (conv_net(plain, "batch"), {"x": x}, dict(least=1, overrides=[("batch", 2)])),
    }


def expect_refused(name, model, word, args, **given):
    """A session with wrong options is an exception that says why."""
    settings = options(args, "", **given.pop("provider", {}))
    for key, value in given.items():
        settings.add_session_config_entry(key.replace("__", "."), value)
    try:
        onnxruntime.InferenceSession(model, settings, enable_fallback=0)  # else another session is made, without korch
        reason = "no exception"
    except Exception as error:
        reason = str(error)
    good = word in reason
    print("%-36s %s%s" % (name, reason.strip().splitlines()[-1], "" if good else "   WRONG"), flush=True)
    return dict(model=name, reason=reason, good=good)


def write_page(path, rows, command):
    """The Markdown page of docs/results/."""
    with open("/proc/cpuinfo") as file:
        cpu = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    commit = subprocess.run(["git", "log", "-1", "--format=%h"], capture_output=True, text=True).stdout.strip()
    lines = ["# The ONNX Runtime provider", "",
             "%s, the code of %s: PyPI's onnxruntime %s, Python %s, %d cores of %s." % (
                 time.strftime("%Y-%m-%d"), commit, onnxruntime.__version__, platform.python_version(), os.cpu_count(), cpu),
             "What runs and what is right, not how fast: kernels are not measured.", "", "```",
             *textwrap.wrap(command, 118, break_on_hyphens=False, break_long_words=False), "```", "",
             "Error: largest difference from ONNX Runtime's CPU provider over the largest magnitude of an output, of six runs: one,",
             "four at once in a second session, which found the executables in the cache, and one in a session of one thread.", "",
             "| model | nodes | korch's | subgraphs | error | as wanted |", "|---|---|---|---|---|---|"]
    for row in rows:
        if "nodes" in row:
            lines.append("| %s | %d | %d | %d | %.1e | %s |" % (
                row["model"], row["nodes"], row["korch"], row["subgraphs"], row["error"], "yes" if row["good"] else "no"))
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def zoo(folder, only):
    """name -> (model file, inputs), as bench/zoo/export.py writes them."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.exists(os.path.join(path, "model.onnx")) and (not only or name.split(".")[0] in only):
            yield name, os.path.join(path, "model.onnx"), {
                file[:-4]: np.load(os.path.join(path, "inputs", file)) for file in os.listdir(os.path.join(path, "inputs"))}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", required=True, help="libkorch_ort.so")
    p.add_argument("--korch", required=True, help="the program")
    p.add_argument("--zoo", action="append", default=[], help="folder of exported networks")
    p.add_argument("--only", default="", help="those of them")
    p.add_argument("--log-level", type=int, default=3, help="0 (verbose) to 4")
    p.add_argument("--no-small", action="store_true")
    p.add_argument("--json")
    p.add_argument("--command", default="bench/ort_provider HEADERS", help="that the page names")
    p.add_argument("--page", help="Markdown, as docs/results/ort-provider.md")
    args = p.parse_args()
    onnxruntime.register_execution_provider_library("korch", os.path.abspath(args.library))
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name, (model, inputs, kinds) in ({} if args.no_small else small_models()).items():
            rows.append(check(name, model, inputs, args, cache, **kinds))
        if not args.no_small:
            model = small_models()["whole"][0]
            rows.append(expect_refused("unknown_option", model, "no option 'treads'; there are", args, provider={"treads": "2"}))
            rows.append(expect_refused("wrong_value", model, "option accuracy", args, provider={"accuracy": "sloppy"}))
            rows.append(expect_refused("compiled_model", model, "ep.context_enable", args, ep__context_enable="1"))
        only = args.only.split(",") if args.only else None
        for folder in args.zoo:
            for name, path, inputs in zoo(folder, only):
                try:
                    rows.append(check(name, path, inputs, args, cache, LEAST.get(name)))
                except Exception as error:
                    rows.append(dict(model=name, good=False, reason=str(error)))
                    print("%-36s FAILED: %s" % (name, error), flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(dict(onnxruntime=onnxruntime.__version__, rows=rows), file, indent=1)
    if args.page:
        write_page(args.page, rows, args.command)
    bad = [row["model"] for row in rows if not row["good"]]
    print("onnxruntime %s: %d models%s" % (onnxruntime.__version__, len(rows), ", wrong: " + ", ".join(bad) if bad else ", all as wanted"))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
