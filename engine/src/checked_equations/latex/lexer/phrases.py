"""Words between formulas: each is a condition, the end of a statement, a name, or a fault."""

from __future__ import annotations

from .. import vocabulary as v
from ..names import nearest
from .lines import end_statement
from .stream import Stream

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
        _condition(s, quantifies=said in v.QUANTIFIERS)
    elif said == "and" and s.condition:
        s.emit("WHEN", s.condition)
    elif said in v.CLAUSES | v.CONNECTIVES and not (said == "or" and s.condition):
        s.emit("_STOP", said)
        end_statement(s)
    else:
        _symbol(s, said)


def _condition(s: Stream, *, quantifies: bool) -> None:
    if s.last() in ("", "_STOP"):
        raise s.fault("write what this is for behind the statement", s.tokens[s.i])
    s.given = False
    s.condition = "all" if quantifies else "if"
    s.emit("WHEN", s.condition)


def for_all(s: Stream) -> None:
    """Read ``\\forall``."""
    _condition(s, quantifies=True)


def _symbol(s: Stream, said: str) -> None:
    """A word may name a function, and in a definition whatever a symbol may name."""
    name = s.text()
    follows = s.text(1)
    called = follows in ("(", "[")
    if " " in said or said in v.RESERVED or not said[:1].isalpha() or said.endswith(":"):
        raise _unread(s, said)
    if s.free and called:
        return s.emit("CALL", name)
    if called:
        known = nearest(name, s.names.kinds)
        raise s.fault(f"unbound symbol `{name}`{known}", s.tokens[s.i])
    if s.free and s.last() not in v.ENDS_AN_OPERAND:
        return s.emit("NAME", name)
    raise _unread(s, said)


def _unread(s: Stream, said: str) -> Exception:
    first = said.split()[0] if said else ""
    usual = "bind them as a symbol, or write them in the text of the chapter"
    return s.fault(f"words that are not read: {_INSTEAD.get(first, usual)}", s.tokens[s.i])
