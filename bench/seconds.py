#!/usr/bin/env python3
"""Where the seconds of a cold compilation go, by kind of work.

    bench/seconds.py [MODEL...] [--korch FILE] [-- OPTIONS OF KORCH COMPILE]

MODEL: bundled ones (korch model --list) or .onnx files; the bundled ones of the paper. Nothing that earlier compilations found is
used. Prints a table, the largest share first.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAPER = "candy_224", "efficientvit_512", "yolox_nano_416", "yolov4_416", "segformer_b0_512"


def compiled(korch, model, folder, options):
    """Seconds by kind of work."""
    path = model
    if not os.path.exists(path):
        path = os.path.join(folder, "model.onnx")
        subprocess.run([korch, "model", model, "-o", path], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([korch, "compile", path, "-o", os.path.join(folder, "model.so"), "--json", *options],
                          capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": folder})
    if done.returncode != 0:
        sys.exit("%s: %s" % (model, done.stderr))
    return json.loads(done.stdout)["seconds"]


def main():
    own, theirs = sys.argv[1:], []
    if "--" in own:
        own, theirs = own[:own.index("--")], own[own.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*", default=PAPER)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    args = p.parse_args(own)
    rows, sums = {}, collections.Counter()
    for model in args.models:
        with tempfile.TemporaryDirectory() as folder:
            rows[os.path.basename(model)] = compiled(args.korch, model, folder, theirs)
        sums.update(rows[os.path.basename(model)])
    kinds = [kind for kind, seconds in sums.most_common() if seconds >= 0.01 * sum(sums.values())]
    print("| network | all, s | %s | other |" % " | ".join(kinds))
    print("|---|%s" % ("---:|" * (len(kinds) + 2)))
    for model, seconds in rows.items():
        shown = [seconds.get(kind, 0) for kind in kinds]
        print("| %s | %.1f | %s | %.1f |" % (model.removesuffix(".onnx"), sum(seconds.values()), " | ".join("%.1f" % s for s in shown),
                                            sum(seconds.values()) - sum(shown)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
