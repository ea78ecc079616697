"""A small decoder of transformers with random weights as an ONNX file, for generate.py and generate.cpp.

    python export.py decoder.onnx

Inputs: the new tokens, and of each layer the keys and values of the tokens before. Outputs: the scores of what comes
next, and the keys and values of all tokens.
"""

import sys
import warnings

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM
from transformers.cache_utils import DynamicCache

LAYERS, HEADS, KEY_HEADS, WIDTH, VOCABULARY = 6, 12, 4, 768, 8192


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        config = Qwen2Config(
            vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=2048, num_hidden_layers=LAYERS,
            num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, attn_implementation="eager",
        )
        self.model = Qwen2ForCausalLM(config).eval()

    def forward(self, tokens: torch.Tensor, *past: torch.Tensor) -> tuple:
        cache = DynamicCache()
        for layer in range(LAYERS):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        result = self.model(input_ids=tokens, past_key_values=cache, use_cache=True)
        made = result.past_key_values
        if hasattr(made, "layers"):
            present = [tensor for layer in made.layers for tensor in (layer.keys, layer.values)]
        else:
            present = [tensor for layer in zip(made.key_cache, made.value_cache) for tensor in layer]
        return (result.logits[:, -1], *present)


def main() -> None:
    warnings.filterwarnings("ignore")
    kinds = [f"{layer}.{kind}" for layer in range(LAYERS) for kind in ("key", "value")]
    past = [torch.randn(1, KEY_HEADS, 5, WIDTH // HEADS) for _ in kinds]
    axes = {"tokens": {1: "seq"}, **{f"past.{kind}": {2: "past"} for kind in kinds}}
    torch.onnx.export(
        Decoder(), (torch.ones(1, 3, dtype=torch.int64), *past), sys.argv[1], dynamo=False, opset_version=17,
        input_names=["tokens", *(f"past.{kind}" for kind in kinds)],
        output_names=["scores", *(f"present.{kind}" for kind in kinds)], dynamic_axes=axes,
    )


main()
