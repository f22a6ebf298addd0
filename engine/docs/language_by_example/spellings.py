"""What may be written in several ways, and what of the writing changes nothing.

The rows are made from the tables of the tokenizer, so that a spelling that it learns has its row.
"""

from __future__ import annotations

from dataclasses import dataclass

from checked_equations.latex import tokenizer

__all__ = ["SPELLINGS", "Spelling"]


@dataclass(frozen=True)
class Spelling:
    """LaTeX that is written in one way and read as if it were written in another."""

    written: str
    read: str


# What takes arguments, or stands around something, in an example of its own.
_WHOLE = (
    Spelling(r"{a \over b}", r"\frac{a}{b}"),
    Spelling(r"\genfrac{(}{)}{0pt}{}{n}{k}", r"\binom{n}{k}"),
    Spelling(r"\genfrac{}{}{}{}{a}{b}", r"\frac{a}{b}"),
    Spelling(r"{n \choose k}", r"\binom{n}{k}"),
    Spelling(r"\underset{i}{\max} \, x_i", r"\max_i x_i"),
    Spelling(r"\arg\max_i x_i", r"\operatorname*{arg\,max}_i x_i"),
    Spelling(r"\sum_{\substack{i=1 \\ i \ne 2}} x_i", r"\sum_{i=1, i \ne 2} x_i"),
    Spelling(r"a \overset{\text{def}}{=} b", "a := b"),
    Spelling(r"a \stackrel{\Delta}{=} b", "a := b"),
    Spelling(r"a \overset{(1)}{=} b", "a = b"),
    Spelling(r"x^{\prime}", "x'"),
    Spelling(r"\sigma^2_n", r"\sigma_n^2"),
)
_NOTES = (Spelling("a~b", "a b"), Spelling("a % not c\nb", "a b"))
_PAIRED = {"open": r"{}( a )", "close": r"( a {})", "middle": r"a {}| b", "": r"{}( a )"}


def _same(word: str) -> Spelling:
    arguments = "".join(f"{{{letter}}}" for letter in "ab"[: _arguments(tokenizer.SAME[word])])
    return Spelling(word + arguments, tokenizer.SAME[word] + arguments)


def _arguments(word: str) -> int:
    return tokenizer.ARGUMENTS.get(word, 0)


def _delimiter(word: str) -> Spelling:
    return Spelling(word, tokenizer.DELIMITERS[word][0])


def _side(word: str) -> Spelling:
    form = _PAIRED[tokenizer.SIDES[word]]
    return Spelling(form.format(word), form.format(""))


_GIVEN = {r"\color": "red", r"\textcolor": "red", r"\label": "eq-a", r"\tag": "1"}
_GIVEN |= {r"\hspace": "1em", r"\vspace": "1em", r"\mspace": "9mu"}


def _dropped(word: str) -> Spelling:
    return Spelling(f"a {word}{{{_GIVEN.get(word, 'c')}}} b", "a b")


def _shell(word: str) -> Spelling:
    label = {r"\underbrace": r"_{\text{as above}}", r"\overbrace": r"^{\text{as above}}"}
    return Spelling(f"{word}{{a}}{label.get(word, '')}", "a")


def _font(word: str) -> Spelling:
    return Spelling(f"{word}{{x}}", f"{word} x")


SPELLINGS: dict[str, tuple[Spelling, ...]] = {
    "Other spellings": (
        *map(_same, sorted(tokenizer.SAME)),
        *map(_delimiter, sorted(tokenizer.DELIMITERS)),
        *_WHOLE,
    ),
    "What changes nothing": (
        *(Spelling(f"a {word} b", "a b") for word in sorted(tokenizer.LAYOUT) if word != "\\\n"),
        *map(_side, sorted(tokenizer.SIDES)),
        *map(_dropped, sorted(tokenizer.DROPPED)),
        *map(_shell, sorted(tokenizer.SHELLS)),
        *_NOTES,
    ),
    "Fonts and accents": tuple(map(_font, sorted(tokenizer.FONTS))),
}
