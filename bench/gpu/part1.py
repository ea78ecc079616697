"""The parts on the GPU's machine: phases one after the other, each a process of its own that appends to a file of its own.

A phase is a module with `items(args)`, which gives (name, function) pairs; what a function returns is a line of the file, and
so is what it raises. A process that ends early or is silent for too long is started again behind the item that it was at.
"""
import datetime
import importlib
import json
import os
import subprocess
import sys
import time
import traceback

import seal
import table

# Phase: seconds of all its items together, seconds of silence after which an item has failed. At most 410 s in all.
PARTS = {"part1": {"probe": (30, 20), "ceilings": (60, 30), "executables": (50, 40), "kernels": (130, 20),
                   "networks": (140, 90)},
         "part2": {"probe": (30, 20), "measured": (210, 90), "versus": (130, 90), "ncu": (40, 40)}}
MOST_BYTES = 16 << 20  # of a file that comes back
FATAL = 3              # exit code: the device is lost to this process, another may go on


class Absent(Exception):
    """What is measured is not on this machine."""


class Lost(Exception):
    """The driver reported a failure that stays."""


def lines_of(path):
    """What was written whole; a process that was ended may have left a part of a line."""
    rows = []
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                try:
                    rows.append(json.loads(line))
                except ValueError:
                    pass
    return rows


def append(path, row):
    with open(path, "a") as f:
        f.write(json.dumps(row) + "\n")
        f.flush()
        os.fsync(f.fileno())


def run_phase(args):
    path = os.path.join(args.results, args.phase + ".jsonl")
    items = importlib.import_module(args.phase).items(args)
    append(path, {"items": len(items)})
    for number, (name, function) in list(enumerate(items))[args.first:]:
        append(path, {"begin": number, "name": name})
        row = {"item": number, "name": name}
        try:
            row.update(function() or {})
        except Absent as absent:
            row["absent"] = str(absent)
        except Exception as error:
            row["error"] = "%s: %s" % (type(error).__name__, str(error)[:500])
            append(path, row)
            traceback.print_exc()
            if isinstance(error, Lost):
                return FATAL
            continue
        append(path, row)
    append(path, {"end": True})
    return 0


def state_of(rows):
    """(number of items or None, the item that a process is or was at or None, whether the phase came to its end)"""
    count, at = None, None
    for row in rows:
        count = row.get("items", count)
        at = row["begin"] if "begin" in row else None if "item" in row else at
    return count, at, any("end" in row for row in rows)


def watch(process, path, until, silence):
    """Waits for the process; "" or why it was ended."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        now = time.monotonic()
        grown = os.path.getsize(path) if os.path.exists(path) else 0
        if grown != size:
            size, since = grown, now
        why = "the deadline passed" if now >= until else "no answer in %g s" % silence if now - since >= silence else ""
        if why or size > MOST_BYTES - (64 << 10):
            process.kill()
            process.wait()
            return why or "its file is full"
    return ""


def run_one(args, phase, log):
    """All of a phase, in as many processes as it takes."""
    seconds, silence = args.limits[phase], PARTS[args.verb][phase][1] * args.patience
    path = os.path.join(args.results, phase + ".jsonl")
    start, first, told, why = time.monotonic(), 0, "", ""
    while True:
        command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "visit"), "phase", args.dir,
                   "--results", args.results, "--libcuda", args.libcuda, "--phase", phase, "--first", str(first),
                   *(["--korch", args.korch] if args.korch else [])]
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        why = watch(process, path, start + seconds, min(silence, seconds))
        rows = lines_of(path)
        count, at, ended = state_of(rows)
        if ended or why in ("the deadline passed", "its file is full"):
            break
        done = [row["item"] for row in rows if "item" in row]
        if at is None and process.returncode != FATAL:  # it ended between items, or before the first: it would again
            told = why or "its process ended with code %s" % process.returncode
            break
        if at is not None:
            append(path, {"item": at, "name": [row for row in rows if "begin" in row][-1]["name"],
                          "error": why or "its process ended with code %s" % process.returncode})
            done.append(at)
        first = max(done) + 1
        if count is not None and first >= count:
            break
    rows = lines_of(path)
    done = [row for row in rows if "item" in row]
    count = state_of(rows)[0]
    return {"phase": phase, "seconds": round(time.monotonic() - start, 1), "deadline": seconds, "items": count,
            "done": len(done), "failed": sum("error" in row for row in done),
            "absent": sum("absent" in row for row in done),
            "cut": why if why in ("the deadline passed", "its file is full") else told}


def run(args):
    info = seal.check(args.dir)
    os.makedirs(args.results, exist_ok=True)
    if os.listdir(args.results):
        print("%s is not empty" % args.results)
        return 1
    args.limits = {phase: limits[0] * args.patience for phase, limits in PARTS[args.verb].items()}
    for given in filter(None, args.deadlines.split(",")):
        phase, seconds = given.split("=")
        args.limits[phase] = float(seconds)
    state = {"hash": info["hash"], "date": datetime.date.today().isoformat(), "phases": [],
             "command": "bench/gpu/visit " + args.verb, "emulated": args.libcuda != "libcuda.so.1"}

    def write_state():
        with open(os.path.join(args.results, args.verb + ".json"), "w") as f:
            json.dump(state, f, indent=1)

    write_state()
    with open(os.path.join(args.results, "log.txt"), "w") as log:
        for phase in PARTS[args.verb]:
            print("%s, at most %g s" % (phase, args.limits[phase]), flush=True)
            state["phases"].append(run_one(args, phase, log))
            write_state()
            print("  " + table.phase_line(state["phases"][-1]), flush=True)
    text = table.of(args.dir, args.results)
    with open(os.path.join(args.results, "table.md"), "w") as f:
        f.write(text)
    print(text)
    for name in os.listdir(args.results):  # what comes back is small; a log may not be
        path = os.path.join(args.results, name)
        if os.path.getsize(path) > MOST_BYTES:
            os.truncate(path, MOST_BYTES)
    return 0
