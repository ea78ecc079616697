"""What a call from Python costs over the same run by the C interface, for a network of one small kernel.

    build/python-venv/bin/python bench/call_overhead.py      (after scripts/test-python)
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import korch
import korch._worker
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/tests"))
import builder

CALLS = 20000


def median_us(call):
    times = []
    for _ in range(CALLS):
        start = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "m.so")
    executable = korch.compile(builder.double((64,)), output=path, measure=False, database=None, threads=1)
    answer = subprocess.run(
        [korch._worker.PROGRAM, "bench", path, "--rounds", str(CALLS), "--json"], stdout=subprocess.PIPE, check=True
    )
    by_c_us = json.loads(answer.stdout)["rows"][0]["median_us"]
    x, y = np.ones(64, np.float32), np.empty(64, np.float32)
    print(f"C interface {by_c_us:.2f} us")
    for name, call in (
        ("new output", lambda: executable(x)),
        ("out=", lambda: executable(x, out=y)),
        ("by name, out=", lambda: executable(x=x, out=y)),
    ):
        us = median_us(call)
        print(f"Python, {name}: {us:.2f} us, {us - by_c_us:.2f} us more")
