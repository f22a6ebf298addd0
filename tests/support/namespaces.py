"""Which spaces a run of the tests takes, and what a namespace cannot do, each with its reason.

The spaces themselves are listed once, in `gpnotes.testing.array_namespaces`. `ONLY_HERE` are those
whose library stands in this folder; nobody who installs the package has it.
"""

from __future__ import annotations

import re
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
# By day one test of each room takes the first of them; all others do in a job of its own.
BY_DAY = (
    "tests/assess/test_crossval.py::test_any_space",
    "tests/decide/bayesopt/test_maximiser.py::test_the_point_lives_where_the_posterior_does",
    "tests/decide/design/test_information.py::test_gain_is_what_one_more_measurement_adds",
    "tests/decide/fantasy/test_fantasy.py::test_what_is_left_lives_where_its_arguments_do",
    "tests/decide/moments/test_rbf_network.py::test_arrays_stay_where_they_are",
    "tests/decide/pilco/test_rollouts.py::test_a_rollout_lives_where_its_arguments_do",
    "tests/draw/test_paths.py::test_they_live_where_the_posterior_does",
    "tests/fast/test_tiles.py::test_other_namespaces_take_the_general_path",
    "tests/games/test_dynamics.py::test_replicator_finds_the_crossing",
    "tests/ground/test_linalg.py::test_the_error_names_matrix_pivot_and_remedy",
    "tests/infer/deep/test_evidence_lower_bound.py::test_every_namespace_gives_the_same",
    "tests/infer/features/test_regression.py::test_the_posterior_is_that_of_dense_algebra",
    "tests/infer/heteroscedastic/test_model.py::test_any_library_gives_the_same",
    "tests/infer/interdomain/test_variables.py::test_points_as_variables_are_points",
    "tests/infer/report/test_page.py::test_every_space_has_the_same_report",
    "tests/infer/sparse/test_regression.py::test_value_and_gradient_are_the_same_in_every_space",
    "tests/infer/state_space/test_line.py::test_it_holds_in_every_namespace",
    "tests/infer/svgp/test_evidence_lower_bound.py::test_the_gradient_is_the_same_in_every_space",
    "tests/infer/test_exact.py::test_the_views_of_a_posterior_agree_and_stay_in_their_space",
    "tests/mdp/test_solving.py::test_every_namespace_gets_the_same_policy",
    "tests/model/kernels/test_stationary.py::test_values_are_those_of_scikit_learn",
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


def parameters(names: list[str], dear: bool, test: str = "") -> list[Any]:
    """The spaces as parameters of a test; where a library is missing, it is skipped and says so.

    Who asks for a namespace by its name must have it. Each operation of array-api-strict is a
    hundred of NumPy's, so `dear` tests there are nightly.
    """
    also = ONLY_HERE[:1] if test in BY_DAY and not names else ()
    return [_parameter(row, opened(row), names, dear) for row in (*wanted(names), *also)]


@cache
def opened(row: ListedSpace) -> ArraySpace:
    """The space of a row, opened once."""
    return row.opened()


def _parameter(row: ListedSpace, space: ArraySpace, names: list[str], dear: bool) -> Any:
    if space.reason and {*names} & {*row.names[:2]}:
        raise pytest.UsageError(f"--namespace asks for {row.name}, but {space.reason}")
    skip = [pytest.mark.skip(reason=space.reason)] if space.reason else []
    late = [pytest.mark.nightly] if dear and row.name.startswith("strict") else []
    return pytest.param(space, id=row.name, marks=skip + late)


def limits(space: ArraySpace, test: str) -> list[pytest.MarkDecorator]:
    """What a space cannot do of a test, as marks."""
    return [row.mark for row in CANNOT if row.concerns(space.name, test)]
