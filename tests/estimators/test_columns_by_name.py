"""Kernels of columns by name in the estimators, whose frames have the names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from gpnotes import RBF, Linear, stream

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402

from gpnotes.estimators import (  # noqa: E402
    GPClassifier,
    GPRegressor,
    MultiOutputGPRegressor,
)

ROWS = stream(0).uniform((12, 2)) * 3.0
FRAME = pd.DataFrame(ROWS, columns=["wind", "temp"])
Y = np.sin(ROWS[:, 1]) + ROWS[:, 0]
NAMED = RBF().on("temp") + Linear().on("wind")
NUMBERED = RBF().on(1) + Linear().on(0)
HELD = ["noise_var", "kernel.parts.1.kernel.variance"]
HELD += [f"kernel.parts.0.kernel.{name}" for name in ("variance", "lengthscale (temp)")]
MADE = {
    "regressor": (lambda kernel: GPRegressor(kernel, optimise=False), Y),
    "fitted": (lambda kernel: GPRegressor(kernel, noise_var=0.1, fixed=HELD), Y),
    "inducing": (lambda kernel: GPRegressor(kernel, inducing=4, optimise=False), Y),
    "classifier": (lambda kernel: GPClassifier(kernel, optimise=False), Y > 2.0),
    "outputs": (lambda kernel: MultiOutputGPRegressor(kernel, optimise=False), np.c_[Y, Y**2]),
}


@pytest.mark.parametrize("name", MADE)
def test_an_estimator_finds_the_columns_that_its_kernel_names(name, tmp_path):
    made, y = MADE[name]
    model = made(NAMED).fit(FRAME, y)
    predicted = model.predict(FRAME)
    np.testing.assert_array_equal(predicted, made(NUMBERED).fit(FRAME, y).predict(FRAME))
    assert model.kernel is NAMED  # as scikit-learn wants it; the one that knows them is gp_.kernel
    np.testing.assert_array_equal(clone(model).fit(FRAME, y).predict(FRAME), predicted)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(type(model).load(tmp_path / "model").predict(FRAME), predicted)
    with pytest.raises(ValueError, match=r"X.* must be a frame with the columns \['temp'\]"):
        made(NAMED).fit(ROWS, y)


def test_a_dataarray_that_names_its_columns_is_a_frame_to_an_estimator():
    X = xr.DataArray(ROWS, dims=("row", "column"), coords={"column": ["wind", "temp"]})
    model = GPRegressor(NAMED, optimise=False).fit(X, Y)
    np.testing.assert_array_equal(model.predict(FRAME), model.predict(X))
    with pytest.raises(ValueError, match=r"X must be rows(.|\n)* same order as they were"):
        model.predict(X[:, ::-1])
