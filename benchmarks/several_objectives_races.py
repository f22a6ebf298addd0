"""The search of several objectives beside two samplers of Optuna and one of BoTorch.

It runs in the environment of `optimisation_races.py`, whose torch the problems and one of the
peers need. Every run is kept in ``several-objectives-races.jsonl`` as soon as it ends, and what is
kept is printed as a table:

    OMP_NUM_THREADS=1 apart/bin/python benchmarks/several_objectives_races.py --seeds 20

The problems are those of BoTorch's collection, none of which we had used while the search was
made. All begin with ten points of their own and have the same budget; what is compared is the
hypervolume over the reference point of the problem, which none but one is told, or with
``--reach 2`` over one twice as far from zero. BoTorch climbs its expected improvement under noise,
qLogNEHVI, with the settings of its tutorial. Seconds are those of choosing points.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from kept_runs import STANDINGS, Row, race, race_parser

from gpnotes import stream
from gpnotes.decide.bayesopt import ParetoOptimiser, hypervolume

FIRST = 10
Vector = np.ndarray
Objective = Callable[[Vector], Vector]


def _problems() -> dict[str, Any]:
    from botorch.test_functions import multi_objective as of

    return {
        "Branin-Currin": of.BraninCurrin(negate=False),
        "DTLZ2, 5 inputs": of.DTLZ2(dim=5, num_objectives=2, negate=False),
        "vehicle safety": of.VehicleSafety(negate=False),
    }


NAMES = ("Branin-Currin", "DTLZ2, 5 inputs", "vehicle safety")


def ours(
    box: Vector, objective: Objective, budget: int, seed: int, reference: Vector | None = None
) -> None:
    """`ParetoOptimiser` with nothing said but the numbers of objectives and of first points."""
    count = len(objective(box.mean(axis=1)))
    optimiser = ParetoOptimiser(
        [tuple(side) for side in box.tolist()],
        objectives=count,
        reference=reference,
        num_initial=FIRST,
        rng=stream(seed),
    )
    for _ in range(budget):
        place = optimiser.ask()
        optimiser.tell(place, objective(np.asarray(place)))


def by_chance(box: Vector, objective: Objective, budget: int, seed: int) -> None:
    """Uniform points of the box."""
    for unit in np.random.default_rng([seed, 1]).random((budget, len(box))):
        objective(box[:, 0] + unit * (box[:, 1] - box[:, 0]))


def by_optuna(name: str) -> Callable[[Vector, Objective, int, int], None]:
    """A sampler of Optuna, with as many first trials, or as small a population, as the others."""

    def run(box: Vector, objective: Objective, budget: int, seed: int) -> None:
        import optuna

        def asked(trial: Any) -> tuple[float, ...]:
            place = [trial.suggest_float(f"x{i}", *side) for i, side in enumerate(box.tolist())]
            return tuple(map(float, objective(np.array(place))))

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        more = {{"TPESampler": "n_startup_trials"}.get(name, "population_size"): FIRST}
        count = len(objective(box.mean(axis=1)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a sampler is called experimental
            sampler = getattr(optuna.samplers, name)(seed=seed, **more)
            study = optuna.create_study(sampler=sampler, directions=["minimize"] * count)
            study.optimize(asked, n_trials=budget)

    return run


def by_botorch(box: Vector, objective: Objective, budget: int, seed: int) -> None:
    """A process for each objective, and qLogNEHVI as in BoTorch's tutorial, which imports torch."""
    import torch
    from botorch import fit_gpytorch_mll
    from botorch.acquisition.multi_objective.logei import (
        qLogNoisyExpectedHypervolumeImprovement as Acquisition,
    )
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Normalize, Standardize
    from botorch.optim import optimize_acqf
    from botorch.sampling import SobolQMCNormalSampler
    from botorch.utils.multi_objective.hypervolume import infer_reference_point
    from gpytorch.mlls import SumMarginalLogLikelihood

    torch.manual_seed(seed)
    bounds = torch.as_tensor(box.T)
    sobol = torch.quasirandom.SobolEngine(len(box), scramble=True, seed=seed)
    X = bounds[0] + sobol.draw(FIRST, dtype=torch.float64) * (bounds[1] - bounds[0])
    Y = torch.as_tensor(np.array([-objective(x) for x in X.numpy()]))
    while len(X) < budget:
        models = [
            SingleTaskGP(X, y, input_transform=Normalize(len(box), bounds=bounds),
                         outcome_transform=Standardize(1))
            for y in Y.split(1, dim=1)
        ]  # fmt: skip
        model = ModelListGP(*models)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
            acquisition = Acquisition(
                model, infer_reference_point(Y[_front(Y)], scale=0.1), X,
                sampler=SobolQMCNormalSampler(torch.Size([128]), seed=seed), prune_baseline=True,
            )  # fmt: skip
            x, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512,
                                 options={"batch_limit": 5, "maxiter": 200})  # fmt: skip
        X = torch.cat([X, x])
        Y = torch.cat([Y, torch.as_tensor(-objective(x[0].numpy()))[None]])


def _front(Y: Any) -> Any:
    from botorch.utils.multi_objective.pareto import is_non_dominated

    return is_non_dominated(Y)


TOLD = "gpnotes, told the reference"
CONTESTANTS: dict[str, Callable[..., None]] = {
    "gpnotes": ours,
    TOLD: ours,
    "tpe": by_optuna("TPESampler"),
    "nsga2": by_optuna("NSGAIISampler"),
    "botorch": by_botorch,
    "random": by_chance,
}


def run(problem: str, method: str, seed: int, budget: int) -> Row:
    """All values in their order, and the seconds that it took to choose points."""
    import torch

    function = _problems()[problem]
    values: list[Vector] = []
    spent = 0.0

    def timed(x: Vector) -> Vector:
        nonlocal spent
        began = time.process_time()
        value = function(torch.as_tensor(x, dtype=torch.float64)[None])[0].numpy()
        spent += time.process_time() - began
        values.append(value)
        return value

    began = time.process_time()
    told = {"reference": function.ref_point.numpy()} if method == TOLD else {}
    CONTESTANTS[method](function.bounds.numpy().T, timed, budget, seed, **told)
    seconds = time.process_time() - began - spent
    return {
        "problem": problem, "method": method, "seed": seed, "seconds": seconds,
        "values": [value.tolist() for value in values[-budget:]],
        "reference": function.ref_point.tolist(),
    }  # fmt: skip


def table(rows: list[Row], budget: int, reach: float = 1.0) -> list[str]:
    """Median hypervolumes after half the budget and all, and how often the search was ahead."""
    found = {(row["problem"], row["method"], row["seed"]): row for row in rows}

    def volume(key: tuple[str, str, int], count: int) -> float:
        row = found[key]
        return hypervolume(np.array(row["values"][:count]), reach * np.array(row["reference"]))

    lines = [*STANDINGS]
    for problem, method in dict.fromkeys((p, m) for p, m, _ in found):
        seeds = [s for p, m, s in found if (p, m) == (problem, method)]
        halves = [volume((problem, method, s), budget // 2) for s in seeds]
        ends = [volume((problem, method, s), budget) for s in seeds]
        both = [s for s in seeds if (problem, "gpnotes", s) in found]
        won = sum(
            volume((problem, "gpnotes", s), budget) > volume((problem, method, s), budget)
            for s in both
        )
        ahead = "" if method == "gpnotes" else f"{won} of {len(both)}"
        spent = np.median([found[problem, method, s]["seconds"] for s in seeds])
        numbers = f"{len(seeds)} | {np.median(halves):.4g} | {np.median(ends):.4g}"
        lines.append(f"| {problem} | {method} | {numbers} | {ahead} | {spent:.1f} |")
    return lines


def main() -> int:
    """Race, then print the table of all runs that are kept."""
    parser = race_parser(__doc__, CONTESTANTS, NAMES, 20, 30, "several-objectives-races.jsonl")
    parser.add_argument("--reach", type=float, default=1.0)
    chosen = parser.parse_args()
    print("\n".join(table(race(chosen, run), chosen.budget, chosen.reach)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
