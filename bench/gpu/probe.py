"""What machine this is: GPU, driver, clocks, libraries, and cuDNN's description of the device."""
import ctypes
import glob
import os
import platform
import subprocess
import sys

from cuda_driver import Driver
from part1 import Absent

# cudnn_graph.h, since 9.8: a descriptor of the device's properties that can be written as JSON.
DEVICEPROP_DESCRIPTOR, DEVICEPROP_HANDLE, DEVICEPROP_JSON = 38, 2701, 2702
TYPE_HANDLE, TYPE_CHAR = 0, 24
FIRST_VERSION = 90800


def cudnn_files():
    found = ["libcudnn.so.9"]
    for folder in sys.path:
        found += glob.glob(os.path.join(folder, "nvidia", "cudnn", "lib", "libcudnn.so.9"))
    return found


def cudnn(args):
    if args.libcuda != "libcuda.so.1":
        raise Absent("the emulator has no cuDNN")
    library = None
    for path in cudnn_files():
        try:
            library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            break
        except OSError:
            pass
    if library is None:
        raise Absent("no cuDNN 9")
    library.cudnnGetVersion.restype = ctypes.c_size_t
    version = library.cudnnGetVersion()
    if version < FIRST_VERSION:
        raise Absent("cuDNN %d; the description begins with %d" % (version, FIRST_VERSION))
    driver = Driver(args.libcuda)  # cuDNN uses its context
    handle, descriptor, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int64()

    def check(name, *arguments):
        status = getattr(library, name)(*arguments)
        if status != 0:
            raise RuntimeError("%s: status %d" % (name, status))

    check("cudnnCreate", ctypes.byref(handle))
    check("cudnnBackendCreateDescriptor", DEVICEPROP_DESCRIPTOR, ctypes.byref(descriptor))
    check("cudnnBackendSetAttribute", descriptor, DEVICEPROP_HANDLE, TYPE_HANDLE, ctypes.c_int64(1), ctypes.byref(handle))
    check("cudnnBackendFinalize", descriptor)
    check("cudnnBackendGetAttribute", descriptor, DEVICEPROP_JSON, TYPE_CHAR, ctypes.c_int64(0), ctypes.byref(size), None)
    text = ctypes.create_string_buffer(size.value + 1)
    check("cudnnBackendGetAttribute", descriptor, DEVICEPROP_JSON, TYPE_CHAR, size, ctypes.byref(size), text)
    with open(os.path.join(args.results, "cudnn_device.json"), "wb") as f:
        f.write(text.value)
    return {"version": version, "bytes": len(text.value), "gpu": driver.name()}


def device(args):
    cuda = Driver(args.libcuda)
    version = ctypes.c_int()
    cuda("cuDriverGetVersion", ctypes.byref(version))
    return {"gpu": cuda.name(), "architecture": cuda.architecture, "cuda": version.value, "bytes": cuda.memory_bytes(),
            **cuda.attributes}


def smi(*query):
    def run():
        try:
            done = subprocess.run(["nvidia-smi", *query], capture_output=True, text=True, timeout=15)
        except FileNotFoundError:
            raise Absent("no nvidia-smi")
        if done.returncode != 0:
            raise Absent("nvidia-smi: " + (done.stderr or done.stdout).strip()[:300])
        return {"text": done.stdout.strip()[:20000]}

    return run


def machine():
    cpu = platform.processor()
    with open("/proc/cpuinfo") as f:
        cpu = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), cpu)
    return {"cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version()}


def items(args):
    clocks = "--query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu"
    return [("machine", machine), ("device", lambda: device(args)), ("clocks", smi(clocks, "--format=csv")),
            ("nvidia-smi", smi("-q", "-d", "CLOCK,POWER,PERFORMANCE,ECC")), ("cuDNN device", lambda: cudnn(args))]
