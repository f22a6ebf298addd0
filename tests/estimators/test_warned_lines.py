"""Warnings of the estimators name the line of whoever called them, however they get there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from gpnotes import GPClassifier, GPRegressor, MultiOutputGPRegressor, stream

X = np.asarray(stream(3).uniform((14, 1)))
Y = np.column_stack([np.sin(5.0 * X[:, 0]), np.cos(5.0 * X[:, 0])])
LABELS = (Y[:, 0] > 0.3).astype(int)


def _other_names() -> None:
    model = MultiOutputGPRegressor(optimise=False).fit(X, pd.DataFrame(Y, columns=["a", "b"]))
    model.score(X, pd.DataFrame(Y, columns=["a", "c"]))


def _other_rows() -> None:
    GPRegressor(optimise=False).fit(pd.DataFrame(X), pd.Series(Y[:, 0], index=range(14)[::-1]))


SHORT = "stopped short of a maximum"
WAYS: list[tuple[str, Callable[[], object]]] = [
    ("y is constant", lambda: GPRegressor().fit(X, np.ones(14))),
    ("y is constant", lambda: MultiOutputGPRegressor().fit(X, np.ones((14, 2)))),
    ("outputs of the fit by position", _other_names),
    ("joined to X by position", _other_rows),
    (SHORT, lambda: GPRegressor(max_steps=1).fit(X, Y[:, 0])),
    (SHORT, lambda: GPClassifier(max_steps=1).fit(X, LABELS)),
    (SHORT, lambda: MultiOutputGPRegressor(max_steps=1).fit(X, Y)),
]


@pytest.mark.parametrize(("said", "way"), WAYS)
def test_a_warning_of_an_estimator_names_the_line_of_its_caller(
    said: str, way: Callable[[], object]
) -> None:
    with pytest.warns(UserWarning, match=said) as caught:
        way()
    assert {one.filename for one in caught} == {__file__}
