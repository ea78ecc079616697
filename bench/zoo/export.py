#!/usr/bin/env python3
"""Exports the networks of networks.py with random weights: FOLDER/<network>.<exporter>/{model.onnx, inputs/*.npy}.

    bench/zoo/setup && build/zoo-venv/bin/python bench/zoo/export.py [--folder build/zoo] [--only a,b] [--exporters script,dynamo]

Exporters: `script` is the TorchScript-based one (opset 17), `dynamo` torch.onnx.export(dynamo=True) (opset 18, weights in a file
of their own); `qdq` and `dynamic` quantize what `script` made of some networks by ONNX Runtime's tools, statically and dynamically
(FOLDER/.../tolerance: roundings fall differently). What is there stays; what failed is in FOLDER/exports.json with its reason and is
tried again with --retry.
"""
import argparse
import json
import os
import resource
import shutil
import sys
import warnings
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUANTIZING = "qdq", "dynamic"
MEMORY_BYTES = 12 << 30  # address space of one export


def vary_constant_parameters(module):
    """Parameters that start as one number (zero biases, norms, layer scales) get different ones: what they do shows in the result."""
    import torch
    with torch.no_grad():
        for name, p in module.named_parameters():
            if p.numel() > 1 and bool((p == p.flatten()[0]).all()):
                p.add_(0.1 * torch.randn_like(p))
        for name, b in module.named_buffers():
            if name.endswith("running_mean"):
                b.add_(0.1 * torch.randn_like(b))
            if name.endswith("running_var"):
                b.mul_(0.5 + torch.rand_like(b))


def quantize(path, exporter, inputs):
    """In place."""
    import numpy as np
    from onnxruntime import quantization
    made = path + ".quantized"
    if exporter == "dynamic":
        quantization.quantize_dynamic(path, made, weight_type=quantization.QuantType.QInt8)
    else:
        class Samples(quantization.CalibrationDataReader):
            def __init__(self):
                rng = np.random.default_rng(1)
                self.left = [{n: (x + 0.1 * rng.standard_normal(x.shape)).astype(x.dtype) if x.dtype.kind == "f" else x
                              for n, x in inputs.items()} for _ in range(4)]

            def get_next(self):
                return self.left.pop() if self.left else None
        quantization.quantize_static(path, made, Samples(), quant_format=quantization.QuantFormat.QDQ,
                                     per_channel=True, weight_type=quantization.QuantType.QInt8)
    os.replace(made, path)
    with open(os.path.join(os.path.dirname(path), "tolerance"), "w") as f:
        f.write("0.1")


def export(name, exporter, folder):
    import numpy as np
    import onnxruntime
    import torch
    from networks import NETWORKS
    torch.manual_seed(zlib.crc32(name.encode()))
    module, inputs = NETWORKS[name]()
    module.eval()
    vary_constant_parameters(module)
    path = os.path.join(folder, "model.onnx")
    arguments = dict(input_names=list(inputs), dynamo=exporter == "dynamo")
    if exporter != "dynamo":
        arguments.update(opset_version=17)
    else:
        arguments.update(opset_version=18, external_data=True, verbose=False)
    torch.onnx.export(module, tuple(inputs.values()), path, **arguments)
    if exporter in QUANTIZING:
        quantize(path, exporter, {n: x.numpy() for n, x in inputs.items()})
    if getattr(module, "rows_in_any_order", False):
        open(os.path.join(folder, "rows_in_any_order"), "w").close()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    os.makedirs(os.path.join(folder, "inputs"))
    for node in session.get_inputs():
        np.save(os.path.join(folder, "inputs", node.name + ".npy"), inputs[node.name].numpy())


def limited(name, exporter, folder, seconds):
    """Exports in a child process; None, or why it failed."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    reason = os.path.join(folder, "reason")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT)
            os.dup2(log, 1)
            os.dup2(log, 2)
            export(name, exporter, folder)
            code = 0
        except BaseException as error:  # whatever ends an export is its reason
            with open(reason, "w") as f:
                f.write("%s: %s" % (type(error).__name__, str(error).strip()))
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if status == 0:
        return None
    text = open(reason).read() if os.path.exists(reason) else "ended by signal %d" % os.WTERMSIG(status)
    shutil.rmtree(folder)
    return text[:400]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "build/zoo"))
    p.add_argument("--only", help="networks, separated by commas")
    p.add_argument("--exporters", default="script,dynamo,qdq,dynamic")
    p.add_argument("--seconds", type=int, default=300, help="of the processor, for one export")
    p.add_argument("--retry", action="store_true", help="also what failed before")
    args = p.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    from networks import NETWORKS, QUANTIZED
    torch.set_num_threads(1)
    os.makedirs(args.folder, exist_ok=True)
    record = os.path.join(args.folder, "exports.json")
    failures = json.load(open(record)) if os.path.exists(record) else {}
    for exporter in args.exporters.split(","):
        for name in args.only.split(",") if args.only else sorted(NETWORKS, key=lambda n: zlib.crc32(n.encode())):  # families mixed
            key = name + "." + exporter
            folder = os.path.join(args.folder, key)
            if exporter in QUANTIZING and name not in QUANTIZED:
                continue
            if os.path.exists(os.path.join(folder, "model.onnx")) or (key in failures and not args.retry):
                continue
            building = os.path.join(args.folder, ".building")
            failed = limited(name, exporter, building, args.seconds)
            failures.pop(key, None)
            if failed:
                failures[key] = failed
            else:
                os.rename(building, folder)
            print("%-50s %s" % (key, "exported" if not failed else failed.splitlines()[0]), flush=True)
            with open(record, "w") as f:
                json.dump(failures, f, indent=1, sort_keys=True)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
