"""LaTeX to canonical tokens: layout dropped, arguments braced, scripts in one order.

Two spellings that print the same become the same sequence: ``\\mathbf{y}`` and ``\\mathbf y``,
``\\sigma^2_n`` and ``\\sigma_n^2``, ``x'`` and ``x^{\\prime}``. Every token keeps its place
in the text, so that an error can point there.

pylatexenc finds macros and their arguments, the least of this; in mathematics it leaves scripts and
primes as plain characters, and ``\\left(`` as a macro and a parenthesis.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate, chain
from typing import NamedTuple, TypeAlias

from ..errors import EquationError


class Token(NamedTuple):
    """A piece of LaTeX and where it stood; `side` is "open" or "close" for a sized delimiter.

    `wide` says that a ``\\quad`` stood before it, which may be the end of a statement.
    """

    text: str
    start: int
    end: int
    side: str = ""
    wide: bool = False


def word_set(text: str) -> frozenset[str]:
    """The words of `text`, which are parted by spaces."""
    return frozenset(text.split())


_PIECE = re.compile(
    r"(?P<skip>\s+|%[^\n]*\n?|~)"
    r"|(?P<env>\\(?:begin|end)\s*\{[A-Za-z]+\*?\})"
    r"|(?P<piece>\\operatorname\*|\\[A-Za-z]+|\\.|.)",
    re.DOTALL,
)
_LINE_SKIP = re.compile(r"\*?\s*\[\s*-?[\d.]+\s*[a-z]{2}\s*\]")  # behind a line break
LAYOUT = word_set(
    r"\, \: \; \! \> \thinspace \medspace \thickspace \displaystyle "
    r"\textstyle \scriptstyle \limits \nolimits \notag \nonumber \mathstrut \strut "
    r"\allowbreak \noindent \hline"
) | {"\\ ", "\\\n"}
_WIDE = word_set(r"\quad \qquad \enspace \hfill")
DROPPED = word_set(
    r"\color \textcolor \tag \label \hspace \vspace \phantom \hphantom \vphantom \mspace"
)
_WITH_COLUMNS = word_set(r"\begin{array} \begin{alignat} \begin{alignat*} \begin{alignedat}")
_TEXT = word_set(r"\text \textrm \textit \textbf \textup \textsf \mbox \intertext")
SIDES = {
    **dict.fromkeys([r"\left", r"\bigl", r"\Bigl", r"\biggl", r"\Biggl"], "open"),
    **dict.fromkeys([r"\right", r"\bigr", r"\Bigr", r"\biggr", r"\Biggr"], "close"),
    **dict.fromkeys([r"\middle", r"\bigm", r"\Bigm", r"\biggm", r"\Biggm"], "middle"),
    **dict.fromkeys([r"\big", r"\Big", r"\bigg", r"\Bigg"], ""),
}
DELIMITERS = {
    "\\lvert": ("|", "open"), "\\rvert": ("|", "close"), "\\vert": ("|", ""),
    "\\lVert": ("\\|", "open"), "\\rVert": ("\\|", "close"), "\\Vert": ("\\|", ""),
    "\\parallel": ("\\|", "middle"), "\\mid": ("|", "middle"), "\\lbrace": ("\\{", ""),
    "\\rbrace": ("\\}", ""), "\\lbrack": ("[", ""), "\\rbrack": ("]", ""),
}  # fmt: skip
SAME = {
    "\\bm": "\\boldsymbol", "\\operatorname": "\\mathrm", "\\operatorname*": "\\mathrm",
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\dbinom": "\\binom",
    "\\tbinom": "\\binom", "\\leq": "\\le", "\\leqslant": "\\le", "\\geq": "\\ge",
    "\\geqslant": "\\ge", "\\lt": "<", "\\gt": ">", "\\neq": "\\ne", "\\ast": "*",
    "\\ldots": "\\dots", "\\cdots": "\\dots", "\\prime": "'", "\\intercal": "\\top",
    "\\rightarrow": "\\to", "\\colon": ":", "\\coloneqq": ":=", "\\newline": "\\\\",
    "\\mathbold": "\\boldsymbol",
}  # fmt: skip
_SPECIAL = LAYOUT | _WIDE | DROPPED | _TEXT | {*SIDES, *DELIMITERS, *SAME, "\\\\"}
_token = partial(tuple.__new__, Token)  # quicker than the parts by name


class Scanner:
    """The first pass: cut the text, drop the layout, settle sides and aliases."""

    def __init__(self, latex: str, start: int = 0, end: int | None = None) -> None:
        self.latex = latex
        self.at = start
        self.out: list[Token] = []
        self.end = len(latex) if end is None else end
        self.side: str | None = None
        self.sized = 0
        self.wide = False

    def read(self) -> list[Token]:
        """All pieces of the text, in order."""
        while self.at < self.end:
            match = _PIECE.match(self.latex, self.at)
            assert match, "every character is a piece"
            start, self.at = match.span()
            if match.lastgroup == "env":
                name = "".join(match[0].split())
                if name in _WITH_COLUMNS:
                    self._braced()
                self._emit(name, start)
            elif match.lastgroup == "piece":
                plain = self.side is None and match[0] not in _SPECIAL  # as most are
                (self._emit if plain else self._piece)(match[0], start)
        return self.out

    def _piece(self, text: str, start: int) -> None:
        if text in SIDES:
            self.side = SIDES[text]
            self.sized = start
        elif text in _WIDE:
            self.wide = True
        elif self.side is not None and text == ".":
            if self.side == "open":
                self._emit("\\left.", self.sized)
            self.side = None
        elif text in DROPPED:
            dropped = self._braced()
            self.wide = self.wide or (text == "\\hspace" and "-" not in dropped)
        elif text in _TEXT:
            self._words(start)
        elif text not in LAYOUT:
            self._symbol(text, start)

    def _words(self, start: int) -> None:
        """A text is one token; the mathematics between dollars in it is not part of it."""
        letter = re.compile(r"\s*([A-Za-z])").match(self.latex, self.at)
        if letter:  # \textrm d, without braces
            self.at = letter.end()
        content = letter[1] if letter else self._braced()
        if "$" not in content:
            self._emit(f"\\text{{{content.strip()}}}", start)
            return
        place = self.at - 1 - len(content)
        for i, piece in enumerate(content.split("$")):
            end = place + len(piece)
            if i % 2:
                self.out += Scanner(self.latex, place, end).read()
            elif piece.strip():
                self.out.append(Token(f"\\text{{{piece.strip()}}}", place, end))
            place = end + 1

    def _symbol(self, text: str, start: int) -> None:
        text, side = DELIMITERS.get(SAME.get(text, text), (SAME.get(text, text), ""))
        self._emit(text, start if self.side is None else self.sized, self.side or side)
        self.side = None
        if text == "\\\\" and (size := _LINE_SKIP.match(self.latex, self.at)):
            self.at = size.end()

    def _emit(self, text: str, start: int, side: str = "") -> None:
        self.out.append(_token((text, start, self.at, side, self.wide)))
        self.wide = False

    def _braced(self) -> str:
        """The text of the group that follows, which is consumed."""
        opened = re.compile(r"\*?\s*\{").match(self.latex, self.at)
        if not opened:
            return ""
        depth, self.at = 1, opened.end()
        while depth and self.at < len(self.latex):
            depth += {"{": 1, "}": -1}.get(self.latex[self.at], 0)
            self.at += 2 if self.latex[self.at] == "\\" else 1
        return self.latex[opened.end() : self.at - 1]


FONTS = word_set(
    r"\mathbf \boldsymbol \mathcal \mathbb \mathrm \mathsf \mathit \mathfrak \mathscr \mathtt "
    r"\bar \hat \tilde \vec \dot \ddot \overline \underline \widehat \widetilde \check \breve "
    r"\mathring \acute \grave"
)
ARGUMENTS = {**dict.fromkeys(FONTS, 1), "\\frac": 2, "\\binom": 2, "\\root": 2, "\\sqrt": 1}
SHELLS = word_set(r"\underbrace \overbrace \boxed \smash \mathop \mathrel \mathbin")
_LABELS = {"\\underbrace": "_", "\\overbrace": "^"}
Scripts = dict[str, list[Token]]
_BIG = word_set(r"\max \min \sup \inf \sum \prod \mathrm")
_STACKED = word_set(r"\overset \stackrel \genfrac")
_DEFINES = re.compile(r"def|\\triangle|\\Delta")
_NUMBERED = re.compile(r"!?|\d+|\([\w.*]*\)|\\text\{\([\w.* ]*\)\}")
_ABOVE = {"\\choose": "\\binom", "\\over": "\\frac"}
_OPENING = frozenset({"{", "(", "[", "\\{"})
_CLOSING = frozenset({"}", ")", "]", "\\}"})
DEEPEST = 60  # brackets in brackets: those who go through a tree call themselves
_NO_ARGUMENT = frozenset({"_", "^", "}", "&", "\\\\"})
_SCRIPTS = frozenset({"'", "_", "^"})
_MORE = SHELLS | _STACKED | {"{", "\\arg", "\\underset", "\\substack", *ARGUMENTS}  # than a token


@lru_cache(maxsize=4096)
def tokens(latex: str) -> tuple[Token, ...]:
    """The canonical tokens of `latex`.

    >>> [t.text for t in tokens(r"\\sigma^2_n")]
    ['\\\\sigma', '_', '{', 'n', '}', '^', '{', '2', '}']
    """
    try:
        row = tuple(_Reader(latex).all())
        opened = accumulate((t.text in _OPENING) - (t.text in _CLOSING) for t in row)
        many = len([t for t in row if t.text in _OPENING]) > DEEPEST
        deep = many and max(opened, default=0) > DEEPEST
    except RecursionError:
        deep = True
    if deep:
        raise EquationError(f"more than {DEEPEST} brackets stand in each other", latex, (0, 1))
    return row


class UnclosedError(ValueError):
    """A bracket without the one that closes it."""


def closing(
    sequence: Sequence[Token],
    start: int,
    opens: Container[str] = ("{",),
    shuts: Container[str] = ("}",),
) -> int:
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(sequence)):
        text = sequence[i].text
        depth += (text in opens) - (text in shuts)
        if depth == 0:
            return i
    raise UnclosedError("no closing bracket")


Outside: TypeAlias = Callable[[Iterable[Token]], Iterator[tuple[Token, bool]]]


def outside(row: Iterable[Token]) -> Iterator[tuple[Token, bool]]:
    """Each token of `row`, and whether it stands outside all brackets, or closes the last one."""
    depth = 0
    for token in row:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        yield token, depth == 0


def split(
    row: Iterable[Token], signs: Container[str], told: Outside = outside
) -> tuple[list[list[Token]], list[Token]]:
    """The parts of `row` between the `signs` outside all brackets, and those signs.

    The brackets that count are `told`, as in `outside`.
    """
    parts: list[list[Token]] = [[]]
    between: list[Token] = []
    for token, free in told(row):
        if free and token.text in signs:
            between.append(token)
            parts.append([])
        else:
            parts[-1].append(token)
    return parts, between


class _Reader:
    """The second pass: brace every argument, put the scripts in order."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.pieces = Scanner(latex).read()
        self.i = 0

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

    def _fault(self, problem: str, *row: Token) -> EquationError:
        """Return an error that points at `row`, or at the next thing."""
        row = row or (self.pieces[min(self.i, len(self.pieces) - 1)],)
        return EquationError(problem, self.latex, (row[0].start, row[-1].end))

    def _item(self) -> list[Token]:
        """One nucleus with its primes, its subscript and its superscript, in that order."""
        first = self._peek()
        shell = first if first in SHELLS else ""
        nucleus = [] if first in _SCRIPTS else self._nucleus() if first in _MORE else [self._next()]
        if len(nucleus) == 1 and self._peek() not in _SCRIPTS:
            return nucleus  # as most are
        scripts: Scripts = {"'": [], "_": [], "^": []}
        while self._peek() in scripts:
            kind, content = self._script()
            if kind != "'" and scripts[kind]:
                raise self._fault("a second script of the same kind")
            scripts[kind] += content
        self._settle_shell(shell, nucleus, scripts)
        item = nucleus + scripts["'"] + scripts["_"] + scripts["^"]
        end = max([token.end for token in item], default=0)
        if item and item[-1].end < end:  # whichever of the scripts was written last
            item[-1] = item[-1]._replace(end=end)
        return item

    def _settle_shell(self, shell: str, nucleus: list[Token], scripts: Scripts) -> None:
        """Take the words at a brace away; else the next words would seem to stand inside it."""
        mark = _LABELS.get(shell)
        if mark:
            label, scripts[mark] = scripts[mark][2:-1], []
            if any(not token.text.startswith("\\text{") for token in label):
                problem = "a formula at a brace is not read: write it as an equation of its own"
                raise self._fault(problem, *label)
        styled = len(nucleus) > 1 and nucleus[0].text in FONTS
        symbol = len(nucleus) == 1 or (styled and closing(nucleus, 1) == len(nucleus) - 1)
        if shell and any(scripts.values()) and not symbol:
            raise self._fault("ambiguous: a script on all of this? write brackets")

    def _script(self) -> tuple[str, list[Token]]:
        mark = self._next()
        if mark.text == "'":
            return "'", [mark]
        content = self._argument()
        inside = content[1:-1]
        bare = len(inside) == 1 and content[0].start == inside[0].start
        if bare and inside[0].text.isdigit() and self._peek().isdigit():  # `x^10` is `x^{1}0`
            raise self._fault("only one digit is in the script: write braces")
        if inside and all(t.text == "'" for t in inside):
            return "'", inside
        return mark.text, [mark, *content]

    def _argument(self) -> list[Token]:
        """Return the argument of a command or a script: a group or a nucleus, always in braces."""
        if self._peek() == "{":
            opened = self._next()
            return _braced(opened, self._group(opened), self.pieces[self.i - 1])
        if self._peek() in _NO_ARGUMENT:
            raise self._fault("an argument is missing here")
        place, inside = self.i, self._nucleus()
        if not inside:  # as `\\mathop{}` is
            raise self._fault("an argument is missing here", self.pieces[place])
        return _braced(inside[0], inside, inside[-1])

    def _group(self, opened: Token) -> list[Token]:
        parts: list[list[Token]] = [[]]
        command = ""
        while self._peek() != "}":
            if self.i >= len(self.pieces):
                raise self._fault("this brace is never closed", opened)
            if self._peek() in _ABOVE:
                command = _ABOVE[self._next().text]
                parts.append([])
            else:
                parts[-1] += self._item()
        shut = self._next()
        braced = (_braced(opened, part, shut) for part in parts)
        return [opened._replace(text=command), *chain(*braced)] if command else parts[0]

    def _nucleus(self) -> list[Token]:
        token = self._next()
        if token.text == "{":
            group = self._group(token)  # the wide space before a brace is one before its content
            return [group[0]._replace(wide=token.wide), *group[1:]] if group else group
        if token.text in SHELLS:
            content = self._argument()
            if token.text == "\\mathop" and not _is_symbol(content[1:-1]):
                return [token._replace(text="\\mathrm"), *content]
            return content[1:-1]
        if token.text == "\\arg" and self._peek() in ("\\max", "\\min"):
            word = ("\\mathrm", "{", *"arg", *self._next().text[1:], "}")
            return [token._replace(text=text) for text in word]
        if token.text in _STACKED:
            return self._stacked(token)
        if token.text == "\\underset":
            return self._below(token)
        if token.text == "\\substack":
            rows = self._argument()[1:-1]
            return [t._replace(text="," if t.text == "\\\\" else t.text) for t in rows]
        if token.text == "\\sqrt" and self._peek() == "[":
            return self._root(token)
        out = [token]
        for _ in range(ARGUMENTS.get(token.text, 0)):
            out += self._argument()
        return out

    def _stacked(self, token: Token) -> list[Token]:
        if token.text == "\\genfrac":
            return self._general_fraction(token)
        above, below = self._argument(), self._argument()[1:-1]
        label = "".join(t.text for t in above[1:-1])
        sign = below[0].text if len(below) == 1 else ""
        if sign == "=" and _DEFINES.search(label):
            return [below[0]._replace(text=":=")]
        if sign and (sign == "\\sim" or _NUMBERED.fullmatch(label)):
            return below
        raise self._fault("what stands over a symbol changes what it says, and is not read", *above)

    def _general_fraction(self, token: Token) -> list[Token]:
        """``\\genfrac{(}{)}{0pt}{}{n}{k}`` is a binomial, without its delimiters a fraction."""
        left, right, line, style, above, below = (self._argument() for _ in range(6))
        form = ["".join(t.text for t in part[1:-1]) for part in (left, right, line)]
        thin = re.fullmatch(r"0+(\.0*)?[a-z]{2}", form[2])
        word = "\\binom" if form[:2] == ["(", ")"] and thin else ""
        word = "\\frac" if form == ["", "", ""] else word
        if not word:
            raise self._fault(
                "`\\genfrac` is read as a binomial or a fraction alone", token, *style
            )
        return [token._replace(text=word), *above, *below]

    def _below(self, token: Token) -> list[Token]:
        """``\\underset{i}{\\max}`` is ``\\max_i``."""
        under, word = self._argument(), self._argument()[1:-1]
        if word and word[0].text in _BIG:
            return [*word, under[0]._replace(text="_"), *under]
        problem = "`\\underset` is read below \\max, \\min and the like alone"
        raise self._fault(problem, token, *under)

    def _root(self, token: Token) -> list[Token]:
        opened = self._next()
        degree = []
        while self._peek() != "]":
            degree += self._item()
        above = _braced(opened, degree, self._next())
        return [token._replace(text="\\root"), *above, *self._argument()]


def _is_symbol(row: Sequence[Token]) -> bool:
    """Return whether `row` is one symbol with its scripts, or nothing."""
    styled = len(row) > 1 and row[0].text in FONTS
    i = closing(row, 1) + 1 if styled else 1
    while i < len(row) and row[i].text in ("'", "_", "^"):
        i = i + 1 if row[i].text == "'" else closing(row, i + 1) + 1
    return i >= len(row)


def _braced(opened: Token, inside: Sequence[Token], shut: Token) -> list[Token]:
    """Return the part `inside`, in braces at the places of two tokens."""
    return [_token(("{", *opened[1:])), *inside, _token(("}", *shut[1:]))]
