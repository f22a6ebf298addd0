"""From the parser's tree to ours: one small method a rule of `grammar.lark`."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lark import Token as Word
from lark import Tree

from ...errors import EquationError
from .. import tree as t
from ..ambiguities import behind_bars, behind_call, between_factors
from ..names import Names
from ..tree import Node, Span
from ..vocabulary import AMBIGUOUS_INVERSES, AMBIGUOUS_POWERS
from .antiderivatives import differentiated
from .dots import DOTS, multiplied, summed

Head = tuple[str, Node | None]  # a function word and the power at it: ``\cos^2``
Claim = tuple[list[t.Step], list[Node]]


def bind(node: Node, keys: Iterable[str]) -> Node:
    """`node` with the names in `keys` turned into running variables."""
    wanted = frozenset(keys)
    if isinstance(node, t.Name):
        return t.Index(node.key, span=node.span) if node.key in wanted else node
    if isinstance(node, t.Range) and node.members == t.Name(node.index):
        wanted -= {node.index}  # the i of `\sum_i` runs as far as its entries, also within another
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
    if DOTS in factors and (found := multiplied(factors, around(factors))) is not None:
        return found
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


def _number(text: str, span: Span) -> t.Number:
    whole, _, behind = text.partition(".")
    value = float(text)
    if not behind and math.isfinite(value) and int(value) != int(whole):
        value = int(whole)  # more digits than a float has
    return t.Number(value, len((whole + behind).lstrip("0")), len(behind), span=span)


# The rules that make something of their parts, whatever those are.
_PLAIN: dict[str, Callable[..., object]] = {
    "number": lambda text, span: _number(str(text), span),
    "name": lambda key, span: t.Name(str(key), span=span),
    "plain": lambda key, span: t.Name(str(key), span=span),  # as it stands behind `\nabla`
    "constant": lambda name, span: t.Constant(str(name), span=span),
    "quotient": t.Quotient,
    "sqrt": t.Root,
    "root": lambda degree, base, span: t.Root(base, degree, span=span),
    "norm": lambda base, order, span: t.Norm(base, str(order), span=span),
    "binom": lambda *both, span: t.Function("binom", both, span=span),
    "identity": lambda size, span: t.Function("identity", (size,), span=span),  # `I_{n \\times n}`
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


class Expressions:
    """The nodes of expressions; `kinds` are the kinds of the bound names.

    Each method takes the stretch that its rule was read from, and the nodes of its parts.
    """

    def __init__(self, latex: str, kinds: Mapping[str, str], names: Names) -> None:
        self.latex, self.kinds, self.forms = latex, kinds, names.forms
        self.bare: set[Span] = set()  # functions without brackets around them
        self.open_ended: set[Span] = set()  # those where it is open what they are of
        self.several = False  # whether the last term had several factors
        self.points: list[tuple[str, t.At]] = []  # derivatives of functions at points

    def build(self, part: Tree[Word] | Word) -> Any:
        """Return the node that the method of a rule, which has its name, makes of its parts."""
        if not isinstance(part, Tree):
            return part
        parts = map(self.build, part.children)
        span = (0, 0) if part.meta.empty else (part.meta.start_pos, part.meta.end_pos)
        made = _PLAIN.get(str(part.data))  # Lark's names are tokens, which are slow to find
        return made(*parts, span=span) if made else getattr(self, part.data)(span, *parts)

    def _fault(self, problem: str, span: Span) -> EquationError:
        return EquationError(problem, self.latex, span)

    def _refuse(self, problem: str, span: Span) -> None:
        if problem:
            raise self._fault(problem, span)

    # -- statements ---------------------------------------------------------------------

    def equation(self, span: Span, *claims: Claim) -> t.Statement:
        """All claims of an equation, in reading order."""
        steps = tuple(step for chain, _ in claims for step in chain)
        conditions = tuple(condition for _, stated in claims for condition in stated)
        self._refuse_other_variables([p for step in steps if self.points for p in t.parts(step)])
        return t.Statement(steps, conditions, span=span)

    def _refuse_other_variables(self, parts: Sequence[Node]) -> None:
        """The variable of ``\\frac{d F}{d u}(u(x))`` is one of F: ``u``, or v of an ``F(v)``.

        At a lone symbol it may be any letter that stands for nothing else.
        """
        symbols = {p.key for p in parts if isinstance(p, t.Name)} | self.kinds.keys()
        for function, at in self.points:
            calls = [p for p in parts if isinstance(p, t.Apply) and p.key == function]
            known = {getattr(one, "key", "") for call in calls for one in call.arguments}
            known |= {getattr(at.point, "key", "")}
            alone = isinstance(at.point, t.Name | t.Index) and at.key not in symbols
            if at.key not in known and not alone:
                of = f"`{at.key}` is no variable of `{function}` in this display"
                raise self._fault(f"{of}: write the derivative as {function}'(...)", at.span)

    def chain(self, span: Span, *parts: Any) -> list[t.Step]:
        """``a = b = c``: one step for each relation; of tuples, for each of their entries."""
        signs = parts[1::2]
        sides = [side if isinstance(side, list) else [side] for side in parts[::2]]
        if len({len(side) for side in sides}) > 1 or (len(sides[0]) > 1 and {*signs} != {"="}):
            wanted = "an equals sign and another of as many entries"
            raise self._fault(f"a tuple must have {wanted} beside it", span)
        return [
            self.relation(span, *three, before=column[:i])
            for column in zip(*sides, strict=True)
            for i, three in enumerate(zip(column, signs, column[1:], strict=False))
        ]

    def entries(self, span: Span, *parts: Any) -> list[Node]:
        """``(a, b)``, a side of an equation."""
        if any(sign != "," for sign in parts[1::2]):
            raise self._fault("commas stand between the entries of a tuple", span)
        return list(parts[::2])

    def relation(
        self, span: Span, left: Node, sign: Word, right: Node, before: Sequence[Node] = ()
    ) -> t.Step:
        """One relation between two expressions, `before` which others stand in a chain."""
        line = self.latex.count("\n", 0, sign.start_pos) + 1
        step = t.Step(left, str(sign), right, line, span=around([left, right]))
        settled = differentiated(step, self.kinds, before)
        if settled is None:
            problem = "an indefinite integral stands alone, in a sum, or with constant factors"
            raise self._fault(problem, step.span)
        return settled

    # -- sums and products --------------------------------------------------------------

    def sum(self, span: Span, *parts: Any) -> Node:
        """``a - b + c``."""
        signed = parts if isinstance(parts[0], int) else (1, *parts)
        terms, signs = signed[1::2], signed[::2]
        if DOTS in terms and (found := summed(terms, signs, span)) is not None:
            return found
        return terms[0] if signs == (1,) else t.Sum(terms, signs, span=span)

    def term(self, span: Span, *parts: object) -> Node:
        """Return the factors between two signs of a sum, with one binary operator at most."""
        self.several = len(parts) > 1
        for part in parts:
            if isinstance(part, t.Function) and part.span in self.open_ended:
                problem = "ambiguous: does what follows the call belong to the function too?"
                raise self._fault(f"{problem} write brackets", part.span)
        operators = {part for part in parts if isinstance(part, type)}
        if len(operators) > 1:
            raise self._fault("ambiguous: write brackets around one of the products", span)
        groups: list[list[object]] = [[]]
        for part in parts:
            groups.append([]) if isinstance(part, type) else groups[-1].append(part)
        factors = tuple(self._product(group) for group in groups)
        for operator in operators:
            return operator(factors, any(len(group) > 1 for group in groups), span=span)
        return factors[0]

    def _product(self, parts: list[Any]) -> Node:
        factors: list[Node] = []
        before = None
        op = ""
        slashed = False
        for part in self._at_points(parts):
            if isinstance(part, str):
                op = part
                continue
            problem = between_factors(before, op, part, slashed=slashed, bare=self.bare)
            self._refuse(problem, part.span)
            slashed = op == "DIV"
            if slashed:
                above = one_product(factors)
                factors = [t.Quotient(above, part, span=around([above, part]))]
            else:
                factors.append(part)
            before = part
            op = ""
        return one_product(factors)

    def run(self, span: Span, *parts: Node) -> Node:
        """Juxtaposed atoms: ``2 \\pi x``."""
        return one_product(self._at_points(parts))

    def _at_points(self, parts: Sequence[Any]) -> list[Any]:
        """``\\frac{\\partial f}{\\partial x}(y)`` is the derivative at y, and no product."""
        out: list[Any] = []
        for part in parts:
            slope: Any = out[-1] if out else None
            body = slope
            while isinstance(body, t.Derivative):
                body = body.body
            of_function = isinstance(body, t.Name) and self.kinds.get(body.key) == "callable"
            sloped = isinstance(slope, t.Derivative) and isinstance(part, Node) and of_function
            if sloped and "(" in self.latex[slope.span[1] : part.span[0]]:
                key = slope.symbol.key
                out[-1] = t.At(bind(slope, [key]), key, part, span=around([slope, part]))
                self.points.append((body.key, out[-1]))
            else:
                out.append(part)
        return out

    def limit(self, span: Span, sign: Word, key: Word, to: Word, point: Node, *rest: Any) -> Node:
        """``\\lim_{x \\to a} body``."""
        side = str(rest[0]) if len(rest) > 1 else ""
        return t.Limit(str(key), point, bind(rest[-1], [str(key)]), side, span=span)

    # -- functions ----------------------------------------------------------------------

    def fapp(self, span: Span, head: Head, argument: Node) -> Node:
        """A function word without brackets, which takes the whole run: ``\\log 2 \\pi``."""
        self._refuse(behind_bars(argument), argument.span)
        self.bare.add(span)
        if behind_call(argument) or argument.span in self.open_ended:
            self.open_ended.add(span)
        return self.paren_call(span, head, ((argument,), ()))

    def paren_call(self, span: Span, head: Head, args: tuple[tuple[Node, ...], object]) -> Node:
        """A function word with brackets: ``\\log(x)``."""
        name, power = head
        function, _, base = name.partition("_")
        node: Node = t.Function(function, args[0], span=span)
        if base:
            number = t.Number(float(base), span=span) if base.isdigit() else t.Name(base, span=span)
            node = t.Quotient(node, t.Function("log", (number,), span=span), span=span)
        return t.Power(node, power, span=span) if power is not None else node

    def called_power(self, span: Span, base: Node, exponent: Node) -> Node:
        """``\\log(x)^2``, which is refused where the power could belong to either."""
        self._refuse_function(span, base, AMBIGUOUS_POWERS)
        return self.power(span, base, exponent)

    def _refuse_function(self, span: Span, base: Node, words: Collection[str]) -> None:
        bracketed = span[0] < base.span[0]
        if isinstance(base, t.Function) and base.name in words and not bracketed:
            problem = f"ambiguous: does the power belong to {base.name} or to its argument?"
            raise self._fault(problem, span)

    def integral(self, span: Span, sign: Word, *parts: Any) -> Node:
        """``\\int_a^b body \\,\\mathrm d x``."""
        *limits, body, ends = parts
        over = tuple(str(ends).split("\n"))
        return t.Integral(over, bind(body, over), *limits, span=span)

    def primed(self, span: Span, called: Word, *parts: Any) -> Node:
        """``f''(x)``, ``f^{(n)}(x)``."""
        key, _, primes = called.partition("\t")
        *above, (arguments, separators) = parts
        if len(arguments) != 1:
            raise self._fault("primes: by which of its arguments? write \\frac{\\partial}", span)
        order = above[0] if above else t.Number(float(len(primes)), span=span)
        return t.Primed(key, arguments, separators, order, span=span)

    # -- atoms --------------------------------------------------------------------------

    def group(self, span: Span, inside: Node) -> Node:
        """Return the inside of brackets."""
        self.bare.discard(inside.span)
        return inside

    def transpose(self, span: Span, base: Node, mark: Word) -> Node:
        """``A^\\top``."""
        self._refuse_entry(span, base, mark.start_pos or 0, "the transpose")
        return t.Transpose(base, span=span)

    def inverse(self, span: Span, base: Node, mark: Word) -> Node:
        """``A^{-1}``; of ``A^{-\\top}`` the transpose."""
        self._refuse_function(span, base, AMBIGUOUS_INVERSES)
        self._refuse_entry(span, base, mark.start_pos or 0, "the inverse")
        inverse = t.Inverse(base, span=span)
        return inverse if mark.type == "INVERSE" else t.Transpose(inverse, span=span)

    def _refuse_entry(self, span: Span, base: Node, mark: int, what: str) -> None:
        """``A^{-1}_{ij}`` reads as an entry of the inverse, yet prints as ``A_{ij}^{-1}``."""
        if isinstance(base, t.Subscript) and span[0] == base.span[0]:  # without brackets
            several = len(base.indices) > 1  # else a power is that of an entry of a vector
            first = mark < base.indices[-1].span[0] and (several or what != "the power")
            if first or (what == "the inverse" and several):
                problem = f"ambiguous: an entry of {what}, or {what} of an entry? write brackets"
                raise self._fault(problem, span)

    def power(self, span: Span, base: Node, exponent: Node) -> Node:
        """``a^b``; of ``e`` it is the exponential function."""
        self._refuse_entry(span, base, exponent.span[0], "the power")
        if isinstance(base, t.Gradient) and span[0] == base.span[0]:
            raise self._fault("ambiguous: the power of a gradient? write brackets", span)
        if base == t.Constant("e"):
            return t.Function("exp", (exponent,), span=span)
        return t.Power(base, exponent, span=span)

    def place(self, span: Span, base: Node, index: Node) -> Node:
        """Return ``x^{(i)}``, which has the entry ``x_t^{(i)}``: the index above comes first."""
        if isinstance(base, t.Subscript) and span[0] == base.span[0]:
            return t.Subscript(base.base, (index, *base.indices), span=span)
        return t.Subscript(base, (index,), span=span)

    def factorial(self, span: Span, base: Node, mark: Word) -> Node:
        """``n!``."""
        if isinstance(base, t.Function) and base.span[0] == span[0]:
            if base.name == "factorial":
                return t.Function("double_factorial", base.arguments, span=span)
            if base.name == "double_factorial":
                raise self._fault("ambiguous: the factorial of a factorial? write brackets", span)
        return t.Function("factorial", (base,), span=span)

    def bars(self, span: Span, inside: Node) -> Node:
        """``|A|``."""
        bracketed = set(self.latex[span[0] : inside.span[0]]) & set("([{")
        if isinstance(inside, t.Bars) and not bracketed:
            raise self._fault("ambiguous: write \\lVert and \\rVert for a norm, or brackets", span)
        return t.Bars(inside, span=span)

    def floor(self, span: Span, inside: Node) -> Node:
        """``\\lfloor x \\rfloor``."""
        return t.Function("floor", (inside,), span=span)

    def ceil(self, span: Span, inside: Node) -> Node:
        """``\\lceil x \\rceil``."""
        return t.Function("ceil", (inside,), span=span)

    def inner(self, span: Span, left: Node, comma: Word, right: Node) -> Node:
        """``\\langle a, b \\rangle``."""
        if comma != ",":
            raise self._fault("an inner product: a comma stands between the two", span)
        return t.Inner(left, right, span=span)

    def angle(self, span: Span, inside: Node) -> Node:
        """``\\langle a \\rangle``, which is refused."""
        raise self._fault("angles around one thing: write \\mathbb E[...] for an average", span)

    def subscript(self, span: Span, base: Node, *parts: Node) -> Node:
        """``x_i``, ``K_{ij}``."""
        if isinstance(base, t.Inner) and span[0] == base.span[0]:
            raise self._fault("an inner product has no subscript", span)
        if isinstance(base, t.Bars) and span[0] == base.span[0]:
            raise self._fault("bars with a subscript: write \\lVert and \\rVert for a norm", span)
        indices = tuple(index for part in parts for index in split_indices(part))
        return t.Subscript(base, indices, span=span)

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
            body = self._derivative(span, body, variable)
        return body

    def _derivative(self, span: Span, body: Node, variable: Node) -> Node:
        """One derivative, or of ``x^n`` below the line those of an order n."""
        if isinstance(variable, t.Power):
            return t.Derivative(body, self.nabla(span, variable.base), variable.exponent, span=span)
        return t.Derivative(body, self.nabla(span, variable), span=span)

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

    def normed(self, span: Span, base: Node, order: Word, power: Node | None = None) -> Node:
        """The ``\\|a\\|^2`` behind a gradient, which is that of the square."""
        norm = t.Norm(base, str(order), span=(span[0], order.end_pos or span[1]))
        return norm if power is None else t.Power(norm, power, span=span)

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
        if any(isinstance(part, t.At) and part.span[1] == span[1] for part in t.parts(body)):
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
