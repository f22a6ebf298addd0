"""The page that a fit prints: numbers rounded to their errors, and remarks below the table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...ground.showing import preformatted
from .curvature import FLAT_THRESHOLD
from .hyperparameters import Hyperparameter

__all__ = ["FinishedRun", "Report"]

_WIDE = 88  # characters, for what is no table


class FinishedRun(NamedTuple):
    """One ascent of a fit, as a report keeps it.

    Parameters
    ----------
    objective : float
        The objective where it ended; minus infinity for one that failed at its start.
    evaluations : int
        How many evaluations it took.
    converged : bool
        The optimiser's word for it that it ended at a maximum.
    at_bounds : tuple of str
        The parameters that ended on a bound.
    """

    objective: float
    evaluations: int
    converged: bool
    at_bounds: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """The page that a fit prints, with its hyperparameters, its evidence and all its runs.

    Printed numbers are rounded to known digits, so that they are the same on every machine: values
    to their errors, objectives to a tenth, evaluations to tens. The fields are not rounded.

    Parameters
    ----------
    readings : int
        How many observations there are.
    hyperparameters : tuple of Hyperparameter
        The fitted hyperparameters, at the end of one of the runs.
    log_evidence : float
        The log evidence there.
    log_prior : float
        The log density of the priors there.
    gain : float
        The rise to the top of a parabola through the end, next to nothing at a maximum.
    runs : tuple of FinishedRun
        All runs, best first.
    run : int, default 0
        The number of the run that the page is about, 0 for the best.
    constant : bool, default False
        The readings are all equal.
    stands_for : str, default ""
        The name of the substitute for the log evidence, where it is not the exact one.
    far_from_zero : tuple of float, default ()
        The mean and the standard deviation of the readings, where the model expects them about
        zero and the first is the larger.
    remarks : tuple of str, default ()
        The fit's remarks on its noise.
    """

    readings: int
    hyperparameters: tuple[Hyperparameter, ...]
    log_evidence: float
    log_prior: float
    gain: float
    runs: tuple[FinishedRun, ...]
    run: int = 0
    constant: bool = False
    stands_for: str = ""
    far_from_zero: tuple[float, ...] = ()
    remarks: tuple[str, ...] = ()

    _repr_html_ = preformatted

    def __str__(self) -> str:
        """The page."""
        parts = [self._head(), self._values(), self._remarks(), self._runs()]
        return "\n\n".join("\n".join(lines) for lines in parts if lines)

    @property
    def agreeing(self) -> int:
        """The number of runs that ended within `FLAT_THRESHOLD` of the best objective."""
        return sum(self.runs[0].objective - run.objective < FLAT_THRESHOLD for run in self.runs)

    def undetermined(self) -> tuple[str, ...]:
        """Return the names of parameters that the readings do not determine, alone or together."""
        return self._named("flat", "shared")

    def _named(self, *states: str) -> tuple[str, ...]:
        own = (one for one in self.hyperparameters if not one.tied_to)
        return tuple(one.name for one in own if one.state in states)

    def _head(self) -> list[str]:
        line = f"log evidence {_tenths(self.log_evidence)}"
        if self.log_prior:
            total = _tenths(self.log_evidence + self.log_prior)
            line += f", log prior {_tenths(self.log_prior)}, together {total}"
        fitted = f"Fit of {_counted(self.readings, 'reading')}"
        behind = self.runs[0].objective - self.runs[self.run].objective
        many = f", run {self.run} of {len(self.runs)}, {_tenths(behind)} below the best"
        lines = [fitted + (many if self.run else ""), line]
        return [*lines, self.stands_for] if self.stands_for else lines

    def _values(self) -> list[str]:
        """The table of hyperparameters."""
        if not self.hyperparameters:
            return []
        rows = [_row_of(one) for one in self.hyperparameters]
        return [*_table([("hyperparameter", "value", "error", "two errors to either side"), *rows])]

    def _remarks(self) -> list[str]:
        """The lines below the table."""
        lines = []
        if self.constant:
            lines.append("The readings are all equal: of a function they tell no more than that.")
        if self.far_from_zero:
            mean, sd = (
                _placed(one, _place(self.far_from_zero[1], 1)) for one in self.far_from_zero
            )
            about = f"The readings have mean {mean} and standard deviation {sd}"
            lines.append(f"{about}: a mean, such as ConstantMean, may raise the evidence.")
        lines.extend(self.remarks)
        if names := self._named("flat"):
            lines.append(f"Not determined by the readings: {', '.join(names)}.")
        if names := self._named("shared"):
            lines.append(f"Determined only in part, to be moved together: {', '.join(names)}.")
        if names := self._named("bound"):
            lines.append(f"On a bound, beyond which the objective rises: {', '.join(names)}.")
        if names := self._named("open"):
            lines.append(f"Not at a top, or lost in rounding: {', '.join(names)}.")
        if self.gain >= FLAT_THRESHOLD:
            converged = self.runs[self.run].converged
            why = "rounding hides the rest of it" if converged else "give it more steps"
            lines.append(f"This run stopped on its way up: {why}.")
        if self.agreeing == 1 < len(self.runs):
            lines.append("One run alone is the best: more restarts may find a better one.")
        return [part for line in lines for part in textwrap.wrap(line, _WIDE)]

    def _runs(self) -> list[str]:
        """The table of runs; of two with the same row, rounding says which is better."""
        agree = (
            f", {self.agreeing} within {FLAT_THRESHOLD:g} of the best" if len(self.runs) > 1 else ""
        )
        best = self.runs[0].objective
        keyed = [(round(best - run.objective, 1), _row_of_run(run, best)) for run in self.runs]
        rows = [row for _, row in sorted(keyed)]
        said = f"{_counted(len(self.runs), 'run')}{agree}:"
        heads = ("below the best", "evaluations", "converged", "on a bound")
        return [said, *_table([heads, *rows])]


def _row_of(one: Hyperparameter) -> tuple[str, ...]:
    if one.tied_to:
        return one.label, _row_of(replace(one, tied_to=""))[1], "", f"tied to {one.tied_to}"
    if one.state == "flat":
        return one.label, _range(one), "", ""
    size = abs(one.value)
    if one.state != "determined":
        return one.label, _placed(one.value, _place(size)), "", ""
    place = _place(size * min(one.error, 1.0) if one.positive else one.error)
    ends = [_placed(end, _place(end) if one.positive else place) for end in one.interval]
    return one.label, _placed(one.value, place), _error(one), " to ".join(ends)


def _error(one: Hyperparameter) -> str:
    """The standard error: of a logarithm as a share of the value, or a factor where it is large."""
    if not one.positive:
        return _placed(one.error, _place(one.error))
    if one.error < 1.0:
        return f"{_placed(100.0 * one.error, _place(100.0 * one.error))} %"
    factor = one.interval[1] / one.value  # of two errors
    return f"a factor of {_placed(factor**0.5, _place(factor**0.5))}"


def _range(one: Hyperparameter) -> str:
    """The range of a number that is not determined; an end that is out of sight is not named."""
    low, high = (_placed(end, _place(end, 1)) for end in (one.low, one.high))
    lower = one.low > 0.0 if one.positive else math.isfinite(one.low)
    if lower and math.isfinite(one.high):
        return f"{low} to {high}"
    return f"{low} or more" if lower else f"{high} or less" if math.isfinite(one.high) else "any"


def _row_of_run(run: FinishedRun, best: float) -> tuple[str, ...]:
    if run.objective == -math.inf:
        return "failed", "", "", ""
    evaluations = str(run.evaluations if run.evaluations < 10 else round(run.evaluations, -1))
    converged = "yes" if run.converged else "no"
    return _tenths(best - run.objective), evaluations, converged, ", ".join(run.at_bounds)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _tenths(value: float) -> str:
    return _placed(value, 1)


def _place(error: float, digits: int = 2) -> int:
    """The decimal place to which a number is known whose error has so many digits."""
    if error == 0.0 or not math.isfinite(error):
        return 0
    rounded = float(f"{abs(error):.{digits - 1}e}")  # 0.0996 is 0.10
    return digits - 1 - math.floor(math.log10(rounded))


def _placed(value: float, place: int) -> str:
    """A number rounded to a decimal place, written out unless that takes many zeros."""
    if not math.isfinite(value):
        return str(value)
    value = round(value, place) + 0.0  # no minus before zero
    if value == 0.0 or 1e-4 <= abs(value) < 1e7:
        return f"{value:.{min(max(place, 0), 15)}f}"
    return f"{value:.{max(place + math.floor(math.log10(abs(value))), 0)}e}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns, the first and the last to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        cells[-1] = row[-1]
        yield "  ".join(cells).rstrip()
