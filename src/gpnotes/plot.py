"""Figures in the style of the book: roles for colours and lines, and the one band function.

A role has a colour and a line style, so that no figure speaks by colour alone. matplotlib is
imported when something is drawn; it belongs to the extra ``book``.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _check
from ._xp import HostArray, HostVector, Vector, array_namespace, to_numpy

if TYPE_CHECKING:  # drawing needs it, importing does not
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "LINES",
    "Moving",
    "band",
    "figure",
    "line",
    "pendulums",
    "points",
    "use_style",
]

Series: TypeAlias = Vector | Sequence[float]

# Okabe & Ito's colours that hold on white; the ink is for what was measured.
COLOURS = {
    "exact": "#0072B2",
    "approximation": "#D55E00",
    "third": "#009E73",
    "prior": "#CC79A7",
    "truth": "#767676",
    "data": "#22211f",
}
LINES = {
    "exact": "-",
    "approximation": "--",
    "third": "-.",
    "prior": ":",
    "truth": "-",
    "data": "-",
}
_SIZES = {"single": (6.0, 3.2), "pair": (7.2, 3.0)}
_OPACITY = {"f": 0.28}  # a band of y, the wider one, is paler


def use_style() -> None:
    """Switch matplotlib to the book's style, and a notebook to SVG figures of exact size."""
    _pyplot().style.use(Path(__file__).with_name("gpnotes.mplstyle"))
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        formats = importlib.import_module("matplotlib_inline.backend_inline")
        # no date in the file: the same figure is the same file
        formats.set_matplotlib_formats("svg", bbox_inches=None, metadata={"Date": None})


def figure(kind: str = "single") -> tuple[Figure, Any]:
    """A figure and its axes: ``"single"``, or ``"pair"`` with two panels, lettered a and b."""
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ValueError(f"kind must be one of {sorted(_SIZES)}; got {kind!r}")
    panels = 2 if kind == "pair" else 1
    fig, axes = _pyplot().subplots(1, panels, figsize=_SIZES[kind], layout="constrained")
    for letter, ax in zip("ab", axes if panels > 1 else (), strict=False):
        ax.set_title(letter, loc="left", fontweight="bold")
    return fig, axes


def band(
    ax: Axes,
    x: Series,
    mean: Series,
    sd: Series | None = None,
    *,
    variance: Series | None = None,
    variable: str = "f",
    deviations: float = 2,
    role: str = "exact",
    **style: Any,
) -> Artist:
    """Fill ``mean ± deviations · sd`` over x, all of shape (n,), labelled *f: 2 sd*.

    `variable` says what lies in the band with that probability: a value of ``"f"``, or of ``"y"``
    with its noise. The band takes standard deviations. A variance given by name is refused with
    `TypeError`; one given as `sd` cannot be told from a standard deviation.

    Raises `ValueError` for shapes that differ and for what cannot be a standard deviation.
    """
    if variance is not None or sd is None:
        raise TypeError("band takes standard deviations: pass sd, the square root of the variance")
    _check.positive(_check.number(deviations, "deviations"), "deviations")
    x, mean, sd = _columns(x=x, mean=mean, sd=sd)
    if not np.all(sd >= 0.0):
        raise ValueError(f"sd must be finite and not negative; its smallest entry is {np.min(sd)}")
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
    """Draw y over x, (n,) each, in the colour and the line style of a role."""
    x, y = _columns(x=x, y=y)
    drawn = {"color": _colour(role), "linestyle": LINES[role]}
    return ax.plot(x, y, **{**drawn, **style})[0]


def points(ax: Axes, x: Series, y: Series, **style: Any) -> Artist:
    """Draw observations y at x, (n,) each, as open circles in the ink."""
    x, y = _columns(x=x, y=y)
    drawn = {"marker": "o", "linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 0.9}
    return ax.plot(x, y, **{"color": COLOURS["data"], "zorder": 3, **drawn, **style})[0]


@dataclass(frozen=True, repr=False)
class Moving:
    """A drawing that moves, as HTML that asks nothing of the network; a notebook shows it."""

    html: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"  # the same on every machine

    def _repr_html_(self) -> str:
        return self.html


def pendulums(paths: Mapping[str, Series], seconds: float, *, name: str, alt: str) -> Moving:
    """Pendulums side by side that swing through their angles, (n,) each, over and over.

    `paths` maps a caption to angles in radians from upright, the same time apart, `seconds` in
    all; beyond a full turn they count on. `name` is an identifier that nothing else in the page
    has, `alt` says what is to be seen. Inline SVG moved by CSS, with a box that stops it. Where the
    reader prefers reduced motion, and in print, all hang where they end.
    Raises `ValueError` for no paths, paths of different lengths, angles that are not finite,
    seconds that are not positive, and a name with other signs than letters, digits, - and _.

    >>> pendulums({"a": [3.1, 3.0]}, 1.0, name="one", alt="It swings.").html[:23]
    '<div class="gp-moving">'
    """
    angles = _admitted(paths, seconds, name)
    rules, panels = [], []
    for i, (caption, turned) in enumerate(zip(paths, -np.degrees(angles), strict=True)):
        places = np.linspace(0.0, 100.0, turned.size)
        frames = (
            f"{at:.2f}%{{transform:rotate({turn:.1f}deg)}}"
            for at, turn in zip(places, turned, strict=True)
        )
        rules.append(f"@keyframes {name}-{i}{{{''.join(frames)}}}")
        rules.append(f"#{name} .r{i}{{transform:rotate({turned[-1]:.1f}deg)}}")
        rules.append(
            f"@media screen and (prefers-reduced-motion:no-preference)"
            f"{{#{name} .r{i}{{animation:{name}-{i} {seconds:g}s linear infinite}}}}"
        )
        panels.append(_PANEL.format(x=120 * i + 60, i=i, caption=escape(caption)))
    words = {"name": name, "alt": escape(alt), "width": 120 * len(angles)}
    return Moving(_MOVING.format(**words, rules="".join(rules), panels="".join(panels)))


_MOVING = """<div class="gp-moving"><input type="checkbox" id="{name}-stop">
<label for="{name}-stop">stand still</label>
<svg id="{name}" viewBox="0 0 {width} 130" width="100%" style="max-width:{width}px;display:block" \
role="img" aria-label="{alt}"><title>{alt}</title><style>{rules}\
#{name}-stop:checked~#{name} g{{animation-play-state:paused}}</style>{panels}</svg></div>"""
_PANEL = """<circle cx="{x}" cy="55" r="46" fill="none" stroke="currentColor" opacity=".25"/>\
<g transform="translate({x} 55)"><g class="r{i}"><line y2="-40" stroke="currentColor" \
stroke-width="4"/><circle cy="-40" r="7" fill="currentColor"/></g></g>\
<text x="{x}" y="122" text-anchor="middle" font-size="12" fill="currentColor">{caption}</text>"""


def _admitted(paths: Mapping[str, Series], seconds: float, name: str) -> list[HostVector]:
    """The angles of `pendulums`, if they can be drawn."""
    if not isinstance(paths, Mapping):
        wanted = "a mapping from captions to angles"
        raise TypeError(f"paths must be {wanted}; got {type(paths).__name__}")
    if not paths:
        raise ValueError("paths must hold at least one path; got none")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
        raise ValueError(f"name must be a letter, then letters, digits, - and _; got {name!r}")
    _check.positive(_check.number(seconds, "seconds"), "seconds")
    angles = _columns(**{f"the path {caption!r}": path for caption, path in paths.items()})
    for caption, one in zip(paths, angles, strict=True):
        _check.finite(one, f"the path {caption!r}")
        if not one.size:
            raise ValueError(f"the path {caption!r} must have at least one angle")
    return angles


def _colour(role: str) -> str:
    if not isinstance(role, str) or role not in COLOURS:
        raise ValueError(f"role must be one of {sorted(COLOURS)}; got {role!r}")
    return COLOURS[role]


def _columns(**named: Series) -> list[HostVector]:
    """The arguments as NumPy arrays, checked to be finite vectors of one length."""
    columns = {name: _host(a, name) for name, a in named.items()}
    size = next(iter(columns.values())).shape
    for name, a in columns.items():
        if a.ndim != 1 or a.shape != size:
            first = next(iter(columns))
            raise ValueError(f"{name} must have shape (n,) like {first}, {size}; got {a.shape}")
    return list(columns.values())


def _host(a: Any, name: str) -> HostArray:
    try:
        array_namespace(a)
    except TypeError:  # a list, a range, a column of a table
        host = np.asarray(a)
    else:
        host = to_numpy(a)
    if host.size and host.dtype.kind not in "biuf":
        got = type(a).__name__ if host.ndim == 0 else f"entries of type {host.dtype}"
        raise TypeError(f"{name} must hold real numbers; got {got}")
    return host


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as problem:
        raise ImportError(
            "gpnotes.plot draws with matplotlib: from a clone, pip install '.[book]'"
        ) from problem
