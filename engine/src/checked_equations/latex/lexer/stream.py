"""The canonical tokens of an equation with a cursor, the words made so far, open brackets."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token as Word

from ...errors import EquationError
from ..names import Names, joined
from ..tokenizer import FONTS, Token, closing, tokens


def is_letter(text: str) -> bool:
    """Return whether it is a letter or a command, which may be the name of something."""
    return text.startswith("\\text{") or text.removeprefix("\\").isalpha()


DOUBLE = {"\\pm": "+-", "\\mp": "-+"}  # the upper sign, the lower sign


def with_one_sign(row: Sequence[Token], names: Names, lower: bool) -> list[Token]:
    """`row` with the upper or the `lower` sign of each ``\\pm``, but for those in a bound name."""
    some = any(token.text in DOUBLE for token in row)
    named = some and any(sign in key for key in names.kinds for sign in DOUBLE)
    out = list(row)
    for i, token in enumerate(row if some else ()):
        script = named and i > 1 and row[i - 1].text == "{" and row[i - 2].text in ("_", "^")
        if token.text in DOUBLE and not script:
            out[i] = token._replace(text=DOUBLE[token.text][lower])
    return out


class Stream:
    """The state that the readers of this package share: look ahead, emit words, open and close."""

    def __init__(self, latex: str, names: Names, free: bool, *, lower: bool = False) -> None:
        self.latex = latex
        self.names = names
        self.free = free
        self.tokens = with_one_sign(tokens(latex), names, lower)
        self.i = 0
        self.out: list[Word] = []
        self.stack: list[tuple[str, Token]] = []
        self.closed = ""  # the kind of the brace that was closed last
        self.running: list[str] = []  # the variables of sums and products
        self.indefinite = False  # whether the innermost integral has no limits
        self.given = False
        self.condition = ""  # "if" or "all" behind words that begin a condition
        self.margin = False  # whether the statement began at a tab
        self.tabs = 0  # in the row of a display

    def at(self, i: int) -> str:
        """The token at place `i`; nothing beyond the end."""
        return self.tokens[i].text if i < len(self.tokens) else ""

    def text(self, ahead: int = 0) -> str:
        """The token here, or some places `ahead`; nothing beyond the end."""
        return self.at(self.i + ahead)

    def last(self) -> str:
        """The kind of the terminal made last, or nothing."""
        return self.out[-1].type if self.out else ""

    def top(self) -> str:
        """The kind of the bracket opened last, or an empty string."""
        return self.stack[-1][0] if self.stack else ""

    def emit(self, kind: str, value: str, length: int = 1) -> None:
        """Make a terminal of the next `length` tokens, and go on behind them."""
        self.insert(kind, value, self.tokens[self.i], self.tokens[self.i + length - 1])
        self.i += length

    def fault(self, problem: str, *row: Token) -> EquationError:
        """An error that says `problem` and points at a row of tokens, or at the one here."""
        first, *_, last = (*row, *row) or self.tokens[self.i : self.i + 1] * 2
        # what was put in order may stand the other way round in the text
        span = (min(first.start, last.start), max(first.end, last.end))
        return EquationError(problem, self.latex, span)

    def group_end(self, opened: int) -> int:
        """The place of the brace that closes the one at `opened`."""
        return closing(self.tokens, opened)

    def content(self, opened: int) -> list[Token]:
        """The tokens inside the braces that open at `opened`."""
        return self.tokens[opened + 1 : self.group_end(opened)]

    def nucleus(self, i: int) -> int:
        """Count the tokens of the symbol at place `i`, without its scripts."""
        return self.group_end(i + 1) - i + 1 if self.tokens[i].text in FONTS else 1

    def symbol(self, i: int) -> str:
        """The symbol at place `i`, without its scripts; empty where none begins."""
        none = self.at(i) in ("", "{", "}")
        return "" if none else joined(self.tokens[i : i + self.nucleus(i)])

    def atom_end(self, i: int) -> int:
        """Behind the symbol at place `i`, its primes and its subscript."""
        i += self.nucleus(i)
        while self.at(i) == "'":
            i += 1
        return self.behind_script(i, "_")

    def behind_script(self, i: int, mark: str) -> int:
        """Behind the subscript or superscript at place `i`, if one stands there; else `i`."""
        return self.group_end(i + 1) + 1 if self.at(i) == mark else i

    def open(self, word: str, kind: str) -> None:
        """Make a terminal of the token here, which opens something of a `kind`."""
        self.stack.append((kind, self.tokens[self.i]))
        self.emit(word, self.text())

    def lead(self, word: str, value: str, kind: str = "brace", length: int = 1) -> None:
        """Make a terminal and open the brace behind it, which holds a part of this `kind`."""
        self.emit(word, value, length)
        self.i += self.text() != "{"  # the mark of a script
        self.open("_LB", kind)

    def insert(self, kind: str, value: str, first: Token, last: Token) -> None:
        """Make a terminal of the stretch from `first` to `last`, and stay here."""
        self.out.append(Word(kind, value, start_pos=first.start, end_pos=last.end))
