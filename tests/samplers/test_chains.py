"""Chains by themselves: moments, tables, sentences, and what other libraries make of them."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes.samplers import Chains, ess_bulk, ess_tail, mcse, rhat


@pytest.fixture
def made(rng):
    """A function that makes chains of two entries by lot, of so many draws."""

    def make(chains=3, draws=40):
        walks = np.cumsum(rng.normal(size=(chains, draws, 2)), axis=1) * [1.0, 0.2]
        log_density, acceptance = rng.normal(size=(2, chains, draws))
        diverged, evaluations = rng.integers(0, 2, size=(2, chains, draws))
        own = (0,) * chains, (None,) * chains, ("a", "longer name")
        return Chains(walks, log_density, acceptance, diverged.astype(bool), evaluations, *own)

    return make


def test_moments_are_those_of_all_draws(made):
    chains = made(2, 3)
    every = np.concatenate(list(chains.draws))
    assert chains.flat.tolist() == every.tolist()
    np.testing.assert_allclose(chains.mean, np.sum(every, axis=0) / 6.0)
    gaps = every - chains.mean
    np.testing.assert_allclose(chains.sd, np.sqrt(np.sum(gaps * gaps, axis=0) / 5.0))


def test_what_they_are_worth_is_said_by_the_diagnostics(made):
    chains = made()
    for name, of in {
        "rhat": rhat,
        "ess_bulk": ess_bulk,
        "ess_tail": ess_tail,
        "mcse": mcse,
    }.items():
        np.testing.assert_array_equal(getattr(chains, name), of(chains.draws))


@pytest.mark.parametrize("many", [1, 2, 3])
def test_a_table_has_a_row_for_each_entry(made, many):
    chains = made(many)
    head, *rows = str(replace(chains, diverged=0 * chains.diverged)).splitlines()
    assert head.split() == ["entry", "mean", "sd", "mcse", "bulk", "tail", "R-hat"]
    columns = [chains.mean, chains.sd, chains.mcse, chains.ess_bulk, chains.ess_tail]
    columns.append(chains.rhat if many > 1 else [np.nan] * 2)
    for name, row, *values in zip(chains.names, rows, *columns, strict=True):
        assert row.startswith(name)
        shown = [float(word) for word in row.removeprefix(name).split()]
        np.testing.assert_allclose(shown, values, rtol=0.1, atol=0.6)
        np.testing.assert_allclose(shown[-1], values[-1], atol=5.1e-4)
    assert {len(row) for row in (head, *rows)} == {len(head)}
    assert repr(chains) == f"<Chains: {many} of 40 draws of 2 numbers>"
    warming = replace(chains, warming_up=True)
    assert repr(warming) == f"<Chains: {many} of 40 steps of a warm-up of 2 numbers>"


@pytest.mark.parametrize("draws", [1, 3])
def test_of_a_few_draws_the_table_says_what_is_known(made, draws):
    """As after an early Ctrl-C; one draw does not tell whether a chain moves."""
    chains = made(2, draws)
    chains.diverged[:] = False
    assert chains.problems() == []
    _, *rows = str(chains).splitlines()
    for name, row, mean in zip(chains.names, rows, chains.mean, strict=True):
        shown, _, *unknown = row.removeprefix(name).split()
        np.testing.assert_allclose(float(shown), mean, rtol=0.01)
        assert unknown == ["nan"] * 4


def test_what_went_wrong_is_said_in_sentences(made):
    chains = made()
    assert chains.stuck == ()
    chains.draws[1] = chains.draws[1, :1]
    chains.draws[2, :, 0] = 4.0  # of which the other entry moves
    assert chains.stuck == (1,)
    diverged = np.zeros((3, 40), dtype=bool)
    assert replace(chains, diverged=diverged).problems() == [
        "never moved: chain 1, whose draws are its start alone"
    ]
    diverged[0, 3] = diverged[2, 5] = True
    chains.draws[0] = 0.0
    told = replace(chains, diverged=diverged, warming_up=True)
    assert told.problems() == [
        "interrupted in the warm-up: its steps are no draws of the target",
        "never moved: chain 0, 1, whose draws are its start alone",
        "diverged: 2 of 120 paths; take shorter steps",
    ]
    assert str(told).splitlines()[-3:] == told.problems()


def test_thinning_takes_evenly_spaced_draws_with_both_ends(made):
    chains = made(2, 5)
    np.testing.assert_array_equal(chains.thin(4), chains.flat[[0, 3, 6, 9]])
    np.testing.assert_array_equal(chains.thin(1), chains.flat[:1])
    for many in (10, 99):
        np.testing.assert_array_equal(chains.thin(many), chains.flat)


def test_arviz_takes_the_chains_as_they_are(arviz, made):
    found = made(4, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = found.to_arviz()
        warming = replace(found, warming_up=True).to_arviz()
        table = arviz.summary(data, round_to="none")
        tails = {"method": "tail", "prob": (0.05, 0.95)}  # a table of 1.0 has others
        tail = [arviz.ess(found.draws[:, :, j], **tails) for j in range(2)]
    np.testing.assert_allclose(table["r_hat"], found.rhat, rtol=1e-9)
    np.testing.assert_allclose(table["ess_bulk"], found.ess_bulk, rtol=1e-9)
    np.testing.assert_allclose(tail, found.ess_tail, rtol=1e-9)
    np.testing.assert_allclose(table["mcse_mean"], found.mcse, rtol=1e-9)
    assert int(data.sample_stats["diverging"].sum()) == int(found.diverged.sum())
    np.testing.assert_array_equal(warming.warmup_posterior[found.names[0]], found.draws[:, :, 0])
    assert not hasattr(warming, "posterior")


@pytest.mark.parametrize("today", [True, False], ids=["from 1.0 on", "before"])
@pytest.mark.parametrize("warming_up", [True, False])
def test_the_groups_go_to_arviz_as_its_version_takes_them(monkeypatch, made, today, warming_up):
    def one(data, *, save_warmup):
        assert save_warmup is True
        return data

    def each(posterior=None, *, save_warmup, **groups):
        assert save_warmup is True
        return groups if posterior is None else {"posterior": posterior, **groups}

    monkeypatch.setitem(sys.modules, "arviz", SimpleNamespace(from_dict=one if today else each))
    found = replace(made(), warming_up=warming_up)
    prefix = "warmup_" if warming_up else ""
    by_name = {"a": found.draws[:, :, 0], "longer name": found.draws[:, :, 1]}
    stats = {
        "lp": found.log_density, "acceptance_rate": found.acceptance, "diverging": found.diverged,
        "n_steps": found.evaluations,
    }  # fmt: skip
    wanted = {f"{prefix}posterior": by_name, f"{prefix}sample_stats": stats}
    np.testing.assert_equal(found.to_arviz(), wanted)


def test_xarray_takes_the_chains_by_name(made):
    pytest.importorskip("xarray")
    found = made()
    data = found.to_xarray()
    assert set(data) == {*found.names, "lp"}
    assert data.sizes == {"chain": found.draws.shape[0], "draw": found.draws.shape[1]}
    np.testing.assert_array_equal(data["chain"], range(3))
    np.testing.assert_array_equal(data["draw"], range(40))
    for j, name in enumerate(found.names):
        np.testing.assert_array_equal(data[name], found.draws[:, :, j])
    np.testing.assert_array_equal(data["lp"], found.log_density)


@pytest.mark.parametrize(("way", "library"), [("to_arviz", "ArviZ"), ("to_xarray", "xarray")])
def test_without_a_library_the_error_says_what_to_install(monkeypatch, made, way, library):
    monkeypatch.setitem(sys.modules, library.lower(), None)
    with pytest.raises(ImportError, match=f"{way} needs {library}: pip install {library.lower()}"):
        getattr(made(), way)()
