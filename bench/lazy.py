#!/usr/bin/env python3
"""Lazy measuring against measuring everything: both read one database that --exhaustive filled.

    bench/lazy.py [--models a,b] [--threads 2]

Prints the objectives and the share of columns that lazy measuring asks for, with learned and with analytic bounds.
"""
import argparse
import os

from strategies import ROOT, call, written


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench"))
    p.add_argument("--models", default="mobilenet_v2_224,candy_224,resnet50_224")
    p.add_argument("--threads", default="2")
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    print("model                kernels  exhaustive us   learned bounds: us, measured      analytic bounds: us, measured")
    for model in args.models.split(","):
        onnx, _ = written(model, args)
        database = os.path.join(args.work, "lazy.%s.%s.db" % (model, args.threads))
        so = os.path.join(args.work, "lazy.so")

        def compile(*options):
            return call(args.korch, "compile", onnx, "-o", so, "--threads", args.threads, "--profile-db", database, "--no-verify",
                        "--measure", "prove", "--json", *options)

        full = compile("--exhaustive")
        lazy = [compile("--bounds", b) for b in ("learned", "analytic")]
        print("%-20s %7d %14.2f  %s" % (model, full["kernels"], full["objective_us"], "  ".join(
            "%14.2f %6d (%4.1f %%)" % (r["objective_us"], r["measured"],
                                    100 * r["measured"] / r["kernels"])
            for r in lazy)), flush=True)


if __name__ == "__main__":
    main()
