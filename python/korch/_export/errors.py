"""What torch.export and torch.onnx say -> one sentence that names the line of the network's source."""

from __future__ import annotations

import contextlib
import io
import linecache
import logging
import os
import re
import sys
import threading
import traceback
import warnings
from typing import Any, Iterator, List, Optional, Sequence

import torch  # type: ignore[import-not-found, unused-ignore]

from .._errors import InvalidModel

_log = logging.getLogger("korch")
_KORCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_NOT_THE_NETWORKS = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, _KORCH + os.sep)
_FAMILIES = ("torch", "onnxscript", "onnx_ir")
_MOST_CHARACTERS = 300  # of what PyTorch says


def not_exported(what: str, error: Exception) -> InvalidModel:
    """The error to raise. All that PyTorch says is its __context__, and in the log "korch" at DEBUG."""
    _log.debug("PyTorch cannot export %s", what, exc_info=error)
    chain = [error]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)  # type: ignore[arg-type]
    cause = chain[-1]
    where = next(filter(None, map(_source_line, reversed(chain))), "")
    kinds = {kind.__name__ for kind in type(cause).__mro__}
    says = _first_line(cause)
    if "GuardOnDataDependentSymNode" in kinds:
        why = (
            "it depends on the values of tensors. Write a branch with torch.cond or torch.where, or take "
            f"torch.compile(net, backend='korch'), which compiles what is around ({says.partition(' (unhinted')[0]})"
        )
    elif "DispatchError" in kinds and (operator := re.search(r"op='([\w.]+)', overload='(\w+)'", str(cause))):
        why = (
            f"torch.onnx has no form for {operator[1]}.{operator[2]}. Write it with other operators, "
            "or take torch.compile(net, backend='korch'), which leaves it to PyTorch"
        )
    else:
        why = f"{type(cause).__name__}: {says}"
        if "Constraints violated" in why and "specified range" in why:
            why += " Its code is another one there: give the Dim a narrower range"
    return InvalidModel(f"PyTorch cannot export {what}: {where}{why}")


def traced_values(what: str, caught: Sequence[warnings.WarningMessage]) -> None:
    """Raises where torch.jit.trace made a value of the example inputs a constant; passes other warnings on."""
    for warning in caught:
        text, marked, _ = str(warning.message).partition(" might cause the trace to be incorrect")
        if warning.filename.startswith(_NOT_THE_NETWORKS):
            continue  # PyTorch's own modules convert nothing but extents, which are those of the example inputs
        if marked and text.startswith("Converting"):
            raise InvalidModel(
                f"PyTorch cannot export {what} by torch.jit.trace: {_quoted(warning.filename, warning.lineno, None)}"
                f"what the example inputs give here would be taken for all inputs ({text}). Leave out "
                'exporter="torchscript": torch.export tells extents from values'
            )
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _first_line(message: Any) -> str:
    lines = [line.strip(" -") for line in str(message).splitlines() if line.strip()] or [""]
    text = lines[0]
    # "Constraints violated (batch)! For more information, ...", and on the next line which
    if text.startswith("Constraints violated") and len(lines) > 1:
        text = f"{text.partition(' For more')[0]} {lines[1]}"
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + " ..."


def _source_line(error: BaseException) -> str:
    """Where the network's source is that an error comes from, as the beginning of a sentence."""
    node = None
    frames = list(traceback.walk_tb(error.__traceback__))
    for frame, line in reversed(frames):
        file = os.path.abspath(frame.f_code.co_filename)
        if not file.startswith(_NOT_THE_NETWORKS) and os.path.exists(file):
            return _quoted(file, line, frame.f_code.co_name)
        if node is None:  # of the graph, which is translated in these frames
            node = next((v for v in frame.f_locals.values() if isinstance(v, torch.fx.Node)), None)
    lines = re.findall(r'File "(.+)", line (\d+), in (\w+)', node.meta.get("stack_trace") or "") if node else []
    for file, number, function in reversed(lines):
        if not os.path.abspath(file).startswith(_NOT_THE_NETWORKS):
            return _quoted(file, int(number), function)
    return ""


def _quoted(file: str, line: int, function: Optional[str]) -> str:
    code = linecache.getline(file, line).strip()
    within = f" in {function}" if function else ""
    return f"{os.path.basename(file)}:{line}{within}: {f'`{code}`: ' if code else ''}"


@contextlib.contextmanager
def messages_aside() -> Iterator[None]:
    """Keeps back what PyTorch logs, warns and prints below, a graph of hundreds of lines where it fails. A failure
    logs what was printed at DEBUG. TORCH_LOGS, if set, gets all."""
    if os.environ.get("TORCH_LOGS"):
        yield
        return
    known: List[Any] = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict)]
    loggers = [log for log in known if log.name.split(".")[0] in _FAMILIES]
    levels = [(log, log.level) for log in loggers]
    before, aside = sys.stderr, _Aside(sys.stderr)
    try:
        sys.stderr = aside  # type: ignore[assignment]
        for log in loggers:
            log.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BaseException:
        _log.debug("%s", aside.getvalue())
        raise
    else:
        before.write(aside.getvalue())
    finally:
        sys.stderr = before
        for log, level in levels:
            log.setLevel(level)


class _Aside(io.StringIO):
    """Keeps what this thread writes to `stream`; other threads' goes through."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else self._stream.write(text)
