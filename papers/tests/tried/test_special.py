"""Special functions, series without end, integrals without nodes, and what must not pass."""

import cmath
import math

import pytest

from checked_equations.check.phrases import mutants_caught
from checked_papers.tried import sample_fates, try_display
from checked_papers.tried.nist import NIST, SPECIAL
from checked_papers.tried.special import FUNCTIONS, WORDS, by, quick
from checked_papers.tried.verdicts import FAILS

TRUE = (
    r"\Gamma\left(z+1\right) = z\Gamma\left(z\right)",
    r"J_{\nu-1}(z) + J_{\nu+1}(z) = \frac{2\nu}{z} J_\nu(z)",
    r"\operatorname{erf} z + \operatorname{erfc} z = 1",
    r"\psi^{(n)}(1) = (-1)^{n+1} n! \zeta(n+1)",
    r"\int_0^\infty e^{-a t} \cos(b t) \,\mathrm{d}t = \frac{a}{a^2+b^2}, \quad a > 0",
    r"\sum_{k=1}^\infty \frac{1}{k^2} = \frac{\pi^2}{6}",
    r"\sin z = z \prod_{k=1}^\infty \left(1 - \frac{z^2}{k^2 \pi^2}\right)",
    r"\int \frac{\,\mathrm{d}x}{1 + x^2} = \arctan x",
    r"\frac{\mathrm{d}^n}{\mathrm{d}z^n} e^{a z} = a^n e^{a z}",
    r"n P_n(x) = (2n-1) x P_{n-1}(x) - (n-1) P_{n-2}(x)",
)
LIBRARY = (
    r"\psi'(z+1) = \psi'(z) - \frac{1}{z^2}",
    r"{\left(a\right)_{n}} = a(a+1)(a+2)\cdots(a+n-1)",
    r"{\left(a\right)_{2n}} = 2^{2n}{\left(\frac{a}{2}\right)_{n}}{\left(\frac{a+1}{2}\right)_{n}}",
    r"\Gamma\left(\tfrac{1}{2}\right) = \pi^{1/2} = 1.77245\;38509\;05516\;02729\;\dots",
    r"\prod_{k=1}^{n-1}\Gamma\left(\frac{k}{n}\right) = (2\pi)^{(n-1)/2}n^{-1/2}",
    r"\ln\Gamma\left(1+z\right) = -\ln\left(1+z\right)+z(1-\gamma)"
    r"+\sum_{k=2}^{\infty}(-1)^{k}(\zeta\left(k\right)-1)\frac{z^{k}}{k}",
    r"\psi\left(x\right) = \ln x+\int_{0}^{\infty}"
    r"\left(\frac{1}{t}-\frac{1}{1-e^{-t}}\right)e^{-tx}\,\mathrm{d}t, \quad x > 0",
    r"\sum_{k=1}^{p} k = \frac{p(p+1)}{2}",
)
FALSE = (
    r"\Gamma\left(z+1\right) = (z+1)\Gamma\left(z\right)",
    r"J_{\nu-1}(z) + J_{\nu+1}(z) = \frac{\nu}{z} J_\nu(z)",
    r"\sin z = z \prod_{k=1}^\infty \left(1 - \frac{z^2}{k^2 \pi}\right)",
    r"\int \frac{\,\mathrm{d}x}{1 + x^2} = \arcsin x",
    r"\psi'(z+1) = \psi'(z) + \frac{1}{z^2}",
    r"\int_0^\infty e^{-a t} \cos(b t) \,\mathrm{d}t = \frac{b}{a^2+b^2}, \quad a > 0",
    r"\frac{\mathrm{d}^n}{\mathrm{d}z^n} e^{a z} = n a e^{a z}",
)


@pytest.mark.parametrize(
    ("latex", "notation"),
    [*((one, SPECIAL) for one in TRUE), *((one, NIST) for one in LIBRARY)],
)
def test_what_is_true_holds_and_every_slip_is_caught(latex, notation):
    tried = try_display(latex, notation=notation)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 0
    assert tried.mutants.survived == 0


@pytest.mark.parametrize("latex", FALSE)
def test_what_is_false_does_not_hold(latex):
    tried = try_display(latex, notation=SPECIAL, mending=False)
    assert tried.verdict == "does not hold"


def test_a_form_is_a_call_wherever_it_stands():
    written = NIST.written(r"\frac{J_{\nu}'\left(z^2\right)}{{}_2F_1} + P^{(a,b)}_{n}(x)").latex
    assert written.startswith(r"\frac{\operatorname{besseljP}\left(\nu,z^2\right)}")
    assert r"\operatorname{jacobip}\left(n,a,b,x\right)" in written


def test_a_power_behind_a_form_is_one():
    assert NIST.written(r"J_0^2(z)").latex == r"\operatorname{besselj}\left(0,z\right)^{2}"


def test_places_in_what_is_read_are_those_of_the_display():
    full = NIST.written(r"a + \Gamma(z) + b")
    at = full.latex.rindex("b")
    assert full.place((at, at + 1)) == (16, 17)


def test_a_series_that_does_not_settle_accuses_nobody():
    assert try_display(r"\sum_{k=1}^\infty \frac{x}{k} = x").verdict == "not read"


def test_the_path_of_an_integral_is_not_read():
    assert "path" in try_display(r"\int_C z \,\mathrm{d}z = z").why


def test_a_decimal_in_groups_is_held_to_its_digits():
    latex = r"\Gamma\left(\tfrac{1}{2}\right) = 1.77245\;38509\;05516\;\dots"
    assert try_display(latex, notation=NIST).verdict == "holds"
    wrong = latex.replace("38509", "38590")
    assert try_display(wrong, notation=NIST).verdict != "holds"


def test_a_power_may_begin_with_brackets():
    tried = try_display(r"x^{(1/2)-x} x^x = \sqrt{x}, \quad x > 0", notation=NIST)
    assert (tried.verdict, list(tried.drawn)) == ("holds", ["x"])


def test_a_real_part_is_a_condition():
    tried = try_display(r"\sqrt{z^2} = z, \quad \Re z > 0", notation=NIST)
    assert tried.verdict == "holds"


def test_the_text_defines_a_function():
    defined = (r"\Phi(t) = 1 - t \cot t",)
    tried = try_display(r"t + \Phi(t) = 1 + t - t \cot t", conditions=defined, notation=NIST)
    assert tried.verdict == "holds"
    tried = try_display(r"t + \Phi(t) = 1 + t + t \cot t", conditions=defined, notation=NIST)
    assert tried.verdict != "holds"


def test_a_singular_end_makes_nothing_small():
    assert try_display(r"\int_0^1 t^{-1/2} \,\mathrm{d}t = 2").verdict == "holds"
    assert try_display(r"\int_0^1 t^{-1/2} \,\mathrm{d}t = 3").verdict == "does not hold"


EXPANSIONS = (
    r"\operatorname{Ln}\Gamma\left(z\right) \sim \left(z-\tfrac{1}{2}\right)\ln z-z"
    r"+\tfrac{1}{2}\ln\left(2\pi\right)+\sum_{k=1}^{\infty}\frac{B_{2k}}{2k(2k-1)z^{2k-1}}",
    r"{\psi}^{(n)}\left(z\right) \sim (-1)^{n-1}\left(\frac{(n-1)!}{z^{n}}+\frac{n!}{2z^{n+1}}"
    r"+\sum_{k=1}^{\infty}\frac{(2k+n-1)!}{(2k)!}\frac{B_{2k}}{z^{2k+n}}\right)",
)


@pytest.mark.parametrize("latex", EXPANSIONS)
def test_an_expansion_holds_far_out_and_every_slip_is_caught(latex):
    tried = try_display(latex, notation=NIST)
    assert tried.verdict == "holds", tried
    assert (tried.drawn["z"].name, tried.mutants.survived) == ("large complex", 0)
    assert try_display(latex.replace("B_{2k}", "B_{2k+2}"), notation=NIST).verdict != "holds"


def test_what_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("checked_papers.tried.sample_fates._PATIENCE", -1.0)
    tried = try_display(r"\int_0^1 t^{-1/2} \,\mathrm{d}t = 2")
    assert (tried.verdict, "too long" in tried.why) == ("not read", True)


def test_a_limit_without_its_series_accuses_nobody():
    latex = r"\frac{\Gamma\left(z+a\right)}{\Gamma\left(z+b\right)} \sim z^{a-b}"
    assert try_display(latex, notation=SPECIAL).verdict == "not read"


@pytest.mark.parametrize("name", ["gamma", "loggamma", "digamma", "ei"])
def test_the_quick_routine_in_floats_has_eleven_digits(name):
    for z in (0.3, 5.0, -3.3, 2.1 + 0.4j, -7.2 + 20j, 0.01 - 0.3j, 200.0):
        slow = by(name)(z)
        assert abs(quick(name)(z) - slow) <= 1e-11 * abs(slow) or slow == math.inf


def test_a_mutant_that_takes_too_long_is_undecided_and_not_caught(monkeypatch):
    latex = r"\int_0^\infty e^{-a t} \cos(b t) \,\mathrm{d}t = \frac{a}{a^2+b^2}, \quad a > 0"
    monkeypatch.setattr(sample_fates, "_EACH", -1.0)
    tried = try_display(latex, notation=SPECIAL)
    assert tried.verdict == "holds"
    assert tried.mutants.undecided > 0
    assert tried.mutants.counts["undecided"] == tried.mutants.undecided
    assert "undecided)" in mutants_caught(tried.mutants.counts)


@pytest.mark.parametrize("written", ["\\operatorname{erf}", "\\operatorname{erfc}"])
def test_error_functions_of_complex_numbers_come_in_floats(written):
    slow = by(written[14:-1])
    for z in (0.3, -2.5, 4.0, 0.2 + 0.1j, -1.3 + 2.2j, 3.1 - 0.2j, 0.1 - 5.0j):
        assert abs(complex(WORDS[written](z)) - complex(slow(z))) <= 1e-12 * abs(slow(z))


def test_faddeevas_function_of_a_real_number_is_complex():
    found, slow = FUNCTIONS["faddeeva"](0.7), by("erfc")(-0.7j) * math.exp(-0.49)
    assert abs(found - slow) < 1e-13


def test_an_error_function_of_no_number_is_none():
    with pytest.raises(ValueError, match="NaN"):
        WORDS["\\operatorname{erf}"](-math.nan)


@pytest.mark.parametrize("z", [0.05, 0.7, 6.0, 25.0, 0.4 + 0.3j, 3.0 + 0.2j, -1.1 - 0.6j])
def test_fresnel_integrals_meet_their_auxiliary_functions(z):
    c, s, f, g = (FUNCTIONS[f"fresnel{name}"](z) for name in "csfg")
    turn, half = math.pi * z * z / 2, 0.5
    assert abs(c - by("fresnelc")(z)) <= 1e-10 * abs(c)
    assert abs(s - by("fresnels")(z)) <= 1e-10 * abs(s)
    assert abs(f * cmath.sin(turn) - g * cmath.cos(turn) - (c - half)) < 1e-10 * abs(c)


@pytest.mark.parametrize(
    ("latex", "verdict"),
    [
        (r"\Gamma(\tfrac{1}{2}) = \pi^{1/2} = 1.77245\;38509\;05516\;02729\;\dots", "holds"),
        (
            r"\Gamma(\tfrac{1}{2}) = \pi^{1/2} = 1.77245\;39509\;05516\;02729\;\dots",
            "does not hold",
        ),
        (r"\zeta(3) = 1.202056903", "holds"),
        (r"\Gamma(\tfrac{1}{3}) = 2.678938534", "holds"),
        (r"\Gamma(\tfrac{1}{3}) = 2.678938634", "does not hold"),
        (r"\Gamma(3) = 2.00000000003", "does not hold"),
        (r"\Gamma(\tfrac{1}{3}) = \frac{62\;46819}{19\;58464}", "does not hold"),
        (r"\Gamma(3) = \frac{24\;88320}{12\;44160}", "holds"),
    ],
)
def test_a_wrong_digit_of_a_long_decimal_is_told(latex, verdict):
    assert try_display(latex, notation=NIST).verdict == verdict


def test_a_generalized_hypergeometric_function():
    arguments = r"\tfrac{1}{4};\tfrac{5}{4},\tfrac{1}{2};-\tfrac{1}{16}\pi^{2}z^{4}"
    latex = rf"C\left(z\right) = z{{{{}}_{{1}}F_{{2}}}}\left({arguments}\right)"
    assert try_display(latex, notation=NIST).verdict == "holds"
    assert try_display(latex.replace("5}{4", "3}{4"), notation=NIST).verdict != "holds"


@pytest.mark.parametrize(
    "latex",
    [
        r"E_{1}\left(z\right) = \int_{z}^{\infty}\frac{e^{-t}}{t}\,\mathrm{d}t",
        r"E_{n}\left(x+1\right) + E_{n}\left(x\right) = 2 x^{n}",
        r"\operatorname{erfc}x = \frac{x}{\sqrt{\pi}}E_{\frac{1}{2}}(x^{2}), \quad x > 0",
        r"\mathsf{P}^{\mu}_{\nu}\left(x\right) = \left(\frac{1+x}{1-x}\right)^{\mu/2}"
        r"\mathbf{F}\left(\nu+1,-\nu;1-\mu;\tfrac{1}{2}-\tfrac{1}{2}x\right), \quad -1 < x < 1",
        r"{{}_{2}F_{1}}\left({a,b\atop c};z\right)"
        r" = (1-z)^{c-a-b}{{}_{2}F_{1}}\left({c-a,c-b\atop c};z\right)",
        r"{\operatorname{sn}}^{2}\left(z,k\right)+{\operatorname{cn}}^{2}\left(z,k\right) = 1",
        r"E\left(k\right){K^{\prime}}\left(k\right)+{E^{\prime}}\left(k\right)K\left(k\right)"
        r"-K\left(k\right){K^{\prime}}\left(k\right) = \tfrac{1}{2}\pi",
        r"R_{C}\left(x,y\right) = R_{F}\left(x,y,y\right)",
        r"\operatorname{am}\left(x,k\right) = \int_{0}^{x}\operatorname{dn}(t,k)\,\mathrm{d}t",
        r"\left(a;q\right)_{\infty} = \prod_{k=0}^{\infty}(1-aq^{k})",
        r"\Gamma_{q}\left(z+1\right) = \frac{1-q^{z}}{1-q}\Gamma_{q}\left(z\right)",
        r"\frac{\mathrm{d}K\left(k\right)}{\mathrm{d}k}"
        r" = \frac{E\left(k\right)-{k^{\prime}}^{2}K\left(k\right)}{k{k^{\prime}}^{2}}",
        r"\operatorname{si}\left(z\right) = \operatorname{Si}\left(z\right)-\tfrac{1}{2}\pi",
        r"\theta_{3}\left(z,q\right) = 1+2\sum_{n=1}^{\infty}q^{n^{2}}\cos\left(2nz\right)",
    ],
)
def test_of_several_meanings_that_which_is_printed_is_taken(latex):
    tried = try_display(latex, notation=NIST)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 0
    assert tried.mutants.survived == 0


@pytest.mark.parametrize(
    "latex",
    [
        r"E_{1}\left(z\right) = \int_{z}^{\infty}\frac{e^{-t}}{t^2}\,\mathrm{d}t",
        r"\mathsf{P}^{\mu}_{\nu}\left(x\right) = \left(\frac{1-x}{1+x}\right)^{\mu/2}"
        r"\mathbf{F}\left(\nu+1,-\nu;1-\mu;\tfrac{1}{2}-\tfrac{1}{2}x\right), \quad -1 < x < 1",
        r"{\operatorname{sn}}^{2}\left(z,k\right)-{\operatorname{cn}}^{2}\left(z,k\right) = 1",
        r"E\left(k\right){K^{\prime}}\left(k\right)+{E^{\prime}}\left(k\right)K\left(k\right)"
        r"+K\left(k\right){K^{\prime}}\left(k\right) = \tfrac{1}{2}\pi",
        r"R_{C}\left(x,y\right) = R_{F}\left(x,x,y\right)",
        r"\left(a;q\right)_{\infty} = \prod_{k=1}^{\infty}(1-aq^{k})",
        r"\theta_{3}\left(z,q\right) = 1+2\sum_{n=1}^{\infty}q^{n^{2}}\cos\left(nz\right)",
        r"\operatorname{am}\left(x,k\right) = \int_{0}^{x}\operatorname{cn}(t,k)\,\mathrm{d}t",
    ],
)
def test_a_slip_in_them_does_not_pass(latex, monkeypatch):
    monkeypatch.setattr(sample_fates, "_SEARCH", 10_000)  # what would mend it is not asked
    assert try_display(latex, notation=NIST).verdict in ("not read", FAILS, "does not hold")


def test_a_letter_with_two_meanings_accuses_nobody():
    found = try_display(r"E_{n}\left(x\right) = E_{n}\left(2x\right)", notation=NIST)
    assert found.verdict in (FAILS, "not read")
