"""Values and functions of any library of arrays mean what they mean in NumPy's."""

from functools import cache

import array_api_strict as STRICT
import numpy as np
import pytest
from corpus import EXAMPLES
from scipy import stats

from checked_equations import (
    Distribution,
    EquationError,
    Estimate,
    Nodes,
    check_equation,
)
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.check.definitions import NORMAL, normal_shape
from checked_equations.errors import LibraryError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.libraries import brought
from checked_equations.evaluate.values import on_host
from checked_equations.latex.parser import parse
from language_by_example.example import Example


def is_array(value):
    return isinstance(value, np.ndarray) and value.dtype == np.float64


@cache
def of_arrays():
    """The examples of the language that bind an array, with their trees and numbers."""
    found = []
    for example in (one for one in EXAMPLES if isinstance(one, Example)):
        drawn = draw_bindings(example.bindings, "example")[0]
        if any(map(is_array, drawn.values())):
            numbers = {NORMAL: normal_shape, **drawn}
            steps = parse(example.expanded, name_kinds(numbers)).steps
            found.append(([side for step in steps for side in (step.left, step.right)], numbers))
    return found


def test_each_form_of_the_language_takes_arrays_of_any_library(space):
    assert len(of_arrays()) > 60
    for sides, numbers in of_arrays():
        there = {k: space.asarray(v) if is_array(v) else v for k, v in numbers.items()}
        here = {k: np.array(on_host(v)) if is_array(numbers[k]) else v for k, v in there.items()}
        found, wanted = Evaluator(brought(there)), Evaluator(here)
        for side in sides:
            np.testing.assert_array_equal(found.value(side), wanted.value(side), str(side))


def at_home(function, space):
    """A function of one library: it takes numbers and its own arrays, and returns such."""
    if space.name.startswith("numpy"):
        return function

    def of(*arguments):
        for one in arguments:
            if not (type(one) in (int, float) or space.holds(one)):
                raise TypeError(f"{space.name} takes no {type(one).__name__}")
        found = function(*(np.array(on_host(one)) for one in arguments))
        return found if isinstance(found, Nodes) else space.asarray(found)

    return of


x, y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.75, -0.5])
WEIGHTS = np.array([0.25, 0.75, -1.5])


COIN = Nodes([2.0, 1.0], [0.25, 0.75])


def weighed(u):
    return np.dot(WEIGHTS, u)


def powers(u, i):
    return u**3 + i


def at_two(v):
    return Nodes([np.sqrt(v @ v), 1.0], [0.25, 0.75])


ASKED = {  # of a function: the equation, its left side, and what else is bound
    "what is bound": ("a = h(x) + y_1", weighed(x) + 1.5, {"h": weighed, "x": x, "y": y}),
    "what is computed": ("a = h(2 x + y)", weighed(2 * x + y), {"h": weighed, "x": x, "y": y}),
    "what runs": (r"a = \sum_{i=1}^3 h(x_i, i)", np.sum(x**3) + 6, {"h": powers, "x": x}),
    "nodes": (
        r"a = \mathbb E_{q(u \mid x)}[u^2]", 0.25 * x @ x + 0.75, {"q": (at_two,), "x": x}
    ),
    "a density": (
        r"a = \mathbb E_{q(u)}[u \, q(x)]", 1.25 * weighed(x), {"q": (COIN, weighed), "x": x}
    ),
}  # fmt: skip


def placed(value, space, home):
    """A value in a space; a function of arrays as one that is at home there, if it is to be."""
    if isinstance(value, tuple):
        return Distribution(*(placed(part, space, home) for part in value))
    if is_array(value):
        return space.asarray(value)
    return at_home(value, space) if home and callable(value) else value


@pytest.mark.parametrize("home", [False, True], ids=["on the host", "at home"])
@pytest.mark.parametrize("asked", ASKED)
def test_a_function_is_given_arrays_that_it_takes(space, home, asked):
    latex, value, bound = ASKED[asked]
    there = {key: placed(one, space, home) for key, one in bound.items()}
    record = check_equation(latex, {"a": value, **there}, rtol=1e-9 if space.double else 1e-5)
    assert record.mutants.caught > 0


def test_scipy_is_given_arrays_of_numpy_alone(space):
    """By mutants as well, which a density refuses."""
    seen = set()

    def density(*arguments):
        seen.update(type(one) for one in arguments)
        u, mean, covariance = map(np.squeeze, arguments)
        return stats.multivariate_normal(mean, np.reshape(covariance, (3, 3))).pdf(u)

    bound = {"x": space.asarray(x), "y": space.asarray(y), "I": space.asarray(np.eye(3))}
    value = density(x, y, 0.5 * np.eye(3))
    latex = r"a = \mathcal N(x; y, s I)"
    check_equation(latex, {"a": value, "s": 0.5, r"\mathcal N": density, **bound})
    assert np.ndarray in seen
    assert seen <= {np.ndarray, np.float64, float}


def test_a_slope_of_a_function_at_home_elsewhere():
    u = STRICT.asarray(x)
    bound = {"u": u, "h": lambda v: STRICT.sum(v**3), "z": 3 * u**2}
    assert check_equation(r"z = \nabla_u h(u)", bound).backend == "array_api_strict"


def test_what_is_bound_comes_to_the_host_and_is_known_by_the_rest():
    """Lists and estimates come too; a function is given another as it was bound, with its kind."""
    q, given = Distribution(COIN, weighed), []
    bound = {
        "x": STRICT.asarray(x, dtype=STRICT.float32), "n": STRICT.asarray(3),
        "I": [STRICT.asarray(y)],
        "e": Estimate(STRICT.asarray(x), STRICT.asarray(0.5), n=9, seed=4), "q": q, "g": weighed,
        "h": lambda *arguments: given.extend(arguments), "p": y,
    }  # fmt: skip
    drawn = brought(bound)
    assert drawn.library == "array_api_strict"
    assert (drawn["x"].dtype, drawn["n"]) == (np.float32, 3)
    assert isinstance(drawn["n"], np.integer)
    assert drawn["p"] is y
    np.testing.assert_array_equal(drawn["I"], [y])
    estimate = drawn["e"]
    assert (type(estimate.value), estimate.standard_error, estimate.n, estimate.seed) == (
        np.ndarray,
        0.5,
        9,
        4,
    )
    drawn["h"](drawn["q"], drawn["g"])
    assert given == [q, weighed]


def test_a_function_gets_its_arguments_in_the_library_in_its_precision():
    given = []

    def function(*arguments):
        if isinstance(arguments[0], np.ndarray):
            raise TypeError("no arrays of NumPy")
        given.extend(arguments)

    there = STRICT.Device("device1")
    like = STRICT.asarray(x, dtype=STRICT.float32, device=there)
    drawn = brought({"n": STRICT.asarray(3), "h": function, "x": like})
    drawn["h"](x, np.float64(2.0), [np.arange(3)], 1.5, np.int64(2))
    single, number, (whole,), *others = given
    assert (single.dtype, single.device) == (STRICT.float32, there)
    assert (number.dtype, number.shape, number.device) == (STRICT.float32, (), there)
    assert (whole.dtype, whole.device) == (STRICT.int64, there)
    assert others == [1.5, 2]


def test_what_numpy_has_stays_as_it_is():
    bound = {"x": x, "h": weighed, "q": Distribution(COIN, weighed)}
    drawn = brought(bound)
    assert drawn.library == "numpy"
    assert all(drawn[key] is value for key, value in bound.items())


def test_an_array_that_its_library_does_not_hand_out_is_named():
    class Kept:
        __dlpack__ = dtype = None

        def __array__(self, *_, **__):
            raise RuntimeError("the device is gone")

    with pytest.raises(LibraryError, match=r"`x` does not come to the host from .*device is gone"):
        brought({"a": 2.0, "x": Kept()})


def test_no_edit_mends_what_a_library_lacks():
    def nowhere(u):
        raise TypeError(f"I take no {type(u).__module__}")

    said = r"`h` failed: with arrays of NumPy, I take no numpy; with arrays of array_api_strict, "
    with pytest.raises(EquationError, match=said) as raised:
        check_equation("a = h(u)", {"a": 1.0, "h": nowhere, "u": STRICT.asarray(x)})
    assert raised.value.mend is None


KEPT = STRICT.asarray(x)


def test_no_edit_mends_a_function_that_holds_arrays_of_another_library():
    """Where nothing is bound that says which: an array of NumPy's does not go with its own."""
    held = STRICT.asarray(y)
    for holds in (lambda u: held + u, lambda u: KEPT + u):
        with pytest.raises(EquationError, match="`h` failed: ") as raised:
            check_equation("a = h(u)", {"a": 1.0, "h": holds, "u": x})
        assert raised.value.mend is None
    with pytest.raises(EquationError, match="`h` failed: ") as raised:
        check_equation("a = h(u)", {"a": 1.0, "h": np.linalg.inv, "u": x})
    assert raised.value.mend is not None


def test_an_array_in_a_list_is_brought_as_well():
    one = STRICT.asarray([1.0, 2.0])
    assert brought({"a": one})["a"].tolist() == [1.0, 2.0]
    assert brought({"a": [one, 3.0]})["a"][0].tolist() == [1.0, 2.0]
