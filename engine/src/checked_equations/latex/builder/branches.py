"""Derivatives, blocks and cases, and the small steps that all builders of a tree share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lark import Token as Word
from lark import Tree

from ...errors import EquationError
from .. import tree as t
from ..ambiguities import behind_call, between_factors
from ..tree import Node, Span


def bind(node: Node, keys: Iterable[str]) -> Node:
    """`node` with the names in `keys` turned into running variables."""
    wanted = frozenset(keys)
    if isinstance(node, t.Name):
        return t.Index(node.key, span=node.span) if node.key in wanted else node
    return t.mapped(node, lambda part: bind(part, wanted))


def around(factors: Sequence[Node]) -> Span:
    """The stretch of text from the first of `factors` to the last."""
    return factors[0].span[0], factors[-1].span[1]


def below(limit: Node, relation: str) -> Node:
    """The last index of ``i < limit`` or ``i \\le limit``."""
    if relation == "LE":
        return limit
    return t.Sum((limit, t.Number(1.0)), (1, -1), span=limit.span)


def one_product(factors: Sequence[Node]) -> Node:
    """The product of `factors`, which is the factor itself if there is one."""
    return factors[0] if len(factors) == 1 else t.Product(tuple(factors), span=around(factors))


def split_indices(part: Node) -> tuple[Node, ...]:
    """``ij`` in a subscript is two indices, and so are ``i1`` and ``1i``; ``2i`` is one."""
    plain = t.Name | t.Index | t.Subscript
    if not isinstance(part, t.Product):
        return (part,)
    first, rest = part.factors[0], part.factors[1:]
    starts = isinstance(first, plain) or first == t.Number(1.0)
    pair = starts and all(isinstance(f, plain | t.Number) for f in rest)
    return part.factors if pair else (part,)


def _repeated(variable: Node) -> list[Node]:
    """``\\partial x`` below the line; of ``\\partial x^2`` the variable twice."""
    if isinstance(variable, t.Power) and isinstance(variable.exponent, t.Number):
        return [variable.base] * int(variable.exponent.value)
    return [variable]


# The rules that make something of their parts, whatever those are.
_PLAIN: dict[str, Callable[..., Any]] = {
    "number": lambda text, span: t.Number(float(text), span=span),
    "name": lambda key, span: t.Name(str(key), span=span),
    "plain": lambda key, span: t.Name(str(key), span=span),  # as it stands behind `\nabla`
    "constant": lambda name, span: t.Constant(str(name), span=span),
    "quotient": t.Quotient,
    "sqrt": t.Root,
    "root": lambda degree, base, span: t.Root(base, degree, span=span),
    "norm": lambda base, order, span: t.Norm(base, str(order), span=span),
    "binom": lambda *both, span: t.Function("binom", both, span=span),
    "indicator": lambda step, span: t.Function("indicator", (step,), span=span),
    "call": lambda key, args, span: t.Apply(str(key), *args, span=span),  # `k(x, x')`
    "args": lambda *parts, span: (parts[::2], tuple(map(str, parts[1::2]))),  # and separators
    "given": lambda *parts, span: t.Apply("|", parts[::2], tuple(map(str, parts[1::2])), span=span),
    "head": lambda word, power=None, span=None: (str(word), power),  # `\cos^2`
    "sign": lambda sign, span: 1 if sign.type == "PLUS" else -1,
    "op": lambda sign, span: t.INFIX[str(sign)] if sign.type == "INFIX" else sign.type,
    "variable": lambda variable, span: _repeated(variable),
    "row": lambda *entries, span: entries,
    "case": lambda value, condition=None, span=None: (value, condition),
    "items": lambda *parts, span: parts[::2],  # `x, y` of `for x, y > 0`
    "quantified": lambda items, span: items,
    "setting": lambda key, equals, value, span: (str(key), value),  # `x = 2` behind a bar
    "expression": lambda node, span: node,
}


class Branches:
    """What `TreeBuilder` is made of besides terms: small methods, one a rule of the grammar.

    Each takes the stretch that the rule was read from, and what was made of its parts.
    """

    def __init__(self, latex: str, kinds: Mapping[str, str]) -> None:
        self.latex = latex
        self.kinds = kinds
        self.bare: set[Span] = set()  # functions without brackets around them
        self.open_ended: set[Span] = set()  # those where it is open what they are of
        self.several = False  # whether the last term had several factors

    def build(self, part: Tree[Word] | Word) -> Any:
        """What the method of a rule, which is called like it, makes of the parts of a tree."""
        if not isinstance(part, Tree):
            return part
        parts = map(self.build, part.children)
        span = (0, 0) if part.meta.empty else (part.meta.start_pos, part.meta.end_pos)
        if part.data in _PLAIN:
            return _PLAIN[part.data](*parts, span=span)
        return getattr(self, part.data)(span, *parts)

    def _fault(self, problem: str, span: Span) -> EquationError:
        return EquationError(problem, self.latex, span)

    def _refuse(self, problem: str, span: Span) -> None:
        if problem:
            raise self._fault(problem, span)

    # -- derivatives --------------------------------------------------------------------

    def derived(self, span: Span, sign: Word, *parts: Any) -> Node:
        """``\\frac{\\partial}{\\partial x} body``."""
        return self.derivative(span, parts[-1], *parts[:-1])

    def derivative(self, span: Span, body: Node, *variables: list[Node]) -> Node:
        """``\\frac{\\partial body}{\\partial x}``."""
        self._refuse_point(body, span)
        order = [item for group in variables for item in group]
        if len(order) > 1 and isinstance(order[-1], t.Transpose):
            order = [order[-1].base, *order[-2::-1]]  # the columns of the Hessian come last
        for variable in reversed(order):
            body = t.Derivative(body, self.nabla(span, variable), span=span)
        return body

    def at(self, span: Span, body: Node, *points: Any) -> Node:
        """``\\left. body \\right|_{x = a}``."""
        for key, point in zip(points[::3], points[2::3], strict=True):
            body = t.At(bind(body, [key]), str(key), point, span=span)
        return body

    def nabla(self, span: Span, variable: Node) -> Node:
        """The variable of ``\\nabla_x``."""
        base = variable.base if isinstance(variable, t.Subscript) else variable
        if not isinstance(base, t.Name):
            raise self._fault("a derivative is taken with respect to a bound symbol", span)
        return variable

    def gradient(self, span: Span, variable: Node, body: Node) -> Node:
        """``\\nabla_x body``."""
        self._refuse_point(body, span)
        if isinstance(body, t.Slope):  # the slopes of the gradient
            if body.variable != variable:
                hint = "write \\frac{\\partial^2 ...}{\\partial x \\, \\partial y^\\top}"
                raise self._fault(f"ambiguous: which of the two are the rows? {hint}", span)
            return t.Derivative(body, variable, span=span)
        if isinstance(body, t.Name) and self.kinds.get(body.key, "callable") != "callable":
            raise self._fault("ambiguous: put brackets around what is differentiated", span)
        self.bare.add(span)
        scored = self._of_score(span, variable, body) if isinstance(body, t.Function) else None
        return scored or t.Gradient(body, variable, span=span)

    def _of_score(self, span: Span, variable: Node, body: t.Function) -> Node | None:
        """``\\nabla_x \\log p(x) c``, ``\\nabla_x \\log p(x)^\\top``: the log is of the call."""

        def of(call: Node) -> Node:
            return t.Gradient(replace(body, arguments=(call,)), variable, span=span)

        argument = body.arguments[0]
        if argument.span[1] != span[1]:
            return None
        if isinstance(argument, t.Transpose) and isinstance(argument.base, t.Apply):
            return t.Transpose(of(argument.base), span=span)
        count = behind_call(argument)
        if not count or not isinstance(argument, t.Product):
            return None
        gradient = of(one_product(argument.factors[:count]))
        after = argument.factors[count]
        problem = between_factors(gradient, "", after, slashed=False, bare=self.bare)
        self._refuse(problem, after.span)
        return t.Product((gradient, *argument.factors[count:]), span=span)

    def _refuse_point(self, body: Node, span: Span) -> None:
        if any(isinstance(part, t.At) and part.span[1] == span[1] for _, part in t.walk(body)):
            problem = "ambiguous: is this differentiated there? write \\left. and \\right|"
            raise self._fault(problem, span)

    # -- arrays of expressions ----------------------------------------------------------

    def block(self, span: Span, *rows: tuple[Node, ...]) -> Node:
        """``\\begin{bmatrix} ... \\end{bmatrix}``."""
        if len(set(map(len, rows))) != 1:
            raise self._fault("the rows of this matrix have different lengths", span)
        return t.Block(rows, span=span)

    def detblock(self, span: Span, *rows: tuple[Node, ...]) -> Node:
        """``\\begin{vmatrix} ... \\end{vmatrix}``: the determinant of the matrix."""
        return t.Bars(self.block(span, *rows), span=span)

    def cases(self, span: Span, *rows: tuple[Node, t.Step | None]) -> Node:
        """``\\begin{cases} ... \\end{cases}``."""
        values, conditions = zip(*rows, strict=True)
        if None in conditions[:-1]:
            raise self._fault("only the last case may stand without a condition", span)
        return t.Cases(values, conditions, span=span)
