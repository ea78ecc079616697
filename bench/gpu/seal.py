"""The hash over everything that a visit carries, so that results are told of what was run."""
import hashlib
import json
import os

MOST_BYTES = 45 << 20


def files_of(folder):
    """Relative names, sorted; without the results, the seal and what Python leaves."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and
                      not (root == folder and name.startswith("results"))]
        found += [os.path.relpath(os.path.join(root, name), folder) for name in names]
    return sorted(name for name in found if name != "visit.json")


def hash_of(folder):
    total = hashlib.sha256()
    for name in files_of(folder):
        with open(os.path.join(folder, name), "rb") as f:
            total.update(("%s %s\n" % (name, hashlib.sha256(f.read()).hexdigest())).encode())
    return total.hexdigest()


def seal(folder, **more):
    size = sum(os.path.getsize(os.path.join(folder, name)) for name in files_of(folder))
    if size > MOST_BYTES:
        raise SystemExit("%s holds %.1f MiB; a visit carries %d" % (folder, size / 2**20, MOST_BYTES >> 20))
    info = {"hash": hash_of(folder), "bytes": size, "files": len(files_of(folder)), **more}
    with open(os.path.join(folder, "visit.json"), "w") as f:
        json.dump(info, f, indent=1)
    return info


def check(folder):
    with open(os.path.join(folder, "visit.json")) as f:
        info = json.load(f)
    if hash_of(folder) != info["hash"]:
        raise SystemExit("%s is not what was prepared: its files have another hash than visit.json says" % folder)
    return info
