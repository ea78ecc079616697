"""korch.Executable: a compiled network."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import shutil
import statistics
import weakref
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _korch, _worker
from ._arguments import Shapes, bounds_of, whole
from ._errors import FileError, InvalidInput, UsageError
from ._model import Example, model_file
from ._state import State


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """An input or output: dense, row-major."""

    name: str
    dtype: str
    """f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64 or bool; or a stored type, a byte per element:
    f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1 (their bits), i4, u4, i2, u2."""
    shape: Tuple[int, ...]
    nbytes: int

    @property
    def numpy_dtype(self) -> np.dtype:
        """Of NumPy arrays for it; of bf16, which NumPy lacks, uint16: its bits; of stored types uint8 or int8."""
        return np.dtype(_korch.numpy_name(self.dtype))


@dataclasses.dataclass(frozen=True)
class StepTime:
    """What one kernel of the plan took."""

    label: str
    """The primitives that it computes, e.g. "Conv+Add+Relu"."""
    implementation: str
    onnx_nodes: Tuple[str, ...]
    """Names of the network's nodes that they stem from."""
    median_us: float
    predicted_us: float
    flops: float
    bytes: float
    """That it reads and writes at least."""


@dataclasses.dataclass(frozen=True)
class OutputDeviation:
    """How far an output was from the network in float64, over all samples."""

    name: str
    max_error: float
    """Largest absolute difference."""
    ratio: float
    """Largest difference / tolerance of the element: at most 1 when verified."""


class Executable:
    """A network compiled by korch, loaded into this process. Made by korch.compile and korch.load.

    Call it with arrays (NumPy's, PyTorch's, anything with the buffer protocol or DLPack), in the order of `inputs` or
    by name. One for a GPU takes arrays in the CPU's memory, which it copies, or arrays in that of GPU 0. Threads may call it at once: as many calls as it has instances run, the others wait. After a fork the
    child makes an instance of its own by its first call.
    """

    def __init__(self, path: str, threads: int, instances: int, *, _folder: Optional[str] = None) -> None:
        self._network = _korch.Network(path, threads, instances)
        self._path = path
        self._inputs = tuple(TensorInfo(*tensor) for tensor in self._network.inputs)
        self._outputs = tuple(TensorInfo(*tensor) for tensor in self._network.outputs)
        kept = self._network.states
        self._states = tuple((self._inputs[i].name, self._outputs[o].name) for i, o, _ in kept)
        self._free_inputs = tuple(t for t in self._inputs if t.name not in {name for name, _ in self._states})
        self._free_outputs = tuple(t for t in self._outputs if t.name not in {name for _, name in self._states})
        self._remove = weakref.finalize(self, _remove_folder, _folder, os.getpid())

    @property
    def path(self) -> str:
        """The executable's file: a temporary one, unless `output` named it."""
        return self._path

    @property
    def inputs(self) -> Tuple[TensorInfo, ...]:
        """In the order in which a call takes them."""
        return self._inputs

    @property
    def outputs(self) -> Tuple[TensorInfo, ...]:
        """In the order in which a call returns them."""
        return self._outputs

    @property
    def states(self) -> Tuple[Tuple[str, str], ...]:
        """Names of an input and of the output that is for it in the next call: a state (korch.State) keeps them."""
        return self._states

    def state(self) -> State:
        """An empty state, for calls with `state=`.

        Raises:
            UsageError: no output is for an input (`states` is empty).
        """
        return State(self)

    @property
    def threads(self) -> int:
        """Workers that it was compiled for, the caller among them."""
        return self._network.threads

    @property
    def shared_libraries(self) -> List[str]:
        """Sonames of the system's libraries that it loads."""
        return self._network.needed

    @functools.cached_property
    def plan(self) -> Dict[str, Any]:
        """The plan as JSON has it: kernels, steps, tensors, and alternatives that were rejected."""
        return json.loads(self._network.plan_json)

    @property
    def report(self) -> Dict[str, Any]:
        """How the plan was found: objective_us, bound_us, measured_us (microseconds), gap, certified, primitives,
        candidates, columns, and more."""
        return self.plan["report"]

    def __call__(
        self,
        *inputs: Any,
        out: Union[Any, Sequence[Any], Mapping[str, Any], None] = None,
        state: Optional[State] = None,
        **named: Any,
    ) -> Any:
        """Runs the network. The GIL is released meanwhile.

        Args:
            *inputs: One array per input, of its dtype and shape (of smaller extents where those are open); or one dict, name -> array. Nothing is copied where
                an array is row-major without gaps and aligned to its elements (to 64 bytes is fastest).
            out: Arrays to write the outputs to: one per output (alone where there is one), or a dict by name.
                Writable, row-major without gaps, and apart from each other and from the inputs.
            state: What earlier calls with it left, and takes what this one leaves. Then neither `inputs` nor `out` nor
                the result has the inputs and outputs of `states`. (An array is the input of this name, if there is one.)
            **named: Instead of `inputs`, by name, where names allow it.

        Returns:
            The output, or a tuple of them where there are several or none: `out`'s arrays, or new NumPy arrays.
                Where extents depend on the data (`outputs` tells their bounds), of the extents that they have: then
                the beginning of `out`'s memory. Of inputs in a GPU's memory: korch.GpuArray, for torch.from_dlpack
                and the like.

        Raises:
            InvalidInput: an array does not fit, holds an index that leaves its axis, or is none that the network takes.
            UsageError: the executable is closed.
            ResourceError: memory or threads are short.
        """
        if state is not None and not isinstance(state, State):
            named["state"], state = state, None
        if out is not None:
            out = self._in_order(out, self._outputs if state is None else self._free_outputs, "output")
        wanted = self._inputs if state is None else self._free_inputs
        kept = None if state is None else state._kept
        results = self._network.run(self._arguments(inputs, named, wanted), out, kept)
        return results[0] if len(results) == 1 else tuple(results)

    def profile(self, *inputs: Any, rounds: int = 20, **named: Any) -> List[StepTime]:
        """Times every kernel, in the order in which they run.

        Args:
            *inputs: As in a call; random ones where there are none.
            rounds: Runs of which the median is taken, after three that do not count.
        """
        rounds = whole("rounds", rounds, 1, 10**6)
        arguments = self._arguments(inputs, named) if inputs or named else self.random_inputs()
        for _ in range(3):
            self._network.profile(arguments)
        times = [self._network.profile(arguments) for _ in range(rounds)]
        kernels = self.plan["kernels"]
        return [
            StepTime(
                step["label"],
                step["implementation"],
                tuple(step["onnx_nodes"]),
                statistics.median(row[number] for row in times),
                step["predicted_us"],
                kernels[step["kernel"]]["flops"],
                kernels[step["kernel"]]["bytes"],
            )
            for number, step in enumerate(self.plan["steps"])
        ]

    def explain(self, kernel: Optional[int] = None) -> str:
        """The plan as text: what was fused, and why. `kernel`: one step alone, by its number, with its primitives
        and the alternatives that were rejected."""
        if kernel is not None and not 0 <= kernel < len(self.plan["steps"]):
            raise UsageError(f"the plan has {len(self.plan['steps'])} steps: there is no step {kernel}")
        return self._network.explain(-1 if kernel is None else kernel)

    def explain_html(
        self, path: Union[str, os.PathLike, None] = None, *, times: Optional[Sequence[StepTime]] = None
    ) -> str:
        """The plan as one HTML page that needs nothing else: graph, time line, memory, roofline, kernels and
        their sources.

        Args:
            path: A file to write it to.
            times: What profile() returned: the page has the times of the steps there.

        Raises:
            FileError: the executable's file is gone, or the page cannot be written.
        """
        steps = len(self.plan["steps"])
        if times is not None and len(times) != steps:
            raise UsageError(f"the plan has {steps} steps, there are {len(times)} times")
        page = self._network.explain_html([time.median_us for time in times or ()])
        if path is not None:
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(page)
            except OSError as error:
                raise FileError(f"the page cannot be written: {error}") from error
        return page

    def verify(
        self,
        model: Any,
        *,
        inputs: Optional[Sequence[Any]] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        dynamic_shapes: Any = None,
        exporter: str = "dynamo",
        shapes: Optional[Shapes] = None,
        value_bounds: Optional[Mapping[str, int]] = None,
        samples: int = 3,
        seed: int = 1,
    ) -> List[OutputDeviation]:
        """Compares this executable with the network that it was made from, in float64 on random inputs.

        Args:
            model, inputs, kwargs, dynamic_shapes, exporter, shapes, value_bounds: As korch.compile had them.
            samples: Random inputs to try.
            seed: Of the random inputs.

        Raises:
            AccuracyError: they differ; the first wrong kernel is named.
            InvalidModel: it was made from another network.
        """
        what = {
            "verb": "verify",
            "bounds": bounds_of(value_bounds),
            "executable": self._path,
            "samples": whole("samples", samples, 1, 10000),
            "seed": whole("seed", seed, 0, 2**64 - 1),
        }
        with model_file(model, Example(inputs, kwargs, dynamic_shapes, exporter), shapes) as network:
            return [OutputDeviation(**output) for output in _worker.request({**what, **network.request})]

    def random_inputs(self, seed: int = 1) -> List[np.ndarray]:
        """Arrays for the inputs: floats from a normal distribution, integers and truth values 0 or 1."""
        random = np.random.default_rng(seed)
        arrays = []
        for tensor in self._inputs:
            if tensor.dtype == "bf16":
                bits = random.standard_normal(tensor.shape, np.float32).view(np.uint32)
                arrays.append((bits >> 16).astype(np.uint16))
            elif tensor.dtype.startswith(("f8", "f4")):  # the bits of small numbers
                arrays.append(random.integers(0, 4, tensor.shape).astype(tensor.numpy_dtype))
            elif tensor.dtype.startswith("f"):
                arrays.append(np.asarray(random.standard_normal(tensor.shape)).astype(tensor.numpy_dtype))
            else:
                arrays.append(np.asarray(random.integers(0, 2, tensor.shape)).astype(tensor.numpy_dtype))
        return arrays

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Copies the executable to a file, for korch.load, C or another process."""
        if not os.path.exists(self._path):
            raise UsageError("the executable is closed, and its temporary file is gone")
        shutil.copyfile(self._path, path)

    def close(self) -> None:
        """Gives memory and workers back as soon as no call runs any more. Further calls raise UsageError."""
        self._network.close()
        self._remove()

    def __enter__(self) -> Executable:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        def text(tensors: Tuple[TensorInfo, ...]) -> str:
            return ", ".join(f"{t.name} {t.dtype}[{'x'.join(map(str, t.shape))}]" for t in tensors)

        return f"<korch.Executable {text(self._inputs)} -> {text(self._outputs)}>"

    def _arguments(
        self, inputs: Tuple[Any, ...], named: Mapping[str, Any], wanted: Optional[Tuple[TensorInfo, ...]] = None
    ) -> Sequence[Any]:
        wanted = self._inputs if wanted is None else wanted
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            return self._in_order({**inputs[0], **named}, wanted, "input")
        if not named:
            return inputs
        if inputs:
            raise UsageError("give the inputs in order or by name, not both")
        return self._in_order(named, wanted, "input")

    @staticmethod
    def _in_order(arrays: Any, tensors: Tuple[TensorInfo, ...], role: str) -> Sequence[Any]:
        if isinstance(arrays, Mapping):
            known = {tensor.name for tensor in tensors}
            for name in arrays:
                if name not in known:
                    raise InvalidInput(f"there is no {role} {name!r}; there are {', '.join(map(repr, sorted(known)))}")
            for tensor in tensors:
                if tensor.name not in arrays:
                    raise InvalidInput(f"{role} {tensor.name!r} is missing")
            return [arrays[tensor.name] for tensor in tensors]
        return arrays if isinstance(arrays, (tuple, list)) else (arrays,)


def _remove_folder(folder: Optional[str], process: int) -> None:
    # Not by the child of a fork: the file is its parent's.
    if folder is not None and os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
