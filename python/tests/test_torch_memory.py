"""Memory and weights that PyTorch and korch's backend of torch.compile share."""

import copy
import unittest

from torch_case import QUICK, Net, TorchTest, compiled  # skips the tests where PyTorch is missing

import korch
import torch
from torch import nn


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


if __name__ == "__main__":
    unittest.main()
