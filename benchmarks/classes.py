"""Probabilities of classes: how well each method predicts them, and in which time.

``python benchmarks/classes.py`` fits each method to thirty tables of two classes: some that a line
or a circle separates, rare ones, balanced ones that overlap, labels with noise, and those of
scikit-learn. It prints the mean log loss of rows that were held out, and the processor's seconds of
one thread of fit and prediction, of each table, of each kind of table and of all. ``--several``
takes tables of three classes or four. ``--tables rare`` takes those with the word in their names,
``--methods`` some of the methods, ``--seeds 2`` two draws of each, or, of the tables of
scikit-learn, two splits; more than one brings the standard error of the mean over them.

Columns are divided by their standard deviations for those who ask for it; ours does not. A
probability counts as 1e-15 at least, as scikit-learn's ``log_loss`` has it at 2e-16.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

# before NumPy: libraries ask for threads when they load
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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


def _blobs(sizes: tuple[int, ...], centres: tuple[tuple[float, float], ...]) -> Any:
    """Normal classes of so many rows, around centres in two columns."""

    def made(draw: Any) -> Table:
        n, many = sum(sizes), [_NEW * size // sum(sizes) for size in sizes]
        y = np.concatenate([_in_turn(sizes), _in_turn(many)])
        return _split(_normal(draw, len(y), 2) + np.asarray(centres)[y], y, n)

    return made


def _in_turn(sizes: Sequence[int]) -> Any:
    return np.repeat(np.arange(len(sizes)), sizes)


def _highest(scores: Callable[[Any], list[Any]], n: int, d: int) -> Callable[[Any], Table]:
    """Normal inputs, and classes by the softmax of scores."""

    def made(draw: Any) -> Table:
        X = _normal(draw, n + _NEW, d)
        f = np.stack(scores(X), axis=1)
        gumbel = -np.log(-np.log(np.asarray(draw.uniform(f.shape))))
        return _split(X, np.argmax(f + gumbel, axis=1), n)

    return made


def _whole(name: str, n: int) -> Callable[[Any], Table]:
    """All classes and columns of a table of scikit-learn, n rows to learn from."""

    def made(draw: Any) -> Table:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        order = np.asarray(draw.permutation(len(y)))
        return _split(X[order], y[order], n)

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

SEVERAL: dict[str, Callable[[Any], Table]] = {
    "separable: three blobs": _blobs((40, 40, 40), ((0.0, 0.0), (6.0, 0.0), (0.0, 6.0))),
    "rare: 6 of 126": _blobs((60, 60, 6), ((0.0, 0.0), (2.0, 2.0), (4.0, 0.0))),
    "rare: 4 and 4 of 158": _blobs((150, 4, 4), ((0.0, 0.0), (4.0, 0.0), (0.0, 4.0))),
    "balanced: three blobs": _blobs((50, 50, 50), ((0.0, 0.0), (1.5, 0.0), (0.0, 1.5))),
    "balanced: a ring": _highest(lambda X: [1.5 * _ring(X), 1.5 * X[:, 0], 1.5 * X[:, 1]], 200, 2),
    "noisy: no signal, 3 columns": _highest(lambda X: 3 * [0.0 * X[:, 0]], 120, 3),
    "iris": _whole("iris", 90),
    "wine": _whole("wine", 110),
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
    "inducing": lambda: GPClassifier(inducing=50, fixed=["inducing"]),
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
    told = np.clip(chance[np.arange(len(ys)), ys.astype(int)], 1e-15, 1.0)
    return float(-np.mean(np.log(told))), seconds


def row(made: Callable[[Any], Table], methods: list[str], seeds: int) -> Any:
    """Log loss and seconds (seeds, methods, 2) of the draws of a table."""
    drawn = [made(stream(seed)) for seed in range(seeds)]
    return np.asarray([[scored(METHODS[m](), table) for m in methods] for table in drawn])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--several", action="store_true")
    parser.add_argument("--tables", default="")
    parser.add_argument("--methods", nargs="+", choices=[*METHODS])
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    tables = SEVERAL if options.several else TABLES
    other = ("ep", "inducing") if options.several else ("inducing",)
    methods = options.methods or [m for m in METHODS if m not in other]
    print("| log loss (seconds) |", " | ".join(methods), "|")
    print("|", " --- |" * (1 + len(methods)))
    kinds: dict[str, list[Any]] = {}
    for name in (name for name in tables if options.tables in name):
        found = row(tables[name], methods, options.seeds)
        kinds.setdefault(name.partition(":")[0].partition(",")[0], []).append(found)
        _say(name, found)
    for kind, rows in kinds.items():
        _say(f"**{kind}** ({len(rows)})", np.mean(rows, axis=0))
    _say("**all**", np.mean([one for rows in kinds.values() for one in rows], axis=0))


def _say(name: str, found: Any) -> None:
    """Means over the draws, with the standard error of the loss where there are several."""
    seeds = len(found)
    error = np.std(found, axis=0, ddof=1) / seeds**0.5 if seeds > 1 else None
    cells = []
    for i, (loss, seconds) in enumerate(np.mean(found, axis=0)):
        off = "" if error is None else f" ± {error[i, 0]:.3f}"
        cells.append(f"{loss:.3f}{off} ({seconds:.1f})")
    print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
