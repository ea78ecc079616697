"""Networks as a caller has them -> ONNX files that the compiler reads."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from typing import Any, Iterator, Optional, Sequence

from ._errors import InvalidModel, UsageError


@contextlib.contextmanager
def model_file(model: Any, inputs: Optional[Sequence[Any]]) -> Iterator[str]:
    """The path of `model` as an ONNX file, which lives while the context does where it had to be written."""
    is_module = _is_torch_module(model)
    if inputs is not None and not is_module:
        raise UsageError("example inputs are for a torch.nn.Module; give `shapes` for an ONNX model")
    if isinstance(model, (str, os.PathLike)):
        yield os.fsdecode(model)
        return
    with tempfile.TemporaryDirectory(prefix="korch-") as folder:
        path = os.path.join(folder, f"{type(model).__name__ if is_module else 'model'}.onnx")
        if is_module:
            if inputs is None:
                raise UsageError("a torch.nn.Module needs example inputs: korch.compile(module, inputs=(x,))")
            _export(model, inputs, path)
        else:
            _write(model, path)
        yield path


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
            "a model is a path, bytes, an onnx.ModelProto or a torch.nn.Module, "
            f"not a {type(model).__name__}"
        )
    with open(path, "wb") as file:
        file.write(content)


def _is_torch_module(model: Any) -> bool:
    # Who has one has imported torch.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _export(module: Any, inputs: Sequence[Any], path: str) -> None:
    import torch  # type: ignore[import-not-found, unused-ignore]

    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            torch.onnx.export(module, tuple(inputs), path, dynamo=False)
    except Exception as error:
        raise InvalidModel(f"torch.onnx cannot export the {type(module).__name__}: {error}") from error
    finally:
        module.train(was_training)
