#!/usr/bin/env python3
"""A model of costs that attends to program and hardware together, beside the trees that korch ships; compiled by korch.

    PYTHON bench/attention_costs.py TABLE [--parts networks,devices,compiled] [--epochs 15] [--threads 2] [--korch FILE] [--folder build/attention]

PYTHON has torch, onnx, onnxruntime, lightgbm and numpy. TABLE is of `korch costs table`. After transfer learning for TenSet (arXiv
2304.05430): groups of a kernel's features are tokens, the device is one more, and two layers of attention relate them. Trained on the
same rows as the trees, for the same absolute errors of ln(cost / bound).

networks: held out, a fifth at a time. devices: trained on the kernels of one width of vectors, tried on the others. compiled: a model
of four fifths goes to ONNX, korch compiles it for 1 to 1000 kernels at a time, its predictions are compared with PyTorch's, and all
that can tell costs are timed in turns.
"""
import argparse
import os
import subprocess
import time

import numpy as np
import torch
from torch import nn

import cost_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FAMILIES = 14  # estimate/features.cpp
# Tokens: the first feature of each, in the table's order.
TOKENS = {
    "draft.family": "family", "draft.bound_us": "times", "draft.fits_level_1": "place", "draft.workers": "device",
    "draft.inputs": "operands", "draft.output_innermost": "extents", "draft.nodes": "primitives", "draft.elementwise_work": "work",
    "draft.rows": "product", "draft.tile_rows": "register tile", "tile.tile_products": "instructions",
    "tile.tile_near": "accesses", "tile.tile_sums": "loops", "tile.product_reload": "panels", "tile.tile_nests": "slices"}
LARGEST = 1000  # kernels at a time


class Layer(nn.Module):
    def __init__(self, tokens, width, heads):
        super().__init__()
        self.shape = tokens, heads, width // heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.three, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x):
        tokens, heads, depth = self.shape
        parts = self.three(self.before(x)).split(heads * depth, 2)
        query, key, value = (part.reshape(-1, tokens, heads, depth).transpose(1, 2) for part in parts)
        weights = torch.softmax(query @ key.transpose(2, 3) * depth ** -0.5, 3)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(-1, tokens, heads * depth))
        return x + self.wide(self.between(x))


class Attention(nn.Module):
    """ln(cost / bound) from features as the table has them."""
    def __init__(self, rows, width=48, heads=4):
        super().__init__()
        features = rows.features
        self.register_buffer("mean", torch.tensor(features.mean(0)))
        self.register_buffer("scale", torch.tensor(1 / np.maximum(features.std(0), 1e-3)))
        self.register_buffer("families", torch.arange(FAMILIES, dtype=torch.float32))
        token = np.cumsum([name in TOKENS for name in rows.names]) - 1
        token = np.concatenate([token, np.zeros(FAMILIES, int)])  # the family, one for all but one
        self.width, self.tokens = width, len(TOKENS)
        assert token.max() + 1 == self.tokens and rows.names[0] == "draft.family"
        own = np.repeat(token[None, :] == np.arange(self.tokens)[:, None], width, 0)
        self.register_buffer("own", torch.tensor(own, dtype=torch.float32))
        self.weight = nn.Parameter(torch.randn(self.own.shape) * torch.rsqrt(self.own.sum(1, keepdim=True)))
        self.bias = nn.Parameter(torch.randn(self.own.shape[0]) * 0.5)
        self.layers = nn.Sequential(*(Layer(self.tokens, width, heads) for _ in range(2)))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        nn.init.constant_(self.head[-1].bias, float(np.median(rows.log_factor)))

    def forward(self, features):
        numbers = torch.clamp((features - self.mean) * self.scale, -4, 4)
        family = torch.relu(1 - torch.abs(features[:, :1] - self.families))
        tokens = nn.functional.linear(torch.cat([numbers, family], 1), self.weight * self.own, self.bias)
        return self.head(self.layers(tokens.reshape(-1, self.tokens, self.width)).mean(1)).reshape(-1)


def trained(rows, epochs, seed=1, batch=256):
    torch.manual_seed(seed)
    model = Attention(rows)
    features, target, weight = (torch.tensor(a, dtype=torch.float32) for a in (rows.features, rows.log_factor, rows.weight))
    steps = epochs * (len(rows) // batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.02)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps, pct_start=0.2)
    for _ in range(epochs):
        order = torch.randperm(len(rows))
        for at in range(0, len(rows) - batch + 1, batch):
            some = order[at:at + batch]
            loss = ((model(features[some]) - target[some]).abs() * weight[some]).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rate.step()
    return model.eval()


def said_by(model, rows):
    with torch.no_grad():
        return model(torch.tensor(rows.features)).numpy().astype(float)


def both(learned, asked, epochs):
    """Estimates of `asked` by each kind of model that learned from `learned`."""
    start = time.time()
    attention = said_by(trained(learned, epochs), asked)
    middle = time.time()
    by_trees = cost_table.trees(learned).predict(asked.features)
    print("  %d rows: attention %.0f s, trees %.0f s" % (len(learned), middle - start, time.time() - middle), flush=True)
    return {"attention": attention, "trees": by_trees, "mean of both": (attention + by_trees) / 2}


def print_scores(what, rows, estimates):
    for name, said in estimates.items():
        print("| %s | %s | %s" % (what, name, cost_table.score(rows, said).row()), flush=True)


def by_networks(rows, epochs):
    folds, estimates = cost_table.folds_of(rows), {}
    for fold in range(cost_table.FOLDS):
        for name, said in both(rows.where(folds != fold), rows.where(folds == fold), epochs).items():
            estimates.setdefault(name, np.zeros(len(rows)))[folds == fold] = said
    print_scores("networks held out", rows, estimates)


def by_devices(rows, epochs):
    for name, there, here in (("AVX2 from AVX-512", 16, 8), ("AVX-512 from AVX2", 8, 16)):
        learned, asked = rows.where(rows.lanes(there)), rows.where(rows.lanes(here))
        if len(learned) and len(asked):
            print_scores(name, asked, both(learned, asked, epochs))


def exported(model, rows, folder):
    path = os.path.join(folder, "attention.onnx")
    torch.onnx.export(model, (torch.tensor(rows.features[:7]),), path, input_names=["features"], output_names=["log_factor"],
                      dynamic_axes={"features": {0: "kernels"}, "log_factor": {0: "kernels"}}, dynamo=False, opset_version=17)
    return path


def compiled(rows, epochs, korch, folder):
    import onnxruntime
    from korch_so import Executable, interleaved
    folds = cost_table.folds_of(rows)
    model, booster = trained(rows.where(folds != 0), epochs), cost_table.trees(rows.where(folds != 0))
    os.makedirs(folder, exist_ok=True)
    path, output = exported(model, rows, folder), os.path.join(folder, "attention.so")
    subprocess.run([korch, "compile", path, "-o", output, "--shape", "kernels=1..%d" % LARGEST, "--threads", "2", "--measure", "plan"],
                   check=True, stdout=subprocess.DEVNULL)
    held_out = rows.where(folds == 0)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    executable = Executable(output, threads=2)
    worst, said = 0.0, []
    for at in range(0, len(held_out), LARGEST):
        features = held_out.features[at:at + LARGEST]
        executable.bind({"features": features})
        executable.run()
        said.append(executable.dense_results()[0].copy())
        worst = max(worst, np.abs(said[-1] - said_by(model, held_out.where(slice(at, at + LARGEST)))).max())
    print("largest difference of korch's executable from PyTorch, %d predictions: %.1e" % (len(held_out), worst))
    assert worst < 1e-3
    print_scores("korch's executable", held_out, {"attention": np.concatenate(said)})
    args = argparse.Namespace(rounds=20, pause=0.01, max_seconds=15)
    for count in (1, 100, LARGEST):
        features = held_out.features[np.arange(count) % len(held_out)]
        tensor = torch.tensor(features)
        executable.bind({"features": features})
        runs = {"korch": executable.run, "PyTorch": lambda: model(tensor),
                "ONNX Runtime": lambda: session.run(None, {"features": features}),
                "LightGBM": lambda: booster.predict(features, num_threads=2)}
        with torch.no_grad():
            times = interleaved(runs, args)
        shown = " | ".join("%s %.2f us" % (name, 1e6 * np.median(seconds) / count) for name, seconds in times.items())
        print("| %d at a time | %s |" % (count, shown), flush=True)
    executable.close()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("table")
    p.add_argument("--parts", default="networks,devices,compiled")
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--folder", default=os.path.join(ROOT, "build/attention"))
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    rows, parts = cost_table.read(args.table), args.parts.split(",")
    print("%d rows of %d networks; | held out | model | %s" % (len(rows), len(set(rows.network)), cost_table.Score.HEAD))
    if "networks" in parts:
        by_networks(rows, args.epochs)
    if "devices" in parts:
        by_devices(rows, args.epochs)
    if "compiled" in parts:
        compiled(rows, args.epochs, args.korch, args.folder)


if __name__ == "__main__":
    main()
