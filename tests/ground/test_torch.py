"""Tensors of PyTorch: what is refused of them, and what their library does unlike the others."""

from __future__ import annotations

import numpy as np
import pytest

import gpnotes as g
from gpnotes.ground.linalg import JitterWarning, cholesky
from gpnotes.ground.xp import as_array, eye, to_numpy


class WithGraph(np.ndarray):
    """An array that requires grad, as a tensor may: the library itself need not be here."""

    requires_grad = True


def test_what_requires_grad_is_refused_by_name(rng):
    X, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    tracked = X.view(WithGraph)
    posterior = g.condition(g.GP(g.RBF(), 0.1), X, y)
    for name, called in {
        "X": lambda: g.condition(g.GP(g.RBF(), 0.1), tracked, y),
        "Xs": lambda: posterior.predict(tracked),
        "x": lambda: g.RBF()(tracked),
        "RBF.lengthscale": lambda: g.RBF(1.0, tracked[0]),
        "a": lambda: to_numpy(tracked),
    }.items():
        said = rf"^{name} must be an array; got .* WithGraph, which requires grad.*: detach it"
        with pytest.raises(TypeError, match=said):
            called()


@pytest.mark.namespace("torch")
def test_a_tensor_that_requires_grad_is_refused_and_taken_once_detached(rng):
    import torch

    X, y = (torch.asarray(rng.normal(size=size)) for size in ((5, 2), 5))
    X.requires_grad_()
    with pytest.raises(TypeError, match=r"^X must be an array; got a torch Tensor, .*detach it"):
        g.fit(g.GP(g.RBF()), X, y)
    assert g.condition(g.GP(g.RBF(), 0.1), X.detach(), y).mean(X.detach()).shape == (5,)


def test_a_singular_matrix_climbs_the_ladder(space):
    K = space.asarray(np.ones((4, 4)))
    with pytest.warns(JitterWarning, match="to its diagonal"):
        factor = cholesky(K)
    assert factor.jitter > 0.0
    assert space.holds(factor.lower)


def test_an_array_of_the_host_is_copied_and_may_be_laid_out_in_any_way(space):
    like = space.asarray(np.zeros(1))
    host = np.arange(6.0)
    host.flags.writeable = False
    for given in (host, host[::-1], host[::2], host.astype(">f8"), host.astype(np.float32)):
        made = as_array(given, like)
        assert space.holds(made)
        np.testing.assert_array_equal(to_numpy(made), given)


@pytest.mark.namespace("torch")
def test_nothing_written_into_a_tensor_reaches_the_host():
    import torch

    host = np.ones(3)
    as_array(host, torch.zeros(1, dtype=torch.float64))[0] = 5.0
    assert host.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.namespace("torch")
def test_the_default_precision_of_the_library_plays_no_part(rng):
    import torch

    X, y = (torch.asarray(rng.normal(size=size)) for size in ((6, 1), 6))
    assert torch.get_default_dtype() == torch.float32
    found = g.fit(g.GP(g.RBF(1.0, 1.0), 0.1), X, y, max_steps=2)
    assert {a.dtype for a in found.posterior.predict(X)} == {torch.float64}
    assert torch.get_default_dtype() == torch.float32
    assert eye(2, X.float()).dtype == torch.float32


def test_shapes_in_errors_are_those_of_every_library(space):
    with pytest.raises(ValueError, match=r"^y must have shape \(3,\); got \(2,\)"):
        g.condition(g.GP(g.RBF(), 0.1), space.asarray(np.ones((3, 1))), space.asarray(np.ones(2)))
