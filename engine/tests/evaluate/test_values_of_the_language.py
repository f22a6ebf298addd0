"""Each form of the language has the value that its example says, with nodes and without them."""

import numpy as np
import pytest
from corpus import EXAMPLES

from checked_equations import Nodes
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.check.definitions import NORMAL, normal_shape
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import on_host
from checked_equations.latex.macros import expand
from checked_equations.latex.parser import parse
from language_by_example.example import Example

HOLD = [one for one in EXAMPLES if isinstance(one, Example)]


@pytest.mark.parametrize("example", HOLD, ids=lambda example: example.latex)
def test_both_sides_of_an_example_are_equal(example):
    bound = {NORMAL: normal_shape, **draw_bindings(example.bindings, "example")[0]}
    latex = expand(example.latex, example.options.get("macros", {})).latex
    evaluator = Evaluator(bound, latex)
    for step in parse(latex, name_kinds(bound)).steps:
        if step.relation not in ("=", ":="):
            continue
        left, right = evaluator.value(step.left), evaluator.value(step.right)
        digits = 5e-3 if "2.18" in latex else example.options.get("rtol", 1e-9)
        np.testing.assert_allclose(left, right, rtol=digits, atol=digits)


class _Tensor:
    """An array of a library that has a gradient to let go of."""

    def detach(self):
        return self

    def numpy(self, *, force):
        if not force:
            raise RuntimeError("it requires a gradient")
        return np.array([1.0, 2.0])


def test_a_tensor_comes_to_the_host_though_it_requires_a_gradient():
    assert on_host(_Tensor()).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("points", "weights"), [(1.0, [1.0]), ([1.0], 1.0), ([1.0, 2.0], [1.0]), ([1.0], [[1.0]])]
)
def test_nodes_have_a_weight_each(points, weights):
    with pytest.raises(ValueError, match=r"points and weights must have shapes \(n, \.\.\.\) and"):
        Nodes(points, weights)
