#!/usr/bin/env python3
"""Writes the operator cases of the installed onnx package, which ships them as code, as test_onnx_node reads them:
DIR/node/<case>/model.onnx and test_data_set_<n>/{input,output}_<i>.pb. Usage: write_cases.py DIR."""
import pathlib
import sys

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def message(value, info):
    """Of an input or output, as the type that the model declares."""
    if info.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if info.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(value, info.name)


def write_tensors(folder, prefix, values, infos):
    for i, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{prefix}_{i}.pb").write_bytes(message(value, info).SerializeToString())


def main(root):
    cases = collect_testcases(None)
    for case in cases:
        folder = root / "node" / case.name
        for number, (inputs, outputs) in enumerate(case.data_sets):
            data_set = folder / f"test_data_set_{number}"
            data_set.mkdir(parents=True, exist_ok=True)
            write_tensors(data_set, "input", inputs, case.model.graph.input)
            write_tensors(data_set, "output", outputs, case.model.graph.output)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    print(f"{len(cases)} cases below {root / 'node'}")


main(pathlib.Path(sys.argv[1]))
