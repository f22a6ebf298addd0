"""Sentences that say what an experiment showed and stand outside a claim.

    python tests/support/claim_words.py [CHAPTER...]

lists them, and what is concluded in the paragraph after a claim: nearly all false sentences of the
book stood there. A sentence that needs no experiment (a proof, a count, a citation, a hypothetical)
and a conclusion that keeps to what was tried (a scope) are settled in `tests/book/settled.toml`, by
their beginning.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from checked_equations.book import markup, prose

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
SETTLED = ROOT / "tests" / "book" / "settled.toml"
KINDS = {"proof", "count", "citation", "hypothetical", "scope", "claim"}
APART = {"claim", "claimed", "evidence"}

NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|"
    r"\{glue:text\}`[^`]*`)"
)
WORDS = re.compile(
    rf"\b{NUMBER} (?:out )?of (?:the )?{NUMBER}\b|\ball of the {NUMBER}\b|±|\\pm\b|\bbeats?\b"
    r"|\b(?:wins?|won)\b|\bahead of\b|\bon average\b|\{glue:text\}`[^`]*`\s*(?:%|per cent)",
    re.IGNORECASE,
)
CONCLUDES = re.compile(
    r"^So\b|\b(?:so that|therefore|hence|thus|the causes?|tells|because|shows? that|is why)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<=[.!?:])\*{0,2}\s+(?=[A-Z*$`\[({])|\n\s*\n|\n(?=\s*[-*|#]\s)|\n(?=\d+\. )")


def chapters() -> list[str]:
    """The slugs of all chapters."""
    parts = (
        "foundations", "gaussian-processes", "fast", "inference", "decisions", "sequential",
        "games",
    )  # fmt: skip
    return sorted(
        path.relative_to(BOOK).with_suffix("").as_posix()
        for part in parts
        for path in (BOOK / part).glob("*.md")
    )


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page outside claims, code and displays, each with its line."""
    lines = text.splitlines()
    whole = "\n".join(prose.spoken(lines, list(markup.blocks(lines)), apart=APART))
    place = 0
    for piece in [*_ENDS.finditer(whole), None]:
        end = piece.start() if piece else len(whole)
        said = " ".join(whole[place:end].split())
        if said:
            lead = len(whole[place:end]) - len(whole[place:end].lstrip())
            yield whole.count("\n", 0, place + lead) + 1, said
        place = piece.end() if piece else end


def concluded(text: str) -> Iterator[tuple[int, str]]:
    """The sentences in the paragraph after each claim that conclude, each with its line."""
    lines = text.splitlines()
    after = []  # the lines of these paragraphs
    for fence, body in markup.blocks(lines):
        if fence.directive in ("claim", "claimed"):
            rest = range(fence.line + len(body) + 1, len(lines))
            first = next((at for at in rest if lines[at].strip()), len(lines))
            last = next((at for at in rest if at > first and not lines[at].strip()), len(lines))
            after.append(range(first + 1, last + 1))
    for line, said in sentences(text):
        if CONCLUDES.search(said) and any(line in paragraph for paragraph in after):
            yield line, said


def outside(slug: str) -> list[tuple[int, str]]:
    """The sentences of a chapter with a word of experiments, outside a claim, not settled."""
    text = (BOOK / f"{slug}.md").read_text(encoding="utf-8")
    found = ((line, said) for line, said in sentences(text) if WORDS.search(said))
    return _unsettled(slug, found)


def unsettled_conclusions(slug: str) -> list[tuple[int, str]]:
    """What a chapter concludes right after a claim, and nobody has settled."""
    return _unsettled(slug, concluded((BOOK / f"{slug}.md").read_text(encoding="utf-8")))


def _unsettled(slug: str, found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    begun = tuple(entry["begins"] for entry in settled().get(slug, []))
    return [(line, said) for line, said in found if not said.startswith(begun)]


def settled() -> dict[str, list[dict[str, str]]]:
    """What needs no experiment: by chapter the beginning of a sentence, its kind, and why."""
    return tomllib.loads(SETTLED.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for slug in sys.argv[1:] or chapters():
        for line, said in (*outside(slug), *unsettled_conclusions(slug)):
            print(f"{slug}.md:{line}: {said[:160]}")
