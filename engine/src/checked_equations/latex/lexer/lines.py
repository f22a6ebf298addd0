"""Commas, line breaks, environments and words between formulas: where a statement ends."""

from __future__ import annotations

import itertools
from collections.abc import Container

from .. import vocabulary as v
from ..names import nearest
from ..tokenizer import Token, outside
from .stream import Stream


def separator(s: Stream, text: str | None = None) -> None:
    """Read a comma or its like: between arguments, between conditions, between statements."""
    text = text or s.text()
    top = s.top()
    if top in ("head", "index"):
        s.emit("_SEPARATOR", text)
    elif s.condition and not top:
        # one in `for all x, y` and in `i = 1, \dots, N`; any other ends the condition
        words = itertools.takewhile(lambda word: word.type != "WHEN", reversed(s.out))
        bare = not any(word.type in ("REL", "IN") for word in words)
        texts = [token.text for token in s.tokens[s.i + 1 :]]
        dotted = (
            t for t in texts if t in v.RELATIONS | _ENDS or t.startswith(("\\dots", "\\text{"))
        )
        goes_on = bare or s.last() == "DOTS" or next(dotted, "") == "\\dots"
        if goes_on and s.text(1) not in _ENDS and not s.tokens[s.i + 1].wide:
            s.emit("SEP", text)
        else:
            _stop(s)
    elif top or text in ("|", "\\|") or s.given:
        s.given = s.given or not top
        if top.startswith("env") and s.text(1) in ("&", "\\\\", f"\\end{{{top[4:]}}}"):
            s.i += 1
        else:
            s.emit("SEP", text)
    else:
        _stop(s)


_ENDS = frozenset({"", ".", "\\\\"})


def _stop(s: Stream) -> None:
    """A comma between statements; at the end of a line it is only punctuation."""
    follows = s.text(1)
    # a sign on the next line begins a statement
    signed = follows == "\\\\" and s.text(_beyond(s, 1, _BREAKS)) in v.OPERATORS
    if not signed and (follows in _ENDS or follows.startswith(("\\end{", "\\text{"))):
        s.i += 1
    else:
        end_statement(s, ",")


def end_statement(s: Stream, value: str) -> None:
    """Read the token that ends a statement, and forget what was said of that."""
    s.emit("_STOP", value)
    s.given = s.margin = False
    s.condition = ""


def point(s: Stream) -> None:
    """Read a full stop, which may stand at the end of a line alone."""
    follows = s.text(1)
    if follows and follows != "\\\\" and not follows.startswith(("\\end{", "\\text{")):
        raise s.fault("`.` cannot stand here", s.tokens[s.i])
    s.i += 1


def row(s: Stream) -> None:
    """Read ``\\\\``: the end of a row, of a statement, or of neither."""
    if not s.stack:
        s.tabs = 0
    grid = s.top().startswith("env")
    if grid and not s.text(1).startswith("\\end{"):
        s.emit("_ROW", "\\\\")
    elif s.stack or _continues_after_break(s):
        s.i += 1
    else:
        end_statement(s, "\\\\")


def _continues_after_break(s: Stream) -> bool:
    ahead = _beyond(s, 1, _BREAKS)
    follows = s.text(ahead)
    if not follows or follows.startswith("\\end{") or s.last() in ("", *v.EXPECTS_MORE):
        return True
    if s.condition and (follows in v.OPERATORS or follows in v.RELATIONS):
        raise s.fault("a line goes on behind a condition: write the condition last", s.tokens[s.i])
    if follows in v.SIGNS:
        # a tab or an indent says that the sign goes on with the line above; but a tab says nothing
        # where the statement itself began at one
        sign = s.i + ahead
        aligned = s.tokens[sign].wide or (s.tokens[sign - 1].text == "&" and not s.margin)
        return aligned or not _has_relation(s, sign)
    return follows in v.RELATIONS or follows in v.OPERATORS or follows == ":"


def _has_relation(s: Stream, start: int) -> bool:
    """Whether a relation stands on the line that begins there, outside all brackets."""
    for token, free in outside(s.tokens[start:]):
        if token.text == "\\\\" or token.text.startswith("\\end{"):
            return False
        if free and token.text in v.RELATIONS:
            return True
    return False


def wide_space(s: Stream) -> None:
    """``a = b \\quad c = d`` is two statements; elsewhere the space is layout."""
    ahead = _beyond(s, 0, ("&",))
    follows = s.tokens[min(s.i + ahead, len(s.tokens) - 1)]
    begins_line = s.tokens[s.i - 1].text in _BREAKS
    if s.stack or begins_line or s.last() in ("", *_UNENDED) or _goes_on(follows):
        return
    # a bar stands between two things where none behind it could close it
    closed = any(other.text == follows.text for other in s.tokens[s.i + ahead + 1 :])
    if follows.text in ("|", "\\|") and (follows.side in ("middle", "close") or not closed):
        return
    if follows.text in v.SIGNS:
        problem = "ambiguous: does `\\quad` begin a new statement? write a comma, or `{}`"
        raise s.fault(problem, follows)
    stop(s)


def _goes_on(token: Token) -> bool:
    """What cannot begin a statement, or says itself whether it does."""
    mark = token.text in _MARKS or token.text in v.RELATIONS
    operator = token.text in v.OPERATORS and token.text not in v.SIGNS
    return mark or operator or token.text.startswith(("\\end{", "\\text{"))


_UNENDED = frozenset({"CALL", *v.EXPECTS_MORE})
_MARKS = frozenset({"\\forall", ",", ";", ".", ":", "\\\\", "&"})


def stop(s: Stream) -> None:
    """End the statement before the token that comes next."""
    end_statement(s, s.text())
    s.i -= 1


_BREAKS = ("\\\\", "&")


def _beyond(s: Stream, ahead: int, marks: Container[str]) -> int:
    while s.text(ahead) in marks:
        ahead += 1
    return ahead


def ampersand(s: Stream) -> None:
    """Read ``&``: a tab of a matrix, or of the layout."""
    if s.top().startswith("env"):
        return s.emit("_AMP", "&")
    s.tabs += not s.stack
    ahead = _beyond(s, 1, ("&",))
    follows = s.tokens[min(s.i + ahead, len(s.tokens) - 1)]
    kinds = itertools.takewhile(lambda kind: kind != "_STOP", (w.type for w in reversed(s.out)))
    # every second tab of a row ends a column; what stands in the next is another statement
    column = s.tabs % 2 == 0 and not s.stack and "REL" in kinds
    if not column or s.last() in _UNENDED or _goes_on(follows):
        pass
    elif follows.text not in v.SIGNS:
        stop(s)
    elif _has_relation(s, s.i + ahead):
        problem = "ambiguous: does `&` begin a new statement? write a comma before it"
        raise s.fault(problem, follows)
    s.margin = s.margin or s.last() in ("", "_STOP")
    s.i += 1
    return None


def environment(s: Stream, text: str) -> None:
    """Read ``\\begin{...}`` or ``\\end{...}``; those of the layout are passed over."""
    verb, _, name = text[1:-1].partition("{")
    if name in v.LAYOUT_ENVIRONMENTS:
        s.i += 1
    elif name not in v.BLOCKS:
        raise s.fault(f"the language has no {name}", s.tokens[s.i])
    elif verb == "begin":
        s.push(f"env:{name}")
        s.emit(v.BLOCKS[name], name)
    elif s.top() != f"env:{name}":
        raise s.fault("this environment was not begun here", s.tokens[s.i])
    else:
        s.stack.pop()
        s.emit("_ENDCASES" if name.endswith("cases") else "_ENDBLOCK", name)


_INSTEAD = {
    "else": "write cases", "otherwise": "write cases", "as": "check the value at a large number",
    "or": "write cases, or two equations", "unless": "write `if` and the opposite",
}  # fmt: skip


def phrase(s: Stream) -> None:
    """Read ``\\text{...}``."""
    said = " ".join(s.text()[6:-1].lower().strip(" ,.;~").split())
    if s.top() in ("env:cases", "env:dcases") and said in v.CASES:
        s.i += 1
    elif s.stack:
        _symbol(s, said)
    elif said in v.CONDITIONS:
        for_all(s, "all" if said in v.QUANTIFIERS else "if")
    elif said == "and" and s.condition:
        s.emit("WHEN", s.condition)
    elif said in v.CLAUSES | v.CONNECTIVES and not (said == "or" and s.condition):
        end_statement(s, said)
    else:
        _symbol(s, said)


def for_all(s: Stream, condition: str = "all") -> None:
    """Read ``\\forall``, or words that begin a condition."""
    if s.last() in ("", "_STOP"):
        raise s.fault("write what this is for behind the statement", s.tokens[s.i])
    s.given = False
    s.condition = condition
    s.emit("WHEN", condition)


def _symbol(s: Stream, said: str) -> None:
    """A word may name a function, and in a definition whatever a symbol may name."""
    name = s.text()
    called = s.text(1) in ("(", "[")
    words = " " in said or said in v.RESERVED or not said[:1].isalpha() or said.endswith(":")
    if s.free and not words and (called or s.last() not in v.ENDS_AN_OPERAND):
        return s.emit("CALL" if called else "NAME", name)
    if called and not words:
        known = nearest(name, s.names.kinds)
        raise s.fault(f"unbound symbol `{name}`{known}", s.tokens[s.i])
    usual = "bind them as a symbol, or write them in the text of the chapter"
    hint = _INSTEAD.get(said.partition(" ")[0], usual)
    raise s.fault(f"words that are not read: {hint}", s.tokens[s.i])
