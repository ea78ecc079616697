"""Rehearses a small visit to a GPU (bench/gpu), the emulator playing NVIDIA's driver, and one in which everything goes wrong.

    visit_test.py FOLDER-OF-PROGRAMS
"""
import argparse
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "bench", "gpu"))
sys.dont_write_bytecode = True

import carried  # noqa: E402
import seal  # noqa: E402

VISIT = os.path.join(ROOT, "bench", "gpu", "visit")
PROGRAMS = sys.argv[1]
# The emulator runs no machine code, which the rehearsed executables therefore need not have.
os.environ.setdefault("KORCH_NVRTC", os.path.join(PROGRAMS, "libfake_nvrtc.so"))


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def visit(*arguments, script=VISIT):
    done = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def read(*path):
    with open(os.path.join(*path)) as f:
        return f.read()


def write(text, *path):
    with open(os.path.join(*path), "w") as f:
        f.write(text)


def rows(folder, phase):
    return [row for row in map(json.loads, read(folder, phase + ".jsonl").splitlines()) if "item" in row]


def rehearsal(folder):
    code, text = visit("rehearse", folder, "--models", "cases", "--programs", PROGRAMS)
    expect(code == 0, "a rehearsal goes well, but: " + text)
    jobs = json.loads(read(folder, "kernels", "jobs.json"))["jobs"]
    packings = {a["packing"] for job in jobs for a in job["arguments"] if a["role"] == "constant"}
    expect(packings >= {"columns", "depthwise", "winograd"}, "constants are packed in every way: %s" % packings)
    ran = rows(os.path.join(folder, "results"), "kernels")
    expect(len(ran) == len(jobs) and all("us" in row for row in ran), "all kernels are right: %s" % ran)
    expect("ran and are right" in read(folder, "results", "page.md"), "the page tells it")
    names = os.listdir(os.path.join(folder, "results"))
    expect(len(set(names) - {"page.md"}) <= 8, "at most 8 files come back: %s" % names)
    second = os.path.join(folder, "results2")
    made, = rows(second, "measured")
    expect(made["measured"] > 0 and made["verified"] and made["whole_us"] > 0, "a network is compiled there: %s" % made)
    ran, = rows(second, "versus")
    expect(ran["korch_us"] > 0, "and timed: %s" % ran)
    expect("emulated GPU" in read(second, "costs.jsonl"), "costs come back, with the name of the GPU")
    expect(len(set(os.listdir(second)) - {"page.md"}) <= 8, "at most 8 files come back: %s" % os.listdir(second))
    expect("networks compiled on the GPU" in read(folder, "results", "page.md"), "the page tells it")
    code, text = visit("land", folder)
    expect(code == 1 and "mean nothing" in text, "the emulator's times stay out of the results: " + text)


def everything_goes_wrong(folder):
    """Jobs: a wrong result, a fault of the device, a right one. Phases: one hangs, of one an item ends the process."""
    shutil.rmtree(os.path.join(folder, "results"))
    path = os.path.join(folder, "kernels")
    all_jobs = json.loads(read(path, "jobs.json"))
    jobs = all_jobs["jobs"] = all_jobs["jobs"][:3]
    write(json.dumps(all_jobs), path, "jobs.json")
    expected = next(a["expected"] for a in jobs[0]["arguments"] if a["role"] == "output")
    with open(os.path.join(path, "values.bin"), "r+b") as f:
        f.seek(expected["at"] + 4)
        f.write(struct.pack("<f", 1e6))
    # Job 1 has expectations of its own or job 0's; its fault comes first.
    image = os.path.join(path, "%d.emulated.gz" % jobs[1]["image"])
    text, count = re.subn(r"\n  for \((int|int64_t) slice", "\n  if (threadIdx.x == 0) __syncthreads();\n  for (\\1 slice",
                          gzip.decompress(open(image, "rb").read()).decode(), count=1)
    expect(count == 1, "the kernel's text has its loop over slices")
    with gzip.open(image, "wb") as f:
        f.write(text.encode())
    code, told = visit("part1", folder, script=os.path.join(folder, "bench", "gpu", "visit"))
    expect(code != 0 and "not what was prepared" in told, "a changed folder is refused: " + told)

    write("import time\ndef items(args):\n    return [('good', lambda: {'value': 5, 'unit': 'of it'}),"
          " ('hangs', lambda: time.sleep(1000)), ('after', dict)]\n", folder, "bench", "gpu", "ceilings.py")
    write("import json, os\nfrom part1 import Absent\ndef absent():\n    raise Absent('not here')\ndef items(args):\n"
          "    name = lambda n: json.dumps([n, 'eager', 1, 'float32'])\n"
          "    return [(name('a'), lambda: {'us': 7}), (name('b'), os.abort), (name('c'), lambda: {'us': 9}),"
          " (name('d'), lambda: 1 / 0)]\n", folder, "bench", "gpu", "networks.py")
    seal.seal(folder)
    results = os.path.join(folder, "results")
    code, told = visit("part1", folder, "--libcuda", os.path.join(PROGRAMS, "libfake_cuda.so"), "--deadlines", "ceilings=15",
                      "--patience", "20",
                       script=os.path.join(folder, "bench", "gpu", "visit"))
    expect(code == 0, "part1 comes to its end: " + told)

    wrong, fault, right = rows(results, "kernels")
    expect("samples are wrong: sample 1 is" in wrong["error"], "the wrong result is reported: %s" % wrong)
    expect("CUDA_ERROR_LAUNCH_FAILED" in fault["error"], "the fault is reported: %s" % fault)
    expect("us" in right or "samples are wrong" in right["error"], "the next kernel runs after the fault: %s" % right)
    expect([row["name"] for row in rows(results, "ceilings")] == ["good"], "what was written before the deadline is kept")
    a, b, c, d = rows(results, "networks")
    expect(a["us"] == 7 and c["us"] == 9, "items around the one that ended the process ran")
    expect("ended with code -6" in b["error"], "the end of the process is reported: %s" % b)
    expect("ZeroDivisionError" in d["error"], "an exception is reported: %s" % d)
    phases = {p["phase"]: p for p in json.loads(read(results, "part1.json"))["phases"]}
    expect(phases["ceilings"]["cut"] == "the deadline passed" and phases["ceilings"]["done"] == 1, "%s" % phases)
    expect(phases["networks"]["failed"] == 2 and phases["networks"]["done"] == 4, "%s" % phases)
    expect("the deadline passed" in told and "CUDA_ERROR_LAUNCH_FAILED" in told, "the table tells it: " + told)


def lands_only_its_own(folder):
    page = os.path.join(folder, "results", "page.md")
    write("# Kernels\n\nwords\n\n## After\n\nmore\n", page)
    for _ in range(2):
        code, told = visit("land", folder, "--page", page)
        expect(code == 0, "results land: " + told)
    text = read(page)
    expect(text.count("## Last visit") == 1 and "words" in text and "more" in text, "one section, the others stay: " + text)
    probed = read(folder, "results", "probe.jsonl")
    write("", folder, "results", "probe.jsonl")
    code, told = visit("land", folder, "--page", page)
    expect(code == 1 and "no GPU" in told, "a visit without a GPU is refused: " + told)
    write(probed, folder, "results", "probe.jsonl")
    state = json.loads(read(folder, "results", "part1.json"))
    write(json.dumps({**state, "hash": "0" * 64}), folder, "results", "part1.json")
    code, told = visit("land", folder, "--page", page)
    expect(code == 1 and "was prepared as" in told, "results of another folder are refused: " + told)
    expect(read(page) == text, "and the page stays")


def programs_are_carried(folder):
    """A program with its libraries and their loader."""
    args = argparse.Namespace(dir=folder, results=os.path.join(folder, "results2"), korch=None, libcuda="none")
    expect(carried.pack(shutil.which("ls"), os.path.join(folder, "ls")), "it is packed")
    os.rename(os.path.join(folder, "ls"), os.path.join(folder, carried.FOLDER))
    os.rename(os.path.join(folder, carried.FOLDER, "ls.gz"), os.path.join(folder, carried.FOLDER, "korch.gz"))
    expect("compiled.json" in carried.run(args, folder), "it runs where it was unpacked")
    expect(not carried.pack(os.path.join(folder, "none"), os.path.join(folder, "other")), "what is not there is told")


with tempfile.TemporaryDirectory() as temporary:
    for step in (rehearsal, everything_goes_wrong, lands_only_its_own, programs_are_carried):
        step(os.path.join(temporary, "visit"))
        print(step.__name__, "is right")
