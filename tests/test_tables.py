"""Data as people have them: what takes arrays of data takes lists, frames and whole numbers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import pytest
from misuse.answers import Call, tables_of
from misuse.calls import CALLS

from gpnotes import GP, RBF, Bernoulli, Gaussian, Linear, condition, fit, load, save
from gpnotes.draw.paths import sample_paths
from gpnotes.infer import features, laplace, linear, sparse, svgp
from gpnotes.infer.linear_smoother import hat_matrix
from gpnotes.model.kernels import Kernel
from gpnotes.model.likelihoods import Categorical

TABLES = [
    (row, name) for row in CALLS for name in tables_of(row.function)
    if isinstance(row.right().get(name), np.ndarray)
]  # fmt: skip
LOOPS = ("Optimiser", "ParetoOptimiser")  # each holds its stream, and is no result
SEEDED = [row for row in CALLS if "rng" in row.arguments and row.called not in LOOPS]

_PLACES = pd.DataFrame({"depth": [0, 1, 2, 4, 5], "width": [3.0, 1.5, 4.0, 0.5, 2.0]})
_VALUES = pd.Series([1, 0, -1, 2, 1], name="yield")
_GP = GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.1)
_X, _Y = _PLACES.to_numpy(), _VALUES.to_numpy().astype(np.float64)


@pytest.mark.parametrize(("row", "name"), TABLES, ids=[f"{r.called}-{name}" for r, name in TABLES])
def test_a_list_is_as_good_as_an_array(row: Call, name: str) -> None:
    right, other = row.right(), row.right()
    other[name] = other[name].tolist()
    _require_same(row.function(**right), row.function(**other))


@pytest.mark.parametrize("row", SEEDED, ids=lambda row: row.called)
def test_a_seed_is_as_good_as_its_stream(row: Call) -> None:
    _require_same(row.function(**row.right()), row.function(**{**row.right(), "rng": 1}))


@pytest.mark.parametrize("X", [_PLACES, _PLACES.astype(np.float32).astype(np.float64)])
def test_a_frame_is_as_good_as_an_array(X: pd.DataFrame) -> None:
    given, plain = condition(_GP, X, _VALUES), condition(_GP, _X, _Y)
    assert np.array_equal(given.mean(X), plain.mean(_X))
    assert given.X.dtype == np.float64


def test_a_frame_of_polars() -> None:
    polars = pytest.importorskip("polars")
    X = polars.from_dict(_PLACES.to_dict("list"))
    found = condition(_GP, X, polars.Series(_VALUES.tolist()))
    assert np.array_equal(found.mean(X), condition(_GP, _X, _Y).mean(_X))


def test_float32_stays_and_lists_beside_it_become_it() -> None:
    X = _PLACES.astype(np.float32)
    found = condition(GP(RBF(), 0.1), X, _VALUES.tolist())
    assert {found.X.dtype, found.y.dtype, found.mean([[1.0, 2.0]]).dtype} == {np.dtype("float32")}


def test_a_list_beside_an_array_of_another_namespace_becomes_one() -> None:
    X = array_api_strict.asarray(_X)
    found = condition(GP(RBF(), 0.1), X, _VALUES.tolist())
    assert type(found.mean(_X.tolist())) is type(X)


def test_whole_numbers_beside_a_model_in_single_precision_become_that() -> None:
    gp = GP(RBF(1.0, np.asarray([1.0, 2.0], dtype=np.float32)), 0.1)
    assert condition(gp, [[0, 1], [2, 3]], [1, 2]).alpha.dtype == np.float32


@pytest.mark.parametrize("kernel", [
    RBF(1.0, np.ones(2, dtype=np.float32)),
    RBF() + RBF(1.0, np.ones(1, dtype=np.float32)).on(1),
])  # fmt: skip
def test_a_model_is_asked_by_name_and_through_its_sums(kernel: Kernel) -> None:
    X, y = _X.tolist(), _Y.tolist()
    gp = GP(kernel, 0.1)
    for posterior in (condition(gp, X, y), condition(model=gp, X=X, y=y)):
        assert posterior.X.dtype == posterior.y.dtype == np.float32


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i8", ">i2"])
def test_the_byte_order_of_a_file_is_no_matter(dtype: str) -> None:
    """FITS, NetCDF-3 and IDL write the larger byte first."""
    host = np.asarray([[1.0], [2.0], [4.0]])
    X, y = host.astype(dtype), np.asarray([1.0, 0.0, 2.0]).astype(dtype)
    native = np.float32 if dtype == ">f4" else np.float64
    given = condition(GP(RBF(), 0.1), X, y)
    wanted = condition(GP(RBF(), 0.1), host.astype(native), y.astype(native))
    assert given.mean(X).dtype == native
    np.testing.assert_array_equal(given.mean(X), wanted.mean(host.astype(native)))


def test_two_precisions_are_still_refused() -> None:
    with pytest.raises(TypeError, match="y must have the dtype of X"):
        condition(_GP, _X, _Y.astype(np.float32))


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (
            _PLACES.assign(width=["a", "b", "c", "d", "e"]),
            "X must hold real numbers; got 'a' in column 'width': one-hot encode it",
        ),
        (
            _PLACES.assign(width=["1.5", "2", "-3e2", "0", "7"]),
            r"got '1\.5' in column 'width': make numbers of its text, by `astype\(float\)`",
        ),
        (
            _PLACES.assign(width=_PLACES["width"] > 1.0),
            "X must hold real numbers; got True in column 'width': make it 0 and 1",
        ),
        (
            _PLACES.astype("Int64", errors="ignore").assign(width=pd.NA),
            "got <NA> in column 'width': fill what is missing",
        ),
        (
            _PLACES.assign(width=[1.0, 2.0, np.nan, np.inf, 0.0]),
            "X must be finite; 2 of its entries are not, the first in row 2, column 'width'",
        ),
        (
            _PLACES.assign(day=pd.Timestamp("2020-01-01")),
            "in column 'day': gpnotes.days_since makes days of dates",
        ),
        (_PLACES[["width"]] > 1.0, "got entries of type bool in column 'width': make it 0 and 1"),
        ([[1.0], [1.0, 2.0]], "X must not be ragged"),
    ],
    ids=["words", "numbers as text", "truths", "missing", "NaN", "dates", "truths alone", "ragged"],
)
def test_what_is_no_number_is_refused_by_name(X: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        condition(GP(RBF(), 0.1), X, _VALUES)


def test_numbers_that_may_be_missing_and_are_not() -> None:
    found = condition(_GP, _PLACES.convert_dtypes(), _VALUES.convert_dtypes())
    assert np.array_equal(found.mean(_X), condition(_GP, _X, _Y).mean(_X))


def test_the_report_of_a_fit_names_the_columns() -> None:
    kernel = RBF(1.0, np.asarray([1.0, 2.0])) + Linear().on(1) * RBF().on(1)
    page = str(fit(GP(kernel, 0.1), _PLACES, _VALUES, max_steps=3))
    for label in (
        "kernel.parts.0.lengthscale[0] (depth)", "kernel.parts.0.lengthscale[1] (width)",
        "kernel.parts.1.parts.1.kernel.lengthscale (width)", "kernel.parts.0.variance  ",
    ):  # fmt: skip
        assert label in page, page


def test_a_parameter_may_be_named_as_the_report_prints_it() -> None:
    open_model, other = GP(RBF()), "kernel.lengthscale[0] (depth)"
    label, entry = "kernel.lengthscale[1] (width)", "kernel.lengthscale[1]"
    options: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"fixed": [label]}, {"fixed": [entry]}),
        ({"bounds": {label: (0.5, 0.7)}}, {"bounds": {entry: (0.5, 0.7)}}),
        ({"tied": [(other, label)]}, {"tied": [("kernel.lengthscale[0]", entry)]}),
    ]
    for ours, theirs in options:
        found = fit(open_model, _PLACES, _VALUES, max_steps=3, **ours)
        wanted = fit(open_model, _PLACES, _VALUES, max_steps=3, **theirs)
        assert found.log_evidence == wanted.log_evidence
    with pytest.raises(ValueError, match=r"fixed names 'kernel.lengthscale\[1\] \(depth\)'"):
        fit(open_model, _PLACES, _VALUES, fixed=["kernel.lengthscale[1] (depth)"])


def test_a_fit_of_arrays_names_none() -> None:
    assert "(" not in str(fit(_GP, _X, _Y, max_steps=3)).split("runs")[0].split("hyperparameter")[1]


def test_fits_of_frames_go_through_inducing_points() -> None:
    model = sparse.SparseGP(_GP, _X[:2])
    ours = fit(model, _PLACES, _VALUES, max_steps=2).log_evidence
    assert ours == fit(model, _X, _Y, max_steps=2).log_evidence


KINDS = {
    "exact": _GP,
    "inducing points": sparse.SparseGP(_GP, _X[:2]),
    "features": features.FeatureGP(_GP, features.draw_frequencies(_GP.kernel, _X, 6, rng=1)),
    "weights": linear.BayesianLinear(np.eye(2), 0.1),
    "labels": laplace.LaplaceGP(GP(_GP.kernel, 0.0), Bernoulli()),
    "labels by moments": laplace.EPGP(GP(_GP.kernel, 0.0), Bernoulli()),
    "classes": laplace.SoftmaxGP(GP(_GP.kernel, 0.0), 2),
    "any likelihood": svgp.SVGP(GP(_GP.kernel, 0.0), Gaussian(0.1), _X[:2]),
}
_TURNED = _PLACES[["width", "depth"]].assign(place=list("abcde"))
_LABELS = {"labels": [1.0, -1.0, -1.0, 1.0, 1.0], "classes": [1.0, 0.0, 0.0, 1.0, 1.0]}


@pytest.mark.parametrize("kind", KINDS)
def test_a_posterior_knows_the_columns_of_a_frame_by_name(kind: str, tmp_path: Path) -> None:
    y = _LABELS.get(kind.partition(" by")[0], _Y)
    posterior = condition(KINDS[kind], _PLACES, y)
    assert posterior.columns == ("depth", "width")
    save(posterior, tmp_path / "posterior")
    for known in (posterior, pickle.loads(pickle.dumps(posterior)), load(tmp_path / "posterior")):
        assert np.array_equal(known.mean(_TURNED), posterior.mean(_X))
        assert np.array_equal(known.variance(_TURNED), posterior.variance(_X))
        with pytest.raises(ValueError, match=r"Xs must have a column 'width'.*got \['depth'\]"):
            known.mean(_PLACES[["depth"]])
    assert np.any(posterior.mean(_X[:, ::-1]) != posterior.mean(_X))  # no names, so as it comes


def test_all_that_a_posterior_can_be_asked_knows_the_columns() -> None:
    posterior = fit(_GP, _PLACES, _VALUES, max_steps=3).posterior
    further = posterior.extend(_TURNED, _VALUES)
    assert further.columns == posterior.columns
    paths = sample_paths(posterior, 2, num_features=8, rng=1)
    for ask in (
        posterior.predict, posterior.covariance, partial(posterior.sample, rng=1), further.mean,
        partial(posterior.log_density, y=_VALUES), partial(hat_matrix, posterior), paths,
        lambda X: posterior.joint(X).mean,
    ):  # fmt: skip
        _require_same(ask(_TURNED), ask(_X))
    line = condition(KINDS["weights"], _PLACES, _VALUES).update(_TURNED, _VALUES)
    _require_same(line.mean(_TURNED), line.mean(_X))


def test_each_function_of_several_classes_knows_the_columns() -> None:
    model = svgp.SVGP(GP(RBF(1.0, np.asarray([1.0, 2.0])), 0.0), Categorical(3), _X[::2].copy())
    classes, turned = np.asarray([0.0, 1.0, 2.0, 0.0, 1.0]), _PLACES[["width", "depth"]]
    posterior = condition(model, _PLACES, classes)
    for one, plain in zip(
        posterior.functions, condition(model, _X, classes).functions, strict=True
    ):
        np.testing.assert_array_equal(one.mean(turned), plain.mean(_X))


def test_a_fit_in_batches_goes_on_from_one_by_name() -> None:
    start = fit(
        KINDS["any likelihood"],
        _PLACES,
        _VALUES,
        minibatches=svgp.Minibatches(2),
        max_steps=2,
        rng=1,
    ).posterior
    again = svgp.Minibatches(2, start=start)
    found = [
        fit(start.model, X, _VALUES, minibatches=again, max_steps=2, rng=1).posterior
        for X in (_PLACES, _TURNED)
    ]
    _require_same(found[1].mean(_TURNED), found[0].mean(_X))


def test_a_frame_of_polars_is_known_by_name() -> None:
    polars = pytest.importorskip("polars")
    X = polars.from_dict(_PLACES.to_dict("list"))
    found = condition(_GP, X, _VALUES)
    turned = X.select("width", polars.lit("Paris").alias("place"), "depth")
    assert np.array_equal(found.mean(turned), found.mean(_X))
    with pytest.raises(ValueError, match="Xs must have a column 'depth', as the data had; got"):
        found.mean(X.drop("depth"))
    with pytest.raises(TypeError, match="'Paris' in column 'place': one-hot encode it"):
        condition(_GP, turned, _VALUES)


def test_a_column_there_twice_is_refused() -> None:
    twice = pd.concat([_PLACES, _PLACES[["width"]]], axis=1)
    with pytest.raises(ValueError, match=r"Xs must have a column 'width'.*got it twice"):
        condition(_GP, _PLACES, _VALUES).mean(twice)


def test_a_file_from_before_there_were_names_is_read(tmp_path: Path) -> None:
    path, posterior = tmp_path / "posterior", condition(_GP, _X, _Y)
    save(posterior, path)
    with np.load(path) as file:
        parts = dict(file)
    told = json.loads(str(parts["description"]))
    del told["values"]["fitted"]["fields"]["columns"]
    with path.open("wb") as file:
        np.savez(file, **(parts | {"description": np.asarray(json.dumps(told))}))
    assert load(path).columns == ()
    assert np.array_equal(load(path).mean(_X), posterior.mean(_X))


def _require_same(first: Any, second: Any) -> None:
    pairs = list(zip(_numbers(first), _numbers(second), strict=True))
    assert pairs, "nothing to compare"
    for one, other in pairs:
        assert np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


def _numbers(result: Any) -> Iterator[Any]:
    """All numbers and arrays in a result."""
    if isinstance(result, Iterator):
        result = next(result)
    if isinstance(result, float | int | np.ndarray | np.generic):
        yield result
    elif isinstance(result, tuple | list):
        for part in result:
            yield from _numbers(part)
    elif isinstance(result, dict):
        yield from _numbers(list(result.values()))
    elif is_dataclass(result) and not isinstance(result, type):
        yield from _numbers([v for v in vars(result).values() if not callable(v)])
