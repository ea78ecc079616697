"""torch.nn.Module and torch.export.ExportedProgram -> ONNX files."""

from __future__ import annotations

import contextlib
import copy
import io
import re
import warnings
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import torch  # type: ignore[import-not-found, unused-ignore]

from . import small_extents
from .dynamic_shapes import as_dims, by_argument, named_dims, named_symbols, ranges_of, rename, without
from .._errors import CompileWarning, UsageError
from .errors import messages_aside, not_exported, traced_values
from .._model import Example

_MOST_INLINE_BYTES = 1 << 30  # of weights within the model's file, which protobuf limits to 2 GiB

# Modules that compute something else in training mode.
_TRAINED = (
    torch.nn.modules.dropout._DropoutNd,
    torch.nn.modules.batchnorm._NormBase,
    torch.nn.RReLU,
    torch.nn.RNNBase,
    torch.nn.MultiheadAttention,
)


class Exported(NamedTuple):
    program: torch.export.ExportedProgram
    names: Dict[str, str]
    """What `dynamic_shapes` calls the program's symbols."""
    least: Dict[str, int]
    """Least extents by that name, where they are below those of the program: `samples` say what it computes then."""
    samples: List[small_extents.Sample]


def export(model: Any, example: Example, path: str) -> Tuple[Dict[str, Dict[str, str]], List[small_extents.Sample]]:
    """Writes `model` to `path`. Returns the ranges of its open extents, as korch.compile's `shapes` has them, by
    input, and results that the executable must have."""
    inputs = (example.inputs,) if isinstance(example.inputs, torch.Tensor) else tuple(example.inputs or ())
    kwargs = dict(example.kwargs or {})
    if example.exporter == "torchscript":
        _trace(model, inputs, kwargs, path)
        return {}, []
    _require_onnxscript()
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if isinstance(model, torch.jit.ScriptModule):
        raise UsageError('a ScriptModule is for exporter="torchscript"')
    if isinstance(model, torch.nn.Module):
        what = type(model).__name__
        exported = _exported(model, inputs, kwargs, example.dynamic_shapes)
    else:
        what, exported = "the ExportedProgram", Exported(model, {}, {}, [])
        if trained := _with_training(model, True):
            advice = "call net.eval() before torch.export.export"
            warnings.warn(f"{what} was exported in training mode, {_listed(trained)}: {advice}", CompileWarning)
    program = exported.program
    try:
        with messages_aside(), contextlib.redirect_stdout(io.StringIO()):  # some versions count rewrites there
            onnx = torch.onnx.export(program, (), dynamo=True, verbose=False)
    except Exception as error:
        raise not_exported(what, error) from None
    signature = onnx.exported_program.graph_signature
    if written := [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]:
        warnings.warn(
            f"{what} writes to {_listed(written)}, which an executable does not: each call begins with the buffers as "
            "they are now, and leaves its inputs as they are",
            CompileWarning,
        )
    _name_inputs(onnx.model.graph, program)
    _name_outputs(onnx.model.graph, program.call_spec.out_spec)
    names = without(exported.names, (value.name for value in onnx.model.graph.inputs))
    rename(onnx.model, names)
    weights = sum(t.numel() * t.element_size() for t in program.state_dict.values())
    onnx.save(path, external_data=weights > _MOST_INLINE_BYTES)
    return ranges_of(program, exported.names, exported.least, names), exported.samples


def _require_onnxscript() -> None:
    try:
        import onnxscript  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError as error:
        raise UsageError(f"torch.onnx needs onnxscript: pip install 'korch[torch]' ({error})") from None


def _exported(module: torch.nn.Module, inputs: tuple, kwargs: Dict[str, Any], dynamic_shapes: Any) -> Exported:
    what = type(module).__name__
    # Each input is a tensor of its own, by whose identity its extents' symbols are found.
    given = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach(), (inputs, kwargs))
    arguments = by_argument(module, *given)
    dims = as_dims(dynamic_shapes, arguments)
    training = {name for name, child in module.named_modules() if child.training}
    with messages_aside(), _evaluation(module):
        try:
            exported = _named(_program(module, given, dims), given, dims, arguments)
        except Exception as error:
            from_two = _from_two(module, given, dims, arguments, error)
            if from_two is None:
                raise not_exported(what, error) from None
            exported = from_two
    affected = [node for node in _with_training(exported.program, False) if _owner(node) in training]
    _warn_of_training(what, sorted({_owner(node) or str(node.target) for node in affected}))
    return exported


def _program(module: torch.nn.Module, given: Any, dims: Any) -> torch.export.ExportedProgram:
    with _open_extents(dims is not None):
        return torch.export.export(module, *given, dynamic_shapes=dims, strict=False)


def _named(program: torch.export.ExportedProgram, given: Any, dims: Any, arguments: Dict[str, Any]) -> Exported:
    return Exported(program, {} if dims is None else named_symbols(program, given, dims, arguments), {}, [])


def _from_two(
    module: torch.nn.Module, given: Any, dims: Any, arguments: Dict[str, Any], error: Exception
) -> Optional[Exported]:
    """Where PyTorch refuses ranges (`error`), its program for extents from 2. None where it refuses that too."""
    least = small_extents.left_out(error, dims)
    if not least:
        return None
    small = {name: 2 for axis, name, tensor in named_dims(dims, arguments) if tensor.shape[axis] < 2}
    example = small_extents.resized(given, dims, arguments, small)
    try:
        program = _program(module, example, small_extents.from_two(dims, least))
        copy.deepcopy(module)
    except Exception:  # the first refusal is about what the caller gave
        return None

    def call(inputs: Any) -> Any:
        # A copy each time: the caller's module stays as it is, and each result is that of its buffers as they are now.
        with torch.random.fork_rng():
            return copy.deepcopy(module)(*inputs[0], **inputs[1])

    samples, least = small_extents.samples(
        type(module).__name__,
        call,
        least,
        lambda extents: small_extents.resized(given, dims, arguments, extents),
    )
    return _named(program, example, dims, by_argument(module, *example))._replace(least=least, samples=samples)


def _trace(module: torch.nn.Module, inputs: tuple, kwargs: Dict[str, Any], path: str) -> None:
    """By torch.jit.trace: control flow is that of the example inputs, extents are theirs."""
    what = type(module).__name__
    _warn_of_training(what, [name or what for name, child in module.named_modules() if _is_trained(child)])
    try:
        with warnings.catch_warnings(record=True) as caught, _evaluation(module), torch.no_grad():
            warnings.simplefilter("always")
            torch.onnx.export(module, inputs, path, kwargs=kwargs, dynamo=False)
    except Exception as error:
        raise not_exported(what, error) from None
    traced_values(what, [w for w in caught if issubclass(w.category, torch.jit.TracerWarning)])


@contextlib.contextmanager
def _evaluation(module: torch.nn.Module) -> Iterator[None]:
    training = [child for child in module.modules() if child.training]
    for child in training:  # eval() would also call what a module defines, and refuses some modules
        child.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for child in training:
            child.training = True


@contextlib.contextmanager
def _open_extents(some: bool) -> Iterator[None]:
    """Settings of torch.onnx: an example's extent of 1 may be open too, and the steps of a recurrent layer."""
    with contextlib.ExitStack() as settings:
        if some:
            settings.enter_context(torch.fx.experimental._config.patch(backed_size_oblivious=True))
            try:
                from torch.export import _patches  # type: ignore[import-not-found, unused-ignore]
            except ImportError:  # before PyTorch 2.10
                pass
            else:
                for name in ("register_lstm_while_loop_decomposition", "register_gru_while_loop_decomposition"):
                    settings.enter_context(getattr(_patches, name)())
        yield


def _with_training(program: torch.export.ExportedProgram, value: bool) -> List[torch.fx.Node]:
    """The operators, such as dropout, that compute something else in training mode: those that do (True) or do not."""
    return [
        node
        for node in program.graph.nodes
        if any(argument(node, name) is value for name in ("train", "training", "use_input_stats"))
        and all(argument(node, name) != 0 for name in ("p", "dropout"))
    ]


def argument(node: torch.fx.Node, name: str) -> Any:
    """As it was given, or else its default; None where the operator has none of that name."""
    schema = getattr(node.target, "_schema", None)
    for place, argument in enumerate(schema.arguments if schema else ()):
        if argument.name == name:
            return node.args[place] if place < len(node.args) else node.kwargs.get(name, argument.default_value)
    return None


def _owner(node: torch.fx.Node) -> str:
    """The path of the module whose forward has the operator; "": the network's own."""
    stack = list(node.meta.get("nn_module_stack", {}).values())
    return re.sub("@.*", "", stack[-1][0]) if stack else ""  # layer@1: the second call of it


def _is_trained(module: torch.nn.Module) -> bool:
    rate = getattr(module, "p", getattr(module, "dropout", 1))
    return module.training and isinstance(module, _TRAINED) and rate != 0


def _warn_of_training(what: str, parts: Sequence[str]) -> None:
    if parts:
        warnings.warn(
            f"{what} is in training mode, and is compiled as net.eval() makes it, which changes {_listed(parts)}: "
            "call net.eval() first",
            CompileWarning,
        )


def _listed(parts: Sequence[Any]) -> str:
    more = [f"{len(parts) - 3} more"] if len(parts) > 3 else []
    return ", ".join([*map(str, parts[:3]), *more])


def _name_inputs(graph: Any, program: torch.export.ExportedProgram) -> None:
    """As forward's parameters: an input that is also an output may have another name."""
    places = [node.name for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
    if len(places) != len(graph.inputs):
        return
    for value, name in zip(graph.inputs, places):
        if value.name != name:
            for other in (output for node in graph for output in node.outputs if output.name == name):
                other.name = f"{name}_output"
            value.name = name


def _name_outputs(graph: Any, spec: Any) -> None:
    """Outputs of a dict are called as its keys are, those within its values "key.0"."""
    names = _keys(spec, "")
    given = [name for name in names if name]
    taken = {value.name for value in graph.inputs} | {value.name for node in graph for value in node.outputs}
    taken |= set(graph.initializers)
    if len(names) != len(graph.outputs) or len(set(given)) < len(given) or taken & set(given):
        return
    for value, name in zip(graph.outputs, names):
        if name and value is not None:
            value.name = name


def _keys(spec: Any, prefix: str) -> List[str]:
    children = spec.children() if hasattr(spec, "children") else spec.children_specs
    if not children:
        return [prefix] * spec.num_leaves
    keys = spec.context if isinstance(spec.context, list) and len(spec.context) == len(children) else None
    names = []
    for key, child in zip(keys or range(len(children)), children):
        within = isinstance(key, str) or prefix
        names += _keys(child, f"{prefix}.{key}".lstrip(".") if within else "")
    return names
