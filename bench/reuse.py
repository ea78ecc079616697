#!/usr/bin/env python3
"""How much of a network's compilation is free once another, similar one was compiled.

    bench/reuse.py FIRST:SECOND [FIRST:SECOND...] [--korch FILE] [-- OPTIONS OF KORCH COMPILE]

FIRST, SECOND: bundled networks (korch model --list) or .onnx files. SECOND is compiled from nothing, and once more after FIRST, with what
that one left in the kernel database. A row per pair: seconds, kernels compiled and kernels measured of both compilations, and the share of
each that was saved. Kernels count that this compilation compiled or measured itself.
"""
import argparse
import json
import os
import sys
import tempfile

from measure_modes import run
from seconds import ROOT


def compiled(korch, path, folder, cache, options):
    """Seconds, kernels compiled, kernels measured."""
    made = json.loads(run(korch, "compile", path, "-o", os.path.join(folder, "model.so"), "--json", *options, XDG_CACHE_HOME=cache))
    return sum(made["seconds"].values()), made["kernels_compiled"], made["kernels_measured"]


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pairs", nargs="+")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    args = p.parse_args(own)
    print("| first | second | alone: s, compiled, measured | after the first | saved |\n|---|---|---:|---:|---:|", flush=True)
    for pair in args.pairs:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for model in pair.split(":"):
                path = model
                if not os.path.exists(path):
                    path = os.path.join(folder, model + ".onnx")
                    run(args.korch, "model", model, "-o", path)
                paths.append(path)
            caches = [os.path.join(folder, name) for name in ("alone", "shared")]
            alone = compiled(args.korch, paths[1], folder, caches[0], options)
            compiled(args.korch, paths[0], folder, caches[1], options)
            after = compiled(args.korch, paths[1], folder, caches[1], options)
            cell = "%.1f, %d, %d"
            saved = ", ".join("%.0f %%" % (100 * (1 - b / a)) if a else "-" for a, b in zip(alone, after))
            names = [os.path.splitext(os.path.basename(path))[0] for path in paths]
            print("| %s | %s | %s | %s | %s |" % (*names, cell % alone, cell % after, saved), flush=True)


if __name__ == "__main__":
    main()
