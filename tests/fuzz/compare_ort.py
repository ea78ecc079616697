"""What ONNX Runtime computes for the models that `fuzz --write-models FOLDER` wrote, against what the interpreter does.

compare_ort.py FOLDER: prints each difference and a count; exit code 1 when there is one. ONNX Runtime refuses some types
for some operators, and its Python interface knows no bfloat16: those models are counted by reason, not compared.
"""

import collections
import glob
import os
import re
import sys

import numpy
import onnxruntime


class NotComparable(Exception):
    pass


def numbered(path, what):
    files = []
    while os.path.exists(f"{path}.{what}{len(files)}.npy"):
        files.append(numpy.load(f"{path}.{what}{len(files)}.npy"))
    return files


def differences(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path + ".onnx", options, providers=["CPUExecutionProvider"])
    if any(each.type == "tensor(bfloat16)" for each in session.get_inputs() + session.get_outputs()):
        raise NotComparable("bfloat16")
    names = [each.name for each in session.get_inputs()]
    results = session.run(None, dict(zip(names, numbered(path, "input"))))
    for i, (got, wanted, tolerance) in enumerate(
        zip(results, numbered(path, "output"), numbered(path, "tolerance"))
    ):
        got = numpy.asarray(got).astype(numpy.float64)
        same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
        with numpy.errstate(invalid="ignore"):
            wrong = ~same & ~(abs(got - wanted) <= tolerance) & ~numpy.isinf(tolerance)
        if wrong.any():
            at = tuple(numpy.argwhere(wrong)[0])
            yield f"output {i}: {wrong.sum()} of {wrong.size} elements, at {at} {got[at]} instead of {wanted[at]}"


def main():
    compared = wrong = 0
    reasons = collections.Counter()
    for model in sorted(glob.glob(os.path.join(sys.argv[1], "*.onnx"))):
        path = model[: -len(".onnx")]
        try:
            found = list(differences(path))
        except Exception as error:  # onnxruntime raises plain classes of its own
            reasons[re.sub(r"[0-9]+", "N", str(error).strip().splitlines()[0])[:200]] += 1
            continue
        compared += 1
        wrong += bool(found)
        for text in found:
            print(f"{model}: {text}")
    for reason, count in reasons.most_common():
        print(f"{count:6} not compared: {reason}")
    print(f"ONNX Runtime {onnxruntime.__version__}: {compared} models compared, {reasons.total()} not, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
