#!/usr/bin/env python3
"""The README's chart: how many times as fast as ONNX Runtime the networks of docs/results/onnxruntime.md are.

    build/bench-venv/bin/python bench/chart.py      (after bench/setup)

Reads that page's table and writes docs/results/onnxruntime.svg.
"""
import math
import os
import re
import statistics

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "korch", "svg.fonttype": "none", "font.family": "sans-serif"})
import matplotlib.pyplot as plt

RESULTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs/results")
ROW = re.compile(r"\| (\w+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) \[([\d.]+), ([\d.]+)\]")


def main():
    with open(os.path.join(RESULTS, "onnxruntime.md")) as page:
        rows = [(name, *map(float, numbers)) for name, *numbers in ROW.findall(page.read())]
    rows.sort(key=lambda row: row[1])
    names, ratios, low, high = zip(*rows)
    mean = math.exp(statistics.mean(map(math.log, ratios)))
    figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
    axes.barh(names, ratios, color="#3b6ea5", height=0.7)
    axes.errorbar(ratios, names, xerr=([r - l for r, l in zip(ratios, low)], [h - r for r, h in zip(ratios, high)]),
                  fmt="none", ecolor="#222222", elinewidth=1, capsize=2)
    for i, (ratio, end) in enumerate(zip(ratios, high)):
        axes.text(end + 0.04, i, "%.2f" % ratio, va="center", fontsize=8)
    axes.axvline(1, color="#222222", linewidth=1)
    axes.axvline(mean, color="#b5482f", linewidth=1, linestyle="--", label="geometric mean %.2f" % mean)
    axes.set_xlabel("time of ONNX Runtime / time of korch (median, 95 % interval)")
    axes.set_xlim(0, max(high) + 0.4)
    axes.tick_params(labelsize=8)
    axes.legend(loc="lower right", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(os.path.join(RESULTS, "onnxruntime.svg"), facecolor="white", metadata={"Date": None})


if __name__ == "__main__":
    main()
