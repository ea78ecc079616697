#!/usr/bin/env python3
"""Compilations with workers that are real processes, which are killed, strangers, or out of disk.

processes_test.py KORCH PROTOC PROTO_FOLDER"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

from scenes import Scenes, check, kernels_of_workers, said, wait_until


def plan_of(scenes, name):
    """What was dumped there, without the report, which tells times."""
    plan = json.loads((scenes.folder / name / "5-plan.json").read_text())
    plan.pop("report")
    return json.dumps(plan)


def two_workers_measure(scenes):
    fleet, database = scenes.folder / "fleet", scenes.folder / "first.db"
    scenes.start_worker(fleet)
    scenes.start_worker(fleet)
    result = scenes.finish_compile(scenes.start_compile(fleet, "--profile-db", database))
    kernels = kernels_of_workers(result)
    check(len(kernels) == 2 and min(kernels) > 0, f"two workers measure: {result['fleet']}")
    check(result["kernels_measured"] >= sum(kernels), "costs are counted")
    scenes.end_workers()


def costs_that_are_known_give_the_same_plan(scenes):
    for copy in ("alone.db", "together.db"):
        shutil.copy(scenes.folder / "first.db", scenes.folder / copy)
    subprocess.run([scenes.korch, "compile", scenes.model, "-o", scenes.folder / "net.so", "--threads", "1",
                            "--exhaustive", "--quiet", "--profile-db", scenes.folder / "alone.db", "--dump-dir",
                            scenes.folder / "alone"], stdout=subprocess.DEVNULL, check=True)
    fleet = scenes.folder / "fleet"
    scenes.start_worker(fleet)
    scenes.finish_compile(scenes.start_compile(fleet, "--profile-db", scenes.folder / "together.db", "--dump-dir",
                                               scenes.folder / "together"))
    check(plan_of(scenes, "together") == plan_of(scenes, "alone"), "the plan is the one that is made alone")
    scenes.end_workers()


def a_killed_worker_loses_nothing(scenes):
    fleet = scenes.folder / "fleet"
    victim, other = scenes.start_worker(fleet), scenes.start_worker(fleet)
    compilation = scenes.start_compile(fleet, "--no-profile-db")
    scenes.wait_for_work(fleet, [victim, other])
    scenes.kill_at_work(fleet, victim)
    result = scenes.finish_compile(compilation)
    check(said(result, "is lost"), f"who is lost is said: {result['warnings']}")
    check(max(kernels_of_workers(result)) > 0, "the other worker goes on")
    scenes.end_workers()


def session(fleet):
    try:
        return json.loads((fleet / "notes" / "leader").read_text())["session"]
    except FileNotFoundError:
        return None


def a_killed_leader_loses_nothing(scenes):
    fleet = scenes.folder / "fleet"
    workers = [scenes.start_worker(fleet), scenes.start_worker(fleet)]
    compilation = scenes.start_compile(fleet, "--no-profile-db")
    scenes.wait_for_work(fleet, workers)
    wait_until(lambda: len(scenes.names(fleet, "done")) >= 8, "results")
    scenes.kill(compilation)
    done = fleet / "done"
    dead = session(fleet)
    claimed = {name.split("@")[0] for name in scenes.names(fleet, "claimed")}
    known = {name: (done / name).stat().st_ino for name in scenes.names(fleet, "done") if name not in claimed}
    measured_again, over = set(), threading.Event()

    def watch():
        while not over.is_set():
            for name in known:
                with contextlib.suppress(FileNotFoundError):  # the leader removes them at its end
                    if (done / name).stat().st_ino != known[name]:
                        measured_again.add(name)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        again = scenes.start_compile(fleet, "--no-profile-db")
        wait_until(lambda: session(fleet) not in (dead, None), "the next leader")
        second = scenes.start_compile(fleet, "--no-profile-db")
        check("another compilation" in second.communicate()[1], "a second leader is told why")
        check(second.returncode == 2, f"a second leader is refused: {second.returncode}")
        result = scenes.finish_compile(again)
    finally:
        over.set()
        watcher.join()
    check(len(measured_again) == 0, f"results are not measured again: {len(measured_again)} of {len(known)}")
    check(sum(kernels_of_workers(result)) > 0, "workers serve the next leader")
    scenes.end_workers()


def strangers_are_refused(scenes):
    foreign = scenes.folder / "foreign"
    foreign.mkdir(mode=0o777)
    foreign.chmod(0o777)
    for command in (scenes.compile_command(foreign), [scenes.korch, "measure", "--serve", foreign]):
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 2, f"a foreign folder: {done.returncode}")
        check("group or others can write to it" in done.stderr, done.stderr)


def other_builds_and_machines_are_set_aside(scenes):
    fleet, other = scenes.folder / "fleet", scenes.folder / "other-korch"
    shutil.copy(scenes.korch, other)
    with open(other, "ab") as program:
        program.write(b"another build")
    scenes.start_worker(fleet, program=other)
    good = scenes.start_worker(fleet)
    compilation = scenes.start_compile(fleet, "--no-profile-db")
    scenes.wait_for_work(fleet, [good])
    result = scenes.finish_compile(compilation)
    check(said(result, "is set aside: it is another build of korch"), f"another build: {result['warnings']}")
    scenes.end_workers()


def a_full_disk_ends_a_worker(scenes):
    done = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", scenes.korch, "measure", "--serve",
                           scenes.folder / "full"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 6, f"a full disk: {done.returncode} {done.stderr}")
    check("cannot write" in done.stderr, done.stderr)


def commands_start_workers(scenes):
    fleet = scenes.folder / "started"
    command = "{korch} measure --serve {dir} --once"
    result = scenes.finish_compile(
        scenes.start_compile(fleet, "--no-profile-db", "--fleet", command, "--fleet", "exit 9 # {dir}"))
    check(said(result, "ended with code 9"), f"a command that fails: {result['warnings']}")
    check(sum(kernels_of_workers(result)) > 0, f"a started worker measures: {result['fleet']}")
    wait_until(lambda: not scenes.names(fleet, "beats"), "the started worker's end")


def main():
    korch, protoc, proto_folder = sys.argv[1:4]
    os.umask(0o077)
    scenes_of = [two_workers_measure, costs_that_are_known_give_the_same_plan, a_killed_worker_loses_nothing,
                 a_killed_leader_loses_nothing, strangers_are_refused, other_builds_and_machines_are_set_aside,
                 a_full_disk_ends_a_worker, commands_start_workers]
    wanted = sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        for scene in scenes_of:
            if wanted and scene.__name__ not in wanted:
                continue
            print(scene.__name__, flush=True)
            scenes = Scenes(korch, tempfile.mkdtemp(dir=folder), protoc, proto_folder)
            if scene is costs_that_are_known_give_the_same_plan:
                two_workers_measure(scenes)
            try:
                scene(scenes)
            finally:
                scenes.end_workers()


if __name__ == "__main__":
    main()
