"""LaTeX to canonical tokens: layout dropped, arguments braced, scripts in one order.

Two spellings that print the same become the same sequence: ``\\mathbf{y}`` and ``\\mathbf y``,
``\\sigma^2_n`` and ``\\sigma_n^2``, ``x'`` and ``x^{\\prime}``. Every token keeps its place
in the text, so that an error can point there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from .errors import EquationError

__all__ = ["Token", "closing", "tokens"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of LaTeX and where it stood; `side` is "open" or "close" for a sized delimiter.

    `wide` says that a ``\\quad`` stood before it, which may be the end of a statement.
    """

    text: str
    start: int
    end: int
    side: str = ""
    wide: bool = False


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PIECE = re.compile(
    r"(?P<skip>\s+|%[^\n]*\n?|~)"
    r"|(?P<env>\\(?:begin|end)\s*\{[A-Za-z]+\*?\})"
    r"|(?P<piece>\\operatorname\*|\\[A-Za-z]+|\\.|.)",
    re.DOTALL,
)
_LAYOUT = _set(
    r"\, \: \; \! \> \thinspace \medspace \thickspace \enspace \displaystyle "
    r"\textstyle \scriptstyle \limits \nolimits \notag \nonumber \mathstrut \strut \hfill "
    r"\allowbreak \noindent \hline"
) | {"\\ ", "\\\n"}
_WIDE = _set(r"\quad \qquad")
_DROPPED = _set(r"\tag \label \hspace \vspace \phantom \hphantom \vphantom \mspace")
_TEXT = _set(r"\text \textrm \textit \textbf \textup \textsf \mbox \intertext")
_SIDES = {
    **dict.fromkeys([r"\left", r"\bigl", r"\Bigl", r"\biggl", r"\Biggl"], "open"),
    **dict.fromkeys([r"\right", r"\bigr", r"\Bigr", r"\biggr", r"\Biggr"], "close"),
    **dict.fromkeys([r"\middle", r"\bigm", r"\Bigm", r"\biggm", r"\Biggm"], "middle"),
    **dict.fromkeys([r"\big", r"\Big", r"\bigg", r"\Bigg"], ""),
}
_DELIMITERS = {
    "\\lvert": ("|", "open"), "\\rvert": ("|", "close"), "\\vert": ("|", ""),
    "\\lVert": ("\\|", "open"), "\\rVert": ("\\|", "close"), "\\Vert": ("\\|", ""),
    "\\parallel": ("\\|", "middle"), "\\mid": ("|", "middle"), "\\lbrace": ("\\{", ""),
    "\\rbrace": ("\\}", ""), "\\lbrack": ("[", ""), "\\rbrack": ("]", ""),
}  # fmt: skip
_SAME = {
    "\\bm": "\\boldsymbol", "\\operatorname": "\\mathrm", "\\operatorname*": "\\mathrm",
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\dbinom": "\\binom",
    "\\tbinom": "\\binom", "\\leq": "\\le", "\\leqslant": "\\le", "\\geq": "\\ge",
    "\\geqslant": "\\ge", "\\lt": "<", "\\gt": ">", "\\neq": "\\ne", "\\ast": "*",
    "\\ldots": "\\dots", "\\cdots": "\\dots", "\\prime": "'", "\\intercal": "\\top",
    "\\colon": ":", "\\coloneqq": ":=", "\\newline": "\\\\", "\\mathbold": "\\boldsymbol",
}  # fmt: skip
FONTS = _set(
    r"\mathbf \boldsymbol \mathcal \mathbb \mathrm \mathsf \mathit \mathfrak \mathscr \mathtt "
    r"\bar \hat \tilde \vec \dot \ddot \overline \underline \widehat \widetilde \check \breve "
    r"\mathring \acute \grave"
)
_ARGUMENTS = {**dict.fromkeys(FONTS, 1), "\\frac": 2, "\\binom": 2, "\\root": 2, "\\sqrt": 1}
_SHELLS = _set(r"\underbrace \overbrace \boxed \smash \mathop \mathrel \mathbin")
_STACKED = _set(r"\overset \stackrel")
_DEFINES = re.compile(r"def|\\triangle|\\Delta")
_NUMBERED = re.compile(r"!?|\d+|\([\w.*]*\)|\\text\{\([\w.* ]*\)\}")
_NO_ARGUMENT = frozenset({"_", "^", "}", "&", "\\\\"})


@lru_cache(maxsize=4096)
def tokens(latex: str) -> tuple[Token, ...]:
    """The canonical tokens of `latex`.

    >>> [t.text for t in tokens(r"\\sigma^2_n")]
    ['\\\\sigma', '_', '{', 'n', '}', '^', '{', '2', '}']
    """
    return tuple(_Reader(latex, _Pieces(latex).read()).all())


def closing(sequence: tuple[Token, ...] | list[Token], start: int) -> int:
    """The place of the brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(sequence)):
        depth += {"{": 1, "}": -1}.get(sequence[i].text, 0)
        if depth == 0:
            return i
    raise ValueError("no closing brace")


class _Pieces:
    """The first pass: cut the text, drop the layout, settle sides and aliases."""

    def __init__(self, latex: str, start: int = 0, end: int | None = None) -> None:
        self.latex, self.at, self.out = latex, start, []
        self.end = len(latex) if end is None else end
        self.side: str | None = None
        self.sized, self.wide = 0, False

    def read(self) -> list[Token]:
        while self.at < self.end:
            match = _PIECE.match(self.latex, self.at)
            start, self.at = self.at, match.end()
            if match["env"]:
                self._environment(start)
            elif match["piece"]:
                self._piece(match["piece"], start)
        return self.out

    def _piece(self, text: str, start: int) -> None:
        if text in _SIDES:
            self.side, self.sized = _SIDES[text], start
        elif text in _WIDE:
            self.wide = True
        elif text in _LAYOUT or (self.side is not None and text == "."):
            self.side = self.side if text != "." else None
        elif text in _DROPPED:
            self._braced()
        elif text in _TEXT:
            self._words(start)
        else:
            self._symbol(text, start)

    def _words(self, start: int) -> None:
        """A text is one token; the mathematics between dollars in it is not part of it."""
        content = self._braced()
        if "$" not in content:
            return self._emit(f"\\text{{{content.strip()}}}", start)
        place = self.at - 1 - len(content)
        for i, piece in enumerate(content.split("$")):
            end = place + len(piece)
            if i % 2:
                self.out += _Pieces(self.latex, place, end).read()
            elif piece.strip():
                self.out.append(Token(f"\\text{{{piece.strip()}}}", place, end))
            place = end + 1
        return None

    def _symbol(self, text: str, start: int) -> None:
        text, side = _DELIMITERS.get(_SAME.get(text, text), (_SAME.get(text, text), ""))
        self._emit(text, start if self.side is None else self.sized, self.side or side)
        self.side = None
        if text == "\\\\":
            self._line_break()

    def _line_break(self) -> None:
        size = re.compile(r"\*?\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]").match(self.latex, self.at)
        self.at = size.end() if size else self.at

    def _emit(self, text: str, start: int, side: str = "") -> None:
        self.out.append(Token(text, start, self.at, side, self.wide))
        self.wide = False

    def _environment(self, start: int) -> None:
        text = re.sub(r"\s+", "", self.latex[start : self.at])
        if text == "\\begin{array}":
            self._braced()
        self._emit(text, start)

    def _braced(self) -> str:
        """The text of the group that follows, which is consumed."""
        opened = re.compile(r"\*?\s*\{").match(self.latex, self.at)
        if not opened:
            return ""
        depth, i = 1, opened.end()
        while depth and i < len(self.latex):
            step = 2 if self.latex[i] == "\\" else 1
            depth += {"{": 1, "}": -1}.get(self.latex[i], 0)
            i += step
        self.at = i
        return self.latex[opened.end() : i - 1]


class _Reader:
    """The second pass: brace every argument, put the scripts in order."""

    def __init__(self, latex: str, pieces: list[Token]) -> None:
        self.latex, self.pieces, self.i = latex, pieces, 0

    def all(self) -> list[Token]:
        out: list[Token] = []
        while self.i < len(self.pieces):
            if self._peek() == "}":
                raise self._fault("this brace closes nothing")
            out += self._item()
        return out

    def _peek(self) -> str:
        return self.pieces[self.i].text if self.i < len(self.pieces) else ""

    def _next(self) -> Token:
        if self.i >= len(self.pieces):
            end = len(self.latex)
            raise EquationError("the LaTeX ends too early", self.latex, (max(end - 1, 0), end))
        self.i += 1
        return self.pieces[self.i - 1]

    def _fault(self, problem: str) -> EquationError:
        here = self.pieces[min(self.i, len(self.pieces) - 1)]
        return EquationError(problem, self.latex, (here.start, here.end))

    def _item(self) -> list[Token]:
        """One nucleus with its primes, its subscript and its superscript, in that order."""
        shell = self._peek() in _SHELLS
        nucleus = [] if self._peek() in ("_", "^", "'") else self._nucleus()
        scripts: dict[str, list[Token]] = {"'": [], "_": [], "^": []}
        while self._peek() in scripts:
            kind, content = self._script()
            if kind != "'" and scripts[kind]:
                raise self._fault("a second script of the same kind")
            scripts[kind] += content
        if shell:
            scripts["_"] = scripts["_"] if scripts["^"] else []
            return nucleus + (scripts["^"] if _is_power(scripts["^"]) else [])
        return nucleus + scripts["'"] + scripts["_"] + scripts["^"]

    def _script(self) -> tuple[str, list[Token]]:
        mark = self._next()
        if mark.text == "'":
            return "'", [mark]
        content = self._argument()
        self._refuse_second_digit(content)
        primes = [t for t in content[1:-1] if t.text == "'"]
        if primes and len(primes) == len(content) - 2:
            return "'", primes
        return mark.text, [mark, *content]

    def _refuse_second_digit(self, content: list[Token]) -> None:
        """``x^10`` prints as ``x^{1}0``."""
        follows = self.pieces[self.i : self.i + 1]
        bare = len(content) == 3 and content[0].start == content[1].start
        if bare and follows and content[1].text.isdigit() and follows[0].text.isdigit():
            raise self._fault("only one digit is in the script: write braces")

    def _argument(self) -> list[Token]:
        """What a command or a script takes: a group or one nucleus, always in braces."""
        if self._peek() == "{":
            opened = self._next()
            inside = self._group(opened)
            shut = self.pieces[self.i - 1]
        else:
            if self._peek() in _NO_ARGUMENT:
                raise self._fault("an argument is missing here")
            inside = self._nucleus()
            opened, shut = inside[0], inside[-1]
        return [replace(opened, text="{"), *inside, replace(shut, text="}")]

    def _group(self, opened: Token) -> list[Token]:
        out: list[Token] = []
        parts: list[list[Token]] = [out]
        command = ""
        while self._peek() != "}":
            if self.i >= len(self.pieces):
                span = (opened.start, opened.end)
                raise EquationError("this brace is never closed", self.latex, span)
            if self._peek() in ("\\choose", "\\over"):
                command = {"\\choose": "\\binom", "\\over": "\\frac"}[self._next().text]
                parts.append([])
                continue
            parts[-1] += self._item()
        shut = self._next()
        return _stack(command, parts, opened, shut) if command else out

    def _nucleus(self) -> list[Token]:
        token = self._next()
        if token.text == "{":
            return _after(token, self._group(token))
        if token.text in _SHELLS:
            return self._argument()[1:-1]
        if token.text == "\\arg" and self._peek() in ("\\max", "\\min"):
            return _word("arg" + self._next().text[1:], token)
        if token.text in _STACKED:
            return self._stacked()
        if token.text == "\\sqrt" and self._peek() == "[":
            return self._root(token)
        out = [token]
        for _ in range(_ARGUMENTS.get(token.text, 0)):
            out += self._argument()
        return out

    def _stacked(self) -> list[Token]:
        above, below = self._argument(), self._argument()[1:-1]
        label = "".join(t.text for t in above[1:-1])
        if [t.text for t in below] == ["="] and _DEFINES.search(label):
            return [replace(below[0], text=":=")]
        if len(below) == 1 and (below[0].text == "\\sim" or _NUMBERED.fullmatch(label)):
            return below
        problem = "what stands over a symbol changes what it says, and is not read"
        raise EquationError(problem, self.latex, (above[0].start, above[-1].end))

    def _root(self, token: Token) -> list[Token]:
        opened, degree = self._next(), []
        while self._peek() != "]":
            degree += self._item()
        shut = self._next()
        degree = [replace(opened, text="{"), *degree, replace(shut, text="}")]
        return [replace(token, text="\\root"), *degree, *self._argument()]


def _after(opened: Token, group: list[Token]) -> list[Token]:
    """The wide space before a brace is one before what stands in it."""
    return [replace(group[0], wide=opened.wide), *group[1:]] if group else group


def _word(letters: str, at: Token) -> list[Token]:
    return [replace(at, text=text) for text in ("\\mathrm", "{", *letters, "}")]


def _is_power(script: list[Token]) -> bool:
    return bool(script) and not any(t.text.startswith("\\text") for t in script)


def _stack(command: str, parts: list[list[Token]], opened: Token, shut: Token) -> list[Token]:
    out = [replace(opened, text=command)]
    for part in parts:
        out += [replace(opened, text="{"), *part, replace(shut, text="}")]
    return out
