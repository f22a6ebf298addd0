"""Why an equation that fails on drawn numbers is not accused: it may mean something else.

A letter before brackets may be a function, ``\\mathrm d`` a differential, a word an operation of
the text. Where symbols are declared there is no such doubt. What is left is told as a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from .mends import Mend
from .tried import Tried
from .tried.kinds import Kind

_ARROW = re.compile(r"\\(?:long)?mapsto(?![A-Za-z])|\\(?:long)?(?:to|rightarrow)(?![A-Za-z])")
_SCRIPT = re.compile(r"[_^]\s*\{[^{}]*\}")
_OPEN = r"\s*(?:\^\s*(?:\{[^{}]*\}|\\?\w+))?\s*'*\s*(?:\\left|\\[bB]igg?l?)?\s*(?:\(|\[|\\\{)"
_ARGUMENT = re.compile(r"[^()\[\]]*")
_FACTOR = re.compile(
    r"^(?:[a-ceik-uv-z]|\\(?:alpha|beta|epsilon|varepsilon|eta|kappa|lambda|nu|omega|sigma|tau|theta))"
    r"(?:_.*)?$"
)
_ARRAY = re.compile(r"\^\s*\{\s*-1\s*\}|\\top|(?<![A-Za-z\\])I(?![A-Za-z])")
_APPLIED = re.compile(r"\)\s*(?:\\left)?\(\s*(?:\\?[A-Za-z]+|\\mathbf\s*\{?\w\}?)\s*(?:\\right)?\)")
_LETTER = re.compile(
    r"^(?:\\(?:mathbf|boldsymbol|bm|vec|hat|tilde|bar|dot|ddot|widehat|widetilde|overline|mathsf)"
    r"\s*\{?\s*)*(?:[A-Za-z]|\\(?:[Gg]amma|[Dd]elta|[Tt]heta|[Ll]ambda|[Xx]i|[Pp]i|[Ss]igma"
    r"|[Uu]psilon|[Pp]hi|[Pp]si|[Oo]mega|alpha|beta|zeta|eta|kappa|mu|nu|rho|tau|chi|iota|epsilon"
    r"|varepsilon|vartheta|varphi|varrho|varsigma|ell))\}*'*(?:[_^].*)?$"
)
_COUNTED = r"[\s&{}]*[-+]?\s*[\d.]+(?:[\s&{}]*(?:[-+]|\\times|\\cdot)[\s&{}]*[\d.]+)*[\s&{}]*"
_MEMBER = re.compile(r"_\{[^{}]*[A-Za-z][^{}]*[+-]|_\{[^{}]*[+-]\s*[A-Za-z]")
_NUMBERS = re.compile(rf"^{_COUNTED}(?:=|\\equiv){_COUNTED}[\s.,;]*$")
_BOLD = re.compile(r"^\\(?:mathbf|boldsymbol|bm|vec)(?![A-Za-z])")
_DECIMAL = re.compile(r"\d\.\d")
_NEAR = 1e-2


def arrow_in(latex: str) -> bool:
    """Whether an arrow stands in the line, and not below a limit: that is no claim of equality.

    >>> arrow_in(r"x \\\\mapsto x^2"), arrow_in(r"\\\\lim_{x \\\\to 0} x = 0")
    (True, False)
    """
    return _ARROW.search(_SCRIPT.sub("", latex)) is not None


def doubt(latex: str, tried: Tried, declared: Mapping[str, Kind]) -> str:
    """Why `tried`, which fails, accuses nobody; nothing where it does.

    `latex` is without commands of the paper.
    """
    drawn = [key for key in tried.drawn if key not in declared]
    if not drawn and tried.drawn:
        return ""
    if why := more_than_numbers(tried, declared):
        return why
    loose = next((key for key in drawn if not _on_every_side(key, latex)), "")
    if loose:
        return f"a relation that the text must explain: {loose} on one side only"
    if _NUMBERS.match(latex):
        return "two numbers: what a text derives or contradicts, or counts modulo a third"
    member = next((key for key in drawn if _MEMBER.search(key)), "")
    if member:
        return f"`{member}` is a member of a sequence, which may be related to the others"
    function = next(_functions(latex, drawn), "")
    if function:
        return f"`{function}` may be a function: declare what it is"
    if _APPLIED.search(latex):
        return "what stands before brackets may be a function"
    if _DECIMAL.search(latex) and (tried.residual or 1.0) < _NEAR:
        return "a number is printed with so many digits: state it with \\approx"
    if drawn and tried.mend is not None and not mended_for_good(tried):
        return "it holds on no numbers that were drawn, and no single edit would mend it"
    return ""


def more_than_numbers(tried: Tried, declared: Mapping[str, Kind]) -> str:
    """Why numbers drawn for a symbol say nothing, neither for nor against what is printed.

    >>> from checked_papers.tried.kinds import real
    >>> more_than_numbers(Tried("holds", drawn={r"\\mathbf a": real}), {})
    '`\\\\mathbf a` is printed as an array: declare what it is'
    """
    numbers = [key for key, kind in tried.drawn.items() if key not in declared and not kind.shape]
    bold = next(filter(_BOLD.match, numbers), "")
    if bold:
        return f"`{bold}` is printed as an array: declare what it is"
    strange = next((key for key in numbers if not _LETTER.match(key)), "")
    return f"`{strange}` may be more than a number: declare what it is" if strange else ""


def _on_every_side(key: str, latex: str) -> bool:
    """Whether a symbol stands on each side: what asks for it, as ``p(x) = 0``, is no slip."""
    sides = _RELATION.split(_BARE.sub("", _INDEX.sub("", latex)))
    return all(_BARE.sub("", key) in side for side in sides)


_INDEX = re.compile(r"_\s*\{[^{}]*(?:[=<>]|\\(?:le|ge|leq|geq)(?![A-Za-z]))[^{}]*\}")
_BARE = re.compile(r"[\s{}]")
_RELATION = re.compile(r"[=<>]|\\(?:le|ge|leq|geq|approx|sim|equiv)(?![A-Za-z])")


def mended_for_good(tried: Tried) -> bool:
    """Whether a single edit mends it, and then it says something."""
    return tried.mend is not None and not all(map(_says_nothing, tried.mend.found))


def _says_nothing(mend: Mend) -> bool:
    """Whether the mended step has powers of one symbol on both sides, or one side twice.

    ``P^2 = P P`` mends ``P^2 = P``, which says what P is, and is no slip; ``x y = y x`` mends
    ``x y = -y x``, which says that x and y anticommute. The sign between terms is left aside:
    ``\\|x + y\\| = \\|x + y\\|`` mends what says that x and y are orthogonal.
    """
    sides = [_UNARY.sub(r"\1 ", side) for side in mend.step.split("=")]
    if len(sides) != 2:
        return False
    letters = [set(_POWER.sub("", side)) for side in sides]
    alike = [list(_tokens(side)) for side in sides]
    twice = alike[0] == alike[1]
    commuted = sorted(alike[0]) == sorted(alike[1]) and "+" not in alike[0]
    return twice or commuted or (letters[0] == letters[1] and len(letters[0]) == 1)


def _tokens(side: str) -> Iterator[str]:
    """What a side is made of, a square as its factor twice, without brackets."""
    for match in _TOKEN.finditer(side):
        sign = "+" if match["token"] == "-" else match["token"]
        yield from [sign] * int(match["power"] or 1)


_UNARY = re.compile(r"(^|[({]|\\l[vV]ert)\s*-")
_TOKEN = re.compile(r"(?P<token>\\[A-Za-z]+|[^\s(){}\\,])(?:\s*\^\s*\{?(?P<power>[2-9])\}?(?!\d))?")
_POWER = re.compile(r"\^\{?\d+\}?|[\s(){}]")


def _functions(latex: str, keys: Iterable[str]) -> Iterator[str]:
    """Symbols before brackets that are no factors: ``V(x)``, and not ``x(1 - x)``.

    What stands nowhere else, and twice, may be one in any case: ``k(x - y) = k(y - x)``.
    """
    for key in keys:
        written = re.escape(key).replace(r"\ ", r"\s*\{?\s*")
        anywhere = rf"(?<![A-Za-z\\]){written}(?![A-Za-z])"
        calls = list(re.finditer(rf"(?<![_^]){anywhere}{_OPEN}", latex))
        if 1 < len(calls) == len(re.findall(anywhere, latex)):
            yield key
        for match in calls:
            inside = _ARGUMENT.match(latex, match.end())
            is_array = inside is not None and _ARRAY.search(inside[0])
            if is_array and len(key) == 1 and key.isupper():
                continue
            is_sum = inside is not None and re.search(r"\w\s*[+-]|[+-]\s*\w.*[+-]", inside[0])
            if not (_FACTOR.match(key) and is_sum):
                yield key
