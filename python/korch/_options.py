"""Options as callers give them -> texts of korch's table of options (korch/options/option_table.h in its source), which
the compiler reads; UsageError, in the table's words, where it does not take them."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, TypeVar, Union

from . import _korch

PYTHON, TORCH = _korch.PYTHON, _korch.TORCH
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Option(NamedTuple):
    name: str
    kind: str  # "truth", "whole", "seconds", "word", "text", "texts", "place"
    preset: str
    help: str
    otherwise: str  # of a truth: what False does
    words: List[str]  # of a word: those that it takes

    @property
    def default(self) -> Any:
        """As callers give it; None: the compiler's own."""
        if self.kind == "truth":
            return self.preset == "1"
        if self.kind == "whole":
            return int(self.preset)
        if self.kind == "place":
            return True
        return None if self.kind == "seconds" else self.preset or None


@functools.lru_cache(maxsize=None)
def table(user: int) -> Dict[str, Option]:
    return {row[0]: Option(*row) for row in _korch.option_rows(user)}


def texts(user: int, given: Mapping[str, Any]) -> Dict[str, Union[str, List[str]]]:
    """What differs from the presets, by name; of options that may be given several times a list."""
    result: Dict[str, Union[str, List[str]]] = {}
    for name, value in given.items():
        if name not in table(user):
            _korch.check_option(user, name, "")  # says which there are
        kind = table(user)[name].kind
        if value is None and kind != "place" or value is True and kind == "place":
            continue  # the preset
        text = [str(one) for one in value] if kind == "texts" and not isinstance(value, str) else _text(kind, value)
        for one in text if isinstance(text, list) else [text]:
            _korch.check_option(user, name, one)
        result[name] = text
    return result


def values(user: int, given: Mapping[str, Any]) -> Dict[str, Any]:
    """All options of the user, those that are not given by their defaults."""
    result = {name: option.default for name, option in table(user).items()}
    for name, text in texts(user, given).items():
        kind = table(user)[name].kind
        result[name] = text == "1" if kind == "truth" else int(str(text)) if kind == "whole" else given[name]
    for name, value in given.items():
        if table(user)[name].kind == "place":
            result[name] = value
    return result


def documented(user: int) -> Callable[[_Function], _Function]:
    """A function with **options tells them in its signature, and in its text where "{options}" stands."""

    def document(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind != inspect.Parameter.VAR_KEYWORD]
        more = [
            inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
            for option in table(user).values()
        ]
        function.__signature__ = signature.replace(parameters=own + more)  # type: ignore[attr-defined]
        if function.__doc__:
            lines = [
                f"{o.name}: {o.help}{f'; False: {o.otherwise}' if o.otherwise else ''}." for o in table(user).values()
            ]
            function.__doc__ = function.__doc__.replace("{options}", "\n        ".join(lines))
        return function

    return document


def _text(kind: str, value: Any) -> str:
    if kind == "place":
        return os.fsdecode(value) if value else ""
    try:
        if kind in ("truth", "whole") or isinstance(value, bool):
            return str(value.__index__())
        return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)
    except AttributeError:
        return str(value)
