"""Two libraries of linear algebra, one pool of threads at work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  (so that its library is there)
from threadpoolctl import ThreadpoolController

import gpnotes as gp
from gpnotes.ground.threads import in_one_pool
from gpnotes.infer import svgp


def threads() -> list[int]:
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    return sorted(pool.num_threads for pool in pools)


@pytest.fixture
def two_pools() -> Iterator[None]:
    """NumPy's and SciPy's, with two threads each."""
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    if len(pools) < 2:
        pytest.skip("NumPy and SciPy share one library here")
    before = [pool.num_threads for pool in pools]
    for pool in pools:
        pool.set_num_threads(2)
    if threads() != [2, 2]:
        pytest.skip("a library here has one thread only")
    yield
    for pool, many in zip(pools, before, strict=True):
        pool.set_num_threads(many)


@pytest.mark.usefixtures("two_pools")
def test_one_pool_rests_while_the_function_runs() -> None:
    assert in_one_pool(threads)() == [1, 2]
    assert threads() == [2, 2]


@pytest.mark.usefixtures("two_pools")
def test_it_wakes_up_again_after_an_error() -> None:
    @in_one_pool
    def fails() -> None:
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        fails()
    assert threads() == [2, 2]


@pytest.mark.usefixtures("two_pools")
def test_a_fit_goes_in_one_pool_and_leaves_both_as_they_were() -> None:
    seen = []
    X = np.linspace(0.0, 6.0, 40)[:, None]
    start = svgp.prior(svgp.SVGP(gp.GP(gp.RBF(), 0.0), gp.Gaussian(1.0), X[::10]))
    svgp.fit(
        start, X, np.sin(X[:, 0]), gp.stream(0), steps=2, callback=lambda _: seen.append(threads())
    )
    assert seen == [[1, 2], [1, 2]]
    assert threads() == [2, 2]
