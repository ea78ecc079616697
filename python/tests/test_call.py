"""Calls: arrays in, arrays out, and what is refused."""

import gc
import os
import tempfile
import unittest
import weakref

import builder
import korch
import numpy as np


class OnlyDlpack:
    """An array that knows DLPack and nothing else."""

    def __init__(self, array, device=(1, 0), error=None):
        self.array, self.device, self.error = array, device, error

    def __dlpack__(self, **options):
        if self.error:
            raise self.error
        return self.array.__dlpack__(**options) if isinstance(self.array, np.ndarray) else self.array

    def __dlpack_device__(self):
        return self.device


def compiled(model):
    return korch.compile(model, measure=False, database=None, threads=1)


class CallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.executable = compiled(builder.add_relu())

    @classmethod
    def tearDownClass(cls):
        cls.executable.close()

    def setUp(self):
        random = np.random.default_rng(0)
        self.a = random.standard_normal((4, 6)).astype(np.float32)
        self.b = random.standard_normal((4, 6)).astype(np.float32)

    def expect(self, outputs):
        self.assertIsInstance(outputs, tuple)
        np.testing.assert_array_equal(np.asarray(outputs[0]), self.a + self.b)
        np.testing.assert_array_equal(np.asarray(outputs[1]), np.maximum(self.a + self.b, 0))

    def refused(self, pattern, *arrays, kind=korch.InvalidInput, **options):
        with self.assertRaisesRegex(kind, pattern) as caught:
            self.executable(*arrays, **options)
        return caught.exception

    def test_computes_in_order_and_by_name(self):
        self.expect(self.executable(self.a, self.b))
        self.expect(self.executable(b=self.b, a=self.a))
        self.expect(self.executable({"b": self.b, "a": self.a}))

    def test_outputs_are_new_arrays_each_time(self):
        first = self.executable(self.a, self.b)
        second = self.executable(self.b, self.b)
        self.expect(first)
        self.assertFalse(np.shares_memory(first[0], second[0]))
        self.assertEqual(first[0].ctypes.data % 64, 0)

    def test_one_output_comes_alone(self):
        with compiled(builder.double()) as double:
            y = double(self.a)
            np.testing.assert_array_equal(y, self.a + self.a)
            self.assertIs(double(self.b, out=y), y)
            np.testing.assert_array_equal(y, self.b + self.b)

    def test_writes_to_given_arrays(self):
        out = [np.zeros((4, 6), np.float32), np.zeros((4, 6), np.float32)]
        results = self.executable(self.a, self.b, out=out)
        self.assertIs(results[0], out[0])
        self.assertIs(results[1], out[1])
        self.expect(results)
        named = {"positive": np.zeros((4, 6), np.float32), "sum": np.zeros((4, 6), np.float32)}
        self.executable(self.b, self.b, out=named)
        np.testing.assert_array_equal(named["sum"], self.b + self.b)

    def test_takes_arrays_that_do_not_lie_in_order(self):
        wide = np.zeros((8, 12), np.float32)
        wide[::2, ::-2] = self.a
        bytes_of_b = np.zeros(self.b.nbytes + 1, np.uint8)
        askew = bytes_of_b[1:].view(np.float32).reshape(4, 6)
        askew[:] = self.b
        self.assertFalse(askew.flags.aligned)
        self.expect(self.executable(wide[::2, ::-2], askew))
        self.expect(self.executable(np.asfortranarray(self.a), self.b))
        row = self.b[:1]
        outputs = self.executable(np.broadcast_to(row, (4, 6)), self.b)
        np.testing.assert_array_equal(outputs[0], row + self.b)

    def test_takes_read_only_arrays(self):
        self.a.flags.writeable = False
        self.expect(self.executable(self.a, memoryview(self.b)))

    def test_takes_dlpack(self):
        self.expect(self.executable(OnlyDlpack(self.a), OnlyDlpack(np.asfortranarray(self.b))))
        out = [OnlyDlpack(np.zeros((4, 6), np.float32)), OnlyDlpack(np.zeros((4, 6), np.float32))]
        self.assertIs(self.executable(self.a, self.b, out=out)[0], out[0])
        self.expect((out[0].array, out[1].array))

    def test_keeps_no_array_after_the_call(self):
        # A NumPy array is let go at once, one from DLPack when its capsule is.
        for wrap in (lambda array: array, OnlyDlpack):
            array = self.a.copy()
            gone = weakref.ref(array)
            self.executable(wrap(array), self.b)
            del array
            gc.collect()
            self.assertIsNone(gone())

    def test_refuses_other_dtypes(self):
        error = self.refused(r"input 'b' is f32\[4x6\]: f64\[4x6\] is given", self.a, self.b.astype(np.float64))
        self.assertEqual(error.kind, "invalid")
        self.assertIsInstance(error, korch.Error)
        self.assertIsInstance(error, ValueError)
        self.refused(r"i32\[4x6\]", self.a.astype(np.int32), self.b)
        self.refused(r"bool\[4x6\]", self.a > 0, self.b)
        self.refused("an array of '>f'", self.a.astype(">f4"), self.b)
        self.refused("an array of 'Zf'", self.a.astype(np.complex64), self.b)
        self.refused("does not lend its memory", self.a.astype("datetime64[s]"), self.b)
        self.refused("an array of", np.zeros((4, 6), [("x", np.float32)]), self.b)
        self.refused("an array of 'O'", np.full((4, 6), None), self.b)
        self.refused(r"f64\[4x6\]", OnlyDlpack(self.a.astype(np.float64)), self.b)

    def test_refuses_other_shapes(self):
        self.refused(r"input 'a' is f32\[4x6\]: f32\[6x4\] is given", self.a.T, self.b)
        self.refused(r"f32\[24\]", self.a.ravel(), self.b)
        self.refused(r"f32\[0x6\]", self.a[:0], self.b)
        self.refused(r"f32\[\]", np.float32(1), self.b)

    def test_refuses_what_is_no_array(self):
        self.refused("a list is given", [[1.0]], self.b)
        self.refused("a NoneType is given", None, self.b)
        self.refused("u8", b"abc", self.b)
        self.refused("a str is given", "abc", self.b)
        self.refused("does not lend its memory: no grad", OnlyDlpack(self.a, error=BufferError("no grad")), self.b)
        for answer in (5, None, "capsule"):
            self.refused("does not lend its memory", OnlyDlpack(answer), self.b)
        used = self.a.__dlpack__()
        np.from_dlpack(OnlyDlpack(used))
        self.refused("does not lend its memory", OnlyDlpack(used), self.b)

    def test_refuses_other_numbers_of_arrays(self):
        self.refused("2 inputs, 1 is given", self.a)
        self.refused("2 inputs, 3 are given", self.a, self.a, self.a)
        self.refused("there is no input 'c'; there are 'a', 'b'", a=self.a, c=self.b)
        self.refused("input 'b' is missing", a=self.a)
        self.refused("in order or by name", self.a, b=self.b, kind=korch.UsageError)
        self.refused("2 outputs, 1 is given", self.a, self.b, out=self.a)
        self.refused("there is no output 'y'", self.a, self.b, out={"y": self.a})

    def test_refuses_outputs_that_cannot_be_written(self):
        good = np.zeros((4, 6), np.float32)
        read_only = good.copy()
        read_only.flags.writeable = False
        self.refused("output 'sum'.*cannot be written", self.a, self.b, out=[read_only, good])
        self.refused("output 'sum'.*does not lend", self.a, self.b, out=[OnlyDlpack(read_only), good])
        self.refused("C-contiguous", self.a, self.b, out=[np.zeros((6, 4), np.float32).T, good])
        self.refused("C-contiguous", self.a, self.b, out=[np.zeros((4, 12), np.float32)[:, ::2], good])
        askew = np.zeros(97, np.uint8)[1:].view(np.float32).reshape(4, 6)
        self.refused("aligned", self.a, self.b, out=[good, askew])
        self.refused(r"f64\[4x6\] is given", self.a, self.b, out=[good, good.astype(np.float64)])

    def test_refuses_outputs_that_overlap(self):
        good = np.zeros((4, 6), np.float32)
        self.refused("output 'positive' shares memory with that for output 'sum'", self.a, self.b, out=[good, good])
        before = self.a.copy()
        self.refused("output 'sum' shares memory with that for input 'a'", self.a, self.b, out=[self.a, good])
        np.testing.assert_array_equal(self.a, before)
        both = np.zeros((7, 6), np.float32)
        self.refused("shares memory", self.a, self.b, out=[both[:4], both[3:]])

    def test_a_closed_executable_refuses_calls(self):
        executable = compiled(builder.double())
        executable(self.a)
        executable.close()
        executable.close()
        with self.assertRaisesRegex(korch.UsageError, "closed"):
            executable(self.a)
        with self.assertRaisesRegex(korch.UsageError, "closed"):
            executable.profile()
        with self.assertRaisesRegex(korch.UsageError, "closed"):
            executable.save("/tmp/never-written.so")
        self.assertEqual(executable.inputs[0].name, "x")
        self.assertEqual(executable.report["accuracy"], "standard")

    def test_an_index_outside_its_axis(self):
        with compiled(builder.gather(rows=5)) as gather:
            table = np.arange(15, dtype=np.float32).reshape(5, 3)
            np.testing.assert_array_equal(gather(table, np.array([4, -5])), table[[4, 0]])
            with self.assertRaisesRegex(korch.InvalidInput, "index outside its axis"):
                gather(table, np.array([0, 5]))
            np.testing.assert_array_equal(gather(table, np.array([1, 2])), table[[1, 2]])

    def test_small_floats_and_scalars(self):
        with compiled(builder.double((3,), builder.FLOAT16)) as half:
            x = np.array([1, 2.5, -3], np.float16)
            y = half(x)
            self.assertEqual(y.dtype, np.float16)
            np.testing.assert_array_equal(y, x + x)
        with compiled(builder.double((3,), builder.BFLOAT16)) as brain:
            self.assertEqual(brain.inputs[0].numpy_dtype, np.uint16)
            bits = brain(np.array([0x3F80, 0x4000, 0xC040], np.uint16))  # 1, 2, -3
            self.assertEqual([hex(b) for b in bits], ["0x4000", "0x4080", "0xc0c0"])
            with self.assertRaisesRegex(korch.InvalidInput, r"bf16\[3\]: f16\[3\] is given"):
                brain(x)
        with compiled(builder.double(())) as scalar:
            self.assertEqual(scalar(np.float32(1.5)).shape, ())
            self.assertEqual(scalar(np.float32(1.5)), 3)

    def test_describes_itself(self):
        executable = self.executable
        self.assertEqual([t.name for t in executable.inputs], ["a", "b"])
        self.assertEqual(executable.outputs[1], korch.TensorInfo("positive", "f32", (4, 6), 96))
        self.assertEqual(executable.inputs[0].numpy_dtype, np.float32)
        self.assertEqual(executable.threads, 1)
        self.assertIn("libc.so.6", executable.shared_libraries)
        self.assertEqual(executable.report["strategy"], "optimal")
        self.assertEqual(
            repr(executable), "<korch.Executable a f32[4x6], b f32[4x6] -> sum f32[4x6], positive f32[4x6]>"
        )
        self.assertIn("Add", executable.explain())
        self.assertIn("step 0", executable.explain(0))
        for kernel in (-1, len(executable.plan["steps"])):
            with self.assertRaisesRegex(korch.UsageError, "no step"):
                executable.explain(kernel)

    def test_explains_itself_as_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            page = self.executable.explain_html(path, times=self.executable.profile(self.a, self.b, rounds=1))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), page)
            with self.assertRaisesRegex(korch.FileError, "page"):
                self.executable.explain_html(folder)
        self.assertTrue(page.startswith("<!doctype html>") and page.rstrip().endswith("</html>"), page[:80])
        self.assertNotEqual(self.executable.explain_html(), page)  # without the times
        with self.assertRaisesRegex(korch.UsageError, "steps"):
            self.executable.explain_html(times=[])

    def test_profiles_every_step(self):
        steps = self.executable.profile(self.a, self.b, rounds=3)
        self.assertEqual(len(steps), len(self.executable.plan["steps"]))
        self.assertGreater(steps[0].median_us, 0)
        self.assertGreater(steps[0].bytes, 0)
        self.assertEqual(len(self.executable.profile()), len(steps))
        with self.assertRaises(korch.UsageError):
            self.executable.profile(rounds=0)

    def test_extents_that_depend_on_the_data(self):
        nonzero = builder.model(
            [builder.node("NonZero", ["x"], ["y"])],
            [builder.tensor("x", (2, 3))],
            [builder.tensor("y", (2, "n"), builder.INT64)],
        )
        x = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
        with compiled(nonzero) as executable:
            self.assertEqual(executable.outputs[0].shape, (2, 6))  # its bound
            np.testing.assert_array_equal(executable(x), np.nonzero(x))
            self.assertEqual(executable(np.zeros_like(x)).shape, (2, 0))
            out = np.zeros((2, 6), np.int64)
            result = executable(x, out=out)
            np.testing.assert_array_equal(result, np.nonzero(x))
            self.assertTrue(np.shares_memory(result, out))


class OpenShapesTest(unittest.TestCase):
    """One executable for arrays of all extents within its ranges."""

    @classmethod
    def setUpClass(cls):
        cls.executable = korch.compile(
            builder.add_relu(("n", 6)), shapes={"n": "2..8"}, measure=False, database=None, threads=2
        )

    @classmethod
    def tearDownClass(cls):
        cls.executable.close()

    def test_any_extent(self):
        random = np.random.default_rng(1)
        for rows in (2, 8, 3, 5):
            a, b = (random.standard_normal((rows, 6)).astype(np.float32) for _ in range(2))
            total, positive = self.executable(a, np.asfortranarray(b))
            np.testing.assert_array_equal(np.asarray(total), a + b)
            np.testing.assert_array_equal(np.asarray(positive), np.maximum(a + b, 0))

    def test_refused(self):
        def array(rows, columns=6):
            return np.zeros((rows, columns), np.float32)

        for a, b, why in (
            (array(9), array(9), "n is 2 to 8, not 9"),
            (array(1), array(1), "n is 2 to 8, not 1"),
            (array(3), array(4), "n is 4 here and 3 before"),
            (array(3, 5), array(3, 6), "input 'a'"),
        ):
            with self.assertRaisesRegex(korch.InvalidInput, why):
                self.executable(a, b)

    def test_ranges(self):
        for shape, why in (("2..", "whole number"), ("8..2", "no range"), ("a", "whole number")):
            with self.assertRaisesRegex(korch.UsageError, why):
                korch.compile(builder.double(("n", 6)), shapes={"n": shape})


if __name__ == "__main__":
    unittest.main()
