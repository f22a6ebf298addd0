"""What the tests of the kernels share: inputs, and kernels in every array namespace.

Stationary ones are found; `tests/test_contracts_found.py` has every class, on NumPy.
"""

import numpy as np
import pytest
from contract_parts import classes_of

import gpnotes as g
from gpnotes import testing
from gpnotes.model.kernels import (
    ArcCosine,
    CircularArcCosine,
    CircularMatern12,
    CircularMatern32,
    CircularRBF,
    Cosine,
    IntegratedWiener,
    OnSphere,
    Polynomial,
    Stationary,
    ThinPlate,
    Wiener,
    spectral_mixture,
)


@pytest.fixture
def x(space, rng):
    """Seven points in three dimensions, off the origin."""
    return space.asarray(rng.normal(size=(7, 3)) + 0.5)


@pytest.fixture
def z(space, rng):
    return space.asarray(rng.normal(size=(4, 3)) - 0.25)


_CIRCULAR = (CircularRBF, CircularMatern12, CircularMatern32)


def _kernels(space):
    """One of every class and of every kind of hyperparameter."""
    per_dimension = space.asarray([0.7, 1.4, 2.5])
    stationary = [one for one in classes_of("kernel") if issubclass(one, Stationary)]
    return {
        **{one.__name__: one(1.3, 0.8) for one in stationary},
        **{f"{one.__name__} ARD": one(1.3, per_dimension) for one in stationary},
        "RationalQuadratic alpha": g.RationalQuadratic(0.8, 1.2, 0.3),
        "Periodic": g.Periodic(1.3, 0.9, 2.1),
        "Periodic ARD": g.Periodic(1.3, per_dimension, per_dimension + 1.0),
        **{f"{one.__name__} short": one(1.3, 0.6).on(1) for one in _CIRCULAR},
        **{f"{one.__name__} long": one(1.3, 1.7).on(0) for one in _CIRCULAR},
        "CircularArcCosine": CircularArcCosine(0.8).on(2),
        "Linear": g.Linear(0.6),
        "Linear ARD": g.Linear(per_dimension),
        "Polynomial": Polynomial(0.4, 0.7, 3),
        "Polynomial without bias": Polynomial(0.4, 0.0, 2),
        "ArcCosine order 0": ArcCosine(0.7, 1.3, 0.6, 0),
        "ArcCosine": ArcCosine(0.7, 1.3, 0.6),
        "ArcCosine order 2 ARD": ArcCosine(0.7, per_dimension, 0.6, 2),
        "Cosine": Cosine(0.3),
        "Cosine ARD": Cosine(per_dimension - 1.0),
        "spectral mixture": spectral_mixture([0.7, 1.2], [0.1, 0.4], [0.2, 0.1]),
        "ThinPlate": ThinPlate(1.3, 9.0),
        "Wiener": Wiener(1.3, -9.0).on(0),
        "IntegratedWiener": IntegratedWiener(1.3, -9.0).on(1),
        "Constant": g.Constant(0.8),
        "White": g.White(0.8),
        "sum": g.RBF(1.3, per_dimension) + g.Linear(0.3) + g.White(0.2),
        "named sum": g.named(slow=g.RBF(1.3, per_dimension), line=g.Linear(0.3)) + g.White(0.2),
        "product": g.RBF() * g.Periodic(1.0, 1.5, 3.0) * g.Constant(2.0),
        "named product": g.named_product(wave=g.RBF(1.3, per_dimension), line=g.Linear(0.3))
        * g.White(0.2),
        "power": (g.RBF(1.0, per_dimension) + 0.3) ** 3,
        "sphere": OnSphere(g.RBF(1.3, 90.0) + g.Linear(1e-8)).on(2, 0),
        "scaled": 1.7 * g.Matern52(),
        "active": g.RBF(1.0, per_dimension[:2]).on(2, 0),
        "nested": 0.5 * (g.RBF().on(0) * (g.Linear() + g.Constant())) + g.Matern12().on(1, 2),
    }


NUMPYS = _kernels(testing.array_spaces("numpy")[0])


@pytest.fixture(params=NUMPYS)
def kernel_name(request):
    return request.param


@pytest.fixture
def kernel(kernel_name, space):
    return _kernels(space)[kernel_name]


@pytest.fixture
def twin(kernel_name):
    """The same kernel on NumPy."""
    return NUMPYS[kernel_name]


@pytest.fixture
def close(space):
    """Compare an array, whose kind is checked too, with numbers."""

    def compare(a, b, *, scale=1.0):
        assert space.holds(a)
        tolerance = (1e-12 if space.double else 2e-5) * scale
        np.testing.assert_allclose(g.to_numpy(a), b, rtol=tolerance, atol=tolerance)

    return compare
