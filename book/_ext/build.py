"""Run Jupyter Book's own build command with two settings: ``python book/_ext/build.py``.

The trees of the pages stay until the end, so Python's search for garbage finds little: it runs less
often, and the process ends without taking the trees apart. YAML is read by its parser in C.
"""

import atexit
import gc
import os
import sys
from pathlib import Path

import yaml


def leave(status):
    """End the process, after the functions that others registered for its end."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    gc.set_threshold(200_000, 20, 50)
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    from jupyter_book.cli.main import main

    root = Path(__file__).resolve().parents[2]
    quiet = ["-q"] if os.environ.get("CI") else []  # else 1500 lines of progress
    try:
        main(["build", str(root), "-W", "--keep-going", "-n", *quiet, *sys.argv[1:]])
    except SystemExit as end:
        leave(end.code or 0)
