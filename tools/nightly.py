"""The night, on this machine: each target of the matrix of ``night.yml``, one after another.

It goes on after a failure. At the end a table says what each took and whether it failed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import stages
import yaml

WORKFLOW = Path(__file__).resolve().parents[1] / ".github" / "workflows" / "night.yml"


def targets() -> list[str]:
    """Return what the night asks `make` for, such as ``namespaces NAMESPACE=jax``."""
    night = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["night"]
    return [row["target"] for row in night["strategy"]["matrix"]["include"]]


def main() -> int:
    """Run all of them; 1 if one failed."""
    done = []
    for target in targets():
        print(f"\n----- {target}", flush=True)
        done.append(stages.run(target, "make", "--no-print-directory", *target.split()))
    print(f"\n{stages.table(done)}")
    return int(any(stage.status for stage in done))


if __name__ == "__main__":
    sys.exit(main())
