"""Seconds of the processor for an import in a new process, and its calls of Python.

``python benchmarks/import_time.py [--rounds 11]`` prints the median over rounds, taken in turns.
The floor is the import of NumPy, which none of the others can do without.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median

CASES = {
    "numpy, the floor": "import numpy",
    "gpnotes": "import gpnotes",
    "gpnotes, every public name": "from gpnotes import *",
    "sklearn.gaussian_process": "import sklearn.gaussian_process",
}
_PROGRAM = """
import sys, time
calls = 0
def count(frame, event, argument):
    global calls
    calls += event == "call"
if {counted}:
    sys.setprofile(count)
start = time.process_time()
{code}
seconds = time.process_time() - start
sys.setprofile(None)
print(calls if {counted} else seconds)
"""


def measured(code: str, counted: bool = False) -> float:
    """Return the seconds of these imports in a new process, or the calls that they make."""
    program = _PROGRAM.format(code=code, counted=counted)
    return float(subprocess.check_output([sys.executable, "-c", program], text=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    found = [{name: measured(code) for name, code in CASES.items()} for _ in range(rounds)]
    print("| import | seconds | calls |\n| --- | --- | --- |")
    for name, code in CASES.items():
        seconds = median(row[name] for row in found)
        print(f"| {name} | {seconds:.3f} | {measured(code, counted=True):.0f} |")


if __name__ == "__main__":
    main()
