"""The compiler as a process of its own: `korch worker` (tools/worker.cpp in korch's source)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from typing import Any, Callable, Optional

from . import _errors
from ._spelling import in_python

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "korch")

Progress = Callable[[str, int, int], Any]

_KIND_OF_EXIT_CODE = {
    2: _errors.UsageError,
    3: _errors.InvalidModel,
    4: _errors.Unsupported,
    5: _errors.AccuracyError,
    6: _errors.ResourceError,
    7: _errors.FileError,
    130: _errors.Interrupted,
}
_INSTALL = "apt install libstdc++6 zlib1g"  # what the solver takes of the system; all else is in the wheel
_PATIENCE_S = 5  # for the compiler to remove what it wrote


def request(what: dict, progress: Optional[Progress] = None) -> Any:
    """Has the compiler do `what` and returns its result. Ends it when anything is raised meanwhile (Ctrl-C, an
    exception of `progress`)."""
    with tempfile.TemporaryFile() as messages:
        try:
            # In a session of its own: Ctrl-C at a terminal is for Python to handle, which then ends it.
            process = subprocess.Popen(
                [PROGRAM, "worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
            )
        except OSError as error:
            raise _errors.FileError(f"korch's compiler cannot be started: {error}") from error
        try:
            result = _converse(process, what, progress)
            if result is not None:
                return result["result"]
            process.wait()
        finally:
            _end(process)
        messages.seek(0)
        raise _error(process.returncode, messages.read().decode("utf-8", "replace"))


def _converse(process: subprocess.Popen, what: dict, progress: Optional[Progress]) -> Optional[dict]:
    assert process.stdin is not None and process.stdout is not None
    try:
        # The input stays open: its end tells the compiler that nobody waits any more.
        process.stdin.write(json.dumps(what).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return None
    for line in process.stdout:
        event = json.loads(line)
        if "progress" in event:
            if progress is not None:
                progress(*event["progress"])
        else:
            return event
    return None


def _end(process: subprocess.Popen) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        try:
            pipe.close()
        except BrokenPipeError:
            pass
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _error(code: int, messages: str) -> _errors.Error:
    missing = re.search(r"error while loading shared libraries: (\S+?):", messages)
    if missing:
        return _errors.FileError(
            f"korch.compile needs {missing[1]}, which this machine lacks; on Debian: {_INSTALL}"
        )
    # Libraries may print before it; the program's own message is last and may have several lines.
    message = messages[messages.find("korch: ") + len("korch: ") :].strip() if "korch: " in messages else ""
    message = in_python(message)
    if code in _KIND_OF_EXIT_CODE:
        return _KIND_OF_EXIT_CODE[code](message or messages.strip() or f"the compiler ended with code {code}")
    if code < 0:
        return _errors.InternalError(f"the compiler died of {signal.Signals(-code).name}: {messages.strip()}")
    return _errors.InternalError(message or f"the compiler ended with code {code}: {messages.strip()}")
