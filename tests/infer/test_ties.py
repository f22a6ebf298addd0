"""Ties: several parameters that are one number of a fit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    SVGP,
    BayesianLinear,
    Bernoulli,
    ConstantMean,
    FeatureGP,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    LogNormalPrior,
    Matern32,
    Matern52,
    NormalPrior,
    SparseGP,
    StateSpaceGP,
    fit,
    named,
    stream,
)
from gpnotes.ground.chunks import Rows
from gpnotes.infer.deep import with_inner_layers
from gpnotes.infer.features import draw_frequencies
from gpnotes.infer.laplace import EPGP
from gpnotes.infer.objective import objective_of
from gpnotes.infer.saving import load, save
from gpnotes.infer.svgp import Minibatches, initial_posterior
from gpnotes.infer.ties import followers, ties_of
from gpnotes.model.likelihoods import NegativeBinomial
from gpnotes.samplers import HyperparameterDensity
from gpnotes.testing import gradcheck

X = stream(0).uniform((40, 2)) * 4.0
Y = np.sin(X[:, 0]) + 0.5 * np.cos(X[:, 1]) + 0.1 * np.asarray(stream(1).normal(40))
FIRST, SECOND = "kernel.lengthscale[0]", "kernel.lengthscale[1]"
LENGTHS = [(FIRST, SECOND)]
ARD, ONE = RBF(1.0, np.asarray([1.0, 1.0])), RBF(1.0, 1.0)
PARTS = RBF(1.0, 1.0).on(0) + Matern32(0.5, 1.0).on(1)
_IN = "kernel.parts.{}.kernel."
OF_PARTS = [tuple(_IN.format(i) + "lengthscale" for i in (0, 1))]


@pytest.mark.parametrize(
    ("tied", "one", "y"),
    [
        (GP(ARD, 0.1), GP(ONE, 0.1), Y),
        (GP(RBF()), GP(RBF(lengthscale=2.0)), Y),
        (GP(ARD, 0.1, ConstantMean(0.3)), GP(ONE, 0.1, ConstantMean(0.3)), Y),
        (SparseGP(GP(ARD, 0.1), X[:8]), SparseGP(GP(ONE, 0.1), X[:8]), Y),
        (LaplaceGP(GP(ARD, 0.0), Bernoulli()), LaplaceGP(GP(ONE, 0.0), Bernoulli()), np.sign(Y)),
        (EPGP(GP(ARD, 0.0), Bernoulli()), EPGP(GP(ONE, 0.0), Bernoulli()), np.sign(Y)),
        (SVGP(GP(ARD, 0.0), Gaussian(0.1), X[:8]), SVGP(GP(ONE, 0.0), Gaussian(0.1), X[:8]), Y),
    ],
)  # fmt: skip
def test_lengths_that_are_tied_are_one_length_for_all_columns(tied, one, y):
    before = "" if isinstance(tied, GP) else "gp."
    pair = tuple(before + name for name in LENGTHS[0])
    held = ["inducing"] if isinstance(tied, SparseGP | SVGP) else []
    joined = fit(tied, X, y, tied=[pair], fixed=held)
    alone = fit(one, X, y, fixed=held)
    assert joined.log_evidence == pytest.approx(alone.log_evidence, rel=1e-6)
    kernel = joined.model.kernel if isinstance(tied, GP) else joined.model.gp.kernel
    assert kernel.lengthscale[0] == kernel.lengthscale[1]
    few, many = (len(found.objective.vector(found.model)) for found in (alone, joined))
    assert few == many


@pytest.mark.filterwarnings("ignore:no reading tells of another")
def test_a_tie_in_time_series_is_the_one_of_the_process():
    kernel = Matern32(1.0, 1.0) + Matern52(0.5, 2.0)
    pair = tuple(f"kernel.parts.{i}.lengthscale" for i in (0, 1))
    times, options = np.sort(X[:, :1], axis=0), {"max_steps": 20}
    along = fit(StateSpaceGP(GP(kernel, 0.1)), times, Y, tied=[_of_gp(pair)], **options)
    whole = fit(GP(kernel, 0.1), times, Y, tied=[pair], **options)
    assert along.log_evidence == pytest.approx(whole.log_evidence, abs=1e-6)
    parts = along.model.gp.kernel.parts
    assert parts[0].lengthscale == parts[1].lengthscale


def _of_gp(names):
    return tuple(f"gp.{name}" for name in names)


def test_the_variances_of_two_parts_that_are_tied_are_one_factor_before_both():
    kernel = RBF(1.0, 1.0).on(0) + RBF(1.0, 1.0).on(1)
    names = tuple(_IN.format(i) + "variance" for i in (0, 1))
    tied = fit(GP(kernel, 0.1), X, Y, tied=[names])
    held = ["kernel.kernel.parts.0.kernel.variance", "kernel.kernel.parts.1.kernel.variance"]
    factor = fit(GP(1.0 * kernel, 0.1), X, Y, fixed=held)
    assert tied.log_evidence == pytest.approx(factor.log_evidence, rel=1e-6)
    assert tied.model.kernel.parts[0].kernel.variance == pytest.approx(
        factor.model.kernel.scale, rel=1e-3
    )


def test_arrays_are_tied_entry_by_entry_and_three_may_be_one():
    kernel = RBF(1.0, np.asarray([1.0, 2.0])) + Matern32(1.0, np.asarray([3.0, 4.0])) + RBF()
    names = [f"kernel.parts.{i}.lengthscale" for i in range(3)]
    found = fit(GP(kernel, 0.1), X, Y, tied=[names], max_steps=3).model.kernel.parts
    for part in found[1:]:
        np.testing.assert_array_equal(part.lengthscale, found[0].lengthscale)
    start = fit(GP(kernel, 0.1), X, Y, tied=[names], max_steps=1).objective.model.kernel.parts
    np.testing.assert_array_equal(start[2].lengthscale, [1.0, 2.0])  # those of the first


PRIORS = {
    _IN.format(1) + "lengthscale": LogNormalPrior(0.5, 0.4),
    "mean.value": NormalPrior(0.0, 2.0),
}


def test_the_gradient_of_what_is_tied_is_that_of_differences():
    model = GP(PARTS, 0.2, ConstantMean(0.3))
    tied = [*OF_PARTS, ("noise_var", _IN.format(0) + "variance")]
    objective = objective_of(model, Rows(X, Y), tied=tied, priors=PRIORS)
    vector = objective.vector(objective.model)
    assert vector.size == 4
    gradcheck(lambda v: objective(v)[0], lambda v, bar: (bar * objective(v)[1],), vector)
    moved = objective.at(vector + 0.1)
    assert moved.kernel.parts[0].kernel.lengthscale == moved.kernel.parts[1].kernel.lengthscale
    assert moved.noise_var == pytest.approx(moved.kernel.parts[0].kernel.variance)


def _deep():
    q = initial_posterior(SVGP(GP(ARD, 0.0), Gaussian(0.1), X[:4]))
    return with_inner_layers(q, [RBF(0.5, np.asarray([1.0, 2.0]))], num_samples=2)


_GP = "gp.kernel.lengthscale"
OTHERS = {
    "moving points": (SparseGP(GP(ARD, 0.1), X[:4]), [(f"{_GP}[0]", f"{_GP}[1]")]),
    "features": (FeatureGP(GP(ARD, 0.1), draw_frequencies(ARD, X, 6, rng=0)),
                 [(f"{_GP}[1]", f"{_GP}[0]")]),
    "noise that varies": (HeteroscedasticGP(GP(ARD, 0.1), ARD),
                          [(_GP, "noise_kernel.lengthscale")]),
    "inner units": (_deep, [tuple(f"layers.0.{i}.gp.kernel.lengthscale" for i in (0, 1))]),
    "labels by moments": (EPGP(GP(ARD, 0.0), Bernoulli()), [(f"{_GP}[0]", f"{_GP}[1]")]),
    "counts around a mode": (LaplaceGP(GP(ARD, 0.0), NegativeBinomial(2.0)),
                             [("gp.kernel.variance", "likelihood.shape")]),
    "on a line": (StateSpaceGP(GP(Matern32(1.0, 1.0) + Matern52(0.5, 2.0), 0.1)),
                  [("gp.kernel.parts.0.lengthscale", "gp.kernel.parts.1.lengthscale"),
                   ("gp.noise_var", "gp.kernel.parts.1.variance")]),
    "a likelihood": (SVGP(GP(ARD, 0.0), Gaussian(0.1), X[:4]),
                     [("gp.kernel.variance", "likelihood.variance")]),
}  # fmt: skip


DATA = {
    "labels by moments": Rows(X, np.sign(Y)),
    "counts around a mode": Rows(X, np.round(np.exp(1.0 + Y))),
    "on a line": Rows(np.sort(X[:, :1], axis=0), Y),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_gradients_of_other_models_with_ties_are_those_of_differences(name):
    model, tied = OTHERS[name]
    model = model() if callable(model) else model
    rows = DATA.get(name, Rows(X, Y))
    objective = objective_of(model, rows, tied=tied)
    plain = objective_of(model, rows)
    vector = objective.vector(objective.model) + 0.05
    assert vector.size + len(objective.tied) == plain.vector(model).size
    gradcheck(lambda v: objective(v)[0], lambda v, bar: (bar * objective(v)[1],), vector)
    np.testing.assert_allclose(objective.vector(objective.at(vector)), vector, rtol=1e-12)


def test_a_step_moves_what_is_tied_and_keeps_library_and_dtype(space):
    kernel = RBF(1.0, space.asarray([1.0, 2.0]))
    rows = Rows(space.asarray(X), space.asarray(Y))
    objective = objective_of(GP(kernel, 0.2), rows, tied=LENGTHS)
    value, gradient = objective(objective.vector(objective.model))
    assert np.isfinite(value)
    assert gradient.shape == (3,)
    lengths = objective.at(np.zeros(3)).kernel.lengthscale
    assert space.holds(lengths)


def test_bounds_and_a_prior_of_one_hold_for_all():
    for name in (FIRST, SECOND):
        found = fit(GP(ARD, 0.1), X, Y, tied=LENGTHS, bounds={name: (0.9, 1.1)})
        assert found.model.kernel.lengthscale[0] == found.model.kernel.lengthscale[1]
        assert found.model.kernel.lengthscale[0] <= 1.1 + 1e-12
        assert found.runs[0].at_bounds == (FIRST,)
    prior = LogNormalPrior(0.0, 1.0)
    for name in (FIRST, SECOND):
        objective = objective_of(GP(ARD, 0.1), Rows(X, Y), tied=LENGTHS, priors={name: prior})
        plain = objective_of(GP(ARD, 0.1), Rows(X, Y), tied=LENGTHS)
        vector = plain.vector(plain.model)
        assert objective(vector)[0] - plain(vector)[0] == pytest.approx(prior.log_density(1.0))


def test_bounds_of_what_the_noise_is_tied_to_are_those_of_the_noise():
    tied = [("kernel.variance", "noise_var")]
    found = fit(GP(RBF()), X, Y, tied=tied, bounds={"kernel.variance": (0.3, 0.4)})
    assert 0.3 - 1e-12 <= found.model.noise_var <= 0.4 + 1e-12
    assert fit(GP(RBF()), X, Y, tied=tied).model.noise_var > 0.0


def test_a_report_shows_all_that_is_tied_in_the_order_of_the_model():
    found = fit(GP(PARTS, 0.1), X, Y, tied=OF_PARTS)
    report = found.report()
    ways = [_IN.format(i) + what for i in (0, 1) for what in ("variance", "lengthscale")]
    assert [one.name for one in report.hyperparameters] == [*ways, "noise_var"]
    first, follower = report.hyperparameters[1], report.hyperparameters[3]
    assert follower.tied_to == first.name
    assert (follower.value, follower.error) == (first.value, first.error)
    assert f"tied to {first.name}" in str(report)
    assert str(report).count("tied to") == 1


def test_a_name_that_is_not_determined_is_named_once():
    flat = fit(GP(ARD, 0.1), X, np.asarray(stream(3).normal(40)), tied=LENGTHS).report()
    assert SECOND not in flat.undetermined()


def _elsewhere(function, starts):
    """A map of what has travelled to another process."""
    return map(pickle.loads(pickle.dumps(function)), starts)


def test_other_processes_start_from_moved_ties_as_this_one_does():
    options = {"tied": OF_PARTS, "restarts": 2, "rng": 3, "max_steps": 5}
    here, there = (fit(GP(PARTS, 0.1), X, Y, jobs=jobs, **options) for jobs in (1, _elsewhere))
    for one, other in zip(here.runs, there.runs, strict=True):
        assert one.objective == pytest.approx(other.objective, rel=1e-6)
        lengths = [part.kernel.lengthscale for part in other.model.kernel.parts]
        assert lengths[0] == lengths[1]


def test_a_fit_with_ties_is_saved_with_them(tmp_path):
    found = fit(GP(PARTS, 0.1), X, Y, tied=OF_PARTS)
    save(found, tmp_path / "tied.gp")
    again = load(tmp_path / "tied.gp")
    assert again.model == found.model
    assert again.objective.tied == found.objective.tied
    assert str(again.report()) == str(found.report())


def test_a_chain_moves_one_number_for_what_is_tied():
    priors = {name: LogNormalPrior() for name in ("kernel.variance", FIRST, "noise_var")}
    target = objective_of(GP(ARD, 0.1), Rows(X, Y), tied=LENGTHS, priors=priors)
    density = HyperparameterDensity(target)
    assert list(density.names) == [f"log {name}" for name in priors]
    gradcheck(lambda v: density(v)[0], lambda v, bar: (bar * density(v)[1],), np.zeros(3))


def test_batches_move_what_is_tied_together():
    model = SVGP(GP(ARD, 0.0), Gaussian(0.1), X[:6])
    pair = tuple(f"gp.{name}" for name in LENGTHS[0])
    found = fit(
        model, X, Y, tied=[pair], minibatches=Minibatches(10), max_steps=5, rng=0
    ).model.gp.kernel
    assert found.lengthscale[0] == found.lengthscale[1] != 1.0


def test_the_learnt_q_of_a_tied_model_is_no_row_of_its_report():
    model = SVGP(GP(ARD, 0.0), Gaussian(0.1), X[:6])
    pair = tuple(f"gp.{name}" for name in LENGTHS[0])
    rows = fit(model, X, Y, tied=[pair], max_steps=3).report().hyperparameters
    assert [one.name for one in rows if one.tied_to] == [pair[1]]


def test_names_of_parts_tie_too():
    kernel = named(along=RBF(1.0, 1.0).on(0), across=RBF(1.0, 2.0).on(1))
    names = [f"kernel.{part}.kernel.lengthscale" for part in ("along", "across")]
    parts = fit(GP(kernel, 0.1), X, Y, tied=[names], max_steps=4).model.kernel.parts
    assert parts[0].kernel.lengthscale == parts[1].kernel.lengthscale


def test_without_ties_there_are_no_groups():
    assert ties_of((), GP(ARD, 0.1), ()) == ()
    assert followers((("a", "b", "c"),)) == {"b": "a", "c": "a"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tied": [(FIRST, "kernel.lengthscale[2]")]}, r"\[2\]'; there are \["),
        ({"tied": [(FIRST, "kernel.lenghtscale")]}, r"is near 'kernel.lengthscale'"),
        ({"tied": [(FIRST,)]}, r"a group of tied must hold at least two names"),
        ({"tied": [("kernel.lengthscale", "noise_var")]}, r"of one size; got \{'k"),
        ({"tied": [("noise_var", "mean.value")]}, r"must not join positive with signed"),
        ({"tied": [(FIRST, SECOND), (SECOND, "noise_var")]}, r"tied must name kernel.lengths"),
        ({"tied": [(FIRST, FIRST)]}, r"tied must name kernel.lengthscale\[0\] once"),
        ({"tied": LENGTHS, "fixed": [SECOND]}, r"kernel.lengthscale\[1\] is held by fixed"),
        ({"tied": LENGTHS, "fixed": ["kernel"]}, r"kernel.lengthscale\[0\] is held by fixed"),
        ({"tied": LENGTHS, "bounds": {FIRST: (1.0, 2.0), SECOND: (1.0, 3.0)}},
         r"bounds must name kernel.lengthscale\[0\], tied to kernel.lengthscale\[1\], once"),
        ({"tied": LENGTHS, "priors": {FIRST: NormalPrior(), SECOND: NormalPrior()}},
         r"priors must name kernel.lengthscale\[0\], tied to kernel.lengthscale\[1\], once"),
    ],
)  # fmt: skip
def test_ties_that_contradict_are_told_by_their_names(options, match):
    with pytest.raises(ValueError, match=match):
        fit(GP(ARD, 0.1, ConstantMean(0.3)), X, Y, **options)


def test_what_no_fit_moves_is_told_so():
    for name in ("prior_cov", "prior_cov[0, 0]"):
        with pytest.raises(ValueError, match=r"prior_cov of a BayesianLinear is none, and no fit "):
            fit(BayesianLinear(np.eye(2), 0.1), X, Y, tied=[("noise_var", name)])


@pytest.mark.parametrize("tied", ["ab", 3, ["noise_var"], [(FIRST, 3)], None])
def test_what_is_no_group_of_names_is_refused(tied):
    with pytest.raises(TypeError, match="tied must"):
        fit(GP(ARD, 0.1), X, Y, tied=tied)


def test_groups_may_come_one_at_a_time():
    found = fit(GP(RBF()), X, Y, tied=(pair for pair in LENGTHS), max_steps=2)
    assert found.objective.tied == (LENGTHS[0],)
