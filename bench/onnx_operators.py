#!/usr/bin/env python3
"""The operator cases of the newest ONNX through korch: what passes, what is refused and why; and whether korch's table of
operators knows ONNX's newest versions. Writes docs/results/onnx-operators.md.

    python3 -m venv build/onnx-venv && build/onnx-venv/bin/pip install onnx
    build/onnx-venv/bin/python bench/onnx_operators.py [--engines "interpreter,greedy plan"]
"""
import argparse
import collections
import datetime
import json
import pathlib
import re
import subprocess
import sys

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = ROOT / "build/onnx-cases"
RUNNER = ROOT / "build/release/tests/onnx_node/test_onnx_node"
PAGE = ROOT / "docs/results/onnx-operators.md"


def run(*words):
    return subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True, check=False).stdout



def operator_of(case):
    """The case's operator; of several that a function was expanded to, the function's name."""
    nodes = onnx.load(CASES / case / "model.onnx").graph.node
    types = sorted({(node.domain + "::" if node.domain else "") + node.op_type for node in nodes})
    return ", ".join(types) if len(types) < 3 else "expanded " + case.split("_")[1]


def reason_of(text):
    element = re.search(r"element type (?:type )?(\w+)", text)
    if element:
        name = element[1]
        if name.isdigit():
            name = onnx.TensorProto.DataType.Name(int(name))
        return "element type " + name
    text = text.removeprefix("the model uses what korch does not support:").strip()
    nodes = re.findall(r'node "[^"]*" \(([^)]*)\)(: .*?)?(?=  node |$)', text)
    if not nodes:
        return text
    return "; ".join(sorted({op + (rest or ": no such operator") for op, rest in nodes}))


def score(engine):
    """Passed, failed, and the cases of each reason to refuse."""
    refused, reason, passed, failed = collections.defaultdict(list), None, 0, []
    for line in run(RUNNER, "--folder", CASES, "--engine", engine).splitlines():
        if line.startswith("unsupported "):
            reason = reason_of(line.split(None, 2)[2])
        elif line.startswith("FAILED "):
            failed.append(line[7:])
        elif line.startswith(engine + ": passed"):
            passed = int(line.split()[len(engine.split()) + 1])
        elif line.startswith("    "):
            refused[reason].append(line.strip())
    return passed, failed, refused


def outdated():
    """Operators whose newest version korch does not know, and operators that ONNX does not know."""
    newest = collections.defaultdict(int)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            newest[schema.name] = max(newest[schema.name], schema.since_version)
    known = {row["operator"]: row for row in json.loads(run(ROOT / "build/release/tools/korch", "operators", "--json"))
             if row["domain"] == "ai.onnx"}
    old = [f"{name} {known[name]['version']} < {newest[name]}" for name in sorted(known)
           if name in newest and known[name]["version"] != newest[name]]
    return old, sorted(set(known) - set(newest)), len(set(known) & set(newest)), len(newest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engines", default="interpreter,greedy plan")
    engines = parser.parse_args().engines.split(",")
    run(sys.executable, ROOT / "tests/onnx_node/write_cases.py", CASES)
    commit = run("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip()
    old, own, known, all_known = outdated()
    lines = ["# ONNX's operator cases", "",
             f"{datetime.date.today()}, commit {commit}, onnx {onnx.__version__} (opset "
             f"{onnx.defs.onnx_opset_version()}): `bench/onnx_operators.py`. Without measuring: right or wrong is what "
             "counts.", "",
             f"korch knows {known} of ONNX's {all_known} operators" +
             (f", but not the newest version of {', '.join(old)}" if old else ", each in its newest version") + ".", "",
             "| engine | passed | refused | wrong |", "|---|---|---|---|"]
    wrong = []
    for engine in engines:
        passed, failed, refused = score(engine)
        lines.append(f"| {engine} | {passed} | {sum(map(len, refused.values()))} | {len(failed)} |")
        wrong += failed
        if engine == engines[0]:
            first = refused
    lines += ["", "Refused by the " + engines[0] + ":", "", "| cases | operator | reason |", "|---|---|---|"]
    rows = collections.Counter()
    for reason, cases in first.items():
        for case in cases:
            rows[operator_of(case), reason] += 1
    for (operator, reason), count in sorted(rows.items(), key=lambda row: (-row[1], row[0])):
        lines.append(f"| {count} | {operator} | {reason} |")
    if wrong:
        lines += ["", "Wrong:", ""] + ["- " + failure for failure in wrong]
    PAGE.write_text("\n".join(lines) + "\n")
    print("\n".join(lines[:12 + len(engines)]))


main()
