"""Pendulums that swing in a notebook: inline SVG moved by CSS, and nothing from the network."""

from __future__ import annotations

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
    paths: Mapping[str, Angles], seconds: float, *, name: str, alt: str
) -> Animation:
    """Draw pendulums side by side that swing through their angles over and over.

    Parameters
    ----------
    paths : mapping of str to Vector, shape (n,)
        Captions, and the angles of each in radians from upright, the same time apart; beyond a
        full turn they count on.
    seconds : float
        The time that all of it takes.
    name : str
        An identifier that nothing else in the page has: a letter, then letters, digits, - and _.
    alt : str
        A description of the picture.

    Returns
    -------
    Animation
        Inline SVG moved by CSS, with a box that stops it. Where the reader prefers reduced motion,
        and in print, all hang where they end.

    Examples
    --------
    >>> animated_pendulums({"a": [3.1, 3.0]}, 1.0, name="one", alt="It swings.").html[:23]
    '<div class="gp-moving">'
    """
    angles = _validate_paths(paths, seconds, name)
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
    return Animation(_MOVING.format(**words, rules="".join(rules), panels="".join(panels)))


_MOVING = """<div class="gp-moving"><input type="checkbox" id="{name}-stop">
<label for="{name}-stop">stand still</label>
<svg id="{name}" viewBox="0 0 {width} 130" width="100%" style="max-width:{width}px;display:block" \
role="img" aria-label="{alt}"><title>{alt}</title><style>{rules}\
#{name}-stop:checked~#{name} g{{animation-play-state:paused}}</style>{panels}</svg></div>"""
_PANEL = """<circle cx="{x}" cy="55" r="46" fill="none" stroke="currentColor" opacity=".25"/>\
<g transform="translate({x} 55)"><g class="r{i}"><line y2="-40" stroke="currentColor" \
stroke-width="4"/><circle cy="-40" r="7" fill="currentColor"/></g></g>\
<text x="{x}" y="122" text-anchor="middle" font-size="12" fill="currentColor">{caption}</text>"""


def _validate_paths(paths: Mapping[str, Angles], seconds: float, name: str) -> list[HostVector]:
    """The angles of `animated_pendulums`, if they can be drawn."""
    if not isinstance(paths, Mapping):
        wanted = "a mapping from captions to angles"
        raise TypeError(f"paths must be {wanted}; got {type(paths).__name__}")
    if not paths:
        raise ValueError("paths must hold at least one path; got none")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name, re.ASCII):
        raise ValueError(f"name must be a letter, then letters, digits, - and _; got {name!r}")
    _check.positive(_check.number(seconds, "seconds"), "seconds")
    angles = host_columns(**{f"the path {caption!r}": path for caption, path in paths.items()})
    for caption, path in zip(paths, angles, strict=True):
        _check.finite(path, f"the path {caption!r}")
        if not path.size:
            raise ValueError(f"the path {caption!r} must have at least one angle")
    return angles
