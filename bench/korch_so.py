"""An executable of korch through its C interface (korch.h), by ctypes; and what every comparison needs."""
import contextlib
import ctypes
import math
import os
import statistics
import subprocess
import time

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32,
          "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}


def inputs_of(folder):
    """The arrays of a folder of .npy files, by name."""
    return {f[:-4]: np.load(os.path.join(folder, f)) for f in sorted(os.listdir(folder)) if f.endswith(".npy")}


@contextlib.contextmanager
def disturbance(wanted, binding=("nice", "-n", "19")):
    """Beside what is done meanwhile: a process that computes all the time, at nice 19 (`binding`); or none, and None."""
    beside = subprocess.Popen([*binding, "sh", "-c", "while :; do :; done"]) if wanted else None
    try:
        yield beside
    finally:
        if beside:
            beside.kill()
            beside.wait()


def add_round_options(parser, rounds, max_seconds):
    """What interleaved() and disturbance() ask for."""
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--max-seconds", type=float, default=max_seconds, help="of the rounds of one network")
    parser.add_argument("--pause", type=float, default=0.03)
    parser.add_argument("--disturb", action="store_true", help="a process beside it that computes all the time, at nice 19")


def interleaved(runs, args, warm_up=3):
    """Seconds of each of `runs` (name -> callable) in every round, in turns: args.rounds, pause and max_seconds."""
    times, order, start = {name: [] for name in runs}, list(runs), time.time()
    for i in range(args.rounds + warm_up):
        for name in order[i % len(order):] + order[:i % len(order)]:
            time.sleep(args.pause)  # the other ones' workers stop spinning
            runs[name]()
            t = time.perf_counter()
            runs[name]()
            if i >= warm_up:
                times[name].append(time.perf_counter() - t)
        if i >= 12 and time.time() - start > args.max_seconds:
            break
    return times


def interval(ratios):
    """The median with its 95 % interval, from the ranks of the binomial distribution."""
    s, n = sorted(ratios), len(ratios)
    half = 0.98 * math.sqrt(n)
    at = lambda r: s[int(min(max(r, 0), n - 1))]
    return statistics.median(s), at(math.floor(n / 2 - half)), at(math.ceil(n / 2 + half))


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("size_bytes", ctypes.c_uint64)]


class ModelInfo(ctypes.Structure):
    _fields_ = [("api_version", ctypes.c_uint32), ("isa", ctypes.c_char_p), ("threads", ctypes.c_uint32),
                ("input_count", ctypes.c_uint32), ("output_count", ctypes.c_uint32),
                ("inputs", ctypes.POINTER(TensorInfo)), ("outputs", ctypes.POINTER(TensorInfo)),
                ("step_count", ctypes.c_uint32), ("step_names", ctypes.POINTER(ctypes.c_char_p)),
                ("arena_bytes", ctypes.c_uint64), ("weights_bytes", ctypes.c_uint64)]


class RunOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("step_us", ctypes.c_void_p), ("observe", ctypes.c_void_p),
                ("user", ctypes.c_void_p), ("cancel", ctypes.c_void_p), ("input_dims", ctypes.POINTER(ctypes.c_void_p))]


def aligned_empty(shape, dtype):
    count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.empty(count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + count].view(dtype).reshape(shape)


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint64), ("threads", ctypes.c_int32), ("concurrent", ctypes.c_int32),
                ("parallel", ctypes.c_void_p), ("parallel_user", ctypes.c_void_p), ("pool", ctypes.c_void_p),
                ("spin_us", ctypes.c_int32), ("schedule", ctypes.c_int32)]


class Executable:
    def __init__(self, path, threads=0, schedule=0):
        self.lib = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
        self.lib.korch_describe.restype = ctypes.POINTER(ModelInfo)
        self.lib.korch_last_error.restype = ctypes.c_char_p
        self.instance = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), threads, 0, None, None, None, 0, schedule)
        status = self.lib.korch_create_with(ctypes.byref(options), ctypes.byref(self.instance))
        if status != 0:
            raise RuntimeError("korch_create: status %d" % status)
        info = self.lib.korch_describe().contents
        self.inputs = [self._io(info.inputs[i]) for i in range(info.input_count)]
        self.outputs = [self._io(info.outputs[i]) for i in range(info.output_count)]

    @staticmethod
    def _io(t):
        return t.name.decode(), DTYPES[t.dtype.decode()], tuple(t.dims[i] for i in range(t.rank))

    def bind(self, arrays):
        """Copies the inputs (name -> array) into aligned buffers; outputs are self.results, at their bounds."""
        self.buffers, self.options = [], None
        for name, dtype, shape in self.inputs:
            buffer = aligned_empty(np.shape(arrays[name]), dtype)
            buffer[...] = arrays[name]
            self.buffers.append(buffer)
        if any(b.shape != shape for b, (_, _, shape) in zip(self.buffers, self.inputs)):  # open dimensions
            self.dims = [np.array(b.shape, np.int64) for b in self.buffers]
            pointers = (ctypes.c_void_p * len(self.dims))(*[d.ctypes.data for d in self.dims])
            self.options = RunOptions(ctypes.sizeof(RunOptions), None, None, None, None, pointers)
        self.results = [aligned_empty(shape, dtype) for _, dtype, shape in self.outputs]
        self.in_pointers = (ctypes.c_void_p * len(self.buffers))(*[b.ctypes.data for b in self.buffers])
        self.out_pointers = (ctypes.c_void_p * len(self.results))(*[b.ctypes.data for b in self.results])

    def run(self):
        if self.options:
            status = self.lib.korch_run_with(self.instance, self.in_pointers, self.out_pointers, ctypes.byref(self.options))
        else:
            status = self.lib.korch_run(self.instance, self.in_pointers, self.out_pointers)
        if status != 0:
            raise RuntimeError("korch_run: " + self.lib.korch_last_error(self.instance).decode())

    def dense_results(self):
        """The outputs of the extents that the last run gave them."""
        arrays = []
        for number, array in enumerate(self.results):
            dims = (ctypes.c_int64 * max(array.ndim, 1))()
            self.lib.korch_output_dims(self.instance, number, dims)
            shape = tuple(dims[:array.ndim])
            arrays.append(array.reshape(-1)[:int(np.prod(shape, dtype=np.int64))].reshape(shape))
        return arrays

    def close(self):
        self.lib.korch_free(self.instance)
