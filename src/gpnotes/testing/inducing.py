"""Checks of inducing variables."""

from __future__ import annotations

import numpy as np

from ..ground import check as _check
from ..ground.xp import Array, Matrix, array_namespace, to_numpy
from ..model import contracts
from ..model.kernels import Kernel
from .agreement import close, hold, is_array, is_double, rounding, semidefinite
from .differences import gradcheck

__all__ = ["check_inducing_variables"]


def check_inducing_variables(
    variables: contracts.InducingVariables, kernel: Kernel, X: Matrix, *, rtol: float = 1e-6
) -> None:
    """Check that inducing variables keep their contract with a kernel.

    K_uu and K_uf have the shape and kind of X; K_uu is symmetric, and together with K_ff they are
    positive semidefinite within rounding; `apply` makes K_uf of the columns of the kernel and K_uu
    of the rows of K_uf; in float64 both pullbacks agree with differences, by the inputs that
    `moved` moves.

    Parameters
    ----------
    variables : InducingVariables
        The inducing variables.
    rtol : float, default 1e-6
        The gap that `apply`, which may integrate numerically, is allowed, relative to the largest
        entry.

    Examples
    --------
    >>> from gpnotes import RBF
    >>> from gpnotes.infer.interdomain import InducingPoints
    >>> X = np.asarray([[0.0], [0.5], [2.0]])
    >>> check_inducing_variables(InducingPoints(X[:2] + 0.1), RBF(), X)
    """
    contracts.require(variables, "variables", contracts.InducingVariables)
    _check.instance(kernel, "kernel", Kernel)
    rtol = _check.positive(_check.number(rtol, "rtol"), "rtol", zero=True)
    n, size = _check.matrix(X, "X").shape[0], variables.size
    if not n:
        raise ValueError(f"X must have at least one row; got {tuple(X.shape)}")
    K_uu, K_uf = variables.gram(kernel), variables.cross(kernel, X)
    is_array("K_uu", K_uu, (size, size), X)
    is_array("K_uf", K_uf, (size, n), X)
    is_array("inputs", variables.inputs, (variables.inputs.shape[0], X.shape[1]), X)
    host, top = to_numpy(K_uu), rounding(K_uu)
    hold(np.array_equal(host, host.T), "K_uu is not symmetric")
    xp = array_namespace(X)
    above = xp.concat([K_uu, K_uf], axis=1)
    below = xp.concat([xp.matrix_transpose(K_uf), kernel(X)], axis=1)
    joint = xp.concat([above, below], axis=0)
    semidefinite("the covariance of u and f", joint, rounding(joint) + top)
    by_columns = [variables.apply(_column(kernel, X, i), kernel) for i in range(n)]
    off = rounding(K_uf) + rtol * _largest(K_uf)
    close("K_uf and what apply makes of k", K_uf, xp.stack(by_columns, axis=1), off)
    by_rows = [variables.apply(_row(variables, kernel, i), kernel) for i in range(size)]
    off = top + rtol * _largest(K_uu)
    close("K_uu and what apply makes of K_uf", K_uu, xp.stack(by_rows, axis=1), off)
    if is_double(X):
        _check_pullbacks(variables, kernel, X)


def _column(kernel: Kernel, X: Matrix, i: int) -> contracts.MeanFunction:
    return lambda inputs: kernel(inputs, X[i : i + 1, :])[:, 0]


def _row(variables: contracts.InducingVariables, kernel: Kernel, i: int) -> contracts.MeanFunction:
    return lambda inputs: variables.cross(kernel, inputs)[i, :]


def _largest(a: Array) -> float:
    return float(np.max(np.abs(to_numpy(a))))


def _check_pullbacks(variables: contracts.InducingVariables, kernel: Kernel, X: Matrix) -> None:
    moved = variables.moved
    names = ("kernel", "inputs")
    for what, value, pullback in (
        ("gram_pullback", lambda k, Z: moved(Z).gram(k),
         lambda k, Z, bar: moved(Z).gram_pullback(k, bar)),
        ("cross_pullback", lambda k, Z: moved(Z).cross(k, X),
         lambda k, Z, bar: moved(Z).cross_pullback(k, X, bar)),
    ):  # fmt: skip
        gradcheck(value, pullback, kernel, variables.inputs, names=names, what=what)
