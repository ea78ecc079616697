"""Callers at once, forks, and the interpreter's end."""

import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import builder
import korch
import numpy as np


def run_all(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class ThreadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "m.so")
        # W is the identity: the output is the input.
        korch.compile(builder.products(4), output=cls.path, measure=False, database=None, threads=2).close()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_100_threads(self):
        for instances in (1, 3):
            wrong = []
            with korch.load(self.path, instances=instances) as executable:

                def work(number):
                    x = np.full((256, 256), number, np.float32)
                    for _ in range(3):
                        if not np.array_equal(executable(x), x):
                            wrong.append(number)

                run_all([threading.Thread(target=work, args=(number,)) for number in range(100)])
            self.assertEqual(wrong, [])

    def test_calls_release_the_gil(self):
        state = {"running": False, "done": False, "seen": False}
        interval = sys.getswitchinterval()
        x = np.ones((256, 256), np.float32)
        with korch.load(self.path) as executable:

            def work():
                # Until it is seen: how soon depends on what else the machine does.
                end = time.monotonic() + 60
                while not state["seen"] and time.monotonic() < end:
                    state["running"] = True
                    executable(x)
                    state["running"] = False
                state["done"] = True

            thread = threading.Thread(target=work)
            # Nobody is made to give the GIL up: who runs meanwhile can because it was released.
            sys.setswitchinterval(1000)
            try:
                thread.start()
                while not state["done"]:
                    state["seen"] = state["seen"] or state["running"]
                    time.sleep(0)
            finally:
                sys.setswitchinterval(interval)
                thread.join()
        self.assertTrue(state["seen"])

    def test_closing_while_others_call(self):
        executable = korch.load(self.path)
        x = np.ones((256, 256), np.float32)
        wrong, closed = [], threading.Event()

        def work():
            try:
                while True:
                    if not np.array_equal(executable(x), x):
                        wrong.append("result")
            except korch.UsageError:
                if not closed.is_set():
                    wrong.append("refused too early")

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        closed.set()
        executable.close()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_arrays_let_go_during_a_call(self):
        wrong = []
        with korch.load(self.path, instances=4) as executable:

            def work(number):
                for turn in range(20):
                    inputs = {"x": np.full((256, 256), number + turn, np.float32)}
                    out = [np.empty((256, 256), np.float32)]

                    def let_go(inputs=inputs, out=out):
                        inputs.clear()
                        out.clear()
                        # Takes the memory that was freed, if it was.
                        np.full((256, 256), -1, np.float32)

                    other = threading.Thread(target=let_go)
                    other.start()
                    try:
                        if not (executable(inputs, out=out) == number + turn).all():
                            wrong.append(number)
                    except korch.InvalidInput:
                        pass  # they were gone before
                    other.join()

            run_all([threading.Thread(target=work, args=(number,)) for number in range(8)])
        self.assertEqual(wrong, [])

    def test_no_array_is_resized_during_a_call(self):
        refused, wrong = 0, []
        with korch.load(self.path) as executable:
            for _ in range(50):
                x = np.ones((256, 256), np.float32)

                def call(x=x):
                    try:
                        if not (executable(x) == 1).all():
                            wrong.append("result")
                    except korch.InvalidInput:
                        pass  # it was resized before

                caller = threading.Thread(target=call)
                caller.start()
                while caller.is_alive():
                    try:
                        x.resize((1, 1), refcheck=False)
                        break
                    except ValueError:
                        refused += 1
                    time.sleep(0)
                caller.join()
        self.assertEqual(wrong, [])
        self.assertGreater(refused, 0)

    def in_child(self, work):
        """Whether `work` is true in a forked child that ends by itself."""
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if work() else 2
            finally:
                os._exit(code)
        return os.waitpid(child, 0)[1] == 0

    def test_fork(self):
        x = np.full((256, 256), 3, np.float32)
        with korch.load(self.path) as executable:
            executable(x)

            def child():
                executable(x)
                executable(x)
                same = np.array_equal(executable(x), x)
                executable.close()
                return same

            self.assertTrue(self.in_child(child))
            np.testing.assert_array_equal(executable(x), x)

    def test_fork_while_others_call(self):
        x = np.full((256, 256), 3, np.float32)
        stop = threading.Event()
        with korch.load(self.path) as executable:

            def work():
                while not stop.is_set():
                    executable(x)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            try:
                for _ in range(10):
                    self.assertTrue(self.in_child(lambda: np.array_equal(executable(x), x)))
            finally:
                stop.set()
                for thread in threads:
                    thread.join()

    def test_a_child_does_not_remove_its_parents_file(self):
        with korch.compile(builder.double(), measure=False, database=None) as executable:

            def child():
                executable.close()
                return True

            self.assertTrue(self.in_child(child))
            self.assertTrue(os.path.exists(executable.path))

    def script(self, text):
        return subprocess.run(
            [sys.executable, "-c", "import os, sys, threading, numpy as np, korch\n" + text, self.path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,  # that it hangs is a failure
        )

    def test_nobody_is_overtaken_for_ever(self):
        calls, others = 20, [0, 0, 0]
        ended = threading.Event()

        def call_again_and_again(number):
            while not ended.is_set():
                executable(x)
                others[number] += 1

        with korch.load(self.path, instances=1) as executable:
            x = np.ones((256, 256), np.float32)
            threads = [threading.Thread(target=call_again_and_again, args=(n,)) for n in range(len(others))]
            for thread in threads:
                thread.start()
            while min(others) == 0:
                time.sleep(0)
            before = sum(others)
            for _ in range(calls):
                executable(x)
            during = sum(others) - before
            ended.set()
            for thread in threads:
                thread.join()
        self.assertLess(during, 20 * calls * len(others))  # in turn each makes one or two

    def test_the_interpreter_ends_with_live_executables(self):
        result = self.script(
            "executable = korch.load(sys.argv[1])\n"
            "x = np.ones((256, 256), np.float32)\n"
            "executable(x)\n"
            "class Late:\n"
            "    def __del__(self):\n"
            "        self.executable\n"
            "late = Late(); late.executable = executable; late.itself = late\n"
            "print('end')\n"
        )
        self.assertEqual((result.returncode, result.stdout), (0, "end\n"))

    def test_the_interpreter_ends_while_daemons_call(self):
        result = self.script(
            "executable = korch.load(sys.argv[1], instances=2)\n"
            "x = np.ones((256, 256), np.float32)\n"
            "def work():\n"
            "    try:\n"
            "        while True:\n"
            "            executable(x)\n"
            "    except korch.UsageError:\n"
            "        pass\n"
            "for _ in range(8):\n"
            "    threading.Thread(target=work, daemon=True).start()\n"
            "executable(x)\n"
            "print('end', flush=True)\n"
        )
        self.assertEqual((result.returncode, result.stdout), (0, "end\n"))

    def test_a_forked_child_ends_as_python_does(self):
        result = self.script(
            "executable = korch.load(sys.argv[1], instances=2)\n"
            "x = np.ones((256, 256), np.float32)\n"
            "stop = False\n"
            "def work():\n"
            "    while not stop:\n"
            "        executable(x)\n"
            "threads = [threading.Thread(target=work) for _ in range(4)]\n"
            "for thread in threads: thread.start()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    executable(x)\n"
            "    stop = True\n"
            "    sys.exit(7)\n"
            "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
            "stop = True\n"
            "print(code)\n"
        )
        self.assertEqual((result.returncode, result.stdout), (0, "7\n"))


if __name__ == "__main__":
    unittest.main()
