"""Executables, and what the compiler refused, kept for other processes: `<key>.so` and `<key>.json` in one folder."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import stat
import tempfile
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional

import torch

from .. import _worker
from .._errors import FileError
from .._executable import Executable

if TYPE_CHECKING:
    from .backend import Options

_log = logging.getLogger("korch")

_MOST_BYTES = 16 << 30  # of executables; those that nobody used for longest go


@functools.lru_cache(maxsize=None)
def _machine() -> str:
    """What an executable depends on besides the network: the CPU, the compiler, and those that lead to it."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        first = file.read().split("\n\n")[0].splitlines()
    cpu = [line for line in first if line.startswith(("model name", "flags"))]
    program = os.stat(_worker.PROGRAM)
    versions = [version(name) for name in ("korch", "torch", "onnxscript")]
    return repr((cpu, program.st_size, program.st_mtime_ns, versions))


def key(text: str, tensors: Iterable[torch.Tensor], options: Options) -> str:
    """Of what is computed: a text, constants and options."""
    what = {name: value for name, value in options.compile.items() if name not in ("database", "instances")}
    digest = hashlib.sha256(repr((_machine(), what, text)).encode())
    for tensor in tensors:
        plain = tensor.detach().contiguous()
        digest.update(f"{plain.dtype} {tuple(plain.shape)} ".encode())
        digest.update(plain.reshape(-1).view(torch.uint8).numpy().data if plain.numel() else b"")
    return digest.hexdigest()[:40]


class Cache:
    """A folder, or nothing: then nothing is found, and nothing kept."""

    def __init__(self, where: Any) -> None:
        self._folder: Optional[str] = None
        if where is True:
            base = os.environ.get("XDG_CACHE_HOME", "")
            base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
            where = os.path.join(base, "korch", "torch") if os.path.isabs(base) else None
        if where:
            try:
                os.makedirs(where, mode=0o700, exist_ok=True)
                state = os.stat(where)
                # An executable is trusted like a program.
                if state.st_uid not in (os.geteuid(), 0) or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                    raise PermissionError(f"others may write to {os.fsdecode(where)!r}")
                self._folder = os.fsdecode(where)
            except OSError as error:
                _log.warning("executables are not kept: %s", error)

    def executable(self, name: str, options: Options) -> Optional[Executable]:
        path = self._path(name + ".so")
        if self._folder is None or not os.path.exists(path):
            return None
        try:
            found = Executable(path, options.threads, options.instances)
            os.utime(path)
            return found
        except (FileError, OSError) as error:
            _log.warning("a kept executable is of no use, and is made again: %s", error)
            return None

    def note(self, name: str) -> Any:
        """What was kept by keep_note, or None."""
        if self._folder is None:
            return None
        try:
            with open(self._path(name + ".json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def keep_note(self, name: str, what: Any) -> None:
        with self._keeping(name + ".json") as path:
            if path is not None:
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(what, file)

    def made(self, name: str, make: Callable[[Optional[str]], Executable]) -> Executable:
        """What `make` makes and loads, in a file of its own (None) or in one that is kept."""
        with self._keeping(name + ".so") as path:
            result = make(path)
        self._shrink()
        return result

    def _path(self, name: str) -> str:
        return os.path.join(self._folder or "", name)

    @contextlib.contextmanager
    def _keeping(self, name: str) -> Iterator[Optional[str]]:
        """A path to write to; what is there at the end appears at once under `name`, for all processes."""
        if self._folder is None:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self._folder) as folder:
            path = os.path.join(folder, name)
            yield path
            os.replace(path, self._path(name))

    def _shrink(self) -> None:
        if self._folder is None:
            return
        with contextlib.suppress(OSError):  # another process may be at it
            files = [(entry.stat(), entry.path) for entry in os.scandir(self._folder) if entry.is_file()]
            left = sum(state.st_size for state, _ in files)
            for state, path in sorted(files, key=lambda file: file[0].st_mtime):
                if left <= _MOST_BYTES:
                    break
                os.remove(path)
                left -= state.st_size
