"""korch as a backend of torch.compile."""

import copy
import glob
import logging
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from importlib.util import find_spec
from unittest import mock

from torch_case import QUICK, Net, TorchTest, compiled  # skips the tests where PyTorch is missing

import korch
import torch
from torch import nn
from torch.nn import functional as F


class EntryTest(TorchTest):
    def test_pytorch_finds_it(self):
        self.assertIn("korch", torch._dynamo.list_backends())

    def test_wrong_options_are_refused(self):
        for given, message in (
            ({"options": {"treads": 1}}, "no option 'treads'; there are target, threads, "),
            ({"mode": "max-autotune"}, "no mode 'max-autotune'"),
            ({"options": {**QUICK, "accuracy": "lax"}}, "option accuracy: standard, strict, tf32, f16, bf16 or relaxed:ERROR, not 'lax'"),
        ):
            with self.subTest(given), self.assertRaisesRegex(Exception, message), torch.no_grad():
                torch._dynamo.reset()
                torch.compile(Net().eval(), backend="korch", **given)(self.image)

    def test_says_what_is_missing(self):
        from korch._torch import export

        for cached in (export._registry, export.decompositions):
            cached.cache_clear()
            self.addCleanup(cached.cache_clear)
        with mock.patch.dict(sys.modules, {"onnxscript": None}), torch.no_grad():
            with self.assertRaisesRegex(Exception, r"needs onnxscript: pip install 'korch\[torch\]'"):
                compiled(Net().eval())(self.image)


class NetworkTest(TorchTest):
    def expect_one_graph(self, net, *inputs, **tolerance):
        run = compiled(net)
        with torch.no_grad():
            self.expect_same(tuple(run(*inputs)), tuple(net(*inputs)), **tolerance)
        (inside, operators, executables, _), *others = self.compilations()
        self.assertEqual((executables, others), (1, []))
        self.assertGreaterEqual(inside / operators, 0.95)

    @unittest.skipUnless(find_spec("torchvision"), "torchvision is not installed")
    def test_resnet18(self):
        import torchvision

        net = torchvision.models.resnet18(weights=None).eval()
        self.expect_one_graph(net, torch.randn(1, 3, 32, 32), rtol=1e-3, atol=1e-4)

    @unittest.skipUnless(find_spec("transformers"), "transformers is not installed")
    def test_bert(self):
        import transformers

        config = transformers.BertConfig(
            hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=100
        )
        net = transformers.BertModel(config).eval()
        mask = torch.ones(2, 9, dtype=torch.int64)
        mask[1, 5:] = 0
        run = compiled(net)
        with torch.no_grad():
            words = torch.randint(0, 100, (2, 9))
            self.expect_same(tuple(run(words, mask).values()), tuple(net(words, mask).values()))
        (inside, operators, executables, _), *others = self.compilations()
        self.assertEqual((executables, others), (1, []))
        self.assertGreaterEqual(inside / operators, 0.95)

    def test_attention(self):
        """PyTorch's modules call fused operators for inference."""

        class Attentions(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
                self.gelu = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
                self.norm_first = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)

            def forward(self, x, later, padding):
                return (
                    *self.attention(x, x, x),
                    *self.attention(x, x, x, attn_mask=later, average_attn_weights=False),
                    *self.attention(x, x, x, key_padding_mask=padding),
                    self.attention(x, x, x, attn_mask=later, key_padding_mask=padding, need_weights=False)[0],
                    self.gelu(x),
                    self.norm_first(x, src_key_padding_mask=padding),
                )

        net = Attentions().eval()
        for parameter in net.parameters():
            nn.init.normal_(parameter, std=0.5)
        later = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
        padding = torch.tensor([[False] * 5, [False, False, True, True, True]])
        self.expect_one_graph(net, torch.randn(2, 5, 8), later, padding, rtol=1e-4, atol=1e-5)

    def test_operators_in_other_words(self):
        """What ONNX's forms would refuse or break up is inside all the same."""

        def compute(x, i):
            y = x.clone()
            y[:, :, 1:3] = 5
            return (
                torch.roll(y, (1, -2), (2, 3)),
                F.adaptive_avg_pool2d(x.to(memory_format=torch.channels_last), 1) + 1,
                x * (x > 0) + torch.tensor([1.0, 2.0, 3.0])[:, None, None],
                x[:, i],
            )

        run, i = compiled(compute), torch.tensor([2, 0])
        self.expect_right(compute, run, self.image, i)
        ((inside, operators, executables, _),) = self.compilations()
        self.assertEqual((inside, executables), (operators, 1))

    def test_control_flow_that_depends_on_data(self):
        class Branches(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.other = nn.Linear(4, 4), nn.Linear(4, 4)

            def forward(self, x):
                return self.one(x) if x.sum() > 0 else self.other(x) * 2

        net = Branches().eval()
        run = compiled(net)
        for x in (torch.ones(2, 4), -torch.ones(2, 4)):
            self.expect_right(net, run, x)
        self.assertEqual([made[2] for made in self.compilations()], [1, 1, 1])  # the sum, and each branch


class EagerTest(TorchTest):
    """What korch cannot do runs in eager mode, and a line says which operator and why."""

    def test_types_that_korch_lacks(self):
        def spectrum(x):
            return torch.fft.rfft(x * 2).abs() + 1

        self.expect_right(spectrum, compiled(spectrum), torch.randn(4, 8))
        (line,) = self.logged()
        self.assertRegex(line, r"in eager mode: aten\._fft_r2c\.default \(test_torch\.py:\d+\), aten\.abs.*complex64")

    def test_operators_without_a_form_in_onnx(self):
        def compute(x):
            return torch.linalg.eigvalsh(x[0, 0] + x[0, 0].t()), F.avg_pool2d(x, 2, divisor_override=3)

        self.expect_right(compute, compiled(compute), self.image)
        lines = sorted(self.logged())
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"aten\._linalg_eigh\.default.*torch\.onnx has no form")
        self.assertRegex(lines[1], r"aten\.avg_pool2d\.default.*forgets divisor_override")

    def test_arguments_without_a_form_in_onnx(self):
        """torch.onnx finds out late, and names the operator in a message."""
        from korch._torch import export

        convert = export._converted

        def without_cosine(part, inputs, dynamic_shapes):
            for node in part.graph.nodes:
                if node.target is torch.ops.aten.cos.default:
                    why = RuntimeError(f"No ONNX function found for {node.target!r}. Failure message: ...")
                    raise RuntimeError(f"Error when translating node {node.format_node()}. See the stack") from why
            return convert(part, inputs, dynamic_shapes)

        def compute(x):
            return (x + 1).cos() * 2

        with mock.patch.object(export, "_converted", without_cosine):
            self.expect_right(compute, compiled(compute), self.image)
        lines = self.logged(logging.INFO)
        self.assertRegex(lines[0], r"aten\.cos\.default \(test_torch\.py:\d+\): torch\.onnx has no form for it with such")
        self.assertRegex(lines[1], "2 of 3 operators")

    # For this one torch.onnx writes an element of what is no sequence.
    def test_operators_that_korch_refuses(self):
        def determinant(x):
            return torch.linalg.det(x + 1) * 2

        run = compiled(determinant)
        self.expect_right(determinant, run, torch.randn(3, 3))
        lines = self.logged(logging.INFO)
        self.assertRegex(lines[0], r"aten\._linalg_det\.default \(test_torch\.py:\d+\): korch refuses \w+")
        self.assertRegex(lines[1], "2 of 3 operators")

    def test_random_numbers_are_those_of_pytorch(self):
        def noisy(x):
            return F.dropout(x * 2, 0.5), x * 3 + torch.rand(4, 8)

        run, x, results = compiled(noisy), torch.ones(4, 8), []
        for function in (run, noisy):
            torch.manual_seed(7)
            with torch.no_grad():
                results.append(function(x))
        self.expect_same(*results)
        self.assertRegex("\n".join(self.logged()), "dropout.*draws random numbers")

    def test_a_recurrent_layer(self):
        net = nn.LSTM(4, 8, 2, bidirectional=True).eval()
        self.expect_right(net, compiled(net), torch.randn(5, 2, 4))  # PyTorch does not capture it
        self.assertEqual(self.logged(0), [])
        torch._dynamo.reset()
        with torch._dynamo.config.patch(allow_rnn=True):
            self.expect_right(net, compiled(net), torch.randn(5, 2, 4))
        self.assertRegex(self.logged()[0], "rnn_layer.* 4 times: torch.onnx has no form")

    def test_results_that_differ_are_noticed_by_the_first_call(self):
        from korch._torch import export

        net = nn.BatchNorm2d(3).train()  # torch.onnx's form of it does not train
        expected_net = copy.deepcopy(net)
        run = compiled(net)
        with mock.patch.object(export, "_TRAINING", ()), torch.no_grad():
            for _ in range(2):
                self.expect_same(run(self.image), expected_net(self.image))
        self.expect_same(dict(net.named_buffers()), dict(expected_net.named_buffers()))
        (line,) = self.logged()
        self.assertRegex(line, "batch_norm.*: an executable's results are not those of PyTorch")


class GradientTest(TorchTest):
    def test_gradients_are_those_of_pytorch(self):
        net = Net().train()
        expected_net = copy.deepcopy(net)
        run = compiled(net)
        for one, x in ((run, self.image), (expected_net, self.image.clone())):
            one(x).square().sum().backward()
        self.assertRegex(self.logged()[0], "eager mode: gradients are wanted.*torch.no_grad")
        self.expect_same([p.grad for p in net.parameters()], [p.grad for p in expected_net.parameters()])
        self.expect_same(dict(net.named_buffers()), dict(expected_net.named_buffers()))

    def test_gradients_of_inputs(self):
        net = Net().eval().requires_grad_(False)
        run = compiled(net)
        inputs = [self.image.clone().requires_grad_() for _ in range(2)]
        for function, x in zip((run, net), inputs):
            function(x).square().sum().backward()
        self.expect_same(inputs[0].grad, inputs[1].grad)
        self.logged()
        self.assertFalse(run(self.image).requires_grad)  # none are wanted here
        self.assertEqual(len(self.compilations()), 1)


class ShapeTest(TorchTest):
    def test_other_shapes(self):
        net = Net().eval()
        run = compiled(net)
        made = []
        for shape in ((2, 3, 8, 8), (4, 3, 9, 9), (5, 3, 7, 7), (4, 3, 9, 9)):
            self.expect_right(net, run, torch.randn(shape))
            made.append(sum("operators are in" in line for line in self.logged(0)))
        self.assertEqual(made, [1, 1, 0, 0])  # the second one for ranges

    def test_too_many_shapes(self):
        run = torch.compile(lambda x: x * 2, backend="korch", dynamic=True, options=QUICK)
        with torch._dynamo.config.patch(recompile_limit=2):
            for size in (3, 20, 100, 300, 30):
                self.expect_right(lambda x: x * 2, run, torch.randn(size))
        self.assertEqual(self.logged(), ["further shapes run in eager mode: a graph has executables for 2 already"])


class CacheTest(TorchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def kept(self, function, *inputs, **options):
        torch._dynamo.reset()
        self.logged()
        self.expect_right(function, compiled(function, **{"cache": self.cache, **options}), *inputs)
        return [made[3] for made in self.compilations()]

    def test_other_processes_find_executables(self):
        script = (
            "import logging, sys, torch\n"
            "logging.basicConfig(format='%(message)s')\n"
            "logging.getLogger('korch').setLevel(logging.INFO)\n"
            "net = torch.nn.Linear(4, 4, bias=False)\n"
            "options = {'measure': False, 'database': None, 'cache': sys.argv[1]}\n"
            "for seed in sys.argv[2:]:\n"
            "    with torch.no_grad():\n"
            "        torch._dynamo.reset()\n"
            "        torch.manual_seed(int(seed))\n"
            "        net.weight.normal_()\n"
            "        x = torch.randn(2, 4)\n"
            "        torch.testing.assert_close(torch.compile(net, backend='korch', options=options)(x), net(x))\n"
        )

        def run(*seeds):
            arguments = [sys.executable, "-c", script, self.cache, *map(str, seeds)]
            result = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(result.returncode, 0, result.stdout)
            return re.findall(r"(\d) of them made before", result.stdout)

        self.assertEqual(run(1), ["0"])
        self.assertEqual(run(1, 2), ["1", "0"])

    def test_every_difference_makes_another(self):
        x = torch.randn(4, 6)
        self.assertEqual(self.kept(lambda x: x * 2, x), [0])
        self.assertEqual(self.kept(lambda x: x * 2, x), [1])
        self.assertEqual(self.kept(lambda x: x * 3, x), [0])
        self.assertEqual(self.kept(lambda x: x * 2, torch.randn(6, 4)), [0])
        self.assertEqual(self.kept(lambda x: x * 2, x, accuracy="strict"), [0])

    def test_what_was_refused_is_not_tried_again(self):
        def determinant(x):
            return torch.linalg.det(x + 1)

        compile_model = korch._compile.compile

        def refuse(*model, **options):  # what torch.onnx writes of a determinant is invalid, which may change
            try:
                return compile_model(*model, **options)
            except korch.InvalidModel as error:
                raise korch.Unsupported(str(error)) from error

        x = torch.randn(3, 3)
        with mock.patch("korch._compile.compile", side_effect=refuse):
            self.assertEqual(self.kept(determinant, x), [0])
        with mock.patch("korch._compile.compile", side_effect=AssertionError("compiled again")):
            self.assertEqual(self.kept(determinant, x), [1])

    def test_damaged_files_are_made_again(self):
        x = torch.randn(4, 6)
        self.assertEqual(self.kept(torch.exp, x), [0])
        (path,) = glob.glob(os.path.join(self.cache, "*.so"))
        with open(path, "rb") as file, open(path + ".damaged", "wb") as damaged:
            damaged.write(file.read(1000))
        os.replace(path + ".damaged", path)
        self.assertEqual(self.kept(torch.exp, x), [0])

    def test_a_folder_that_cannot_be(self):
        path = os.path.join(self.cache, "file")
        with open(path, "w"):
            pass
        torch._dynamo.reset()
        self.expect_right(torch.exp, compiled(torch.exp, cache=os.path.join(path, "folder")), torch.randn(4))
        self.assertRegex(self.logged()[0], "executables are not kept: .*file")


    def test_a_folder_that_others_may_write_to(self):
        os.chmod(self.cache, 0o777)
        torch._dynamo.reset()
        self.expect_right(torch.exp, compiled(torch.exp, cache=self.cache), torch.randn(4))
        self.assertRegex(self.logged()[0], "executables are not kept: others may write to .*")
        self.assertEqual(os.listdir(self.cache), [])


class ThreadTest(TorchTest):
    def test_threads_call_at_once(self):
        net = Net().eval()
        run = compiled(net)
        self.expect_right(net, run, self.image)
        wrong = []

        def work(seed):
            generator = torch.Generator().manual_seed(seed)
            with torch.no_grad():
                for _ in range(20):
                    x = torch.randn(2, 3, 8, 8, generator=generator)
                    if not torch.allclose(run(x), net(x), atol=1e-5):
                        wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
