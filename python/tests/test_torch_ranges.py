"""torch.compile with symbolic extents: one executable for a range of them."""

import unittest

from torch_case import Net, TorchTest, compiled  # skips the tests where PyTorch is missing

import torch
from torch import nn


class RangesTest(TorchTest):
    def setUp(self):
        super().setUp()
        self.mlp = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4)).eval()

    def ranges(self):
        """Of each executable that was made, in its order; one for a single shape is "one shape"."""
        found = []
        for line in self.logged(0):
            if line.startswith("compiled for "):
                found.append([part.split(" = ")[1] for part in line[len("compiled for ") :].split(", ")])
            elif " alone: " in line:
                found.append(line)
        return found

    def expect_right_at(self, net, run, *shapes):
        for shape in shapes:
            self.expect_right(net, run, torch.randn(*shape))

    def test_batches_share_an_executable(self):
        run = compiled(self.mlp, dynamic=True)
        self.expect_right_at(self.mlp, run, *[(batch, 8) for batch in (4, 2, 16, 7, 4, 11)])
        self.assertEqual(self.ranges(), [["2..16"]])

    def test_without_being_asked(self):
        """PyTorch makes the extent symbolic when it changes."""
        run = compiled(self.mlp)
        self.expect_right_at(self.mlp, run, (4, 8), (5, 8), (6, 8), (13, 8))
        self.assertEqual(self.ranges(), [["2..16"]])

    def test_beyond_the_bound_is_compiled_anew(self):
        run = compiled(self.mlp, dynamic=True)
        self.expect_right_at(self.mlp, run, (4, 8), (17, 8), (60, 8), (3, 8))
        self.assertEqual(self.ranges(), [["2..16"], ["2..64"]])

    def test_stated_ranges(self):
        run = compiled(self.mlp)
        x = torch.randn(4, 8)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=40)
        self.expect_right(self.mlp, run, x)
        self.expect_right_at(self.mlp, run, (33, 8))
        self.assertEqual(self.ranges(), [["2..40"]])

    def test_images_of_any_size(self):
        net = Net().eval()
        run = compiled(net, dynamic=True)
        self.expect_right_at(net, run, (4, 3, 20, 24), (2, 3, 31, 17), (5, 3, 9, 32))
        self.assertEqual(len(self.ranges()), 1)

    def test_extents_that_are_equal(self):
        """A mask's axes, and sums of extents."""

        def compute(x, mask, y):
            weights = (x @ x.transpose(1, 2) + mask).softmax(-1)
            return torch.cat([weights @ x, y], 1)

        run = compiled(compute, dynamic=True)
        for batch, steps, more in ((2, 5, 3), (3, 9, 4), (4, 16, 15)):
            inputs = torch.randn(batch, steps, 8), torch.randn(steps, steps), torch.randn(batch, more, 8)
            self.expect_right(compute, run, *inputs)
        self.assertEqual(len(self.ranges()), 1)

    def test_weights_that_change(self):
        run = compiled(self.mlp, dynamic=True)
        self.expect_right_at(self.mlp, run, (4, 8))
        with torch.no_grad():
            self.mlp[0].weight.add_(1)
        self.expect_right_at(self.mlp, run, (4, 8), (9, 8))
        self.assertEqual(self.ranges(), [["2..16"], ["2..16"]])

    def test_bfloat16(self):
        net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval().bfloat16()
        run = compiled(net, dynamic=True)
        for batch in (3, 9):
            x = torch.randn(batch, 8).bfloat16()
            with torch.no_grad():
                self.expect_same(run(x), net(x), rtol=0.05, atol=0.05)
        self.assertEqual(self.ranges(), [["2..16"]])

    def test_what_needs_a_shape(self):
        """A view with gaps, and what korch refuses, are left to executables for each shape, and to PyTorch."""
        for compute, why in (
            (lambda x: (x * 2)[:, 1:3], "lies in memory with gaps"),
            (lambda x: torch.nn.functional.dropout(x * 2, 0.5), "random"),
        ):
            with self.subTest(why):
                torch._dynamo.reset()
                run = compiled(compute, dynamic=True)
                with torch.no_grad():
                    for batch in (4, 5):
                        self.assertEqual(run(torch.randn(batch, 8)).shape, compute(torch.randn(batch, 8)).shape)
                lines = self.ranges()
                self.assertEqual(len(lines), 2)
                self.assertIn(why, lines[0])


if __name__ == "__main__":
    unittest.main()
