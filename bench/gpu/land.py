"""Puts the results of a visit into docs/results/cuda.md, as a section that the next visit's replaces."""
import json
import os
import re

import seal
import table

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "results", "cuda.md")
HEADING = "## Last visit: prepared kernels, ceilings, PyTorch"


def land(args):
    info = seal.check(args.dir)
    with open(os.path.join(args.results, "part1.json")) as f:
        state = json.load(f)
    if state["hash"] != info["hash"]:
        print("%s is of %s, but %s was prepared as %s: land it with the folder that was carried" % (
            args.results, state["hash"][:12], args.dir, info["hash"][:12]))
        return 1
    if not any("gpu" in row for row in table.rows_of(args.results, "probe")):
        print("%s: the visit found no GPU" % args.results)
        return 1
    page = args.page or PAGE
    if state["emulated"] and os.path.realpath(page) == os.path.realpath(PAGE):
        print("the emulator's times mean nothing: name another page (--page)")
        return 1
    before = ""
    if os.path.exists(page):
        with open(page) as f:
            before = f.read()
    before = re.sub(r"\n*" + re.escape(HEADING) + r"\n.*?(?=\n#{1,2} |\Z)", "", before, flags=re.S).rstrip("\n")
    section = HEADING + "\n\n" + table.of(args.dir, args.results)
    with open(page, "w") as f:
        f.write((before + "\n\n" if before else "") + section)
    print("%s: section '%s'" % (page, HEADING.lstrip("# ")))
    return 0
