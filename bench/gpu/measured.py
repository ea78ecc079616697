"""The five networks of the paper, compiled with kernels that are measured on this GPU, verified, and run whole."""
import json
import os
import re
import shutil

import carried

BUDGET_S = 38  # of a network: five fit into the phase


def compiled(args, name):
    onnx, so = carried.made(args, name, ".onnx"), carried.made(args, name, ".so")
    database = carried.made(args, "costs", ".db")
    os.makedirs(os.path.dirname(so), exist_ok=True)
    if name.endswith(".skeleton.onnx"):
        carried.run(args, "model", name.split(".")[0], "-o", onnx)
    else:
        shutil.copy(os.path.join(args.dir, "models", name), onnx)
    text = carried.run(args, "compile", onnx, "-o", so, "--target", "cuda", "--budget", "%ds" % BUDGET_S,
                       "--profile-db", database)
    os.remove(onnx)
    plan = json.loads(carried.run(args, "explain", so, "--json"))
    report = plan["report"]
    # The measured rows, for the database of those who have no GPU.
    carried.run(args, "costs", "export", os.path.join(args.results, "costs.jsonl"), "--profile-db", database)
    unverified = re.search(r"the executable is not verified: .*", text)
    return {"kernels": report["kernels"], "measured": report["measured"], "predicted_us": report["objective_us"],
            "whole_us": report["measured_us"], "refused": report["refused"], "steps": len(plan["steps"]),
            "verified": unverified is None, "note": unverified.group(0) if unverified else ""}


def items(args):
    return [(name.split(".")[0], lambda name=name: compiled(args, name)) for name in carried.names(args)]
