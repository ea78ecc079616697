#!/usr/bin/env python3
"""Compiles every network of the zoo, runs it and compares with ONNX Runtime; writes the scoreboard docs/results/zoo.md.

    build/zoo-venv/bin/python bench/zoo/sweep.py [--folder build/zoo] [--only a,b] [--korch PROGRAM]

Per network: `korch compile --no-measure --no-profile-db --no-heal`, self-check on, `korch run` on the inputs that export.py wrote,
and the outputs against ONNX Runtime's on one thread: floats within 1e-3 (quantized networks: 0.1, a rounding that falls otherwise
is a step of the numbers behind it) of the largest magnitude of the reference output (both compute in float32, in different orders),
integers equal, detections in any order (scores of random weights lie closer than rounding). The tighter judge is korch's self-check against float64; a mismatch here is
judged again by `korch verify`. Time (of the processor and of the wall) and memory are limited; a limit counts as a hang.
FOLDER/results.json keeps the result per version of korch, so a sweep that was stopped goes on; --again repeats what failed.
"""
import argparse
import collections
import datetime
import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOLERANCE = 1e-3  # of the largest magnitude of the reference output
MEMORY_BYTES = 16 << 30
RIGHT, REFUSED = "right", "refused"


def call(command, args):
    """(exit code, minus the signal, or None for a limit; output; seconds of the processor, of the wall; peak MB)"""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (args.cpu_seconds, args.cpu_seconds + 5))
    start = time.time()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=limit, start_new_session=True)
        hung = False
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.time() - start > args.wall_seconds:
                hung = True
                os.killpg(child.pid, signal.SIGKILL)
                pid, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.05)
        child.returncode = 0  # reaped above
        cpu = usage.ru_utime + usage.ru_stime
        code = os.waitstatus_to_exitcode(status)
        if hung or cpu >= args.cpu_seconds:
            code = None
        out.seek(0)
        err.seek(0)
        return dict(code=code, out=out.read(), err=err.read(), cpu=cpu, wall=time.time() - start, peak_mb=usage.ru_maxrss >> 10)


def reference(folder):
    """ONNX Runtime's outputs, by name; computed once."""
    path = os.path.join(folder, "reference.npz")
    if not os.path.exists(path):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])
        inputs = {i.name: np.load(os.path.join(folder, "inputs", i.name + ".npy")) for i in session.get_inputs()}
        outputs = session.run(None, inputs)
        np.savez(path, **{"%d" % i: o for i, o in enumerate(outputs)})
        with open(os.path.join(folder, "outputs.json"), "w") as f:
            json.dump([o.name for o in session.get_outputs()], f)
    names = json.load(open(os.path.join(folder, "outputs.json")))
    with np.load(path) as file:
        return {name: file["%d" % i] for i, name in enumerate(names)}


def tolerance_of(folder):
    path = os.path.join(folder, "tolerance")
    return float(open(path).read()) if os.path.exists(path) else TOLERANCE


def error_of(actual, expected, tolerance):
    """Error over tolerance; at most 1 is right."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float("inf")
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(actual, expected) else float("inf")
    if not np.array_equal(np.isfinite(actual), np.isfinite(expected)):
        return float("inf")
    finite = np.isfinite(expected)
    if not finite.any():
        return 0.0
    scale = np.abs(expected[finite]).max()
    return float(np.abs(actual[finite] - expected[finite]).max() / (tolerance * scale)) if scale > 0 else float(np.abs(actual).max() > 0)


def rows_as_in(expected, actual):
    """The outputs' rows in the reference's order: to each of its rows the nearest that is left."""
    if any(actual[n].shape != o.shape for n, o in expected.items()):
        return actual
    def table(outputs):
        return np.concatenate([outputs[n].reshape(len(o), int(np.prod(o.shape[1:]))) / max(np.abs(o).max(initial=0), 1e-30) for n, o in expected.items()], 1)
    rows, left, order = table(actual), list(range(len(table(actual)))), []
    for row in table(expected):
        order.append(left.pop(int(np.abs(rows[left] - row).max(1).argmin())))
    return {n: o[order] for n, o in actual.items()}


def says_nothing(expected):
    """A reference of one number everywhere, or none finite, cannot show a mistake."""
    return all(not np.isfinite(o).any() or (o.size > 1 and np.ptp(o[np.isfinite(o)]) == 0) for o in expected.values())


def refused_operators(message):
    """The operators that a refusal counts (`9 times SequenceAt`), or else names (`node "n" (LSTM)`)."""
    return set(re.findall(r"^ +\d+ times (\w+)", message, re.M)) or set(re.findall(r'^ +node ".*" \((\w+)\)', message, re.M))


def examine(folder, args):
    """The result of one network."""
    with tempfile.TemporaryDirectory() as work:
        so = os.path.join(work, "model.so")
        compiled = call([args.korch, "compile", os.path.join(folder, "model.onnx"), "-o", so, "--no-measure", "--no-profile-db",
                         "--json"] + args.options, args)
        result = dict(code=compiled["code"], cpu=round(compiled["cpu"], 1), wall=round(compiled["wall"], 1),
                      peak_mb=compiled["peak_mb"])
        if compiled["code"] == 0:
            summary = json.loads(compiled["out"])
            result.update(stage_seconds={k: round(v, 2) for k, v in summary["seconds"].items()}, steps=summary["steps"],
                          primitives=summary["primitives"])
            if summary["warnings"]:
                result["warnings"] = summary["warnings"]
        else:
            result.update(verdict=verdict_of(compiled["code"]), message=compiled["err"][:20000])
            return result
        inputs = sorted(os.listdir(os.path.join(folder, "inputs")))
        try:
            expected = reference(folder)
        except Exception as error:  # whatever ONNX Runtime has against it
            judged = call([args.korch, "verify", os.path.join(folder, "model.onnx"), so], args)
            result["warnings"] = result.get("warnings", []) + ["ONNX Runtime fails (%s): judged by korch verify" % str(error)[:80]]
            result.update(verdict=RIGHT if judged["code"] == 0 else "differs", error=0.0,
                          message="" if judged["code"] == 0 else (judged["out"] + judged["err"])[-2000:])
            return result
        ran = call([args.korch, "run", so, "--output-dir", os.path.join(work, "out")] +
                   [w for i in inputs if wanted(so, i, args) for w in ("--input", i[:-4] + "=" + os.path.join(folder, "inputs", i))], args)
        if ran["code"] != 0:
            result.update(verdict="run: " + verdict_of(ran["code"]), message=ran["err"][:20000])
            return result
        tolerance = tolerance_of(folder)
        actual = {n: np.load(os.path.join(work, "out", n.replace("/", "_") + ".npy")) for n in expected}
        if os.path.exists(os.path.join(folder, "rows_in_any_order")):
            actual = rows_as_in(expected, actual)
        errors = {n: error_of(actual[n], o, tolerance) for n, o in expected.items()}
        worst = max(errors, key=errors.get)
        result["error"] = errors[worst]
        if says_nothing(expected):
            result["warnings"] = result.get("warnings", []) + ["the reference is one number everywhere"]
        if errors[worst] <= 1:
            result["verdict"] = RIGHT
            return result
        judged = call([args.korch, "verify", os.path.join(folder, "model.onnx"), so], args)
        result.update(verdict="differs", message="output %s is off by %.3g of the tolerance; korch verify: exit %s\n%s" % (
            worst, errors[worst], judged["code"], (judged["out"] + judged["err"])[-2000:]))
        return result


def wanted(so, file, args, known={}):
    """Whether the executable has this input (one that nothing reads is dropped)."""
    if so not in known:
        known.clear()
        listing = subprocess.run([args.korch, "explain", so, "--json"], capture_output=True, text=True)
        known[so] = [i["name"] for i in json.loads(listing.stdout).get("inputs", [])] if listing.returncode == 0 else None
    return known[so] is None or file[:-4] in known[so]


def verdict_of(code):
    if code is None:
        return "limit"
    if code < 0:
        return "signal %d" % -code
    return REFUSED if code == 4 else "exit %d" % code


def short(message):
    """The first line; of a refusal, its operators."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    text = ", ".join(sorted(refused_operators(message))) or (lines[0] if lines else "")
    return text.replace("korch: ", "").replace("|", "/")[:160]


def report(results, version, args):
    """The scoreboard, as Markdown."""
    counts = collections.Counter(r["verdict"] for r in results.values())
    compiled = sum(r["code"] == 0 for r in results.values())
    by_reason = collections.Counter()
    for r in results.values():
        if r["verdict"] == REFUSED:
            by_reason.update(refused_operators(r["message"]) or [short(r["message"])])
    exports = os.path.join(args.folder, "exports.json")
    failed_exports = json.load(open(exports)) if os.path.exists(exports) else {}
    cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
    lines = [
        "# The zoo: architectures exported from PyPI, against ONNX Runtime", "",
        "Random weights, small sizes; `.script` is PyTorch's TorchScript-based exporter, `.dynamo` its successor. Self-check on,",
        "healing off, no measuring; outputs within 1e-3 of the largest magnitude of ONNX Runtime's. Written by:", "",
        "```", "bench/zoo/setup && build/zoo-venv/bin/python bench/zoo/export.py", "build/zoo-venv/bin/python bench/zoo/sweep.py", "```", "",
        "%s, %d cores of %s, a shared machine; commit %s." % (datetime.date.today(), os.cpu_count(), cpu, version), "",
        "| networks | compiled | right | refused | other failures | not exported by PyTorch |", "|---|---|---|---|---|---|",
        "| %d (%d architectures) | %d (%.0f %%) | %d | %d | %d | %d |" % (
            len(results), len({k.rsplit(".", 1)[0] for k in results}), compiled, 100 * compiled / len(results), counts[RIGHT],
            counts[REFUSED], len(results) - counts[RIGHT] - counts[REFUSED], len(failed_exports)), ""]
    others = {v: n for v, n in counts.items() if v not in (RIGHT, REFUSED)}
    if others:
        lines += ["Failures: " + ", ".join("%s (%d)" % x for x in sorted(others.items())) + ".", ""]
    if by_reason:
        lines += ["Refused, by operator (networks): " + ", ".join("%s (%d)" % x for x in by_reason.most_common()) + ".", ""]
    lines += ["| network | result | error / tolerance | primitives → steps | compile s (CPU) | peak MB | message |",
              "|---|---|---|---|---|---|---|"]
    for name, r in sorted(results.items()):
        lines.append("| %s | %s | %s | %s | %.1f | %d | %s |" % (
            name, r["verdict"], "%.4f" % r["error"] if "error" in r else "",
            "%d → %d" % (r["primitives"], r["steps"]) if "steps" in r else "", r["cpu"], r["peak_mb"], short(r.get("message", ""))))
    return "\n".join(lines) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--folder", default=os.path.join(ROOT, "build/zoo"), help="of export.py")
    p.add_argument("--only", help="networks with their exporter, separated by commas")
    p.add_argument("--again", action="store_true", help="repeat what failed")
    p.add_argument("--cpu-seconds", type=int, default=600, help="limit of one command")
    p.add_argument("--wall-seconds", type=int, default=300, help="limit of one command")
    p.add_argument("--stop-at", help="HH:MM, start no network after it")
    p.add_argument("--commit", help="of --korch: results are kept under it [that of this folder]")
    p.add_argument("--report", help="where the scoreboard goes [docs/results/zoo.md, of a whole sweep]")
    args = p.parse_args()
    usage = subprocess.run([args.korch, "compile", "--help"], capture_output=True, text=True).stdout
    args.options = ["--no-heal"] if "--no-heal" in usage else []
    version = args.commit or subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True,
                                            text=True).stdout.strip() or "unknown"
    path = os.path.join(args.folder, "results.json")
    every = json.load(open(path)) if os.path.exists(path) else {}
    results = every.setdefault(version, {})
    size = lambda f: os.path.getsize(os.path.join(args.folder, f, "model.onnx"))
    names = args.only.split(",") if args.only else sorted(
        (f for f in os.listdir(args.folder) if os.path.exists(os.path.join(args.folder, f, "model.onnx")) and f[0] != "."),
        key=size)
    for name in names:
        if name in results and not (args.again and results[name]["verdict"] not in (RIGHT, REFUSED)) and not args.only:
            continue
        if args.stop_at and time.strftime("%H:%M") >= args.stop_at:
            break
        results[name] = examine(os.path.join(args.folder, name), args)
        r = results[name]
        print("%-46s %-10s %6.1f s cpu %6.1f s  %s" % (name, r["verdict"], r["cpu"], r["wall"], short(r.get("message", ""))), flush=True)
        with open(path + ".new", "w") as f:
            json.dump(every, f, indent=1, sort_keys=True)
        os.replace(path + ".new", path)
    target = args.report or (None if args.only else os.path.join(ROOT, "docs/results/zoo.md"))
    if target and results:
        os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
        with open(target, "w") as f:
            f.write(report(results, version, args))
    failed = sum(r["verdict"] not in (RIGHT, REFUSED) for r in results.values())
    print("%d networks, %d right, %d refused, %d failed" % (
        len(results), sum(r["verdict"] == RIGHT for r in results.values()), sum(r["verdict"] == REFUSED for r in results.values()), failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
