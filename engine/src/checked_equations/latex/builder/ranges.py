"""Running things: averages, ranges of sums and products, and the conditions of a statement."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from lark import Token as Word

from .. import tree as t
from ..ambiguities import mentions_free, trailing_factor
from ..names import DISTRIBUTIONS, normal, signature
from ..tokenizer import tokens
from ..tree import Node, Span
from .expressions import Claim, Expressions, around, below, bind, one_product

_KINDS = {"EXPECT": t.Expectation, "VARIANCE": t.Variance, "COVARIANCE": t.Covariance}
_ORDERS = {"[": "\\le", "]": "\\le", "(": "<", ")": "<"}
_RELATIONS = frozenset({"=", "<", ">", "\\le", "\\ge", "\\ne", "\\succeq", "\\preceq"})
_INFINITY = t.Constant("\\infty")
_INFINITE = (_INFINITY, t.Sum((_INFINITY,), (-1,)), t.Sum((_INFINITY,), (1,)))
Items = tuple[Node, ...]
Listed = tuple[Items, Node | None]  # what a set lists, and where its dots end


class TreeBuilder(Expressions):
    """The nodes of an equation, from all rules of the grammar.

    Where none is written a range begins at one, as the entries of a vector do.
    """

    # -- averages, in the order in which they can be drawn -------------------------------

    def under(self, span: Span, drawn: Word, *given: Node) -> t.Under:
        """Return one distribution below an average, with the variables drawn from it."""
        distribution, *variables = drawn.split("\t")
        return t.Under(tuple(variables), distribution, given, span=span)

    def averaged(self, span: Span, *parts: Any) -> tuple[Items, Items]:
        """Return the averaged expression, and the part behind the bar."""
        bars = (i for i, p in enumerate(parts) if isinstance(p, Word) and p in ("|", ";"))
        bar = next(bars, len(parts))
        return parts[:bar:2], parts[bar + 1 :: 2]

    def average(self, span: Span, sign: Word, *parts: Any) -> Node:
        """``\\mathbb E_x[body]`` and its like; the covariance of one thing is its variance."""
        *over, (bodies, given) = parts
        kind = _KINDS[sign.type]
        if kind is t.Covariance and len(bodies) == 1:
            kind = t.Variance
        if len(bodies) != (2 if kind is t.Covariance else 1):
            raise self._fault("an average is of one expression, a covariance of one or two", span)
        if given:
            over = [self._conditional(over, bodies, given, span)]
        elif not over:
            over = self._own(bodies, span)
        for under in over:
            key = under.distribution or ",".join(under.variables)
            if not under.distribution:
                problem = f"`{key}` is bound to no distribution without what it is given"
                raise self._fault(problem, span)
            # `\mathbb E_q[f(x)]` does not say that x is drawn, unless `q(x)` is bound
            own = under.variables == (key,) and self.kinds.get(key, "nodes") != "nodes"
            if own and key not in _named(bodies):
                problem = f"say of which variable: `{key}(...)`, for `{key}` itself does not occur"
                raise self._fault(problem, span)
        ranges = self._in_order(over, span)
        drawn = [key for under in ranges for key in under.variables]
        return kind(ranges, *(bind(body, drawn) for body in bodies), span=span)

    def averaging(self, span: Span, sign: Word, *parts: object) -> Node:
        """``\\mathbb E_0 \\sum_t x_t`` in a definition: the mean of the rest of the term."""
        *over, body = parts
        return self.average(span, Word(str(sign), ""), *over, ((body,), ()))

    def _own(self, bodies: Items, span: Span) -> list[t.Under]:
        """The one distribution that is bound for a variable of the expression."""
        named = _named(bodies)
        alone = [k for k in named if self.kinds.get(k) in DISTRIBUTIONS]
        forms = [k for k, f in self.forms.items() if not f.given and set(f.variables) <= named]
        if len(alone) + len(forms) == 1:
            key = (*alone, *forms)[0]
            variables = self.forms[key].variables if forms else (key,)
            return [t.Under(variables, key)]
        if self.kinds:
            raise self._fault("say over which variable: \\mathbb E_x[...]", span)
        return []

    def _conditional(self, over: list[t.Under], bodies: Items, given: Items, span: Span) -> t.Under:
        """Return the one distribution that is bound as given the part behind the bar."""
        known = over and over[0].distribution not in ("", *over[0].variables)
        if any(under.given for under in over) or len(over) > 1 or known:
            raise self._fault("say under the sign or behind the bar, not both", span)
        settings = [part if isinstance(part, tuple) else ("", part) for part in given]
        given = tuple(node for _, node in settings)
        written = tuple(key or normal(self.latex[slice(*node.span)]) for key, node in settings)
        form = self._form_given(written, set(over[0].variables) if over else _named(bodies), span)
        depends = given if self.kinds[form] == "conditional" else ()
        return t.Under(self.forms[form].variables, form, depends)

    def _form_given(self, written: tuple[str, ...], drawn: Set[str], span: Span) -> str:
        """Return the distribution of some of `drawn` that is bound given the `written` symbols."""
        named = (k for k, form in self.forms.items() if form.given == written)
        forms = [key for key in named if set(self.forms[key].variables) <= drawn]
        if len(forms) != 1:
            said = ", ".join(written)
            problem = f"{'nothing is' if not forms else 'several are'} bound as given `{said}`"
            raise self._fault(f"{problem}: bind `y \\mid {said}` to a Distribution", span)
        return forms[0]

    def _in_order(self, over: Sequence[t.Under], span: Span) -> tuple[t.Under, ...]:
        """Sort distributions: those that others are given come first, and are drawn then."""
        drawn = [key for under in over for key in under.variables]
        if len(set(drawn)) < len(drawn):
            raise self._fault("a variable is drawn twice here", span)
        waiting = [replace(u, given=tuple(bind(g, drawn) for g in u.given)) for u in over]
        out: list[t.Under] = []
        while waiting:
            later = {t.Index(key) for under in waiting for key in under.variables}
            ready = [u for u in waiting if later.isdisjoint(t.parts(u))]
            if not ready:
                raise self._fault("each of these is given the other", span)
            out.append(ready[0])
            waiting.remove(ready[0])
        return tuple(out)

    # -- ranges --------------------------------------------------------------------------

    def range(self, span: Span, *parts: Any) -> t.Range:
        """Return the range below a sum: ``i = 1``, ``i \\in S``, ``i < j``, ``j \\ne i``, ``i``."""
        key = str(parts[0])
        itself = t.Name(key, span=span)
        if len(parts) == 1:
            return t.Range(key, members=itself, span=span)
        sign, target = parts[1].type, parts[2]
        if sign == "EQ":
            return t.Range(key, first=target, span=span)
        if sign in ("LT", "LE"):
            return t.Range(key, t.Number(1.0), below(target, sign), span=span)
        if sign == "NE":
            return t.Range(key, members=itself, without=target, span=span)
        if isinstance(target, Node):
            return t.Range(key, members=target, span=span)
        listed, last = target
        if last is None:
            return t.Range(key, members=t.Block((listed,), span=around(listed)), span=span)
        if len(listed) > 1:
            raise self._fault("write the range with its two ends: 1, \\dots, N", span)
        return t.Range(key, listed[0], last, span=span)

    def big(self, span: Span, word: Word, *parts: Any) -> Node:
        """``\\sum_{i=1}^n body`` and its like; several ranges are nested."""
        kind = str(word)
        *limits, body = parts
        ranges = self._merged(limits)
        keys = {over.index for over in ranges}
        last = body.factors[-1] if isinstance(body, t.Product) else body
        # `\prod_t a_t \prod_t b_t` are two products, unless the second mentions what runs
        bracketed = last.span[1] != span[1]
        nested = bracketed or not _only_products(last) or mentions_free(last, keys)
        ends = kind == "prod" and isinstance(body, t.Product) and not nested
        if ends:
            body = one_product(body.factors[:-1])
        if self.several:
            self._refuse(trailing_factor(kind, keys, body), body.span)
        upper = None if isinstance(limits[-1], t.Range | list) else limits[-1]
        own = (span[0], body.span[1]) if ends else span
        for over in reversed(self._complete(ranges, upper, span)):
            body = t.Reduction(kind, over, bind(body, {over.index}), span=own)
        return t.Product((body, last), span=span) if ends else body

    def _merged(self, parts: list[object]) -> list[t.Range]:
        """One range an index: ``i = 1, i \\ne j`` is one that leaves out ``j``."""
        flat = [over for part in parts for over in (part if isinstance(part, list) else [part])]
        merged: dict[str, t.Range] = {}
        for over in flat:
            if isinstance(over, t.Range):
                known = merged.get(over.index)
                merged[over.index] = over if known is None else self._both(known, over)
        # of `i, j = 1, i \ne j` the i runs inside, for each j
        without = {key: over.without for key, over in merged.items()}
        inner = {
            key for key, one in without.items() if isinstance(one, t.Name) and one.key in merged
        }
        return sorted(merged.values(), key=lambda over: over.index in inner)

    def _both(self, over: t.Range, other: t.Range) -> t.Range:
        without = other.without
        if without is None or other.members != t.Name(other.index) or over.without is not None:
            problem = f"`{over.index}` runs twice; beside its range only `\\ne` may stand"
            raise self._fault(problem, other.span)
        return replace(over, without=without, span=around([over, other]))

    def ordered(self, span: Span, low: Node, order: Word, *inner: Any) -> list[t.Range]:
        """``1 \\le i < j \\le N``, and ``1 \\le i \\le N``."""
        first = low if order.type == "LE" else _next(low)
        indices, signs = inner[:-1:2], inner[1::2]
        if not all(isinstance(index, t.Name) for index in indices):
            raise self._fault("between the limits stands an index, and perhaps a second", span)
        end = below(inner[-1], signs[-1].type)
        if len(indices) == 1:
            return [t.Range(indices[0].key, first, end, span=span)]
        start = first if signs[0].type == "LE" else _next(first)
        last = below(indices[1], signs[0].type)
        outer = t.Range(indices[1].key, start, end, span=span)
        return [outer, t.Range(indices[0].key, first, last, span=span)]

    def _open_end(self, over: t.Range) -> t.Name | None:
        """The ``j`` of ``i < j`` where nothing says how far it goes."""
        last = over.last
        end = last.terms[0] if isinstance(last, t.Sum) and last.signs == (1, -1) else last
        return end if isinstance(end, t.Name) and end.key not in self.kinds else None

    def _complete(self, ranges: list[t.Range], upper: Node | None, span: Span) -> list[t.Range]:
        """Give ``i, j = 1`` and its upper limit to every index that they are written for."""
        if upper is None and all(over.members or over.last for over in ranges):
            return ranges
        second = self._open_end(ranges[0]) if len(ranges) == 1 else None
        if second is not None and upper is not None:
            # the second index goes up to the limit, the first up to the second
            inner, start = ranges[0], t.Number(1.0 if ranges[0].last == second else 2.0)
            return [t.Range(second.key, start, upper, span=around([inner, upper])), inner]
        # `i = 1`, or the `i` of `i, j = 1`: what an upper limit may belong to
        if any(over.last or over.members not in (None, t.Name(over.index)) for over in ranges):
            raise self._fault("an upper limit stands beside a range that has its end already", span)
        first = next((over.first for over in reversed(ranges) if over.first), None)
        if len(ranges) == 1 and ranges[0].without is not None:  # `j \ne i` and an upper limit
            first = first or t.Number(1.0)
        if upper is not None and first is not None:
            limits = [replace(over, first=over.first or first, last=upper) for over in ranges]
            return [replace(over, members=None, span=around([over, upper])) for over in limits]
        raise self._fault("a range needs both its limits, or a set", span)

    # -- conditions: `for`, `if`, `for all` -----------------------------------------------

    def lead(self, span: Span, *parts: object) -> tuple[object, ...]:
        """``\\text{If } x > 0,`` before a chain."""
        return parts

    def claim(self, span: Span, *parts: Any) -> Claim:
        """Return a chain and its conditions; a bare name is a remark on the chain, and no more."""
        lead, (chain, *rest) = (parts[0], parts[1:]) if isinstance(parts[0], tuple) else ((), parts)
        parts = (*lead, *rest)
        stated: list[Node] = []
        for word, conditions in zip(parts[::2], parts[1::2], strict=True):
            bare = [c for c in conditions if not isinstance(c, t.Step | t.Member)]
            if bare and (word != "all" or not all(isinstance(c, t.Name) for c in bare)):
                raise self._fault("a condition needs a relation", bare[0].span)
            stated += conditions
        return chain, stated

    def holds(self, span: Span, items: Items, *parts: Any) -> list[Node]:
        """``if x > 0``, ``for 0 < x < 1``."""
        for sign in parts[::2]:
            if sign not in _RELATIONS:
                problem = f"`{sign}` is no condition that numbers could meet"
                raise self._fault(problem, (sign.start_pos, sign.end_pos))
        rest = zip(parts[1::2], parts[2::2], parts[3::2], strict=False)
        three = [*((item, *parts[:2]) for item in items), *rest]
        return [t.Step(a, str(sign), b, span=around([a, b])) for a, sign, b in three]

    def listed(self, span: Span, items: Items, relation: Word, *parts: object) -> list[Node]:
        """``i = 1, 2, \\dots, N``."""
        if relation != "=":
            raise self._fault("a list with dots follows `=`", span)
        return self.member(span, items, relation, self.set(span, *parts))

    def member(self, span: Span, items: Items, sign: Word, target: Node | Listed) -> list[Node]:
        """``i \\in S``, ``i \\in \\{1, 2\\}``."""
        given = (target,) if isinstance(target, Node) else (None, *target)
        return [t.Member(item, *given, span=item.span) for item in items]

    def space(self, span: Span, items: Items, sign: Word, name: Word, *shape: object) -> list[Node]:
        """``x \\in \\mathbb R^n``."""
        sizes, _ = self.set(span, *shape)
        space = t.Space(str(name), sizes, span=(name.start_pos or 0, span[1]))
        return self.member(span, items, sign, space)

    def set(self, span: Span, *parts: object) -> Listed:
        """Return the listed values, and the end of the dots."""
        numbers = tuple(part for part in parts if isinstance(part, Node))
        dotted = any(isinstance(part, Word) and part.type == "DOTS" for part in parts)
        if dotted and not isinstance(parts[-1], Node):  # `n = 0, 1, \dots`
            return numbers, _INFINITY
        return (numbers[:-1], numbers[-1]) if dotted else (numbers, None)

    def interval(self, span: Span, items: Items, *parts: Any) -> list[Node]:
        """``x \\in [0, 1)``: the relations that its two ends make."""
        _, opened, low, _, high, shut = parts
        orders = [(low, _ORDERS[opened], None), (None, _ORDERS[shut], high)]
        return [
            t.Step(left or item, order, right or item, span=item.span)
            for item in items
            for left, order, right in orders
            if (left or right) not in _INFINITE
        ]


def _only_products(node: Node) -> bool:
    if isinstance(node, t.Product):
        return all(map(_only_products, node.factors))
    return isinstance(node, t.Reduction) and node.kind == "prod"


def _next(limit: Node) -> Node:
    if isinstance(limit, t.Number):
        return replace(limit, value=limit.value + 1)
    return t.Sum((limit, t.Number(1.0)), (1, 1), span=limit.span)


def _named(nodes: Items) -> set[str]:
    return {part.key for n in nodes for part in t.parts(n) if isinstance(part, t.Name)}


def behind_the_bar(under: t.Under) -> tuple[Node, ...]:
    """Return the written symbols that the nodes depend on: all but the variables' indices."""
    marked = {token.text for key in under.variables for token in tokens(key)[1:]}
    index = (isinstance(node, t.Name | t.Index) and node.key in marked for node in under.given)
    return under.given[len(list(itertools.takewhile(bool, index))) :]


def distribution_arguments(node: Node, kinds: Mapping[str, str]) -> Node:
    """Return `node` with ``q(x)`` as the argument of a function, for an x not drawn, made ``q``.

    In ``\\operatorname{KL}(q(x) \\,\\|\\, p(x))`` it is the whole distribution.
    """

    def whole(part: Node) -> Node:
        if not isinstance(part, t.Apply) or kinds.get(part.key) not in DISTRIBUTIONS:
            return part
        form = signature(part.key)
        fixed = form is not None and kinds[part.key] != "conditional"  # given what its name says
        drawn = part.arguments[: len(form.variables)] if form and fixed else part.arguments
        free = all(isinstance(one, t.Name) and one.key not in kinds for one in drawn)
        return t.Name(part.key, span=part.span) if free else part

    node = t.mapped(node, lambda part: distribution_arguments(part, kinds))
    return t.mapped(node, whole) if isinstance(node, t.Apply) else node
