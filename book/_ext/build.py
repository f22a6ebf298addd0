"""Jupyter Book's own build command, less a second of its start-up: ``python book/_ext/build.py``.

On import, jsonschema compiles 38 grammars of internationalised addresses if it finds the package
that has them. Jupyter Book validates no such address, and jsonschema does without. And the trees of
the pages stay until the end, so that Python's search for what nobody needs seldom finds anything.
"""

import gc
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.modules["rfc3987_syntax"] = None  # as if it were not installed
    gc.set_threshold(200_000, 20, 50)
    from jupyter_book.cli.main import main

    root = Path(__file__).resolve().parents[2]
    main(["build", str(root), "-W", "--keep-going", "-n", *sys.argv[1:]])
