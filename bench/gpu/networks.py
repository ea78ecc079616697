"""PyTorch on the five networks of the paper: eager mode in a CUDA Graph and torch.compile, batch 1 and 16, float32 and TF32.

Modules are converted from the bundled ONNX files (bench/onnx_to_torch.py), whose weights are generated here.
"""
import json
import os
import statistics
import sys

from part1 import Absent

NETWORKS = ["yolox_nano_416", "candy_224", "efficientvit_512", "segformer_b0_512", "yolov4_416"]
REPLAYS = 30


def modules():
    try:
        import onnx
        import torch
    except ImportError as error:
        raise Absent("no PyTorch or no onnx: %s" % error)
    if not torch.cuda.is_available():
        raise Absent("PyTorch %s finds no GPU" % torch.__version__)
    return onnx, torch


def batched(onnx, model, batch):
    """The network for so many images: of Reshape's constant shapes that begin with 1 the first extent is the batch."""
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    shapes = {node.input[1] for node in model.graph.node if node.op_type == "Reshape"}

    def changed(tensor):
        array = onnx.numpy_helper.to_array(tensor).copy()
        if array.ndim == 1 and array.size > 1 and array[0] == 1:
            array[0] = batch
            tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))

    for tensor in model.graph.initializer:
        if tensor.name in shapes:
            changed(tensor)
    for node in model.graph.node:
        if node.op_type == "Constant" and node.output[0] in shapes:
            changed(next(a.t for a in node.attribute if a.name == "value"))
    return model


class Networks:
    def __init__(self, args):
        self.args, self.made = args, {}

    def module(self, name, batch):
        onnx, torch = modules()
        if (name, batch) not in self.made:
            for folder in ("bench", "models"):
                sys.path.insert(0, os.path.join(self.args.dir, folder))
            import fill_weights
            import numpy as np
            import onnx_to_torch

            self.made.clear()  # one network at a time
            model = fill_weights.fill(onnx.load(os.path.join(self.args.dir, "models", name + ".skeleton.onnx")))
            example = {key: np.repeat(value, batch, 0) for key, value in fill_weights.make_inputs(model).items()}
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "visit_%d.onnx" % os.getpid())
            onnx.save(batched(onnx, model, batch) if batch > 1 else model, path)
            try:
                net = onnx_to_torch.module_of(path, example).cuda()
            finally:
                os.remove(path)
            inputs = [torch.from_numpy(value).cuda() for value in example.values()]
            self.made[name, batch] = net, inputs, self.results(net, inputs)
        return (torch,) + self.made[name, batch]

    def results(self, net, inputs):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        with torch.no_grad():
            return [tensor.double().cpu() for tensor in net(*inputs)]

    def graph(self, name, batch, tf32, way):
        """The network as a CUDA Graph, its results after a replay, and those of float32."""
        torch, net, inputs, known = self.module(name, batch)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        with torch.no_grad():
            if way == "compiled":
                torch._dynamo.reset()
                run = torch.compile(net)
            else:
                run = net
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(3):
                    run(*inputs)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                result = run(*inputs)
        return graph, result, known

    def measure(self, name, batch, tf32, way):
        torch = modules()[1]
        graph, result, known = self.graph(name, batch, tf32, way)
        with torch.no_grad():
            times = []
            for _ in range(3 + REPLAYS):
                start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                graph.replay()
                stop.record()
                stop.synchronize()
                times.append(1000 * start.elapsed_time(stop))
            error = max(((a.double().cpu() - b).abs().max() / b.abs().max()).item() for a, b in zip(result, known))
        return {"us": statistics.median(times[3:]), "least_us": min(times[3:]), "error": error, "torch": torch.__version__}


def items(args):
    networks = Networks(args)
    modes = [(way, batch, tf32) for way in ("eager", "compiled") for batch in (1, 16) for tf32 in (False, True)]
    order = [(name, *mode) for half in (modes[:4], modes[4:]) for name in NETWORKS for mode in half]

    def item(name, way, batch, tf32):
        return json.dumps([name, way, batch, "tf32" if tf32 else "float32"]), lambda: networks.measure(name, batch, tf32, way)

    return [item(*entry) for entry in order]
