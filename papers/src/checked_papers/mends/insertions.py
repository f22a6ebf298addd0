"""The edits that insert a part that a slip of the pen has lost; mutants mostly take parts away.

They are ranked by how often they mended a published mistake: the list of `insertions_of` begins
with the most frequent. Each edit is a phrase, with mathematics between dollars, and the node that
takes the place of the one that is printed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from checked_equations.check.mutants import Edit, dollars
from checked_equations.latex import tree as t

from .supply import HALF, ONE, TWO, Supply, letter_of, letters_in, renamed

_NO_OPERAND = t.Step | t.Range | t.Under | t.Member | t.Space | t.Statement
_LIKE = {
    "sin": "cos", "cos": "sin", "sinh": "cosh", "cosh": "sinh", "log": "exp", "exp": "log",
}  # fmt: skip


def insertions_of(node: t.Node, parent: t.Node | None, supply: Supply) -> Iterator[Edit]:
    """The further edits of one node that stands below `parent`."""
    if isinstance(node, _NO_OPERAND):
        return
    yield from _running(node, supply)
    yield from _terms(node, parent, supply)
    yield from _minus(node, parent)
    yield from _another(node, supply)
    yield from _factors(node, parent, supply)
    yield from _marks(node)
    yield from _exchanged(node)
    yield from _scripts(node, supply)
    yield from _numbers(node)
    yield from _calls(node, supply)
    yield from _reach(node)
    yield from _moved_brackets(node)


def _running(node: t.Node, supply: Supply) -> Iterator[Edit]:
    """A sum over another letter of its body, a sum that was lost, one too many."""
    if isinstance(node, t.Reduction):
        old = node.over.index
        inner = t.Name(old) if old in supply.whole else t.Index(old)
        for letter in letters_in(node.body):
            if letter in (old, *supply.running):
                continue
            body = renamed(renamed(node.body, old, inner), letter, t.Index(letter))
            said = f"the {node.kind} over {dollars(letter)} for {dollars(old)}"
            yield said, replace(node, over=replace(node.over, index=letter), body=body)
            if last := supply.extent(letter, node.body):
                yield said, replace(node, over=t.Range(letter, ONE, last), body=body)
            yield f"{dollars(old)} for each {dollars(letter)}", _each_index(node, letter)
        yield f"no {node.kind} over {dollars(old)}", renamed(node.body, old, inner)
        yield from _left_out(node, supply)
    elif isinstance(node, t.Product | t.Subscript | t.Apply | t.Power | t.Sum | t.Quotient):
        for letter in letters_in(node):
            last = supply.extent(letter, node)
            if letter in supply.running or letter in supply.whole or last is None:
                continue
            body = renamed(node, letter, t.Index(letter))
            over = t.Range(letter, ONE, last)
            yield f"a sum over {dollars(letter)}", t.Reduction("sum", over, body)


def _left_out(node: t.Reduction, supply: Supply) -> Iterator[Edit]:
    """The term where two indices are equal, which a sum leaves out or should."""
    own, over = supply.say(t.Name(node.over.index)), node.over
    if over.without is not None:
        said = f"also where ${own} = {supply.say(over.without)}$"
        yield said, replace(node, over=replace(over, without=None))
        return
    for letter in supply.running:
        said = f"only where ${own} \\ne {letter}$"
        yield said, replace(node, over=replace(over, without=t.Index(letter)))
        if over.first is not None:
            behind = t.Sum((t.Index(letter), ONE), (1, 1))
            yield f"only where ${own} > {letter}$", replace(node, over=replace(over, first=behind))


def _each_index(node: t.Reduction, letter: str) -> t.Node:
    """The sum with its own letter in the place of another, wherever that is an index."""

    def change(part: t.Node) -> t.Node:
        part = t.mapped(part, change)
        if isinstance(part, t.Subscript):
            own = (t.Index(node.over.index) if letter_of(i) == letter else i for i in part.indices)
            return replace(part, indices=tuple(own))
        return part

    return replace(node, body=change(node.body))


def _terms(node: t.Node, parent: t.Node | None, supply: Supply) -> Iterator[Edit]:
    """A symbol, or one, added or taken away; one less the node, and one more."""
    if isinstance(parent, t.Sum | t.Subscript) and not isinstance(node, t.Sum):
        return
    terms, signs = (node.terms, node.signs) if isinstance(node, t.Sum) else ((node,), (1,))
    for new in (*supply.here(), ONE):
        if new in terms and terms != (new,):
            continue
        for sign, mark in ((1, "+"), (-1, "-")):
            if terms != (new,):
                yield (
                    f"the term ${mark} {_bare(supply, new)}$ added",
                    t.Sum((*terms, new), (*signs, sign)),
                )
        flipped = tuple(-s for s in signs)
        if terms != (new,):
            yield f"{_said(supply, new)} less this", t.Sum((new, *terms), (1, *flipped))


def _said(supply: Supply, node: t.Node) -> str:
    return dollars(_bare(supply, node))


def _bare(supply: Supply, node: t.Node) -> str:
    return "1" if node == ONE else supply.say(node)


def _minus(node: t.Node, parent: t.Node | None) -> Iterator[Edit]:
    """Insert a minus before a node that is no term of a sum; in a sum the mutants flip the sign."""
    if not isinstance(parent, t.Sum | t.Product) and not isinstance(node, t.Number):
        if isinstance(node, t.Sum):
            turned = tuple(-s for s in node.signs)
            yield "all signs turned", replace(node, signs=turned)
        else:
            yield "a minus inserted", t.Sum((node,), (-1,))


def _another(node: t.Node, supply: Supply) -> Iterator[Edit]:
    """Another symbol, of any shape, in the place of a symbol, an entry or a call."""
    if isinstance(node, t.Name | t.Subscript | t.Apply | t.Index):
        for other in supply.here():
            if other != node:
                yield f"{_said(supply, other)} for {dollars(supply.say(node))}", other
    if isinstance(node, t.Function) and node.name in _LIKE:
        yield f"{_LIKE[node.name]} for {node.name}", replace(node, name=_LIKE[node.name])
    if isinstance(node, t.Norm | t.Bars):
        yield "the square of it", t.Power(node, TWO)


def _factors(node: t.Node, parent: t.Node | None, supply: Supply) -> Iterator[Edit]:
    """A symbol as a factor, at each place of a product, or as a denominator; one less a symbol."""
    if isinstance(parent, t.Product | t.Subscript) or isinstance(node, t.Number):
        return
    own = node.factors if isinstance(node, t.Product) else (node,)
    for new in supply.here():
        alone = supply.shape(new) == () or isinstance(new, t.Subscript)
        places = (
            (len(own) if isinstance(own[0], t.Number) else 0,) if alone else range(len(own) + 1)
        )
        said = f"the factor {_said(supply, new)} added"
        for place in places:
            yield said, t.Product((*own[:place], new, *own[place:]))
        if supply.shape(new) in ((), None):
            yield f"the denominator {_said(supply, new)} added", _over(node, new)
        if supply.shape(new) == () or isinstance(new, t.Subscript):
            less = t.Sum((ONE, new), (1, -1))
            said = f"the factor $1 - {supply.say(new)}$ added"
            yield said, t.Product((less, *own))
            yield f"the denominator $1 - {supply.say(new)}$ added", _over(node, less)


def _over(node: t.Node, new: t.Node) -> t.Node:
    if isinstance(node, t.Quotient) and node.denominator != new:
        return replace(node, denominator=t.Product((new, node.denominator)))
    return t.Quotient(node, new)


def marks_of(node: t.Node) -> Iterator[Edit]:
    """The marks that a node may have lost: an inverse, a transpose, a square, a root, a word."""
    if not isinstance(node, t.Inverse):
        yield "an inverse inserted", t.Inverse(node)
    if not isinstance(node, t.Transpose):
        yield "a transpose inserted", t.Transpose(node)
    if isinstance(node, t.Inverse | t.Transpose):
        yield "a transpose of the inverse", t.Transpose(t.Inverse(node.base))
    yield "a square inserted", t.Power(node, TWO)
    yield "a root inserted", t.Root(node)
    yield "a factor $2$ inserted", t.Product((TWO, node))
    yield "a factor one half inserted", t.Product((HALF, node))


def _marks(node: t.Node) -> Iterator[Edit]:
    if isinstance(node, t.Number | t.Index):
        return
    yield from marks_of(node)
    for word in ("log", "exp", "tr", "det", "diag"):
        if not (isinstance(node, t.Function) and node.name == word):
            yield f"{word} inserted", t.Function(word, (node,))


def _exchanged(node: t.Node) -> Iterator[Edit]:
    """Two factors of a product, a numerator and its denominator, two arguments, a base, a power."""
    match node:
        case t.Product(factors):
            pairs = itertools.combinations(range(len(factors)), 2)
            for i, j in sorted(pairs, key=lambda pair: pair[1] - pair[0]):  # neighbours first
                turned = list(factors)
                turned[i], turned[j] = turned[j], turned[i]
                yield "two factors exchanged", t.Product(tuple(turned))
            yield "a sum for the product", t.Sum(factors, (1,) * len(factors))
            for i in range(1, len(factors)):
                above, below = (*factors[:i], *factors[i + 1 :]), factors[i]
                top = above[0] if len(above) == 1 else t.Product(above)
                yield "a factor below the line", t.Quotient(top, below)
        case t.Sum(terms) if len(terms) > 1:
            yield "a product for the sum", t.Product(terms)
        case t.Quotient(above, below):
            yield "upside down", t.Quotient(below, above)
            yield "product for quotient", t.Product((above, below))
        case t.Power(base, exponent):
            yield "base and power exchanged", t.Power(exponent, base)
        case t.Function(_, arguments) | t.Apply(_, arguments) if len(arguments) > 1:
            yield "the arguments in reverse", replace(node, arguments=arguments[::-1])
        case t.Subscript(_, indices) if len(indices) > 1:
            yield "the indices in reverse", replace(node, indices=indices[::-1])


def _scripts(node: t.Node, supply: Supply) -> Iterator[Edit]:
    """A subscript for an exponent, a subscript lost or added, an index shifted or another one."""
    match node:
        case t.Subscript(base, (index,)):
            yield "exponent for subscript", t.Power(base, index)
            yield "no subscript", base
        case t.Power(base, exponent) if isinstance(exponent, t.Name | t.Index | t.Number | t.Sum):
            yield "subscript for exponent", t.Subscript(base, (exponent,))
    letters = [*map(t.Index, supply.running), *map(t.Name, supply.whole)]
    if isinstance(node, t.Name) and supply.shapes.get(node.key, ()) != ():
        for count in range(1, 3 if 1 not in supply.shapes[node.key] else 2):
            for own in itertools.product(letters, repeat=count):
                yield "a subscript added", t.Subscript(node, own)
    if isinstance(node, t.Subscript):
        yield from _indices(node, letters, supply)
    for key in supply.whole if isinstance(node, t.Name | t.Subscript | t.Apply) else ():
        yield f"the power {dollars(key)} added", t.Power(node, t.Name(key))


def _indices(node: t.Subscript, letters: list[t.Node], supply: Supply) -> Iterator[Edit]:
    for i, index in enumerate(node.indices):
        others: list[t.Node] = [t.Sum((index, ONE), (1, by)) for by in (1, -1)]
        others += [letter for letter in letters if letter_of(letter) != letter_of(index)]
        others += [t.Number(1.0)] if not isinstance(index, t.Number) else []
        if isinstance(index, t.Sum):
            others += index.terms[:1]
        for other in others:
            changed = (*node.indices[:i], other, *node.indices[i + 1 :])
            yield f"another index of {dollars(supply.say(node))}", replace(node, indices=changed)


def _numbers(node: t.Node) -> Iterator[Edit]:
    """Another number: by a factor, a sign, one less, or with two of its digits exchanged."""
    if isinstance(node, t.Number):
        value = node.value
        for other in (value - 1, 2 * value, value / 2, -value, *_digits(value)):
            if other != value:
                yield f"${other:g}$ for ${value:g}$", t.Number(other)


def _digits(value: float) -> Iterator[float]:
    text = f"{value:.12g}"
    for i in range(len(text) - 1):
        if text[i : i + 2].isdigit():
            yield float(text[:i] + text[i + 1] + text[i] + text[i + 2 :])


def _calls(node: t.Node, supply: Supply) -> Iterator[Edit]:
    """A bound function inserted, or taken away: ``u(c)`` for ``c``."""
    if isinstance(node, t.Apply) and len(node.arguments) == 1:
        yield f"the function {dollars(node.key)} dropped", node.arguments[0]
    if isinstance(node, t.Number):
        return
    for key in supply.functions:
        if not (isinstance(node, t.Apply) and node.key == key):
            yield f"the function {dollars(key)} inserted", t.Apply(key, (node,))


def _reach(node: t.Node) -> Iterator[Edit]:
    """A bracket that reaches further, or less far: over a sum, a product, below a power."""
    match node:
        case t.Product(factors):
            yield from _brackets_less(factors)
            yield from _powers_of_all(factors)
        case t.Sum(terms) if len(terms) > 1:
            yield from _brackets_more(node)
            if any(isinstance(term, t.Sum) for term in terms):
                yield "a bracket less", _without_brackets(node)
        case t.Power(t.Product((*others, base)), exponent):
            yield "the power of the last factor", t.Product((*others, t.Power(base, exponent)))


_ELSEWHERE = "a bracket moved"


def _moved_brackets(node: t.Node) -> Iterator[Edit]:
    """``f(a / b)`` for ``f(a) / b`` and the reverse, likewise of a sum, a product, a power."""
    moved = (*_let_out(node), *_taken_in(node), *_put_beside(node))
    yield from ((_ELSEWHERE, new) for new in moved)


def _let_out(node: t.Node) -> Iterator[t.Node]:
    match None if isinstance(node, t.Product) else _argument(node):
        case t.Sum((first, *rest), (sign, *signs)) if rest:
            alone = _with_argument(node, first if sign > 0 else t.Sum((first,), (-1,)))
            yield t.Sum((alone, *rest), (1, *signs))
        case t.Product((first, *rest)):
            yield t.Product((_with_argument(node, first), *rest))
        case t.Quotient(above, below):
            yield t.Quotient(_with_argument(node, above), below)


def _taken_in(node: t.Node) -> Iterator[t.Node]:
    if isinstance(node, t.Quotient) and (own := _argument(node.numerator)) is not None:
        yield _with_argument(node.numerator, t.Quotient(own, node.denominator))
    parts = getattr(node, "terms", getattr(node, "factors", ()))
    for i, part in enumerate(parts[:-1]):
        own = _argument(part)
        if own is None:
            continue
        if isinstance(node, t.Sum):
            reached: t.Node = t.Sum((own, *parts[i + 1 :]), (1, *_after(node.signs, i)))
            kept = (*parts[:i], _with_argument(part, reached))
            yield t.Sum(kept, node.signs[: i + 1])
        else:
            reached = t.Product((own, *parts[i + 1 :]))
            yield t.Product((*parts[:i], _with_argument(part, reached)))


def _put_beside(node: t.Node) -> Iterator[t.Node]:
    """``a / b (c)`` for ``a / (b c)``."""
    if isinstance(node, t.Quotient) and isinstance(node.denominator, t.Product):
        factors = node.denominator.factors
        for i, factor in enumerate(factors):
            rest = (*factors[:i], *factors[i + 1 :])
            below = rest[0] if len(rest) == 1 else t.Product(rest)
            yield t.Product((t.Quotient(node.numerator, below), factor))


def _after(signs: tuple[int, ...], i: int) -> tuple[int, ...]:
    """The signs behind the term `i`, within a bracket that begins there."""
    return tuple(sign * signs[i] for sign in signs[i + 1 :])


def _argument(node: t.Node) -> t.Node | None:
    """The one argument of a function, or the exponent of a power; of a product its last one."""
    match node:
        case t.Product((*_, last)) if not isinstance(last, t.Product):
            return _argument(last)
        case t.Function(_, (argument,)) | t.Apply(_, (argument,)):
            return argument
        case t.Root(base):
            return base
        case t.Power(_, exponent):
            return exponent
    return None


def _with_argument(node: t.Node, argument: t.Node) -> t.Node:
    match node:
        case t.Product((*others, last)):
            return t.Product((*others, _with_argument(last, argument)))
        case t.Function() | t.Apply():
            return replace(node, arguments=(argument,))
        case t.Root():
            return replace(node, base=argument)
        case t.Power():
            return replace(node, exponent=argument)
    return node


def _brackets_less(factors: tuple[t.Node, ...]) -> Iterator[Edit]:
    """``a + b c`` for ``(a + b) c``, and ``c a + b`` for ``c (a + b)``."""
    first, last = factors[0], factors[-1]
    if isinstance(first, t.Sum) and len(first.terms) > 1:
        product = t.Product((first.terms[-1], *factors[1:]))
        yield "a bracket less", t.Sum((*first.terms[:-1], product), first.signs)
    if isinstance(last, t.Sum) and len(last.terms) > 1:
        product = t.Product((*factors[:-1], last.terms[0]))
        yield "a bracket less", t.Sum((product, *last.terms[1:]), last.signs)


def _powers_of_all(factors: tuple[t.Node, ...]) -> Iterator[Edit]:
    """``(a b)^c`` for ``a b^c``, and the same of an inverse and a transpose."""
    match factors:
        case (_, *_, t.Power(base, exponent)):
            yield "the power of the product", t.Power(t.Product((*factors[:-1], base)), exponent)
        case (_, *_, t.Inverse(base)):
            yield "the inverse of the product", t.Inverse(t.Product((*factors[:-1], base)))
        case (_, *_, t.Transpose(base)):
            yield "the transpose of the product", t.Transpose(t.Product((*factors[:-1], base)))


def _brackets_more(node: t.Sum) -> Iterator[Edit]:
    """``(a + b) c`` for ``a + b c``, ``c (a + b)`` for ``c a + b``, ``-(a + b)`` for ``-a + b``."""
    terms, signs = node.terms, node.signs
    first, last = terms[0], terms[-1]
    if isinstance(last, t.Product):
        reached = t.Sum((*terms[:-1], last.factors[0]), signs)
        yield "a bracket around the sum", t.Product((reached, *last.factors[1:]))
    if isinstance(first, t.Product):
        reached = t.Sum((first.factors[-1], *terms[1:]), signs)
        yield "a bracket around the sum", t.Product((*first.factors[:-1], reached))
    for i in range(1, len(terms)):
        turned = tuple(-s if j >= i else s for j, s in enumerate(signs))
        yield "the signs of all that follows turned", replace(node, signs=turned)


def _without_brackets(node: t.Sum) -> t.Sum:
    """The sums within a sum as terms of it, with the signs as they stand."""
    terms: tuple[t.Node, ...] = ()
    signs: tuple[int, ...] = ()
    for term, sign in zip(node.terms, node.signs, strict=True):
        terms += term.terms if isinstance(term, t.Sum) else (term,)
        signs += (sign * term.signs[0], *term.signs[1:]) if isinstance(term, t.Sum) else (sign,)
    return t.Sum(terms, signs)
