"""The face for Optuna where there is none."""

from __future__ import annotations

import pytest

from gpnotes.decide import studies


def test_a_sampler_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(studies, "optuna", None)
    with pytest.raises(ImportError, match="a sampler needs the package optuna: pip install"):
        studies.ProcessSampler(seed=1)
