"""A part of a graph as an executable."""

from __future__ import annotations

import logging
from typing import List, Optional, Sequence, Tuple

import torch

from .._executable import Executable

_log = logging.getLogger("korch")

# Of a result, in root mean square, or of elements that are no floats: bfloat16 in PyTorch, whose every operator rounds,
# is that far from an executable, which computes in float32.
_MOST_DEVIATION = 0.05
_SUBNORMAL = 1e-30  # executables may have 0 there

_MOST_NAMED = 5  # operators in one line of the log


def order_of(tensor: torch.Tensor) -> Optional[List[int]]:
    """The axes from the outermost to the innermost as they lie in memory; None where there are gaps or overlaps."""
    if tensor.is_contiguous():
        return list(range(tensor.dim()))
    order = sorted(range(tensor.dim()), key=lambda axis: (tensor.shape[axis] != 1, -tensor.stride(axis)))
    expected = 1
    for axis in reversed(order):
        if tensor.shape[axis] != 1 and tensor.stride(axis) != expected:
            return None
        expected *= tensor.shape[axis]
    return order


def moved(order: Optional[List[int]]) -> Optional[List[int]]:
    """The order, where it is not the usual one."""
    return None if order is None or order == sorted(order) else order


def listed(names: Sequence[str]) -> str:
    """For people."""
    more = f", {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


class Part(torch.nn.Module):
    """An executable in the place of operators, without copies of tensors that have no gaps, in whatever order their
    axes lie.

    The first call is compared with `eager`: torch.onnx's forms of some operators are wrong.
    """

    def __init__(
        self,
        executable: Executable,
        inputs: Sequence[torch.Tensor],
        outputs: Sequence[torch.Tensor],
        eager: torch.fx.GraphModule,
        is_checked: bool,
    ) -> None:
        super().__init__()
        self.executable = executable
        self.was_kept = False
        self._eager: Optional[torch.fx.GraphModule] = None if is_checked else eager
        self._is_wrong = False
        self._orders = [moved(order_of(tensor)) for tensor in inputs]
        self._outputs = [(t.shape, t.stride(), t.dtype, moved(order_of(t))) for t in outputs]

    def forward(self, *inputs: torch.Tensor) -> Tuple[torch.Tensor, ...]:
        eager = self._eager
        if self._is_wrong:
            assert eager is not None
            return eager(*inputs)
        arguments = []
        for tensor, order in zip(inputs, self._orders):
            if tensor.requires_grad:
                tensor = tensor.detach()
            if tensor.is_neg():
                tensor = tensor.resolve_neg()
            arguments.append(tensor if order is None else tensor.permute(order))
        results, places = [], []
        for shape, stride, dtype, order in self._outputs:
            result = torch.empty_strided(shape, stride, dtype=dtype)
            results.append(result)
            places.append(result if order is None else result.permute(order))
        self.executable(*arguments, out=places)
        return tuple(results) if eager is None else self._checked(eager, inputs, results)

    def _checked(
        self, eager: torch.fx.GraphModule, inputs: Sequence[torch.Tensor], results: Sequence[torch.Tensor]
    ) -> Tuple[torch.Tensor, ...]:
        expected = eager(*inputs)
        if all(map(are_alike, results, expected)):
            self._eager = None
            return tuple(results)
        self._is_wrong = True
        operators = {str(n.target): None for n in eager.graph.nodes if isinstance(n.target, torch._ops.OpOverload)}
        _log.warning("in eager mode: %s: an executable's results are not those of PyTorch", listed(list(operators)))
        return expected


def are_alike(result: torch.Tensor, expected: torch.Tensor) -> bool:
    """Not how exact a result is (the compiler verifies that), but whether it is that of the same operators."""
    if expected.numel() == 0:
        return True
    if not expected.is_floating_point():
        return (result != expected).double().mean().item() <= _MOST_DEVIATION
    result, expected = result.double(), expected.double()
    error = torch.where((result == expected) | result.isnan() & expected.isnan(), 0.0, result - expected)
    scale = torch.where(expected.isfinite(), expected, 0.0)
    return error.norm().item() <= _MOST_DEVIATION * scale.norm().item() + _SUBNORMAL
