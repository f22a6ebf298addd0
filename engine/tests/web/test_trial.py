"""The engine in a browser says of an equation what the engine in Python says, or nothing."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from typing import Any

import pytest
from browsing import engine
from held_out import STATEMENTS
from pasted import FALSE, SOMETIMES, TRUE, UNREAD

from checked_equations import EquationError
from checked_equations.check.bindings import draw_bindings, name_kinds
from checked_equations.check.relations import Misfit, Tolerance, compare
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.latex.parser import parse
from language_by_example.page import browser_examples, plain_values
from language_by_example.sections import READ, SPELLED

pytestmark = [pytest.mark.book, pytest.mark.browser]

# The outcome of each equation, where its symbols have values, or are drawn.
# As one text there and back: of a list Playwright looks at each entry, half of all the time here.
ASKED = """all => JSON.stringify(JSON.parse(all).map(([latex, values, seed, briefly]) => {
    const found = equationTrial.tried(latex, { values: values ?? {}, named: Boolean(values), seed, briefly });
    const { outcome, why, slips, mends, only, fails, capitals } = found;
    const region = Boolean((only && fails) || capitals);
    return { outcome, why: why ?? null, region, slips: slips ?? [], mends: (mends ?? []).map(({ reads }) => reads) };
}))"""


@pytest.fixture(scope="module")
def tried(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function: what the scripts say of equations, each with values for its symbols or None."""
    file = tmp_path_factory.mktemp("try") / "page.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{engine('trial')}", encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    yield lambda all: json.loads(page.evaluate(ASKED, json.dumps(all)))
    page.close()


def mostly_briefly(asked: list[list[Any]]) -> list[list[Any]]:
    """All that is asked; for slips and mends, nearly all of the time, of every fourth alone."""
    return [[latex, values, 1, i % 4 > 0] for i, (latex, values) in enumerate(asked)]


@pytest.fixture(scope="module")
def examples() -> list[Any]:
    """The examples of the language whose symbols are numbers, each as the engine has it and here."""
    rows = [row for rows in (*READ.values(), *SPELLED.values()) for row in rows]
    shown = [row for row in rows if hasattr(row, "slips")]
    pairs = zip(shown, browser_examples(), strict=True)
    return [(row, one) for row, one in pairs if one["values"] is not None]


def test_the_examples_of_the_language_hold_or_need_the_command(tried: Any, examples: Any) -> None:
    found = tried([[one["latex"], one["values"]] for _, one in examples])
    outcomes = Counter(one["outcome"] for one in found)
    assert set(outcomes) <= {"holds", "not read", "no value"}, found
    assert outcomes["holds"] >= 180
    assert outcomes["no value"] <= 1  # the data beside a query, which the names alone tell apart


def test_no_slip_that_the_engine_catches_holds_here(tried: Any, examples: Any) -> None:
    """Every mutant of the examples that are answered, but for those of inequalities that touch."""
    constructs = {row for rows in READ.values() for row in rows}
    asked = []
    for row, one in examples:
        if row not in constructs or row.expanded != row.latex:
            continue
        mutants = row.record().mutants
        for mutant in mutants.write() if mutants.write else ():
            if mutant.outcome == "caught" and mutant.changed:
                start, end, text = mutant.changed
                asked.append([row.latex[:start] + text + row.latex[end:], one["values"]])
    found = tried(mostly_briefly(asked))
    outcomes = Counter(one["outcome"] for one in found)
    wrong = [
        latex for (latex, *_), one in zip(asked, found, strict=True) if one["outcome"] == "holds"
    ]
    assert not wrong, "; ".join(wrong)
    assert outcomes["does not hold"] > 300


def holds(latex: str, row: Any) -> bool | None:
    """What the engine says of a statement on the numbers of an example; None if it is not read."""
    drawn = draw_bindings(row.bindings, "example")[0]
    try:
        steps = parse(latex, name_kinds(drawn)).steps
    except EquationError:
        return None
    evaluator = Evaluator(drawn, latex)
    try:
        pairs = [(step, evaluator.value(step.left), evaluator.value(step.right)) for step in steps]
        return all(compare(a, step.relation, b, Tolerance()).holds for step, a, b in pairs)
    except (EquationError, Misfit):
        return False


def test_its_own_slips_are_judged_as_the_engine_judges_them(tried: Any, examples: Any) -> None:
    found = tried([[one["latex"], one["values"]] for _, one in examples])
    seen: Counter[tuple[bool, bool | None]] = Counter()
    for (row, _), one in zip(examples, found, strict=True):
        for slip in one["slips"]:
            said = holds(slip["reads"], row)
            seen[slip["holds"], said] += 1
            assert said in (slip["holds"], None), (row.latex, slip["reads"], said)
    assert seen[False, False] > 500


PIECE = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


def spoilt(latex: str, others: list[str], stream: random.Random) -> str:
    """One or two pieces of an equation taken out, put in, replaced or exchanged."""
    row = PIECE.findall(latex)
    for _ in range(stream.choice([1, 1, 2])):
        place, other = stream.randrange(len(row)), stream.randrange(len(row))
        edit = stream.randrange(4)
        if edit == 0:
            row[place : place + 1] = []
        elif edit == 1:
            row.insert(place, stream.choice(others))
        elif edit == 2:
            row[place] = stream.choice(others)
        else:
            row[place], row[other] = row[other], row[place]
        row = row or ["a"]
    return "".join(row)


def test_whatever_is_typed_it_never_contradicts_the_engine(tried: Any, examples: Any) -> None:
    """Four thousand edits of the examples: what both read holds in both or in none."""
    stream = random.Random(7)
    plain = [(row, one) for row, one in examples if "2.18" not in row.latex]  # a printed decimal
    others = [piece for row, _ in plain for piece in PIECE.findall(row.expanded)]
    chosen = [stream.choice(plain) for _ in range(4_000)]
    asked = mostly_briefly(
        [[spoilt(row.expanded, others, stream), one["values"]] for row, one in chosen]
    )
    found = [one for at in range(0, len(asked), 1000) for one in tried(asked[at : at + 1000])]
    seen: Counter[tuple[str, bool]] = Counter()
    for (row, _), (latex, *_), one in zip(chosen, asked, found, strict=True):
        if one["outcome"] not in ("holds", "does not hold"):
            continue
        said = holds(latex, row)
        if said is not None:
            assert said == (one["outcome"] == "holds"), (latex, one)
            seen[one["outcome"], said] += 1
    assert min(seen["holds", True], seen["does not hold", False]) > 200


def test_large_terms_of_a_denominator_hide_no_gap(tried: Any) -> None:
    """5e19 stands below the line, so that the right side is 1e-16, and the left one is 35."""
    values = {"d": 35, "n": 7, "k": 3}
    for latex in (r"d = \frac{n!}{k! - (n k)!}", r"d = n! (k! - (n k)!)^{-1}"):
        (found,) = tried([[latex, values]])
        assert found["outcome"] == "does not hold"


def test_held_out_statements_are_told_apart(tried: Any) -> None:
    rows = [(one, plain_values(one.bindings)) for one in STATEMENTS]
    fit = [(one, values) for one, values in rows if values is not None]
    for latex, wanted in (("true", "holds"), ("false", "does not hold")):
        found = tried([[getattr(one, latex), values] for one, values in fit])
        outcomes = Counter(one["outcome"] for one in found)
        assert set(outcomes) <= {wanted, "not read", "no value"}, found
        assert outcomes[wanted] >= 5


# Nothing is bound: what is true, what is false and becomes it by a single edit, what is not read.
# ruff: noqa: E501 - a formula on a line
IDENTITIES = [
    (r"(A B)^{-1} = B^{-1} A^{-1}", r"(A B)^{-1} = A^{-1} B^{-1}"),
    (r"(a + b)^2 = a^2 + 2 a b + b^2", r"(a + b)^2 = a^2 + a b + b^2"),
    (r"\sin(a + b) = \sin a \cos b + \cos a \sin b", r"\sin(a + b) = \sin a \cos b - \cos a \sin b"),
    (r"\log(a b) = \log a + \log b", r"\log(a b) = \log a - \log b"),
    (r"\sum_{k=1}^n k = \frac{n (n + 1)}{2}", r"\sum_{k=1}^n k = \frac{n (n - 1)}{2}"),
    (r"\det(A B) = \det A \det B", r"\det(A B) = \det A \operatorname{tr} B"),
    (r"\cosh^2 x - \sinh^2 x = 1", r"\cosh^2 x + \sinh^2 x = 1"),
    (r"\operatorname{tr}(A B) = \sum_{i, j} A_{ij} B_{ji}",
     r"\operatorname{tr}(A B) = \prod_{i, j} A_{ij} B_{ji}"),
    (r"\|\mathbf x - \mathbf y\|^2 = \|\mathbf x\|^2 - 2 \mathbf x^\top \mathbf y + \|\mathbf y\|^2",
     r"\|\mathbf x - \mathbf y\|^2 = \|\mathbf x\|^2 + 2 \mathbf x^\top \mathbf y + \|\mathbf y\|^2"),
    (r"(X^\top X + \lambda I)^{-1} X^\top = X^\top (X X^\top + \lambda I)^{-1}",
     r"(X^\top X + \lambda I)^{-1} X^\top = X^\top (X X^\top - \lambda I)^{-1}"),
    (r"\int_{-\infty}^\infty e^{-x^2/2} dx = \sqrt{2 \pi}", r"\int_{-\infty}^\infty e^{-x^2/2} dx = \sqrt{\pi}"),
]  # fmt: skip


def test_identities_hold_on_draws_and_slips_in_them_are_mended(tried: Any) -> None:
    found = tried([[latex, None] for pair in IDENTITIES for latex in pair])
    for (true, false), right, wrong in zip(IDENTITIES, found[::2], found[1::2], strict=True):
        assert right["outcome"] == "holds", (true, right)
        assert wrong["outcome"] == "does not hold", (false, wrong)
        plain = {
            reads.replace(" ", "").replace("{", "").replace("}", "") for reads in wrong["mends"]
        }
        assert true.replace(" ", "").replace("{", "").replace("}", "") in plain, (false, plain)


def test_no_mend_says_nothing(tried: Any) -> None:
    """Almost any edit turns an inequality, and one side printed twice is no statement."""
    order, square, symmetric, three = tried(
        [[latex, None] for latex in (r"x \le x^2", "P^2 = P", r"A^\top = A",
                                     "(a + b)^2 = a^2 + 3 a b + b^2")]
    )  # fmt: skip
    for one in (order, square, symmetric):
        assert (one["outcome"], one["mends"]) == ("does not hold", [])
    assert three["mends"] == ["(a + b)^2 = a^2 + {2} a b + b^2"]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (TRUE, {"holds"}),
        (FALSE, {"does not hold"}),
        (SOMETIMES, {"holds"}),
        (UNREAD, {"not read", "no value", "a law", "a definition"}),
    ],
    ids=["true", "false", "sometimes", "unread"],
)
def test_what_is_pasted_from_many_fields_is_told_apart(
    tried: Any, rows: list[str], wanted: set[str]
) -> None:
    found = zip(rows, tried([[latex, None] for latex in rows]), strict=True)
    wrong = [(latex, one["outcome"]) for latex, one in found if one["outcome"] not in wanted]
    assert not wrong, wrong


@pytest.mark.parametrize("seed", range(2, 5))
def test_other_draws_say_the_same(tried: Any, seed: int) -> None:
    for rows, wanted in ((TRUE, "holds"), (FALSE, "does not hold")):
        found = zip(rows, tried([[latex, None, seed, True] for latex in rows]), strict=True)
        assert [latex for latex, one in found if one["outcome"] != wanted] == []


def test_what_is_true_of_some_numbers_alone_says_so(tried: Any) -> None:
    found = zip(SOMETIMES, tried([[latex, None] for latex in SOMETIMES]), strict=True)
    assert [latex for latex, one in found if not one["region"]] == []


@pytest.mark.parametrize("latex", [
    r"(x + y)^n = \sum_{k=0}^n \binom{n}{k} x^{n-k} y^k",
    r"(a + b)^n = \sum_{k=0}^n \binom{n}{k} a^k b^{n-k}",
])  # fmt: skip
def test_terms_that_cancel_make_no_region(tried: Any, latex: str) -> None:
    """Where a + b is nearly zero, rounding of the terms is more than the tolerance of the sum."""
    for found in tried([[latex, None, seed] for seed in range(1, 4)]):
        assert (found["outcome"], found["region"]) == ("holds", False)


ENDLESS = [
    "x" + "^{x" * 500 + "}" * 500 + "=x",
    "(" * 900 + "x" + ")" * 900 + "=x",
    r"\sum_{i=1}^{20}" * 12 + "i=x",
    r"\operatorname{tr}(A^{99999999}) = 1",
    r"x = 1000000000!",
    r"\operatorname{tr}(I_{3000}) = 3000",
    "A" + r"\otimes A" * 11 + r"=A^\top",
    r"\int_0^1" * 4 + r" x y z w \,dx \,dy \,dz \,dw = \frac{1}{16}",
    r"\frac{d}{dx} " * 4 + "x^9 = 3024 x^5",
]


def test_what_would_take_long_needs_the_command(tried: Any) -> None:
    """Each has a bound that is counted; without it the page would stand still for minutes."""
    found = zip(ENDLESS, tried([[latex, None] for latex in ENDLESS]), strict=True)
    assert [latex for latex, one in found if "needs the command" not in (one["why"] or "")] == []


@pytest.mark.parametrize(
    "around",
    ["$%s$", "$$%s$$", r"\[ %s \]", r"\( %s \)", r"\begin{equation} %s \end{equation}",
     r"{\displaystyle %s}", r"\[ %s. \]", r"%s \quad (1)", r"%s \tag{2}", r"\begin{align*} %s, \end{align*}"],
)  # fmt: skip
def test_what_stands_around_an_equation_goes(tried: Any, around: str) -> None:
    true, false = tried(
        [[around % "(a+b)^2 = a^2 + 2ab + b^2", None], [around % "a = a + 1", None]]
    )
    assert (true["outcome"], false["outcome"]) == ("holds", "does not hold")


NOT_READ = [
    (r"\int x \,\mathrm d x = \frac{x^2}{2}", "an integral without limits needs the command"),
    (r"\frac{dy}{dx} = 2x", "x does not occur in what is differentiated"),
    (r"y = x^2, \frac{d}{dx} (x y) = y", "what depends on x is defined apart from it"),
    (r"\nabla_x x^\top A x = 2 A x", "put brackets around what is differentiated"),
    (r"\sigma(-x) = 1 - \sigma(x)", "say in front what it is, as \\sigma(x)"),
    (r"\mathrm{KL}(q \| p) = 0", "read neither here nor by the command"),
    (r"E[X \mid Y] = X", "behind a bar"),
    (r"X = E[X]", "X is random"),
    (r"\mathbf a \cdot \mathbf b = c", "for the inner product"),
    (r"(AB)^H = B^H A^H", "for real matrices write"),
    (r"\sin 30^\circ = \frac{1}{2}", "degrees"),
    (r"V = I R", "I is the identity matrix here"),
    (r"s^2 = \sum_{i=1}^n (x_i - \bar x)^2", "may be the mean"),
    (r"\mathbf x^\top \mathbf x = \sum_{i=1}^n x_i^2", r"may be an entry of \mathbf{x}"),
    (r"\operatorname{tr} A = \sum_{i=1}^n a_{ii}", "may be entries of A"),
    (r"|z|^2 = z z^*", "may be the conjugate of z"),
    ("sqrt(x^2) = x", "sqrt without a backslash"),
    ("sin(x)^2 + cos(x)^2 = 1", "sin without a backslash"),
    (r"P(A|B) = \frac{P(B|A) P(A)}{P(B)}", "may be a probability, which needs the command"),
    ("k(x, x') = x x'", "none may have a prime"),
    ("(f g)' = f' g + f g'", "for a derivative say in front what the function is"),
    (r"a \times (b \times c) = b (a \cdot c) - c (a \cdot b)", "may be the cross product"),
    ("1,000 = 10^3", 'in "1", which a comma'),
    (r"f(x + 1) = x^2", "may be a function"),
    (r"a = b / c d", "ambiguous"),
    (r"a = \log |A| b", "ambiguous"),
    (r"a = \prod_{i=1}^n x_i c", "write it in front"),
    (r"x^10 = y", "only one digit"),
    (r"d = 1\,200 b", "two numbers"),
    (r"a + b", "no sign such as ="),
    (r"a = (b", "a bracket is left open"),
    (r"a = \log A \text{ for small } A", "the words"),
    (r"d = \log A + \det A", "of a square matrix"),
    ("", "no sign such as ="),
]


def test_what_is_not_read_has_its_reason(tried: Any) -> None:
    for (latex, why), one in zip(NOT_READ, tried([[x, None] for x, _ in NOT_READ]), strict=True):
        assert one["outcome"] == "not read", (latex, one)
        assert why in one["why"], (latex, one)


def test_an_integral_goes_from_kink_to_kink(tried: Any) -> None:
    right = [
        r"\int_0^3 |x - 1| \, dx = \frac{5}{2}", r"\int_0^2 \min(x, x^2) dx = \frac{11}{6}",
        r"\int_{-\infty}^\infty e^{-|x - 1|} dx = 2", r"\int_{-1}^2 \frac{|x|}{x} dx = 1",
    ]  # fmt: skip
    wrong = [latex.replace("= ", "= 1 + ") for latex in right]
    poles = [r"\int_0^2 \frac{1}{|x - 1|} dx = 4", r"\int_{-1}^1 \frac{dx}{|x|} = 0"]
    found = [one["outcome"] for one in tried([[latex, None] for latex in right + wrong + poles])]
    assert found == ["holds"] * 4 + ["does not hold"] * 4 + ["no value"] * 2


def test_a_known_function_on_the_left_makes_a_statement(tried: Any) -> None:
    right = [r"\Gamma(n) = (n - 1)!", r"\operatorname{erfc}(x) = 1 - \operatorname{erf}(x)"]
    wrong = [r"\Gamma(n) = n!", r"\operatorname{erfc}(x) = 1 + \operatorname{erf}(x)"]
    found = tried([[latex, None] for latex in right + wrong])
    assert [one["outcome"] for one in found] == ["holds"] * 2 + ["does not hold"] * 2
    assert r"\Gamma(n) = (n - 1)!" in found[2]["mends"]
    assert found[3]["mends"] == [r"\operatorname{erfc}(x) = 1 - \operatorname{erf}(x)"]
