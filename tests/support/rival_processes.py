"""QuantEcon.py's decision processes as the Python they are written in.

Numba would compile for seconds what runs at once on the small processes of the tests.
"""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest


def quantecon_markov() -> Any:
    """Return `quantecon.markov`, imported with Numba told to compile nothing."""
    numba = pytest.importorskip("numba")
    pytest.importorskip("numba.typed")  # Numba's own, which others want compiled
    with mock.patch.object(numba.config, "DISABLE_JIT", 1):
        return pytest.importorskip("quantecon.markov")
