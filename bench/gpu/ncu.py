"""Nsight Compute, where it is, on one run of each executable that `measured` made: how busy memory and processors are."""
import csv
import io
import os
import shutil
import subprocess

import carried
from part1 import Absent

METRICS = {"gpu__time_duration.sum": "us", "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed": "processor_percent",
           "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy_percent"}
MOST_LAUNCHES, KEPT = 200, 5


def looked_at(args, name):
    ncu = shutil.which("ncu") or next((p for p in ["/usr/local/cuda/bin/ncu"] if os.path.exists(p)), None)
    if ncu is None:
        raise Absent("no Nsight Compute (ncu)")
    path = carried.made(args, name, ".so")
    if not os.path.exists(path):
        raise Absent("it was not compiled")
    done = subprocess.run([ncu, "--csv", "--launch-count", str(MOST_LAUNCHES), "--metrics", ",".join(METRICS),
                           *carried.command(args, "run", path)], env=carried.environment(args), capture_output=True, text=True)
    text = done.stdout[done.stdout.find('"ID"'):]
    launches = {}
    for row in csv.DictReader(io.StringIO(text)) if '"ID"' in done.stdout else []:
        value = float(row["Metric Value"].replace(",", "") or 0)
        if row["Metric Name"] == "gpu__time_duration.sum":
            value /= {"ns": 1000, "nsecond": 1000, "us": 1, "usecond": 1}.get(row["Metric Unit"], 1000)
        launches.setdefault(int(row["ID"]), {})[METRICS[row["Metric Name"]]] = value
    if not launches:
        raise RuntimeError("ncu: " + (done.stdout + done.stderr).strip()[-300:])
    longest = sorted(launches.items(), key=lambda launch: -launch[1].get("us", 0))[:KEPT]
    return {"launches": len(launches), "longest": [{"launch": number, **of} for number, of in longest]}


def items(args):
    names = [name.split(".")[0] for name in carried.names(args)]
    return [(name, lambda name=name: looked_at(args, name)) for name in names]
