"""The first pass over LaTeX: its pieces, without the layout, each with one spelling."""

from __future__ import annotations

import re
from dataclasses import dataclass


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
    "\\colon": ":", "\\coloneqq": ":=", "\\newline": "\\\\", "\\mathbold": "\\boldsymbol",
}  # fmt: skip


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
            if match["env"]:
                name = "".join(match["env"].split())
                if name in _WITH_COLUMNS:
                    self._braced()
                self._emit(name, start)
            elif match["piece"]:
                self._piece(match["piece"], start)
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
        self.out.append(Token(text, start, self.at, side, self.wide))
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
