"""What instances, and processes, of one executable share, and what they do when nobody calls (docs/results/python.md):

    python bench/shared_weights.py EXECUTABLE      with korch installed; a second process runs beside the first
"""

import subprocess
import sys
import threading
import time

import korch
import numpy as np


def megabytes(key: str) -> float:
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key + ":")) / 1024


def tell(what: str) -> None:
    print(f"{what}: resident {megabytes('Rss'):.0f} MB, own {megabytes('Private_Dirty'):.0f} MB", flush=True)


def call_at_once(executable: korch.Executable, inputs: list, callers: int) -> None:
    begin = threading.Barrier(callers)

    def call() -> None:
        begin.wait()
        executable(*inputs)

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    is_second = len(sys.argv) > 2
    executable = korch.load(sys.argv[1], instances=4)
    inputs = [np.zeros(info.shape, korch._korch.numpy_name(info.dtype)) for info in executable.inputs]
    executable(*inputs)
    if is_second:
        print(f"a second process: its share of what both hold {megabytes('Pss'):.0f} MB", flush=True)
        return
    tell("one instance")
    call_at_once(executable, inputs, 4)
    tell("four instances")
    start = time.process_time()
    time.sleep(5)
    print(f"idle for 5 s: {1e3 * (time.process_time() - start):.1f} ms of CPU time", flush=True)
    subprocess.run([sys.executable, __file__, sys.argv[1], "second"], check=True)


main()
