"""The browser of the system, which tests and tools drive: ``python tools/system_browser.py``."""

import os
import shutil
import sys

# The first has no window, and opens a page in half the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """The path that CHROMIUM says, or of the first that is there; where none is, None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


if __name__ == "__main__":
    print(browser_path() or sys.exit(1))
