#!/usr/bin/env python3
"""Attention's variants (attention_variants.py) as korch, ONNX Runtime, OpenVINO and torch.compile run them, in turns.

    PYTHON bench/attention_peers.py FOLDER [--tokens 1024] [--threads 2] [--rounds 5] [--korch FILE] [VARIANT...]

PYTHON has torch, onnxruntime and openvino; what is missing is left out and named. FOLDER has VARIANT_TOKENS.onnx (attention_variants.py)
and gets executables. torch.compile is run by mode max-autotune on the module as it is, and on FlexAttention where that takes the variant
(a score_mod). Prints microseconds, medians of all rounds, and how many times korch's time each takes. A peer that refuses is named.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
from torch.nn.attention.flex_attention import flex_attention

from attention_variants import FEATURES, HEADS, VARIANTS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def timed(run, seconds=1.0):
    """Microseconds of a run, for so many seconds."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 3:
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) * 1e6)
    return times


def score_mod(variant, core, extra):
    """What changes a score, as FlexAttention wants it; None: it has none for this variant."""
    if variant in ("plain", "qk_norm"):
        return lambda s, b, h, i, j: s
    if variant == "soft_cap":
        return lambda s, b, h, i, j: torch.tanh(s / 50.0) * 50.0
    if variant == "alibi":
        return lambda s, b, h, i, j: s - torch.exp2(-8.0 * (h + 1) / HEADS) * (j - i).abs()
    if variant == "where_mask":
        mask = extra[0]
        return lambda s, b, h, i, j: torch.where(mask[0, 0, i, j], torch.finfo(torch.float32).min, s)
    if variant == "sliding_window":
        return lambda s, b, h, i, j: torch.where((j - i).abs() > 128, -1e9, s)
    if variant == "t5_bias":
        table, buckets = core.table.weight, core.buckets
        return lambda s, b, h, i, j: s + table[buckets[i, j], h]
    return None


def flex(variant, core, extra):
    change = score_mod(variant, core, extra)
    if change is None:
        return None
    scale = core.scale if variant != "qk_norm" else FEATURES**-0.5

    def forward(q, k, v, *_):
        if variant == "qk_norm":
            q, k = (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w for x, w in ((q, core.wq), (k, core.wk)))
        return flex_attention(q, k, v, score_mod=change, scale=scale)

    return forward


def torch_runs(variant, tokens, inputs):
    core = VARIANTS[variant](tokens).eval()
    extra = inputs[3:]
    for name, module in (("torch.compile", core), ("FlexAttention", flex(variant, core, extra))):
        if module is None:
            continue
        torch._dynamo.reset()
        compiled = torch.compile(module, mode="max-autotune")
        with torch.no_grad():
            compiled(*inputs)
        yield name, (lambda c: lambda: c(*inputs))(compiled)


def ort_run(path, inputs, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)}
    return lambda: session.run(None, feeds)


def openvino_run(path, inputs, threads):
    import openvino as ov
    compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                                                     "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    for number, x in enumerate(inputs):
        request.set_input_tensor(number, ov.Tensor(x.numpy(), shared_memory=True))
    return request.infer


def korch_us(arguments, path):
    rows = json.loads(subprocess.run([arguments.korch, "bench", path, "--json"], capture_output=True, text=True, check=True).stdout)["rows"]
    return [rows[0]["median_us"]]


def measure(arguments, variant, tokens):
    network = os.path.join(arguments.folder, f"{variant}_{tokens}.onnx")
    executable = network.removesuffix(".onnx") + ".so"
    if not os.path.exists(executable):
        subprocess.run([arguments.korch, "compile", network, "-o", executable, "--threads", str(arguments.threads)], check=True,
                       capture_output=True)
    inputs = [torch.randn(1, HEADS, tokens, FEATURES) for _ in range(3)]
    inputs += [torch.rand(1, 1, tokens, tokens) < 0.1 for _ in VARIANTS[variant].extra]
    peers, refused = {}, []
    for name, make in (("ONNX Runtime", ort_run), ("OpenVINO", openvino_run)):
        try:
            peers[name] = make(network, inputs, arguments.threads)
        except Exception as error:  # whatever a peer says is its answer
            refused.append(f"{name}: {str(error).splitlines()[0][:80]}")
    runs = torch_runs(variant, tokens, inputs)
    while True:
        try:
            name, run = next(runs)
            peers[name] = run
        except StopIteration:
            break
        except Exception as error:
            refused.append(f"torch: {str(error).splitlines()[0][:80]}")
            break
    if arguments.ready:  # everything is compiled: from here on the machine should be calm
        open(arguments.ready, "w").close()
        while os.path.exists(arguments.ready):
            time.sleep(0.1)
    times = {"korch": []}
    for _ in range(arguments.rounds):
        times["korch"] += korch_us(arguments, executable)
        for name, run in peers.items():
            with torch.no_grad():
                times.setdefault(name, []).extend(timed(run, arguments.seconds))
    own = statistics.median(times.pop("korch"))
    cells = [f"{name} {statistics.median(t):.0f} ({statistics.median(t) / own:.2f} x)" for name, t in times.items()]
    print(f"| {tokens}, {variant} | {own:.0f} | " + " | ".join(cells + refused) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    parser.add_argument("--tokens", default="1024")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--ready", metavar="FILE", help="write FILE when all is compiled, and measure once somebody has removed it")
    parser.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    for variant in arguments.variants or VARIANTS:
        for tokens in map(int, arguments.tokens.split(",")):
            measure(arguments, variant, tokens)


if __name__ == "__main__":
    main()
