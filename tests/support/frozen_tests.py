"""The tests that were found are no garbage, and need not be looked through again: a pytest plugin.

A process of the tests holds 1.1 million objects once it has collected them, and each search of all
of them takes 0.7 s. Measured on every 120th test of the day, with all of them collected: the
searches took 3.2 of 27.5 s of processor time; now 0.8 of 24.6 s.
"""

from __future__ import annotations

import gc

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep all that there is out of later searches."""
    gc.collect()
    gc.freeze()
