#!/usr/bin/env python3
"""Exports the networks of architectures.py in several variants, compiles each and compares with ONNX Runtime.

    PYTHON bench/zoo/try_architectures.py [--folder build/architectures] [--only a,b] [--variants script,dynamo,...] [--worker 1]

PYTHON has torch 2.8, torchvision, timm 1.0.31, transformers 5.24, onnx, onnxscript and onnxruntime. Variants: `script` is the
TorchScript-based exporter (opset 17), `dynamo` torch.onnx.export(dynamo=True); `fp16`, `qdq` and `dynamic` are what ONNX Runtime's
tools make of `script`: float16, quantized statically and dynamically. Extents that an architecture leaves open are open in the
file: each file is compiled once for one shape, and once (by greedy fusion) for a range of every extent, and runs at the given extents, at the least
ones and at others between. What PyTorch does not export, or ONNX Runtime does not load or run, is the export's own fault.
FOLDER/results.WORKER.json keeps the results (--again repeats those that are not right); several workers share a folder. Files are
deleted when they were tried.
"""
import argparse
import collections
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zlib

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from export import ROOT, quantize, vary_constant_parameters
from sweep import error_of

VARIANTS = "script", "dynamo", "fp16", "qdq", "dynamic"
TOLERANCES = {"fp16": 3e-2, "qdq": 0.1, "dynamic": 0.1}  # of the largest magnitude; roundings fall differently
NUDGES = {"fp16": 1e-3}
MADE_FROM_SCRIPT = "fp16", "qdq", "dynamic"
SECONDS = 150     # of a command
EXPORT_SECONDS = 60  # of a processor
BUDGET = "5s"     # for plans
MEMORY_BYTES = 12 << 30


def cases(extents):
    """The given extents, the least, and odd ones between them and the greatest."""
    given = {e: r[1] for e, r in extents.items()}
    between = {e: r[2] if e == "N" else min(r[1] + (r[2] - r[1]) // 2 | 1, r[2]) for e, r in extents.items()}
    return [given, {e: r[0] for e, r in extents.items()}, between]


def data(name, inputs, extents, seed=0):
    import torch
    torch.manual_seed(zlib.crc32(name.encode()) + seed)
    return inputs(**extents)


def open_axes(inputs, extents):
    """{input: {axis: the extent that moves it}}"""
    given = {e: r[1] for e, r in extents.items()}
    found = collections.defaultdict(dict)
    for extent, (least, at, most) in extents.items():
        if least == most:
            continue
        here, there = (inputs(**{**given, extent: e}) for e in (at, most if at != most else least))
        for tensor in here:
            for axis, (a, b) in enumerate(zip(here[tensor].shape, there[tensor].shape)):
                if a != b:
                    found[tensor][axis] = extent if a == at else "%s_%s_%d" % (extent, tensor, axis)
    return dict(found)


def write(name, variant, path):
    """The file; the inputs of each case are `inputs`."""
    import torch
    from architectures import ARCHITECTURES
    make, inputs, extents = ARCHITECTURES[name]
    torch.manual_seed(zlib.crc32(name.encode()))
    module = make().eval()
    vary_constant_parameters(module)
    given = data(name, inputs, cases(extents)[0])
    axes = open_axes(inputs, extents)
    with torch.no_grad():
        if variant == "dynamo":
            shapes = {t: {a: torch.export.Dim.AUTO for a in axes.get(t, {})} for t in given}
            torch.onnx.export(module, tuple(given.values()), path, input_names=list(given), dynamo=True, external_data=True, verbose=False,
                              opset_version=18, dynamic_shapes=shapes)
            return
        torch.onnx.export(module, tuple(given.values()), path, input_names=list(given), dynamo=False, opset_version=17, dynamic_axes=axes)
    if variant == "fp16":
        import onnx
        from onnxruntime.transformers.float16 import convert_float_to_float16
        onnx.save(convert_float_to_float16(onnx.load(path), keep_io_types=True), path)
    elif variant != "script":
        quantize(path, variant, {n: x.numpy() for n, x in given.items()})


def prepare(name, variant, folder):
    """model.onnx, and of each case CASE/inputs.npz and CASE/outputs.npz by ONNX Runtime."""
    import onnxruntime
    from architectures import ARCHITECTURES
    path = os.path.join(folder, "model.onnx")
    try:
        write(name, variant, path)
    except BaseException as error:
        raise RuntimeError("export: %s: %s" % (type(error).__name__, str(error).strip()))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise RuntimeError("ONNX Runtime: %s" % str(error).strip())
    _, inputs, extents = ARCHITECTURES[name]
    names = [i.name for i in session.get_inputs()]
    with open(os.path.join(folder, "interface.json"), "w") as f:
        json.dump(dict(inputs={i.name: i.shape for i in session.get_inputs()}, outputs=[o.name for o in session.get_outputs()]), f)
    done = []
    for number, case in enumerate(cases(extents)):
        if case in done:
            continue
        done.append(case)
        at = os.path.join(folder, "case%d" % number)
        os.makedirs(at)
        made = {n: x.numpy() for n, x in data(name, inputs, case, number).items() if n in names}
        np.savez(os.path.join(at, "inputs.npz"), **made)
        try:
            results = session.run(None, made)
        except Exception as error:
            if number == 0:
                raise RuntimeError("ONNX Runtime, when it runs: %s" % str(error).strip())
            with open(os.path.join(at, "fault"), "w") as f:
                f.write(str(error))
            continue
        np.savez(os.path.join(at, "outputs.npz"), **{"%d" % i: y for i, y in enumerate(results)})


def in_child(work, seconds):
    """None, or why it failed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            work()
        except BaseException as error:  # whatever ends an export is its reason
            os.write(writer, str(error)[:1500].encode() or b"failed")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return "export: ended by signal %d" % os.WTERMSIG(status) if os.WIFSIGNALED(status) else text or None


def call(words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "limit", "more than %d s" % SECONDS
    text = (done.stderr.strip() or done.stdout.strip())
    return ("" if done.returncode == 0 else "refused" if done.returncode in (2, 3, 4, 6) else "exit %d" % done.returncode), text


def shape_options(folder, ranges):
    """--shape of each open extent, and whether any is a range."""
    interface = json.load(open(os.path.join(folder, "interface.json")))
    shapes = collections.defaultdict(list)
    for case in sorted(c for c in os.listdir(folder) if c.startswith("case")):
        with np.load(os.path.join(folder, case, "inputs.npz")) as made:
            for name, declared in interface["inputs"].items():
                for axis, extent in enumerate(declared):
                    if not isinstance(extent, int):
                        shapes[extent or "%s:%d" % (name, axis)].append(made[name].shape[axis])
        if not ranges:
            break
    words = []
    for symbol, seen in shapes.items():
        words += ["--shape", "%s=%d" % (symbol, seen[0]) if min(seen) == max(seen) else "%s=%d..%d" % (symbol, min(seen), max(seen))]
    return words, any(".." in w for w in words)


def difference(korch, executable, known, folder, case, tolerance):
    """"" or what is wrong."""
    names = json.load(open(os.path.join(folder, "interface.json")))["outputs"]
    inputs = os.path.join(folder, case, "inputs.npz")
    with tempfile.TemporaryDirectory() as at:
        verdict, text = call([korch, "run", executable, "--output-dir", at] + given_inputs(known, inputs, at))
        if verdict:
            return "run of %s: %s: %s" % (case, verdict, text[-400:])
        with np.load(os.path.join(folder, case, "outputs.npz")) as expected:
            for i, name in enumerate(names):
                actual = np.load(os.path.join(at, name.replace("/", "_") + ".npy"))
                error = error_of(actual, expected["%d" % i], tolerance)
                if not error <= 1:
                    return "%s: %s is off by %.3g of the tolerance, shapes %s and %s" % (case, name, error, actual.shape, expected["%d" % i].shape)
    return ""


def known_inputs(korch, executable):
    """Those of the executable: an input that nothing reads is dropped."""
    listing = subprocess.run([korch, "explain", executable, "--json"], capture_output=True, text=True)
    return {i["name"] for i in json.loads(listing.stdout)["inputs"]}


def amplifies(folder, case, tolerance, nudge):
    """Whether ONNX Runtime's own outputs change as much when each weight changes by `nudge` of itself, as by a rounding: choices
    between numbers that are nearly equal, say."""
    import onnx
    import onnxruntime
    network = onnx.load(os.path.join(folder, "model.onnx"))
    random = np.random.default_rng(1)
    for weight in network.graph.initializer:
        values = onnx.numpy_helper.to_array(weight)
        if values.dtype.kind == "f" and values.size > 1:  # a single number may count what an extent is made of
            changed = (values * (1 + nudge * random.standard_normal(values.shape))).astype(values.dtype)
            weight.CopyFrom(onnx.numpy_helper.from_array(changed, weight.name))
    with np.load(os.path.join(folder, case, "inputs.npz")) as made:
        outputs = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {name: made[name] for name in made.files})
    with np.load(os.path.join(folder, case, "outputs.npz")) as expected:
        return any(error_of(y, expected["%d" % i], tolerance) > 1 for i, y in enumerate(outputs))


def given_inputs(known, path, at):
    """--input of each input in `known`."""
    words = []
    with np.load(path) as made:
        for i, name in enumerate(n for n in made.files if n in known):
            np.save(os.path.join(at, "in%d.npy" % i), made[name])
            words += ["--input", "%s=%s/in%d.npy" % (name, at, i)]
    return words


def attempt(korch, folder, variant, options, ran, how=()):
    """(verdict, message)"""
    model = os.path.join(folder, "model.onnx")
    executable = os.path.join(folder, "model.so")
    verdict, text = call([korch, "compile", model, "--no-measure", "--profile-db", os.path.join(folder, "..", "kernels.db"), "--budget", BUDGET, "--quiet", "-o", executable, *how] + options)
    if verdict:
        return verdict, text[-1500:]
    known = known_inputs(korch, executable)
    tolerance = TOLERANCES.get(variant, 1e-3)
    found = list(filter(None, (difference(korch, executable, known, folder, case, tolerance) for case in ran)))
    verdict, text = call([korch, "verify", model, executable, "--samples", "1"] + options)
    os.remove(executable)
    if verdict:
        return "verify: " + verdict, text[-1500:] + "; " + "; ".join(found)
    if found and all(amplifies(folder, text.split(":")[0], tolerance, NUDGES.get(variant, 1e-6)) for text in found):
        return "unstable", "; ".join(found)
    return ("wrong", "; ".join(found)) if found else ("right", "")


def examine(korch, name, variant, folder):
    failed = in_child(lambda: prepare(name, variant, folder), EXPORT_SECONDS)
    if failed:
        return {"fixed": "own fault", "message": failed}
    every = sorted(c for c in os.listdir(folder) if c.startswith("case"))
    ran = [c for c in every if os.path.exists(os.path.join(folder, c, "outputs.npz"))]
    options, _ = shape_options(folder, False)
    result = {}
    result["fixed"], message = attempt(korch, folder, variant, options, ["case0"])
    if message:
        result["message"] = message
    options, ranges = shape_options(folder, True)
    if ranges:
        result["range"], message = attempt(korch, folder, variant, options, ran, ["--strategy", "greedy"])
        if message:
            result["range message"] = " ".join(options) + ": " + message
        if result["range"] == "refused" and ran != every:
            result["range"] = "own fault"
            result["range message"] = open(os.path.join(folder, next(c for c in every if c not in ran), "fault")).read()[:500] + "; korch: " + message
    return result


def known_results(folder):
    results = {}
    for file in sorted(f for f in os.listdir(folder) if f.startswith("results.") and f.endswith(".json")):
        results.update(json.load(open(os.path.join(folder, file))))
    return results


def report(results):
    """A table: of each variant how many files, by what came of them."""
    columns = "right", "unstable", "own fault", "refused"
    lines = ["| variant | tried | %s | other |" % " | ".join(columns), "|---|---:|---:|---:|---:|---:|---:|"]
    for variant in VARIANTS:
        for kind in ("fixed", "range"):
            seen = [r[kind] for key, r in results.items() if key.endswith("." + variant) and kind in r]
            counts = [seen.count(c) for c in columns]
            lines.append("| %s, %s | %d | %s | %d |" % (
                variant, "one shape" if kind == "fixed" else "ranges", len(seen), " | ".join(map(str, counts)), len(seen) - sum(counts)))
    return "\n".join(lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "build/architectures"))
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--only", help="architectures, separated by commas")
    p.add_argument("--variants", default=",".join(VARIANTS))
    p.add_argument("--worker", type=int, default=1, help="a number for each process that works on the folder")
    p.add_argument("--again", action="store_true", help="also what is known and not right")
    p.add_argument("--keep", action="store_true", help="the files")
    p.add_argument("--report", action="store_true", help="only print the table of what was found")
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    if args.report:
        print(report(known_results(args.folder)))
        return
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(1)
    from architectures import ARCHITECTURES
    import architectures_signals  # noqa: F401  adds its own
    path = os.path.join(args.folder, "results.%d.json" % args.worker)
    mine = json.load(open(path)) if os.path.exists(path) else {}
    names = args.only.split(",") if args.only else sorted(ARCHITECTURES, key=lambda n: (n.startswith(("timm_", "tv_")), zlib.crc32(n.encode())))
    for name in names:
        for variant in args.variants.split(","):
            key = name + "." + variant
            results = known_results(args.folder)
            known, script = results.get(key), results.get(name + ".script")
            if variant in MADE_FROM_SCRIPT and script and script["fixed"] == "own fault":
                continue
            if known and not (args.again and any(known.get(k, "right") not in ("right", "own fault") for k in ("fixed", "range"))) and not args.only:
                continue
            folder = os.path.join(args.folder, key)
            try:
                os.mkdir(folder)
            except FileExistsError:  # another worker's
                continue
            start = time.time()
            mine[key] = examine(args.korch, name, variant, folder)
            if not args.keep:
                shutil.rmtree(folder)
            words = mine[key].get("message", "") + mine[key].get("range message", "")
            print("%-40s %-14s %-14s %5.1f s  %s" % (key, mine[key]["fixed"], mine[key].get("range", ""), time.time() - start,
                                                    words.replace("\n", " ")[:300]), flush=True)
            with open(path + ".new", "w") as f:
                json.dump(mine, f, indent=1, sort_keys=True)
            os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
