"""What the tests of the torch.compile backend share."""

import logging
import re
import unittest
from importlib.util import find_spec
from unittest import mock

if not (find_spec("torch") and find_spec("onnxscript")):
    raise unittest.SkipTest("torch and onnxscript are not installed")

import torch
from torch import nn
from torch.nn import functional as F

QUICK = {"measure": False, "database": None, "cache": None}


def compiled(function, dynamic=None, **options):
    return torch.compile(function, backend="korch", dynamic=dynamic, options={**QUICK, **options})


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.last = nn.Linear(4, 5)

    def forward(self, x):
        return self.last(F.relu(self.norm(self.conv(x))).mean((2, 3)))


class TorchTest(unittest.TestCase):
    """With the lines that korch logged since the last look at them."""

    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.image = torch.randn(2, 3, 8, 8)
        self._lines = []
        handler = logging.Handler()
        handler.emit = lambda record: self._lines.append((record.levelno, record.getMessage()))
        log = logging.getLogger("korch")
        for name, value in (("level", logging.INFO), ("propagate", False), ("handlers", [handler])):
            patch = mock.patch.object(log, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        log.manager._clear_cache()

    def logged(self, level=logging.WARNING):
        lines = [text for severity, text in self._lines if severity >= level]
        self._lines.clear()
        return lines

    def compilations(self):
        """Of (operators in executables, operators, executables, executables that were kept)."""
        found = [re.match(r"(\d+) of (\d+) operators are in (\d+) .*?(\d+) of them", t) for t in self.logged(0)]
        return [tuple(map(int, match.groups())) for match in found if match]

    def expect_same(self, got, expected, **tolerance):
        torch.testing.assert_close(got, expected, equal_nan=True, **tolerance)
        for one, other in zip(torch.utils._pytree.tree_leaves(got), torch.utils._pytree.tree_leaves(expected)):
            if isinstance(other, torch.Tensor):
                self.assertEqual(one.stride(), other.stride())

    def expect_right(self, net, run, *inputs):
        with torch.no_grad():
            self.expect_same(run(*inputs), net(*inputs), rtol=1e-4, atol=1e-5)
