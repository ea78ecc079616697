"""Results as Markdown: what part1 prints last and what `land` puts into the page."""
import json
import os


def rows_of(results, phase):
    from part1 import lines_of

    return [row for row in lines_of(os.path.join(results, phase + ".jsonl")) if "item" in row]


def phase_line(p):
    items = "?" if p["items"] is None else p["items"]
    notes = ["%d %s" % (p[what], what) for what in ("failed", "absent") if p[what]] + ([p["cut"]] if p["cut"] else [])
    return "%s: %d of %s items in %.0f of %g s%s" % (p["phase"], p["done"], items, p["seconds"], p["deadline"],
                                                    "".join("; " + note for note in notes))


def ceilings(results):
    lines = ["| ceiling | | |", "|---|---|---|"]
    for row in rows_of(results, "ceilings"):
        value = "%.4g" % row["value"] if "value" in row else row.get("absent", row.get("error"))
        lines.append("| %s | %s | %s |" % (row["name"], value, row.get("unit", "")))
    return lines


def kernels(folder, results):
    with open(os.path.join(folder, "kernels", "jobs.json")) as f:
        prepared = json.load(f)
    rows = {row["item"]: row for row in rows_of(results, "kernels")}
    right = [row for row in rows.values() if "us" in row]
    wrong = [row for row in rows.values() if "error" in row]
    worst = max((row["worst"] for row in right), default=0)
    lines = ["Kernels: %d prepared, %d ran and are right (largest error %.2g), %d are wrong or failed, %d did not run." % (
        len(prepared["jobs"]), len(right), worst, len(wrong), len(prepared["jobs"]) - len(right) - len(wrong))]
    for row in wrong[:20]:
        lines.append("- wrong: %s: %s" % (row["name"], row["error"]))
    lines += ["", "| network | groups of the plan | timed | their fastest kernels, sum of us |", "|---|---|---|---|"]
    least = {}
    for number, job in enumerate(prepared["jobs"]):
        if "us" in rows.get(number, {}) and "candidate" in job:
            key = job["candidate"]
            least[key] = min(least.get(key, float("inf")), rows[number]["us"])
    models = sorted({model for uses in prepared["uses"].values() for model in uses})
    for model in models:
        uses = {key: of[model] for key, of in prepared["uses"].items() if model in of}
        timed = {key: count for key, count in uses.items() if key in least}
        lines.append("| %s | %d | %d | %.1f |" % (model, sum(uses.values()), sum(timed.values()),
                                                  sum(least[key] * count for key, count in timed.items())))
    speeds = sorted((row for row in right if prepared["jobs"][row["item"]]["flops"] / row["us"] > 0),
                    key=lambda row: -prepared["jobs"][row["item"]]["flops"] / row["us"])
    if speeds:
        lines += ["", "| fastest kernels by arithmetic | us | TFLOP/s | GB/s |", "|---|---|---|---|"]
    for row in speeds[:8]:
        job = prepared["jobs"][row["item"]]
        lines.append("| %s | %.1f | %.2f | %.0f |" % (row["name"][:90], row["us"], job["flops"] / row["us"] / 1e6,
                                                     job["bytes"] / row["us"] / 1e3))
    return lines


def executables(results):
    rows = rows_of(results, "executables")
    if not rows:
        return ["Executables: none was reached."]
    lines = ["| executable | as a CUDA graph, us | launch after launch, us | steps alone, us | predicted, us | largest error |",
             "|---|---|---|---|---|---|"]
    for row in rows:
        if "graph_us" in row:
            lines.append("| %s | %.0f | %.0f | %.0f | %.0f | %.1e |" % (
                row["name"], row["graph_us"], row["launches_us"], row["steps_us"], row["predicted_us"], row["worst"]))
        else:
            lines.append("| %s | %s | | | | |" % (row["name"], row.get("absent", row.get("error"))))
    for row in rows:
        for step in row.get("steps", []):
            lines.append("- %s, step %d, %s: %.1f us, predicted %.1f" % (
                row["name"], step["step"], step["name"], step["us"], step["predicted_us"]))
    return lines


def networks(results):
    rows = {tuple(json.loads(row["name"])): row for row in rows_of(results, "networks")}
    missing = next((row["absent"] for row in rows.values() if "absent" in row), None)
    if missing or not rows:
        return ["Networks in PyTorch: %s." % (missing or "none was reached")]
    columns = [(way, precision) for way in ("eager", "compiled") for precision in ("float32", "tf32")]
    lines = ["| PyTorch in a CUDA Graph, us | batch | " + " | ".join("%s, %s" % c for c in columns) + " |",
             "|---|" + "---|" * (1 + len(columns))]

    def cell(row):
        return "" if row is None else "%.0f" % row["us"] if "us" in row else row.get("error", "")[:60].replace("|", "/")

    for name, batch in sorted({(key[0], key[2]) for key in rows}):
        cells = [cell(rows.get((name, way, batch, precision))) for way, precision in columns]
        lines.append("| %s | %d | %s |" % (name, batch, " | ".join(cells)))
    return lines


def compiled(results):
    """What part2 made, and how fast it is."""
    rows = rows_of(results, "measured")
    lines = ["| network, kernels measured here | kernels | measured | steps | sum of costs, us | run whole, us | verified |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        if "measured" in row:
            lines.append("| %s | %d | %d | %d | %.1f | %.1f | %s |" % (
                row["name"], row["kernels"], row["measured"], row["steps"], row["predicted_us"], row["whole_us"],
                "yes" if row["verified"] else "no"))
        else:
            lines.append("| %s | %s | | | | | |" % (row["name"], row.get("absent", row.get("error"))))
    lines += ["", "| in turns, batch 1, float32 | korch, us | PyTorch eager, us | torch.compile, us | best of theirs / korch |",
              "|---|---|---|---|---|"]
    for row in rows_of(results, "versus"):
        if "korch_us" in row:
            cells = ["%.1f" % row[key] if key in row else row["note"] for key in ("korch_us", "eager_us", "compiled_us")]
            lines.append("| %s | %s | %s |" % (row["name"], " | ".join(cells),
                                               "%.2f" % row["ratio"] if "ratio" in row else ""))
        else:
            lines.append("| %s | %s | | | |" % (row["name"], row.get("absent", row.get("error"))))
    for row in rows_of(results, "ncu"):
        for launch in row.get("longest", []):
            lines.append("- %s, launch %d: %s" % (row["name"], launch["launch"], ", ".join(
                "%s %.1f" % (key, value) for key, value in launch.items() if key != "launch")))
        if "longest" not in row:
            lines.append("- %s under ncu: %s" % (row["name"], row.get("absent", row.get("error"))))
    return lines


def state_of(results):
    """Of part1 or part2, whichever these results are of."""
    for part in ("part1", "part2"):
        path = os.path.join(results, part + ".json")
        if os.path.exists(path):
            with open(path) as f:
                return part, json.load(f)
    raise SystemExit("%s holds no results of a visit" % results)


def of(folder, results):
    part, state = state_of(results)
    device = {row["name"]: row for row in rows_of(results, "probe")}
    gpu = device.get("device", {})
    clocks = device.get("clocks", {}).get("text", "").splitlines()
    lines = ["%s, %s, `%s`, prepared as %s." % (state["date"], gpu.get("gpu", "no GPU"), state["command"], state["hash"][:12])]
    if clocks:
        lines.append("Clocks: " + clocks[-1] + ".")
    if state["emulated"]:
        lines.append("Played by the emulator: times mean nothing.")
    lines += ["", *("- " + phase_line(p) for p in state["phases"]), ""]
    if part == "part2":
        return "\n".join(lines + compiled(results)) + "\n"
    lines += [*ceilings(results), "", *executables(results), "",
              *kernels(folder, results), "",
              *networks(results)]
    return "\n".join(lines) + "\n"
