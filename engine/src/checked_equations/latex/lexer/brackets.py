"""Brackets, bars, environments, commas, line breaks: signs that open, close and separate."""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from contextlib import suppress

from .. import vocabulary as v
from ..names import joined, nearest
from ..tokenizer import Token, closing, outside, split
from .numbers import number
from .stream import Stream, is_letter


def matching(s: Stream, opened: int, row: Sequence[Token] = ()) -> int:
    """The place of the bracket that closes the one at `opened`, in a `row` of its own perhaps."""
    row = row or s.tokens
    try:
        return closing(row, opened, v.OPEN, v.CLOSE)
    except ValueError:
        raise s.fault("this is never closed", row[opened]) from None


def close_brace(s: Stream) -> None:
    """Close the braces that are open."""
    if s.top() not in ("brace", "power", "index", "limit", "order", "under", "head", "shape"):
        raise s.fault("this is never closed", s.stack[-1][1])
    s.closed, _ = s.stack.pop()
    s.emit("_RB", "}")


def open(s: Stream) -> None:
    """Open ``(``, ``[`` or ``\\{``: of a group, a call, an average, a set, an interval."""
    token = s.tokens[s.i]
    if token.side == "close":
        return close(s)
    if s.last() == "IN" and token.text == "\\{":
        return s.open("_LSET", "\\{set")
    if s.last() == "IN" and s.top() != "head":
        return s.open("LINTERVAL", "interval")
    closed = s.closed if s.last() == "_RB" else ""  # the exponent of a function word: \cos^2(x)
    averaged = s.last() in v.AVERAGES or closed == "under"
    called = s.last() in ("CALL", "PRIMED") or closed == "order"
    kind = "average" if averaged else "call" if called else "group"
    word = "_FPAR" if s.last() == "FUNC" or closed == "power" else "_LPAR"
    return s.open(word, token.text + kind)


def close(s: Stream) -> None:
    """Close the bracket that is open, which must be of this kind."""
    token = s.tokens[s.i]
    top = s.top()
    interval = top == "interval" and token.text in (")", "]")
    if not interval and not top.startswith(v.CLOSE.get(token.text, " ")):
        culprit = s.stack[-1][1] if s.stack else token
        problem = f"`{culprit.text}` and `{token.text}` do not match"
        raise s.fault(problem if s.stack else f"`{token.text}` closes nothing", culprit)
    s.stack.pop()
    s.emit("RINTERVAL" if interval else "_RSET" if top.endswith("set") else "_RPAR", token.text)


def bar(s: Stream) -> None:
    """Read ``|`` or ``\\|``: it opens or closes bars or a norm, or stands between two things."""
    closes = s.top() == "|" and s.last() in v.ENDS_AN_OPERAND
    two = s.tokens[s.i : s.i + 2]
    if _is_pair(two) and not closes:  # `||`, but not that of |A||B|
        s.tokens[s.i : s.i + 2] = [two[0]._replace(text="\\|", end=two[1].end)]
    text = s.text()
    role = s.tokens[s.i].side or _role(s, text)
    if role == "open":
        s.open("_LBAR" if text == "|" else "_LNORM", text)
    elif role != "close":
        separator(s)
    elif _shut(s, text) == "|":
        s.emit("_RBAR", "|")
    elif s.text(1) == "_":
        opened = s.i + 2
        s.emit("RNORM", joined(s.content(opened)), s.group_end(opened) - s.i + 1)
    else:
        s.emit("RNORM", "")


def _is_pair(two: list[Token]) -> bool:
    bare = [token for token in two if token.text == "|" and not token.side]
    return len(bare) == 2 and bare[0].end == bare[1].start


def _role(s: Stream, text: str) -> str:
    if s.last() not in v.ENDS_AN_OPERAND:
        return "open"
    if s.top() == text:
        return "close"
    if s.top().endswith("average"):  # an odd number of bars follows before its bracket is closed
        depth = bars = 0
        for token in s.tokens[s.i + 1 :]:
            depth += (token.text in v.OPEN) - (token.text in v.CLOSE)
            bars += token.text == text and token.side != "middle"
            if depth < 0:
                break
        return "open" if bars % 2 == 1 else "middle"
    behind = range(s.i + 1, len(s.tokens))
    double = text == "\\|"
    followed = any(s.at(i) == text or (double and _is_pair(s.tokens[i : i + 2])) for i in behind)
    return "middle" if s.top().endswith("call") or not followed else "open"


def _shut(s: Stream, text: str) -> str:
    if s.top() != text:
        raise s.fault(f"`{s.text()}` closes nothing")
    return s.stack.pop()[0]


def open_angle(s: Stream) -> None:
    """Read ``\\langle``."""
    shut = 0
    with suppress(ValueError):
        shut = closing(s.tokens, s.i, ("\\langle",), ("\\rangle",))
    if shut and not any(t.text in (",", "|", ";", "\\|") for t in s.tokens[s.i : shut]):
        problem = "angles around one thing: write \\mathbb E[...] for an average"
        raise s.fault(problem, s.tokens[s.i], s.tokens[shut])
    s.open("_LANGLE", "\\langle")


def close_angle(s: Stream) -> None:
    """Read ``\\rangle``."""
    _shut(s, "\\langle")
    s.emit("_RANGLE", "\\rangle")


def open_rounded(s: Stream) -> None:
    """Read ``\\lfloor`` or ``\\lceil``."""
    s.open(v.ROUNDED[s.text()], s.text())


def close_rounded(s: Stream) -> None:
    """Read ``\\rfloor`` or ``\\rceil``."""
    _shut(s, s.text().replace("\\r", "\\l"))
    s.emit("_RROUNDED", s.text())


# Where a statement ends


def separator(s: Stream) -> None:
    """Read a comma or its like: between arguments, between conditions, between statements."""
    text, top = s.text(), s.top()
    if top in ("head", "index", "under"):
        s.emit("_SEPARATOR", text)
    elif s.condition and not top:
        if _lists_more(s):
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


def _lists_more(s: Stream) -> bool:
    """Return whether a condition goes on: `for all x, y`, `i = 1, \\dots, N`; else it ends."""
    if s.text(1) in _ENDS or s.tokens[s.i + 1].wide:
        return False
    words = itertools.takewhile(lambda word: word.type not in ("WHEN", "LEAD"), reversed(s.out))
    bare = not any(word.type in ("REL", "IN") for word in words)
    texts = (token.text for token in s.tokens[s.i + 1 :])
    ends = v.RELATIONS | _ENDS | {"\\dots"}
    dotted = next((t for t in texts if t in ends or t.startswith("\\text{")), "") == "\\dots"
    return bare or dotted or s.last() == "DOTS"


def _stop(s: Stream) -> None:
    """A comma between statements; at the end of a line it is only punctuation."""
    follows = s.text(1)
    # a sign on the next line begins a statement
    signed = follows == "\\\\" and s.text(_beyond(s, 1, _BREAKS)) in v.OPERATORS
    if not signed and (follows in _ENDS or follows.startswith(("\\end{", "\\text{"))):
        s.i += 1
    elif _is_condition(s, s.i + 1):
        _condition(s, 1)
    else:
        end_statement(s, ",")


def _is_condition(s: Stream, start: int) -> bool:
    """Return whether ``i = 1, \\dots, n`` or ``x \\in \\mathbb R`` stands there: no statement."""
    while s.at(start) in _BREAKS:
        start += 1
    names, i = 0, start
    while is_letter(s.at(i)) and s.at(i) not in (*v.OPERATORS, *v.RELATIONS):
        names, i = names + 1, s.atom_end(i)
        i += s.at(i) == ","
    if not names or s.at(i - 1) == "," or s.at(i) not in ("=", "\\in"):
        return False
    return s.at(i) == "\\in" or _is_range(s, i)


def _is_range(s: Stream, equals: int) -> bool:
    """Return whether numbers follow, with dots among them, or the end behind them."""
    ends = v.RELATIONS | _ENDS
    row = list(itertools.takewhile(lambda t: t.text not in ends, s.tokens[equals + 1 :]))
    if any(token.text.startswith("\\text{") for token in row):
        return False
    parts, _ = split(row, {","})
    stop = next((i for i, part in enumerate(parts) if part and part[0].wide and i), len(parts))
    texts = [[token.text for token in part] for part in parts[:stop]]
    if ["\\dots"] in texts:
        return all(texts[: texts.index(["\\dots"])])
    numbers = len(texts) > 1 and all(len(t) == 1 and t[0].isdecimal() for t in texts)
    if numbers and not s.stack:  # `i = 1, 2` is said of a set
        last = parts[stop - 1][-1]
        end = s.tokens.index(last) + 1
        s.tokens.insert(end, last._replace(text="\\}"))
        first = s.tokens[equals + 1]
        s.tokens[equals] = s.tokens[equals]._replace(text="\\in")
        s.tokens.insert(equals + 1, first._replace(text="\\{", wide=False))
    return numbers


def _condition(s: Stream, tokens: int) -> None:
    s.insert("WHEN", "all", s.tokens[s.i], s.tokens[s.i])
    s.i += tokens
    s.given = False
    s.condition = "all"


def end_statement(s: Stream, value: str, tokens: int = 1) -> None:
    """Read the `tokens` that end a statement, and forget its state."""
    s.insert("_STOP", value, s.tokens[s.i], s.tokens[s.i])
    s.i += tokens
    s.given = s.margin = False
    s.condition = ""


def point(s: Stream) -> None:
    """Read a full stop, which may stand at the end of a line alone."""
    follows = s.text(1)
    begins = follows.isdecimal() and s.last() not in v.ENDS_AN_OPERAND
    if begins and s.tokens[s.i].end == s.tokens[s.i + 1].start:
        return number(s)
    if follows and follows != "\\\\" and not follows.startswith(("\\end{", "\\text{")):
        raise s.fault("`.` cannot stand here")
    s.i += 1
    return None


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
        raise s.fault("a line goes on behind a condition: write the condition last")
    if follows in v.SIGNS:
        # a tab or an indent says that the sign goes on with the line above; but a tab says nothing
        # where the statement itself began at one
        sign = s.i + ahead
        aligned = s.tokens[sign].wide or (s.tokens[sign - 1].text == "&" and not s.margin)
        return aligned or not _has_relation(s, sign)
    return follows in v.RELATIONS or follows in v.OPERATORS or follows == ":"


def _has_relation(s: Stream, start: int) -> bool:
    """Return whether a relation stands on the line that begins there, outside all brackets."""
    shown = ((token.text, free) for token, free in outside(s.tokens[start:]))
    line = itertools.takewhile(lambda pair: not pair[0].startswith(("\\\\", "\\end{")), shown)
    return any(free and text in v.RELATIONS for text, free in line)


def wide_space(s: Stream) -> None:
    """``a = b \\quad c = d`` is two statements; elsewhere the space is layout."""
    start = s.i + _beyond(s, 0, ("&",))
    begins_line = s.tokens[s.i - 1].text in _BREAKS and not _is_second_column(s)
    if s.stack or begins_line or s.last() == "" or _goes_on(s, s.at(start)):
        return None
    follows, *behind = s.tokens[start:]
    # a bar stands between two things where none behind it could close it
    closed = any(other.text == follows.text for other in behind)
    if follows.text in ("|", "\\|") and (follows.side in ("middle", "close") or not closed):
        return None
    if follows.text in v.SIGNS:
        problem = "ambiguous: does `\\quad` begin a new statement? write a comma, or `{}`"
        raise s.fault(problem, follows)
    if _is_condition(s, s.i) and not s.condition:
        return _condition(s, 0)
    end_statement(s, s.text(), 0)
    return None


def _is_second_column(s: Stream) -> bool:
    """Return whether a tab stands between two relations: ``a &= b & \\quad c = d``."""
    kinds = itertools.takewhile(lambda kind: kind != "_STOP", (w.type for w in reversed(s.out)))
    related = "REL" in kinds and _has_relation(s, s.i)
    return s.tokens[s.i - 1].text == "&" and related and s.tokens[s.i].text not in v.SIGNS


def _goes_on(s: Stream, text: str) -> bool:
    """Return whether more is due, or `text` cannot begin a statement or decides by itself."""
    operator = text in v.OPERATORS and text not in v.SIGNS
    mark = operator or text in v.RELATIONS or text.startswith(("\\end{", "\\text{"))
    due = s.last() == "CALL" or s.last() in v.EXPECTS_MORE
    return due or mark or text in ("", "\\forall", ",", ";", ".", ":", "\\\\", "&")


_BREAKS = ("\\\\", "&")


def _beyond(s: Stream, ahead: int, marks: Container[str]) -> int:
    while s.text(ahead) in marks:
        ahead += 1
    return ahead


def ampersand(s: Stream) -> None:
    """Read ``&``: a tab of a matrix, or of the layout."""
    if s.top().startswith("env"):
        s.emit("_AMP", "&")
        return
    s.tabs += not s.stack
    start = s.i + _beyond(s, 1, ("&",))
    follows = s.at(start)
    kinds = itertools.takewhile(lambda kind: kind != "_STOP", (w.type for w in reversed(s.out)))
    # every second tab of a row ends a column; what stands in the next is another statement
    column = s.tabs % 2 == 0 and not s.stack and "REL" in kinds
    if column and not _goes_on(s, follows):
        if follows not in v.SIGNS:
            end_statement(s, s.text(), 0)
        elif _has_relation(s, start):
            problem = "ambiguous: does `&` begin a new statement? write a comma before it"
            raise s.fault(problem, s.tokens[start])
    s.margin = s.margin or s.last() in ("", "_STOP")
    s.i += 1


def environment(s: Stream) -> None:
    """Read ``\\begin{...}`` or ``\\end{...}``; those of the layout are passed over."""
    verb, _, name = s.text()[1:-1].partition("{")
    if name in v.LAYOUT_ENVIRONMENTS:
        s.i += 1
    elif name not in v.BLOCKS:
        raise s.fault(f"the language has no {name}")
    elif verb == "begin":
        s.open(v.BLOCKS[name], f"env:{name}")
    elif s.top() != f"env:{name}":
        raise s.fault("this environment was not begun here")
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
    if (s.top() in ("env:cases", "env:dcases") and said in v.CASES) or _is_reason(said):
        s.i += 1
    elif s.stack:
        _symbol(s, said)
    elif said in v.CONDITIONS:
        for_all(s, "all" if said in v.QUANTIFIERS else "if")
    elif said == "and" and s.condition:
        s.emit("WHEN", s.condition)
    elif said in v.CLAUSES | v.CONNECTIVES:
        end_statement(s, said)
    else:
        _symbol(s, said)


def _is_reason(said: str) -> bool:
    """Return whether it stands in brackets and gives a reason: ``(by symmetry)``."""
    first, *_ = said[1:-1].split() or [""]
    return said[:1] == "(" and said[-1:] == ")" and first in v.REASONS


def for_all(s: Stream, condition: str = "all") -> None:
    """Read ``\\forall``, or words that begin a condition, before a statement or behind it."""
    leads = s.last() in ("", "_STOP")
    if leads and not _statement_follows(s):
        raise s.fault("write what this is for behind the statement")
    s.given = False
    s.condition = condition
    s.emit("LEAD" if leads else "WHEN", condition)


def _statement_follows(s: Stream) -> bool:
    """Return whether something ends the condition that begins here, before the display ends."""
    for token, free in outside(s.tokens[s.i + 2 :]):
        parts = token.wide or token.text in (",", ";", "\\\\") or token.text.startswith("\\text{")
        if free and parts:
            return True
    return False


def _symbol(s: Stream, said: str) -> None:
    """A word may name a function, and in a definition whatever a symbol may name."""
    name = s.text()
    called = s.text(1) in ("(", "[")
    words = " " in said or said in v.RESERVED or not said[:1].isalpha() or said.endswith(":")
    if s.free and not words and (called or s.last() not in v.ENDS_AN_OPERAND):
        return s.emit("CALL" if called else "NAME", name)
    if called and not words:
        known = nearest(name, s.names.kinds)
        raise s.fault(f"unbound symbol `{name}`{known}")
    usual = "bind them as a symbol, or write them in the text of the chapter"
    hint = _INSTEAD.get(said.partition(" ")[0], usual)
    raise s.fault(f"words that are not read: {hint}")
