"""Written forms of the functions of a field: ``J_\\nu(z)``, ``{}_2F_1(a, b; c; z)``.

A row of a notation pairs a written form with a name and the order of its arguments. The forms in a
display become calls of that name, ``\\operatorname{besselj}(\\nu, z)``, before it is read;
its places stay those of the display.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from checked_equations.evaluate.values import Word
from checked_equations.latex.macros import Expanded

from .token_patterns import Pattern, exchanged, letters_of, pieces_of

_PIECE = re.compile(
    r"\\(?:operatorname\*?|mathrm|mathsf|mathop|mathbf)\s*\{|\\[A-Za-z]+|\\.|.", re.DOTALL
)
_PRIME = re.compile(r"'|\^\{\\prime\}|\^\\prime(?![a-z])")
_CLOSES = re.compile(r"\\(right|[bB]igg?r?)$")
_OPEN = re.compile(r"\s*(\\left|\\[bB]igg?l?)?\s*([(\[])")
_GROUP = r"(?:[^{}]|\{[^{}]*\})*"
_ATOP = re.compile(rf"\{{({_GROUP})\\atop(?![a-z])({_GROUP})\}}(?=\s*[;,])")
_WRONSKIAN = re.compile(r"\\math(?:scr|cal)\s*\{W\}\s*(?:\\left)?\\\{")
_SHUT_SET = re.compile(r"(?:\\right)?\\\}")
# parts of the commands that write words
_CALLING = ("rm", "operator", "text", "box", "mathop", "arg", "genfrac")
_CALL = Pattern("<word> <group:name>", word=["\\mathrm"])
_ROW = re.compile(
    r"(?P<head>.+?)(?:\^\{(?P<sup>\(?[a-z0-9*,]+\)?)\})?(?:_\{(?P<sub>[a-z0-9,]+)\})?"
    r"(?P<call>\((?P<args>[^)]*)\))?$"
)


class Form(NamedTuple):
    """A written form: subscripts, superscripts, arguments, and the function that it calls."""

    sub: tuple[str, ...]
    sup: str
    args: tuple[str, ...] | None
    name: str
    order: tuple[str, ...]

    @property
    def above(self) -> tuple[str, ...]:
        """The parameters above: of ``(a,b)`` both, of ``(1)`` none."""
        inner = self.sup.strip("()")
        return tuple(inner.split(",")) if inner and not inner.isdigit() else ()


@dataclass(frozen=True, eq=False)
class Notation:
    """The forms of a field, its functions by name, its words and constants."""

    rows: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    words: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    patterns: tuple[tuple[str, str], ...] = ()
    rising: Mapping[int, str] = field(default_factory=dict)  # ``(a)_n``, by how many are inside
    reference: bool = False  # of a work in which ``\sim`` is far out, z complex
    plain: frozenset[str] = frozenset({"\\Gamma"})  # has no other use

    @cached_property
    def forms(self) -> dict[str, list[Form]]:
        """The forms of each head."""
        found: dict[str, list[Form]] = {}
        for written, called in self.rows.items():
            row = _ROW.match(written)
            assert row is not None, written
            name, _, order = called.partition("(")
            args = tuple(row["args"].replace(";", ",").split(",")) if row["call"] else None
            sub = tuple(row["sub"].split(",")) if row["sub"] else ()
            form = Form(
                sub, row["sup"] or "", args, name, tuple(filter(None, order.rstrip(")").split(",")))
            )
            found.setdefault(row["head"], []).append(form)
        return found

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """All heads, the longest first."""
        return tuple(sorted(self.forms, key=len, reverse=True))

    @cached_property
    def heads_by_sign(self) -> dict[str, list[str]]:
        """The heads by their first sign, the longest first."""
        found: dict[str, list[str]] = {}
        for head in self.heads:
            found.setdefault(head[0], []).append(head)
        return found

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], list[tuple[re.Pattern[str], str]]]:
        """The patterns of functions that have a written form of their own.

        Before them stands one for all, which tells at once where none of them begins.
        """
        own = [pattern for pattern, _ in self.patterns]
        every = "|".join(f"(?:{pattern})" for pattern in own) or "(?!)"
        one_of_all, *each = (re.compile(pattern) for pattern in (every, *own))
        return one_of_all, list(zip(each, (put for _, put in self.patterns), strict=True))

    @cached_property
    def doubtful(self) -> tuple[str, ...]:
        """The functions that are written by a letter that may as well be another thing.

        So may one that two of them share: ``E_n(x)`` is Euler's polynomial, or an integral.
        """
        heads = (
            h for h in self.heads if h not in self.plain and len(h.strip("\\")) - h.count("\\") < 4
        )
        lone = [form.name for head in heads for form in self.forms[head] if not form.sub]
        shapes: dict[tuple[str, int, int], set[str]] = {}
        for head, forms in self.forms.items():
            for form in (one for one in forms if not one.sup or one.sup.isalpha()):
                shape = (head, len(form.sub), len(form.args or ()))
                shapes.setdefault(shape, set()).add(form.name)
        shared = [name for names in shapes.values() if len(names) > 1 for name in names]
        return tuple(sorted({*lone, *shared}))

    def functions_in(self, latex: str) -> frozenset[str]:
        """The names of those functions that `latex` calls.

        >>> from .nist import PAPERS
        >>> sorted(PAPERS.functions_in(r"\\Gamma(z + 1) = z \\Gamma(z)"))
        ['gammafn']
        """
        if not any(sign in latex for sign in (*_CALLING, *self.heads)):
            return frozenset()
        written = self.written(latex).latex
        names = [call["name"].rstrip("P") for call in _CALL.every(written, pieces_of(written))]
        own = {word.removeprefix("\\operatorname{").rstrip("}") for word in self.words}
        return frozenset(names) & (frozenset(self.functions) | own)

    def heads_in(self, keys: Iterable[str]) -> bool:
        """Return whether a symbol is called as a function is."""
        return any(key.partition("_")[0] in self.heads for key in keys)

    def as_printed(self, latex: str) -> str:
        """`latex` with the calls that have no scripts as they are printed.

        >>> from .nist import PAPERS
        >>> PAPERS.as_printed(r"\\mathrm{gammafn}(z + 1)")
        '\\\\Gamma (z + 1)'
        """
        heads = {
            form.name: head
            for head, forms in reversed(self.forms.items())
            for form in forms
            if not form.sub and not form.sup
        }

        calls = ((call.span, call["name"]) for call in _CALL.every(latex, pieces_of(latex)))
        known = ((span, name) for span, name in calls if span and name in heads)
        return exchanged(latex, [(span, f"{heads[name]} ") for span, name in known])

    def bindings(self) -> dict[str, Any]:
        """Return the bindings that the evaluator takes from it."""
        called = {f"\\operatorname{{{name}}}": of for name, of in self.functions.items()}
        words = {name: Word(function) for name, function in self.words.items()}
        return {**called, **words}

    @lru_cache(maxsize=1024)  # noqa: B019 - there are as many as fields, and none is ever dropped
    def written(self, latex: str) -> Expanded:
        """`latex` with every form as a call."""
        latex = _ATOP.sub(_in_a_row, latex)
        other = any(head in latex for head in self.heads) or _WRONSKIAN.search(latex)
        if not (other or self.rising or self.compiled[0].search(latex)) and _is_closed(latex):
            return Expanded(latex, tuple((i, i + 1) for i in range(len(latex))))
        pieces = list(_Rewriter(self, latex).between(0, len(latex)))
        text = "".join(piece for piece, _ in pieces)
        return Expanded(text, tuple(span for piece, span in pieces for _ in piece))


def _is_closed(latex: str) -> bool:
    """Return whether each brace that is no sign has its other one."""
    bare = latex.replace("\\{", "").replace("\\}", "")
    depths = [*accumulate(1 if sign == "{" else -1 for sign in bare if sign in "{}")]
    return not depths or min(depths) == depths[-1] == 0


def _in_a_row(match: re.Match[str]) -> str:
    """``{a,b \\atop c}`` as ``a,b; c``, in the same places."""
    return f" {match[1]};    {match[2]} "


def _has(latex: str, letter: str) -> bool:
    """Return whether a letter stands in it that is no part of a command or a word."""
    return letter in letters_of(pieces_of(latex))


Span = tuple[int, int]
Piece = tuple[str, Span]


class Site(NamedTuple):
    """The surroundings of a head: its scripts, its primes, the arguments and where those end."""

    scripts: dict[str, Span]
    primes: int
    end: int
    arguments: list[Span] | None
    closed: Span | None


class Found(NamedTuple):
    """Which stretch is which parameter of a form, and a power that is none."""

    arguments: dict[str, Span]
    power: Span | None


class _Rewriter:
    """Walks through a display and puts forms as calls."""

    def __init__(self, notation: Notation, latex: str) -> None:
        self.notation, self.latex = notation, latex

    def between(self, start: int, end: int) -> Iterator[Piece]:
        """The pieces of a stretch."""
        i = start
        while i < end:
            found = (
                self._form(i, end, braced=True)
                or self._pattern(i, end)
                or self._form(i, end)
                or self._grouped(i, end)
                or self._rising(i, end)
                or self._wronskian(i, end)
            )
            pieces, i = found or self._as_it_is(i)
            yield from pieces

    def _as_it_is(self, i: int) -> tuple[list[Piece], int]:
        match = _PIECE.match(self.latex, i)
        assert match is not None, "every character is a piece"
        grouped = match[0].endswith("{") and len(match[0]) > 1
        stop = self._shut(match.end() - 1, "{", "}") + 1 if grouped else match.end()
        return [(self.latex[i:stop], (i, stop))], stop

    def _pattern(self, i: int, end: int) -> tuple[list[Piece], int] | None:
        one_of_all, each = self.notation.compiled
        for pattern, put in each if one_of_all.match(self.latex, i, end) else ():
            match = pattern.match(self.latex, i, end)
            if match:
                return [(match.expand(put), match.span())], match.end()
        return None

    def _form(self, i: int, end: int, *, braced: bool = False) -> tuple[list[Piece], int] | None:
        if braced and self.latex[i] != "{":
            return None
        begin = i + braced
        for head in self.notation.heads_by_sign.get(self.latex[begin : begin + 1], ()):
            spelled = f"{{{head}}}" if braced else head
            behind = i + len(spelled)
            command = head[0] == "\\" and head[-1].isalpha() and not braced
            if not self.latex.startswith(spelled, i):
                continue
            if command and self.latex[behind : behind + 1].isalpha():
                continue
            site = self._site(behind, end, grouped=self.latex[i - 1 : i] == "{")
            forms = self.notation.forms[head]
            matched = [(form, self._matched(form, site)) for form in forms]
            fit = [(form, found) for form, found in matched if found is not None]
            if fit:
                form, found = max(fit, key=lambda pair: self._fits(pair[0], site))
                return self._call(i, form, site, found)
        return None

    def _fits(self, form: Form, site: Site) -> tuple[bool, bool, bool]:
        """Rank the forms of a letter that has several meanings.

        First that of an index that is printed, then that of a parameter above, which another takes
        for a power; an index that must be whole is no fraction.
        """
        printed = any(key.isdigit() for key in form.sub)
        below = self._text(site.scripts["_"]) if form.sub == ("n",) else ""
        fraction = any(sign in below for sign in ("frac", "/", ".", "p", "q", "s"))
        return printed, bool(form.sup), not fraction

    def _grouped(self, i: int, end: int) -> tuple[list[Piece], int] | None:
        """A form in braces before its arguments: ``{H^{(1)}_\\nu}\\left(z\\right)``."""
        if self.latex[i] != "{":
            return None
        shut = self._shut(i, "{", "}")
        found = self._form(i + 1, end) if _OPEN.match(self.latex, shut + 1, end) else None
        return found if found and found[1] > shut else None

    def _rising(self, i: int, end: int) -> tuple[list[Piece], int] | None:
        """Brackets with an index: ``(a)_n`` and ``(a; q)_n``, by how many arguments."""
        opened = _OPEN.match(self.latex, i, end) if not self.latex[i].isspace() else None
        closed = self._close(opened) if opened and opened[2] == "(" else None
        if not opened or not closed or self.latex[closed[1] : closed[1] + 1] != "_":
            return None
        arguments = self._split(opened.end(), closed[0])
        below, stop = self._script(closed[1] + 1)
        name = self.notation.rising.get(len(arguments))
        if name is None:
            return None
        out: list[Piece] = [(f"\\operatorname{{{name}}}\\left(", (i, stop))]
        endless = self._text(below) == "\\infty" and len(arguments) > 1  # the product itself
        for place, span in enumerate(arguments if endless else (*arguments, below)):
            out += [(",", (i, stop))] * (place > 0)
            out += self.between(*span)
        return [*out, ("\\right)", (i, stop))], stop

    def _wronskian(self, i: int, end: int) -> tuple[list[Piece], int] | None:
        """``\\mathscr{W}\\{f(z), g(z)\\}`` as ``f g' - g f'``, by the variable that both have."""
        opened = _WRONSKIAN.match(self.latex, i, end)
        if opened is None:
            return None
        shut = _SHUT_SET.search(self.latex, opened.end(), end)
        parts = self._split(opened.end(), shut.start()) if shut else []
        by = next((key for key in "zxtwrsyu" if all(_has(self._text(p), key) for p in parts)), "")
        if shut is None or len(parts) != 2 or not by:
            return None
        whole, d = (i, shut.end()), rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}}{by}}}"
        f, g = ([("\\left(", whole), *self.between(*p), ("\\right)", whole)] for p in parts)
        slope = (d, whole)
        out = [("\\left(", whole), *f, slope, *g, ("-", whole), *g, slope, *f, ("\\right)", whole)]
        return out, shut.end()

    def _call(self, i: int, form: Form, site: Site, found: Found) -> tuple[list[Piece], int]:
        stop = site.closed[1] if form.args is not None and site.closed else site.end
        whole = (i, stop)
        out: list[Piece] = [(f"\\operatorname{{{form.name}{'P' * site.primes}}}\\left(", whole)]
        for place, key in enumerate(form.order):
            out += [(",", whole)] * (place > 0)
            out += self.between(*found.arguments[key])
        out.append(("\\right)", whole))
        if found.power:
            out += [("^{", whole), *self.between(*found.power), ("}", whole)]
        return out, stop

    # -- what stands behind a head ------------------------------------------------------

    def _site(self, at: int, end: int, *, grouped: bool) -> Site:
        scripts: dict[str, Span] = {}
        primes = 0
        while at < end:
            prime = _PRIME.match(self.latex, at)
            if prime:
                primes, at = primes + 1, prime.end()
            elif self.latex[at] in "_^" and self.latex[at] not in scripts and at + 1 < end:
                sign = self.latex[at]
                scripts[sign], at = self._script(at + 1)
            else:
                break
        shut = grouped and self.latex[at : at + 1] == "}"
        at += shut and _OPEN.match(self.latex, at + 1, end) is not None
        opened = _OPEN.match(self.latex, at, end)
        closed = self._close(opened) if opened else None
        arguments = self._split(opened.end(), closed[0]) if opened and closed else None
        return Site(scripts, primes, at, arguments, closed)

    def _script(self, at: int) -> tuple[Span, int]:
        """The inside of a script, and where it ends."""
        if self.latex[at] == "{":
            stop = self._shut(at, "{", "}")
            return (at + 1, stop), stop + 1
        match = _PIECE.match(self.latex, at)
        assert match is not None, "every character is a piece"
        return match.span(), match.end()

    def _matched(self, form: Form, site: Site) -> Found | None:
        """Return whether this form stands there."""
        if form.args is None and (site.arguments is not None or site.primes):
            return None
        parts = site.arguments if form.args is not None else []
        if parts is None or len(parts) != len(form.args or ()):
            return None
        below = self._split(*site.scripts["_"]) if "_" in site.scripts else []
        if len(below) != len(form.sub):
            return None
        if any(k.isdigit() and self._text(at) != k for k, at in zip(form.sub, below, strict=True)):
            return None
        above = self._above(form, site.scripts.get("^"))
        if above is None:
            return None
        found = {**dict(zip(form.args or (), parts, strict=True)), **above.arguments}
        return Found({**found, **dict(zip(form.sub, below, strict=True))}, above.power)

    def _above(self, form: Form, power: Span | None) -> Found | None:
        """Read the superscript: parameters, the one that is asked for, or a power."""
        bracketed = power is not None and self._text(power).startswith("(")
        if not form.sup:  # `J^{(2)}` is no power
            return None if bracketed and form.args is not None else Found({}, power)
        if power is None or (form.sup[0] == "(") != bracketed:
            return None
        if not form.above:
            return Found({}, None) if self._text(power) == form.sup else None
        start = self.latex.index("(", power[0]) + 1 if bracketed else power[0]
        stop = self.latex.rindex(")", power[0], power[1]) if bracketed else power[1]
        parts = self._split(start, stop)
        if len(parts) != len(form.above):
            return None
        return Found(dict(zip(form.above, parts, strict=True)), None)

    def _text(self, span: Span) -> str:
        return self.latex[slice(*span)].strip()

    def _split(self, start: int, end: int) -> list[Span]:
        """The stretches between commas and semicolons outside all brackets."""
        cuts, depth, i = [start], 0, start
        while i < end:
            match = _PIECE.match(self.latex, i, end)
            assert match is not None, "every character is a piece"
            piece = match[0]
            depth += piece[-1] in "([{" and piece not in ("\\(", "\\[")
            depth -= piece in (")", "]", "}", "\\}")
            if piece in (",", ";") and depth == 0:
                cuts += [i, match.end()]
            i = match.end()
        cuts.append(end)
        return list(zip(cuts[::2], cuts[1::2], strict=True))

    def _close(self, opened: re.Match[str]) -> Span | None:
        """Where the bracket that `opened` opens is closed: from its command to behind it."""
        sign = opened[2]
        try:
            stop = self._shut(opened.end() - 1, sign, {"(": ")", "[": "]"}[sign])
        except ValueError:
            return None
        command = _CLOSES.search(self.latex[:stop].rstrip())
        return (command.start() if command else stop), stop + 1

    def _shut(self, start: int, opens: str, shuts: str) -> int:
        depth = 0
        for i in range(start, len(self.latex)):
            if self.latex[i - 1 : i] == "\\" and opens == "{":  # `\left\{`, which `\right.` closes
                continue
            depth += (self.latex[i] == opens) - (self.latex[i] == shuts)
            if depth == 0:
                return i
        raise ValueError(f"`{opens}` is never closed")
