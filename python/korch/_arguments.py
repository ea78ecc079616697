"""Arguments as callers give them -> as the compiler takes them; UsageError where they are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Dict, Optional, Sequence, Union

import numpy as np

from ._errors import UsageError

Shapes = Mapping[str, Union[int, Sequence[int]]]


def shapes_of(shapes: Optional[Shapes]) -> Dict[str, list]:
    if shapes is None:
        return {}
    if not isinstance(shapes, Mapping):
        raise UsageError(f"shapes is a dict, name -> shape, not {shapes!r}")
    result = {}
    for name, shape in shapes.items():
        extents = [shape] if np.ndim(shape) == 0 else list(shape)  # type: ignore[arg-type]
        result[str(name)] = [whole(f"an extent of shapes[{name!r}]", extent, 0, 2**63 - 1) for extent in extents]
    return result


def whole(what: str, value: Any, least: int, most: int) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise UsageError(f"{what} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{what} is between {least} and {most}, not {number}")
    return number


def budget_s(budget: Optional[float]) -> float:
    if budget is None:
        return 0.0
    if not isinstance(budget, (int, float)) or not 0 < budget < float("inf"):
        raise UsageError(f"budget is a number of seconds above 0, not {budget!r}")
    return float(budget)
