"""The kinds of mutants, each with an equation and what its mutants are."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import NamedTuple

from checked_equations.latex import tree as t

from .averages import AVERAGES, DOMAINS
from .constructs import CONSTRUCTS
from .example import Example
from .words import WORDS

__all__ = ["WHERE", "Slip", "all_slips"]

# The kinds of nodes that are edited.
WHERE: dict[type[t.Node], str] = {
    t.Step: "relations and conditions", t.Sum: "sums and signs", t.Product: "products",
    t.Elementwise: "elementwise products", t.Kronecker: "Kronecker products",
    t.Inner: "inner products", t.Quotient: "fractions", t.Number: "numbers",
    t.Inverse: "inverses", t.Transpose: "transposes", t.Power: "powers", t.Root: "roots",
    t.Bars: "bars", t.Norm: "norms", t.Function: "function words",
    t.Reduction: "signs with a range",
    t.Expectation: "means", t.Variance: "variances", t.Covariance: "covariances",
    t.Derivative: "derivatives", t.Gradient: "gradients", t.Integral: "integrals", t.Cases: "cases",
    t.Apply: "bound functions", t.Name: "symbols", t.Subscript: "entries",
    t.Primed: "primes", t.Limit: "limits",
}  # fmt: skip


class Slip(NamedTuple):
    """Where a slip of the pen can happen, an equation, and its mutants of that kind."""

    where: str
    example: Example
    mutants: tuple[str, ...]


@cache
def all_slips() -> tuple[Slip, ...]:
    """One for each kind of node that is edited; raises KeyError for one without an example."""
    slips: dict[type[t.Node], Slip] = {}
    for example in chain(*CONSTRUCTS.values(), AVERAGES, DOMAINS, WORDS["Relations"]):
        edits = example.slips()
        for kind in dict.fromkeys(kind for kind, _ in edits):
            names = tuple(said for edited, said in edits if edited is kind)
            if kind not in slips or len(example.latex) < len(slips[kind].example.latex):
                slips[kind] = Slip(WHERE[kind], example, names)
    return tuple(slips[kind] for kind in WHERE)
