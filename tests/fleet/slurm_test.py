#!/usr/bin/env python3
"""A compilation whose workers are jobs of a real Slurm: one controller and two nodes, all on this machine.

slurm_test.py KORCH PROTOC PROTO_FOLDER; skipped (77) where Debian's slurmctld, slurmd and slurm-client are not
installed, and for others than root, whose jobs alone need no accounts."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from scenes import Scenes, check, kernels_of_workers, wait_until

CONFIGURATION = """
ClusterName=scenes
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/backfill
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=10
ReturnToService=2
NodeName=scene1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs={cpus} State=UNKNOWN
NodeName=scene2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=scene1,scene2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        port, port1, port2 = free_ports(3)
        host = socket.gethostname().split(".")[0]
        configuration = os.path.join(folder, "slurm.conf")
        for name in ("state", "spool-scene1", "spool-scene2"):
            os.mkdir(os.path.join(folder, name), 0o755)
        with open(configuration, "w") as file:
            file.write(CONFIGURATION.format(host=host, port=port, port1=port1, port2=port2, folder=folder,
                                            cpus=os.cpu_count()))
        os.environ["SLURM_CONF"] = configuration
        self.daemons = {"slurmctld": self.start("slurmctld", "-D", "-i")}
        for node in ("scene1", "scene2"):
            self.daemons[node] = self.start("slurmd", "-D", "-N", node)

    def start(self, *command):
        with open(os.path.join(self.folder, f"{command[-1]}.out"), "wb") as out:
            return subprocess.Popen([shutil.which(command[0], path=os.environ["PATH"] + ":/usr/sbin:/sbin"),
                                     *command[1:]], stdout=out, stderr=out)

    def idle_nodes(self):
        done = subprocess.run(["sinfo", "--noheader", "--Node", "--format=%N %t"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return sum(line.split()[-1] == "idle" for line in done.stdout.splitlines() if line.strip())

    def jobs(self):
        done = subprocess.run(["squeue", "--noheader", "--format=%N %T"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return done.stdout.splitlines()

    def logs(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".log", ".out")):
                with open(os.path.join(self.folder, name), errors="replace") as file:
                    text += f"--- {name}\n" + "".join(file.readlines()[-15:])
        return text

    def end(self):
        subprocess.run(["scancel", "--name=korch", "--signal=KILL"], stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        for daemon in self.daemons.values():
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def two_nodes_measure(scenes, slurm):
    result = scenes.finish_compile(scenes.start_compile(scenes.folder / "fleet", "--no-profile-db", "--fleet", "slurm:2"))
    kernels = kernels_of_workers(result)
    check(len(kernels) == 2 and min(kernels) > 0, f"both nodes measure: {result['fleet']} {result['warnings']}")
    wait_until(lambda: not slurm.jobs(), "the jobs' end")


def a_killed_worker_is_said(scenes, slurm):
    fleet = scenes.folder / "fleet"
    compilation = scenes.start_compile(fleet, "--no-profile-db", "--fleet", "slurm:2")
    wait_until(lambda: len({name.split("@")[1] for name in scenes.names(fleet, "claimed")}) == 2, "two claims")
    victim = scenes.names(fleet, "beats")
    number = next(int(name.split("-")[-2]) for name in victim if name.count("-") >= 2)
    os.kill(number, signal.SIGKILL)
    result = scenes.finish_compile(compilation)
    check(result["warnings"], "it is said")
    check(max(kernels_of_workers(result)) > 0, f"the other node goes on: {result['fleet']}")
    wait_until(lambda: not slurm.jobs(), "the jobs' end")


# The last: the node stays down.
def a_killed_node_loses_nothing(scenes, slurm):
    fleet = scenes.folder / "fleet"
    compilation = scenes.start_compile(fleet, "--no-profile-db", "--fleet", "slurm:2")
    wait_until(lambda: len({name.split("@")[1] for name in scenes.names(fleet, "claimed")}) == 2, "two claims")
    slurm.daemons["scene2"].send_signal(signal.SIGKILL)
    slurm.daemons["scene2"].wait()
    result = scenes.finish_compile(compilation)
    check(max(kernels_of_workers(result)) > 0, f"a node goes on: {result['fleet']}")


def main():
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [name for name in ("slurmctld", "slurmd", "srun") if shutil.which(name, path=path) is None]
    if missing or os.geteuid() != 0:
        print("skipped:", f"{', '.join(missing)} not installed" if missing else "only root can start these daemons")
        sys.exit(77)
    korch, protoc, proto_folder = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        slurm_folder = os.path.join(folder, "slurm")
        os.mkdir(slurm_folder, 0o755)
        slurm = Slurm(slurm_folder)
        try:
            wait_until(lambda: slurm.idle_nodes() == 2, "two idle nodes")
            for scene in (two_nodes_measure, a_killed_worker_is_said, a_killed_node_loses_nothing):
                print(scene.__name__, flush=True)
                wait_until(lambda: slurm.idle_nodes() == 2, "two idle nodes")
                scene(Scenes(korch, tempfile.mkdtemp(dir=folder), protoc, proto_folder), slurm)
        except BaseException:
            print(slurm.logs(), flush=True)
            raise
        finally:
            slurm.end()


if __name__ == "__main__":
    main()
