"""The browser of the system, which tests and tools drive."""

import os
import shutil

# The first has no window, and opens a page in half the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """The path that CHROMIUM says, or of the first that is there; where none is, None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
