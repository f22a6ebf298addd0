"""Sparse variational processes beside boosting and straight lines, on ten splits of four tasks.

Two tasks of 100 000 rows are generated here: `smooth`, the function that scikit-learn has as
``make_friedman1``, and `steps`, a function that jumps. Two are classification sets that
scikit-learn carries: `tumours` (569 rows, 30 columns) and `digits` (1797 images of 8 × 8; is the
digit odd?). Columns are standardised by the rows seen. Nothing else is seen by a fit.

Run it with `python benchmarks/variational_splits.py`; it takes about a quarter of an hour, and
writes `src/gpnotes/data/variational-splits.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import gpnotes as gp
from gpnotes.infer import sparse, svgp

TARGET = (
    Path(__file__).resolve().parent.parent / "src" / "gpnotes" / "data" / "variational-splits.csv"
)
METHODS = "process", "boosting", "linear"
SPLITS = range(10)
ROWS, SEEN = 100_000, 90_000
LARGE, SMALL = 200, 50  # inducing points for regression, for classification
Row = tuple[int | str, ...]
TASKS = "tumours", "digits", "smooth", "steps"  # 1 to 4 in the table


def smooth(X: np.ndarray) -> np.ndarray:
    """Five columns count, smoothly, and the other five do not."""
    bend = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return bend + 10 * X[:, 3] + 5 * X[:, 4]


def steps(X: np.ndarray) -> np.ndarray:
    """The same columns count, each by whether it is beyond a threshold."""
    jump = 10 * ((X[:, 0] > 0.3) & (X[:, 1] > 0.5)) + 5 * (np.abs(X[:, 2] - 0.5) > 0.25)
    return jump + 10 * (X[:, 3] > 0.6) + 5 * (X[:, 4] > 0.2)


def generated(function, split: int) -> tuple[np.ndarray, ...]:
    """Seen and held-out rows: inputs in a cube, standard normal noise."""
    X = np.asarray(gp.stream(split).uniform((ROWS, 10)))
    y = function(X) + np.asarray(gp.stream(100 + split).normal(ROWS))
    return *standardised(X, SEEN), y[:SEEN], y[SEEN:]


def carried(load, odd: bool, split: int) -> tuple[np.ndarray, ...]:
    """Seen and held-out rows of a set, seven tenths and three; labels 1 and −1."""
    X, target = load(return_X_y=True)
    order = np.asarray(gp.stream(split).permutation(len(X)))
    y = np.where(target[order] % 2 if odd else target[order], 1.0, -1.0)
    seen = int(0.7 * len(X))
    return *standardised(X[order], seen), y[:seen], y[seen:]


def standardised(X: np.ndarray, seen: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns less their mean over the rows seen, divided by their deviation there."""
    spread = X[:seen].std(axis=0)
    Z = (X - X[:seen].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return Z[:seen], Z[seen:]


def process(X: np.ndarray, y: np.ndarray, split: int) -> svgp.VariationalPosterior:
    """Regression in batches of 1000: ten epochs, then five at a tenth of the rates."""
    kernel = gp.RBF(float(y.var()), 3.0 * np.ones(X.shape[1]))
    Z = np.asarray(sparse.random_points(X, LARGE, gp.stream(split)))
    mean = gp.ConstantMean(float(y.mean()))
    model = svgp.SVGP(gp.GP(kernel, 0.0, mean), gp.Gaussian(0.1 * float(y.var())), Z)
    q = svgp.prior(model)
    for epochs, rate in ((10, 0.02), (5, 0.002)):
        steps = epochs * len(X) // 1000
        stream = gp.stream(200 + split)
        q = svgp.fit(q, X, y, stream, steps=steps, batch=1000, length=5 * rate, rate=rate).posterior
    return q


def classifier(X: np.ndarray, y: np.ndarray, split: int) -> svgp.VariationalPosterior:
    """Classification on all rows: 300 steps, then q to its end."""
    kernel = gp.RBF(4.0, float(np.sqrt(X.shape[1])))
    Z = np.asarray(sparse.kmeans_points(X, SMALL, gp.stream(split)))
    start = svgp.prior(svgp.SVGP(gp.GP(kernel, 0.0), gp.Bernoulli("logit"), Z))
    found = svgp.fit(start, X, y, gp.stream(split), steps=300, length=0.5, rate=0.02)
    return svgp.condition(found.model, X, y)


def regression(name: str, function, split: int) -> Row:
    """Root mean square error, and mean log density of the rows held out."""
    X, Xs, y, ys = generated(function, split)
    q = process(X, y, split)
    mean = np.asarray(q.mean(Xs))
    score = float(np.mean(np.asarray(q.log_density(Xs, ys))))
    found = [(rmse(mean - ys), score)]
    most = 9 * SEEN // 10
    boosted = HistGradientBoostingRegressor(max_iter=1000, early_stopping=True, random_state=split)
    for model in (boosted, Ridge()):
        model.fit(X[:most], y[:most])
        variance = float(np.mean((model.predict(X[most:]) - y[most:]) ** 2))
        miss = model.predict(Xs) - ys
        score = -0.5 * (np.mean(miss**2) / variance + np.log(2 * np.pi * variance))
        found.append((rmse(miss), float(score)))
    return row_of(name, split, found)


def classification(name: str, load, odd: bool, split: int) -> Row:
    """Share of labels that are wrong, and mean log probability of the right ones."""
    X, Xs, y, ys = carried(load, odd, split)
    q = classifier(X, y, split)
    chances = [np.asarray(q.probability(Xs))]
    boosted = HistGradientBoostingClassifier(random_state=split)
    for model in (boosted, LogisticRegression(max_iter=5000)):
        chances.append(model.fit(X, y).predict_proba(Xs)[:, 1])
    found = []
    for chance in chances:
        right = np.where(ys > 0, chance, 1 - chance)
        score = float(np.mean(np.log(np.clip(right, 1e-12, None))))
        found.append((float(np.mean(right < 0.5)), score))
    return row_of(name, split, found)


def row_of(name: str, split: int, found: list[tuple[float, float]]) -> Row:
    """Task and split, the errors of the three methods, and their scores."""
    errors, scores = zip(*found, strict=True)
    return TASKS.index(name) + 1, split, *(f"{number:.4f}" for number in errors + scores)


def rmse(miss: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(miss**2)))


def rows() -> Iterator[Row]:
    """All tasks, split by split."""
    for split in SPLITS:
        yield classification("tumours", load_breast_cancer, False, split)
        yield classification("digits", load_digits, True, split)
    for split in SPLITS:
        yield regression("smooth", smooth, split)
        yield regression("steps", steps, split)


def main() -> None:
    """Write the table, a row for each method on each split."""
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        named = [f"{method}_{what}" for what in ("error", "score") for method in METHODS]
        writer.writerow(["task", "split", *named])
        for row in rows():
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
