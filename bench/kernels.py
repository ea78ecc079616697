#!/usr/bin/env python3
"""Kernels of two versions of korch against each other: each plans every network without measuring, and kernels that do the
same in both plans, but have another text, run interleaved on the same random arguments, on one thread.

    bench/setup
    build/bench-venv/bin/python bench/kernels.py --before BUILD/tools/korch [--after BUILD/tools/korch] [--models a,b]

Ratio: time of after / time of before, medians of the rounds; below 1 the newer one is faster. Compiling: the processor time
of compiling after's kernels / before's. --options is handed to both
--family keeps kernels whose implementation begins so.
"""
import argparse
import ctypes
import json
import os
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

from korch_so import DTYPES, aligned_empty
from strategies import MODELS, ROOT, written

CLANG = "/usr/lib/llvm-19/bin/clang++"


class Context(ctypes.Structure):  # korch_kernel_context
    _fields_ = [("args", ctypes.c_void_p), ("scratch", ctypes.c_void_p), ("state", ctypes.c_void_p),
                ("worker", ctypes.c_int32)]


class Kernel:
    """A kernel of a dumped plan: its text, and what its launch needs."""

    def __init__(self, folder, number, plan):
        self.path = os.path.join(folder, "kernel-%03d" % number)
        self.plan = plan
        with open(self.path + ".cpp") as f:
            self.source = f.read()

    def load(self):
        words = shlex.split(self.source.splitlines()[0][3:])[1:]
        options = [w for w in words if not w.endswith((".cpp", ".o")) and w not in ("-c", "-o")]
        used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        start = used()
        subprocess.run([CLANG] + options + ["-shared", self.path + ".cpp", "-o", self.path + ".so", "-lm"], check=True)
        self.compile_s = used() - start
        library = ctypes.CDLL(self.path + ".so")
        self.phases = [(getattr(library, p["symbol"]), p["grid"]) for p in self.plan["phases"]]

    def run(self, context):
        for function, grid in self.phases:
            if function(ctypes.byref(context), ctypes.c_int64(0), ctypes.c_int64(grid)) != 0:
                raise RuntimeError(self.path + " fails")

    def buffers(self):
        """(role, type, elements) of each argument, from the tile graph."""
        with open(self.path + ".tile") as f:
            return re.findall(r"^  (in|const|out|temp)\d+: (\w+)\[(\d+)\]", f.read(), re.M)


def kernels_of(korch, onnx, folder, args):
    """By what each does: implementation, primitives and the Values it reads and makes, in order."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([korch, "compile", onnx, "-o", folder + ".so", "--no-measure", "--no-verify", "--no-profile-db",
                    "--threads", "2", "--dump-dir", folder] + args.options, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(os.path.join(folder, "5-plan.json")) as f:
        plan = json.load(f)
    found = {}
    for step in plan["steps"]:
        values = [[plan["tensors"][t]["value"] for t in step[q]] for q in ("inputs", "constants", "outputs")]
        kernel = plan["kernels"][step["kernel"]]
        key = json.dumps([step["implementation"], step["primitives"], values, kernel["packing"]])
        if os.path.exists(os.path.join(folder, "kernel-%03d.cpp" % step["kernel"])):
            found[key] = (step["implementation"], Kernel(folder, step["kernel"], kernel))
    return found


def arguments(before, after):
    rng = np.random.default_rng(1)
    arrays = []
    for i, (role, dtype, elements) in enumerate(after.buffers()):
        dtype = np.dtype(DTYPES.get(dtype, np.uint8))
        count = int(elements)
        if role == "temp":  # the other's may be larger
            number = sum(r == "temp" for r, _, _ in after.buffers()[:i])
            count = max([count] + [k.plan["temporaries"][number] for k in (before, after)
                                   if number < len(k.plan["temporaries"])])
        array = aligned_empty((count,), dtype)
        array[:] = rng.standard_normal(count) if dtype.kind == "f" else 0
        arrays.append(array)
    return arrays


def compare(before, after, args):
    arrays = arguments(before, after)
    pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    scratch = aligned_empty((max(before.plan["scratch"], after.plan["scratch"]) + 64,), np.uint8)
    context = Context(ctypes.cast(pointers, ctypes.c_void_p), scratch.ctypes.data, None, 0)
    outputs = [a for a, (role, _, _) in zip(arrays, after.buffers()) if role == "out"]
    results = []
    for kernel in (before, after):
        kernel.load()
        kernel.run(context)
        results.append([o.copy() for o in outputs])
    for a, b in zip(*results):
        if a.dtype.kind == "f" and not np.allclose(a, b, rtol=1e-3, atol=1e-3, equal_nan=True):
            raise RuntimeError("%s and %s disagree" % (before.path, after.path))
    times = [[], []]
    start = time.perf_counter()
    for i in range(args.rounds):
        for k in ((0, 1), (1, 0))[i % 2]:
            t = time.perf_counter()
            (before, after)[k].run(context)
            times[k].append(time.perf_counter() - t)
        if i >= 10 and time.perf_counter() - start > args.max_seconds:
            break
    return [statistics.median(t) * 1e6 for t in times]


def table(rows):
    print("\n| family | kernels | median ratio | 5 %, 95 % | least, greatest | together | compiling |\n|---|---|---|---|---|---|---|")
    families = sorted({r["family"] for r in rows})
    for family in families + (["all"] if len(families) > 1 else []):
        own = [r for r in rows if family in ("all", r["family"])]
        s = sorted(r["after_us"] / r["before_us"] for r in own)
        at = lambda q: s[round(q * (len(s) - 1))]
        together = lambda unit: sum(r["after_" + unit] for r in own) / sum(r["before_" + unit] for r in own)
        print("| %s | %d | %.3f | %.2f, %.2f | %.2f, %.2f | %.3f | %.3f |" %
              (family if family == "all" else "`%s`" % family, len(s), statistics.median(s), at(.05), at(.95), s[0], s[-1],
               together("us"), together("compile_s")))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--before", required=True, help="the older korch")
    p.add_argument("--after", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-kernels"))
    p.add_argument("--models", default=",".join(MODELS), help="names, or files.onnx")
    p.add_argument("--options", type=shlex.split, default=[])
    p.add_argument("--family", default="")
    p.add_argument("--rounds", type=int, default=41)
    p.add_argument("--max-seconds", type=float, default=3, help="of the rounds of one kernel")
    p.add_argument("--json")
    args = p.parse_args()
    args.korch = args.after
    os.makedirs(args.work, exist_ok=True)
    rows, unpaired, same = [], 0, 0
    for model in args.models.split(","):
        onnx = model if model.endswith(".onnx") else written(model, args)[0]
        name = os.path.basename(model).removesuffix(".onnx")
        plans = [kernels_of(getattr(args, w), onnx, os.path.join(args.work, "%s.%s" % (name, w)), args)
                 for w in ("before", "after")]
        done = set()
        for key, (implementation, after) in plans[1].items():
            if key not in plans[0]:
                unpaired += 1
                continue
            before = plans[0][key][1]
            family = implementation.split("(")[0].split()[0]
            if after.path in done or not family.startswith(args.family):
                continue
            done.add(after.path)
            if before.source.split("\n", 1)[1] == after.source.split("\n", 1)[1]:
                same += 1
                continue
            before_us, after_us = compare(before, after, args)
            rows.append(dict(model=name, implementation=implementation, family=family, kernel=os.path.basename(after.path),
                             before_us=before_us, after_us=after_us, before_compile_s=before.compile_s,
                             after_compile_s=after.compile_s))
            print("%-20s %s %-44s %10.1f %10.1f  %.3f" % (name, rows[-1]["kernel"], implementation[:44], before_us, after_us,
                                                        after_us / before_us), flush=True)
    table(rows)
    print("\n%d kernels of equal text, %d in one of the plans alone" % (same, unpaired))
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f, indent=1)


if __name__ == "__main__":
    sys.exit(main())
