#!/usr/bin/env python3
"""transformers' mixture-of-experts block, as torch.onnx exports it, through korch, ONNX Runtime and PyTorch.

    bench/zoo/setup
    build/zoo-venv/bin/python bench/moe_block.py [--blocks mixtral,qwen3_moe] [--tokens 1,8,64] [--disturb]

(transformers 4: the blocks of 5 take the experts that the traced tokens reach, and no others.)

8 experts, the top 2, 512 to 1024 and back, random weights; a process per engine, interleaved. `dense` is the same layer in korch with
all experts for all tokens. Ratio: time over korch's block, median of the rounds, with its 95 % interval; above 1 the block is faster.
"""
import argparse
import contextlib
import os
import subprocess

import numpy as np
import torch

from engine_worker import Worker, interleaved_processes, print_ratios
from korch_so import add_round_options, disturbance
from strategies import ROOT

EXPERTS, TOP, HIDDEN, INNER = 8, 2, 512, 1024


def made(block):
    """The block: tokens to tokens."""
    common = {"hidden_size": HIDDEN, "num_experts_per_tok": TOP}
    if block == "mixtral":
        from transformers import MixtralConfig
        from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock as Block
        config = MixtralConfig(intermediate_size=INNER, num_local_experts=EXPERTS, **common)
    else:
        from transformers import Qwen3MoeConfig
        from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock as Block
        config = Qwen3MoeConfig(moe_intermediate_size=INNER, num_experts=EXPERTS, norm_topk_prob=True, **common)
    config._experts_implementation = "eager"
    torch.manual_seed(0)
    net = Block(config).eval()
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=HIDDEN ** -0.5)
    return net


class Tokens(torch.nn.Module):
    """Of a block that may give the router's logits, too."""

    def __init__(self, block):
        super().__init__()
        self.block = block

    def forward(self, x):
        y = self.block(x)
        return y[0] if isinstance(y, tuple) else y


class Dense(torch.nn.Module):
    """All experts for all tokens, by the weights of the block's state, whatever that calls them."""

    def __init__(self, block):
        super().__init__()
        state = block.state_dict()
        self.router = torch.nn.Parameter(next(v for k, v in state.items() if k.startswith("gate.")))
        self.up, self.gate, self.down = (torch.nn.Parameter(w) for w in experts_of(state))

    def forward(self, x):
        rows = x.reshape(-1, HIDDEN)
        best, which = torch.topk(torch.softmax(rows @ self.router.T, -1), TOP)
        shares = torch.zeros(rows.shape[0], EXPERTS).scatter(1, which, best / best.sum(-1, keepdim=True))
        result = torch.zeros_like(rows)
        for e in range(EXPERTS):
            inner = torch.nn.functional.silu(rows @ self.gate[e].T) * (rows @ self.up[e].T)
            result = result + shares[:, e:e + 1] * (inner @ self.down[e].T)
        return result.reshape(x.shape)


def experts_of(state):
    """(up, gate, down), each [experts, out, in]."""
    if "experts.gate_up_proj" in state:
        gate, up = state["experts.gate_up_proj"].chunk(2, 1)
        return up, gate, state["experts.down_proj"]
    names = ("w3", "w1", "w2") if "experts.0.w1.weight" in state else ("up_proj", "gate_proj", "down_proj")
    return [torch.stack([state["experts.%d.%s.weight" % (e, name)] for e in range(EXPERTS)]) for name in names]


def job_of(net, x, path, inputs, args):
    torch.onnx.export(net, (x,), path, input_names=["x"], output_names=["y"], opset_version=17, dynamo=False)
    so, module = path[:-5] + ".so", path[:-5] + ".pt"
    torch.save(net, module)
    subprocess.run([args.korch, "compile", path, "-o", so, "--threads", str(args.threads)] + args.options, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"so": so, "onnx": path, "module": module, "threads": args.threads, "inputs": inputs, "input_names": ["x"],
            "output_names": ["y"]}


def compare(block, tokens, args):
    folder = os.path.join(args.work, block, str(tokens))
    inputs = os.path.join(folder, "inputs")
    os.makedirs(inputs, exist_ok=True)
    x = torch.randn(1, tokens, HIDDEN, generator=torch.Generator().manual_seed(1))
    np.save(os.path.join(inputs, "x.npy"), x.numpy())
    net = made(block)
    jobs = {name: job_of(each, x, os.path.join(folder, name + ".onnx"), inputs, args)
            for name, each in (("block", Tokens(net)), ("dense", Dense(net)))}
    with contextlib.ExitStack() as stack:
        workers = {}
        for name, engine, job in (("block", "korch", "block"), ("dense", "korch", "dense"), ("ONNX Runtime", "onnxruntime", "block"),
                                  ("PyTorch", "module", "block")):
            workers[name] = Worker(engine, jobs[job], os.path.join(args.work, name + ".log"))
            stack.callback(workers[name].close)
        times = interleaved_processes(workers, args)
        results = {name: worker.outputs[0] for name, worker in workers.items()}
    print("%s, %d tokens, %d rounds" % (block, tokens, len(times["block"])))
    print_ratios(times, results, "block", "PyTorch")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--blocks", default="mixtral,qwen3_moe")
    p.add_argument("--tokens", default="1,8,64")
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--options", type=str.split, default=[], help="of korch compile")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench-moe-block"))
    add_round_options(p, 101, 8)
    args = p.parse_args()
    with disturbance(args.disturb):
        for block in args.blocks.split(","):
            for tokens in map(int, args.tokens.split(",")):
                compare(block, tokens, args)


if __name__ == "__main__":
    main()
