#!/usr/bin/env python3
"""A batch of sequences of different lengths: the tokens that there are, packed, against all places of the padded batch.

    bench/zoo/setup
    build/zoo-venv/bin/python bench/ragged.py [--batch 8] [--places 64] [--fills 1/8,1/4,1/2,1] [--disturb]

Four feed-forward layers with normalization and residual (256 wide, 1024 inside). `packed` gathers the tokens before their sequences'
lengths (NonZero), and writes its results back to their places; `padded` computes all places. One executable of each for all fills. A
process per engine, interleaved. Ratio: time over korch's packed network, median of the rounds, with its 95 % interval; above 1 that
one is faster.
"""
import argparse
import contextlib
import fractions
import os
import subprocess

import numpy as np
import torch

from engine_worker import Worker, interleaved_processes, print_ratios
from korch_so import add_round_options, disturbance
from strategies import ROOT

WIDTH, INNER, LAYERS = 256, 1024, 4


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, INNER), torch.nn.Linear(INNER, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.relu(self.up(self.norm(x))))


class Padded(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)])

    def mask(self, x, lengths):
        return torch.arange(x.shape[1])[None, :] < lengths[:, None]

    def forward(self, x, lengths):
        return torch.where(self.mask(x, lengths)[:, :, None], self.layers(x), torch.zeros(()))


class Packed(Padded):
    def forward(self, x, lengths):
        places = torch.nonzero(self.mask(x, lengths).reshape(-1)).reshape(-1)
        rows = self.layers(x.reshape(-1, WIDTH)[places])
        return torch.zeros(x.shape[0] * x.shape[1], WIDTH).index_copy(0, places, rows).reshape(x.shape)


def exported(args):
    """Paths without their ending."""
    torch.manual_seed(0)
    padded, packed = Padded().eval(), Packed().eval()
    packed.load_state_dict(padded.state_dict())
    x, lengths = torch.randn(args.batch, args.places, WIDTH), torch.full((args.batch,), args.places // 2)
    paths = {}
    for name, net in (("packed", packed), ("padded", padded)):
        paths[name] = os.path.join(args.work, name)
        torch.onnx.export(net, (x, lengths), paths[name] + ".onnx", input_names=["x", "lengths"], output_names=["y"], opset_version=17,
                          dynamo=False)
        torch.save(net, paths[name] + ".pt")
        subprocess.run([args.korch, "compile", paths[name] + ".onnx", "-o", paths[name] + ".so", "--threads", str(args.threads)] +
                       args.options, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return paths


def compare(paths, fill, args):
    random = np.random.default_rng(1)
    inputs = os.path.join(args.work, "inputs")
    os.makedirs(inputs, exist_ok=True)
    mean = float(fill) * args.places
    lengths = np.clip(np.rint(random.uniform(0.5, 1.5, args.batch) * mean), 0, args.places) if fill < 1 else \
        np.full(args.batch, args.places)
    np.save(os.path.join(inputs, "x.npy"), random.standard_normal((args.batch, args.places, WIDTH), dtype=np.float32))
    np.save(os.path.join(inputs, "lengths.npy"), lengths.astype(np.int64))
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, engine, net in (("packed", "korch", "packed"), ("padded", "korch", "padded"), ("ORT packed", "onnxruntime", "packed"),
                                  ("ORT padded", "onnxruntime", "padded"), ("PyTorch packed", "module", "packed")):
            job = {"so": paths[net] + ".so", "onnx": paths[net] + ".onnx", "module": paths[net] + ".pt", "threads": args.threads,
                   "inputs": inputs, "input_names": ["x", "lengths"], "output_names": ["y"]}
            workers[name] = Worker(engine, job, os.path.join(args.work, name + ".log"))
            stack.callback(workers[name].close)
        times = interleaved_processes(workers, args)
        results = {name: worker.outputs[0] for name, worker in workers.items()}
    print("%d of %d places, %d rounds" % (lengths.sum(), args.batch * args.places, len(times["packed"])))
    print_ratios(times, results, "packed", "ORT padded")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--places", type=int, default=64)
    p.add_argument("--fills", default="1/8,1/4,1/2,1")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-ragged"))
    add_round_options(p, 101, 8)
    args = p.parse_args()
    os.makedirs(args.work, exist_ok=True)
    paths = exported(args)
    with disturbance(args.disturb):
        for fill in map(fractions.Fraction, args.fills.split(",")):
            compare(paths, fill, args)


if __name__ == "__main__":
    main()
