"""What korch raises: one class per kind of error."""


class Error(Exception):
    """Base of all errors of korch. Its text names the tensor, node or file, and what to do."""

    kind = "internal"
    """One word: internal, usage, invalid, unsupported, accuracy, resource, io or interrupted."""


class InternalError(Error):
    """A bug in korch, or the compiler's process died."""


class UsageError(Error, ValueError):
    """A wrong argument, or a call of a closed executable."""

    kind = "usage"


class InvalidModel(Error, ValueError):
    """The network is no valid ONNX model, or leaves shapes open that `shapes` does not give."""

    kind = "invalid"


class InvalidInput(Error, ValueError):
    """An array does not fit the tensor it is for (dtype, shape, memory), or holds an index outside its axis."""

    kind = "invalid"


class Unsupported(Error, NotImplementedError):
    """An operator, an element type or a shape that korch does not know."""

    kind = "unsupported"


class AccuracyError(Error):
    """Results differ from the network in float64."""

    kind = "accuracy"


class ResourceError(Error):
    """Out of memory, threads, time or disk."""

    kind = "resource"


class FileError(Error, OSError):
    """A file that cannot be read or written, is no executable of korch, or needs what this machine lacks."""

    kind = "io"


class Interrupted(Error):
    """The compiler was ended by a signal that was not sent by this process."""

    kind = "interrupted"


class CompileWarning(UserWarning):
    """The compilation went on: a kernel was wrong and replaced, the budget ended before the check, ..."""
