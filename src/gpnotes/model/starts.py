"""The start of a fit: numbers in the units of the data for parameters that a model leaves open.

A parameter is open if it was left at its default, `params.left_open`. For these there is nothing
to respect but the data; numbers that were given are where a fit starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import singledispatch
from typing import Any, TypeVar, cast

import numpy as np

from ..ground.params import leaves, left_open
from ..ground.xp import Array, HostVector, Numbers, as_array, to_numpy
from .bounds import Spread
from .gaussian_process import GP
from .kernels import (
    ActiveDims,
    ArcCosine,
    Cosine,
    IntegratedWiener,
    Kernel,
    Linear,
    OnSphere,
    Periodic,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sum,
    Wiener,
    WithGradients,
    gradients_at,
    values_at,
)
from .kernels.arccos import AT_ZERO
from .means import ConstantMean

__all__ = ["NOISE", "Scales", "noise_is_open", "out_of_scale", "scales_of", "start_of", "started"]

NOISE = 0.1  # of the variance of y
M = TypeVar("M")

_NOISE_KERNEL = "noise_kernel"  # of a model whose log noise is a process as well
_FAR = 100.0  # in the units of x and of y; beyond, a start says nothing of these data


@dataclass(frozen=True, eq=False)
class Scales:
    """The scales of the columns that a kernel looks at, and of the part of y that it is to explain.

    Parameters
    ----------
    deviation : HostVector, shape (d,)
        The standard deviation of each column, 1 where it is constant.
    size : HostVector, shape (d,)
        The root mean square of each, 1 where it is zero.
    variance : float
        The variance of y, or a share of it.
    like : Array
        The array whose namespace, dtype and device an array of lengths has.
    every : bool, default False
        Whether numbers that were given count as open; their shapes stay.
    label : float, default 0.0
        The average of the last column, where it has labels.
    """

    deviation: HostVector
    size: HostVector
    variance: float
    like: Array
    every: bool = False
    label: float = 0.0

    def on(self, columns: tuple[int, ...]) -> Scales:
        """Those of some columns."""
        at = list(columns)
        return replace(self, deviation=self.deviation[at], size=self.size[at])

    def of(self, variance: float) -> Scales:
        """Those of a share of y."""
        return replace(self, variance=variance)

    def opened(self, part: object, name: str) -> bool:
        """Return True if a parameter is to have a number from the data."""
        if name in left_open(part):
            return True
        value = getattr(part, name)
        return self.every and (value > 0.0 if isinstance(value, float) else value.ndim == 1)

    def shaped(self, part: object, name: str, numbers: HostVector, per_dimension: bool) -> Numbers:
        """A number for each column, or one for all: where one was given, or the class wants it."""
        given = getattr(part, name)
        several = per_dimension and (name in left_open(part) or not isinstance(given, float))
        if several and len(numbers) > 1:
            return as_array(numbers, self.like)
        return float(np.exp(np.mean(np.log(numbers))))


def scales_of(of: Spread, like: Array, *, every: bool = False) -> Scales:
    """Return the scales of all columns of data, and of y."""
    varies = (of.high > of.low)[:-1]
    deviation = np.where(varies, of.columns, 1.0)
    size = np.hypot(of.mean, of.deviation)[:-1]
    size = np.where(size > 0.0, size, 1.0)
    return Scales(deviation, size, of.unit * of.unit, like, every, float(of.mean[-2:][0]))


def started(model: M, of: Spread, like: Array, *, every: bool = False) -> M:
    """Return a model whose open parameters have numbers in the units of the data.

    Parameters
    ----------
    model : Parameters
        The model: a `GP`, or one with a ``gp`` and perhaps a ``likelihood``.
    of : Spread
        The spread of the data.
    like : Array
        The array whose namespace, dtype and device arrays of lengths have.
    every : bool, default False
        Take all numbers with a unit from the data but those that are zero, in the shapes given.

    Returns
    -------
    Parameters
        The model; itself, where nothing is open.

    Notes
    -----
    With s² the variance of y about its average, σ_j the deviation of column j, of its middle half
    where a few rows lie far off, and d the number of columns that a kernel looks at,

    - a lengthscale is ``σ_j √d``, one for each column: one for all would depend on the units of the
      columns. The root mean square distance of two rows is then √2 lengths;
    - the variance of a kernel is s², in equal shares of the summands of a sum; of a product or a
      multiple one factor has it, and the others 1, or all, if a factor was given one;
    - on a sphere there is one length, the spread of the places on the ground, and the variance of
      a power is that of the whole;
    - the variances of the slopes of a `Linear` sum to s² in the average over the rows; the base
      that a `Polynomial` or an `ArcCosine` raises to a power is half from the inputs and half from
      the bias, so that the power has s²;
    - the frequency of a `Cosine` is one turn over ``√12 σ_j √d``, the range of an even spread,
      over which a `Wiener` or its integral gains s²;
    - the noise is 0.1 s², and the value of a `ConstantMean` the average of y;
    - the process of the log noise, `noise_kernel`, has the variance 1, since it has no unit;
    - of values and derivatives, the variance is such that the rows have s² in the average, with as
      many of each derivative;
    - of a latent f, as for labels and counts, variances are 1, and a mean stays.

    Parameters without a unit, as a period counted in turns, the period itself, and other kernels of
    labelled rows keep their numbers.
    """
    scales = scales_of(of, like, every=every)
    if not 0.0 < scales.variance < math.inf:  # of such y there is no evidence
        return model
    if isinstance(model, GP):
        return cast("M", _process(model, scales, of, noisy=True))
    parts: dict[str, object] = {}
    if isinstance(gp := getattr(model, "gp", None), GP):
        likely = getattr(model, "likelihood", None)
        parts["gp"] = _process(gp, scales, of, noisy=likely is None)
        if is_dataclass(likely) and leaves(likely):
            parts["likelihood"] = _scattered(likely, scales)
    if isinstance(of_noise := getattr(model, _NOISE_KERNEL, None), Kernel):
        parts[_NOISE_KERNEL] = start_of(of_noise, scales.of(1.0))
    changed = any(part is not getattr(model, name) for name, part in parts.items())
    return cast("M", replace(cast("Any", model), **parts)) if changed else model


def noise_is_open(model: object) -> bool:
    """Return whether the process of a model was made without a variance of the noise."""
    gp = getattr(model, "gp", model)
    return isinstance(gp, GP) and "noise_var" in left_open(gp)


def out_of_scale(model: object, of: Spread, like: Array) -> bool:
    """Return whether a start says nothing of these data, so far is it from their units.

    Each parameter that is a length is a hundred times away from that of `started`, for one column
    at least; a variance is above 10⁴ times the mean square of y; or all are below 10⁻⁴ of its
    variance.
    Of several terms one may be short, and another long.
    """
    here = {leaf.path: leaf for leaf in leaves(model)}
    there = {leaf.path: leaf.value for leaf in leaves(started(model, of, like, every=True))}
    lengths = [np.log(_host(here[p].value) / _host(there[p])) for p in there if here[p].unit == "x"]
    if lengths and all(np.any(np.abs(log) > math.log(_FAR)) for log in lengths):
        return True
    of_y = (leaf for path, leaf in here.items() if not path.startswith(f"{_NOISE_KERNEL}."))
    variances = [float(np.max(_host(leaf.value))) for leaf in of_y if leaf.unit == "y²"]
    if of.latent or not variances:
        return False
    unit, mean = of.unit, float(of.mean[-1])
    square = unit * unit + mean * mean
    return max(variances) > _FAR**2 * square or max(variances) < unit * unit / _FAR**2


def _host(value: Numbers) -> HostVector:
    """A number or an array on the host, in float64."""
    held = value if isinstance(value, float) else to_numpy(value)
    return np.atleast_1d(np.asarray(held, dtype=np.float64))


def _process(gp: GP, scales: Scales, of: Spread, *, noisy: bool) -> GP:
    parts: dict[str, Any] = {"kernel": start_of(gp.kernel, scales)}
    if noisy and not of.latent and scales.opened(gp, "noise_var"):
        parts["noise_var"] = NOISE * scales.variance
    level = type(gp.mean) is ConstantMean and (scales.every or left_open(gp.mean))
    if level and not of.latent:
        parts["mean"] = ConstantMean(float(of.mean[-1]))
    changed = any(part is not getattr(gp, name) for name, part in parts.items())
    return replace(gp, **parts) if changed else gp


def _scattered(likelihood: Any, scales: Scales) -> object:
    """A likelihood whose open scale is that of noise."""
    found = {"y²": NOISE * scales.variance, "y": math.sqrt(NOISE * scales.variance)}
    opened = {name: found[unit] for name, unit, _ in _units(likelihood) if unit in found}
    opened = {name: value for name, value in opened.items() if scales.opened(likelihood, name)}
    return replace(likelihood, **opened) if opened else likelihood


def _units(part: Any) -> Iterator[tuple[str, str, bool]]:
    """The parameters of an object that have a unit: name, unit, whether one for each dimension."""
    for item in fields(part):
        if unit := item.metadata.get("unit"):
            yield item.name, unit, bool(item.metadata.get("per_dimension"))


@singledispatch
def start_of(kernel: Kernel, at: Scales) -> Kernel:
    """Return a kernel whose open parameters are in the units of the data.

    Parameters
    ----------
    kernel : Kernel
        The kernel; one that knows rows by labels stays as it is.
    at : Scales
        The scales of the columns that it looks at, and of its share of y.

    Returns
    -------
    Kernel
        The kernel; itself, where nothing is open.
    """
    found: dict[str, Numbers] = {}
    for name, unit, per_dimension in () if kernel.labels_rows else _units(kernel):
        if not at.opened(kernel, name):
            continue
        if unit == "x":
            lengths = at.deviation * math.sqrt(len(at.deviation))
            found[name] = at.shaped(kernel, name, lengths, per_dimension)
        elif unit == "y²" and isinstance(getattr(kernel, name), float):
            found[name] = at.variance
    return replace(kernel, **found) if found else kernel


@start_of.register(Linear)
def _(kernel: Linear, at: Scales) -> Kernel:
    if not at.opened(kernel, "variance"):
        return kernel
    slopes = at.variance / (len(at.size) * at.size**2)
    return replace(kernel, variance=at.shaped(kernel, "variance", slopes, True))


@start_of.register(Periodic)
def _(kernel: Periodic, at: Scales) -> Kernel:
    """The spread of a column tells nothing of its period, and lengths are counted in turns."""
    return replace(kernel, variance=at.variance) if at.opened(kernel, "variance") else kernel


@start_of.register(Polynomial)
def _(kernel: Polynomial, at: Scales) -> Kernel:
    """The bracket, whose power has the variance, is by halves of the inputs and of the bias."""
    half = 0.5 * at.variance ** (1.0 / kernel.degree)
    numbers = {"variance": half / float(np.sum(at.size**2)), "bias": half}
    return _with_numbers(kernel, {k: v for k, v in numbers.items() if at.opened(kernel, k)})


@start_of.register(ArcCosine)
def _(kernel: ArcCosine, at: Scales) -> Kernel:
    """Give half of a neuron's input variance to the inputs and half to its offset.

    Of order 0 only their ratio matters, and of others the variance repeats their scale.
    """
    found: dict[str, Numbers] = {}
    half = 0.5
    if kernel.order == 0 and at.opened(kernel, "variance"):
        found["variance"] = at.variance
    elif kernel.order > 0:
        top = AT_ZERO[kernel.order] * kernel.variance
        half = 0.5 * (at.variance / top) ** (1.0 / kernel.order)
    if at.opened(kernel, "weight_variance"):
        weights = half / (len(at.size) * at.size**2)
        found["weight_variance"] = at.shaped(kernel, "weight_variance", weights, True)
    if at.opened(kernel, "bias_variance"):
        found["bias_variance"] = half
    return _with_numbers(kernel, found)


@start_of.register(Cosine)
def _(kernel: Cosine, at: Scales) -> Kernel:
    """One turn over the range of a column that is spread evenly, √12 deviations."""
    if not at.opened(kernel, "frequency"):
        return kernel
    turns = 1.0 / (at.deviation * math.sqrt(12.0 * len(at.deviation)))
    return replace(kernel, frequency=at.shaped(kernel, "frequency", turns, True))


@start_of.register(IntegratedWiener)
@start_of.register(Wiener)
def _(kernel: Wiener | IntegratedWiener, at: Scales) -> Kernel:
    """Match the increment over the range of an even spread to the variance of y, from any start."""
    if not at.opened(kernel, "variance"):
        return kernel
    span = np.asarray([[float(at.deviation[0]) * math.sqrt(12.0)]])
    gained = replace(kernel, variance=1.0, origin=0.0).diag(span)
    return replace(kernel, variance=at.variance / float(gained[0]))


@start_of.register(ActiveDims)
def _(kernel: ActiveDims, at: Scales) -> Kernel:
    return _with_kernel(kernel, start_of(kernel.kernel, at.on(kernel.places)))


@start_of.register(WithGradients)
def _(kernel: WithGradients, at: Scales) -> Kernel:
    """In y are slopes, too: in another unit of the inputs they are as much larger or smaller."""
    points = replace(at, deviation=at.deviation[:-1], size=at.size[:-1])
    middle = as_array(points.size[None, :], at.like)
    seen = WithGradients(start_of(kernel.kernel, points))
    of_value, of_slopes = (to_numpy(seen.diag(f(middle))) for f in (values_at, gradients_at))
    slopes = min(2.0 * at.label / (len(of_slopes) + 1), 1.0)
    size = float((1.0 - slopes) * of_value[0] + slopes * np.mean(of_slopes))
    share = at.variance * (float(of_value[0]) / size) if size > 0.0 else at.variance
    return _with_kernel(kernel, start_of(kernel.kernel, points.of(share)))


@start_of.register(Scaled)
def _(kernel: Scaled, at: Scales) -> Kernel:
    found = start_of(kernel.kernel, at.of(1.0))
    if at.every:
        return replace(kernel, scale=at.variance, kernel=found)
    return _with_kernel(kernel, found)


@start_of.register(Power)
def _(kernel: Power, at: Scales) -> Kernel:
    root = at.of(at.variance ** (1.0 / kernel.exponent))
    return _with_kernel(kernel, start_of(kernel.kernel, root))


@start_of.register(OnSphere)
def _(kernel: OnSphere, at: Scales) -> Kernel:
    """One length in all directions of space, of the spread of the places on the ground."""
    narrow = math.cos(math.radians(min(float(at.size[0]), 90.0)))
    degrees = math.hypot(float(at.deviation[0]), narrow * float(at.deviation[1]))
    spread = kernel.radius * min(math.radians(degrees), 1.0)
    space = replace(at, deviation=np.asarray([spread]), size=np.asarray([kernel.radius]))
    return _with_kernel(kernel, start_of(kernel.kernel, space))


@start_of.register(Sum)
def _(kernel: Sum, at: Scales) -> Kernel:
    share = at.of(at.variance / len(kernel.parts))
    return _with_parts(kernel, [start_of(part, share) for part in kernel.parts])


@start_of.register(Product)
def _(kernel: Product, at: Scales) -> Kernel:
    """One factor has the variance, and the others 1; all have 1 where one was given its own."""
    own = [_has_scale(part) for part in kernel.parts]
    given = not at.every and any(map(_scale_is_given, kernel.parts))
    first = -1 if given or not any(own) else own.index(True)
    ones = at.of(1.0)
    parts = [start_of(p, at if i == first else ones) for i, p in enumerate(kernel.parts)]
    return _with_parts(kernel, parts)


def _with_numbers(kernel: Any, found: dict[str, Any]) -> Kernel:
    return replace(kernel, **found) if found else kernel


def _with_kernel(kernel: Any, inner: Kernel) -> Kernel:
    return kernel if inner is kernel.kernel else replace(kernel, kernel=inner)


def _with_parts(kernel: Any, parts: list[Kernel]) -> Kernel:
    changed = any(new is not old for new, old in zip(parts, kernel.parts, strict=True))
    return replace(kernel, parts=tuple(parts)) if changed else kernel


def _scales(kernel: Kernel) -> Iterator[bool]:
    """For each variance in a kernel whether it was given."""
    if isinstance(kernel, Sum | Product):
        for part in kernel.parts:
            yield from _scales(part)
    elif isinstance(kernel, ActiveDims | OnSphere | Power | Scaled):
        yield from [True] * isinstance(kernel, Scaled)
        yield from _scales(kernel.kernel)
    else:
        held = (name for name, unit, _ in _units(kernel) if unit.startswith("y"))
        yield from (name not in left_open(kernel) for name in held)


def _has_scale(kernel: Kernel) -> bool:
    return any(True for _ in _scales(kernel))


def _scale_is_given(kernel: Kernel) -> bool:
    return any(_scales(kernel))
