"""Numbers and units as siunitx takes them, in plain LaTeX.

A unit becomes a product of base units, each of them a symbol: so ``\\SI{1}{km} = \\SI{1000}{m}``
holds, and a sum of metres and seconds equals nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from checked_equations.errors import EquationError

# The base units with a number for each, such that no two products of their powers are equal.
BASE = {
    r"\mathsf{m}": "7.3", r"\mathsf{kg}": "0.061", r"\mathsf{s}": "431", r"\mathsf{A}": "2900",
    r"\mathsf{K}": "0.0017", r"\mathsf{mol}": "83000", r"\mathsf{cd}": "19",
}  # fmt: skip
IN_UNITS = re.compile(r" \\cdot \\mathsf\{[A-Za-z]+\}(?:\^\{-?\d+\})?")
_SPACE = re.compile(r"\s|~|\\[,;:! ]|[{}]")
_NUMBER = re.compile(r"\+?(-?)(?=[\d.e])(\d*(?:\.\d*)?)(?:e([+-]?\d+))?", re.IGNORECASE)
_COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
_APART = re.compile(r"[\s.~{}]+|\\[,;:!> ]")
_UNIT = re.compile(
    r" ?(/|per |) ?(square |cubic |)(?!squared|cubed)([A-Za-zµ°%Ω]+) ?(?:\^ ?(-?\d+))?"
    r"(squared|cubed|) ?"
)
_WORDS = {"cdot": " ", "mathrm": " ", "text": " ", "tothe": "^"}
_POWERS = {"square ": 2, "cubic ": 3, "squared": 2, "cubed": 3, "": 1}


def number(text: str) -> str:
    """Return a number as LaTeX."""
    match = _NUMBER.fullmatch(_SPACE.sub("", text).replace(",", ".").replace("d", "e"))
    if match is None or match[2] == ".":
        raise EquationError(f"`{text}` is no plain number", text, (0, len(text)))
    digits = (f"0{match[2]}" if match[2][:1] == "." else match[2] or "1").rstrip(".")
    power = rf" \cdot 10^{{{int(match[3])}}}" if match[3] else ""
    return rf"\left({match[1]}{digits}{power}\right)" if match[1] or power else digits


def unit(text: str) -> str:
    """Return a unit as a product of base units with their powers, behind a dot.

    >>> unit(r"\\kilo\\metre\\per\\second")
    '\\\\cdot 10^{3} \\\\cdot \\\\mathsf{m} \\\\cdot \\\\mathsf{s}^{-1}'
    """
    return " ".join(rf"\cdot {one}" for one in _factors(text))


@cache
def _table(name: str) -> Mapping[str, Any]:
    return {word: row for words, row in data("units.toml")[name].items() for word in words.split()}


def data(file: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of a TOML file in this folder."""
    return tomllib.loads((resources.files(__package__) / file).read_text("utf-8"))


def _factors(text: str) -> Iterator[str]:
    """Yield the factors of a unit in base units; commands are words, before which prefixes go."""
    signs = {**_WORDS, **{word: word for word in _table("prefixes")}}
    plain = _COMMAND.sub(lambda one: signs.get(one[1], f"{one[1]} "), text.replace("\\%", "%"))
    plain, at = _APART.sub(" ", plain).strip(), 0
    while at < len(plain):
        match, slash = _UNIT.match(plain, at), plain.find("/")
        if match is None or plain.count("/") > 1 or (0 <= slash < at and match[1] != "/"):
            raise EquationError(f"the unit `{text}` is not read", text, (0, len(text)))
        at = match.end()
        power = _POWERS[match[2]] * _POWERS[match[5]] * int(match[4] or 1)
        yield from _in_base(match[3], -power if match[1] else power)


def _in_base(word: str, power: int) -> Iterator[str]:
    """Yield the factors of one unit, first that of its prefix."""
    units, scales = _table("units"), _table("prefixes")
    said = units.get(word, _table("alone").get(word))
    if said is None:
        known = (one for one in scales if word.startswith(one) and word[len(one) :] in units)
        if not (prefix := next(known, "")):
            raise EquationError(f"the unit `{word}` is not read", word, (0, len(word)))
        yield f"10^{{{scales[prefix] * power}}}"
        said = units[word[len(prefix) :]]
    for factor in said.split():
        key, _, own = factor.partition("^")
        bare = rf"\mathsf{{{key}}}" if rf"\mathsf{{{key}}}" in BASE else key
        raised = int(own.strip("{}") or 1) * power
        yield bare if raised == 1 else f"{bare}^{{{raised}}}"
