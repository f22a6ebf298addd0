"""A skip by day that is not on the list of ``skips.toml`` fails a run of CI: a pytest plugin."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from namespaces import CANNOT

ALLOWED = Path(__file__).with_name("skips.toml")
UNKNOWN = pytest.StashKey[list[str]]()


def unknown(reasons: Iterable[str]) -> list[str]:
    """Return the reasons that are not on the list, each once."""
    allowed = [row["reason"] for row in tomllib.loads(ALLOWED.read_text("utf-8"))["skip"]]
    return sorted({one for one in reasons if not any(re.search(known, one) for known in allowed)})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run, if all else passed."""
    session.config.stash[UNKNOWN] = found = _found(session.config)
    if found and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the reasons."""
    if found := config.stash.get(UNKNOWN, []):
        terminalreporter.section("skipped for a reason that is not in tests/support/skips.toml")
        terminalreporter.write_line("\n".join(found))


def _found(config: pytest.Config) -> list[str]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")  # of workers, one hears of all
    by_day = "not nightly" in (config.getoption("markexpr") or "")
    if reporter is None or not by_day or os.environ.get("CI") != "true":
        return []
    said = (report.longrepr[2] for report in reporter.stats.get("skipped", ()))
    reasons = {reason.removeprefix("Skipped: ") for reason in said}
    return unknown(reasons - {row.reason for row in CANNOT})
