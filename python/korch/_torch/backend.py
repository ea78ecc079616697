"""The entry point, as PyTorch calls it with every graph that it captured."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Callable, Dict, List, Mapping, Optional

import torch
from functorch.compile import make_boxed_func  # type: ignore[import-untyped, unused-ignore]
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext

from .. import _options
from .._errors import UsageError
from . import export
from .compiled import CompiledGraph

_log = logging.getLogger("korch")


@dataclasses.dataclass(frozen=True)
class Options:
    """Of torch.compile(..., options={...}); what korch.compile has too means the same."""

    threads: int
    instances: int
    verify: bool
    constants: bool
    cache: Any
    compile: Dict[str, Any]
    """As korch.compile takes them."""

    @staticmethod
    def of(given: Optional[Mapping[str, Any]], mode: Optional[str]) -> Options:
        if mode is not None:
            raise UsageError(f"korch has no mode {mode!r}: it has options")
        values = _options.values(_options.TORCH, given or {})
        values["threads"] = values["threads"] or torch.get_num_threads()
        named = {name: values[name] for name in ("threads", "instances", "verify", "constants", "cache")}
        known = _options.table(_options.PYTHON)
        return Options(**named, compile={name: value for name, value in values.items() if name in known})


def backend(
    graph: torch.fx.GraphModule,
    example_inputs: List[Any],
    *,
    options: Optional[Mapping[str, Any]] = None,
    mode: Optional[str] = None,
) -> Callable[..., Any]:
    """Compiles a graph that torch.compile captured, by its first call.

    Logs to "korch": as warnings what runs in eager mode and why, and as information what was compiled.
    """
    chosen = Options.of(options, mode)
    if torch.is_grad_enabled() and any(map(_requires_grad, [*example_inputs, *graph.parameters(), *graph.buffers()])):
        _log.warning(
            "a graph runs in eager mode: gradients are wanted, and korch computes none; "
            "call it below torch.no_grad() or torch.inference_mode()"
        )
        return graph.forward

    def inference(aten: torch.fx.GraphModule, arguments: List[Any]) -> Callable[[List[Any]], Any]:
        weights = _weights(len(arguments), lifted + len(example_inputs)) if chosen.constants else []
        return CompiledGraph(aten, weights, chosen)

    lifted = len([*graph.named_parameters(remove_duplicate=False), *graph.named_buffers(remove_duplicate=False)])
    return aot_autograd(
        fw_compiler=_eager, inference_compiler=inference, decompositions=export.decompositions()
    )(graph, example_inputs)


def _requires_grad(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _eager(graph: torch.fx.GraphModule, _: List[Any]) -> Callable[[List[Any]], Any]:
    _log.warning("a graph runs in eager mode: it computes gradients, and korch computes none")
    return make_boxed_func(graph.forward)


def _weights(count: int, expected: int) -> List[int]:
    """Which arguments of the graph being compiled are parameters and buffers that it does not change."""
    context = TracingContext.try_get()
    metadata = None if context is None else context.fw_metadata
    # Where PyTorch joined arguments that share memory its numbers are of others.
    if metadata is None or count != expected or len(metadata.input_info) != count:
        _log.info("parameters stay arguments: some share memory with others")
        return []
    return [i for i in metadata.static_input_indices or () if not metadata.input_info[i].mutates_data]
