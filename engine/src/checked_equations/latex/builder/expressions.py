"""From the parser's tree to ours: one small method a rule of `grammar.lark`."""

from __future__ import annotations

from collections.abc import Mapping

from lark import Token as Word
from lark.tree import Meta

from .. import tree as t
from ..ambiguities import behind_bars, behind_call, between_factors
from ..vocabulary import AMBIGUOUS_POWERS
from .averages import Averages
from .branches import Parts, bind, one_product, quotient, split_indices
from .branches import span_of as _span
from .conditions import Conditions
from .ranges import Ranges

Node = t.Node


class TreeBuilder(Averages, Conditions, Ranges):
    """The nodes of an equation; `kinds` says what its names are bound to."""

    def __init__(self, latex: str, kinds: Mapping[str, str]) -> None:
        super().__init__(latex, kinds)
        self.bare: set[tuple[int, int]] = set()  # functions without brackets around them
        self.open_ended: set[tuple[int, int]] = set()  # those where it is open what they are of
        self.several = False  # whether the last term had several factors

    # -- statements ---------------------------------------------------------------------

    def equation(self, meta: Meta, claims: Parts) -> t.Statement:
        """All claims of an equation, in reading order."""
        steps = tuple(step for chain, _ in claims for step in chain)
        conditions = tuple(condition for _, stated in claims for condition in stated)
        return t.Statement(steps, conditions, span=_span(meta))

    def expression(self, meta: Meta, parts: Parts) -> Node:
        """One side of an equation, where no relation is wanted."""
        return parts[0]

    def chain(self, meta: Meta, parts: Parts) -> list[t.Step]:
        """``a = b = c``: one step for each relation."""
        sides, relations = parts[::2], parts[1::2]
        return [
            self._step(left, relation, right)
            for left, relation, right in zip(sides, relations, sides[1:], strict=False)
        ]

    def _step(self, left: Node, relation: Word, right: Node) -> t.Step:
        line = self.latex.count("\n", 0, relation.start_pos) + 1
        span = (left.span[0], right.span[1])
        return t.Step(left, str(relation), right, line, span=span)

    def relation(self, meta: Meta, parts: Parts) -> t.Step:
        """One relation between two expressions, inside an indicator or cases."""
        return self._step(*parts)

    def given(self, meta: Meta, parts: Parts) -> Node:
        """Things with separators between them and no brackets around: ``y \\mid x``."""
        return t.Apply("|", tuple(parts[::2]), tuple(map(str, parts[1::2])), span=_span(meta))

    # -- sums and products --------------------------------------------------------------

    def sign(self, meta: Meta, parts: Parts) -> int:
        """``+`` or ``-`` as 1 or -1."""
        return 1 if parts[0].type == "PLUS" else -1

    def sum(self, meta: Meta, parts: Parts) -> Node:
        """``a - b + c``."""
        signed = parts if isinstance(parts[0], int) else [1, *parts]
        terms, signs = tuple(signed[1::2]), tuple(signed[::2])
        if signs == (1,):
            return terms[0]
        return t.Sum(terms, signs, span=_span(meta))

    def op(self, meta: Meta, parts: Parts) -> str | type[t.Infix]:
        """The sign between two factors: its terminal, or the class of a binary operator."""
        (sign,) = parts
        return t.INFIX[str(sign)] if sign.type == "INFIX" else sign.type

    def term(self, meta: Meta, parts: Parts) -> Node:
        """What stands between two signs of a sum: products, with one binary operator at most."""
        self.several = len(parts) > 1
        for part in parts:
            if isinstance(part, t.Function) and part.span in self.open_ended:
                problem = "ambiguous: does what follows the call belong to the function too?"
                self._refuse(f"{problem} write brackets", part.span)
        operators = {part for part in parts if isinstance(part, type)}
        if len(operators) > 1:
            raise self._fault("ambiguous: write brackets around one of the products", meta)
        groups: list[Parts] = [[]]
        for part in parts:
            groups.append([]) if isinstance(part, type) else groups[-1].append(part)
        factors = tuple(self._product(group) for group in groups)
        for operator in operators:
            loose = any(len(group) > 1 for group in groups)
            return operator(factors, loose, span=_span(meta))
        return factors[0]

    def _product(self, parts: Parts) -> Node:
        parts = self._at_points(parts)
        factors: list[Node] = []
        before = None
        op = ""
        slashed = False
        for part in parts:
            if isinstance(part, str):
                op = part
                continue
            self._refuse(
                between_factors(before, op, part, slashed=slashed, bare=self.bare), part.span
            )
            slashed = op == "DIV"
            factors = [quotient(one_product(factors), part)] if slashed else [*factors, part]
            before = part
            op = ""
        return one_product(factors)

    def run(self, meta: Meta, parts: Parts) -> Node:
        """Juxtaposed atoms: ``2 \\pi x``."""
        return one_product(self._at_points(parts))

    def _at_points(self, parts: Parts) -> Parts:
        """``\\frac{\\partial f}{\\partial x}(y)`` is the derivative at y, and no product."""
        out: Parts = []
        for part in parts:
            slope = out[-1] if out else None
            gap = ""
            if isinstance(slope, t.Derivative) and isinstance(part, Node):
                gap = self.latex[slope.span[1] : part.span[0]]
            if isinstance(slope, t.Derivative) and "(" in gap and self._of_a_function(slope):
                key = slope.symbol.key
                span = (slope.span[0], part.span[1])
                out[-1] = t.At(bind(slope, [key]), key, part, span=span)
            else:
                out.append(part)
        return out

    def _of_a_function(self, slope: t.Derivative) -> bool:
        body: Node = slope
        while isinstance(body, t.Derivative):
            body = body.body
        return isinstance(body, t.Name) and self.kinds.get(body.key) == "callable"

    # -- functions ----------------------------------------------------------------------

    def head(self, meta: Meta, parts: Parts) -> tuple[str, Node | None]:
        """A function word and the power at it: ``\\cos^2``."""
        return str(parts[0]), parts[1] if len(parts) > 1 else None

    def args(self, meta: Meta, parts: Parts) -> tuple[tuple[Node, ...], tuple[str, ...]]:
        """The arguments in brackets, and what separates them."""
        return tuple(parts[::2]), tuple(map(str, parts[1::2]))

    def fapp(self, meta: Meta, parts: Parts) -> Node:
        """A function word without brackets, which takes the whole run: ``\\log 2 \\pi``."""
        self._refuse(behind_bars(parts[1]), parts[1].span)
        self.bare.add(_span(meta))
        if behind_call(parts[1]) or parts[1].span in self.open_ended:
            self.open_ended.add(_span(meta))
        return self._function(parts[0], (parts[1],), meta)

    def paren_call(self, meta: Meta, parts: Parts) -> Node:
        """A function word with brackets: ``\\log(x)``."""
        return self._function(parts[0], parts[1][0], meta)

    def _function(
        self, head: tuple[str, Node | None], arguments: tuple[Node, ...], meta: Meta
    ) -> Node:
        name, power = head
        span = _span(meta)
        if name.startswith("log_"):
            base = t.Function("log", (t.Number(float(name[4:]), span=span),), span=span)
            node: Node = t.Quotient(t.Function("log", arguments, span=span), base, span=span)
        else:
            node = t.Function(name, arguments, span=span)
        return t.Power(node, power, span=span) if power is not None else node

    def call(self, meta: Meta, parts: Parts) -> Node:
        """A bound function with its arguments: ``k(x, x')``."""
        arguments, separators = parts[1]
        return t.Apply(str(parts[0]), arguments, separators, span=_span(meta))

    def called_power(self, meta: Meta, parts: Parts) -> Node:
        """``\\log(x)^2``, which is refused where the power could belong to either."""
        self._refuse_function(parts[0], meta)
        return self.power(meta, parts)

    def _refuse_function(self, base: Node, meta: Meta) -> None:
        bracketed = meta.start_pos < base.span[0]
        if isinstance(base, t.Function) and base.name in AMBIGUOUS_POWERS and not bracketed:
            problem = f"ambiguous: does the power belong to {base.name} or to its argument?"
            raise self._fault(problem, meta)

    # -- integrals ----------------------------------------------------------------------

    def integral(self, meta: Meta, parts: Parts) -> Node:
        """``\\int_a^b body \\,\\mathrm d x``."""
        limits = parts[1:-2]
        body = parts[-2]
        over = tuple(str(parts[-1]).split("\n"))
        return t.Integral(over, bind(body, over), *limits, span=_span(meta))

    # -- atoms --------------------------------------------------------------------------

    def group(self, meta: Meta, parts: Parts) -> Node:
        """What stands in brackets."""
        self.bare.discard(parts[0].span)
        return parts[0]

    def transpose(self, meta: Meta, parts: Parts) -> Node:
        """``A^\\top``."""
        self._refuse_entry(parts, meta, "the transpose")
        return t.Transpose(parts[0], span=_span(meta))

    def inverse(self, meta: Meta, parts: Parts) -> Node:
        """``A^{-1}``."""
        self._refuse_function(parts[0], meta)
        self._refuse_entry(parts, meta, "the inverse")
        return t.Inverse(parts[0], span=_span(meta))

    def invtrans(self, meta: Meta, parts: Parts) -> Node:
        """``A^{-\\top}``: the transpose of the inverse."""
        inverse = self.inverse(meta, parts)
        return t.Transpose(inverse, span=_span(meta))

    def _refuse_entry(self, parts: Parts, meta: Meta, what: str) -> None:
        """``A^{-1}_{ij}`` reads as an entry of the inverse, yet prints as ``A_{ij}^{-1}``."""
        base, mark = parts
        bracketed = meta.start_pos < base.span[0]
        if not bracketed and isinstance(base, t.Subscript):
            start = mark.span[0] if isinstance(mark, Node) else mark.start_pos
            written_first = start < base.indices[-1].span[0]
            if isinstance(mark, Node) and len(base.indices) < 2:
                return  # the square of an entry of a vector
            if written_first or (what == "the inverse" and len(base.indices) > 1):
                problem = f"ambiguous: an entry of {what}, or {what} of an entry? write brackets"
                raise self._fault(problem, meta)

    def power(self, meta: Meta, parts: Parts) -> Node:
        """``a^b``; of ``e`` it is the exponential function."""
        base, exponent = parts
        self._refuse_entry(parts, meta, "the power")
        if isinstance(base, t.Gradient) and meta.start_pos == base.span[0]:
            raise self._fault("ambiguous: the power of a gradient? write brackets", meta)
        if base == t.Constant("e"):
            return t.Function("exp", (exponent,), span=_span(meta))
        return t.Power(base, exponent, span=_span(meta))

    def place(self, meta: Meta, parts: Parts) -> Node:
        """``x^{(i)}``, of which ``x_t^{(i)}`` is an entry: the index above comes first."""
        base, index = parts
        if isinstance(base, t.Subscript) and meta.start_pos == base.span[0]:
            return t.Subscript(base.base, (index, *base.indices), span=_span(meta))
        return t.Subscript(base, (index,), span=_span(meta))

    def factorial(self, meta: Meta, parts: Parts) -> Node:
        """``n!``."""
        twice = isinstance(parts[0], t.Function) and parts[0].name == "factorial"
        if twice and parts[0].span[0] == meta.start_pos:
            raise self._fault("ambiguous: the factorial of a factorial? write brackets", meta)
        return t.Function("factorial", (parts[0],), span=_span(meta))

    def bars(self, meta: Meta, parts: Parts) -> Node:
        """``|A|``."""
        between = self.latex[meta.start_pos : parts[0].span[0]]
        if isinstance(parts[0], t.Bars) and not set(between) & set("([{"):
            raise self._fault("ambiguous: write \\lVert and \\rVert for a norm, or brackets", meta)
        return t.Bars(parts[0], span=_span(meta))

    def norm(self, meta: Meta, parts: Parts) -> Node:
        """``\\lVert x \\rVert_p``."""
        return t.Norm(parts[0], str(parts[1]), span=_span(meta))

    def inner(self, meta: Meta, parts: Parts) -> Node:
        """``\\langle a, b \\rangle``."""
        if parts[1] != ",":
            raise self._fault("an inner product: a comma stands between the two", meta)
        return t.Inner(parts[0], parts[2], span=_span(meta))

    def angle(self, meta: Meta, parts: Parts) -> Node:
        """``\\langle a \\rangle``, which is refused."""
        problem = "angles around one thing: write \\mathbb E[...] for an average"
        raise self._fault(problem, meta)

    def subscript(self, meta: Meta, parts: Parts) -> Node:
        """``x_i``, ``K_{ij}``."""
        if isinstance(parts[0], t.Inner) and meta.start_pos == parts[0].span[0]:
            raise self._fault("an inner product has no subscript", meta)
        if isinstance(parts[0], t.Bars) and meta.start_pos == parts[0].span[0]:
            raise self._fault("bars with a subscript: write \\lVert and \\rVert for a norm", meta)
        indices = tuple(index for part in parts[1:] for index in split_indices(part))
        return t.Subscript(parts[0], indices, span=_span(meta))
