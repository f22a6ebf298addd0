"""What mattered in a search, against shares known in closed form; and sections of its model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes.decide.bayesopt import (
    Categorical,
    Fixed,
    Integer,
    Optimiser,
    Real,
    Space,
    plot_sobol_indices,
    slices,
    sobol_indices,
)


def told(box, objective, count, **options):
    """An optimiser that knows the first points of its sequence."""
    optimiser = Optimiser(box, num_initial=count, rng=1, **options)
    for x in optimiser.ask_batch(count):
        optimiser.tell(x, objective(x))
    return optimiser


def test_shares_of_a_sum_of_waves_are_the_squares_of_their_heights():
    """Over a whole period the variance of a sin(2 π u) is a² / 2."""
    heights = np.asarray([3.0, 2.0, 1.0, 0.0])

    def waves(u):
        return float(heights @ np.sin(2.0 * math.pi * u))

    found = sobol_indices(told([(0.0, 1.0)] * 4, waves, 96))
    wanted = heights**2 / np.sum(heights**2)
    assert [one.name for one in found] == ["x[0]", "x[1]", "x[2]", "x[3]"]
    np.testing.assert_allclose([one.first_order for one in found], wanted, atol=0.03)
    np.testing.assert_allclose([one.total for one in found], wanted, atol=0.03)


def test_what_an_input_does_with_another_is_in_its_total_alone():
    """Of u v, both from -1 to 1, no share is of one alone, and all of it is of each in total."""
    first, second, third = sobol_indices(told([(-1.0, 1.0)] * 3, lambda x: float(x[0] * x[1]), 40))
    assert max(first.first_order, second.first_order, third.first_order) < 0.03
    assert first.total == pytest.approx(1.0, abs=0.05)
    assert second.total == pytest.approx(1.0, abs=0.05)
    assert third.total < 0.02


def test_inputs_are_taken_by_their_scales():
    """Uniform in logarithms, over whole numbers and over choices; what is fixed has no share."""
    space = Space({
        "rate": Real(1e-4, 1e-1, log=True), "depth": Integer(0, 3),
        "rule": Categorical(["a", "b", "c"]), "rounds": Fixed(5),
    })  # fmt: skip
    worth = {"a": 0.0, "b": 1.0, "c": 2.0}

    def loss(point):
        return math.log10(point["rate"]) + 0.5 * point["depth"] + worth[point["rule"]]

    found = sobol_indices(told(space, loss, 40), num_points=2048)
    variances = np.asarray([9.0 / 12.0, 0.25 * 15.0 / 12.0, 2.0 / 3.0])
    assert [one.name for one in found] == ["rate", "depth", "rule"]
    np.testing.assert_allclose(
        [one.first_order for one in found], variances / np.sum(variances), atol=0.03
    )


@pytest.mark.slow
def test_shares_of_ishigamis_function_are_those_of_the_books():
    """Sin x + 7 sin² y + 0.1 z⁴ sin x: 0.3139, 0.4424, 0 alone, and 0.5576, 0.4424, 0.2437."""

    def ishigami(x):
        return float((1.0 + 0.1 * x[2] ** 4) * math.sin(x[0]) + 7.0 * math.sin(x[1]) ** 2)

    found = sobol_indices(told([(-math.pi, math.pi)] * 3, ishigami, 256))
    np.testing.assert_allclose([one.first_order for one in found], [0.3139, 0.4424, 0.0], atol=0.04)
    np.testing.assert_allclose([one.total for one in found], [0.5576, 0.4424, 0.2437], atol=0.04)


def test_where_nothing_matters_all_shares_are_zero():
    found = sobol_indices(told([(0.0, 1.0)] * 2, lambda x: 3.0, 6))
    assert [(one.first_order, one.total) for one in found] == [(0.0, 0.0)] * 2
    assert repr(found[0]) == "<SobolIndex: x[0] alone 0.00, in all 0.00>"


def test_a_section_has_what_the_model_predicts_along_an_input():
    optimiser = told(
        [(-1.0, 2.0), (0.0, 3.0)], lambda x: float((x[0] - 0.3) ** 2 + (x[1] - 1.0) ** 2), 12
    )
    first, second = slices(optimiser, num_points=9)
    place = optimiser.recommend().x
    np.testing.assert_allclose(first.x, np.linspace(-1.0, 2.0, 9))
    along = np.stack([[x, place[1]] for x in first.x])
    mean, variance = optimiser.predict(along)
    np.testing.assert_allclose(first.mean, mean)
    np.testing.assert_allclose(first.sd, np.sqrt(variance))
    assert (first.at, second.at) == tuple(place)
    np.testing.assert_array_equal(second.read, [one.x[1] for one in optimiser.evaluations])
    np.testing.assert_array_equal(second.y, [one.y for one in optimiser.evaluations])
    elsewhere, _ = slices(optimiser, np.asarray([0.0, 3.0]), num_points=9)
    mean, _ = optimiser.predict(np.stack([[x, 3.0] for x in elsewhere.x]))
    np.testing.assert_allclose(elsewhere.mean, mean)
    assert repr(first).startswith("<Slice: x[0], means ")


SPACE = Space({
    "rate": Real(1e-4, 1e-1, log=True), "depth": Integer(2, 5),
    "rule": Categorical(["a", "b", "c"]),
    "flag": Categorical([False, True]), "rounds": Fixed(5),
})  # fmt: skip


def loss(point):
    return math.log10(point["rate"]) ** 2 + point["depth"] + (point["rule"] != "b")


def test_sections_of_a_space_have_its_settings():
    optimiser = told(SPACE, loss, 14)
    rate, depth, rule, flag = slices(optimiser, num_points=7)
    np.testing.assert_allclose(rate.x, np.geomspace(1e-4, 1e-1, 7))
    assert (rate.log, depth.log) == (True, False)
    assert depth.x.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert rule.ticks == ("a", "b", "c")
    assert flag.ticks == ("False", "True")
    place = optimiser.recommend().x
    assert rule.at == "abc".index(place["rule"])
    assert rule.read.tolist() == ["abc".index(one.x["rule"]) for one in optimiser.evaluations]
    for section, choices in ((rule, "abc"), (flag, (False, True))):
        mean, _ = optimiser.predict([{**place, section.name: choice} for choice in choices])
        np.testing.assert_allclose(section.mean, mean)


def test_figures_have_what_was_found():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    optimiser = told(SPACE, loss, 10)
    found, cuts = sobol_indices(optimiser, num_points=64), slices(optimiser, num_points=7)
    fig, axes = pyplot.subplots(1, 5)
    for ax, section in zip(axes, cuts, strict=False):
        section.plot(ax)
        assert ax.get_xlabel() == section.name
        np.testing.assert_allclose(ax.lines[0].get_ydata(), section.mean)
        np.testing.assert_allclose(ax.lines[1].get_xdata(), section.read)
    assert [label.get_text() for label in axes[2].get_xticklabels()] == ["a", "b", "c"]
    assert (axes[0].get_xscale(), axes[1].get_xscale()) == ("log", "linear")
    plot_sobol_indices(axes[4], found)
    widths = [bar.get_width() for bar in axes[4].patches]
    assert widths == [one.total for one in found] + [one.first_order for one in found]
    pyplot.close(fig)


def test_dollars_in_a_name_are_no_formula():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    space = Space({"$ a day_$": Real(0.0, 1.0), "kind": Categorical(["$_$", "b"])})
    optimiser = told(space, lambda point: point["$ a day_$"], 6)
    fig, axes = pyplot.subplots(1, 3)
    for section, ax in zip(slices(optimiser), axes[:2], strict=True):
        section.plot(ax)
    plot_sobol_indices(axes[2], sobol_indices(optimiser, num_points=8))
    fig.canvas.draw()
    pyplot.close(fig)


def test_without_a_value_there_is_nothing_to_show():
    optimiser = Optimiser([(0.0, 1.0)], rng=1)
    optimiser.fail(np.asarray([0.5]), "lost")
    for ask in (slices, sobol_indices):
        with pytest.raises(ValueError, match="optimiser must have an evaluation with a value"):
            ask(optimiser)
        with pytest.raises(TypeError, match="optimiser must be"):
            ask(None)
    optimiser.tell(np.asarray([0.2]), 1.0)
    with pytest.raises(ValueError, match="num_points must be"):
        slices(optimiser, num_points=1)
    with pytest.raises(ValueError, match="through must lie in the box"):
        slices(optimiser, np.asarray([2.0]))
