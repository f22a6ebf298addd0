"""The face for Optuna where there is none."""

from __future__ import annotations

import pytest

from gpnotes.decide import studies


def test_a_sampler_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(studies, "_Sampler", object)
    with pytest.raises(ImportError, match="a sampler needs Optuna: from a clone, pip install"):
        studies.ProcessSampler(seed=1)
