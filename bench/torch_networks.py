"""PyTorch modules for the comparisons: architectures of PyPI with random weights, and the bundled networks.

A bundled network (models/) has the module that PyPI has, with the weights of its ONNX file, or else one converted from it.
"""
import zlib

import torch
from torch import nn


def vision(name, size=224):
    def make(scale=1):
        import torchvision

        return torchvision.models.get_model(name, weights=None), (torch.randn(1, 3, size // scale, size // scale),)

    return make


def vit(scale=1):
    import torchvision

    size = 224 // scale // 16 * 16
    return torchvision.models.vit_b_16(weights=None, image_size=size), (torch.randn(1, 3, size, size),)


def bert(scale=1):
    import transformers

    net = transformers.BertModel(transformers.BertConfig(num_hidden_layers=max(1, 12 // scale)))
    return net, (torch.randint(0, 30000, (1, 128 // scale)),)


# Name -> function that makes (module, inputs); `scale` divides sizes.
NETWORKS = {
    "resnet18": vision("resnet18"),
    "resnet50": vision("resnet50"),
    "mobilenet_v2": vision("mobilenet_v2"),
    "mobilenet_v3_large": vision("mobilenet_v3_large"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "densenet121": vision("densenet121"),
    "convnext_tiny": vision("convnext_tiny"),
    "swin_t": vision("swin_t"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "shufflenet_v2_x1_0": vision("shufflenet_v2_x1_0"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "vit_b_16": vit,
    "bert_base": bert,
}


def made(name):
    """The module and inputs of NETWORKS[name], the same at every call."""
    from zoo.export import vary_constant_parameters

    torch.manual_seed(zlib.crc32(name.encode()))
    net, inputs = NETWORKS[name]()
    vary_constant_parameters(net)
    return net.eval(), inputs


class Results(nn.Module):
    """Calls `net` with the graph's inputs, `names` being their keywords, and takes the graph's outputs from its result."""

    def __init__(self, net, names, outputs):
        super().__init__()
        self.net, self.names, self.outputs = net, names, outputs

    def forward(self, *inputs):
        result = self.net(**dict(zip(self.names, inputs)))
        return tuple(result[name] for name in self.outputs)


def bundled_vision(name):
    def make():
        import torchvision

        return torchvision.models.get_model(name, weights=None)

    return make


def bundled_bert():
    import transformers

    return Results(transformers.BertModel(transformers.BertConfig()), ["input_ids", "attention_mask", "token_type_ids"],
                   ["last_hidden_state", "pooler_output"])


def bundled_segformer():
    import transformers

    config = transformers.SegformerConfig(num_labels=150)
    return Results(transformers.SegformerForSemanticSegmentation(config), ["pixel_values"], ["logits"])


def bundled_llama():
    import transformers

    config = transformers.LlamaConfig(vocab_size=32000, hidden_size=512, num_hidden_layers=4, num_attention_heads=8,
                                      num_key_value_heads=2, intermediate_size=1376, rms_norm_eps=1e-6, use_cache=False)
    return Results(transformers.LlamaForCausalLM(config), ["input_ids"], ["logits"])


BUNDLED = {
    "resnet50_224": bundled_vision("resnet50"),
    "mobilenet_v2_224": bundled_vision("mobilenet_v2"),
    "vit_b_16_224": bundled_vision("vit_b_16"),
    "bert_base_128": bundled_bert,
    "segformer_b0_512": bundled_segformer,
    "llama_like_4l_128": bundled_llama,
}


def weights_of(path):
    """The float initializers in the order of their first use; those of MatMul transposed, as nn.Linear has them."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    arrays = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in graph.initializer if i.dims}
    ordered = []
    for node in graph.node:
        for name in node.input:
            if name in arrays and arrays[name].is_floating_point():
                array = arrays.pop(name)
                ordered.append(array.T if node.op_type == "MatMul" and array.dim() == 2 else array)
    return ordered


def called_modules(net, inputs):
    """The submodules with parameters of their own, in the order in which a run calls them."""
    order, handles = [], []

    def note(module, _):
        whole = isinstance(module, nn.MultiheadAttention)  # takes its projection's weights without calling it
        order.extend(m for m in (module.modules() if whole else [module]) if m not in order)

    for module in net.modules():
        if list(module.parameters(recurse=False)):
            handles.append(module.register_forward_pre_hook(note))
    with torch.no_grad():
        net(*inputs)
    for handle in handles:
        handle.remove()
    return order


def take_weights(net, inputs, path):
    """Gives `net` the weights of the ONNX file, both in the order in which they are used, by shape.

    The file's batch normalizations are folded into the convolution before: here they only add its bias. Whether order and
    shape were enough shows in the outputs, which every comparison checks.
    """
    weights = weights_of(path)

    def next_of(shape):
        at = next((i for i, w in enumerate(weights) if w.shape == shape), None)
        if at is None:
            raise ValueError("the file has no more weights of shape %s" % list(shape))
        return weights.pop(at)

    with torch.no_grad():
        for module in called_modules(net, inputs):
            if isinstance(module, nn.BatchNorm2d):
                module.weight.fill_(1)
                module.running_mean.fill_(0)
                module.running_var.fill_(1 - module.eps)
                module.bias.copy_(next_of(module.bias.shape))
                continue
            for parameter in module.parameters(recurse=False):
                parameter.copy_(next_of(parameter.shape))
    if weights:
        raise ValueError("%d weights of the file have no place, the first of shape %s" % (len(weights), list(weights[0].shape)))


def bundled(name, path, example):
    """The module of the bundled network in the file `path`, and its inputs; `example`: input name -> array."""
    inputs = tuple(torch.from_numpy(array) for array in example.values())
    if name not in BUNDLED:
        from onnx_to_torch import module_of

        return module_of(path, example), inputs
    net = BUNDLED[name]().eval()
    take_weights(net, inputs, path)
    return net, inputs
