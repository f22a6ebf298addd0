"""Numbers that do not fit the text: a name with two meanings, a condition that is not met."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

import numpy as np

from ..errors import EquationError
from ..evaluate.evaluator import Evaluator
from ..evaluate.rules.loops import elements
from ..evaluate.values import conform, kind
from ..latex import tree as t
from ..latex.names import DISTRIBUTIONS, joined
from ..latex.parser import parse_expression
from ..latex.tokenizer import FONTS, Token, closing, split, tokens
from .relations import Misfit, Tolerance, compare, scale

_MARKS = ("_", "^", "'")
Clash = tuple[str, t.Span]  # what is wrong, and where


def refuse_name_clashes(
    latex: str, statement: t.Node, drawn: Sequence[Mapping[str, object]]
) -> None:
    """Raise `EquationError` for a name with a second meaning.

    With ``\\sigma_n`` and ``\\sigma_n^2`` both bound, one must be the square of the other, and
    ``x_1`` an entry of ``x`` (but ``K_1`` may be one of several matrices that make up ``K``);
    with a running variable ``i``, a symbol ``x_i`` that does not run is no ``x_i``.
    """
    parts = t.parts(statement)
    drawn_from = {k for k, value in drawn[0].items() if kind(value) in DISTRIBUTIONS}
    clashes = itertools.chain(
        *(_of_another_reading(key, bound) for bound in drawn for key in bound),
        _of_average_and_integral(parts),
        _of_two_variables(parts, drawn[0]),
        _of_separators(parts),
        *(_of_standing(part, drawn_from) for part in parts if isinstance(part, t.Reduction)),
        *(_of_held_still(part) for part in parts if isinstance(part, t.Slope)),
    )
    for problem, span in itertools.islice(clashes, 1):
        raise EquationError(problem, latex, span)


def _of_average_and_integral(parts: Sequence[t.Node]) -> Iterator[Clash]:
    """The nodes of a distribution are no rule for an integral: the density would be lost."""
    averaged = {part.distribution for part in parts if isinstance(part, t.Under)}
    for part in parts:
        for key in averaged.intersection(part.variables if isinstance(part, t.Integral) else ()):
            hint = f"bind the distribution to a name of its own, such as `q({key})`"
            yield f"`{key}` stands under an average and under an integral: {hint}", part.span


def _of_two_variables(parts: Sequence[t.Node], bound: Mapping[str, object]) -> Iterator[Clash]:
    """A letter stands for the distribution of one variable: ``q(x)`` and ``q(y)`` are two."""
    first: dict[str, str] = {}
    for part in (part for part in parts if isinstance(part, t.Under)):
        key = part.distribution
        if kind(bound.get(key)) != "distribution" or "(" in key:
            continue
        for variable in part.variables:
            # without scripts and primes: `x` of `x_i'`
            bare = itertools.takewhile(lambda token: token.text not in _MARKS, tokens(variable))
            letter = joined(list(bare))
            if first.setdefault(key, letter) != letter:
                problem = f"`{key}` is the distribution of `{first[key]}` and of `{letter}`"
                yield f"{problem}: bind `{key}({first[key]})` and `{key}({letter})`", part.span


def _of_separators(parts: Sequence[t.Node]) -> Iterator[Clash]:
    """``p(x, y)`` and ``p(x \\mid y)`` of one function with two arguments are two things."""
    first: dict[tuple[str, int], tuple[str, ...]] = {}
    for part in parts:
        if isinstance(part, t.Apply) and len(part.arguments) > 1:
            known = first.setdefault((part.key, len(part.arguments)), part.separators)
            if known != part.separators:
                signs = (f"with `{' '.join(signs)}`" for signs in (known, part.separators))
                between = " between its arguments, and ".join(signs)
                hint = f"bind each by its form, such as `{part.key}(y \\mid x)`"
                yield f"`{part.key}` has two meanings: {between}: {hint}", part.span


def _of_another_reading(key: str, bound: Mapping[str, object]) -> Iterator[Clash]:
    kinds = {k: kind(value) for k, value in bound.items()}
    if kinds.pop(key) != "value" or not {"^", "_"} & set(key):
        return
    evaluator, value = Evaluator(bound, key), conform(bound[key])
    try:
        node = parse_expression(key, kinds)
        read = evaluator.value(node)
        entry = isinstance(node, t.Subscript) and evaluator.value(node.base).ndim > 0
    except EquationError:
        return
    scripted = isinstance(node, t.Power | t.Inverse | t.Transpose)
    alike = read.shape == value.shape
    near = alike and np.max(np.abs(read - value)) <= 1e-8 * scale(read, value)
    if (scripted or (entry and alike)) and not near:
        yield f"`{key}` is bound to other numbers than it reads as, by its base being bound", (0, 0)


def _of_held_still(slope: t.Slope) -> Iterator[Clash]:
    """``q_\\mu`` says that it depends on ``\\mu``; bound as a whole, it does not move with it."""
    by = slope.symbol.key
    for node in t.parts(slope.body):
        key = node.distribution if isinstance(node, t.Under) else getattr(node, "key", "")
        given = node.given if isinstance(node, t.Under) else getattr(node, "arguments", ())
        moves = any(getattr(part, "key", "") == by for part in given)
        if key != by and not moves and by in _scripts(key):
            problem = f"`{key}` is held still in a derivative by `{by}`, on which its name depends"
            hint = f"bind the dependence: a function of `{by}`, or `q(x \\mid {by})`"
            yield f"{problem}; {hint}", node.span


def _scripts(key: str) -> set[str]:
    """Return the scripts of a name, part by part: of ``q_{\\mu, s}`` both."""
    found: set[str] = set()
    for content in _contents(key, "_^"):
        parts, _ = split(content, {",", ";"})
        found |= {joined(part) for part in (content, *parts)}
        found |= {inner.text for inner in content if inner.text[0] == "\\"}
    return found


def _contents(key: str, marks: str) -> Iterator[Sequence[Token]]:
    """Yield the inside of the braces of each script."""
    sequence = tokens(key)
    for i, token in enumerate(sequence):
        if token.text in marks:
            yield sequence[i + 2 : closing(sequence, i + 1)]


def _runs_in(reduction: t.Reduction, entry: t.Subscript) -> bool:
    return any(i == t.Index(reduction.over.index) for i in entry.indices)


def _of_standing(reduction: t.Reduction, drawn_from: Set[str]) -> Iterator[Clash]:
    index = [token.text for token in tokens(reduction.over.index)]
    parts = t.parts(reduction.body)
    runs_in = (p for p in parts if isinstance(p, t.Subscript) and _runs_in(reduction, p))
    data = {id(part.base) for part in runs_in}  # the `x_i` of which `x_j` is an entry
    for node in parts:
        if not isinstance(node, t.Name | t.Apply) or node.key in drawn_from or id(node) in data:
            continue
        for subscript in _contents(node.key, "_"):
            content = [inner.text for inner in subscript]
            places = range(len(content) - len(index) + 1)
            within = any(content[k : k + len(index)] == index for k in places)
            # `n` is among `n, m`, and not in `\mathrm{noise}`
            if content == index or (within and not FONTS & set(content)):
                runs = f"`{reduction.over.index}` runs here"
                yield f"`{node.key}` is bound as one symbol, but {runs}", node.span


# Conditions in words


def refuse_unmet_conditions(
    latex: str, statement: t.Statement, drawn: Sequence[Mapping[str, object]]
) -> None:
    """Raise `EquationError` at a condition that a draw, which then says nothing, does not meet."""
    for number, bound in enumerate(drawn, start=1):
        evaluator = Evaluator(bound, latex)
        for condition in statement.conditions:
            if not _met(condition, evaluator):
                problem = f"the numbers of draw {number} do not meet this condition"
                raise EquationError(problem, latex, condition.span)


def _met(step: t.Node, evaluator: Evaluator) -> bool:
    if not isinstance(step, t.Step):  # the name of what runs is no condition on the numbers
        return not isinstance(step, t.Member) or _belongs(step, evaluator)
    left, right = evaluator.value(step.left), evaluator.value(step.right)
    if step.relation == "\\ne":
        return bool(np.any(left != right))
    try:
        return compare(left, step.relation, right, Tolerance()).holds
    except Misfit as wrong:
        raise evaluator.fault(step, str(wrong)) from wrong


def _belongs(node: t.Member, evaluator: Evaluator) -> bool:
    """Return whether it is one of those listed, or numbers of a kind, in an array of a shape."""
    value = evaluator.value(node.element)
    if isinstance(node.members, t.Space):
        sizes = tuple(int(evaluator.value(size)) for size in node.members.shape)
        columns = (*sizes, 1) if len(sizes) == 1 else sizes
        fits = value.size == 1 if set(sizes) <= {1} else value.shape == columns
        return fits and bool(np.all(_OF_A_KIND[node.members.name](value)))
    if node.members is not None:
        return any(np.array_equal(value, one) for one in elements(evaluator, node.members, {}))
    listed = [float(evaluator.value(number)) for number in node.listed]
    if node.last is not None:
        if any(b != a + 1 for a, b in itertools.pairwise(listed)):
            raise evaluator.fault(node, "dots go on with whole numbers one after another: 1, 2")
        if node.last == t.Constant("\\infty"):
            return bool(np.all((value >= listed[0]) & (value == np.floor(value))))
        listed = list(np.arange(listed[0], float(evaluator.value(node.last)) + 1))
    return any(np.array_equal(value, one) for one in listed)


_OF_A_KIND: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "\\mathbb R": np.isfinite, "\\mathbb R_+": lambda x: x > 0, "\\mathbb R_{>0}": lambda x: x > 0,
    "\\mathbb N": lambda x: (x > 0) & (x == np.floor(x)), "\\mathbb Z": lambda x: x == np.floor(x),
}  # fmt: skip
