"""The prepared kernels: each is run on data that the device makes, compared with the interpreter's samples, and timed."""
import array
import json
import math
import os
import struct

from cuda_driver import UNWRITTEN, Driver
from part1 import Lost

WORKSPACE_BLOCKS = 132   # launched at a time where each needs a workspace (tests/cuda/check_kernel.cpp)
TIMED_US = 2000          # of the repetitions in a graph
MOST_REPETITIONS = 1000
MOST_SETS = 32           # of arguments that take turns, so that they come from memory rather than from the L2 cache
REGISTERS, LOCAL_BYTES = 4, 3


def bits(number):
    return struct.unpack("<q", struct.pack("<d", number))[0]


class Kernels:
    def __init__(self, args):
        self.folder, self.library, self.cuda = os.path.join(args.dir, "kernels"), args.libcuda, None
        with open(os.path.join(self.folder, "jobs.json")) as f:
            self.all = json.load(f)

    def start(self):
        if self.cuda:
            return
        self.cuda = cuda = Driver(self.library)
        with open(os.path.join(self.folder, "values.bin"), "rb") as f:
            self.values = f.read()
        device = cuda.load(os.path.join(self.folder, "device." + cuda.architecture))
        self.made = {name: cuda.function(device, "visit_" + name)
                     for name in ("fill", "place", "columns", "winograd", "sample")}
        self.modules = {}

    def run(self, name, count, arguments):
        self.cuda.launch(self.made[name], (count + 255) // 256, arguments)

    def fill(self, argument):
        """The data of an input or constant, where the kernel wants them."""
        cuda = self.cuda
        at = cuda.allocate(argument["bytes"])
        if argument.get("how") == "literal":
            cuda.to_device(at, self.values[argument["at"]:argument["at"] + argument["bytes"]])
            return at
        count, size = argument["elements"], argument["size"]
        logical = cuda.allocate(count * size)
        low, high, most = argument["range"]
        self.run("fill", count, [logical, count, argument["seed"], bits(low), bits(high), most, argument["type"]])
        desc = cuda.integers(argument["desc"])
        if argument["how"] == "place":
            self.run("place", count, [at, logical, count, desc, size])
        elif argument["how"] == "columns":
            self.run("columns", argument["bytes"] // 4, [at, logical, argument["bytes"] // 4, desc])
        else:
            matrix = cuda.integers([bits(value) for value in argument["matrix"]])
            self.run("winograd", argument["bytes"] // 4, [at, logical, argument["bytes"] // 4, desc, matrix])
        return at

    def functions(self, job):
        image = job["image"]
        if image not in self.modules:
            self.modules[image] = self.cuda.load(os.path.join(self.folder, "%d.%s" % (image, self.cuda.architecture)))
        return [self.cuda.function(self.modules[image], symbol) for symbol in job["symbols"]]

    def compare(self, argument, at):
        """(largest error, elements that are wrong, what the worst is)"""
        expected = argument["expected"]
        count, stored = expected["samples"], expected["stored"]
        out = self.cuda.allocate(8 * count)
        desc = self.cuda.integers(argument["desc"])
        self.run("sample", count, [out, at, count, argument["elements"], expected["seed"], desc, argument["type"]])
        self.cuda.wait()
        actual = array.array("d", self.cuda.to_host(out, 8 * count))
        known = array.array(stored, self.values[expected["at"]:expected["at"] + count * (4 if stored == "f" else 8)])
        worst, wrong, told = 0.0, 0, ""
        for k in range(count):
            a, e = actual[k], known[k]
            if a == e or (math.isnan(a) and math.isnan(e)):
                continue
            error = abs(a - e) / (expected["scale"] + abs(e))
            if not math.isfinite(error):
                error = math.inf
            wrong += error > expected["tolerance"]
            if error > worst:
                worst, told = error, "sample %d is %.9g, expected %.9g" % (k, a, e)
        return worst, wrong, told

    def job(self, job):
        self.start()
        cuda = self.cuda
        cuda.clear_arena()
        functions = self.functions(job)
        places, outputs = [], []
        for argument in job["arguments"]:
            if argument["role"] == "output":
                outputs.append((argument, cuda.allocate(argument["bytes"], UNWRITTEN)))
                places.append(outputs[-1][1])
            else:
                places.append(self.fill(argument))
        places += [cuda.allocate(size, UNWRITTEN) for size in job["temporary_bytes"]]
        status = cuda.allocate(4)
        grids = [min(grid, WORKSPACE_BLOCKS) if job["workspace_bytes"] else grid for grid in job["grids"]]
        places += [status, cuda.allocate(max(grids) * job["workspace_bytes"], UNWRITTEN)]
        cuda.wait()
        for function, grid in zip(functions, grids):
            cuda.launch(function, grid, places, job["threads"])
        cuda.wait()
        result = {"registers": [cuda.function_attribute(f, REGISTERS) for f in functions],
                  "local_bytes": [cuda.function_attribute(f, LOCAL_BYTES) for f in functions]}
        problems = []
        if cuda.to_host(status, 4) != bytes(4):
            problems.append("the status is not 0")
        if not cuda.guards_intact():
            problems.append("it wrote beside a buffer")
        worst = 0.0
        for argument, at in outputs:
            error, wrong, told = self.compare(argument, at)
            worst = max(worst, error)
            if wrong:
                problems.append("%d of %d samples are wrong: %s" % (wrong, argument["expected"]["samples"], told))
        result["worst"] = worst if math.isfinite(worst) else "inf"
        if problems:
            result["error"] = "; ".join(problems)
            return result
        result["us"], result["sets"] = self.time(job, functions, grids, places)
        return result

    def time(self, job, functions, grids, places):
        """Microseconds of a run whose arguments were not used just before, and how many sets of them took turns."""
        cuda = self.cuda
        sizes = [argument["bytes"] for argument in job["arguments"]]
        set_bytes = max(1, sum(sizes))
        room = (cuda.arena_bytes - cuda.used) // (set_bytes + len(sizes) * 16384)
        wanted = min(MOST_SETS, 2 * cuda.attributes["l2_bytes"] // set_bytes + 2)
        sets = [places]
        for _ in range(max(0, min(wanted, room) - 1)):
            more = [cuda.allocate(size) for size in sizes]
            for to, at, size in zip(more, places, sizes):
                cuda.copy(to, at, size)
            sets.append(more + places[len(sizes):])

        def record(number):
            for function, grid in zip(functions, grids):
                cuda.launch(function, grid, sets[number % len(sets)], job["threads"])

        once = cuda.us_of(record, 1)
        if cuda.architecture == "emulated":
            return once, len(sets)
        repetitions = max(1, min(MOST_REPETITIONS, int(TIMED_US / max(once, 0.1))))
        return cuda.us_of(record, repetitions), len(sets)


def items(args):
    kernels = Kernels(args)

    def job_of(number):
        def run():
            try:
                return kernels.job(kernels.all["jobs"][number])
            except Lost:
                raise
            except MemoryError as error:
                return {"absent": str(error)}

        return run

    return [("%s: %s" % (job["model"], job["what"]), job_of(i)) for i, job in enumerate(kernels.all["jobs"])]
