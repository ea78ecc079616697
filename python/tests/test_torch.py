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

if not (find_spec("torch") and find_spec("onnxscript")):
    raise unittest.SkipTest("torch and onnxscript are not installed")

import korch
import torch
from torch import nn
from torch.nn import functional as F

QUICK = {"measure": False, "database": None, "cache": None}


def compiled(function, **options):
    return torch.compile(function, backend="korch", options={**QUICK, **options})


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


class EntryTest(TorchTest):
    def test_pytorch_finds_it(self):
        self.assertIn("korch", torch._dynamo.list_backends())

    def test_wrong_options_are_refused(self):
        for given, message in (
            ({"options": {"treads": 1}}, "no option 'treads'; there are accuracy, .*threads"),
            ({"mode": "max-autotune"}, "no mode 'max-autotune'"),
            ({"options": {**QUICK, "accuracy": "lax"}}, "accuracy is .*'lax'"),
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

        def without_cosine(part, inputs):
            for node in part.graph.nodes:
                if node.target is torch.ops.aten.cos.default:
                    why = RuntimeError(f"No ONNX function found for {node.target!r}. Failure message: ...")
                    raise RuntimeError(f"Error when translating node {node.format_node()}. See the stack") from why
            return convert(part, inputs)

        def compute(x):
            return (x + 1).cos() * 2

        with mock.patch.object(export, "_converted", without_cosine):
            self.expect_right(compute, compiled(compute), self.image)
        lines = self.logged(logging.INFO)
        self.assertRegex(lines[0], r"aten\.cos\.default \(test_torch\.py:\d+\): torch\.onnx has no form for it with such")
        self.assertRegex(lines[1], "2 of 3 operators")

    def test_operators_that_korch_lacks(self):
        def determinant(x):
            return torch.linalg.det(x + 1) * 2

        run = compiled(determinant)
        self.expect_right(determinant, run, torch.randn(3, 3))
        lines = self.logged(logging.INFO)
        self.assertRegex(lines[0], r"aten\._linalg_det\.default \(test_torch\.py:\d+\): korch refuses Det")
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


class MemoryTest(TorchTest):
    def test_outputs_share_memory_as_in_eager_mode(self):
        def views(x):
            y = x * 2
            return y, y.t(), y[1:], x.view(-1), x, (x + 1).expand(2, 4, 6), torch.split(x - 1, 3, dim=1), y

        x = torch.randn(4, 6)
        run = compiled(views)
        with torch.no_grad():
            results = run(x)
            self.expect_same(results, views(x))
        y, transposed, rows, flat, same, _, _, again = results
        y.fill_(7)
        for view in (transposed, rows):
            self.assertTrue(bool((view == 7).all()))
        self.assertIs(again, y)
        self.assertIs(same, x)
        self.assertEqual(flat.data_ptr(), x.data_ptr())

    def test_none_numbers_and_containers(self):
        def outputs(x, factor, flag):
            return None, x.shape[0], {"a": x * factor, "b": [x - 1 if flag else x, None]}, x.sum(), x > 0

        x = torch.randn(4, 6)
        with torch.no_grad():
            for arguments in ((x, 2, True), (x, 2, False)):
                results = compiled(outputs)(*arguments)
                self.assertEqual(results[:2], (None, 4))
                self.expect_same(results[2:], outputs(*arguments)[2:])

    def test_inputs_as_they_lie(self):
        inputs = [
            torch.randn(6, 4).t(),
            torch.randn(8, 12)[::2, ::3],
            torch.randn(1, 3).expand(4, 3),
            torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
            torch.randn(2, 1, 4, 1).to(memory_format=torch.channels_last),
            torch.randn(0, 4),
            torch.tensor(2.5),
            torch.view_as_complex(torch.randn(4, 2)).conj().imag,
            torch.randn(4, 4, requires_grad=True),
        ]

        def twice(xs):
            return [x * 2 for x in xs], [(x + 1).relu().sum(0) for x in xs if x.dim()]

        run = compiled(twice)
        for _ in range(2):
            self.expect_right(twice, run, inputs)
        self.assertEqual([made[2] for made in self.compilations()], [1])

    def test_inputs_that_are_written(self):
        def step(x, total):
            total.add_(x.sum(0))
            x.t()[1].mul_(2)
            return total * 2

        expected, got = ([torch.ones(4, 6), torch.zeros(6)] for _ in range(2))
        run = compiled(step)
        with torch.no_grad():
            for _ in range(2):
                self.expect_same(run(*got), step(*expected))
        self.expect_same(got, expected)

    def test_every_type(self):
        numbers = torch.randint(0, 9, (4, 6))
        floats = [numbers.to(t) for t in (torch.float32, torch.float64, torch.float16, torch.bfloat16)]
        integers = [numbers.to(t) for t in (torch.int8, torch.int16, torch.int32, torch.int64)]

        def compute(floats, integers, x):
            return (
                [(y * 2 + 1, y.sum(), y.mean(1)) for y in floats],
                [(y * 3 - y % 5, y.sum()) for y in integers],
                x[integers[3][0] % 4],
                (x > 0) & (x < 1),
            )

        self.expect_right(compute, compiled(compute), floats, integers, torch.randn(4, 6))
        ((inside, operators, executables, _),) = self.compilations()
        self.assertEqual((inside, executables), (operators, 1))

    def test_half_precision(self):
        net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).eval()

        def automatic(x):
            with torch.autocast("cpu", torch.bfloat16):
                return net(x)

        x = torch.randn(4, 6)
        for dtype, function, given in (
            (torch.bfloat16, copy.deepcopy(net).bfloat16(), x.bfloat16()),
            (torch.bfloat16, automatic, x),
        ):
            with self.subTest(dtype=dtype), torch.no_grad():
                torch._dynamo.reset()
                result = compiled(function)(given)
                self.assertEqual(result.dtype, dtype)
                torch.testing.assert_close(result.float(), net(x), rtol=0.05, atol=0.05)
        self.assertEqual(self.logged(), [])

    def test_a_wrong_index_is_an_error(self):
        run = compiled(nn.Embedding(5, 3).eval())
        with torch.no_grad():
            run(torch.tensor([0, 4]))
            with self.assertRaisesRegex(korch.InvalidInput, "index"):
                run(torch.tensor([0, 5]))


class WeightsTest(TorchTest):
    def setUp(self):
        super().setUp()
        self.net = Net().eval()
        self.run = compiled(self.net)

    def expect_current(self, what=None):
        with self.subTest(what):
            self.expect_right(self.net, self.run, self.image)

    def step(self, optimizer):
        optimizer.zero_grad()
        self.net(self.image).square().sum().backward()
        optimizer.step()

    def test_other_values(self):
        self.expect_current()
        self.net.load_state_dict(Net().state_dict())
        self.expect_current("load_state_dict")
        self.net.last.weight = nn.Parameter(torch.randn(5, 4))
        self.expect_current("another parameter")
        self.net.last.weight.data = torch.randn(5, 4)
        self.expect_current("another tensor of a parameter")

    def test_changes_that_pytorch_does_not_count(self):
        self.expect_current()
        self.net.last.weight.data.mul_(2)
        self.net.norm.running_mean.numpy()[:] = 3
        self.expect_current()
        self.assertEqual(self.logged(), ["2 weights changed since they were compiled: compiling again"])

    def test_changes_in_place(self):
        self.expect_current()
        first, second = (
            torch.optim.SGD(self.net.parameters(), 0.1),
            torch.optim.Adam(self.net.last.parameters(), 0.1, fused=True),
        )
        self.step(first)
        self.expect_current("SGD")
        self.assertEqual(self.logged(), ["6 weights changed since they were compiled: compiling again"])
        self.step(second)
        self.expect_current("Adam")
        self.assertEqual(self.logged()[-1], "2 weights changed again: they become arguments, which is slower")
        self.step(second)
        self.expect_current("arguments")
        self.assertEqual(self.logged(0), [])

    def test_none_are_constants_on_request(self):
        self.run = compiled(self.net, constants=False)
        self.expect_current()
        self.logged()
        self.net.last.weight.data[2, 1] = 7
        self.expect_current()
        self.assertEqual(self.logged(0), [])

    def test_every_shape_notices(self):
        run = torch.compile(self.net, backend="korch", dynamic=True, options=QUICK)
        for _ in range(2):
            for shape in ((2, 3, 8, 8), (3, 3, 9, 9)):
                self.expect_right(self.net, run, torch.randn(shape))
            with torch.no_grad():
                self.net.last.weight.mul_(2)
        self.assertFalse([line for line in self.logged() if "again:" in line])  # it changed once

    def test_shared_memory(self):
        class Shared(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.tied = nn.Linear(6, 6), nn.Linear(6, 6)
                self.tied.weight = self.one.weight
                self.register_buffer("rows", self.one.weight.detach()[:3])

            def forward(self, x):
                return self.tied(self.one(x).relu()) + x[:, :3] @ self.rows

        net, x = Shared().eval(), torch.randn(2, 6)
        run = compiled(net)
        self.expect_right(net, run, x)
        with torch.no_grad():
            net.one.weight.mul_(2)
        self.expect_right(net, run, x)

    def test_made_in_inference_mode(self):
        with torch.inference_mode():
            net = nn.Linear(4, 4).eval()
            run = compiled(net)
            x = torch.randn(2, 4)
            self.expect_right(net, run, x)
            net.weight.mul_(2)
            self.expect_right(net, run, x)

    def test_modules_that_share_a_graph(self):
        layers = [nn.Linear(4, 4).eval() for _ in range(2)]
        run = compiled(lambda layer, x: layer(x))
        for layer in [*layers, *layers]:
            self.expect_right(layer, lambda x, layer=layer: run(layer, x), torch.randn(2, 4))


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
        for shape in ((2, 3, 8, 8), (3, 3, 9, 9), (4, 3, 7, 7), (3, 3, 9, 9)):
            self.expect_right(net, run, torch.randn(shape))
            lines = self.logged(0)
            made.append(sum("operators are in" in line for line in lines))
            if made[-1] and len(made) > 1:
                self.assertIn("x".join(map(str, shape)) + " alone: korch's executables have fixed shapes", lines[0])
        self.assertEqual(made, [1, 1, 1, 0])

    def test_too_many_shapes(self):
        run = torch.compile(lambda x: x * 2, backend="korch", dynamic=True, options=QUICK)
        with torch._dynamo.config.patch(recompile_limit=2):
            for size in range(3, 7):
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

        x = torch.randn(3, 3)
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
