#!/usr/bin/env python3
"""Writes attention as networks that no rewrite rule matches, to try the search for block graphs on (bench/structures.py).

    PYTHON bench/attention_variants.py FOLDER [--tokens 512,1024,2048] [--projections] [VARIANT...]

PYTHON has torch. FOLDER/VARIANT_TOKENS.onnx gets queries, keys and values of 12 heads of 64 features; with --projections one input and
the four projections. plain is what the rule matches.
"""
import argparse
import math
import os

import torch
from torch import nn
from torch.nn import functional as F

HEADS, FEATURES = 12, 64


class Plain(nn.Module):
    extra = []
    scale = FEATURES**-0.5

    def __init__(self, tokens):
        super().__init__()
        self.tokens = tokens
        place = torch.arange(tokens)
        self.distance = place[None, :] - place[:, None]

    def change(self, scores):
        return scores

    def forward(self, q, k, v, *more):
        return torch.softmax(self.change(q @ k.transpose(-1, -2) * self.scale, *more), -1) @ v


class SoftCap(Plain):
    def change(self, scores):
        return torch.tanh(scores / 50.0) * 50.0


class Alibi(Plain):
    def change(self, scores):
        slopes = torch.tensor([2**(-8.0 * (i + 1) / HEADS) for i in range(HEADS)]).view(1, HEADS, 1, 1)
        return scores - slopes * self.distance.abs().float()


class WhereMask(Plain):
    extra = ["mask"]

    def change(self, scores, mask):
        return scores.masked_fill(mask, torch.finfo(scores.dtype).min)


class SlidingWindow(Plain):
    def change(self, scores):
        return torch.where(self.distance.abs() > 128, torch.tensor(-1e9), scores)


class T5Bias(Plain):
    scale = 1.0

    def __init__(self, tokens, buckets=32, far=128):
        super().__init__(tokens)
        half, exact, steps = buckets // 2, buckets // 4, self.distance.abs()
        large = exact + (torch.log(steps.float().clamp(min=1) / exact) / math.log(far / exact) * (half - exact)).long()
        self.buckets = (self.distance > 0).long() * half + torch.where(steps < exact, steps, large.clamp(max=half - 1))
        self.table = nn.Embedding(buckets, HEADS)

    def change(self, scores):
        return scores + self.table(self.buckets).permute(2, 0, 1).unsqueeze(0)


class QKNorm(Plain):
    def __init__(self, tokens):
        super().__init__(tokens)
        self.wq, self.wk = (nn.Parameter(torch.rand(FEATURES) + 0.5) for _ in range(2))

    def forward(self, q, k, v):
        def norm(x, weights):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * weights

        return super().forward(norm(q, self.wq), norm(k, self.wk), v)


class Deberta(Plain):
    def __init__(self, tokens, span=256):
        super().__init__(tokens)
        self.positions = nn.Parameter(torch.randn(1, HEADS, 2 * span, FEATURES))
        self.index = (-self.distance + span).clamp(0, 2 * span - 1).expand(1, HEADS, tokens, tokens)

    def forward(self, q, k, v):
        scale = (2 * FEATURES)**-0.5
        content = q @ k.transpose(-1, -2) * scale
        place = torch.gather(q @ self.positions.transpose(-1, -2), -1, self.index) * scale
        return torch.softmax(content + place, -1) @ v


class LinearAttention(Plain):
    def forward(self, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        normalizer = 1.0 / (q @ k.sum(-2, keepdim=True).transpose(-1, -2) + 1e-6)
        return (q @ (k.transpose(-1, -2) @ v)) * normalizer


class Block(nn.Module):
    def __init__(self, core):
        super().__init__()
        self.core = core
        self.q, self.k, self.v, self.o = (nn.Linear(HEADS * FEATURES, HEADS * FEATURES) for _ in range(4))

    def forward(self, x, *more):
        tokens = self.core.tokens
        q, k, v = (f(x).view(1, tokens, HEADS, FEATURES).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(self.core(q, k, v, *more).transpose(1, 2).reshape(1, tokens, HEADS * FEATURES))


VARIANTS = {
    "plain": Plain, "soft_cap": SoftCap, "alibi": Alibi, "where_mask": WhereMask, "sliding_window": SlidingWindow,
    "t5_bias": T5Bias, "qk_norm": QKNorm, "deberta": Deberta, "linear_attention": LinearAttention}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=f"of {', '.join(VARIANTS)}; all if none is given")
    parser.add_argument("--tokens", default="512,1024,2048")
    parser.add_argument("--projections", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    os.makedirs(arguments.folder, exist_ok=True)
    for variant in arguments.variants or VARIANTS:
        for tokens in map(int, arguments.tokens.split(",")):
            core = VARIANTS[variant](tokens)
            masks = [torch.rand(1, 1, tokens, tokens) < 0.1 for _ in core.extra]
            if arguments.projections:
                model, inputs, names = Block(core), [torch.randn(1, tokens, HEADS * FEATURES)], ["x"]
            else:
                model, inputs, names = core, [torch.randn(1, HEADS, tokens, FEATURES) for _ in range(3)], ["q", "k", "v"]
            torch.onnx.export(model.eval(), tuple(inputs + masks), os.path.join(arguments.folder, f"{variant}_{tokens}.onnx"),
                              input_names=names + core.extra, output_names=["y"], opset_version=17, dynamo=False)


if __name__ == "__main__":
    main()
