"""Every model finds the columns that its kernel names, wherever they stand in a frame."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from gpnotes import (
    EPGP,
    GP,
    RBF,
    SVGP,
    BayesianLinear,
    Bernoulli,
    Chunks,
    FeatureGP,
    Gaussian,
    HeteroscedasticGP,
    LaplaceGP,
    Linear,
    LogNormalPrior,
    Matern32,
    SoftmaxGP,
    SparseGP,
    StateSpaceGP,
    condition,
    fit,
    load,
    log_evidence,
    log_evidence_and_gradient,
    save,
    stream,
)
from gpnotes.draw.paths import sample_paths
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer.deep import with_inner_layers
from gpnotes.infer.features import draw_frequencies
from gpnotes.infer.objective import objective_of
from gpnotes.infer.svgp import initial_posterior

ROWS = stream(0).uniform((14, 3)) * 3.0
FRAME = pd.DataFrame(ROWS, columns=["wind", "temp", "time"])
Y = np.sin(2.0 * ROWS[:, 1]) + 0.5 * ROWS[:, 0] + 0.1 * np.asarray(stream(1).normal(14))
LABELS = np.where(np.median(Y) < Y, 1.0, -1.0)
TURNED = FRAME[["time", "temp", "wind"]]
LINE = FRAME[["time"]]
NAMED = RBF(1.0, 0.7).on("temp") + Linear(0.5).on("wind")
NUMBERED = RBF(1.0, 0.7).on(1) + Linear(0.5).on(0)
DRAWN = draw_frequencies(RBF(1.0, 0.7).on(1), ROWS, 8, rng=2)

MODELS = {
    "GP": (lambda k: GP(k, 0.1), Y),
    "SparseGP": (lambda k: SparseGP(GP(k, 0.1), 6), Y),
    "SparseGP at inputs": (lambda k: SparseGP(GP(k, 0.1), ROWS[:6]), Y),
    "SVGP": (lambda k: SVGP(GP(k, 0.0), Bernoulli(), 5), LABELS),
    "LaplaceGP": (lambda k: LaplaceGP(GP(k, 0.0)), LABELS),
    "EPGP": (lambda k: EPGP(GP(k, 0.0)), LABELS),
    "SoftmaxGP": (lambda k: SoftmaxGP(GP(k, 0.0), 2), (LABELS + 1.0) / 2.0),
    "HeteroscedasticGP": (lambda k: HeteroscedasticGP(GP(k, 0.1), k), Y),
    "FeatureGP": (lambda k: FeatureGP(GP(k.parts[0], 0.1), DRAWN), Y),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_by_names_is_the_model_by_numbers(name):
    made, y = MODELS[name]
    value, slope = log_evidence_and_gradient(made(NAMED), FRAME, y)
    same, numbered = log_evidence_and_gradient(made(NUMBERED), ROWS, y)
    assert value == same
    of_names, of_numbers = (flatten_gradient(made(NUMBERED), bar) for bar in (slope, numbered))
    np.testing.assert_array_equal(of_names, of_numbers)
    posterior = condition(made(NAMED), FRAME, y)
    if name != "SoftmaxGP":
        np.testing.assert_array_equal(
            posterior.mean(TURNED), condition(made(NUMBERED), ROWS, y).mean(ROWS)
        )
    with pytest.raises(ValueError, match=r"X must be a frame with the columns \['temp'\]"):
        condition(made(NAMED), ROWS, y)


@pytest.mark.parametrize("name", ["GP", "SparseGP", "LaplaceGP"])
def test_the_order_of_the_columns_does_not_matter_to_names(name):
    made, y = MODELS[name]
    value = log_evidence(made(NAMED), FRAME, y)
    assert log_evidence(made(NAMED), TURNED, y) == pytest.approx(value, rel=1e-9)
    with pytest.raises(ValueError, match=r"X must have a column 'temp', .*got \['time', 'wind'\]"):
        log_evidence(made(NAMED), FRAME[["time", "wind"]], y)


def test_what_a_fit_found_finds_its_names_in_other_frames(tmp_path):
    found = fit(GP(NAMED, 0.1), FRAME, Y, max_steps=5)
    assert ".on('temp')" in repr(found.model)
    assert found.log_evidence == fit(GP(NUMBERED, 0.1), ROWS, Y, max_steps=5).log_evidence
    turned = condition(found.model, TURNED, Y)
    assert turned.log_evidence == pytest.approx(found.log_evidence)
    save(found, tmp_path / "found")
    again = load(tmp_path / "found")
    assert again.model == found.model
    np.testing.assert_array_equal(again.posterior.mean(TURNED), found.posterior.mean(FRAME))
    assert sample_paths(found.posterior, 2, rng=1)(TURNED).shape == (2, 14)


EACH = RBF(1.0, [0.7, 2.0, 1.0])
OF_EACH = draw_frequencies(EACH, ROWS, 8, rng=2)


@pytest.mark.parametrize("name", MODELS)
def test_lengths_that_were_found_in_a_frame_go_with_its_columns(name, tmp_path):
    """By position they would be those of other columns, without a word."""
    made, y = MODELS[name]
    model = made(EACH) if name != "FeatureGP" else FeatureGP(GP(EACH, 0.1), OF_EACH)
    found = fit(model, FRAME, y, max_steps=2)
    given = condition(found.model, FRAME, y)
    save(given, tmp_path / "given")
    turned = condition(found.model, TURNED, y)
    assert turned.columns == given.columns == ("wind", "temp", "time")
    value = log_evidence(found.model, FRAME, y)
    process = load(tmp_path / "given").gp if hasattr(given, "gp") else given.model.gp
    assert process.input_columns == ("wind", "temp", "time")
    for model in (found.model, replace(found.model, gp=process) if name != "GP" else process):
        assert log_evidence(model, TURNED, y) == value
        assert fit(model, TURNED, y, max_steps=1).posterior.columns == given.columns
        assert objective_of(model, TURNED, y).columns == given.columns
    if name != "SoftmaxGP":
        np.testing.assert_array_equal(turned.mean(ROWS), given.mean(ROWS))


def test_a_process_that_has_seen_no_frame_takes_columns_as_they_come():
    gp = GP(EACH, 0.1)
    assert condition(gp, TURNED, Y).gp == gp
    assert gp.input_columns == condition(gp, ROWS, Y).gp.input_columns == ()
    found = condition(gp, FRAME, Y).gp
    others = FRAME.set_axis(["a", "b", "c"], axis=1)
    assert log_evidence(found, others, Y) == log_evidence(found, ROWS, Y)
    assert condition(found, others, Y).gp.input_columns == ("a", "b", "c")


def _linear(y):
    return BayesianLinear(np.diag([1.0, 1e-3, 0.1]), 0.1)


def _deep(y):
    shallow = initial_posterior(SVGP(GP(EACH, 0.0), Gaussian(0.1), ROWS[::4]))
    return with_inner_layers(shallow, [RBF()])


@pytest.mark.parametrize("made", [_linear, _deep])
def test_a_model_without_a_process_knows_the_columns_of_its_fit_too(made, tmp_path):
    found = fit(made(Y), FRAME, Y, max_steps=2)
    assert found.model.input_columns == ("wind", "temp", "time")
    save(found, tmp_path / "found")
    again = load(tmp_path / "found")
    np.testing.assert_array_equal(again.posterior.mean(TURNED), found.posterior.mean(FRAME))
    for model in (found.model, again.model):
        value = log_evidence(model, FRAME, Y)
        assert log_evidence(model, TURNED, Y) == value
        assert log_evidence(model, TURNED.to_numpy(), Y) != value
        assert fit(model, TURNED, Y, max_steps=1).posterior.columns == tuple(FRAME)
    assert "input_columns" not in repr(found.model)


def test_a_line_may_have_a_name():
    named, plain = (StateSpaceGP(GP(k, 0.1)) for k in (Matern32().on("time"), Matern32()))
    assert log_evidence(named, LINE, Y) == log_evidence(plain, LINE.to_numpy(), Y)
    with pytest.raises(TypeError, match="gp must look at column 0"):
        StateSpaceGP(GP(Matern32().on("time", "temp"), 0.1))


def test_chunks_have_no_names():
    with pytest.raises(ValueError, match=r"model must number its columns.*on\(0\).*'temp'"):
        log_evidence(SparseGP(GP(NAMED, 0.1), ROWS[:6]), Chunks([(ROWS, Y)]))


def test_labels_of_a_report_name_parameters_of_kernels_by_name():
    gp = GP(RBF(1.0, [0.7, 2.0]).on("wind", "temp") + Linear(0.5).on("time"), 0.1)
    labels = [one.label for one in fit(gp, TURNED, Y, max_steps=2).report().hyperparameters]
    assert labels[1:4] == [
        "kernel.parts.0.kernel.lengthscale[0] (wind)",
        "kernel.parts.0.kernel.lengthscale[1] (temp)",
        "kernel.parts.1.kernel.variance",
    ]
    by_column = "kernel.parts.0.kernel.lengthscale[temp]"
    held = fit(gp, TURNED, Y, max_steps=2, fixed=[labels[2]], bounds={labels[1]: (0.5, 0.8)})
    assert held.model.kernel.parts[0].kernel.lengthscale[1] == 2.0
    tied = fit(gp, TURNED, Y, max_steps=2, tied=[(labels[1], by_column)])
    assert len(set(tied.model.kernel.parts[0].kernel.lengthscale.tolist())) == 1


def test_an_objective_takes_the_labels_of_a_report_too():
    gp, column = GP(RBF(1.0, [0.7, 2.0, 1.0]), 0.1), "kernel.lengthscale[temp]"
    assert objective_of(gp, FRAME, Y, fixed=[column]).fixed == ("kernel.lengthscale[1]",)
    priors = {"kernel.lengthscale[0] (wind)": LogNormalPrior(0.0, 1.0)}
    assert objective_of(gp, FRAME, Y, priors=priors).priors[0].name == "kernel.lengthscale[0]"


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("kernel.lengthscale[tmp]", "kernel.lengthscale[temp]"),
        ("kernel.lengthscale (tmp)", "kernel.lengthscale (temp)"),
        ("kernel.lenghtscale[temp]", "kernel.lengthscale[temp]"),
        ("kernel.lengthscale[1] (temperature)", "kernel.lengthscale[1] (temp)"),
    ],
)
@pytest.mark.parametrize("ask", [fit, objective_of])
def test_a_label_that_is_misspelt_is_near_another_label(ask, label, meant):
    gp = GP(RBF(1.0, [0.7, 2.0, 1.0]), 0.1)
    said = f"{re.escape(repr(label))}.*{re.escape(repr(label))} is near {re.escape(repr(meant))}"
    for name, given in {"fixed": [label], "tied": [(label, "noise_var")]}.items():
        with pytest.raises(ValueError, match=f"{name} names {said}"):
            ask(gp, FRAME, Y, **{name: given})
    with pytest.raises(ValueError, match=f"bounds names {said}"):
        ask(gp, FRAME, Y, bounds={label: (0.1, 1.0)})
