"""Arguments as callers give them -> as the compiler takes them; UsageError where they are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from ._errors import UsageError

Shapes = Mapping[str, Union[int, str, Sequence[int]]]


def shapes_of(shapes: Optional[Shapes]) -> Dict[str, Dict[str, list]]:
    """The largest extents, and where a text leaves some open ("1..64", "1..8x3x224x224") the least ones too."""
    if shapes is None:
        shapes = {}
    if not isinstance(shapes, Mapping):
        raise UsageError(f"shapes is a dict, name -> shape, not {shapes!r}")
    most: Dict[str, list] = {}
    least: Dict[str, list] = {}
    for name, shape in shapes.items():
        what = f"an extent of shapes[{name!r}]"
        if isinstance(shape, str):
            ranges = [_range(what, extent) for extent in shape.split("x")]
            least[str(name)], most[str(name)] = ([pair[i] for pair in ranges] for i in (0, 1))
            continue
        extents = [shape] if np.ndim(shape) == 0 else list(shape)  # type: ignore[arg-type]
        most[str(name)] = [whole(what, extent, 0, 2**63 - 1) for extent in extents]
    return {"shapes": most, "least_shapes": least}


def bounds_of(bounds: Optional[Mapping[str, int]]) -> Dict[str, int]:
    if bounds is not None and not isinstance(bounds, Mapping):
        raise UsageError(f"value_bounds is a dict, name -> number, not {bounds!r}")
    return {str(name): whole(f"value_bounds[{name!r}]", most, 0, 2**63 - 1) for name, most in (bounds or {}).items()}


def _range(what: str, text: str) -> Tuple[int, int]:
    low, dots, high = text.partition("..")
    try:
        ends = int(low), int(high if dots else low)
    except ValueError:
        raise UsageError(f"{what} is a whole number or a range as 1..64, not {text!r}") from None
    if not 0 <= ends[0] <= ends[1] < 2**63:
        raise UsageError(f"{what} is no range: {text!r}")
    return ends


def whole(what: str, value: Any, least: int, most: int) -> int:
    try:
        number = value.__index__()
    except AttributeError:
        raise UsageError(f"{what} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{what} is between {least} and {most}, not {number}")
    return number
