"""Laws that a text gives by a density, to which all else that it prints of them must fit.

Behind ``f(x; \\alpha) = \\dots`` a display ``\\mu = \\alpha`` is no mere definition: it says that
the integral of x against the density is ``\\alpha``. So the density must integrate to one, the
slope of the distribution function must be the density, and the quantile must undo it. Where the
density has an integral of one over the values that are printed, a failure is a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from checked_equations.latex.tokenizer import FONTS, word_set

from .defined_functions import Defined, with_functions
from .tried.token_patterns import (
    ORDERS,
    Pattern,
    Row,
    behind_symbol,
    function_head,
    is_letter,
    letters_of,
    occurrences,
    put_for,
    row_of,
    source,
    stretches,
    texts,
)

_DENSITIES = frozenset(["f", "p", "g", "h", "\\phi", "K", "\\varphi"])
_MOMENT = "DLQRSUVWY"  # letters for a function of ours
_NORMAL = (
    Defined("\\Phi", ("t",), r"\frac{1}{2} + \frac{1}{2} \operatorname{erf}(t / \sqrt{2})"),
    Defined("\\phi", ("t",), r"\frac{1}{\sqrt{2 \pi}} e^{-t^2 / 2}"),
)
_ENDS = {"(": ")", "[": "]"}
_BEYOND = ("0", "\\infty"), ("-\\infty", "\\infty"), ("0", "1")


@dataclass(frozen=True)
class Head:
    """``f(x; a, b) = body``: the name, its arguments, and the sides behind it."""

    name: str
    of: tuple[str, ...]
    sides: tuple[str, ...]
    tail: str = ""

    @property
    def letter(self) -> str:
        """The name without index and font."""
        return self.name.partition("_")[0]


@dataclass(frozen=True)
class Law:
    """A law as a text prints it: its density, its other functions, and the values of x."""

    density: str
    others: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement that must hold of a law, its conditions, and its meaning in words."""

    latex: str
    said: str = ""
    given: tuple[str, ...] = ()
    sure: bool = False  # whether a failure is worth a note, if this is a density
    density: str = ""


@lru_cache(maxsize=4096)
def head_of(latex: str) -> Head | None:
    """Return the head of a definition.

    >>> head_of(r"F\\left(x; a\\right) & = & 1 - e^{-a x}").of
    ('x', 'a')
    >>> head_of(r"\\mu_{2} = \\alpha").name
    '\\\\mu_2'
    """
    latex = _AT.put(latex, lambda match: f"p({match['key']})")
    row = [token for token in row_of(latex) if token.text != "&"]
    parts = stretches(row, ("=", "\\equiv"))
    if len(parts) < 2 or not all(parts):
        return None
    ends = [_without_end(part) for part in parts[1:]]
    sides = tuple(source(latex, part).strip(" .,;&") for part, _ in ends)
    tail = source(latex, ends[-1][1]) if ends[-1][1] else ""
    first = parts[0]
    name = "".join(texts(first))
    if (moment := _moment_called(first)) is None and (
        named := function_head((*first, *row_of("= 0")))
    ):
        return Head(named[0], named[1], sides, tail)
    return Head(moment or _PLAIN.get(name, name), (), sides, tail) if len(first) < 12 else None


_AT = Pattern("<head> ( <capital> = <letter:key> )", head=["P", "\\Pr"])
_PLAIN = {
    "\\mu_{2}": "\\mu_2", "\\sigma^{2}": "\\mu_2", "\\gamma_{1}": "\\gamma_1",
    "\\gamma_{2}": "\\gamma_2", "m_{n}": "m_n",
    **{f"\\mu'_{{{n}}}": f"\\mu'_{n}" for n in "n1234"},
}  # fmt: skip
_MOMENT_OF = Pattern("<opens> <capital> ?^ ?<group:power> <shuts>", opens="([", shuts=")]")
_CALLED = {"E": "\\mu", "Var": "\\mu_2", "V": "\\mu_2", "h": "h"}


def _moment_called(row: Row) -> str | None:
    """Return the name of ``\\mathbb E[X]``, ``\\text{Var}(X)``, ``E[X^2]``."""
    at = next((i for i, token in enumerate(row) if token.text in "(["), 0)
    word = "".join(texts(row[:at])).removeprefix("\\operatorname")
    for font in ("\\mathbb", "\\mathrm", "\\text"):
        word = word.removeprefix(font).strip("{}")
    found = _MOMENT_OF.at("", row, at) if word in _CALLED else None
    if found is None or found.end != len(row):
        return None
    power = "".join(texts(row[slice(*found.parts.get("power", (0, 0)))]))
    return _CALLED[word] if not power else f"\\mu'_{power}" if word == "E" else None


def _without_end(row: Row) -> tuple[Row, Row]:
    """Part a side from a condition behind a wide space or a comma outside brackets."""
    depth = 0
    for i, token in enumerate(row):
        depth += (token.text in ("(", "[", "{", "\\{")) - (token.text in (")", "]", "}", "\\}"))
        depth += token.text.startswith("\\begin{") - token.text.startswith("\\end{")
        apart = token.wide or token.text in (",", ";") or token.text.startswith("\\text{")
        behind = row[i + 1].text if i + 1 < len(row) else ""
        apart = apart or (is_letter(token.text) and behind in ORDERS | {"\\in"})
        if i and depth == 0 and apart:
            return row[:i], row[i:]
    return row, ()


@lru_cache(maxsize=4096)
def is_density(latex: str) -> bool:
    """Return whether a display may define a density by its form: ``f(x; a) = ...``."""
    head = head_of(latex)
    if head is None or not head.of or not _is_variable(head.of[0]):
        return False
    named = head.name.startswith(("\\text{", "\\mathrm{", "\\mathcal N", "\\textrm{"))
    known = head.letter in _DENSITIES or (named and _is_a_law(latex))
    return known and head.of[0] in texts(row_of(head.sides[-1]))


def _is_variable(key: str) -> bool:
    return is_letter(key) or key in ("\\theta", "\\lambda", "\\sigma", "\\tau", "\\omega")


def _is_a_law(latex: str) -> bool:
    """Return whether a bar stands behind the variable of a function with a long name."""
    row = row_of(latex)
    opened = next((i for i, token in enumerate(row) if token.text == "("), -1)
    return opened > 0 and "|" in texts(row[opened + 1 : opened + 3])


# What must hold


def claims_of(latex: str, law: Law | None, own: Law | None) -> Iterator[Claim]:
    """Yield the claims of a display about the `law` printed before it, or its `own` density."""
    head = head_of(latex)
    if head is None:
        return
    if own is not None and is_density(latex):
        for density in densities_of(own):
            if density.body not in ("", density.variable):
                yield density.is_one
    elif law is not None:
        for density in densities_of(law):
            for claim in _fitting(head, density, law):
                given = (*claim.given, *density.bounds)
                yield replace(claim, density=density.is_one.latex, given=given)


@dataclass(frozen=True)
class Density:
    """A density by its body, and the values that it is summed over."""

    name: str
    variable: str
    of: tuple[str, ...]
    body: str
    low: str
    high: str
    counts: bool = False
    printed: bool = True  # whether the text says where it is summed

    def integral(self, factor: str = "", high: str = "") -> str:
        """Return the integral or the sum of a factor times the density."""
        body, high = rf"{factor} \left({self.body}\right)", high or self.high
        if self.counts:
            return rf"\sum_{{{self.variable}={self.low}}}^{{{high}}} {body}"
        return rf"\int_{{{self.low}}}^{{{high}}} {body} \, d {self.variable}"

    @property
    def said(self) -> str:
        """Where it is summed, in words."""
        return f"{self.variable} from {self.low} to {self.high}"

    @property
    def bounds(self) -> tuple[str, ...]:
        """Return the condition under which it counts a value."""
        return (rf"{self.high} \ge 1",) if self.counts and is_letter(self.high) else ()

    @property
    def is_one(self) -> Claim:
        """Return the claim that it is a density."""
        word = "sum" if self.counts else "integral"
        latex = f"{self.integral()} = 1"
        said = f"as a density: its {word} over {self.said} is 1"
        whole = latex if self.printed else ""
        return Claim(latex, said, self.bounds, sure=self.printed, density=whole)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The letters that it depends on, but its variable and those of constants."""
        row = row_of(self.body + self.low + self.high)
        return tuple(one for one in self.of if occurrences(row, one))


def densities_of(law: Law) -> Iterator[Density]:
    """Yield the density over the values that are printed, and over some that are not."""
    head = head_of(law.density)
    if head is None:
        return
    key, of = head.of[0], head.of[1:]
    body, low, high = _cases(head.sides[-1], key) or (head.sides[-1], "", "")
    body = body if head.name == "\\phi" else _written(body)
    found = [(low, high, False)] if low else []
    for text in (head.tail, *law.values):
        found += [] if low else list(_values(text, key))
    found = list(dict.fromkeys(found))[:_MOST]
    printed = bool(found)
    if not found and key in "kn":
        found = [("0", "\\infty", True), ("1", "\\infty", True)]
    for ends in found or [(*ends, False) for ends in _BEYOND]:
        yield Density(head.name, key, of, body, *ends, printed)


_MOST = 3


def _cases(body: str, key: str) -> tuple[str, str, str] | None:
    """Return the one case that is not zero, and where its values end."""
    row = row_of(body)
    if not row or not row[0].text.startswith(("\\begin{cases", "\\left.", "\\{")):
        return None
    inside = [t for t in row if not t.text.startswith(("\\begin{", "\\end{"))]
    lines = [[t for t in one if t.text not in ("\\{", "\\left.")] for one in
             stretches(inside, ("\\\\",))]  # fmt: skip
    filled = [one for one in lines if one and texts(one)[0] != "0"]
    if len(filled) != 1:
        return None
    value, *said = [part for part in stretches(filled[0], ("&", ",")) if part]
    where = " ".join(source(body, part) for part in said)
    ends = next(_values(where, key), None)
    return (source(body, value), ends[0], ends[1]) if ends and not ends[2] else None


_DOTS = re.compile(r"\\[cl]?dots[bc]?")
_CHOOSES = re.compile(
    r"\\left\(\s*\\begin\{array\}\{c\}(?P<n>[^&\\]*)\\\\(?P<k>[^&\\]*)\\end\{array\}\s*\\right\)"
)


def _written(latex: str) -> str:
    """Return LaTeX with the standard normal law and binomial coefficients written out."""
    return with_functions(_CHOOSES.sub(r"\\binom{\g<n>}{\g<k>}", latex), _NORMAL)


def _values(text: str, key: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the ends of the values that a condition leaves to a variable, and if it counts.

    >>> list(_values(r"x \\in [0, 1]", "x")), list(_values(r"k = 0, 1, \\dots", "k"))
    ([('0', '1', False)], [('0', '\\\\infty', True)])
    """
    row = [t for t in row_of(text.replace("\\infinity", "\\infty")) if t.text not in "&"]
    row = [t for t in row if not t.text.startswith("\\text{")]
    while row and row[-1].text in ".,;":
        row.pop()
    while row and row[0].text in ",;":
        row.pop(0)
    words = texts(row)
    signs = [i for i, word in enumerate(words) if word in ("<", "\\le", ">", "\\ge")]
    if words[:3] == ["|", key, "|"] and len(words) > 4 and words[3] in ("<", "\\le"):
        end = source(text, row[4:])
        yield f"-{end}", end, False
    elif words[:2] == [key, "\\in"]:
        yield from _member(text, row[2:])
    elif words[:2] == [key, "="] and "\\dots" in words and words[2].isdigit():
        last = words[-1] if words[-1] != "\\dots" else "\\infty"
        yield words[2], last, True
    elif len(signs) == 1 and words[: signs[0]] == [key]:
        end, up = source(text, row[signs[0] + 1 :]), words[signs[0]] in (">", "\\ge")
        counts = key in "kn"
        yield (end, "\\infty", counts) if up else ("0" if counts else "-\\infty", end, counts)
    elif len(signs) == 2 and words[signs[0] + 1 : signs[1]] == [key]:
        low, high = source(text, row[: signs[0]]), source(text, row[signs[1] + 1 :])
        if words[signs[0]] in ("<", "\\le"):
            yield low, high, False


def _member(text: str, row: Row) -> Iterator[tuple[str, str, bool]]:
    words = texts(row)
    joined = "".join(words).replace("\\mathcal", "\\mathbb")
    for name, ends in _SETS:
        if joined == name:
            yield ends
    if not words or (words[0] not in _ENDS and words[0] != "\\{") or words[-1] not in ")]\\}":
        return
    parts = [source(text, part) for part in stretches(row[1:-1], (",",))]
    if words[0] == "\\{" and len(parts) > 1 and all(len(part) < 12 for part in parts):
        last = _DOTS.sub("", parts[-1]).strip() or "\\infty"
        yield parts[0], last, True
    elif len(parts) == 2 and words[0] != "\\{":
        yield parts[0], parts[1], False


_SETS = (
    ("\\mathbb{R}", ("-\\infty", "\\infty", False)), ("\\mathbb{R}^{+}", ("0", "\\infty", False)),
    ("\\mathbb{R}_{+}", ("0", "\\infty", False)), ("\\mathbb{N}", ("0", "\\infty", True)),
    ("\\mathbb{N}^{+}", ("1", "\\infty", True)), ("\\mathbb{R}^{\\ge0}", ("0", "\\infty", False)),
)  # fmt: skip


def _fitting(head: Head, density: Density, law: Law) -> Iterator[Claim]:
    """Yield the claims of a display about a density, by the name that it defines."""
    value = _written(head.sides[-1])
    text = f"{density.name}({density.variable})"
    functions = {one.letter: one for one in map(head_of, law.others) if one and one.of}
    if head.letter == "F" and head.of and density.counts:
        ours = Defined("F", (head.of[0],), value)
        claim = rf"F({density.variable}) - F({density.variable} - 1) = {density.body}"
        yield Claim(with_functions(claim, [ours]), f"its steps are {text}, as the text says")
    elif head.letter == "F" and head.of[:1] == (density.variable,):
        slope = rf"\frac{{d}}{{d {density.variable}}} \left({value}\right) = {density.body}"
        yield Claim(slope, f"its slope is {text}, as the text says", sure=True)
    elif head.letter == "G" and len(head.of) > 0 and "F" in functions:
        other = functions["F"]
        ours = Defined("F", (other.of[0],), _written(other.sides[-1]))
        undone = with_functions(rf"F({value}) = {head.of[0]}", [ours])
        given = (f"0 < {head.of[0]} < 1",)
        yield Claim(undone, "it undoes F, as the text gives it", given)
    elif head.letter == "M" and len(head.of) > 0:
        below = Defined("M", (head.of[0],), value)  # zero the mean of e^{t x} is finite
        value = with_functions("M(-u)", [below])
        integral = density.integral(rf"e^{{-u {density.variable}}}")
        near = "0.5" if density.low[:1].isdigit() else "0.2"
        yield from _moment(
            ("u", *density.parameters), value, integral, "M", (f"0 < u < {near}",), text
        )
    elif head.name == "m_n":
        yield Claim(
            f"{density.integral(high=value)} = \\frac{{1}}{{2}}",
            f"half of {text} lies below it, as the text says",
        )
    elif head.name in _MOMENTS and not head.of:
        formula = _MOMENTS[head.name](density)
        index = ("n",) if head.name == "\\mu'_n" else ()
        keys = (*index, *density.parameters)
        yield from _moment(keys, value, formula, head.name, (), text)


def _moment(
    keys: Sequence[str], value: str, formula: str, name: str, given: tuple[str, ...], text: str
) -> Iterator[Claim]:
    """Yield the claim that a printed value is that of a formula, which is no part of it."""
    if name == "h" and "\\gamma" not in keys and "\\gamma" in value:
        value = put_for(value, "\\gamma", _EULER, unless="_(")
    used = set(letters_of(row_of(value + formula)))
    letters = (one for one in _MOMENT if one not in used and one not in keys)
    ours = next(letters, "") if "'" in name or occurrences(row_of(value), name) else name
    said = f"{_NAMED.get(name, 'a moment')} of {text}, as the text gives it"
    plain = len(row_of(value)) < _SHORT  # in which no slip would be noticed
    if not keys or plain:
        yield Claim(f"{formula} = {value}", said, given, sure=not used)
    elif ours:
        call = f"{ours}({', '.join(keys)})"
        known = set(keys) | _CONSTANTS
        sure = all(one in known for one in _symbols(value))
        yield Claim(f"{call} = {value}", said, (f"{call} = {formula}", *given), sure)


_SHORT = 4
_EULER = "0.57721566490153286"
_CONSTANTS = frozenset(["e", "\\pi", "\\Gamma", "\\infty"])


def _symbols(latex: str) -> Iterator[str]:
    row = row_of(latex)
    for i, token in enumerate(row):
        text = token.text
        end = behind_symbol(row, i)
        if end > i and (is_letter(text) or text in _GREEK or text in FONTS):
            yield text
        if text == "_":
            yield "_"


_GREEK = word_set(
    r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \kappa \lambda \mu \nu \xi \rho \sigma "
    r"\tau \phi \chi \psi \omega \Psi \Phi \Omega"
)


Formula = Callable[[Density], str]


def _raw(n: int | str) -> Formula:
    return lambda d: d.integral(f"{d.variable}^{{{n}}}")


def _central(n: int) -> Formula:
    def of(d: Density) -> str:
        one, two, three, four = (f"\\left({_raw(k)(d)}\\right)" for k in range(1, 5))
        second = rf"\left({two} - {one}^2\right)"
        if n == 2:
            return f"{two} - {one}^2"
        if n == 3:
            return rf"\frac{{{three} - 3 {one} {two} + 2 {one}^3}}{{{second}^{{3/2}}}}"
        above = f"{four} - 4 {one} {three} + 6 {one}^2 {two} - 3 {one}^4"
        return rf"\frac{{{above}}}{{{second}^2}} - 3"

    return of


def _entropy(d: Density) -> str:
    return "-" + d.integral(rf"\log\left({d.body}\right)")


_MOMENTS = {
    "\\mu": _raw(1), "\\mu_2": _central(2), "\\gamma_1": _central(3), "\\gamma_2": _central(4),
    "h": _entropy, **{f"\\mu'_{n}": _raw(n) for n in "n1234"},
}  # fmt: skip
_NAMED = {
    "\\mu": "the mean", "\\mu_2": "the variance", "\\gamma_1": "the skewness",
    "\\gamma_2": "the excess kurtosis", "h": "the entropy", "M": "the moment generating function",
}  # fmt: skip
