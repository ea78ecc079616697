"""korch.State: what runs of an executable leave for the next ones."""

from __future__ import annotations

from typing import Any


class State:
    """The inputs of a network that take what its outputs gave in the run before: caches of a decoder, states of a
    recurrent layer. Made by Executable.state(), empty.

    Where runs append to a tensor (a cache), it lies in one buffer for the largest extents, and nothing of it is copied.
    A run that raises leaves the state as it was. One call at a time has it: another one raises UsageError.
    """

    def __init__(self, executable: Any) -> None:
        self._executable = executable
        self._kept = executable._network.make_state()

    @property
    def length(self) -> int:
        """How many rows (tokens of a decoder) runs have appended."""
        return self._kept.length

    def reset(self) -> None:
        """Makes it empty again."""
        self._kept.reset()

    def rewind(self, length: int) -> None:
        """Forgets what was appended behind the first `length` rows.

        Raises:
            UsageError: it is not so long, or holds what runs make anew, as recurrent layers do: keep a copy then.
        """
        self._kept.rewind(length)

    def copy(self) -> State:
        """Another state that holds the same."""
        other = State(self._executable)
        other._kept.copy_from(self._kept)
        return other

    def __repr__(self) -> str:
        return f"<korch.State of length {self.length}>"
