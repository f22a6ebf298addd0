"""The law of claims: the reasons for which one fails, and the verdict of its fresh draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import comb

from .claim import Claim, ClaimError, Found
from .sentence import with_error
from .tally import Moments, chance_apart

_REFUTED = 0.01  # the chance that fresh draws hold so seldom, if it holds as often as is said
_APART = 0.001  # the chance that they put the effect so far from the stored one
_SELDOM, _AWAY = 0.1, 0.02  # where either speaks against it, though not loud enough to refute it


def refuse_ill_posed(claim: Claim) -> None:
    """Raise ValueError for terms under which nothing could be found out."""
    if not claim.label.startswith("cl-"):
        raise ValueError(f"label must begin with cl-; got {claim.label!r}")
    if claim.once:
        if claim.draws != 1 or claim.variants:
            raise ValueError(
                f"{claim.label}: what is done once has draws=1 and neither without nor settings"
            )
    elif claim.draws < 5:
        said = f"draws must be 5 or more, or once= says why; got {claim.draws}"
        raise ValueError(f"{claim.label}: {said}")
    if not 1 <= claim.needed <= claim.draws:
        raise ValueError(f"{claim.label}: least must be from 1 to {claim.draws}; got {claim.least}")
    if both := claim.without.keys() & claim.settings.keys():
        raise ValueError(f"{claim.label}: {min(both)!r} is a setting and a cause")
    if claim.blocks is not None and not 1 <= claim.blocks <= claim.draws:
        said = f"blocks must be from 1 to {claim.draws}; got {claim.blocks}"
        raise ValueError(f"{claim.label}: {said}")


def judge(found: Found) -> None:
    """Raise `ClaimError` with all that is wrong with a claim."""
    wrong = [
        *_too_seldom(found), *_without_cause(found), *_in_the_way(found), *_refuted(found)
    ]  # fmt: skip
    if wrong:
        raise ClaimError(f"{found.claim.label}: {'; '.join(wrong)}")


def _too_seldom(found: Found) -> Iterator[str]:
    claim = found.claim
    for name in ("", *claim.settings):
        draws = found.draws[name]
        held = sum(draw.held for draw in draws)
        if held < claim.needed:
            effects = [f"{draw.effect:.3g}" for draw in draws if draw.effect is not None]
            shown = f" (effects {', '.join(effects)})" if effects else ""
            said = f"{len(draws)} draws{_in(name)}, and least={claim.needed} is said{shown}"
            yield f"it holds in {held} of {said}"


def _without_cause(found: Found) -> Iterator[str]:
    claim = found.claim
    for name in claim.without:
        drawn = found.pooled(name)
        if drawn.held * claim.draws >= claim.needed * drawn.of:
            said = f"{drawn.held} of {drawn.of} draws, so that this is not its cause"
            yield f"without {name} it still holds in {said}"


def _in_the_way(found: Found) -> Iterator[str]:
    """A side that had less to choose from than it wanted, or was stopped on its way."""
    draws = found.draws[""]
    for path, count in Counter(path for draw in draws for path in draw.at_edge).items():
        said = f"{count} of {len(draws)} draws; make the grid wider"
        yield f"the pick {path} stands at the edge of its grid in {said}"
    stopped = Counter(path for draw in draws for path in draw.outcome.stopped())
    for path, count in stopped.items():
        yield f"{path} is false in {count} of {len(draws)} draws; let it take more steps"


def _refuted(found: Found) -> Iterator[str]:
    claim = found.claim
    for name in ("", *claim.settings):
        if chance_of_fresh(found, name) < _REFUTED:
            fresh = found.drawn_fresh(name)
            said = f"{fresh.of}{_in(name)}, after {claim.needed} of {claim.draws} as is said"
            yield f"fresh draws refute it: it holds in {fresh.held} of {said}"
    if not (effects := _effects(found)):
        return
    told, drawn = effects
    if chance_apart(told, drawn) < _APART:
        said = f"{_shown(drawn)} in {drawn.count}, where the stored ones have {_shown(told)}"
        yield f"fresh draws put its effect elsewhere: {said}"
    if _differs(told) and not _differs(told + drawn):
        yield f"its effect is none: {_shown(told + drawn)} over all {(told + drawn).count} draws"


def _effects(found: Found) -> tuple[Moments, Moments] | None:
    """The effect over the stored draws and over the fresh ones, where both tell it."""
    told, drawn = (tally.numbers.get("effect") for tally in (found.drawn(), found.drawn_fresh()))
    return (told, drawn) if told and drawn else None


def _in(setting: str) -> str:
    return f" with {setting}" if setting else ""


def _shown(effect: Moments) -> str:
    return with_error(effect.mean, effect.error)


def _differs(effect: Moments) -> bool:
    """Return whether the effect is two standard errors from none."""
    return abs(effect.mean) > 2 * effect.error


def weakened(found: Found) -> bool:
    """Return whether fresh draws speak against the claim or its effect."""
    effects = _effects(found)
    apart = chance_apart(*effects) if effects else 1.0
    seldom = min(chance_of_fresh(found, name) for name in ("", *found.claim.settings))
    return seldom < _SELDOM or apart < _AWAY


def chance_of_fresh(found: Found, setting: str = "") -> float:
    """Fisher's exact test: the chance of so few fresh draws if it holds as often as is said."""
    said, draws, fresh = found.claim.needed, found.claim.draws, found.drawn_fresh(setting)
    ways = (comb(fresh.of, k) * comb(draws, said + fresh.held - k) for k in range(fresh.held + 1))
    return sum(ways) / comb(draws + fresh.of, said + fresh.held)


def would_refute(claim: Claim) -> list[str]:
    """Return the findings that would speak against the claim, in words: the risk it takes."""
    if claim.once:
        return ["another outcome of the one trial"]
    risks = [f"below {claim.needed} of {claim.draws}{_in(name)}"
             for name in ("", *claim.settings)]  # fmt: skip
    risks += [f"{claim.needed} without {name}" for name in claim.without]
    return [*risks, "another effect"] if claim.effect else risks
