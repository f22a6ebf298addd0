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


WAYS: dict[str, Callable[[], object]] = {
    "a constant y": lambda: GPRegressor().fit(X, np.ones(14)),
    "a constant column": lambda: MultiOutputGPRegressor().fit(X, np.ones((14, 2))),
    "other names": _other_names,
    "other rows": _other_rows,
    "a fit that is stopped": lambda: GPRegressor(max_steps=1).fit(X, Y[:, 0]),
    "a classifier that is stopped": lambda: GPClassifier(max_steps=1).fit(X, LABELS),
    "several outputs that are stopped": lambda: MultiOutputGPRegressor(max_steps=1).fit(X, Y),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_warning_of_an_estimator_names_the_line_of_its_caller(way: Callable[[], object]) -> None:
    with pytest.warns(UserWarning) as caught:
        way()
    assert {one.filename for one in caught} == {__file__}
