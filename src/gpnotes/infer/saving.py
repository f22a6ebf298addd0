"""Anything fitted in one file without pickle: a description in JSON, and its arrays.

Reading makes objects by the constructors of the classes listed here, and of no others: to open
a file runs none of its contents. Floats are written so that they come back to the last bit, arrays
with the order of their axes in memory, and an array that two parts share is shared again.
"""

from __future__ import annotations

import importlib
import io
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..ground import check as _check
from ..ground.chunks import Chunks
from ..ground.class_tags import class_of, tag_of
from ..ground.files import write_arrays
from ..ground.open_numbers import Open
from ..ground.params import left_open
from ..ground.xp import HostArray, to_numpy
from ..model import kernels, likelihoods, means, positive_priors, priors
from .objective import Fit
from .posterior import PartPosterior

if TYPE_CHECKING:
    from zipfile import ZipFile

__all__ = ["load", "register", "save"]

VERSION = 1
# by module the names of what is public in it, and the tags, by `saved_as`, of what is not
_PARTS: dict[str, tuple[str, ...]] = {
    "model.kernels": tuple(kernels.__all__),
    "model.means": tuple(means.__all__),
    "model.likelihoods": tuple(likelihoods.__all__),
    "model.positive_priors": tuple(positive_priors.__all__),
    "model.priors": tuple(priors.__all__),
    "model.gaussian_process": ("GP",),
    "model.basis": ("Trend",),
    "model.bounds": ("Spread",),
    "model.normal": ("Normal",),
    "ground.linalg": ("Cholesky",),
    "ground.chunks": ("Rows",),
    "ground.levels": ("Levels",),
    "infer.objective": ("Fit", "Objective"),
    "infer.run": ("Run",),
    "infer.prior_terms": ("NamedPrior",),
    "infer.exact": ("LeaveOneOut", "ExactPosterior", "exact evidence"),
    "infer.linear": ("BayesianLinear", "WeightPosterior", "linear evidence"),
    "infer.state_space": ("StateSpaceForecast", "StateSpaceGP", "StateSpacePosterior"),
    "infer.state_space.belief": ("Belief",),
    "infer.state_space.parallel_scan": ("Element", "Lanes"),
    "infer.state_space.elementary_processes": (
        "Bend",
        "Level",
        "Line",
        "MaternLeaf",
        "Walk",
        "Wave",
    ),
    "infer.state_space.compiled_walk": ("Kalman filter of a compiled loop",),
    "infer.state_space.matern_walk": ("Kalman filter of one Matérn process",),
    "infer.state_space.motion": ("Motion", "ProductTerm"),
    "infer.state_space.kalman": ("Kalman filter of terms that carry others",),
    "infer.state_space.regression": ("state-space evidence",),
    "infer.features": ("BoxSines", "FeatureGP", "FeaturePosterior", "Frequencies", "Term"),
    "infer.features.model": ("feature evidence",),
    "infer.features.sine_sums": ("SineSums",),
    "infer.interdomain": ("Harmonics", "InducingPoints", "IntervalHarmonics", "WeightedPoints"),
    "infer.interdomain.waves": ("WaveSums",),
    "infer.interdomain.windows": ("GaussianWindows",),
    "infer.sparse": ("SparseGP", "SparsePosterior"),
    "infer.sparse.projection": ("Inducing",),
    "infer.sparse.model": ("sparse evidence",),
    "infer.svgp": ("SVGP", "ClassesPosterior", "VariationalPosterior"),
    "infer.svgp.multiclass": ("Whitened",),
    "infer.svgp.batch_fit": ("variational evidence",),
    "infer.heteroscedastic": ("HeteroscedasticGP", "HeteroscedasticPosterior"),
    "infer.heteroscedastic.model": ("heteroscedastic evidence",),
    "infer.heteroscedastic.noise_belief": ("Believed",),
    "infer.laplace": (
        "EPGP",
        "EPPosterior",
        "LaplaceGP",
        "LaplacePosterior",
        "SoftmaxGP",
        "SoftmaxPosterior",
    ),
    "infer.laplace.approximation": ("Laplace evidence",),
    "infer.laplace.bending": ("Bending",),
    "infer.laplace.expectation_propagation": ("EP evidence",),
    "infer.laplace.softmax": ("Curvature", "softmax evidence"),
    "infer.deep": ("DeepGP", "DeepPosterior", "Unit"),
    "infer.deep.composition": ("Coordinate",),
    "infer.deep.posterior": ("deep evidence",),
    "networks": (
        "BayesianNetwork",
        "LastLayer",
        "LinearisedLaplace",
        "MeanField",
        "Network",
        "SWAG",
    ),
    "networks.model": ("Mixture",),
    "networks.swag": ("RunningMoments",),
    "networks.bayes_by_backprop": ("FittedMeanField",),
    "networks.posterior_mode": ("FittedWeights",),
    "infer.report": ("FinishedRun", "Hyperparameter", "Report"),
}
# they say themselves what of them is kept
_ESTIMATORS = {
    "GPClassifier": "estimators",
    "GPRegressor": "estimators",
    "MultiOutputGPRegressor": "estimators",
}
_FORM, _TEXT, _VALUE = "gpnotes", "description", "fitted"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
T = TypeVar("T")


def save(fitted: object, path: str | os.PathLike[str]) -> None:
    """Write anything that was fitted, or a part of it, to one file, without pickle.

    Parameters
    ----------
    fitted : object
        The result of `fit` or of any ``condition``, a model, a kernel, a network, an estimator, or
        a tuple of such; not the part of a posterior, a search, a run of a learner, nor the solution
        of a decision process, which are made of such again. A fit keeps its readings, but not
        chunks of them. Arrays of CuPy, PyTorch and JAX come back as NumPy's: a model fitted on a
        GPU predicts on any machine.
    path : str or path
        The file; until all is written, one that is there stays as it was.

    Raises
    ------
    OSError
        If the file cannot be opened.

    Notes
    -----
    A file is a zip of NumPy's ``.npy`` and of a description in JSON, with the version of its form.

    Examples
    --------
    >>> import tempfile
    >>> from gpnotes import GP, RBF, fit
    >>> X = np.linspace(0.0, 3.0, 8)[:, None]
    >>> found = fit(GP(RBF(), 0.1), X, np.sin(X[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(found, f"{folder}/sine.gp")
    ...     again = load(f"{folder}/sine.gp")
    >>> again.model == found.model, bool((again.posterior.mean(X) == found.posterior.mean(X)).all())
    (True, True)
    """
    kind = type(fitted).__name__
    if kind in _ESTIMATORS and isinstance(fitted, _class(_ESTIMATORS[kind], kind)):
        write(path, fitted.saved_values(), kind)
    else:
        write(path, {_VALUE: fitted}, _VALUE)


# The one open result: a file says only when it is read of which class it is.
def load(path: str | os.PathLike[str]) -> Any:
    """Read a file of `save`, the same to the last bit; nothing in the file is run.

    Returns
    -------
    object
        The object that was saved.

    Raises
    ------
    OSError
        If the file cannot be opened, as a ``FileNotFoundError`` where there is none.
    """

    def made(values: dict[str, object], kind: str) -> object:
        if kind in _ESTIMATORS:
            return _class(_ESTIMATORS[kind], kind).of_saved(values)
        (value,) = values.values()
        return value

    return _read(path, {_VALUE, *_ESTIMATORS}, made)


def register(name: str) -> Callable[[type[T]], type[T]]:
    """Let `save` write objects of a class of your own, such as a kernel, under a name.

    Parameters
    ----------
    name : str
        The name in files, which stays when the class's own changes. Whoever reads the file has
        registered the class under it first: a file names classes, and never code.

    Returns
    -------
    callable
        A decorator of dataclasses, whose fields are all that is kept of an object.

    Raises
    ------
    ValueError
        If another class has the name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @register("a level by the first column")
    ... @dataclass(frozen=True)
    ... class Slope:
    ...     slope: float = 0.0
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a string, not empty; got {_check.kind_of(name)}")

    def noted(kind: type[T]) -> type[T]:
        if not is_dataclass(kind) or not isinstance(kind, type):
            raise TypeError(f"register takes a dataclass; got {_check.kind_of(kind)}")
        other = _OWN.get(name, kind)
        if (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
            raise ValueError(f"name must be of one class; {name!r} is that of {other.__qualname__}")
        _OWN[name] = kind  # a cell that runs again brings its class anew
        return kind

    return noted


_OWN: dict[str, type] = {}
_MARK = "own: "  # before the names of such classes, so that they are none of the package's


def write(path: str | os.PathLike[str], values: Mapping[str, object], kind: str) -> None:
    """Write named values to a file, without pickle.

    Parameters
    ----------
    values : mapping of str
        None, numbers, strings, NumPy arrays, tuples, mappings by strings, and parts of the
        package, with parts of these kinds.
    kind : str
        The kind of object, which `read` asks for.

    Raises
    ------
    OSError
        If the file cannot be opened.
    """
    import json  # with zipfile, a twelfth of the work of importing the package

    place = _place(path)
    arrays: dict[int, tuple[object, HostArray]] = {}
    told = {name: _told(value, name, arrays) for name, value in values.items()}
    text = json.dumps({"form": _FORM, "version": VERSION, "kind": kind, "values": told})
    held: dict[str, object] = {f"array{i}": array for i, (_, array) in enumerate(arrays.values())}
    held[_TEXT] = np.asarray(text)
    write_arrays(place, held)


def read(path: str | os.PathLike[str], kind: str, made: Callable[[dict[str, object]], T]) -> T:
    """Read the values that `write` put into a file, and make something of them.

    Parameters
    ----------
    kind : str
        The kind that the file must have.
    made : callable
        A function of the values by their names.

    Raises
    ------
    OSError, MemoryError
        If the file cannot be opened, or its values have no room.
    """
    return _read(path, {kind}, lambda values, _: made(values))


def _read(
    path: str | os.PathLike[str], kinds: set[str], made: Callable[[dict[str, object], str], T]
) -> T:
    import json
    import zipfile

    place = _place(path)
    with place.open("rb") as opened:
        try:
            with zipfile.ZipFile(opened) as archive:
                description = json.loads(str(_array(archive, _TEXT)))
                kind = _kind(description, kinds)
                arrays: dict[str, HostArray] = {}
                values = {
                    name: _made(value, archive, arrays)
                    for name, value in description["values"].items()
                }
                return made(values, kind)
        # for lack of room, which is no fault of the file
        except MemoryError:
            raise
        # zip, JSON, NumPy and constructors each raise their own errors of a file that is damaged
        except Exception as wrong:
            wanted = "path must be of a file that `save` wrote"
            got = f"{place} ({type(wrong).__name__}: {wrong})"
            raise ValueError(f"{wanted}; got {got}") from wrong


def _kind(description: Mapping[str, object], kinds: set[str]) -> str:
    """Return the kind of a file, if it is one of these kinds and of this version."""
    if description["form"] != _FORM:
        raise ValueError(f"its form is {description['form']!r}, not {_FORM!r}")
    if description["version"] != VERSION:
        known = f"this version of gpnotes reads {VERSION}"
        raise ValueError(f"it is of version {description['version']!r}, and {known}")
    if description["kind"] not in kinds:
        raise ValueError(f"it is of {description['kind']!r}, not of {sorted(kinds)}")
    return str(description["kind"])


def _place(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):  # `open` would take a number, and write somewhere
        raise TypeError(f"path must be a string or a path; got {_check.kind_of(path)}")
    return Path(path)


# -- classes ----------------------------------------------------------------------------------


@cache
def _homes() -> dict[str, tuple[str, str]]:
    """Module and name, or tag, of each class by its key: that name, which is unique."""
    return {name: (module, name) for module, names in _PARTS.items() for name in names}


def _class(module: str, name: str) -> Any:
    """A class of the package, by name or tag, of a module that is imported when it is needed."""
    home = importlib.import_module(f"{__package__.partition('.')[0]}.{module}")
    return class_of(name) or getattr(home, name)


def _key(kind: type) -> str | None:
    """The key of a class, if it is listed or registered."""
    if own := next((name for name, one in _OWN.items() if one is kind), None):
        return _MARK + own
    key = tag_of(kind) or kind.__name__
    listed = key in _homes() and _class(*_homes()[key]) is kind
    return key if listed else None


def _read_class(key: str) -> Any:
    """The class that a file calls by a key."""
    if not key.startswith(_MARK):
        return _class(*_homes()[key])
    name = key.removeprefix(_MARK)
    if name not in _OWN:
        how = f"define it and call saving.register({name!r}) on it before the file is read"
        raise ValueError(f"it holds an object of a class registered as {name!r}: {how}")
    return _OWN[name]


# -- values -----------------------------------------------------------------------------------


def _told(value: object, name: str, arrays: dict[int, tuple[object, HostArray]]) -> object:
    """`value` in the terms of JSON; its arrays go into `arrays`, each once."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if id(value) not in arrays and (host := _on_host(value)) is not None:
        arrays[id(value)] = value, host  # kept both: nobody else may get this number meanwhile
    if id(value) in arrays:
        return {"array": f"array{list(arrays).index(id(value))}"}
    if isinstance(value, type) and (key := _key(value)):
        return {"type": key}
    if key := _key(type(value)):
        found = {"class": key, "fields": _told_parts(_whole(value), name, arrays)}
        return found | ({"open": list(left_open(value))} if left_open(value) else {})
    if isinstance(value, tuple):
        return {"tuple": [_told(one, f"{name}.{i}", arrays) for i, one in enumerate(value)]}
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value):
        inner = {one: _told(part, f"{name}[{one!r}]", arrays) for one, part in value.items()}
        return {"mapping": inner}
    wanted = "None, a number, a string, an array, a tuple of such, or what `gpnotes.save` lists"
    got = f"{_check.kind_of(value)}{_instead_of(value)}"
    raise TypeError(f"{name} must be {wanted}, to be saved; got {got}")


def _instead_of(value: object) -> str:
    """Return the advice for an object that no file holds."""
    kind = type(value)
    if isinstance(value, PartPosterior):
        return ": save the posterior of f, and ask it for the part again"
    if kind.__module__.partition(".")[0] == __package__.partition(".")[0]:
        return ": no file holds it; save the fit, the posterior or the model that it is made from"
    return ": give its class to `gpnotes.infer.saving.register`" if is_dataclass(kind) else ""


def _on_host(value: Any) -> HostArray | None:
    """Return an array of numbers of any library, on the host; None for any other value."""
    if not isinstance(value, np.ndarray):
        try:
            value = to_numpy(value)
        except TypeError:
            return None
    return np.asarray(value) if value.dtype.kind in "fiub" else None


def _told_parts(
    value: object, name: str, arrays: dict[int, tuple[object, HostArray]]
) -> dict[str, object]:
    return {
        part: _told(getattr(value, part), f"{name}.{part}", arrays) for part in _names(type(value))
    }


def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass or of a named tuple."""
    return tuple(item.name for item in fields(kind)) if is_dataclass(kind) else kind._fields


def _whole(value: object) -> object:
    """A fit with its posterior, so that nothing need be worked out; without chunks of readings."""
    if not isinstance(value, Fit) or value.objective is None:
        return value
    evidence = value.objective.evidence
    data = getattr(evidence, "data", None)
    kept = None if isinstance(data, Chunks) else value.objective
    return replace(value, objective=kept, known=value.posterior)


def _array(archive: ZipFile, name: str) -> HostArray:
    """An array of numbers or text that is as long in the file as it says to be.

    One that only says so would have room made for it first.
    """
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type:  # zero where it is stored
        raise ValueError(f"{name} is compressed")
    content = io.BytesIO(archive.read(info))
    header = _HEADERS[np.lib.format.read_magic(content)]
    shape, _, dtype = header(content)
    length = content.getbuffer().nbytes - content.tell()
    if dtype.kind not in "fiubU" or math.prod(shape) * dtype.itemsize != length:
        raise ValueError(f"{name} of shape {shape} and {dtype} is not what {length} bytes hold")
    content.seek(0)
    return np.lib.format.read_array(content, allow_pickle=False)


def _made(told: Any, archive: ZipFile, arrays: dict[str, HostArray]) -> Any:
    """Return the value that `_told` describes; objects are made by their constructors."""
    if told is None or isinstance(told, bool | int | float | str):
        return told
    if told.keys() == {"tuple"}:
        return tuple(_made(one, archive, arrays) for one in told["tuple"])
    if told.keys() == {"mapping"}:
        return {name: _made(one, archive, arrays) for name, one in told["mapping"].items()}
    if told.keys() == {"array"}:
        name = told["array"]
        if name not in arrays:
            arrays[name] = _array(archive, name)
        return arrays[name]
    if told.keys() == {"type"}:
        return _read_class(told["type"])
    kind = _read_class(told["class"])
    parts = {name: _made(inner, archive, arrays) for name, inner in told["fields"].items()}
    parts |= {name: Open(parts[name]) for name in told.get("open", ())}
    # a file from before a field was there has none of it
    missing = set(_names(kind)) - parts.keys()
    if parts.keys() - set(_names(kind)) or any(not hasattr(kind, name) for name in missing):
        raise ValueError(f"{kind.__name__} has other fields than {sorted(parts)}")
    return kind(**parts)
