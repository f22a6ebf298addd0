"""Right calls of kernels, means, likelihoods, regression, Laplace and fitting."""

from __future__ import annotations

from typing import Any

import numpy as np

import gpnotes
from gpnotes import GP, RBF, ConstantMean, condition, fit, testing
from gpnotes.assess import crossval, scores
from gpnotes.assess.variograms import expected_variogram, variogram
from gpnotes.infer import laplace, linear_smoother, svgp
from gpnotes.infer.heteroscedastic import HeteroscedasticGP
from gpnotes.infer.linear import BayesianLinear
from gpnotes.infer.repeats import means_of_repeats
from gpnotes.model import kernels, likelihoods, means, priors

from ..answers import Call, call
from ..kinds import (
    Argument,
    covariance,
    entries,
    flag,
    function,
    matrix,
    nonnegative,
    number,
    one_of,
    pairs,
    positive,
    stream,
    thing,
    vector,
    whole,
    within,
)  # fmt: skip
from ..posteriors import CLASSES_LACK, of_posterior

_DRAW = np.random.default_rng(0)
_X, _XS = _DRAW.standard_normal((6, 2)), _DRAW.standard_normal((4, 2))
_Y = _DRAW.standard_normal(6)
_LABELS = np.asarray([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
_GP = GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.1, ConstantMean(0.5))
_POSTERIOR = gpnotes.condition(_GP, _X, _Y)
_VARYING = condition(HeteroscedasticGP(GP(RBF(), 0.1), RBF()), _X, _Y)
_LAPLACE = condition(laplace.LaplaceGP(GP(RBF(), 0.0)), _X, _LABELS)
_EP = condition(laplace.EPGP(GP(RBF(), 0.0)), _X, _LABELS)
_SOFTMAX = condition(laplace.SoftmaxGP(GP(RBF(), 0.0), 3), _X, 1.0 + _LABELS)
_PHI = _DRAW.standard_normal((6, 3))
_LINEAR = BayesianLinear(np.eye(3), 0.1)
_WEIGHTS = gpnotes.condition(_LINEAR, _PHI, _Y)
_ARD = vector([1.0, 2.0], mates=False).but(
    "a number",
    "a list",
    "a scalar array",
    zero=np.asarray([0.0, 1.0]),
    negative=np.asarray([-1.0, 1.0]),
)
_FITTED = fit(_GP, _X, _Y, restarts=1, rng=gpnotes.stream(0), max_steps=3)
_GPS = thing(_GP, RBF(), _POSTERIOR)
_XY = {"X": matrix(_X, rows=True), "y": vector(_Y, size=True)}
_LABELLED = {
    "X": matrix(_X, rows=True),
    "y": vector(_LABELS, size=True).but("a scalar array", other=2.0 * _LABELS),
}
BOUNDS = pairs({"kernel.variance": (0.1, 10.0)}).but()
NAMES = Argument((), {"an unknown name": ["nobody"], "None": None, "a number": 3, "numbers": [3],
                       "a string": "noise_var"})  # fmt: skip

_PRIORS = Argument(
    {"noise_var": priors.LogNormalPrior()},
    {"a number": 3, "a string": "noise_var", "an unknown name": {"nobody": priors.NormalPrior()},
     "no prior": {"noise_var": 1.0}},
)  # fmt: skip

_PARTS = thing((RBF(), RBF())).but("a list", strings=("a", "b"), empty=())
_STATIONARY = {"variance": positive(), "lengthscale": _ARD}
_BANDS = Argument(
    (1.0, 0.5), {"None": None, "a number": 1.0, "a string": "x", "another number": (1.0,)}
)
_EDGES = Argument(((0, 1),), {
    "None": None, "a number": 1.0, "a string": "x", "one edge": (0, 1), "beyond": ((0, 2),),
    "fractions": ((0.0, 1.0),), "three ends": ((0, 1, 1),), "a loop": ((1, 1),),
})  # fmt: skip
_PATH = kernels.Graph(4, [(0, 1), (1, 2), (2, 3)])
_KINDS = (
    ("RBF", kernels.RBF, _STATIONARY),
    ("Matern12", kernels.Matern12, _STATIONARY),
    ("Matern32", kernels.Matern32, _STATIONARY),
    ("Matern52", kernels.Matern52, _STATIONARY),
    ("RationalQuadratic", kernels.RationalQuadratic, {**_STATIONARY, "alpha": positive()}),
    ("Periodic", kernels.Periodic, {**_STATIONARY, "period": _ARD}),
    *((one.__name__, one, {"variance": positive(), "lengthscale": positive()})
      for one in (kernels.CircularRBF, kernels.CircularMatern12, kernels.CircularMatern32)),
    ("CircularArcCosine", kernels.CircularArcCosine, {"variance": positive()}),
    ("Hamming", kernels.Hamming, _STATIONARY),
    ("Linear", kernels.Linear, {"variance": _ARD}),
    ("Polynomial", kernels.Polynomial,
     {"variance": positive(), "bias": nonnegative(), "degree": whole()}),
    ("ArcCosine", kernels.ArcCosine,
     {"variance": positive(), "weight_variance": _ARD, "bias_variance": positive(),
      "order": whole(2, 0)}),
    ("GraphHeat", kernels.GraphHeat,
     {"graph": thing(_PATH), "variance": positive(), "lengthscale": positive()}),
    ("GraphMatern", kernels.GraphMatern,
     {"graph": thing(_PATH), "variance": positive(), "lengthscale": positive(),
      "smoothness": positive()}),
    ("Constant", kernels.Constant, {"variance": positive()}),
    ("White", kernels.White, {"variance": positive()}),
    ("ThinPlate", kernels.ThinPlate, {"variance": positive(), "radius": positive()}),
    ("Wiener", kernels.Wiener, {"variance": positive(), "origin": number(0.0)}),
    ("IntegratedWiener", kernels.IntegratedWiener,
     {"variance": positive(), "origin": number(0.0)}),
    ("GradientNoise", kernels.GradientNoise, {"variance": positive()}),
)  # fmt: skip
_CIRCULAR = kernels.CircularRBF(1.0, 0.7)
_ORDERS = vector([0.0, 1.0, 3.0], mates=False).but(
    fractions=np.asarray([0.0, 0.5]), negative=np.asarray([-1.0, 1.0])
)
_MADE: tuple[tuple[str, Any], ...] = (
    ("RBF", RBF(1.0, np.asarray([1.0, 2.0]))), ("Matern52", kernels.Matern52()),
    ("Periodic", kernels.Periodic()), ("Linear", kernels.Linear()),
    ("Polynomial", kernels.Polynomial()), ("ArcCosine", kernels.ArcCosine()),
    ("Cosine", kernels.Cosine()), ("White", kernels.White()),
    ("Sum", RBF() + kernels.Linear()), ("Product", RBF() * kernels.Linear()),
    ("Circular", _CIRCULAR.on(0)), ("Scaled", 2.0 * RBF()), ("ActiveDims", RBF().on(1)),
    ("ThinPlate", kernels.ThinPlate(1.0, 9.0)),
    ("IntegratedWiener", kernels.IntegratedWiener(1.0, -9.0).on(0)),
)  # fmt: skip


def _of_kernel(name: str, kernel: Any) -> tuple[Call, ...]:
    x, z = matrix(_X, columns=True), matrix(_XS, columns=True).but("None")
    bar = matrix(np.ones((6, 4)), rows=True, columns=True)
    fixed_columns = name in ("RBF", "ActiveDims")
    alone = matrix(_X, mates=False)
    if not fixed_columns:
        x, z = x.but("no columns"), z.but("no columns")
    return (
        call(f"{name}()", kernel, x=x, z=z),
        call(f"{name}.diag", kernel.diag, x=alone),
        call(f"{name}.pullback", kernel.pullback, x=x, z=z, K_bar=bar),
        call(f"{name}.diag_pullback", kernel.diag_pullback, x=matrix(_X, rows=True),
             d_bar=vector(np.ones(6), size=True)),
    )  # fmt: skip


def _of_labelled(name: str, kernel: Any) -> tuple[Call, ...]:
    """Of a kernel whose inputs, (n, 2) here, end in a column of labels."""
    wrong = {"beyond": _labelled(2.0), "negative": _labelled(-1.0), "fractions": _labelled(0.5)}
    x = matrix(_labelled(1.0), mates=False).but(**wrong)
    bars = {"K_bar": matrix(np.ones((6, 6)), rows=True), "d_bar": vector(np.ones(6), size=True)}
    return (
        call(f"{name}()", kernel, x=x, z=x.but("None")),
        call(f"{name}.diag", kernel.diag, x=x),
        call(f"{name}.pullback", lambda x, K_bar: kernel.pullback(x, None, K_bar), x=x,
             K_bar=bars["K_bar"]),
        call(f"{name}.diag_pullback", kernel.diag_pullback, x=x, d_bar=bars["d_bar"]),
    )  # fmt: skip


_CODES = np.asarray([[0.0], [1.0], [2.0], [2.0], [0.0], [1.0]])
_FRACTIONS = {"fractions": 0.5 * _CODES}
_OF_OUTPUTS = (
    ("Coregion", kernels.Coregion(np.ones((3, 1)), np.ones(3))),
    ("OutputNoise", kernels.OutputNoise(np.ones(3))),
)


def _of_outputs(name: str, kernel: Any) -> tuple[Call, ...]:
    """Of a kernel whose inputs are a column of numbers of outputs, below three here."""
    outputs = np.asarray([[0.0], [1.0], [2.0], [2.0], [0.0], [1.0]])
    wrong = {"beyond": outputs + 1.0, "negative": outputs - 1.0, "fractions": 0.5 * outputs}
    x = matrix(outputs, mates=False).but("no columns", **wrong)
    bars = {"K_bar": matrix(np.ones((6, 6)), rows=True), "d_bar": vector(np.ones(6), size=True)}
    return (
        call(f"{name}()", kernel, x=x, z=x.but("None")),
        call(f"{name}.diag", kernel.diag, x=x),
        call(f"{name}.pullback", lambda x, K_bar: kernel.pullback(x, None, K_bar), x=x,
             K_bar=bars["K_bar"]),
        call(f"{name}.diag_pullback", kernel.diag_pullback, x=x, d_bar=bars["d_bar"]),
    )  # fmt: skip


def _labelled(label: float) -> np.ndarray:
    return np.stack([_X[:, 0], np.full(6, label)], axis=1)


def _of_likelihood(name: str, likelihood: Any, y: Argument) -> tuple[Call, ...]:
    average = {"y": y, "mean": _F, "variance": _VARIANCE}
    nodes = {"nodes": whole(5, 2)}
    return (
        call(f"{name}.log_density", likelihood.log_density, y=y, f=_F),
        call(f"{name}.derivatives", likelihood.derivatives, y=y, f=_F),
        call(f"{name}.pullback", likelihood.pullback, y=y, f=_F, bar=_BAR),
        call(
            f"{name}.derivatives_bar",
            likelihood.derivatives_bar,
            y=y,
            f=_F,
            bar=_BAR,
            first_bar=_BAR,
            second_bar=_BAR,
        ),
        call(f"{name}.expected_log_density", likelihood.expected_log_density, **average, **nodes),
        call(f"{name}.expected_derivatives", likelihood.expected_derivatives, **average, **nodes),
        call(f"{name}.log_predictive", likelihood.log_predictive, **average),
        call(f"{name}.predict", likelihood.predict, mean=_F, variance=_VARIANCE),
    )


def _of_mean(name: str, mean: Any) -> tuple[Call, ...]:
    return (
        call(f"{name}()", mean, x=matrix(_X, mates=False)),
        call(f"{name}.pullback", mean.pullback, x=matrix(_X, rows=True),
             bar=vector(np.ones(6), size=True)),
    )  # fmt: skip


_BASIS_MEAN = means.BasisMean(means.Powers(1), gpnotes.Normal(np.zeros(3), np.eye(3)))
_F = vector(np.linspace(-1.0, 1.0, 6), size=True).but("a number", "a scalar array")
_BERNOULLI, _GAUSSIAN = likelihoods.Bernoulli(), likelihoods.Gaussian(0.5)
_VARIANCE = vector(np.ones(6), size=True).but(negative=-np.ones(6))
_NUMBERS = vector(_Y, size=True).but("a number", "a scalar array")
_COUNTS = vector([0.0, 1.0, 5.0, 2.0, 0.0, 3.0], size=True).but(
    "a scalar array", fractions=_Y, negative=-np.ones(6)
)
_BAR = vector(np.ones(6), size=True)
_LABEL = _LABELLED["y"]

_MODEL = svgp.SVGP(GP(RBF(), 0.0), _BERNOULLI, _XS)
_SPARSE = condition(_MODEL, _X, _LABELS)
_SPARSES = {"posterior": thing(_SPARSE, _LAPLACE, _MODEL), **_LABELLED}
_RULE = likelihoods.RobustMax(3, 0.1)
_CLASSES = condition(svgp.SVGP(GP(RBF(), 0.0), _RULE, _XS), _X, 1.0 + _LABELS)
_CLASS = vector(1.0 + _LABELS, size=True).but("a scalar array", other=2.0 * _LABELS)
_MOMENTS = {
    "mean": matrix(np.ones((6, 3)), rows=True, columns=True),
    "variance": matrix(np.ones((6, 3)), rows=True, columns=True).but(negative=-np.ones((6, 3))),
}

_SCORED = {"y": vector(_Y, size=True), "mean": vector(_Y[::-1], size=True)}
_NORMALS = {**_SCORED, "variance": vector(np.ones(6), size=True).but(
    zero=np.zeros(6), negative=-np.ones(6), tiny=np.full(6, 1e-300))}  # fmt: skip
_TRAINED = {"y_train": vector(_LABELS).but(**{"no entries": _Y[:0]})}
_LEVEL = {"level": within(0.9, 0.0, 1.0)}
_LABELLED_ROWS = Argument([1, 1, 2, 2, 3, 3], {
    "a string": "ababab", "a number": 3, "a set": {1, 2}, "one label": [1] * 6, "nothing": [],
    "fractions": [0.5] * 6, "truths": [True, False] * 3, "a mixture": [1, "a"] * 3,
    "floats in an array": np.asarray([1.0, 2.0] * 3), "nested": [[1], [2]] * 3,
    "a matrix": np.ones((6, 2), dtype=int), "truths in an array": np.asarray([True, False] * 3),
})  # fmt: skip
_FIT = function(lambda X, y: gpnotes.condition(GP(RBF(), 0.1), X, y)).but(
    **{"what returns nothing": lambda X, y: None, "what returns a process": lambda X, y: _GP}
)

CALLS = (
    call("variogram", variogram, X=matrix(_X, rows=True), y=vector(_Y, size=True),
         bins=whole(3, 1), reach=positive(2.0).but("None"), robust=flag()),
    call("expected_variogram", expected_variogram, gp=thing(_GP, RBF()),
         X=matrix(_X, mates=False), bins=whole(3, 1), reach=positive(2.0).but("None")),
    *(call(name, kind, **arguments) for name, kind, arguments in _KINDS),
    *(row for name, kernel in _MADE for row in _of_kernel(name, kernel)),
    *_of_labelled("WithGradients", kernels.WithGradients(RBF())),
    *_of_labelled("GradientNoise", kernels.GradientNoise()),
    call("WithGradients", kernels.WithGradients, kernel=thing(RBF(), _GP, kernels.Matern12())),
    *(call(name, getattr(kernels, name), x=matrix(_X, mates=False))
      for name in ("values_at", "gradients_at")),
    call("Coregion", kernels.Coregion, weights=matrix(np.ones((3, 2)), rows=True).but("no columns"),
         own=vector(np.ones(3), size=True).but(negative=-np.ones(3))),
    call("OutputNoise", kernels.OutputNoise, variance=vector(np.ones(3), mates=False).but(
         "a number", "a scalar array", "no entries", zero=np.zeros(3), negative=-np.ones(3))),
    call("Hamming()", kernels.Hamming(), x=matrix(_CODES, columns=True).but(**_FRACTIONS),
         z=matrix(_CODES[:4], columns=True).but("None", **_FRACTIONS)),
    *(row for name, kernel in _OF_OUTPUTS for row in _of_outputs(name, kernel)),
    call("outputs_at", kernels.outputs_at, x=matrix(_X, mates=False), outputs=whole(2, 1)),
    call("readings_of", kernels.readings_of, x=matrix(_X, rows=True),
         Y=matrix(np.ones((6, 3)), rows=True), gaps=flag()),
    call("derivatives_at", kernels.derivatives_at, x=matrix(_X, mates=False),
         which=whole(1, 1).but(beyond=3)),
    call("ConstantOfValues", means.ConstantOfValues, value=number()),
    *_of_mean("ConstantOfValues", means.ConstantOfValues(1.0)),
    call("Circular.coefficients", _CIRCULAR.coefficients, orders=_ORDERS),
    call("Circular.coefficients_pullback", _CIRCULAR.coefficients_pullback, orders=_ORDERS,
         bar=vector(np.ones(3), size=True)),
    call("Cosine", kernels.Cosine, frequency=vector([1.0, -2.0], mates=False).but(
         "a list", "a number", "a scalar array")),
    call("spectral_mixture", kernels.spectral_mixture,
         **dict.fromkeys(("variances", "frequencies", "bandwidths"), _BANDS)),
    call("Graph", kernels.Graph, nodes=whole(), edges=_EDGES),
    call("kernel.on", lambda dims: RBF().on(*dims), dims=entries((0, 1), 2, empty=False).but(
         "beyond", "one number", "a mask", "None", "nested", "a string", "numerals")),
    call("ActiveDims", kernels.ActiveDims, kernel=thing(RBF(), _GP),
         dims=entries((0, 1), 2, empty=False).but("beyond", "one number", "a string", "numerals")),
    call("Scaled", kernels.Scaled, scale=positive(), kernel=thing(RBF(), _GP)),
    call("Power", kernels.Power, kernel=thing(RBF(), _GP), exponent=whole(2, 1)),
    call("OnSphere", kernels.OnSphere, kernel=thing(RBF(), _GP), radius=positive()),
    call("great_circle_distances", kernels.great_circle_distances,
         x=matrix(_X, columns=True), z=matrix(_XS, columns=True).but("None"), radius=positive()),
    call("Sum", kernels.Sum, parts=_PARTS),
    call("Product", kernels.Product, parts=_PARTS),
    call("named", kernels.named, trend=thing(RBF(), _GP), season=thing(kernels.Periodic(), _GP)),
    call("named_product", kernels.named_product, wave=thing(kernels.Periodic(), _GP),
         decay=thing(RBF(), _GP)),
    *_of_mean("ZeroMean", means.ZeroMean()), *_of_mean("ConstantMean", means.ConstantMean(1.0)),
    call("ConstantMean", means.ConstantMean, value=number()),
    *_of_mean("BasisMean", _BASIS_MEAN),
    call("BasisMean", means.BasisMean, basis=function(means.Powers(1)),
         weights=thing(gpnotes.Normal(np.zeros(3), np.eye(3)), optional=True)),
    call("BasisMean.columns", _BASIS_MEAN.columns, x=matrix(_X, mates=False)),
    call("BasisMean.columns_pullback", _BASIS_MEAN.columns_pullback,
         x=matrix(_X, rows=True), bar=matrix(np.ones((6, 3)), rows=True, columns=True)),
    call("Powers", means.Powers, degree=whole(2, 0)),
    call("Powers()", means.Powers(1), x=matrix(_X, mates=False)),
    call("Powers.pullback", means.Powers(1).pullback,
         x=matrix(_X, rows=True), bar=matrix(np.ones((6, 3)), rows=True, columns=True)),
    call("Bernoulli", likelihoods.Bernoulli, link=one_of("probit")),
    call("RobustMax", likelihoods.RobustMax, classes=whole(3, 2), slip=within(0.1, 0.0, 1.0)),
    call("RobustMax.probability", _RULE.probability, **_MOMENTS),
    *(call(f"RobustMax.{name}", getattr(_RULE, name), y=_CLASS, **_MOMENTS, nodes=whole(20, 2))
      for name in ("expected_log_density", "expected_derivatives")),
    call("Categorical", likelihoods.Categorical, classes=whole(3, 2)),
    call("Categorical.probability", likelihoods.Categorical(3).probability, **_MOMENTS),
    *(call(f"Categorical.{name}", getattr(likelihoods.Categorical(3), name), y=_CLASS, **_MOMENTS,
           nodes=whole(20, 2))
      for name in ("expected_log_density", "expected_derivatives")),
    call("Gaussian", likelihoods.Gaussian, variance=positive()),
    call("StudentT", likelihoods.StudentT, scale=positive(), dof=positive()),
    *_of_likelihood("Bernoulli", _BERNOULLI, _LABEL),
    *_of_likelihood("Gaussian", _GAUSSIAN, _NUMBERS),
    *_of_likelihood("Poisson", likelihoods.Poisson(), _COUNTS),
    call("Binomial", likelihoods.Binomial, trials=whole(3, 1)),
    call("NegativeBinomial", likelihoods.NegativeBinomial, shape=positive()),
    *_of_likelihood("Binomial", likelihoods.Binomial(9), _COUNTS),
    *_of_likelihood("NegativeBinomial", likelihoods.NegativeBinomial(), _COUNTS),
    *_of_likelihood("StudentT", likelihoods.StudentT(), _NUMBERS),
    call("Bernoulli.entropy", _BERNOULLI.entropy, f=vector(_F.right, mates=False).but(
         "one more axis", "two more axes", "a column", "a scalar array")),
    *(call(f"Bernoulli.{name}", getattr(_BERNOULLI, name), mean=_F, variance=_VARIANCE)
      for name in ("probability", "expected_entropy", "information")),
    call("Bernoulli.tilted", _BERNOULLI.tilted, y=_LABEL, mean=_F, variance=_VARIANCE),
    call("GP", GP, kernel=thing(RBF(), _GP), noise_var=nonnegative(0.1),
         mean=thing(ConstantMean(1.0), RBF())),
    call("prior", gpnotes.prior, gp=_GPS, Xs=matrix(_XS, columns=True, mates=False), noise=flag()),
    *of_posterior(_POSTERIOR, _X, vector(_Y, size=True), lacks=("probability",)),
    call("ExactPosterior.extend", _POSTERIOR.extend,
         x=matrix(_XS[:1], columns=True).but("a vector"),
         y=vector(_Y[:1], size=True).but("a number", "a scalar array"),
         **{name: vector([0.3], size=True).but("None", negative=np.asarray([-0.3])).table
            for name in ("noise_var", "weights")}),
    call("mean_squared_error", scores.mean_squared_error, **_SCORED),
    call("standardised_mean_squared_error", scores.standardised_mean_squared_error, **{
         **_SCORED, "y": _SCORED["y"].but(**{"all equal": np.ones(6)})}),
    call("log_loss", scores.log_loss, **_NORMALS),
    call("mean_standardised_log_loss", scores.mean_standardised_log_loss, **_NORMALS,
         y_train=_TRAINED["y_train"].but(**{"all equal": np.ones(6)})),
    call("crps", scores.crps, **_NORMALS),
    call("coverage", scores.coverage, **_NORMALS, **_LEVEL),
    call("score_all", scores.score_all, **_NORMALS, **_TRAINED, **_LEVEL),
    call("hat_matrix", linear_smoother.hat_matrix, posterior=thing(_POSTERIOR, _GP),
         Xs=matrix(_XS, columns=True).but("None")),
    call("degrees_of_freedom", linear_smoother.degrees_of_freedom,
         posterior=thing(_POSTERIOR, _GP)),
    call("generalised_cross_validation", linear_smoother.generalised_cross_validation,
         posterior=thing(_POSTERIOR, _GP)),
    call("kfold", crossval.kfold, n=whole(6, 2), folds=whole(3, 2).but(**{"too many": 7}),
         rng=stream()),
    call("group_folds", crossval.group_folds, groups=_LABELLED_ROWS.but(none=None)),
    call("cross_validate", crossval.cross_validate, fit=_FIT, **_XY,
         folds=whole(3, 2).but(**{"more than rows": 7}), rng=stream(), **_LEVEL),
    call("cross_validate, groups", crossval.cross_validate, fit=_FIT, **_XY,
         groups=_LABELLED_ROWS.but(none=None, short=[1, 2], long=[1, 2] * 4)),
    call("fit", fit, model=_GPS, X=_XY["X"].table, y=_XY["y"].table, restarts=whole(1, 0),
         rng=stream(), restart_sd=nonnegative(), bounds=BOUNDS, priors=_PRIORS, fixed=NAMES,
         max_steps=whole(3), callback=function(lambda run: None).but("None"), progress=flag(),
         on_step=function(lambda step: None).but("None"), jobs=whole(1, 1)),
    call("fit from batches", fit, model=thing(_MODEL, RBF(), _SPARSE), rng=stream(),
         X=_LABELLED["X"].table, y=_LABELLED["y"].table,
         minibatches=thing(svgp.Minibatches(3), 3, _MODEL, optional=True),
         max_steps=whole(2), fixed=NAMES, callback=function(lambda progress: None).but("None"),
         progress=flag()),
    call("Fit.report", _FITTED.report, run=whole(1, 0).but(**{"too many": 2})),
    call("means_of_repeats", means_of_repeats, **_XY),
    call("Repeats.log_evidence_within", means_of_repeats(_X, _Y).log_evidence_within,
         noise_var=positive()),
    call("HeteroscedasticGP", HeteroscedasticGP, gp=thing(GP(RBF(), 0.1), RBF()),
         noise_kernel=thing(RBF(), GP(RBF(), 0.1))),
    call("HeteroscedasticPosterior.noise_var", _VARYING.noise_var, Xs=matrix(_XS, columns=True)),
    call("HeteroscedasticPosterior.log_noise_var", _VARYING.log_noise_var,
         Xs=matrix(_XS, columns=True)),
    *of_posterior(_VARYING, _X, vector(_Y, size=True),
                  lacks=("probability", "covariance", "joint")),
    call("LaplaceGP", laplace.LaplaceGP, gp=thing(GP(RBF(), 0.0), RBF()),
         likelihood=thing(_BERNOULLI, RBF())),
    *of_posterior(_LAPLACE, _X, _LABELLED["y"]),
    call("EPGP", laplace.EPGP, gp=thing(GP(RBF(), 0.0), RBF()),
         likelihood=thing(_BERNOULLI, RBF())),
    *of_posterior(_EP, _X, _LABELLED["y"]),
    call("SoftmaxGP", laplace.SoftmaxGP, gp=thing(GP(RBF(), 0.0), RBF()), classes=whole(3, 2)),
    *of_posterior(_SOFTMAX, _XS, None, lacks=(*CLASSES_LACK, "probability")),
    call("SoftmaxPosterior.class_covariance", _SOFTMAX.class_covariance,
         Xs=matrix(_XS, columns=True), chunk=whole(2, optional=True)),
    call("SoftmaxPosterior.probability", _SOFTMAX.probability, Xs=matrix(_XS, columns=True),
         rng=stream(), num_samples=whole(10, 2), chunk=whole(2, optional=True)),
    call("SVGP", svgp.SVGP, gp=thing(GP(RBF(), 0.0), RBF()), likelihood=thing(_BERNOULLI, RBF()),
         inducing=matrix(_XS, mates=False).table.but(
             **{"no rows": _XS[:0], "no columns": _XS[:, :0], "none": 0, "less than none": -3}),
         nodes=whole(5, 2)),
    call("svgp.initial_posterior", svgp.initial_posterior, model=thing(_MODEL, _MODEL.gp, _SPARSE)),
    call("natural_gradient_step", svgp.natural_gradient_step, **_SPARSES,
         step_size=positive(0.5).but(**{"too long": 1.5}), total=whole(9, 6, optional=True)),
    *(call(f"svgp.{name}", getattr(svgp, name), **_SPARSES, total=whole(9, 6, optional=True))
      for name in ("elbo", "elbo_and_gradient")),
    call("svgp.Minibatches", svgp.Minibatches, size=whole(3, 1),
         step_size=positive(0.5).but(**{"too long": 1.5}), learning_rate=nonnegative(0.1),
         start=thing(svgp.initial_posterior(_MODEL), _LAPLACE, _MODEL, optional=True)),
    call("svgp.batches", svgp.batches, rng=stream(), n=whole(6), size=whole(2).but(
         **{"too many": 7})),
    *of_posterior(_SPARSE, _X, _LABELLED["y"]),
    *of_posterior(_CLASSES, _X, _CLASS, lacks=CLASSES_LACK),
    call("BayesianLinear", BayesianLinear, prior_cov=covariance(np.eye(3), mates=False).but(
         "no rows", "no columns"), noise_var=positive()),
    *of_posterior(_WEIGHTS, _PHI, vector(_Y, size=True), lacks=("probability",)),
    call("WeightPosterior.sample_weights", _WEIGHTS.sample_weights, rng=stream(),
         num_samples=whole(2, 0)),
    call("WeightPosterior.update", _WEIGHTS.update,
         phi=matrix(_PHI, columns=True, rows=True).but("a vector"),
         y=vector(_Y, size=True)),
    call("check_kernel", testing.check_kernel, kernel=thing(RBF(), _GP), X=matrix(_X, mates=False),
         labels=flag()),
    call("check_mean", testing.check_mean, mean=thing(ConstantMean(1.0), _GP),
         X=matrix(_X, mates=False)),
    call("check_prior", testing.check_prior, prior=thing(priors.NormalPrior(), RBF()),
         value=number(0.5)),
    call("check_likelihood", testing.check_likelihood, likelihood=thing(_BERNOULLI, RBF()),
         y=vector(_LABELS, size=True), f=vector(np.linspace(-1.0, 1.0, 6), size=True),
         log_concave=flag()),
    call("check_posterior", testing.check_posterior, posterior=thing(_POSTERIOR, _GP),
         Xs=matrix(_XS, columns=True), normal_noise=flag(True)),
    call("check_classes", testing.check_classes, posterior=thing(_SOFTMAX, _GP),
         Xs=matrix(_XS, columns=True)),
)  # fmt: skip
