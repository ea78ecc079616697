"""NVIDIA's driver library through ctypes: one device, one arena of its memory, one stream."""
import ctypes
import gzip
import struct

from part1 import Absent, Lost

GUARD = 4096          # bytes before and after every buffer
UNWRITTEN = 0x7F      # what guards and results hold before a kernel runs
MOST_ARENA = 24 << 30
CAPABILITY = {8: "sm_80", 9: "sm_90", 0: "emulated"}
ATTRIBUTES = {"multiprocessors": 16, "l2_bytes": 38, "shared_bytes_per_block": 97, "registers_per_multiprocessor": 82,
              "clock_khz": 13, "memory_clock_khz": 36, "bus_bits": 37, "major": 75, "minor": 76}


class Driver:
    def __init__(self, library):
        try:
            self.lib = ctypes.CDLL(library)
        except OSError as error:
            raise Absent("no NVIDIA driver: %s" % error)
        self.allowed = {}
        if self.lib.cuInit(0) != 0:
            raise Absent("the NVIDIA driver finds no GPU")
        device, context, self.stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self.device = device
        self.attributes = {name: self.attribute(number) for name, number in ATTRIBUTES.items()}
        self.architecture = CAPABILITY.get(self.attributes["major"])
        if self.architecture is None:
            raise Absent("compute capability %(major)d.%(minor)d, kernels are for 8.x and 9.x" % self.attributes)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        self("cuStreamCreate", ctypes.byref(self.stream), 0)  # blocking: fills and copies go before it, in order
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self("cuEventCreate", ctypes.byref(event), 0)
        self.arena_bytes, self.arena = 0, 0

    def __call__(self, name, *arguments):
        status = getattr(self.lib, name)(*arguments)
        if status != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorName(status, ctypes.byref(text))
            raise Lost("%s: %s" % (name, (text.value or b"?").decode()))

    def attribute(self, number):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def name(self):
        text = ctypes.create_string_buffer(256)
        self("cuDeviceGetName", text, 256, self.device)
        return text.value.decode()

    def memory_bytes(self):
        value = ctypes.c_size_t()
        self("cuDeviceTotalMem_v2", ctypes.byref(value), self.device)
        return value.value

    def load(self, path):
        with gzip.open(path + ".gz") as f:
            image = f.read() + b"\0"
        module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module, symbol):
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), module, symbol.encode())
        return function

    def function_attribute(self, function, number):
        value = ctypes.c_int()
        self("cuFuncGetAttribute", ctypes.byref(value), number, function)
        return value.value

    def clear_arena(self):
        """All buffers are gone."""
        if not self.arena_bytes:
            self.arena_bytes = min(MOST_ARENA, self.memory_bytes() // 4)
            base = ctypes.c_uint64()
            self("cuMemAlloc_v2", ctypes.byref(base), ctypes.c_size_t(self.arena_bytes))
            self.arena = base.value
        self.used, self.buffers = 0, []

    def allocate(self, size, byte=0):
        """`size` bytes that hold `byte`, with guards around them."""
        whole = (size + 2 * GUARD + 255) // 256 * 256
        if self.used + whole > self.arena_bytes:
            raise MemoryError("%d bytes do not fit into the arena of %d" % (self.used + whole, self.arena_bytes))
        base = self.arena + self.used
        self.used += whole
        self.fill(base, UNWRITTEN, whole)
        if size and byte != UNWRITTEN:
            self.fill(base + GUARD, byte, size)
        self.buffers.append((base, size, whole))
        return base + GUARD

    def fill(self, at, byte, size):
        self("cuMemsetD8_v2", ctypes.c_uint64(at), ctypes.c_ubyte(byte), ctypes.c_size_t(size))

    def to_device(self, at, data):
        if data:
            self("cuMemcpyHtoD_v2", ctypes.c_uint64(at), data, ctypes.c_size_t(len(data)))

    def copy(self, to, at, size):
        if size:
            self("cuMemcpyDtoD_v2", ctypes.c_uint64(to), ctypes.c_uint64(at), ctypes.c_size_t(size))

    def to_host(self, at, size):
        data = ctypes.create_string_buffer(max(size, 1))
        if size:
            self("cuMemcpyDtoH_v2", data, ctypes.c_uint64(at), ctypes.c_size_t(size))
        return data.raw[:size]

    def integers(self, values):
        at = self.allocate(8 * len(values))
        self.to_device(at, struct.pack("<%dq" % len(values), *values))
        return at

    def guards_intact(self):
        for base, size, whole in self.buffers:
            around = self.to_host(base, GUARD) + self.to_host(base + GUARD + size, whole - GUARD - size)
            if around.strip(bytes([UNWRITTEN])):
                return False
        return True

    def launch(self, function, blocks, arguments, threads=256):
        """On the stream; each argument is 8 bytes."""
        values = (ctypes.c_int64 * max(1, len(arguments)))(*arguments)
        places = (ctypes.c_void_p * max(1, len(arguments)))(*[ctypes.addressof(values) + 8 * i for i in range(len(arguments))])
        self("cuLaunchKernel", function, max(1, min(blocks, 2**31 - 1)), 1, 1, threads, 1, 1, 0, self.stream, places, None)

    def wait(self):
        self("cuStreamSynchronize", self.stream)

    def graph(self, record):
        """What `record()` launches, as one executable graph."""
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        self("cuStreamBeginCapture_v2", self.stream, 2)  # relaxed
        record()
        self("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        self("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_uint64(0))
        self("cuGraphDestroy", graph)
        return executable

    def graph_us(self, executable, replays=5):
        """Median of `replays`, after one that is not counted."""
        times = []
        for replay in range(replays + 1):
            self("cuEventRecord", self.events[0], self.stream)
            self("cuGraphLaunch", executable, self.stream)
            self("cuEventRecord", self.events[1], self.stream)
            self("cuEventSynchronize", self.events[1])
            milliseconds = ctypes.c_float()
            self("cuEventElapsedTime", ctypes.byref(milliseconds), *self.events)
            times.append(1000 * milliseconds.value)
        return sorted(times[1:])[replays // 2]

    def us_of(self, record, repetitions):
        """Of one of the repetitions of `record(number)` in a graph."""
        executable = self.graph(lambda: [record(i) for i in range(repetitions)])
        us = self.graph_us(executable)
        self("cuGraphExecDestroy", executable)
        return us / repetitions
