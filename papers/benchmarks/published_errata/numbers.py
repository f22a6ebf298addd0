"""Numbers for the symbols of each item, by another road than its formula takes.

A function of a stream gives what both forms name; the benchmark binds to each form only what that
form names. Names are the identifiers of `items.toml`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from checked_equations import Nodes

Stream = np.random.Generator
Numbers = Callable[[Stream], dict[str, Any]]
NUMBERS: dict[str, Numbers] = {}


def of(*names: str) -> Callable[[Numbers], Numbers]:
    """Say of which items these are the numbers."""

    def keep(numbers: Numbers) -> Numbers:
        NUMBERS.update(dict.fromkeys(names, numbers))
        return numbers

    return keep


def positive(r: Stream, *shape: int) -> Any:
    return r.uniform(0.5, 2.0, shape or None)


def whole(r: Stream, low: int, high: int) -> int:
    return int(r.integers(low, high + 1))


def rule(low: float, high: float, count: int = 40) -> Nodes:
    x, w = np.polynomial.legendre.leggauss(count)
    return Nodes(low + (high - low) * (x + 1) / 2, w * (high - low) / 2)


def chances(r: Stream, *shape: int) -> np.ndarray:
    p = r.uniform(0.2, 1.0, shape)
    return p / p.sum()


# Probability


@of("bayes-index")
def _bayes(r):
    pi, shift = r.uniform(0.2, 0.8), r.uniform(0.2, 0.9)
    f, g = (lambda w: 1 + shift * (2 * w - 1)), (lambda w: 6 * w * (1 - w))
    old, new = r.uniform(0.1, 0.9, 2)
    joint = pi * f(new), (1 - pi) * g(new)
    return {
        r"\pi_{t+1}": joint[0] / sum(joint), r"\pi_t": pi, "w_t": old, "w_{t+1}": new,
        "l_t": lambda w: f(w) / g(w),
    }  # fmt: skip


@of("kl-mixture")
def _kl(r):
    a, b = r.uniform(0.2, 0.9, 2)
    g, h = (lambda w: 1 + a * (2 * w - 1)), (lambda w: 1 - b * (2 * w - 1))
    fine = rule(0, 1, 90)
    value = sum(
        p * h(x) * (math.log(h(x)) - math.log(g(x)))
        for x, p in zip(fine.points, fine.weights, strict=True)
    )
    return {"K_g": value, "g": g, "h": h, "w": rule(0, 1)}


@of("first-reading")
def _readings(r):
    z, m = positive(r, 7), whole(r, 4, 6)

    def f(x):
        return np.exp(-((x - 1) ** 2))

    return {"p_{0m}": np.exp(-np.sum((z[1:m] - 1) ** 2)), "m": m, "f_0": f, "z": z}


@of("marginal", "marginal-free")
def _marginal(r):
    f = chances(r, 5, 5)[:, :4]
    return {r"\nu": f.T @ np.ones(5), "f": f, "I": 5, "J": 4, "j": whole(r, 1, 4)}


@of("independent", "independent-given-y", "independent-given-x")
def _independent(r):
    f, g = chances(r, 5), chances(r, 6)
    i, j = r.permutation(5)[:2] + 1
    return {"F": np.outer(f, g), "f": f, "g": g, "i": int(i), "j": int(j), "I": 5, "J": 6}


@of("independent-given-y")
def _given_y(r):
    known = _independent(r)
    column = known["F"][:, known["j"] - 1]
    return {**known, "c": (column / column.sum())[known["i"] - 1]}


@of("independent-given-x")
def _given_x(r):
    known = _independent(r)
    row = known["F"][known["i"] - 1]
    return {**known, "c": (row / row.sum())[known["j"] - 1]}


@of("conditional")
def _conditional(r):
    rho = chances(r, 4, 6)
    i, j = whole(r, 1, 4), whole(r, 1, 6)
    row = rho[i - 1]
    return {"c": (row / np.cumsum(row)[-1])[j - 1], r"\rho": rho, "i": i, "j": j, "I": 4, "J": 6}


@of("binomial")
def _binomial(r):
    n, theta = 7, r.uniform(0.2, 0.8)
    i = whole(r, 2, 5)
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, [1 - theta, theta])
    return {"p": lambda k: law[int(k)], "i": i, "n": n, r"\theta": theta}


@of("poisson")
def _poisson(r):
    y, mu = r.integers(2, 6, 5), positive(r, 5)
    logs = [
        math.log(np.prod([m / k for k in range(1, n + 1)])) - m for n, m in zip(y, mu, strict=True)
    ]
    return {r"\ell": sum(logs), "y": y, r"\mu": mu, "n": 5}


@of("sample-mean")
def _mean(r):
    x = r.normal(size=6)
    return {r"\bar X": x.mean(), "X": x, "n": 6}


@of("prior-variance")
def _prior(r):
    h, u = positive(r), positive(r)
    L = np.diag([h, u])
    return {r"\Sigma_0": L @ L.T, r"\sigma_{h,0}": h, r"\sigma_{u,0}": u}


# Matrices


@of("covariance", "svd-score", "covariance-svd", "row-means")
def _svd(r):
    m, n = 4, 6
    x = r.normal(size=(m, n))
    B = x - x.mean(axis=1, keepdims=True)
    U, s, Vt = np.linalg.svd(x)
    S = np.zeros((m, n))
    S[:m, :m] = np.diag(s)
    i, j = whole(r, 1, 4), whole(r, 1, 4)
    return {
        "T": x @ Vt.T, "B": x, "U": U, r"\Sigma": S, "V": Vt.T, "m": m, "n": n, "x": x,
        "C": sum(np.outer(c, c) for c in x.T) / n, r"\bar X": x @ np.ones(n) / n, "i": i, "j": j,
        "mean": B,
    }  # fmt: skip


@of("svd-shape")
def _shape(r):
    U = np.linalg.svd(r.normal(size=(5, 3)))[0]
    return {"U": U, r"I_{p \times p}": np.eye(3), r"I_{m \times m}": np.eye(5)}


@of("dmd-inverse", "dmd-factor", "dmd-time")
def _dmd(r):
    X, Y = r.normal(size=(2, 6, 4))
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    A = Y @ np.linalg.pinv(X)
    x = U @ r.normal(size=4)
    small = U.T @ A @ U
    return {
        r"\tilde U": U, r"\hat A": A, "Y": Y, r"\tilde V": Vt.T, r"\tilde \Sigma": np.diag(s),
        "U": U, r"\tilde A": U.T @ A, "X_t": x, r"\tilde X_t": U.T @ x,
        r"\tilde X_{t+1}": small @ (U.T @ x),
    }  # fmt: skip


@of("dmd-time")
def _dmd_time(r):
    known = _dmd(r)
    return {**known, r"\tilde A": known["U"].T @ known[r"\hat A"] @ known["U"]}


_SIZES = itertools.cycle((3, 4, 5))  # an odd number hides what an even one shows


@of("circulant")
def _circulant(r):
    N, lam = next(_SIZES), r.uniform(0.6, 1.7)
    P = np.roll(np.eye(N), 1, axis=1)
    return {"P": P, r"\lambda": lam, "I": np.eye(N), "N": N}


@of("leontief")
def _leontief(r):
    L = np.linalg.inv(np.eye(5) - chances(r, 5, 5))
    return {r"\mu": np.ones(5) @ L, "l": L, "n": 5, "j": whole(r, 1, 5)}


@of("transport-rows", "transport-columns")
def _transport(r):
    mu = r.uniform(1, 2, (4, 6))
    return {
        r"\mu": mu, "n": mu @ np.ones(6), "m": np.ones(4) @ mu, "M": 4, "N": 6,
        "x": whole(r, 1, 4), "y": whole(r, 1, 4),
    }  # fmt: skip


@of("transport-increment")
def _increment(r):
    beta, phi, p, i = r.normal(size=7), r.normal(size=7), 7, whole(r, 2, 4)
    steps = [beta[k] for k in range(i, p)]
    return {
        r"\Delta": np.eye(7)[i - 1] * (math.fsum(steps) + phi[p - 1] - phi[i - 1]), "i": i, "p": p,
        r"\beta": beta, r"\phi": phi,
    }  # fmt: skip


@of("blocks")
def _blocks(r):
    u = r.normal(size=(2, 2))
    v = np.linalg.inv(u)
    return {"v": v.ravel(), "u": u.ravel(), "I": np.eye(2)}


@of("coordinates")
def _coordinates(r):
    Q, y = r.normal(size=(3, 3)), r.normal(size=3)
    return {"Q": Q, "y_0": Q @ y, "y^*_0": y}


@of("lifetime-value")
def _lifetime(r):
    P = r.uniform(0.2, 1, (5, 5))
    P, h, beta, T = P / P.sum(axis=1, keepdims=True), positive(r, 5), r.uniform(0.6, 0.9), 6
    v = h
    for _ in range(T):
        v = h + beta * P @ v
    return {"v": v, "x": whole(r, 2, 5), "h": h, "P": P, r"\beta": beta, "T": T}


@of("digits")
def _digits(r):
    A = np.array([[35, -5, -5], [-5, 25, -10], [-5, -5, 15]])
    return {"p_0": np.linalg.solve(A, [100, 75, 55])[0]}


@of("slack")
def _slack(r):
    a, x, i = positive(r, 3, 4), positive(r, 4), whole(r, 1, 3)
    s = positive(r, 3)
    return {"a": a, "x": x, "s": s, "b": a @ x + s, "n": 4, "i": i}


@of("exchange")
def _exchange(r):
    # marginal utilities of two consumers, each at what it consumes, sum to what is endowed
    Pi, b, e = r.normal(size=(3, 3)), r.normal(size=(2, 3)), positive(r, 2, 3)
    mu = positive(r, 2)
    G = Pi.T @ Pi
    price = np.linalg.solve(
        np.linalg.inv(G) * mu.sum(), np.linalg.solve(G, Pi.T @ b.sum(0)) - e.sum(0)
    )
    return {
        r"\mu_1": mu[0], r"\mu_2": mu[1], "p": price, r"\Pi": Pi, "b_1": b[0], "b_2": b[1],
        "e_1": e[0], "e_2": e[1],
    }  # fmt: skip


@of("first-order")
def _first_order(r):
    Pi, H, b, h, mu = (
        r.normal(size=(3, 3)),
        r.normal(size=(3, 3)),
        *r.normal(size=(2, 3)),
        positive(r),
    )
    H = H + H.T + 6 * np.eye(3)
    root = np.linalg.solve(Pi.T @ Pi + mu * H, Pi.T @ b - mu * h)
    return {r"\mu": mu, r"\Pi": Pi, "c": root, "b": b, "h": h, "H": H}


# Calculus and functions


@of("cos-squared", "sin-squared")
def _waves(r):
    return {r"\omega": rule(-np.pi, np.pi)}


@of("surplus")
def _surplus(r):
    d, s = positive(r, 2) + np.array([2, 0.1]), positive(r, 2)
    q = r.uniform(0.4, 0.9)
    welfare = (d[0] - s[0]) * q - (d[1] + s[1]) * q**2 / 2
    return {
        "W": welfare, "q": q, "i_d": lambda x: d[0] - d[1] * x, "i_s": lambda x: s[0] + s[1] * x,
        "x": rule(0, q),
    }  # fmt: skip


@of("solow-slope")
def _solow(r):
    a, s, A, d, k = (
        r.uniform(0.2, 0.45),
        r.uniform(0.2, 0.5),
        positive(r),
        r.uniform(0.05, 0.3),
        positive(r) + 1,
    )

    def slope(x):
        return np.imag(s * A * (x + 1e-20j) ** a + (1 - d) * (x + 1e-20j)) / 1e-20

    return {"g'": slope, "k": k, r"\alpha": a, "s": s, "A": A, r"\delta": d}


@of("newton")
def _newton(r):
    a, x = positive(r) + 2, positive(r)
    # of f(x) = x^2 - a the step is the mean of x and a / x; g(x) = f(x) + x has the fixed point
    return {
        "x_{t+1}": (x + a / x) / 2, "x_t": x, "f": lambda z: z**2 - a, "f'": lambda z: 2 * z,
        "g": lambda z: z**2 - a + z, "g'": lambda z: 2 * z + 1,
    }  # fmt: skip


@of("riccati-root")
def _riccati(r):
    s, a, b = r.uniform(0.2, 0.9), positive(r), r.uniform(0.5, 0.95)
    roots = np.roots([-s * a**2, -(b - 1 + s * a**2), 1.0])
    return {"P": roots.min(), r"\beta": b, r"\sigma": s, r"\alpha": a}


# Economics in time


@of("euler", "price")
def _growth(r):
    beta, delta, alpha = r.uniform(0.8, 0.95), r.uniform(0.05, 0.3), r.uniform(0.2, 0.5)
    gamma, K, C, t = 1.7, positive(r) + 1, positive(r), whole(r, 2, 5)
    gross = 1 - delta + alpha * K ** (alpha - 1)
    before = (beta * gross) ** (-1 / gamma) * C  # consumption grows by that factor
    return {
        "u'": lambda c: c**-gamma, "f'": lambda k: alpha * k ** (alpha - 1), r"\beta": beta,
        r"\delta": delta, "C_t": C, "K_t": K, "C_{t-1}": before, "t": t,
        "q_t^0": math.prod([beta] * t) / C**gamma,
    }  # fmt: skip


@of("budget")
def _budget(r):
    c, k, k1, w, eta, d = *positive(r, 5), r.uniform(0.1, 0.4)
    spent, earned = c + k1 - k + d * k, w + eta * k
    return {
        "s_t": spent - earned,
        "c_t": c,
        "k_{t+1}": k1,
        "k_t": k,
        r"\delta": d,
        "w_t": w,
        r"\eta_t": eta,
    }


@of("search")
def _search(r):
    n, beta, c = 5, r.uniform(0.5, 0.9), r.uniform(0.1, 0.4)
    P = r.uniform(0.2, 1, (n, n))
    P, employed = P / P.sum(axis=1, keepdims=True), r.uniform(-3, 2, n)
    value = np.zeros(n)
    for _ in range(600):
        value = np.maximum(employed, math.log(c) + beta * P @ value)
    w = int(np.argmin(employed)) + 1
    return {
        "v_u": lambda k: value[int(k) - 1], "v_e": lambda k: employed[int(k) - 1], "w": w, "n": n,
        "c": c, r"\beta": beta, "P": lambda i, j: P[int(i) - 1, int(j) - 1],
        "u": lambda x: np.log(x),
    }  # fmt: skip


@of("search-discount")
def _discount(r):
    n, beta, c = 5, r.uniform(0.5, 0.9), positive(r)
    q, employed, h = chances(r, n), positive(r, n), 0.0
    for _ in range(600):
        h = math.sqrt(c) + beta * np.maximum(employed, h) @ q
    return {
        "h": h, "u": lambda x: np.sqrt(x), "c": c, r"\beta": beta, "n": n,
        "v_u": lambda k: max(employed[int(k) - 1], h), "v_e": lambda k: employed[int(k) - 1],
        "q": lambda k: q[int(k) - 1],
    }  # fmt: skip


@of("bond")
def _bond(r):
    A, B, x = r.normal(size=3)
    return {"p": math.exp(A) * math.exp(B * x), "A_n": A, "B_n": B, "x": x}


@of("entropy")
def _entropy(r):
    W, x = r.normal(size=(3, 2)), r.normal(size=2)
    w = W @ x
    # E[m log m] of m = exp(-w'w/2 - w'e) is the mean of log m where e has the mean -w
    tilted = sum(-(one**2) / 2 + one * one for one in w)
    return {"H": tilted, r"\bar w": w, r"\xi": x @ (W.T @ W) @ x}


@of("second-order")
def _second_order(r):
    y, u, a = list(r.normal(size=2)), r.normal(size=8), r.normal(size=3)
    for t in range(2, 8):
        y.append(a[0] + a[1] * y[t - 1] + a[2] * y[t - 2] + u[t])
    return {
        "y": y,
        "t": whole(r, 3, 8),
        r"\alpha_0": a[0],
        r"\alpha_1": a[1],
        r"\alpha_2": a[2],
        "u": u,
    }


@of("planner-price")
def _planner(r):
    delta, t, q, mu, i = (
        r.uniform(0.7, 0.95),
        whole(r, 2, 5),
        positive(r),
        positive(r, 4),
        whole(r, 2, 4),
    )
    c = positive(r)
    marginal = np.imag(np.log(c + 1e-20j)) / 1e-20
    return {
        "p": math.prod([delta] * t) * q * marginal / mu[i - 1],
        r"\delta": delta,
        "t": t,
        "q": q,
        r"\mu": mu,
        "i": i,
        "c": c,
    }


@of("schooling")
def _schooling(r):
    beta, delta, k, n, w = *r.uniform(0.6, 0.95, 2), whole(r, 2, 4), 5, positive(r, 10)
    value = 0.0
    for j in range(n, 0, -1):
        value = beta * delta * (w[k + j - 1] + value)
    return {
        "v": math.prod([beta] * k) * value,
        r"\beta": beta,
        r"\delta": delta,
        "k": k,
        "n": n,
        "w": w,
    }


@of("one-period-rate")
def _rate(r):
    beta, p = r.uniform(0.7, 0.95), positive(r)
    return {"R": 1 / beta / p, r"\beta": beta, "p": p}


@of("cumulated")
def _cumulated(r):
    pi, t = r.normal(size=8), whole(r, 3, 8)
    return {r"\Pi": np.cumsum(pi), r"\pi": pi, "t": t}


def _policy(theta, mu):
    return 1.3 * theta - 0.4 * theta**2 - 0.7 * mu**2


@of("ramsey-value")
def _ramsey(r):
    (theta, mu), beta, after = r.normal(size=2), r.uniform(0.7, 0.95), r.normal()
    value = np.polyval([after, 1.3 * theta - 0.4 * theta**2 - 0.7 * mu**2], beta)
    return {
        "v_t": value,
        "s": _policy,
        r"\theta_t": theta,
        r"\mu_t": mu,
        r"\beta": beta,
        "v_{t+1}": after,
    }


@of("constant-growth")
def _constant(r):
    mu, beta, value = r.normal(), r.uniform(0.3, 0.7), 0.0
    for _ in range(400):
        value = _policy(mu, mu) + beta * value
    return {"V": value, "s": _policy, r"\bar \mu": mu, r"\beta": beta}


@of("ramsey-sum", "abreu-value")
def _plan(r):
    T, beta, J = 5, r.uniform(0.7, 0.95), r.normal()
    theta, mu = r.normal(size=(2, T))
    value, payoff = 0.0, 0.0
    for t in reversed(range(T)):
        value = beta * (_policy(theta[t], mu[t]) + value)
        payoff = beta * (_policy(theta[t], mu[t]) + (payoff if t < T - 1 else J))
    return {
        "v": value, "v^A": payoff, "r": -_policy(theta, mu), "s": _policy, "T": T, r"\beta": beta,
        r"\theta": theta, r"\mu": mu, "J": J,
    }  # fmt: skip


@of("utility")
def _utility(r):
    u, alpha, theta = r.normal(size=3), positive(r), r.normal()
    return {
        "U": np.polyval([-u[2] / 2, u[1], u[0]], -alpha * theta), r"\alpha": alpha,
        r"\theta": theta,
        **{f"u_{k}": u[k] for k in range(3)},
    }  # fmt: skip


@of("discount-factor")
def _asset(r):
    m, R = positive(r, 4), positive(r, 4)
    R = R / np.mean(m * R)  # it is priced at one
    return {
        r"\bar m": m.mean(), r"\bar R": R.mean(), r"\rho": np.corrcoef(m, R)[0, 1],
        r"\sigma_m": m.std(), r"\sigma_R": R.std(),
    }  # fmt: skip


@of("stackelberg")
def _stackelberg(r):
    beta, c, b, a1, a3 = r.uniform(0.7, 0.95), positive(r, 3), *positive(r, 3)
    a2 = (c[0] - c[2] * b + a1 + beta * a3) / (1 + beta + c[1])
    return {
        "a_1": a1, "a_2": a2, "a_3": a3, r"\beta": beta, "b_2": b,
        **{f"c_{k}": c[k] for k in range(3)},
    }  # fmt: skip


@of("two-taxes")
def _taxes(r):
    c, leisure, beta, T, t = *positive(r, 2, 7), r.uniform(0.7, 0.95), 7, whole(r, 2, 4)

    def u(x, y):
        return np.log(x) + 0.4 * np.sqrt(y)

    value = 0.0
    for k in reversed(range(t - 1, T)):
        value = u(c[k], leisure[k]) + beta * value
    return {"W": value, r"\beta": beta, "t": t, "T": T, "u": u, "c": c, "l": leisure}


@of("bond-price")
def _bond_price(r):
    A, k, alpha, b, G, D = positive(r, 6)
    return {
        "p": lambda k, b: A / b * k**alpha * G + D,
        "A": A,
        "k": k,
        r"\alpha": alpha,
        "b": b,
        "G": G,
        "D": D,
    }


@of("tuition", "tax-smoothing", "optimal-plan")
def _feasible(r):
    phi, R, T, one = r.uniform(0.6, 1.6), r.uniform(1.05, 1.3), whole(r, 3, 5), positive(r)
    growth, discount = 0.0, 0.0
    for _ in range(T + 1):
        growth, discount = 1 + phi / R * growth, 1 + discount / R
    return {r"\xi_1": one, r"\xi_0": one * growth / discount, r"\phi": phi, "R": R, "T": T, "S": T}


@of("open-market")
def _market(r):
    m, debt, price, R = positive(r, 2), positive(r), positive(r), r.uniform(1.05, 1.6)
    # money and bonds of the same worth, the bonds at their price
    return {
        "B": debt + (m[0] - m[1]) / price / R, r"\check B": debt, r"\tilde R": R, "p_0": price,
        r"\check m_0": m[0], "m_0": m[1],
    }  # fmt: skip


@of("price-level")
def _price_level(r):
    gamma, lam, T, m = positive(r), r.uniform(0.5, 0.9), 6, positive(r, 8)
    price = 0.0
    for j in reversed(range(T)):
        price = m[j] / gamma + lam * price
    return {"p": [price, 0.3], r"\gamma": gamma, r"\lambda": lam, "T": T, "m": m}


@of("gordon")
def _gordon(r):
    delta, g, d, t = r.uniform(0.7, 0.85), r.uniform(1.02, 1.1), positive(r), whole(r, 2, 3)
    return {"p": d * g**t / (1 - delta * g), r"\delta": delta, "g": g, "d": d, "t": t, "T": 6}


@of("cagan")
def _cagan(r):
    alpha = positive(r)
    # what weighs the next price level in m - p = -alpha (p' - p)
    return {r"\delta": 1 - 1 / (1 + alpha), r"\alpha": alpha}


@of("college-wages", "college-factor")
def _college(r):
    R, gamma, w, T = r.uniform(1.05, 1.2), r.uniform(1.02, 1.2), positive(r) + 1, 9
    R = R + 0.1 * (abs(R - gamma) < 0.02)
    factor = 0.0
    for t in range(T, -1, -1):
        factor = (t >= 4) + gamma / R * factor
    return {"c_0": w * factor, "A": factor, "R": R, r"\gamma": gamma, "w": w, "T": T}


@of("discounted-income", "annuity", "human-wealth")
def _income(r):
    R, T, a, y = r.uniform(1.05, 1.3), 5, positive(r), positive(r, 6)
    wealth, worth = 0.0, 0.0
    for t in range(T, -1, -1):
        wealth, worth = y[t] + wealth / R, 1 + worth / R
    return {"c_0": (a + wealth) / worth, "a_0": a, "h_0": wealth, "R": R, "T": T, "y": y}
