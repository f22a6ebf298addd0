"""Which skips nobody has agreed to: CI would say for ever that all is well."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

ALLOWED = Path(__file__).with_name("skips.toml")


def unknown(reasons: Iterable[str]) -> list[str]:
    """Those of the reasons that are not on the list, each once."""
    allowed = [row["reason"] for row in tomllib.loads(ALLOWED.read_text("utf-8"))["skip"]]
    return sorted({one for one in reasons if not any(re.search(known, one) for known in allowed)})
