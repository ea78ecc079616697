"""The page and the chart of bench/engines.py, from its rows."""
import math
import os
import statistics
import textwrap

OTHERS = {"eager": "PyTorch eager", "inductor": "Inductor", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}
COLOURS = {"eager": "#e69f00", "inductor": "#cc79a7", "onnxruntime": "#56b4e9", "openvino": "#009e73"}  # Okabe and Ito's
INK = "#123456"          # stands for the text's colour, which follows the reader's scheme
NOISY_CORES = 0.05       # more used by other programs during the rounds: the row says so
WORKING_SHARE = 0.05     # of a core: a thread that uses more is at work
EXPLANATION = [
    "Median in milliseconds, then the ratio: time of the engine over korch's of the same round, median [95 %]; above 1 korch is "
    "faster. Bold: the fastest. Every engine computes in float32 (OpenVINO by its precision hint) with as many threads as korch, "
    "counted while it ran; Inductor has freezing on. Outputs are compared with ONNX Runtime's, and its own with the reference: "
    "\"wrong\" is beyond 20 times what float32 rounding does to the network (or 1e-5 of the output's spread).",
    "One process per engine, alternated round by round in changing order: in one process they would share floating-point modes, "
    "allocators and OpenMP settings, and neither threads nor a crash could be told apart. Before each timed run the engine runs "
    "for 20 ms, or once.",
    "† PyTorch's module is converted from the ONNX file, as PyPI has none; the other bundled networks are torchvision's or "
    "transformers' modules with the file's weights. torchvision's own networks have random weights and are exported by "
    "torch.onnx.",
]


def right(result):
    return result["error_over_tolerance"] <= 1


def has_ratio(row, engine):
    return "over_korch" in row["engines"].get(engine, {})


def fastest(row):
    """The engine with the least median among those whose outputs are right."""
    times = {engine: r["ms"][0] for engine, r in row["engines"].items() if "ms" in r and right(r)}
    return min(times, key=times.get) if times else None


def at_work(result):
    return sum(share > WORKING_SHARE for share in result["thread_shares"])


def cell(row, engine, marks):
    r = row["engines"].get(engine)
    who = "%s%s, %s" % (row["network"], " beside another program" if row["disturb"] else "", OTHERS.get(engine, engine))
    if r is None:
        return "—"
    if "failed" in r:
        marks.append("%s: %s" % (who, r["failed"]))
        return "fails"
    text = "%.2f" % r["ms"][0]
    if fastest(row) == engine:
        text = "**%s**" % text
    if engine != "korch" and "over_korch" in r:
        text += ", %.2f [%.2f, %.2f]" % tuple(r["over_korch"])
    if not right(r):
        text += " **wrong**"
        marks.append("%s: its outputs differ by %.3g tolerances" % (who, r["error_over_tolerance"]))
    if at_work(r) != row["threads"]:
        marks.append("%s: %d at work, not %d threads" % (who, at_work(r), row["threads"]))
    return text


def geometric_mean(rows, engine):
    ratios = [row["engines"][engine]["over_korch"][0] for row in rows if has_ratio(row, engine)]
    return "%.2f (%d)" % (math.exp(statistics.mean(map(math.log, ratios))), len(ratios)) if ratios else "—"


def table(rows, marks):
    lines = ["| network | korch ms | %s |" % " | ".join(OTHERS.values()), "|---|---|---|---|---|---|"]
    for row in rows:
        name = row["network"] + (" †" if row["converted"] else "")
        lines.append("| %s | %s |" % (name, " | ".join(cell(row, engine, marks) for engine in ["korch", *OTHERS])))
    for title, part in (("geometric mean", rows), ("of the bundled ones", [r for r in rows if r["bundled"]]),
                        ("of torchvision's", [r for r in rows if not r["bundled"]])):
        if part and (title == "geometric mean" or len(part) < len(rows)):
            lines.append("| %s | | %s |" % (title, " | ".join(geometric_mean(part, engine) for engine in OTHERS)))
    return lines


def of_all(rows, field):
    """The values of a field over the rows, once each."""
    return ", ".join(sorted({str(row[field]) for row in rows}))


def verdict(rows):
    ratios = [[row["engines"][e]["over_korch"][0] for e in OTHERS if has_ratio(row, e) and right(row["engines"][e])]
              for row in rows]
    rivals = [min(of_row) for of_row in ratios if of_row]
    first = sum(fastest(row) == "korch" for row in rows)
    text = "korch is the fastest in %d of %d" % (first, len(rows))
    if rivals:
        text += "; over the fastest of the others, whichever that is, %.2f in the geometric mean" % math.exp(
            statistics.mean(map(math.log, rivals)))
    return text + "."


def wrapped(text):
    return textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)


def section(rows, marks):
    noisy = ["%s (%.2f)" % (row["network"], row["others_cores"]) for row in rows if row["others_cores"] > NOISY_CORES]
    lines = [*table(rows, marks), "", *wrapped(verdict(rows))]
    if noisy:
        lines += ["", *wrapped("Not quiet: other programs used more than %g cores beside %s." % (
            NOISY_CORES, ", ".join(noisy)))]
    return lines


def page(rows, chart):
    quiet, disturbed = [[r for r in rows if r["disturb"] == d] for d in (False, True)]
    versions = {"%s %s" % item for row in rows for item in row["versions"].items()}
    marks = []
    lines = ["# Against PyTorch, ONNX Runtime and OpenVINO", ""]
    lines += wrapped("%s; korch at %s; %s; %s threads; %s." % (
        " to ".join(sorted({min(r["date"] for r in rows)[:10], max(r["date"] for r in rows)[:10]})), of_all(rows, "commit"),
        of_all(rows, "machine"), of_all(rows, "threads"), ", ".join(sorted(versions))))
    lines += ["", "```", *sorted({row["command"] for row in rows}), "```", ""]
    if any(row["no_measure"] for row in rows):
        lines += ["**A trial: korch planned without measuring.**", ""]
    for paragraph in EXPLANATION:
        lines += [*wrapped(paragraph), ""]
    if quiet:
        lines += ["![Speed-up of korch by network](%s)" % chart, "", *section(quiet, marks)]
    if disturbed:
        lines += ["", "## With another program running", "", "A process that computes all the time, at nice 19, beside the engines.",
                  "", *section(disturbed, marks)]
    if marks:
        lines += ["", "Marked:", "", *["- " + mark for mark in marks]]
    return "\n".join(lines) + "\n"


def draw(rows, path):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullLocator, ScalarFormatter

    inked = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "korch", "font.family": "sans-serif", "font.size": 9,
                                **{name: INK for name in inked}})
    engines = [engine for engine in OTHERS if any(has_ratio(row, engine) for row in rows)]
    height = 0.8 / max(len(engines), 1)
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.42 * len(rows)))
    for i, engine in enumerate(engines):
        measured = [(at, row["engines"][engine]["over_korch"]) for at, row in enumerate(rows) if has_ratio(row, engine)]
        at, ratios = [at - 0.4 + (i + 0.5) * height for at, _ in measured], [ratio for _, ratio in measured]
        axes.barh(at, [r[0] - 1 for r in ratios], height, left=1, color=COLOURS[engine], label=OTHERS[engine])
        margins = [[r[0] - r[1] for r in ratios], [r[2] - r[0] for r in ratios]]
        axes.errorbar([r[0] for r in ratios], at, xerr=margins, fmt="none", ecolor=INK, elinewidth=0.8)
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_xlim()
    axes.set_xticks([tick for tick in (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 32) if low <= tick <= high])
    axes.set_yticks(range(len(rows)), [row["network"] + (" †" if row["converted"] else "") for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time of the engine / time of korch (right of 1: korch is faster), median and 95 % interval")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=len(OTHERS), frameon=False)
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    with open(path) as f:
        svg = f.read().replace(INK, "currentColor")
    scheme = "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}</style>"
    start = svg.index(">", svg.index("<svg")) + 1
    with open(path, "w") as f:
        f.write(svg[:start] + scheme + svg[start:])


def write(rows, base):
    """BASE.md and BASE.svg."""
    if not rows:
        raise SystemExit("no rows yet")
    quiet = [row for row in rows if not row["disturb"]]
    if quiet:
        draw(quiet, base + ".svg")
    with open(base + ".md", "w") as f:
        f.write(page(rows, os.path.basename(base) + ".svg"))
