"""What others may bring is told by its members, and refused with the name of what it lacks."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Bernoulli,
    ConstantMean,
    Gaussian,
    Poisson,
    StudentT,
    condition,
    fit,
    log_evidence_and_gradient,
)
from gpnotes.decide.pilco import LinearPolicy, SaturatingCost
from gpnotes.infer import laplace
from gpnotes.infer.interdomain import InducingPoints
from gpnotes.model import contracts
from gpnotes.model.contracts import missing, require

X = np.linspace(0.0, 3.0, 4)[:, None]
Y = np.asarray([1.0, 1.0, -1.0, 1.0])
KEPT = {
    "Mean": ConstantMean(1.0),
    "Likelihood": Gaussian(0.5),
    "LabelLikelihood": Bernoulli(),
    "ParametricLikelihood": StudentT(),
    "PredictiveLikelihood": Poisson(),
    "InducingVariables": InducingPoints(X),
    "Policy": LinearPolicy(np.ones((1, 2)), np.ones(1)),
    "Cost": SaturatingCost(np.ones(2), np.eye(2)),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_parts_of_the_package_keep_their_contracts(name):
    contract = getattr(contracts, name)
    assert missing(KEPT[name], contract) == []
    assert require(KEPT[name], "part", contract) is KEPT[name]


@pytest.mark.parametrize("name", KEPT)
def test_the_class_of_a_part_is_no_part(name):
    kind = type(KEPT[name])
    with pytest.raises(TypeError, match=f"^part must be .*; got the class {kind.__name__}, not an"):
        require(kind, "part", getattr(contracts, name))


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("Mean", ["__call__", "pullback"]),
        ("Likelihood", ["log_density", "derivatives"]),
        ("LabelLikelihood", ["log_density", "derivatives", "probability"]),
        ("ParametricLikelihood", ["log_density", "derivatives", "pullback"]),
        ("PredictiveLikelihood", ["log_density", "derivatives", "predict"]),
        (
            "InducingVariables",
            [
                "inputs",
                "size",
                "moved",
                "apply",
                "gram",
                "gram_pullback",
                "cross",
                "cross_pullback",
            ],
        ),
        ("Policy", ["__call__", "moments_and_pullback"]),
        ("Cost", ["__call__", "expected_and_pullback"]),
        ("Criterion", ["diminishing", "gains", "add"]),
        ("Acquisition", ["__call__", "derivatives"]),
    ],
)
def test_what_is_missing_is_named(name, members):
    contract = getattr(contracts, name)
    assert missing(SimpleNamespace(), contract) == members
    with pytest.raises(TypeError, match=f"; SimpleNamespace lacks {', '.join(members)}$"):
        require(SimpleNamespace(), "part", contract)
    for value in (None, 3.0, "RBF"):
        with pytest.raises(TypeError, match=f"^part must be .*; {type(value).__name__} lacks "):
            require(value, "part", contract)


def without(part, *names):
    """`part` with some of its members gone."""
    members = {name: getattr(part, name) for name in dir(part) if name not in names}
    kept = {name: value for name, value in members.items() if not name.startswith("_")}
    if "__call__" in members:
        kept["__call__"] = lambda self, *args: part(*args)
    return type("Partial", (), {n: _static(n, v) for n, v in kept.items()})()


def test_a_plain_function_as_a_mean_is_told_what_it_will_do_for():
    by_function = GP(RBF(), 0.1, lambda x: x[:, 0])
    assert condition(by_function, X, Y).mean(X).shape == (X.shape[0],)
    with pytest.raises(TypeError, match=r"A plain function will do for .condition.*offset"):
        fit(by_function, X, Y)


def test_a_kernel_of_another_package_is_told_whose_it_is():
    other = pytest.importorskip("sklearn.gaussian_process.kernels")
    with pytest.raises(TypeError, match="kernel must be a gpnotes Kernel; got RBF of sklearn"):
        GP(other.RBF(), 0.1)


def _static(name, value):
    return value if name == "__call__" else staticmethod(value) if callable(value) else value


def test_public_functions_name_what_a_part_lacks():
    gp = GP(RBF(), 0.0)
    likelihood = without(Bernoulli(), "derivatives")
    with pytest.raises(TypeError, match=r"^likelihood must be .*; Partial lacks derivatives$"):
        laplace.LaplaceGP(gp, likelihood=likelihood)
    by_hand = GP(RBF(), 0.1, without(ConstantMean(1.0), "pullback"))
    for function in (fit, log_evidence_and_gradient):
        with pytest.raises(TypeError, match=r"^gp\.mean must be .*; Partial lacks pullback$"):
            function(by_hand, X, Y)
    with pytest.raises(TypeError, match=r"^gp\.mean must be .*; Partial lacks pullback$"):
        fit(laplace.LaplaceGP(GP(RBF(), 0.0, by_hand.mean)), X, Y)
    labels = condition(laplace.LaplaceGP(GP(RBF(), 0.0, lambda x: x[:, 0])), X, Y)
    for posterior in (condition(by_hand, X, Y), labels):
        with pytest.raises(TypeError, match=r"^gp\.mean must be .* lacks pullback(\. A plain |$)"):
            posterior.evidence_gradient()
    posterior = condition(laplace.LaplaceGP(gp, without(Bernoulli(), "probability")), X, Y)
    with pytest.raises(TypeError, match=r"^the likelihood must be .*; Partial lacks probability$"):
        posterior.probability(X)


def test_a_part_that_has_its_members_is_as_good_as_ours():
    wanted = condition(laplace.LaplaceGP(GP(RBF(), 0.0), Bernoulli()), X, Y)
    approximation = condition(
        laplace.LaplaceGP(GP(RBF(), 0.0), without(Bernoulli(), "information")), X, Y
    )
    assert approximation.log_evidence == wanted.log_evidence
    np.testing.assert_array_equal(approximation.probability(X), wanted.probability(X))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("log_density", lambda y, f: Gaussian(1.0).log_density(y, f)[:, None] * np.ones(4)),
        ("log_density", lambda y, f: float(Gaussian(1.0).log_density(y, f).sum())),
        ("derivatives", lambda y, f: Gaussian(1.0).derivatives(y, f)[:2]),
        ("derivatives", lambda y, f: (y - f, -1.0, 0.0)),
    ],
)
def test_a_likelihood_that_does_not_work_entry_by_entry_is_refused(name, wrong):
    likelihood = without(Gaussian(1.0))
    setattr(likelihood, name, wrong)
    with pytest.raises(ValueError, match=r"likelihood must return a log density and three deriv"):
        condition(laplace.LaplaceGP(GP(RBF(), 0.0), likelihood), X, Y)


PAGE = Path(__file__).resolve().parent.parent.parent / "book" / "api" / "bring-your-own.md"


@pytest.mark.parametrize("name", ["Wendland", "Poisson", "Spring"])
def test_a_part_of_ones_own_takes_fewer_than_twenty_lines(name):
    """The page says so; a contract that asked for more would make it wrong."""
    text = PAGE.read_text("utf-8")
    cells = re.findall(r"^```\{code-cell\} ipython3\n(.*?)^```", text, re.M | re.S)
    (cell,) = (cell for cell in cells if re.search(rf"^class {name}\b", cell, re.M))
    assert len(cell.strip().splitlines()) < 20
