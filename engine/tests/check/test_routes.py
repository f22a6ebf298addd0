"""By which route the numbers come is seen, not said."""

import sys

import numpy as np
import pytest
import scipy.special
import scipy.stats

from checked_equations import EquationError, Estimate, Nodes
from checked_equations.check.libraries import Libraries
from gpnotes.model.kernels import RBF

kernel = RBF(1.3, 0.7)


def gram(x):
    return kernel(x[:, None])


def by_hand(stream):
    x, c = stream.normal(size=(2, 4))
    K = gram(x)
    return {"a": float(c @ K @ c), r"\mathbf c": c, "K": K}


def solved(stream):
    A, b = stream.normal(size=(4, 4)), stream.normal(size=4)
    return {r"\mathbf x": np.linalg.solve(A, b), "A": A, r"\mathbf b": b}


def density(stream):
    x = stream.normal()
    return {"d": scipy.stats.norm.pdf(x), "x": x}


PDF = r"d = \frac{1}{\sqrt{2 \pi}} \exp\left( -\frac{x^2}{2} \right)"


class TestRoutes:
    def test_a_result_that_was_computed_in_the_cell(self, checked):
        record = checked(r"a = \mathbf c^\top K \mathbf c", by_hand, oracle="proved by hand")
        assert record.route == ("algebra in the cell",)
        assert "algebra in the cell" in record._repr_mimebundle_()["text/html"]

    def test_a_result_of_a_library(self, checked):
        assert checked(r"\mathbf x = A^{-1} \mathbf b", solved).route == ("numpy.linalg",)
        assert checked(PDF, density).route == ("scipy",)

    def test_algebra_names_what_it_calls_on_its_way(self, checked):
        def product(stream):
            A, b = stream.normal(size=(4, 4)), stream.normal(size=4)
            return {r"\mathbf x": np.linalg.inv(A) @ b, "A": A, r"\mathbf b": b}

        record = checked(r"\mathbf x = A^{-1} \mathbf b", product)
        assert record.route == ("algebra in the cell", "numpy.linalg")

    def test_a_part_of_a_result_and_a_logarithm_of_it(self, checked):
        def part(stream):
            x = stream.normal(size=3)
            return {"d": np.log(scipy.stats.norm.pdf(x))[1], "x": x[1]}

        log_density = r"d = -\frac{x^2}{2} - \frac12 \log(2 \pi)"
        assert checked(log_density, part).route == ("scipy",)

    def test_a_result_of_the_package(self, checked):
        def entry(stream):
            x = stream.normal(size=2)
            return {"a": gram(x)[0, 1], "x": x, "s": kernel.variance, r"\ell": kernel.lengthscale}

        latex = r"a = s \exp\left( -\frac{(x_1 - x_2)^2}{2 \ell^2} \right)"
        assert checked(latex, entry, oracle="package").route == ("package",)

    def test_what_the_engine_computes(self, checked):
        nodes = Nodes([0.3, 2.1], [0.25, 0.75])
        listed = Nodes([1.0, 2.0], [0.25, 0.75])
        mean = r"a = \mathbb E_x[b x^2 + c]"
        numbers = {"a": 2 * 3.33 + 0.1, "b": 2.0, "c": 0.1, "x": nodes}
        assert checked(mean, numbers).route == ("quadrature",)
        assert checked(mean, {**numbers, "a": 6.6, "x": listed}).route == ("enumeration",)
        slope = {"h": 2 * np.cos(1.3), "f": np.sin, "a": 1.3}
        assert checked(r"h = 2 \frac{\partial f(a)}{\partial a}", slope).route == ("differences",)
        noisy = {"a": Estimate(1.001, 0.01, n=10), "b": 0.4, "c": 0.6}
        assert checked("a = b + c", noisy).route == ("simulation",)

    def test_bare_numbers(self, checked):
        assert checked("a = b + c", {"a": 3.5, "b": 1.5, "c": 2.0}).route == ("numbers given",)

    def test_the_profiler_that_was_there_is_put_back(self, checked):
        before = sys.getprofile()
        checked(PDF, density)
        assert sys.getprofile() is before


class TestClaims:
    @pytest.mark.parametrize("oracle", ["package, Cholesky", "SciPy's density", "scikit-learn"])
    def test_a_library_that_is_claimed_and_not_called(self, checked, oracle):
        def alone(stream):
            b, c = stream.normal(size=2)
            return {"a": b + c, "b": b, "c": c}

        with pytest.raises(EquationError, match="which the bindings do not call"):
            checked("a = b + c", alone, oracle=oracle)

    def test_one_that_is_called_may_be_claimed(self, checked):
        assert checked(PDF, density, oracle="SciPy's density").oracle == "SciPy's density"


def test_what_a_function_calls():
    named_in = Libraries("gpnotes").named_in
    assert named_in(gram) == {"package"}
    assert named_in(lambda x: scipy.stats.norm.pdf(x)) == {"scipy"}
    assert named_in(lambda x: np.linalg.inv(gram(x))) == {"package", "numpy.linalg"}
    assert named_in(np.exp) == named_in(lambda x: np.exp(x)) == set()
    assert named_in(scipy.special.entr) == {"scipy"}
    assert Libraries("gpnotes").of("checked_equations.chapter") == ""
