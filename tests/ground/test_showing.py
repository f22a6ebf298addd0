"""Printed, a result is a line: no array of it is shown."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp

from gpnotes import (
    GP,
    RBF,
    FeatureGP,
    LaplaceGP,
    condition,
    fit,
    stream,
)
from gpnotes.ground.linalg import Cholesky
from gpnotes.ground.showing import _FEW, _brief, summary
from gpnotes.infer import features, sparse, svgp
from gpnotes.model.likelihoods import Bernoulli, Gaussian
from gpnotes.model.normal import Normal

ROOMS = (
    "assess.calibration", "assess.crossval", "assess.scores", "decide.bayesopt", "decide.design",
    "decide.fantasy", "games", "mdp", "decide.moments", "decide.pilco", "draw.grids",
    "draw.paths", "ground.chunks", "ground.linalg", "infer.deep", "infer.exact", "infer.features",
    "infer.fitting", "infer.interdomain", "infer.laplace", "infer.state_space", "infer.linear",
    "networks", "infer.report", "infer.sparse", "infer.svgp", "model.basis",
    "model.normal", "model.likelihoods", "model.means",
)  # fmt: skip
HELD = re.compile(r"Vector|Matrix|Array|Stack|Posterior|Cholesky|Normal\b|Trend")


def results():
    """The public classes of values that hold arrays, or what holds arrays."""
    for room in ROOMS:
        module = importlib.import_module(f"gpnotes.{room}")
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and any(map(HELD.search, _types(kind))):
                yield f"{room}.{name}", kind


def _types(kind):
    if dataclasses.is_dataclass(kind):
        return [str(item.type) for item in dataclasses.fields(kind)]
    return [str(one) for one in vars(kind).get("__annotations__", {}).values()] * hasattr(
        kind, "_fields"
    )


@pytest.mark.parametrize(("name", "kind"), [*results()])
def test_each_class_of_results_prints_itself(name, kind):
    made = (
        hasattr(kind.__repr__, "__wrapped__") or "collections" in kind.__repr__.__code__.co_filename
    )
    assert not made, f"{name} by its class: a field for each, and arrays with their numbers"


X = np.linspace(0.0, 3.0, 40)[:, None]
Y = np.sin(X[:, 0])
PRINTED = {
    "a posterior": lambda: condition(GP(RBF(), 0.1), X, Y),
    "a prediction": lambda: condition(GP(RBF(), 0.1), X, Y).joint(X),
    "a fit": lambda: fit(GP(RBF(), 0.1), X, Y, max_steps=2),
    "features": lambda: condition(
        FeatureGP(GP(RBF(), 0.1), features.draw_frequencies(RBF(), X, 20, rng=stream(1))), X, Y),
    "points": lambda: condition(sparse.SparseGP(GP(RBF(), 0.1), X[::10]), X, Y),
    "labels": lambda: condition(
        LaplaceGP(GP(RBF(), 0.0), Bernoulli()), X, np.where(Y > 0.5, 1.0, -1.0)),
    "a variational process": lambda: condition(
        svgp.SVGP(GP(RBF(), 0.0), Gaussian(0.1), X[::10]), X, Y),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_a_result_prints_one_line_without_arrays(name):
    result = PRINTED[name]()
    assert "array(" not in repr(result)
    assert "\n" not in repr(result)
    assert not re.search(r"\d \s*-?\d", repr(result)), "numbers in a row"
    assert len(repr(result)) < 600


def test_arrays_are_told_by_shape_and_parts_by_themselves(space):
    a = space.asarray(np.zeros((30, 2)))
    assert summary(Normal(a[:, 0], a)) == (
        f"Normal(mean=<30 {a.dtype}>, root=<30×2 {a.dtype}>, root_kind='given')"
    )
    assert "jitter=0.0" in summary(Cholesky(a))

    @dataclasses.dataclass
    class Every:
        few: tuple
        many: tuple
        named: dict
        sparse: object
        number: object

    every = Every((a, 1), (a,) * 9, {"a": a}, sp.csr_array(np.eye(3)), np.asarray(2.5))
    kind = str(a.dtype)
    told = summary(every)
    assert f"few=(<30×2 {kind}>, 1), many=<9 of {type(a).__name__}>" in told
    assert f"named={{'a': <30×2 {kind}>}}, sparse=<3×3 float64>, number=2.5)" in told


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "[]"), ([1.0, 2.0], "<2 of float>"), ((), "()"), ((1,), "(1,)"),
        ((1, "a"), "(1, 'a')"),
        ({"a": (2,), "b": []}, "{'a': (2,), 'b': []}"), (np.asarray(2.5), "2.5"),
        (np.zeros((2, 3)), "<2×3 float64>"), (sp.eye_array(2), "<2×2 float64>"),
        (tuple(range(9)), "<9 of int>"), (tuple(range(_FEW)), str(tuple(range(_FEW)))),
        (tuple(range(_FEW + 1)), f"<{_FEW + 1} of int>"),
    ],
)  # fmt: skip
def test_each_kind_of_part_is_said_briefly(value, said):
    assert _brief(value) == said
