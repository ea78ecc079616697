"""Small ONNX models, written without the onnx package: protobuf's wire format by hand."""

from __future__ import annotations

import numpy as np

FLOAT, INT64, FLOAT16, BFLOAT16 = 1, 7, 10, 16
_DTYPES = {np.dtype("float32"): FLOAT, np.dtype("int64"): INT64}


def _varint(number: int) -> bytes:
    parts = []
    while number >= 128:
        parts.append(number % 128 + 128)
        number //= 128
    return bytes([*parts, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def tensor(name: str, shape, dtype: int = FLOAT) -> bytes:
    """A graph's input or output; a text is a symbolic dimension."""
    dims = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, dtype) + _bytes(2, dims)))


def node(op: str, inputs, outputs, name: str = "", **numbers: int) -> bytes:
    attributes = [_bytes(5, _bytes(1, key) + _number(3, value) + _number(20, 2)) for key, value in numbers.items()]
    ends = [*(_bytes(1, i) for i in inputs), *(_bytes(2, o) for o in outputs)]
    return b"".join([*ends, _bytes(3, name), _bytes(4, op), *attributes])


def constant(name: str, value: np.ndarray) -> bytes:
    dims = b"".join(_number(1, d) for d in value.shape)
    return dims + _number(2, _DTYPES[value.dtype]) + _bytes(8, name) + _bytes(9, value.tobytes())


def model(nodes, inputs, outputs, constants=()) -> bytes:
    graph = b"".join(
        [
            *(_bytes(1, n) for n in nodes),
            _bytes(2, "graph"),
            *(_bytes(5, c) for c in constants),
            *(_bytes(11, i) for i in inputs),
            *(_bytes(12, o) for o in outputs),
        ]
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13))


def cache() -> bytes:
    """present = past with the rows of fresh behind it, negative = -present"""
    return model(
        [node("Concat", ["past", "fresh"], ["present"], axis=0), node("Neg", ["present"], ["negative"])],
        [tensor("past", ("n", 3)), tensor("fresh", ("seq", 3))],
        [tensor("negative", ("all", 3)), tensor("present", ("all", 3))],
    )


def add_relu(shape=(4, 6), dtype: int = FLOAT) -> bytes:
    """sum = a + b, positive = Relu(sum)"""
    return model(
        [node("Add", ["a", "b"], ["sum"]), node("Relu", ["sum"], ["positive"])],
        [tensor("a", shape, dtype), tensor("b", shape, dtype)],
        [tensor("sum", shape, dtype), tensor("positive", shape, dtype)],
    )


def double(shape=(4, 6), dtype: int = FLOAT) -> bytes:
    """y = x + x"""
    return model([node("Add", ["x", "x"], ["y"])], [tensor("x", shape, dtype)], [tensor("y", shape, dtype)])


def products(count: int = 4, size: int = 256) -> bytes:
    """y = x W W ... W: runs long enough to be met at work."""
    weights = np.eye(size, dtype=np.float32)
    names = ["x", *(f"t{i}" for i in range(count - 1)), "y"]
    return model(
        [node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(count)],
        [tensor("x", (size, size))],
        [tensor("y", (size, size))],
        [constant("w", weights)],
    )


def gather(rows: int = 5) -> bytes:
    """y = table[i]"""
    return model(
        [node("Gather", ["table", "i"], ["y"])],
        [tensor("table", (rows, 3)), tensor("i", (2,), INT64)],
        [tensor("y", (2, 3))],
    )
