"""Probabilities of two classes: how well each method predicts them, and in which time.

``python benchmarks/classes.py`` fits each method to thirty tables: classes that a line or a circle
separates, rare ones, balanced ones that overlap, labels with noise, and those of scikit-learn. It
prints the mean log loss of rows that were held out, and the processor's seconds of one thread of
fit and prediction. ``--tables rare`` takes those with the word in their names, ``--methods`` some
of the methods, ``--seeds 2`` two draws of each.

Columns are divided by their standard deviations for those who ask for it; ours does not. A
probability counts as 1e-15 at least, as scikit-learn's ``log_loss`` has it at 2e-16.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import processor_time  # noqa: F401  # isort: skip  (it sets the threads)
import numpy as np
from sklearn import datasets
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gpnotes import GPClassifier, stream

Table = tuple[Any, Any, Any, Any]  # rows and labels to learn from, and others
_NEW = 2000


def _normal(draw: Any, n: int, d: int) -> Any:
    return np.asarray(draw.normal((n, d)))


def _split(X: Any, y: Any, n: int) -> Table:
    return X[:n], y[:n], X[n:], y[n:]


def _told_by(score: Callable[[Any], Any], n: int, d: int) -> Callable[[Any], Table]:
    """Normal inputs, whose label is the sign of a score."""

    def made(draw: Any) -> Table:
        X = _normal(draw, n + _NEW, d)
        return _split(X, score(X) > 0.0, n)

    return made


def _likely_by(score: Callable[[Any], Any], n: int, d: int) -> Callable[[Any], Table]:
    """Normal inputs, whose label has the logit `score`."""

    def made(draw: Any) -> Table:
        X = _normal(draw, n + _NEW, d)
        chance = 1.0 / (1.0 + np.exp(-score(X)))
        return _split(X, np.asarray(draw.uniform(len(X))) < chance, n)

    return made


def _two(n: int, positive: int, shift: float, d: int) -> Callable[[Any], Table]:
    """Two normal classes, one of `positive` rows of n, shifted along all columns."""

    def made(draw: Any) -> Table:
        X, many = _normal(draw, n + _NEW, d), _NEW * positive // n
        y = np.zeros(len(X), dtype=bool)
        y[:positive] = y[n : n + many] = True
        return _split(X + shift * y[:, None], y, n)

    return made


def _flipped(made: Callable[[Any], Table], share: float) -> Callable[[Any], Table]:
    """Labels with a share of them flipped, in training and test rows alike."""

    def turned(draw: Any) -> Table:
        X, y, Xs, ys = made(draw)
        return X, y ^ (np.asarray(draw.uniform(len(y))) < share), Xs, ys ^ (
            np.asarray(draw.uniform(len(ys))) < share
        )  # fmt: skip

    return turned


def _stored(name: str, kinds: tuple[Any, Any], n: int, columns: int) -> Callable[[Any], Table]:
    """Two classes of a table of scikit-learn, n rows to learn from, its most telling columns."""

    def made(draw: Any) -> Table:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        kept = np.isin(y, np.hstack(kinds))
        X, y = X[kept], np.isin(y[kept], kinds[1])
        order = np.asarray(draw.permutation(len(y)))
        X, y = X[order], y[order]
        spread = X[:n].std(axis=0) + 1e-9
        apart = np.abs(X[:n][y[:n]].mean(axis=0) - X[:n][~y[:n]].mean(axis=0)) / spread
        best = np.sort(np.argsort(-apart, kind="stable")[:columns])
        return _split(X[:, best], y, n)

    return made


def _ring(X: Any) -> Any:
    return np.sum(X * X, axis=1) - 1.4


def _chequers(X: Any) -> Any:
    return np.sin(2.0 * X[:, 0]) * np.sin(2.0 * X[:, 1])


TABLES: dict[str, Callable[[Any], Table]] = {
    "separable: a line, 2 columns": _told_by(lambda X: X[:, 0], 200, 2),
    "separable: a slope, 5 columns": _told_by(lambda X: X @ np.arange(1.0, 6.0), 150, 5),
    "separable: a slope, 10 columns": _told_by(lambda X: X.sum(axis=1), 150, 10),
    "separable: two blobs, 2 columns": _two(100, 50, 6.0, 2),
    "separable: two blobs, 10 columns": _two(100, 50, 2.5, 10),
    "separable: a ring, 2 columns": _told_by(_ring, 200, 2),
    "rare: 3 of 200, 2 columns": _two(200, 3, 3.0, 2),
    "rare: 6 of 200, 2 columns": _two(200, 6, 3.0, 2),
    "rare: 10 of 200, 2 columns": _two(200, 10, 3.0, 2),
    "rare: 10 of 200, nearer": _two(200, 10, 2.0, 2),
    "rare: 10 of 200, one sd": _two(200, 10, 1.0, 2),
    "rare: 6 of 120, 5 columns": _two(120, 6, 2.0, 5),
    "rare: 8 of 150, 10 columns": _two(150, 8, 1.5, 10),
    "rare: one digit of ten, 8 pixels": _stored("digits", (range(9), (9,)), 200, 8),
    "balanced: two sds apart, 2 columns": _two(150, 75, 1.4, 2),
    "balanced: one sd apart, 5 columns": _two(150, 75, 0.45, 5),
    "balanced: two sds apart, 10 columns": _two(150, 75, 0.63, 10),
    "balanced: logits of a ring": _likely_by(lambda X: 2.0 * _ring(X), 200, 2),
    "balanced: logits of chequers": _likely_by(lambda X: 6.0 * _chequers(X), 200, 2),
    "noisy: no signal, 2 columns": _likely_by(lambda X: 0.0 * X[:, 0], 100, 2),
    "noisy: no signal, 10 columns": _likely_by(lambda X: 0.0 * X[:, 0], 150, 10),
    "noisy: a line, a tenth turned round": _flipped(_told_by(lambda X: X[:, 0], 200, 2), 0.1),
    "noisy: a ring, a tenth turned round": _flipped(_told_by(_ring, 200, 2), 0.1),
    "noisy: logits of a slope, 5 columns": _likely_by(lambda X: X.sum(axis=1) / 2.0, 150, 5),
    "iris: setosa, versicolor": _stored("iris", (0, 1), 60, 4),
    "iris: versicolor, virginica": _stored("iris", (1, 2), 60, 4),
    "cancer, 10 columns": _stored("breast_cancer", (0, 1), 200, 10),
    "cancer, 3 columns": _stored("breast_cancer", (0, 1), 100, 3),
    "digits 3 and 8, 8 pixels": _stored("digits", (3, 8), 150, 8),
    "wine: two kinds, 5 columns": _stored("wine", (1, 2), 70, 5),
}


def _theirs() -> Any:
    kernel = ConstantKernel(1.0, (1e-5, 1e8)) * RBF()
    return make_pipeline(StandardScaler(), GaussianProcessClassifier(kernel))


def _theirs_each() -> Any:
    class Lengths(GaussianProcessClassifier):
        def fit(self, X: Any, y: Any) -> Any:
            self.kernel = ConstantKernel(1.0, (1e-5, 1e8)) * RBF(np.ones(X.shape[1]))
            return super().fit(X, y)

    return make_pipeline(StandardScaler(), Lengths())


METHODS: dict[str, Callable[[], Any]] = {
    "default": GPClassifier,
    "ep": lambda: GPClassifier(method="ep"),
    "laplace": lambda: GPClassifier(method="laplace"),
    "scikit-learn": _theirs_each,
    "scikit-learn, one length": _theirs,
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "base rate": lambda: DummyClassifier(strategy="prior"),
}


def scored(estimator: Any, table: Table) -> tuple[float, float]:
    """Log loss on the other rows, and seconds of the processor."""
    X, y, Xs, ys = table
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chance = np.asarray(estimator.fit(X, y).predict_proba(Xs))
    seconds = time.process_time() - before
    told = np.clip(np.where(ys, chance[:, 1], chance[:, 0]), 1e-15, 1.0)
    return float(-np.mean(np.log(told))), seconds


def row(name: str, methods: list[str], seeds: int) -> dict[str, tuple[float, float]]:
    """Mean log loss and seconds of each method over the draws of a table."""
    found = {method: np.zeros(2) for method in methods}
    for seed in range(seeds):
        table = TABLES[name](stream(seed))
        for method in methods:
            found[method] += np.asarray(scored(METHODS[method](), table)) / seeds
    return {method: (float(v[0]), float(v[1])) for method, v in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="")
    parser.add_argument("--methods", nargs="+", default=[*METHODS], choices=[*METHODS])
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    names = [name for name in TABLES if options.tables in name]
    print("| log loss (seconds) |", " | ".join(options.methods), "|")
    print("|", " --- |" * (1 + len(options.methods)))
    rows = []
    for name in names:
        rows.append(row(name, options.methods, options.seeds))
        _say(name, rows[-1])
    means = {m: tuple(np.mean([r[m] for r in rows], axis=0)) for m in options.methods}
    _say("mean", means)


def _say(name: str, figures: dict[str, Any]) -> None:
    cells = (f"{loss:.3f} ({seconds:.1f})" for loss, seconds in figures.values())
    print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
