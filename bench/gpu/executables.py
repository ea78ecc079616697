"""Whole executables (korch compile --target sm_90): each runs through its C interface, its outputs are compared with those of
an executable for a CPU, and it is timed: as a CUDA graph, launch after launch, and step by step."""
import array
import ctypes
import gzip
import json
import math
import os
import statistics
import tempfile
import time

from part1 import Absent

FOLDER = "executables"
RUNS, WARM_UP, MOST_SECONDS, SLOW_SECONDS = 50, 5, 4.0, 0.3
TOLERANCE = 1e-3  # of the largest expected element: another order of sums, through a whole network
TOP_STEPS = 8
NO_GPU, OTHER_GPU = 14, 15  # KORCH_NO_GPU, KORCH_UNSUPPORTED_GPU
GRAPH, LAUNCHES = 2, 1      # korch_options::schedule


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("size_bytes", ctypes.c_uint64)]


class ModelInfo(ctypes.Structure):
    _fields_ = [("api_version", ctypes.c_uint32), ("isa", ctypes.c_char_p), ("threads", ctypes.c_uint32),
                ("input_count", ctypes.c_uint32), ("output_count", ctypes.c_uint32), ("inputs", ctypes.POINTER(TensorInfo)),
                ("outputs", ctypes.POINTER(TensorInfo)), ("step_count", ctypes.c_uint32),
                ("step_names", ctypes.POINTER(ctypes.c_char_p))]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("threads", ctypes.c_int32), ("concurrent", ctypes.c_int32),
                ("parallel", ctypes.c_void_p), ("parallel_user", ctypes.c_void_p), ("pool", ctypes.c_void_p),
                ("spin_us", ctypes.c_int32), ("schedule", ctypes.c_int32), ("device", ctypes.c_int32)]


def data_of(path):
    """The elements' bytes of an .npy file."""
    with gzip.open(path, "rb") as f:
        content = f.read()
    header = 10 + int.from_bytes(content[8:10], "little") if content[6] == 1 else 12 + int.from_bytes(content[8:12], "little")
    return content[header:]


class Network:
    """An executable that was carried, with its inputs and what its outputs should be."""

    def __init__(self, folder, library):
        os.environ["KORCH_CUDA_DRIVER"] = library
        self.folder, self.scratch = folder, tempfile.TemporaryDirectory()
        path = os.path.join(self.scratch.name, "network.so")
        with gzip.open(os.path.join(folder, "network.so.gz"), "rb") as packed, open(path, "wb") as f:
            f.write(packed.read())
        self.lib = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        self.lib.korch_describe.restype = ctypes.POINTER(ModelInfo)
        for name in ("korch_last_error", "korch_status_text"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.info = self.lib.korch_describe().contents
        with open(os.path.join(folder, "files.json")) as f:
            files = json.load(f)
        self.inputs = [ctypes.create_string_buffer(data_of(os.path.join(folder, name))) for name in files["inputs"]]
        self.expected = [data_of(os.path.join(folder, name)) for name in files["outputs"]]
        self.outputs = [ctypes.create_string_buffer(len(data)) for data in self.expected]
        self.predicted_us = files["predicted_us"]
        self.from_, self.to = self.pointers(self.inputs), self.pointers(self.outputs)

    @staticmethod
    def pointers(buffers):
        return (ctypes.c_void_p * max(len(buffers), 1))(*[ctypes.addressof(b) for b in buffers])

    def instance(self, schedule):
        made = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), 0, 0, None, None, None, 0, schedule, 0)
        status = self.lib.korch_create_with(ctypes.byref(options), ctypes.byref(made))
        if status in (NO_GPU, OTHER_GPU):
            raise Absent(self.lib.korch_status_text(status).decode())
        self.check(status, None)
        return made

    def check(self, status, instance):
        if status != 0:
            told = self.lib.korch_last_error(instance) if instance else b""
            raise RuntimeError((told or self.lib.korch_status_text(status)).decode())

    def run(self, instance, step_us=None):
        self.check(self.lib.korch_profile(instance, self.from_, self.to, step_us, None, None), instance)

    def error(self):
        """The largest difference, over the largest expected element."""
        worst = 0.0
        for got, expected in zip(self.outputs, self.expected):
            ours, theirs = array.array("f", got.raw[:len(expected)]), array.array("f", expected)
            scale = max(max(map(abs, theirs)), 1e-30)
            if not all(map(math.isfinite, ours)):
                return math.inf
            worst = max(worst, max(abs(a - b) for a, b in zip(ours, theirs)) / scale)
        return worst

    def times_us(self, instance):
        times, until = [], time.monotonic() + MOST_SECONDS
        while not times or (len(times) < WARM_UP + RUNS and time.monotonic() < until):
            start = time.perf_counter()
            self.run(instance)
            times.append(1e6 * (time.perf_counter() - start))
            if times[0] > 1e6 * SLOW_SECONDS:  # the emulator
                return times
        return times[WARM_UP:] or times

    def steps(self, instance):
        us = (ctypes.c_double * self.info.step_count)()
        self.run(instance, us)
        rows = [{"step": s, "name": self.info.step_names[s].decode()[:100], "us": us[s], "predicted_us": predicted}
                for s, predicted in enumerate(self.predicted_us)]
        return sorted(rows, key=lambda row: -row["us"])[:TOP_STEPS], sum(us)


def measured(folder, library):
    network = Network(folder, library)
    row = {"predicted_us": sum(network.predicted_us)}
    for schedule, key in ((GRAPH, "graph_us"), (LAUNCHES, "launches_us")):
        instance = network.instance(schedule)
        network.run(instance)
        error = network.error()
        if not error <= TOLERANCE:
            raise RuntimeError("error %.3g of the largest element, as %s" % (error, key))
        row["worst"] = max(row.get("worst", 0), error)
        row[key] = statistics.median(network.times_us(instance))
        if schedule == LAUNCHES:
            row["steps"], row["steps_us"] = network.steps(instance)
        network.lib.korch_free(instance)
    return row


def items(args):
    whole = os.path.join(args.dir, FOLDER)
    names = sorted(os.listdir(whole)) if os.path.isdir(whole) else []
    return [(name, lambda name=name: measured(os.path.join(whole, name), args.libcuda)) for name in names]
