#!/usr/bin/env python3
"""Makes the model of costs that korch ships: exports networks, measures some kernels of each, and trains.

    PYTHON bench/train_costs.py [--folder build/costs] [--korch FILE] [--targets native,x86-64-v3] [--kernels 100] [--seed 1]
        [--lightgbm FILE] [--output src/korch/estimate/cpu_costs.json]

PYTHON has torch, torchvision, timm, transformers, onnx and lightgbm. Nothing else should run: costs are measured, about six seconds a
network and target. What is there is not made again: FOLDER/networks has the exports, FOLDER/TARGET.db the costs. Another seed adds
other kernels. Networks of HELD_OUT are measured by nobody: what plans by estimates are worth is tried on them
(bench/measure_modes.py FOLDER/held_out/*.onnx).
"""
import argparse
import os
import subprocess
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMM = """
resnet18 resnext50_32x4d densenet121 mobilenetv3_small_100 mobilenetv3_large_100 mnasnet_100 efficientnet_b0 efficientnet_b2
efficientnetv2_rw_t regnetx_016 regnety_008 ghostnet_100 convnext_atto convnextv2_nano swin_tiny_patch4_window7_224
deit_tiny_patch16_224 vit_small_patch32_224 mixer_s32_224 gmlp_s16_224 resmlp_12_224 poolformer_s12 pvt_v2_b0 levit_128s mobilevit_xs
coat_lite_tiny cait_xxs24_224 tnt_s_patch16_224 fastvit_t8 edgenext_x_small repvgg_a0 hrnet_w18_small dla34 inception_v3 xception41
efficientformer_l1 mobileone_s0 hardcorenas_a lcnet_050 tinynet_e visformer_tiny res2net50_26w_4s skresnet18 cspdarknet53
ese_vovnet19b_dw rexnet_100 botnet26t_256 eva02_tiny_patch14_224 vgg11 selecsls42 mobilenetv4_conv_small
""".split()
HELD_OUT = """
crossvit_9_240 nf_resnet26 resnest14d twins_pcpvt_small efficientvit_b0 repghostnet_050 hgnet_tiny dpn48b mobilenetv2_050 shvit_s1
gcresnext26ts inception_next_atto nest_tiny starnet_s1 efficientvit_m2
""".split()
BUNDLED = """
mobilenet_v2_224 resnet50_224 candy_224 bert_base_128 vit_b_16_224 llama_like_4l_128 yolox_nano_416 efficientvit_512 unet_like_32
segformer_b0_512 yolov4_416 yolox_nano_416_b16 efficientvit_2048
""".split()


def timm_network(name):
    import timm
    import torch
    module = timm.create_model(name, pretrained=False)
    return module, (torch.randn(1, 3, *module.default_cfg.get("input_size", (3, 224, 224))[1:]),)


def others():
    """{name: a function that gives a module and its inputs}: transformers of small widths, and layers by themselves."""
    import torch
    import torchvision
    import transformers as t
    nn = torch.nn
    few = dict(vocab_size=500)

    def words(module, n, length):
        return module, (torch.randint(0, 90, (n, length)),)

    def picture(module, n, size):
        return module, (torch.randn(n, 3, size, size),)

    models, segmentation = torchvision.models, torchvision.models.segmentation
    return {
        "bert": lambda: words(t.BertModel(t.BertConfig(
            hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=1024, **few)), 1, 96),
        "distilbert": lambda: words(t.DistilBertModel(t.DistilBertConfig(n_layers=2, dim=384, hidden_dim=1536, n_heads=6, **few)), 2, 128),
        "albert": lambda: words(t.AlbertModel(t.AlbertConfig(
            hidden_size=312, num_attention_heads=12, intermediate_size=1248, num_hidden_layers=2, embedding_size=128, **few)), 1, 40),
        "t5": lambda: words(t.T5EncoderModel(t.T5Config(d_model=256, d_kv=64, d_ff=1024, num_layers=2, num_heads=4, **few)), 1, 72),
        "roberta": lambda: words(t.RobertaModel(t.RobertaConfig(
            hidden_size=768, num_hidden_layers=1, num_attention_heads=12, intermediate_size=3072, **few)), 1, 200),
        "mobilebert": lambda: words(t.MobileBertModel(t.MobileBertConfig(num_hidden_layers=2, **few)), 1, 64),
        "squeezebert": lambda: words(t.SqueezeBertModel(t.SqueezeBertConfig(
            num_hidden_layers=2, hidden_size=384, embedding_size=384, num_attention_heads=6, intermediate_size=1024, **few)), 1, 96),
        "whisper": lambda: (t.WhisperModel(t.WhisperConfig(
            d_model=256, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=1024,
            decoder_ffn_dim=512, max_source_positions=400, vocab_size=60000)).encoder, (torch.randn(1, 80, 800),)),
        "wav2vec2": lambda: (t.Wav2Vec2Model(t.Wav2Vec2Config(
            hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=1024, conv_dim=(128,) * 7,
            num_conv_pos_embeddings=32, num_conv_pos_embedding_groups=8, vocab_size=40)), (torch.randn(1, 16000),)),
        "shufflenet": lambda: picture(models.shufflenet_v2_x1_0(weights=None), 1, 224),
        "squeezenet": lambda: picture(models.squeezenet1_1(weights=None), 1, 224),
        "googlenet": lambda: picture(models.googlenet(weights=None, aux_logits=False, init_weights=False), 1, 224),
        "mnasnet_b4": lambda: picture(models.mnasnet0_5(weights=None), 4, 160),
        "lraspp": lambda: picture(segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None), 1, 256),
        "deeplab": lambda: picture(segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None), 1, 192),
        "lstm": lambda: (nn.LSTM(128, 192, 2, batch_first=True), (torch.randn(1, 60, 128),)),
        "mlp": lambda: (nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.LayerNorm(512), nn.Tanh()),
                        (torch.randn(32, 512),)),
        "signal": lambda: (nn.Sequential(
            nn.Conv1d(32, 64, 5, padding=2), nn.SiLU(), nn.Conv1d(64, 64, 7, padding=3, groups=64), nn.GroupNorm(8, 64),
            nn.ConvTranspose1d(64, 32, 4, stride=2, padding=1), nn.Softmax(-1)), (torch.randn(2, 32, 400),)),
    }


def tensors(result):
    import torch
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    return [tensor for part in result for tensor in tensors(part)] if isinstance(result, (list, tuple)) else []


def export(make, path):
    """False where PyTorch does not export it."""
    import torch

    class Outputs(torch.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def forward(self, *inputs):
            return tuple(tensors(self.module(*inputs)))[:2]

    if os.path.exists(path):
        return True
    try:
        module, inputs = make()
        with torch.no_grad():
            torch.onnx.export(Outputs(module).eval(), inputs, path + ".part", dynamo=False, opset_version=17)
    except Exception as error:
        print("%s: not exported: %s" % (path, str(error).splitlines()[0][:150]), file=sys.stderr)
        return False
    os.rename(path + ".part", path)
    return True


def exported(folder, makers):
    os.makedirs(folder, exist_ok=True)
    paths = {name: os.path.join(folder, name + ".onnx") for name in makers}
    return [paths[name] for name, make in makers.items() if export(make, paths[name])]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=os.path.join(ROOT, "build/costs"))
    p.add_argument("--korch", default=os.path.join(ROOT, "build/release/tools/korch"))
    p.add_argument("--targets", default="native,x86-64-v3")
    p.add_argument("--kernels", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--lightgbm", default="")
    p.add_argument("--output", default=os.path.join(ROOT, "src/korch/estimate/cpu_costs.json"))
    args = p.parse_args()
    warnings.filterwarnings("ignore")
    by_timm = lambda names: {name: (lambda name=name: timm_network(name)) for name in names}
    networks = exported(os.path.join(args.folder, "networks"), {**others(), **by_timm(TIMM)})
    exported(os.path.join(args.folder, "held_out"), by_timm(HELD_OUT))
    for name in BUNDLED:
        path = os.path.join(args.folder, "networks", name + ".onnx")
        if not os.path.exists(path):
            subprocess.run([args.korch, "model", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
        networks.append(path)
    database = os.path.join(args.folder, "all.db")
    for target in args.targets.split(","):
        own = os.path.join(args.folder, target + ".db")
        for path in networks:
            subprocess.run([args.korch, "costs", "measure", path, "--kernels", str(args.kernels), "--seed", str(args.seed), "--target",
                            target, "--profile-db", own], check=True)
        rows = os.path.join(args.folder, target + ".costs")
        subprocess.run([args.korch, "costs", "export", rows, "--profile-db", own], check=True)
        subprocess.run([args.korch, "costs", "import", rows, "--profile-db", database], check=True)
    words = ["--lightgbm", args.lightgbm] if args.lightgbm else []
    subprocess.run([args.korch, "costs", "train", args.output, "--profile-db", database, *words], check=True)


if __name__ == "__main__":
    main()
