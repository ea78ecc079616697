"""A part of a graph of ATen operators -> an ONNX model, by torch.onnx."""

from __future__ import annotations

import concurrent.futures
import contextlib
import difflib
import functools
import logging
import re
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

import torch
from torch.onnx._internal._lazy_import import onnxscript_apis
from torch.onnx._internal.exporter import _constants, _core, _decomp, _registration

from .._errors import UsageError
from .._export.module import argument
from .decompositions import DECOMPOSITIONS

_MOST_INLINE_BYTES = 1 << 30  # of weights within the model's file, which protobuf limits to 2 GiB


_aten = torch.ops.aten

_BRANCHING = {_aten.roll.default, _aten.tile.default}  # their forms in ONNX have branches, which korch refuses

# What they decompose into cannot be traced: an alias of a constant, a write to a view.
_KEPT = (_aten.lift_fresh.default, _aten.diagonal_scatter.default, _aten.as_strided_scatter.default)

# Their forms are those of inference.
_TRAINING = {
    _aten.native_batch_norm.default,
    _aten._native_batch_norm_legit.default,
    _aten._native_batch_norm_legit.no_stats,
    _aten._native_batch_norm_legit_functional.default,
}


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
    with _quiet():  # of operators that other packages registered
        return _registration.ONNXRegistry.from_torchlib()


@functools.lru_cache(maxsize=None)
def decompositions() -> Dict[Any, Callable]:
    """Of operators without a form in ONNX, so that a graph has none that torch.onnx would break up further."""
    known = set(_decomp.get_onnx_implemented_overloads(_registry())) - _BRANCHING
    table = {**_decomp.create_onnx_friendly_decomposition_table(known), **DECOMPOSITIONS}
    for operator in _KEPT:
        del table[operator]
    return table


def why_not(node: torch.fx.Node) -> Optional[str]:
    """Why ONNX has no form for an ATen operator; None where it may have."""
    if node.target in _TRAINING:
        return "it trains"
    if argument(node, "divisor_override") is not None:
        return "torch.onnx's form of it forgets divisor_override"
    is_view_of_others = node.target.namespace != "aten" and any(r.alias_info for r in node.target._schema.returns)
    if is_view_of_others or not _registry().is_registered(node.target):
        return "torch.onnx has no form for it"
    return None


def onnx_model(
    part: torch.nn.Module, inputs: Sequence[torch.Tensor], path: str, dynamic_shapes: Any = None
) -> torch.onnx.ONNXProgram:
    """Writes `part`, whose buffers become constants, for inputs like `inputs`, or of `dynamic_shapes`."""
    try:
        # Some of PyTorch's state is the thread's own, and within a call of a compiled graph it is not one to trace in.
        with _quiet(), concurrent.futures.ThreadPoolExecutor(1) as apart:
            program = apart.submit(_converted, part, inputs, dynamic_shapes).result()
    except Exception as error:
        raise NotConvertible(_blamed(part, error)) from error
    names = [f"input_{i}" for i in range(len(inputs))]
    assert len(program.model.graph.inputs) == len(names)
    for value, name in zip(program.model.graph.inputs, names):
        value.name = name
    weights = sum(p.numel() * p.element_size() for p in part.buffers())
    program.save(path, external_data=weights > _MOST_INLINE_BYTES)
    return program


@torch.no_grad()
def _converted(
    part: torch.nn.Module, inputs: Sequence[torch.Tensor], dynamic_shapes: Any
) -> torch.onnx.ONNXProgram:
    exported = torch.export.export(part, tuple(inputs), dynamic_shapes=dynamic_shapes, strict=False)
    # As torch.onnx.export does, which makes its registry anew every time: half a second.
    program = _core.export(exported, registry=_registry(), verbose=False)
    program.model = onnxscript_apis.convert_version(program.model, _constants.TORCHLIB_OPSET)
    return program


def _operators(graph: torch.fx.Graph) -> Sequence[torch.fx.Node]:
    return [node for node in graph.nodes if node.op == "call_function"]


def origins(part: torch.fx.GraphModule, program: torch.onnx.ONNXProgram) -> Dict[str, torch.fx.Node]:
    """Which nodes of `part` the nodes of its model, by name, stem from."""
    # torch.onnx traces the graph again: the operators in the same order, but for a few, under names of its own.
    ours, theirs = _operators(part.graph), _operators(program.exported_program.graph)
    targets = [node.target for node in ours], [node.target for node in theirs]
    by_name = {}
    for i, j, length in difflib.SequenceMatcher(None, *targets, autojunk=False).get_matching_blocks():
        by_name.update({theirs[j + k].name: ours[i + k] for k in range(length)})
    result = {}
    for node in program.model.graph:
        found = re.match(r"%(\w+) ", node.metadata_props.get("pkg.torch.onnx.fx_node", ""))
        if found and found[1] in by_name:
            result[node.name] = by_name[found[1]]
    return result


def _blamed(part: torch.nn.Module, error: Exception) -> Dict[torch.fx.Node, str]:
    """The nodes with the operator that the error names, or else all."""
    graph = part.graph if isinstance(part, torch.fx.GraphModule) else part.graph_module.graph
    chain: list = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    why = f"torch.onnx: {(str(chain[-1]).strip() or type(chain[-1]).__name__).splitlines()[0]}"
    if "No ONNX function found" in why:
        why = "torch.onnx has no form for it with such arguments"
    named = re.findall(r"Error when translating node .*?target=torch\.ops\.([\w.]+)", "\n".join(map(str, chain)))
    nodes = [node for node in _operators(graph) if str(node.target) in named]
    return {node: why for node in nodes or _operators(graph)}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logs = [logging.getLogger(name) for name in ("onnxscript", "onnx_ir", "torch.onnx")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in zip(logs, levels):
            log.setLevel(level)
