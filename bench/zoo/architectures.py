"""Architectures beside those of networks.py: name -> (module, inputs of extents, extents, what is kept of the result).

For transformers 5.24, timm 1.0.31 and torchvision 0.23; tiny widths, random weights, nothing downloaded. `inputs(N=2, L=12)` makes
the inputs by name for these extents; `extents` says of each which is the least, the given and the greatest of a range.
"""
import torch
import transformers as T
from torch import nn

ARCHITECTURES = {}
WORDS = 99
SMALL = dict(vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, pad_token_id=0, bos_token_id=1,
             eos_token_id=2)
SEQ2SEQ = dict(vocab_size=WORDS, d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
               encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64, use_cache=False, pad_token_id=0, bos_token_id=1,
               eos_token_id=2, decoder_start_token_id=1)
BATCH, LENGTH = (1, 2, 4), (3, 12, 24)


def leaves(result):
    """The float, integer and boolean tensors of a result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    values = result.values() if isinstance(result, dict) else result if isinstance(result, (tuple, list)) else []
    return [leaf for value in values for leaf in leaves(value)]


def first(result):
    return leaves(result)[:1]


class Named(nn.Module):
    """Calls `call(module, *inputs)`; its forward takes the inputs under their names, which exporters ask for."""

    def __init__(self, module, call, pick):
        super().__init__()
        self.module, self.call, self.pick = module, call, pick

    def result(self, inputs):
        return tuple(self.pick(self.call(self.module, inputs)))


def named(module, names, call, pick):
    space = {}
    exec("def forward(self, %s): return self.result({%s})" % (
        ", ".join(names), ", ".join('"%s": %s' % (name, name) for name in names)), space)
    return type("Network", (Named,), {"forward": space["forward"]})(module, call, pick)


def by_keywords(module, inputs):
    return module(**inputs)


def by_position(module, inputs):
    return module(*inputs.values())


def architecture(name, make, inputs, extents, pick=leaves, call=by_keywords):
    assert name not in ARCHITECTURES, name
    ARCHITECTURES[name] = (lambda: named(make(), list(inputs(**{e: r[1] for e, r in extents.items()})), call, pick), inputs, extents)


def words(n, length):
    return torch.randint(3, WORDS - 1, (n, length))


def masked(n, length):
    mask = torch.ones(n, length, dtype=torch.int64)
    mask[0, length - length // 4:] = 0
    return mask


def model_of(model, config, options, fixed):
    made = getattr(T, config)(**options)
    for name, value in fixed.items():
        setattr(made, name, value)
    return getattr(T, model)(made)


def text(name, model, config, length=LENGTH, mask=True, pick=first, base=SMALL, more=None, fixed=None, **options):
    """An encoder or a decoder of tokens."""
    def inputs(N, L):
        made = {"input_ids": words(N, L)}
        if mask:
            made["attention_mask"] = masked(N, L)
        made.update((more or (lambda N, L: {}))(N, L))
        return made
    architecture(name, lambda: model_of(model, config, {**base, **options}, fixed or {}), inputs, dict(N=BATCH, L=length), pick)


def causal(name, model, config, **options):
    text(name, model, config, mask=False, **{"use_cache": False, **options})


def seq2seq(name, model, config, length=LENGTH, base=SEQ2SEQ, pick=first, fixed=None, **options):
    architecture(name, lambda: model_of(model, config, {**base, **options}, fixed or {}),
                 lambda N, L, M: {"input_ids": words(N, L), "decoder_input_ids": words(N, M)},
                 dict(N=BATCH, L=length, M=(1, 5, 9)), pick)


def vision(name, model, config, size=64, batch=BATCH, pick=leaves, fixed=None, **options):
    architecture(name, lambda: model_of(model, config, options, fixed or {}),
                 lambda N: {"pixel_values": torch.randn(N, 3, size, size)}, dict(N=batch), pick)


def speech(name, model, config, input_name="input_values", length=(800, 2000, 3000), pick=first, **options):
    architecture(name, lambda: model_of(model, config, options, {}),
                 lambda N, T: {input_name: torch.randn(N, T)}, dict(N=BATCH, T=length), pick)


# ---- encoders of text -----------------------------------------------------------------------------------------------

text("big_bird", "BigBirdModel", "BigBirdConfig", attention_type="block_sparse", block_size=4, num_random_blocks=1, max_position_embeddings=96,
     length=(64, 64, 64))
text("big_bird_full", "BigBirdModel", "BigBirdConfig", attention_type="original_full", max_position_embeddings=64)
text("nystromformer", "NystromformerModel", "NystromformerConfig", mask=False, num_landmarks=8, segment_means_seq_len=32, conv_kernel_size=5,
     max_position_embeddings=64, length=(32, 32, 32))
text("longformer", "LongformerModel", "LongformerConfig", attention_window=[8, 8], max_position_embeddings=80, length=(16, 32, 48),
     more=lambda N, L: {"global_attention_mask": torch.cat([torch.ones(N, 1, dtype=torch.int64), torch.zeros(N, L - 1, dtype=torch.int64)], 1)})
text("reformer", "ReformerModel", "ReformerConfig", base={}, vocab_size=WORDS, hidden_size=32, attention_head_size=8, num_attention_heads=4,
     feed_forward_size=48, attn_layers=["local", "lsh"], axial_pos_shape=(4, 8), axial_pos_embds_dim=(12, 20), local_attn_chunk_length=8,
     lsh_attn_chunk_length=8, num_buckets=4, hash_seed=3, max_position_embeddings=32, length=(32, 32, 32))
text("funnel", "FunnelModel", "FunnelConfig", base={}, vocab_size=WORDS, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=48,
     num_decoder_layers=1, length=(8, 12, 24))
text("convbert", "ConvBertModel", "ConvBertConfig", embedding_size=16, head_ratio=2, conv_kernel_size=5, max_position_embeddings=64)
text("fnet", "FNetModel", "FNetConfig", mask=False, max_position_embeddings=64)
text("ibert", "IBertModel", "IBertConfig", max_position_embeddings=64, quant_mode=False)
text("mobilebert", "MobileBertModel", "MobileBertConfig", embedding_size=16, intra_bottleneck_size=16, max_position_embeddings=64)
text("rembert", "RemBertModel", "RemBertConfig", input_embedding_size=16, output_embedding_size=16, max_position_embeddings=64)
text("xlm", "XLMModel", "XLMConfig", base={}, vocab_size=WORDS, emb_dim=32, n_layers=2, n_heads=4, max_position_embeddings=64, pad_index=0)
text("xlnet", "XLNetModel", "XLNetConfig", base={}, vocab_size=WORDS, d_model=32, n_layer=2, n_head=4, d_inner=48, use_mems_eval=False)
text("xmod", "XmodModel", "XmodConfig", max_position_embeddings=64, languages=["en_XX"], default_language="en_XX")
text("megatron_bert", "MegatronBertModel", "MegatronBertConfig", max_position_embeddings=64)
text("esm", "EsmModel", "EsmConfig", max_position_embeddings=64, position_embedding_type="rotary", mask_token_id=3)
text("modernbert", "ModernBertModel", "ModernBertConfig", num_hidden_layers=3, local_attention=8, global_attn_every_n_layers=3, cls_token_id=1,
     sep_token_id=2, max_position_embeddings=64)
text("eurobert", "EuroBertModel", "EuroBertConfig", num_key_value_heads=2, max_position_embeddings=64)
text("nomic_bert", "NomicBertModel", "NomicBertConfig", max_position_embeddings=64)
text("canine", "CanineModel", "CanineConfig", base={k: v for k, v in SMALL.items() if k != "vocab_size"}, max_position_embeddings=128,
     local_transformer_stride=16, downsampling_rate=4, num_hash_buckets=32, length=(32, 32, 64))
text("luke", "LukeModel", "LukeConfig", entity_vocab_size=20, entity_emb_size=16, max_position_embeddings=64)
text("splinter", "SplinterModel", "SplinterConfig", max_position_embeddings=64)
text("lilt", "LiltModel", "LiltConfig", channel_shrink_ratio=2, base=dict(SMALL, hidden_size=48), max_position_embeddings=64, max_2d_position_embeddings=64,
     more=lambda N, L: {"bbox": torch.randint(0, 30, (N, L, 1)).expand(N, L, 4).contiguous()})
text("layoutlm", "LayoutLMModel", "LayoutLMConfig", max_position_embeddings=64, max_2d_position_embeddings=64,
     more=lambda N, L: {"bbox": torch.randint(0, 30, (N, L, 1)).expand(N, L, 4).contiguous()})
text("tapas", "TapasModel", "TapasConfig", max_position_embeddings=64, type_vocab_sizes=[3, 16, 16, 2, 2, 4, 4],
     more=lambda N, L: {"token_type_ids": torch.randint(0, 2, (N, L, 7))})
text("data2vec_text", "Data2VecTextModel", "Data2VecTextConfig", max_position_embeddings=64)
text("yoso", "YosoModel", "YosoConfig", max_position_embeddings=64, use_expectation=True, hash_code_len=3, num_hash=4)
text("roberta_prelayernorm", "RobertaPreLayerNormModel", "RobertaPreLayerNormConfig", max_position_embeddings=64)
text("deberta", "DebertaModel", "DebertaConfig", relative_attention=True, pos_att_type=["p2c", "c2p"], max_position_embeddings=64)

# ---- decoders -------------------------------------------------------------------------------------------------------

causal("codegen", "CodeGenForCausalLM", "CodeGenConfig", base={}, vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64, n_ctx=64,
       rotary_dim=4)
causal("gptj", "GPTJForCausalLM", "GPTJConfig", base={}, vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4)
causal("ctrl", "CTRLLMHeadModel", "CTRLConfig", base={}, vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64, dff=48)
causal("xglm", "XGLMForCausalLM", "XGLMConfig", base={}, vocab_size=WORDS, d_model=32, num_layers=2, attention_heads=4, ffn_dim=48,
       max_position_embeddings=64)
causal("biogpt", "BioGptForCausalLM", "BioGptConfig", max_position_embeddings=64)
causal("cohere2", "Cohere2ForCausalLM", "Cohere2Config", num_key_value_heads=2, sliding_window=4, max_position_embeddings=64)
causal("olmo2", "Olmo2ForCausalLM", "Olmo2Config", num_key_value_heads=2)
causal("stablelm", "StableLmForCausalLM", "StableLmConfig", num_key_value_heads=2, use_parallel_residual=True, qk_layernorm=True)
causal("starcoder2", "Starcoder2ForCausalLM", "Starcoder2Config", num_key_value_heads=2, sliding_window=4)
causal("persimmon", "PersimmonForCausalLM", "PersimmonConfig", max_position_embeddings=64)
causal("phi3", "Phi3ForCausalLM", "Phi3Config", num_key_value_heads=2, sliding_window=4)
causal("granite", "GraniteForCausalLM", "GraniteConfig", num_key_value_heads=2)
causal("helium", "HeliumForCausalLM", "HeliumConfig", num_key_value_heads=2, head_dim=8)
causal("nemotron", "NemotronForCausalLM", "NemotronConfig", num_key_value_heads=2)
causal("glm4", "Glm4ForCausalLM", "Glm4Config", num_key_value_heads=2, head_dim=8)
causal("diffllama", "DiffLlamaForCausalLM", "DiffLlamaConfig", num_key_value_heads=2)
causal("bitnet", "BitNetForCausalLM", "BitNetConfig", num_key_value_heads=2)
causal("smollm3", "SmolLM3ForCausalLM", "SmolLM3Config", num_key_value_heads=2, no_rope_layers=[1, 0])
causal("exaone4", "Exaone4ForCausalLM", "Exaone4Config", num_key_value_heads=2, sliding_window=4, sliding_window_pattern=2)
causal("gemma3", "Gemma3ForCausalLM", "Gemma3TextConfig", num_key_value_heads=2, head_dim=8, sliding_window=4)
causal("lfm2", "Lfm2ForCausalLM", "Lfm2Config", num_key_value_heads=2, layer_types=["conv", "full_attention"])
causal("gpt_bigcode", "GPTBigCodeForCausalLM", "GPTBigCodeConfig", base={}, vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64,
       multi_query=True)
causal("openai_gpt", "OpenAIGPTLMHeadModel", "OpenAIGPTConfig", base={}, vocab_size=WORDS, n_embd=32, n_layer=2, n_head=4, n_positions=64)
causal("mpt", "MptForCausalLM", "MptConfig", base={}, vocab_size=WORDS, d_model=32, n_layers=2, n_heads=4, max_seq_len=64)

# State spaces and recurrences.
causal("mamba2", "Mamba2ForCausalLM", "Mamba2Config", base={}, vocab_size=WORDS, hidden_size=16, num_hidden_layers=1, state_size=4, num_heads=4,
       head_dim=8, expand=2, n_groups=1, chunk_size=4, length=(4, 8, 12))
causal("falcon_mamba", "FalconMambaForCausalLM", "FalconMambaConfig", base={}, vocab_size=WORDS, hidden_size=16, num_hidden_layers=1,
       state_size=4, length=(4, 4, 4))
causal("rwkv", "RwkvForCausalLM", "RwkvConfig", base={}, vocab_size=WORDS, hidden_size=32, num_hidden_layers=2, context_length=64,
       length=(4, 6, 8))
causal("xlstm", "xLSTMForCausalLM", "xLSTMConfig", base={}, vocab_size=WORDS, hidden_size=32, num_hidden_layers=1, num_heads=4, chunk_size=4,
       autocast_kernel_dtype="float32", length=(8, 8, 8))
causal("jamba", "JambaForCausalLM", "JambaConfig", num_key_value_heads=2, num_experts=4, num_experts_per_tok=2, mamba_d_state=4, attn_layer_period=2,
       attn_layer_offset=1, expert_layer_period=2, use_mamba_kernels=False, length=(4, 4, 6))
causal("bamba", "BambaForCausalLM", "BambaConfig", num_key_value_heads=2, mamba_n_heads=4, mamba_d_head=16, mamba_d_state=4, mamba_chunk_size=4,
       attn_layer_indices=[1], length=(4, 8, 8))
causal("zamba2", "Zamba2ForCausalLM", "Zamba2Config", num_key_value_heads=4, n_mamba_heads=4, mamba_headdim=16, mamba_d_state=4, chunk_size=4,
       mamba_ngroups=1, layers_block_type=["mamba", "hybrid"], num_mem_blocks=1, length=(4, 8, 8))
causal("recurrent_gemma", "RecurrentGemmaForCausalLM", "RecurrentGemmaConfig", num_hidden_layers=3, num_key_value_heads=1, lru_width=32, head_dim=8,
       attention_window_size=8, length=(4, 6, 8))
causal("qwen3_next", "Qwen3NextForCausalLM", "Qwen3NextConfig", num_key_value_heads=2, head_dim=8, num_experts=4, num_experts_per_tok=2,
       moe_intermediate_size=16, shared_expert_intermediate_size=16, linear_num_value_heads=2, linear_num_key_heads=2, linear_key_head_dim=8,
       linear_value_head_dim=8, layer_types=["linear_attention", "full_attention"], length=(4, 8, 8))
causal("minimax", "MiniMaxForCausalLM", "MiniMaxConfig", num_key_value_heads=2, head_dim=8, num_local_experts=4, num_experts_per_tok=2, block_size=4,
       layer_types=["linear_attention", "full_attention"], length=(4, 8, 8))

# Mixtures of experts.
MOE = dict(num_key_value_heads=2, num_experts_per_tok=2)
causal("granitemoe", "GraniteMoeForCausalLM", "GraniteMoeConfig", num_local_experts=4, **MOE)
causal("jetmoe", "JetMoeForCausalLM", "JetMoeConfig", num_local_experts=4, kv_channels=8, **MOE)
causal("phimoe", "PhimoeForCausalLM", "PhimoeConfig", num_local_experts=4, **MOE)
causal("qwen2_moe", "Qwen2MoeForCausalLM", "Qwen2MoeConfig", num_experts=4, moe_intermediate_size=16, shared_expert_intermediate_size=16, **MOE)
causal("olmoe", "OlmoeForCausalLM", "OlmoeConfig", num_experts=4, **MOE)
causal("deepseek_v2", "DeepseekV2ForCausalLM", "DeepseekV2Config", n_routed_experts=4, n_shared_experts=1, moe_intermediate_size=16, kv_lora_rank=8,
       q_lora_rank=16, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1, n_group=2, topk_group=1,
       topk_method="group_limited_greedy", **{**MOE, "num_key_value_heads": 4})
causal("deepseek_v3", "DeepseekV3ForCausalLM", "DeepseekV3Config", n_routed_experts=4, n_shared_experts=1, moe_intermediate_size=16, kv_lora_rank=8,
       q_lora_rank=16, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1, n_group=2, topk_group=1,
       **{**MOE, "num_key_value_heads": 4})
causal("dbrx", "DbrxForCausalLM", "DbrxConfig", base={}, vocab_size=WORDS, d_model=32, n_heads=4, n_layers=2, max_seq_len=64,
       attn_config=dict(kv_n_heads=2, rope_theta=10000.0, clip_qkv=8.0), ffn_config=dict(ffn_hidden_size=32, moe_num_experts=4, moe_top_k=2))
causal("gpt_oss", "GptOssForCausalLM", "GptOssConfig", num_local_experts=4, head_dim=8, sliding_window=4, **MOE)
causal("ernie4_5_moe", "Ernie4_5_MoeForCausalLM", "Ernie4_5_MoeConfig", moe_num_experts=4, moe_k=2, moe_intermediate_size=16, moe_num_shared_experts=1,
       num_key_value_heads=2, moe_layer_start_index=1)
causal("glm4_moe", "Glm4MoeForCausalLM", "Glm4MoeConfig", n_routed_experts=4, n_shared_experts=1, moe_intermediate_size=16, head_dim=8, n_group=1,
       topk_group=1, first_k_dense_replace=1, **MOE)
causal("llama4", "Llama4ForCausalLM", "Llama4TextConfig", num_local_experts=4, head_dim=8, intermediate_size_mlp=48, attention_chunk_size=8,
       num_key_value_heads=2, num_experts_per_tok=1)
seq2seq("switch_transformers", "SwitchTransformersForConditionalGeneration", "SwitchTransformersConfig", base={}, vocab_size=WORDS, d_model=32, d_kv=8,
        d_ff=48, num_layers=2, num_decoder_layers=2, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1, num_heads=4, num_experts=4,
        expert_capacity=8, use_cache=False, decoder_start_token_id=0)
seq2seq("nllb_moe", "NllbMoeForConditionalGeneration", "NllbMoeConfig", num_experts=4, expert_capacity=8, encoder_sparse_step=1,
        decoder_sparse_step=2)

# ---- from a sequence to another ------------------------------------------------------------------------------------------

seq2seq("led", "LEDForConditionalGeneration", "LEDConfig", attention_window=[8], max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64, length=(16, 32, 48))
seq2seq("prophetnet", "ProphetNetForConditionalGeneration", "ProphetNetConfig", base={}, vocab_size=WORDS, hidden_size=32, encoder_ffn_dim=48,
        decoder_ffn_dim=48, num_encoder_layers=1, num_decoder_layers=2, num_encoder_attention_heads=4, num_decoder_attention_heads=4,
        max_position_embeddings=64, ngram=2, use_cache=False)
seq2seq("bigbird_pegasus", "BigBirdPegasusForConditionalGeneration", "BigBirdPegasusConfig", attention_type="original_full")
seq2seq("blenderbot", "BlenderbotForConditionalGeneration", "BlenderbotConfig")
seq2seq("pegasus_x", "PegasusXForConditionalGeneration", "PegasusXConfig", num_global_tokens=4, block_size=8, length=(16, 32, 48))
seq2seq("m2m_100", "M2M100ForConditionalGeneration", "M2M100Config")
seq2seq("mvp", "MvpForConditionalGeneration", "MvpConfig")
seq2seq("fsmt", "FSMTForConditionalGeneration", "FSMTConfig", src_vocab_size=WORDS, tgt_vocab_size=WORDS, langs=["en", "de"])
seq2seq("longt5_local", "LongT5ForConditionalGeneration", "LongT5Config", base={}, vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=1,
        num_heads=4, local_radius=7, encoder_attention_type="local", use_cache=False, decoder_start_token_id=0, length=(9, 24, 40))
seq2seq("longt5_global", "LongT5ForConditionalGeneration", "LongT5Config", base={}, vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=1,
        num_heads=4, local_radius=7, global_block_size=4, encoder_attention_type="transient-global", use_cache=False, decoder_start_token_id=0,
        length=(9, 24, 40))
seq2seq("umt5", "UMT5ForConditionalGeneration", "UMT5Config", base={}, vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4,
        use_cache=False, decoder_start_token_id=0)


class Steps(nn.Module):
    """One step of decoding with a cache of keys and values."""

    def __init__(self, module, layers):
        super().__init__()
        self.module, self.layers = module, layers

    def forward(self, input_ids, *past):
        cache = T.DynamicCache(config=self.module.config)
        for i in range(self.layers):
            cache.update(past[2 * i], past[2 * i + 1], i)
        result = self.module(input_ids=input_ids, past_key_values=cache, use_cache=True)
        return [result.logits] + [t for layer in result.past_key_values.layers[:self.layers] for t in (layer.keys, layer.values)]


def step(name, model, config, heads=2, width=8, **options):
    def inputs(N, P):
        made = {"input_ids": words(N, 1)}
        for i in range(2):
            made.update({"past_key_%d" % i: torch.randn(N, heads, P, width), "past_value_%d" % i: torch.randn(N, heads, P, width)})
        return made
    architecture(name, lambda: Steps(model_of(model, config, {**SMALL, "num_key_value_heads": heads, **options}, {}), 2), inputs,
                 dict(N=BATCH, P=(2, 6, 12)), call=by_position)


step("olmo_step", "OlmoForCausalLM", "OlmoConfig")
step("qwen3_step", "Qwen3ForCausalLM", "Qwen3Config", head_dim=8)
step("gemma3_step", "Gemma3ForCausalLM", "Gemma3TextConfig", head_dim=8, layer_types=["full_attention", "full_attention"])
step("granitemoe_step", "GraniteMoeForCausalLM", "GraniteMoeConfig", num_local_experts=4, num_experts_per_tok=2)
step("cohere_step", "CohereForCausalLM", "CohereConfig", max_position_embeddings=64)
