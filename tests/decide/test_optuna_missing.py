"""The face for Optuna where there is none."""

from __future__ import annotations

import pytest

from gpnotes.decide import optuna_sampler


def test_a_sampler_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(optuna_sampler, "_Sampler", object)
    with pytest.raises(ImportError, match="a sampler needs Optuna: from a clone, pip install"):
        optuna_sampler.ProcessSampler(seed=1)
