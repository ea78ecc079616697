#!python
"""The command `korch`: the program that the package brings. It does not import the package, which costs 0.3 s."""

import importlib.util
import os
import sys

package = importlib.util.find_spec("korch")
if package is None or not package.submodule_search_locations:
    sys.exit(f"korch: the package korch is not installed for {sys.executable}")
program = os.path.join(package.submodule_search_locations[0], "bin", "korch")
os.execv(program, ["korch", *sys.argv[1:]])
