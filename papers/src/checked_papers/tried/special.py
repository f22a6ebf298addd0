"""Special functions by mpmath, the extra `checked-papers[special]`, as numbers in and out.

Each takes and returns floats or complex numbers; a pole raises an error, as a function without a
value there does. Where the arguments are real and so is the value, it comes without a part that
rounding left.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib import import_module
from typing import Any

from checked_equations.evaluate.effort import spend
from checked_equations.latex.tokenizer import word_set

from . import error_functions

Special = Callable[..., complex | float]
HINT = "special functions need mpmath: install checked-papers[special]"


@cache
def context() -> Any:
    """A context of mpmath of our own, so that the precision of others stays."""
    try:
        import mpmath
    except ImportError:
        raise ValueError(HINT) from None
    own = mpmath.mp.clone()
    own.dps = 17
    return own


def floats() -> Any:
    """The context of mpmath that computes in floats."""
    context()  # says what is missing, if it is
    return import_module("mpmath").fp


def number(value: Any) -> Any:
    """An argument for mpmath: whole numbers as such."""
    plain = complex(value)
    if plain.imag:
        return context().mpc(plain.real, plain.imag)
    whole = plain.real == round(plain.real) and abs(plain.real) < 1e9
    return int(plain.real) if whole else context().mpf(plain.real)


def plain(value: Any) -> complex | float:
    """A value of mpmath as a number of Python."""
    if isinstance(value, complex | context().mpc):
        return complex(value) if value.imag else float(value.real)
    return float(value)


_QUICK, _USUAL, _SLOW, _ENDLESS = 2, 30, 700, 20_000  # efforts of a call
_COSTS = {
    **dict.fromkeys(("polylog", "qgamma", "qp", "elliprg", "elliprj"), _SLOW),
    "lerchphi": _ENDLESS,
}


def by(name: str, *order: int) -> Special:
    """The function of mpmath called `name`, its arguments put in an `order`.

    >>> round(by("gamma")(5.0), 9)
    24.0
    """

    cost = _COSTS.get(name, _USUAL)

    def of(*arguments: Any) -> complex | float:
        spend(cost)
        own = [number(a) for a in arguments]
        return plain(getattr(context(), name)(*([own[i] for i in order] or own)))

    return of


def quick(name: str) -> Special:
    """As `by`, in floats where mpmath has a routine for them: two hundred times as fast.

    Only for those that keep twelve digits there; without a value it is as `by`.

    >>> abs(quick("digamma")(1.0) + 0.5772156649015329) < 1e-15
    True
    """
    slow = by(name)

    def of(*arguments: Any) -> complex | float:
        (argument,) = arguments
        z = complex(argument)
        if abs(z.imag) < _FAR_UP:
            spend(_QUICK)
            try:
                value = complex(getattr(floats(), name)(z if z.imag else z.real))
            except (ArithmeticError, ValueError):
                return slow(argument)
            if cmath.isfinite(value):
                return value if value.imag else value.real
        return slow(argument)

    return of


_FAR_UP = 60.0  # imaginary parts beyond lose digits in floats


def in_floats(quickly: Callable[[complex], complex], slowly: Special) -> Special:
    """A function of one number by a routine of ours, and where that has no value another way."""

    def of(argument: Any) -> complex | float:
        spend(_QUICK)
        context()  # one extra for all special functions
        if not cmath.isfinite(complex(argument)):
            return slowly(argument)
        try:
            value = complex(quickly(complex(argument)))
        except (ArithmeticError, ValueError):
            return slowly(argument)
        if not cmath.isfinite(value):
            return slowly(argument)
        rounded = not complex(argument).imag and abs(value.imag) <= 1e-13 * abs(value)
        return value.real if rounded else value

    return of


def made(of: Callable[..., Any], cost: int = _USUAL) -> Special:
    """A function of ours, whose first argument is the context; a call costs so much effort."""

    @wraps(of)
    def called(*arguments: Any) -> complex | float:
        spend(cost)
        return plain(of(context(), *map(number, arguments)))

    return called


def slope(function: Special) -> Special:
    """The derivative by the last argument, where it is analytic: a mean over a circle around it."""

    def of(*arguments: Any) -> complex | float:
        *first, z = arguments
        mp = context()
        radius, total, points = 0.02 * max(1.0, abs(z)), 0j, 24
        for k in range(points):
            turn = complex(mp.expjpi(2.0 * k / points))
            total += complex(function(*first, complex(z + radius * turn))) / turn
        value = total / (points * radius)
        real = all(complex(a).imag == 0 for a in arguments) and abs(value.imag) < 1e-9 * abs(value)
        return value.real if real else value

    return of


# Those for which mpmath has no name of its own.


_LOST = 1e-5  # what is smaller than that next to the terms that cancel in it has lost digits


def _one_of(pair: Callable[[complex], tuple[complex, complex]], place: int) -> Any:
    """Return a value of a pair as a function, which raises where its digits are lost."""

    def of(z: complex) -> complex:
        both = pair(z)
        if abs(both[place]) < _LOST * abs(both[1 - place]):
            raise ArithmeticError("it has lost its digits")
        return both[place]

    return of


def _fresnel_auxiliary(place: int) -> Special:
    def of(mp: Any, z: Any) -> Any:
        half = mp.mpf(1) / 2
        c, s, angle = half - mp.fresnelc(z), half - mp.fresnels(z), mp.pi * z * z / 2
        f = s * mp.cos(angle) - c * mp.sin(angle)
        return c * mp.cos(angle) + s * mp.sin(angle) if place else f

    return made(of)


@made
def _repeated_erfc(mp: Any, n: Any, z: Any) -> Any:
    if n == -1:
        return 2 / mp.sqrt(mp.pi) * mp.exp(-z * z)
    scale = mp.exp(-z * z) / mp.power(2, n) / mp.sqrt(mp.pi)
    half = mp.mpf(1) / 2
    if mp.re(z) > 0:
        return scale * mp.hyperu(half * n + half, half, z * z)
    first = mp.hyp1f1((n + 1) * half, half, z * z) * mp.rgamma(n * half + 1)
    second = 2 * z * mp.hyp1f1(n * half + 1, 3 * half, z * z) * mp.rgamma((n + 1) * half)
    return mp.exp(-z * z) / mp.power(2, n) * (first - second)


def _spherical(name: str) -> Special:
    return made(lambda mp, n, z: mp.sqrt(mp.pi / 2 / z) * getattr(mp, name)(n + mp.mpf(1) / 2, z))


def _hypergeometric(above: int) -> Special:
    """The generalized function with so many parameters above; the others are below."""
    cost = _USUAL if above < 3 else _SLOW

    def of(mp: Any, *given: Any) -> Any:
        return mp.hyper(given[:-1][:above], given[above:-1], given[-1])

    return made(of, cost)


_HIGH = 1e3  # above, zeta takes minutes


@made
def _zeta(mp: Any, s: Any, *a: Any) -> Any:
    if abs(mp.im(s)) > _HIGH:
        raise ValueError("zeta so far up is not computed")
    return (
        mp.zeta(s, *a)
        if a or abs(mp.im(s)) > _FAR_UP
        else floats().zeta(complex(s) if mp.im(s) else float(s))
    )


@made
def _amplitude(mp: Any, x: Any, k: Any) -> Any:
    """Jacobi's am: the angle of cn and sn, on the branch of where dn has led it [DLMF 22.16.1]."""
    if mp.im(x) or mp.im(k) or not abs(k) <= 1:
        raise ValueError("the amplitude is taken of real numbers, with a modulus up to one")
    period = 4 * mp.ellipk(k * k) if abs(k) < 1 else mp.inf
    turns = mp.nint(x / period)
    angle = mp.atan2(mp.ellipfun("sn", x, k=k).real, mp.ellipfun("cn", x, k=k).real)
    return angle + 2 * mp.pi * turns


def _jacobi(name: str) -> Special:
    return made(lambda mp, z, k: mp.ellipfun(name, z, k=k))


def _theta(n: int) -> Special:
    return made(lambda mp, z, q: mp.jtheta(n, z, q))


def _chebyshev(of: str) -> Special:
    """V by the cosine, W by the sine."""

    def value(mp: Any, n: Any, x: Any) -> Any:
        angle = mp.acos(x)
        return getattr(mp, of)((n + mp.mpf(1) / 2) * angle) / getattr(mp, of)(angle / 2)

    return made(value)


_faddeeva = made(lambda mp, z: mp.exp(-z * z) * mp.erfc(-1j * z))
_e1_entire = made(lambda mp, z: mp.e1(z) + mp.log(z) + mp.euler)
_FORMULAS: Mapping[str, Special] = {
    "lowergamma": made(lambda mp, a, z: mp.gammainc(a, 0, z)),
    "regularlower": made(lambda mp, a, z: mp.gammainc(a, 0, z, regularized=True)),
    "regularbeta": made(lambda mp, x, a, b: mp.betainc(a, b, 0, x, regularized=True), _SLOW),
    "regularupper": made(lambda mp, a, z: mp.gammainc(a, z, regularized=True)),
    "entiregamma": made(lambda mp, a, z: mp.power(z, -a) * mp.gammainc(a, 0, z, regularized=True)),
    "scaledgamma": made(
        lambda mp, z: mp.gamma(z) * mp.power(z, mp.mpf(1) / 2 - z) * mp.exp(z) / mp.sqrt(2 * mp.pi)
    ),
    "stirlingcycle": made(lambda mp, n, k: abs(mp.stirling1(int(n), int(k)))),
    "stirlingone": made(lambda mp, n, k: mp.stirling1(int(n), int(k))),
    "stirlingtwo": made(lambda mp, n, k: mp.stirling2(int(n), int(k))),
    "exppoly": made(
        lambda mp, n, z: mp.fsum(mp.power(z, k) / mp.factorial(k) for k in range(int(n) + 1))
    ),
    "dawson": made(lambda mp, z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z)),
    "mills": made(lambda mp, x: mp.exp(x * x) * mp.sqrt(mp.pi) / 2 * mp.erfc(x)),
    "fresnel": made(lambda mp, z: (1 + 1j) / 2 - mp.fresnelc(z) - 1j * mp.fresnels(z)),
    "kummerbold": made(lambda mp, a, b, z: mp.hyp1f1(a, b, z) * mp.rgamma(b)),
    "gaussbold": made(lambda mp, a, b, c, z: mp.hyp2f1(a, b, c, z) * mp.rgamma(c)),
    "lambert": made(lambda mp, k, z: mp.lambertw(z, int(k))),
    "logbase": made(lambda mp, a, z: mp.log(z) / mp.log(a)),
    "ferrersp": made(lambda mp, n, m, x: mp.legenp(n, m, x, type=2)),
    "ferrersq": made(lambda mp, n, x: mp.legenq(n, 0, x, type=2), _SLOW),
    "hermitee": made(lambda mp, n, x: mp.power(2, -mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2))),
    "laguerre": made(lambda mp, n, x: mp.laguerre(n, 0, x)),
    "ellipk": made(lambda mp, k: mp.ellipk(k * k)),
    "ellipe": made(lambda mp, k: mp.ellipe(k * k)),
    "ellipf": made(lambda mp, phi, k: mp.ellipf(phi, k * k)),
    "ellipei": made(lambda mp, phi, k: mp.ellipe(phi, k * k), _SLOW),
    "ellippi": made(lambda mp, n, k: mp.ellippi(n, k * k), _ENDLESS),
    "ellippii": made(lambda mp, phi, n, k: mp.ellippi(n, phi, k * k), _ENDLESS),
    "legendrethree": made(lambda mp, n, m, x: mp.legenp(n, m, x, type=3)),
    "ferrersqq": made(lambda mp, n, m, x: mp.legenq(n, m, x, type=2)),
    "legendreqbold": made(  # [DLMF 14.3.10]
        lambda mp, n, m, x: (
            mp.exp(-1j * mp.pi * m) * mp.legenq(n, m, x, type=3) * mp.rgamma(n + m + 1)
        )
    ),
}
JACOBI = ("sn", "cn", "dn", "ns", "nc", "nd", "sc", "sd", "cs", "cd", "ds", "dc")
THETA = ("one", "two", "three", "four")
_OF_MPMATH = [  # by its name for them, behind a colon if it has another
    one.partition(":") for one in word_set("""
    polygamma bernoulli bernpoly eulerpoly polylog expint besselj bessely besseli besselk
    struveh struvel angerj webere airyai airybi hermite gegenbauer betafn:beta pochhammer:rf
    uppergamma:gammainc barnes:barnesg euler:eulernum lerch:lerchphi eta:altzeta expintone:e1
    hankelone:hankel1 hankeltwo:hankel2 kelvinber:ber kelvinbei:bei kelvinker:ker kelvinkei:kei
    kummerm:hyp1f1 kummeru:hyperu whittakerm:whitm whittakerw:whitw paraboliccylinder:pcfu
    paraboliccylinderv:pcfv paraboliccylinderd:pcfd gauss:hyp2f1 lambertprincipal:lambertw
    legendrep:legendre chebyshevt:chebyt chebyshevu:chebyu laguerrea:laguerre jacobip:jacobi
    carlsonrf:elliprf carlsonrc:elliprc carlsonrj:elliprj carlsonrd:elliprd carlsonrg:elliprg
    qpochhammer:qp
    """)
]  # fmt: skip
FUNCTIONS: Mapping[str, Special] = {
    **_FORMULAS,
    **{name: by(own or name) for name, _, own in _OF_MPMATH},
    "gammafn": quick("gamma"), "loggamma": quick("loggamma"), "digamma": quick("digamma"),
    "zetafn": _zeta, "hurwitz": _zeta, "qgamma": by("qgamma", 1, 0),
    "faddeeva": in_floats(error_functions.faddeeva, _faddeeva),
    "fresnelc": in_floats(_one_of(error_functions.fresnel_integrals, 0), by("fresnelc")),
    "fresnels": in_floats(_one_of(error_functions.fresnel_integrals, 1), by("fresnels")),
    "fresnelf": in_floats(_one_of(error_functions.fresnel, 0), _fresnel_auxiliary(0)),
    "fresnelg": in_floats(_one_of(error_functions.fresnel, 1), _fresnel_auxiliary(1)),
    "repeatederfc": _repeated_erfc, "expintentire": _e1_entire,
    "sphericalj": _spherical("besselj"), "sphericaly": _spherical("bessely"),
    "sphericali": _spherical("besseli"), "sphericalk": _spherical("besselk"),
    "sphericalhone": _spherical("hankel1"), "sphericalhtwo": _spherical("hankel2"),
    "hyperzeroone": _hypergeometric(0), "hyperonezero": _hypergeometric(1),
    "hypertwozero": _hypergeometric(2), "hyperonetwo": _hypergeometric(1),
    "hypertwotwo": _hypergeometric(2), "hyperthreetwo": _hypergeometric(3),
    "chebyshevv": _chebyshev("cos"), "chebyshevw": _chebyshev("sin"),
    **{f"jacobi{name}": _jacobi(name) for name in JACOBI}, "jacobiam": _amplitude,
    **{f"theta{word}": _theta(n) for n, word in enumerate(THETA, 1)},
}  # fmt: skip
FUNCTIONS = {
    **FUNCTIONS,
    **{f"{name}P": slope(of) for name, of in FUNCTIONS.items()},
    # no derivatives: a prime says of these that the modulus is the complementary one
    "ellipkP": made(lambda mp, k: mp.ellipk(1 - k * k)),
    "ellipeP": made(lambda mp, k: mp.ellipe(1 - k * k)),
}  # fmt: skip
FUNCTIONS = {
    **FUNCTIONS,
    **{f"{name}PP": slope(FUNCTIONS[f"{name}P"]) for name in FUNCTIONS if name[-1] != "P"},
}
# Where the modulus or the nome stands, which lies between 0 and 1.
MODULUS: Mapping[str, int] = {
    **dict.fromkeys(("ellipk", "ellipe", "ellipkP", "ellipeP", "qgamma"), 0),
    **dict.fromkeys(("ellipf", "ellipei", "ellippi", "qpochhammer", "jacobiam"), 1),
    **dict.fromkeys([f"jacobi{name}" for name in JACOBI], 1),
    **dict.fromkeys([f"theta{word}" for word in THETA], 1), "ellippii": 2,
}  # fmt: skip
WORDS: Mapping[str, Special] = {
    "\\operatorname{erf}": in_floats(error_functions.erf, by("erf")),
    "\\operatorname{erfc}": in_floats(error_functions.erfc, by("erfc")),
    "\\operatorname{erfi}": by("erfi"), "\\operatorname{Ei}": quick("ei"),
    "\\operatorname{Ein}": _e1_entire, "\\operatorname{li}": by("li"),
    "\\operatorname{si}": made(lambda mp, z: mp.si(z) - mp.pi / 2), "\\operatorname{Si}": by("si"),
    "\\operatorname{Ci}": by("ci"),
    "\\operatorname{Shi}": by("shi"), "\\operatorname{Chi}": by("chi"),
    "\\operatorname{Ai}": by("airyai"), "\\operatorname{Bi}": by("airybi"),
    "\\operatorname{Gi}": by("scorergi"), "\\operatorname{Hi}": by("scorerhi"),
    "\\operatorname{gd}": made(lambda mp, x: 2 * mp.atan(mp.tanh(x / mp.mpf(2)))),
    "\\operatorname{gd}^{-1}": made(lambda mp, x: mp.asinh(mp.tan(x))),
    "\\operatorname{sinc}": by("sinc"),
}  # fmt: skip
