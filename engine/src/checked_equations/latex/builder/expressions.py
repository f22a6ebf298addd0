"""From the parser's tree to ours: one small method a rule of `grammar.lark`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lark import Token as Word

from .. import tree as t
from ..ambiguities import behind_bars, behind_call, between_factors
from ..tree import Span
from ..vocabulary import AMBIGUOUS_POWERS
from .averages import Averages
from .branches import around, bind, one_product, split_indices
from .ranges import Ranges

Node = t.Node
Head = tuple[str, Node | None]  # a function word and the power at it: ``\cos^2``


class TreeBuilder(Averages, Ranges):
    """The nodes of an equation; `kinds` says what its names are bound to."""

    # -- statements ---------------------------------------------------------------------

    def equation(self, span: Span, *claims: Any) -> t.Statement:
        """All claims of an equation, in reading order."""
        steps = tuple(step for chain, _ in claims for step in chain)
        conditions = tuple(condition for _, stated in claims for condition in stated)
        return t.Statement(steps, conditions, span=span)

    def chain(self, span: Span, *parts: Any) -> list[t.Step]:
        """``a = b = c``: one step for each relation."""
        threes = zip(parts[::2], parts[1::2], parts[2::2], strict=False)
        return [self.relation(span, *three) for three in threes]

    def relation(self, span: Span, left: Node, sign: Word, right: Node) -> t.Step:
        """One relation between two expressions."""
        line = self.latex.count("\n", 0, sign.start_pos) + 1
        return t.Step(left, str(sign), right, line, span=around([left, right]))

    # -- sums and products --------------------------------------------------------------

    def sum(self, span: Span, *parts: Any) -> Node:
        """``a - b + c``."""
        signed = parts if isinstance(parts[0], int) else (1, *parts)
        terms, signs = signed[1::2], signed[::2]
        return terms[0] if signs == (1,) else t.Sum(terms, signs, span=span)

    def term(self, span: Span, *parts: Any) -> Node:
        """What stands between two signs of a sum: products, with one binary operator at most."""
        self.several = len(parts) > 1
        for part in parts:
            if isinstance(part, t.Function) and part.span in self.open_ended:
                problem = "ambiguous: does what follows the call belong to the function too?"
                raise self._fault(f"{problem} write brackets", part.span)
        operators = {part for part in parts if isinstance(part, type)}
        if len(operators) > 1:
            raise self._fault("ambiguous: write brackets around one of the products", span)
        groups: list[list[Any]] = [[]]
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
            else:
                out.append(part)
        return out

    # -- functions ----------------------------------------------------------------------

    def fapp(self, span: Span, head: Head, argument: Node) -> Node:
        """A function word without brackets, which takes the whole run: ``\\log 2 \\pi``."""
        self._refuse(behind_bars(argument), argument.span)
        self.bare.add(span)
        if behind_call(argument) or argument.span in self.open_ended:
            self.open_ended.add(span)
        return self.paren_call(span, head, ((argument,), ()))

    def paren_call(self, span: Span, head: Head, args: tuple[tuple[Node, ...], Any]) -> Node:
        """A function word with brackets: ``\\log(x)``."""
        name, power = head
        function, _, digits = name.partition("_")
        node: Node = t.Function(function, args[0], span=span)
        if digits:
            base = t.Function("log", (t.Number(float(digits), span=span),), span=span)
            node = t.Quotient(node, base, span=span)
        return t.Power(node, power, span=span) if power is not None else node

    def called_power(self, span: Span, base: Node, exponent: Node) -> Node:
        """``\\log(x)^2``, which is refused where the power could belong to either."""
        self._refuse_function(span, base)
        return self.power(span, base, exponent)

    def _refuse_function(self, span: Span, base: Node) -> None:
        bracketed = span[0] < base.span[0]
        if isinstance(base, t.Function) and base.name in AMBIGUOUS_POWERS and not bracketed:
            problem = f"ambiguous: does the power belong to {base.name} or to its argument?"
            raise self._fault(problem, span)

    def integral(self, span: Span, sign: Word, *parts: Any) -> Node:
        """``\\int_a^b body \\,\\mathrm d x``."""
        *limits, body, ends = parts
        over = tuple(str(ends).split("\n"))
        return t.Integral(over, bind(body, over), *limits, span=span)

    # -- atoms --------------------------------------------------------------------------

    def group(self, span: Span, inside: Node) -> Node:
        """What stands in brackets."""
        self.bare.discard(inside.span)
        return inside

    def transpose(self, span: Span, base: Node, mark: Word) -> Node:
        """``A^\\top``."""
        self._refuse_entry(span, base, mark.start_pos or 0, "the transpose")
        return t.Transpose(base, span=span)

    def inverse(self, span: Span, base: Node, mark: Word) -> Node:
        """``A^{-1}``."""
        self._refuse_function(span, base)
        self._refuse_entry(span, base, mark.start_pos or 0, "the inverse")
        return t.Inverse(base, span=span)

    def invtrans(self, span: Span, base: Node, mark: Word) -> Node:
        """``A^{-\\top}``: the transpose of the inverse."""
        return t.Transpose(self.inverse(span, base, mark), span=span)

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
        """``x^{(i)}``, of which ``x_t^{(i)}`` is an entry: the index above comes first."""
        if isinstance(base, t.Subscript) and span[0] == base.span[0]:
            return t.Subscript(base.base, (index, *base.indices), span=span)
        return t.Subscript(base, (index,), span=span)

    def factorial(self, span: Span, base: Node, mark: Word) -> Node:
        """``n!``."""
        twice = isinstance(base, t.Function) and base.name == "factorial"
        if twice and base.span[0] == span[0]:
            raise self._fault("ambiguous: the factorial of a factorial? write brackets", span)
        return t.Function("factorial", (base,), span=span)

    def bars(self, span: Span, inside: Node) -> Node:
        """``|A|``."""
        bracketed = set(self.latex[span[0] : inside.span[0]]) & set("([{")
        if isinstance(inside, t.Bars) and not bracketed:
            raise self._fault("ambiguous: write \\lVert and \\rVert for a norm, or brackets", span)
        return t.Bars(inside, span=span)

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
