"""Networks of PyTorch's own layers: transformers, recurrent and convolutional ones, and programs with loops and conditions."""
import torch
from torch import nn

from registry import Outputs, network, tokens


@network("torch_encoder_sequence_first")
def _():
    layer = nn.TransformerEncoderLayer(64, 4, 128, activation="gelu")
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), {"src": torch.randn(12, 1, 64)}


@network("torch_decoder_sequence_first")
def _():
    layer = nn.TransformerDecoderLayer(64, 4, 128)
    module = Outputs(nn.TransformerDecoder(layer, 2), ["tgt", "memory"], tgt_is_causal=False)
    return module, {"tgt": torch.randn(7, 1, 64), "memory": torch.randn(12, 1, 64)}


class LstmTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.lstm = nn.LSTM(32, 24, num_layers=2, bidirectional=True)
        self.out = nn.Linear(48, 9)

    def forward(self, ids):
        return self.out(self.lstm(self.embedding(ids))[0])


@network("torch_lstm_tagger")
def _():
    return LstmTagger(), {"ids": tokens(100, 11)}


class Speech(nn.Module):
    """Convolutions in time, recurrent layers, a projection per frame (Deep Speech 2, Amodei et al. 2016)."""

    def __init__(self, cell):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(20, 32, 5, 2, 2), nn.BatchNorm1d(32), nn.Hardtanh(0, 20))
        self.cells = cell(32, 40, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(80, 29)

    def forward(self, frames):
        return self.out(self.cells(self.conv(frames).transpose(1, 2))[0]).log_softmax(-1)


for cell in (nn.GRU, nn.LSTM, nn.RNN):
    network("torch_speech_" + cell.__name__.lower())(lambda cell=cell: (Speech(cell), {"frames": torch.randn(2, 20, 50)}))


class Seq2Seq(nn.Module):
    """An encoder's state starts a decoder (Sutskever et al. 2014)."""

    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(60, 24), nn.Embedding(50, 24)
        self.encoder, self.decoder = nn.LSTM(24, 32, batch_first=True), nn.LSTM(24, 32, batch_first=True)
        self.out = nn.Linear(32, 50)

    def forward(self, source, target):
        return self.out(self.decoder(self.target(target), self.encoder(self.source(source))[1])[0])


@network("torch_seq2seq")
def _():
    return Seq2Seq(), {"source": tokens(60, 9), "target": tokens(50, 7)}


class Greedy(nn.Module):
    """Feeds each step's best token to the next one, in a loop of the exported program."""

    def __init__(self):
        super().__init__()
        self.embedding, self.cell, self.out = nn.Embedding(30, 16), nn.Linear(40, 24), nn.Linear(24, 30)

    def forward(self, start, state):
        token = start
        made = []
        for _ in range(12 * start.size(0)):
            state = torch.tanh(self.cell(torch.cat([self.embedding(token), state], 1)))
            scores = self.out(state)
            token = scores.argmax(1)
            made.append(scores)
        return torch.stack(made), token


@network("torch_script_greedy_decoder")
def _():
    return torch.jit.script(Greedy().eval()), {"start": torch.tensor([3]), "state": torch.randn(1, 24)}


class Newton(nn.Module):
    """Steps as long as the residual is large: how many depends on the data."""

    def forward(self, a):
        x = torch.ones_like(a)
        while bool((x * x - a).abs().max() > 1e-4):
            x = 0.5 * (x + a / x)
        return x


@network("torch_script_newton")
def _():
    return torch.jit.script(Newton()), {"a": torch.rand(40) + 0.5}


class TwoRates(nn.Module):
    """One of two networks, by an input (as voice activity detectors have it)."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Sequential(nn.Conv1d(1, 16, 16, 8, 4), nn.ReLU(), nn.Conv1d(16, 8, 3, padding=1))
        self.narrow = nn.Sequential(nn.Conv1d(1, 24, 16, 8, 4), nn.Tanh(), nn.Conv1d(24, 8, 5, padding=2))

    def forward(self, wave, rate):
        if bool(rate == 16000):
            y = self.wide(wave)
        else:
            y = self.narrow(wave)
        return y.sigmoid()


@network("torch_script_two_rates")
def _():
    return torch.jit.script(TwoRates().eval()), {"wave": torch.randn(1, 1, 512), "rate": torch.tensor(8000)}


class WaveNet(nn.Module):
    """Gated dilated 1-D convolutions with skips (van den Oord et al. 2016), without causality."""

    def __init__(self, channels=32):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.gates = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 3, padding=d, dilation=d) for d in (1, 2, 4, 8))
        self.mixes = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 1) for _ in self.gates)
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(channels, 16, 1))

    def forward(self, wave):
        x, skips = self.first(wave), 0
        for gate, mix in zip(self.gates, self.mixes):
            a, b = gate(x).chunk(2, 1)
            residual, skip = mix(torch.tanh(a) * torch.sigmoid(b)).chunk(2, 1)
            x, skips = x + residual, skips + skip
        return self.last(skips)


@network("torch_wavenet")
def _():
    return WaveNet(), {"wave": torch.randn(1, 1, 200)}


class SuperResolution(nn.Module):
    """Sub-pixel convolution (Shi et al. 2016)."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.PReLU(32), nn.Conv2d(32, 32, 3, padding=1), nn.PReLU(),
                                  nn.Conv2d(32, 9, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, x):
        return self.body(x)


@network("torch_espcn")
def _():
    return SuperResolution(), {"image": torch.randn(1, 1, 31, 40)}


@network("torch_dcgan_generator")
def _():
    layers, channels = [], [32, 64, 32, 16]
    for i in range(3):
        layers += [nn.ConvTranspose2d(channels[i], channels[i + 1], 4, 1 if i == 0 else 2, 0 if i == 0 else 1, bias=False),
                   nn.BatchNorm2d(channels[i + 1]), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh()), {"z": torch.randn(2, 32, 1, 1)}
