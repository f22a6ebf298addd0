"""The sections of the page about the language, by their titles."""

from __future__ import annotations

from .averages import AVERAGES, DOMAINS
from .constructs import CONSTRUCTS
from .definitions import DEFINITIONS
from .example import Definition, Example, Refusal
from .refused import REFUSALS
from .spellings import SPELLINGS, Spelling
from .words import WORDS

__all__ = ["ALIKE", "READ", "REFUSED", "SPELLED"]

READ: dict[str, tuple[Example | Definition, ...]] = {
    **CONSTRUCTS,
    "Averages": AVERAGES,
    "Domains of integrals": DOMAINS,
    "Definitions": DEFINITIONS,
}
SPELLED: dict[str, tuple[Example, ...]] = WORDS
REFUSED: dict[str, tuple[Refusal, ...]] = REFUSALS
ALIKE: dict[str, tuple[Spelling, ...]] = SPELLINGS
