"""korch.compile of a torch.nn.Module and of a torch.export.ExportedProgram."""

import logging
import os
import sys
import tempfile
import unittest
import warnings
from importlib.util import find_spec
from unittest import mock

if not (find_spec("torch") and find_spec("onnxscript")):
    raise unittest.SkipTest("torch and onnxscript are not installed")

import korch
import numpy as np
import torch
from korch._export.small_extents import samples
from torch import nn
from torch.export import Dim
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

QUICK = dict(measure=False, threads=1, progress=False)


class Branch(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x * 3


class Condition(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))


class Whole(nn.Module):
    def forward(self, x):
        return x * int(x.sum())


class Eigenvalues(nn.Module):
    def forward(self, x):
        return torch.linalg.eigvals(x).real


class Rows(nn.Module):
    """With code for few rows, and code for many."""

    def forward(self, x):
        return x * 2 if x.shape[0] > 3 else x * 3


class OneRow(nn.Module):
    """With other code for one row."""

    def forward(self, x):
        return x * 2 if x.shape[0] != 1 else x * 3


class OneRowAlike(nn.Module):
    """With other code for one row, that computes the same."""

    def forward(self, x):
        return x * 2 if x.shape[0] != 1 else x + x


class OneRowRemembered(nn.Module):
    """As OneRowAlike; it writes to its buffers, its input and a list, and draws numbers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", torch.zeros(4), persistent=False)
        self.register_buffer("mean", torch.zeros(4))
        self.seen = []

    def forward(self, x):
        self.calls += 1
        self.last.copy_(x.sum(0))
        F.batch_norm(torch.cat([x, x]), self.mean, torch.ones(4), training=True)
        if type(x) is torch.Tensor:  # no stand-in of torch.export
            self.seen.append(x)
        torch.rand(3)
        x.mul_(2)
        return x if x.shape[0] != 1 else x + 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return F.relu(self.linear(x))


class Words(nn.Module):
    """As networks of transformers are called: by keywords, with whole numbers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.linear = nn.Linear(4, 3)

    def forward(self, *, input_ids, attention_mask=None, scale=1.0):
        states = self.linear(self.table(input_ids)) * attention_mask[..., None] * scale
        return {"states": states, "sums": (states.sum(1), [input_ids + 1])}


class Passing(nn.Module):
    def forward(self, x, unused):
        return x, x * 2


class Halves(nn.Module):
    def forward(self, x, twice):
        return torch.cat([x, x]) * twice[:, None]


class Grown(nn.Module):
    def forward(self, x, past):
        return torch.cat([past, x], 1).cumsum(1)


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.lstm(x)[0]


class Trained(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.frozen = nn.BatchNorm1d(4).eval()
        self.never = nn.Dropout(0.0)

    def forward(self, x):
        return F.dropout(self.never(self.frozen(self.drop(x))), 0.3, self.training)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.eval()

    def forward(self, x):
        self.calls += 1
        x.mul_(2)
        return x + self.calls


def words(rows=2, count=3):
    return {"input_ids": torch.arange(rows * count).reshape(rows, count), "attention_mask": torch.ones(rows, count)}


class ExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        QUICK["database"] = os.path.join(folder.name, "kernels.db")  # the CPU's peaks are measured once

    def setUp(self):
        torch.manual_seed(0)
        self.x = torch.randn(2, 4)

    def compiled(self, module, *inputs, **options):
        """Compiled for `inputs`, for which it is compared with PyTorch."""
        executable = korch.compile(module, inputs=inputs or None, **{**QUICK, **options})
        self.addCleanup(executable.close)
        self.expect_same(executable, module, *inputs, **(options.get("kwargs") or {}))
        return executable

    def expect_same(self, executable, module, *inputs, **kwargs):
        given = [leaf for leaf in tree_leaves((inputs, kwargs)) if isinstance(leaf, torch.Tensor)]
        results = executable(*given)
        results = results if isinstance(results, tuple) else (results,)
        expected = tree_leaves(module(*inputs, **kwargs))
        self.assertEqual(len(results), len(expected))
        for result, of in zip(results, expected):
            np.testing.assert_allclose(result, of.detach().numpy(), rtol=1e-4, atol=1e-4)

    def refused(self, kind, pattern, module, *inputs, **options):
        with self.assertRaisesRegex(kind, pattern) as caught:
            korch.compile(module, inputs=inputs or None, **{**QUICK, **options}).close()
        self.assertLess(len(str(caught.exception)), 800)
        return caught.exception

    def test_keywords_whole_numbers_and_results_by_name(self):
        executable = self.compiled(Words().eval(), kwargs={**words(), "scale": 3.0})
        self.assertEqual([tensor.name for tensor in executable.inputs], ["input_ids", "attention_mask"])
        self.assertEqual([tensor.name for tensor in executable.outputs], ["states", "sums.0", "sums.1.0"])
        by_name = executable(**words())
        np.testing.assert_array_equal(by_name[2], words()["input_ids"] + 1)

    def test_inputs_that_are_outputs_or_unused(self):
        executable = self.compiled(Passing(), self.x, torch.ones(1))
        self.assertEqual([tensor.name for tensor in executable.inputs], ["x", "unused"])
        executable = self.compiled(torch.compile(Passing(), backend="eager"), self.x, torch.ones(1))
        self.assertEqual([tensor.name for tensor in executable.inputs], ["x", "unused"])

    def test_a_range_is_that_of_the_dim(self):
        batch = Dim("batch", min=1, max=8)
        net = Net().eval()
        executable = self.compiled(net, self.x, dynamic_shapes={"x": {0: batch}})
        self.assertEqual(executable.inputs[0].shape, (8, 4))
        for rows in (1, 3, 8):
            self.expect_same(executable, net, torch.randn(rows, 4))
        with self.assertRaises(korch.InvalidInput):
            executable(torch.randn(9, 4))
        deviations = executable.verify(net, inputs=(self.x,), dynamic_shapes={"x": {0: batch}}, samples=1)
        self.assertLessEqual(deviations[0].ratio, 1)

    def test_an_empty_batch(self):
        net = Net().eval()
        executable = self.compiled(net, self.x, dynamic_shapes=({0: Dim("batch", max=8)},))
        self.expect_same(executable, net, torch.empty(0, 4))

    def test_ranges_by_shapes(self):
        net = Words().eval()
        # An input without an entry ("scale") has no open extents; the order is the example's.
        options = dict(kwargs={**words(), "scale": 1.0}, dynamic_shapes={
            "attention_mask": {0: "batch", 1: "length"}, "input_ids": {0: "batch", 1: "length"}})
        self.refused(korch.UsageError, "nothing bounds the extent batch of input input_ids", net, **options)
        executable = self.compiled(net, **options, shapes={"batch": "1..2", "length": "1..5"})
        self.assertEqual(executable.inputs[0].shape, (2, 5))
        self.expect_same(executable, net, **words(1, 4))
        executable = self.compiled(Net().eval(), self.x, dynamic_shapes={"x": {0: Dim("batch", max=8)}},
                                   shapes={"batch": 2})
        self.assertEqual(executable.inputs[0].shape, (2, 4))
        executable = self.compiled(Net().eval(), self.x, dynamic_shapes={"x": {0: Dim("batch", max=8)}},
                                   shapes={"x": "1..4x4"})
        self.assertEqual(executable.inputs[0].shape, (4, 4))

    def test_sums_and_products_of_extents(self):
        half = Dim("half", min=1, max=4)
        net = Halves()
        executable = self.compiled(net, self.x, torch.randn(4), dynamic_shapes=({0: half}, {0: 2 * half}))
        self.expect_same(executable, net, torch.randn(3, 4), torch.randn(6))
        net = Grown()
        # An extent is called as an input is.
        executable = self.compiled(
            net, self.x, torch.randn(2, 5),
            dynamic_shapes=({1: Dim("new", min=1, max=4)}, {1: Dim("past", min=0, max=9)}),
        )
        for new, past in ((1, 6), (4, 0)):
            self.expect_same(executable, net, torch.randn(2, new), torch.randn(2, past))

    def test_an_exported_program(self):
        net = Net().eval()
        fixed = torch.export.export(net, (self.x,))
        executable = self.compiled(fixed.module(), self.x)
        with korch.compile(fixed, **QUICK) as executable:
            self.expect_same(executable, net, self.x)
        ranged = torch.export.export(net, (self.x,), dynamic_shapes={"x": {0: Dim("batch", min=1, max=6)}})
        with korch.compile(ranged, **QUICK) as executable:
            self.assertEqual(executable.inputs[0].shape, (6, 4))
            self.expect_same(executable, net, torch.randn(1, 4))
        self.refused(korch.UsageError, "has its example inputs and shapes: leave out inputs", fixed, self.x)

    def test_a_branch_that_data_decide(self):
        error = self.refused(
            korch.InvalidModel,
            r"^PyTorch cannot export Branch: test_torch_export.py:\d+ in forward: `if x.sum\(\) > 0:`: it depends on "
            r"the values of tensors. Write a branch with torch.cond",
            Branch(), self.x,
        )
        self.assertEqual(type(error.__context__).__name__, "GuardOnDataDependentSymNode")
        self.assertTrue(error.__suppress_context__)
        self.refused(korch.InvalidModel, r"`return x \* int\(x.sum\(\)\)`", Whole(), self.x)
        executable = self.compiled(Condition(), self.x.abs())
        self.expect_same(executable, Condition(), -self.x.abs())

    def test_a_branch_that_extents_decide(self):
        self.compiled(Rows(), self.x)
        self.compiled(Rows(), self.x, dynamic_shapes={"x": {0: Dim("rows", min=1, max=3)}})
        self.refused(korch.InvalidModel, r"in the specified range rows <= 8 .*narrower range",
                     Rows(), self.x, dynamic_shapes={"x": {0: Dim("rows", min=1, max=8)}})

    def test_ranges_that_pytorch_exports_from_two_on(self):
        batch = Dim("batch", min=1, max=8)
        for example in (self.x, self.x[:1]):
            executable = self.compiled(OneRowAlike(), example, dynamic_shapes={"x": {0: batch}})
            for rows in (1, 2, 8):
                self.expect_same(executable, OneRowAlike(), torch.randn(rows, 4))
        self.refused(
            korch.InvalidModel, r"for extents from 2, .* something else for batch = 1: give .*'batch', min=2",
            OneRow(), self.x, dynamic_shapes={"x": {0: batch}},
        )
        self.compiled(OneRow(), self.x, dynamic_shapes={"x": {0: Dim("batch", min=2, max=8)}})
        self.compiled(OneRow(), self.x[:1])

    def test_to_look_at_small_extents_changes_nothing_of_the_callers(self):
        net = OneRowRemembered()
        x = self.x.clone()
        torch.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", korch.CompileWarning)
            executable = korch.compile(net, inputs=(x,), dynamic_shapes={"x": {0: Dim("b", min=1, max=4)}}, **QUICK)
        self.addCleanup(executable.close)
        drawn = torch.rand(3)
        torch.manual_seed(3)
        torch.testing.assert_close(drawn, torch.rand(3))
        torch.testing.assert_close(x, self.x)
        for name, buffer in net.named_buffers():
            torch.testing.assert_close(buffer, torch.zeros_like(buffer), msg=name)
        self.assertEqual(net.seen, [])
        np.testing.assert_allclose(executable(self.x[:1]), self.x[:1] * 2, rtol=1e-5)

    def test_a_sample_is_compared_wherever_its_tensors_are(self):
        class Elsewhere(torch.Tensor):
            """As a tensor of a GPU: NumPy has it once it was copied."""

            def cpu(self):
                return self.as_subclass(torch.Tensor)

            def numpy(self):
                raise TypeError("can't convert cuda:0 device type tensor to numpy")

        inputs = (self.x.as_subclass(Elsewhere),)
        found, least = samples("Net", lambda given: given[0] * 2, {"n": 1}, lambda extents: inputs)
        self.assertEqual((len(found), least), (1, {"n": 1}))
        found[0].check(lambda x: x.numpy() * 2)

    def test_an_operator_without_a_form_in_onnx(self):
        self.refused(
            korch.InvalidModel,
            r"^PyTorch cannot export Eigenvalues: test_torch_export.py:\d+ in forward: `return "
            r"torch.linalg.eigvals\(x\).real`: torch.onnx has no form for aten.linalg_eig.default",
            Eigenvalues(), torch.eye(3),
        )

    def test_a_module_that_fails(self):
        self.refused(korch.InvalidModel, r"cannot export Net: test_torch_export.py:\d+ in forward: `.*`: RuntimeError",
                     Net().eval(), torch.ones(2, 5))

    def test_what_pytorch_prints_is_kept_back_for_the_log(self):
        log = logging.getLogger("korch")
        streams = mock.patch("sys.stderr"), mock.patch("sys.stdout")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="this machine is busy")
            with streams[0] as stderr, streams[1] as stdout, self.assertLogs(log, "DEBUG") as logs:
                self.refused(korch.InvalidModel, "torch.cond", Branch(), self.x)
                self.refused(korch.InvalidModel, "no form", Eigenvalues(), torch.eye(3))
                self.compiled(Net().eval(), self.x)
        for stream in (stderr, stdout):
            self.assertEqual([call.args[0] for call in stream.write.call_args_list if call.args[0]], [])
        self.assertIn("torch.ops.aten.sum.default", "".join(logs.output))

    def test_recurrent_layers(self):
        self.compiled(Steps().eval(), torch.randn(2, 6, 4))

    def test_training_mode(self):
        net = Trained().train()
        net.frozen.eval()
        for exporter, changed in (("dynamo", "aten.dropout.default, drop"), ("torchscript", "drop")):
            with self.subTest(exporter), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                warnings.filterwarnings("ignore", message="this machine is busy")
                with korch.compile(net, inputs=(self.x,), exporter=exporter, **QUICK) as executable:
                    result = executable(self.x)
                messages = [str(w.message) for w in caught if w.category is korch.CompileWarning]
                self.assertEqual(messages, [
                    "Trained is in training mode, and is compiled as net.eval() makes it, which changes "
                    f"{changed}: call net.eval() first"])
                self.assertEqual([m.training for m in net.modules()], [True, True, False, True])
                np.testing.assert_allclose(result, Net.eval(net)(self.x).detach(), rtol=1e-5)
                net.train()
                net.frozen.eval()
        with self.assertWarnsRegex(korch.CompileWarning, "was exported in training mode, dropout"):
            korch.compile(torch.export.export(nn.Sequential(nn.Dropout()).train(), (self.x,)), **QUICK).close()
        with warnings.catch_warnings():
            warnings.simplefilter("error", korch.CompileWarning)
            warnings.filterwarnings("ignore", message="this machine is busy")
            self.compiled(net.eval(), self.x)

    def test_what_a_module_writes_is_told(self):
        with self.assertWarnsRegex(korch.CompileWarning, "^Counting writes to calls, x, which an executable does not"):
            executable = korch.compile(Counting(), inputs=(self.x,), **QUICK)
        first = executable(self.x)
        np.testing.assert_array_equal(executable(self.x), first)

    def test_torchscript_on_request(self):
        self.compiled(Net().eval(), self.x, exporter="torchscript")
        self.compiled(Steps().eval(), torch.randn(2, 6, 4), exporter="torchscript")
        self.compiled(Net().eval(), kwargs={"x": self.x}, exporter="torchscript")
        for module, line in ((Branch(), r"`if x.sum\(\) > 0:`"), (Whole(), r"`return x \* int")):
            self.refused(korch.InvalidModel, line + ".*would be taken for all inputs", module, self.x,
                         exporter="torchscript")

    def test_wrong_arguments(self):
        net = Net().eval()
        for pattern, given in (
            ("needs example inputs", {}),
            ("exporter is 'dynamo' or 'torchscript', not 'onnx'", dict(inputs=(self.x,), exporter="onnx")),
            ("takes a torch.nn.Module, and no dynamic_shapes",
             dict(inputs=(self.x,), exporter="torchscript", dynamic_shapes={"x": {0: "batch"}})),
            ("a dict of example inputs is kwargs=", dict(inputs={"x": self.x})),
            ("kwargs is a dict", dict(kwargs=(self.x,))),
            ("forward cannot be called with these inputs: .*'z'", dict(inputs=(self.x,), kwargs={"z": self.x})),
            ("dynamic_shapes has 'y', which is no input: there is 'x'",
             dict(inputs=(self.x,), dynamic_shapes={"y": {0: "batch"}})),
        ):
            with self.subTest(pattern), self.assertRaisesRegex(korch.UsageError, pattern):
                korch.compile(net, **given, **QUICK)

    def test_says_what_is_missing(self):
        self.refused(korch.UsageError, 'is for exporter="torchscript"', torch.jit.script(Net().eval()), self.x)
        with mock.patch.dict(sys.modules, {"onnxscript": None}):
            self.refused(korch.UsageError, r"needs onnxscript: pip install 'korch\[torch\]'", Net().eval(), self.x)


if __name__ == "__main__":
    unittest.main()
