"""A graph of ATen operators with fixed shapes -> the same graph with korch's executables in it."""

from __future__ import annotations

import collections
import copy
import heapq
import logging
import operator
import os
import re
import tempfile
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import erase_nodes, fuse_as_graphmodule
from torch.utils._pytree import tree_leaves

from .. import _compile
from .._errors import AccuracyError, InternalError, InvalidModel, ResourceError, Unsupported
from .._executable import Executable
from . import cache, export
from .part import Part, listed, moved, order_of

if TYPE_CHECKING:
    from .backend import Options

_log = logging.getLogger("korch")

_Node = torch.fx.Node
_aten = torch.ops.aten

DTYPES = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.bool: "bool",
    torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.uint8: "u8", torch.uint16: "u16", torch.uint32: "u32", torch.uint64: "u64",
}  # fmt: skip

# They address a tensor's memory, which is another one in an executable.
_OF_MEMORY = {_aten.as_strided.default, _aten.as_strided_copy.default, _aten.as_strided_scatter.default}


_RANDOM = "it draws random numbers"

class _Refused(Exception):
    """Operators that cannot be part of an executable: `reasons` by node, "" where there is nothing to tell."""

    def __init__(self, reasons: Dict[_Node, str], will_last: bool = True) -> None:
        self.reasons = reasons
        self.will_last = will_last


def planned(
    graph: torch.fx.GraphModule, weights: Mapping[int, torch.Tensor], options: Options
) -> torch.fx.GraphModule:
    """`graph` with its operators in korch's executables, as few as possible; what korch refuses stays, and is logged.

    `weights`, by argument, become constants of the executables.
    """
    start = time.monotonic()
    graph = _copied(graph)
    constants = _constants(graph, weights)
    refused = _refused_at_once(graph)
    made: Dict[Tuple[_Node, ...], Part] = {}
    kept = cache.Cache(options.cache)
    while True:
        parts = _parts(graph, refused)
        try:
            for nodes in parts:
                _require_plain_outputs(nodes)
            for nodes in parts:
                if nodes not in made:
                    made[nodes] = _compiled(graph, nodes, constants, options, kept)
            break
        except _Refused as refusal:
            refused.update(_whole(refusal.reasons))
    _log_plan(graph, refused, {nodes: made[nodes] for nodes in parts}, time.monotonic() - start)
    place = {node: i for i, node in enumerate(graph.graph.nodes)}
    for number, nodes in enumerate(parts):
        last = max(place[node] for node in nodes)
        place.update(dict.fromkeys(_insert(graph, nodes, constants, made[nodes], number), last))
    _sort(graph, place)
    graph.recompile()
    return graph


def _sort(graph: torch.fx.GraphModule, place: Mapping[_Node, int]) -> None:
    """Every node behind its inputs, and otherwise by its place."""
    missing = {node: len(node.all_input_nodes) for node in graph.graph.nodes}
    ready = [(place[node], i, node) for i, node in enumerate(graph.graph.nodes) if not missing[node]]
    heapq.heapify(ready)
    count = len(missing)
    (last,) = graph.graph.find_nodes(op="output")
    while ready:
        _, _, node = heapq.heappop(ready)
        if node is not last:
            last.prepend(node)
        for user in node.users:
            missing[user] -= 1
            if not missing[user]:
                count += 1
                heapq.heappush(ready, (place[user], count, user))


def _copied(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    result = torch.fx.Graph()
    result.output(result.graph_copy(graph.graph, {}))
    result.eliminate_dead_code()
    for node in result.nodes:
        _as_reshape(node)
    return torch.fx.GraphModule(graph, result)


def _as_reshape(node: _Node) -> None:
    """Where `as_strided` gives extents of 1 other strides, which is how pooling ends, it moves nothing."""
    if node.target is not _aten.as_strided.default:
        return
    before, after = node.all_input_nodes[0].meta["val"], node.meta["val"]
    if before.shape == after.shape and before.storage_offset() == after.storage_offset():
        strides = zip(before.shape, before.stride(), after.stride())
        if all(extent == 1 or one == other for extent, one, other in strides):
            node.target, node.args, node.kwargs = _aten.view.default, (node.args[0], list(after.shape)), {}


def _constants(graph: torch.fx.GraphModule, weights: Mapping[int, torch.Tensor]) -> Dict[_Node, torch.Tensor]:
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    result = {placeholders[i]: tensor for i, tensor in weights.items()}
    for node in graph.graph.nodes:
        if node.op == "get_attr" and isinstance(value := getattr(graph, node.target, None), torch.Tensor):
            result[node] = value
    return result


def _tensors(node: _Node) -> List[torch.Tensor]:
    return [value for value in tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]


def _is_getitem(node: _Node) -> bool:
    return node.target is operator.getitem


def _is_view(node: _Node) -> bool:
    """Computes nothing."""
    if _is_getitem(node):
        return _is_view(node.all_input_nodes[0])
    return isinstance(node.target, torch._ops.OpOverload) and any(r.alias_info for r in node.target._schema.returns)


def _owner(node: _Node) -> _Node:
    """Who made the memory in which a result lies."""
    while _is_view(node):
        node = node.all_input_nodes[0]
    return node


def _refused_at_once(graph: torch.fx.GraphModule) -> Dict[_Node, str]:
    reasons = {}
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        why = why_not(node)
        if _is_getitem(node) and node.all_input_nodes[0] in reasons:
            why = ""
        if why is not None:
            reasons[node] = why
    return reasons


def why_not(node: _Node, is_open: bool = False) -> Optional[str]:
    """Why an operator cannot be part of an executable, whose shapes may be symbolic if it is open; None: it may."""
    if _is_getitem(node):
        return None
    if is_open and isinstance(node.meta.get("val"), torch.SymInt):
        return None  # arithmetic of extents
    if not isinstance(node.target, torch._ops.OpOverload):
        return "it is no operator of ATen"
    if torch.Tag.nondeterministic_seeded in node.target.tags and export.argument(node, "dropout_p") != 0:
        return _RANDOM
    if torch.Tag.dynamic_output_shape in node.target.tags and not _is_index_of_numbers(node):
        return "the shape of its output depends on data"
    if node.target in _OF_MEMORY:
        return "it depends on how a tensor lies in memory"
    if is_open and node.target._schema.is_mutable:
        return "it writes into a tensor"
    values = tree_leaves([node.meta.get("val"), [other.meta.get("val") for other in node.all_input_nodes]])
    for value in values:
        if value is None or is_open and isinstance(value, torch.SymInt):
            continue
        if not isinstance(value, torch.Tensor):
            return "it computes with numbers that are no tensors"
        if value.device.type != "cpu":
            return f"a tensor is on device {value.device.type}"
        if value.layout is not torch.strided:
            return f"a tensor is {value.layout}"
        if value.dtype not in DTYPES:
            return f"a tensor's type is {value.dtype}"
        if not is_open and any(isinstance(extent, torch.SymInt) for extent in value.shape):
            return "a tensor's shape depends on data"
    return export.why_not(node)


def _is_index_of_numbers(node: _Node) -> bool:
    """x[i], whose shape depends on data where an index is a mask."""
    if node.target is not _aten.index.Tensor:
        return False
    indices = [index.meta["val"].dtype for index in node.args[1] if index is not None]
    return not {torch.bool, torch.uint8}.intersection(indices)


class _Support(OperatorSupportBase):
    def __init__(self, allowed: Set[_Node]) -> None:
        self._allowed = allowed

    def is_node_supported(self, _: Any, node: _Node) -> bool:
        return node in self._allowed


def _stretches(operators: Sequence[_Node], refused: Mapping[_Node, str]) -> List[Set[_Node]]:
    """Of operators that are not refused: from one that draws random numbers to the next, so that these keep their
    order."""
    result: List[Set[_Node]] = [set()]
    for node in operators:
        if node not in refused:
            result[-1].add(node)
        elif refused[node] == _RANDOM:
            result.append(set())
    return [nodes for nodes in result if nodes]


def _parts(graph: torch.fx.GraphModule, refused: Mapping[_Node, str]) -> List[Tuple[_Node, ...]]:
    """Of operators, in their order, that can be one executable each."""
    operators = [node for node in graph.graph.nodes if node.op == "call_function"]
    if not any(node in refused for node in operators):
        parts = [operators]
    else:
        parts = []
        place = {node: i for i, node in enumerate(operators)}
        for allowed in _stretches(operators, refused):
            proposed = CapabilityBasedPartitioner(graph, _Support(allowed), allows_single_node_partition=True)
            parts += [sorted(part.nodes, key=lambda node: place[node]) for part in proposed.propose_partitions()]
    # Views and constants alone are not worth a call.
    return [tuple(part) for part in parts if any(not _is_view(n) and n.all_input_nodes for n in part)]


def _require_plain_outputs(nodes: Tuple[_Node, ...]) -> None:
    """Who gets a tensor may rely on how it lies in memory, and an executable writes tensors without gaps, apart from
    all others: a view with gaps (a slice, an expansion), or of memory that others see too, is taken outside."""
    inside = set(nodes)
    leaving = [node for node in nodes if any(user not in inside for user in node.users)]
    owners = collections.Counter(map(_owner, leaving))
    reasons = {}
    for node in leaving:
        is_shared = _owner(node) not in inside or owners[_owner(node)] > 1
        if _is_view(node) and is_shared or not all(order_of(value) is not None for value in _tensors(node)):
            reasons[node] = "" if _is_view(node) else "its result lies in memory with gaps"
    if reasons:
        raise _Refused(reasons)


def _whole(reasons: Mapping[_Node, str]) -> Dict[_Node, str]:
    """With the operators whose several results are taken apart by those given, and the other results."""
    result = dict(reasons)
    for node, why in reasons.items():
        producer = node.all_input_nodes[0] if _is_getitem(node) else node
        result.setdefault(producer, why)
        for user in producer.users:
            if _is_getitem(user):
                result.setdefault(user, "")
    return result


def _fused(
    graph: torch.fx.GraphModule, nodes: Tuple[_Node, ...], constants: Mapping[_Node, torch.Tensor], name: str
) -> Tuple[torch.fx.GraphModule, List[_Node], List[_Node]]:
    """The nodes as a module with constants inside, its inputs and its outputs."""
    part, inputs, outputs = fuse_as_graphmodule(graph, list(nodes), name, always_return_tuple=True)
    placeholders = [node for node in part.graph.nodes if node.op == "placeholder"]
    for placeholder, source in zip(placeholders, inputs):
        if source in constants:
            weight = f"weight_{placeholder.name}"
            part.register_buffer(weight, constants[source].detach().contiguous())
            with part.graph.inserting_before(placeholder):
                constant = part.graph.get_attr(weight)
            constant.meta = placeholder.meta
            placeholder.replace_all_uses_with(constant)
            part.graph.erase_node(placeholder)
    return part, [source for source in inputs if source not in constants], list(outputs)


def _permute_borders(part: torch.fx.GraphModule) -> None:
    """Lets tensors whose axes lie in another order come and go as they lie."""
    for node in part.graph.nodes:
        order = moved(order_of(node.meta["val"])) if node.op == "placeholder" else None
        if order is not None:
            back = sorted(range(len(order)), key=lambda axis: order[axis])
            with part.graph.inserting_after(node):
                usual = part.graph.call_function(_aten.permute.default, (node, back))
            usual.meta = dict(node.meta)
            node.replace_all_uses_with(usual, delete_user_cb=lambda user: user is not usual)
    last = part.graph.output_node()
    results = []
    with part.graph.inserting_before(last):
        for result in last.args[0]:
            value = result.meta["val"]
            if value.dtype in (torch.float16, torch.bfloat16):  # torch.onnx leaves sums in float32
                result = part.graph.call_function(_aten._to_copy.default, (result,), {"dtype": value.dtype})
            order = moved(order_of(value))
            results.append(
                result if order is None else part.graph.call_function(_aten.permute.default, (result, order))
            )
    last.args = (tuple(results),)
    part.recompile()


def _compiled(
    graph: torch.fx.GraphModule,
    nodes: Tuple[_Node, ...],
    constants: Mapping[_Node, torch.Tensor],
    options: Options,
    kept: cache.Cache,
) -> Part:
    part, inputs, outputs = _fused(graph, nodes, constants, "part")
    like_inputs = [node.meta["val"] for node in inputs]
    like_outputs = [node.meta["val"] for node in outputs]
    originals = {node.name: node for node in nodes}
    eager = torch.fx.GraphModule(part, copy.deepcopy(part.graph))
    _permute_borders(part)
    types = [(str(tensor.dtype), tuple(tensor.shape)) for tensor in like_inputs]
    key = cache.key(f"{part.graph}{types}", part.buffers(), options)
    executable = kept.executable(key, options)
    was_kept = executable is not None
    if executable is None:
        note = kept.note(key)
        if isinstance(note, dict) and note.keys() <= originals.keys():
            raise _Refused({originals[name]: why for name, why in note.items()})
        try:
            executable = kept.made(key, lambda path: _made(part, like_inputs, options, path))
        except _Refused as refusal:
            reasons = {node.name: why for node, why in refusal.reasons.items() if node.name in originals}
            reasons = reasons or dict.fromkeys(originals, "; ".join(refusal.reasons.values()))
            if refusal.will_last:
                kept.keep_note(key, reasons)
            raise _Refused({originals[name]: why for name, why in reasons.items()}) from None
    for node, like, tensor in zip(outputs, like_outputs, executable.outputs):
        shape = [like.shape[axis] for axis in order_of(like) or ()]
        if (tensor.dtype, list(tensor.shape)) != (DTYPES[like.dtype], shape):
            raise _Refused({node: f"torch.onnx makes it {tensor.dtype}{list(tensor.shape)}"})
    result = Part(executable, like_inputs, like_outputs, eager, is_checked=not options.verify)
    result.was_kept = was_kept
    return result


def _made(
    part: torch.fx.GraphModule, like_inputs: Sequence[torch.Tensor], options: Options, path: Optional[str]
) -> Executable:
    """Compiled to a file: `path`, or one that lives as the executable does."""
    examples = []
    for tensor in like_inputs:
        order = order_of(tensor) or range(tensor.dim())
        examples.append(torch.empty([tensor.shape[axis] for axis in order], dtype=tensor.dtype))
    with tempfile.TemporaryDirectory(prefix="korch-") as folder:
        model = os.path.join(folder, "part.onnx")
        try:
            program = export.onnx_model(part, examples, model)
        except export.NotConvertible as error:
            raise _Refused(error.reasons) from error
        try:
            return _compile.compile(model, output=path, progress=log_stages(), **options.compile)
        except Unsupported as error:
            raise _Refused(_blamed(part, export.origins(part, program), str(error))) from error
        except InvalidModel as error:
            raise _Refused(_blamed(part, export.origins(part, program), str(error)), will_last=False) from error
        except (AccuracyError, InternalError, ResourceError) as error:
            why = f"korch: {error}"
            raise _Refused({node: why for node in part.graph.nodes}, will_last=False) from error


def _blamed(part: torch.fx.GraphModule, origins: Mapping[str, _Node], message: str) -> Dict[_Node, str]:
    """The nodes that the compiler's message names, or else all."""
    reasons: Dict[_Node, str] = {}
    for name, operator_, why in re.findall(r'node "([^"\n]*)" \((\w+)\)(.*)', message):
        if name in origins:
            reasons[origins[name]] = f"korch refuses {operator_}{why}"
    # Of many it names examples.
    if " times " in message:
        for node in part.graph.nodes:
            for named, why in list(reasons.items()):
                if node.target == named.target:
                    reasons.setdefault(node, why)
    return reasons or dict.fromkeys(part.graph.nodes, f"korch: {message}")


def log_stages() -> Any:
    last = [""]

    def log(stage: str, done: int, total: int) -> None:
        if stage != last[0]:
            last[0] = stage
            _log.debug("compiling: %s", stage)

    return log


def _insert(
    graph: torch.fx.GraphModule,
    nodes: Tuple[_Node, ...],
    constants: Mapping[_Node, torch.Tensor],
    made: Part,
    number: int,
) -> List[_Node]:
    """The new nodes, which are not yet where they belong."""
    _, inputs, outputs = _fused(graph, nodes, constants, "part")
    graph.add_submodule(f"korch_{number}", made)
    call = graph.graph.call_module(f"korch_{number}", tuple(inputs))
    results = [graph.graph.call_function(operator.getitem, (call, i)) for i in range(len(outputs))]
    for output, result in zip(outputs, results):
        output.replace_all_uses_with(result)
    erase_nodes(graph, list(nodes))
    return [call, *results]


def operators(graph: torch.fx.GraphModule) -> List[_Node]:
    """Those that compute something."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function" and not _is_getitem(node)]
    return [node for node in calls if not _is_view(node) and not isinstance(node.meta.get("val"), torch.SymInt)]


def _log_plan(
    graph: torch.fx.GraphModule, refused: Mapping[_Node, str], made: Mapping[Tuple[_Node, ...], Part], seconds: float
) -> None:
    computing = operators(graph)
    of_reasons: Dict[str, collections.Counter] = {}
    for node in computing:
        if refused.get(node):
            of_reasons.setdefault(refused[node], collections.Counter())[f"{node.target}{_place(node)}"] += 1
    for why, names in of_reasons.items():
        told = [f"{name} {times} times" if times > 1 else name for name, times in names.items()]
        _log.warning("in eager mode: %s: %s", listed(told), why)
    inside = {node for nodes in made for node in nodes}
    _log.info(
        "%d of %d operators are in %d executable%s, %d of them made before; %.1f s",
        sum(node in inside for node in computing), len(computing), len(made), "" if len(made) == 1 else "s",
        sum(part.was_kept for part in made.values()), seconds,
    )  # fmt: skip


def _place(node: _Node) -> str:
    lines = re.findall(r'File "(.*?)", line (\d+)', node.meta.get("stack_trace") or "")
    return f" ({os.path.basename(lines[-1][0])}:{lines[-1][1]})" if lines else ""
