"""Figures say what they show: roles, bands of standard deviations, one style."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from seen_colours import contrast

from gpnotes import GP, RBF, Linear, Periodic, condition, named, plot

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def house():
    """The book's style for one test, and no figure left behind."""
    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        plot.use_style()
        yield
        pyplot.close("all")


def test_every_axes_takes_arrays_of_any_library(space):
    x, z = space.asarray([0.0, 0.5, 1.0]), space.asarray([[0.0, 1.0], [2.0, 3.0]])
    for ax in (plot.figure()[1], plot.figure("pair")[1][1], pyplot.subplots()[1]):
        (line,) = ax.plot(x, x * x, "o")
        ax.scatter(x, x, c=x)
        ax.fill_between(x, x, 2.0 * x)
        ax.errorbar(x, x, yerr=[x, x])
        ax.contour(z)
        ax.hist(x)
        ax.bar(x, height=x)
        ax.axhline(x[1])
        ax.text(x[0], x[1], "here")
        ax.annotate("there", (x[0], x[1]))
        image = ax.imshow(z)
        ax.set(xlim=(x[0], x[2]), ylim=(x[0], x[2]))
        ax.figure.canvas.draw()
        np.testing.assert_array_equal(line.get_xydata(), [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
        np.testing.assert_array_equal(image.get_array(), [[0.0, 1.0], [2.0, 3.0]])
        assert (ax.get_xlim(), ax.get_ylim()) == ((0.0, 1.0), (0.0, 1.0))


def test_a_figure_comes_back_from_pickle_and_is_called_as_matplotlib_calls_it():
    fig, ax = plot.figure()
    assert type(ax) is not pyplot.Axes
    assert type(ax).__module__ == pyplot.Axes.__module__
    ax.plot([0.0, 1.0], [0.0, 1.0])
    again = pickle.loads(pickle.dumps(fig))
    assert type(again.axes[0]) is type(ax)
    np.testing.assert_array_equal(again.axes[0].lines[0].get_xdata(), [0.0, 1.0])


def test_axes_leave_arrays_of_numpy_as_they_are():
    x = np.asarray([0.0, 1.0])
    assert plot._drawable(x) is x


def edges(filled):
    """The lowest and the highest y at each x of a filled band."""
    x, y = filled.get_paths()[0].vertices.T
    places = np.unique(x)
    return np.asarray([(y[x == place].min(), y[x == place].max()) for place in places]).T


def test_a_band_reaches_so_many_standard_deviations(space):
    _, ax = plot.figure()
    x, mean, sd = ([0.0, 1.0, 2.0], [1.0, 2.0, 0.0], [0.5, 1.0, 2.0])
    arrays = [space.asarray(a) for a in (x, mean, sd)]
    low, high = edges(plot.band(ax, *arrays, deviations=3))
    np.testing.assert_allclose(low, [-0.5, -1.0, -6.0])
    np.testing.assert_allclose(high, [2.5, 5.0, 6.0])


def test_a_band_says_of_what_it_is_and_how_wide():
    _, ax = plot.figure()
    x = np.linspace(0.0, 1.0, 5)
    inner = plot.band(ax, x, x, x)
    outer = plot.band(ax, x, x, sd=2 * x, variable="y", deviations=1.5, role="third")
    assert (inner.get_label(), outer.get_label()) == ("f: 2 sd", "y: 1.5 sd")
    assert inner.get_facecolor()[0, 3] > outer.get_facecolor()[0, 3]


def test_a_band_refuses_what_is_no_deviation():
    _, ax = plot.figure()
    x = np.linspace(0.0, 1.0, 5)
    with pytest.raises(ValueError, match=r"sd must be .* its smallest entry is -1\.0"):
        plot.band(ax, x, x, x - 1.0)
    with pytest.raises(ValueError, match="sd must be finite"):
        plot.band(ax, x, x, x * np.nan)
    with pytest.raises(ValueError, match=r"sd must be finite .* its largest inf"):
        plot.band(ax, x, x, np.where(x > 0.5, np.inf, x))
    with pytest.raises(ValueError, match=r"sd must have shape \(n,\) like x, \(5,\); got \(5, 5\)"):
        plot.band(ax, x, x, np.eye(5))
    with pytest.raises(ValueError, match=r"mean must have shape .* got \(4,\)"):
        plot.band(ax, x, x[:4], x)
    with pytest.raises(ValueError, match=r"x must have shape \(n,\).* got \(5, 5\)"):
        plot.band(ax, np.eye(5), np.eye(5), np.eye(5))
    assert not ax.collections


def test_every_role_has_its_own_colour_and_no_two_look_alike_in_grey_and_line():
    assert plot.COLOURS.keys() == plot.LINES.keys()
    assert len(set(plot.COLOURS.values())) == len(plot.COLOURS)
    drawn = [plot.LINES[role] for role in ("exact", "approximation", "third", "prior")]
    assert len(set(drawn)) == 4
    for colour in plot.COLOURS.values():
        assert contrast(colour, plot._PAPER) >= 2.9  # the least of them is the prior's purple


def test_lines_and_points_take_the_look_of_their_role():
    _, ax = plot.figure()
    drawn = plot.line(ax, range(3), [0.0, 1.0, 0.5], role="approximation", label="sparse")
    assert drawn.get_color() == plot.COLOURS["approximation"]
    assert drawn.get_linestyle() == "--"
    assert drawn.get_label() == "sparse"
    circles = plot.points(ax, [0.0, 1.0], [1.0, 2.0])
    assert circles.get_marker() == "o"
    assert circles.get_markerfacecolor() == "none"
    assert circles.get_linestyle() == "None"
    with pytest.raises(ValueError, match="role must be one of"):
        plot.line(ax, [0.0], [0.0], role="best")


def test_figures_have_the_sizes_and_the_letters_of_the_book():
    single, ax = plot.figure("single")
    pair, (left, right) = plot.figure("pair")
    assert tuple(single.get_size_inches()) == (5.0, 2.9)
    assert tuple(pair.get_size_inches()) == (7.2, 3.0)
    assert [a.get_title("left") for a in (left, right)] == ["a", "b"]
    assert not ax.spines["top"].get_visible()
    assert not ax.spines["right"].get_visible()
    with pytest.raises(ValueError, match="kind must be one of"):
        plot.figure("triple")


def test_a_row_has_three_panels_with_the_same_axes():
    row, axes = plot.figure("row")
    assert tuple(row.get_size_inches()) == (7.2, 2.6)
    assert [a.get_title("left") for a in axes] == ["a", "b", "c"]
    axes[0].set(xlim=(-1.0, 3.0), ylim=(0.0, 5.0))
    assert {a.get_xlim() for a in axes} == {(-1.0, 3.0)}
    assert {a.get_ylim() for a in axes} == {(0.0, 5.0)}
    row.canvas.draw()
    assert all(a.get_yticklabels() for a in axes)  # only those that are shown


def test_no_font_is_smaller_than_nine_points():
    settings = pyplot.rcParams
    base = settings["font.size"]
    names = ("axes.labelsize", "axes.titlesize", "xtick.labelsize", "ytick.labelsize")
    sizes = [settings[name] for name in (*names, "legend.fontsize")]
    assert min(base, *sizes) >= 9


def test_the_same_figure_is_the_same_file():
    def drawn():
        _, ax = plot.figure()
        plot.band(ax, [0.0, 1.0], [0.0, 1.0], [1.0, 1.0])
        buffer = io.BytesIO()
        ax.figure.savefig(buffer, format="svg", metadata={"Date": None})
        return buffer.getvalue()

    assert drawn() == drawn()


IN_A_NOTEBOOK = r"""
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

shell = InteractiveShell.instance()
shell.run_cell("from gpnotes import plot; plot.use_style()")
done = []
for kind, name in ((Figure, "draw"), (ConstrainedLayoutEngine, "execute")):
    def noted(self, *args, call=getattr(kind, name), name=name, **options):
        done.append(name)
        return call(self, *args, **options)
    setattr(kind, name, noted)
with capture_output() as shown:
    shell.run_cell("fig, ax = plot.figure(); ax.plot([1, 2]);")
print(*sorted(done))
(picture,) = shown.outputs
print(*sorted(picture.data))
shell.run_cell("print(fig.get_dpi(), type(fig.get_layout_engine()).__name__)")
done.clear()
with capture_output():
    shell.run_cell("plot.figure()[1].set_aspect('equal')")
print(*sorted(done))
"""


def test_a_notebook_lays_a_figure_out_once_and_draws_it_once_for_each_format():
    pytest.importorskip("IPython")
    inline = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    finished = subprocess.run(
        [sys.executable, "-c", IN_A_NOTEBOOK],
        capture_output=True, text=True, check=True, env=os.environ | inline,
    )  # fmt: skip
    assert finished.stdout.splitlines() == [
        "draw draw execute",
        "image/png image/svg+xml text/plain",
        "100.0 ConstrainedLayoutEngine",
        "draw draw execute execute",  # one that keeps its aspect does not find its place at once
    ]


def test_matplotlib_is_asked_for_late_and_missed_with_its_extra():
    program = (
        "import sys; sys.modules['matplotlib.pyplot'] = None\n"
        "from gpnotes import plot\n"
        "assert 'matplotlib' not in sys.modules\n"
        "try: plot.figure()\n"
        "except ImportError as problem: print(problem)\n"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "from a clone, pip install '.[notebook]'" in finished.stdout


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda ax, x: plot.line(ax, None, x), TypeError, "x must hold real numbers; got NoneType"),
        (lambda ax, x: plot.line(ax, x, [None, 1.0]), TypeError, "y must hold real numbers; got e"),
        (lambda ax, x: plot.points(ax, x, "ab"), TypeError, "y must hold real numbers; got str"),
        (lambda ax, x: plot.points(ax, x, 1j * x), TypeError, "y must hold real numbers; got e"),
        (lambda ax, x: plot.band(ax, x, x, x, deviations="2"), TypeError, "deviations must be a n"),
        (lambda ax, x: plot.band(ax, x, x, x, deviations=-1), ValueError, "deviations must be pos"),
        (lambda ax, x: plot.band(ax, x, x, x, role=["exact"]), ValueError, "role must be one of"),
        (lambda ax, x: plot.figure(["pair"]), ValueError, "kind must be one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(call, error, message):
    _, ax = plot.figure()
    with pytest.raises(error, match=message):
        call(ax, np.asarray([0.0, 1.0]))


def test_columns_with_other_row_labels_are_not_joined_by_position():
    pandas = pytest.importorskip("pandas")
    x = pandas.Series([0.0, 1.0])
    turned = pandas.Series([1.0, 2.0], index=[1, 0])
    _, ax = plot.figure()
    for draw in (plot.line, plot.points, lambda *args: plot.band(*args, np.ones(2))):
        with pytest.raises(ValueError, match="must have the row labels of x; row 0 is 1 in"):
            draw(ax, x, turned)
    plot.progress(ax, [x, turned])  # runs have no rows in common


def test_progress_is_the_middle_of_several_runs_with_the_middle_half_of_them():
    _, ax = plot.figure()
    runs = [[5.0, 3.0], [4.0, 4.0], [9.0, 2.0], [6.0, 1.0], [7.0, 0.0]]
    drawn = plot.progress(ax, runs, label="ours")
    assert drawn.get_xydata().tolist() == [[1.0, 6.0], [2.0, 2.0]]
    assert drawn.get_label() == "ours"
    low, high = edges(ax.collections[0])
    assert (low.tolist(), high.tolist()) == ([5.0, 1.0], [7.0, 3.0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("evaluations", "best so far")


def test_with_the_least_value_progress_is_a_regret_and_a_run_may_begin_with_failures():
    _, ax = plot.figure()
    drawn = plot.progress(ax, [[np.nan, 3.0, 1.5]], least=1.0)
    np.testing.assert_array_equal(drawn.get_ydata(), [np.nan, 2.0, 0.5])
    assert (ax.get_yscale(), ax.get_ylabel()) == ("log", "regret")
    assert not ax.collections
    plot.progress(ax, [[np.nan, 3.0], [2.0, 1.5]])
    with pytest.raises(ValueError, match="runs must hold at least one run"):
        plot.progress(ax, [])
    with pytest.raises(ValueError, match=r"least must be on one side of all runs; got 1\.2"):
        plot.progress(ax, [[3.0, 1.5], [3.0, 1.0]], least=1.2)
    with pytest.raises(ValueError, match=r"runs\[0\] must have shape \(n,\); got \(\)$"):
        plot.progress(ax, [3.0, 1.5])
    with pytest.raises(
        ValueError, match=r"x must have shape \(n,\); got \(2, 1\): give x\[:, 0\]$"
    ):
        plot.line(ax, [[0.0], [1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"runs\[1\] must have shape \(n,\) like runs\[0\]"):
        plot.progress(ax, [[1.0, 2.0], [1.0]])


def test_each_part_has_a_panel_with_its_mean_and_its_band():
    gp = GP(named(trend=RBF(2.0, 3.0), season=Periodic()) + Linear(0.2), 0.1)
    X, Xs = np.linspace(0.0, 4.0, 9)[:, None], np.linspace(0.0, 5.0, 6)[:, None]
    posterior = condition(gp, X, np.sin(X[:, 0]))
    fig, axes = plot.parts(posterior, Xs, deviations=3)
    fig.draw_without_rendering()
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == ["trend: 3 sd", "season: 3 sd", "part 2: 3 sd"]
    for ax, name in zip(axes, posterior.part_names, strict=True):
        mean, variance = posterior.part(name).predict(Xs)
        low, high = edges(ax.collections[0])
        np.testing.assert_allclose(high - low, 6.0 * np.sqrt(variance), atol=1e-12)
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), mean)
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), Xs[:, 0])


def test_parts_are_drawn_over_a_column_of_the_data():
    """Whatever other columns a frame has, and in whichever order."""
    frame = pd.DataFrame({"t": [0.0, 1.0, 2.0], "u": [3.0, 5.0, 4.0]})
    kernel = named(wave=RBF().on("t"), line=Linear().on("u"))
    posterior = condition(GP(kernel, 0.1), frame, np.asarray([0.0, 1.0, 0.5]))
    _, axes = plot.parts(posterior, frame.assign(site=["a", "b", "c"])[["site", "u", "t"]])
    for ax in axes:
        np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), frame["t"])


def test_parts_are_chosen_and_placed():
    posterior = condition(GP(RBF() + Linear(), 0.1), np.ones((2, 1)), np.ones(2))
    x = np.asarray([3.0, 4.0])
    _, axes = plot.parts(posterior, [[1.0], [2.0]])
    np.testing.assert_array_equal(axes[1].lines[0].get_xdata(), [1.0, 2.0])
    _, (ax,) = plot.parts(posterior, np.ones((2, 1)), ["mean"], x=x, role="third")
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), x)
    assert ax.get_title(loc="left") == "mean: 2 sd"
    with pytest.raises(ValueError, match="which must name at least one part; got none"):
        plot.parts(posterior, np.ones((2, 1)), [])
    with pytest.raises(ValueError, match="which must be among 'mean'"):
        plot.parts(posterior, np.ones((2, 1)), ["trend"])
    with pytest.raises(ValueError, match="Xs must"):
        plot.parts(posterior, x)


def test_a_map_has_a_scale_and_dots_where_readings_are(space):
    fig, ax = plot.figure()
    x, y = space.asarray([0.0, 1.0, 2.0]), [0.0, 1.0]
    values = space.asarray(np.asarray([[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    dots = space.asarray(np.asarray([[0.5, 0.2], [1.5, 0.7]]))
    drawn = plot.field(ax, x, y, values, readings=dots, label="height (m)")
    fig.draw_without_rendering()
    np.testing.assert_allclose(drawn.get_clim(), (0.0, 3.0), atol=1e-12)
    assert [one.get_ylabel() for one in fig.axes] == ["", "height (m)"]
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0.5, 0.2], [1.5, 0.7]], rtol=1e-6)
    with pytest.raises(ValueError, match=r"values must have shape \(2, 3\), a row for each y; got"):
        plot.field(ax, x, y, np.ones((3, 2)))
