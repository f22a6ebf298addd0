"""What a verdict on an item of a source needs."""

from __future__ import annotations

from .items import VERDICTS

__all__ = ["refuse_weak"]


def refuse_weak(where: str, verdict: str, why: str, shown: bool) -> None:
    """Raise `ValueError`, which begins with `where`, for a verdict without its evidence or reason.

    `shown` says whether something was evaluated that shows a slip.
    """
    if verdict not in VERDICTS:
        raise ValueError(f"{where} is no verdict; choose among {', '.join(VERDICTS)}")
    if verdict == "wrong" and not shown:
        raise ValueError(f"{where} needs a refute, a checked label= or evidence=")
    if verdict in ("holds-if", "ambiguous", "stub") and not why.strip():
        raise ValueError(f"{where} needs why=: what is missing, or what it means")
