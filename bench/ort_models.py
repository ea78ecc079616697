#!/usr/bin/env python3
"""Exports networks with random weights for bench/ort_provider: FOLDER/<name>/{model.onnx, inputs/*.npy}. Run in build/zoo-venv."""
import os
import sys

import numpy as np
import torch
import torchvision
import transformers


class Warped(torch.nn.Module):
    """ResNet-18 whose second stage sees a warped picture: GridSample in the middle, which korch does not know."""

    def __init__(self):
        super().__init__()
        self.net = torchvision.models.resnet18()
        self.register_buffer("grid", torch.rand(1, 56, 56, 2) * 2 - 1)

    def forward(self, image):
        net = self.net
        x = net.layer1(net.maxpool(net.relu(net.bn1(net.conv1(image)))))
        x = torch.nn.functional.grid_sample(x, self.grid, align_corners=False)
        x = net.layer4(net.layer3(net.layer2(x)))
        return net.fc(torch.flatten(net.avgpool(x), 1))


class Bert(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = transformers.BertModel(transformers.BertConfig(attn_implementation="eager"))

    def forward(self, input_ids, attention_mask):
        return self.net(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)[0]


def main():
    folder = sys.argv[1]
    torch.manual_seed(1)
    image = {"image": torch.randn(1, 3, 224, 224)}
    tokens = {"input_ids": torch.randint(3, 30000, (1, 128)), "attention_mask": torch.ones(1, 128, dtype=torch.int64)}
    for name, module, inputs in (("resnet18_224", torchvision.models.resnet18(), image),
                                 ("resnet18_warped_224", Warped(), image),
                                 ("bert_base_128", Bert(), tokens)):
        path = os.path.join(folder, name)
        if os.path.exists(os.path.join(path, "inputs")):
            continue
        os.makedirs(path, exist_ok=True)
        torch.onnx.export(module.eval(), tuple(inputs.values()), os.path.join(path, "model.onnx"), input_names=list(inputs),
                          opset_version=17, dynamo=False)
        os.makedirs(os.path.join(path, "inputs"))
        for key, value in inputs.items():
            np.save(os.path.join(path, "inputs", key + ".npy"), value.numpy())


if __name__ == "__main__":
    main()
