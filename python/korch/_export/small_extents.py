"""Extents of 0 and 1, which torch.export often leaves out of a range.

It makes one program for all extents of a range, and refuses the range where code of PyTorch's, such as a look at where
memory has gaps, goes another way for an extent of 1. Then the program is made for extents from 2, and the executable
is compared with the module at the smaller ones before anybody has it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np
import torch  # type: ignore[import-not-found, unused-ignore]
from torch.utils._pytree import tree_leaves, tree_map_only  # type: ignore[import-not-found, unused-ignore]

from .dynamic_shapes import named_dims
from .._errors import InvalidModel

_TOLERANCE = 1e-2  # of the largest element: another way of the module differs by more, another order of sums by less


class Sample(NamedTuple):
    """What the module computes where some of its extents are small."""

    what: str
    extents: Dict[str, int]
    inputs: List[torch.Tensor]
    outputs: List[torch.Tensor]

    def check(self, executable: Any) -> None:
        results = executable(*self.inputs)
        results = results if isinstance(results, tuple) else (results,)
        if len(results) == len(self.outputs) and all(map(_close, results, self.outputs)):
            return
        which = " and ".join(f"{name} = {extent}" for name, extent in self.extents.items())
        raise InvalidModel(
            f"PyTorch exports {self.what} for extents from 2, and what that computes is something else for {which}: "
            f"give torch.export.Dim({next(iter(self.extents))!r}, min=2)"
        )


def _close(result: np.ndarray, expected: torch.Tensor) -> bool:
    of = expected.double().numpy()
    if result.shape != of.shape:
        return False
    tolerance = _TOLERANCE * np.abs(of[np.isfinite(of)]).max(initial=0.0)
    return np.allclose(result.astype(np.float64), of, rtol=0, atol=tolerance, equal_nan=True)


def left_out(error: Exception, dims: Any) -> Dict[str, int]:
    """The Dims, with their least extents, that `error` of torch.export names and that begin below 2. None where some
    are sums or products of others."""
    violated = re.match(r"Constraints violated \((.+?)\)!", str(error))
    named = violated[1].split(", ") if violated else []
    found = [part for part in tree_leaves(dims) if isinstance(part, torch.export.Dim)]
    if any(not dim.__name__.isidentifier() for dim in found):
        return {}
    return {dim.__name__: dim.min for dim in found if dim.__name__ in named and dim.min < 2 <= dim.max}


def from_two(dims: Any, names: Mapping[str, int]) -> Any:
    """`dims` with ranges that begin at 2."""
    of: Dict[str, Any] = {}

    def converted(part: Any) -> Any:
        if isinstance(part, torch.export.Dim) and part.__name__ in names:
            return of.setdefault(part.__name__, torch.export.Dim(part.__name__, min=2, max=_most(part)))
        if isinstance(part, Mapping):
            return {key: converted(value) for key, value in part.items()}
        return type(part)(map(converted, part)) if type(part) in (tuple, list) else part

    return converted(dims)


def _most(dim: Any) -> Any:
    return dim.max if isinstance(dim.max, int) else None


def resized(inputs: Any, dims: Any, arguments: Dict[str, Any], extents: Mapping[str, int]) -> Any:
    """`inputs` with other extents: their first elements, or their elements repeated."""
    changed: Dict[int, torch.Tensor] = {}
    for axis, name, tensor in named_dims(dims, arguments):
        if name in extents:
            now = changed.get(id(tensor), tensor)
            extent = extents[name]
            repeated = now.repeat_interleave(-(-extent // max(now.shape[axis], 1)), axis) if extent else now
            changed[id(tensor)] = repeated.narrow(axis, 0, extent).clone()
    return tree_map_only(torch.Tensor, lambda t: changed.get(id(t), t), inputs)


def samples(
    what: str, call: Callable[[Any], Any], least: Dict[str, int], of: Callable[[Dict[str, int]], Any]
) -> Tuple[List[Sample], Dict[str, int]]:
    """What the module (`call`) computes for the extents below 2, alone and together, of inputs that `of` makes; and
    the least extents for which it computes something at all. `call` gets tensors of its own."""
    able = {name: [e for e in range(low, 2) if _runs(call, of({name: e}))] for name, low in least.items()}
    able = {name: [e for e in extents if set(range(e, 2)) <= set(extents)] for name, extents in able.items()}
    result = []
    for extents in _combinations(able):
        inputs = of(extents)
        result.append(Sample(what, extents, _tensors(inputs), _tensors(call(_copied(inputs)))))
    return result, {name: min(extents, default=2) for name, extents in able.items()}


def _tensors(tree: Any) -> List[torch.Tensor]:
    return [leaf.detach().cpu() for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _copied(inputs: Any) -> Any:
    return tree_map_only(torch.Tensor, torch.Tensor.clone, inputs)


def _runs(call: Callable[[Any], Any], inputs: Any) -> bool:
    try:
        call(_copied(inputs))
    except Exception:  # whatever a module raises where its operators have no such form
        return False
    return True


def _combinations(able: Dict[str, List[int]]) -> Iterator[Dict[str, int]]:
    for chosen in itertools.product(*([*extents, None] for extents in able.values())):
        extents = {name: extent for name, extent in zip(able, chosen) if extent is not None}
        if extents:
            yield extents
