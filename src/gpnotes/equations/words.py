"""Canonical tokens to the words of the grammar: what is a name, what opens, what closes.

LaTeX says less than the grammar needs: whether ``|`` opens or closes, whether a line break
ends a statement, whether ``_i`` is an index or part of a name. That is settled here, with
the bound names at hand, so that the grammar itself stays free of special cases.
"""

from __future__ import annotations

from lark import Token as Word

from . import vocabulary as v
from .errors import EquationError
from .names import Match, Names, joined, nearest
from .tokens import FONTS, Token, closing, tokens

__all__ = ["words"]


def words(latex: str, names: Names, *, free: bool = False) -> list[Word]:
    """The words of `latex`; with `free`, letters that nobody bound are names too."""
    return _Words(latex, names, free).read()


class _Words:
    def __init__(self, latex: str, names: Names, free: bool) -> None:
        self.latex, self.names, self.free = latex, names, free
        self.tokens = list(tokens(latex))
        self.i = 0
        self.out: list[Word] = []
        self.stack: list[tuple[str, Token]] = []
        self.given = False

    def read(self) -> list[Word]:
        self._declare_indices()
        while self.i < len(self.tokens):
            self._one()
        if self.stack:
            raise self._fault("this is never closed", self.stack[-1][1])
        return self.out

    # -- small helpers ------------------------------------------------------------------

    def _text(self, ahead: int = 0) -> str:
        i = self.i + ahead
        return self.tokens[i].text if i < len(self.tokens) else ""

    def _last(self) -> str:
        return self.out[-1].type if self.out else ""

    def _top(self) -> str:
        return self.stack[-1][0] if self.stack else ""

    def _emit(self, kind: str, value: str, length: int = 1) -> None:
        first, last = self.tokens[self.i], self.tokens[self.i + length - 1]
        self.i += length
        self.out.append(Word(kind, value, start_pos=first.start, end_pos=last.end))

    def _fault(self, problem: str, first: Token, last: Token | None = None) -> EquationError:
        return EquationError(problem, self.latex, (first.start, (last or first).end))

    def _group_end(self, opened: int) -> int:
        return closing(self.tokens, opened)

    def _content(self, opened: int) -> list[Token]:
        return self.tokens[opened + 1 : self._group_end(opened)]

    def _nucleus(self, i: int) -> int:
        """How many tokens the symbol at place `i` has, without its scripts."""
        if self.tokens[i].text not in FONTS:
            return 1
        return self._group_end(i + 1) - i + 1

    def _word(self) -> str:
        return joined(self.tokens[self.i : self.i + self._nucleus(self.i)])

    # -- one word -----------------------------------------------------------------------

    def _one(self) -> None:
        token = self.tokens[self.i]
        if self._differential():
            return
        match = self.names.match(self.tokens, self.i)
        if match:
            self._named(match)
        elif token.text in _HANDLERS:
            _HANDLERS[token.text](self)
        elif token.text in v.OPERATORS:
            self._operator(token)
        elif token.text.isdigit():
            self._number()
        elif token.text in v.RELATIONS:
            self._relation(token.text)
        elif token.text.startswith(("\\text{", "\\begin{", "\\end{")):
            self._environment_or_text(token.text)
        else:
            self._vocabulary(self._word())

    def _vocabulary(self, word: str) -> None:
        length = self._nucleus(self.i)
        follows = self._text(length)
        if word in v.BIG and follows == "_":
            self._big(v.BIG[word], length)
        elif word in v.FUNCTIONS:
            self._function(v.FUNCTIONS[word], length)
        elif word in v.EXPECTATIONS:
            self._expectation(v.EXPECTATIONS[word], length)
        elif word in v.CONSTANTS:
            self._emit("CONSTANT", v.CONSTANTS[word], length)
        elif word in v.INDICATORS and follows in v.OPEN:
            self._emit("_INDICATOR", word, length)
        else:
            self._unknown()

    def _operator(self, token: Token) -> None:
        placeholder = token.text == "\\cdot" and self._text(1) in (")", ",", "]")
        if placeholder and self._last() not in v.ENDS_AN_OPERAND and self.free:
            return self._emit("NAME", "\\cdot")
        return self._emit(v.OPERATORS[token.text], token.text)

    def _number(self) -> None:
        i = self.i + 1
        while i < len(self.tokens) and self._continues_number(i):
            i += 1
        text = "".join(t.text for t in self.tokens[self.i : i])
        self._emit("NUMBER", text, i - self.i)

    def _continues_number(self, i: int) -> bool:
        here, before = self.tokens[i], self.tokens[i - 1]
        if here.start != before.end:
            return False
        digit_after = i + 1 < len(self.tokens) and self.tokens[i + 1].text.isdigit()
        return here.text.isdigit() or (here.text == "." and digit_after)

    def _relation(self, text: str) -> None:
        self.given = False
        inside = {"=": "EQ", "\\in": "IN", "\\ne": "NE"}
        if self._top() == "head" and text in inside:
            self._emit(inside[text], text)
        else:
            self._emit("REL", text)

    def _colon(self) -> None:
        if self._text(1) == "=":
            self._emit("REL", ":=", 2)
        else:
            raise self._fault("`:` is not part of the language", self.tokens[self.i])

    # -- names --------------------------------------------------------------------------

    def _named(self, match: Match) -> None:
        if self._starts_range():
            return self._emit("INDEX", match.key, match.length)
        after = self.i + match.length
        if match.kind == "callable":
            self._bring_arguments_forward(after)
        elif after < len(self.tokens) and self.tokens[after].text == "_":
            self._check_subscript(after + 1)
        follows = self.tokens[after].text if after < len(self.tokens) else ""
        called = match.kind == "callable" and follows in ("(", "[")
        if follows == "'":
            return self._unknown()
        return self._emit("CALL" if called else "NAME", match.key, match.length)

    def _starts_range(self) -> bool:
        return self._top() == "head" and self._last() in ("_LB", "_SEPARATOR")

    def _bring_arguments_forward(self, after: int) -> None:
        """``f_i(x)`` is the entry of ``f(x)``: put the arguments before the subscript."""
        if after >= len(self.tokens) or self.tokens[after].text != "_":
            return
        opened = self._group_end(after + 1) + 1
        if opened < len(self.tokens) and self.tokens[opened].text in ("(", "["):
            shut = self._matching(opened)
            self.tokens[after : shut + 1] = (
                self.tokens[opened : shut + 1] + self.tokens[after:opened]
            )

    def _matching(self, opened: int) -> int:
        depth = 0
        for i in range(opened, len(self.tokens)):
            depth += (self.tokens[i].text in v.OPEN) - (self.tokens[i].text in v.CLOSE)
            if depth == 0:
                return i
        raise self._fault("this is never closed", self.tokens[opened])

    def _check_subscript(self, opened: int) -> None:
        """A subscript that is no index makes the whole symbol an unbound one."""
        i, end = opened + 1, self._group_end(opened)
        while i < end:
            match = self.names.match(self.tokens, i)
            text = self.tokens[i].text
            if not match and (text[0] == "\\" or text.isalpha() or text == "*"):
                if text not in ("\\cdot", "\\times", "\\max", "\\min"):
                    self._unknown(end + 1)
                    return
            i += match.length if match else 1

    def _atom_end(self, i: int) -> int:
        i += self._nucleus(i)
        while i < len(self.tokens) and self.tokens[i].text == "'":
            i += 1
        if i < len(self.tokens) and self.tokens[i].text == "_":
            i = self._group_end(i + 1) + 1
        return i

    def _unknown(self, end: int | None = None) -> None:
        end = end or self._atom_end(self.i)
        first = self.tokens[self.i]
        if self.free and (first.text[0] == "\\" or first.text.isalpha()):
            return self._free_name()
        key = joined(self.tokens[self.i : end])
        known = nearest(key, [k for k, kind in self.names.kinds.items() if kind != "index"])
        raise self._fault(f"unbound symbol `{key}`{known}", first, self.tokens[end - 1])

    def _free_name(self) -> None:
        end = self._free_end()
        called = end < len(self.tokens) and self.tokens[end].text in ("(", "[")
        kind = "INDEX" if self._starts_range() else "CALL" if called else "NAME"
        self._emit(kind, joined(self.tokens[self.i : end]), end - self.i)

    def _free_end(self) -> int:
        """Where a letter that nobody bound ends: indices stay outside, marks belong to it."""
        end = self._atom_end(self.i)
        bare = self.i + self._nucleus(self.i)
        if end > bare and self.tokens[bare].text == "_" and self._only_indices(bare + 1):
            end = bare
        if end + 1 < len(self.tokens) and self.tokens[end].text == "^":
            content = self._content(end + 1)
            if content and content[0].text in ("*", "(", "\\dagger", "\\star"):
                end = self._group_end(end + 1) + 1
        return end

    def _only_indices(self, opened: int) -> bool:
        i, end = opened + 1, self._group_end(opened)
        while i < end:
            match = self.names.match(self.tokens, i)
            if not match and self.tokens[i].text != ",":
                return False
            i += match.length if match else 1
        return True

    def _declare_indices(self) -> None:
        """The running variables of sums and products are names, wherever they stand."""
        for i in range(len(self.tokens) - 2):
            start = i + self._nucleus(i)
            if self.tokens[i].text == "{" or start >= len(self.tokens):
                continue
            word = joined(self.tokens[i:start])
            if word in v.BIG and self.tokens[start].text == "_":
                self._declare_range(self._content(start + 1))

    def _declare_range(self, content: list[Token]) -> None:
        depth, part = 0, []
        for token in [*content, Token(",", 0, 0)]:
            depth += (token.text == "{") - (token.text == "}")
            if depth == 0 and token.text in (",", "=", "\\in", "\\ne"):
                if part:
                    self.names.add(joined(part), "index")
                part = [] if token.text == "," else None
            elif part is not None:
                part.append(token)

    # -- functions and big operators ----------------------------------------------------

    def _function(self, name: str, length: int) -> None:
        if name == "log" and self._text(length) == "_":
            base = joined(self._content(self.i + length + 1))
            end = self._group_end(self.i + length + 1) + 1
            return self._emit("FUNC", f"log_{base}", end - self.i)
        return self._emit("FUNC", name, length)

    def _big(self, kind: str, length: int) -> None:
        self._emit("BIG", kind, length)
        self.i += 1
        self._open_brace("head")

    def _expectation(self, kind: str, length: int) -> None:
        end, variables = self.i + length, []
        if self._text(length) == "_":
            variables = self._variables(self._content(end + 1))
            end = self._group_end(end + 1) + 1
        if end >= len(self.tokens) or self.tokens[end].text not in v.OPEN:
            raise self._fault("write brackets around what is averaged", self.tokens[self.i])
        self._emit(kind, "\n".join(variables), end - self.i)

    def _variables(self, content: list[Token]) -> list[str]:
        """The random variables that the subscript of an expectation names."""
        found, i = [], 0
        while i < len(content):
            match = self.names.match(content, i)
            if match and match.kind == "nodes" and match.key not in found:
                found.append(match.key)
            i += match.length if match else 1
        if not found and self.free:
            return [joined(content)]
        if not found:
            raise self._fault(
                "no variable of this subscript is bound to Nodes", content[0], content[-1]
            )
        return found

    def _differential(self) -> bool:
        """``\\mathrm d x`` ends the innermost integral; two in a row end two, or one of both."""
        if not any(kind == "int" for kind, _ in self.stack):
            return False
        keys, end = self._differentials(self.i)
        if not keys:
            return False
        while self._top() != "int":
            raise self._fault("this is not closed before the integral ends", self.stack[-1][1])
        waiting = self._trailing_integrals()
        count = len(keys) if len(keys) <= waiting else 1
        groups = [[k] for k in keys] if count == len(keys) else [keys]
        first, last = self.tokens[self.i], self.tokens[end - 1]
        for group in groups:
            self.stack.pop()
            value = "\n".join(group)
            self.out.append(Word("DIFF", value, start_pos=first.start, end_pos=last.end))
        self.i = end
        return True

    def _trailing_integrals(self) -> int:
        count = 0
        for kind, _ in reversed(self.stack):
            if kind != "int":
                break
            count += 1
        return count

    def _differentials(self, i: int) -> tuple[list[str], int]:
        keys: list[str] = []
        while i < len(self.tokens):
            after = i + self._nucleus(i)
            if joined(self.tokens[i:after]) not in v.DIFFERENTIALS or after >= len(self.tokens):
                break
            match = self.names.match(self.tokens, after)
            if match and match.kind == "nodes":
                keys, i = [*keys, match.key], after + match.length
            elif self.free and not match:
                end = self._atom_end(after)
                keys, i = [*keys, joined(self.tokens[after:end])], end
            else:
                break
        return keys, i

    def _integral(self) -> None:
        self.stack.append(("int", self.tokens[self.i]))
        self._emit("INT", "\\int")
        if self._text() == "_":
            end = self._group_end(self.i + 1) + 1
            if end >= len(self.tokens) or self.tokens[end].text != "^":
                self.i = end  # a domain such as \mathbb R: the nodes say it

    def _nabla(self) -> None:
        if self._text(1) != "_":
            raise self._fault("write the variable: \\nabla_x", self.tokens[self.i])
        self._emit("_NABLA", "\\nabla")
        self.i += 1
        self._open_brace("brace")

    # -- fractions, roots, scripts ------------------------------------------------------

    def _fraction(self) -> None:
        above = self.i + 1
        below = self._group_end(above) + 1
        order = self._is_derivative(above, below)
        if not order:
            return self._emit("_FRAC", "\\frac")
        first = self.tokens[self.i]
        bare = above + order + 2 == below
        kind = "DERIVE" if bare else "_DERIVATIVE"
        self.out.append(Word(kind, kind, start_pos=first.start, end_pos=first.end))
        if bare:
            self.i = below
        else:
            del self.tokens[above + 1 : above + order + 1]
            self.i = above
        return None

    def _is_derivative(self, above: int, below: int) -> int:
        """How many tokens of the numerator are the derivative sign; 0 for a plain fraction."""
        if self.tokens[above + 1].text == "\\partial" == self.tokens[below + 1].text:
            powered = self.tokens[above + 2].text == "^"
            return self._group_end(above + 3) - above if powered else 1
        length = self._nucleus(above + 1)
        sign = joined(self.tokens[above + 1 : above + 1 + length])
        same = joined(self.tokens[below + 1 : below + 1 + self._nucleus(below + 1)]) == sign
        if sign in v.DIFFERENTIALS and sign not in self.names.kinds and same:
            length_below = self._nucleus(below + 1)
            first = self.tokens[below + 1]
            self.tokens[below + 1 : below + 1 + length_below] = [
                Token("\\partial", first.start, first.end)
            ]
            return length
        return 0

    def _power(self) -> None:
        opened = self.i + 1
        end = self._group_end(opened)
        content = joined(self.tokens[opened + 1 : end])
        length = end - self.i + 1
        transpose = content in v.TRANSPOSES and content not in self.names.kinds
        if transpose:
            self._emit("TRANSPOSE", "\\top", length)
        elif content == "-1":
            self._emit("INVERSE", "-1", length)
        elif content[:1] == "-" and content[1:].strip() in v.TRANSPOSES - set(self.names.kinds):
            self._emit("INVTRANS", "-\\top", length)
        elif content in v.MARKS:
            self._unknown_power(end)
        else:
            self._emit("_POW", "^")
            self._open_brace("brace")

    def _unknown_power(self, end: int) -> None:
        start = self.i
        while start and self.tokens[start].start > (self.out[-1].start_pos if self.out else 0):
            start -= 1
        key = joined(self.tokens[start : end + 1])
        problem = f"unbound symbol `{key}`{nearest(key, self.names.kinds)}"
        raise self._fault(problem, self.tokens[start], self.tokens[end])

    def _subscript(self) -> None:
        if self._last() not in v.ENDS_AN_OPERAND:
            raise self._fault("a subscript cannot stand here", self.tokens[self.i])
        self._emit("_SUB", "_")
        self._open_brace("index")

    def _open_brace(self, kind: str = "brace") -> None:
        self.stack.append((kind, self.tokens[self.i]))
        self._emit("_LB", "{")

    def _close_brace(self) -> None:
        if self._top() not in ("brace", "index", "head"):
            raise self._fault("this is never closed", self.stack[-1][1])
        self.stack.pop()
        self._emit("_RB", "}")

    def _prime(self) -> None:
        raise self._fault("a prime belongs to a bound name", self.tokens[self.i])

    # -- brackets and bars --------------------------------------------------------------

    def _open(self) -> None:
        token = self.tokens[self.i]
        if token.side == "close":
            return self._close()
        powered = self._last() == "_RB" and self._function_power()
        function = self._last() == "FUNC" or powered
        kind = "call" if function or self._last() in ("CALL", "COVARIANCE") else "group"
        self.stack.append((token.text + kind, token))
        return self._emit("_FPAR" if function else "_LPAR", token.text)

    def _function_power(self) -> bool:
        """Whether the brace just closed was the exponent of a function word: \\cos^2(x)."""
        depth = 0
        for place in range(len(self.out) - 1, 1, -1):
            depth += {"_RB": 1, "_LB": -1}.get(self.out[place].type, 0)
            if depth == 0:
                return self.out[place - 1].type == "_POW" and self.out[place - 2].type == "FUNC"
        return False

    def _close(self) -> None:
        token = self.tokens[self.i]
        opened = v.CLOSE.get(token.text)
        top = self._top()
        if not top.startswith(opened or " "):
            culprit = self.stack[-1][1] if self.stack else token
            problem = f"`{culprit.text}` and `{token.text}` do not match"
            raise self._fault(problem if self.stack else f"`{token.text}` closes nothing", culprit)
        self.stack.pop()
        self._emit("_RPAR", token.text)

    def _bar(self) -> None:
        token = self.tokens[self.i]
        role = token.side or self._role("|")
        if role == "open":
            self.stack.append(("|", token))
            self._emit("_LBAR", "|")
        elif role == "close":
            self._shut_bar("|", token)
            self._emit("_RBAR", "|")
        else:
            self._separator("|")

    def _double_bar(self) -> None:
        token = self.tokens[self.i]
        role = token.side or self._role("\\|")
        if role == "open":
            self.stack.append(("\\|", token))
            self._emit("_LNORM", "\\|")
        elif role == "close":
            self._shut_bar("\\|", token)
            self._norm_end()
        else:
            self._separator("\\|")

    def _role(self, text: str) -> str:
        after_operand = self._last() in v.ENDS_AN_OPERAND
        if not after_operand:
            return "open"
        if self._top() == text:
            return "close"
        alone = not any(t.text == text for t in self.tokens[self.i + 1 :])
        return "middle" if self._top().endswith("call") or alone else "open"

    def _shut_bar(self, text: str, token: Token) -> None:
        if self._top() != text:
            raise self._fault(f"`{token.text}` closes nothing", token)
        self.stack.pop()

    def _norm_end(self) -> None:
        order, length = "2", 1
        if self._text(1) == "_":
            order = joined(self._content(self.i + 2))
            length = self._group_end(self.i + 2) - self.i + 1
        self._emit("RNORM", order, length)

    # -- separators, lines, environments ------------------------------------------------

    def _separator(self, text: str | None = None) -> None:
        text = text or self._text()
        top = self._top()
        if top in ("head", "index"):
            self._emit("_SEPARATOR", text)
        elif top or text in ("|", "\\|") or self.given:
            self.given = self.given or not top
            self._comma_or_sep(text, top)
        else:
            self._stop()

    def _comma_or_sep(self, text: str, top: str) -> None:
        if top.startswith("env") and self._text(1) in ("&", "\\\\", f"\\end{{{top[4:]}}}"):
            self.i += 1
        else:
            self._emit("SEP", text)

    def _stop(self) -> None:
        """A comma between statements; at the end of a line it is only punctuation."""
        follows = self._text(1)
        if not follows or follows in ("\\\\", ".") or follows.startswith(("\\end{", "\\text{")):
            self.i += 1
        else:
            self._emit("_STOP", ",")

    def _point(self) -> None:
        if self.i + 1 < len(self.tokens) and self._text(1) not in ("\\\\",):
            if not self._text(1).startswith(("\\end{", "\\text{")):
                raise self._fault("`.` cannot stand here", self.tokens[self.i])
        self.i += 1

    def _row(self) -> None:
        if self._top().startswith("env"):
            if self._text(1).startswith("\\end{"):
                self.i += 1
            else:
                self._emit("_ROW", "\\\\")
        elif self.stack or self._continues_after_break():
            self.i += 1
        else:
            self.given = False
            self._emit("_STOP", "\\\\")

    def _continues_after_break(self) -> bool:
        ahead = 1
        while self._text(ahead) in ("\\\\", "&"):
            ahead += 1
        follows = self._text(ahead)
        if not follows or follows.startswith("\\end{") or self._last() in ("", *v.EXPECTS_MORE):
            return True
        return follows in v.RELATIONS or follows in v.OPERATORS or follows == ":"

    def _ampersand(self) -> None:
        if self._top().startswith("env"):
            self._emit("_AMP", "&")
        else:
            self.i += 1

    def _environment_or_text(self, text: str) -> None:
        if text.startswith("\\text{"):
            return self._comment(text[6:-1])
        verb, _, name = text[1:-1].partition("{")
        if name in v.LAYOUT_ENVIRONMENTS:
            self.i += 1
        elif name not in v.BLOCKS:
            raise self._fault(f"the language has no {name}", self.tokens[self.i])
        elif verb == "begin":
            self.stack.append((f"env:{name}", self.tokens[self.i]))
            self._emit(v.BLOCKS[name], name)
        else:
            self._end_environment(name)
        return None

    def _end_environment(self, name: str) -> None:
        if self._top() != f"env:{name}":
            raise self._fault("this environment was not begun here", self.tokens[self.i])
        self.stack.pop()
        self._emit("_ENDCASES" if name == "cases" else "_ENDBLOCK", name)

    def _comment(self, content: str) -> None:
        first = content.split()[0].strip(",.;").lower() if content.split() else ""
        if self.stack:
            self.i += 1
        elif first in v.QUALIFIERS:
            self._skip_line()
        elif first in ("and", "or", "so", "thus", "hence"):
            self._emit("_STOP", "and")
        else:
            self.i += 1

    def _skip_line(self) -> None:
        while self.i < len(self.tokens):
            if self._text() == "\\\\" or self._text() in _LAYOUT_ENDS:
                break
            self.i += 1

    def _stop_word(self) -> None:
        self._emit("_STOP", self._text())


_LAYOUT_ENDS = frozenset(f"\\end{{{name}}}" for name in v.LAYOUT_ENVIRONMENTS)
_HANDLERS = {
    "\\frac": _Words._fraction, "\\binom": lambda s: s._emit("_BINOM", "\\binom"),
    "\\sqrt": lambda s: s._emit("_SQRT", "\\sqrt"), "\\root": lambda s: s._emit("_ROOT", "\\root"),
    "{": _Words._open_brace, "}": _Words._close_brace, "^": _Words._power,
    "_": _Words._subscript, "'": _Words._prime, "|": _Words._bar, "\\|": _Words._double_bar,
    ",": _Words._separator, ";": _Words._separator, "\\\\": _Words._row, "&": _Words._ampersand,
    ".": _Words._point, ":": _Words._colon, "\\int": _Words._integral, "\\nabla": _Words._nabla,
    "\\partial": lambda s: s._emit("_PARTIAL", "\\partial"), "\\forall": _Words._skip_line,
    **dict.fromkeys(v.OPEN, _Words._open), **dict.fromkeys(v.CLOSE, _Words._close),
    **dict.fromkeys(v.STOPS, _Words._stop_word),
}  # fmt: skip
