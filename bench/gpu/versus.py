"""The executables that `measured` made against PyTorch on the same inputs' shapes: in turns, batch 1, float32.

Both keep their data on the GPU: an executable is put into a stream, PyTorch is a CUDA Graph, eager or by torch.compile.
"""
import ctypes
import os
import statistics

import carried
from cuda_driver import Driver
from executables import ModelInfo, Options
from part1 import Absent

ROUNDS, RUNS = 7, 20
EMULATED_ROUNDS, EMULATED_RUNS = 2, 1


class RunOptions(ctypes.Structure):
    """korch_run_options, version 7."""
    _fields_ = [("struct_size", ctypes.c_uint64), ("step_us", ctypes.c_void_p), ("observe", ctypes.c_void_p),
                ("user", ctypes.c_void_p), ("cancel", ctypes.c_void_p), ("input_dims", ctypes.c_void_p),
                ("observe_slices", ctypes.c_void_p), ("slices_user", ctypes.c_void_p), ("on_device", ctypes.c_int32),
                ("stream", ctypes.c_void_p)]


class Ours:
    """An executable whose inputs and outputs are on the GPU."""

    def __init__(self, path, cuda, library):
        os.environ["KORCH_CUDA_DRIVER"] = library
        self.cuda, self.lib = cuda, ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        self.lib.korch_describe.restype = ctypes.POINTER(ModelInfo)
        for name in ("korch_last_error", "korch_status_text"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        info = self.lib.korch_describe().contents
        self.instance = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), 0, 0, None, None, None, 0, 0, 0)
        self.check(self.lib.korch_create_with(ctypes.byref(options), ctypes.byref(self.instance)))
        self.inputs = self.buffers(info.inputs, info.input_count)
        self.outputs = self.buffers(info.outputs, info.output_count)
        self.options = RunOptions(ctypes.sizeof(RunOptions), on_device=1, stream=cuda.stream)

    def buffers(self, tensors, count):
        places = []
        for i in range(count):
            at, size = ctypes.c_uint64(), tensors[i].size_bytes
            self.cuda("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(size, 4)))
            self.cuda.fill(at.value, 0, size)
            places.append(at.value)
        return (ctypes.c_void_p * max(count, 1))(*places)

    def check(self, status):
        if status != 0:
            told = self.lib.korch_last_error(self.instance) if self.instance else b""
            raise RuntimeError((told or self.lib.korch_status_text(status)).decode())

    def close(self):
        self.lib.korch_free(self.instance)
        for at in filter(None, [*self.inputs, *self.outputs]):
            self.cuda("cuMemFree_v2", ctypes.c_uint64(at))

    def us(self, runs):
        """Of one of so many runs, one behind the other."""
        cuda, (begin, end) = self.cuda, self.cuda.events
        cuda("cuEventRecord", begin, cuda.stream)
        for _ in range(runs):
            self.check(self.lib.korch_run_with(self.instance, self.inputs, self.outputs, ctypes.byref(self.options)))
        cuda("cuEventRecord", end, cuda.stream)
        self.check(self.lib.korch_wait(self.instance))
        cuda("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        cuda("cuEventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return 1000 * milliseconds.value / runs


def torch_us(torch, graph, runs):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(runs):
        graph.replay()
    end.record()
    end.synchronize()
    return 1000 * begin.elapsed_time(end) / runs


def theirs(args, name):
    """{way: time of so many runs}, and what is not there."""
    import networks

    try:
        torch = networks.modules()[1]
        made, ways = networks.Networks(args), {}
        for way in ("eager", "compiled"):
            graph = made.graph(name, 1, False, way)[0]
            ways[way] = lambda runs, graph=graph: torch_us(torch, graph, runs)
        return ways, "PyTorch " + torch.__version__
    except Absent as absent:
        return {}, str(absent)


def measured(args, name):
    path = carried.made(args, name, ".so")
    if not os.path.exists(path):
        raise Absent("it was not compiled")
    ours = Ours(path, Driver(args.libcuda), args.libcuda)
    emulated = args.libcuda != "libcuda.so.1"
    rounds, runs = (EMULATED_ROUNDS, EMULATED_RUNS) if emulated else (ROUNDS, RUNS)
    ways, note = theirs(args, name)
    ways = {"korch": ours.us, **ways}
    times = {way: [] for way in ways}
    for number in range(rounds + 1):  # the first warms up
        for way, us in ways.items():
            took = us(runs)
            if number:
                times[way].append(took)
    ours.close()
    row = {way + "_us": statistics.median(took) for way, took in times.items()}
    others = [row[way + "_us"] for way in ways if way != "korch"]
    return {**row, "note": note, **({"ratio": min(others) / row["korch_us"]} if others else {})}


def items(args):
    names = [name.split(".")[0] for name in carried.names(args)]
    return [(name, lambda name=name: measured(args, name)) for name in names]
