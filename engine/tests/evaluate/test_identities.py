"""Known identities of the book's kind: both sides, read from LaTeX, agree to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from checked_equations.errors import EquationError
from checked_equations.evaluate.evaluator import Evaluator
from checked_equations.evaluate.values import Nodes, kind
from checked_equations.latex.names import normal
from checked_equations.latex.parser import parse

N, D, S, J = 7, 3, 4, 5


def residuals(latex, bound):
    names = {normal(key): kind(value) for key, value in bound.items()}
    evaluator = Evaluator(bound, latex)
    found = []
    for step in parse(latex, names).steps:
        left, right = evaluator.value(step.left), evaluator.value(step.right)
        assert left.shape == right.shape
        size = max(np.abs(left).max(), np.abs(right).max())
        found.append(np.abs(left - right).max() / size)
    return found


def positive(rng, n):
    root = rng.normal(size=(n, n))
    return root @ root.T + n * np.eye(n)


def log_evidence(rng):
    K, y, noise = positive(rng, N), rng.normal(size=N), 0.3
    density = stats.multivariate_normal(np.zeros(N), K + noise * np.eye(N))
    return {
        r"\log p(\mathbf y \mid X)": density.logpdf(y), "K": K, "I": np.eye(N), r"\mathbf y": y,
        r"\sigma_n^2": noise, "N": N, "K_y": K + noise * np.eye(N),
        r"\lambda": np.linalg.eigvalsh(K), r"\mathbf v": np.linalg.eigh(K)[1].T @ y,
    }  # fmt: skip


EVIDENCE = [
    r"""\log p(\mathbf y \mid X)
      &= -\tfrac12 \mathbf y^\top K_y^{-1} \mathbf y - \tfrac12 \log \lvert K_y \rvert
         - \tfrac N2 \log 2 \pi \\
      &= -\frac12 \mathbf y^\top \left( K + \sigma_n^2 I \right)^{-1} \mathbf y
         - \frac12 \log \left| K + \sigma_n^2 I \right| - \frac{N}{2} \log(2\pi)""",
    r"""\log p(\mathbf{y} \mid X) &= \log \left( \left| 2 \pi K_y \right|^{-\frac12}
        \exp\left\{ -\frac12 \mathbf y^\top K_y^{-1} \mathbf y \right\} \right)""",
    r"""\log p(\mathbf y \mid X) = -\frac12 \sum_{i=1}^N \left(
        \frac{\mathbf v_i^2}{\lambda_i + \sigma_n^2} + \log\left( \lambda_i + \sigma_n^2 \right)
        + \log 2\pi \right)""",
    r"""2 \log p(\mathbf y \mid X) + N \log 2\pi = -\operatorname{tr}\left(
        K_y^{-1} \mathbf y \mathbf y^\top \right) - \log \det K_y""",
]  # fmt: skip


@pytest.mark.parametrize("latex", EVIDENCE)
@pytest.mark.parametrize("seed", range(3))
def test_log_evidence(latex, seed):
    assert max(residuals(latex, log_evidence(np.random.default_rng(seed)))) < 1e-12


def weights(rng):
    Phi, prior, noise = rng.normal(size=(N, D)), positive(rng, D), 0.4
    phi, y = rng.normal(size=D), rng.normal(size=N)
    ridge = np.vstack([Phi / math.sqrt(noise), np.linalg.cholesky(np.linalg.inv(prior)).T])
    target = np.concatenate([y / math.sqrt(noise), np.zeros(D)])
    mean = np.linalg.lstsq(ridge, target, rcond=None)[0]
    return {
        r"\bar{\mathbf w}": mean, r"\Phi": Phi, r"\Sigma_p": prior, r"\sigma_n^2": noise,
        r"\mathbf y": y, "A": Phi.T @ Phi / noise + np.linalg.inv(prior), "I": np.eye(N),
        "K": Phi @ prior @ Phi.T, r"\phi_*": phi, r"\bar f_*": phi @ mean, "D": D,
    }  # fmt: skip


WEIGHTS = [
    r"\bar{\mathbf{w}} = \frac{1}{\sigma_n^2} A^{-1} \Phi^\top \mathbf y",
    r"\bar{\mathbf w} = \Sigma_p \Phi^\top (K + \sigma_n^2 I)^{-1} \mathbf y",
    r"""\bar f_* &= \sigma_{n}^{-2} \phi_*^\top A^{-1} \Phi^\top \mathbf y \\
                 &= \phi_{*}^{\top} \Sigma_{p} \Phi^{\top}\left(K+\sigma_{n}^{2} I\right)^{-1}
                    \mathbf{y} \\
                 &= \sum_{j=1}^D [\phi_*]_j \bar{\mathbf w}_j""",
    r"A^{-1} = \Sigma_p - \Sigma_p \Phi^\top (K + \sigma_n^2 I)^{-1} \Phi \Sigma_p",
    r"|K + \sigma_n^2 I| = |\Sigma_p| \, |A| \, |\sigma_n^2 I|",
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("latex", WEIGHTS)
def test_weight_space_means(latex, seed):
    bound = weights(np.random.default_rng(seed))
    latex = latex.replace(r"\sigma_{n}^{-2}", r"(\sigma_n^2)^{-1}")
    assert max(residuals(latex, bound)) < 1e-11


def multinomial(rng):
    p = rng.dirichlet(np.ones(S + 1))[:S]
    ell, n_r = rng.uniform(0.8, 2.0, size=S), 5
    d = ell**2 + n_r * p
    return {
        "L": np.diag(ell**2), "M": np.diag(p) - np.outer(p, p), r"\mathbf p": p, "n_r": n_r,
        "d": d, r"\ell": ell, "S": S, r"\mathbf q": p / d, "p": p,
        r"\gamma": 1.0 - n_r * np.sum(p**2 / d),
    }  # fmt: skip


MULTINOMIAL = [
    r"""\left| L + n_r M \right|
       &= \left| \operatorname{diag}(d) - n_r \mathbf p \mathbf p^\top \right| \\
       &= \left( 1 - n_r \sum_{s=1}^S \frac{p_s^2}{d_s} \right) \prod_{s=1}^S d_s \\
       &= \gamma \prod_{s=1}^{S} d_{s}""",
    r"""\left( L + n_r M \right)^{-1}
       &= \left( \operatorname{diag}(d) - n_r \mathbf p \mathbf p^\top \right)^{-1} \\
       &= \operatorname{diag}(d)^{-1} + \frac{n_r}{1 - n_r \sum_{s=1}^{S} \frac{p_s^2}{d_s}}
          \mathbf q \mathbf q^\top, \quad \mathbf q_1 = \frac{p_1}{d_1}""",
    r"""\left| L + \frac{1}{n_r} M \right|^{-\frac12} \prod_{s=1}^S \ell_s
       = \left( \prod_{s=1}^S \ell_s \right) \left| L + \frac{1}{n_r} M \right|^{-1/2}""",
]


@pytest.mark.parametrize("latex", MULTINOMIAL)
@pytest.mark.parametrize("seed", range(3))
def test_determinant_and_inverse_with_sums_and_products(latex, seed):
    assert max(residuals(latex, multinomial(np.random.default_rng(seed)))) < 1e-12


def test_what_follows_a_product_over_an_index_must_not_be_guessed():
    # is the determinant inside the product, S times, or behind it?
    latex = MULTINOMIAL[2].replace(r"\left( \prod_{s=1}^S \ell_s \right)", r"\prod_{s=1}^S \ell_s")
    with pytest.raises(EquationError, match="ambiguous: the last factor does not run"):
        residuals(latex, multinomial(np.random.default_rng(0)))


def gaussian(x, mean, cov):
    return stats.multivariate_normal(np.ravel(mean), cov).pdf(np.ravel(x))


def densities(rng):
    A, B = positive(rng, D), positive(rng, D)
    return {
        r"\mathcal N": gaussian, r"\mathbf x": rng.normal(size=D), r"\mathbf a": rng.normal(size=D),
        r"\mathbf b": rng.normal(size=D), "A": A, "B": B, "C": np.linalg.inv(A) + np.linalg.inv(B),
    }  # fmt: skip


def test_the_product_of_two_gaussian_densities():
    latex = r"""
    \mathcal N(\mathbf x; \mathbf a, A) \, \mathcal N(\mathbf x; \mathbf b, B)
      = \mathcal N(\mathbf a; \mathbf b, A + B) \,
        \mathcal N\left(\mathbf x; C^{-1} (A^{-1} \mathbf a + B^{-1} \mathbf b), C^{-1} \right)"""
    for seed in range(3):
        assert max(residuals(latex, densities(np.random.default_rng(seed)))) < 1e-12


REWRITINGS = [
    (r"A (B + C)", r"A B + A C"),
    (r"(A B)^{-1}", r"B^{-1} A^{-1}"),
    (r"(A B)^\top", r"B^\top A^\top"),
    (r"A^{-\top}", r"(A^\top)^{-1}"),
    (r"\operatorname{tr}(A B C)", r"\operatorname{tr}(C A B)"),
    (r"\det(A B)", r"|A| |B|"),
    (r"(A + B)^{-1}", r"A^{-1} - A^{-1} (A^{-1} + B^{-1})^{-1} A^{-1}"),
    (r"\lVert \mathbf x - \mathbf a \rVert^2",
     r"\mathbf x^\top \mathbf x - 2 \mathbf a^\top \mathbf x + \|\mathbf a\|_2^2"),
    (r"\sum_{i=1}^3 \mathbf x_i \mathbf a_i", r"\mathbf a^\top \mathbf x"),
    (r"\operatorname{diag}(\mathbf a) \mathbf x", r"\mathbf a \odot \mathbf x"),
    (r"\log |A + B|", r"\log \lvert A \rvert + \log |A^{-1} (A + B)|"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), REWRITINGS)
def test_algebraically_equal_rewritings_agree(left, right):
    bound = densities(np.random.default_rng(8))
    assert max(residuals(f"{left} = {right}", bound)) < 1e-12


def test_a_flipped_sign_does_not_agree():
    bound = log_evidence(np.random.default_rng(0))
    assert residuals(EVIDENCE[0].replace(r"- \tfrac N2", r"+ \tfrac N2"), bound)[0] > 1e-3
    bound = densities(np.random.default_rng(8))
    assert residuals(r"(A B)^{-1} = A^{-1} B^{-1}", bound)[0] > 1e-3


def test_moments_of_an_enumerated_distribution():
    weights = np.array([0.1, 0.4, 0.2, 0.3])
    points = np.random.default_rng(4).normal(size=(4, 2))
    bound = {"x": Nodes(points, weights), "A": np.array([[1.0, 0.3], [0.2, 2.0]]),
             r"\mu": weights @ points}  # fmt: skip
    latex = r"""\mathbb E[x^\top A x]
       &= \operatorname{tr}\left( A \mathbb V_x[x] \right) + \mu^\top A \mu \\
       &= \operatorname{tr}\left( A \, \mathbb E_x\left[ x x^\top \right] \right)"""
    assert max(residuals(latex, bound)) < 1e-13


def test_derivatives_of_the_evidence():
    rng = np.random.default_rng(6)
    X = rng.normal(size=N)
    squares = (X[:, None] - X[None, :]) ** 2
    bound = {
        "K": lambda ell: np.exp(-0.5 * squares / ell**2) + 0.2 * np.eye(N), r"\ell": 0.8,
        r"\mathbf y": rng.normal(size=N), "R": squares,
    }  # fmt: skip
    latex = r"""
    \frac{\partial}{\partial \ell} \left( -\tfrac12 \mathbf y^\top K(\ell)^{-1} \mathbf y
                                         - \tfrac12 \log |K(\ell)| \right)
    = \frac12 \operatorname{tr}\left( \left( K(\ell)^{-1} \mathbf y \mathbf y^\top K(\ell)^{-\top}
        - K(\ell)^{-1} \right) \frac{\partial K}{\partial \ell} \right)"""
    assert max(residuals(latex, bound)) < 1e-9
