"""torch.export's symbolic extents: from `dynamic_shapes` to the names and ranges that korch.compile's `shapes` has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Dict, Iterable, Iterator, Tuple

import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils._sympy import value_ranges  # type: ignore[import-not-found, unused-ignore]

from .._errors import UsageError

Names = Dict[str, str]  # of symbols, "s77" -> "batch"


def by_argument(module: torch.nn.Module, inputs: tuple, kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """The inputs by the names of forward's parameters, as `dynamic_shapes` has them."""
    try:
        return dict(inspect.signature(module.forward).bind(*inputs, **kwargs).arguments)
    except TypeError as error:
        raise UsageError(f"{type(module).__name__}.forward cannot be called with these inputs: {error}") from None


def as_dims(dynamic_shapes: Any, arguments: Dict[str, Any]) -> Any:
    """`dynamic_shapes` as torch.export takes it: a text is a Dim of that name, inputs without an entry are fixed."""
    dims: Dict[str, Any] = {}

    def converted(part: Any) -> Any:
        if isinstance(part, str):
            return dims.setdefault(part, torch.export.Dim(part))
        if isinstance(part, Mapping):
            return {key: converted(value) for key, value in part.items()}
        return type(part)(map(converted, part)) if type(part) in (tuple, list) else part

    if isinstance(dynamic_shapes, Mapping):
        keywords = {name for value in arguments.values() if isinstance(value, Mapping) for name in value}
        for name in dynamic_shapes:
            if name not in arguments and name not in keywords:
                known = ", ".join(map(repr, arguments))
                raise UsageError(f"dynamic_shapes has {name!r}, which is no input: there is {known}")
        tensors = [name for name, value in arguments.items() if not isinstance(value, (Mapping, tuple))]
        dynamic_shapes = {**dict.fromkeys(tensors), **dynamic_shapes}
    return converted(dynamic_shapes)


def named_symbols(
    program: torch.export.ExportedProgram, inputs: Any, dims: Any, arguments: Dict[str, Any]
) -> Names:
    """What `dims` calls the symbols of the program, which is made for `inputs`."""
    places = [node for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
    tensors = [leaf for leaf in torch.utils._pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)]
    if len(places) != len(tensors):
        return {}
    symbolic = {id(tensor): node.meta["val"].shape for tensor, node in zip(tensors, places)}
    names: Names = {}
    for axis, dim, tensor in named_dims(dims, arguments):
        extent = str(symbolic[id(tensor)][axis])
        # No number, nor a sum or product of symbols.
        if extent.isidentifier():
            names[extent] = dim
    return names


def named_dims(dims: Any, arguments: Dict[str, Any]) -> Iterator[Tuple[int, str, torch.Tensor]]:
    """(axis, name of its Dim, tensor)"""
    parts = dims if isinstance(dims, Mapping) else dict(zip(arguments, dims))
    for argument, value in arguments.items():
        yield from _named_dims(parts.get(argument), value)


def _named_dims(dims: Any, value: Any) -> Iterator[Tuple[int, str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        axes = dims.items() if isinstance(dims, Mapping) else enumerate(dims or ())
        for axis, dim in axes:
            if isinstance(dim, torch.export.Dim):
                yield axis, dim.__name__, value
    elif isinstance(value, Mapping) and isinstance(dims, Mapping):
        for key in value:
            yield from _named_dims(dims.get(key), value[key])
    elif isinstance(value, (tuple, list)) and isinstance(dims, (tuple, list)):
        for part, of in zip(dims, value):
            yield from _named_dims(part, of)


def ranges_of(
    program: torch.export.ExportedProgram, names: Names, least: Mapping[str, int], shown: Names
) -> Dict[str, Dict[str, str]]:
    """By input and name of an extent that is open there, its range as a text; of sums and products of symbols too.
    `least` are least extents, by Dim, where they are not the program's; `shown` are the names to return."""
    ranges = {
        symbol: value_ranges.ValueRanges(least.get(names.get(str(symbol), ""), bounds.lower), bounds.upper)
        for symbol, bounds in program.range_constraints.items()
    }
    result: Dict[str, Dict[str, str]] = {}
    for node in program.graph.nodes:
        if node.name not in program.graph_signature.user_inputs or not isinstance(node.meta["val"], torch.Tensor):
            continue
        result[node.name] = found = {}
        for extent in node.meta["val"].shape:
            if not isinstance(extent, int):
                bounds = value_ranges.bound_sympy(extent.node.expr, ranges)
                text = f"{bounds.lower}..{bounds.upper}" if bounds.upper.is_Integer else ""
                found[renamed(str(extent), shown)] = text
    return result


def renamed(extent: str, names: Names) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda symbol: names.get(symbol[0], symbol[0]), extent)


def without(names: Names, taken: Iterable[str]) -> Names:
    """korch.compile's `shapes` has one namespace for inputs and extents."""
    occupied = set(taken)
    return {symbol: name for symbol, name in names.items() if name not in occupied}


def rename(model: Any, names: Names) -> None:
    """Calls the extents of an onnx_ir.Model by `names`."""
    import onnx_ir  # type: ignore[import-not-found, unused-ignore]

    if not names:
        return
    nodes = list(model.graph.all_nodes())
    for value in [*model.graph.inputs, *(value for node in nodes for value in node.outputs)]:
        if value.shape is not None:
            value.shape = onnx_ir.Shape(
                dim if isinstance(dim, int) or dim.value is None else renamed(dim.value, names) for dim in value.shape
            )
