"""Integrals with their domains, derivatives: a variable is named outside the expression."""

from __future__ import annotations

import itertools

from .. import vocabulary as v
from ..names import Match, joined
from ..tokenizer import Token, closing, split
from .stream import Stream, is_letter

Row = list[Token]
Limits = tuple[str, Row | None, Row | None]  # of which variable, from, to; none is infinite

LINES = {  # whether they begin at zero
    "\\mathbb R": False, "\\mathbb R_+": True, "\\mathbb R_{>0}": True, "\\mathbb R_{\\ge0}": True
}  # fmt: skip
_UP, _DOWN = frozenset({"<", "\\le"}), frozenset({">", "\\ge"})


def differential(s: Stream) -> bool:
    """``\\mathrm d x`` ends the innermost integral; two in a row end two, or one of both."""
    if not s.stack or not any(kind.startswith("int") for kind, _ in s.stack):
        return False
    keys, end = _differentials(s, s.i)
    if not keys:
        return False
    if not s.top().startswith("int"):
        raise s.fault("this is not closed before the integral ends", s.stack[-1][1])
    opened = (kind.startswith("int") for kind, _ in reversed(s.stack))
    waiting = len(list(itertools.takewhile(bool, opened)))
    groups = [[k] for k in keys] if len(keys) <= waiting or len(keys) == 1 else [keys]
    for group in groups:
        named = s.stack.pop()[0].removeprefix("int")  # the variable of its domain, if that has one
        if named and group != [named]:
            over = " and ".join(f"`{key}`" for key in group)
            raise s.fault(f"the domain is one of `{named}`, the integral runs over {over}")
        s.insert("DIFF", "\n".join(group), s.tokens[s.i], s.tokens[end - 1])
    s.i = end
    return True


def _differentials(s: Stream, i: int) -> tuple[list[str], int]:
    keys: list[str] = []
    while s.symbol(i) in v.DIFFERENTIALS and s.symbol(i + s.nucleus(i)):
        after = i + s.nucleus(i)
        match = s.names.match(s.tokens, after)
        if match and (match.kind == "nodes" or (match.kind == "value" and s.indefinite)):
            i = after + match.length
        elif s.free and _may_run(match) and is_letter(s.tokens[after].text):
            i = s.atom_end(after)
        else:
            break
        keys.append(joined(s.tokens[after:i]))
    return keys, i


def _may_run(match: Match | None) -> bool:
    """Return whether a name may be the variable of an integral without nodes."""
    return match is None or match.kind == "value"


def integral(s: Stream) -> None:
    """Read ``\\int``, with its domain where that stands in place of both limits."""
    sign = s.tokens[s.i]
    s.emit("INT", "\\int")
    s.indefinite = s.text() not in ("_", "^")
    if s.text() == "^":
        problem = "an integral has both its limits, or a domain such as `x > 0` or `[0, 1]`"
        raise s.fault(problem, s.tokens[s.i], s.tokens[s.group_end(s.i + 1)])
    domain = s.text() == "_" and s.at(s.behind_script(s.i, "_")) != "^"
    s.stack.append((f"int{_limits(s)}" if domain else "int", sign))


def _limits(s: Stream) -> str:
    """Put both limits in place of the domain that stands below; the variable it names, if any."""
    opened = s.i + 1
    end = s.group_end(opened)
    content, dimension = _without_power(s.content(opened))
    known = _interval(s, content) or _conditions(s, content)
    if known is None and s.free:
        s.i = end + 1
        return ""
    if known is None:
        allowed = "an integral has both its limits, or one such as `[0, 1]`, `x > 0`, `\\mathbb R`"
        problem = f"`{joined(content)}` is no domain that can be tested: {allowed}"
        ends = content or [s.tokens[opened]]
        raise s.fault(problem, ends[0], ends[-1])
    key, low, high = known

    def put(*texts: str) -> Row:  # what is put in stands for all of the domain
        return [Token(text, content[0].start, content[-1].end) for text in texts]

    first = [*put("_", "{"), *(low or put("-", "\\infty")), *put("}")]
    last = [*put("^", "{"), *(high or put("\\infty")), *put("}")]
    s.tokens[s.i : end + 1] = [*first, *last, *(put("^") if dimension else []), *dimension]
    return key


def _without_power(content: Row) -> tuple[Row, Row]:
    """The domain, and the group above it: ``[0, 1]`` and ``{d}`` of ``[0, 1]^d``."""
    hats = [i for i, token in enumerate(content) if token.text == "^"]
    if not hats or closing(content, hats[-1] + 1) != len(content) - 1:
        return content, []
    base = content[: hats[-1]]
    space = base[-1:] and (base[-1].text in (")", "]") or joined(base).endswith("\\mathbb R"))
    return (base, content[hats[-1] + 1 :]) if space else (content, [])


def _interval(s: Stream, content: Row) -> Limits | None:
    """``[0, 1)``, ``\\mathbb R``, each perhaps behind ``x \\in``."""
    parts, signs = split(content, {"\\in"})
    key = _variable(s, parts[0]) if signs else ""
    target = parts[-1]
    if len(parts) > 2 or not target or (signs and not key):
        return None
    space = joined(target)
    if space in LINES and space not in s.names.kinds:
        low = [Token("0", target[0].start, target[-1].end)] if LINES[space] else None
        return key, low, None
    if target[0].text not in "([" or target[-1].text not in ")]":
        return None
    ends, commas = split(target[1:-1], {","})
    if len(commas) != 1:
        return None
    return key, ends[0], ends[1]


def _conditions(s: Stream, content: Row) -> Limits | None:
    """``x > 0``, ``0 \\le x``, ``0 < x < 1``: an order of the variable and its limits."""
    parts, signs = split(content, _UP | _DOWN)
    falls = {sign.text in _DOWN for sign in signs}
    if len(falls) != 1 or len(parts) > 3:
        return None
    parts = parts[::-1] if falls == {True} else parts
    place = 0 if len(parts) == 2 and _variable(s, parts[0]) else 1
    key = _variable(s, parts[place])
    if not key:
        return None
    below, above = parts[:place], parts[place + 1 :]
    return key, below[0] if below else None, above[0] if above else None


def _variable(s: Stream, row: Row) -> str:
    """The variable that `row` is and nothing else, or nothing."""
    match = s.names.match(row, 0) if row else None
    if match:
        return match.key if match.kind == "nodes" and match.length == len(row) else ""
    return joined(row) if s.free and len(row) == 1 and is_letter(row[0].text) else ""


def declare_points(s: Stream) -> None:
    """The variable of ``|_{x = a}`` is a name, wherever it stands."""
    for i in [i for i, token in enumerate(s.tokens) if token.text == "|" and is_point(s, i)]:
        for part in split(s.content(i + 2), {","})[0]:
            s.names.add(joined(split(part, {"="})[0][0]), "index")


def is_point(s: Stream, i: int) -> bool:
    """Return whether ``|_{x = a}`` stands at place `i`."""
    scripted = s.at(i) == "|" and s.at(i + 1) == "_"
    return scripted and len(split(s.content(i + 2), {"="})[0]) > 1


def open_point(s: Stream) -> None:
    """Read ``\\left.``: ``\\right|_{x = a}`` closes it, and it is layout elsewhere."""
    depth = 0
    for i, token in enumerate(s.tokens[s.i :], start=s.i):
        depth += (token.side == "open" or token.text == "\\left.") - (token.side == "close")
        if depth == 0 and is_point(s, i):
            return s.open("_LPAR", "point")
        if depth == 0:
            break
    s.i += 1
    return None


def point(s: Stream) -> None:
    """Read ``|_{x = a}`` up to the brace."""
    bar = s.tokens[s.i]
    if s.top() == "point":
        s.stack.pop()
        s.insert("_RPAR", "|", bar, bar)
    s.lead("_AT", "|", "head")


def _is_of_a_call(s: Stream) -> bool:
    """Of ``\\nabla f(x)`` and ``\\nabla^2 f(x)`` the variable is x: write it below."""
    start = s.behind_script(s.i + 1, "^")
    if not is_letter(s.at(start)) or s.at(start) == "\\nabla":
        return False
    opened = s.atom_end(start)
    shut = opened + 1 + (s.atom_end(opened + 1) - opened - 1 if is_letter(s.at(opened + 1)) else 0)
    if s.at(opened) != "(" or s.at(shut) != ")" or shut == opened + 1:
        return False
    at = s.tokens[s.i].end
    below = [t._replace(start=at, end=at) for t in s.tokens[opened + 1 : shut]]
    mark, left, right = (s.tokens[s.i]._replace(text=text, start=at, end=at) for text in "_{}")
    s.tokens[s.i + 1 : s.i + 1] = [mark, left, *below, right]
    return True


_SQUARED = "the Laplacian and the Hessian are both written so: write derivatives"
_NABLA = {
    "^": _SQUARED,
    "\\cdot": "a divergence is not read: write its derivatives",
    "\\times": "a curl is not read: write its derivatives",
}  # fmt: skip


def nabla(s: Stream) -> None:
    """Read ``\\nabla`` up to the brace of its variable; ``\\nabla_x^2`` is two of them."""
    if s.text(1) != "_" and not _is_of_a_call(s):
        other = s.text(1) == "^" and joined(s.content(s.i + 2)) != "2"
        hint = _NABLA.get("" if other else s.text(1), "write the variable: \\nabla_x")
        raise s.fault(hint)
    sign = s.tokens[s.i : s.group_end(s.i + 2) + 1]
    end = s.i + len(sign)
    if s.at(end) == "^":
        power = s.group_end(end + 1) + 1
        exponent = joined(s.content(end + 1))
        if exponent == "2":
            s.tokens[end:power] = sign
        elif exponent in v.TRANSPOSES:
            before = s.tokens[s.i - len(sign) : s.i]
            if [token.text for token in before] == [token.text for token in sign]:
                del s.tokens[end:power]
    behind = s.i  # all the signs with their scripts
    while behind < len(s.tokens) and s.tokens[behind].text in ("\\nabla", "_", "^"):
        scripted = s.tokens[behind].text != "\\nabla"
        behind = s.group_end(behind + 1) + 1 if scripted else behind + 1
    words = (v.FUNCTIONS.keys() | v.BIG.keys()) - s.names.kinds.keys()
    opens = s.symbol(behind) in words
    s.lead("_OPENING_NABLA" if opens else "_NABLA", "\\nabla")


def fraction(s: Stream) -> None:
    """Read ``\\frac``: a derivative where ``\\partial`` or ``\\mathrm d`` says so."""
    above = s.i + 1
    below = s.group_end(above) + 1
    order = _is_derivative(s, above, below)
    if not order and _holds_differential(s, above, below):
        return
    if not order:
        s.emit("_FRAC", "\\frac")
        return
    start = above + order + 1
    function = s.names.match(s.tokens, start)
    alone = function is not None and start + function.length + 1 == below
    called = alone and s.at(s.group_end(below) + 1) == "("
    if function and called and function.kind == "callable":
        # of \frac{\partial f}{\partial x}(y) the variable needs no value of its own
        s.names.add(joined(s.tokens[below + 2 : s.atom_end(below + 2)]), "index")
    bare = above + order + 2 == below
    kind = "DERIVE" if bare else "_DERIVATIVE"
    s.emit(kind, kind)
    if bare:
        s.i = below
    else:
        del s.tokens[above + 1 : above + order + 1]


def _holds_differential(s: Stream, above: int, below: int) -> bool:
    """Put the ``\\mathrm dt`` of ``\\frac{x \\,\\mathrm dt}{t}`` behind the fraction."""
    if not s.top().startswith("int"):
        return False
    last = s.group_end(above)
    for i in range(above + 1, last):
        keys, end = _differentials(s, i)
        if keys and end == last:
            behind = s.group_end(below)
            at = s.tokens[behind].end
            moved = [t._replace(start=at, end=at) for t in s.tokens[i:last]]
            kept = s.tokens[above + 1 : i] or [s.tokens[i]._replace(text="1")]
            fraction = [*s.tokens[s.i : above + 1], *kept, *s.tokens[last : behind + 1]]
            s.tokens[s.i : behind + 1] = [*fraction, *moved]
            return True
    return False


def _is_derivative(s: Stream, above: int, below: int) -> int:
    """Count the tokens of the derivative sign in the numerator; 0 for a plain fraction."""
    sign = s.symbol(above + 1)
    ordinary = sign in v.DIFFERENTIALS and sign not in s.names.kinds
    if not (sign == "\\partial" or ordinary) or s.symbol(below + 1) != sign:
        return 0
    length = s.nucleus(above + 1)
    for i in range(s.group_end(below) - 1, below, -1):
        if s.symbol(i) == sign:
            s.tokens[i : i + length] = [s.tokens[i]._replace(text="\\partial")]
    powered = s.tokens[above + 1 + length].text == "^"
    return s.group_end(above + 2 + length) - above if powered else length
