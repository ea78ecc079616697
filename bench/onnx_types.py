#!/usr/bin/env python3
"""Which element types korch takes in each operator's first input, found by trying: ONNX's operator cases, written anew for every
type that the operator's schema allows, through the interpreter. Writes src/korch/onnx/operator_types.txt, which `korch operators`
prints.

    python3 -m venv build/onnx-venv && build/onnx-venv/bin/pip install onnx
    build/onnx-venv/bin/python bench/onnx_types.py
"""
import json
import pathlib
import re
import shutil
import subprocess

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRIED = ROOT / "build/onnx-types"
RUNNER = ROOT / "build/release/tests/onnx_node/test_onnx_node"
TABLE = ROOT / "src/korch/onnx/operator_types.txt"
CASES_EACH = 12

# As the schemas and as korch name them, in the order printed.
NAMES = {"double": "f64", "float": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
         "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool", "float8e4m3fn": "f8e4m3fn",
         "float8e4m3fnuz": "f8e4m3fnuz", "float8e5m2": "f8e5m2", "float8e5m2fnuz": "f8e5m2fnuz", "float8e8m0": "f8e8m0",
         "float4e2m1": "f4e2m1", "int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2"}


def parameter(formals, i):
    """The i-th argument's formal parameter; the last may be variadic."""
    return formals[min(i, len(formals) - 1)] if formals else None


def allowed(schema, formal):
    """Of a parameter: tensor types, without strings and complex numbers."""
    types = [formal.type_str]
    for constraint in schema.type_constraints:
        if constraint.type_param_str == formal.type_str:
            types = constraint.allowed_type_strs
    found = {match[1] for match in (re.fullmatch(r"tensor\((\w+)\)", t) for t in types) if match}
    return [t for t in NAMES if t in found]


def retyped(tensor, data_type):
    values = numpy_helper.to_array(tensor).astype(np.float64).flatten()
    return helper.make_tensor(tensor.name, data_type, tensor.dims, values)


def write_case(case, schema, leading, name, wide, folder):
    """The case with `name` for the type of all that has the leading parameter's, or (wide) that may be of the same types; False where
    it is not of one node and tensors."""
    if len(case.model.graph.node) != 1:
        return False
    data_type = onnx.TensorProto.DataType.Value(name.upper())
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    node = model.graph.node[0]
    changed = set()
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for i, value in enumerate(names):
            formal = parameter(formals, i)
            if formal is not None and (formal.type_str == leading.type_str or
                                       wide and allowed(schema, formal) == allowed(schema, leading)):
                changed.add(value)
    data_set = folder / "test_data_set_0"
    data_set.mkdir(parents=True)
    for prefix, infos, values in (("input", model.graph.input, case.data_sets[0][0]), ("output", model.graph.output, case.data_sets[0][1])):
        for i, (info, value) in enumerate(zip(infos, values)):
            if not info.type.HasField("tensor_type") or value is None:
                return False
            tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), info.name)
            if info.name in changed:
                info.type.tensor_type.elem_type = data_type
                tensor = retyped(tensor, data_type)
            (data_set / f"{prefix}_{i}.pb").write_bytes(tensor.SerializeToString())
    for attribute in node.attribute:
        if attribute.name == "dtype" and node.output[0] in changed or node.op_type == "BitCast":
            attribute.i = data_type  # what a result is asked to be
        if attribute.name == "value" and node.op_type == "Constant":
            attribute.t.CopyFrom(retyped(attribute.t, data_type))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return True


def main():
    shutil.rmtree(TRIED, ignore_errors=True)
    listed = subprocess.run([ROOT / "build/release/tools/korch", "operators", "--json"], stdout=subprocess.PIPE, check=True).stdout
    known = {row["operator"] for row in json.loads(listed) if row["domain"] == "ai.onnx"}
    tried = {}  # case -> operator, type
    counts = {}
    for case in collect_testcases(None):
        node = case.model.graph.node[0]
        if node.domain != "" or node.op_type not in known:
            continue
        schema = onnx.defs.get_schema(node.op_type)
        leading = parameter(schema.inputs, 0) or parameter(schema.outputs, 0)
        for name in allowed(schema, leading):
            if counts.get((node.op_type, name), 0) >= CASES_EACH:
                continue
            for wide in (False, True):
                key = f"{case.name}@{name}{'+' if wide else ''}"
                try:
                    written = write_case(case, schema, leading, name, wide, TRIED / "node" / key)
                except (ValueError, TypeError, OverflowError):
                    written = False  # no such numbers in that type
                if not written:
                    shutil.rmtree(TRIED / "node" / key, ignore_errors=True)
                    continue
                tried[key] = node.op_type, name
                counts[node.op_type, name] = counts.get((node.op_type, name), 0) + 1
    text = subprocess.run([RUNNER, "--folder", TRIED, "--engine", "interpreter"], stdout=subprocess.PIPE, text=True, check=False).stdout
    refused = set(re.findall(r"^    (?:node/)?(\S+)", text, re.M))
    # A result that differs was computed: the numbers of a case are made for its own type.
    wrong = {m[1]: m[2] for m in re.finditer(r"^FAILED (?:node/)?([^:\s]+): (.*)$", text, re.M)
             if not re.search(r"element \d+ is|output \d+ is", m[2])}
    refused |= set(wrong)
    taken = {}
    for key, (operator, name) in tried.items():
        if key not in refused:
            taken.setdefault(operator, set()).add(name)
    rows = [f"{operator} {' '.join(NAMES[t] for t in NAMES if t in taken[operator])}" for operator in sorted(taken)]
    TABLE.write_text("\n".join(["# Written by bench/onnx_types.py; do not edit."] + rows + [""]))
    print(f"{len(tried)} cases tried, {len(refused & set(tried))} refused; {len(taken)} operators")
    print("no case:", " ".join(sorted(known - {operator for operator, _ in tried.values()})))
    print("of no type:", " ".join(sorted({f"{o}@{t}" for o, t in tried.values() if t not in taken.get(o, ())})))


main()
