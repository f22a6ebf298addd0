"""Run what CI runs, from a fresh clone on a bare machine: the README's commands, stage by stage.

    .ci/run          all that a change must pass
    .ci/run --all    and the night (hours)

It needs Python 3.11 and make, and installs a chromium for the browser tests where there is none and
the machine lets it. At the end come a table of the times and what the tests counted.

Lint and the tests that need no built book run at the same time as the book and the tests of its
pages: Sphinx writes one page after another, browsers wait, and no core should be idle. The book
goes first (`nice`), since its pages wait for it.

It uses what an earlier run left in the folders that these name: BOOK_CACHE (what chapters printed),
UV_CACHE_DIR (downloads) and MYPY_CACHE_DIR (types).
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import stages
from system_browser import browser_path

ROOT = Path(__file__).resolve().parents[1]
done = {}


def stage(name, *command):
    """Run a command, show what it said, and return whether it passed."""
    print(f".ci/run: {name} begins", flush=True)
    done[name] = stages.run(name, *command, keep=True)
    sys.stdout.buffer.write(f"\n----- {name}\n{done[name].said}".encode())
    sys.stdout.flush()
    return done[name].status == 0


def environment():
    """Install what the tests need, and a browser; return whether the first could be done."""
    with ThreadPoolExecutor() as beside:
        install = (sys.executable, "tools/system_browser.py", "--install")
        browser = beside.submit(stage, "browser", *install)
        made = stage("environment", "make", "environment")
        browser.result()
    if chromium := browser_path():
        os.environ["CHROMIUM"] = chromium
    else:
        os.environ["CI"] = "false"  # where no browser can be had, its tests skip and say so
    return made


def day():
    """Run lint, the book and all tests of the day."""
    os.environ["CHECKED_CLAIMS_SECONDS"] = "0.1"  # the night repeats claims whose draws take longer
    with ThreadPoolExecutor() as beside:
        rest = beside.submit(
            lambda: (stage("lint", "make", "lint"), stage("apart", "nice", "make", "apart"))
        )
        if stage("book", "make", "book"):
            stage("pages", "make", "pages", f"BOOK_HTML={ROOT}/_build/html")
        rest.result()
    del os.environ["CHECKED_CLAIMS_SECONDS"]


def main():
    """Run the stages; 1 if one of them failed or not all tests ran."""
    os.chdir(ROOT)
    os.environ["CI"] = "true"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # one compilation serves every process
    tests = ["apart", "pages"]
    if environment():
        day()
        if "--all" in sys.argv[1:]:
            stage("nightly", "make", "nightly")
            tests.append("nightly")
    print(f"\n{stages.table(done.values())}")
    try:
        print(stages.counts(done[name].said for name in tests))
    except (KeyError, ValueError):
        print("not all of the tests ran")
        return 1
    return int(any(ended.status for ended in done.values()))


if __name__ == "__main__":
    sys.exit(main())
