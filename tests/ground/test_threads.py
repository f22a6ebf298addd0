"""Two libraries of linear algebra, one pool at work, and one thread for what is small."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Event, Thread
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from threadpoolctl import ThreadpoolController

import gpnotes as gp
from gpnotes import condition, log_evidence_and_gradient
from gpnotes.decide import bayesopt, fantasy
from gpnotes.decide.fantasy import input_averages as averages
from gpnotes.decide.fantasy import reductions
from gpnotes.ground import threads as _threads
from gpnotes.ground import xp as _xp
from gpnotes.ground.threads import in_one_pool, shared_out, threads_at_hand, threads_for
from gpnotes.infer import laplace, sparse, svgp


def threads() -> list[int]:
    pools = ThreadpoolController().select(user_api="blas").lib_controllers
    return sorted(pool.num_threads for pool in pools)


def threads_of(work: int) -> list[int]:
    return threads_for(lambda: work)(threads)()


@pytest.fixture(autouse=True)
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


def test_one_pool_rests_while_the_function_runs() -> None:
    assert in_one_pool(threads)() == [1, 2]
    assert threads() == [2, 2]


def test_it_wakes_up_again_after_an_error() -> None:
    @in_one_pool
    def fails() -> None:
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        fails()
    assert threads() == [2, 2]


def test_a_small_problem_has_one_thread_and_a_large_one_those_of_one_pool() -> None:
    assert threads_of(20**3) == [1, 1]
    assert threads_of(500**3) == [1, 1]
    assert threads_of(520**3) == [1, 2]
    assert threads() == [2, 2]


def test_a_small_problem_within_a_large_one_gives_back_what_that_had() -> None:
    def both() -> tuple[list[int], list[int], list[int]]:
        return threads(), threads_of(20**3), threads()

    assert in_one_pool(both)() == ([1, 2], [1, 1], [1, 2])
    assert threads() == [2, 2]


def _overlapping(fails: bool) -> list[list[int]]:
    """Who comes first leaves first: the threads between, and after both."""
    first_in, second_in, first_out = Event(), Event(), Event()
    seen = []

    @in_one_pool
    def first() -> None:
        first_in.set()
        second_in.wait(10.0)
        if fails:
            raise ValueError("on purpose")

    @in_one_pool
    def second() -> None:
        second_in.set()
        first_out.wait(10.0)
        seen.append(threads())

    def suffered() -> None:
        try:
            first()
        except ValueError:
            pass
        finally:
            first_out.set()

    one, other = Thread(target=suffered), Thread(target=second)
    one.start()
    first_in.wait(10.0)
    other.start()
    one.join()
    other.join()
    return [*seen, threads()]


@pytest.mark.parametrize("fails", [False, True])
def test_python_threads_that_overlap_leave_the_pools_as_they_were(fails: bool) -> None:
    assert _overlapping(fails) == [[1, 2], [2, 2]]


def test_two_fits_in_two_python_threads_leave_the_pools_as_they_were() -> None:
    X = np.linspace(0.0, 6.0, 40)[:, None]
    model = svgp.SVGP(gp.GP(gp.RBF(), 0.0), gp.Gaussian(1.0), X[::10])

    def fit(steps: int) -> None:
        gp.fit(
            model,
            X,
            np.sin(X[:, 0]),
            minibatches=svgp.Minibatches(40),
            max_steps=steps,
            rng=gp.stream(0),
        )

    both = [Thread(target=fit, args=(steps,)) for steps in (10, 20)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert threads() == [2, 2]


FORKED = """
import os, signal
from gpnotes.ground import threads
with threads._LOCK:
    child = os.fork()
    if child == 0:
        signal.alarm(10)  # ends it, should it wait for a lock that nobody will give back
        threads.in_one_pool(int)()
        os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_made_while_someone_is_being_counted_can_count_too() -> None:
    """In a process of its own: this one may have loaded a library that forbids copies."""
    command = [sys.executable, "-c", FORKED]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"


class Spying(gp.ConstantMean):
    """A mean that looks how many threads there are whenever it is asked."""

    def __call__(self, X: Any) -> Any:
        seen.append(threads())
        return super().__call__(X)


seen: list[list[int]] = []


def _posterior(n: int) -> gp.ExactPosterior:
    X = np.linspace(0.0, 9.0, n)[:, None]
    return gp.condition(gp.GP(gp.RBF(), 0.1, Spying(0.0)), X, np.sin(X[:, 0]))


def _calls(n: int) -> dict[str, Callable[[], object]]:
    posterior = _posterior(n)
    X, y = np.asarray(posterior.X), np.asarray(posterior.y)
    labels, known = np.where(y > 0.0, 1.0, -1.0), gp.GP(gp.RBF(), 0.0, Spying(0.0))
    return {
        "condition": lambda: _posterior(n),
        "predict": lambda: posterior.predict(X),
        "joint": lambda: posterior.joint(X),
        "extend": lambda: posterior.extend(X[:5], y[:5]),
        "evidence": lambda: log_evidence_and_gradient(posterior.gp, X, y),
        "fit": lambda: gp.fit(posterior.gp, X, y, max_steps=1),
        "laplace": lambda: condition(laplace.LaplaceGP(known), X, labels).predict(X),
        "places": lambda: bayesopt.predict_and_pullback(posterior, X),
    }


@pytest.mark.parametrize("name", sorted(_calls(3)))
@pytest.mark.parametrize(("small", "many"), [(2**27, 1), (1, 2)])
def test_what_works_on_readings_has_the_threads_for_them(
    name: str, small: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_threads, "_SMALL", small)
    work = _calls(20)[name]
    seen.clear()
    work()
    # a check of the mean at the door comes before the work
    assert [1, many] in seen
    assert threads() == [2, 2]


@pytest.mark.parametrize(("small", "many"), [(2**27, 1), (1, 2)])
def test_a_fantasy_has_the_threads_for_its_readings_and_candidates(
    small: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_threads, "_SMALL", small)
    at_work: list[list[int]] = []

    def spy(room: ModuleType, name: str) -> None:
        f = getattr(room, name)

        def called(*given: Any) -> Any:
            at_work.append(threads())
            return f(*given)

        monkeypatch.setattr(room, name, called)

    spy(averages, "kernel_means")
    spy(reductions, "_kernel_mean_and_pullback")
    posterior = _posterior(20)
    given = posterior, np.ones(1), np.eye(1), np.asarray(posterior.X)
    _, pull = fantasy.variance_reduction_and_pullback(*given)
    pull(np.ones(20))
    assert at_work == 4 * [[1, many]]
    assert threads() == [2, 2]


def test_an_optimiser_has_one_thread_and_what_it_minimises_those_there_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_work: list[list[int]] = []

    def square(vector: np.ndarray) -> tuple[float, np.ndarray]:
        at_work.append(threads())
        return float(vector @ vector), 2.0 * vector

    def minimize(f: Callable[..., Any], start: np.ndarray, **_: Any) -> Any:
        at_work.append(threads())
        return f(start)

    monkeypatch.setattr(scipy.optimize, "minimize", minimize)
    _xp.minimise(square, np.ones(2), None, 5)
    assert at_work == [[1, 1], [2, 2]]
    in_one_pool(_xp.minimise)(square, np.ones(2), None, 5)
    assert at_work[-1] == [1, 2]
    assert threads() == [2, 2]


def test_optimisation_leaves_the_objective_all_threads() -> None:
    at_work: list[list[int]] = []

    def objective(x: np.ndarray) -> float:
        at_work.append(threads())
        return float(x[0] ** 2)

    bayesopt.minimise(objective, [(-1.0, 2.0)], 6, rng=gp.stream(1))
    assert at_work == 6 * [[2, 2]]


def test_a_sparse_and_a_variational_fit_rest_too() -> None:
    X = np.linspace(0.0, 6.0, 40)[:, None]
    process = gp.GP(gp.RBF(), 0.1, Spying(0.0))
    seen.clear()
    gp.fit(sparse.SparseGP(process, X[::10]), X, np.sin(X[:, 0]), max_steps=2)
    assert seen
    assert [2, 2] not in seen
    model = svgp.SVGP(gp.GP(gp.RBF(), 0.0, Spying(0.0)), gp.Gaussian(1.0), X[::10])
    seen.clear()
    gp.fit(
        model,
        X,
        np.sin(X[:, 0]),
        minibatches=svgp.Minibatches(len(X)),
        max_steps=2,
        rng=gp.stream(0),
    )
    assert [1, 1] in seen
    assert threads() == [2, 2]


def test_work_shared_out_leaves_one_thread_to_each_call_and_is_not_shared_again() -> None:
    with shared_out() as many:
        assert many == 2
        assert threads() == [1, 1]
        assert threads_at_hand() == 1
    assert threads() == [2, 2]
    assert threads_at_hand() == 2


def test_pools_are_told_apart_by_their_library(monkeypatch) -> None:
    of_numpy, of_all = _threads._look()
    with of_all as many:
        assert (many, threads()) == (2, [1, 1])
        with of_all:
            assert threads() == [1, 1]
        assert threads() == [1, 1]
    assert threads() == [2, 2]
    with of_numpy:
        resting = [pool for pool in libraries() if pool.num_threads == 1]
        assert ["numpy" in pool.filepath for pool in resting] == [True]
    controller = SimpleNamespace(
        select=lambda user_api: SimpleNamespace(
            lib_controllers=[one for one in libraries() if "numpy" in one.filepath]
        )
    )
    monkeypatch.setattr(_threads, "ThreadpoolController", lambda: controller)
    of_numpy, of_all = _threads._look()  # with one pool, nothing rests but for a small problem
    with of_numpy as many:
        assert (many, threads()) == (1, [2, 2])
    with of_all as many:
        assert (many, threads()) == (2, [1, 2])


def libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def test_a_pool_is_asked_by_the_library_itself_where_one_of_two_functions_is_missing() -> None:
    pairs = {"openblas_get_num_threads": lambda: 3, "openblas_set_num_threads": lambda _: None}
    for names in ((), ("openblas_get_num_threads",), ("openblas_set_num_threads",), tuple(pairs)):
        own = SimpleNamespace(
            threading_layer="pthreads", get_num_threads=lambda: 5, set_num_threads=print,
            dynlib=SimpleNamespace(**{name: pairs[name] for name in names}),
        )  # fmt: skip
        pool = _threads._pool(own)
        assert pool.many() == (3 if len(names) == 2 else 5)
        assert (pool.have is print) == (len(names) < 2)
