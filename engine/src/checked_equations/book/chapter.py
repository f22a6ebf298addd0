"""The verbs of a chapter: check, define, claim, ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import SupportsFloat

from ..check.bindings import Bindings, Tight, draw_bindings
from ..check.equation_check import Terms, definition_record, equation_record, finished
from ..check.phrases import Data
from ..check.records import Record
from ..check.relations import Tolerance
from ..check.statements import BoundStatement
from ..claims.claim import Claim, ClaimError, Draw, Experiment, find
from ..claims.judgement import judge, refuse_ill_posed
from ..claims.outcome import Outcome
from ..claims.sentence import number_faults
from ..errors import EquationError
from ..evaluate.libraries import Drawn
from ..latex.equation import Equation, located
from .ledger import chapter_totals, inline_totals, outgrown, refuse_missing, waiting
from .manuscripts import Manuscript, read_manuscript
from .prose import Sentence, read_sentences
from .records import ClaimRecord, InlineRecord, Ledger, claim_record
from .settings import claims_file, find_settings

_Key = tuple[str, str]  # a label and an oracle: an equation may be checked in several ways


class Chapter:
    """A chapter of the book and the record of its checks so far.

    Every verb returns a record that shows itself, as a badge, when it is the last thing in its
    cell; the book's ledger is made of what is shown, so a cell holds one verb.

    Parameters
    ----------
    slug : str
        The path of the chapter within the book, without its ending.
    path : path of a file, optional
        The text that the equations are read from; else the notebook that runs, the chapter's
        ``.md`` or ``.ipynb`` in the working directory, or the copy that the book or the installed
        package carries.

    Raises
    ------
    ValueError
        If no text of the chapter is found, or it cannot be read.

    Notes
    -----
    Every verb looks whether the file has changed since, and forgets findings for an equation that
    reads otherwise now. Only a saved text is read; the words of a verb end in its name.

    A book with verbs of its own makes a subclass: `equation`, `numbers` and `tolerance_of` are
    for them, a record of theirs is a `Shown`, and `missing`, `forget`, `sentence_faults` and
    `inline_records` are there to be extended.
    `version` says which version of its own library a book's claims were found with.
    """

    version = ""

    def __init__(self, slug: str, path: str | Path | None = None) -> None:
        self.slug = slug
        self._path = None if path is None else Path(path)
        self._folder = Path.cwd()
        self.text = self._read()
        self.settings = find_settings(self.text.file.parent if self.text.file else self._folder)
        self._fields = self.settings.fields(slug)
        self._outdated: set[str] = set()
        self._records: dict[_Key, Record] = {}
        self._checked: dict[_Key, BoundStatement] = {}
        self._compared: dict[_Key, BoundStatement] = {}
        self._claims: dict[str, Claim] = {}

    def __repr__(self) -> str:
        return f"Chapter({self.slug!r})"

    def check(
        self,
        label: str,
        bindings: Bindings,
        *,
        oracle: str,
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        spare: Mapping[str, str] | None = None,
        tight: Tight = None,
    ) -> Record:
        """Evaluate an equation on numbers, step by step, and mutate it.

        Parameters
        ----------
        label : str
            The label of the equation.
        bindings : mapping, problem or Callable
            The numbers: a mapping from the LaTeX of each symbol, all of them used, to its value;
            any object with the fields that the notation gives to symbols, alone or in a pair with a
            mapping for the others; or a function of a NumPy generator that returns one of these,
            and is drawn three times: then the worst residual counts.
            Arrays may be of any library: they come to the host, where functions are called with
            NumPy's, or with arrays of that library if they work with such alone.
        oracle : str
            By which independent route the numbers come.
        rtol, atol, approx : float
            The tolerances: relative, absolute, and the relative one of ``\\approx``.
        spare : mapping of str to str, optional
            Why a mutant may survive, by its name.
        tight : bindings, list of bindings, or str, optional
            Further bindings on which an inequality is an equality and is judged as one; or why
            there are none, as in ``"never: a density is positive"``.

        Raises
        ------
        EquationError
            With the line of the file: for a step that does not hold, a mutant that survives, a
            statement that says nothing, and all bad input.
        ValueError
            If no equation has the label; the nearest ones are named.
        TypeError
            If a tolerance is no number. An error of a function of yours keeps its kind too.
        """
        allowed = Tolerance(rtol, atol, approx)
        terms = Terms(allowed, oracle, spare or {}, tight, self.slug, self._fields)
        made = partial(equation_record, bindings=bindings, terms=terms)
        return self._made(label, oracle, made, self._checked)

    def _made(
        self,
        label: str,
        oracle: str,
        made: Callable[[Equation], tuple[Record, BoundStatement | None]],
        known: dict[_Key, BoundStatement],
    ) -> Record:
        """Keep the record of an equation, and among those `known` the statement on its numbers."""
        start = time.perf_counter()
        equation = self.equation(label)
        self._records.pop((label, oracle), None)
        with located(self.place, equation):
            if known is self._checked and not oracle.strip():
                raise EquationError("oracle= must say by which route the numbers come")
            record, bound = made(equation)
        if bound is not None:
            known[label, oracle] = bound
        record = finished(record, equation, start)
        return self.keep(replace(record, text=self.text.name, saved=self.text.saved))

    def keep(self, record: Record) -> Record:
        """Keep and return the record of an equation, in place of one by the same oracle."""
        self._records[record.label, record.oracle] = record
        return record

    def define(
        self,
        label: str,
        bindings: Bindings | None = None,
        *,
        why: str = "",
        oracle: str = "",
        rtol: float = 1e-9,
        atol: float = 0.0,
        approx: float | None = None,
        spare: Mapping[str, str] | None = None,
    ) -> Record:
        """Hold a definition against the thing that it defines.

        Each statement all of whose symbols are among the bindings is compared and mutated as by
        `check`; of ``x \\sim \\mathcal N(m, S)``, with `x` bound to `Nodes`, mean and covariance
        are.

        Parameters
        ----------
        label, bindings, oracle, rtol, atol, approx, spare
            As in `check`.
        why : str, default ""
            The reason for which another statement is left as it stands.

        Raises
        ------
        EquationError, ValueError
            As in `check`, and where neither numbers nor `why` are given.
        """
        allowed = Tolerance(rtol, atol, approx)
        terms = Terms(allowed, oracle, spare or {}, None, self.slug, self._fields)
        made = partial(definition_record, bindings=bindings, why=why, terms=terms)
        return self._made(label, oracle, made, self._compared)

    def claim(
        self,
        label: str,
        experiment: Experiment,
        *,
        holds: Callable[[Outcome], object],
        draws: int = 12,
        least: int | None = None,
        effect: Callable[[Outcome], SupportsFloat] | None = None,
        parts: Mapping[str, Callable[..., str]] | None = None,
        without: Mapping[str, Experiment] | None = None,
        settings: Mapping[str, Experiment] | None = None,
        differences: Callable[[Outcome], Mapping[str, object]] | None = None,
        blocks: int | None = None,
        once: str = "",
    ) -> ClaimRecord:
        """See whether a sentence about an experiment holds, on draws its author did not choose.

        The results are stored in the folder ``_claims`` of the book, by the code that made them;
        while that stays, one draw is repeated and compared. The `outcomes` of the record are there
        for tables and figures.

        Parameters
        ----------
        label : str
            The label of the ``{claim}`` directive with the sentence; it begins with ``cl-``.
        experiment : Callable or mapping of str to Callable
            A function of one stream, a NumPy generator, that returns numbers by name; or, where
            sides compete, one for each side: each is given the same stream, and is timed.
        holds : Callable
            The sentence, for the `Outcome` of one draw.
        draws : int, default 12
            How many draws; five or more.
        least : int, optional
            In how many of them it must hold; in all, unless it is given.
        effect : Callable, optional
            A number of an outcome that says how much; it is zero where there is no effect.
        parts : mapping of str to Callable, optional
            Which entries of the outcome hold the parts of an average, each with `min` or `max`,
            whichever picks the worst.
        without : mapping of str to Callable or mapping, optional
            The experiment with a cause taken away, and nothing else, by the name of the cause:
            there the sentence must hold less often than `least` says.
        settings : mapping of str to Callable or mapping, optional
            The experiment in another setting (other data, another likelihood, dimension or step
            size), by its name: there the sentence must hold as often.
        differences : Callable, optional
            By how much each side is less than the one it is compared with, by name, for an outcome:
            the sentence says it as ``{less.name}``, with the error of the paired difference.
        blocks : int, optional
            Where draws overlap, as windows of one record do, how many of them do not.
        once : str, default ""
            Why there is nothing to repeat; then `draws` is one.

        Raises
        ------
        ClaimError
            If it holds too seldom, holds without its cause, is refuted by fresh draws or has
            another effect in them; if a pick stands at the edge of its grid, or a number
            ``converged`` is false; if its sentence names a number that it does not have, or if a
            repeated draw is not the stored one, and not by rounding alone.
        ValueError
            For terms under which nothing could be found out, and numbers that are not finite.
        TypeError
            If an experiment does not return numbers by name.
        """
        variants = (without or {}, settings or {})
        terms = (draws, least, effect, parts or {}, *variants, differences, blocks, once)
        claim = Claim(label, experiment, holds, *terms)
        refuse_ill_posed(claim)
        self.reread()
        sentences = read_sentences(self.text.file)
        if sentences and label not in sentences:
            raise ClaimError(f"{self.place}: no {{claim}} directive has the label {label}")
        written = sentences.get(label, Sentence(label, 0, ""))
        self._claims[label] = claim
        # at the root of the book, or of the one that an installed package carries
        root = (self.settings.file or self.text.file or self._folder / self.slug).parent
        writable = not self.settings.installed
        found = find(claim, claims_file(root, self.slug), self.version, writable=writable)
        judge(found)
        record = claim_record(found, self.slug, self.text.name, written.line, written.text)
        if sentences and (faults := [*self.sentence_faults(written.text, record.data)]):
            where = f"{self.place}, line {written.line}"
            raise ClaimError(f"{where}: {label}: {'; '.join(faults)}")
        return record

    def sentence_faults(self, text: str, record: Data) -> Iterator[str]:
        """Yield the faults of a claim's sentence, for which its check fails."""
        yield from number_faults(text, record)

    def draw(self, label: str, number: int | None = None) -> Draw:
        """Run one more draw of a claim made above: ``held``, ``effect``, ``outcome``, ``seconds``.

        Parameters
        ----------
        label : str
            The label of the claim.
        number : int, optional
            Which draw: one below the claim's own number of draws repeats that. Unless it is given,
            it is a new one.

        Raises
        ------
        ValueError
            If no claim above has the label.
        """
        if label not in self._claims:
            known = ", ".join(self._claims) or "none"
            raise ValueError(f"label must name a claim that was made above ({known}); got {label}")
        claim = self._claims[label]
        salt = "" if number is not None else str(time.time_ns())
        return claim.draw(claim.experiment, number or 0, salt)

    def ledger(self) -> Ledger:
        """See that nothing is missing, above all the record of an equation, and sum up.

        An equation that ``equations-baseline.toml`` lists needs no record yet.

        Raises
        ------
        ValueError
            A ``LedgerError`` with the lists of everything missing.
        """
        self.reread()
        refuse_missing(self.place, self.missing())
        inline = self.inline_records()
        sums = chapter_totals(self.records()) | inline_totals([one.outcome for one in inline])
        if later := waiting(self.text.file):
            sums["waiting"] = len(later)
        return Ledger(self.slug, sums, inline, text=self.text.name)

    def inline_records(self) -> tuple[InlineRecord, ...]:
        """Return the relations between the equations as judged: none, but by a subclass."""
        return ()

    def missing(self) -> dict[str, list[str]]:
        """Return everything that keeps the ledger from being closed: lists of names by kind."""
        later, claims = waiting(self.text.file), read_sentences(self.text.file)
        equations = self.text.equations
        done = {record.label for record in self.records()}
        since = dict.fromkeys(self._outdated, "; its text has changed since it was checked")
        return {
            "equations without a record": [
                f"{label} (line {equation.line}{since.get(label, '')})"
                for label, equation in equations.items()
                if label not in done and label not in later
            ],
            "the baseline": [said for _, said in outgrown(later, equations, done)],
            "claims without an experiment": sorted({*claims} - {*self._claims}),
        }

    @property
    def file(self) -> Path | None:
        """The file that the chapter is read from; none where that is a packaged copy."""
        return self.text.file

    def equations(self) -> Mapping[str, Equation]:
        """Return the labelled equations of the text, as they were last read."""
        return self.text.equations

    def records(self) -> list[Record]:
        """Return the record of every check so far."""
        return list(self._records.values())

    def checked_statements(self) -> Iterator[tuple[Equation, BoundStatement]]:
        """Yield each equation checked so far, and the numbers it was checked on."""
        return self._with_equations(self._checked)

    def compared_statements(self) -> Iterator[tuple[Equation, BoundStatement]]:
        """Yield each definition held against a thing so far, and the numbers of that."""
        return self._with_equations(self._compared)

    def _with_equations(
        self, found: Mapping[_Key, BoundStatement]
    ) -> Iterator[tuple[Equation, BoundStatement]]:
        for (label, _), bound in found.items():
            yield self.text.equations[label], bound

    def _read(self) -> Manuscript:
        try:
            return read_manuscript(self.slug, self._folder, self._path)
        except ValueError as error:
            raise ValueError(f"{self.slug}: {error}") from error

    def reread(self) -> None:
        """Read the text again where it has changed, and forget the findings for the old one."""
        older = self.text
        self.text = self._read()
        gone = older.changed(self.text)
        self._outdated |= gone
        self.forget(gone)

    def forget(self, labels: Collection[str]) -> None:
        """Drop the findings for the equations with these labels: their text has changed."""
        for kept in (self._records, self._checked, self._compared):
            for key in [key for key in kept if key[0] in labels]:
                del kept[key]

    @property
    def place(self) -> str:
        """The chapter, or its file."""
        *folders, _ = self.slug.split("/")
        return "/".join([*folders, self.text.file.name]) if self.text.file else self.slug

    def equation(self, label: str) -> Equation:
        """Return the equation of a label as the text has it now; raise `ValueError` for another."""
        self.reread()
        if label not in self.text.equations:
            close = get_close_matches(label, self.text.equations, n=3, cutoff=0.4)
            hint = f"; nearest: {', '.join(close)}" if close else ""
            raise ValueError(f"{self.place}: no equation has the label {label}{hint}")
        return self.text.equations[label]

    def numbers(self, bindings: Bindings, seed: str, *latex: str) -> tuple[Drawn, ...]:
        """Return the numbers, one set a draw by `seed`, with the fields of symbols in `latex`."""
        return draw_bindings(bindings, f"{self.slug}:{seed}", self._fields.naming(*latex))

    def tolerance_of(self, label: str, says: str) -> Tolerance:
        """Return the tolerance of the first check, or raise ValueError: `says` needs one."""
        allowed = [bound.allowed for (name, _), bound in self._checked.items() if name == label]
        if not allowed:
            which = f"{label} is not checked above" if label else "no label= is given"
            raise ValueError(f"{self.place}: {says} needs a checked equation; {which}")
        return allowed[0]
