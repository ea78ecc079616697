#!/usr/bin/env python3
"""Writes the networks of this folder: published architectures, small, as graphs whose weights are generated.

    export.py [NAME...]        needs torch, timm, transformers, onnx, onnxruntime

The files are like those of models/ (models/README.md): a skeleton has no data of large weights but says how to make
them. The architectures are those of timm and transformers (both Apache-2.0), exported by torch 2.8. No trained weights
are used. Weights are drawn so that activations keep their size, and a network whose outputs are all
alike is refused.
"""
import io
import math
import os
import sys

import numpy as np
import onnx
import onnxruntime
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "models"))
import fill_weights  # noqa: E402

MOST_KEPT = 1024  # elements of a weight that stands in the file
OPSET = 17


class Outputs(torch.nn.Module):
    """A network of transformers that returns tensors."""

    def __init__(self, network, *names):
        super().__init__()
        self.network, self.names = network, names

    def forward(self, first):
        words = not first.is_floating_point()
        result = self.network(first, attention_mask=torch.ones_like(first)) if words else self.network(first)
        return tuple(getattr(result, name) for name in self.names)


def of_timm(name, **options):
    import timm
    return timm.create_model(name, pretrained=False, exportable=True, **options)


def swin():
    from timm.models.swin_transformer import SwinTransformer
    return SwinTransformer(img_size=64, embed_dim=32, depths=(2, 2, 2), num_heads=(1, 2, 4), window_size=4, num_classes=10)


def densenet():
    from timm.models.densenet import DenseNet
    return DenseNet(growth_rate=16, block_config=(2, 4, 3), num_classes=10)


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation
    config = SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 40, 64], decoder_hidden_size=32, num_labels=7,
                             attn_implementation="eager")
    return Outputs(SegformerForSemanticSegmentation(config), "logits")


def bert():
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                        max_position_embeddings=64, attn_implementation="eager")
    return Outputs(BertModel(config), "last_hidden_state", "pooler_output")


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=500, n_positions=64, n_embd=64, n_layer=2, n_head=4, use_cache=False,
                        bos_token_id=None, eos_token_id=None, attn_implementation="eager")
    return Outputs(GPT2LMHeadModel(config), "logits")


class Lstm(torch.nn.Module):
    """Two layers in both directions, as taggers of words have them."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(200, 24)
        self.lstm = torch.nn.LSTM(24, 32, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(64, 12)

    def forward(self, words):
        return torch.log_softmax(self.head(self.lstm(self.embedding(words))[0]), -1)


IMAGE = (torch.float32, (1, 3, 64, 64))
NETWORKS = {  # what makes it, its input, the words that it knows
    "resnet18": (lambda: of_timm("resnet18", num_classes=10), IMAGE),
    "efficientnet_b0": (lambda: of_timm("efficientnet_b0", num_classes=10), IMAGE),
    "mobilenet_v3": (lambda: of_timm("mobilenetv3_small_100", num_classes=10), IMAGE),
    "convnext": (lambda: of_timm("convnext_atto", depths=(1, 1, 2, 1), num_classes=10), IMAGE),
    "densenet": (densenet, IMAGE),
    "vit_tiny": (lambda: of_timm("vit_tiny_patch16_224", img_size=64, depth=3, num_classes=10), IMAGE),
    "swin": (swin, IMAGE),
    "segformer": (segformer, IMAGE),
    "bert": (bert, (torch.int64, (1, 32), 500)),
    "gpt2": (gpt2, (torch.int64, (1, 32), 500)),
    "lstm": (Lstm, (torch.int64, (1, 12), 200)),
}


def draw_weights(network, generator):
    normal = lambda like, std: torch.randn(like.shape, generator=generator) * std
    around_one = lambda like: 0.5 + torch.rand(like.shape, generator=generator)
    with torch.no_grad():
        for module in network.modules():
            for name, weight in module.named_parameters(recurse=False):
                if isinstance(module, torch.nn.Embedding):
                    weight.copy_(normal(weight, 1))
                elif weight.dim() < 2:
                    weight.copy_(normal(weight, 0.1) if "bias" in name else around_one(weight))
                elif type(module).__name__ == "Conv1D":  # GPT-2's name of a linear layer; [inputs, outputs]
                    weight.copy_(normal(weight, 1 / math.sqrt(weight.shape[0])))
                else:
                    weight.copy_(normal(weight, 1.3 / math.sqrt(max(1, weight[0].numel()))))
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.copy_(normal(module.running_mean, 0.1))
                module.running_var.copy_(around_one(module.running_var))


def skeleton(model, number):
    """Large weights lose their data and keep their mean and deviation."""
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size <= MOST_KEPT:
            continue
        entry = model.metadata_props.add()
        entry.key, entry.value = f"weights/{tensor.name}", f"normal:{values.mean():.4g}:{values.std():.4g}:{number}"
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
    for node in model.graph.node:
        node.ClearField("doc_string")
    return model


def export(name, number):
    make, (dtype, shape, *known) = NETWORKS[name]
    network = make().eval()
    draw_weights(network, torch.Generator().manual_seed(number))
    example = torch.randint(known[0], shape) if known else torch.randn(shape)
    out = io.BytesIO()
    torch.onnx.export(network, (example,), out, opset_version=OPSET, input_names=["input"], dynamo=False)
    model = skeleton(onnx.load_from_string(out.getvalue()), number)
    entry = model.metadata_props.add()
    entry.key, entry.value = "inputs/input", f"randint:0:{known[0]}:1" if known else "normal:0:1:1"
    path = os.path.join(HERE, name + ".skeleton.onnx")
    onnx.save(model, path)

    full = onnx.load(path)
    fill_weights.fill(full)
    session = onnxruntime.InferenceSession(full.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"input": example.numpy()})
    print(name, os.path.getsize(path) // 1024, "KiB,", len(model.graph.node), "nodes;",
          ", ".join(f"{o.shape} std {o.std():.3g}" for o in outputs), flush=True)
    for output in outputs:
        if not (np.isfinite(output).all() and output.std() > 1e-3):
            raise SystemExit(f"the outputs of {name} say nothing")


for number, name in enumerate(NETWORKS, 1):
    if len(sys.argv) < 2 or name in sys.argv[1:]:
        export(name, number)
