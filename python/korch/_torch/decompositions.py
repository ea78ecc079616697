"""Operators without a form in ONNX, in terms of others: those that PyTorch's modules call for inference."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import torch
from torch.nn import functional as F

_aten = torch.ops.aten


def multi_head_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    mask: Optional[torch.Tensor] = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: Optional[int] = None,
) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
    """Of batch x length x embed_dim, in which nn.MultiheadAttention computes where batch_first is set."""
    if query is key and key is value:
        q, k, v = F.linear(query, qkv_weight, qkv_bias).chunk(3, dim=2)
    else:
        parts = zip((query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3))
        q, k, v = [F.linear(tensor, weight, bias) for tensor, weight, bias in parts]
    q, k, v = [x.reshape(x.shape[0], x.shape[1], num_head, -1).transpose(1, 2) for x in (q, k, v)]
    scores = torch.matmul(q * (embed_dim // num_head) ** -0.5, k.transpose(2, 3))
    if mask is not None:
        scores = scores.masked_fill(_of_scores(mask.bool(), mask_type), -torch.inf)
    weights = scores.softmax(dim=3)
    y = torch.matmul(weights, v).transpose(1, 2).reshape(query.shape)
    y = F.linear(y, proj_weight, proj_bias)
    if not need_weights:
        return y, None
    return y, weights.mean(dim=1) if average_attn_weights else weights


def _of_scores(mask: torch.Tensor, mask_type: Optional[int]) -> torch.Tensor:
    if mask_type == 0:  # length x length
        return mask.reshape(1, 1, *mask.shape)
    if mask_type == 1:  # batch x length
        return mask.reshape(mask.shape[0], 1, 1, mask.shape[1])
    return mask  # batch x heads x length x length


def transformer_encoder_layer(
    src: torch.Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: torch.Tensor,
    qkv_bias: torch.Tensor,
    proj_weight: torch.Tensor,
    proj_bias: torch.Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: torch.Tensor,
    norm_bias_1: torch.Tensor,
    norm_weight_2: torch.Tensor,
    norm_bias_2: torch.Tensor,
    ffn_weight_1: torch.Tensor,
    ffn_bias_1: torch.Tensor,
    ffn_weight_2: torch.Tensor,
    ffn_bias_2: torch.Tensor,
    mask: Optional[torch.Tensor] = None,
    mask_type: Optional[int] = None,
) -> torch.Tensor:
    def norm_1(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def norm_2(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    def attention(x: torch.Tensor) -> torch.Tensor:
        projections = qkv_weight, qkv_bias, proj_weight, proj_bias
        return multi_head_attention(x, x, x, embed_dim, num_heads, *projections, mask, False, mask_type=mask_type)[0]

    def feed_forward(x: torch.Tensor) -> torch.Tensor:
        x = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(x) if use_gelu else F.relu(x), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attention(norm_1(src))
        return x + feed_forward(norm_2(x))
    x = norm_1(src + attention(src))
    return norm_2(x + feed_forward(x))


def layer_norm(
    x: torch.Tensor, shape: Sequence[int], weight: Optional[torch.Tensor], bias: Optional[torch.Tensor], eps: float
) -> Any:
    """Of a type other than that of its weights, as it is below torch.autocast."""
    if weight is None or weight.dtype == x.dtype:
        return NotImplemented
    y, mean, scale = torch.native_layer_norm(x.to(weight.dtype), shape, weight, bias, eps)
    return y.to(x.dtype), mean, scale


DECOMPOSITIONS: Dict[Any, Callable] = {
    _aten.native_layer_norm.default: layer_norm,
    _aten._native_multi_head_attention.default: multi_head_attention,
    _aten._transformer_encoder_layer_fwd.default: transformer_encoder_layer,
}
