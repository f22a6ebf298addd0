"""The verbs of every model: condition it on data, or ask for its log evidence.

Each takes ``(model, X, y)``, or ``(model, chunks)`` where the evidence is made of sums over rows,
and asks the model's room for the algebra, `evidence.evidence_of`. The fourth is `gpnotes.fit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..ground.chunks import Chunks, repeatable
from ..ground.late_reads import number, trials
from ..ground.params import Parameters, numbers_read
from ..ground.xp import OfEach, Table
from . import exact  # registers GP, which comes from a lower floor
from .evidence import Model, evidence_given, given
from .interdomain import WaveSums
from .posterior import Posterior, named

if TYPE_CHECKING:  # what an editor completes after `condition(...)`.
    from ..model.gaussian_process import GP
    from .svgp import SVGP
    from .svgp.posterior import Variational

__all__ = ["condition", "log_evidence", "log_evidence_and_gradient"]

M = TypeVar("M", bound=Parameters)
Q = TypeVar("Q", bound=Posterior)


@overload
def condition(
    model: GP, X: Table, y: Table, *, noise_var: OfEach | None = None, weights: OfEach | None = None
) -> exact.ExactPosterior: ...
@overload
def condition(
    model: SVGP,
    X: Table,
    y: Table,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> Variational: ...
@overload
def condition(
    model: Model[Any, Q],
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> Q: ...
@overload
def condition(
    model: Parameters,
    X: Table | Chunks,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> Posterior: ...
def condition(
    model: Parameters,
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> Posterior:
    """Condition a model on observations y (n,) at inputs X (n, d).

    Parameters
    ----------
    model : GP, or another model
        A `gpnotes.GP`, or another with an evidence: `gpnotes.SparseGP`, `gpnotes.FeatureGP`,
        `gpnotes.HeteroscedasticGP`, `gpnotes.LaplaceGP`, `laplace.EPGP`, `gpnotes.SoftmaxGP`,
        `gpnotes.SVGP`, `gpnotes.StateSpaceGP`, `gpnotes.BayesianLinear`. Its parameters stay as
        they are; `gpnotes.fit` moves them.
    X : Matrix, shape (n, d), or Chunks, or WaveSums
        The inputs; the posterior matches the columns of a frame by name, and so does a model that
        was given a frame before. `gpnotes.Chunks` in the place of `X` and `y` will do for those
        models whose evidence is made of sums over rows, `gpnotes.SparseGP` and `gpnotes.FeatureGP`;
        an `interdomain.WaveSums` for a `gpnotes.SparseGP` through waves.
    y : Vector, shape (n,), or None
        The observations, of the namespace, dtype and device of `X`; None where `X` holds them. Rows
        that pandas labels are not joined by their labels: other ones than those of `X`, or the same
        in another order, are a `ValueError`; so of all that has a number for each row.
    noise_var : Vector, shape (n,), or str, or None
        The known variance of the noise of each observation, such as the squares of a
        laboratory's error bars, [eq-fv-known-noise]; the model's own variance of the noise is added
        to it. Where `X` is a frame, it may be the name of a column, which is then no input, and
        which predictions take from a frame again; so may `weights` and `offset`. A `GP` takes it.
    weights : Vector, shape (n,), or str, or None
        The divisor of the model's own variance of the noise for each observation, such as the
        number of readings it is the mean of. A `GP` takes them.
    offset : Vector, shape (n,), or str, or None
        A known term added to the latent f of each observation, such as the logarithm of the years
        over which events were counted: y then scatters around f + offset, and the posterior is that
        of f alone, the log rate for one year, whose `predict` takes the offsets of new inputs. A
        `gpnotes.LaplaceGP`, a `laplace.EPGP` and a `gpnotes.SVGP` of one function take it.

    Returns
    -------
    Posterior
        The model given the data. Its class and its cost depend on the model:
        for a `GP` an `gpnotes.ExactPosterior` around one Cholesky factor of K_y, in O(n³).

    Raises
    ------
    ValueError
        If the data do not fit the model, cannot tell the weights of a vague mean apart, or are so
        large that numbers overflow.

    Notes
    -----
    A K_y, or K_uu, that is singular in its precision gets the jitter of `linalg.cholesky`, with
    a ``JitterWarning``: all views are then those of a noise that much larger.

    Source: for a `GP` Rasmussen & Williams (2006), algorithm 2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> from gpnotes.infer.sparse import SparseGP
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> y, gp = np.sin(X[:, 0]), GP(RBF(), 0.01)
    >>> [condition(model, X, y).mean([[1.5]]).round(2) for model in (gp, SparseGP(gp, X[::6]))]
    [array([1.]), array([1.])]
    """
    model, data, columns, known = given(model, X, y, noise_var, weights, offset)
    evidence = evidence_given(model, data)
    return named(evidence.posterior(evidence.settled(model)), columns, known)


def log_evidence(
    model: Parameters,
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> float:
    """Return the log evidence ``log p(y)`` of y (n,) at X (n, d), [eq-fv-evidence].

    Parameters
    ----------
    model, X, y, noise_var, weights, offset
        As in `condition`; of a `gpnotes.DeepGP` it is the bound by the draws of its seed.

    Returns
    -------
    float
        ``log p(y)`` in nats, or the bound or the approximation that stands for it.

    Raises
    ------
    ValueError
        As in `condition`, and if squares of y overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> from gpnotes.infer.sparse import SparseGP
    >>> X = np.linspace(0.0, 9.0, 30)[:, None]
    >>> y, gp = np.sin(X[:, 0]), GP(RBF(), 0.1)
    >>> bounds = [log_evidence(SparseGP(gp, X[::5], name), X, y) for name in ("vfe", "upper")]
    >>> bounds[0] < log_evidence(gp, X, y) < bounds[1]
    True
    """
    for trial in trials(X):
        with trial:
            found, data, *_ = given(model, X, y, noise_var, weights, offset)
            evidence = evidence_given(found, data)
            value = evidence.value(evidence.settled(found))
    return number(value)


def log_evidence_and_gradient(
    model: M,
    X: Table | Chunks | WaveSums,
    y: Table | None = None,
    *,
    noise_var: OfEach | None = None,
    weights: OfEach | None = None,
    offset: OfEach | None = None,
) -> tuple[float, M]:
    """Return the log evidence and its derivatives by all parameters, as a fit does at each step.

    Parameters
    ----------
    model, X, y, noise_var, weights, offset
        As in `log_evidence`; a mean must have a ``pullback``. Chunks are gone through twice.

    Returns
    -------
    value : float
        The log evidence, or its substitute, in nats.
    model_bar : object
        A model of the same class that holds the derivatives: by hyperparameters, and where it has
        inducing variables by their inputs, as its ``inducing``: where these are chosen from X, by
        those chosen.

    Raises
    ------
    TypeError
        If a mean, or a likelihood with parameters, has no ``pullback``.

    Notes
    -----
    [eq-fv-gradient]. Jitter counts as a constant. Of a `GP` on NumPy arrays it works in place,
    in one n × n buffer, whatever the kernel; for other namespaces, and where K_y needs jitter, it
    is `condition` and `gpnotes.ExactPosterior.evidence_gradient`.

    Source: for a `GP` Rasmussen & Williams (2006), equation 5.9.

    Examples
    --------
    >>> import numpy as np
    >>> from gpnotes import GP, RBF
    >>> value, bar = log_evidence_and_gradient(GP(RBF(), 1.0), np.zeros((1, 1)), np.zeros(1))
    >>> round(bar.kernel.variance, 4)
    -0.25
    """
    if isinstance(X, Chunks):
        # its gradient goes through them twice, and a generator is empty the second time
        repeatable(X.chunks)
    for trial in trials(X):
        with trial:
            found, data, *_ = given(model, X, y, noise_var, weights, offset)
            evidence = evidence_given(found, data)
            evidence.require_gradient(found)
            value, bar = evidence.value_and_gradient(evidence.settled(found))
    return number(value), numbers_read(bar)
