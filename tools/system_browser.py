"""The browser of the system, which tests and tools drive: ``python tools/system_browser.py``.

With ``--install`` it is installed first, and the letters of its pages, where they are missing and
apt-get may do it.
"""

import os
import shutil
import subprocess
import sys

# The first has no window, and opens a page in half the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def browser_path() -> str | None:
    """Return the path that CHROMIUM says, or of the first that is there; where none is, None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def install() -> None:
    """Try to install one without a window, or any, and its letters; none is no error.

    Tests measure pages in Liberation, which has the widths of Arial and Times: in the letters that
    a bare machine has, a chapter is a tenth longer.
    """
    lacks = [] if _has_letters() else ["fonts-liberation"]
    if (shutil.which(NAMES[0]) and not lacks) or not shutil.which("apt-get"):
        return
    as_root = [] if os.getuid() == 0 else ["sudo", "--non-interactive"]
    apt = [*as_root, "apt-get", "-qq"]
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    _done(60, *apt, "update")
    for name in NAMES[:2]:
        if _done(300, *apt, "install", "--yes", "--no-install-recommends", name, *lacks):
            return


def _has_letters() -> bool:
    if not shutil.which("fc-list"):
        return False
    listed = subprocess.run(["fc-list", ":", "family"], capture_output=True, check=False)
    return b"Liberation Serif" in listed.stdout


def _done(seconds: int, *command: str) -> bool:
    limited = ("timeout", str(seconds), *command)
    return subprocess.run(limited, stdout=subprocess.DEVNULL, check=False).returncode == 0


if __name__ == "__main__":
    if "--install" in sys.argv[1:]:
        install()
        print(browser_path() or "chromium could not be installed")
    else:
        print(browser_path() or sys.exit(1))
