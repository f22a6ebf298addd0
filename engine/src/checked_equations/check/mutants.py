"""Every single edit of an equation: what a slip of the pen could have made of it.

`edits.edits` gives the edits of one node; `all_mutants` carries them out everywhere in a
statement. A mutant holds the steps that its edit touches, so that no more than those are
evaluated again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..latex.tree import (
    Apply,
    Function,
    Name,
    Node,
    Number,
    Path,
    Product,
    Range,
    Reduction,
    Slope,
    Statement,
    Step,
    Sum,
    Transpose,
    children,
    replace_at,
    walk,
)
from .edits import EQUAL, ROUND, STRICT, Edit, Say, Scope, dollars, edits_of

__all__ = ["Mutant", "all_mutants"]


@dataclass(frozen=True)
class Mutant:
    """One edit: its name, the node before and after, and the steps as they now read.

    In `said`, the name as a page shows it, mathematics stands between dollars.
    `places` are the positions of those steps in the statement. `before` and `after` are
    steps where the edit is to a relation. `path` leads to the edited node from the side
    `side` of the first of the steps.
    """

    said: str
    steps: tuple[Step, ...]
    places: tuple[int, ...]
    before: Node
    after: Node
    side: str = ""
    path: Path = ()

    @property
    def edit(self) -> str:
        """The name without its dollars: that by which a chapter may spare the mutant."""
        return self.said.replace("$", "")

    @property
    def strict(self) -> bool:
        """Whether it makes an inequality strict: only numbers that make it tight can tell."""
        before, after = self.before, self.after
        if not (isinstance(before, Step) and isinstance(after, Step)):
            return False
        return STRICT.get(before.relation) == after.relation

    @property
    def closer(self) -> bool:
        """Whether it only claims more of the same sides: equality, or a strict inequality."""
        before, after = self.before, self.after
        if not (isinstance(before, Step) and isinstance(after, Step)):
            return False
        return after.relation in (EQUAL.get(before.relation), STRICT.get(before.relation))

    @property
    def finer(self) -> bool:
        """Whether it says no more than the noise of an estimate hides."""
        before = self.before
        return isinstance(before, Step) and (self.strict or before.relation == r"\approx")

    @property
    def claimed(self) -> bool:
        """Whether the edit leaves what the statement says: ``A = A`` of ``A = A^\\top``."""
        return any(s.left == s.right and s.relation in ("=", ":=") for s in self.steps)

    @property
    def loses(self) -> bool:
        """Whether it drops something or flips a sign, which a one, a zero, an identity hides.

        Transposes, swaps and other words may leave a value as it is for better reasons, and so
        may function words: the trace of a scalar.
        """
        kept = Transpose | Function | Slope | Step
        return self.said.startswith(("drop ", "flip ")) and not isinstance(self.before, kept)

    def probe(self, statement: Statement) -> tuple[Node, Node] | None:
        """A tree that evaluates ``before - after`` wherever `before` stands, and that difference.

        The tree has the value of the original side, so that every loop runs as it did. None
        for a relation, which has no value.
        """
        if isinstance(self.before, Step):
            return None
        gap = Sum((self.before, self.after), (1, -1))
        nothing = Sum((self.before, Product((Number(0), gap))), (1, 1))
        side = getattr(statement.steps[self.places[0]], self.side)
        return replace_at(side, self.path, nothing), gap


def all_mutants(
    statement: Statement, groups: Mapping[str, Hashable], say: Say
) -> tuple[Mutant, ...]:
    """All mutants of `statement`, each with a name of its own.

    `groups` maps the key of each bound name to what it may be swapped within (its shape,
    or that it is callable); `say` writes a node for the names of the edits.
    """
    scope = Scope(say, groups)
    unnamed = [*_of_relations(statement), *_of_sides(statement, scope)]
    times: Counter[str] = Counter()
    named = []
    for mutant in unnamed:
        times[mutant.edit] += 1
        again = times[mutant.edit]
        named.append(mutant if again == 1 else replace(mutant, said=f"{mutant.said} ({again})"))
    return tuple(named)


def _of_relations(statement: Statement) -> Iterator[Mutant]:
    for place, step in enumerate(statement.steps):
        others = [
            table[step.relation] for table in (ROUND, STRICT, EQUAL) if step.relation in table
        ]
        for other in others:
            turned = replace(step, relation=other)
            said = f"{dollars(other)} for {dollars(step.relation)}"
            yield Mutant(said, (turned,), (place,), step, turned)


def _of_sides(statement: Statement, scope: Scope) -> Iterator[Mutant]:
    for place, name in _sides(statement):
        side = getattr(statement.steps[place], name)
        for path, node, inner in _visit(side, (), scope):
            for edit, new in _edits(node, inner):
                mutant = _mutant(statement, (place, name), edit, (path, node, new))
                if isinstance(node, Name | Apply) and _circular(statement, mutant):
                    continue
                yield mutant
                if mutant.claimed and not path:
                    opposite = Sum((side,), (-1,), span=side.span)
                    said = f"flip the sign of {scope.say(side)}"
                    yield _mutant(statement, (place, name), said, (path, node, opposite))


def _circular(statement: Statement, mutant: Mutant) -> bool:
    """A swap that leaves nothing to catch: ``a = a``, or ``a = min(a, c)`` for ``min(b, c)``."""
    return any(
        step.left == step.right
        or (_mentions_itself(step) and not _mentions_itself(statement.steps[place]))
        for step, place in zip(mutant.steps, mutant.places, strict=True)
    )


def _mentions_itself(step: Step) -> bool:
    return any(
        isinstance(alone, Name) and any(part == alone for _, part in walk(other))
        for alone, other in ((step.left, step.right), (step.right, step.left))
    )


def _sides(statement: Statement) -> Iterator[tuple[int, str]]:
    """Each side once: the right side of one step is often the left side of the next."""
    for place, step in enumerate(statement.steps):
        if place == 0 or not _shared(statement.steps[place - 1], step):
            yield place, "left"
        yield place, "right"


def _shared(before: Step, step: Step) -> bool:
    return before.right is step.left or (
        before.right == step.left and before.right.span == step.left.span
    )


def _mutant(
    statement: Statement, side: tuple[int, str], edit: str, change: tuple[Path, Node, Node]
) -> Mutant:
    place, name = side
    path, before, after = change
    steps = statement.steps
    new = replace_at(getattr(steps[place], name), path, after)
    edited: dict[str, Any] = {name: new}
    changed = {place: replace(steps[place], **edited)}
    following = place + 1
    if name == "right" and following < len(steps) and _shared(steps[place], steps[following]):
        changed[following] = replace(steps[following], left=new)
    return Mutant(edit, tuple(changed.values()), tuple(changed), before, after, name, path)


def _visit(node: Node, path: Path, scope: Scope) -> Iterator[tuple[Path, Node, Scope]]:
    """Every node with what is in scope there; the limits of a sum are edited with the sum."""
    yield path, node, scope
    if isinstance(node, Reduction):
        scope = replace(scope, indices=(*scope.indices, node.over.index))
    for place, child in children(node):
        if not (isinstance(node, Range) and isinstance(child, Number)):
            yield from _visit(child, (*path, place), scope)


def _edits(node: Node, scope: Scope) -> Iterator[Edit]:
    for edit, new in edits_of(node, scope):
        yield edit, replace(new, span=node.span) if new.span == (0, 0) else new
