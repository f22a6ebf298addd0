"""The material of a mend: the symbols that the printed form names, and its running letters."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from checked_equations.check.bindings import names_in, swap_groups
from checked_equations.check.mutants import Say, Scope, dollars
from checked_equations.evaluate.values import Estimate, conform, kind
from checked_equations.latex import tree as t

ONE, TWO, HALF = t.Number(1.0), t.Number(2.0), t.Quotient(t.Number(1.0), t.Number(2.0))


@dataclass(frozen=True)
class Supply:
    """The bound symbols of a statement, and the pieces of it that an edit may insert.

    `atoms` are the symbols, entries and calls of the statement, each once; `running` are the
    letters that run where an edit is made; `values` are those of the first draw.
    """

    say: Say
    values: Mapping[str, object]
    atoms: tuple[t.Node, ...] = ()
    running: tuple[str, ...] = ()

    @classmethod
    def of(cls, statement: t.Statement, values: Mapping[str, object], say: Say) -> Supply:
        """Return the symbols that `statement` names; other bound symbols are left alone."""
        named = names_in(statement)
        kept = {k: v for k, v in values.items() if k in named and _is_usable(v)}
        supply = cls(say, kept)
        pieces = [part for step in statement.steps for part in t.parts(step)]
        known = (*map(t.Name, supply.numbers), *filter(supply.is_atom, pieces))
        return replace(supply, atoms=tuple(dict.fromkeys((*known, *supply._entries(pieces)))))

    def _entries(self, pieces: list[t.Node]) -> Iterator[t.Node]:
        """The entries of bound vectors at the whole numbers that are an index of something."""
        letters = [key for piece in pieces for key in letters_in(piece) if key in self.whole]
        for key, shape in self.shapes.items():
            if shape[1:] == (1,):
                yield from (t.Subscript(t.Name(key), (t.Name(one),)) for one in letters)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each symbol that is bound to numbers."""
        return {
            k: conform(v).shape
            for k, v in self.values.items()
            if kind(v) == "value" and not isinstance(v, Estimate)
        }

    @property
    def numbers(self) -> tuple[str, ...]:
        """The symbols that are bound to numbers."""
        return tuple(self.shapes)

    @cached_property
    def whole(self) -> dict[str, int]:
        """The symbols that are bound to whole numbers, as counts and indices are."""
        alone = (key for key, shape in self.shapes.items() if shape == ())
        pairs = ((key, complex(conform(self.values[key]))) for key in alone)
        real = ((key, value.real) for key, value in pairs if not value.imag)
        return {key: int(value) for key, value in real if value.is_integer()}

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The symbols that are bound to functions."""
        return tuple(key for key, value in self.values.items() if kind(value) == "callable")

    def groups(self) -> dict[str, Hashable]:
        """Return for each symbol the group that the mutants may swap it within."""
        return swap_groups(self.values)

    def scope(self) -> Scope:
        """The same for the edits that the engine has as mutants."""
        return Scope(lambda node: dollars(self.say(node)), self.groups(), self.running)

    def is_atom(self, node: t.Node) -> bool:
        """Return True for a symbol, an entry of one, or a call of a bound function."""
        if isinstance(node, t.Name):
            return node.key in self.shapes
        if isinstance(node, t.Subscript):
            return isinstance(node.base, t.Name | t.Apply) and not self._unbound(node)
        return isinstance(node, t.Apply) and not self._unbound(node)

    def _unbound(self, node: t.Node) -> bool:
        return not names_in(node) <= set(self.values)

    def here(self) -> Iterator[t.Node]:
        """The atoms all whose running letters run here."""
        for atom in self.atoms:
            letters = (part.key for part in t.parts(atom) if isinstance(part, t.Index))
            if all(letter in self.running for letter in letters):
                yield atom

    def shape(self, node: t.Node) -> tuple[int, ...] | None:
        """The shape of a symbol; of an entry that of a number; else it is not known."""
        return () if isinstance(node, t.Number) else self.shapes.get(getattr(node, "key", ""))

    def inside(self, node: t.Node) -> Supply:
        """The same below `node`, where its letter runs."""
        if isinstance(node, t.Reduction) and node.over.index not in self.running:
            return replace(self, running=(*self.running, node.over.index))
        drawn = node.variables if isinstance(node, t.Average | t.Integral) else ()
        new = tuple(key for key in drawn if key not in self.running)
        return replace(self, running=(*self.running, *new)) if new else self

    def extent(self, letter: str, body: t.Node) -> t.Node | None:
        """To where `letter` runs: the length of the axes that it counts, if they agree.

        It is said by the one symbol that is bound to that number, where there is one.
        """
        lengths = set[int]()
        for node in t.parts(body):
            if isinstance(node, t.Subscript) and isinstance(node.base, t.Name):
                lengths.update(_axes(node, letter, self.shapes.get(node.base.key, ())))
        if len(lengths) != 1:
            return None
        (length,) = lengths
        named = [key for key, value in self.whole.items() if value == length]
        return t.Name(named[0]) if len(named) == 1 else t.Number(float(length))


def _axes(node: t.Subscript, letter: str, shape: tuple[int, ...]) -> Iterator[int]:
    axes = shape[:1] if len(node.indices) == 1 else shape
    for index, length in zip(node.indices, axes, strict=False):
        if letter_of(index) == letter:
            yield length


def letter_of(index: t.Node) -> str:
    """The letter that an index is, running or not; nothing for any other node."""
    return index.key if isinstance(index, t.Index | t.Name) else ""


def letters_in(body: t.Node) -> Iterable[str]:
    """The letters that stand as an index somewhere in `body`, each once."""
    indices = (n.indices for n in t.parts(body) if isinstance(n, t.Subscript))
    return dict.fromkeys(filter(None, map(letter_of, (i for own in indices for i in own))))


def renamed(body: t.Node, old: str, new: t.Node) -> t.Node:
    """`body` with `new` in the place of the letter `old` wherever it stands."""
    if isinstance(body, t.Index | t.Name) and body.key == old:
        return new
    return t.mapped(body, lambda child: renamed(child, old, new))


def _is_usable(value: object) -> bool:
    """Return whether the language computes with it: numbers, in an array with two axes at most."""
    if kind(value) != "value":
        return True
    try:
        return conform(value.value if isinstance(value, Estimate) else value).ndim <= 2
    except ValueError:
        return False
