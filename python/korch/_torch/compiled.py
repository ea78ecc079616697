"""One graph's executables: one per ranges of shapes, or shapes, and weights that it is called with, made by the first
such call."""

from __future__ import annotations

import collections
import logging
import threading
from typing import TYPE_CHECKING, Any, Dict, Hashable, List, Optional, Sequence, Tuple

import torch
from torch.fx.experimental.proxy_tensor import make_fx

from .. import _korch
from .planning import planned
from .ranges import NotRanged, ranged

if TYPE_CHECKING:
    from .backend import Options

_log = logging.getLogger("korch")

_MOST_SETS_OF_WEIGHTS = 64  # modules that share one graph, as a network's layers do when each is compiled alone


class _Weights:
    """Parameters and buffers as they were when they became part of an executable."""

    def __init__(self, tensors: Dict[int, torch.Tensor]) -> None:
        self.tensors = tensors
        self._memory = [tensor.detach() for tensor in tensors.values()]  # stays, whatever becomes of the tensor's
        self._stamps = [(tensor, tensor._version, tensor.data_ptr()) for tensor in tensors.values()]
        self._samples = _korch.MemorySamples([(tensor.data_ptr(), _span_bytes(tensor)) for tensor in self._memory])

    def are_as_they_were(self) -> bool:
        for tensor, version, address in self._stamps:
            if tensor._version != version or tensor.data_ptr() != address:
                return False
        # Writes through `.data` or NumPy count no version.
        return not self._samples.changed()

    def changed(self) -> List[int]:
        sampled = set(self._samples.changed())
        return [
            argument
            for position, (argument, (tensor, version, address)) in enumerate(zip(self.tensors, self._stamps))
            if position in sampled or tensor._version != version or tensor.data_ptr() != address
        ]


class CompiledGraph:
    """What PyTorch calls, with a list of the graph's arguments."""

    _boxed_call = True

    def __init__(self, graph: torch.fx.GraphModule, weights: Sequence[int], options: Options) -> None:
        self._graph = graph
        self._weights = list(weights)  # those arguments are constants of the executables
        self._options = options
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self._has_open_shapes = any(_is_open(node.meta.get("val")) for node in placeholders)
        self._variants: Dict[Hashable, Tuple[_Weights, Any]] = {}
        self._ranged: Dict[Hashable, List[Tuple[_Weights, Any]]] = {}  # by weights
        self._why_not_ranged: Optional[str] = None
        self._changes: collections.Counter = collections.Counter()
        self._told: set = set()
        self._lock = threading.RLock()

    def __call__(self, arguments: List[Any]) -> Any:
        found = self._found(arguments)
        if found is None or not found[0].are_as_they_were():
            found = self._made(arguments)
        return found[1](*arguments)

    def _found(self, arguments: Sequence[Any]) -> Optional[Tuple[_Weights, Any]]:
        key = self._key(arguments)
        for made in self._ranged.get(key[0], ()):
            if made[1].takes(arguments):
                return made[0], made[1].forward
        return self._variants.get(key)

    def _key(self, arguments: Sequence[Any]) -> Tuple[Hashable, Hashable]:
        weights = tuple([id(arguments[i]) for i in self._weights])
        return weights, _shapes(arguments) if self._has_open_shapes else None

    def _made(self, arguments: Sequence[Any]) -> Tuple[Optional[_Weights], Any]:
        with self._lock, torch.inference_mode(False), torch.no_grad():
            found = self._found(arguments)
            if found is not None:
                if found[0].are_as_they_were():  # another thread made it, or made it anew
                    return found
                self._note_changes(found[0])
            self._thaw([i for i in self._weights if arguments[i].is_inference()], "made in inference mode")
            key = self._key(arguments)
            self._variants.pop(key, None)
            why_not = self._why_no_more(key)
            if why_not is not None:
                self._tell(why_not)
                return None, self._graph.forward
            weights = _Weights({i: arguments[i] for i in self._weights})
            if self._has_open_shapes and self._why_not_ranged is None:
                try:
                    others = self._ranged.setdefault(key[0], [])
                    made = ranged(self._graph, weights.tensors, arguments, self._options, not others)
                    others.append((weights, made))
                    return weights, made.forward
                except NotRanged as refusal:
                    self._why_not_ranged = str(refusal)
            self._variants[key] = weights, planned(self._closed(arguments), weights.tensors, self._options).forward
            return self._variants[key]

    def _why_no_more(self, key: Tuple[Hashable, Hashable]) -> Optional[str]:
        most = torch._dynamo.config.recompile_limit
        if sum(other[0] == key[0] for other in self._variants) + len(self._ranged.get(key[0], ())) >= most:
            return f"further shapes run in eager mode: a graph has executables for {most} already"
        if len({other[0] for other in self._variants}.union(self._ranged) - {key[0]}) >= _MOST_SETS_OF_WEIGHTS:
            return f"further modules run in eager mode: {_MOST_SETS_OF_WEIGHTS} share a graph already"
        return None

    def _closed(self, arguments: Sequence[Any]) -> torch.fx.GraphModule:
        """The graph for the shapes of these arguments."""
        if not self._has_open_shapes:
            return self._graph
        inputs = [a for i, a in enumerate(arguments) if i not in self._weights and isinstance(a, torch.Tensor)]
        shapes = ", ".join("x".join(map(str, a.shape)) for a in inputs)
        _log.info("compiling for inputs of %s alone: %s", shapes, self._why_not_ranged)
        return make_fx(self._graph, tracing_mode="fake")(*arguments)

    def _note_changes(self, weights: _Weights) -> None:
        changed = weights.changed()
        _log.warning("%d weights changed since they were compiled: compiling again", len(changed))
        # Other shapes' executables have them too.
        self._variants = {key: made for key, made in self._variants.items() if made[0].are_as_they_were()}
        for of_weights, entries in list(self._ranged.items()):
            self._ranged[of_weights] = [made for made in entries if made[0].are_as_they_were()]
        for i in changed:
            self._changes[i, id(weights.tensors[i])] += 1
        again = [i for i in changed if self._changes[i, id(weights.tensors[i])] > 1]
        self._thaw(again, "changed again")

    def _thaw(self, arguments: Sequence[int], why: str) -> None:
        if arguments:
            _log.warning("%d weights %s: they become arguments, which is slower", len(arguments), why)
            self._weights = [i for i in self._weights if i not in arguments]
            self._variants.clear()
            self._ranged.clear()

    def _tell(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            _log.warning("%s", what)


def _is_open(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(extent, torch.SymInt) for extent in (*value.shape, *value.stride()))
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


def _shapes(arguments: Sequence[Any]) -> Hashable:
    return tuple([(a.shape, a.stride()) if isinstance(a, torch.Tensor) else a for a in arguments])


def _span_bytes(tensor: torch.Tensor) -> int:
    if tensor.numel() == 0:
        return 0
    last = sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride()))
    return (last + 1) * tensor.element_size()
