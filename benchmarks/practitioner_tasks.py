"""What a practitioner would do on the first day, beside what they would otherwise have used.

``python benchmarks/practitioner_tasks.py`` runs the tasks of the page *Seventeen recipes* on tables
of scikit-learn's, of the book's and of draws, each beside a rival in the same run, in turns, and
prints for each the quality, the seconds, and how many statements it took. ``--only counts`` runs
those whose name holds a word. What has no rival here is in ``ALONE``, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import statistics
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from scipy.stats import poisson
from sklearn import datasets, ensemble, gaussian_process, linear_model, model_selection
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import gpnotes
from gpnotes import GP, RBF, ConstantMean, Matern32, Periodic, dataset, fit, named, stream
from gpnotes.assess.scores import log_loss, mean_squared_error

Answer = dict[str, float]


@dataclass(frozen=True)
class Task:
    """A task, and two functions of nothing that do it: each returns its qualities by name."""

    name: str
    ours: Callable[[], Answer]
    rival: str
    theirs: Callable[[], Answer]


def scored(y: Any, mean: Any, sd: Any) -> Answer:
    """How far off predictions are, and what they would have bet on what came."""
    return {"rmse": rmse(y, mean), "nlpd": log_loss(y, mean, np.square(sd))}


def rmse(y: Any, mean: Any) -> float:
    """The root of the mean squared error."""
    return float(mean_squared_error(np.asarray(y), np.asarray(mean)) ** 0.5)


def _folds(estimator: Any, X: Any, y: Any) -> Answer:
    """Both scores, held out in three folds."""
    mean, sd = np.empty_like(y), np.empty_like(y)
    for train, test in model_selection.KFold(3, shuffle=True, random_state=1).split(X):
        fitted = clone(estimator).fit(X[train], y[train])
        mean[test], sd[test] = fitted.predict(X[test], return_std=True)
    return scored(y, mean, sd)


DIABETES = datasets.load_diabetes(return_X_y=True, scaled=False)


def table_ours() -> Answer:
    return _folds(gpnotes.GPRegressor(), DIABETES[0][:, [0, 2, 3, 8]], DIABETES[1])


def table_theirs() -> Answer:
    kernel = theirs.ConstantKernel() * theirs.RBF(np.ones(4)) + theirs.WhiteKernel()
    process = gaussian_process.GaussianProcessRegressor(kernel, normalize_y=True)
    return _folds(
        make_pipeline(StandardScaler(), process), DIABETES[0][:, [0, 2, 3, 8]], DIABETES[1]
    )


RECORD = dataset("co2-monthly")[-240:]
TIME, PPM = RECORD[:, :1] + (RECORD[:, 1:2] - 0.5) / 12, RECORD[:, 2]


def forecast_ours() -> Answer:
    kernel = named(
        trend=RBF(400.0, 20.0),
        season=Periodic(5.0, 1.0, 1.0) * RBF(1.0, 50.0).on(0),
        weather=Matern32(0.2, 0.5),
    )
    held = ["kernel.season.parts.0.period", "kernel.season.parts.1.kernel.variance"]
    model = GP(kernel, 0.1, ConstantMean(PPM.mean()))
    found = fit(model, TIME[:-36], PPM[:-36], fixed=held)
    mean, variance = found.posterior.predict(TIME[-36:], noise=True)
    return scored(PPM[-36:], mean, variance**0.5)


def forecast_theirs() -> Answer:
    season = theirs.ExpSineSquared(1.0, 1.0, periodicity_bounds="fixed") * theirs.RBF(50.0)
    kernel = 400.0 * theirs.RBF(20.0) + 5.0 * season
    kernel += 0.2 * theirs.Matern(0.5, nu=1.5) + theirs.WhiteKernel(0.1)
    process = gaussian_process.GaussianProcessRegressor(kernel)
    process.fit(TIME[:-36], PPM[:-36] - PPM.mean())
    mean, sd = process.predict(TIME[-36:], return_std=True)
    return scored(PPM[-36:] - PPM.mean(), mean, sd)


def _spoilt(seed: int = 4) -> tuple[Any, Any, Any]:
    X = np.linspace(0.0, 6.0, 80)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * stream(seed).normal(80)
    y[::10] += 3.0
    return X, y, np.sin(X[:, 0])


def outliers_ours() -> Answer:
    X, y, truth = _spoilt()
    model = gpnotes.SVGP(GP(RBF(), 0.0), gpnotes.StudentT(0.2, 4.0), X[::6])
    return {"rmse": rmse(truth, fit(model, X, y, max_steps=60).posterior.mean(X))}


def outliers_theirs() -> Answer:
    X, y, truth = _spoilt()
    kernel = theirs.ConstantKernel() * theirs.RBF() + theirs.WhiteKernel()
    return {
        "rmse": rmse(truth, gaussian_process.GaussianProcessRegressor(kernel).fit(X, y).predict(X))
    }


def _log_loss(estimator: Any) -> Answer:
    X, y = datasets.load_wine(return_X_y=True)
    whole = make_pipeline(StandardScaler(), estimator)
    scores = model_selection.cross_val_score(whole, X, y, scoring="neg_log_loss", cv=3)
    return {"log loss": -float(scores.mean())}


def classes_ours() -> Answer:
    return _log_loss(gpnotes.GPClassifier(kernel=RBF()))


def classes_theirs() -> Answer:
    return _log_loss(gaussian_process.GaussianProcessClassifier(1.0 * theirs.RBF()))


def _claims(seed: int = 5) -> tuple[Any, Any, Any, Any]:
    draw = stream(seed)
    age = 20.0 + 60.0 * draw.uniform((240, 1))
    years = np.round(50.0 + 400.0 * draw.uniform(240))
    rate = 0.02 + 0.06 * np.exp(-0.5 * ((age[:, 0] - 25.0) / 8.0) ** 2)
    counts = [float(np.sum(draw.uniform(int(n)) < p)) for n, p in zip(years, rate, strict=True)]
    return age, years, np.asarray(counts), rate


def counts_ours() -> Answer:
    age, years, claims, rate = _claims()
    model = gpnotes.LaplaceGP(GP(RBF(1.0, 10.0), 0.0, ConstantMean(-3.0)), gpnotes.Poisson())
    found = fit(model, age, claims, offset=np.log(years))
    new, exposure, later, _ = _claims(6)
    nats = np.mean(found.posterior.log_density(new, later, offset=np.log(exposure)))
    return {"rmse of log rate": rmse(np.log(rate), found.posterior.mean(age)), "held out": nats}


def counts_theirs() -> Answer:
    """A Poisson regression on splines, with exposures as weights of rates, as its page advises."""
    from sklearn.preprocessing import SplineTransformer

    age, years, claims, rate = _claims()
    model = make_pipeline(SplineTransformer(6), linear_model.PoissonRegressor(alpha=1e-3))
    model.fit(age, claims / years, poissonregressor__sample_weight=years)
    new, exposure, later, _ = _claims(6)
    nats = np.mean(poisson.logpmf(later, exposure * model.predict(new)))
    return {"rmse of log rate": rmse(np.log(rate), np.log(model.predict(age))), "held out": nats}


def _long() -> tuple[Any, Any, Any]:
    draw = stream(6)
    X = draw.uniform((100_000, 3)) * np.asarray([1.0, 50.0, 2000.0])
    truth = np.sin(6 * X[:, 0]) + X[:, 1] / 50
    return X, truth + 0.3 * draw.normal(100_000), truth


def rows_ours() -> Answer:
    X, y, truth = _long()
    found = gpnotes.GPRegressor(inducing=50, max_steps=10).fit(X, y)
    return {"rmse": rmse(truth[:5000], found.predict(X[:5000]))}


def rows_theirs() -> Answer:
    X, y, truth = _long()
    found = ensemble.HistGradientBoostingRegressor(random_state=0).fit(X, y)
    return {"rmse": rmse(truth[:5000], found.predict(X[:5000]))}


PEOPLE = StandardScaler().fit_transform(DIABETES[0][:200]), DIABETES[1][:200]


def _error(C: float, gamma: float, epsilon: float, kernel: str) -> float:
    machine = SVR(C=C, gamma=gamma, epsilon=epsilon, kernel=kernel)
    scores = model_selection.cross_val_score(
        machine, *PEOPLE, scoring="neg_root_mean_squared_error", cv=3
    )
    return -float(scores.mean())


def tuning_ours() -> Answer:
    from gpnotes.decide.bayesopt import Categorical, Real, Space

    space = Space({
        "C": Real(1.0, 1e4, log=True), "gamma": Real(1e-3, 1.0, log=True),
        "epsilon": Real(0.1, 30.0, log=True), "kernel": Categorical(["rbf", "sigmoid"]),
    })  # fmt: skip
    least = [
        gpnotes.minimise(lambda p: _error(**p), space, 30, rng=seed).best.y for seed in range(5)
    ]
    return {"median of five": statistics.median(least)}


def tuning_theirs() -> Answer:
    def objective(trial: Any) -> float:
        return _error(
            trial.suggest_float("C", 1.0, 1e4, log=True),
            trial.suggest_float("gamma", 1e-3, 1.0, log=True),
            trial.suggest_float("epsilon", 0.1, 30.0, log=True),
            trial.suggest_categorical("kernel", ["rbf", "sigmoid"]),
        )

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    least = []
    for seed in range(5):
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(objective, n_trials=30)
        least.append(study.best_value)
    return {"median of five": statistics.median(least)}


LAND = dataset("elevation")


def _after(chosen: Any) -> Answer:
    """How far off a fit is at the rest of the map, with the places that were chosen in it."""
    rows = [*range(0, 1600, 37), *chosen]
    start = GP(gpnotes.Matern52(2e4, np.array([5.0, 5.0])), 200.0, ConstantMean(500.0))
    found = fit(start, LAND[rows, :2], LAND[rows, 2])
    return {"rmse in metres": rmse(LAND[:, 2], found.posterior.mean(LAND[:, :2]))}


def places_ours() -> Answer:
    rows = slice(0, 1600, 37)
    start = GP(gpnotes.Matern52(2e4, np.array([5.0, 5.0])), 200.0, ConstantMean(500.0))
    found = fit(start, LAND[rows, :2], LAND[rows, 2])
    return _after(gpnotes.decide.design.greedy_design(found.posterior, LAND[:, :2], 20).indices)


def places_by_chance() -> Answer:
    return _after(np.random.default_rng(1).permutation(1600)[:20])


def intervals_ours() -> Answer:
    from gpnotes.assess.calibration import split_conformal

    X, y = DIABETES[0][:, [0, 2, 3, 8]], DIABETES[1]
    fitted = gpnotes.GPRegressor().fit(X[:200], y[:200])
    mean, sd = fitted.predict(X[200:], return_std=True)
    promise = split_conformal(y[200:300], mean[:100], sd[:100], level=0.9)
    low, high = promise.interval(mean[100:], sd[100:])
    return {
        "width": float(np.mean(high - low)),
        "coverage": float(np.mean((low <= y[300:]) & (y[300:] <= high))),
    }


def intervals_theirs() -> Answer:
    from mapie.regression import SplitConformalRegressor

    X, y = DIABETES[0][:, [0, 2, 3, 8]], DIABETES[1]
    forest = ensemble.RandomForestRegressor(random_state=0).fit(X[:200], y[:200])
    promise = SplitConformalRegressor(forest, confidence_level=0.9, prefit=True)
    promise.conformalize(X[200:300], y[200:300])
    low, high = promise.predict_interval(X[300:])[1][:, :, 0].T
    return {
        "width": float(np.mean(high - low)),
        "coverage": float(np.mean((low <= y[300:]) & (y[300:] <= high))),
    }


def _rooms() -> tuple[Any, Any, Any]:
    """Two records of one wave, the second with a gap of a fifth of the time."""
    hours = np.linspace(0.0, 10.0, 60)[:, None]
    indoors = np.sin(hours[:, 0]) + 0.3 * np.sin(5.0 * hours[:, 0])
    whole = np.stack([indoors, 2.0 * indoors + 1.0], axis=1)
    return hours, whole, whole + 0.05 * stream(11).normal((60, 2))


def gap_ours() -> Answer:
    hours, whole, read = _rooms()
    gone = (hours[:, 0] > 4.0) & (hours[:, 0] < 6.0)
    read[gone, 1] = np.nan
    found = gpnotes.MultiOutputGPRegressor(restarts=4, random_state=0).fit(hours, read)
    return {"rmse in the gap": rmse(whole[gone, 1], found.predict(hours[gone])[:, 1])}


def gap_theirs() -> Answer:
    hours, whole, read = _rooms()
    gone = (hours[:, 0] > 4.0) & (hours[:, 0] < 6.0)
    kernel = theirs.ConstantKernel() * theirs.RBF() + theirs.WhiteKernel()
    process = gaussian_process.GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=4, random_state=0
    )
    process.fit(hours[~gone], read[~gone, 1])
    return {"rmse in the gap": rmse(whole[gone, 1], process.predict(hours[gone]))}


TASKS = (
    Task("a table of numbers", table_ours, "scikit-learn's process", table_theirs),
    Task("three years ahead", forecast_ours, "scikit-learn's process", forecast_theirs),
    Task("outliers", outliers_ours, "scikit-learn's process", outliers_theirs),
    Task("classes", classes_ours, "scikit-learn's process", classes_theirs),
    Task("counts with exposure", counts_ours, "PoissonRegressor on splines", counts_theirs),
    Task("two outputs, one with a gap", gap_ours, "scikit-learn's process of one", gap_theirs),
    Task("100 000 rows", rows_ours, "HistGradientBoosting", rows_theirs),
    Task("tuning, 30 evaluations", tuning_ours, "Optuna's TPE", tuning_theirs),
    Task("where to measure", places_ours, "places by lot", places_by_chance),
    Task("intervals with a guarantee", intervals_ours, "MAPIE on a forest", intervals_theirs),
)

ALONE = {
    "all likely hyperparameters": "tests/samplers compares with ArviZ; no rival is installed here",
    "a decision process": "`tasks/processes.py` has its rivals",
    "a fit in a file, one row at a time": "`tasks/small.py` has scikit-learn's row",
    "a kernel of one's own": "a task of writing, which has no score",
    "a table that is not right": "a task of reading errors, which has no score",
    "in a pipeline": "the same code for both",
    "a game": "`tasks/games.py` has its floor",
}


def statements(function: Callable[..., Any]) -> int:
    """How many statements a function has, those of what it calls here not counted."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return len(inside) - 1


def row(task: Task, rounds: int) -> str:
    """One row of the table: quality, median seconds and statements of both sides."""
    sides = {"ours": task.ours, task.rival: task.theirs}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    answers: dict[str, Answer] = {}
    for _ in range(rounds):
        for name, call in sides.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # both libraries say where a search stopped short
                answers[name] = call()
            seconds[name].append(time.perf_counter() - start)
    parts = []
    for name, call in sides.items():
        said = ", ".join(f"{key} {value:.3g}" for key, value in answers[name].items())
        parts.append(f"{said} | {statistics.median(seconds[name]):.2g} s | {statements(call)}")
    return f"| {task.name} | {parts[0]} | {task.rival} | {parts[1]} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="tasks whose name holds this")
    given = parser.parse_args()
    print("| task | gpnotes | seconds | statements | rival | quality | seconds | statements |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for task in TASKS:
        if given.only in task.name:
            print(row(task, given.rounds), flush=True)
    for name, why in ALONE.items():
        if not given.only:
            print(f"not raced: {name}: {why}")


if __name__ == "__main__":
    main()
