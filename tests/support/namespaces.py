"""The spaces in which a run of the tests tries what takes the fixture ``space``: a pytest plugin.

By day these are NumPy in two precisions and array-api-strict on a second device, which takes
nothing for granted. ``--namespace jax`` runs such tests alone, and in that namespace's spaces. All
spaces are listed in `gpnotes.testing.array_namespaces`; `ONLY_HERE` adds those whose library stands
in this folder, and `CANNOT` says for each test that a namespace cannot pass why that is so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from cupy_stand_in.space import StandInRow

from gpnotes.testing import ArraySpace
from gpnotes.testing.array_namespaces import LISTED, ListedSpace

ONLY_HERE: tuple[ListedSpace, ...] = (
    # CuPy's rules without a GPU: the device that is not the first one finds what forgets it
    StandInRow("standin-float64", "cupy_stand_in", "float64", "1", "own"),
    StandInRow("standin-float32", "cupy_stand_in", "float32", "0", "own"),
)
# By day a test of each room takes the first of them; all others do in a job of its own.
BY_DAY = (
    "engine/tests/evaluate/test_libraries.py::test_each_form_of_the_language_takes_arrays_of_any_library",
    "engine/tests/evaluate/test_libraries.py::test_a_function_is_given_arrays_that_it_takes",
    "engine/tests/evaluate/test_libraries.py::test_scipy_is_given_arrays_of_numpy_alone",
    "tests/assess/test_crossval.py::test_any_space",
    "tests/decide/bayesopt/test_maximiser.py::test_the_point_lives_where_the_posterior_does",
    "tests/decide/design/test_information.py::test_gain_is_what_one_more_measurement_adds",
    "tests/decide/fantasy/test_fantasy.py::test_what_is_left_lives_where_its_arguments_do",
    "tests/decide/moments/test_rbf_network.py::test_arrays_stay_where_they_are",
    "tests/decide/pilco/test_rollouts.py::test_a_rollout_lives_where_its_arguments_do",
    "tests/editorial/test_inline_relations_of_pages.py::test_the_numbers_of_a_table_may_live_in_any_library",
    "tests/draw/test_paths.py::test_they_live_where_the_posterior_does",
    "tests/fast/test_tiles.py::test_other_namespaces_take_the_general_path",
    "tests/games/equilibria/test_game_dynamics.py::test_replicator_finds_the_crossing",
    "tests/games/methods/test_polynomials.py::test_the_top_coefficient_and_its_derivatives",
    "tests/games/test_payoffs.py::test_gaussian_is_the_dense_formula",
    "tests/ground/test_linalg.py::test_the_error_names_matrix_pivot_and_remedy",
    "tests/infer/deep/test_evidence_lower_bound.py::test_every_namespace_gives_the_same",
    "tests/infer/features/test_regression.py::test_the_posterior_is_that_of_dense_algebra",
    "tests/infer/heteroscedastic/test_model.py::test_any_library_gives_the_same",
    "tests/infer/interdomain/test_variables.py::test_points_as_variables_are_points",
    "tests/infer/laplace/test_softmax.py::test_predictions_and_evidence_are_those_of_dense_algebra",
    "tests/infer/report/test_page.py::test_every_space_has_the_same_report",
    "tests/infer/sparse/test_regression.py::test_value_and_gradient_are_the_same_in_every_space",
    "tests/infer/state_space/test_against_dense_algebra.py::test_it_holds_in_every_namespace",
    "tests/infer/svgp/test_evidence_lower_bound.py::test_the_gradient_is_the_same_in_every_space",
    "tests/infer/test_exact.py::test_the_views_of_a_posterior_agree_and_stay_in_their_space",
    "tests/mdp/test_solving.py::test_every_namespace_gets_the_same_policy",
    "tests/model/kernels/test_stationary.py::test_values_are_those_of_scikit_learn",
    "tests/model/likelihoods/test_categorical.py::test_slopes_are_those_of_the_very_sum",
    "tests/model/test_normal.py::test_samples_have_the_moments",
    "tests/networks/test_networks.py::test_the_pullback_is_the_derivative",
    "tests/samplers/test_steps.py::test_every_namespace_takes_the_same_way",
    "tests/test_testing.py::test_check_kernel_in_every_space",
)


@dataclass(frozen=True)
class Cannot:
    """What a namespace cannot do: the test fails there, and must, or takes `too_long`.

    `space` and `test` are regular expressions: ``jax``, ``tests/infer/test_exact.py::test_fit``.
    """

    space: str
    test: str
    reason: str
    too_long: bool = False

    def concerns(self, space: str, test: str) -> bool:
        return bool(re.match(self.space, space) and re.match(self.test, test))

    @property
    def mark(self) -> pytest.MarkDecorator:
        kind = pytest.mark.skip if self.too_long else pytest.mark.xfail
        return kind(reason=self.reason)


# These write into the caller's array to see that it was copied.
KEPT_APART = (
    "tests/decide/pilco/test_costs.py::test_a_cost_and_a_task_keep_their_own_arrays",
    "tests/decide/pilco/test_policies.py::test_a_policy_keeps_its_own_arrays",
    "tests/games/test_payoffs.py::test_an_expansion_keeps_its_own_arrays",
    "tests/infer/test_linear.py::test_a_prior_keeps_its_own_covariance",
    "tests/model/kernels/test_base.py::test_a_kernel_keeps_its_own_arrays",
    "tests/model/test_normal.py::test_a_distribution_keeps_its_own_arrays",
)
CANNOT: tuple[Cannot, ...] = tuple(
    Cannot("jax", test, "nobody can write into an array of JAX") for test in KEPT_APART
)


def wanted(names: list[str]) -> list[ListedSpace]:
    """The rows of the namespaces, spaces or runs that are asked for; those of the day else."""
    rows = (*LISTED, *ONLY_HERE)
    known = {name for row in rows for name in row.names}
    if unknown := [name for name in names if name not in known]:
        raise pytest.UsageError(f"--namespace takes one of {sorted(known)}; got {unknown[0]!r}")
    return [row for row in rows if {*(names or ["day"])} & {*row.names}]


def parameters(names: list[str], test: str = "") -> list[Any]:
    """Return the spaces as parameters of a test, with a skip where a library is missing.

    A namespace that is asked for by its name must be there.
    """
    also = ONLY_HERE[:1] if test in BY_DAY and not names else ()
    return [_parameter(row, opened(row), names) for row in (*wanted(names), *also)]


@cache
def opened(row: ListedSpace) -> ArraySpace:
    """Return the space of a row, opened once."""
    return row.opened()


def _parameter(row: ListedSpace, space: ArraySpace, names: list[str]) -> Any:
    if space.reason and {*names} & {*row.names[:2]}:
        raise pytest.UsageError(f"--namespace asks for {row.name}, but {space.reason}")
    skip = [pytest.mark.skip(reason=space.reason)] if space.reason else []
    return pytest.param(space, id=row.name, marks=skip)


def limits(space: ArraySpace, test: str) -> list[pytest.MarkDecorator]:
    """Return what a space cannot do of a test, as marks."""
    return [row.mark for row in CANNOT if row.concerns(space.name, test)]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--namespace``."""
    said = "run the tests of arrays alone, in this namespace, space (jax-float32) or run (night)"
    parser.addoption("--namespace", action="append", metavar="NAME", default=[], help=said)


def pytest_report_header(config: pytest.Config) -> str:
    """Say which spaces this run takes."""
    return "gpnotes: " + ", ".join(row.name for row in wanted(config.getoption("--namespace")))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes a ``space`` in each of them."""
    if "space" in metafunc.fixturenames:
        names = metafunc.config.getoption("--namespace")
        metafunc.parametrize("space", parameters(names, metafunc.definition.nodeid))


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what a space cannot do, and keep the tests that the run asks for.

    Where a namespace is asked for, those are the tests that take a ``space``; where none is, all
    but those marked as one ``namespace``'s own.
    """
    for item in items:
        if (space := _space(item)) is not None:
            for mark in limits(space, item.nodeid):
                item.add_marker(mark)
    asked = config.getoption("--namespace")
    if left := [item for item in items if not _is_asked_for(item, asked)]:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if _is_asked_for(item, asked)]


def _is_asked_for(item: pytest.Item, names: list[str]) -> bool:
    of_one = item.get_closest_marker("namespace")
    if of_one is not None:
        return any(of_one.args[0] in row.names for row in wanted(names))
    return not names or _space(item) is not None


def _space(item: pytest.Item) -> Any:
    return item.callspec.params.get("space") if hasattr(item, "callspec") else None


@pytest.fixture(autouse=True)
def _in_space(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn JAX's one switch of precision to where the space of the test has it."""
    space = _space(request.node)
    with space.active() if space is not None else nullcontext():
        yield


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Let JAX forget the programs that it compiled for a file, or its memory grows without end."""
    if "jax" in sys.modules and (nextitem is None or nextitem.path != item.path):
        sys.modules["jax"].clear_caches()
