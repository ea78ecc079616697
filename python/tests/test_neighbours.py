"""Other packages in the same process: korch's libraries must not meet theirs."""

import os
import re
import subprocess
import sys
import unittest
from importlib.util import find_spec

import korch
import korch._korch

TESTS = os.path.dirname(os.path.abspath(__file__))
ORDERS = ("import {0}; import korch", "import korch; import {0}")


def run(script):
    return subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=TESTS
    )


class NeighboursTest(unittest.TestCase):
    def expect_done(self, script):
        result = run(script)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1:]), (0, ["done"]), result.stdout)

    def test_the_module_needs_what_every_machine_has(self):
        dynamic = subprocess.run(
            ["readelf", "-dW", korch._korch.__file__], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
        system = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"}
        for name in set(needed) - system:
            self.assertTrue(os.path.exists(os.path.join(os.path.dirname(korch.__file__), name)), name)

    def test_the_module_shows_its_entry_alone(self):
        symbols = subprocess.run(
            ["nm", "-D", "--defined-only", "--extern-only", korch._korch.__file__],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["PyInit__korch"])

    def test_stubs_are_there(self):
        folder = os.path.dirname(korch.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        with open(os.path.join(folder, "_korch.pyi")) as stub:
            self.assertIn("class Network:", stub.read())

    def test_every_public_name_is_documented(self):
        for name in korch.__all__:
            thing = getattr(korch, name)
            self.assertTrue(thing.__doc__, name)
            self.assertEqual(thing.__module__, "korch")
            members = vars(thing).items() if isinstance(thing, type) else ()
            for member, value in members:
                if not member.startswith("_") and (callable(value) or hasattr(value, "__get__")):
                    self.assertTrue(value.__doc__, f"{name}.{member}")

    @unittest.skipUnless(find_spec("onnx"), "onnx is not installed")
    def test_onnx(self):
        for order in ORDERS:
            with self.subTest(order):
                self.expect_done(
                    order.format("onnx") + "\n"
                    "import builder, numpy as np\n"
                    "model = onnx.load_from_string(builder.double())\n"
                    "onnx.checker.check_model(model)\n"
                    "with korch.compile(model, measure=False, database=None) as executable:\n"
                    "    x = np.ones((4, 6), np.float32)\n"
                    "    assert (executable(x) == 2).all()\n"
                    "    executable.verify(model)\n"
                    "onnx.checker.check_model(model)\n"
                    "print('done')\n"
                )

    @unittest.skipUnless(find_spec("torch") and find_spec("onnx"), "torch and onnx are not installed")
    def test_torch(self):
        for order in ORDERS:
            with self.subTest(order):
                self.expect_done(
                    order.format("torch") + "\n"
                    "module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Dropout(0.5))\n"
                    "x = torch.randn(2, 3, 9, 9)\n"
                    "executable = korch.compile(module, inputs=(x,), measure=False, database=None)\n"
                    "assert module.training\n"
                    "y = executable(x)\n"
                    "module.eval()\n"
                    "with torch.no_grad():\n"
                    "    expected = module(x)\n"
                    "torch.testing.assert_close(torch.from_numpy(y), expected)\n"
                    "out = torch.empty_like(expected)\n"
                    "assert executable(x.permute(0, 1, 3, 2).contiguous().permute(0, 1, 3, 2), out=out) is out\n"
                    "torch.testing.assert_close(out, expected)\n"
                    "for bad, why in ((x.double(), 'f64'), (x[:1], '1x3x9x9'),\n"
                    "                 (torch.empty(2, 3, 9, 9, device='meta'), 'memory')):\n"
                    "    try:\n"
                    "        executable(bad)\n"
                    "        raise SystemExit(f'not refused: {why}')\n"
                    "    except korch.InvalidInput as error:\n"
                    "        assert why in str(error), error\n"
                    "try:\n"
                    "    korch.compile(module)\n"
                    "except korch.UsageError as error:\n"
                    "    assert 'example inputs' in str(error), error\n"
                    "class Odd(torch.nn.Module):\n"
                    "    def forward(self, x):\n"
                    "        return torch.linalg.eigvals(x).real\n"
                    "try:\n"
                    "    korch.compile(Odd(), inputs=x, measure=False, database=None)\n"
                    "    raise SystemExit('not refused')\n"
                    "except (korch.InvalidModel, korch.Unsupported):\n"
                    "    pass\n"
                    "print('done')\n"
                )

    def test_torch_is_not_imported(self):
        self.expect_done(
            "import sys, builder, korch\n"
            "korch.compile(builder.double(), measure=False, database=None).close()\n"
            "assert 'torch' not in sys.modules and 'onnx' not in sys.modules\n"
            "print('done')\n"
        )


if __name__ == "__main__":
    unittest.main()
