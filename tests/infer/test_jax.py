"""Arrays of JAX, which may not be written into, get what NumPy's get, and stay what they are."""

import numpy as np
import pytest

from gpnotes import (
    GP,
    RBF,
    Matern32,
    Periodic,
    StateSpaceGP,
    condition,
    log_evidence,
    log_evidence_and_gradient,
)
from gpnotes.decide import design
from gpnotes.ground.xp import set_at, set_rows

X = np.asarray([[0.3], [0.0], [1.1], [2.0], [1.7]])
Y, XS = np.sin(X[:, 0]), np.asarray([[0.5], [2.5]])


@pytest.fixture
def jax():
    """JAX in double precision, imported by the process that runs these tests alone."""
    reason = "could not import 'jax': No module named 'jax'"
    library = pytest.importorskip("jax", reason=reason)
    before = library.config.jax_enable_x64
    library.config.update("jax_enable_x64", True)
    yield library
    library.config.update("jax_enable_x64", before)


def agree(jax, ours, numpys):
    for one, other in zip(ours, numpys, strict=True):
        assert isinstance(one, jax.Array)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)


def test_a_copy_is_changed(jax):
    a = jax.numpy.zeros((3, 2))
    b = set_at(a, (slice(None), 1), 2.0)
    c = set_rows(b, np.asarray([0, 2]), slice(0, 1), jax.numpy.ones((2, 1)))
    assert float(a.sum()) == 0.0
    np.testing.assert_array_equal(c, [[1.0, 2.0], [0.0, 2.0], [1.0, 2.0]])


def test_what_is_traced_is_refused_by_name(jax):
    x, y = map(jax.numpy.asarray, (X, Y))
    said = r"must be an array; got a jax \w+Tracer, which has no values while jit, .*: call outside"
    for call in (jax.jit, jax.grad):
        with pytest.raises(TypeError, match="X " + said):
            call(lambda x: log_evidence(GP(RBF(), 0.1), x, y))(x)
        with pytest.raises(TypeError, match="y " + said):
            call(lambda y: log_evidence(GP(RBF(), 0.1), x, y))(y)
        with pytest.raises(TypeError, match=r"RBF.lengthscale must be a float .* got a jax \w+Tra"):
            call(lambda length: log_evidence(GP(RBF(1.0, length), 0.1), x, y))(1.0)


def test_a_periodic_kernel_is_pulled_back(jax):
    gp = GP(Periodic(1.3, 0.8, 2.0), 0.1)
    ours = log_evidence_and_gradient(gp, jax.numpy.asarray(X), jax.numpy.asarray(Y))
    value, bar = log_evidence_and_gradient(gp, X, Y)
    assert float(ours[0]) == pytest.approx(value)
    for name in ("variance", "lengthscale", "period"):
        found = float(getattr(ours[1].kernel, name))
        assert found == pytest.approx(float(getattr(bar.kernel, name)))


def test_a_state_space_model_is_filtered_on_the_host(jax):
    model = StateSpaceGP(GP(Matern32() + Periodic(0.5, 1.0, 0.7), 0.1))
    ours = condition(model, jax.numpy.asarray(X), jax.numpy.asarray(Y))
    numpys = condition(model, X, Y)
    new = jax.numpy.asarray(XS)
    agree(jax, ours.predict(new), numpys.predict(XS))
    agree(jax, [ours.covariance(new), ours.fitted()], [numpys.covariance(XS), numpys.fitted()])
    agree(jax, ours.part(1).predict(new), numpys.part(1).predict(XS))
    assert isinstance(ours.sample(new, 2, rng=1), jax.Array)
    later, number = np.asarray([[2.2]]), np.asarray([0.4])
    agree(jax, ours.extend(jax.numpy.asarray(later), jax.numpy.asarray(number)).predict(new),
          numpys.extend(later, number).predict(XS))  # fmt: skip


def test_a_design_is_the_same(jax):
    found = [design.greedy_design(condition(GP(Matern32(), 0.1), a[:3], b[:3]), a, 2)
             for a, b in ((X, Y), (jax.numpy.asarray(X), jax.numpy.asarray(Y)))]  # fmt: skip
    agree(jax, [found[1].gains], [found[0].gains])
    np.testing.assert_array_equal(found[0].indices, found[1].indices)
