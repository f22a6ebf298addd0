"""Sensitivity to each input after a search: slices of its model, and Sobol indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ... import plot
from ...ground import check as _check
from ...ground import memory
from ...ground.random import RNG, stream_of
from ...ground.xp import HostMatrix, HostVector, sobol
from .history import Evaluation
from .optimiser import Optimiser
from .search_region import Place

if TYPE_CHECKING:  # drawing needs it, importing does not
    from matplotlib.axes import Axes

__all__ = ["Slice", "SobolIndex", "plot_sobol_indices", "slices", "sobol_indices"]


@dataclass(frozen=True, eq=False)
class Slice:
    """The model of a search along one input, all others as at one place.

    Parameters
    ----------
    name : str
        The input, that of a vector as ``x[0]``.
    x : HostVector, shape (n,)
        Where the model was asked; choices of a category are counted from zero.
    mean : HostVector, shape (n,)
        The mean of the model.
    sd : HostVector, shape (n,)
        Its standard deviations, without the noise of a reading.
    at : float
        The input at the place that the slice goes through.
    read : HostVector, shape (m,)
        The input at each reading that has it. Readings do not lie in the slice: their other inputs
        are settings of their own.
    y : HostVector, shape (m,)
        The readings.
    ticks : tuple of str
        The choices of a category; empty for numbers.
    log : bool
        Whether the input has a logarithmic scale.
    """

    name: str
    x: HostVector
    mean: HostVector
    sd: HostVector
    at: float
    read: HostVector
    y: HostVector
    ticks: tuple[str, ...] = ()
    log: bool = False

    def __repr__(self) -> str:
        """One line."""
        return f"<Slice: {self.name}, means {self.mean.min():.4g} to {self.mean.max():.4g}>"

    def plot(self, ax: Axes) -> None:
        """Draw the mean with its band, the readings, and a line at the place.

        Parameters
        ----------
        ax : Axes
            The axes of matplotlib to draw on.
        """
        plot.band(ax, self.x, self.mean, self.sd)
        plot.line(ax, self.x, self.mean)
        plot.points(ax, self.read, self.y, markersize=3.0, alpha=0.6)
        ax.axvline(self.at, color=plot.COLOURS["truth"], linewidth=0.8)
        if self.log:
            ax.set_xscale("log")
        if self.ticks:
            ax.set_xticks(range(len(self.ticks)), [_plain(tick) for tick in self.ticks])
        ax.set_xlabel(_plain(self.name))


@dataclass(frozen=True)
class SobolIndex:
    """The Sobol indices of an input: how much of a model's variance it is worth.

    Parameters
    ----------
    name : str
        The input.
    first_order : float
        The share of the variance that is left if only this input varies, the others averaged over.
    total : float
        The share that is lost if this input is held: alone and together with others.
    """

    name: str
    first_order: float
    total: float

    def __repr__(self) -> str:
        """One line."""
        return f"<SobolIndex: {self.name} alone {self.first_order:.2f}, in all {self.total:.2f}>"


def slices(
    optimiser: Optimiser[Place], through: object = None, *, num_points: int = 65
) -> tuple[Slice, ...]:
    """Cut the model of a search through a place, along each of the inputs.

    Parameters
    ----------
    optimiser : Optimiser
        The search. That of an `Outcome` comes back with ``Optimiser(box,
        known_evaluations=outcome.evaluations, rng=rng)``.
    through : Vector, shape (d,), or mapping, optional
        The place; unless it is given, the recommended one.
    num_points : int, default 65
        The number of settings along an input; whole numbers and categories have no more than they
        have settings.

    Returns
    -------
    tuple of Slice
        One for each input that varies, without those that are not there at the place.

    Examples
    --------
    >>> from gpnotes.decide.bayesopt import Optimiser
    >>> optimiser = Optimiser([(-1.0, 2.0)], rng=1)
    >>> for _ in range(9):
    ...     x = optimiser.ask()
    ...     optimiser.tell(x, (x[0] - 0.5) ** 2)
    >>> cut, = slices(optimiser)
    >>> bool(abs(cut.x[cut.mean.argmin()] - 0.5) < 0.05)
    True
    """
    _check.instance(optimiser, "optimiser", Optimiser)
    memory.count(num_points, "num_points", 2, each=2 * optimiser.region.columns)
    valued = _valued(optimiser)
    region = optimiser.region
    place = _recommended(optimiser) if through is None else region.validated(through, "through")
    axes = [axis for axis in region.axes(num_points) if not np.isnan(axis.of(place))]
    unit = region.units([place])
    units = [np.tile(unit, (len(axis.x), 1)) for axis in axes]
    for cut, axis in zip(units, axes, strict=True):
        cut[:, axis.part] = axis.units
    ends = np.cumsum([len(rows) for rows in units])[:-1]
    rows = _snapped(optimiser, np.concatenate(units))
    mean, sd = (np.split(part, ends) for part in optimiser._predict(rows))
    y = np.asarray([e.y for e in valued])
    readings = [np.asarray([float(axis.of(e.x)) for e in valued]) for axis in axes]
    return tuple(
        Slice(
            axis.name, axis.x, mean[i], sd[i], float(axis.of(place)), read[~np.isnan(read)],
            y[~np.isnan(read)], axis.ticks, axis.log,
        )
        for i, (axis, read) in enumerate(zip(axes, readings, strict=True))
    )  # fmt: skip


def sobol_indices(
    optimiser: Optimiser[Place], *, num_points: int = 1024, rng: RNG = 0
) -> tuple[SobolIndex, ...]:
    """Return the Sobol indices of the inputs, their shares in a model's variance.

    Parameters
    ----------
    optimiser : Optimiser
        The search.
    num_points : int, default 1024
        The number of pairs of places at which the model is compared; of 1024 a share is known to
        about 0.01.
    rng : Stream, Generator or int, default 0
        Source of the places, or its seed.

    Returns
    -------
    tuple of SobolIndex
        One for each input that varies, in their order.

    Notes
    -----
    With f the mean of the model, and inputs u that are uniform on the unit cube and independent, so
    on the logarithm of a logarithmic scale and over all choices alike, they are Sobol's indices,
    ``Var E(f | uᵢ) / Var f`` alone and ``E Var(f | all but uᵢ) / Var f`` in total, by pairs of
    points of a Sobol sequence. They are of the whole region, and not of its best part; and of the
    model, which may not have seen the effect of an input yet.

    Source: Sobol' (2001); Jansen (1999) for the estimates.

    Examples
    --------
    >>> from gpnotes.decide.bayesopt import Optimiser
    >>> optimiser = Optimiser([(0.0, 1.0)] * 2, num_initial=12, rng=1)
    >>> for x in optimiser.ask_batch(12):
    ...     optimiser.tell(x, 2.0 * x[0] + x[1])  # shares 4 / 5 and 1 / 5
    >>> sobol_indices(optimiser)
    (<SobolIndex: x[0] alone 0.80, in all 0.80>, <SobolIndex: x[1] alone 0.20, in all 0.20>)
    """
    _check.instance(optimiser, "optimiser", Optimiser)
    memory.count(num_points, "num_points", 2, each=2 * optimiser.region.columns)
    source = stream_of(rng)
    _valued(optimiser)
    region = optimiser.region
    pairs = sobol(num_points, 2 * region.columns, source.generator)
    first, second = np.split(pairs, 2, axis=1)
    axes = region.axes(2)
    rows = [first, second]
    for axis in axes:
        mix = first.copy()
        mix[:, axis.part] = second[:, axis.part]
        rows.append(mix)
    mean, _ = optimiser._predict(_snapped(optimiser, np.concatenate(rows)))
    f, g, *mixes = np.split(mean, len(rows))
    variance = float(np.var(np.concatenate([f, g])))
    scale = 0.0 if variance == 0.0 else 0.5 / variance
    return tuple(
        SobolIndex(
            axis.name,
            float(np.clip(1.0 - scale * np.mean((g - mix) ** 2), 0.0, 1.0)) if scale else 0.0,
            float(scale * np.mean((f - mix) ** 2)),
        )
        for axis, mix in zip(axes, mixes, strict=True)
    )


def _valued(optimiser: Optimiser[Place]) -> list[Evaluation[Place]]:
    """Return the evaluations that the model is made of, at least one."""
    valued = [each for each in optimiser.evaluations if not each.failure]
    if not valued:
        raise ValueError("optimiser must have an evaluation with a value; there is none yet")
    return valued


def _recommended(optimiser: Optimiser[Place]) -> Place:
    recommended = optimiser.recommend()
    if recommended is None:
        raise ValueError("through must be a place as long as none is feasible; got None")
    return recommended.x


def _snapped(optimiser: Optimiser[Place], units: HostMatrix) -> HostMatrix:
    lattice = optimiser.region.lattice
    return units if lattice is None else lattice.snapped(units)


def _plain(name: str) -> str:
    """A name as matplotlib writes it out: dollars are no formula."""
    return name.replace("$", r"\$")


def plot_sobol_indices(ax: Axes, indices: Sequence[SobolIndex]) -> None:
    """Plot Sobol indices as bars: an input's effect alone, and lighter that with others.

    Parameters
    ----------
    ax : Axes
        The axes of matplotlib to draw on.
    indices : sequence of SobolIndex
        Those of `sobol_indices`.
    """
    names = [_plain(index.name) for index in indices]
    colour = plot.COLOURS["exact"]
    ax.barh(names, [index.total for index in indices], color=colour, alpha=0.3, label="with others")
    ax.barh(
        names, [index.first_order for index in indices], color=colour, height=0.5, label="alone"
    )
    ax.invert_yaxis()
    ax.set_xlabel("share of the variance")
    ax.legend(loc="lower right")
