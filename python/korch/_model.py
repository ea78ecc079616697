"""Networks as a caller has them -> ONNX files that the compiler reads."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from ._arguments import Shapes, shapes_of
from ._errors import InvalidModel, UsageError


class Example(NamedTuple):
    """How a torch.nn.Module is called, and exported: korch.compile's arguments of these names."""

    inputs: Any
    kwargs: Optional[Mapping[str, Any]]
    dynamic_shapes: Any
    exporter: str


class ModelFile(NamedTuple):
    request: Dict[str, Any]
    """What the compiler is told: the path of an ONNX file and extents."""
    samples: List[Any]
    """Results that the executable must have (_export.small_extents.Sample)."""


@contextlib.contextmanager
def model_file(model: Any, example: Example, shapes: Optional[Shapes]) -> Iterator[ModelFile]:
    """A network as a file, which lives while the context does where it had to be written."""
    torch = sys.modules.get("torch")  # who has a module has imported it
    is_module = torch is not None and isinstance(model, torch.nn.Module)
    is_program = torch is not None and isinstance(model, torch.export.ExportedProgram)
    _check(model, example, is_module, is_program)
    extents = shapes_of(shapes)
    if isinstance(model, (str, os.PathLike)):
        yield ModelFile({"model": os.fsdecode(model), **extents}, [])
        return
    with tempfile.TemporaryDirectory(prefix="korch-") as folder:
        path = os.path.join(folder, f"{type(model).__name__ if is_module else 'model'}.onnx")
        if is_module or is_program:
            from ._export import export

            ranges, samples = export(model, example, path)
            yield ModelFile({"model": path, **shapes_of(_with_ranges(shapes or {}, ranges))}, samples)
        else:
            _write(model, path)
            yield ModelFile({"model": path, **extents}, [])


def _check(model: Any, example: Example, is_module: bool, is_program: bool) -> None:
    exporters = ("dynamo", "torchscript")
    if example.exporter not in exporters:
        raise UsageError(f"exporter is {' or '.join(map(repr, exporters))}, not {example.exporter!r}")
    given = [name for name in ("inputs", "kwargs", "dynamic_shapes") if getattr(example, name) is not None]
    if given and is_program:
        raise UsageError(f"a torch.export.ExportedProgram has its example inputs and shapes: leave out {given[0]}")
    if given and not is_module:
        raise UsageError("example inputs are for a torch.nn.Module; give `shapes` for an ONNX model")
    if is_module and not {"inputs", "kwargs"} & set(given):
        raise UsageError("a torch.nn.Module needs example inputs: korch.compile(module, inputs=(x,))")
    if isinstance(example.inputs, Mapping):
        raise UsageError("inputs is a tuple in the order of forward's parameters; a dict of example inputs is kwargs=")
    if example.kwargs is not None and not isinstance(example.kwargs, Mapping):
        raise UsageError(f"kwargs is a dict, name -> example input, not a {type(example.kwargs).__name__}")
    if example.exporter == "torchscript" and (is_program or example.dynamic_shapes is not None):
        raise UsageError('exporter="torchscript" takes a torch.nn.Module, and no dynamic_shapes')


def _with_ranges(shapes: Shapes, ranges: Mapping[str, Mapping[str, str]]) -> Shapes:
    """`shapes`, and for what it leaves open the ranges of the exported program, by input and extent."""
    result: Dict[str, Any] = dict(shapes)
    given = {extent for name in ranges if name in shapes for extent in ranges[name]}
    for name, extents in ranges.items():
        for extent, text in extents.items():
            if extent in given or extent in shapes:
                continue
            if not text:
                raise UsageError(
                    f"nothing bounds the extent {extent} of input {name}: give its Dim a max, "
                    f"or shapes={{{extent!r}: '1..64'}}"
                )
            result[extent] = text
    return result


def _write(model: Any, path: str) -> None:
    if isinstance(model, (bytes, bytearray, memoryview)):
        content = model
    elif hasattr(model, "SerializeToString"):
        try:
            content = model.SerializeToString()
        except Exception as error:  # protobuf's own, for more than 2 GiB
            raise InvalidModel(f"the model cannot be serialized: {error}") from error
    else:
        raise UsageError(
            "a model is a path, bytes, an onnx.ModelProto, a torch.nn.Module or a torch.export.ExportedProgram, "
            f"not a {type(model).__name__}"
        )
    with open(path, "wb") as file:
        file.write(content)
