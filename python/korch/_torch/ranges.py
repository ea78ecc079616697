"""A graph with symbolic extents, whole, as one executable for a range of each."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import torch
from torch.utils._sympy.numbers import int_oo

from .. import _compile
from .._errors import AccuracyError, InternalError, InvalidModel, ResourceError, Unsupported
from .._executable import Executable
from .._export.dynamic_shapes import ranges_of
from . import cache, export, planning
from .part import are_alike

if TYPE_CHECKING:
    from .backend import Options

_log = logging.getLogger("korch")

_LEAST_BOUND = 16  # of an extent to which PyTorch knows none


class NotRanged(Exception):
    """Why a graph needs an executable for each of its shapes."""


class _Extent(NamedTuple):
    """An axis of an argument, and what it may be."""

    argument: int
    axis: int
    least: int
    most: int


class Ranged:
    """An executable in the place of a graph, for the ranges that it was compiled for."""

    def __init__(
        self,
        executable: Executable,
        tensors: Sequence[int],
        extents: Sequence[_Extent],
        dtypes: Sequence[torch.dtype],
    ) -> None:
        self._executable = executable
        self._tensors = list(tensors)
        self._extents = list(extents)
        self._dtypes = list(dtypes)

    def takes(self, arguments: Sequence[Any]) -> bool:
        return all(e.least <= arguments[e.argument].shape[e.axis] <= e.most for e in self._extents)

    def forward(self, *arguments: Any) -> Tuple[torch.Tensor, ...]:
        inputs = [arguments[i].detach().resolve_neg() for i in self._tensors]
        results = self._executable(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        tensors = [torch.from_numpy(result) for result in results]  # bfloat16 comes as its bits
        return tuple([t if t.dtype == dtype else t.view(dtype) for t, dtype in zip(tensors, self._dtypes)])


def ranged(
    graph: torch.fx.GraphModule,
    weights: Mapping[int, torch.Tensor],
    arguments: Sequence[Any],
    options: Options,
    is_first: bool,
) -> Ranged:
    """For ranges around the extents of `arguments`; `weights`, by argument, become constants. If it is not the first,
    the others' ranges were too small."""
    start = time.monotonic()
    _require_all_expressible(graph)
    values = [node.meta.get("val") for node in graph.graph.nodes if node.op == "placeholder"]
    tensors = [i for i, value in enumerate(values) if i not in weights and isinstance(value, torch.Tensor)]
    symbols = _symbols(values, tensors, arguments, 1 if is_first else 2)
    module = _Module(graph, weights, values, tensors)
    expected = graph(*arguments)
    dtypes = _plain_outputs(expected, [arguments[i] for i in tensors])
    inputs = [torch.empty(arguments[i].shape, dtype=arguments[i].dtype) for i in tensors]
    dynamic = tuple([_dynamic(values[i], symbols) for i in tensors])
    executable, was_kept = _made(module, inputs, dynamic, symbols, options)
    if [tensor.dtype for tensor in executable.outputs] != [planning.DTYPES[dtype] for dtype in dtypes]:
        raise NotRanged("torch.onnx makes results of other types")
    result = Ranged(executable, tensors, list(symbols.values()), dtypes)
    if options.verify and not all(map(are_alike, result.forward(*arguments), expected)):
        raise NotRanged("an executable's results are not those of PyTorch")
    operators = planning.operators(graph)
    _log.info("compiled for %s", ", ".join(f"{name} = {e.least}..{e.most}" for name, e in symbols.items()))
    _log.info(
        "%d of %d operators are in 1 executable, %d of them made before; %.1f s",
        len(operators), len(operators), was_kept, time.monotonic() - start,
    )  # fmt: skip
    return result


def _require_all_expressible(graph: torch.fx.GraphModule) -> None:
    for node in graph.graph.nodes:
        why = planning.why_not(node, is_open=True) if node.op == "call_function" else None
        if why is not None:
            raise NotRanged(f"{node.target}: {why}")


def _symbols(
    values: Sequence[Any], tensors: Sequence[int], arguments: Sequence[Any], room: int
) -> Dict[str, _Extent]:
    """Of each symbolic extent, by its name: an axis that has it, and its range: PyTorch's, or where that has no end, up
    to a power of two that is at least `room` times the extent now."""
    result: Dict[str, _Extent] = {}
    for i in tensors:
        for axis, extent in enumerate(values[i].shape):
            if isinstance(extent, torch.SymInt) and extent.node.expr.is_Symbol and str(extent.node.expr) not in result:
                known = extent.node.shape_env.var_to_range[extent.node.expr]
                actual = arguments[i].shape[axis]
                bound = 1 << (max(room * actual, _LEAST_BOUND) - 1).bit_length()
                is_bounded = known.upper.is_Integer and known.upper != int_oo and int(known.upper) < 2**31
                most = int(known.upper) if is_bounded else bound
                result[str(extent.node.expr)] = _Extent(i, axis, int(known.lower), most)
    if not result:
        raise NotRanged("no input has a symbolic extent")
    return result


def _dynamic(value: torch.Tensor, symbols: Mapping[str, _Extent]) -> Dict[int, Any]:
    """As torch.export takes it, of one input. PyTorch has found already for which extents the graph holds."""
    result = {}
    for axis, extent in enumerate(value.shape):
        if isinstance(extent, torch.SymInt):
            known = symbols.get(str(extent.node.expr))
            auto = torch.export.Dim.AUTO
            result[axis] = auto if known is None else auto(min=known.least, max=known.most)
    return result


def _plain_outputs(outputs: Sequence[Any], inputs: Sequence[torch.Tensor]) -> List[torch.dtype]:
    """Their types. An executable writes tensors without gaps, apart from all others."""
    memory = [tensor.untyped_storage().data_ptr() for tensor in inputs]
    for output in outputs:
        if not isinstance(output, torch.Tensor) or output.dtype not in planning.DTYPES:
            raise NotRanged("a result is no tensor that korch knows")
        if not output.is_contiguous() or output.untyped_storage().data_ptr() in memory:
            raise NotRanged("a result lies in memory with gaps, or in that of another tensor")
        memory.append(output.untyped_storage().data_ptr())
    return [output.dtype for output in outputs]


class _Module(torch.nn.Module):
    """The graph as a function of the tensors that are no weights: numbers among its arguments are extents of them."""

    def __init__(
        self,
        graph: torch.fx.GraphModule,
        weights: Mapping[int, torch.Tensor],
        values: Sequence[Any],
        tensors: Sequence[int],
    ) -> None:
        super().__init__()
        self.graph_module = graph
        self._sources: List[Tuple[Optional[str], int, Optional[int]]] = []
        for i, value in enumerate(values):
            if i in weights:
                self.register_buffer(f"weight_{i}", weights[i].detach().contiguous())
                self._sources.append((f"weight_{i}", 0, None))
            elif i in tensors:
                self._sources.append((None, tensors.index(i), None))
            else:
                self._sources.append((None, *_place_of(value, values, tensors)))
        outputs = graph.graph.output_node().args[0]
        self._dtypes = [getattr(getattr(node, "meta", {}).get("val"), "dtype", None) for node in outputs]

    def forward(self, *tensors: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        arguments = []
        for weight, place, axis in self._sources:
            if weight is not None:
                arguments.append(getattr(self, weight))
            else:
                arguments.append(tensors[place] if axis is None else tensors[place].shape[axis])
        results = []
        for result, dtype in zip(self.graph_module(*arguments), self._dtypes):
            if dtype in (torch.float16, torch.bfloat16):  # torch.onnx leaves sums in float32
                result = torch.ops.aten._to_copy.default(result, dtype=dtype)
            results.append(result)
        return tuple(results)


def _place_of(value: Any, values: Sequence[Any], tensors: Sequence[int]) -> Tuple[int, int]:
    if isinstance(value, torch.SymInt):
        for place, i in enumerate(tensors):
            for axis, extent in enumerate(values[i].shape):
                if isinstance(extent, torch.SymInt) and extent.node.expr == value.node.expr:
                    return place, axis
    raise NotRanged("an argument is a number that is no extent of a tensor")


def _made(
    module: _Module, inputs: Sequence[torch.Tensor], dynamic: Any, symbols: Mapping[str, _Extent], options: Options
) -> Tuple[Executable, bool]:
    kept = cache.Cache(options.cache)
    types = [(str(tensor.dtype), tensor.dim()) for tensor in inputs]
    ranges = [(name, e.least, e.most) for name, e in symbols.items()]
    key = cache.key(f"ranges {module.graph_module.graph}{types}{ranges}", module.buffers(), options)
    executable = kept.executable(key, options)
    if executable is not None:
        return executable, True
    why = kept.note(key)
    if isinstance(why, str):
        raise NotRanged(why)
    try:
        return kept.made(key, lambda path: _compiled(module, inputs, dynamic, options, path)), False
    except (NotRanged, export.NotConvertible, Unsupported) as error:
        reason = "; ".join(error.reasons.values()) if isinstance(error, export.NotConvertible) else str(error)
        kept.keep_note(key, reason)
        raise NotRanged(reason) from error
    except (InvalidModel, AccuracyError, InternalError, ResourceError) as error:
        raise NotRanged(f"korch: {error}") from error


def _compiled(
    module: _Module, inputs: Sequence[torch.Tensor], dynamic: Any, options: Options, path: Optional[str]
) -> Executable:
    with tempfile.TemporaryDirectory(prefix="korch-") as folder:
        model = os.path.join(folder, "graph.onnx")
        program = export.onnx_model(module, inputs, model, (dynamic,))
        exported = program.exported_program
        found = ranges_of(exported, {}, {}, {})
        places = [node for node in exported.graph.nodes if node.name in found]
        for node, axes in zip(places, dynamic):
            if {i for i, extent in enumerate(node.meta["val"].shape) if isinstance(extent, torch.SymInt)} != set(axes):
                raise NotRanged("torch.export fixes an extent")
        shapes = {name: text for texts in found.values() for name, text in texts.items()}
        if not all(shapes.values()):
            raise NotRanged("an extent has no bound")
        return _compile.compile(model, shapes=shapes, output=path, progress=planning.log_stages(), **options.compile)
