"""Displays that nobody bound: what holds, where, and what must not pass."""

import pytest

from checked_papers.tried import kinds, sample_fates, try_display

TRUE = (
    r"\cos(x + y) = \cos x \cos y - \sin x \sin y",
    r"\sum_{k=1}^n k = \frac{n(n+1)}{2}",
    r"\exp(z_1) \exp(z_2) = \exp(z_1+z_2)",
    r"e^{\mathrm{i}x} = \cos x + \mathrm i \sin x",
    r"\log(x y) = \log x + \log y, \quad x > 0, y > 0",
    r"\cos(n \pi) = (-1)^n, \quad n = 0, 1, 2, \dots",
    r"a (b + c) = a b + a c",
    r"(1 + x)^2 \ge 4 x",
)
FALSE = (
    r"\cos(x + y) = \cos x \cos y + \sin x \sin y",
    r"\sum_{k=1}^n k = \frac{n(n-1)}{2}",
    r"\exp(z_1) \exp(z_2) = \exp(z_1 z_2)",
    r"e^{\mathrm{i}x} = \cos x - \mathrm i \sin x",
    r"(a + b)^2 = a^2 + 3 a b + b^2",
)


@pytest.mark.parametrize("latex", TRUE)
def test_what_is_true_holds_and_its_slips_are_caught(latex):
    tried = try_display(latex)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 0


@pytest.mark.parametrize("latex", FALSE)
def test_what_is_false_does_not_hold(latex):
    assert try_display(latex).verdict == "does not hold"


def test_what_holds_in_one_region_says_where():
    assert str(try_display(r"\sqrt{x^2} = x")) == "holds if x > 0"
    assert str(try_display(r"|x| = x, \quad x > 0")) == "holds"


def test_relations_of_symbols_and_definitions_are_not_accused():
    assert try_display(r"f(x) = x^2").verdict == "definition"
    assert try_display("c = a b").verdict == "definition"
    assert try_display("a^2 + b^2 = c^2").verdict == "not read"


def test_an_order_between_symbols_that_have_nothing_in_common_is_the_texts():
    assert "H, K on one side only" in try_display(r"H \le \log K").why
    assert str(try_display(r"e^x \ge 1")).startswith("holds if x > 0")


def test_what_the_display_defines_may_be_claimed_in_its_second_step():
    assert try_display(r"f(x) = (1 + x)^2 = 1 + 2 x + x^2").verdict == "holds"


def test_conditions_may_be_given_beside_the_display():
    assert try_display(r"\log x^2 = 2 \log x", conditions=["x > 0"]).verdict == "holds"
    assert try_display(r"|x| = x").verdict == "holds if"


def test_declared_kinds_are_drawn():
    two = {"A": kinds.spd("n"), "B": kinds.spd("n")}
    assert try_display(r"(A B)^{-1} = B^{-1} A^{-1}", kinds=two).verdict == "holds"
    assert try_display(r"(A B)^{-1} = A^{-1} B^{-1}", kinds=two).verdict == "does not hold"
    general = {"A": kinds.matrix("n", "n")}
    assert try_display(r"A^\top = A", kinds=general).verdict == "does not hold"
    assert try_display(r"A^\top = A", kinds={"A": kinds.symmetric(4)}).verdict == "holds"
    square = {"f": kinds.function("x^2 + 1")}
    assert try_display(r"f(a) = f(-a)", kinds=square).verdict == "holds"


def test_what_cannot_be_read_says_why():
    assert "closed" in try_display(r"\left( a = b").why
    assert try_display("x + y").verdict == "not read"


@pytest.mark.parametrize(
    ("latex", "verdict"),
    [
        (r"|x| = -x \text{ for } x < 0", "holds"),
        (r"|x| = x \text{ for } x < 0", "does not hold"),
        (r"\text{If } x > 0, \quad |x| = x", "holds"),
        (r"\text{If } x < 0, \quad |x| = x", "does not hold"),
        (r"\text{For } n = 1, 2, \dots, \quad \cos(\pi n) = (-1)^n", "holds"),
        (r"\lfloor x \rfloor + \lceil -x \rceil = 0", "holds"),
        (r"\lceil x + 1 \rceil = \lfloor x \rfloor + 1", "does not hold"),
        (r"\lfloor x + y \rfloor = \lfloor x \rfloor + \lfloor y \rfloor", "not read"),
    ],
)
def test_numbers_meet_the_conditions_that_words_state(latex, verdict):
    assert try_display(latex).verdict == verdict


def test_a_display_of_thousands_of_terms_is_told_and_not_tried():
    tried = try_display("2500 x = " + " + ".join(["x"] * 2500))
    assert (tried.verdict, tried.why.startswith("2506 terms")) == ("not read", True), tried


def test_integration_by_parts_accuses_nobody():
    tried = try_display(r"\int u \,\mathrm d v = u v - \int v \,\mathrm d u")
    assert tried.verdict == "not read", tried


@pytest.mark.parametrize(
    ("latex", "said", "looks_once"),
    [
        ("(a + b)^2 = a^2 + 3 a b + b^2", "does not hold", True),
        (r"\sqrt{x^2} = x", "holds if x > 0", False),
        ("(-1)^n (a + b) = a + b", "holds if n is even", False),
        (
            r"\begin{cases} x & \text{if } x > 0 \\ -x & \text{else} \end{cases} = x",
            "holds if x > 0",
            False,
        ),
    ],
)
def test_one_failure_is_enough_or_three_where_nothing_has_two_forms(
    monkeypatch: pytest.MonkeyPatch, latex: str, said: str, looks_once: bool
) -> None:
    looks: list[str] = []
    look = sample_fates.fate_of
    monkeypatch.setattr(sample_fates, "fate_of", lambda *a: looks.append("") or look(*a))
    assert str(try_display(latex)) == said
    several = len(looks)
    assert str(try_display(latex, once=True)) == said
    assert several == 3 if looks_once else several > 3
    assert (len(looks) - several == 1) == looks_once
