#!/usr/bin/env python3
"""Writes networks with open dimensions, with random weights: what bench/shapes.py and bench/random_shapes.py are for.

    bench/zoo/setup && build/zoo-venv/bin/python bench/shape_networks.py [--folder build/shapes] [--only bert,llama]

FOLDER/NAME.onnx; what is there stays. NETWORKS says the ranges of each, and shapes within to measure at.
"""
import argparse
import os
import warnings

import torch
import torchvision
import transformers

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = transformers.BertModel(transformers.BertConfig(attn_implementation="eager"))

    def forward(self, ids, mask):
        return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state


class Decoder(torch.nn.Module):
    """One new token; keys and values of those before it come in, and go out with its own behind them."""
    layers, heads, width = 2, 8, 64

    def __init__(self):
        super().__init__()
        self.llama = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            hidden_size=1024, intermediate_size=2816, num_hidden_layers=self.layers, num_attention_heads=16,
            num_key_value_heads=self.heads, vocab_size=8000, max_position_embeddings=1024, attn_implementation="eager"))

    def forward(self, ids, *past):
        cache = transformers.DynamicCache.from_legacy_cache(tuple(zip(past[::2], past[1::2])))
        out = self.llama(input_ids=ids, past_key_values=cache, use_cache=True)
        return (out.logits, *(tensor for layer in out.past_key_values.to_legacy_cache() for tensor in layer))


class Detector(torch.nn.Module):
    """torchvision's SSDLite: backbone and heads, the boxes of all six maps together."""

    def __init__(self):
        super().__init__()
        ssd = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=91)
        self.backbone, self.head = ssd.backbone, ssd.head

    def forward(self, image):
        found = self.head(list(self.backbone(image).values()))
        return found["bbox_regression"], found["cls_logits"].softmax(-1)


def caches(names):
    return ["%s_%d_%s" % (names, layer, part) for layer in range(Decoder.layers) for part in ("key", "value")]


# Network, inputs, their names, those of the outputs, open axes by input, ranges, shapes within.
NETWORKS = {
    "bert": (Encoder, lambda: (torch.ones(1, 16, dtype=torch.int64), torch.ones(1, 16, dtype=torch.int64)), ["ids", "mask"], ["y"],
             {"ids": {1: "seq"}, "mask": {1: "seq"}}, ["seq=1..512"], ["seq=16", "seq=60", "seq=128", "seq=300"]),
    "resnet50": (lambda: torchvision.models.resnet50(weights=None), lambda: (torch.randn(1, 3, 224, 224),), ["image"], ["y"],
                 {"image": {0: "n"}}, ["n=1..16"], ["n=1", "n=3", "n=7", "n=12"]),
    "llama": (Decoder, lambda: (torch.tensor([[3]]), *(torch.randn(1, Decoder.heads, 7, Decoder.width) for _ in caches(""))),
              ["ids", *caches("past")], ["logits", *caches("present")], {name: {2: "past"} for name in caches("past")},
              ["past=0..511"], ["past=15", "past=60", "past=128", "past=300"]),
    "ssdlite": (Detector, lambda: (torch.randn(1, 3, 160, 192),), ["image"], ["boxes", "scores"], {"image": {2: "h", 3: "w"}},
                ["h=64..320", "w=64..320"], ["h=64,w=64", "h=100,w=150", "h=160,w=160", "h=320,w=240"]),
}


def vary_statistics(module):
    """Running means and variances that are not 0 and 1: what batch normalizations do shows in the result."""
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        if name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "build/shapes"))
    p.add_argument("--only", default=",".join(NETWORKS))
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in args.only.split(","):
        make, inputs, input_names, output_names, axes, ranges, at = NETWORKS[name]
        path = os.path.join(args.folder, name + ".onnx")
        torch.manual_seed(0)
        if not os.path.exists(path):
            network = make().eval()
            vary_statistics(network)
            torch.onnx.export(network, inputs(), path, input_names=input_names, output_names=output_names, dynamic_axes=axes,
                              opset_version=17, dynamo=False)
        print("bench/shapes.py %s %s %s" % (path, " ".join("--shape " + r for r in ranges), " ".join("--at " + a for a in at)))


if __name__ == "__main__":
    main()
