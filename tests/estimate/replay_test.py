#!/usr/bin/env python3
"""Whether the model of costs that ships still says of recorded costs what it said when they were recorded.

    replay_test.py KORCH RECORDED.costs.xz

The rows (`korch costs export`) are of networks that the model did not learn from. They hold their kernels' tile graphs,
whose features are counted anew: the model goes stale when features, families or tile graphs change.
"""
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Of ln(cost / bound). When the model was trained: 0.444, 0.863.
MOST_RMSE, LEAST_R2 = 0.47, 0.84


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def main():
    korch, recorded = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        rows, database = os.path.join(folder, "rows.costs"), os.path.join(folder, "rows.db")
        with lzma.open(recorded) as packed, open(rows, "wb") as file:
            shutil.copyfileobj(packed, file)
        imported = run(korch, "costs", "import", rows, "--profile-db", database)
        text = run(korch, "costs", "score", "shipped", "--profile-db", database)
    print(imported + text)
    count = int(re.search(r"(\d+) costs? of", text).group(1))
    added = int(re.search(r"(\d+) costs? added", imported).group(1))
    rmse, r2 = (float(re.search(name + r" ([-\d.]+)", text).group(1)) for name in ("RMSE", "R2"))
    again = "train it anew with bench/train_costs.py, and record anew where features of drafts changed"
    if count != added:
        sys.exit("%d of %d recorded costs have no features of this korch: %s" % (added - count, added, again))
    if rmse > MOST_RMSE or r2 < LEAST_R2:
        sys.exit("the model of costs is stale: RMSE %.3f (at most %.2f), R2 %.3f (at least %.2f); %s" % (rmse, MOST_RMSE, r2, LEAST_R2, again))


if __name__ == "__main__":
    main()
