"""Thirty checks with their mutants are little work, and leave nothing behind."""

import tracemalloc
from cProfile import Profile

import numpy as np

EVIDENCE = r"""
\log p(\mathbf y) &= -\frac12 \mathbf y^\top \left( K_{ff} + \sigma_n^2 I \right)^{-1} \mathbf y
    - \frac12 \log \left| K_{ff} + \sigma_n^2 I \right| - \frac N2 \log 2 \pi \\
  &= -\frac12 \mathbf y^\top \boldsymbol\alpha - \sum_{i=1}^{N} \log L_{ii} - \frac N2 \log 2 \pi
""".strip()


def bindings(stream):
    N = 7
    x, y = stream.normal(size=(N, 2)), stream.normal(size=N)
    K = np.exp(-0.5 * ((x[:, None] - x[None]) ** 2).sum(-1))
    Ky = K + 0.3 * np.eye(N)
    L = np.linalg.cholesky(Ky)
    half = np.linalg.solve(L, y)
    value = -0.5 * half @ half - np.log(np.diag(L)).sum() - 0.5 * N * np.log(2 * np.pi)
    return {
        r"\log p(\mathbf y)": value, "K_{ff}": K, r"\sigma_n^2": 0.3, "I": np.eye(N), "N": N,
        r"\mathbf y": y, r"\boldsymbol\alpha": np.linalg.solve(Ky, y), "L": L,
    }  # fmt: skip


def test_ten_checks_take_few_calls(small_chapter):
    """Sixty thousand a check: calls, and not seconds, are the same on every machine."""
    chapter = small_chapter({f"eq-{i}": EVIDENCE for i in range(11)})
    chapter.check("eq-10", bindings, oracle="Cholesky")  # which reads the grammar, once
    with Profile(builtins=False) as profile:
        records = [chapter.check(f"eq-{i}", bindings, oracle="Cholesky") for i in range(10)]
    calls = sum(entry.callcount for entry in profile.getstats())
    assert 10_000 < calls < 2_000_000
    assert all(record.mutants.caught > 40 for record in records)
    assert all(record.mutants.survived == 0 for record in records)


def test_mutants_of_large_matrices_are_forgotten(small_chapter):
    """Thirty mutants of matrices of 0.7 MB, one after the other, not all at once."""
    A, B, C = np.random.default_rng(1).normal(size=(3, 300, 300))
    chapter = small_chapter({"eq-a": r"D = A^\top B - B^\top C + C^\top A - A B C"})
    D = A.T @ B - B.T @ C + C.T @ A - A @ B @ C
    tracemalloc.start()
    record = chapter.check("eq-a", {"A": A, "B": B, "C": C, "D": D}, oracle="NumPy")
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert record.mutants.caught > 30
    assert peak < 40 * A.nbytes
    assert left < 2 * A.nbytes
