"""What has several values holds for one of them, and what holds for none does not pass."""

import pytest

from checked_papers.tried import try_display
from checked_papers.tried.nist import NIST
from checked_papers.tried.verdicts import FAILS

TRUE = (
    r"\operatorname{Ln}\left(z_{1}z_{2}\right) = \operatorname{Ln}z_{1}+\operatorname{Ln}z_{2}",
    r"\operatorname{Ln}\left(z^{n}\right) = n\operatorname{Ln}z",
    r"\operatorname{Ln}z = \int_{1}^{z}\frac{\,\mathrm{d}t}{t}",
    r"w = \operatorname{Arcsin}z = (-1)^{k}\operatorname{arcsin}z+k\pi",
    r"\operatorname{Arccos}z = \pm\operatorname{arccos}z+2k\pi",
    r"\operatorname{Arctanh}z = \operatorname{arctanh}z+k\pi\mathrm{i}",
    r"\operatorname{Arctan}u\pm\operatorname{Arctan}v"
    r" = \operatorname{Arctan}\left(\frac{u\pm v}{1\mp uv}\right)",
    r"\sin\frac{z}{2} = \pm\left(\frac{1-\cos z}{2}\right)^{1/2}",
    r"\operatorname{arccosh}\left(-z\right) = \pm\pi\mathrm{i}+\operatorname{arccosh}z",
    r"\frac{\mathrm{d}}{\mathrm{d}z}\operatorname{arccsc}z = \mp\frac{1}{z(z^{2}-1)^{1/2}}",
)
FALSE = (
    r"\operatorname{Ln}\left(z_{1}z_{2}\right) = \operatorname{Ln}z_{1}-\operatorname{Ln}z_{2}",
    r"\operatorname{Ln}\left(z^{n}\right) = z\operatorname{Ln}n",
    r"\operatorname{Ln}z = \int_{1}^{z}\frac{\,\mathrm{d}t}{t^2}",
    r"w = \operatorname{Arcsin}z = (-1)^{k}\operatorname{arccos}z+k\pi",
    r"\operatorname{Arccos}z = \pm\operatorname{arccos}z+\frac{k}{2}",
    r"\operatorname{Arctanh}z = \operatorname{arctanh}z+k\pi",
    r"\operatorname{Arctan}u\pm\operatorname{Arctan}v"
    r" = \operatorname{Arctan}\left(\frac{u\pm v}{1\pm uv}\right)",
    r"\sin\frac{z}{2} = \pm\left(\frac{1+\cos z}{2}\right)^{1/2}",
    r"\operatorname{arccosh}\left(-z\right) = \pm 2\pi\mathrm{i}+\operatorname{arccosh}z",
    r"\frac{\mathrm{d}}{\mathrm{d}z}\operatorname{arccsc}z = \mp\frac{1}{z(z^{2}+1)^{1/2}}",
)


@pytest.mark.parametrize("latex", TRUE)
def test_what_holds_for_a_branch_or_a_sign_holds(latex):
    tried = try_display(latex, notation=NIST)
    assert tried.verdict == "holds", tried
    assert tried.mutants.caught > 0
    assert tried.mutants.survived == 0


@pytest.mark.parametrize("latex", FALSE)
def test_what_holds_for_none_does_not_pass(latex):
    assert try_display(latex, notation=NIST).verdict in (FAILS, "not read")


def test_a_slip_that_another_branch_makes_true_is_not_caught():
    tried = try_display(r"\operatorname{Ln}z = \ln z+2k\pi\mathrm{i}", notation=NIST)
    fates = {record.edit: record.outcome for record in tried.mutants.list}
    assert fates["drop the factor k"] == "indistinct"
    assert fates["drop the factor \\pi"] == "caught"
