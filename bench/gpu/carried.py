"""korch on the GPU's machine: a build without the CPU backend, with the libraries that it needs and their loader.

NVRTC, the compiler, is that machine's: CUDA's toolkit or PyTorch's packages have it.
"""
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

from part1 import Absent

FOLDER, LOADER = "korch", "ld-linux-x86-64.so.2"
USAGE, UNSUPPORTED = 2, 4  # exit codes


def pack(program, folder):
    """Copies the program and its libraries into the folder; False where it is not built."""
    if not os.path.exists(program):
        return False
    os.makedirs(folder)
    files = [program]
    for line in subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        files += [word for word in (words[2:3] if "=>" in words else words[:1]) if os.path.isabs(word)]
    with tempfile.TemporaryDirectory() as work:
        for path in files:
            copy = shutil.copy(path, os.path.join(work, os.path.basename(path)))
            subprocess.run(["strip", "--strip-unneeded", copy], stderr=subprocess.DEVNULL)  # else as it is
            with open(copy, "rb") as f, open(os.path.join(folder, os.path.basename(path) + ".gz"), "wb") as packed:
                packed.write(gzip.compress(f.read(), mtime=0))
    return True


def unpacked(args):
    """The folder of the program and its libraries, unpacked where nothing comes back from."""
    source, target = os.path.join(args.dir, FOLDER), os.path.join(args.results + ".made", FOLDER)
    if not os.path.exists(os.path.join(source, "korch.gz")):
        raise Absent("korch was not carried")
    if not os.path.exists(target):
        work = target + ".part"
        os.makedirs(work, exist_ok=True)
        for name in os.listdir(source):
            path = os.path.join(work, name[:-len(".gz")])
            with gzip.open(os.path.join(source, name), "rb") as packed, open(path, "wb") as f:
                f.write(packed.read())
            os.chmod(path, 0o755)
        os.rename(work, target)
    return target


def compiler_folders():
    found = []
    for folder in sys.path:
        found += glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libnvrtc.so.1[23]"))
    found += glob.glob("/usr/local/cuda*/lib64/libnvrtc.so.1[23]")
    return [os.path.dirname(path) for path in found]


def command(args, *arguments):
    if args.korch:
        return [args.korch, *arguments]
    folder = unpacked(args)
    return [os.path.join(folder, LOADER), "--library-path", ":".join([folder] + compiler_folders()),
            os.path.join(folder, "korch"), *arguments]


def environment(args):
    made = args.results + ".made"
    os.makedirs(made, exist_ok=True)
    return {**os.environ, "KORCH_CUDA_DRIVER": args.libcuda, "KORCH_MODELS": os.path.join(args.dir, "models"),
            "XDG_CACHE_HOME": made}


def run(args, *arguments):
    """What korch prints; Absent where there is no GPU or compiler."""
    done = subprocess.run(command(args, *arguments), env=environment(args), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    told = done.stderr.strip().splitlines()[-1:] or [""]
    if done.returncode == USAGE and "is the GPU of this machine, but" in told[0]:
        raise Absent(told[0])
    if done.returncode == UNSUPPORTED and "NVRTC" in told[0]:
        raise Absent(told[0])
    if done.returncode != 0:
        raise RuntimeError("korch %s ends with %d: %s" % (arguments[0], done.returncode, told[0]))
    return done.stdout + done.stderr


def names(args):
    """The networks that are compiled there, as files of DIR/models: skeletons of bundled ones, others as they are."""
    with open(os.path.join(args.dir, "compiled.json")) as f:
        return json.load(f)


def made(args, name, kind):
    """Where a file of the network is put: it does not come back."""
    return os.path.join(args.results + ".made", name.split(".")[0] + kind)
