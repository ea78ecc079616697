#!/usr/bin/env python3
"""torch.compile with korch against Inductor and PyTorch's eager mode: one process, the same inputs, interleaved rounds.

    bench/zoo/setup && scripts/test-python
    echo $PWD/build/zoo-venv/lib/python3*/site-packages > "$(echo build/python-venv/lib/python3*/site-packages)/zoo.pth"
    build/python-venv/bin/python bench/torch_compile.py [--models resnet18,bert_base] [--threads 2] [--markdown FILE]

Networks have random weights. Inductor runs with freezing (weights are constants, as they are for korch). Ratios: time
of the other over korch's, median [95 %]. Inside: share of the operators, and of the time of a call, in korch's
executables. Error: largest difference from eager mode over the largest magnitude there.
"""

import argparse
import datetime
import json
import logging
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time

import torch

from korch_so import interval
from torch_networks import NETWORKS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WARM_UP_ROUNDS = 3


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def first(result):
    while not isinstance(result, torch.Tensor):
        result = result[0]
    return result


def share_of_time(run):
    """Of a call, in executables."""
    import korch

    spent = [0.0]
    call = korch.Executable.__call__

    def timed(self, *args, **named):
        start = time.perf_counter()
        try:
            return call(self, *args, **named)
        finally:
            spent[0] += time.perf_counter() - start

    korch.Executable.__call__ = timed
    try:
        start = time.perf_counter()
        for _ in range(10):
            run()
        return spent[0] / (time.perf_counter() - start)
    finally:
        korch.Executable.__call__ = call


def compare(name, args):
    torch._dynamo.reset()
    torch.manual_seed(0)
    net, inputs = NETWORKS[name](args.scale)
    net.eval()
    lines = Lines()
    logging.getLogger("korch").addHandler(lines)
    options = {"measure": "none" if args.no_measure else "prove", "cache": None}
    runs = {
        "korch": torch.compile(net, backend="korch", options=options),
        "inductor": torch.compile(net, backend="inductor"),
        "eager": net,
    }
    compile_s, results = {}, {}
    for who, run in runs.items():
        start = time.perf_counter()
        results[who] = first(run(*inputs)).double()
        compile_s[who] = time.perf_counter() - start
    logging.getLogger("korch").removeHandler(lines)
    counts = [re.match(r"(\d+) of (\d+) operators are in (\d+) ", text) for text in lines.texts]
    inside, operators, executables = map(sum, zip(*[map(int, count.groups()) for count in counts if count]))

    times = {who: [] for who in runs}
    order, start = list(runs), time.time()
    for i in range(args.rounds + WARM_UP_ROUNDS):
        order.append(order.pop(0))
        for who in order:
            time.sleep(args.pause)  # the others' workers stop spinning
            ready = time.perf_counter() + args.warm_up
            runs[who](*inputs)
            while time.perf_counter() < ready:
                runs[who](*inputs)
            begin = time.perf_counter()
            runs[who](*inputs)
            if i >= WARM_UP_ROUNDS:
                times[who].append(time.perf_counter() - begin)
        if i >= 2 * WARM_UP_ROUNDS and time.time() - start > args.max_seconds:
            break
    row = {
        "model": name,
        "graphs": len([count for count in counts if count]),
        "executables": executables,
        "operators_inside": inside / operators,
        "time_inside": share_of_time(lambda: runs["korch"](*inputs)),
        "error": ((results["korch"] - results["eager"]).abs().max() / results["eager"].abs().max()).item(),
        "compile_s": compile_s["korch"],
        "inductor_compile_s": compile_s["inductor"],
        "rounds": len(times["korch"]),
        **{f"{who}_ms": statistics.median(values) * 1e3 for who, values in times.items()},
    }
    for who in ("eager", "inductor"):
        row[f"over_{who}"] = interval([other / korch for other, korch in zip(times[who], times["korch"])])
    return row


def page(rows, args):
    def ratio(values):
        return "%.2f [%.2f, %.2f]" % tuple(values)

    def mean(who):
        return math.exp(statistics.mean(math.log(row[f"over_{who}"][0]) for row in rows))

    cpu = platform.processor()
    with open("/proc/cpuinfo") as file:
        cpu = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), cpu)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout
    lines = [
        "# torch.compile",
        "",
        f"{datetime.date.today()}, {commit.strip()}, `bench/torch_compile.py {' '.join(sys.argv[1:])}`: PyTorch "
        f"{torch.__version__}, {args.threads} threads, {cpu}.",
        "",
        "`torch.compile(net, backend=\"korch\")` against Inductor (freezing) and eager mode, interleaved in one",
        "process. Ratio: time of the other over korch's, median [95 %]. Inside: share of the operators, and of a",
        "call's time, in korch's executables. Error: largest difference from eager mode over its largest magnitude.",
        "",
        "| network | eager, Inductor, korch ms | eager / korch | Inductor / korch | inside: operators, time % | error "
        "| compiling, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        lines.append(
            f"| {r['model']} | {r['eager_ms']:.2f}, {r['inductor_ms']:.2f}, {r['korch_ms']:.2f} "
            f"| {ratio(r['over_eager'])} | {ratio(r['over_inductor'])} "
            f"| {100 * r['operators_inside']:.0f}, {100 * r['time_inside']:.0f} | {r['error']:.1e} "
            f"| {r['compile_s']:.0f} |"
        )
    lines += ["", f"Geometric means: {mean('eager'):.2f} over eager mode, {mean('inductor'):.2f} over Inductor."]
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--models", default=",".join(NETWORKS))
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=30)
    p.add_argument("--max-seconds", type=float, default=120, help="per network")
    p.add_argument("--pause", type=float, default=0.03)
    p.add_argument("--warm-up", type=float, default=0.02, help="seconds of runs before each timed one")
    p.add_argument("--scale", type=int, default=1, help="divides sizes, to try the program")
    p.add_argument("--no-measure", action="store_true", help="to try the program: korch plans without measuring")
    p.add_argument("--json")
    p.add_argument("--markdown")
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    torch._inductor.config.freezing = True
    logging.getLogger("korch").setLevel(logging.INFO)
    rows = []
    with torch.no_grad():
        for model in args.models.split(","):
            rows.append(compare(model, args))
            print(json.dumps(rows[-1]), flush=True)
    print(page(rows, args), end="")
    for path, text in ((args.json, json.dumps(rows, indent=1) + "\n"), (args.markdown, page(rows, args))):
        if path:
            with open(path, "w") as file:
                file.write(text)


if __name__ == "__main__":
    main()
