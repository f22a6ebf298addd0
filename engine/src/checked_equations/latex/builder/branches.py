"""Derivatives, blocks and cases, and the small steps that all builders of a tree share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from lark import Token as Word
from lark import Tree
from lark.tree import Meta

from ...errors import EquationError
from .. import tree as t
from ..ambiguities import behind_call, between_factors
from ..tree import Node


def span_of(meta: Meta) -> tuple[int, int]:
    """The stretch of LaTeX that a rule of the grammar was read from."""
    return (meta.start_pos, meta.end_pos) if not meta.empty else (0, 0)


# What the parser hands to the method of a rule: trees, words, and what other methods returned.
Parts: TypeAlias = list[Any]


def bind(node: Node, keys: Iterable[str]) -> Node:
    """`node` with the names in `keys` turned into running variables."""
    wanted = frozenset(keys)
    if isinstance(node, t.Name):
        return t.Index(node.key, span=node.span) if node.key in wanted else node
    return t.mapped(node, lambda part: bind(part, wanted))


def around(factors: list[Node]) -> tuple[int, int]:
    """The stretch of text from the first of `factors` to the last."""
    return factors[0].span[0], factors[-1].span[1]


def below(limit: Node, relation: str) -> Node:
    """The last index of ``i < limit`` or ``i \\le limit``."""
    if relation == "LE":
        return limit
    return t.Sum((limit, t.Number(1.0)), (1, -1), span=limit.span)


def one_product(factors: list[Node]) -> Node:
    """The product of `factors`, which is the factor itself if there is one."""
    if len(factors) == 1:
        return factors[0]
    return t.Product(tuple(factors), span=around(factors))


def quotient(numerator: Node, denominator: Node) -> Node:
    """The quotient of two nodes, with the stretch of both."""
    return t.Quotient(numerator, denominator, span=around([numerator, denominator]))


def split_indices(part: Node) -> tuple[Node, ...]:
    """``ij`` in a subscript is two indices, and so are ``i1`` and ``1i``; ``2i`` is one."""
    plain = t.Name | t.Index | t.Subscript
    if not isinstance(part, t.Product):
        return (part,)
    first, rest = part.factors[0], part.factors[1:]
    starts = isinstance(first, plain) or first == t.Number(1.0)
    pair = starts and all(isinstance(f, plain | t.Number) for f in rest)
    return part.factors if pair else (part,)


# The rules that make a node of their parts, whatever those are.
_PLAIN: dict[str, Callable[..., Node]] = {
    "number": lambda text, span: t.Number(float(text), span=span),
    "name": lambda key, span: t.Name(str(key), span=span),
    "plain": lambda key, span: t.Name(str(key), span=span),  # as it stands behind `\nabla`
    "constant": lambda name, span: t.Constant(str(name), span=span),
    "quotient": t.Quotient,
    "sqrt": t.Root,
    "root": lambda degree, base, span: t.Root(base, degree, span=span),
    "binom": lambda *both, span: t.Function("binom", both, span=span),
    "indicator": lambda step, span: t.Function("indicator", (step,), span=span),
}


class Branches:
    """What `TreeBuilder` is made of besides terms: small methods, one a rule of the grammar."""

    latex: str
    kinds: Mapping[str, str]
    bare: set[tuple[int, int]]

    def build(self, part: Tree[Word] | Word) -> Any:
        """What the method of a rule, which is called like it, makes of the parts of a tree."""
        if not isinstance(part, Tree):
            return part
        parts = map(self.build, part.children)
        if part.data in _PLAIN:
            return _PLAIN[part.data](*parts, span=span_of(part.meta))
        return getattr(self, part.data)(part.meta, list(parts))

    def _fault(self, problem: str, meta: Meta) -> EquationError:
        return EquationError(problem, self.latex, span_of(meta))

    def _refuse(self, problem: str, stretch: tuple[int, int]) -> None:
        if problem:
            raise EquationError(problem, self.latex, stretch)

    # -- derivatives --------------------------------------------------------------------

    def variable(self, meta: Meta, parts: Parts) -> list[Node]:
        """``\\partial x`` below the line; of ``\\partial x^2`` the variable twice."""
        variable = parts[0]
        if isinstance(variable, t.Power) and isinstance(variable.exponent, t.Number):
            return [variable.base] * int(variable.exponent.value)
        return [variable]

    def derived(self, meta: Meta, parts: Parts) -> Node:
        """``\\frac{\\partial}{\\partial x} body``."""
        return self._derivative(parts[-1], parts[1:-1], meta)

    def derivative(self, meta: Meta, parts: Parts) -> Node:
        """``\\frac{\\partial body}{\\partial x}``."""
        return self._derivative(parts[0], parts[1:], meta)

    def _derivative(self, body: Node, variables: list[list[Node]], meta: Meta) -> Node:
        self._refuse_point(body, meta)
        order = [item for group in variables for item in group]
        if len(order) > 1 and isinstance(order[-1], t.Transpose):
            order = [order[-1].base, *order[-2::-1]]  # the columns of the Hessian come last
        for variable in reversed(order):
            self.nabla(meta, [variable])
            body = t.Derivative(body, variable, span=span_of(meta))
        return body

    def at(self, meta: Meta, parts: Parts) -> Node:
        """``\\left. body \\right|_{x = a}``."""
        body = parts[0]
        for key, point in zip(parts[1::3], parts[3::3], strict=True):
            body = t.At(bind(body, [key]), str(key), point, span=span_of(meta))
        return body

    def nabla(self, meta: Meta, parts: Parts) -> Node:
        """The variable of ``\\nabla_x``."""
        variable: Node = parts[0]
        base = variable.base if isinstance(variable, t.Subscript) else variable
        if not isinstance(base, t.Name):
            raise self._fault("a derivative is taken with respect to a bound symbol", meta)
        return variable

    def gradient(self, meta: Meta, parts: Parts) -> Node:
        """``\\nabla_x body``."""
        variable, body = parts
        self._refuse_point(body, meta)
        if isinstance(body, t.Slope):  # the slopes of the gradient
            if body.variable != variable:
                hint = "write \\frac{\\partial^2 ...}{\\partial x \\, \\partial y^\\top}"
                raise self._fault(f"ambiguous: which of the two are the rows? {hint}", meta)
            return t.Derivative(body, variable, span=span_of(meta))
        if isinstance(body, t.Name) and self.kinds.get(body.key, "callable") != "callable":
            raise self._fault("ambiguous: put brackets around what is differentiated", meta)
        return self._of_score(variable, body, meta) or self._gradient(variable, body, meta)

    def _gradient(self, variable: Node, body: Node, meta: Meta) -> Node:
        self.bare.add(span_of(meta))
        return t.Gradient(body, variable, span=span_of(meta))

    def _of_score(self, variable: Node, body: Node, meta: Meta) -> Node | None:
        """``\\nabla_x \\log p(x) c``, ``\\nabla_x \\log p(x)^\\top``: the log is of the call."""
        if not isinstance(body, t.Function) or body.arguments[0].span[1] != meta.end_pos:
            return None
        argument = body.arguments[0]
        if isinstance(argument, t.Transpose) and isinstance(argument.base, t.Apply):
            whole = replace(body, arguments=(argument.base,))
            return t.Transpose(self._gradient(variable, whole, meta), span=span_of(meta))
        count = behind_call(argument)
        if not count or not isinstance(argument, t.Product):
            return None
        first, rest = argument.factors[:count], argument.factors[count:]
        scored = replace(body, arguments=(one_product(list(first)),))
        gradient = self._gradient(variable, scored, meta)
        self._refuse(
            between_factors(gradient, "", rest[0], slashed=False, bare=self.bare), rest[0].span
        )
        return t.Product((gradient, *rest), span=span_of(meta))

    def _refuse_point(self, body: Node, meta: Meta) -> None:
        ends = (part.span[1] for _, part in t.walk(body) if isinstance(part, t.At))
        if meta.end_pos in ends:
            problem = "ambiguous: is this differentiated there? write \\left. and \\right|"
            raise self._fault(problem, meta)

    # -- arrays of expressions ----------------------------------------------------------

    def row(self, meta: Meta, parts: Parts) -> tuple[Node, ...]:
        """One row of a matrix."""
        return tuple(parts)

    def block(self, meta: Meta, rows: Parts) -> Node:
        """``\\begin{bmatrix} ... \\end{bmatrix}``."""
        if len({len(row) for row in rows}) != 1:
            raise self._fault("the rows of this matrix have different lengths", meta)
        return t.Block(tuple(rows), span=span_of(meta))

    def detblock(self, meta: Meta, rows: Parts) -> Node:
        """``\\begin{vmatrix} ... \\end{vmatrix}``: the determinant of the matrix."""
        return t.Bars(self.block(meta, rows), span=span_of(meta))

    def case(self, meta: Meta, parts: Parts) -> tuple[Node, t.Step | None]:
        """One value with its condition, or without."""
        return parts[0], parts[1] if len(parts) > 1 else None

    def cases(self, meta: Meta, parts: Parts) -> Node:
        """``\\begin{cases} ... \\end{cases}``."""
        values, conditions = zip(*parts, strict=True)
        if None in conditions[:-1]:
            raise self._fault("only the last case may stand without a condition", meta)
        return t.Cases(tuple(values), tuple(conditions), span=span_of(meta))
