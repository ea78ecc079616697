#!/usr/bin/env python3
"""Compiles networks for GPUs twice, times it, compares the bytes, and verifies each on the emulated GPU. Needs no GPU.

    bench/gpu/compiled.py [MODEL...] [--targets sm_90,sm_80] [--emulate sm_90] [--korch FILE] [--driver FILE] [--no-verify]

MODEL: bundled ones (korch model --list) or .onnx files; all bundled ones. Prints a row as soon as a network is done; ends with 1
where one was refused or wrong, gave other bytes, or took longer than 90 s.
"""
import argparse
import filecmp
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_SECONDS = 90


def run(*arguments, **environment):
    """Its output, or None where it failed, which is printed; the seconds of the wall and of processors."""
    wall, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, capture_output=True, text=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        print("%s: exit code %d\n%s" % (" ".join(arguments), done.returncode, done.stderr[-2000:]), file=sys.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout if done.returncode == 0 else None, time.monotonic() - wall, cpu


def compiled(args, model, target, path, *more):
    # What an earlier compilation found would make this one short.
    with tempfile.TemporaryDirectory() as cache:
        return run(args.korch, "compile", model, "--target", target, "--no-measure", "--no-profile-db", "-o", path, *more,
                   XDG_CACHE_HOME=cache)


def column(args, model, target, folder):
    """Kernels, predicted us, seconds; and whether it is as wanted."""
    once, again = (os.path.join(folder, "%s.%d.so" % (target, i)) for i in range(2))
    out, wall, cpu = compiled(args, model, target, once)
    if out is None:
        return "refused", False
    is_same = compiled(args, model, target, again)[0] is not None and filecmp.cmp(once, again, shallow=False)
    plan = json.loads(run(args.korch, "explain", once, "--json")[0])
    text = "%d, %.0f | %.0f, %.0f%s" % (len(plan["steps"]), plan["report"]["predicted_us"], wall, cpu,
                                       "" if is_same else " (other bytes)")
    return text, is_same and wall <= MOST_SECONDS


def verified(args, model, folder):
    path = os.path.join(folder, "emulated.so")
    if compiled(args, model, args.emulate, path, "--emulation", "--no-verify")[0] is None:
        return "refused", False
    out = run(args.korch, "verify", model, path, "--json", KORCH_CUDA_DRIVER=args.driver)[0]
    if out is None:
        return "wrong", False
    worst = max(json.loads(out)["outputs"], key=lambda o: o["ratio"])
    return "%.1e / %.1e" % (worst["error"], worst["tolerance"]), True


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*")
    p.add_argument("--targets", default="sm_90,sm_80")
    p.add_argument("--emulate", default="sm_90")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--driver", default=os.path.join(ROOT, "build/release/tests/cuda/libfake_cuda.so"))
    p.add_argument("--no-verify", action="store_true")
    args = p.parse_args()
    targets = args.targets.split(",")
    models = args.models or [line.split()[0] for line in run(args.korch, "model", "--list")[0].splitlines() if line.strip()]
    print("| network | %s |" % " | ".join("%s: kernels, predicted us | wall s, processor s" % t for t in targets) +
          ("" if args.no_verify else " verified, %s: largest error / allowed |" % args.emulate))
    print("|---" * (1 + 2 * len(targets) + (not args.no_verify)) + "|")
    good = True
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            path, name = model, os.path.basename(model).removesuffix(".onnx")
            if not os.path.exists(path):
                path = os.path.join(folder, "model.onnx")
                run(args.korch, "model", model, "-o", path)
            cells = [column(args, path, target, folder) for target in targets]
            if not args.no_verify:
                cells.append(verified(args, path, folder))
        print("| %s | %s |" % (name, " | ".join(text for text, _ in cells)), flush=True)
        good = good and all(is_good for _, is_good in cells)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
