"""The edits after which a printed density has an integral of one, also where it has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from checked_equations.evaluate.effort import SECOND
from checked_equations.latex import tree as t

from .mends import Mends, mends_of
from .tried.letter_conventions import CONSTANTS, known
from .tried.nist import LAWS
from .tried.sample_fates import bound_on
from .tried.unbound_statement import NotRead, read

_DRAWS, _SEARCH = 2, 8 * SECOND  # numbers for its parameters; effort for mends


def mends_of_density(latex: str) -> Mends | None:
    """Return the edits after which an equation of a density's integral and one holds."""
    try:
        reading = read(LAWS.written(latex).latex, known(LAWS.bindings(), LAWS))
    except (NotRead, ValueError):
        return None
    rng = np.random.default_rng(3)
    own = {**CONSTANTS, **LAWS.bindings()}
    keys = [key for key in reading.symbols if key not in CONSTANTS]
    draws = [{**own, **{key: rng.uniform(0.6, 2.4) for key in keys}} for _ in range(_DRAWS)]
    bound = bound_on(reading.statement, draws, far=False)

    def holds(candidate: t.Statement) -> bool:
        edited = replace(bound, statement=candidate)
        return all(edited.compare(0, step).holds for step in candidate.steps)

    values = [{key: draw[key] for key in keys} for draw in draws]
    return mends_of(reading.statement, holds, values, effort=_SEARCH)
