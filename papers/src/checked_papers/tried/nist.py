"""The notation of NIST's Digital Library of Mathematical Functions, which many others share.

A row is a written form and the function that it calls; a letter alone, such as ``C(z)`` for a
Fresnel integral, means this in the library and not in general, and stands in a second table.
"""

from __future__ import annotations

from . import branches, elementary, special
from .notation import Notation

_COMMON = {
    r"\Gamma(z)": "gammafn(z)", r"\ln\Gamma(z)": "loggamma(z)", r"\log\Gamma(z)": "loggamma(z)",
    r"\operatorname{Ln}\Gamma(z)": "loggamma(z)", r"\Gamma(a,z)": "uppergamma(a,z)",
    r"\gamma(a,z)": "lowergamma(a,z)", r"\psi(z)": "digamma(z)", r"\psi^{(n)}(z)": "polygamma(n,z)",
    r"\mathrm{B}(a,b)": "betafn(a,b)", r"\zeta(s)": "zetafn(s)", r"\zeta(s,a)": "hurwitz(s,a)",
    r"J_{a}(z)": "besselj(a,z)", r"Y_{a}(z)": "bessely(a,z)", r"I_{a}(z)": "besseli(a,z)",
    r"K_{a}(z)": "besselk(a,z)", r"H^{(1)}_{a}(z)": "hankelone(a,z)",
    r"H^{(2)}_{a}(z)": "hankeltwo(a,z)", r"\operatorname{Ai}(z)": "airyai(z)",
    r"\operatorname{Bi}(z)": "airybi(z)", r"P_{n}(x)": "legendrep(n,x)",
    r"T_{n}(x)": "chebyshevt(n,x)", r"U_{n}(x)": "chebyshevu(n,x)", r"H_{n}(x)": "hermite(n,x)",
    r"L_{n}(x)": "laguerre(n,x)", r"L^{(a)}_{n}(x)": "laguerrea(n,a,x)",
    r"C^{(a)}_{n}(x)": "gegenbauer(n,a,x)", r"P^{(a,b)}_{n}(x)": "jacobip(n,a,b,x)",
    r"E_{p}(z)": "expint(p,z)",
}  # fmt: skip
_LIBRARY = {
    r"P(a,z)": "regularlower(a,z)", r"Q(a,z)": "regularupper(a,z)",
    r"\gamma^{*}(a,z)": "entiregamma(a,z)",
    r"\Gamma^{*}(z)": "scaledgamma(z)", r"G(z)": "barnes(z)",
    r"B_{n}": "bernoulli(n)", r"E_{n}": "euler(n)",
    r"B_{n}(x)": "bernpoly(n,x)", r"E_{n}(x)": "eulerpoly(n,x)", r"e_{n}(z)": "exppoly(n,z)",
    r"\operatorname{Li}_{s}(z)": "polylog(s,z)", r"\eta(s)": "eta(s)",
    r"\Phi(z,s,a)": "lerch(z,s,a)",
    r"F(z)": "dawson(z)", r"w(z)": "faddeeva(z)", r"\mathsf{M}(x)": "mills(x)",
    r"\mathcal{F}(z)": "fresnel(z)", r"C(z)": "fresnelc(z)", r"S(z)": "fresnels(z)",
    r"\mathrm{f}(z)": "fresnelf(z)", r"\mathrm{g}(z)": "fresnelg(z)",
    r"E_{1}(z)": "expintone(z)", r"\mathsf{j}_{n}(z)": "sphericalj(n,z)",
    r"\mathsf{y}_{n}(z)": "sphericaly(n,z)", r"\mathsf{k}_{n}(z)": "sphericalk(n,z)",
    r"\mathsf{i}^{(1)}_{n}(z)": "sphericali(n,z)",
    r"\mathsf{h}^{(1)}_{n}(z)": "sphericalhone(n,z)",
    r"\mathsf{h}^{(2)}_{n}(z)": "sphericalhtwo(n,z)",
    r"\mathbf{H}_{a}(z)": "struveh(a,z)", r"\mathbf{L}_{a}(z)": "struvel(a,z)",
    r"\mathbf{J}_{a}(z)": "angerj(a,z)", r"\mathbf{E}_{a}(z)": "webere(a,z)",
    r"\operatorname{ber}_{a}(z)": "kelvinber(a,z)", r"\operatorname{bei}_{a}(z)": "kelvinbei(a,z)",
    r"\operatorname{ker}_{a}(z)": "kelvinker(a,z)", r"\operatorname{kei}_{a}(z)": "kelvinkei(a,z)",
    r"M(a,b,z)": "kummerm(a,b,z)", r"U(a,b,z)": "kummeru(a,b,z)",
    r"\mathbf{M}(a,b,z)": "kummerbold(a,b,z)",
    r"M_{k,m}(z)": "whittakerm(k,m,z)", r"W_{k,m}(z)": "whittakerw(k,m,z)",
    r"U(a,z)": "paraboliccylinder(a,z)", r"V(a,z)": "paraboliccylinderv(a,z)",
    r"D_{a}(z)": "paraboliccylinderd(a,z)",
    r"F(a,b;c;z)": "gauss(a,b,c,z)", r"\mathbf{F}(a,b;c;z)": "gaussbold(a,b,c,z)",
    r"{}_{2}F_{1}(a,b;c;z)": "gauss(a,b,c,z)",
    r"{}_{1}F_{1}(a;b;z)": "kummerm(a,b,z)",
    r"{}_{0}F_{1}(-;b;z)": "hyperzeroone(b,z)", r"{}_{0}F_{1}(;b;z)": "hyperzeroone(b,z)",
    r"{}_{1}F_{0}(a;-;z)": "hyperonezero(a,z)", r"{}_{2}F_{0}(a,b;-;z)": "hypertwozero(a,b,z)",
    r"{}_{1}F_{2}(a;b,c;z)": "hyperonetwo(a,b,c,z)",
    r"{}_{2}F_{2}(a,b;c,d;z)": "hypertwotwo(a,b,c,d,z)",
    r"{}_{3}F_{2}(a,b,c;d,f;z)": "hyperthreetwo(a,b,c,d,f,z)",
    r"W_{k}(z)": "lambert(k,z)", r"W(x)": "lambertprincipal(x)",
    r"\operatorname{log}_{a}(z)": "logbase(a,z)",
    r"\mathsf{P}_{n}(x)": "legendrep(n,x)", r"\mathsf{Q}_{n}(x)": "ferrersq(n,x)",
    r"\mathsf{P}^{m}_{n}(x)": "ferrersp(n,m,x)",
    r"V_{n}(x)": "chebyshevv(n,x)", r"W_{n}(x)": "chebyshevw(n,x)",
    r"\mathit{He}_{n}(x)": "hermitee(n,x)",
    r"P^{m}_{n}(x)": "legendrethree(n,m,x)", r"\mathsf{Q}^{m}_{n}(x)": "ferrersqq(n,m,x)",
    r"\boldsymbol{Q}^{m}_{n}(x)": "legendreqbold(n,m,x)",
    r"\Pi(a,k)": "ellippi(a,k)", r"\Pi(b,a,k)": "ellippii(b,a,k)",
    r"\operatorname{am}(x,k)": "jacobiam(x,k)",
    r"R_{F}(x,y,z)": "carlsonrf(x,y,z)", r"R_{G}(x,y,z)": "carlsonrg(x,y,z)",
    r"R_{C}(x,y)": "carlsonrc(x,y)", r"R_{D}(x,y,z)": "carlsonrd(x,y,z)",
    r"R_{J}(x,y,z,p)": "carlsonrj(x,y,z,p)",
    **{rf"\operatorname{{{name}}}(z,k)": f"jacobi{name}(z,k)" for name in special.JACOBI},
    **{rf"\theta_{{{n}}}(z,q)": f"theta{word}(z,q)" for n, word in enumerate(special.THETA, 1)},
    r"K(k)": "ellipk(k)", r"E(k)": "ellipe(k)", r"F(\phi,k)": "ellipf(\\phi,k)",
    r"E(\phi,k)": "ellipei(\\phi,k)", r"\operatorname{Ein}(z)": "expintentire(z)",
    r"\Gamma_{q}(z)": "qgamma(q,z)", r"s(n,k)": "stirlingone(n,k)", r"S(n,k)": "stirlingtwo(n,k)",
}  # fmt: skip
# What is written in a way of its own.
_PATTERNS = (
    (r"([+-])\s*(\}+)\s*\\cdots(?!\\cfrac)", r"\1\\dots\2"),
    (r"\\displaystyle|\\\*|\\NVar|\\textstyle|\\quad(?=\s*\\\\)", ""),
    (r"\\ifrac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"\\frac{\1}{\2}"),
    (
        r"\\genfrac\{\[\}\{\]\}\{0\.?0?pt\}\{\}\{([^{}]*)\}\{([^{}]*)\}",
        r"\\operatorname{stirlingcycle}(\1,\2)",
    ),
    (
        r"\\mathop\{\\mathrm\{i\}\^\{?((?:[^{}]|\{[^{}]*\})*?)\}?\\mathrm\{erfc\}\}\\left\(",
        r"\\operatorname{repeatederfc}\\left(\1,",
    ),
    (r"\{(\\[A-Za-z]+|\\operatorname\{[A-Za-z]+\})\}(?=\s*\^)", r"\1"),
    (r"\{(\\operatorname\{[A-Za-z]+\}\^\{-1\})\}", r"\1"),
    # a decimal in groups of digits: `1.77245\;38509\;\dots`
    (r"(?<=[0-9]{3})(?:\\[;,!:]|\s)+(?=[0-9]{2})|(?<=[0-9]{3})(?:\\[;,!:]|\s)*\\l?dots", ""),
    (r"\\mathrm\{d\}|\{\\mathrm\{d\}\}", r"\\mathrm{d}"),
)
_CONSTANTS = {r"\gamma": 0.577215664901532860606512090082}
_WORDS = {**elementary.WORDS, **special.WORDS, **branches.WORDS}
COMMON = Notation({}, {}, elementary.WORDS, {}, _PATTERNS)
_RISING = {1: "pochhammer", 2: "qpochhammer"}
NIST = Notation(
    {**_LIBRARY, **_COMMON},
    special.FUNCTIONS,
    _WORDS,
    _CONSTANTS,
    _PATTERNS,
    _RISING,
    reference=True,
)
SPECIAL = Notation(_COMMON, special.FUNCTIONS, _WORDS, _CONSTANTS, _PATTERNS)
NOTATIONS = {"nist": NIST}  # that one asks for by name
# Of a paper, where most letters may be anything, such as J a loss: forms with no other use.
_PREFIXED = {
    rf"{{}}_{two}F_{{1}}{arguments}": of
    for arguments, of, twos in (
        ("(a,b;c;z)", "gauss(a,b,c,z)", ("2", "{2}")),
        ("(a;b;z)", "kummerm(a,b,z)", ("1", "{1}")),
    )
    for two in twos
}
_ALONE = (
    r"\Gamma(z)", r"\ln\Gamma(z)", r"\log\Gamma(z)", r"\operatorname{Ai}(z)",
    r"\operatorname{Bi}(z)",
)  # fmt: skip
_OF_LAWS = (
    r"\Gamma(a,z)", r"\gamma(a,z)", r"\mathrm{B}(a,b)", r"\psi(z)", r"\zeta(s)", r"I_{a}(z)",
    r"K_{a}(z)",
)  # fmt: skip
_INCOMPLETE_BETA = {
    r"I(x,a,b)": "regularbeta(x,a,b)", r"I_{x}(a,b)": "regularbeta(x,a,b)",
    r"B(a,b)": "betafn(a,b)",
}  # fmt: skip
PAPERS = Notation(
    {**{form: _COMMON[form] for form in _ALONE}, **_PREFIXED},
    special.FUNCTIONS,
    _WORDS,
    {},
    _PATTERNS,
)
# For a law given by its density, where few other functions have these names.
LAWS = Notation(
    {**PAPERS.rows, **{form: _COMMON[form] for form in _OF_LAWS}, **_INCOMPLETE_BETA},
    special.FUNCTIONS,
    _WORDS,
    {},
    _PATTERNS,
)
