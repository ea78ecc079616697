"""Greedy generation with a decoder (export.py) by korch and by ONNX Runtime, which must choose the same tokens.

    python generate.py decoder.onnx [TOKENS]
"""

import sys
import time
from typing import Callable, List

import korch
import numpy as np
import onnxruntime

PROMPT = [17, 2025, 4, 711, 64, 3001, 8, 1]
LONGEST, LONGEST_PROMPT, THREADS = 511, 64, 2


def by_korch(model: str) -> Callable[[List[int], int], List[int]]:
    shapes = {"past": f"0..{LONGEST}", "seq": f"1..{LONGEST_PROMPT}"}
    net = korch.compile(model, shapes=shapes, threads=THREADS, output=model + ".so")
    state = net.state()  # keys and values of all layers: each call appends to them, nothing is copied

    def generate(prompt: List[int], count: int) -> List[int]:
        state.reset()
        made: List[int] = []
        new = prompt
        while len(made) < count:
            scores = net(np.array([new], np.int64), state=state)
            made.append(int(scores.argmax()))
            new = made[-1:]
        return made

    return generate


def by_onnxruntime(model: str) -> Callable[[List[int], int], List[int]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]
    _, heads, _, width = session.get_inputs()[1].shape
    nothing = np.zeros((1, heads, 0, width), np.float32)

    def generate(prompt: List[int], count: int) -> List[int]:
        past = [nothing] * (len(names) - 1)
        made: List[int] = []
        new = prompt
        while len(made) < count:
            scores, *past = session.run(None, dict(zip(names, [np.array([new], np.int64), *past])))
            made.append(int(scores.argmax()))
            new = made[-1:]
        return made

    return generate


def main() -> None:
    model, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64
    engines = {"korch": by_korch(model), "ONNX Runtime": by_onnxruntime(model)}
    made = {name: generate(PROMPT, count) for name, generate in engines.items()}
    print("tokens:", *made["korch"])
    if made["korch"] != made["ONNX Runtime"]:
        raise SystemExit(f"ONNX Runtime: {made['ONNX Runtime']}")
    best = dict.fromkeys(engines, 0.0)
    for _ in range(3):  # in turns
        for name, generate in engines.items():
            begin = time.perf_counter()
            generate(PROMPT, count)
            best[name] = max(best[name], count / (time.perf_counter() - begin))
    for name, rate in best.items():
        print(f"{name}: {rate:.1f} tokens/s")


main()
