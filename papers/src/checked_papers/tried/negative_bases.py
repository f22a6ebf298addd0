"""Powers of negative numbers: ``(x^a)^b = x^{a b}`` has values on both sides at x = -1, a = 2.

No exponent that is drawn by chance is whole or a half, and on all others negative numbers have no
real powers: so an identity of positive numbers would hold wherever it has a value.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from checked_equations.latex import tree as t

from . import kinds
from .drawing import More, real_symbols
from .kinds import NEGATIVE
from .sample_fates import Trial, clearly_fails
from .unbound_statement import mentions
from .whole_numbers import counted

_EXPONENTS = (2.0, 0.5, 3.0)  # of which some powers of a negative number are positive
_WHOLE = (2, 3)
_FEW = 2  # symbols in exponents that are fixed


def wants_positive_bases(trial: Trial, more: More) -> list[str]:
    """Return ``x > 0`` where it fails for negative x with exponents that are whole or a half."""
    plan = more.plan
    real, whole = real_symbols(plan), counted(plan)
    powers = [part for part in t.parts(trial.statement) if isinstance(part, t.Power)]
    above = [key for key in (*real, *whole) if any(mentions(p.exponent, key) for p in powers)]
    of_these = [one for one in powers if any(mentions(one.exponent, key) for key in above)]
    below = [key for key in real if any(mentions(one.base, key) for one in of_these)]
    below = [key for key in below if key not in above]
    if not below or not above:
        return []
    values = (_WHOLE if key in whole else _EXPONENTS for key in above[:_FEW])
    chosen = itertools.product(*(map(kinds.constant, every) for every in values))
    drawn = ({**plan.drawn, **dict(zip(above, one, strict=False))} for one in chosen)
    samples = more.by((replace(plan, drawn=one) for one in drawn), [NEGATIVE])
    failing = any(clearly_fails(one, trial.statement.steps) for one in trial.on(samples).fates)
    return [f"{', '.join(below)} > 0"] if failing else []
