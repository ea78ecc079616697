#!/usr/bin/env python3
"""A decode step with weights in 4 and 8 bits against the same in float32, through korch and ONNX Runtime, interleaved.

    bench/setup
    build/bench-venv/bin/python bench/narrow_weights.py [--threads 1] [--kinds float32,int4,int4_zeros,int4_level4,int8,float16,bfloat16]

The decoder has Qwen3's shape with random weights: 6 layers, 768 wide, 12 heads, 4 of keys, vocabulary 8192; 44 million weights
are multiplied per token, and 128 positions were there before. int4: MatMulNBits with blocks of 32 (symmetric; _zeros: with zero
points; _level4: whose activations may be int8), by ONNX Runtime's quantizer; int8: DequantizeLinear per column;
float16, bfloat16: Cast to float32. With --tokens
more than 1 it is a prefill. `products` is one MatMul of 126 million weights in int8. Ratio: time over korch's of float32,
median of the rounds, with its 95 % interval.
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
from korch_so import add_round_options, interval
from strategies import ROOT

WIDTH, HEADS, KEY_HEADS, HEAD, HIDDEN, VOCABULARY, LAYERS = 768, 12, 4, 64, 2048, 8192, 6


class Decoder:
    def __init__(self, tokens, past):
        self.random, self.nodes, self.weights, self.tokens, self.past = np.random.default_rng(1), [], [], tokens, past
        self.inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, tokens])]
        self.outputs = []

    def constant(self, name, array):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, *inputs, **attributes):
        result = "%s_%d" % (op.lower(), len(self.nodes))
        self.nodes.append(helper.make_node(op, list(inputs), [result], result, **attributes))
        return result

    def linear(self, name, x, rows, columns):
        scale = np.float32(1 / np.sqrt(rows))
        return self.node("MatMul", x, self.constant(name, self.random.standard_normal((rows, columns), np.float32) * scale))

    def norm(self, name, x):
        weight = self.constant(name, np.ones(WIDTH, np.float32))
        mean = self.node("ReduceMean", self.node("Mul", x, x), axes=[-1], keepdims=1)
        return self.node("Mul", self.node("Div", x, self.node("Sqrt", self.node("Add", mean, "epsilon"))), weight)

    def heads(self, x, count):
        return self.node("Transpose", self.node("Reshape", x, "shape_%d" % count), perm=[0, 2, 1, 3])

    def rotated(self, x):
        first, second = self.node("Slice", x, "zero", "half", "three"), self.node("Slice", x, "half", "whole", "three")
        turned = self.node("Concat", self.node("Neg", second), first, axis=3)
        return self.node("Add", self.node("Mul", x, "cosine"), self.node("Mul", turned, "sine"))

    def with_past(self, name, x):
        shape = [1, KEY_HEADS, self.past, HEAD]
        self.inputs.append(helper.make_tensor_value_info("past_" + name, TensorProto.FLOAT, shape))
        all_of = self.node("Concat", "past_" + name, x, axis=2)
        shape = [1, KEY_HEADS, self.past + self.tokens, HEAD]
        self.outputs.append(helper.make_tensor_value_info(all_of, TensorProto.FLOAT, shape))
        groups = [1, KEY_HEADS, HEADS // KEY_HEADS, self.past + self.tokens, HEAD]
        spread = self.node("Expand", self.node("Unsqueeze", all_of, "two"), self.constant(all_of + "_g", np.int64(groups)))
        return self.node("Reshape", spread, self.constant(all_of + "_h", np.int64([1, HEADS, groups[3], HEAD])))

    def attention(self, layer, x):
        name = "layer%d." % layer
        q = self.rotated(self.heads(self.linear(name + "q", x, WIDTH, HEADS * HEAD), HEADS))
        k = self.rotated(self.heads(self.linear(name + "k", x, WIDTH, KEY_HEADS * HEAD), KEY_HEADS))
        v = self.heads(self.linear(name + "v", x, WIDTH, KEY_HEADS * HEAD), KEY_HEADS)
        k, v = self.with_past("key_%d" % layer, k), self.with_past("value_%d" % layer, v)
        scores = self.node("Mul", self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2])), "root")
        weights = self.node("Softmax", self.node("Add", scores, "mask"), axis=-1)
        rows = self.node("Transpose", self.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.linear(name + "o", self.node("Reshape", rows, "rows"), HEADS * HEAD, WIDTH)

    def gated(self, layer, x):
        name = "layer%d." % layer
        gate, up = self.linear(name + "gate", x, WIDTH, HIDDEN), self.linear(name + "up", x, WIDTH, HIDDEN)
        gate = self.node("Mul", gate, self.node("Sigmoid", gate))
        return self.linear(name + "down", self.node("Mul", gate, up), HIDDEN, WIDTH)

    def model(self):
        for name, value in (("zero", [0]), ("half", [HEAD // 2]), ("whole", [HEAD]), ("three", [3]), ("two", [2]),
                            ("rows", [1, self.tokens, HEADS * HEAD]), ("shape_%d" % HEADS, [1, self.tokens, HEADS, HEAD]),
                            ("shape_%d" % KEY_HEADS, [1, self.tokens, KEY_HEADS, HEAD])):
            self.constant(name, np.int64(value))
        angles = np.arange(self.past, self.past + self.tokens)[:, None] / 10000 ** (np.arange(HEAD // 2) / (HEAD // 2))
        angles = np.concatenate([angles, angles], 1)[None, None]
        self.constant("cosine", np.float32(np.cos(angles)))
        self.constant("sine", np.float32(np.sin(angles)))
        self.constant("root", np.float32(HEAD ** -0.5))
        self.constant("epsilon", np.float32(1e-6))
        sees = np.tril(np.ones((self.tokens, self.past + self.tokens)), self.past)
        self.constant("mask", np.float32(np.where(sees, 0, -1e9))[None, None])
        table = self.constant("table", self.random.standard_normal((VOCABULARY, WIDTH), np.float32))
        x = self.node("Gather", table, "tokens")
        for layer in range(LAYERS):
            x = self.node("Add", x, self.attention(layer, self.norm("norm_a%d" % layer, x)))
            x = self.node("Add", x, self.gated(layer, self.norm("norm_b%d" % layer, x)))
        logits = self.linear("head", self.norm("norm", x), WIDTH, VOCABULARY)
        self.outputs.append(helper.make_tensor_value_info(logits, TensorProto.FLOAT, [1, self.tokens, VOCABULARY]))
        return made(self.nodes, self.inputs, self.outputs, self.weights)


def made(nodes, inputs, outputs, weights):
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def product(rows, columns):
    """One MatMul."""
    weights = np.random.default_rng(1).standard_normal((rows, columns), np.float32) / np.float32(np.sqrt(rows))
    return made([helper.make_node("MatMul", ["x", "w"], ["y"])],
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, rows])],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, columns])], [numpy_helper.from_array(weights, "w")])


def in_bytes(model):
    """Second operands of products as int8 with a scale per column."""
    weights = {w.name: w for w in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            name, array = node.input[1], numpy_helper.to_array(weights[node.input[1]])
            scale = np.maximum(np.abs(array).max(0), 1e-9).astype(np.float32) / np.float32(127)
            model.graph.initializer.remove(weights.pop(name))
            model.graph.initializer.append(numpy_helper.from_array(np.rint(array / scale).astype(np.int8), name))
            model.graph.initializer.append(numpy_helper.from_array(scale, name + ".scale"))
            nodes.append(helper.make_node("DequantizeLinear", [name, name + ".scale"], [name + ".float"], name + ".float", axis=1))
            node.input[1] = name + ".float"
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def in_halves(model, element):
    """Second operands of products as float16 or bfloat16, cast to float32."""
    weights = {w.name: w for w in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            name, tensor = node.input[1], weights.pop(node.input[1])
            array = numpy_helper.to_array(tensor)
            model.graph.initializer.remove(tensor)
            if element == TensorProto.FLOAT16:
                halves = array.astype(np.float16).view(np.uint16)
            else:
                halves = (array.view(np.uint32) + 0x8000 >> 16).astype(np.uint16)
            model.graph.initializer.append(helper.make_tensor(name, element, array.shape, halves.tobytes(), raw=True))
            nodes.append(helper.make_node("Cast", [name], [name + ".float"], name + ".float", to=TensorProto.FLOAT))
            node.input[1] = name + ".float"
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model


def in_nibbles(model, zeros, block, level):
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=not zeros, accuracy_level=level)
    quantizer = MatMulNBitsQuantizer(model, algo_config=config)
    quantizer.process()
    return quantizer.model.model


def written(kind, args):
    path = os.path.join(args.work, "%s_%d_%s.onnx" % (args.network, args.tokens, kind))
    if not os.path.exists(path):
        model = Decoder(args.tokens, args.past).model() if args.network == "decoder" else product(8192, 15360)
        if kind == "int8":
            model = in_bytes(model)
        elif kind in ("float16", "bfloat16"):
            model = in_halves(model, TensorProto.FLOAT16 if kind == "float16" else TensorProto.BFLOAT16)
        elif kind != "float32":
            model = in_nibbles(model, kind == "int4_zeros", args.block, 4 if kind == "int4_level4" else 0)
        onnx.save(model, path)
    return path


def random_inputs(path, folder):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(2)
    os.makedirs(folder, exist_ok=True)
    for i in session.get_inputs():
        whole = i.type == "tensor(int64)"
        array = random.integers(0, VOCABULARY, i.shape) if whole else random.standard_normal(i.shape, np.float32)
        np.save(os.path.join(folder, i.name + ".npy"), array)
    return [i.name for i in session.get_inputs()], [o.name for o in session.get_outputs()]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-narrow"))
    p.add_argument("--network", default="decoder", choices=("decoder", "products"))
    p.add_argument("--tokens", type=int, default=1)
    p.add_argument("--past", type=int, default=128)
    p.add_argument("--block", type=int, default=32)
    p.add_argument("--kinds", default="float32,int4,int4_zeros,int8")
    p.add_argument("--recompile", action="store_true")
    p.add_argument("--compile-only", action="store_true")
    add_round_options(p, 41, 60)
    p.set_defaults(threads=1)
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    kinds = args.kinds.split(",")
    with contextlib.ExitStack() as stack:
        workers = {}
        for kind in kinds:
            path = written(kind, args)
            so, folder = path[:-5] + ".so", path[:-5] + ".inputs"
            names = random_inputs(path, folder)
            if args.recompile or not os.path.exists(so):
                subprocess.run([args.korch, "compile", path, "-o", so, "--threads", str(args.threads)] + args.options, check=True,
                               stdout=subprocess.DEVNULL)
            print("%-11s %7.1f MB, executable %7.1f MB" % (kind, os.path.getsize(path) / 1e6, os.path.getsize(so) / 1e6), flush=True)
            if args.compile_only:
                continue
            for engine in ("korch", "onnxruntime"):
                job = {"so": so, "onnx": path, "threads": args.threads, "inputs": folder, "input_names": names[0],
                       "output_names": names[1]}
                worker = Worker(engine, job, path[:-5] + "." + engine + ".log")
                stack.callback(worker.close)
                if worker.failed:
                    print("  %-12s %-11s %s" % (engine, kind, worker.failed))
                else:
                    workers[engine, kind] = worker
        if args.compile_only:
            return
        times = interleaved_processes(workers, args)
        base = times["korch", kinds[0]]
        for engine, kind in workers:
            own = times[engine, kind]
            ratios, beside = interval([t / b for t, b in zip(own, base)]), ""
            if engine == "korch" and ("onnxruntime", kind) in times:
                speed = interval([b / t for t, b in zip(own, times["onnxruntime", kind])])
                apart = max(float(np.max(np.abs(a - b)) / np.max(np.abs(b)))
                            for a, b in zip(workers[engine, kind].outputs, workers["onnxruntime", kind].outputs))
                beside = "  %.2f [%.2f, %.2f] x ONNX Runtime, %.1e apart" % (speed + (apart,))
            print("  %-12s %-11s %8.2f ms  %.3f [%.3f, %.3f]%s" % ((engine, kind, statistics.median(own) * 1e3) + ratios + (beside,)),
                  flush=True)


if __name__ == "__main__":
    main()
