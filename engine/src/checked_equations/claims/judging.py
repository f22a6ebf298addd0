"""The law of claims: what fails one, and what its fresh draws say of it."""

from __future__ import annotations

from collections import Counter
from math import comb

from .claim import Claim, ClaimError, Found

_REFUTED = 0.01
WEAKENED = 0.1  # fresh draws speak against it, though not loud enough to refute it


def refuse_ill_posed(claim: Claim) -> None:
    """Raise ValueError for terms under which nothing could be found out."""
    if not claim.label.startswith("cl-"):
        raise ValueError(f"label must begin with cl-; got {claim.label!r}")
    if claim.once:
        if claim.draws != 1 or claim.without:
            raise ValueError(f"{claim.label}: what is done once has draws=1 and nothing without")
    elif claim.draws < 5:
        said = f"draws must be 5 or more, or once= says why; got {claim.draws}"
        raise ValueError(f"{claim.label}: {said}")
    if not 1 <= claim.needed <= claim.draws:
        raise ValueError(f"{claim.label}: least must be from 1 to {claim.draws}; got {claim.least}")


def judge(found: Found) -> None:
    """Raise `ClaimError` with all that is wrong with a claim."""
    claim, wrong = found.claim, []
    held = sum(draw.held for draw in found.draws)
    if held < claim.needed:
        effects = [f"{draw.effect:.3g}" for draw in found.draws if draw.effect is not None]
        shown = f" (effects {', '.join(effects)})" if effects else ""
        said = f"{claim.draws} draws, and least={claim.needed} is said{shown}"
        wrong.append(f"it holds in {held} of {said}")
    for name, draws in found.without.items():
        held = sum(draw.held for draw in draws)
        if held >= claim.needed:
            said = f"{held} of {len(draws)} draws, so that this is not its cause"
            wrong.append(f"without {name} it still holds in {said}")
    # a pick at the end of a grid: its side had less to choose from than it wanted
    for path, count in Counter(path for draw in found.draws for path in draw.at_edge).items():
        said = f"{count} of {len(found.draws)} draws; make the grid wider"
        wrong.append(f"the pick {path} stands at the edge of its grid in {said}")
    if chance_of_fresh(found) < _REFUTED:
        said = f"{found.fresh['of']}, after {claim.needed} of {claim.draws} as is said"
        wrong.append(f"fresh draws refute it: it holds in {found.fresh['held']} of {said}")
    if wrong:
        raise ClaimError(f"{claim.label}: {'; '.join(wrong)}")


def chance_of_fresh(found: Found) -> float:
    """Fisher's exact test: the chance of so few fresh draws if it holds as often as is said."""
    if not found.fresh:
        return 1.0
    said, draws = found.claim.needed, found.claim.draws
    held, fresh = found.fresh["held"], found.fresh["of"]
    ways = (comb(fresh, k) * comb(draws, said + held - k) for k in range(held + 1))
    return sum(ways) / comb(draws + fresh, said + held)
