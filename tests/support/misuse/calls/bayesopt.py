"""Right calls of Bayesian optimisation: acquisitions, their maximum, paths, the loop."""

from __future__ import annotations

import numpy as np

from gpnotes import GP, RBF, condition, testing
from gpnotes import stream as make_stream
from gpnotes.decide import bayesopt
from gpnotes.draw import paths

from ..answers import Call, call
from ..kinds import (
    Argument,
    covariance,
    flag,
    function,
    matrix,
    name,
    nonnegative,
    number,
    one_of,
    stream,
    thing,
    vector,
    whole,
)  # fmt: skip

_MEAN = vector([0.2, 0.5, 0.9], size=True)
_VARIANCE = vector([0.2, 0.5, 0.9], size=True).but(negative=-_MEAN.right)
_BEST: dict[str, Argument] = {"best": number(0.3), "margin": nonnegative(0.1)}
_KINDS = {
    bayesopt.UpperConfidenceBound: {"beta": nonnegative(2.0)},
    bayesopt.ProbabilityOfImprovement: _BEST,
    bayesopt.ExpectedImprovement: _BEST,
    bayesopt.LogExpectedImprovement: _BEST,
    bayesopt.LogProbabilityOfImprovement: _BEST,
}


def _methods(made: object) -> tuple[Call, Call]:
    name = type(made).__name__
    arguments = {"mean": _MEAN, "variance": _VARIANCE}
    return (
        call(f"{name}.__call__", made.__call__, **arguments),
        call(f"{name}.derivatives", made.derivatives, **arguments),
    )


_X = np.random.default_rng(1).standard_normal((6, 2))
_POSTERIOR = thing(condition(GP(RBF(), 0.1), _X, _X[:, 0]), GP(RBF(), 0.1))
_ACQUISITION = thing(bayesopt.LogExpectedImprovement(0.3), RBF())
_XS = matrix(_X[:3], columns=True)
_FEATURES = whole(8, 2).but(odd=7)
_PATHS = paths.sample_paths(_POSTERIOR.right, 2, num_features=8, rng=make_stream(1))
_NO_BOXES = {
    "one pair": (0.0, 1.0), "a pair too few": [(0.0, 1.0)], "a pair too many": [(0.0, 1.0)] * 3,
    "reversed": [(1.0, 0.0)] * 2, "nothing between": [(1.0, 1.0)] * 2, "None": None,
    "a number": 1.0, "three ends": [(0.0, 1.0, 2.0)] * 2, "words": [("a", "b")] * 2,
    "NaN": [(np.nan, 1.0)] * 2,
    "no end": [(0.0, np.inf)] * 2, "too wide": [(-1.7e308, 1.7e308)] * 2, "a string": "box",
}  # fmt: skip
_BOX = Argument([(0.0, 1.0), (-1.0, 2.0)], _NO_BOXES)

_PLACES = (
    call("predict_and_pullback", bayesopt.predict_and_pullback, posterior=_POSTERIOR, Xs=_XS),
    call("LogExpectedImprovement.with_derivatives", _ACQUISITION.right.with_derivatives,
         mean=_MEAN, variance=_VARIANCE),
    call("acquisition_and_gradient", bayesopt.acquisition_and_gradient, posterior=_POSTERIOR,
         acquisition=_ACQUISITION, Xs=_XS),
    call("maximise_acquisition", bayesopt.maximise_acquisition, posterior=_POSTERIOR,
         acquisition=_ACQUISITION, box=_BOX, rng=stream(),
         raw_samples=whole(8), num_restarts=whole(2),
         max_steps=whole(3)),
    call("thompson_sample", bayesopt.thompson_sample, posterior=_POSTERIOR, box=_BOX, rng=stream(),
         num_features=_FEATURES, raw_samples=whole(8), num_restarts=whole(2), max_steps=whole(3)),
    call("thompson_sample_among", bayesopt.thompson_sample_among, posterior=_POSTERIOR, Xs=_XS.but(
         **{"no rows": _X[:0]}), rng=stream(), num_samples=whole(2)),
    call("knowledge_gradient", bayesopt.knowledge_gradient, mean=vector([0.2, 0.5, 0.9], size=True),
         covariance=covariance(np.eye(3)), noise_var=nonnegative(0.1)),
    call("ThompsonSampling", bayesopt.ThompsonSampling, num_features=_FEATURES),
    call("BatchExpectedImprovement", bayesopt.BatchExpectedImprovement,
         num_samples=whole(8), num_features=_FEATURES),
    call("NoisyExpectedImprovement", bayesopt.NoisyExpectedImprovement, num_samples=whole(8)),
    call("fantasise", bayesopt.fantasise, posterior=_POSTERIOR, x=_XS),
    call("paths.sample_paths", paths.sample_paths, posterior=_POSTERIOR, num_samples=whole(2),
         rng=stream(), num_features=_FEATURES),
    call("Paths.__call__", _PATHS, Xs=_XS),
    call("Paths.values_and_pullback", _PATHS.values_and_pullback, Xs=_XS),
    call("check_acquisition", testing.check_acquisition, acquisition=_ACQUISITION, mean=_MEAN,
         variance=_VARIANCE.but(zero=np.zeros(3))),
)  # fmt: skip

_ACQUISITIONS = tuple(
    row
    for kind, arguments in _KINDS.items()
    for row in (
        call(kind.__name__, kind, **arguments),
        *_methods(kind(*(argument.right for argument in arguments.values()))),
    )
)

_ANY_BOX = Argument([(0.0, 1.0), (-1.0, 2.0)], _NO_BOXES).but("a pair too few", "a pair too many")


def _quick(X: np.ndarray, y: np.ndarray, *, rng: object) -> object:
    return condition(GP(RBF(), 0.1), X, y)


def _inside(x: np.ndarray) -> bool:
    return bool(x[0] < 2.0)


_LABELLED = np.concatenate([_X, np.zeros((len(_X), 1))], axis=1)
_OPTIONS = {
    "box": _ANY_BOX, "rng": stream().but("a seed"), "num_initial": whole(3, optional=True),
    "num_constraints": whole(0, 0), "gradients": flag(), "shared": flag(),
    "initial_points": matrix([[0.5, 0.5], [0.2, 1.5]], columns=True, mates=False).table.but(
        "None", outside=np.asarray([[0.5, 0.5], [0.5, 2.5]])),
    "known_evaluations": Argument((), {
                            "None": None, "a string": "x", "a number": 1.0, "pairs": [([0.5], 1.0)],
                           "a generator": iter(()), "the class": bayesopt.Evaluation}),
    "on_failure": one_of("skip"), "model": function(_quick).but("None"),
    "acquisition": function(bayesopt.LogExpectedImprovement).but(
        "None", **{"the class": bayesopt.ThompsonSampling}),
    "linear_constraints": Argument((), {
                            "None": None, "a string": "x", "a number": 1.0, "numbers": [1.0],
                            "one alone": bayesopt.LinearConstraint([1.0, 1.0], upper=1.0),
                            "too few": [bayesopt.LinearConstraint([1.0], upper=1.0)],
                            "no room": [bayesopt.LinearConstraint([1.0, 1.0], upper=-1.0)],
                            "names": [bayesopt.LinearConstraint({"x": 1.0}, upper=1.0)]}),
    "constraint": function(_inside).but("None"),
    "path": Argument(None, {"a number": 3, "a list": ["a"], "bytes": b"a", "a boolean": True,
                            "an object": object(), "the class": str}),
}  # fmt: skip
_LOOP = {
    "objective": function(lambda x: float(x[0])),
    "budget": whole(4),
    "progress": flag(),
    "callback": function(lambda evaluation: None).but("None"),
    **_OPTIONS,
}


def _optimiser() -> bayesopt.Optimiser:
    return bayesopt.Optimiser([(0.0, 1.0), (-1.0, 2.0)], rng=make_stream(1))


def _tell(x: np.ndarray, y: float, gradient: np.ndarray | None) -> None:
    optimiser = bayesopt.Optimiser([(0.0, 1.0), (-1.0, 2.0)], gradients=True, rng=make_stream(1))
    optimiser.tell(x, y, gradient)


def _knowing() -> bayesopt.Optimiser:
    optimiser = _optimiser()
    optimiser.tell(np.asarray([0.5, 0.5]), 1.0)
    optimiser.tell(np.asarray([0.2, 1.5]), 2.0)
    return optimiser


def _fail(x: np.ndarray, problem: str, on_failure: str | None) -> None:
    _optimiser().fail(x, problem, on_failure)


def _ask_batch(q: int, pending: np.ndarray) -> np.ndarray:
    return _optimiser().ask_batch(q, pending)


_INSIDE = vector([0.5, 0.5], size=True, mates=False).but(
    **{"outside": np.asarray([0.5, 2.5]), "just outside": np.asarray([-1e-9, 0.0])}
)
_SETTINGS = {
    "a class": int,
    "a list": ["a"],
    "an object": object(),
    "NaN": np.nan,
    "infinity": np.inf,
    "an array": np.ones(2),
    "a dict": {},
}
_WHEN = Argument({"kernel": ["poly"]}, {
    "a string": "poly", "a number": 1.0, "a list": ["kernel"], "a class": dict,
    "a function": abs, "none": {}, "a number for a name": {1: "poly"}, "no setting": {"kernel": []},
    **{f"a setting, {what}": {"kernel": [value]} for what, value in _SETTINGS.items()},
})  # fmt: skip
_HANGING = bayesopt.Integer(2, 5, when={"kernel": "poly"})
_KERNEL = bayesopt.Categorical(["rbf", "poly"])
_SPACE = Argument({"kernel": _KERNEL, "degree": _HANGING}, {
    "None": None, "a list": [_KERNEL], "a string": "kernel", "no dimensions": {},
    "a pair": {"kernel": (0.0, 1.0)}, "a number for a name": {1: _KERNEL},
    "nothing to search for": {"kernel": bayesopt.Fixed("rbf")},
    "hanging on nothing": {"degree": _HANGING}, "hanging on itself": {"kernel": _HANGING},
    "hanging on a real": {"kernel": bayesopt.Real(0.0, 1.0), "degree": _HANGING},
    "hanging on another choice": {"kernel": bayesopt.Categorical(["a", "b"]),
                                  "degree": _HANGING},
    "a circle": {"kernel": bayesopt.Categorical(["rbf", "poly"], when={"degree": 2}),
                 "degree": _HANGING},
})  # fmt: skip
_DIMENSIONS = (
    call("Space", bayesopt.Space, dimensions=_SPACE),
    call(
        "Real",
        bayesopt.Real,
        lower=number(0.5).but("beyond the other", zero=9.0),
        upper=number(2.0),
        log=flag(),
        when=_WHEN,
    ),
    call(
        "Integer",
        bayesopt.Integer,
        lower=whole(2).but("too small", "far too small"),
        upper=whole(5),
        log=flag(),
        when=_WHEN,
    ),
    call(
        "Categorical",
        bayesopt.Categorical,
        choices=Argument(
            ["a", "b"],
            {
                "None": None,
                "a string": "ab",
                "one": ["a"],
                "twice": ["a", "a"],
                "none": [],
                **{what: ["a", value] for what, value in _SETTINGS.items()},
            },
        ),
        when=_WHEN,
    ),
    call("Fixed", bayesopt.Fixed, value=Argument(3, _SETTINGS), when=_WHEN),
    call(
        "LinearConstraint",
        bayesopt.LinearConstraint,
        coefficients=Argument(
            [1.0, 2.0],
            {
                "None": None,
                "a string": "ab",
                "a number": 1.0,
                "words": ["a", "b"],
                "NaN": [1.0, np.nan],
                "zeros": [0.0, 0.0],
                "none": [],
            },
        ),
        upper=number(2.0).but("None", "beyond the other", below=-9.0),
        lower=number(-1.0).but("None"),
    ),
)
_KNOWING = thing(_knowing(), RBF())
_LOOPS = (
    call("fitted_model", bayesopt.fitted_model, X=matrix(_X, rows=True), y=vector(_X[:, 0]),
         rng=stream()),
    call("dim_scaled_model", bayesopt.dim_scaled_model, X=matrix(_X, rows=True), y=vector(_X[:, 0]),
         rng=stream()),
    call("fitted_with_gradients", bayesopt.fitted_with_gradients,
         X=matrix(_LABELLED, rows=True), y=vector(_X[:, 0]), rng=stream()),
    call("Optimiser", bayesopt.Optimiser, goal=one_of("maximise"), **_OPTIONS),
    call("Optimiser.ask_batch", _ask_batch, q=whole(2),
         pending=matrix([[0.5, 0.5], [0.2, 1.5]], columns=True, mates=False).table.but(
             "None", outside=np.asarray([[0.5, 0.5], [0.5, 2.5]]))),
    call("Optimiser.ask_within", lambda budget: _optimiser().ask_within(budget), budget=whole(3)),
    # a value that is not finite is a failure of the objective, not of the call
    call("Optimiser.tell", _tell, x=_INSIDE.table,
         y=number(0.3).but("NaN", "infinity", "minus infinity", "beyond all floats"),
         gradient=vector([0.5, 0.5], size=True, mates=False).but(
             "None", "a NaN", "an infinity", "minus infinity")),
    call("Optimiser.fail", _fail, x=_INSIDE.table, problem=name("no value"),
         on_failure=one_of("skip").but("None")),
    call("slices", bayesopt.slices, optimiser=_KNOWING,
         through=_INSIDE.table.but("None"), num_points=whole(3)),
    call("sobol_indices", bayesopt.sobol_indices, optimiser=_KNOWING, num_points=whole(8),
         rng=stream().but("a seed")),
    call("minimise", bayesopt.minimise, **_LOOP),
    call("maximise", bayesopt.maximise, **_LOOP),
)  # fmt: skip

_FRONT = matrix([[1.0, 3.0], [2.0, 2.0]], mates=False)
_REFERENCE = vector([4.0, 4.0], size=True, mates=False)
_GROWTH = bayesopt.ExpectedHypervolumeImprovement([[1.0, 3.0], [2.0, 2.0]], [4.0, 4.0])
_MEANS = matrix(np.full((3, 2), 1.5), columns=True)
_VARIANCES = matrix(np.full((3, 2), 0.5), columns=True).but(negative=np.full((3, 2), -0.5))
_SEVERAL = {
    **{name: _OPTIONS[name] for name in (
        "box", "rng", "path", "shared", "num_initial", "initial_points", "model",
        "linear_constraints", "constraint", "num_constraints")},
    "objectives": whole(2).but(one=1), "reference": _REFERENCE.table.but("None"),
    "on_failure": one_of("record"),
    "known_evaluations": Argument((), {**_OPTIONS["known_evaluations"].wrong,
                                       "of one objective": [bayesopt.Evaluation([0.5, 0.5], 1.0)]}),
}  # fmt: skip


def _pareto() -> bayesopt.ParetoOptimiser:
    return bayesopt.ParetoOptimiser([(0.0, 1.0), (-1.0, 2.0)], rng=make_stream(1))


_FRONTS = (
    call("pareto_front", bayesopt.pareto_front, Y=_FRONT),
    call("hypervolume", bayesopt.hypervolume, Y=_FRONT, reference=_REFERENCE),
    call("ExpectedHypervolumeImprovement", bayesopt.ExpectedHypervolumeImprovement,
         front=_FRONT.table, reference=_REFERENCE.table),
    call("ExpectedHypervolumeImprovement.__call__", _GROWTH.__call__, mean=_MEANS,
         variance=_VARIANCES),
    call("ExpectedHypervolumeImprovement.derivatives", _GROWTH.derivatives, mean=_MEANS,
         variance=_VARIANCES),
    call("ParetoOptimiser", bayesopt.ParetoOptimiser, **_SEVERAL),
    # values that are not finite are a failure of the objective, not of the call
    call("ParetoOptimiser.tell", lambda x, y: _pareto().tell(x, y), x=_INSIDE.table,
         y=vector([0.5, 0.5], size=True, mates=False).table.but(
             "a NaN", "an infinity", "minus infinity")),
    call("ParetoOptimiser.fail", lambda x, problem, on_failure: _pareto().fail(
        x, problem, on_failure), x=_INSIDE.table, problem=name("no value"),
         on_failure=one_of("record").but("None")),
    call("ParetoOptimiser.ask_batch", lambda q, pending: _pareto().ask_batch(q, pending),
         q=whole(2), pending=matrix([[0.5, 0.5], [0.2, 1.5]], columns=True, mates=False).table.but(
             "None", outside=np.asarray([[0.5, 0.5], [0.5, 2.5]]))),
    call("ParetoOptimiser.ask_within", lambda budget: _pareto().ask_within(budget),
         budget=whole(3)),
    call("minimise_several", bayesopt.minimise_several,
         objective=function(lambda x: (float(x[0]), float(x[1]))), budget=whole(4),
         progress=flag(), callback=function(lambda evaluation: None).but("None"), **_SEVERAL),
)  # fmt: skip

CALLS = (*_ACQUISITIONS, *_PLACES, *_DIMENSIONS, *_LOOPS, *_FRONTS)
