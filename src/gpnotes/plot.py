"""Figures in the style of the book: roles for colours and lines, and the one band function.

A role has a colour and a line style, so that no figure speaks by colour alone. matplotlib is
imported when something is drawn; it belongs to the extra ``notebook``.
"""

from __future__ import annotations

import base64
import copyreg
import importlib
import io
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache, wraps
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, overload

import numpy as np
from array_api_compat import is_array_api_obj

from .ground import check as _check
from .ground.arrays import host_columns, to_numpy
from .ground.conversion import floats, ordered, refuse_other_order
from .ground.xp import HostArray, HostMatrix, HostVector, MatrixLike, Table, Vector

if TYPE_CHECKING:  # drawing needs it, importing does not
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "LINES",
    "band",
    "field",
    "figure",
    "line",
    "parts",
    "points",
    "progress",
    "use_style",
]

Series: TypeAlias = Table


class Predicted(Protocol):
    """The prediction of a part, as it is drawn."""

    def predict(self, Xs: MatrixLike) -> tuple[Vector, Vector]:
        """The mean and the variance at inputs."""


class Decomposable(Protocol):
    """A posterior that `parts` takes."""

    @property
    def part_names(self) -> tuple[str | int, ...]:
        """The names or the numbers of its parts."""

    def part(self, *which: str | int) -> Predicted:
        """The posterior of a part."""


LINES = {
    "exact": "-",
    "approximation": "--",
    "third": "-.",
    "prior": ":",
    "truth": "-",
    "data": "-",
}
# one file for figures and pages: the roles, and the paper that they stand on
_SHEET = Path(__file__).with_name("colours.css").read_text("utf-8")
_GIVEN = dict(re.findall(r"--book-(\w+): (#\w+);", _SHEET))
COLOURS = {name: colour for name, colour in _GIVEN.items() if name in LINES}
_PAPER, _INK = _GIVEN["paper"], COLOURS["data"]
_SIZES = {"single": (5.0, 2.9), "pair": (7.2, 3.0), "row": (7.2, 2.6)}
_PANELS = {"single": 1, "pair": 2, "row": 3}
_OPACITY = {"f": 0.28}  # a band of y, the wider one, is paler


def use_style() -> None:
    """Switch matplotlib to the book's style, and a notebook to figures of exact size.

    In a notebook the figures are SVG, and PNG for the hosts that show no SVG of a notebook that
    somebody else ran. Axes that matplotlib makes from then on take arrays of any library, on any
    device, wherever they take NumPy's; so do those that `figure` and `parts` make.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    pyplot = _pyplot()
    importlib.import_module("matplotlib.projections").register_projection(_axes_class())
    pyplot.style.use([Path(__file__).with_name("gpnotes.mplstyle"), _coloured(pyplot)])
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        # how long a legend takes to find its place says how busy the machine is, and nothing else
        warnings.filterwarnings("ignore", message="Creating legend with loc=")
        if "inline" in pyplot.get_backend():
            pyplot.switch_backend(pyplot.get_backend())  # it comes with a hook,
            pyplot.uninstall_repl_displayhook()  # which draws each figure once more for nobody
        importlib.import_module("matplotlib_inline.backend_inline").set_matplotlib_formats()
        figure = importlib.import_module("matplotlib.figure").Figure
        shell.display_formatter.mimebundle_formatter.for_type(figure, _pictures)


@cache
def _axes_class() -> type[Axes]:
    """The axes of matplotlib, whose methods take arrays of any library and of any device."""
    base: Any = importlib.import_module("matplotlib.axes").Axes
    drawing = {name: act for name, act in vars(base).items() if _is_public(name, act)}
    drawing |= {name: getattr(base, name) for name in ("set", "set_xlim", "set_ylim")}
    methods = {name: _with_host_arrays(act) for name, act in drawing.items()}
    names = ("__module__", "__qualname__", "__doc__")  # to all but us they are matplotlib's
    own = {name: getattr(base, name) for name in names}
    return cast("type[Axes]", _AxesKind("Axes", (base,), methods | own))


class _AxesKind(type):
    """The class of a class that `pickle` does not find under its name, but makes anew."""


def _made_anew(kind: _AxesKind) -> tuple[Any, ...]:
    return _axes_class, ()


copyreg.pickle(_AxesKind, _made_anew)


def _is_public(name: str, act: object) -> bool:
    return isinstance(act, FunctionType) and not name.startswith("_")


def _with_host_arrays(act: Callable[..., object]) -> Callable[..., Any]:
    """Wrap a method so that arguments, and entries of lists and tuples, come to the host."""

    @wraps(act)
    def drawn(self: object, *args: object, **kwargs: object) -> object:
        given = {name: _drawable(value) for name, value in kwargs.items()}
        return act(self, *map(_drawable, args), **given)

    return drawn


def _drawable(value: Any) -> object:
    if type(value) in (list, tuple):
        return type(value)(map(_drawable, value))
    if isinstance(value, np.ndarray | np.generic) or not is_array_api_obj(value):
        return value  # copies of what is on the host would be for nothing
    return to_numpy(value)


def _coloured(pyplot: Any) -> dict[str, Any]:
    """The colours of the style: opaque paper, so that a figure reads on a dark page too."""
    papers = ("figure.facecolor", "savefig.facecolor", "axes.facecolor")
    inks = ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color")
    drawn = [role for role in LINES if role not in ("truth", "data")]  # in turn, if nobody says
    colours, lines = [COLOURS[role] for role in drawn], [LINES[role] for role in drawn]
    cycle = pyplot.cycler(color=colours, linestyle=lines)
    return {**dict.fromkeys(papers, _PAPER), **dict.fromkeys(inks, _INK), "axes.prop_cycle": cycle}


def _pictures(fig: Figure) -> dict[str, str]:
    """A figure as a notebook keeps it: laid out once, and drawn once for each of the formats."""
    if not (fig.axes or fig.lines):
        return {}
    svg = importlib.import_module("matplotlib.backends.backend_svg").FigureCanvasSVG
    agg = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg
    canvas, layout, dpi = fig.canvas, fig.get_layout_engine(), fig.get_dpi()
    lines, pixels = io.BytesIO(), io.BytesIO()
    try:
        if layout is not None and any(ax.get_aspect() != "auto" for ax in fig.axes):
            layout.execute(fig)  # panels that keep their aspect do not find their place at once
        # no date in the file: the same figure is the same file
        svg(fig).print_svg(lines, metadata={"Date": None})
        if layout is not None:
            fig.set_layout_engine("none")
        fig.set_dpi(dpi)  # an SVG has 72
        agg(fig).print_png(pixels, metadata={"Date": None})
    finally:
        fig.set_canvas(canvas)
        if layout is not None:
            fig.set_layout_engine(layout)
    encoded = base64.b64encode(pixels.getvalue()).decode("ascii")
    return {"image/svg+xml": lines.getvalue().decode("utf-8"), "image/png": encoded}


@overload
def figure(kind: Literal["single"] = "single") -> tuple[Figure, Axes]: ...
@overload
def figure(kind: Literal["pair", "row"]) -> tuple[Figure, HostArray]: ...
def figure(kind: str = "single") -> tuple[Figure, Axes | HostArray]:
    """Make a figure of one panel, or of two or three lettered panels, with its axes.

    Parameters
    ----------
    kind : str, default "single"
        ``"single"`` for one panel, ``"pair"`` for two, ``"row"`` for three with axes in common, to
        compare at a glance.

    Returns
    -------
    tuple
        The figure and its axes: one for ``"single"``, an array of them otherwise.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ValueError(f"kind must be one of {sorted(_SIZES)}; got {kind!r}")
    panels, same = _PANELS[kind], kind == "row"
    fig, axes = _pyplot().subplots(
        1,
        panels,
        figsize=_SIZES[kind],
        layout="constrained",
        sharex=same,
        sharey=same,
        subplot_kw={"axes_class": _axes_class()},
    )
    for letter, ax in zip("abc", axes if panels > 1 else (), strict=False):
        ax.set_title(letter, loc="left", fontweight="bold")
        ax.tick_params(labelleft=True)  # on a phone each panel stands alone
    return fig, axes


def band(
    ax: Axes,
    x: Series,
    mean: Series,
    sd: Series,
    *,
    variable: str = "f",
    deviations: float = 2,
    role: str = "exact",
    **style: Any,
) -> Artist:
    """Fill ``mean ± deviations · sd`` over x, labelled as in *f: 2 sd*.

    The band takes standard deviations, square roots of variances.

    Parameters
    ----------
    ax : Axes
        The axes to draw on.
    x, mean, sd : Series, shape (n,)
        Where the band lies, its middle, and the standard deviations, none of them negative.
    variable : str, default "f"
        The variable that lies in the band with that probability: a value of ``"f"``, or of ``"y"``
        with its noise.
    deviations : float, default 2
        How many standard deviations the band reaches to each side.
    role : str, default "exact"
        The role, a key of `COLOURS`, that gives colour and line style.
    **style
        Keywords of ``ax.fill_between``, which override the role's.
    """
    _check.positive(_check.number(deviations, "deviations"), "deviations")
    x, mean, sd = _of_rows(x=x, mean=mean, sd=sd)
    if not np.all((sd >= 0.0) & (sd < np.inf)):
        ends = f"its smallest entry is {np.min(sd)}, its largest {np.max(sd)}"
        raise ValueError(f"sd must be finite and not negative; {ends}")
    drawn = {
        "facecolor": (_colour(role), _OPACITY.get(variable, 0.14)),
        "edgecolor": (_colour(role), 0.55),
        "linestyle": LINES[role],
        "linewidth": 0.6,
        "label": f"{variable}: {deviations:g} sd",
    }
    reach = deviations * sd
    return ax.fill_between(x, mean - reach, mean + reach, **{**drawn, **style})


def line(ax: Axes, x: Series, y: Series, *, role: str = "exact", **style: Any) -> Artist:
    """Draw y over x in the colour and the line style of a role.

    Parameters
    ----------
    ax, role
        As in `band`.
    x, y : Series, shape (n,)
        The points of the line.
    **style
        Keywords of ``ax.plot``, which override the role's.
    """
    x, y = _of_rows(x=x, y=y)
    drawn = {"color": _colour(role), "linestyle": LINES[role]}
    return ax.plot(x, y, **{**drawn, **style})[0]


def points(ax: Axes, x: Series, y: Series, **style: object) -> Artist:
    """Draw observations y at x as open circles in the ink.

    Parameters
    ----------
    ax : Axes
        The axes to draw on.
    x, y : Series, shape (n,)
        Where the observations were made, and their values.
    **style
        Keywords of ``ax.plot``, which override those of the circles.
    """
    x, y = _of_rows(x=x, y=y)
    drawn = {"marker": "o", "linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 0.9}
    return ax.plot(x, y, **{"color": COLOURS["data"], "zorder": 3, **drawn, **style})[0]


def field(
    ax: Axes,
    x: Series,
    y: Series,
    values: HostMatrix,
    *,
    readings: HostMatrix | None = None,
    label: str = "",
    role: str = "exact",
    **style: object,
) -> Artist:
    """Draw a map: values on a grid as filled contours, with their scale, and where readings are.

    Parameters
    ----------
    ax, role
        As in `band`; the values go from the paper to the colour of the role.
    x, y : Series, shape (m,), (k,)
        The columns and the rows of the grid.
    values : HostMatrix, shape (k, m)
        The values, such as ``posterior.mean`` of all pairs, row by row.
    readings : HostMatrix, shape (n, 2), optional
        Where readings were made, x before y: a dot each.
    label : str, default ""
        The quantity on the scale, with its unit.
    **style
        Keywords of ``ax.contourf``, which override the role's.
    """
    (x,), (y,) = host_columns(x=x), host_columns(y=y)
    values = to_numpy(values)
    if values.shape != (y.size, x.size):
        wanted = f"({y.size}, {x.size}), a row for each y"
        raise ValueError(f"values must have shape {wanted}; got {values.shape}")
    colours = importlib.import_module("matplotlib.colors").LinearSegmentedColormap
    shades = colours.from_list(role, [_PAPER, _colour(role)])
    drawn = ax.contourf(x, y, values, **{"levels": 9, "cmap": shades, **style})
    ax.figure.colorbar(drawn, ax=ax, label=label)
    if readings is not None:
        where = to_numpy(readings)
        ax.plot(where[:, 0], where[:, 1], ".", color=COLOURS["data"], markersize=2.5)
    return drawn


def parts(
    posterior: Decomposable,
    Xs: MatrixLike,
    which: Sequence[str | int] | None = None,
    *,
    x: Series | None = None,
    deviations: float = 2,
    role: str = "exact",
) -> tuple[Figure, HostArray]:
    """Draw the posterior of each part of a sum, in a panel of its own: its mean and its band.

    The bands are of parts, without noise. They need not be narrow where that of the sum is: parts
    are anticorrelated, [eq-fv-component-cov].

    Parameters
    ----------
    posterior : Posterior
        A posterior that is taken apart by `Posterior.part`.
    Xs : Matrix, shape (n*, d)
        The inputs.
    which : sequence of str or int, optional
        Names or numbers of parts, ``"mean"`` among them perhaps; without it, all but the mean.
    x : Series, shape (n*,), optional
        Where the values are drawn, in order; without it, the first column of the inputs.
    deviations, role
        As in `band`.

    Returns
    -------
    tuple
        The figure, and an array of its axes, from above.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    names = posterior.part_names if which is None else tuple(which)
    if not names:
        raise ValueError("which must name at least one part; got none")
    moments = [posterior.part(name).predict(Xs) for name in names]
    inputs = ordered(Xs, "Xs", getattr(posterior, "columns", ()))
    places = to_numpy(floats(inputs, "Xs"))[:, 0] if x is None else x
    size = _SIZES["single"][0], 0.6 + 1.2 * len(names)
    shape = {"figsize": size, "layout": "constrained", "sharex": True, "squeeze": False}
    kind = {"axes_class": _axes_class()}
    fig, axes = _pyplot().subplots(len(names), 1, subplot_kw=kind, **shape)
    for ax, name, (mean, variance) in zip(axes[:, 0], names, moments, strict=True):
        label = name if isinstance(name, str) else f"part {name}"
        sd = np.sqrt(to_numpy(variance))
        drawn = band(ax, places, mean, sd, variable=label, deviations=deviations, role=role)
        line(ax, places, mean, role=role)
        ax.set_title(drawn.get_label(), loc="left")
    return fig, axes[:, 0]


def progress(
    ax: Axes,
    runs: HostMatrix | Sequence[Series],
    *,
    least: float | None = None,
    role: str = "exact",
    **style: object,
) -> Artist:
    """Draw the best value so far over the evaluations: one run, or the middle of several.

    Of several runs the line is the median, and the band has the middle half of them.

    Parameters
    ----------
    ax, role
        As in `band`.
    runs : sequence of Series, each of shape (n,), or HostMatrix
        The best value after each evaluation, as `Outcome.best_so_far` has it; all runs of one
        length. Where one has no value yet there is a gap.
    least : float, optional
        The value that cannot be beaten. With it the distance from it is drawn, the regret, on a
        logarithmic scale.
    **style
        Keywords of ``ax.plot``, which override the role's.
    """
    if not len(runs):
        raise ValueError("runs must hold at least one run; got none")
    values = np.stack(host_columns(**{f"runs[{i}]": run for i, run in enumerate(runs)}))
    if least is not None:
        gaps = values - _check.number(least, "least")
        if np.any(gaps < 0.0) and np.any(gaps > 0.0):
            raise ValueError(f"least must be on one side of all runs; got {least}: one beat it")
        values = np.abs(gaps)
        ax.set_yscale("log")
    counts = np.arange(1.0, values.shape[1] + 1.0)
    if len(values) > 1:
        low, high = np.quantile(values, [0.25, 0.75], axis=0)
        ax.fill_between(counts, low, high, facecolor=(_colour(role), 0.2), edgecolor="none")
    ax.set(xlabel="evaluations", ylabel="best so far" if least is None else "regret")
    return line(ax, counts, np.median(values, axis=0), role=role, **style)


def _of_rows(**given: Series) -> list[HostVector]:
    refuse_other_order(given)
    return host_columns(**given)


def _colour(role: str) -> str:
    if not isinstance(role, str) or role not in COLOURS:
        raise ValueError(f"role must be one of {sorted(COLOURS)}; got {role!r}")
    return COLOURS[role]


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as problem:
        raise ImportError(
            "gpnotes.plot draws with matplotlib: from a clone, pip install '.[notebook]'"
        ) from problem
