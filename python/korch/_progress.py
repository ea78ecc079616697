"""What a compilation tells of itself while it runs."""

from __future__ import annotations

import sys
import time
from typing import Callable, TextIO, Union

Progress = Callable[[str, int, int], object]
_BAR = 24  # characters


class Shown:
    """On the standard error: a line with a bar that is written over in a terminal, a line per stage elsewhere."""

    def __init__(self) -> None:
        self._start = self._stage_start = time.monotonic()
        self._stage, self._done_at_start = "", 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        stream = sys.stderr  # as it is now: notebooks replace it
        is_new = stage != self._stage
        if is_new:
            self._stage, self._stage_start, self._done_at_start = stage, time.monotonic(), done
        if stream is None:
            return
        if stream.isatty():
            self._write(stream, f"\r\033[Kkorch: {self._line(done, total)}")
        elif is_new:
            self._write(stream, f"korch: {stage}\n")

    def end(self, is_done: bool) -> None:
        """The line goes before anything else is printed."""
        stream = sys.stderr
        if stream is None or not self._stage:
            return
        if stream.isatty():
            self._write(stream, "\r\033[K")
        if is_done:
            self._write(stream, f"korch: compiled in {time.monotonic() - self._start:.1f} s\n")

    def _line(self, done: int, total: int) -> str:
        if total <= 0:
            return self._stage
        filled = min(_BAR * done // total, _BAR)
        text = f"{self._stage} [{'#' * filled}{'.' * (_BAR - filled)}] {done}/{total}"
        steps = done - self._done_at_start
        if steps > 0:
            left = (total - done) * (time.monotonic() - self._stage_start) / steps
            text += f", {left:.0f} s left"
        return text

    @staticmethod
    def _write(stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):  # closed, or nobody reads it: the work goes on
            pass


class Silent:
    def __call__(self, stage: str, done: int, total: int) -> None:
        pass

    def end(self, is_done: bool) -> None:
        pass


class Told(Silent):
    """A caller's own function."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell

    def __call__(self, stage: str, done: int, total: int) -> None:
        self._tell(stage, done, total)


def of(progress: Union[bool, Progress, None]) -> Union[Shown, Silent]:
    if progress is None or progress is False:
        return Silent()
    return Shown() if progress is True else Told(progress)
