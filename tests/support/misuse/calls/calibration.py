"""Calibration: one right call of each function."""

from __future__ import annotations

import numpy as np

from gpnotes.assess import calibration as ca

from ..answers import Call, call
from ..kinds import Argument, matrix, number, one_of, positive, stream, vector, whole, within

_Y = np.asarray([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
_F = np.asarray([0.3, -0.4, 0.5, 1.0, -0.2, -2.0])
_P = np.asarray([0.3, 0.4, 0.5, 0.9, 0.2, 0.2])

_LABELS = vector(_Y, size=True).but(
    **{"zeros and ones": 0.5 * (_Y + 1.0), "another class": 2.0 * _Y, "no labels at all": _Y[:0]}
)
_OUTSIDE = {"below zero": _P - 0.5, "above one": _P + 0.5, "per cent": 100.0 * _P}
_PREDICTED = vector(_P, size=True).but(**_OUTSIDE)
_ALONE = vector(_P, mates=False).but(**_OUTSIDE, **{"no predictions": _P[:0]})
_BINS = {"bins": whole(3, 1), "strategy": one_of("uniform")}
_GROUPS = Argument([0, 1, 0, 1, 2, 2], {
    "None": None, "a string": "aabbcc", "a number": 3, "a set": {1, 2}, "short": [0, 1],
    "fractions": [0.5] * 6, "truths": [True] * 6, "words": ["a"] * 6, "negative": [-1] * 6,
    "floats in an array": np.ones(6), "truths in an array": np.ones(6, dtype=bool),
    "negative in an array": np.full(6, -1), "a matrix": np.ones((6, 1), dtype=int),
})  # fmt: skip
_SCORE = {"y": _LABELS, "score": vector(_F, size=True)}
_SCORES = matrix(_F[None], mates=False).but(
    "a vector", "a scalar array", "one more axis", "two more axes"
)
_LEVEL = {"level": within(0.5, 0.0, 1.0)}
_NUMBERS = {"y": vector(_F, size=True), "mean": vector(_P, size=True)}
_WIDE = {"zero": np.zeros(6), "negative": -np.ones(6)}
_SPLIT = ca.SplitConformal(1.5, 0.5, 6)

CALLS: tuple[Call, ...] = (
    call("reliability", ca.reliability, y=_LABELS, probability=_PREDICTED, **_BINS),
    call("reliability, quantiles", ca.reliability, y=_LABELS, probability=_PREDICTED,
         bins=whole(3, 1).but(**{"more than predictions": 7}), strategy=one_of("quantile")),
    call("reliability_of_groups", ca.reliability_of_groups, y=_LABELS, probability=_PREDICTED,
         groups=_GROUPS),
    call("consistency_resampling", ca.consistency_resampling, probability=_ALONE, rng=stream(),
         num_samples=whole(5, 1), **_BINS),
    call("logit", ca.logit, probability=matrix(_P[None], mates=False).but(
        "a vector", "a scalar array", "one more axis", "two more axes",
        **_OUTSIDE, **{"a certain one": np.asarray([0.5, 1.0])})),
    call("TemperatureScaling", ca.TemperatureScaling, temperature=positive()),
    call("PlattScaling", ca.PlattScaling, slope=number(), intercept=number()),
    call("Isotonic", ca.Isotonic,
         knots=vector([0.0, 1.0], size=True, mates=False).but(falling=np.asarray([1.0, 0.0])),
         values=vector([0.2, 0.9], size=True, mates=False).but(
             falling=np.asarray([0.9, 0.2]), beyond=np.asarray([0.2, 1.1]))),
    call("fit_temperature", ca.fit_temperature, **_SCORE),
    call("fit_platt", ca.fit_platt, y=_LABELS.but(alike=np.ones(6)),
         score=_SCORE["score"].but(alike=np.ones(6))),
    call("fit_isotonic", ca.fit_isotonic, **_SCORE),
    *(call(f"{type(one).__name__}()", one, score=_SCORES) for one in (
        ca.TemperatureScaling(2.0), ca.PlattScaling(1.0, 0.5), ca.fit_isotonic(_Y, _F))),
    call("probability_integral_transform", ca.probability_integral_transform, **_NUMBERS,
         variance=vector(np.ones(6), size=True).but(**_WIDE)),
    call("conformal_quantile", ca.conformal_quantile,
         scores=vector(_F, mates=False).but(**{"none": _F[:0]}), **_LEVEL),
    call("conformal_coverage", ca.conformal_coverage, n=whole(6, 1), **_LEVEL),
    call("split_conformal", ca.split_conformal, **_NUMBERS, **_LEVEL,
         scale=vector(np.ones(6), size=True).but("a number", "a scalar array", "None", **_WIDE)),
    call("SplitConformal.interval", _SPLIT.interval, mean=vector(_P, size=True),
         scale=vector(np.ones(6), size=True).but("a number", "a scalar array", "None", **_WIDE)),
)  # fmt: skip
