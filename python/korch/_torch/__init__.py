"""korch as a backend of torch.compile: `torch.compile(model, backend="korch")`. PyTorch finds it by the entry point
`torch_dynamo_backends`; nothing else of korch imports torch.

    backend          the entry point: options, gradients
    compiled         one graph's executables, by shapes and weights
    planning         a graph's operators: which korch compiles, and which run in eager mode
    part             operators that became an executable
    export           such a part as an ONNX model
    decompositions   operators that ONNX has no form for, by others
    cache            executables that other processes made
"""

from .backend import backend

__all__ = ["backend"]
