#!/usr/bin/env python3
"""Operators of ONNX Runtime and of classical learners against ONNX Runtime's own numbers: models of one node, drawn, through korch's
interpreter (or --engine NAME of test_onnx_node). Where ONNX Runtime refuses a model there is no case.

    python3 -m venv build/onnx-venv && build/onnx-venv/bin/pip install onnx onnxruntime
    build/onnx-venv/bin/python bench/ort_operators.py [--only NAME] [--seed N]
"""
import argparse
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/ort-operators"
RUNNER = ROOT / "build/release/tests/onnx_node/test_onnx_node"


class Cases:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.counts, self.without = {}, {}

    def floats(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def integers(self, low, high, shape, dtype=np.int32):
        return self.random.integers(low, high, shape).astype(dtype)

    def number(self, value, dtype=np.float32):
        return np.array(value, dtype)

    def add(self, op_type, inputs, outputs=1, domain="com.microsoft", constants=(), opset=1, exact=None, **attributes):
        """`inputs`: arrays, None where one is left out; those whose numbers are in `constants` are initializers. `outputs`: how many, or
        their names, which begin with "-" where nothing reads one. `exact`: what korch shall compute where ONNX Runtime rounds more, and how far off it may be; or what makes both of its numbers."""
        names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
        given = [(name, value) for i, (name, value) in enumerate(zip(names, inputs)) if name and i not in constants]
        results = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
        node = helper.make_node(op_type, names, results, domain=domain, **attributes)
        graph = helper.make_graph(
            [node], "one", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in given],
            [helper.make_empty_tensor_value_info(name) for name in results if name[0] != "-"],
            [numpy_helper.from_array(inputs[i], names[i]) for i in constants])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        number = self.counts.get(op_type, 0)
        try:
            expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, dict(given))
        except Exception as error:  # pylint: disable=broad-except
            self.without.setdefault(op_type, str(error).replace("\n", " ")[-160:])
            return
        if callable(exact):
            exact = exact(expected)
        if exact is not None:
            for value, own in zip(exact[0], expected):
                np.testing.assert_allclose(value, own, atol=exact[1])
            expected = exact[0]
        for info, value in zip(model.graph.output, expected):
            info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        self.counts[op_type] = number + 1
        data = FOLDER / "node" / f"{op_type}_{number}" / "test_data_set_0"
        data.mkdir(parents=True)
        (data.parent / "model.onnx").write_bytes(model.SerializeToString())
        for prefix, values in (("input", [v for _, v in given]), ("output", expected)):
            for i, value in enumerate(values):
                (data / f"{prefix}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def fused(c):
    activations = [("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 0.7]), ("HardSigmoid", [0.3, 0.6]),
                   ("HardSwish", [])]
    for name, numbers in activations:
        given = {"activation_params": numbers} if numbers else {}
        x, w, bias = c.floats(2, 4, 7, 6), c.floats(6, 2, 3, 3), c.floats(6)
        c.add("FusedConv", [x, w, bias], activation=name, group=2, pads=[1, 0, 1, 2], **given)
        c.add("FusedConv", [x, w, bias, c.floats(2, 6, 3, 3)], activation=name, group=2, strides=[2, 2], pads=[0, 1, 0, 1], **given)
        c.add("FusedConv", [c.floats(1, 2, 9), c.floats(3, 2, 3), None], activation=name, auto_pad="SAME_UPPER", **given)
    for name, numbers in activations + [("Elu", [0.7]), ("Selu", [1.2, 0.9]), ("Softplus", []), ("Softsign", []), ("ThresholdedRelu", [0.4])]:
        words = ["activation_alpha", "activation_gamma" if name == "Selu" else "activation_beta"]
        given = dict(zip(words, numbers))
        c.add("FusedGemm", [c.floats(3, 4), c.floats(4, 5), c.floats(5)], activation=name, **given)
        c.add("FusedGemm", [c.floats(4, 3), c.floats(5, 4), c.floats(3, 1)], activation=name, alpha=0.5, beta=2.0, transA=1, transB=1, **given)
    for batch_a in (0, 1):
        for batch_b in (0, 1):
            for turned in (0, 1, 2, 3):
                a, b = ([4, 3] if turned & 1 else [3, 4]), ([5, 4] if turned & 2 else [4, 5])
                shapes = [[m[0], 2, m[1]] if flag else [2] + m for m, flag in ((a, batch_a), (b, batch_b))]
                c.add("FusedMatMul", [c.floats(*shapes[0]), c.floats(*shapes[1])], transBatchA=batch_a, transBatchB=batch_b,
                      transA=turned & 1, transB=turned >> 1, alpha=0.25)
    for size in (1, 2, 3, 5, 8):
        c.add("Inverse", [c.floats(3, size, size)])
    for metric in ("euclidean", "sqeuclidean"):
        for dtype in (np.float32, np.float64):
            c.add("CDist", [c.floats(5, 3).astype(dtype), c.floats(4, 3).astype(dtype)], metric=metric)
    c.add("Inverse", [np.array([[0, 1, 0], [0, 0, 2], [4, 0, 0]], np.float32)])


def masks(c, batch, queries, past):
    keys = queries + past
    some = c.integers(0, 2, (batch, keys))
    return [None, c.integers(1, keys + 1, (batch,)), np.concatenate([c.integers(keys // 2, keys + 1, (batch,)), c.integers(0, 2, (batch,))]).astype(np.int32),
            some, c.integers(0, 2, (batch, queries, keys))]


def attention(c):
    for batch, queries, past in ((2, 3, 0), (1, 4, 2), (3, 1, 5)):
        for mask in masks(c, batch, queries, past):
            for unidirectional in (0, 1):
                before = c.floats(2, batch, 2, past, 4) if past else None
                parts = {"num_heads": 2, "unidirectional": unidirectional}
                x = c.floats(batch, queries, 6)
                outputs = 2 if past else 1
                c.add("Attention", [x, c.floats(6, 24), c.floats(24), mask, before], outputs, **parts)
                c.add("Attention", [x, c.floats(6, 24), None, mask, before, c.floats(1, 2, queries, queries + past)], outputs, scale=0.4,
                      mask_filter_value=-5.0, **parts)
                zeros = [c.number(120, np.uint8), c.number(3, np.int8)]
                c.add("QAttention", [c.integers(0, 255, (batch, queries, 6), np.uint8), c.integers(-127, 127, (6, 24), np.int8), c.floats(24),
                                     c.number(0.02), c.number(0.01), mask, *zeros, before], outputs, constants=(1, 3, 4, 6, 7), **parts)
            if past == 0:
                c.add("Attention", [x, c.floats(6, 22), c.floats(22), mask], 1, num_heads=2, qkv_hidden_sizes=[8, 8, 6])
        q, k = c.floats(batch, queries, 8), c.floats(batch, 2, 5, 4)
        c.add("MultiHeadAttention", [q, k, c.floats(batch, 2, 5, 4), c.floats(24)], num_heads=2)
        c.add("MultiHeadAttention", [q, c.floats(batch, 5, 8), c.floats(batch, 5, 8), None, c.integers(0, 2, (batch, 5))], num_heads=2)
        per_column = (c.random.random(24).astype(np.float32) + 0.5) / 50
        c.add("QAttention", [c.integers(0, 255, (batch, queries, 6), np.uint8), c.integers(-127, 127, (6, 24), np.int8), c.floats(24),
                             c.number(0.02), per_column], 1, constants=(1,), num_heads=2)


def embeddings(c):
    words, places, kinds = c.floats(9, 6), c.floats(5, 6), c.floats(3, 6)
    scale, shift = c.floats(6), c.floats(6)
    for ids in (c.integers(0, 9, (2, 4)), c.integers(0, 9, (1, 5))):
        for mask in (None, c.integers(0, 2, ids.shape)):
            c.add("EmbedLayerNormalization", [ids, c.integers(0, 3, ids.shape), words, places, kinds, scale, shift, mask], 2)
            c.add("EmbedLayerNormalization", [ids, None, words, places, None, scale, shift, mask, c.integers(0, 5, ids.shape)], 3, epsilon=1e-3)
        def table(*shape):
            return c.integers(0, 255, shape, np.uint8)
        c.add("QEmbedLayerNormalization", [ids, c.integers(0, 3, ids.shape), table(9, 6), table(5, 6), table(3, 6), table(6), table(6),
                                           c.integers(0, 2, ids.shape), *[c.number(x) for x in (0.1, 0.2, 0.05, 0.02, 0.03)],
                                           *[c.number(x, np.uint8) for x in (128, 3, 7, 100, 130)]], 2,
              constants=tuple(range(2, 7)) + tuple(range(8, 18)))


def of_lstm(inputs, **attributes):
    names, outputs = [f"x{i}" for i in range(len(inputs))], ["y0", "y1", "y2"]
    graph = helper.make_graph([helper.make_node("LSTM", names, outputs, **attributes)], "one",
                              [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, v.shape) for n, v in zip(names, inputs)],
                              [helper.make_empty_tensor_value_info(name) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, dict(zip(names, inputs)))


def quantized(c):
    scale, other = c.number(1 / 16), c.number(1 / 32)  # a mean lies between two numbers exactly, or not at all
    for dtype, low, high in ((np.uint8, 0, 255), (np.int8, -128, 127)):
        zero, zero_y = c.number((low + high) // 2, dtype), c.number((low + high) // 2 + 9, dtype)
        def bytes_of(*shape):
            return c.integers(low, high, shape, dtype)
        for last in (0, 1):
            x = bytes_of(2, 7, 6, 3) if last else bytes_of(2, 3, 7, 6)
            for more in ({}, {"pads": [1, 1, 1, 1]}, {"pads": [1, 0, 0, 1], "count_include_pad": 1}, {"ceil_mode": 1, "strides": [2, 2]}):
                c.add("QLinearAveragePool", [x, scale, zero, other, zero_y], constants=(1, 2, 3, 4), kernel_shape=[3, 2], channels_last=last, **more)
            c.add("QLinearGlobalAveragePool", [x, scale, zero, other, zero_y], constants=(1, 2, 3, 4), channels_last=last)
            w = c.integers(-100, 100, (4, 3, 3, 3), np.int8)
            c.add("QLinearConv", [x, scale, zero, w, c.number(0.01), c.number(0, np.int8), c.number(0.1), zero_y, c.integers(-900, 900, (4,))],
                  constants=(1, 2, 3, 4, 5, 6, 7, 8), channels_last=last, pads=[1, 1, 0, 1])
        c.add("NhwcMaxPool", [bytes_of(2, 7, 6, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
        for axes, keep in (([1], 1), ([-1, 0], 0), ([2], 0)):
            c.add("QLinearReduceMean", [bytes_of(2, 3, 4), scale, zero, other, zero_y], constants=(1, 2, 3, 4), axes=axes, keepdims=keep)
        c.add("QLinearWhere", [c.floats(2, 3) > 0, bytes_of(2, 3), scale, zero, bytes_of(3), other, zero_y, c.number(0.07), zero],
              constants=(2, 3, 5, 6, 7, 8))
        scales, ids = c.floats(6, 2), c.integers(0, 6, (2, 3))
        c.add("GatherBlockQuantized", [c.integers(0, 255, (6, 20), np.uint8), ids, scales], constants=(0, 2), block_size=32, bits=4,
              quantize_axis=1)
        c.add("GatherBlockQuantized", [c.integers(0, 255, (6, 16), np.uint8), ids, scales, c.integers(0, 255, (6, 1), np.uint8)],
              constants=(0, 2, 3), block_size=16, bits=4, quantize_axis=-1)
        c.add("GatherBlockQuantized", [c.integers(0, 255, (6, 20), np.uint8), ids, scales, c.integers(0, 255, (6, 2), np.uint8)],
              constants=(0, 2, 3), block_size=16, bits=8, quantize_axis=1)
        for turned in ({}, {"direction": "bidirectional"}, {"direction": "reverse"}):
            directions = 2 if turned.get("direction") == "bidirectional" else 1
            for scales in ((directions,), (directions, 12)):
                w, r = c.integers(-127, 127, (directions, 5, 12), np.int8), c.integers(-127, 127, (directions, 3, 12), np.int8)
                sizes = c.random.random(scales).astype(np.float32) / 100 + 0.005
                x, bias, zeros = c.floats(4, 2, 5), c.floats(directions, 24), np.zeros(scales, np.int8)
                real = [(m * sizes.reshape(directions, 1, -1)).transpose(0, 2, 1).astype(np.float32) for m in (w, r)]
                exact = of_lstm([x, *real, bias], hidden_size=3, **turned), 0.03  # data and states are not rounded to bytes
                c.add("DynamicQuantizeLSTM", [x, w, r, bias, None, None, None, None, sizes, zeros, sizes, zeros], 3,
                      constants=(1, 2, 8, 9, 10, 11), exact=exact, hidden_size=3, **turned)


BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def drawn_forest(c, trees, depth, features, modes, missing):
    """Of nodes as TreeEnsembleRegressor has them, and the places of leaves."""
    nodes = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    leaves = []
    for tree in range(trees):
        count = 0
        waiting = [(0, 0)]
        while waiting:
            node, level = waiting.pop(0)
            is_leaf = level == depth or (level > 0 and c.random.random() < 0.2)
            children = (0, 0) if is_leaf else (count + 1, count + 2)
            if is_leaf:
                leaves.append((tree, node))
            else:
                waiting += [(child, level + 1) for child in children]
                count += 2
            values = tree, node, int(c.random.integers(features)), float(c.random.integers(-2, 3) / 2), str(c.random.choice(modes)), *children
            for name, value in zip(nodes, values):
                nodes[name].append("LEAF" if is_leaf and name == "modes" else value)
    if missing:
        nodes["missing_value_tracks_true"] = [int(x) for x in c.random.integers(0, 2, len(nodes["modes"]))]
    return {f"nodes_{name}": value for name, value in nodes.items()}, leaves


def votes(prefix, leaves, ids, weights):
    return {f"{prefix}_treeids": [t for t, _ in leaves], f"{prefix}_nodeids": [n for _, n in leaves], f"{prefix}_ids": ids,
            f"{prefix}_weights": weights}


def samples(c, rows, features):
    x = (c.integers(-4, 5, (rows, features)) / 4).astype(np.float32)
    x[c.random.random(x.shape) < 0.1] = np.nan
    return x


def trees(c):
    def ml(op_type, x, outputs=1, opset=3, **given):
        c.add(op_type, [x], outputs, domain="ai.onnx.ml", opset=opset, **given)

    for modes in [[mode] for mode in BRANCHES] + [BRANCHES]:
        for missing in (False, True):
            for many, function in ((1, "SUM"), (3, "SUM"), (1, "AVERAGE"), (3, "AVERAGE"), (1, "MIN"), (3, "MAX")):
                forest, leaves = drawn_forest(c, 5, 3, 4, modes, missing)
                if missing:  # every leaf votes for every target: else ONNX Runtime leaves base values out
                    leaves = [leaf for leaf in leaves for _ in range(many)]
                    ids = list(range(many)) * (len(leaves) // many)
                else:
                    ids = [int(x) for x in c.random.integers(0, many, len(leaves))]
                given = votes("target", leaves, ids, c.floats(len(leaves)).tolist())
                base = {"base_values": c.floats(many).tolist()} if missing else {}
                ml("TreeEnsembleRegressor", samples(c, 9, 4), n_targets=many, aggregate_function=function, **forest, **given, **base)
    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        for many in (1, 3):
            forest, leaves = drawn_forest(c, 3, 2, 4, BRANCHES, True)
            given = votes("target", leaves, [int(x) for x in c.random.integers(0, many, len(leaves))],
                          (c.random.random(len(leaves)) / 4 + 0.02).tolist())
            ml("TreeEnsembleRegressor", samples(c, 9, 4), n_targets=many, post_transform=transform, **forest, **given)
        for classes in (2, 3, 4):
            for kind in ("zero", "one", "all") if classes == 2 else ("zero", "one", "all", "some"):
                for positive in (False, True):
                    # Else ONNX Runtime differs from the specification: labels that are no labels, or classes without votes never win.
                    exact = kind == "zero" if classes == 2 else kind == "all" or positive
                    for base in (0, 1, classes) if exact else (0,):
                        forest, leaves = drawn_forest(c, 3, 2, 4, ["BRANCH_LEQ"], False)
                        places = [leaf for leaf in leaves for _ in range(classes)] if kind == "all" else leaves
                        ids = {"zero": [0] * len(leaves), "one": [1] * len(leaves), "all": list(range(classes)) * len(leaves),
                               "some": [int(x) for x in c.random.integers(0, classes, len(leaves))]}[kind]
                        weights = c.floats(len(places))
                        weights = (np.abs(weights) / 8 + 0.01 if positive else weights).tolist()
                        ml("TreeEnsembleClassifier", samples(c, 9, 4), 2 if exact else ["-y0", "y1"], classlabels_int64s=[7, 5, 9, 1][:classes], post_transform=transform,
                           **forest, **votes("class", places, ids, weights), **({"base_values": (c.random.random(base) / 4).tolist()} if base else {}))
    forest, leaves = drawn_forest(c, 40, 9, 6, ["BRANCH_LEQ"], False)
    given = votes("target", leaves, [0] * len(leaves), c.floats(len(leaves)).tolist())
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        ml("TreeEnsembleRegressor", np.nan_to_num(samples(c, 50, 6) * 3).astype(dtype), n_targets=1, **forest, **given)
    for name in ("nodes_values", "target_weights"):
        (forest if name in forest else given)[name + "_as_tensor"] = helper.make_tensor("t", onnx.TensorProto.DOUBLE, [len(leaves) if "target" in name else len(forest[name])],
                                                                                        forest.pop(name) if name in forest else given.pop(name))
    ml("TreeEnsembleRegressor", np.nan_to_num(samples(c, 50, 6) * 3).astype(np.float64), n_targets=1, **forest, **given)
    split_trees(c)


def split_trees(c):
    """TreeEnsemble of opset 5: x0 in {1, 2, 3} ? (x1 <= 0.5 ? leaf 0 : leaf 1) : (x1 > -0.5 ? leaf 2 : leaf 3), and a tree of a leaf."""
    for dtype in (np.float32, np.float64):
        def tensor(values, dtype=dtype):
            return numpy_helper.from_array(np.array(values, dtype))
        for function in range(4):
            for transform in (0, 3, 4):  # ONNX Runtime 1.32 takes 1 for LOGISTIC and 2 for SOFTMAX; the specification says the reverse
                c.add("TreeEnsemble", [(c.integers(-1, 5, (20, 2)) / 1.0).astype(dtype)], domain="ai.onnx.ml", opset=5, n_targets=2,
                      aggregate_function=function, post_transform=transform, tree_roots=[0, 3], nodes_featureids=[0, 1, 1, 0],
                      nodes_splits=tensor([np.nan, 0.5, -0.5, 0]), nodes_modes=tensor([6, 0, 3, 0], np.uint8), nodes_truenodeids=[1, 0, 2, 4],
                      nodes_falsenodeids=[2, 1, 3, 4], nodes_trueleafs=[0, 1, 1, 1], nodes_falseleafs=[0, 1, 1, 1],
                      membership_values=tensor([1, 2, 3, np.nan]), leaf_targetids=[0, 1, 0, 1, 0], leaf_weights=tensor([0.5, 0.25, -1, 2, 0.125]))


def coupled(pairs, classes):
    """Probabilities of classes from those of pairs of them: the solution that ONNX Runtime comes near."""
    r = np.zeros((len(pairs), classes, classes))
    places = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    for place, (i, j) in enumerate(places):
        r[:, i, j], r[:, j, i] = pairs[:, place], 1 - pairs[:, place]
    q = -r * r.transpose(0, 2, 1)
    for i in range(classes):
        q[:, i, i] = (r[:, :, i] ** 2).sum(1)
    bordered = np.ones((len(pairs), classes + 1, classes + 1))
    bordered[:, :classes, :classes], bordered[:, classes, classes] = q, 0
    return np.linalg.solve(bordered, np.eye(classes + 1)[:, -1:])[:, :classes, 0].astype(np.float32)


def support_vectors(c, ml):
    """SVMClassifier: a machine for each pair of classes, with probabilities and without, and a score of each class."""
    for classes in (2, 3, 4):
        pairs, per_class = classes * (classes - 1) // 2, [2, 3, 1, 2][:classes]
        x, count = np.abs(c.floats(6, 3)), sum(per_class)
        given = {"classlabels_ints": [4, 2, 9, 7][:classes], "vectors_per_class": per_class, "rho": c.floats(pairs).tolist(),
                 "support_vectors": np.abs(c.floats(count * 3)).tolist(), "coefficients": c.floats(count * (classes - 1)).tolist()}
        for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
                ml("SVMClassifier", x, 2, opset=1, kernel_type=kind, kernel_params=[0.3, 0.5, 2.0], post_transform=transform, **given)
        a, b = (-np.abs(c.floats(pairs))).tolist(), c.floats(pairs).tolist()
        ml("SVMClassifier", x, 2, opset=1, kernel_type="LINEAR", prob_a=a, prob_b=b,
           exact=lambda own, a=a, b=b, x=x, given=given, classes=classes: exact_odds(own, x, given, a, b, classes), **given)
    for classes in (2, 3):
        for flip in (1, -1):
            coefficients = (flip * np.abs(c.floats(classes * 3)) - (flip < 0) / 2).tolist()
            for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
                ml("SVMClassifier", c.floats(6, 3), 2, opset=1, classlabels_ints=[4, 2, 9][:classes], coefficients=coefficients, rho=[0.2],
                   kernel_type="LINEAR", post_transform=transform)


def exact_odds(own, x, given, a, b, classes):
    """What of a linear SVMClassifier is right where ONNX Runtime's `own` probabilities are near."""
    per_class, vectors = given["vectors_per_class"], np.array(given["support_vectors"]).reshape(-1, x.shape[1])
    coefficients, first = np.array(given["coefficients"]).reshape(classes - 1, -1), np.cumsum([0] + per_class)
    scores = []
    for i in range(classes):
        for j in range(i + 1, classes):
            parts = [(i, j - 1), (j, i)]
            scores.append(sum(x @ vectors[first[k]:first[k + 1]].T @ coefficients[row, first[k]:first[k + 1]] for k, row in parts) + given["rho"][len(scores)])
    odds = 1 / (1 + np.exp(np.array(scores).T * a + b))
    return [own[0], coupled(np.clip(odds, 1e-7, 1 - 1e-7), classes)], 0.02


def learners(c):
    def ml(op_type, x, outputs=1, opset=3, **given):
        c.add(op_type, x if isinstance(x, list) else [x], outputs, domain="ai.onnx.ml", opset=opset, **given)

    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        for dtype in (np.float32, np.float64, np.int64):
            x = (c.random.random((5, 3)) * (1 if dtype is not np.int64 else 5)).astype(dtype)
            for many in (1, 3):
                numbers = {"coefficients": (c.random.random(many * 3) / 6).tolist(), "intercepts": (c.random.random(many) / 4 + 0.01).tolist()}
                ml("LinearRegressor", x, targets=many, post_transform=transform, **numbers)
                ml("LinearClassifier", x - x.dtype.type(1), 2, classlabels_ints=[4, 2, 9][:max(many, 2)], post_transform=transform, **numbers)
    ml("LinearRegressor", c.floats(4, 3), coefficients=c.floats(3).tolist())
    for kind in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        for one_class in (0, 1):
            ml("SVMRegressor", np.abs(c.floats(6, 3)), kernel_type=kind, kernel_params=[0.3, 0.5, 2.0], n_supports=4, one_class=one_class,
               support_vectors=np.abs(c.floats(12)).tolist(), coefficients=c.floats(4).tolist(), rho=[0.2])
    ml("SVMRegressor", c.floats(6, 3), coefficients=c.floats(3).tolist(), rho=[0.2], kernel_type="LINEAR")
    support_vectors(c, ml)
    x = samples(c, 5, 3)
    ml("Imputer", x, imputed_value_floats=[1.5], replaced_value_float=float("nan"))
    ml("Imputer", x, imputed_value_floats=[1.5, 2.5, 3.5], replaced_value_float=0.5)
    ml("Imputer", c.integers(0, 3, (5, 3), np.int64), imputed_value_int64s=[7, 8, 9], replaced_value_int64=1)
    for dtype in (np.int64, np.int32, np.float32, np.float64):
        ml("OneHotEncoder", c.integers(0, 5, (4, 2), dtype), cats_int64s=[3, 1, 4])
    ml("LabelEncoder", c.integers(0, 5, (4, 2), np.int64), opset=2, keys_int64s=[3, 1, 4], values_int64s=[30, 10, 40], default_int64=-7)
    ml("LabelEncoder", c.integers(0, 5, (7,), np.int64), opset=2, keys_int64s=[3, 1, 4], values_floats=[0.5, 1.5, 2.5])
    for opset in (2, 4):  # NaN is a key since opset 4
        ml("LabelEncoder", x, opset=opset, keys_floats=[0.5, float("nan"), 0.25], values_int64s=[5, 6, 7])
    ml("LabelEncoder", c.integers(0, 5, (7,), np.int64), opset=4, keys_tensor=numpy_helper.from_array(np.array([1, 2], np.int64)),
       values_tensor=numpy_helper.from_array(np.array([0.5, 0.25])), default_tensor=numpy_helper.from_array(np.array([9.0])))
    ml("FeatureVectorizer", [c.integers(0, 9, (4, n), np.int64) for n in (2, 3)], inputdimensions=[2, 3])
    ml("FeatureVectorizer", [c.floats(4, 2), c.floats(4, 1)], inputdimensions=[2, 1])


FAMILIES = [fused, attention, embeddings, quantized, trees, learners]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="interpreter")
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    shutil.rmtree(FOLDER, ignore_errors=True)
    cases = Cases(args.seed)
    for family in FAMILIES:
        family(cases)
    for op_type, why in cases.without.items():
        print(f"ONNX Runtime refuses a model of {op_type}: {why}")
    print(", ".join(f"{count} {op_type}" for op_type, count in cases.counts.items()))
    command = [RUNNER, "--folder", FOLDER, "--engine", args.engine, "--case", args.only or "node/"]
    raise SystemExit(subprocess.run(command, check=False).returncode)


main()
