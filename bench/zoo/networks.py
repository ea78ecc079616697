"""The networks of the zoo: name -> function that makes (module, inputs by name), weights random.

Small sizes keep an export and a compilation short; what makes each architecture its own is kept. Nothing is downloaded: every
network is made from a configuration. `names` in the inputs' order are the graph's input names.
"""
import timm
import torch
import torchvision
import transformers
from torch import nn

import networks_torch  # noqa: F401  registers its own
from registry import NETWORKS, Outputs, image, network, tokens

# ---- timm: name, image size, what makes it smaller ----------------------------------------------------------------------

TIMM = [
    ("convnext_atto", 64, {}),
    ("convnextv2_atto", 64, {}),
    ("fastvit_t8", 64, {}),
    ("tf_efficientnetv2_b0", 96, {}),
    ("regnety_002", 64, {}),
    ("levit_128s", 224, {}),
    ("edgenext_xx_small", 64, {}),
    ("ghostnetv2_100", 64, {}),
    ("hrnet_w18_small", 64, {}),
    ("res2net50_14w_8s", 64, {}),
    ("swin_tiny_patch4_window7_224", 112, dict(img_size=112, embed_dim=32, depths=(1, 2, 2), num_heads=(1, 2, 4))),
    ("swinv2_tiny_window8_256", 128, dict(img_size=128, embed_dim=32, depths=(1, 2, 2), num_heads=(1, 2, 4))),
    ("maxvit_rmlp_pico_rw_256", 256, {}),
    ("coatnet_pico_rw_224", 224, {}),
    ("mvitv2_tiny", 224, {}),
    ("deit_tiny_patch16_224", 64, dict(img_size=64, depth=3)),
    ("beit_base_patch16_224", 64, dict(img_size=64, depth=3, embed_dim=96, num_heads=3)),
    ("cait_xxs24_224", 64, dict(img_size=64, depth=3)),
    ("pvt_v2_b0", 64, {}),
    ("twins_svt_small", 64, dict(img_size=64, embed_dims=(32, 64, 128, 256), depths=(1, 1, 2, 1))),
    ("twins_pcpvt_small", 64, dict(img_size=64, embed_dims=(32, 64, 128, 256), num_heads=(1, 2, 4, 8), depths=(1, 1, 2, 1))),
    ("xcit_nano_12_p16_224", 64, dict(img_size=64, depth=3)),
    ("mobilevit_xxs", 64, {}),
    ("mobilevitv2_050", 64, {}),
    ("efficientformer_l1", 224, dict(depths=(1, 1, 2, 2))),
    ("efficientformerv2_s0", 224, {}),
    ("poolformer_s12", 64, {}),
    ("mixer_s32_224", 64, dict(img_size=64)),
    ("gmlp_ti16_224", 64, dict(img_size=64)),
    ("resmlp_12_224", 64, dict(img_size=64)),
    ("repvgg_a0", 64, {}),
    ("mobileone_s0", 64, {}),
    ("nf_regnet_b0", 64, {}),
    ("eca_nfnet_l0", 64, {}),
    ("mnasnet_small", 64, {}),
    ("dla46x_c", 64, {}),
    ("ese_vovnet19b_slim_dw", 64, {}),
    ("resnest14d", 64, {}),
    ("skresnet18", 64, {}),
    ("cspdarknet53", 64, {}),
    ("dpn48b", 64, {}),
    ("rexnet_100", 64, {}),
    ("inception_next_atto", 64, {}),
    ("focalnet_tiny_srf", 64, {}),
    ("davit_tiny", 64, dict(embed_dims=(32, 64, 128, 256), num_heads=(1, 2, 4, 8), depths=(1, 1, 2, 1))),
    ("gcvit_xxtiny", 224, {}),
    ("crossvit_tiny_240", 240, {}),
    ("visformer_tiny", 224, {}),
    ("pit_ti_224", 224, dict(depth=(1, 2, 1))),
    ("coat_tiny", 64, dict(img_size=64)),
    ("convit_tiny", 64, dict(img_size=64, depth=4, local_up_to_layer=3)),
    ("volo_d1_224", 224, {}),
    ("sequencer2d_s", 224, dict(layers=(1, 1, 1, 1))),
    ("mambaout_femto", 64, {}),
    ("hgnetv2_b0", 64, {}),
    ("hiera_tiny_224", 224, dict(stages=(1, 1, 2, 1))),
    ("repghostnet_050", 64, {}),
    ("repvit_m0_9", 64, {}),
    ("starnet_s1", 64, {}),
    ("tiny_vit_5m_224", 224, {}),
    ("efficientvit_m0", 224, {}),
    ("mobilenetv4_conv_small", 64, {}),
    ("fbnetv3_b", 64, {}),
    ("resnetv2_50", 64, dict(layers=(1, 1, 1, 1))),
    ("eva02_tiny_patch14_224", 56, dict(img_size=56, depth=3)),
    ("botnet26t_256", 256, {}),
    ("halonet26t", 256, {}),
    ("lambda_resnet26t", 256, {}),
    ("tnt_s_patch16_224", 64, dict(img_size=64, depth=3)),
    ("selecsls42b", 64, {}),
    ("xception41p", 64, {}),
    ("lcnet_050", 64, {}),
    ("gernet_s", 64, {}),
]


def timm_network(name, size, options):
    return lambda: (timm.create_model(name, pretrained=False, num_classes=10, **options), image(size))


for row in TIMM:
    NETWORKS["timm_" + row[0]] = timm_network(*row)


@network("timm_convmixer")
def _():
    return timm.models.convmixer.ConvMixer(dim=64, depth=4, num_classes=10), image(70)


# ---- torchvision ----------------------------------------------------------------------------------------------------

class Pick(nn.Module):
    def __init__(self, key):
        super().__init__()
        self.key = key

    def forward(self, results):
        return results[self.key]


class Values(nn.Module):
    def forward(self, results):
        return tuple(results.values())


def tv(name, inputs, **options):
    NETWORKS["tv_" + name] = lambda: (torchvision.models.get_model(name, weights=None, **options), inputs())


def segmentation(name):
    def make():
        module = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=5)
        return nn.Sequential(module, Pick("out")), image(65)
    NETWORKS["tv_" + name] = make


tv("mobilenet_v3_small", lambda: image(64), num_classes=10)
tv("shufflenet_v2_x0_5", lambda: image(64), num_classes=10)
tv("densenet121", lambda: image(64), num_classes=10)
tv("squeezenet1_1", lambda: image(64), num_classes=10)
tv("inception_v3", lambda: image(96), num_classes=10, aux_logits=False, init_weights=False)
tv("googlenet", lambda: image(64), num_classes=10, aux_logits=False, init_weights=False)
tv("mnasnet0_5", lambda: image(64), num_classes=10)
tv("regnet_x_400mf", lambda: image(64), num_classes=10)
tv("efficientnet_b0", lambda: image(64), num_classes=10)
tv("efficientnet_v2_s", lambda: image(64), num_classes=10)


@network("tv_maxvit")
def _():
    return torchvision.models.maxvit.MaxVit(input_size=(64, 64), stem_channels=16, partition_size=4, block_channels=[16, 32],
                                            block_layers=[1, 1], head_dim=8, stochastic_depth_prob=0, num_classes=10), image(64)


for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
    segmentation(name)


def clip_of(frames, size):
    return lambda: {"clip": torch.randn(1, 3, frames, size, size)}


tv("r3d_18", clip_of(4, 32), num_classes=10)
tv("r2plus1d_18", clip_of(4, 32), num_classes=10)
tv("s3d", clip_of(16, 224), num_classes=10)


@network("tv_vgg11_bn_features")
def _():
    module = torchvision.models.vgg11_bn(weights=None, num_classes=10)
    return nn.Sequential(module.features, nn.Flatten(), nn.Linear(512 * 4, 10)), image(64)


@network("tv_mvit_v2_tiny")
def _():
    from torchvision.models.video.mvit import MSBlockConfig, MViT
    three, one, two, four = (3, 3, 3), (1, 1, 1), (1, 2, 2), (1, 4, 4)
    setting = [MSBlockConfig(1, 32, 32, three, three, one, four), MSBlockConfig(1, 32, 64, three, three, two, two),
               MSBlockConfig(2, 64, 64, three, three, one, two)]
    module = MViT((32, 32), 4, setting, residual_pool=True, residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True,
                  num_classes=10)
    return module, {"clip": torch.randn(1, 3, 4, 32, 32)}


@network("tv_retinanet_backbone_fpn")
def _():
    from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
    module = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
    return nn.Sequential(module, Values()), image(96)


@network("tv_ssdlite_backbone")
def _():
    module = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
    return nn.Sequential(module.backbone, Values()), image(128)


class Detector(nn.Module):
    """Boxes, scores, labels, and masks or keypoints where there are some, as the whole detector gives them."""
    rows_in_any_order = True  # some scores are equal but for rounding

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        found = self.module([image])[0]
        return tuple(found[name] for name in ("boxes", "scores", "labels", "masks", "keypoints", "keypoints_scores") if name in found)


def with_scores_apart(module):
    """Random weights score all boxes alike, and which of two is first is then for rounding to say."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if any(part in name for part in ("cls_", "classification_head")):
                parameter.mul_(30)
    return module


for name, options in (("ssdlite320_mobilenet_v3_large", dict(score_thresh=0.05)), ("ssd300_vgg16", dict(score_thresh=0.05)),
                      ("fasterrcnn_mobilenet_v3_large_320_fpn", {}), ("retinanet_resnet50_fpn", dict(min_size=96, max_size=128)),
                      ("fcos_resnet50_fpn", dict(min_size=96, max_size=128)),
                      ("fasterrcnn_resnet50_fpn", dict(min_size=96, max_size=128)),
                      ("maskrcnn_resnet50_fpn", dict(min_size=96, max_size=128, box_detections_per_img=20)),
                      ("keypointrcnn_resnet50_fpn", dict(min_size=96, max_size=128, box_detections_per_img=20,
                                                         num_classes=2))):
    network("tv_whole_" + name)(lambda name=name, options=options: (
        Detector(with_scores_apart(getattr(torchvision.models.detection, name)(
            weights=None, weights_backbone=None, **{"num_classes": 5, **options}))),
        {"image": torch.rand(3, 96, 128)}))


# ---- transformers ---------------------------------------------------------------------------------------------------

TINY = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)


def encoder(name, model, config, length=16, batch=1):
    def make():
        module = model(config())
        inputs = {"input_ids": tokens(module.config.vocab_size, length, batch),
                  "attention_mask": torch.ones(batch, length, dtype=torch.int64)}
        inputs["attention_mask"][0, length - 3:] = 0
        return Outputs(module, list(inputs), lambda r: r[0], return_dict=False), inputs
    NETWORKS["hf_" + name] = make


def causal(name, model, config, length=12, batch=1):
    def make():
        settings = config()
        settings.use_cache = False
        module = model(settings)
        inputs = {"input_ids": tokens(settings.vocab_size, length, batch)}
        return Outputs(module, list(inputs), lambda r: r[0], return_dict=False), inputs
    NETWORKS["hf_" + name] = make


T = transformers
encoder("bert", T.BertModel, lambda: T.BertConfig(vocab_size=120, **TINY))
encoder("distilbert", T.DistilBertModel, lambda: T.DistilBertConfig(vocab_size=120, dim=64, n_layers=2, n_heads=4, hidden_dim=128))
encoder("roberta", T.RobertaModel, lambda: T.RobertaConfig(vocab_size=120, **TINY))
encoder("albert", T.AlbertModel, lambda: T.AlbertConfig(vocab_size=120, embedding_size=32, **TINY))
encoder("deberta_v2", T.DebertaV2Model, lambda: T.DebertaV2Config(
    vocab_size=120, relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", **TINY))
encoder("electra", T.ElectraModel, lambda: T.ElectraConfig(vocab_size=120, embedding_size=32, **TINY))
encoder("mpnet", T.MPNetModel, lambda: T.MPNetConfig(vocab_size=120, **TINY))
encoder("squeezebert", T.SqueezeBertModel, lambda: T.SqueezeBertConfig(vocab_size=120, embedding_size=64, **TINY))
encoder("bert_classifier_batch4", T.BertForSequenceClassification,
        lambda: T.BertConfig(vocab_size=120, num_labels=1, **TINY), batch=4)
encoder("roformer", T.RoFormerModel, lambda: T.RoFormerConfig(vocab_size=120, embedding_size=64, **TINY))

causal("gpt2", T.GPT2LMHeadModel, lambda: T.GPT2Config(vocab_size=120, n_embd=64, n_layer=2, n_head=4))
causal("gpt_neo", T.GPTNeoForCausalLM, lambda: T.GPTNeoConfig(
    vocab_size=120, hidden_size=64, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4))
causal("gpt_neox", T.GPTNeoXForCausalLM, lambda: T.GPTNeoXConfig(vocab_size=120, **TINY))
causal("opt", T.OPTForCausalLM, lambda: T.OPTConfig(
    vocab_size=120, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, word_embed_proj_dim=64))
causal("llama", T.LlamaForCausalLM, lambda: T.LlamaConfig(vocab_size=120, num_key_value_heads=2, **TINY))
causal("mistral", T.MistralForCausalLM, lambda: T.MistralConfig(vocab_size=120, num_key_value_heads=2, sliding_window=4, **TINY))
causal("qwen2", T.Qwen2ForCausalLM, lambda: T.Qwen2Config(vocab_size=120, num_key_value_heads=2, **TINY))
causal("gemma", T.GemmaForCausalLM, lambda: T.GemmaConfig(vocab_size=120, num_key_value_heads=1, head_dim=16, **TINY))
causal("gemma2", T.Gemma2ForCausalLM, lambda: T.Gemma2Config(vocab_size=120, num_key_value_heads=2, head_dim=16, **TINY))
causal("mixtral", T.MixtralForCausalLM, lambda: T.MixtralConfig(
    vocab_size=120, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2, **TINY))
causal("qwen3_moe", T.Qwen3MoeForCausalLM, lambda: T.Qwen3MoeConfig(
    vocab_size=120, num_key_value_heads=2, head_dim=16, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32,
    norm_topk_prob=True, **TINY))
causal("phi", T.PhiForCausalLM, lambda: T.PhiConfig(vocab_size=120, **TINY))
causal("falcon", T.FalconForCausalLM, lambda: T.FalconConfig(
    vocab_size=120, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, alibi=False))
causal("bloom", T.BloomForCausalLM, lambda: T.BloomConfig(vocab_size=120, hidden_size=64, n_layer=2, n_head=4))
causal("mamba", T.MambaForCausalLM, lambda: T.MambaConfig(vocab_size=120, hidden_size=32, num_hidden_layers=1, state_size=4), length=4)


class Decoding(nn.Module):
    """One step of decoding: the next token of each sequence, given past keys and values as tensors."""

    def __init__(self, module, layers):
        super().__init__()
        self.module, self.layers = module, layers

    def forward(self, input_ids, *past):
        cache = T.DynamicCache.from_legacy_cache(tuple((past[2 * i], past[2 * i + 1]) for i in range(self.layers)))
        result = self.module(input_ids=input_ids, past_key_values=cache, use_cache=True, return_dict=True)
        made = result.past_key_values
        made = made if isinstance(made, tuple) else made.to_legacy_cache()
        return (result.logits, *(t for layer in made for t in layer))


def decoding(name, model, config, heads, width, batch):
    def make():
        module = model(config())
        inputs = {"input_ids": tokens(120, 1, batch)}
        for i in range(2):
            inputs["past_key_%d" % i] = torch.randn(batch, heads, 6, width)
            inputs["past_value_%d" % i] = torch.randn(batch, heads, 6, width)
        return Decoding(module, 2), inputs
    NETWORKS["hf_" + name] = make


decoding("gpt2_decode_batch4", T.GPT2LMHeadModel, lambda: T.GPT2Config(vocab_size=120, n_embd=64, n_layer=2, n_head=4), 4, 16, 4)
decoding("llama_decode_batch3", T.LlamaForCausalLM, lambda: T.LlamaConfig(vocab_size=120, num_key_value_heads=2, **TINY), 2, 16, 3)
decoding("qwen2_decode_batch1", T.Qwen2ForCausalLM, lambda: T.Qwen2Config(vocab_size=120, num_key_value_heads=2, **TINY), 2, 16, 1)


def t5_config():
    return T.T5Config(vocab_size=120, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, use_cache=False)


def bart_config():
    return T.BartConfig(vocab_size=120, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, use_cache=False)


def whisper_config():
    return T.WhisperConfig(vocab_size=120, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                           decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, num_mel_bins=16, max_source_positions=20,
                           pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, use_cache=False)


def first(result):
    return result[0]


@network("hf_t5_encoder")
def _():
    return Outputs(T.T5EncoderModel(t5_config()), ["input_ids"], first, return_dict=False), {"input_ids": tokens(120, 14)}


@network("hf_t5")
def _():
    names = ["input_ids", "decoder_input_ids"]
    return (Outputs(T.T5ForConditionalGeneration(t5_config()), names, first, return_dict=False),
            {"input_ids": tokens(120, 14), "decoder_input_ids": tokens(120, 6)})


@network("hf_bart")
def _():
    names = ["input_ids", "decoder_input_ids"]
    return (Outputs(T.BartForConditionalGeneration(bart_config()), names, first, return_dict=False),
            {"input_ids": tokens(120, 14), "decoder_input_ids": tokens(120, 6)})


@network("hf_whisper_encoder")
def _():
    module = T.WhisperModel(whisper_config()).encoder
    return Outputs(module, ["input_features"], first, return_dict=False), {"input_features": torch.randn(1, 16, 40)}


@network("hf_whisper_decoder")
def _():
    module = T.WhisperModel(whisper_config()).decoder
    names = ["input_ids", "encoder_hidden_states"]
    return (Outputs(module, names, first, return_dict=False),
            {"input_ids": tokens(120, 5), "encoder_hidden_states": torch.randn(1, 20, 64)})


def vision(name, model, config, size, pick=first):
    NETWORKS["hf_" + name] = lambda: (Outputs(model(config()), ["pixel_values"], pick, return_dict=False),
                                      {"pixel_values": torch.randn(1, 3, size, size)})


VIT = dict(image_size=32, patch_size=8, **TINY)
vision("vit", T.ViTModel, lambda: T.ViTConfig(**VIT), 32)
vision("dinov2", T.Dinov2Model, lambda: T.Dinov2Config(mlp_ratio=2, image_size=32, patch_size=8, hidden_size=64, num_hidden_layers=2,
                                                       num_attention_heads=4), 32)
vision("segformer", T.SegformerForSemanticSegmentation, lambda: T.SegformerConfig(
    depths=[1, 1, 1, 1], hidden_sizes=[16, 32, 40, 64], decoder_hidden_size=48, num_labels=5), 64)
vision("mobilevit_deeplab", T.MobileViTForSemanticSegmentation, lambda: T.MobileViTConfig(
    image_size=64, hidden_sizes=[32, 40, 48], neck_hidden_sizes=[8, 16, 16, 24, 32, 40, 64], num_labels=5, aspp_out_channels=32), 64)
vision("upernet_convnext", T.UperNetForSemanticSegmentation, lambda: T.UperNetConfig(
    backbone_config=T.ConvNextConfig(depths=[1, 1, 1, 1], hidden_sizes=[16, 24, 32, 48], out_features=["stage1", "stage2", "stage3", "stage4"]),
    hidden_size=32, num_labels=5, use_auxiliary_head=False, auxiliary_in_channels=32), 192)
vision("dpt", T.DPTForDepthEstimation, lambda: T.DPTConfig(
    image_size=32, patch_size=8, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128,
    backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[16, 24, 32, 48], fusion_hidden_size=32), 32)
vision("yolos", T.YolosForObjectDetection, lambda: T.YolosConfig(
    image_size=[32, 48], patch_size=8, num_detection_tokens=6, num_labels=3, **TINY), 32, lambda r: (r[0], r[1]))
vision("detr", T.DetrForObjectDetection, lambda: T.DetrConfig(
    use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
    backbone_config=T.ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], layer_type="basic",
                                   out_features=["stage4"]),
    d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
    decoder_ffn_dim=64, num_queries=7, num_labels=3), 64, lambda r: (r[0], r[1]))
vision("swin2sr", T.Swin2SRForImageSuperResolution, lambda: T.Swin2SRConfig(
    image_size=16, patch_size=1, embed_dim=24, depths=[2], num_heads=[2], window_size=4, upscale=2), 16)
vision("clip_vision", T.CLIPVisionModel, lambda: T.CLIPVisionConfig(image_size=32, patch_size=8, hidden_size=64, num_hidden_layers=2,
                                                                    num_attention_heads=4, intermediate_size=128), 32)


@network("hf_vit_mae_decoder")
def _():
    config = T.ViTMAEConfig(decoder_hidden_size=48, decoder_num_hidden_layers=2, decoder_num_attention_heads=4,
                            decoder_intermediate_size=96, mask_ratio=0.75, **VIT)
    module = T.ViTMAEForPreTraining(config).decoder
    restore = torch.randperm(16)[None]
    return (Outputs(module, ["hidden_states", "ids_restore"], first, return_dict=False),
            {"hidden_states": torch.randn(1, 5, 64), "ids_restore": restore})


@network("hf_clip_text")
def _():
    config = T.CLIPTextConfig(vocab_size=120, eos_token_id=119, bos_token_id=118, max_position_embeddings=20, **TINY)
    ids = tokens(118, 9)
    ids[0, 7] = 119
    return Outputs(T.CLIPTextModel(config), ["input_ids"], return_dict=False), {"input_ids": ids}


@network("hf_wav2vec2")
def _():
    config = T.Wav2Vec2Config(vocab_size=20, conv_dim=(32, 32, 32), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3),
                              num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, **TINY)
    return Outputs(T.Wav2Vec2ForCTC(config), ["input_values"], first, return_dict=False), {"input_values": torch.randn(1, 2000)}


@network("hf_conformer")
def _():
    config = T.Wav2Vec2ConformerConfig(vocab_size=20, conv_dim=(32, 32), conv_stride=(5, 4), conv_kernel=(10, 3), num_feat_extract_layers=2,
                                       num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, conv_depthwise_kernel_size=5,
                                       position_embeddings_type="rotary", **TINY)
    return Outputs(T.Wav2Vec2ConformerForCTC(config), ["input_values"], first, return_dict=False), {"input_values": torch.randn(1, 1000)}


# ---- diffusers ------------------------------------------------------------------------------------------------------

@network("diffusers_unet_conditional")
def _():
    from diffusers import UNet2DConditionModel
    module = UNet2DConditionModel(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8,
                                  down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                  up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=32, attention_head_dim=4)
    inputs = {"sample": torch.randn(2, 4, 16, 16), "timestep": torch.tensor([7, 500]), "encoder_hidden_states": torch.randn(2, 5, 32)}
    return Outputs(module, list(inputs), first, return_dict=False), inputs


@network("diffusers_vae_decoder")
def _():
    from diffusers import AutoencoderKL
    module = AutoencoderKL(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, latent_channels=4,
                           down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
    return nn.Sequential(module.post_quant_conv, module.decoder), {"latent": torch.randn(1, 4, 16, 16)}


@network("diffusers_dit")
def _():
    from diffusers import DiTTransformer2DModel
    module = DiTTransformer2DModel(num_attention_heads=4, attention_head_dim=8, in_channels=4, out_channels=8, num_layers=2, sample_size=8,
                                   num_embeds_ada_norm=10, norm_num_groups=4)
    inputs = {"hidden_states": torch.randn(2, 4, 8, 8), "timestep": torch.tensor([3, 700]), "class_labels": torch.tensor([1, 4])}
    return Outputs(module, list(inputs), first, return_dict=False), inputs


# What export.py quantizes too, statically and dynamically.
QUANTIZED = ["tv_mobilenet_v3_small", "tv_shufflenet_v2_x0_5", "tv_densenet121", "tv_squeezenet1_1", "tv_googlenet",
             "tv_mnasnet0_5", "tv_regnet_x_400mf", "tv_efficientnet_b0", "timm_skresnet18", "hf_bert", "hf_distilbert", "hf_gpt2",
             "hf_vit", "torch_speech_lstm"]
