"""Puts the results of a visit into docs/results/cuda.md, as a section that the next visit's replaces."""
import os
import re

import seal
import table

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "results", "cuda.md")
HEADINGS = {"part1": "## Last visit: prepared kernels, ceilings, PyTorch",
            "part2": "## Last visit: networks compiled on the GPU"}


def land(args):
    info = seal.check(args.dir)
    part, state = table.state_of(args.results)
    heading = HEADINGS[part]
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
    before = re.sub(r"\n*" + re.escape(heading) + r"\n.*?(?=\n#{1,2} |\Z)", "", before, flags=re.S).rstrip("\n")
    section = heading + "\n\n" + table.of(args.dir, args.results)
    with open(page, "w") as f:
        f.write((before + "\n\n" if before else "") + section)
    print("%s: section '%s'" % (page, heading.lstrip("# ")))
    return 0
