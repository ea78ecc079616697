"""What this GPU can do at most: memory, L2 cache, float32, matrix units through a library, gaps between kernels of a graph."""
import os

from cuda_driver import Driver
from part1 import Absent


class Ceilings:
    def __init__(self, args):
        self.args, self.cuda = args, None

    def start(self):
        if not self.cuda:
            self.cuda = Driver(self.args.libcuda)
            module = self.cuda.load(os.path.join(self.args.dir, "kernels", "device." + self.cuda.architecture))
            self.made = {name: self.cuda.function(module, "visit_" + name) for name in ("empty", "copy", "read", "ffma")}
            self.small = self.cuda.architecture == "emulated"
        self.cuda.clear_arena()
        return self.cuda

    def copy(self):
        cuda = self.start()
        size = 1 << 16 if self.small else 2 << 30
        to, at = cuda.allocate(size), cuda.allocate(size)
        grid = cuda.attributes["multiprocessors"] * 32
        us = cuda.us_of(lambda _: cuda.launch(self.made["copy"], grid, [to, at, size // 16]), 1 if self.small else 8)
        return {"unit": "GB/s, read and written", "value": 2 * size / us / 1000}

    def l2(self):
        cuda = self.start()
        size = 1 << 12 if self.small else 1 << (cuda.attributes["l2_bytes"] // 4).bit_length() - 1
        times = 1 if self.small else 64
        at, out = cuda.allocate(size), cuda.allocate(16)
        grid = cuda.attributes["multiprocessors"] * 8
        us = cuda.us_of(lambda _: cuda.launch(self.made["read"], grid, [out, at, size // 16, times]), 1 if self.small else 8)
        return {"unit": "GB/s, of %d bytes read again" % size, "value": size * times / us / 1000}

    def ffma(self):
        cuda = self.start()
        out, turns = cuda.allocate(16), 2 if self.small else 20000
        grid = cuda.attributes["multiprocessors"] * (1 if self.small else 8)
        us = cuda.us_of(lambda _: cuda.launch(self.made["ffma"], grid, [out, turns]), 1)
        return {"unit": "TFLOP/s, float32", "value": grid * 256 * turns * 32 / us / 1e6}

    def gaps(self):
        """From chains of two lengths: what starting a graph costs is in neither."""
        cuda = self.start()
        short, long = (2, 4) if self.small else (200, 2000)
        empty = lambda _: cuda.launch(self.made["empty"], 1, [])
        total = [cuda.us_of(empty, n) * n for n in (short, long)]
        return {"unit": "us per empty kernel in a graph", "value": (total[1] - total[0]) / (long - short)}


def product(kind):
    """8192 x 8192 x 8192 through PyTorch, which calls cuBLASLt."""
    def run():
        try:
            import torch
        except ImportError as error:
            raise Absent("no PyTorch: %s" % error)
        if not torch.cuda.is_available():
            raise Absent("PyTorch %s finds no GPU" % torch.__version__)
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        n, dtype = 8192, torch.bfloat16 if kind == "bf16" else torch.float32
        a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(3 + 7):
            start.record()
            torch.mm(a, b)
            stop.record()
            stop.synchronize()
            times.append(start.elapsed_time(stop))
        ms = sorted(times[3:])[3]
        return {"unit": "TFLOP/s, product of %d, %s, PyTorch %s" % (n, kind, torch.__version__), "value": 2 * n**3 / ms / 1e9}

    return run


def items(args):
    c = Ceilings(args)
    return [("copy", c.copy), ("L2 cache", c.l2), ("FFMA", c.ffma), ("gaps", c.gaps)] + [
        ("matrix units, " + kind, product(kind)) for kind in ("float32", "tf32", "bf16")]
