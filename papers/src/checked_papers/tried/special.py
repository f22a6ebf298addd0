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

from ..numerics.time_limit import spend
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


def by(name: str, *order: int) -> Special:
    """The function of mpmath called `name`, its arguments put in an `order`.

    >>> round(by("gamma")(5.0), 9)
    24.0
    """

    def of(*arguments: Any) -> complex | float:
        spend()
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
            spend()
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
        spend()
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


def made(of: Callable[..., Any]) -> Special:
    """A function of ours, whose first argument is the context."""

    @wraps(of)
    def called(*arguments: Any) -> complex | float:
        spend()
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


@made
def _lower(mp: Any, a: Any, z: Any) -> Any:
    return mp.gammainc(a, 0, z)


@made
def _regular_lower(mp: Any, a: Any, z: Any) -> Any:
    return mp.gammainc(a, 0, z, regularized=True)


@made
def _regular_upper(mp: Any, a: Any, z: Any) -> Any:
    return mp.gammainc(a, z, regularized=True)


@made
def _tricomi_entire(mp: Any, a: Any, z: Any) -> Any:
    return mp.power(z, -a) * mp.gammainc(a, 0, z, regularized=True)


@made
def _scaled_gamma(mp: Any, z: Any) -> Any:
    return mp.gamma(z) * mp.power(z, mp.mpf(1) / 2 - z) * mp.exp(z) / mp.sqrt(2 * mp.pi)


@made
def _dawson(mp: Any, z: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z)


@made
def _faddeeva(mp: Any, z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


_faddeeva_in_floats = in_floats(error_functions.faddeeva, _faddeeva)


@made
def _mills(mp: Any, x: Any) -> Any:
    return mp.exp(x * x) * mp.sqrt(mp.pi) / 2 * mp.erfc(x)


@made
def _fresnel(mp: Any, z: Any) -> Any:
    return (1 + 1j) / 2 - mp.fresnelc(z) - 1j * mp.fresnels(z)


_LOST = 1e-5  # what is smaller than that next to the terms that cancel in it has lost digits


def _auxiliary(z: complex, place: int) -> complex:
    found, other = error_functions.fresnel(z)[place], error_functions.fresnel(z)[1 - place]
    if abs(found) < _LOST * abs(other):
        raise ArithmeticError("it has lost its digits")
    return found


def _integral(z: complex, place: int) -> complex:
    both = error_functions.fresnel_integrals(z)
    if abs(both[place]) < _LOST * abs(both[1 - place]):
        raise ArithmeticError("it has lost its digits")
    return both[place]


@made
def _fresnel_f(mp: Any, z: Any) -> Any:
    half = mp.mpf(1) / 2
    c, s, angle = half - mp.fresnelc(z), half - mp.fresnels(z), mp.pi * z * z / 2
    return s * mp.cos(angle) - c * mp.sin(angle)


@made
def _fresnel_g(mp: Any, z: Any) -> Any:
    half = mp.mpf(1) / 2
    c, s, angle = half - mp.fresnelc(z), half - mp.fresnels(z), mp.pi * z * z / 2
    return c * mp.cos(angle) + s * mp.sin(angle)


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
    def of(mp: Any, n: Any, z: Any) -> Any:
        return mp.sqrt(mp.pi / 2 / z) * getattr(mp, name)(n + mp.mpf(1) / 2, z)

    return made(of)


@made
def _regular_kummer(mp: Any, a: Any, b: Any, z: Any) -> Any:
    return mp.hyp1f1(a, b, z) * mp.rgamma(b)


@made
def _regular_gauss(mp: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    return mp.hyp2f1(a, b, c, z) * mp.rgamma(c)


def _hypergeometric(above: int) -> Special:
    """The generalized function with so many parameters above; the others are below."""

    def of(mp: Any, *arguments: Any) -> Any:
        *parameters, z = arguments
        return mp.hyper(parameters[:above], parameters[above:], z)

    return made(of)


@made
def _exponential_polynomial(mp: Any, n: Any, z: Any) -> Any:
    return mp.fsum(mp.power(z, k) / mp.factorial(k) for k in range(int(n) + 1))


@made
def _gudermann(mp: Any, x: Any) -> Any:
    return 2 * mp.atan(mp.tanh(x / mp.mpf(2)))


@made
def _gudermann_inverse(mp: Any, x: Any) -> Any:
    return mp.asinh(mp.tan(x))


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
def _elliptic_k(mp: Any, k: Any) -> Any:
    return mp.ellipk(k * k)


@made
def _elliptic_e(mp: Any, k: Any) -> Any:
    return mp.ellipe(k * k)


@made
def _elliptic_f(mp: Any, phi: Any, k: Any) -> Any:
    return mp.ellipf(phi, k * k)


@made
def _elliptic_e_incomplete(mp: Any, phi: Any, k: Any) -> Any:
    return mp.ellipe(phi, k * k)


@made
def _sine_integral(mp: Any, z: Any) -> Any:
    return mp.si(z) - mp.pi / 2


@made
def _amplitude(mp: Any, x: Any, k: Any) -> Any:
    """Jacobi's am: the angle of cn and sn, on the branch of where dn has led it [DLMF 22.16.1]."""
    if mp.im(x) or mp.im(k) or not abs(k) <= 1:
        raise ValueError("the amplitude is taken of real numbers, with a modulus up to one")
    period = 4 * mp.ellipk(k * k) if abs(k) < 1 else mp.inf
    turns = mp.nint(x / period)
    angle = mp.atan2(mp.ellipfun("sn", x, k=k).real, mp.ellipfun("cn", x, k=k).real)
    return angle + 2 * mp.pi * turns


@made
def _elliptic_pi(mp: Any, n: Any, k: Any) -> Any:
    return mp.ellippi(n, k * k)


@made
def _elliptic_pi_incomplete(mp: Any, phi: Any, n: Any, k: Any) -> Any:
    return mp.ellippi(n, phi, k * k)


@made
def _complementary_k(mp: Any, k: Any) -> Any:
    return mp.ellipk(1 - k * k)


@made
def _complementary_e(mp: Any, k: Any) -> Any:
    return mp.ellipe(1 - k * k)


def _jacobi(name: str) -> Special:
    def of(mp: Any, z: Any, k: Any) -> Any:
        return mp.ellipfun(name, z, k=k)

    return made(of)


def _theta(n: int) -> Special:
    def of(mp: Any, z: Any, q: Any) -> Any:
        return mp.jtheta(n, z, q)

    return made(of)


@made
def _e1_entire(mp: Any, z: Any) -> Any:
    return mp.e1(z) + mp.log(z) + mp.euler


@made
def _lambert(mp: Any, k: Any, z: Any) -> Any:
    return mp.lambertw(z, int(k))


@made
def _log_base(mp: Any, a: Any, z: Any) -> Any:
    return mp.log(z) / mp.log(a)


@made
def _chebyshev_v(mp: Any, n: Any, x: Any) -> Any:
    angle = mp.acos(x)
    return mp.cos((n + mp.mpf(1) / 2) * angle) / mp.cos(angle / 2)


@made
def _chebyshev_w(mp: Any, n: Any, x: Any) -> Any:
    angle = mp.acos(x)
    return mp.sin((n + mp.mpf(1) / 2) * angle) / mp.sin(angle / 2)


@made
def _hermite_e(mp: Any, n: Any, x: Any) -> Any:
    return mp.power(2, -mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2))


@made
def _laguerre(mp: Any, n: Any, x: Any) -> Any:
    return mp.laguerre(n, 0, x)


@made
def _legendre_ferrers(mp: Any, n: Any, m: Any, x: Any) -> Any:
    return mp.legenp(n, m, x, type=2)


@made
def _legendre_q_ferrers(mp: Any, n: Any, x: Any) -> Any:
    return mp.legenq(n, 0, x, type=2)


@made
def _legendre_three(mp: Any, n: Any, m: Any, x: Any) -> Any:
    return mp.legenp(n, m, x, type=3)


@made
def _ferrers_q(mp: Any, n: Any, m: Any, x: Any) -> Any:
    return mp.legenq(n, m, x, type=2)


@made
def _legendre_bold(mp: Any, n: Any, m: Any, x: Any) -> Any:
    turned = mp.exp(-1j * mp.pi * m) * mp.legenq(n, m, x, type=3)
    return turned * mp.rgamma(n + m + 1)  # [DLMF 14.3.10]


@made
def _stirling_first(mp: Any, n: Any, k: Any) -> Any:
    return abs(mp.stirling1(int(n), int(k)))


@made
def _stirling_signed(mp: Any, n: Any, k: Any) -> Any:
    return mp.stirling1(int(n), int(k))


@made
def _stirling_second(mp: Any, n: Any, k: Any) -> Any:
    return mp.stirling2(int(n), int(k))


JACOBI = ("sn", "cn", "dn", "ns", "nc", "nd", "sc", "sd", "cs", "cd", "ds", "dc")
THETA = ("one", "two", "three", "four")
FUNCTIONS: Mapping[str, Special] = {
    "gammafn": quick("gamma"), "loggamma": quick("loggamma"), "digamma": quick("digamma"),
    "polygamma": by("polygamma"), "betafn": by("beta"), "pochhammer": by("rf"),
    "lowergamma": _lower, "uppergamma": by("gammainc"), "regularlower": _regular_lower,
    "regularupper": _regular_upper, "entiregamma": _tricomi_entire,
    "scaledgamma": _scaled_gamma, "barnes": by("barnesg"),
    "stirlingcycle": _stirling_first, "stirlingone": _stirling_signed,
    "stirlingtwo": _stirling_second, "bernoulli": by("bernoulli"), "euler": by("eulernum"),
    "bernpoly": by("bernpoly"), "eulerpoly": by("eulerpoly"),
    "exppoly": _exponential_polynomial,
    "zetafn": _zeta, "hurwitz": _zeta, "lerch": by("lerchphi"), "polylog": by("polylog"),
    "eta": by("altzeta"),
    "dawson": _dawson, "faddeeva": _faddeeva_in_floats, "mills": _mills, "fresnel": _fresnel,
    "fresnelc": in_floats(lambda z: _integral(z, 0), by("fresnelc")),
    "fresnels": in_floats(lambda z: _integral(z, 1), by("fresnels")),
    "fresnelf": in_floats(lambda z: _auxiliary(z, 0), _fresnel_f),
    "fresnelg": in_floats(lambda z: _auxiliary(z, 1), _fresnel_g), "repeatederfc": _repeated_erfc,
    "expint": by("expint"), "expintone": by("e1"), "expintentire": _e1_entire,
    "besselj": by("besselj"), "bessely": by("bessely"), "besseli": by("besseli"),
    "besselk": by("besselk"), "hankelone": by("hankel1"), "hankeltwo": by("hankel2"),
    "sphericalj": _spherical("besselj"), "sphericaly": _spherical("bessely"),
    "sphericali": _spherical("besseli"), "sphericalk": _spherical("besselk"),
    "sphericalhone": _spherical("hankel1"), "sphericalhtwo": _spherical("hankel2"),
    "struveh": by("struveh"), "struvel": by("struvel"),
    "kelvinber": by("ber"), "kelvinbei": by("bei"), "kelvinker": by("ker"),
    "kelvinkei": by("kei"), "angerj": by("angerj"), "webere": by("webere"),
    "airyai": by("airyai"), "airybi": by("airybi"),
    "kummerm": by("hyp1f1"), "kummeru": by("hyperu"), "kummerbold": _regular_kummer,
    "whittakerm": by("whitm"), "whittakerw": by("whitw"), "paraboliccylinder": by("pcfu"),
    "paraboliccylinderv": by("pcfv"), "paraboliccylinderd": by("pcfd"),
    "hyperzeroone": _hypergeometric(0), "hyperonezero": _hypergeometric(1),
    "hypertwozero": _hypergeometric(2), "hyperonetwo": _hypergeometric(1),
    "hypertwotwo": _hypergeometric(2), "hyperthreetwo": _hypergeometric(3),
    "gauss": by("hyp2f1"), "gaussbold": _regular_gauss,
    "lambert": _lambert, "lambertprincipal": by("lambertw"), "logbase": _log_base,
    "legendrep": by("legendre"), "ferrersp": _legendre_ferrers, "ferrersq": _legendre_q_ferrers,
    "chebyshevt": by("chebyt"), "chebyshevu": by("chebyu"), "chebyshevv": _chebyshev_v,
    "chebyshevw": _chebyshev_w, "hermite": by("hermite"), "hermitee": _hermite_e,
    "laguerre": _laguerre, "laguerrea": by("laguerre"), "gegenbauer": by("gegenbauer"),
    "jacobip": by("jacobi"),
    "ellipk": _elliptic_k, "ellipe": _elliptic_e, "ellipf": _elliptic_f,
    "ellipei": _elliptic_e_incomplete,
    "ellippi": _elliptic_pi, "ellippii": _elliptic_pi_incomplete,
    "carlsonrf": by("elliprf"), "carlsonrc": by("elliprc"), "carlsonrj": by("elliprj"),
    "carlsonrd": by("elliprd"), "carlsonrg": by("elliprg"),
    "legendrethree": _legendre_three, "ferrersqq": _ferrers_q, "legendreqbold": _legendre_bold,
    **{f"jacobi{name}": _jacobi(name) for name in JACOBI}, "jacobiam": _amplitude,
    **{f"theta{word}": _theta(n) for n, word in enumerate(THETA, 1)},
    "qpochhammer": by("qp"), "qgamma": by("qgamma", 1, 0),
}  # fmt: skip
FUNCTIONS = {
    **FUNCTIONS,
    **{f"{name}P": slope(of) for name, of in FUNCTIONS.items()},
    # no derivatives: a prime says of these that the modulus is the complementary one
    "ellipkP": _complementary_k, "ellipeP": _complementary_e,
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
    "\\operatorname{si}": _sine_integral, "\\operatorname{Si}": by("si"),
    "\\operatorname{Ci}": by("ci"),
    "\\operatorname{Shi}": by("shi"), "\\operatorname{Chi}": by("chi"),
    "\\operatorname{Ai}": by("airyai"), "\\operatorname{Bi}": by("airybi"),
    "\\operatorname{Gi}": by("scorergi"), "\\operatorname{Hi}": by("scorerhi"),
    "\\operatorname{gd}": _gudermann, "\\operatorname{gd}^{-1}": _gudermann_inverse,
    "\\operatorname{sinc}": by("sinc"),
}  # fmt: skip
