"""Parts of a fit that a file may hold: what does not go together is refused, part by part."""

import copy

import numpy as np
import pytest

from gpnotes import RBF, Matern32
from gpnotes.estimators import GPClassifier, GPRegressor
from gpnotes.estimators.fitted import FITTED, validate_fitted
from gpnotes.ground.linalg import Cholesky
from gpnotes.infer.exact import ExactPosterior
from gpnotes.model.basis import Powers
from gpnotes.model.means import BasisMean

X = np.random.default_rng(1).normal(size=(7, 2))
Y = np.sin(X[:, 0])
TWO, THREE = np.arange(7) % 2, np.arange(7) % 3
KERNEL = RBF(1.0, 1.0)
STILL = {"optimise": False}
MODELS = {
    "exact": (GPRegressor(KERNEL, **STILL), Y),
    "trend": (GPRegressor(KERNEL, noise_var=0.1, mean=BasisMean(Powers(1)), **STILL), Y),
    "sparse": (GPRegressor(KERNEL, inducing=4, **STILL), Y),
    "laplace": (GPClassifier(KERNEL, method="laplace", **STILL), TWO),
    "ep": (GPClassifier(KERNEL, method="ep", **STILL), TWO),
    "softmax": (GPClassifier(KERNEL, method="laplace", **STILL), THREE),
    "variational": (GPClassifier(KERNEL, inducing=4, **STILL), TWO),
    "classes": (GPClassifier(KERNEL, inducing=4, **STILL), THREE),
    "fit": (GPRegressor(KERNEL, noise_var=0.1, max_steps=60), Y),
}


@pytest.fixture(scope="module")
def fitted():
    found = {name: copy.copy(model).fit(X, y).saved_values() for name, (model, y) in MODELS.items()}
    return {name: {part: values[part] for part in FITTED} for name, values in found.items()}


def with_part(obj, path, value):
    """A copy with another value at a path, which no constructor looks at."""
    first, _, rest = path.partition(".")
    if isinstance(obj, dict):
        return obj | {first: with_part(obj[first], rest, value) if rest else value}
    if isinstance(obj, tuple) and first.isdigit():
        at = int(first)
        new = list(obj)
        new[at] = with_part(obj[at], rest, value) if rest else value
        return tuple(new)
    old = getattr(obj, first)
    new = with_part(old, rest, value) if rest else value
    if hasattr(obj, "_replace"):
        return obj._replace(**{first: new})
    spoilt = copy.copy(obj)
    object.__setattr__(spoilt, first, new)
    return spoilt


def part(obj, path):
    for name in path.split("."):
        obj = obj[name] if isinstance(obj, dict) else obj[int(name)] if name.isdigit() else getattr(
            obj, name
        )  # fmt: skip
    return obj


def test_what_a_fit_has_set_is_taken(fitted):
    for values in fitted.values():
        validate_fitted(values, (type(values["posterior_"]),))


P = "posterior_."
VECTORS = {
    "exact": ["residual", "alpha", "y"],
    "trend": ["residual", "trend.weights.mean", "trend.origin"],
    "sparse": ["weight_mean"],
    "laplace": ["mode", "third", "gradient", "sqrt_W"],
    "ep": ["gradient", "sqrt_W"],
    "variational": ["weights"],
    "classes": ["whitened.2.weights"],
}
MATRICES = {
    "exact": ["X"], "trend": ["trend.solved"], "laplace": ["X"], "ep": ["X"],
    "softmax": ["X", "mode", "gradient", "curvature.share"], "sparse": ["Z"],
    "variational": ["model.inducing", "precision"],
    "classes": ["model.inducing", "whitened.1.precision"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "path"),
    [(n, p) for table in (VECTORS, MATRICES) for n, paths in table.items() for p in paths],
)
def test_arrays_have_their_shape_their_kind_and_finite_numbers(fitted, name, path):
    values, kind = fitted[name], type(fitted[name]["posterior_"])
    a = part(values, P + path)
    wrong = [a[:-1], a.astype(np.float32), np.full_like(a, np.nan), a.tolist()]
    wrong += [None] * (path != "trend.origin")  # of a mean that is measured from zero
    wrong.append(a[:, :-1] if a.ndim == 2 else a[:, None])
    for other in wrong:
        with pytest.raises((ValueError, TypeError)):
            validate_fitted(with_part(values, P + path, other), (kind,))


FACTORS = {
    "exact": ["cholesky"], "trend": ["cholesky"], "sparse": ["inducing.factor", "cholesky"],
    "laplace": ["cholesky"], "ep": ["cholesky"],
    "softmax": ["curvature.own.0", "curvature.own.2", "curvature.common"],
    "variational": ["inducing", "cholesky"], "classes": ["inducing", "whitened.0.cholesky"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "path"), [(n, p) for n, ps in FACTORS.items() for p in ps])
def test_factors_are_lower_roots_of_as_many_rows(fitted, name, path):
    values, kind = fitted[name], type(fitted[name]["posterior_"])
    lower = part(values, P + path).lower
    turned = lower.copy()
    turned[-1, -1] *= -1.0
    for wrong in (
        Cholesky(lower[:-1, :-1]), Cholesky(lower[:, :-1]), Cholesky(lower.astype(np.float32)),
        Cholesky(turned), Cholesky(np.full_like(lower, np.nan)), Cholesky(lower, -1e-9),
        Cholesky(lower, np.nan), lower, None,
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            validate_fitted(with_part(values, P + path, wrong), (kind,))
    validate_fitted(with_part(values, P + path, Cholesky(lower, 1e-9)), (kind,))


OTHER = Matern32(1.0, 1.0)
PARTS = [
    ("exact", "trend", "x", "trend must be None without a BasisMean; got 'x'"),
    ("trend", "trend", None, "trend must be a gpnotes Trend; got NoneType"),
    ("trend", "trend.mean", OTHER, "trend.mean must be a gpnotes BasisMean"),
    ("trend", "trend.weights", 3.0, "trend.weights must be a gpnotes Normal"),
    ("trend", "trend.surcharge", np.inf, "trend.surcharge must be finite"),
    ("trend", "trend.surcharge", None, "trend.surcharge must be a number"),
    ("trend", "trend.degrees_of_freedom", np.nan, "trend.degrees_of_freedom must be finite"),
    ("trend", "trend.rounding", "1", "trend.rounding must be a number"),
    ("sparse", "gp", OTHER, "gp must be a gpnotes GP"),
    ("sparse", "gp.kernel", OTHER, "inducing.kernel must be Matern32"),
    ("sparse", "inducing", None, "inducing must be a gpnotes Inducing"),
    ("sparse", "inducing.variables", None, "inducing.variables must be a gpnotes InducingPoints"),
    ("sparse", "inducing.variables.Z", np.zeros((4, 2)), "must be the values at Z; they are oth"),
    ("sparse", "inducing.given.Z", np.zeros((4, 2)), "must be the values at Z; they are others"),
    ("sparse", "log_evidence", "1", "log_evidence must be a number"),
    ("sparse", "degenerate", 0, "degenerate must be True or False"),
    ("laplace", "likelihood", None, "likelihood must be a gpnotes Bernoulli"),
    ("laplace", "steps", -1, "steps must be a whole number from 0"),
    ("laplace", "bent", 1.0, "bent must be None; got float"),
    ("laplace", "offset", np.zeros(7), "offset must be None; got ndarray"),
    ("laplace", "y", 0.5 * np.ones(7), "y must"),
    ("ep", "y", 2.0 * np.ones(7), "y must"),
    ("ep", "log_evidence", None, "log_evidence must be a number"),
    ("ep", "sweeps", 1.5, "sweeps must be a whole number"),
    ("softmax", "classes", 1, "classes must be a whole number from 2; got 1"),
    ("softmax", "classes", 2, "y must"),
    ("softmax", "curvature", None, "curvature must be a gpnotes Curvature"),
    ("softmax", "curvature.share", -np.ones((7, 3)), "curvature.share must be non-negative"),
    ("softmax", "curvature.own", [], "curvature.own must be a tuple; got list"),
    ("softmax", "curvature.own", (), "curvature.own must have a factor for each class; got 0"),
    ("softmax", "steps", None, "steps must be a whole number"),
    ("variational", "model", None, "model must be a gpnotes SVGP"),
    ("variational", "model.likelihood", OTHER, "likelihood must be a gpnotes Bernoulli"),
    ("variational", "steps", -1, "steps must be a whole number"),
    ("classes", "model.likelihood", OTHER, "likelihood must be a gpnotes Categorical"),
    ("classes", "whitened", (), "whitened must be 3 Gaussians; got 0"),
    ("classes", "whitened", None, "whitened must be a tuple; got NoneType"),
    ("classes", "whitened.0", None, "whitened must be a gpnotes Whitened"),
    ("classes", "steps", True, "steps must be a whole number"),
]


@pytest.mark.parametrize(("name", "path", "value", "said"), PARTS)
def test_other_parts_are_of_their_kind(fitted, name, path, value, said):
    kind = type(fitted[name]["posterior_"])
    with pytest.raises((ValueError, TypeError), match=said):
        validate_fitted(with_part(fitted[name], P + path, value), (kind,))


WHOLE = [
    ("runs_", [], "runs_ must be a tuple; got list"),
    ("runs_", (3,), "runs_ must be a gpnotes Run; got int"),
    ("runs_.0.model", KERNEL, "runs_.model must be a gpnotes GP"),
    ("runs_.0.log_evidence", np.nan, "runs_.log_evidence must be"),
    ("runs_.0.log_evidence", None, "runs_.log_evidence must be a number"),
    ("runs_.0.log_prior", np.nan, "runs_.log_prior must be"),
    ("runs_.0.evaluations", -1, "runs_.evaluations must be a whole number"),
    ("runs_.0.converged", 1, "runs_.converged must be True or False"),
    ("runs_.0.message", None, "runs_.message and runs_.at_bounds must be strings"),
    ("runs_.0.at_bounds", (3,), "runs_.message and runs_.at_bounds must be strings"),
    ("runs_.0.at_bounds", "noise_var", "runs_.at_bounds must be a tuple; got str"),
    ("runs_.0.trace", (1.0, "x"), "runs_.trace must be a number"),
    ("runs_.0.trace", [1.0], "runs_.trace must be a tuple; got list"),
    ("n_features_in_", 3, "n_features_in_ must be a whole number from 2 to 2; got 3"),
    ("n_features_in_", 1, "n_features_in_ must be a whole number from 2 to 2; got 1"),
    ("feature_names_in_", ("a",), r"feature_names_in_ must be 2 strings, or none; got \('a',\)"),
    ("feature_names_in_", ("a", 3), "feature_names_in_ must be 2 strings, or none"),
    ("feature_names_in_", ["a", "b"], "feature_names_in_ must be a tuple; got list"),
    ("posterior_", None, "posterior_ must be a ExactPosterior; got NoneType"),
]


@pytest.mark.parametrize(("path", "value", "said"), WHOLE)
def test_what_belongs_to_the_whole_is_of_its_kind(fitted, path, value, said):
    with pytest.raises((ValueError, TypeError), match=said):
        validate_fitted(with_part(fitted["fit"], path, value), (ExactPosterior,))


def test_names_and_posteriors_are_those_of_the_fit(fitted):
    values = fitted["fit"]
    validate_fitted(values | {"feature_names_in_": ("a", "b")}, (ExactPosterior,))
    with pytest.raises(ValueError, match="a fit sets"):
        validate_fitted(values | {"more": 1}, (ExactPosterior,))
    with pytest.raises(ValueError, match="a fit sets"):
        validate_fitted({n: v for n, v in values.items() if n != "runs_"}, (ExactPosterior,))
    other = type(fitted["ep"]["posterior_"]), type(fitted["sparse"]["posterior_"])
    with pytest.raises(TypeError, match="posterior_ must be a EPPosterior or SparsePosterior; got"):
        validate_fitted(values, other)
    with pytest.raises(TypeError, match=r"posterior_ must be an estimator.s own; got int"):
        validate_fitted(values | {"posterior_": 3}, (int,))
