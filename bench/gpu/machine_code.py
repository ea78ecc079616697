#!/usr/bin/env python3
"""What the machine code of whole plans must have, read from executables for GPUs. Needs no GPU, but NVIDIA's disassembler.

    bench/gpu/machine_code.py [MODEL...] [--target sm_90] [--strategy greedy] [--korch FILE] [--nvdisasm FILE] [--verbose]

MODEL: bundled ones (korch model --list) or .onnx files; all bundled ones. Prints a table; ends with 1 where all of
them together miss a bar.

    wide      functions with maps of float32 whose elements lie one behind the other load and store 16 bytes at a time;
              of maps in which each thread of a block has four points
    HMMA      each product on matrix units has them in its innermost loop, and does not multiply by FFMA there
    spills    functions that move registers to memory; products never do
    occupancy threads that a multiprocessor holds over those that it could hold, of functions with products and of maps
"""
import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUDA_MACHINE = 190  # of an ELF file
UNSUPPORTED, SKIPPED = 4, 77  # exit codes: of korch, of a test that was skipped
LEAST_WIDE = 0.95
LEAST_POINTS = 4 * 256  # of a block: each thread has four
LEAST_WITHOUT_SPILLS = 0.99
LEAST_OCCUPANCY = {"product": 0.25, "map": 0.50}
MOST_FFMA_SHARE = 0.1  # of the multiplications in a loop with HMMA: what a prologue computes
FLOPS = {"HMMA": 2 * 16 * 8 * 8, "FFMA": 2 * 32}  # of a warp's instruction; HMMA of tf32


def images(path):
    """The machine code in an executable, in the order of the plan's kernels."""
    with open(path, "rb") as f:
        data = f.read()
    found, at = [], data.find(b"\x7fELF")
    while at >= 0:
        if at + 64 <= len(data) and struct.unpack_from("<H", data, at + 18)[0] == CUDA_MACHINE:
            segments, sections = struct.unpack_from("<QQ", data, at + 32)
            segment_bytes, segment_count, section_bytes, section_count = struct.unpack_from("<HHHH", data, at + 54)
            end = max(segments + segment_bytes * segment_count, sections + section_bytes * section_count)
            found.append(data[at:at + end])
        at = data.find(b"\x7fELF", at + 4)
    return found


class Function:
    """Instructions of a function: (address, operation, operands), and addresses of labels."""

    def __init__(self):
        self.code, self.labels, self.waiting = [], {}, []

    def add(self, line):
        label = re.match(r"\s*(\.L_\w+):", line)
        if label:
            self.waiting.append(label.group(1))
        found = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*)", line)
        if found:
            address = int(found.group(1), 16)
            self.labels.update({name: address for name in self.waiting})
            self.waiting = []
            self.code.append((address, found.group(2), found.group(3)))

    def count(self, prefix, begin=0, end=1 << 60):
        return sum(begin <= address <= end and name.startswith(prefix) for address, name, _ in self.code)

    def innermost_loop_with(self, prefix):
        """(begin, end) of the shortest loop that has such an instruction; the whole function where none does."""
        loops = []
        for address, name, operands in self.code:
            target = re.search(r"\.L_\w+", operands)
            if name.startswith("BRA") and target and self.labels.get(target.group(0), address + 1) <= address:
                loops.append((self.labels[target.group(0)], address))
        loops = [loop for loop in loops if self.count(prefix, *loop)]
        return min(loops, key=lambda loop: loop[1] - loop[0], default=(0, 1 << 60))


def disassembled(nvdisasm, image, folder):
    path = os.path.join(folder, "image.cubin")
    with open(path, "wb") as f:
        f.write(image)
    done = subprocess.run([nvdisasm, "-c", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("nvdisasm fails: " + done.stderr)
    functions, current = {}, None
    for line in done.stdout.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.(\w+)", line)
        if section:
            current = functions.setdefault(section.group(1), Function())
        elif current is not None:
            current.add(line)
    return functions


def affine(text):
    """{variable: factor}, "": the constant; None where it is no such sum."""
    if re.search(r"[(/%]", text):
        return None
    terms = {}
    for sign, name, factor in re.findall(r"(^|[+-])\s*(\w+)(?:\s*\*\s*(\d+))?", text.replace(" - ", " -").replace(" + ", " +")):
        value = (-1 if sign == "-" else 1) * int(factor or 1)
        if name.isdigit():
            name, value = "", value * int(name)
        terms[name] = terms.get(name, 0) + value
    return terms


def runs_along(offset, variable):
    terms = affine(offset)
    return terms is not None and terms.get(variable) == 1 and all(v % 4 == 0 for k, v in terms.items() if k != variable)


def split_phases(tile):
    return re.split(r"^  phase\b", tile, flags=re.M)[1:]


def wide_maps(phase, types):
    """(loads, stores): whether maps of the phase load and store float32 in the GPU's memory, one element behind the other."""
    loads = stores = False
    for head, body in re.findall(r"^\s*map\b([^{]*)\{(.*?)^\s*\}", phase, flags=re.M | re.S):
        written = re.findall(r"^\s*(\w+)\[(.*)\] <- ", body, flags=re.M)
        read = re.findall(r"= (\w+)\[(.*)\]", body)
        if re.search(r"\bif\b|\bselect\b", body) or any(affine(offset) is None for _, offset in written + read):
            continue
        if any(types.get(name) != "f32" for name, _ in written + read):
            continue
        extents = [(name, int(extent)) for name, extent in re.findall(r"(\w+) in (\d+)", head)]
        if math.prod(extent for _, extent in extents) < LEAST_POINTS:
            continue
        for name, extent in extents:
            if extent % 4 == 0 and all(runs_along(offset, name) for _, offset in written):
                if any(not buffer.startswith("s") and affine(offset).get(name, 0) not in (0, 1) for buffer, offset in read):
                    continue  # through shared memory, a line of single elements at a time
                if any(buffer.startswith("s") and affine(offset).get(name, 0) > 0 and not runs_along(offset, name)
                       for buffer, offset in read):
                    continue  # taps of a staged window begin anywhere, or lie apart: a thread has one element
                stores = stores or any(not buffer.startswith("s") for buffer, _ in written)
                loads = loads or any(not buffer.startswith("s") and runs_along(offset, name) for buffer, offset in read)
    return loads, stores


class Tally:
    """Of one network, or the sum of several."""

    def __init__(self):
        self.functions = self.spilling = self.wide_maps = self.wide = self.products = self.on_matrix_units = 0
        self.spilling_products, self.missed = 0, []
        self.occupancy = {"product": 1.0, "map": 1.0}

    def add(self, other):
        for name in ("functions", "spilling", "wide_maps", "wide", "products", "on_matrix_units", "spilling_products"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missed += other.missed
        self.occupancy = {kind: min(share, other.occupancy[kind]) for kind, share in self.occupancy.items()}

    def row(self, name):
        return "| %s | %d | %d | %d of %d | %d of %d | %.0f %% | %.0f %% |" % (
            name, self.functions, self.spilling, self.wide, self.wide_maps, self.on_matrix_units, self.products,
            100 * self.occupancy["product"], 100 * self.occupancy["map"])

    def missed_bars(self, least_without_spills):
        bars = []
        if self.wide < LEAST_WIDE * self.wide_maps:
            bars.append("%d of %d maps are wide" % (self.wide, self.wide_maps))
        if self.on_matrix_units != self.products:
            bars.append("%d of %d products run on matrix units" % (self.on_matrix_units, self.products))
        if self.functions - self.spilling < least_without_spills * self.functions or self.spilling_products:
            bars.append("%d of %d functions spill, %d of them products" % (
                self.spilling, self.functions, self.spilling_products))
        for kind, least in LEAST_OCCUPANCY.items():
            if self.occupancy[kind] < least:
                bars.append("occupancy %.0f %% of a %s" % (100 * self.occupancy[kind], kind))
        return bars


def look_at(tally, name, phase, types, function, occupancy):
    def miss(what):
        tally.missed.append("%s: %s" % (name, what))

    spills = function.count("STL") + function.count("LDL")
    matrix = " registers matrix" in phase
    kind = "product" if " registers" in phase else "map" if not re.search(r"^\s*reduce", phase, flags=re.M) else None
    tally.functions += 1
    tally.spilling += spills > 0
    tally.spilling_products += spills > 0 and kind == "product"
    if spills:
        miss("%d instructions spill" % spills)
    if kind:
        tally.occupancy[kind] = min(tally.occupancy[kind], occupancy)
        if occupancy < LEAST_OCCUPANCY[kind]:
            miss("occupancy %.0f %% of a %s" % (100 * occupancy, kind))
    if matrix:
        tally.products += 1
        loop = function.innermost_loop_with("HMMA")
        done = {operation: function.count(operation, *loop) * flops for operation, flops in FLOPS.items()}
        is_whole = function.count("STG", *loop) > 0  # of few terms, without a loop over them: it has the epilogue, too
        right = done["HMMA"] > 0 and (is_whole or done["FFMA"] <= MOST_FFMA_SHARE * done["HMMA"])
        tally.on_matrix_units += right
        if not right:
            miss("flops in its loop: %s" % done)
    loads, stores = wide_maps(phase, types) if kind != "product" else (False, False)
    if loads or stores:
        tally.wide_maps += 1
        right = (not stores or function.count("STG.E.128") > 0) and (not loads or function.count("LDG.E.128") > 0)
        tally.wide += right
        if not right:
            miss("a map with stores %s, loads %s" % (
                sorted({n for _, n, _ in function.code if n.startswith("STG")}),
                sorted({n for _, n, _ in function.code if n.startswith("LDG")})))


def look_at_network(args, model, folder):
    def korch(*arguments):
        done = subprocess.run([args.korch, *arguments], capture_output=True, text=True)
        if done.returncode == UNSUPPORTED and "NVRTC" in done.stderr:
            print(done.stderr, end="")
            sys.exit(SKIPPED)
        if done.returncode != 0:
            raise SystemExit("korch %s: %s" % (" ".join(arguments), done.stderr))
        return done.stdout

    onnx, so, dumps = model, os.path.join(folder, "m.so"), os.path.join(folder, "dumps")
    if not model.endswith(".onnx"):
        onnx = os.path.join(folder, "m.onnx")
        korch("model", model, "-o", onnx)
    korch("compile", onnx, "-o", so, "--target", args.target, "--no-measure", "--no-profile-db", "--strategy", args.strategy,
          "--dump-dir", dumps)
    plan = json.loads(korch("explain", so, "--json"))
    told = occupancies(korch("explain", so), plan)
    code = images(so)
    generated = [i for i, kernel in enumerate(plan["kernels"]) if kernel["phases"] and not kernel["library"]]
    if len(code) != len(generated):
        raise SystemExit("%s: %d kernels and %d images" % (model, len(generated), len(code)))
    tally = Tally()
    for number, image in zip(generated, code):
        with open(os.path.join(dumps, "kernel-%03d.tile" % number)) as f:
            tile = f.read()
        types = dict(re.findall(r"^  (\w+): (\w+)\[", tile, flags=re.M))
        functions = disassembled(args.nvdisasm, image, folder)
        for p, (phase, row) in enumerate(zip(split_phases(tile), plan["kernels"][number]["phases"])):
            look_at(tally, "%s, kernel %d, %s" % (model, number, row["symbol"]), phase, types, functions[row["symbol"]],
                    told[number][p])
    return tally


def occupancies(text, plan):
    """By kernel, of each phase, as explain lists them below the steps."""
    found, step = {}, None
    for line in text.splitlines():
        begins = re.match(r"\s*(\d+)\s+[\d.]+  \S", line)
        if begins:
            step = int(begins.group(1))
            found[plan["steps"][step]["kernel"]] = []
        share = re.match(r"\s+\d+ registers, .* occupancy (\d+) %", line)
        if share and step is not None:
            found[plan["steps"][step]["kernel"]].append(int(share.group(1)) / 100)
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--target", default="sm_90")
    p.add_argument("--strategy", default="greedy")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--nvdisasm", default=os.path.join(ROOT, "third_party/nvdisasm/nvidia/cu13/bin/nvdisasm"))
    p.add_argument("--without-spills", type=float, default=LEAST_WITHOUT_SPILLS, help="share of the functions, at least")
    p.add_argument("--verbose", action="store_true", help="name what misses a bar, however few")
    args = p.parse_args()
    if not os.path.exists(args.nvdisasm):
        print("no disassembler at %s (scripts/install-deps gets it)" % args.nvdisasm)
        return SKIPPED
    models = args.models or [
        line.split()[0] for line in subprocess.run([args.korch, "model", "--list"], capture_output=True, text=True,
                                                   check=True).stdout.splitlines() if line.strip()]
    print("| network | functions | spilling | wide maps | products with HMMA | least occupancy, products | maps |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    total = Tally()
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            tally = look_at_network(args, model, folder)
        print(tally.row(os.path.basename(model)), flush=True)
        total.add(tally)
    print(total.row("all"))
    bars = total.missed_bars(args.without_spills)
    for line in bars + (["  " + what for what in total.missed] if bars or args.verbose else []):
        print(line)
    return 1 if bars else 0


if __name__ == "__main__":
    sys.exit(main())
