"""What the modules of the zoo's networks share: where they are registered, and inputs and outputs of the usual kinds."""
import torch
from torch import nn

NETWORKS = {}


def network(name):
    def add(make):
        assert name not in NETWORKS, name
        NETWORKS[name] = make
        return make
    return add


def image(size, batch=1):
    return {"image": torch.randn(batch, 3, size, size)}


def tokens(vocabulary, length, batch=1):
    return torch.randint(3, vocabulary, (batch, length))


class Outputs(nn.Module):
    """Calls `module` with keyword arguments in the order of `names`; keeps the tensors of its result."""

    def __init__(self, module, names, pick=None, **fixed):
        super().__init__()
        self.module, self.names, self.pick, self.fixed = module, names, pick, fixed

    def forward(self, *args):
        result = self.module(**dict(zip(self.names, args)), **self.fixed)
        return self.pick(result) if self.pick else result
