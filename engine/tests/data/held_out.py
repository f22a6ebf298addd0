"""Statements as chapters on samplers, decisions, networks and filters print them.

Each comes as it is true and as it is false, with numbers for both. They were written down after
the engine was done, and nothing in it was fitted to them.
"""

# ruff: noqa: E501 - a formula on a line

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr, softmax

from checked_equations import Distribution, Nodes

__all__ = ["STATEMENTS", "Statement"]

rng = np.random.default_rng(20)


class Statement(NamedTuple):
    """A field, LaTeX that is true and LaTeX that is false, numbers, options of the check."""

    field: str
    true: str
    false: str
    bindings: dict[str, Any]
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


def normal_nodes(mean, sd, n=24):
    points, weights = np.polynomial.hermite_e.hermegauss(n)
    return Nodes(mean + sd * points, weights / weights.sum())


def line(low, high, n=80):
    points, weights = np.polynomial.legendre.leggauss(n)
    return Nodes(low + (points + 1) * (high - low) / 2, weights * (high - low) / 2)


def normal_pdf(x, mean, variance):
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2 * np.pi * variance)


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


STATEMENTS: list[Statement] = []


def add(field, true, false, bindings, **options):
    STATEMENTS.append(Statement(field, true, false, bindings, options))


# -- Markov chains, Monte Carlo --------------------------------------------------------------

target = np.array([0.2, 0.5, 0.3])
propose = np.array([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [0.5, 0.3, 0.2]])
accept = np.minimum(1, (target[None, :] * propose.T) / (target[:, None] * propose))
chain = propose * accept
chain += np.diag(1 - chain.sum(1))
general = np.array([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [0.7, 0.1, 0.2]])
power = np.linalg.matrix_power(general, 400)[0]

add(
    "MCMC",
    r"\pi_i P_{ij} = \pi_j P_{ji} \quad \text{for all } i, j",
    r"\pi_i P_{ij} = \pi_i P_{ji} \quad \text{for all } i, j",
    {r"\pi": target, "P": chain, "i": 1, "j": 3},
)
add(
    "MCMC",
    r"\sum_{i=1}^3 \pi_i P_{ij} = \pi_j",
    r"\sum_{i=1}^3 \pi_i P_{ji} = \pi_j",
    {r"\pi": power, "P": general, "j": 3},
)
add(
    "MCMC",
    r"\alpha(x, x') = \min\left(1, \frac{\tilde p(x') q(x \mid x')}{\tilde p(x) q(x' \mid x)}\right)",
    r"\alpha(x, x') = \min\left(1, \frac{\tilde p(x') q(x' \mid x)}{\tilde p(x) q(x \mid x')}\right)",
    {
        r"\alpha": lambda x, y: min(
            1.0, np.exp(-(y**4) + x**4) * normal_pdf(x, 0.7 * y, 0.8) / normal_pdf(y, 0.7 * x, 0.8)
        ),
        r"\tilde p": lambda x: 3 * np.exp(-(x**4)),
        "q": lambda a, b: normal_pdf(a, 0.7 * b, 0.8),
        "x": 0.4,
        "x'": 0.9,
    },
    spare={"2 for 1": "the ratio is below one here"},
)
add(
    "MCMC",
    r"H(q, p) = U(q) + \frac{1}{2} p^\top M^{-1} p",
    r"H(q, p) = U(q) + \frac{1}{2} p^\top M p",
    {
        "H": lambda q, p: float(
            q @ q + np.sin(q[0]) + 0.5 * p @ np.linalg.solve(np.array([[2.0, 0.3], [0.3, 1.4]]), p)
        ),
        "U": lambda q: float(q @ q + np.sin(q[0])),
        "M": np.array([[2.0, 0.3], [0.3, 1.4]]),
        "q": np.array([0.3, 1.2]),
        "p": np.array([-0.7, 0.4]),
    },
)
add(
    "MCMC",
    r"\nabla_x \log \tilde p(x) = \nabla_x \log p(x), \quad p(x) = \tilde p(x) / Z",
    r"\nabla_x \tilde p(x) = \nabla_x p(x), \quad p(x) = \tilde p(x) / Z",
    {
        "p": lambda x: np.exp(-(x**4)) / 1.7,
        r"\tilde p": lambda x: np.exp(-(x**4)),
        "Z": 1.7,
        "x": 0.6,
    },
)
add(
    "MCMC",
    r"\hat\mu = \frac{\sum_{i=1}^N w^{(i)} f(x^{(i)})}{\sum_{i=1}^N w^{(i)}}",
    r"\hat\mu = \frac{1}{N} \sum_{i=1}^N w^{(i)} f(x^{(i)})",
    {
        r"\hat\mu": (np.array([0.3, 1.2, 0.7, 2.0]) @ np.sin([0.1, 0.9, 1.7, 2.2])) / 4.2,
        "w": np.array([0.3, 1.2, 0.7, 2.0]),
        "x": np.array([0.1, 0.9, 1.7, 2.2]),
        "f": np.sin,
        "N": 4,
    },
)

# -- Markov decision processes, policies ------------------------------------------------------

STATES, MOVES = [1, 2, 3], [1, 2]
moves = rng.dirichlet(np.ones(3), size=(3, 2))  # P(s' | s, a)
policy = rng.dirichlet(np.ones(2), size=3)
rewards = rng.normal(size=(3, 2))
gamma = 0.8
under = np.einsum("sa,sat->st", policy, moves)
value = np.linalg.solve(np.eye(3) - gamma * under, (policy * rewards).sum(1))
action_value = rewards + gamma * moves @ value
best = np.zeros(3)
for _ in range(4000):
    best = np.max(rewards + gamma * moves @ best, axis=1)
MDP = {
    r"p(s' \mid s, a)": Distribution(lambda s, a: Nodes(STATES, moves[s - 1, a - 1]),
                                     lambda t, s, a: moves[s - 1, a - 1, t - 1]),
    r"\pi(a \mid s)": Distribution(lambda s: Nodes(MOVES, policy[s - 1]),
                                   lambda a, s: policy[s - 1, a - 1]),
    r"\gamma": gamma, "s": 2, "r": lambda s, a: rewards[s - 1, a - 1],
    "V": lambda s: value[s - 1], "Q": lambda s, a: action_value[s - 1, a - 1],
}  # fmt: skip


def of(names, table=MDP):
    return {name: table[name] for name in names}


both = [r"p(s' \mid s, a)", r"\pi(a \mid s)", r"\gamma", "s", "r", "V"]
add(
    "MDP",
    r"V(s) = \mathbb E_{\pi(a \mid s)}\left[ r(s, a) + \gamma \mathbb E_{p(s' \mid s, a)}[V(s')] \right]",
    r"V(s) = \mathbb E_{\pi(a \mid s)}\left[ r(s, a) + \mathbb E_{p(s' \mid s, a)}[V(s')] \right] + 0 \gamma",
    of(both),
)
add(
    "MDP",
    r"Q(s, a) = r(s, a) + \gamma \sum_{s'=1}^3 p(s' \mid s, a) V(s')",
    r"Q(s, a) = r(s, a) + \gamma \sum_{s'=1}^3 p(s' \mid s, a) V(s)",
    of([r"p(s' \mid s, a)", r"\gamma", "s", "r", "V", "Q"]) | {"a": 1},
)
add(
    "MDP",
    r"V(s) = \sum_{a=1}^2 \pi(a \mid s) Q(s, a)",
    r"V(s) = \max_{a=1}^2 \pi(a \mid s) Q(s, a)",
    of([r"\pi(a \mid s)", "s", "V", "Q"]),
)
add(
    "MDP",
    r"V_*(s) = \max_{a \in A} \left( r(s, a) + \gamma \mathbb E_{p(s' \mid s, a)}[V_*(s')] \right)",
    r"V_*(s) = \min_{a \in A} \left( r(s, a) + \gamma \mathbb E_{p(s' \mid s, a)}[V_*(s')] \right)",
    of([r"p(s' \mid s, a)", r"\gamma", "s", "r"]) | {"V_*": lambda s: best[s - 1], "A": {1, 2}},
    rtol=1e-9,
    spare={"swap s and a": "the best action has the number of the state"},
)
add(
    "MDP",
    r"\mathbf v = (I - \gamma P)^{-1} \mathbf r = \sum_{t=0}^\infty \gamma^t P^t \mathbf r",
    r"\mathbf v = (I - \gamma P)^{-1} \mathbf r = \sum_{t=1}^\infty \gamma^t P^t \mathbf r",
    {
        r"\mathbf v": value,
        "P": under,
        r"\mathbf r": (policy * rewards).sum(1),
        "I": np.eye(3),
        r"\gamma": gamma,
    },
)
scores = np.array([0.3, -0.8, 1.1])
SOFT = Distribution(
    lambda t: Nodes([1, 2, 3], softmax(t * scores)), lambda a, t: softmax(t * scores)[a - 1]
)
BANDIT = {r"\pi(a \mid \theta)": SOFT, r"\theta": 0.6, "Q": lambda a: [0.4, 1.9, -0.7][a - 1]}
add(
    "MDP",
    r"\nabla_\theta \mathbb E_{a \sim \pi(a \mid \theta)}[Q(a)]"
    r" = \mathbb E_{a \sim \pi(a \mid \theta)}[\nabla_\theta \log \pi(a \mid \theta) \, Q(a)]",
    r"\nabla_\theta \mathbb E_{a \sim \pi(a \mid \theta)}[Q(a)]"
    r" = \mathbb E_{a \sim \pi(a \mid \theta)}[\nabla_\theta \pi(a \mid \theta) \, Q(a)]",
    BANDIT,
)
add(
    "MDP",
    r"\mathbb E_{\pi(a \mid \theta)}\left[ (Q(a) - b) \nabla_\theta \log \pi(a \mid \theta) \right]"
    r" = \mathbb E_{\pi(a \mid \theta)}\left[ Q(a) \nabla_\theta \log \pi(a \mid \theta) \right]",
    r"\mathbb E_{\pi(a \mid \theta)}\left[ (Q(a) - b) \nabla_\theta \log \pi(a \mid \theta) \right]"
    r" = \mathbb E_{\pi(a \mid \theta)}\left[ Q(a) - b \nabla_\theta \log \pi(a \mid \theta) \right]",
    BANDIT | {"b": 0.7},
    spare={"flip the sign of b": "any baseline", "\\theta for b": "any baseline"},
)
add(
    "MDP",
    r"G_t = r_{t+1} + \gamma G_{t+1}",
    r"G_t = r_t + \gamma G_{t+1}",
    {
        "G": np.array([1.9 + 0.8 * (0.7 + 0.8 * 1.4), 0.7 + 0.8 * 1.4, 1.4]),
        "t": 1,
        "r": np.array([0.3, 1.9, 0.7, 1.4]),
        r"\gamma": 0.8,
    },
)

# -- networks, KL, softmax, calibration -------------------------------------------------------

logits = np.array([0.4, -1.1, 2.0])
probabilities = softmax(logits)
add(
    "BNN",
    r"\frac{\partial p_i(z)}{\partial z_j} = p_i(z) (\delta_{ij} - p_j(z))",
    r"\frac{\partial p_i(z)}{\partial z_j} = p_i(z) (\delta_{ij} - p_i(z))",
    {"p": softmax, "z": logits, "i": 1, "j": 3, r"\delta": np.eye(3)},
    spare={
        r"flip the sign of \delta_{ij}": "no diagonal entry here",
        r"drop the term \delta_{ij}": "no diagonal entry here",
    },
)
add(
    "BNN",
    r"\nabla_z \log \sum_{k=1}^K e^{z_k} = \mathbf p",
    r"\nabla_z \sum_{k=1}^K e^{z_k} = \mathbf p",
    {"z": logits, "K": 3, r"\mathbf p": probabilities},
)
add(
    "BNN",
    r"p(y = 1 \mid x) = \sigma(w^\top x)",
    r"p(y = 0 \mid x) = \sigma(w^\top x)",
    {
        r"p(y \mid x)": lambda y, x: sigmoid((2 * y - 1) * (0.4 * x[0] - 0.9 * x[1])),
        r"\sigma": sigmoid,
        "w": np.array([0.4, -0.9]),
        "x": np.array([1.2, 0.7]),
    },
)
q, p = np.array([0.1, 0.4, 0.3, 0.2]), np.array([0.35, 0.15, 0.3, 0.2])
KL = {
    "q": Distribution(Nodes([1, 2, 3, 4], q), lambda k: q[k - 1], value=q),
    "p": Distribution(Nodes([1, 2, 3, 4], p), lambda k: p[k - 1], value=p),
    r"\operatorname{KL}": lambda a, b: a @ np.log(a / b),
}
add(
    "BNN",
    r"\operatorname{KL}(q \,\|\, p) = \mathbb E_{q(x)}\left[ \log \frac{q(x)}{p(x)} \right]",
    r"\operatorname{KL}(p \,\|\, q) = \mathbb E_{q(x)}\left[ \log \frac{q(x)}{p(x)} \right]",
    KL,
)
add(
    "BNN",
    r"\operatorname{KL}(q \,\|\, p) = \frac{1}{2} \left( \frac{\sigma^2 + (\mu - m)^2}{s^2} - 1"
    r" + \log \frac{s^2}{\sigma^2} \right)",
    r"\operatorname{KL}(q \,\|\, p) = \frac{1}{2} \left( \frac{\sigma^2 + (\mu - m)^2}{s^2} - 1"
    r" + \log \frac{\sigma^2}{s^2} \right)",
    {
        "q": Distribution(normal_nodes(0.4, 0.7), value=(0.4, 0.7)),
        "p": Distribution(normal_nodes(-0.3, 1.6), value=(-0.3, 1.6)),
        r"\operatorname{KL}": lambda a, b: float(
            normal_nodes(*a).weights
            @ np.log(
                normal_pdf(normal_nodes(*a).points, a[0], a[1] ** 2)
                / normal_pdf(normal_nodes(*a).points, b[0], b[1] ** 2)
            )
        ),
        r"\mu": 0.4,
        r"\sigma": 0.7,
        "m": -0.3,
        "s": 1.6,
    },
    rtol=1e-8,
)
bins = [{1, 4}, {2, 3, 7}, {5, 6}]
labels, confidence = (
    np.array([0, 1, 1, 0, 1, 1, 0.0]),
    np.array([0.1, 0.5, 0.6, 0.3, 0.9, 0.8, 0.55]),
)
gap = sum(abs(sum(labels[i - 1] - confidence[i - 1] for i in one)) for one in bins) / 7
inside = r"\frac{1}{|B_m|} \sum_{i \in B_m} y_i - \frac{1}{|B_m|} \sum_{i \in B_m} \hat p_i"
add(
    "BNN",
    rf"\mathrm{{ECE}} = \sum_{{m=1}}^M \frac{{|B_m|}}{{n}} \left| {inside} \right|",
    rf"\mathrm{{ECE}} = \sum_{{m=1}}^M \frac{{n}}{{|B_m|}} \left| {inside} \right|",
    {r"\mathrm{ECE}": gap, "M": 3, "n": 7, "B": bins, "y": labels, r"\hat p": confidence},
)
add(
    "BNN",
    r"\mathbb V[y \mid x = a] = \mathbb E[y^2 \mid x = a] - \mathbb E[y \mid x = a]^2",
    r"\mathbb V[y \mid x = a] = \mathbb E[y^2 \mid x = a] - \mathbb E[y \mid x = a]",
    {
        r"y \mid x": Distribution(lambda x: Nodes([x - 1.0, 2 * x, 3.0], [0.2, 0.5, 0.3])),
        "a": 1.4,
    },
)

# -- integrals --------------------------------------------------------------------------------

add(
    "integrals",
    r"\mathbb E_{q(x)}[x^2] = \int_{\mathbb R} x^2 q(x) \,\mathrm d x",
    r"\mathbb E_{q(x)}[x^2] = \int_{\mathbb R} x^2 \,\mathrm d x",
    {
        "q(x)": Distribution(normal_nodes(0.4, 0.7), lambda x: normal_pdf(x, 0.4, 0.49)),
        "x": line(-6, 7),
    },
)
add(
    "integrals",
    r"\int_0^1 x^{a-1} (1 - x)^{b-1} \textrm{d} x = B(a, b)",
    r"\int_0^1 x^{a} (1 - x)^{b} \textrm{d} x = B(a, b)",
    {
        "x": line(0, 1),
        "a": 3.0,
        "b": 4.0,
        "B": lambda a, b: np.exp(gammaln(a) + gammaln(b) - gammaln(a + b)),
    },
)
add(
    "integrals",
    r"\int_0^\infty e^{-\lambda t} \,\mathrm d t = \frac{1}{\lambda}",
    r"\int_0^\infty e^{-\lambda t} \,\mathrm d t = \lambda",
    {"t": line(0, 25), r"\lambda": 1.7},
    rtol=1e-8,
)
add(
    "integrals",
    r"\int \Phi(a + b z) \mathcal N(z; 0, 1) \,\mathrm d z = \Phi\left( \frac{a}{\sqrt{1 + b^2}} \right)",
    r"\int \Phi(a + b z) \mathcal N(z; 0, 1) \,\mathrm d z = \Phi\left( \frac{a}{1 + b^2} \right)",
    {
        "z": line(-9, 9, 120),
        "a": 0.6,
        "b": 1.3,
        r"\mathcal N": normal_pdf,
        r"\Phi": ndtr,
    },
    spare={"flip the sign of b z": "the normal density is symmetric"},
)

# -- deep GPs and variational bounds ----------------------------------------------------------

post_mean, post_var = 0.9 * 1.3 / (1.3 + 0.4), 1.3 * 0.4 / (1.3 + 0.4)
ELBO = {
    "q(f)": Distribution(normal_nodes(0.2, 0.6), lambda f: normal_pdf(f, 0.2, 0.36)),
    "p(f)": lambda f: normal_pdf(f, 0.0, 1.3),
    r"p(y \mid f)": lambda y, f: normal_pdf(y, f, 0.4),
    "p(y)": lambda y: normal_pdf(y, 0.0, 1.7),
    "y": 0.9,
}
add(
    "ELBO",
    r"\log p(y) \ge \mathbb E_{q(f)}\left[ \log p(y \mid f) + \log p(f) - \log q(f) \right]",
    r"\log p(y) \le \mathbb E_{q(f)}\left[ \log p(y \mid f) + \log p(f) - \log q(f) \right]",
    ELBO,
    tight=ELBO
    | {
        "q(f)": Distribution(
            normal_nodes(post_mean, post_var**0.5), lambda f: normal_pdf(f, post_mean, post_var)
        )
    },
    spare={
        r"the value at the mean for the mean of \log p(y \mid f) + \log p(f) - \log q(f)": "at the"
        " posterior the bound is the same at every f"
    },
)
add(
    "ELBO",
    r"\log p(y) = \mathbb E_{q(f)}[\log p(y \mid f)] - \mathrm{KL}[q(f) \| p(f)]"
    r" + \mathrm{KL}[q(f) \| p(f \mid y)]",
    r"\log p(y) = \mathbb E_{q(f)}[\log p(y \mid f)] - \mathrm{KL}[q(f) \| p(f)]"
    r" - \mathrm{KL}[q(f) \| p(f \mid y)]",
    {
        "q(f)": Distribution(normal_nodes(0.2, 0.6), value=(0.2, 0.36)),
        "p(f)": Distribution(normal_nodes(0.0, 1.3**0.5), value=(0.0, 1.3)),
        r"p(f \mid y)": Distribution(
            normal_nodes(post_mean, post_var**0.5), value=(post_mean, post_var)
        ),
        r"p(y \mid f)": lambda y, f: normal_pdf(y, f, 0.4),
        "p(y)": lambda y: normal_pdf(y, 0.0, 1.7),
        "y": 0.9,
        r"\mathrm{KL}": lambda a, b: (
            0.5 * ((a[1] + (a[0] - b[0]) ** 2) / b[1] - 1 + np.log(b[1] / a[1]))
        ),
    },
)
add(
    "ELBO",
    r"\nabla_\mu \mathbb E_{q(w \mid \mu)}[h(w)] = \mathbb E_{\epsilon}[h'(\mu + \sigma \epsilon)]",
    r"\nabla_\mu \mathbb E_{q(w \mid \mu)}[h(w)] = \mathbb E_{\epsilon}[\sigma h'(\mu + \sigma \epsilon)]",
    {
        r"q(w \mid \mu)": Distribution(lambda m: normal_nodes(m, 0.7)),
        "h": np.exp,
        "h'": np.exp,
        r"\mu": 0.3,
        r"\sigma": 0.7,
        r"\epsilon": normal_nodes(0, 1),
    },
    spare={"flip the sign of \\sigma \\epsilon": "the noise is symmetric"},
)
add(
    "ELBO",
    r"q(f_2) = \int p(f_2 \mid f_1) q(f_1) \,\mathrm d f_1",
    r"q(f_2) = \int p(f_1 \mid f_2) q(f_1) \,\mathrm d f_1",
    {
        "q(f_2)": normal_pdf(0.8, 0.5 * 0.3, 0.25 * 0.49 + 0.2),
        "f_2": 0.8,
        "f_1": line(-8, 8, 120),
        r"p": lambda a, b: normal_pdf(a, 0.5 * b, 0.2),
        "q(f_1)": lambda f: normal_pdf(f, 0.3, 0.49),
    },
)

# -- Laplace's method -------------------------------------------------------------------------

PRECISION = np.array([[2.0, 0.4], [0.4, 1.1]])
THREE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.7]])
mode = np.array([0.3, -0.6])


def log_joint(w):
    gap = w - mode
    return float(1.2 - 0.5 * gap @ PRECISION @ gap)


add(
    "Laplace",
    r"A = -\left. \nabla_w^2 \log p(w) \right|_{w = \hat w}",
    r"A = \left. \nabla_w^2 \log p(w) \right|_{w = \hat w}",
    {"A": PRECISION, "p": lambda w: np.exp(log_joint(w)), r"\hat w": mode + 0.2},
    rtol=1e-6,
)
add(
    "Laplace",
    r"A = -\frac{\partial^2 \log p(w)}{\partial w \, \partial w^\top}",
    r"A^{-1} = -\frac{\partial^2 \log p(w)}{\partial w \, \partial w^\top}",
    {"A": PRECISION, "p": lambda w: np.exp(log_joint(w)), "w": mode + 0.2},
    rtol=1e-6,
)
add(
    "Laplace",
    r"\log Z = g(\hat w) + \frac{D}{2} \log 2 \pi - \frac{1}{2} \log |A|",
    r"\log Z = g(\hat w) + \frac{D}{2} \log 2 \pi + \frac{1}{2} \log |A|",
    {
        "Z": float(np.exp(1.2) * (2 * np.pi) ** 1.5 / np.linalg.det(THREE) ** 0.5),
        "g": lambda w: 1.2,
        r"\hat w": np.array([0.1, 0.2, 0.3]),
        "D": 3,
        "A": THREE,
    },
)
add(
    "Laplace",
    r"f(x) = f(a) + \frac{\partial f}{\partial x}(a) (x - a) + R(x)",
    r"f(x) = f(a) + \frac{\partial f}{\partial x}(x) (x - a) + R(x)",
    {"f": np.exp, "a": 0.3, "x": 0.9, "R": lambda x: np.exp(x) - np.exp(0.3) * (1 + x - 0.3)},
)
add(
    "Laplace",
    r"\nabla_w \left( \frac{1}{2} w^\top A w - b^\top w \right) = A w - b",
    r"\nabla_w \left( \frac{1}{2} w^\top A w - b^\top w \right) = A w - b^\top",
    {"A": PRECISION, "w": np.array([0.9, 1.3]), "b": np.array([0.4, -0.8])},
)

# -- filters ----------------------------------------------------------------------------------

F, H = np.array([[1.1, 0.3], [-0.2, 0.8]]), np.array([[0.7, 1.2]])
NOISE, P0, m0 = (
    np.array([[0.5, 0.1], [0.1, 0.4]]),
    np.array([[1.3, 0.2], [0.2, 0.9]]),
    rng.normal(size=2),
)
P1 = F @ P0 @ F.T + NOISE
gain = P1 @ H.T / float((H @ P1 @ H.T)[0, 0] + 0.6)
add(
    "filters",
    r"P_{t|t-1} = F P_{t-1|t-1} F^\top + Q",
    r"P_{t|t-1} = F^\top P_{t-1|t-1} F + Q",
    {r"P_{t|t-1}": P1, r"P_{t-1|t-1}": P0, "F": F, "Q": NOISE},
)
add(
    "filters",
    r"K = P H^\top (H P H^\top + R)^{-1}",
    r"K = P H^\top (H P H^\top - R)^{-1}",
    {"K": gain, "P": P1, "H": H, "R": 0.6},
)
add(
    "filters",
    r"(I - K H) P = P - K S K^\top, \quad S = H P H^\top + R",
    r"(I - K H) P = P - K S^{-1} K^\top, \quad S = H P H^\top + R",
    {"I": np.eye(2), "K": gain, "H": H, "P": P1, "S": float((H @ P1 @ H.T)[0, 0] + 0.6), "R": 0.6},
)
emission = rng.dirichlet(np.ones(4), size=3).T  # h(y | x)
forward = np.array([0.2, 0.15, 0.3])
add(
    "filters",
    r"\alpha_t(j) = h(y_t \mid j) \sum_{i=1}^3 \alpha_{t-1}(i) A_{ij}",
    r"\alpha_t(j) = h(y_t \mid j) \sum_{i=1}^3 \alpha_{t-1}(i) A_{ji}",
    {
        r"\alpha_t": lambda j: emission[2, j - 1] * forward @ general[:, j - 1],
        "j": 2,
        "A": general,
        r"\alpha_{t-1}": lambda i: forward[i - 1],
        "y_t": 3,
        "h": lambda y, x: emission[y - 1, x - 1],
    },
    spare={"y_t for j (3)": "j is any state"},
)
steps, seen = rng.normal(size=5), rng.normal(size=4)
JOINT = {
    "p": lambda x: normal_pdf(x, 0, 2.0),
    "f": lambda x, z: normal_pdf(x, 0.9 * z, 0.3),
    "h": lambda y, x: normal_pdf(y, x, 0.5),
    "x": steps[:4],
    "y": seen,
    "T": 4,
}
joint = (
    JOINT["p"](steps[0])
    * np.prod([JOINT["f"](steps[t], steps[t - 1]) for t in (1, 2, 3)])
    * np.prod([JOINT["h"](seen[t], steps[t]) for t in range(4)])
)
add(
    "filters",
    r"J = p(x_1) \prod_{t=2}^T f(x_t \mid x_{t-1}) \prod_{t=1}^T h(y_t \mid x_t)",
    r"J = p(x_1) \prod_{t=2}^T f(x_{t-1} \mid x_t) \prod_{t=1}^T h(y_t \mid x_t)",
    JOINT | {"J": joint},
)
weights = np.array([0.1, 0.5, 0.25, 0.15])
add(
    "filters",
    r"N_{\mathrm{eff}} = \frac{1}{\sum_{i=1}^N (w_t^{(i)})^2}",
    r"N_{\mathrm{eff}} = \frac{1}{(\sum_{i=1}^N w_t^{(i)})^2}",
    {r"N_{\mathrm{eff}}": 1 / np.sum(weights**2), "w_t": weights, "N": 4},
)
