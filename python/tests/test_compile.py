"""Compiling and loading, and what is refused."""

import inspect
import io
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from unittest import mock

import builder
import korch
import korch._worker
import numpy as np
from korch import _options
from korch._spelling import in_python

QUICK = dict(measure=False, database=None, threads=1, progress=False)


class Serializable:
    """As onnx.ModelProto is to korch."""

    def __init__(self, content):
        self.content = content

    def SerializeToString(self):
        if isinstance(self.content, Exception):
            raise self.content
        return self.content


class CompileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        # All temporary files of this process and of the compiler's go here.
        temporary = os.path.join(self.folder, "tmp")
        os.mkdir(temporary)
        patch = mock.patch.dict(os.environ, TMPDIR=temporary)
        patch.start()
        self.addCleanup(patch.stop)
        old, tempfile.tempdir = tempfile.tempdir, temporary
        self.addCleanup(setattr, tempfile, "tempdir", old)
        self.temporary = temporary

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def doubles(self, executable):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        np.testing.assert_array_equal(executable(x), x + x)

    def test_from_a_path_bytes_and_protobuf(self):
        model = builder.double()
        for source in (self.path("m.onnx", model), model, bytearray(model), Serializable(model)):
            with self.subTest(type(source)), korch.compile(source, **QUICK) as executable:
                self.doubles(executable)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_keeps_the_file_that_was_asked_for(self):
        output = self.path("m.so")
        with korch.compile(builder.double(), output=output, **QUICK) as executable:
            self.assertEqual(executable.path, output)
        with korch.load(output, threads=2) as loaded:
            self.doubles(loaded)
            self.assertEqual(loaded.report["model"], "model.onnx")
            copy = self.path("copy.so")
            loaded.save(copy)
        with korch.load(copy) as loaded:
            self.doubles(loaded)

    def test_a_temporary_file_lives_as_the_executable_does(self):
        executable = korch.compile(builder.double(), **QUICK)
        self.assertTrue(os.path.exists(executable.path))
        executable.save(self.path("kept.so"))
        del executable
        self.assertEqual(os.listdir(self.temporary), [])
        with korch.load(self.path("kept.so")) as loaded:
            self.doubles(loaded)

    def test_shapes(self):
        model = builder.double(("rows", 6))
        with self.assertRaisesRegex(korch.InvalidModel, "rows"):
            korch.compile(model, **QUICK)
        for shapes in ({"x": (4, 6)}, {"rows": 4}, {"rows": np.int64(4)}, {"rows": [4]}):
            with self.subTest(shapes), korch.compile(model, shapes=shapes, **QUICK) as executable:
                self.doubles(executable)

    def test_bounds(self):
        for bounds, message in (({"nowhere": 4}, "nowhere"), ({"nowhere": -1}, "between 0"), (4, "is a dict")):
            with self.subTest(bounds), self.assertRaisesRegex(korch.UsageError, message):
                korch.compile(builder.double(), value_bounds=bounds, **QUICK)

    def test_an_unmeasured_and_a_measured_plan(self):
        database = self.path("kernels.db")
        stages = []
        with korch.compile(
            builder.double(), threads=1, database=database, progress=lambda *event: stages.append(event)
        ) as executable:
            self.doubles(executable)
            self.assertGreater(executable.report["measured_us"], 0)
        self.assertTrue(os.path.exists(database))
        self.assertEqual(stages[0], ("import", 0, 0))
        self.assertIn("package", [stage for stage, _, _ in stages])

    def told(self, stream, **options):
        with mock.patch("sys.stderr", stream), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a busy machine
            korch.compile(builder.double(), **{**QUICK, **options}).close()
        return stream.getvalue()

    def test_progress_as_lines(self):
        told = self.told(io.StringIO(), progress=True)
        self.assertTrue(told.startswith("korch: import\nkorch: fission\n"), told)
        self.assertRegex(told, r"\nkorch: compiled in \d+\.\d s\n$")
        self.assertEqual(len(set(told.splitlines())), len(told.splitlines()), told)  # each stage once
        for silent in (None, False, lambda *_: None):
            self.assertEqual(self.told(io.StringIO(), progress=silent), "")

    def test_progress_as_a_bar(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        told = self.told(terminal, progress=True)
        self.assertIn("\r\033[Kkorch: fission", told)
        self.assertRegex(told, r"\r\x1b\[Kkorch: compiled in \d+\.\d s\n$")
        self.assertEqual(told.count("\n"), 1, told)

    def test_the_bar(self):
        shown = korch._progress.Shown()
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        with mock.patch("sys.stderr", terminal), mock.patch("time.monotonic", side_effect=itertools.count(10, 2)):
            shown("measure", 0, 8)
            shown("measure", 2, 8)
        last = terminal.getvalue().split("\r\033[K")[-1]
        self.assertRegex(last, r"^korch: measure \[######\.{18}\] 2/8, \d+ s left$")

    def test_nobody_reads_the_progress(self):
        stream = io.StringIO()
        stream.write = mock.Mock(side_effect=BrokenPipeError)
        with mock.patch("sys.stderr", stream):
            korch.compile(builder.double(), **{**QUICK, "progress": True}).close()
        with mock.patch("sys.stderr", None):
            korch.compile(builder.double(), **{**QUICK, "progress": True}).close()

    def test_messages_speak_python(self):
        for told, said in {
            "use --no-measure": 'use measure="none"',
            "--threads 2 or fewer here, or --no-measure": 'threads=2 or fewer here, or measure="none"',
            "made anew with --accuracy strict": 'made anew with accuracy="strict"',
            "compiled with --emulation.": "compiled with emulation=True.",
            "name, or --no-profile-db)": "name, or database=None)",
            "a new kernel database (--profile-db)": "a new kernel database (database)",
            "--threads is for CPUs": "threads is for CPUs",
            "fix it with --shape": "fix it with shapes",
            "--bound length=N: a run": 'value_bounds={"length": N}: a run',
            "(--state past.0=present.0)": '(state=["past.0=present.0"])',
            "e.g. --shape batch=1 --shape 'in x=1x3'": 'e.g. shapes={"batch": "1", "in x": "1x3"}',
            "(--shape batch=1..8 has them refused)": '(shapes={"batch": "1..8"} has them refused)',
            "--stop-after plan": "--stop-after plan",
        }.items():
            self.assertEqual(in_python(told), said)
        rows = ("batch", 6)
        relu = builder.node("Relu", ["x"], ["y"])
        open_model = builder.model([relu], [builder.tensor("x", rows)], [builder.tensor("y", rows)])
        with self.assertRaisesRegex(korch.InvalidModel, r'e\.g\. shapes=\{"batch": "1"\}$'):
            korch.compile(open_model, **QUICK)
        korch.compile(open_model, shapes={"batch": "1"}, **QUICK).close()

    def test_verify(self):
        with korch.compile(builder.double(), **QUICK) as executable:
            deviations = executable.verify(builder.double(), samples=2)
            self.assertEqual([d.name for d in deviations], ["y"])
            self.assertLessEqual(deviations[0].ratio, 1)
            with self.assertRaisesRegex(korch.InvalidModel, "not made from this network"):
                executable.verify(builder.double((4, 5)))
            halved = builder.model(
                [builder.node("Add", ["x", "half"], ["y"])],
                [builder.tensor("x", (4, 6))],
                [builder.tensor("y", (4, 6))],
                [builder.constant("half", np.full((1,), 0.5, np.float32))],
            )
            with self.assertRaisesRegex(korch.AccuracyError, "output y") as caught:
                executable.verify(halved)
            self.assertEqual(caught.exception.kind, "accuracy")

    def test_bad_models(self):
        for model, kind, pattern in (
            (b"not a model", korch.InvalidModel, "model"),
            (self.path("bad.onnx", b"\0\1\2"), korch.InvalidModel, "bad.onnx"),
            (self.path("absent.onnx"), korch.FileError, "absent.onnx"),
            (self.folder, korch.FileError, ""),
            (Serializable(ValueError("too large")), korch.InvalidModel, "too large"),
            (builder.model([builder.node("RegexFullMatch", ["x"], ["y"], "odd")], [builder.tensor("x", (3, 3))],
                           [builder.tensor("y", ())]), korch.Unsupported, "RegexFullMatch"),
            (7, korch.UsageError, "not a int"),
            (None, korch.UsageError, "not a NoneType"),
        ):
            with self.subTest(model=model), self.assertRaisesRegex(kind, pattern) as caught:
                korch.compile(model, **QUICK)
            self.assertIsInstance(caught.exception, korch.Error)
            self.assertFalse(str(caught.exception).startswith("korch:"), caught.exception)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_the_table_of_options(self):
        parameters = inspect.signature(korch.compile).parameters
        for user in (_options.PYTHON, _options.TORCH):
            table = _options.table(user)
            defaults = {name: option.default for name, option in table.items()}
            self.assertEqual(_options.values(user, {}), defaults)
            self.assertEqual(_options.values(user, defaults), defaults)  # each is taken
        for name, option in _options.table(_options.PYTHON).items():
            self.assertEqual(parameters[name].default, option.default)
            self.assertIn(f"\n        {name}: ", korch.compile.__doc__)
        for name, default in dict(accuracy="standard", threads=0, budget=None, measure="plan", database=True).items():
            self.assertEqual(parameters[name].default, default)
        self.assertEqual(
            _options.texts(_options.PYTHON, dict(rule=("a", "b"), threads=2, database=None, verify=False)),
            {"rule": ["a", "b"], "threads": "2", "database": "", "verify": "0"},
        )

    def test_bad_options(self):
        model = builder.double()
        for options, pattern in (
            (dict(accuracy="sloppy"), "sloppy"),
            (dict(accuracy=1), "option accuracy: standard, strict, tf32, f16, bf16 or relaxed:ERROR, not '1'"),
            (dict(target="z80"), "z80"),
            (dict(threads=-1), "option threads: a whole number from 0 to 1024, not '-1'"),
            (dict(threads="two"), "option threads: a whole number from 0 to 1024, not 'two'"),
            (dict(budget=-1), "option budget: a time"),
            (dict(budget=float("nan")), "budget"),
            (dict(verify="perhaps"), "option verify: 0 or 1, not 'perhaps'"),
            (dict(schedule="static"), "option schedule: barrier or dynamic, not 'static'"),
            (dict(speed="high"), "no option 'speed'; there are target, threads, "),
            (dict(constants=False), "no option 'constants'"),
            (dict(shapes={"x": (4, -6)}), "shapes"),
            (dict(shapes={"x": (4, "n")}), "shapes"),
            (dict(shapes={"x": None}), "shapes"),
            (dict(shapes=(4, 6)), "shapes is a dict"),
            (dict(instances=0), "instances"),
            (dict(inputs=(1,)), "example inputs are for"),
            (dict(kwargs={"x": 1}), "example inputs are for"),
            (dict(exporter="onnx"), "exporter is"),
        ):
            with self.subTest(options), self.assertRaisesRegex(korch.UsageError, pattern):
                korch.compile(model, **{**QUICK, **options})
        with self.assertRaisesRegex(korch.FileError, "no-folder"):
            korch.compile(model, output=self.path("no-folder/m.so"), **QUICK)

    def test_bad_executables(self):
        output = self.path("m.so")
        korch.compile(builder.double(), output=output, **QUICK).close()
        with open(output, "rb") as file:
            content = bytearray(file.read())
        content[len(content) // 2] ^= 1
        for path in (self.path("damaged.so", content), self.path("half.so", content[: len(content) // 2]),
                     self.path("text.so", b"text"), self.path("absent.so"), self.folder):
            with self.subTest(path), self.assertRaises(korch.FileError) as caught:
                korch.load(path)
            self.assertEqual(caught.exception.kind, "io")
            self.assertIn(path, str(caught.exception))
        for options in (dict(threads=-1), dict(threads=5000), dict(instances=0), dict(instances=None)):
            with self.subTest(options), self.assertRaises(korch.UsageError):
                korch.load(output, **options)

    def test_what_progress_raises_ends_the_compilation(self):
        def stop(stage, done, total):
            raise KeyError(stage)

        with self.assertRaises(KeyError):
            korch.compile(builder.products(), database=None, progress=stop)
        self.assertEqual(os.listdir(self.temporary), [])

    def test_ctrl_c_ends_the_compilation(self):
        started = threading.Event()
        # Python begins without it where its parent ignores the signal, as shells do for jobs in the background.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

        def press():
            started.wait()
            os.kill(os.getpid(), signal.SIGINT)

        presser = threading.Thread(target=press)
        presser.start()
        with self.assertRaises(KeyboardInterrupt):
            # The compiler measures for seconds after its first stage.
            korch.compile(builder.products(16), database=None, progress=lambda *_: started.set())
        presser.join()
        self.assertEqual(os.listdir(self.temporary), [])

    def test_the_compiler_ends_with_python(self):
        # A line per compiler: its process id, as the system knows it.
        script = (
            "import builder, korch, korch._worker, subprocess, os\n"
            "class Told(subprocess.Popen):\n"
            "    def __init__(self, *args, **options):\n"
            "        super().__init__(*args, **options)\n"
            "        print(self.pid, flush=True)\n"
            "korch._worker.subprocess.Popen = Told\n"
            "korch.compile(builder.products(16), database=None, progress=lambda *_: os._exit(0))\n"
        )
        child = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=os.path.dirname(__file__), check=True
        )
        for _ in range(1000):
            try:
                with open(f"/proc/{int(child.stdout)}/stat") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return  # ended; nobody has asked for its code
            except FileNotFoundError:
                return
            threading.Event().wait(0.01)
        self.fail("the compiler goes on without Python")

    def test_compiles_in_several_threads_at_once(self):
        results = [None] * 3

        def work(number):
            with korch.compile(builder.double((4, 6)), **QUICK) as executable:
                results[number] = executable(np.full((4, 6), number, np.float32))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([r[0, 0] for r in results], [0, 2, 4])

    def with_program(self, script):
        program = self.path("program", b"#!/bin/sh\n" + script)
        os.chmod(program, 0o755)
        return mock.patch.object(korch._worker, "PROGRAM", program)

    def test_what_a_machine_lacks_is_told_in_one_sentence(self):
        shutil.copy(korch._worker.PROGRAM, self.path("copy"))
        with open(os.path.join(os.path.dirname(korch._worker.PROGRAM), "libhighs.so.1"), "rb") as file:
            solver = file.read()
        self.assertIn(b"libstdc++.so", solver)
        self.path("libhighs.so.1", solver.replace(b"libstdc++.so", b"libstdc++.no"))
        with mock.patch.object(korch._worker, "PROGRAM", self.path("copy")), self.assertRaisesRegex(
            korch.FileError, r"^korch\.compile needs libstdc\+\+\.no\S*, which this machine lacks; .*apt install"
        ):
            korch.compile(builder.double(), **QUICK)
        with mock.patch.object(korch._worker, "PROGRAM", self.path("absent")), self.assertRaisesRegex(
            korch.FileError, "cannot be started"
        ):
            korch.compile(builder.double(), **QUICK)

    def test_a_compiler_that_dies(self):
        with self.with_program(b"echo noise >&2; kill -SEGV $$\n"), self.assertRaisesRegex(
            korch.InternalError, "SIGSEGV.*noise"
        ):
            korch.compile(builder.double(), **QUICK)
        with self.with_program(b"read line; echo 'korch: out of memory' >&2; exit 6\n"), self.assertRaisesRegex(
            korch.ResourceError, "^out of memory$"
        ):
            korch.compile(builder.double(), **QUICK)
        with self.with_program(b"exit 0\n"), self.assertRaisesRegex(korch.InternalError, "ended with code 0"):
            korch.compile(builder.double(), **QUICK)

    def test_the_compiler_refuses_what_is_no_request(self):
        for request in ({}, {"verb": "compile"}, [], {"verb": "verify", "shapes": {"x": "wide"}}):
            with self.subTest(request), self.assertRaisesRegex(korch.UsageError, "^not a request: "):
                korch._worker.request(request)

    def test_warnings(self):
        answer = b"""read line; echo '{"result": {"warnings": ["kernel 3 was wrong"]}}'\n"""
        output = self.path("m.so")
        korch.compile(builder.double(), output=output, **QUICK).close()
        with self.with_program(answer), self.assertWarnsRegex(korch.CompileWarning, "kernel 3 was wrong"):
            korch.compile(builder.double(), output=output, **QUICK).close()


if __name__ == "__main__":
    unittest.main()
