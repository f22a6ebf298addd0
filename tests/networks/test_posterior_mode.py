"""How an ascent of several networks ends."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes.networks.posterior_mode import ascend


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("part", ["value", "gradient"])
def test_one_network_that_overflows_is_told(part, which, bad):
    """Though the other has numbers, and though the weights have, if only the value has none."""
    value, gradient = np.zeros(2), np.zeros((2, 3))
    (value if part == "value" else gradient)[which] = bad
    told = pytest.raises(ValueError, match="learning_rate must be smaller: the ascent overflows")
    with told, np.errstate(invalid="ignore"):
        ascend(lambda theta: (value, gradient), np.zeros((2, 3)), 2, 0.1)
