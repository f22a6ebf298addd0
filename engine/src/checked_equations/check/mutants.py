"""Every single edit of an equation: what a slip of the pen could have made of it.

`edits.edits` gives the edits of one node; `all_mutants` carries them out everywhere in a
statement. A mutant holds the steps that its edit touches, so that no more than those are
evaluated again.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..latex import tree as t
from .edits import EQUAL, ROUND, STRICT, Say, Scope, edits_of, instead

Steps = tuple[t.Step, ...]


@dataclass(frozen=True)
class Mutant:
    """One edit: its name, the node before and after, and the steps as they now read.

    In `said`, the name as a page shows it, mathematics stands between dollars.
    `places` are the positions of those steps in the statement. `before` and `after` are
    steps where the edit is to a relation. `path` leads to the edited node from the side
    `side` of the first of the steps.
    """

    said: str
    steps: tuple[t.Step, ...]
    places: tuple[int, ...]
    before: t.Node
    after: t.Node
    side: str = ""
    path: t.Path = ()

    @property
    def edit(self) -> str:
        """The name without its dollars: that by which a chapter may spare the mutant."""
        return self.said.replace("$", "")

    @property
    def relations(self) -> tuple[str, str]:
        """The relation before and after, where the edit is to one."""
        if isinstance(self.before, t.Step) and isinstance(self.after, t.Step):
            return self.before.relation, self.after.relation
        return "", ""

    @property
    def strict(self) -> bool:
        """Whether it makes an inequality strict: only numbers that make it tight can tell."""
        return self.relations in STRICT.items()

    @property
    def closer(self) -> bool:
        """Whether it only claims more of the same sides: equality, or a strict inequality."""
        return self.strict or self.relations in EQUAL.items()

    @property
    def finer(self) -> bool:
        """Whether it says no more than the noise of an estimate hides."""
        return self.strict or self.relations[0] == r"\approx"

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
        kept = t.Transpose | t.Function | t.Slope | t.Step
        return self.said.startswith(("drop ", "flip ")) and not isinstance(self.before, kept)


def all_mutants(
    statement: t.Statement, groups: Mapping[str, Hashable], say: Say
) -> tuple[Mutant, ...]:
    """All mutants of `statement`, each with a name of its own.

    `groups` maps the key of each bound name to what it may be swapped within (its shape,
    or that it is callable); `say` writes a node for the names of the edits.
    """
    named, times, steps = [], Counter[str](), statement.steps
    for mutant in (*_of_relations(steps), *_of_sides(steps, Scope(say, groups))):
        times[mutant.edit] += 1
        again = times[mutant.edit]
        named.append(mutant if again == 1 else replace(mutant, said=f"{mutant.said} ({again})"))
    return tuple(named)


def _of_relations(steps: Steps) -> Iterator[Mutant]:
    for place, step in enumerate(steps):
        for table in (ROUND, STRICT, EQUAL):
            if step.relation in table:
                turned = replace(step, relation=table[step.relation])
                said = instead(turned.relation, step.relation)
                yield Mutant(said, (turned,), (place,), step, turned)


def _of_sides(steps: Steps, scope: Scope) -> Iterator[Mutant]:
    """Of each side once: the right side of one step is often the left side of the next."""
    for place, name in itertools.product(range(len(steps)), ("left", "right")):
        if name == "left" and place and _shared(steps[place - 1], steps[place]):
            continue
        side = getattr(steps[place], name)
        for path, node, inner in _visit(side, (), scope):
            for edit, new in edits_of(node, inner):
                after = replace(new, span=node.span) if new.span == (0, 0) else new
                mutant = _mutant(steps, place, Mutant(edit, (), (), node, after, name, path))
                if isinstance(node, t.Name | t.Apply) and _circular(steps, mutant):
                    continue
                yield mutant
                if mutant.claimed and not path:
                    said = f"flip the sign of {scope.say(side)}"
                    opposite = t.Sum((side,), (-1,), span=side.span)
                    yield _mutant(steps, place, Mutant(said, (), (), node, opposite, name))


def _circular(steps: Steps, mutant: Mutant) -> bool:
    """A swap that leaves nothing to catch: ``a = a``, or ``a = min(a, c)`` for ``min(b, c)``."""
    return any(
        step.left == step.right or (_mentions_itself(step) and not _mentions_itself(steps[place]))
        for step, place in zip(mutant.steps, mutant.places, strict=True)
    )


def _mentions_itself(step: t.Step) -> bool:
    sides = ((step.left, step.right), (step.right, step.left))
    parts = ((alone, part) for alone, other in sides for _, part in t.walk(other))
    return any(isinstance(alone, t.Name) and alone == part for alone, part in parts)


def _shared(before: t.Step, step: t.Step) -> bool:
    return before.right == step.left and before.right.span == step.left.span


def _mutant(steps: Steps, place: int, edit: Mutant) -> Mutant:
    """The edit of a side at `place` with the steps that it touches."""
    step, following = steps[place], steps[place + 1 : place + 2]
    after: Any = t.replace_at(getattr(step, edit.side), edit.path, edit.after)
    changed = {place: replace(step, **{edit.side: after})}
    if edit.side == "right" and following and _shared(step, following[0]):
        changed[place + 1] = replace(following[0], left=after)
    return replace(edit, steps=tuple(changed.values()), places=tuple(changed))


def _visit(node: t.Node, path: t.Path, scope: Scope) -> Iterator[tuple[t.Path, t.Node, Scope]]:
    """Every node with what is in scope there; the limits of a sum are edited with the sum."""
    yield path, node, scope
    if isinstance(node, t.Reduction):
        scope = replace(scope, indices=(*scope.indices, node.over.index))
    for place, child in t.children(node):
        if not (isinstance(node, t.Range) and isinstance(child, t.Number)):
            yield from _visit(child, (*path, place), scope)
