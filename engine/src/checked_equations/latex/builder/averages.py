"""Averages: what they run over, in the order in which it can be drawn."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lark import Token as Word

from .. import tree as t
from ..names import DISTRIBUTIONS, normal, signature
from ..tokenizer import tokens
from ..tree import Span
from .expressions import Expressions, bind

Bodies = tuple[t.Node, ...]
_KINDS = {"EXPECT": t.Expectation, "VARIANCE": t.Variance, "COVARIANCE": t.Covariance}


class Averages(Expressions):
    """The rules of the grammar for averages."""

    def under(self, span: Span, drawn: Word, *given: t.Node) -> t.Under:
        """One distribution below an average, with what is drawn from it."""
        distribution, *variables = drawn.split("\t")
        return t.Under(tuple(variables), distribution, given, span=span)

    def averaged(self, span: Span, *parts: Any) -> tuple[Bodies, Bodies]:
        """What is averaged, and what stands behind the bar."""
        bars = (i for i, p in enumerate(parts) if isinstance(p, Word) and p in ("|", ";"))
        bar = next(bars, len(parts))
        return parts[:bar:2], parts[bar + 1 :: 2]

    def average(self, span: Span, sign: Word, *parts: Any) -> t.Node:
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

    def _own(self, bodies: Bodies, span: Span) -> list[t.Under]:
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

    def _conditional(
        self, over: list[t.Under], bodies: Bodies, given: Bodies, span: Span
    ) -> t.Under:
        """The one distribution that is bound as given what stands behind the bar."""
        known = over and over[0].distribution not in ("", *over[0].variables)
        if any(under.given for under in over) or len(over) > 1 or known:
            raise self._fault("say under the sign or behind the bar, not both", span)
        settings = [part if isinstance(part, tuple) else ("", part) for part in given]
        given = tuple(node for _, node in settings)
        written = tuple(key or normal(self.latex[slice(*node.span)]) for key, node in settings)
        drawn = set(over[0].variables) if over else _named(bodies)
        named = (k for k, form in self.forms.items() if form.given == written)
        forms = [key for key in named if set(self.forms[key].variables) <= drawn]
        if len(forms) != 1:
            said = ", ".join(written)
            problem = f"{'nothing is' if not forms else 'several are'} bound as given `{said}`"
            raise self._fault(f"{problem}: bind `y \\mid {said}` to a Distribution", span)
        depends = given if self.kinds[forms[0]] == "conditional" else ()
        return t.Under(self.forms[forms[0]].variables, forms[0], depends)

    def _in_order(self, over: Sequence[t.Under], span: Span) -> tuple[t.Under, ...]:
        """What others are given comes before them, and is drawn when they are."""
        drawn = [key for under in over for key in under.variables]
        if len(set(drawn)) < len(drawn):
            raise self._fault("a variable is drawn twice here", span)
        waiting = [replace(u, given=tuple(bind(g, drawn) for g in u.given)) for u in over]
        out: list[t.Under] = []
        while waiting:
            later = {t.Index(key) for under in waiting for key in under.variables}
            ready = [u for u in waiting if later.isdisjoint(node for _, node in t.walk(u))]
            if not ready:
                raise self._fault("each of these is given the other", span)
            out.append(ready[0])
            waiting.remove(ready[0])
        return tuple(out)


def _named(nodes: Bodies) -> set[str]:
    return {part.key for n in nodes for _, part in t.walk(n) if isinstance(part, t.Name)}


def behind_the_bar(under: t.Under) -> tuple[t.Node, ...]:
    """What stands there of that which the nodes depend on: all but the variables' indices."""
    marked = {token.text for key in under.variables for token in tokens(key)[1:]}
    index = (isinstance(node, t.Name | t.Index) and node.key in marked for node in under.given)
    return under.given[len(list(itertools.takewhile(bool, index))) :]


def distribution_arguments(node: t.Node, kinds: Mapping[str, str]) -> t.Node:
    """`node` with ``q(x)`` as the argument of a function, for an x that nobody drew, made ``q``.

    In ``\\operatorname{KL}(q(x) \\,\\|\\, p(x))`` it is the whole distribution.
    """

    def whole(part: t.Node) -> t.Node:
        if not isinstance(part, t.Apply) or kinds.get(part.key) not in DISTRIBUTIONS:
            return part
        form = signature(part.key)
        fixed = form is not None and kinds[part.key] != "conditional"  # given what its name says
        drawn = part.arguments[: len(form.variables)] if form and fixed else part.arguments
        free = all(isinstance(one, t.Name) and one.key not in kinds for one in drawn)
        return t.Name(part.key, span=part.span) if free else part

    node = t.mapped(node, lambda part: distribution_arguments(part, kinds))
    return t.mapped(node, whole) if isinstance(node, t.Apply) else node
