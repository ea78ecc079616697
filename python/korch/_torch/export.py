"""A part of a graph of ATen operators -> an ONNX model, by torch.onnx."""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

import torch
from torch.onnx._internal.exporter import _decomp, _dispatching, _registration

from .._errors import UsageError

_MOST_INLINE_BYTES = 1 << 30  # of weights within the model's file, which protobuf limits to 2 GiB


class NotConvertible(Exception):
    """torch.onnx has no form for some operators: `reasons` by node."""

    def __init__(self, reasons: Dict[torch.fx.Node, str]) -> None:
        self.reasons = reasons


@functools.lru_cache(maxsize=None)
def _registry() -> _registration.ONNXRegistry:
    try:
        import onnxscript  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise UsageError(f"korch as a backend of torch.compile needs onnxscript: pip install 'korch[torch]' ({error})")
    return _registration.ONNXRegistry.from_torchlib()


@functools.lru_cache(maxsize=None)
def decompositions() -> Dict[Any, Callable]:
    """Of operators without a form in ONNX, so that a graph has none that torch.onnx would break up further."""
    return _decomp.create_onnx_friendly_decomposition_table(set(_decomp.get_onnx_implemented_overloads(_registry())))


def why_not(node: torch.fx.Node) -> Optional[str]:
    """Why ONNX has no form for an ATen operator; None where it has."""
    function, message = _dispatching.dispatch(node, _registry())
    return None if function is not None else "torch.onnx has no form for it"


def onnx_model(part: torch.fx.GraphModule, inputs: Sequence[torch.Tensor], path: str) -> Dict[str, torch.fx.Node]:
    """Writes `part`, whose parameters become constants, for inputs like `inputs`, and tells which of its nodes the
    model's nodes, by name, stem from."""
    try:
        with _quiet():
            exported = torch.export.export(part, tuple(inputs), strict=False)
            program = torch.onnx.export(exported, (), dynamo=True, optimize=False, verbose=False)
    except Exception as error:
        raise NotConvertible(_blamed(part, error)) from error
    names = [f"input_{i}" for i in range(len(inputs))]
    assert program is not None and len(program.model.graph.inputs) == len(names)
    for value, name in zip(program.model.graph.inputs, names):
        value.name = name
    weights = sum(p.numel() * p.element_size() for p in part.buffers())
    program.save(path, external_data=weights > _MOST_INLINE_BYTES)
    return _origins(part, program)


def _operators(graph: torch.fx.Graph) -> Sequence[torch.fx.Node]:
    return [node for node in graph.nodes if node.op == "call_function"]


def _origins(part: torch.fx.GraphModule, program: Any) -> Dict[str, torch.fx.Node]:
    ours, theirs = _operators(part.graph), _operators(program.exported_program.graph)
    # torch.onnx traces the graph again: the same operators in the same order, under names of its own.
    if [node.target for node in ours] != [node.target for node in theirs]:
        return {}
    by_name = {other.name: node for node, other in zip(ours, theirs)}
    result = {}
    for node in program.model.graph:
        found = re.match(r"%(\w+) ", node.metadata_props.get("pkg.torch.onnx.fx_node", ""))
        if found and found[1] in by_name:
            result[node.name] = by_name[found[1]]
    return result


def _blamed(part: torch.fx.GraphModule, error: Exception) -> Dict[torch.fx.Node, str]:
    """The node that the error names, or else all."""
    chain: list = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    why = f"torch.onnx: {str(chain[-1]).strip() or type(chain[-1]).__name__}"
    named = [m[1] for e in chain for m in [re.search(r"Error when translating node %(\w+) ", str(e))] if m]
    nodes = [node for node in _operators(part.graph) if node.name in named]
    return {node: why for node in nodes or _operators(part.graph)}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    log = logging.getLogger("onnxscript")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)
