"""korch compiles trained networks (ONNX) into the fastest executables for this machine's CPU.

    executable = korch.compile("model.onnx", shapes={"image": (1, 3, 224, 224)})
    y = executable(x)                      # NumPy, PyTorch, anything with DLPack
    executable.save("model.so")            # later: korch.load("model.so")

Errors are subclasses of korch.Error. The package brings all that compiling needs; an executable needs the C library
alone.
"""

import atexit as _atexit
from importlib.metadata import version as _version

from . import _korch
from ._compile import compile, load
from ._errors import (
    AccuracyError,
    CompileWarning,
    Error,
    FileError,
    InternalError,
    Interrupted,
    InvalidInput,
    InvalidModel,
    ResourceError,
    Unsupported,
    UsageError,
)
from ._executable import Executable, OutputDeviation, StepTime, TensorInfo
from ._korch import GpuArray
from ._state import State

__version__ = _version("korch")
__all__ = [
    "AccuracyError",
    "CompileWarning",
    "Error",
    "Executable",
    "FileError",
    "GpuArray",
    "InternalError",
    "Interrupted",
    "InvalidInput",
    "InvalidModel",
    "OutputDeviation",
    "ResourceError",
    "State",
    "StepTime",
    "TensorInfo",
    "Unsupported",
    "UsageError",
    "compile",
    "load",
]

# Daemon threads may still be in a call when the interpreter ends.
_atexit.register(_korch.end_calls)

# People meet these names as korch.Error, not as korch._errors.Error.
for _name in __all__:
    globals()[_name].__module__ = "korch"
del _name
