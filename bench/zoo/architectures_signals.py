"""Architectures of images, speech, series and several of them together, for architectures.py."""
import torch
import torchvision
import timm
import transformers as T
from torch import nn

from architectures import BATCH, SEQ2SEQ, SMALL, WORDS, architecture, by_position, first, leaves, masked, model_of, speech, text, vision, words

# ---- speech and sound --------------------------------------------------------------------------------------------------------

CONVOLVED = dict(SMALL, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3), num_feat_extract_layers=3,
                 num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
speech("hubert", "HubertForCTC", "HubertConfig", **CONVOLVED)
speech("wavlm", "WavLMForCTC", "WavLMConfig", **CONVOLVED)
speech("unispeech", "UniSpeechForCTC", "UniSpeechConfig", **CONVOLVED)
speech("sew", "SEWForCTC", "SEWConfig", squeeze_factor=2, **CONVOLVED)
speech("sew_d", "SEWDForCTC", "SEWDConfig", squeeze_factor=2, position_buckets=8, max_position_embeddings=64, **CONVOLVED)
speech("data2vec_audio", "Data2VecAudioForCTC", "Data2VecAudioConfig", conv_pos_kernel_size=5,
       **{k: v for k, v in CONVOLVED.items() if "pos_embedding" not in k})


def frames(name, model, config, width, key="input_features", length=(16, 40, 64), pick=first, part=None, **options):
    def make():
        module = model_of(model, config, options, {})
        return part(module) if part else module
    architecture(name, make, lambda N, T: {key: torch.randn(N, T, width)}, dict(N=BATCH, T=length), pick)


frames("wav2vec2_bert", "Wav2Vec2BertForCTC", "Wav2Vec2BertConfig", 20, feature_projection_input_dim=20, conv_depthwise_kernel_size=5,
       position_embeddings_type="relative_key", left_max_position_embeddings=8, right_max_position_embeddings=4, **SMALL)
frames("speech_to_text_encoder", "Speech2TextModel", "Speech2TextConfig", 20, part=lambda m: m.get_encoder(), input_feat_per_channel=20,
       num_conv_layers=2, conv_channels=16, max_source_positions=100, **SEQ2SEQ)
frames("speecht5_hifigan", "SpeechT5HifiGan", "SpeechT5HifiGanConfig", 16, "spectrogram", model_in_dim=16, upsample_initial_channel=16,
       upsample_rates=[4, 2], upsample_kernel_sizes=[8, 4], resblock_kernel_sizes=[3, 5], resblock_dilation_sizes=[[1, 3], [1, 3]])
frames("audio_spectrogram_transformer", "ASTModel", "ASTConfig", 32, "input_values", max_length=48, num_mel_bins=32, patch_size=8,
       frequency_stride=6, time_stride=6, length=(48, 48, 48), **SMALL)
frames("parakeet_encoder", "ParakeetEncoder", "ParakeetEncoderConfig", 32, num_mel_bins=32, subsampling_conv_channels=16, conv_kernel_size=5,
       num_key_value_heads=4, **SMALL)
text("fastspeech2_conformer", "FastSpeech2ConformerModel", "FastSpeech2ConformerConfig", base={}, mask=True, pick=lambda r: [r.spectrogram],
     vocab_size=WORDS, hidden_size=32, num_mel_bins=16, encoder_layers=1, decoder_layers=1, encoder_linear_units=48, decoder_linear_units=48,
     speech_decoder_postnet_layers=2, speech_decoder_postnet_units=16, duration_predictor_channels=16, energy_predictor_channels=16,
     pitch_predictor_channels=16, pitch_predictor_layers=2, decoder_kernel_size=5)
text("vits", "VitsModel", "VitsConfig", base={}, pick=lambda r: [r.waveform], vocab_size=WORDS, hidden_size=32, num_hidden_layers=1,
     num_attention_heads=2, ffn_dim=48, flow_size=32, spectrogram_bins=33, upsample_initial_channel=16, upsample_rates=[4, 2],
     upsample_kernel_sizes=[8, 4], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3]], duration_predictor_num_flows=1,
     duration_predictor_filter_channels=16, prior_encoder_num_flows=1, prior_encoder_num_wavenet_layers=1, posterior_encoder_num_wavenet_layers=1,
     depth_separable_num_layers=1, noise_scale=0.0, noise_scale_duration=0.0, use_stochastic_duration_prediction=False)


def wave(name, model, config, call, length, pick=leaves, key="input_values", **options):
    architecture(name, lambda: model_of(model, config, options, {}), lambda N, T: {key: torch.randn(N, 1, T)}, dict(N=BATCH, T=length), pick, call)


ENCODEC = dict(hidden_size=16, num_filters=4, upsampling_ratios=[4, 2], codebook_size=32, target_bandwidths=[6.0], sampling_rate=800, kernel_size=5,
               num_lstm_layers=1)
wave("encodec_encode", "EncodecModel", "EncodecConfig", lambda m, i: m.encode(i["input_values"])[0], (200, 400, 800), **ENCODEC)
wave("encodec", "EncodecModel", "EncodecConfig", lambda m, i: m(i["input_values"]).audio_values, (200, 400, 800), **ENCODEC)
MIMI = dict(hidden_size=16, num_filters=4, upsampling_ratios=[4, 2], codebook_size=32, codebook_dim=8, num_quantizers=3, frame_rate=50.0,
            sampling_rate=800, vector_quantization_hidden_dimension=8, upsample_groups=16, num_hidden_layers=1, intermediate_size=32,
            num_attention_heads=2, num_key_value_heads=2, head_dim=8, sliding_window=8)
wave("mimi_encode", "MimiModel", "MimiConfig", lambda m, i: m.encode(i["input_values"]).audio_codes, (256, 512, 768), **MIMI)
wave("mimi", "MimiModel", "MimiConfig", lambda m, i: m(i["input_values"]).audio_values, (256, 512, 768), **MIMI)
DAC = dict(encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_hidden_size=32, upsampling_ratios=[4, 2], n_codebooks=2, codebook_size=16,
           codebook_dim=4)
wave("dac_encode", "DacModel", "DacConfig", lambda m, i: m.encode(i["input_values"]).audio_codes, (128, 256, 512), **DAC)
wave("dac", "DacModel", "DacConfig", lambda m, i: m(i["input_values"]).audio_values, (128, 256, 512), **DAC)
architecture("mimi_decode", lambda: model_of("MimiModel", "MimiConfig", MIMI, {}), lambda N, L: {"codes": torch.randint(0, 32, (N, 3, L))},
             dict(N=BATCH, L=(4, 10, 16)), leaves, lambda m, i: m.decode(i["codes"]))
architecture("encodec_decode", lambda: model_of("EncodecModel", "EncodecConfig", ENCODEC, {}),
             lambda N, L: {"codes": torch.randint(0, 32, (1, N, 2, L))}, dict(N=BATCH, L=(4, 10, 16)), leaves,
             lambda m, i: m.decode(i["codes"], [None]))

# ---- images ------------------------------------------------------------------------------------------------------------------

VIT = dict(SMALL, image_size=32, patch_size=8)
RESNET = T.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic",
                        out_features=["stage2", "stage3", "stage4"])
SWIN = T.SwinConfig(image_size=64, patch_size=4, embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4], window_size=4,
                    out_features=["stage1", "stage2", "stage3", "stage4"])
DETR = dict(backbone_config=RESNET, d_model=32, encoder_layers=1, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=7, num_labels=3)


def boxes(result):
    return [result.logits, result.pred_boxes]


vision("deformable_detr", "DeformableDetrForObjectDetection", "DeformableDetrConfig", pick=boxes, num_feature_levels=3, **DETR)
vision("deformable_detr_two_stage", "DeformableDetrForObjectDetection", "DeformableDetrConfig", pick=boxes, num_feature_levels=3, two_stage=True,
       with_box_refine=True, two_stage_num_proposals=7, **DETR)
vision("conditional_detr", "ConditionalDetrForObjectDetection", "ConditionalDetrConfig", pick=boxes, **DETR)
vision("dab_detr", "DabDetrForObjectDetection", "DabDetrConfig", pick=boxes, **{**DETR, "hidden_size": 32})
vision("table_transformer", "TableTransformerForObjectDetection", "TableTransformerConfig", pick=boxes, **DETR)
RT = dict(d_model=32, encoder_hidden_dim=32, encoder_in_channels=[16, 24, 32], feat_strides=[8, 16, 32], encoder_layers=1, encoder_ffn_dim=48,
          encoder_attention_heads=4, encode_proj_layers=[2], decoder_in_channels=[32, 32, 32], decoder_ffn_dim=48, decoder_layers=2,
          decoder_attention_heads=4, num_queries=7, num_labels=3, num_denoising=0, anchor_image_size=None, eval_size=None)
RT_RESNET = dict(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic",
                 out_features=["stage2", "stage3", "stage4"])
for name in ("RTDetr", "RTDetrV2"):
    architecture(name.lower(), lambda name=name: model_of(name + "ForObjectDetection", name + "Config", dict(
        RT, backbone_config=T.RTDetrResNetConfig(**RT_RESNET)), {}), lambda N: {"pixel_values": torch.randn(N, 3, 64, 64)}, dict(N=BATCH), boxes)
architecture("d_fine", lambda: model_of("DFineForObjectDetection", "DFineConfig", dict(
    RT, backbone_config=T.HGNetV2Config(stem_channels=[3, 8, 8], stage_in_channels=[8, 8, 16, 24], stage_mid_channels=[8, 8, 8, 8],
        stage_out_channels=[8, 16, 24, 32], stage_num_blocks=[1, 1, 1, 1], stage_numb_of_layers=[1, 1, 1, 1],
        stage_downsample=[False, True, True, True], stage_light_block=[False, False, True, True], stage_kernel_size=[3, 3, 5, 5],
        hidden_sizes=[8, 16, 24, 32], out_features=["stage2", "stage3", "stage4"])), {}),
    lambda N: {"pixel_values": torch.randn(N, 3, 64, 64)}, dict(N=BATCH), boxes)
vision("mask2former", "Mask2FormerModel", "Mask2FormerConfig",
       pick=lambda r: [r.transformer_decoder_last_hidden_state, r.masks_queries_logits[-1]], backbone_config=SWIN, feature_size=32, mask_feature_size=32, hidden_dim=32,
       encoder_feedforward_dim=48, encoder_layers=1, decoder_layers=2, num_attention_heads=4, dim_feedforward=48, num_queries=5, num_labels=3)
vision("maskformer", "MaskFormerModel", "MaskFormerConfig", pick=lambda r: [r.pixel_decoder_last_hidden_state, r.transformer_decoder_last_hidden_state],
       backbone_config=SWIN, fpn_feature_size=32, mask_feature_size=32, num_labels=3,
       decoder_config=T.DetrConfig(d_model=32, encoder_layers=0, decoder_layers=1, decoder_attention_heads=4, decoder_ffn_dim=48, num_queries=5))
architecture("oneformer", lambda: model_of("OneFormerModel", "OneFormerConfig", dict(
    backbone_config=SWIN, num_queries=5, num_labels=3, task_seq_len=8, text_encoder_width=16, text_encoder_context_length=8, text_encoder_num_layers=1,
    text_encoder_vocab_size=99, text_encoder_n_ctx=2, conv_dim=32, mask_dim=32, hidden_dim=32, encoder_feedforward_dim=48, encoder_layers=1,
    decoder_layers=3, num_attention_heads=4, dim_feedforward=48, query_dec_layers=1), {}),
    lambda N: {"pixel_values": torch.randn(N, 3, 64, 64), "task_inputs": torch.randint(1, 99, (N, 8)).float()}, dict(N=BATCH),
    lambda r: [r.transformer_decoder_class_predictions, r.transformer_decoder_mask_predictions])
architecture("seggpt", lambda: model_of("SegGptForImageSegmentation", "SegGptConfig", dict(
    SMALL, image_size=[64, 32], patch_size=8, pretrain_image_size=32, decoder_hidden_size=8, merge_index=0, intermediate_hidden_state_indices=[0, 1],
    mlp_dim=48), {}), lambda N: {k: torch.randn(N, 3, 32, 32) for k in ("pixel_values", "prompt_pixel_values", "prompt_masks")}, dict(N=BATCH),
    lambda r: [r.pred_masks])
vision("superpoint", "SuperPointForKeypointDetection", "SuperPointConfig", batch=(1, 1, 1), encoder_hidden_sizes=[8, 8, 16, 16],
       decoder_hidden_size=16, descriptor_decoder_dim=16, max_keypoints=20)
vision("vitpose", "VitPoseForPoseEstimation", "VitPoseConfig", size=32, pick=lambda r: [r.heatmaps], use_simple_decoder=True, num_labels=4,
       backbone_config=T.VitPoseBackboneConfig(image_size=[32, 32], patch_size=[8, 8], hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                               mlp_ratio=2, num_experts=1, out_features=["stage2"]))
vision("zoedepth", "ZoeDepthForDepthEstimation", "ZoeDepthConfig", size=32, pick=lambda r: [r.predicted_depth], neck_hidden_sizes=[8, 8, 16, 16],
       fusion_hidden_size=16, bottleneck_features=16, num_relative_features=8, bin_embedding_dim=8, num_attractors=[4, 2, 2, 1],
       backbone_config=T.BeitConfig(**dict(VIT, num_hidden_layers=4, out_features=["stage1", "stage2", "stage3", "stage4"], reshape_hidden_states=False,
                                           use_relative_position_bias=True)))
vision("depth_anything", "DepthAnythingForDepthEstimation", "DepthAnythingConfig", size=28, pick=lambda r: [r.predicted_depth],
       patch_size=7, neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=16, head_hidden_size=8, reassemble_hidden_size=32,
       backbone_config=T.Dinov2Config(image_size=28, patch_size=7, hidden_size=32, num_hidden_layers=4, num_attention_heads=4, mlp_ratio=2,
                                      out_features=["stage1", "stage2", "stage3", "stage4"], reshape_hidden_states=False))
vision("glpn", "GLPNForDepthEstimation", "GLPNConfig", pick=lambda r: [r.predicted_depth], depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32],
       num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16)
vision("swiftformer", "SwiftFormerForImageClassification", "SwiftFormerConfig", image_size=64, depths=[1, 1, 1, 1], embed_dims=[8, 16, 24, 32], num_labels=3)
vision("pvt", "PvtForImageClassification", "PvtConfig", image_size=64, depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], num_attention_heads=[1, 2, 2, 4],
       num_labels=3)
vision("cvt", "CvtForImageClassification", "CvtConfig", embed_dim=[8, 16, 32], depth=[1, 2, 3], num_heads=[1, 2, 4], num_labels=3)
vision("bit", "BitForImageClassification", "BitConfig", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_groups=4, num_labels=3,
       layer_type="preactivation")
vision("mobilenet_v1", "MobileNetV1ForImageClassification", "MobileNetV1Config", depth_multiplier=0.25, tf_padding=True, num_labels=3)
vision("mobilenet_v2_segmentation", "MobileNetV2ForSemanticSegmentation", "MobileNetV2Config", depth_multiplier=0.25, tf_padding=True, num_labels=3)
vision("textnet", "TextNetForImageClassification", "TextNetConfig", stem_num_channels=3, stem_out_channels=8, hidden_sizes=[8, 8, 16, 16, 24], num_labels=3)
vision("dinov3_vit", "DINOv3ViTModel", "DINOv3ViTConfig", size=32, num_register_tokens=2, **VIT)
vision("ijepa", "IJepaModel", "IJepaConfig", size=32, **VIT)
vision("beit_segmentation", "BeitForSemanticSegmentation", "BeitConfig", size=32, **dict(
    VIT, num_hidden_layers=4, out_indices=[1, 2, 3, 4], use_relative_position_bias=True, pool_scales=[1, 2], num_labels=3))
vision("vitdet", "VitDetModel", "VitDetConfig", size=64, image_size=64, pretrain_image_size=64, patch_size=8, hidden_size=32, num_hidden_layers=2,
       num_attention_heads=4, mlp_ratio=2, window_block_indices=[0], window_size=4, use_relative_position_embeddings=True, residual_block_indices=[1])
vision("siglip_vision", "SiglipVisionModel", "SiglipVisionConfig", size=32, **VIT)
vision("sam_vision", "SamVisionModel", "SamVisionConfig", size=64, hidden_size=32, output_channels=16, num_hidden_layers=2, num_attention_heads=4,
       image_size=64, patch_size=8, mlp_dim=48, window_size=3, global_attn_indexes=[1], num_pos_feats=8, use_rel_pos=True)
vision("mgp_str", "MgpstrForSceneTextRecognition", "MgpstrConfig", size=32, image_size=[32, 32], patch_size=8, hidden_size=32, num_hidden_layers=2,
       num_attention_heads=4, mlp_ratio=2.0, max_token_length=5, num_character_labels=9, num_bpe_labels=11, num_wordpiece_labels=13)
vision("hiera", "HieraModel", "HieraConfig", size=64, image_size=[64, 64], embed_dim=8, depths=[1, 1, 1], num_heads=[1, 2, 4],
       patch_kernel=[7, 7], patch_stride=[4, 4], patch_padding=[3, 3], query_stride=[2, 2], masked_unit_size=[4, 4], num_query_pool=2,
       embed_dim_multiplier=2.0, mlp_ratio=2.0)


def clip_of(name, model, config, frames=4, size=32, **options):
    architecture(name, lambda: model_of(model, config, options, {}), lambda N: {"pixel_values": torch.randn(N, frames, 3, size, size)}, dict(N=BATCH), first)


clip_of("videomae", "VideoMAEForVideoClassification", "VideoMAEConfig", num_frames=4, tubelet_size=2, **VIT)
clip_of("timesformer", "TimesformerForVideoClassification", "TimesformerConfig", num_frames=4, attention_type="divided_space_time", **VIT)
clip_of("vivit", "VivitForVideoClassification", "VivitConfig", num_frames=4, tubelet_size=[2, 8, 8], **VIT)

# ---- several kinds together -----------------------------------------------------------------------------------------------------

text("vilt", "ViltModel", "ViltConfig", max_position_embeddings=64, image_size=32, patch_size=8, max_image_length=-1,
     more=lambda N, L: {"pixel_values": torch.randn(N, 3, 32, 32)})
text("visual_bert", "VisualBertModel", "VisualBertConfig", max_position_embeddings=64, visual_embedding_dim=16,
     more=lambda N, L: {"visual_embeds": torch.randn(N, 5, 16), "visual_attention_mask": torch.ones(N, 5, dtype=torch.int64)})
text("lxmert", "LxmertModel", "LxmertConfig", base={k: v for k, v in SMALL.items() if k != "num_hidden_layers"}, l_layers=1, x_layers=1, r_layers=1,
     visual_feat_dim=16, max_position_embeddings=64, more=lambda N, L: {"visual_feats": torch.randn(N, 5, 16), "visual_pos": torch.rand(N, 5, 4)})
text("layoutlmv3", "LayoutLMv3Model", "LayoutLMv3Config", max_position_embeddings=64, max_2d_position_embeddings=64, coordinate_size=4, shape_size=8,
     input_size=32, patch_size=8, rel_pos_bins=8, rel_2d_pos_bins=8, max_rel_pos=16, max_rel_2d_pos=16, has_relative_attention_bias=True,
     has_spatial_attention_bias=True, more=lambda N, L: {"bbox": torch.randint(0, 30, (N, L, 1)).expand(N, L, 4).contiguous(),
                                                         "pixel_values": torch.randn(N, 3, 32, 32)})
text("clip", "CLIPModel", "CLIPConfig", base={}, pick=lambda r: [r.logits_per_image], text_config=dict(SMALL, max_position_embeddings=32),
     vision_config=VIT, projection_dim=16, more=lambda N, L: {"pixel_values": torch.randn(N, 3, 32, 32)})
text("clipseg", "CLIPSegForImageSegmentation", "CLIPSegConfig", base={}, pick=lambda r: [r.logits], text_config=dict(SMALL, max_position_embeddings=32),
     vision_config=VIT, projection_dim=16, reduce_dim=16, decoder_num_attention_heads=2, decoder_intermediate_size=32, extract_layers=[0, 1],
     conditional_layer=0, more=lambda N, L: {"pixel_values": torch.randn(N, 3, 32, 32)})
text("owlvit", "OwlViTForObjectDetection", "OwlViTConfig", base={}, pick=lambda r: [r.logits, r.pred_boxes], length=(6, 8, 10),
     text_config=dict(SMALL, max_position_embeddings=16), vision_config=VIT, projection_dim=32, mask=True,
     more=lambda N, L: {"pixel_values": torch.randn(N, 3, 32, 32)})
architecture("trocr", lambda: model_of("TrOCRForCausalLM", "TrOCRConfig", dict(
    vocab_size=WORDS, d_model=32, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=48, max_position_embeddings=64,
    cross_attention_hidden_size=16, use_cache=False), {}),
    lambda N, L, M: {"input_ids": words(N, L), "encoder_hidden_states": torch.randn(N, M, 16)}, dict(N=BATCH, L=(1, 6, 12), M=(4, 10, 16)), first)
architecture("perceiver", lambda: model_of("PerceiverModel", "PerceiverConfig", dict(
    num_latents=6, d_latents=16, d_model=24, num_blocks=2, num_self_attends_per_block=1, num_self_attention_heads=2, num_cross_attention_heads=2), {}),
    lambda N, L: {"inputs": torch.randn(N, L, 24), "attention_mask": masked(N, L)}, dict(N=BATCH, L=(4, 20, 40)), first)
architecture("decision_transformer", lambda: model_of("DecisionTransformerModel", "DecisionTransformerConfig", dict(
    state_dim=5, act_dim=3, hidden_size=32, n_layer=2, n_head=4, max_ep_len=40, n_positions=96), {}),
    lambda N, L: {"states": torch.randn(N, L, 5), "actions": torch.randn(N, L, 3), "returns_to_go": torch.randn(N, L, 1),
                  "timesteps": torch.arange(L).expand(N, L).contiguous(), "attention_mask": masked(N, L)}, dict(N=BATCH, L=(2, 6, 12)),
    lambda r: [r.state_preds, r.action_preds, r.return_preds])
architecture("sam_mask_decoder", lambda: model_of("SamModel", "SamConfig", dict(
    vision_config=dict(hidden_size=16, output_channels=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=8, mlp_dim=16,
                       window_size=2, global_attn_indexes=[0], num_pos_feats=8),
    prompt_encoder_config=dict(hidden_size=16, image_size=32, patch_size=8, image_embedding_size=4),
    mask_decoder_config=dict(hidden_size=16, mlp_dim=16, num_attention_heads=2, iou_head_hidden_dim=16)), {}),
    lambda N, P: {"image_embeddings": torch.randn(N, 16, 4, 4), "input_points": 32 * torch.rand(N, 1, P, 2),
                  "input_labels": torch.randint(0, 2, (N, 1, P))}, dict(N=BATCH, P=(1, 2, 5)), lambda r: [r.iou_scores, r.pred_masks])

# ---- series -----------------------------------------------------------------------------------------------------------------------


def series(name, model, config, length, channels, key="past_values", more=None, batch=BATCH, pick=first, **options):
    architecture(name, lambda: model_of(model, config, options, {}),
                 lambda N: {key: torch.randn(N, length, channels), **(more(N) if more else {})}, dict(N=batch), pick)


series("patchtst", "PatchTSTForPrediction", "PatchTSTConfig", 32, 3, num_input_channels=3, context_length=32, patch_length=8, patch_stride=4, d_model=16,
       num_hidden_layers=2, num_attention_heads=4, ffn_dim=32, prediction_length=6)
series("patchtst_channel", "PatchTSTForClassification", "PatchTSTConfig", 32, 3, num_input_channels=3, context_length=32, patch_length=8, patch_stride=8,
       d_model=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=32, num_targets=4, channel_attention=True, use_cls_token=True)
series("patchtsmixer", "PatchTSMixerForPrediction", "PatchTSMixerConfig", 32, 3, num_input_channels=3, context_length=32, patch_length=8, patch_stride=8,
       d_model=16, num_layers=2, prediction_length=6, mode="mix_channel", gated_attn=True)


def forecasting(name, past, context, **options):
    def inputs(N):
        return {"past_values": torch.randn(N, past), "past_time_features": torch.randn(N, past, 2), "past_observed_mask": torch.ones(N, past),
                "future_values": torch.randn(N, 4), "future_time_features": torch.randn(N, 4, 2)}
    architecture(name.lower(), lambda: model_of(name + "Model", name + "Config", dict(
        prediction_length=4, context_length=context, lags_sequence=[1, 2, 3], num_time_features=2, d_model=16, use_cache=False, **options), {}),
        inputs, dict(N=BATCH), first)


forecasting("TimeSeriesTransformer", 19, 16)
forecasting("Informer", 19, 16, sampling_factor=2)
forecasting("Autoformer", 19, 16, moving_average=5, label_length=4)
architecture("timesfm", lambda: model_of("TimesFmModel", "TimesFmConfig", dict(
    patch_length=8, context_length=32, horizon_length=8, num_hidden_layers=2, hidden_size=32, intermediate_size=32, head_dim=8, num_attention_heads=4), {}),
    lambda N: {"past_values": torch.randn(N, 32), "past_values_padding": torch.zeros(N, 32), "freq": torch.zeros(N, 1, dtype=torch.int64)}, dict(N=BATCH), first)

# ---- timm and torchvision -----------------------------------------------------------------------------------------------------------

for name, size, options in [
        ("vit_relpos_small_patch16_224", 64, dict(img_size=64, depth=2, embed_dim=48, num_heads=3)), ("convformer_s18", 64, {}),
        ("caformer_s18", 64, {}), ("nest_tiny", 64, dict(img_size=64)),
        ("nextvit_small", 64, {}), ("rdnet_tiny", 64, {}), ("tresnet_m", 64, dict(layers=(1, 1, 1, 1))), ("hardcorenas_a", 64, {}),
        ("legacy_xception", 96, {}), ("resnetrs50", 64, dict(layers=(1, 1, 1, 1))), ("bat_resnext26ts", 256, {}), ("eca_botnext26ts_256", 256, {}),
        ("vitamin_small_224", 64, dict(img_size=64)), ("efficientvit_b0", 64, {}), ("ghostnetv3_100", 64, {}), ("swiftformer_xs", 64, {}),
        ("shvit_s1", 128, {}), ("iformer_t", 64, {}), ("fasternet_t0", 64, {}), ("efficientvim_m1", 64, {}), ("lcnetv2_small", 64, {}),
        ("mobilenet_edgetpu_100", 64, {}), ("legacy_seresnext26_32x4d", 64, {}), ("swinv2_cr_tiny_ns_224", 64, dict(img_size=64, embed_dim=24, depths=(1, 1, 1, 1), num_heads=(1, 2, 3, 4))),
        ("csatv2", 64, {}), ("vit_base_r26_s32_224", 64, dict(img_size=64, depth=1, embed_dim=48, num_heads=3))]:
    architecture("timm_" + name, lambda name=name, options=options: timm.create_model(name, pretrained=False, num_classes=5, **options),
                 lambda N, size=size: {"image": torch.randn(N, 3, size, size)}, dict(N=BATCH), leaves, by_position)


def image_model(name, make, inputs, extents=None, pick=leaves):
    architecture("tv_" + name, make, inputs, extents or dict(N=BATCH), pick, by_position)


class RaftOfTwoUpdates(nn.Module):
    """RAFT with two updates of the flow."""

    def __init__(self):
        super().__init__()
        self.net = torchvision.models.optical_flow.raft_small(weights=None)

    def forward(self, one, two):
        return self.net(one, two, num_flow_updates=2)


image_model("raft_small", lambda: RaftOfTwoUpdates(),
            lambda N: {"one": torch.rand(N, 3, 128, 128), "two": torch.rand(N, 3, 128, 128)}, dict(N=(1, 1, 2)), lambda r: [r[-1]])
image_model("swin3d", lambda: torchvision.models.video.SwinTransformer3d(patch_size=[2, 4, 4], embed_dim=16, depths=[1, 1], num_heads=[2, 4],
            window_size=[2, 4, 4], num_classes=5), lambda N: {"clip": torch.randn(N, 3, 4, 32, 32)})
image_model("mc3_18", lambda: torchvision.models.video.mc3_18(weights=None, num_classes=5), lambda N: {"clip": torch.randn(N, 3, 4, 32, 32)})
image_model("deeplabv3_resnet50", lambda: torchvision.models.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None, num_classes=3),
            lambda N, H, W: {"image": torch.randn(N, 3, H, W)}, dict(N=(1, 1, 2), H=(48, 64, 96), W=(48, 64, 96)), lambda r: [r["out"]])
image_model("quantized_mobilenet_v2", lambda: torchvision.models.quantization.mobilenet_v2(weights=None, quantize=True),
            lambda N: {"image": torch.randn(N, 3, 64, 64)})
image_model("quantized_resnet18", lambda: torchvision.models.quantization.resnet18(weights=None, quantize=True),
            lambda N: {"image": torch.randn(N, 3, 64, 64)})
image_model("alexnet", lambda: torchvision.models.alexnet(weights=None, num_classes=5), lambda N: {"image": torch.randn(N, 3, 64, 64)})
