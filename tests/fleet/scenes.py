"""What the tests of a fleet of processes share: a small network, compilations, workers, and waiting."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

WAIT_S = 120  # for anything; a machine may be busy


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def wait_until(holds, what):
    end = time.monotonic() + WAIT_S
    while not holds():
        check(time.monotonic() < end, f"waited {WAIT_S} s for {what}")
        time.sleep(0.02)


def write_network(path, protoc, proto_folder):
    """Three products with other work between them, weights as inputs."""
    sizes = [48, 96, 64, 80]
    text = ["ir_version: 8 opset_import { version: 17 } graph { name: 'scenes'"]

    def value(kind, name, shape):
        dims = " ".join(f"dim {{ dim_value: {d} }}" for d in shape)
        text.append(f"{kind} {{ name: '{name}' type {{ tensor_type {{ elem_type: 1 shape {{ {dims} }} }} }} }}")

    value("input", "x0", [32, sizes[0]])
    for i in range(3):
        value("input", f"w{i}", [sizes[i], sizes[i + 1]])
        operator = ["Relu", "Sigmoid", "Tanh"][i]
        text.append(f"node {{ op_type: 'MatMul' input: 'x{i}' input: 'w{i}' output: 'm{i}' }}")
        text.append(f"node {{ op_type: '{operator}' input: 'm{i}' output: 'x{i + 1}' }}")
    value("output", "x3", [32, sizes[3]])
    text.append("}")
    done = subprocess.run([protoc, "-I", proto_folder, "--encode=korch.onnx.proto.ModelProto", "onnx.proto"],
                          input="\n".join(text).encode(), stdout=subprocess.PIPE, check=True)
    pathlib.Path(path).write_bytes(done.stdout)


class Scenes:
    def __init__(self, korch, folder, protoc, proto_folder):
        self.korch = korch
        self.folder = pathlib.Path(folder)
        self.model = self.folder / "net.onnx"
        self.workers = []
        write_network(self.model, protoc, proto_folder)

    # Whether machines differ is tests/fleet's to tell: here all workers share one, and disturb each other.
    def compile_command(self, fleet, *more):
        return [self.korch, "compile", self.model, "-o", self.folder / "net.so", "--fleet-dir", fleet, "--fleet-tolerance",
                "100000", "--threads", "1", "--exhaustive", "--quiet", "--json", *more]

    def start_compile(self, fleet, *more):
        return subprocess.Popen(self.compile_command(fleet, *more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def finish_compile(self, process):
        out, err = process.communicate(timeout=4 * WAIT_S)
        check(process.returncode == 0, f"a compilation ended with {process.returncode}: {err}")
        return json.loads(out)

    def start_worker(self, fleet, *more, program=None, prefix=()):
        worker = subprocess.Popen([*prefix, program or self.korch, "measure", "--serve", fleet, *more],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.workers.append(worker)
        return worker

    def end_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.terminate()
        for worker in self.workers:
            worker.communicate()
        self.workers = []

    @staticmethod
    def names(fleet, room):
        folder = pathlib.Path(fleet) / room
        try:
            return [name for name in os.listdir(folder) if "." not in name]
        except FileNotFoundError:
            return []

    # A worker's name has its process's number.
    def claims_of(self, fleet, worker):
        return [name for name in self.names(fleet, "claimed") if f"-{worker.pid}-" in name]

    # Both are taken, and a round is under way.
    def wait_for_work(self, fleet, workers):
        for worker in workers:
            wait_until(lambda: self.claims_of(fleet, worker), "a claim of a worker")

    # With a claim that has no result, so that somebody must notice.
    def kill_at_work(self, fleet, worker):
        def has_claim():
            worker.send_signal(signal.SIGSTOP)
            time.sleep(0.01)
            done = self.names(fleet, "done")
            if any(name.split("@")[0] not in done for name in self.claims_of(fleet, worker)):
                return True
            worker.send_signal(signal.SIGCONT)
            return False
        wait_until(has_claim, "a claim of a worker")
        self.kill(worker)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()


def kernels_of_workers(result):
    return [worker["kernels"] for worker in result["fleet"]["workers"]]


def said(result, text):
    return any(text in warning for warning in result["warnings"])
