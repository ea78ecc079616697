"""Makes the folder that is carried: images and jobs by the program cuda_visit, the scripts, the five networks' skeletons."""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

import carried
import land
import seal
from networks import NETWORKS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GPU = os.path.join(ROOT, "bench", "gpu")
SCRIPTS = ["visit", "part1.py", "seal.py", "table.py", "cuda_driver.py", "probe.py", "ceilings.py", "kernels.py",
           "executables.py", "networks.py", "carried.py", "measured.py", "versus.py", "ncu.py"]
# Whole executables that are carried: what there is room for.
EXECUTABLES = ["mobilenet_v2_224", "candy_224"]

TINY = os.path.join(ROOT, "tests", "cuda", "gpu", "tiny.textproto")
PATIENCE = 20  # of a rehearsal: clang compiles every kernel, and the machine may be busy


def compress(kernels):
    """Every image becomes a .gz file; the same images give the same bytes."""
    for name in os.listdir(kernels):
        if name not in ("jobs.json", "values.bin"):
            path = os.path.join(kernels, name)
            with open(path, "rb") as f:
                packed = gzip.compress(f.read(), mtime=0)
            with open(path + ".gz", "wb") as f:
                f.write(packed)
            os.remove(path)


def make(args, architectures, models, *limits):
    """The folder without its seal."""
    if os.path.exists(args.dir) and os.listdir(args.dir):
        raise SystemExit("%s is not empty" % args.dir)
    kernels = os.path.join(args.dir, "kernels")
    subprocess.run([os.path.join(args.programs, "cuda_visit"), kernels, "--architectures", architectures, "--device-source",
                    os.path.join(GPU, "device.cu"), "--models", models, *limits], check=True)
    compress(kernels)
    os.makedirs(os.path.join(args.dir, "bench", "gpu"))
    os.makedirs(os.path.join(args.dir, "models"))
    for name in SCRIPTS:
        shutil.copy(os.path.join(GPU, name), os.path.join(args.dir, "bench", "gpu"))
    shutil.copy(os.path.join(ROOT, "bench", "onnx_to_torch.py"), os.path.join(args.dir, "bench"))
    for name in ["fill_weights.py"] + [network + ".skeleton.onnx" for network in NETWORKS]:
        shutil.copy(os.path.join(ROOT, "models", name), os.path.join(args.dir, "models"))


def choose_compiled(args, names):
    """What part2 compiles there."""
    with open(os.path.join(args.dir, "compiled.json"), "w") as f:
        json.dump(names, f)


def pack(source, target):
    with open(source, "rb") as f, gzip.GzipFile(target, "wb", mtime=0) as packed:
        packed.write(f.read())


def make_executable(args, model, *options):
    """The network's executable for a GPU, its inputs, and the outputs of one for this machine's CPU."""
    korch = os.path.join(args.programs, "..", "..", "tools", "korch")
    with tempfile.TemporaryDirectory() as work:
        onnx, inputs, outputs = (os.path.join(work, name) for name in ("m.onnx", "inputs", "outputs"))
        common = ["--no-measure", "--no-profile-db", "--strategy", "greedy"]

        def run(*arguments):
            return subprocess.run([korch, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

        run("model", model, "-o", onnx, "--inputs", inputs)
        run("compile", onnx, "-o", onnx + ".cpu.so", "--no-verify", *common)
        given = []
        for name in sorted(os.listdir(inputs)):
            given += ["--input", "%s=%s" % (name[:-4], os.path.join(inputs, name))]
        run("run", onnx + ".cpu.so", *given, "--output-dir", outputs)
        run("compile", onnx, "-o", onnx + ".so", "--target", "sm_90", *common, *options)
        plan = json.loads(run("explain", onnx + ".so", "--json"))
        folder = os.path.join(args.dir, "executables", model)
        os.makedirs(folder)
        files = {"predicted_us": [step["predicted_us"] for step in plan["steps"]], "inputs": [], "outputs": []}
        for kind, where in (("inputs", inputs), ("outputs", outputs)):
            for tensor in plan[kind]:
                name = next(n for n in sorted(os.listdir(where)) if n[:-4].removeprefix("out_") == tensor["name"].replace("/", "_"))
                files[kind].append("%s_%d.gz" % (kind, len(files[kind])))
                pack(os.path.join(where, name), os.path.join(folder, files[kind][-1]))
        pack(onnx + ".so", os.path.join(folder, "network.so.gz"))
        with open(os.path.join(folder, "files.json"), "w") as f:
            json.dump(files, f)


def finish(args):
    with open(os.path.join(args.dir, "kernels", "jobs.json")) as f:
        jobs = json.load(f)
    info = seal.seal(args.dir, jobs=len(jobs["jobs"]), refused=len(jobs["refused"]))
    for row in jobs["refused"]:
        print("refused: %s: %s: %s" % (row["model"], row["what"][:120], row["reason"]))
    spilling = sum(any(of.get("spill_bytes", 0) for of in row.values()) for row in jobs["resources"].values())
    candidates = len({job["candidate"] for job in jobs["jobs"] if "candidate" in job})
    print("%d kernels of %d candidates, %d refused, %d of %d functions spill registers; %d files, %.1f MiB, hash %s" % (
        len(jobs["jobs"]), candidates, len(jobs["refused"]), spilling, len(jobs["resources"]), info["files"],
        info["bytes"] / 2**20, info["hash"][:12]))


def prepare(args):
    make(args, "sm_80,sm_90", args.models)
    for model in EXECUTABLES:
        make_executable(args, model)
    choose_compiled(args, [network + ".skeleton.onnx" for network in NETWORKS])
    if not carried.pack(args.portable, os.path.join(args.dir, carried.FOLDER)):
        print("part2 compiles nothing: %s is not built (cmake --preset no-cpu; cmake --build --preset no-cpu)" %
              args.portable)
    finish(args)
    return 0


def make_tiny(args):
    """A network that the emulator measures in seconds."""
    with open(TINY) as f, open(os.path.join(args.dir, "models", "tiny.onnx"), "wb") as onnx:
        subprocess.run(["protoc", "-I", os.path.join(ROOT, "src", "korch", "onnx"), "--encode=korch.onnx.proto.ModelProto",
                        "onnx.proto"], stdin=f, stdout=onnx, check=True)
    choose_compiled(args, ["tiny.onnx"])


def rehearse(args):
    """A small visit: the products' cases, and small kernels of one network."""
    models = "cases,mobilenet_v2_224" if args.models == "all" else args.models
    make(args, "emulated", models, "--most-elements", "300000", "--most-flops", "3e6", "--most-kernels", "12")
    make_executable(args, EXECUTABLES[0], "--emulation")
    make_tiny(args)
    finish(args)
    args.page = args.page or os.path.join(args.dir, "results", "page.md")
    return rehearse_part(args, "part1", args.results) or rehearse_part(args, "part2", os.path.join(args.dir, "results2"))


def rehearse_part(args, part, results):
    library = os.path.abspath(os.path.join(args.programs, "libfake_cuda.so"))
    korch = os.path.abspath(os.path.join(args.programs, "..", "..", "tools", "korch"))
    done = subprocess.run([sys.executable, os.path.join(args.dir, "bench", "gpu", "visit"), part, args.dir, "--results",
                           results, "--libcuda", library, "--deadlines", args.deadlines, "--patience", str(PATIENCE),
                           "--korch", korch])
    args.results = results
    if done.returncode != 0 or land.land(args) != 0:
        return 1
    with open(os.path.join(results, part + ".json")) as f:
        phases = json.load(f)["phases"]
    bad = [p["phase"] for p in phases if p["failed"] or p["cut"] or p["done"] != p["items"]]
    if bad:
        print("did not go well: " + ", ".join(bad))
    return 1 if bad else 0
