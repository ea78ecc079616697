"""The compiler's messages name options as the command line spells them: here they become arguments of korch.compile."""

from __future__ import annotations

import re
import shlex

from . import _options

_SHAPE = r"""--shape (?:[\w./:-]+=|'[^'=]+=)[^\s',;)]+'?"""
_BOUND = r"--bound (?P<bounded>[^\s=]+)=(?P<most>\w+)"
_STATE = r"--state (?P<state>[^\s=]+=[^\s,;)]+)"
_WORD = r"--(?P<name>[a-z][a-z-]*)(?: (?P<value>[\w.]+))?"
_OPTION = re.compile(rf"(?P<shapes>{_SHAPE}(?: {_SHAPE})*)|{_BOUND}|{_STATE}|{_WORD}")


def in_python(message: str) -> str:
    """ "use --no-measure, e.g. --shape x=1x3" -> 'use measure="none", e.g. shapes={"x": "1x3"}'. What Python has no
    argument for stays."""
    return _OPTION.sub(_argument, message)


def _argument(found: re.Match) -> str:
    if found["shapes"]:
        given = [word.partition("=") for word in shlex.split(found["shapes"]) if word != "--shape"]
        return "shapes={" + ", ".join(f'"{name}": "{extents}"' for name, _, extents in given) + "}"
    if found["bounded"]:
        return f'value_bounds={{"{found["bounded"]}": {found["most"]}}}'
    if found["state"]:
        return f'state=["{found["state"]}"]'
    name, value, rest = found["name"].replace("-", "_"), found["value"], ""
    if name == "shape":
        return "shapes" + found[0][len("--shape") :]
    without = name.startswith("no_")
    name = name[len("no_") :] if without else name
    name = "database" if name == "profile_db" else name
    option = _options.table(_options.PYTHON).get(name)
    if option is None:
        return found[0]
    if value is not None and not (value in option.words or option.kind == "whole" and value.isdigit()):
        value, rest = None, " " + value
    if option.kind == "truth":
        return f"{name}={not without}{rest}"
    if without:
        return f'{name}="none"{rest}' if "none" in option.words else f"{name}=None{rest}"
    if value is None:
        return name + rest
    return f"{name}={value}" if option.kind == "whole" else f'{name}="{value}"'
