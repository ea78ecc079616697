"""One engine, one network, one process: prepared as its documentation says, then run whenever the other end of a pipe asks.

Every engine gets float32, `threads` threads, inputs that are in place already, and memory of its own for the outputs.
"""
import contextlib
import multiprocessing
import os
import statistics
import sys
import time

import numpy as np

from korch_so import Executable, inputs_of, interval

PREPARE_SECONDS = 1200    # an engine that takes longer has failed


class Korch:
    converted = False

    def __init__(self, job, feeds):
        self.executable = Executable(job["so"], schedule=job.get("schedule", 0))
        self.executable.bind(feeds)
        self.run = self.executable.run

    def outputs(self, names):
        by_name = dict(zip([name for name, _, _ in self.executable.outputs], self.executable.dense_results()))
        return [by_name[name] for name in names]


class OnnxRuntime:
    converted = False

    def __init__(self, job, feeds):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = job["threads"]
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(job["onnx"], options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        for name, array in feeds.items():
            self.binding.bind_cpu_input(name, array)
        self.names = [node.name for node in self.session.get_outputs()]
        self.results = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in self.session.run(None, feeds)]
        for name, value in zip(self.names, self.results):
            self.binding.bind_ortvalue_output(name, value)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self, names):
        by_name = dict(zip(self.names, [value.numpy() for value in self.results]))
        return [by_name[name] for name in names]


class OpenVino:
    converted = False

    def __init__(self, job, feeds):
        import openvino
        from openvino import properties

        core = openvino.Core()
        options = {
            properties.hint.inference_precision(): openvino.Type.f32,  # else bfloat16 where the CPU has it
            properties.hint.performance_mode(): properties.hint.PerformanceMode.LATENCY,
            properties.inference_num_threads(): job["threads"],
            properties.num_streams(): 1,
        }
        compiled = core.compile_model(core.read_model(job["onnx"]), "CPU", options)
        assert compiled.get_property(properties.hint.inference_precision()) == openvino.Type.f32
        self.request = compiled.create_infer_request()
        for name, array in feeds.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        self.run = self.request.infer

    def outputs(self, names):
        return [np.array(self.request.get_tensor(name).data) for name in names]


class Eager:
    converted = False

    def __init__(self, job, feeds):
        import torch

        torch.set_num_threads(job["threads"])
        torch.set_num_interop_threads(1)
        assert torch.get_float32_matmul_precision() == "highest"
        torch.set_grad_enabled(False)
        # A build for CUDA asks its library here; transformers asks at every call, and a build for CPUs answers so.
        torch.cuda.is_current_stream_capturing = lambda: False
        import torch_networks

        if job["bundled"]:
            self.converted = job["network"] not in torch_networks.BUNDLED
            self.net, self.inputs = torch_networks.bundled(job["network"], job["onnx"], feeds)
        else:
            self.net = torch_networks.made(job["network"])[0]
            self.inputs = tuple(torch.from_numpy(array) for array in feeds.values())

    def run(self):
        self.result = self.net(*self.inputs)

    def outputs(self, names):
        result = [self.result] if hasattr(self.result, "numpy") else list(self.result)
        return [tensor.numpy() for tensor in result]


class Inductor(Eager):
    def __init__(self, job, feeds):
        super().__init__(job, feeds)
        import torch
        import torch._inductor.config

        torch._inductor.config.freezing = True  # weights are constants, as they are for the others
        torch._inductor.config.force_disable_caches = True
        self.net = torch.compile(self.net)


class Module(Eager):
    """job["module"]: what torch.save wrote."""

    def __init__(self, job, feeds):
        import torch

        torch.set_num_threads(job["threads"])
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.net = torch.load(job["module"], weights_only=False)
        self.inputs = tuple(torch.from_numpy(array) for array in feeds.values())


ENGINES = {"korch": Korch, "module": Module, "eager": Eager, "inductor": Inductor, "onnxruntime": OnnxRuntime, "openvino": OpenVino}


def feeds_of(job):
    """Input name -> array, in the graph's order."""
    arrays = inputs_of(job["inputs"])
    return {name: np.ascontiguousarray(arrays[name.replace("/", "_")]) for name in job["input_names"]}


def seconds_by_thread():
    """Processor time of every thread of this process so far."""
    result = {}
    for thread in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/schedstat" % thread) as f:
                result[thread] = int(f.read().split()[0]) / 1e9
        except FileNotFoundError:  # ended meanwhile
            pass
    return result


def shares_of_threads(run, seconds):
    """The share of a core that each thread used while `run` was repeated, largest first, those above a hundredth."""
    before, start = seconds_by_thread(), time.perf_counter()
    while time.perf_counter() - start < seconds:
        run()
    wall = time.perf_counter() - start
    shares = sorted(((used - before.get(thread, 0)) / wall for thread, used in seconds_by_thread().items()), reverse=True)
    return [round(share, 3) for share in shares if share > 0.01]


def serve(pipe, engine, job, log):
    """Prepares, sends ("ready", seconds, is the module converted?, outputs), then answers until "end".

    What goes wrong is sent as ("failed", reason).
    """
    try:
        target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, 1)
        os.dup2(target, 2)
        start = time.perf_counter()
        feeds = feeds_of(job)  # some engines read these arrays at every run, without holding them
        subject = ENGINES[engine](job, feeds)
        subject.run()
        pipe.send(("ready", time.perf_counter() - start, subject.converted, subject.outputs(job["output_names"])))
        while True:
            verb, amount = pipe.recv()
            if verb == "end":
                return
            if verb == "threads":
                pipe.send(("shares", shares_of_threads(subject.run, amount)))
                continue
            ready = time.perf_counter() + amount  # its threads wake, caches and clocks warm up
            subject.run()
            while time.perf_counter() < ready:
                subject.run()
            begin = time.perf_counter()
            subject.run()
            pipe.send(("seconds", time.perf_counter() - begin))
    except EOFError:  # the measuring process ended
        sys.exit(1)
    except BaseException as error:  # whatever stops an engine is written in its place of the table
        pipe.send(("failed", "%s: %s" % (type(error).__name__, str(error).strip()[:300])))
        raise


class Worker:
    """The other end: an engine's process."""

    def __init__(self, engine, job, log):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, engine, job, log))
        self.process.start()
        other.close()
        self.failed = None
        answer = self.receive(PREPARE_SECONDS)
        if answer:
            _, self.prepare_s, self.converted, self.outputs = answer

    def receive(self, seconds):
        try:
            answer = self.pipe.recv() if self.pipe.poll(seconds) else ("failed", "no answer in %d s" % seconds)
        except EOFError:
            self.process.join()
            answer = ("failed", "its process ended with code %s" % self.process.exitcode)
        if answer[0] == "failed":
            self.failed = answer[1]
            self.process.kill()
            return None
        return answer

    def ask(self, verb, amount):
        try:
            self.pipe.send((verb, amount))
        except BrokenPipeError:
            pass  # its last words are in the pipe
        answer = self.receive(PREPARE_SECONDS)
        return answer[1] if answer else None

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.pipe.send(("end", 0))
        self.process.join(20)
        self.process.kill()
        self.process.join()


def interleaved_processes(workers, args, warm_up=3):
    """korch_so.interleaved of engines in processes of their own; raises RuntimeError where one failed."""
    times, order, start = {name: [] for name in workers}, list(workers), time.time()
    for i in range(args.rounds + warm_up):
        for name in order[i % len(order):] + order[:i % len(order)]:
            time.sleep(args.pause)
            seconds = workers[name].ask("run", 0.01)
            if workers[name].failed:
                raise RuntimeError("%s: %s" % (name, workers[name].failed))
            if i >= warm_up:
                times[name].append(seconds)
        if i >= 12 and time.time() - start > args.max_seconds:
            break
    return times


def print_ratios(times, results, base, reference):
    """Of each name the median time, its ratio to `base`'s with the 95 % interval, and how far its result is from `reference`'s."""
    for name, result in results.items():
        ratios = [t / other for t, other in zip(times[name], times[base])]
        print("  %-13s %9.3f ms  %.3f [%.3f, %.3f]  differs by %.2g at most" % (
            (name, statistics.median(times[name]) * 1e3) + interval(ratios) +
            (float(np.max(np.abs(result - results[reference]))),)), flush=True)
