"""An ONNX network as a PyTorch module: for networks whose module PyPI does not have.

One torch.fx graph of PyTorch's functions, an operator each: what does not depend on the inputs' data is computed here, once, so
that neither eager mode nor Inductor meets the exporter's arithmetic on shapes. Shapes are those of the example inputs.
"""
import math

import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper


class Value:
    """A tensor of the example run; `node` computes it in the module, None for a constant."""

    def __init__(self, tensor, node=None):
        self.tensor, self.node = tensor, node


class Builder:
    def __init__(self):
        self.graph, self.root = torch.fx.Graph(), torch.nn.Module()

    def node_of(self, value):
        if value.node is None:
            name = "constant_%d" % len(list(self.root.buffers()))
            self.root.register_buffer(name, value.tensor)
            value.node = self.graph.get_attr(name)
        return value.node

    def __call__(self, function, *args, **named):
        """Runs `function`; where an argument depends on the inputs, the module will run it, too."""
        def mapped(x, of):
            if isinstance(x, Value):
                return of(x)
            return [mapped(item, of) for item in x] if isinstance(x, list) else x

        flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg]) if isinstance(x, Value)]
        result = function(*mapped(list(args), lambda v: v.tensor), **named)
        live = [v for v in flat if v.node is not None and v.node.op != "get_attr"]
        if not live:
            return Value(result)
        return Value(result, self.graph.call_function(function, tuple(mapped(list(args), self.node_of)), named))


def numbers(value):
    if value.node is not None and value.node.op != "get_attr":
        raise NotImplementedError("a shape, axis or amount that depends on data")
    return value.tensor.tolist()


def padded(b, x, pads, value=0.0, mode="constant"):
    """ONNX lists begins, then ends, by axis; PyTorch pairs, last axis first."""
    rank = len(pads) // 2
    pairs = [amount for axis in reversed(range(rank)) for amount in (pads[axis], pads[axis + rank])]
    while len(pairs) > 2 and pairs[-2:] == [0, 0]:
        pairs = pairs[:-2]
    return b(F.pad, x, pairs, **({"mode": mode} if mode != "constant" else {"value": value})) if any(pairs) else x


def window(b, x, a, fill):
    """Padding of a window: what PyTorch's operator can do itself, or a pad before it."""
    rank = x.tensor.dim() - 2
    assert a.get("auto_pad", "NOTSET") in ("NOTSET", b"NOTSET"), "auto_pad"
    pads = a.get("pads", [0] * 2 * rank)
    if pads[:rank] == pads[rank:]:
        return x, pads[:rank]
    return padded(b, x, [0, 0] + pads[:rank] + [0, 0] + pads[rank:], fill), [0] * rank


def conv(b, a, x, w, bias=None):
    x, padding = window(b, x, a, 0.0)
    rank = x.tensor.dim() - 2
    function = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}[rank]
    ones = [1] * rank
    return b(function, x, w, bias, stride=a.get("strides", ones), padding=padding, dilation=a.get("dilations", ones),
             groups=a.get("group", 1))


def max_pool(b, a, x):
    x, padding = window(b, x, a, -math.inf)
    return b(F.max_pool2d, x, a["kernel_shape"], stride=a.get("strides", 1), padding=padding,
             ceil_mode=bool(a.get("ceil_mode", 0)))


def gemm(b, a, x, w, c=None):
    assert a.get("alpha", 1.0) == 1.0 and a.get("beta", 1.0) == 1.0 and not a.get("transA", 0), "Gemm with factors"
    return b(F.linear, x, w if a.get("transB", 0) else b(torch.t, w), c)


def resize(b, a, x, *rest):
    rest = [r for r in rest if r is not None and r.tensor.numel()]
    last = numbers(rest[-1])
    size = last if rest[-1].tensor.dtype == torch.int64 else [math.floor(s * n) for s, n in zip(last, x.tensor.shape)]
    if a["mode"] == "nearest":
        assert all(n % old == 0 for n, old in zip(size, x.tensor.shape)), "nearest Resize by a fraction"
        return b(F.interpolate, x, size=size[2:], mode="nearest")
    return b(F.interpolate, x, size=size[2:], mode={"linear": "bilinear", "cubic": "bicubic"}[a["mode"]],
             align_corners=a.get("coordinate_transformation_mode") == "align_corners")


def slice_(b, a, x, starts, ends, axes=None, steps=None):
    starts, ends = numbers(starts), numbers(ends)
    for start, end, axis, step in zip(starts, ends, numbers(axes) if axes else range(len(starts)),
                                      numbers(steps) if steps else [1] * len(starts)):
        extent = x.tensor.shape[axis]
        index = range(extent)[start:end:step]
        if len(index) == extent and step == 1:
            continue
        if step < 0:
            x = b(torch.index_select, x, axis, Value(torch.tensor(list(index))))
        elif step > 1:
            key = [slice(None)] * (axis % x.tensor.dim()) + [slice(index.start, index.stop, step)]
            x = b(torch.Tensor.__getitem__, x, tuple(key))
        else:
            x = b(torch.narrow, x, axis, index.start, len(index))
    return x


def gather(b, a, x, index):
    axis = a.get("axis", 0) % x.tensor.dim()
    if index.node is None or index.node.op == "get_attr":
        index = Value(index.tensor % x.tensor.shape[axis])  # ONNX counts negative ones from the end
    if index.node is None and index.tensor.dim() == 0:
        return b(torch.select, x, axis, int(index.tensor))
    if axis == 0 and x.tensor.dim() == 2 and index.node is not None:
        return b(F.embedding, index, x)
    flat = b(torch.index_select, x, axis, b(torch.reshape, index, [-1]))
    shape = list(x.tensor.shape)
    return b(torch.reshape, flat, shape[:axis] + list(index.tensor.shape) + shape[axis + 1:])


def reshape(b, a, x, shape):
    target = numbers(shape)
    return b(torch.reshape, x, [x.tensor.shape[i] if n == 0 and not a.get("allowzero", 0) else n for i, n in enumerate(target)])


def axes_of(a, axes):
    return a["axes"] if "axes" in a else numbers(axes)


def squeeze(b, a, x, axes=None):
    return b(torch.squeeze, x, tuple(axes_of(a, axes)))


def unsqueeze(b, a, x, axes=None):
    axes = axes_of(a, axes)
    rank = x.tensor.dim() + len(axes)
    for axis in sorted(n % rank for n in axes):
        x = b(torch.unsqueeze, x, axis)
    return x


def layer_norm(b, a, x, scale, bias=None):
    axis = a.get("axis", -1) % x.tensor.dim()
    return b(F.layer_norm, x, list(x.tensor.shape[axis:]), scale, bias, a.get("epsilon", 1e-5))


def expand(b, a, x, shape):
    return b(torch.Tensor.expand, x, list(torch.broadcast_shapes(tuple(x.tensor.shape), tuple(numbers(shape)))))


def cast(b, a, x):
    dtype = getattr(torch, onnx.helper.tensor_dtype_to_np_dtype(a["to"]).name)
    return x if x.tensor.dtype == dtype else b(torch.Tensor.to, x, dtype)


def clip(b, a, x, low=None, high=None):
    low, high = (numbers(v) if v else None for v in (low, high))
    return b(F.relu6, x) if (low, high) == (0.0, 6.0) else b(torch.clamp, x, low, high)


def same(function):
    return lambda b, a, *inputs: b(function, *inputs)


OPERATORS = {
    "Add": same(torch.add), "Sub": same(torch.sub), "Mul": same(torch.mul), "Pow": same(torch.pow), "Equal": same(torch.eq),
    "Where": same(torch.where), "MatMul": same(torch.matmul), "Relu": same(F.relu), "Sigmoid": same(torch.sigmoid),
    "Tanh": same(torch.tanh), "Exp": same(torch.exp), "Erf": same(torch.erf), "Sqrt": same(torch.sqrt), "Neg": same(torch.neg),
    "Cos": same(torch.cos), "Sin": same(torch.sin), "Softplus": same(F.softplus), "Identity": lambda b, a, x: x,
    "Div": lambda b, a, x, y: b(torch.div, x, y, rounding_mode=None if x.tensor.is_floating_point() else "trunc"),
    "LeakyRelu": lambda b, a, x: b(F.leaky_relu, x, a.get("alpha", 0.01)),
    "Softmax": lambda b, a, x: b(torch.softmax, x, a.get("axis", -1)),
    "Transpose": lambda b, a, x: b(torch.permute, x, a["perm"]),
    "Concat": lambda b, a, *xs: b(torch.cat, list(xs), a["axis"]),
    "Einsum": lambda b, a, *xs: b(torch.einsum, a["equation"], *xs),
    "Flatten": lambda b, a, x: b(torch.reshape, x, [math.prod(x.tensor.shape[:a.get("axis", 1)]), -1]),
    "GlobalAveragePool": lambda b, a, x: b(F.adaptive_avg_pool2d, x, 1),
    "ReduceMean": lambda b, a, x, axes=None: b(torch.mean, x, axes_of(a, axes), bool(a.get("keepdims", 1))),
    "InstanceNormalization": lambda b, a, x, w, c: b(F.instance_norm, x, None, None, w, c, True, 0.1, a.get("epsilon", 1e-5)),
    "Pad": lambda b, a, x, pads, value=None: padded(b, x, numbers(pads), numbers(value) if value else 0.0,
                                                    a.get("mode", "constant")),
    "Shape": lambda b, a, x: Value(torch.tensor(x.tensor.shape)),
    "ConstantOfShape": lambda b, a, shape: Value(torch.full(numbers(shape), a["value"].item() if "value" in a else 0.0,
                                                            dtype=a["value"].dtype if "value" in a else torch.float32)),
    "Conv": conv, "MaxPool": max_pool, "Gemm": gemm, "Resize": resize, "Slice": slice_, "Gather": gather, "Reshape": reshape,
    "Squeeze": squeeze, "Unsqueeze": unsqueeze, "LayerNormalization": layer_norm, "Expand": expand, "Cast": cast, "Clip": clip,
}


def attributes(node):
    def plain(value):
        if isinstance(value, onnx.TensorProto):
            return torch.from_numpy(numpy_helper.to_array(value).copy())
        return value.decode() if isinstance(value, bytes) else value

    return {a.name: plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}


def module_of(path, example):
    """The network in the file `path` as a module that takes the graph's inputs in order; `example`: name -> array."""
    graph = onnx.load(path).graph
    b = Builder()
    values = {"": None}
    for initializer in graph.initializer:
        values[initializer.name] = Value(torch.from_numpy(numpy_helper.to_array(initializer).copy()))
    for node in graph.input:
        if node.name not in values:
            values[node.name] = Value(torch.from_numpy(example[node.name]), b.graph.placeholder("input_%d" % len(values)))
    with torch.no_grad():
        for node in graph.node:
            a = attributes(node)
            if node.op_type == "Constant":
                result = Value(a["value"])
            elif node.op_type in OPERATORS and len(node.output) == 1:
                result = OPERATORS[node.op_type](b, a, *(values[name] for name in node.input))
            else:
                raise NotImplementedError(node.op_type)
            values[node.output[0]] = result
    b.graph.output(tuple(b.node_of(values[o.name]) for o in graph.output))
    return torch.fx.GraphModule(b.root, b.graph).eval()
