#!/usr/bin/env python3
"""What `korch compile --measure none` and `plan` take, and give, beside `prove`.

    bench/measure_modes.py [MODEL...] [--korch FILE] [--modes none,plan] [--seconds 10] [-- OPTIONS OF KORCH COMPILE]

MODEL: bundled ones (korch model --list) or .onnx files; the bundled ones of the paper. Each is compiled in each mode from nothing, then
the executables run interleaved. A row per network: seconds of each compilation, different kernels measured, and the time of `prove`'s
executable over this one's, with the 95 % interval: above 1 this one is faster. Ends with the medians. `--modes plan,prove` compiles
`prove` twice: what one compilation differs from the next is the least that the comparison can tell.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from seconds import PAPER, ROOT


def run(*words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(words), done.stderr[-2000:]))
    return done.stdout


def compiled(args, path, mode, output, options):
    """The executable, seconds, share of the different kernels that were measured."""
    with tempfile.TemporaryDirectory() as cache:
        made = json.loads(run(args.korch, "compile", path, "-o", output, "--json", "--measure", mode, *options, XDG_CACHE_HOME=cache))
    report = json.loads(run(args.korch, "explain", output, "--json"))["report"]
    return output, sum(made["seconds"].values()), report["measured"] / max(1, report["kernels"])


def main():
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*", default=PAPER)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--modes", default="none,plan")
    p.add_argument("--seconds", type=float, default=10, help="of running executables")
    args = p.parse_args(own)
    modes = [*args.modes.split(","), "prove"]
    print("| network | " + " | ".join("%s: s, measured" % mode for mode in modes) + " | " +
          " | ".join("prove / %s" % mode for mode in modes[:-1]) + " |")
    print("|---" * (2 * len(modes)) + "|", flush=True)
    ratios = {mode: [] for mode in modes[:-1]}
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            path = model
            if not os.path.exists(path):
                path = os.path.join(folder, "model.onnx")
                run(args.korch, "model", model, "-o", path)
            made = [compiled(args, path, mode, os.path.join(folder, "%d.so" % i), options) for i, mode in enumerate(modes)]
            # The first of a bench is what the others are compared with: its time over theirs.
            rows = json.loads(run(args.korch, "bench", *(m[0] for m in reversed(made)), "--json", "--max-seconds", str(args.seconds),
                                  "--rounds", "400"))["rows"]
            by_file = {row["path"]: row for row in rows}
            cells = []
            for mode, (file, _, _) in list(zip(modes, made))[:-1]:
                row = by_file[file]
                ratios[mode].append(1 / row["ratio"])
                cells.append("%.3f [%.3f, %.3f]" % (1 / row["ratio"], 1 / row["ratio_high"], 1 / row["ratio_low"]))
            name = os.path.splitext(os.path.basename(model))[0]
            print("| %s | %s | %s |" % (name, " | ".join("%.1f, %.1f %%" % (s, 100 * share) for _, s, share in made), " | ".join(cells)),
                  flush=True)
    for mode, found in ratios.items():
        print("prove / %s: median %.3f, least %.3f, of %d" % (mode, statistics.median(found), min(found), len(found)))


if __name__ == "__main__":
    main()
