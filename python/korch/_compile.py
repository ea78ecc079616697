"""korch.compile."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import warnings
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from . import _options, _progress, _worker
from ._arguments import Shapes, bounds_of, whole
from ._errors import CompileWarning, FileError, UsageError
from ._executable import Executable
from ._model import Example, model_file
from ._spelling import in_python


@_options.documented(_options.PYTHON)
def compile(
    model: Any,
    *,
    inputs: Optional[Sequence[Any]] = None,
    kwargs: Optional[Mapping[str, Any]] = None,
    dynamic_shapes: Any = None,
    exporter: str = "dynamo",
    shapes: Optional[Shapes] = None,
    value_bounds: Optional[Mapping[str, int]] = None,
    output: Union[str, os.PathLike, None] = None,
    load: bool = True,
    progress: Union[bool, _worker.Progress, None] = True,
    **options: Any,
) -> Optional[Executable]:
    """Compiles a network into the fastest executable for this machine, and loads it.

    Takes seconds to minutes: kernels are compiled and measured. It happens in a process of its own; Ctrl-C ends it,
    and other threads go on.

    Args:
        model: The network: path of an ONNX file (beside which its external data lies), its bytes, an onnx.ModelProto
            (anything with SerializeToString), a torch.nn.Module, which PyTorch exports in evaluation mode, or a
            torch.export.ExportedProgram.
        inputs: Example inputs of a torch.nn.Module (a tuple of tensors), whose shapes the executable will have.
        kwargs: Further ones by the names of forward's parameters, {"input_ids": ids, "attention_mask": mask}. The
            executable has the inputs of both, in this order, by the names of forward's parameters.
        dynamic_shapes: Which of their extents are open, as torch.export.export takes it:
            {"x": {0: torch.export.Dim("batch", min=1, max=8)}} makes an executable for 1 to 8 rows. A text is a Dim
            of that name, whose range `shapes` gives.
        exporter: "dynamo" (torch.export), or "torchscript" (torch.jit.trace), for what the former cannot export.
        shapes: What the model leaves open: the shape of an input, {"image": (1, 3, 224, 224)}, or the extent of a
            symbolic dimension wherever it stands, {"batch": 4}. A text with ranges, {"batch": "1..64"} or
            {"image": "1..8x3x224x224"}, makes an executable that takes arrays of all these extents.
        value_bounds: The most that integers may be which the data say and a shape is made of, {"length": 128}, by the
            names of ONNX values; a call with more raises InvalidInput.
        output: The executable's file. None: a temporary one, which lives while the Executable does.
        load: False writes the file and returns None, so that a machine without a GPU (or with another CPU) compiles
            for one: compile("m.onnx", target="sm_90", measure=False, output="m.so", load=False).
        progress: True: the standard error gets a bar if it is a terminal, else a line per stage. False or None: it
            gets nothing. A function is called with (stage, done, total) as work goes on; total is 0 where it is not
            known.
        {options}
        None stands for a default. A file or folder that is True is korch's own, one that is None or False is none.

    Raises:
        InvalidModel: no ONNX model, shapes are missing, or PyTorch cannot export the module: the line of its source
            is named.
        Unsupported: operators or types that korch does not know; all of them are named.
        UsageError: a wrong argument.
        AccuracyError: no executable could be made that computes what the network does.
        ResourceError: memory, time or disk ran out.
        FileError: a file cannot be read or written, or a library that the compiler needs is missing.

    Warns:
        CompileWarning: a kernel proved wrong and another was taken, the budget ended early, a module is in training
            mode.
    """
    if not load and output is None:
        raise UsageError("load=False needs output: nothing else would be left of the executable")
    asked = _options.texts(_options.PYTHON, options)
    instances = int(str(asked.pop("instances", 1)))
    what: Dict[str, Any] = {"verb": "compile", "options": asked, "bounds": bounds_of(value_bounds)}
    shown, is_done = _progress.of(progress), False
    folder = None
    if output is None:
        folder = tempfile.mkdtemp(prefix="korch-")
        output = os.path.join(folder, "model.so")
    try:
        what["output"] = os.fsdecode(output)
        with model_file(model, Example(inputs, kwargs, dynamic_shapes, exporter), shapes) as network:
            try:
                result = _worker.request({**what, **network.request}, shown)
                is_done = True
            finally:
                shown.end(is_done)
        for warning in result["warnings"]:
            warnings.warn(in_python(warning), CompileWarning, stacklevel=2)
        if not load:
            return None
        try:
            executable = Executable(what["output"], 0, instances, _folder=folder)
        except FileError as error:
            if folder is not None:
                raise
            hint = f"{what['output']} was written all the same (load=False asks for no more)"
            raise FileError(f"{error}; {hint}") from None
        try:
            for sample in network.samples:
                sample.check(executable)
        except BaseException:
            executable.close()
            with contextlib.suppress(OSError):
                os.remove(what["output"])
            raise
        return executable
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def load(path: Union[str, os.PathLike], *, threads: int = 0, instances: int = 1) -> Executable:
    """Loads an executable that korch compiled.

    Its code runs in this process, so load only what you trust; a file that was damaged is refused.

    Args:
        path: The file, a shared library.
        threads: Workers of each instance, the caller among them; 0: as compiled, but no more than the process may
            use. Results are the same for any number.
        instances: Calls that may run at once, each with workers and memory of its own over shared weights; further
            callers wait.

    Raises:
        FileError: it cannot be read, is no executable of korch, is damaged, or needs a CPU or a shared library
            that this machine lacks.
        ResourceError: memory or threads are short.
        UsageError: a wrong argument.
    """
    return Executable(
        os.fsdecode(path), whole("threads", threads, 0, 1024), whole("instances", instances, 1, 1024)
    )
