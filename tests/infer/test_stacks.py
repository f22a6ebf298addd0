"""Many small models at once have the evidences and gradients that they have one by one."""

import signal
import warnings

import cupy_stand_in
import numpy as np
import pytest
from cupy_stand_in.counts import counting

from gpnotes import (
    GP,
    RBF,
    Constant,
    ConstantMean,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    White,
    fit,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.assess.crossval import cross_validate
from gpnotes.ground import late_reads
from gpnotes.ground.chunks import Rows
from gpnotes.ground.interrupts import InterruptWarning
from gpnotes.ground.linalg import JitterWarning, RoundingWarning
from gpnotes.ground.params import flatten, flatten_gradient
from gpnotes.infer import stacked_evidences, stacks
from gpnotes.infer.stacked_evidences import Asked
from gpnotes.infer.stacks import evidences_and_gradients, in_step
from gpnotes.model.kernels import ArcCosine, Polynomial

MANY = 3


def models(asarray, which):
    """Three models of one form: of all kinds that are stacked, and of some that are not."""
    made = []
    for s in (0.6, 1.0, 1.7):
        lengths = asarray(s * np.asarray([1.0, 2.0]))
        kernel = {
            "ard": lambda s=s, lengths=lengths: RBF(1.3 * s, lengths),
            "one length": lambda s=s: Matern32(1.3, s),
            "sum": lambda s=s: Matern12(0.5, s) + White(0.1 * s) + Constant(0.2 * s),
            "product": lambda s=s: 2.0 * s * (RBF(1.0, s).on(1) * Matern52(1.0, 2.0 * s)),
            "constants": lambda s=s: Constant(0.5 * s) * Constant(2.0),
            "further number": lambda s=s: RationalQuadratic(1.0, s, 1.5 * s),
            "periodic": lambda s=s, lengths=lengths: Periodic(1.1 * s, lengths, 2.0 + s),
            "periods": lambda s=s, lengths=lengths: Periodic(0.8, s, 2.0 * lengths),
            "decaying": lambda s=s: RBF(1.0, 3.0 * s) * Periodic(1.0, s, 2.5 * s).on(0),
            "linear": lambda s=s: RBF(1.0, s) + Linear(s),
            "slopes": lambda lengths=lengths: Linear(lengths) + Constant(0.5),
            "polynomial": lambda s=s: Polynomial(0.7 * s, 0.4 * s, 3) * RBF(1.0, 2.0 * s),
            "power": lambda s=s: (Linear(s) + Constant(0.5 * s)) ** 2,
            "not stacked": lambda s=s: RBF(1.0, s) + ArcCosine(s),
        }[which]()
        mean = ConstantMean(0.3 * s) if which == "product" else GP(RBF()).mean
        made.append(GP(kernel, 0.1 * s, mean))
    return made


STACKED = [
    "ard", "one length", "sum", "product", "constants", "further number", "periodic", "periods",
    "decaying", "linear", "slopes", "polynomial", "power",
]  # fmt: skip


def numbers(rng, *shape):
    X = rng.normal(size=(*shape, 2))
    return X, np.sin(X.sum(axis=-1)) + 0.1 * rng.normal(size=shape)


def assert_alike(found, alone, gps, close):
    (value, bar), (expected, bar_alone) = found, alone
    np.testing.assert_allclose(value, expected, **close)
    slopes = (flatten_gradient(gps, one) for one in (bar, bar_alone))
    np.testing.assert_allclose(*slopes, **close)


@pytest.mark.parametrize(
    ("which", "stacked"),
    [
        *((which, "models") for which in [*STACKED, "not stacked"]),
        *((which, "data") for which in ("ard", "periodic")),
        *((which, "both") for which in ("sum", "further number", "linear")),
    ],
)
def test_a_stack_is_the_loop(space, rng, which, stacked):
    shape = (12,) if stacked == "models" else (MANY, 12)
    X, y = map(space.asarray, numbers(rng, *shape))
    gps = models(space.asarray, which)
    gps = gps[1:2] * MANY if stacked == "data" else gps
    values, bars = evidences_and_gradients(gps[0] if stacked == "data" else gps, X, y)
    close = {"rtol": 1e-9, "atol": 1e-9} if space.double else {"rtol": 2e-3, "atol": 2e-3}
    for b, gp in enumerate(gps):
        rows = (X, y) if stacked == "models" else (X[b, :, :], y[b, :])
        alone = log_evidence_and_gradient(gp, *rows)
        assert_alike((values[b], bars[b]), alone, gp, close)
        assert type(bars[b].noise_var) is float
        lengths = getattr(bars[b].kernel, "lengthscale", 0.0)
        assert isinstance(lengths, float) or space.holds(lengths)


def test_kernels_that_are_stacked_have_one_form(rng):
    X, y = numbers(rng, 5)
    for which in STACKED:
        asked = [Asked(gp, Rows(X, y), True) for gp in models(np.asarray, which)]
        assert len(list(stacked_evidences._groups(asked))) == 1, which
    asked = [Asked(gp, Rows(X, y), True) for gp in models(np.asarray, "not stacked")]
    asked += [Asked(GP(Polynomial(degree=degree)), Rows(X, y), True) for degree in (2, 3)]
    asked += [Asked(GP(Linear(v)), Rows(X, y), True) for v in (1.0, np.ones(2))]
    assert len(list(stacked_evidences._groups(asked))) == len(asked)


@pytest.mark.parametrize("which", ["product", "further number", "periods", "polynomial", "power"])
def test_gradients_are_those_of_differences(rng, which):
    X, y = numbers(rng, 9)
    gps = models(np.asarray, which)
    _, bars = evidences_and_gradients(gps, X, y)
    for gp, bar in zip(gps, bars, strict=True):
        flat, back = flatten(gp)
        slopes = [
            (log_evidence(back(flat + h), X, y) - log_evidence(back(flat - h), X, y)) / 2e-5
            for h in 1e-5 * np.eye(flat.size)
        ]
        np.testing.assert_allclose(flatten_gradient(gp, bar), slopes, rtol=1e-5, atol=1e-7)


@pytest.fixture
def cp():
    late_reads._doubt.learn(held=True)  # whatever was in vain before
    with cupy_stand_in.installed() as module:
        yield module


def test_a_matrix_without_a_factor_comes_from_the_loop_and_is_told(rng):
    X, y = numbers(rng, 8)
    X[1] = X[0]
    gps = [GP(RBF(1.0, 1.0), noise) for noise in (0.1, 0.0, 0.2, 0.3)]
    with pytest.warns(JitterWarning, match="noise_var=0 is not positive definite"):
        values, bars = evidences_and_gradients(gps, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitterWarning)
        for b, gp in enumerate(gps):
            alone = log_evidence_and_gradient(gp, X, y)
            assert_alike((values[b], bars[b]), alone, gp, {"rtol": 1e-9, "atol": 1e-9})


def test_a_loss_of_digits_is_told_of_a_stack_too(rng):
    X, y = 1e-3 * rng.normal(size=(12, 1)), rng.normal(size=12)
    gps = [GP(RBF(), noise) for noise in (0.1, 1e-13)]
    with pytest.warns(RoundingWarning, match="may be off by"):
        evidences_and_gradients(gps, X, y)


def test_tables_of_different_sizes_and_what_is_known_of_their_noise(cp, rng):
    """Smaller tables are filled up; of each its own evidence comes back, and few are launched."""
    gps = models(cp.asarray, "ard")
    tables = [
        {"X": cp.asarray(X), "y": cp.asarray(y), how: cp.asarray(0.5 + rng.uniform(size=n))}
        for n, how in ((12, "noise_var"), (11, "weights"), (10, "weights"))
        for X, y in [numbers(rng, n)]
    ]

    def of(b):
        return log_evidence_and_gradient(gps[b], **tables[b])

    found = in_step(of, range(MANY))
    for b, gp in enumerate(gps):
        assert_alike(found[b], of(b), gp, {"rtol": 1e-9, "atol": 1e-9})
    asked = [Asked(gp, Rows(**table), True) for gp, table in zip(gps, tables, strict=True)]
    assert [len(group) for group in stacked_evidences._groups(asked)] == [MANY]
    small = Rows(tables[0]["X"][:4, :], tables[0]["y"][:4])
    asked.append(Asked(gps[0], small, True))
    assert sorted(len(group) for group in stacked_evidences._groups(asked)) == [1, MANY]


def test_far_and_huge_inputs_are_those_of_the_loop(rng):
    X, y = numbers(rng, 8)
    for far in (X + 1e9, np.append(X[:7], [[1e150, 0.0]], axis=0), 1e-170 * X):
        gps = [GP(RBF(1.0, s * np.abs(far[0])), 0.1) for s in (1.0, 3.0)]
        values, bars = evidences_and_gradients(gps, far, y)
        for b, gp in enumerate(gps):
            alone = log_evidence_and_gradient(gp, far, y)
            assert_alike((values[b], bars[b]), alone, gp, {"rtol": 1e-6, "atol": 1e-9})


def test_what_does_not_go_together_is_refused(rng):
    X, y = numbers(rng, MANY, 6)
    gp, gps = GP(RBF(), 0.1), [GP(RBF(), 0.1)] * 2
    with pytest.raises(ValueError, match=r"models, X and y must be as many .* one; got 2, 3, 3"):
        evidences_and_gradients(gps, X, y)
    with pytest.raises(ValueError, match="y must have 6 entries, one for each row of X"):
        evidences_and_gradients(gp, X, y[:, :5])
    with pytest.raises(ValueError, match=r"X must have shape \(n, d\) or \(B, n, d\)"):
        evidences_and_gradients(gp, X[0, :, 0], y)
    with pytest.raises(TypeError, match="models must be a gpnotes GP; got RBF"):
        evidences_and_gradients([RBF()], X, y)
    X[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match="X must be finite"):
        evidences_and_gradients(gp, X, y)


def test_restarts_on_a_device_are_those_of_the_host_in_fewer_launches(cp, rng):
    X, y = numbers(rng, 9)

    def fitted(asarray, **options):
        gp = GP(RBF(1.0, asarray(np.ones(2))), 0.1)
        return fit(gp, asarray(X), asarray(y), restarts=4, rng=1, max_steps=4, **options)

    host = fitted(np.asarray)
    with counting() as together:
        found = fitted(cp.asarray)
    with counting() as one_by_one:
        heard = fitted(cp.asarray, on_step=lambda step: None)
    assert 1.7 * together.launches < one_by_one.launches
    for other in (found, heard):
        values = [run.log_evidence for run in other.runs]
        np.testing.assert_allclose(values, [run.log_evidence for run in host.runs], rtol=1e-6)
    assert found.model.noise_var == pytest.approx(host.model.noise_var, rel=1e-3)


def test_an_interrupt_ends_all_runs_and_keeps_what_they_have(cp, rng, monkeypatch, interruptible):
    X, y = map(cp.asarray, numbers(rng, 12))
    rounds = []

    def answers(asked, plain=stacks.answers_to):
        rounds.append(len(asked))
        if len(rounds) == 3:
            signal.raise_signal(signal.SIGINT)
        return plain(asked)

    monkeypatch.setattr(stacks, "answers_to", answers)
    with pytest.warns(InterruptWarning, match="fit keeps the best of 4 runs"):
        found = fit(GP(RBF(), 0.1), X, y, restarts=3, rng=1)
    assert rounds == [4, 4, 4]
    assert {run.message for run in found.runs} == {"interrupted"}
    assert found.log_evidence > log_evidence(GP(RBF(1.0, 1.0), 0.1), X, y)


def test_folds_and_outputs_go_on_in_step(rng):
    X, y = numbers(rng, 14)

    def learn(X, y):
        return fit(GP(RBF(), 0.1), X, y).posterior

    alone = cross_validate(learn, X, y, 3, rng=1)
    found = cross_validate(learn, X, y, 3, rng=1, jobs=in_step)
    np.testing.assert_allclose(found.predicted_mean, alone.predicted_mean, rtol=1e-3, atol=1e-4)
    outputs = in_step(lambda y: learn(X, y).log_evidence, [y, -2.0 * y])
    np.testing.assert_allclose(outputs, [learn(X, a).log_evidence for a in (y, -2.0 * y)])


def test_an_error_in_a_fold_names_it(rng):
    X, y = numbers(rng, 6)
    y[5] = 1e200
    with pytest.raises(ValueError, match="y must have an evidence") as caught:
        cross_validate(
            lambda X, y: fit(GP(RBF(), 0.1), X, y), X, y, groups=[0, 0, 1, 1, 2, 2], jobs=in_step
        )
    assert caught.value.__notes__ == ["in fold 0, which holds out the rows 0, 1"]
