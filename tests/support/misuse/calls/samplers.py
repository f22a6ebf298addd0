"""Right calls of samplers, of chains of them, and of what chains are worth."""

from __future__ import annotations

import numpy as np

from gpnotes import GP, RBF, LogNormalPrior, samplers, testing
from gpnotes.ground.chunks import Rows
from gpnotes.infer.objective import objective_of

from ..answers import call
from ..kinds import Argument, flag, function, matrix, nonnegative, positive, thing, whole, within
from ..kinds import stream as stream_kind

_DRAW = np.random.default_rng(0)
_X, _Y = _DRAW.standard_normal((6, 1)), _DRAW.standard_normal(6)
_OBJECTIVE = objective_of(
    GP(RBF(), 0.1), Rows(_X, _Y), fixed=("noise_var", "kernel.variance"),
    priors={"kernel.lengthscale": LogNormalPrior()},
)  # fmt: skip
_DRAWS = matrix(_DRAW.standard_normal((3, 20)), mates=False).but("one more axis", "two more axes")
_ROOT = Argument(np.eye(2), {"a string": "x", "a number": 1.0, "a list": [1.0, 1.0],
                             "a negative scale": np.asarray([1.0, -1.0]),
                             "no square": np.ones((2, 3)), "a NaN": np.full((2, 2), np.nan),
                             "integers": np.eye(2, dtype=int)})  # fmt: skip
_STEP = {"step_size": positive(0.5), "inverse_mass_root": _ROOT}
_TARGET_ACCEPTANCE = {"target_acceptance": within(0.5, 0.0, 1.0)}


def _target(x):
    return -0.5 * float(x @ x), -x


def _of_rows(x, rows):
    return _target(x)


_TARGET = function(_target).but(**{"one that gives words": lambda x: "x"})
_PLACE = matrix(np.zeros((2, 2)), mates=False, rows=True).but("a vector")

CALLS = (
    *(call(name, getattr(samplers, name), draws=_DRAWS)
      for name in ("rhat", "ess_bulk", "ess_tail", "ess_mean", "mcse")),
    call("RandomWalkMetropolis", samplers.RandomWalkMetropolis, **_STEP, **_TARGET_ACCEPTANCE),
    call("MALA", samplers.MALA, **_STEP, **_TARGET_ACCEPTANCE),
    call("ULA", samplers.ULA, **_STEP),
    call("SGLD", samplers.SGLD, **_STEP, batch=whole(3), decay=nonnegative(0.3),
         delay=positive(2.0)),
    call("HMC", samplers.HMC, **_STEP, **_TARGET_ACCEPTANCE, num_steps=whole(3),
         jitter=within(0.5, -1e-9, 1.0)),
    call("NUTS", samplers.NUTS, **_STEP, **_TARGET_ACCEPTANCE, max_tree_depth=whole(3)),
    call("EllipticalSlice", samplers.EllipticalSlice, covariance_root=matrix(np.eye(2), rows=True),
         mean=Argument(np.ones(2), {"a string": "x", "a number": 1.0, "three": np.ones(3),
                                    "a NaN": np.full(2, np.nan)})),
    call("MinibatchDensity", samplers.MinibatchDensity, log_prior=function(_target),
         log_likelihood=function(_of_rows),
         rows=Argument(np.arange(3), {"None": None, "a list": [0, 1], "floats": np.ones(3),
                                      "nothing": np.arange(0), "a table": np.ones((2, 2), int)})),
    call("sample", samplers.sample, target=_TARGET,
         sampler=thing(samplers.NUTS()), start=_PLACE, rng=stream_kind(), num_chains=whole(2),
         num_samples=whole(4), num_warmup=whole(3, 0),
         mass_matrix=Argument("dense", {"another": "heavy", "None": None, "a number": 3}),
         progress=flag(), jobs=whole(1, 1)),
    call("check_sampler", testing.check_sampler, sampler=thing(samplers.MALA(0.5)),
         like=Argument(np.ones(1), {"a string": "x", "a number": 1.0,
                                    "integers": np.ones(1, dtype=int)}),
         target=_TARGET.but("None")),
    call("HyperparameterDensity", samplers.HyperparameterDensity,
         objective=thing(_OBJECTIVE, RBF())),
    call("average_predictions", samplers.average_predictions, objective=thing(_OBJECTIVE, RBF()),
         vectors=matrix(np.zeros((2, 1)), columns=True, mates=False).but("no rows"),
         Xs=matrix(_X, columns=True).but("a NaN").table, noise=flag()),
)  # fmt: skip
