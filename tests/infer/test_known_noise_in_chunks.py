"""Noise that is known reading by reading, chunk by chunk: what all rows together give."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    Chunks,
    ConstantMean,
    FeatureGP,
    Gaussian,
    Matern32,
    Rows,
    SparseGP,
    condition,
    fit,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.ground.chunks import ChunkError, add_up
from gpnotes.ground.params import leaves
from gpnotes.infer.deep import with_inner_layers
from gpnotes.infer.features import BoxSines, draw_frequencies
from gpnotes.infer.interdomain import Harmonics
from gpnotes.infer.svgp import initial_posterior
from gpnotes.model.kernels import CircularRBF

DRAW = np.random.default_rng(7)
X = DRAW.uniform(0.0, 6.0, (23, 1))
KNOWN, WEIGHTS = DRAW.uniform(0.01, 0.5, 23), DRAW.integers(1, 6, 23).astype(float)
Y = np.sin(X[:, 0]) + np.sqrt(KNOWN) * DRAW.standard_normal(23)
XS = np.linspace(-1.0, 7.0, 5)[:, None]
NOISY = GP(RBF(1.2, 0.9), 0.1, ConstantMean(0.3))
CUTS = (slice(0, 4), slice(4, 5), slice(5, 23))
BOTH = {"noise_var": KNOWN, "weights": WEIGHTS}


def _fetched(rows):
    return Rows(X[rows], Y[rows], KNOWN[rows], WEIGHTS[rows])


LISTED = Chunks([_fetched(rows) for rows in CUTS])
LATER = Chunks((partial(_fetched, rows) for rows in CUTS), by_reading=True)


def _sparse(method):
    return SparseGP(NOISY, X[::5], method)


_WAVES = SparseGP(GP(CircularRBF(), 0.1), Harmonics(np.arange(5.0)))
MODELS = {
    **{method: _sparse(method) for method in ("sor", "vfe", "fitc", "pep", "tight", "upper")},
    "waves": _WAVES,
    "two kernels": SparseGP(GP(RBF(1.2, 0.9) + Matern32(0.3, 2.0), 0.1), X[::5]),
    "cosines": FeatureGP(NOISY, draw_frequencies(NOISY.kernel, X, 8, rng=0)),
    "sines": FeatureGP(
        NOISY, BoxSines(np.arange(1.0, 13.0)[:, None], np.asarray([-3.0]), np.asarray([9.0]))
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_chunks_with_noise_give_what_all_rows_give(name):
    model = MODELS[name]
    value, bar = log_evidence_and_gradient(model, X, Y, **BOTH)
    of_chunks, chunks_bar = log_evidence_and_gradient(model, LISTED)
    assert of_chunks == pytest.approx(value, rel=1e-9)
    assert log_evidence(model, LISTED) == pytest.approx(value, rel=1e-9)
    for one, other in zip(leaves(bar), leaves(chunks_bar), strict=True):
        np.testing.assert_allclose(other.value, one.value, rtol=1e-9, atol=1e-9)
    if name != "upper":
        whole, parts = condition(model, X, Y, **BOTH), condition(model, LISTED)
        for one, other in zip(whole.predict(XS), parts.predict(XS), strict=True):
            np.testing.assert_allclose(other, one, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["vfe", "fitc", "cosines"])
def test_a_chunk_may_know_one_thing_or_nothing(name):
    known, weights = KNOWN.copy(), WEIGHTS.copy()
    known[:5], weights[4:] = 0.0, 1.0
    chunks = [
        Rows(X[:4], Y[:4], weights=WEIGHTS[:4]), (X[4:5], Y[4:5]), Rows(X[5:], Y[5:], KNOWN[5:])
    ]  # fmt: skip
    value, bar = log_evidence_and_gradient(MODELS[name], X, Y, noise_var=known, weights=weights)
    of_chunks, chunks_bar = log_evidence_and_gradient(MODELS[name], Chunks(chunks))
    assert of_chunks == pytest.approx(value, rel=1e-9)
    assert chunks_bar.gp.noise_var == pytest.approx(bar.gp.noise_var, rel=1e-9)


def test_fetched_elsewhere_they_are_the_same_and_a_fit_climbs_by_them():
    value = log_evidence(_sparse("vfe"), X, Y, **BOTH)
    assert condition(_sparse("vfe"), LATER).log_evidence == pytest.approx(value, rel=1e-9)
    later = [partial(_fetched, rows) for rows in CUTS]
    with ThreadPoolExecutor(2) as pool:
        chunks = Chunks(later, pool.map, by_reading=True)
        found = fit(_sparse("vfe"), chunks, max_steps=5)
    whole = fit(_sparse("vfe"), X, Y, max_steps=5, **BOTH)
    assert found.log_evidence == pytest.approx(whole.log_evidence, abs=1e-6)
    assert found.log_evidence > value
    assert pickle.loads(pickle.dumps(LISTED)).knows_noise


def test_rows_that_say_nothing_of_noise_are_a_pair():
    chunks = Chunks([Rows(X[:4], Y[:4]), (X[4:], Y[4:])])
    assert not chunks.knows_noise
    value = log_evidence(_sparse("vfe"), X, Y)
    assert log_evidence(_sparse("vfe"), chunks) == pytest.approx(value, rel=1e-9)


def test_chunks_have_the_library_of_the_data(space):
    x, y, known = (space.asarray(a) for a in (X, Y, KNOWN))
    chunks = [Rows(x[:9, :], y[:9], known[:9]), Rows(x[9:, :], y[9:], known[9:])]
    model = SparseGP(GP(RBF(1.2, 0.9), 0.1), space.asarray(X[::5]))
    assert space.holds(condition(model, Chunks(chunks)).mean(space.asarray(XS)))


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        (Rows(X, Y, KNOWN[:3]), r"chunk 0 .* noise_var must have shape \(23,\)"),
        (Rows(X, Y, -KNOWN), "noise_var must be non-negative"),
        (Rows(X, Y, weights=0.0 * KNOWN), "weights must be positive"),
        (Rows(X, Y, KNOWN, offset=Y), "offset must be None in a chunk"),
        (partial(_fetched, CUTS[0]), r"noise_var must be None in it, unless Chunks\(..., by_re"),
        ((X, Y, KNOWN), r"a chunk may be Rows\(X, y, noise_var=..., weights=...\)"),
    ],
)
def test_what_a_chunk_should_not_say_is_told_with_its_number(chunk, said):
    with pytest.raises(ChunkError, match=said):
        condition(_sparse("vfe"), Chunks([chunk]))


def test_who_cannot_hear_it_says_so():
    q = initial_posterior(SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::5]))
    deep = with_inner_layers(q, [RBF()], num_samples=2)
    with pytest.raises(TypeError, match="noise_var and weights must be None in chunks: a DeepGP"):
        log_evidence(deep, LISTED)
    with pytest.raises(TypeError, match="by_reading must be True or False; got 1"):
        Chunks([], by_reading=1)
    assert add_up(lambda X, y: float(np.sum(y)), LISTED.chunks, by_reading=True) == pytest.approx(
        np.sum(Y)
    )
