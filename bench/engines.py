#!/usr/bin/env python3
"""korch against PyTorch (eager mode and Inductor), ONNX Runtime and OpenVINO: a process per engine, interleaved.

    bench/setup && build/bench-venv/bin/python bench/engines.py [--only a,b] [--rounds 31] [--disturb]
    build/bench-venv/bin/python bench/engines.py --page     # writes the Markdown and SVG beside the JSON file

Networks: the bundled ones (models/), and torchvision's with random weights, exported by torch.onnx. Each is compiled, its
engines are prepared, and then one after another runs, in an order that changes every round, while the others wait. A network's
row goes into the JSON file as soon as it is measured; networks that are there are left out: an interrupted run goes on.
Ratio: time of the engine over korch's of the same round, median with its 95 % interval. A busy machine is refused.
"""
import argparse
import contextlib
import datetime
import hashlib
import importlib.metadata
import json
import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np

import engines_page
from engine_worker import ENGINES, Worker
from korch_so import disturbance, interval
from reference import reference_error, relative_error, write_reference
from strategies import MODELS, ROOT, written

TORCHVISION = ["resnet18", "squeezenet1_1", "mobilenet_v3_large", "shufflenet_v2_x1_0", "efficientnet_b0", "regnet_y_400mf",
               "densenet121", "convnext_tiny", "swin_t"]
PACKAGES = ["torch", "torchvision", "transformers", "onnx", "onnxscript", "onnxruntime", "openvino", "numpy"]
WARM_UP_ROUNDS = 3
LEAST_ROUNDS = 9          # however slow a network is
THREADS_SECONDS = 0.5     # of runs in which the threads at work are counted
QUIET_CORES = 0.05        # what other programs may use
QUIET_LOAD = 0.5          # load average of the last minute at the start


def export(name, folder):
    """torchvision's network as FOLDER/model.onnx, inputs/*.npy and what float64 computes; runs in a process of its own."""
    import torch
    from torch_networks import made

    os.makedirs(os.path.join(folder, "inputs"), exist_ok=True)
    net, inputs = made(name)
    torch.onnx.export(net, inputs, os.path.join(folder, "model.onnx"), input_names=["input"], output_names=["output"],
                      dynamo=True, external_data=False, verbose=False)
    with torch.no_grad():
        single = net(*inputs).numpy()
        exact = net.double()(*[x.double() if x.is_floating_point() else x for x in inputs]).numpy()
    write_reference(os.path.join(folder, "reference.npz"), {"output": exact}, {"output": single})
    np.save(os.path.join(folder, "inputs", "input.npy"), inputs[0].numpy())
    open(os.path.join(folder, "done"), "w").close()


def network_files(network, args):
    """(ONNX file, folder of inputs, reference file)."""
    if network in MODELS:
        return (*written(network, args), os.path.join(ROOT, "models", network + ".ref.npz"))
    folder = os.path.join(args.work, "%s.torch-%s" % (network, importlib.metadata.version("torch")))
    if not os.path.exists(os.path.join(folder, "done")):
        child = multiprocessing.get_context("spawn").Process(target=export, args=(network, folder))
        child.start()
        child.join()
        if child.exitcode != 0:
            raise RuntimeError("exporting %s failed" % network)
    return tuple(os.path.join(folder, name) for name in ("model.onnx", "inputs", "reference.npz"))


def compiled(network, onnx, args):
    """korch's executable and the seconds that it took, None where it was there."""
    with open(args.korch, "rb") as f:
        version = hashlib.sha256(f.read()).hexdigest()[:12]
    so = os.path.join(args.work, ".".join([network, version, str(args.threads)] + ["unmeasured"] * args.no_measure + ["so"]))
    if os.path.exists(so):
        return so, None
    start = time.time()
    measured = ["--measure", "prove", "--profile-db", os.path.join(args.work, "engines.db")]
    options = ["--no-measure", "--no-profile-db"] if args.no_measure else measured
    subprocess.run([args.korch, "compile", onnx, "-o", so, "--threads", str(args.threads), "--no-verify", "--quiet", *options],
                   check=True, stdout=subprocess.DEVNULL)
    return so, time.time() - start


def commit():
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True).stdout.strip()


def cores_used():
    """(seconds that all processors computed, seconds that the host gave to others) since the machine started."""
    with open("/proc/stat") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def seconds_of(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


class OthersMeter:
    """What programs beside this one, and the host, took of the processors, in cores."""

    def __init__(self, pids):
        self.pids = [os.getpid(), *pids]
        self.start = self.now()

    def now(self):
        used, stolen = cores_used()
        return time.time(), used - sum(map(seconds_of, self.pids)), stolen

    def read(self):
        wall, others, stolen = (b - a for a, b in zip(self.start, self.now()))
        return {"others_cores": round(max(others, 0.0) / wall, 3), "stolen_cores": round(stolen / wall, 3)}


def busy(seconds=3):
    meter = OthersMeter([])
    time.sleep(seconds)
    return meter.read()["others_cores"]


def rounds_of(workers, args):
    """Seconds of every round by engine, as long as an engine works."""
    times = {engine: [] for engine in workers}
    names, start = list(workers), time.time()
    for i in range(args.rounds + WARM_UP_ROUNDS):
        names.append(names.pop(0))
        for name in names if i % 2 else reversed(names):
            if workers[name].failed:
                continue
            time.sleep(args.pause)  # the others' threads stop spinning
            seconds = workers[name].ask("time", args.warm_up)
            if seconds is not None and i >= WARM_UP_ROUNDS:
                times[name].append(seconds)
        if i >= WARM_UP_ROUNDS + LEAST_ROUNDS - 1 and time.time() - start > args.max_seconds:
            break
    return times


def interval_of_median(values):
    return [float("%.6g" % x) for x in interval(values)]


def engine_row(worker, times, korch_times, errors):
    if worker.failed:
        return {"failed": worker.failed}
    row = {"ms": interval_of_median([1e3 * t for t in times]), "prepare_s": round(worker.prepare_s, 2),
           "thread_shares": worker.shares, "error_over_tolerance": float("%.3g" % errors),
           "times_us": [round(1e6 * t, 1) for t in times]}
    if korch_times is not None and len(korch_times) == len(times):
        row["over_korch"] = interval_of_median([t / k for t, k in zip(times, korch_times)])
    return row


def compare(network, args):
    onnx, folder, reference = network_files(network, args)
    names = graph_names(onnx)
    so, compile_s = compiled(network, onnx, args)
    job = {"network": network, "bundled": network in MODELS, "onnx": onnx, "inputs": folder, "so": so, "threads": args.threads,
           "input_names": names[0], "output_names": names[1]}
    workers = {}
    with disturbance(args.disturb) as beside:
        try:
            for engine in args.engines.split(","):
                workers[engine] = Worker(engine, job, os.path.join(args.work, "%s.%s.log" % (network, engine)))
            for worker in workers.values():
                if not worker.failed:
                    worker.shares = worker.ask("threads", THREADS_SECONDS)
            pids = [worker.process.pid for worker in workers.values()] + ([beside.pid] if beside else [])
            time.sleep(args.pause)
            load, idle = os.getloadavg()[0], OthersMeter(pids)
            time.sleep(1)
            before = idle.read()["others_cores"]
            meter = OthersMeter(pids)
            times = rounds_of(workers, args)
            others = meter.read()
        finally:
            for worker in workers.values():
                worker.close()
    compared = workers["onnxruntime"]
    if compared.failed:
        raise RuntimeError("ONNX Runtime, which the others are compared with: " + compared.failed)
    errors = {engine: None if worker.failed else relative_error(reference, names[1], worker.outputs, compared.outputs)
              for engine, worker in workers.items()}
    errors["onnxruntime"] = reference_error(reference, names[1], compared.outputs)
    korch_times = times.get("korch") if "korch" in workers and not workers["korch"].failed else None
    return {
        "network": network, "bundled": network in MODELS,
        "converted": any(worker.converted for worker in workers.values() if not worker.failed),
        "threads": args.threads, "disturb": args.disturb, "no_measure": args.no_measure,
        "rounds": max(map(len, times.values())), "korch_compile_s": compile_s and round(compile_s, 1),
        "load_average": round(load, 2), "others_cores_before": before, **others,
        "date": datetime.datetime.now().isoformat(timespec="minutes"), "commit": commit(), "machine": machine(),
        "versions": {package: importlib.metadata.version(package) for package in PACKAGES},
        "command": " ".join(["bench/engines.py", *sys.argv[1:]]),
        "engines": {engine: engine_row(worker, times[engine], korch_times, errors[engine])
                    for engine, worker in workers.items()},
    }


def graph_names(path):
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    weights = {initializer.name for initializer in graph.initializer}
    return [node.name for node in graph.input if node.name not in weights], [node.name for node in graph.output]


def machine():
    with open("/proc/cpuinfo") as f:
        model = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "an unknown processor")
    return "%d cores of %s, Linux %s" % (len(os.sched_getaffinity(0)), model, os.uname().release.split("-")[0])


def key(row):
    return row["network"], row["threads"], row["disturb"]


def read_rows(path):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return json.load(f)


def write_page(path):
    order = MODELS + TORCHVISION
    engines_page.write(sorted(read_rows(path), key=lambda row: order.index(row["network"])), os.path.splitext(path)[0])


def add_row(path, row):
    """Replaces the network's older row; an interruption leaves the file as it was."""
    rows = [old for old in read_rows(path) if key(old) != key(row)] + [row]
    with open(path + ".new", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
    os.replace(path + ".new", path)


def printed(row):
    cells = []
    for engine, r in row["engines"].items():
        if "failed" in r:
            cells.append("%s failed (%s)" % (engine, r["failed"]))
            continue
        ratio = " %.2f [%.2f, %.2f]" % tuple(r["over_korch"]) if engine != "korch" and "over_korch" in r else ""
        cells.append("%s %.2f ms%s, error %.2g, threads %s" % (engine, r["ms"][0], ratio, r["error_over_tolerance"],
                                                               r["thread_shares"]))
    return "%s (%d rounds, others %.2f cores): %s" % (row["network"], row["rounds"], row["others_cores"], "; ".join(cells))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench"))
    p.add_argument("--json", default=os.path.join(ROOT, "docs/results/engines.json"))
    p.add_argument("--only", help="networks, separated by commas")
    p.add_argument("--engines", default=",".join(ENGINES), help="at least onnxruntime")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=31)
    p.add_argument("--max-seconds", type=float, default=150, help="of the rounds of one network")
    p.add_argument("--pause", type=float, default=0.03, help="seconds between two engines")
    p.add_argument("--warm-up", type=float, default=0.02, help="seconds of runs before each timed one")
    p.add_argument("--disturb", action="store_true", help="a process that computes all the time, at nice 19, beside it")
    p.add_argument("--again", action="store_true", help="also networks that are in the JSON file")
    p.add_argument("--anyway", action="store_true", help="also on a busy machine; the page says so")
    p.add_argument("--no-measure", action="store_true", help="to try the program: korch plans without measuring")
    p.add_argument("--page", action="store_true", help="only write the page and the chart from the JSON file")
    args = p.parse_args()
    if args.page:
        write_page(args.json)
        return
    os.makedirs(args.work, exist_ok=True)
    networks = args.only.split(",") if args.only else MODELS + TORCHVISION
    unknown = [network for network in networks if network not in MODELS + TORCHVISION]
    if unknown:
        sys.exit("unknown: %s; there are %s" % (", ".join(unknown), ", ".join(MODELS + TORCHVISION)))
    if "onnxruntime" not in args.engines.split(","):
        sys.exit("--engines needs onnxruntime: outputs are compared with its")
    others, load = busy(), os.getloadavg()[0]
    if others > QUIET_CORES or load > QUIET_LOAD:
        print("other programs use %.2f cores, load average %.2f" % (others, load), file=sys.stderr)
        if not args.anyway:
            sys.exit("a table measured now would be wrong; wait, or --anyway")
    failed = []
    for network in networks:
        there = next((r for r in read_rows(args.json) if key(r) == (network, args.threads, args.disturb)), None)
        if there and not args.again:
            print("%s is there (%s, %s)" % (network, there["date"], there["commit"]))
            continue
        start = time.time()
        try:
            row = compare(network, args)
        except (RuntimeError, subprocess.CalledProcessError) as error:  # the other networks are measured all the same
            print("%s: %s" % (network, error), file=sys.stderr)
            failed.append(network)
            continue
        add_row(args.json, row)
        print(printed(row), "; %.0f s in all" % (time.time() - start), flush=True)
    write_page(args.json)
    if failed:
        sys.exit("no row for " + ", ".join(failed))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)  # what was measured is in the file
