"""Pendulums that swing in a notebook: inline SVG moved by CSS, and nothing from the network."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

import numpy as np

from ...ground import check as _check
from ...ground.arrays import host_columns
from ...ground.xp import HostVector, Vector

__all__ = ["Animation", "animated_pendulums"]

Angles: TypeAlias = Vector | Sequence[float]


@dataclass(frozen=True, repr=False)
class Animation:
    """A drawing that moves, as HTML that asks nothing of the network; a notebook shows it.

    Parameters
    ----------
    html : str
        The drawing.
    """

    html: str

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"  # the same on every machine

    def _repr_html_(self) -> str:
        return self.html


def animated_pendulums(
    paths: Mapping[str, Angles],
    seconds: float,
    *,
    pivots: Mapping[str, Angles] | None = None,
    name: str,
    alt: str,
) -> Animation:
    """Draw pendulums side by side that swing through their angles once a box is ticked.

    Parameters
    ----------
    paths : mapping of str to Vector, shape (n,)
        Captions, and the angles of each in radians from upright, against the clock, the same time
        apart; beyond a full turn they count on.
    seconds : float
        The time that all of it takes.
    pivots : mapping of str to Vector, shape (n,), optional
        For the same captions the places of the pivots on a rail, in lengths of a pendulum to the
        right of its middle: each then hangs from a cart.
    name : str
        An identifier that nothing else in the page has: a letter, then letters, digits, - and _.
    alt : str
        A description of the picture.

    Returns
    -------
    Animation
        Inline SVG, which CSS moves over and over while the box above it is ticked. Else all hang
        where they end; and where the reader prefers reduced motion, and in print, there is no box.

    Examples
    --------
    >>> animated_pendulums({"a": [3.1, 3.0]}, 1.0, name="one", alt="It swings.").html[:23]
    '<div class="gp-moving">'
    """
    angles, places = _validate_paths(paths, pivots, seconds, name)
    reach = math.ceil(_LENGTH * max((float(np.abs(place).max()) for place in places), default=0.0))
    wide = 120 + 2 * reach
    rules, panels = [], []
    for i, (caption, path) in enumerate(zip(paths, angles, strict=True)):
        rules += _moved(name, f"r{i}", [f"rotate({-turn:.1f}deg)" for turn in np.degrees(path)])
        if places:
            shifts = [f"translateX({_LENGTH * at:.1f}px)" for at in places[i]]
            rules += _moved(name, f"c{i}", shifts)
        words = {"x": wide * i + wide // 2, "i": i, "caption": escape(caption)}
        rail = _RAIL.format(half=reach + 14) if places else _CIRCLE
        panels.append(_PANEL.format(**words, ground=rail, cart=_CART if places else ""))
    rules = [rule.replace("SECONDS", f"{seconds:g}s") for rule in rules]
    words = {"name": name, "alt": escape(alt), "width": wide * len(angles)}
    return Animation(_MOVING.format(**words, rules="".join(rules), panels="".join(panels)))


_LENGTH = 40  # pixels, of a pendulum
_MOVING = """<div class="gp-moving"><input type="checkbox" id="{name}-go">
<label for="{name}-go">let them swing</label>
<svg id="{name}" viewBox="0 0 {width} 130" width="100%" style="max-width:{width}px;display:block" \
role="img" aria-label="{alt}"><title>{alt}</title><style>{rules}\
@media print,(prefers-reduced-motion:reduce){{#{name}-go,[for={name}-go]{{display:none}}}}\
</style>{panels}</svg></div>"""
_CIRCLE = """<circle r="46" fill="none" stroke="currentColor" opacity=".25"/>"""
_RAIL = """<path d="M-{half} 0H{half}" stroke="currentColor" opacity=".25"/>"""
_CART = """<rect x="-11" y="-6" width="22" height="12" fill="currentColor" opacity=".6"/>"""
_PANEL = """<g transform="translate({x} 55)">{ground}<g class="c{i}">{cart}<g class="r{i}">\
<line y2="-40" stroke="currentColor" stroke-width="4"/>\
<circle cy="-40" r="7" fill="currentColor"/></g></g></g>\
<text x="{x}" y="122" text-anchor="middle" font-size="12" fill="currentColor">{caption}</text>"""


def _moved(name: str, part: str, transforms: list[str]) -> list[str]:
    """The rules by which a part goes through these transforms, and is where it ends till then."""
    places = np.linspace(0.0, 100.0, len(transforms))
    frames = (f"{at:.2f}%{{transform:{one}}}" for at, one in zip(places, transforms, strict=True))
    return [
        f"@keyframes {name}-{part}{{{''.join(frames)}}}",
        f"#{name} .{part}{{transform:{transforms[-1]}}}",
        f"@media screen and (prefers-reduced-motion:no-preference)"
        f"{{#{name}-go:checked~#{name} .{part}"
        f"{{animation:{name}-{part} SECONDS linear infinite}}}}",
    ]


def _validate_paths(
    paths: Mapping[str, Angles], pivots: Mapping[str, Angles] | None, seconds: float, name: str
) -> tuple[list[HostVector], list[HostVector]]:
    """The angles of `animated_pendulums` and the places of its pivots, if they can be drawn."""
    if not isinstance(paths, Mapping):
        wanted = "a mapping from captions to angles"
        raise TypeError(f"paths must be {wanted}; got {type(paths).__name__}")
    if not paths:
        raise ValueError("paths must hold at least one path; got none")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
        raise ValueError(f"name must be a letter, then letters, digits, - and _; got {name!r}")
    _check.positive(_check.number(seconds, "seconds"), "seconds")
    given = {f"the path {caption!r}": path for caption, path in paths.items()}
    if pivots is not None:
        if not isinstance(pivots, Mapping):
            wanted = "a mapping from the captions of paths to places"
            raise TypeError(f"pivots must be {wanted}; got {type(pivots).__name__}")
        if pivots.keys() != paths.keys():
            raise ValueError(f"pivots must have the captions of paths, {[*paths]}; got {[*pivots]}")
        given |= {f"the pivots of {caption!r}": pivots[caption] for caption in paths}
    columns = dict(zip(given, host_columns(**given), strict=True))
    for said, column in columns.items():
        _check.finite(column, said)
        if not column.size:
            raise ValueError(f"{said} must have at least one angle")
    found = [*columns.values()]
    return found[: len(paths)], found[len(paths) :]
