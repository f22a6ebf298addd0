"""Declarations of symbols in a paper, without Python: ``let A be orthogonal n×n``.

A declaration stands in a comment (``% let …`` in LaTeX and MyST, ``<!-- let … -->`` in Markdown),
in the settings (``let = ["…"]``) or on the command line. Its clauses are parted by semicolons:

- ``A, B be positive definite n×n``, ``x be a vector of length n``, ``n be whole``;
- ``x in R^n``, ``A in R^{m×n}``, ``n in N``, ``p in (0, 1)``;
- ``λ > 0``, or any other condition that can be printed;
- ``f(x) = \\exp(-x^2)``, a function;
- ``K_y = K + σ^2 I``, the meaning of a symbol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from .statements import stated_in
from .tried import kinds
from .tried.kinds import Kind, Size
from .tried.token_patterns import CAPITALS, row_of, texts

_LET = re.compile(r"^\s*[Ll]et\s+(?P<clauses>\S.*)$", re.DOTALL)
_SPEAKS = re.compile(r"\s(?:be|is|are|in)\s|[=<>≤≥≠∈]|\\(?:in|le|ge|leq|geq|ne|neq)(?![A-Za-z])")
_BE = re.compile(r"^(?P<names>.+?)\s+(?:be|is|are)\s+(?P<kind>.+)$", re.DOTALL)
_IN = re.compile(r"^(?P<names>.+?)\s*(?:\\in(?![A-Za-z])|∈|\s(?:in)\s)\s*(?P<set>.+)$", re.DOTALL)
_FUNCTION = re.compile(
    r"^(?P<name>\\?[A-Za-z]+(?:_\w|_\{[^{}]*\})?)\s*\(\s*(?P<argument>\\?[A-Za-z]+)\s*\)\s*=(?P<is>.+)$",
    re.DOTALL,
)
_LISTED = re.compile(r"^\\?[A-Za-z]+\s*=\s*-?\d+\s*,.*\\[lc]?dots")
_EQUALS = re.compile(r"^(?P<name>[^=<>]+?)\s*:?=\s*(?P<is>[^=<>]+)$", re.DOTALL)
_SPACE = re.compile(
    r"^(?:\\mathbb\s*\{?|\\)?(?P<of>[RCNZ])\}?\s*(?:\^\s*\{?(?P<size>.+?)\}?)?(?P<plus>_\+|_\{\+\}|\+)?$"
)
_TOGETHER = re.compile(
    r"^(?P<names>[^<>]+?,[^<>]+?)\s*(?P<rest>(?:[<>]|\\(?:le|ge|leq|geq|ne|neq)(?![A-Za-z])).+)$"
)
_APART = r"(?:[,;]|\\q?quad(?![A-Za-z])|\\forall(?![A-Za-z])|\\text\s*\{[a-z ]*\}|\\[ ;])"
_NAME = (
    r"(?!\\q?quad)(?:\\(?:mathbf|boldsymbol)\s*)?(?:\\?[A-Za-z]+|\{\\?[A-Za-z]+\})(?:_\w|_\{\w+\})?"
)
_SIZED = re.compile(  # `x, y \in \mathbb R^n` behind a claim
    rf"^(?P<claim>.+?)\s*{_APART}(?:{_APART}|\s)*(?P<names>{_NAME}(?:\s*,\s*{_NAME})*)\s*\\in\s*"
    r"(?P<set>\\mathbb\s*\{?R\}?\s*\^[^,;]+?)[.,;\s]*$",
    re.DOTALL,
)
_INTERVAL = re.compile(r"^(?P<left>[(\[])(?P<low>[^,]+),(?P<high>[^,]+)(?P<right>[)\]])$")
_TIMES = re.compile(r"\s*(?:×|\\times(?![A-Za-z]))\s*|\s+x\s+|(?<=^\w)x(?=\w$)")
_WORDS = {
    "λ": "\\lambda ", "σ": "\\sigma ", "θ": "\\theta ", "μ": "\\mu ", "α": "\\alpha ",
    "β": "\\beta ", "γ": "\\gamma ", "δ": "\\delta ", "ε": "\\epsilon ", "η": "\\eta ",
    "κ": "\\kappa ", "ν": "\\nu ", "ξ": "\\xi ", "π": "\\pi ", "ρ": "\\rho ", "τ": "\\tau ",
    "φ": "\\phi ", "ψ": "\\psi ", "ω": "\\omega ", "ζ": "\\zeta ", "χ": "\\chi ",
    "Σ": "\\Sigma ", "Λ": "\\Lambda ", "Ω": "\\Omega ", "Φ": "\\Phi ", "Ψ": "\\Psi ",
    "Γ": "\\Gamma ", "Δ": "\\Delta ", "Θ": "\\Theta ",
    "≤": "\\le ", "≥": "\\ge ", "≠": "\\ne ", "∞": "\\infty ",
    "ℝ": "\\mathbb R", "ℂ": "\\mathbb C", "ℕ": "\\mathbb N", "ℤ": "\\mathbb Z",
    "²": "^2", "³": "^3", "ᵀ": "^\\top ", "⁻¹": "^{-1}", "₊": "_+",
}  # fmt: skip

# Words behind "be", the most telling first, and the kind that they mean with their sizes.
_SQUARE: Mapping[str, Callable[[Size], Kind]] = {
    "definite": kinds.spd, "spd": kinds.spd, "orthogonal": kinds.orthogonal,
    "symmetric": kinds.symmetric, "identity": kinds.identity,
    "square": lambda n: kinds.matrix(n, n),
}  # fmt: skip
_PROPERTIES: Mapping[str, Callable[[Size], Kind]] = {
    "@^\\top=@": kinds.symmetric, "@=@^\\top": kinds.symmetric, "@^2=@": kinds.idempotent,
    "@^\\top=-@": kinds.antisymmetric, "@=-@^\\top": kinds.antisymmetric,
    "@^\\top@=I": kinds.orthogonal, "@@^\\top=I": kinds.orthogonal,
    "@^-1=@^\\top": kinds.orthogonal, "@^\\top=@^-1": kinds.orthogonal,
    "@#=#@": kinds.commuting,
}  # fmt: skip
_LONG: Mapping[str, Callable[[Size], Kind]] = {
    "probability": kinds.probabilities, "vector": kinds.vector, "column": kinds.vector,
}  # fmt: skip
_SCALAR = {
    "complex": kinds.complex_, "whole": kinds.whole, "integer": kinds.whole,
    "natural": kinds.natural, "positive": kinds.positive, "real": kinds.real,
}  # fmt: skip
_MEANS_LITTLE = frozenset(
    ["a", "an", "the", "number", "matrix", "with", "of", "length", "size", "order", "and"]
)
_PLURALS = {"matrices": "matrix", "probabilities": "probability", "invertible": "square"}
_SIZE = r"(?:\d+|\{?(?:\\[A-Za-z]+|[A-Za-z])(?:_\w|_\{\w+\})?\}?)"
_ONE_SIZE = re.compile(_SIZE)
_BY = re.compile(
    rf"(?<![\w\\])({_SIZE})(?:\s*(?:×|\\times(?![A-Za-z]))\s*|\s+x\s+|x(?=\w\b))({_SIZE})"
)


_HOW = "write `symmetric n×n`, `a vector of length n`, `positive`; the words are " + ", ".join(
    [*_SQUARE, *_LONG, *_SCALAR]
)


class DeclarationError(ValueError):
    """A clause that cannot be read."""


@dataclass(frozen=True)
class Declared:
    """The kinds, conditions and definitions of symbols."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    stands_for: Mapping[str, str] = field(default_factory=dict)

    def and_then(self, newer: Declared) -> Declared:
        """Return both, with those of `newer` where they declare the same symbol."""
        conditions = tuple(dict.fromkeys([*self.conditions, *newer.conditions]))
        old = {key: latex for key, latex in self.stands_for.items() if key not in newer.kinds}
        return Declared({**self.kinds, **newer.kinds}, conditions, {**old, **newer.stands_for})


def declared_in(comment: str) -> Declared | None:
    """Return the declarations of a comment, or None for another comment.

    Raises `DeclarationError` for a clause that cannot be read.

    >>> declared_in("let A be spd n×n; λ > 0").conditions
    ('\\\\lambda > 0',)
    >>> declared_in("let it go") is None
    True
    """
    match = _LET.match(comment)
    speaks = match and _SPEAKS.search(match["clauses"])
    return declared(match["clauses"]) if match and speaks else None


def declared(clauses: str) -> Declared:
    """Return the declarations of clauses, without the word "let"."""
    found = Declared()
    for clause in _parted(clauses, ";"):
        found = found.and_then(_clause(_latex(clause)))
    return found


def declared_all(texts: Iterable[str]) -> Declared:
    """Join several declarations, with or without the word "let"."""
    found = Declared()
    for text in texts:
        match = _LET.match(text)
        found = found.and_then(declared(match["clauses"] if match else text))
    return found


def with_properties(latex: str) -> tuple[str, Declared]:
    """Return a display without the properties and sizes of arrays behind it, and these declared.

    >>> found, known = with_properties(r"x^\\top A x = 0, \\quad A^\\top = -A")
    >>> print(found, "where A is", known.kinds["A"])
    x^\\top A x = 0 where A is antisymmetric n × n
    """
    claims, told = list[str](), dict[str, Kind]()
    while match := _SIZED.match(latex):
        try:
            told |= _in(latex, match).kinds
        except DeclarationError:
            break
        latex = match["claim"]
    every = stated_in(latex)
    defined = {one.sides[0] for one in every if one.defines}
    for one in every:
        row = [text for text in texts(row_of(one.latex)) if text not in "{}.,;"]
        keys = list(dict.fromkeys(text for text in row if text in CAPITALS - {"I", "T"}))
        signs = {**dict(zip(keys, "@#", strict=False)), "T": "\\top"}
        kind = _PROPERTIES.get("".join(signs.get(text, text) for text in row))
        if kind is None or not defined.isdisjoint(keys):
            claims.append(one.latex)
        elif not claims:
            return latex, Declared(told)
        else:
            told |= dict.fromkeys(keys, kind("n"))
    return (", \\quad ".join(claims) if told else latex), Declared(told)


def _latex(clause: str) -> str:
    for sign, latex in _WORDS.items():
        clause = clause.replace(sign, latex)
    return re.sub(r" (?=[\s,;)_^}]|$)", "", clause.replace("$", "").strip().rstrip("."))


def _parted(text: str, sign: str) -> list[str]:
    """`text` parted at a sign that stands in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _clause(clause: str) -> Declared:
    for form, read in _FORMS:
        if match := form.match(clause):
            return read(clause, match)
    if re.search(r"[<>]|\\(?:le|ge|leq|geq|ne|neq|in)(?![A-Za-z])", clause):
        return Declared(conditions=_each(clause))
    raise DeclarationError(f"`{clause}` declares nothing: write `A be symmetric n×n` or `x > 0`")


def _each(clause: str) -> tuple[str, ...]:
    """Split ``a, b > 0`` into the two conditions that it means."""
    together = _TOGETHER.match(clause)
    if together is None:
        return (clause,)
    return tuple(f"{name} {together['rest']}" for name in _names(together["names"]))


def _names(text: str) -> list[str]:
    parts = [part for each in re.split(r"\s+and\s+", text) for part in _parted(each, ",")]
    if any(" " in re.sub(r"\\[A-Za-z]+\s+(?=\w)", "", part) for part in parts):
        raise DeclarationError(f"`{text}` must be symbols with commas between them")
    return parts


def _be(clause: str, match: re.Match[str]) -> Declared:
    return _of_names(match["names"], _kind(" ".join(match["kind"].split())))


def _of_names(names: str, kind: Kind) -> Declared:
    return Declared(dict.fromkeys(_names(names), kind))


def _kind(said: str) -> Kind:
    """The kind that words and sizes mean.

    >>> str(_kind("a real m × n matrix")), str(_kind("SPD n")), str(_kind("vectors of length n"))
    ('matrix m × n', 'positive definite n × n', 'vector n')
    """
    sizes: list[Size] = []
    if by := _BY.search(said):
        sizes, said = [_size(by[1]), _size(by[2])], said[: by.start()] + said[by.end() :]
    words = set()
    for word in said.split():
        low = _PLURALS.get(word.lower(), word.lower().removesuffix("s"))
        if low in {*_SQUARE, *_LONG, *_SCALAR, *_MEANS_LITTLE} and word not in ("n", "N"):
            words.add(low)
        else:
            sizes.append(_size(word))
    return _meant(words - _MEANS_LITTLE, "matrix" in words, sizes, said)


def _meant(words: set[str], matrix: bool, sizes: list[Size], said: str) -> Kind:
    for square in (word for word in _SQUARE if word in words):
        if len(sizes) == 1 or (len(sizes) == 2 and sizes[0] == sizes[1]):
            return _SQUARE[square](sizes[0])
    long = next((word for word in _LONG if word in words), "vector")
    if len(sizes) == 1 and not words & {*_SQUARE, "complex"} and not matrix:
        return _LONG[long](sizes[0])
    if len(sizes) == 2 and not words - {"real"}:
        return kinds.matrix(*sizes)
    known = next((word for word in _SCALAR if word in words), "")
    if known and not sizes and not matrix and not words & {*_SQUARE, *_LONG}:
        return _SCALAR[known]
    raise DeclarationError(f"`{said.strip()}` is no kind: {_HOW}")


def _size(text: str) -> Size:
    bare = text.strip("{}(),. ")
    if not _ONE_SIZE.fullmatch(bare):
        raise DeclarationError(f"`{bare}` is no kind and no size: {_HOW}")
    return int(bare) if bare.isdigit() else bare


def _sizes(text: str) -> list[Size]:
    return [_size(part) for part in _TIMES.split(text) if part.strip()]


def _in(clause: str, match: re.Match[str]) -> Declared:
    within = match["set"].strip()
    if interval := _INTERVAL.match(within):
        low, high = interval["low"].strip(), interval["high"].strip()
        first = "<" if interval["left"] == "(" else "\\le"
        last = "<" if interval["right"] == ")" else "\\le"
        bounds = [
            f"{name} {sign} {end}"
            for name in _names(match["names"])
            for end, sign in ((low, _TURNED[first]), (high, last))
            if "\\infty" not in end
        ]
        return Declared(dict.fromkeys(_names(match["names"]), kinds.real), tuple(bounds))
    space = _SPACE.match(within)
    if space is None:
        raise DeclarationError(
            f"`{within}` is no set that is known: R, C, N, Z, R^n, R^{{m×n}}, (a, b)"
        )
    sizes = _sizes(space["size"] or "")
    kind = {"R": kinds.real, "C": kinds.complex_, "N": kinds.natural, "Z": kinds.whole}[space["of"]]
    if space["plus"]:
        kind = kinds.positive
    if sizes and space["of"] != "R":
        raise DeclarationError(f"`{within}`: arrays are of real numbers")
    if sizes:
        kind = kinds.vector(*sizes) if len(sizes) == 1 else kinds.matrix(*sizes)
    return _of_names(match["names"], kind)


_TURNED = {"<": ">", "\\le": "\\ge"}


def _function(clause: str, match: re.Match[str]) -> Declared:
    kind = kinds.function(match["is"].strip(), match["argument"])
    return Declared({match["name"]: kind})


def _listed(clause: str, match: re.Match[str]) -> Declared:
    return Declared(conditions=(clause,))


def _equals(clause: str, match: re.Match[str]) -> Declared:
    return Declared(stands_for={match["name"].strip(): match["is"].strip()})


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], Declared]], ...] = (
    (_FUNCTION, _function), (_BE, _be), (_LISTED, _listed), (_IN, _in), (_EQUALS, _equals),
)  # fmt: skip


def without(declared: Declared, names: Iterable[str]) -> Declared:
    """Return `declared` without its declarations of some names."""
    gone = set(names)
    kept = {key: kind for key, kind in declared.kinds.items() if key not in gone}
    meant = {key: latex for key, latex in declared.stands_for.items() if key not in gone}
    return replace(declared, kinds=kept, stands_for=meant)
