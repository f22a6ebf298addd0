"""Statements that two readers read in two ways, and what is done about each."""

import numpy as np
import pytest

from checked_equations import Distribution, EquationError, Nodes, check_equation

FACTORS, OTHERS = np.array([0.7, 1.3, 0.9, 1.6]), np.array([1.1, 0.6, 1.7, 0.8])
PRODUCTS = {"a": FACTORS, "b": OTHERS, "T": 4}
CHANCES = np.array([[0.2, 0.8], [0.5, 0.5]])
ENTRY = {"P": CHANCES, "i": 1, "j": 2}


def whole(x, y):
    return np.exp(-((x - 0.3 * y) ** 2)) + 0.1 * x


def given(y, x):
    return np.exp(-((y - x) ** 2))


def prior(x):
    return np.exp(-x)


def evidence(y):
    return np.exp(-0.3 * y)


def posterior(x, y):
    return given(y, x) * prior(x) / evidence(y)


NODES = Nodes([0.1, 0.5, 2.0], [0.2, 0.3, 0.5])
FORMS = {"p(x)": prior, "p(y)": evidence, r"p(y \mid x)": given, r"p(x \mid y)": posterior}
POINT = {"x": 0.3, "y": 0.8}


def accepted(latex, bindings):
    return check_equation(latex, bindings).mutants.survived == 0


def refused(latex, bindings):
    with pytest.raises(EquationError) as error:
        check_equation(latex, bindings)
    return error.value.problem


class TestTwoProducts:
    """A product ends at the next, unless that is one of what runs."""

    @pytest.mark.parametrize("second", ["t", "s"])
    def test_side_by_side(self, second):
        latex = r"\prod_{t=1}^T a_t \prod_{s=1}^T b_s = \prod_{t=1}^T a_t b_t"
        assert accepted(latex.replace("s", second), PRODUCTS)

    def test_a_joint_density(self):
        latex = r"J = g(2) \prod_{t=2}^T a_t \prod_{t=1}^T b_t \prod_{t=3}^T a_t"
        value = np.exp(2.0) * FACTORS[1:].prod() * OTHERS.prod() * FACTORS[2:].prod()
        assert accepted(latex, {**PRODUCTS, "g": np.exp, "J": value})

    def test_one_in_the_other(self):
        latex = r"J = \prod_{t=1}^T a_t \prod_{s=1}^t b_s"
        value = FACTORS.prod() * np.cumprod(OTHERS).prod()
        assert accepted(latex, {**PRODUCTS, "J": value})
        assert "does not hold" in refused(latex, {**PRODUCTS, "J": FACTORS.prod() * OTHERS.prod()})

    def test_a_power_too_many(self):
        latex = r"\prod_{t=1}^T a_t \prod_{t=1}^T b_t = \prod_{t=1}^T (a_t b_t^T)"
        assert "does not hold" in refused(latex, PRODUCTS)

    def test_a_sum_behind_it(self):
        latex = r"J = \prod_{t=1}^T a_t \sum_{t=1}^T b_t"
        assert "the last factor does not run" in refused(latex, {**PRODUCTS, "J": 1.0})


class TestMatrices:
    def test_the_entry_of_a_power(self):
        assert "an entry of the power" in refused(r"P^2_{ij} = P_{ij} P_{ij}", ENTRY)
        assert accepted(r"[P^2]_{ij} = \sum_{k=1}^2 P_{ik} P_{kj}", ENTRY)
        assert accepted(r"P_{ij}^2 = P_{ij} P_{ij}", ENTRY)

    @pytest.mark.parametrize("of", [r"\exp(t P)", "e^{t P}", r"\tanh(t P)", r"\log(P)"])
    def test_a_function_of_a_square_one(self, of):
        bound = {"Q": CHANCES, "P": CHANCES, "t": 0.7, "c": 0.7}
        assert "of its entries, or of the matrix" in refused(f"Q = {of} + t c P", bound)


class TestSeparators:
    def test_a_bar_is_no_comma(self):
        bound = {"p": whole, **POINT, "c": whole(0.3, 0.8) / whole(0.8, 0.3)}
        assert "`p` has two meanings" in refused(r"p(x \mid y) = p(y, x) c", bound)

    def test_functions_bound_by_their_forms(self):
        latex = r"p(x \mid y) = \frac{p(y \mid x) p(x)}{p(y)}"
        assert accepted(latex, {**FORMS, **POINT})
        wrong = latex.replace("p(x)}{p(y)", "p(y)}{p(x)")
        assert "does not hold" in refused(wrong, {**FORMS, **POINT})


class TestMarksThatSayNothing:
    @pytest.mark.parametrize(
        ("latex", "bindings"),
        [
            ("v = s_1^2", {"v": 0.25, "s": 0.5}),
            ("f_1(x) = 2 x", {"f": lambda x: 2 * x, "x": 0.3}),
            (r"G = r + \gamma^T H", {"G": 3.7, "r": 1.0, r"\gamma": 0.9, "H": 3.0}),
        ],
    )
    def test_at_a_number(self, latex, bindings):
        assert "is a number" in refused(latex, bindings)

    def test_a_vector_of_length_one_has_an_entry(self):
        assert accepted("v = 2 s_1^2", {"v": 0.5, "s": np.array([0.5])})

    def test_one_letter_for_two_variables(self):
        latex = r"m = \mathbb E_{q(x)}[x] = \mathbb E_{q(y)}[y]"
        bound = {"m": 1.17, "q": Distribution(NODES)}
        assert "of `x` and of `y`" in refused(latex, bound)
        assert accepted(latex, {"m": 1.17, "q(x)": NODES, "q(y)": NODES})
        assert accepted(r"2 m = \mathbb E_{q(x)}[x] + \mathbb E_{q(x')}[x']", bound)


@pytest.mark.parametrize("arrow", [r"\iff", r"\implies", r"\text{ or }"])
def test_an_arrow_is_not_and(arrow):
    bound = {"x": 2.0, "c": 4.0}
    assert accepted(r"x^2 = c, \quad x = \sqrt c", {"x": 2.3, "c": 2.3**2})
    problem = refused(rf"x^2 = c {arrow} x = \sqrt c", bound)
    assert "an arrow is not checked" in problem or "two equations" in problem


def test_a_wide_space_behind_a_tab_begins_a_second_column() -> None:
    bound = {"d": 2.0, "a": 1.3, "b": 0.7, "e": 0.6}
    assert len(check_equation(r"d &= a + b & \qquad e &= a - b", bound).steps) == 2
    goes_on = r"d &= a + b \\ & \qquad + c, \quad e = a - b"
    assert len(check_equation(goes_on, {**bound, "d": 3.0, "c": 1.0}).steps) == 2


def test_e_is_the_number_alone_and_behind_a_function_word() -> None:
    numbers = {"a": 2.0, "c": 2.0**np.e}
    check_equation("c = a^{e}", numbers)
    check_equation(r"c = \exp(a) + \log e", {"a": 2.0, "c": np.exp(2.0) + 1.0})
    with pytest.raises(EquationError, match="unbound symbol `e`"):
        check_equation("c = a^{b e}", numbers | {"b": 1.5})


def test_a_double_sign_within_a_bound_name_has_no_two_readings() -> None:
    numbers = {"z^{\\pm}": 4.5, "a": 1.5, "b": 3.0}
    check_equation(r"a + b = z^{\pm}", numbers)
    check_equation(r"b = z^{\pm} - a", numbers)
    check_equation(r"z^{\pm} + a = 2 b", numbers | {"a": 1.5})
