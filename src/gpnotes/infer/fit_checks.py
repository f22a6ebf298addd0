"""What a fit looks at when it has ended: whether its noise can be believed.

Two ends are tops of the evidence and yet no use: all of y taken for noise, where the start lay far
from the units of the data, and no noise at all, where readings say otherwise.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..ground.chunks import Data, Rows
from ..ground.linalg import JitterWarning
from ..ground.xp import to_numpy
from ..model.bounds import Spread
from ..model.gaussian_process import GP
from ..model.kernels import Constant, Sum
from ..model.means import ZeroMean
from .interdomain import WaveSums

__all__ = [
    "ALL_NOISE", "FitWarning", "far_from_zero", "is_all_noise", "left_out_size", "may_be_noise",
]  # fmt: skip

_ROWS = 200  # that are compared with all others
_SIGNAL = 0.01  # of the variance of a reading: what another one must be able to tell of it
_SMALL = 1e-3  # of the variance of y: noise that is worth a look
ALL_NOISE = "no reading tells of another: all that varies in y is taken for noise"
SURPRISE = 3.0  # the root mean square of z from which errors of prediction contradict a fit


class FitWarning(UserWarning):
    """A fit ended where all of y is noise, or its noise contradicts the readings, or nearly did.

    The report of the fit says the same. ``warnings.simplefilter("error", FitWarning)`` makes an
    error of it.
    """


@contextmanager
def may_be_noise() -> Iterator[None]:
    """Within it, a fit whose end or start takes all of y for noise says so in its report alone.

    So it is where a task fits models one by one: a payoff or a state may well be noise.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* taken for noise", FitWarning)
        yield


def is_all_noise(model: Any, data: Data | WaveSums, of: Spread) -> bool:
    """Return whether no reading tells of another under a model, so that all of y is noise.

    That is where the covariances of f at two hundred rows with all others differ by less than a
    hundredth of the variance of a reading. A constant that they share is no news, and no part of
    that variance either: a straight line is found with a variance and a lengthscale as large as you
    like, whose covariances differ little beside themselves and much beside the noise.
    """
    gp = getattr(model, "gp", model)
    if of.latent or not (isinstance(gp, GP) and isinstance(data, Rows)):
        return False
    n = data.X.shape[0]
    if gp.kernel.labels_rows or n < 3:
        return False
    step = -(-n // _ROWS)
    K = np.array(to_numpy(gp.kernel._gram(data.X[::step, :], data.X)), dtype=np.float64)
    here = np.arange(0, n, step)
    own = K[np.arange(len(here)), here] + gp.noise_var
    K[np.arange(len(here)), here] = K[np.arange(len(here)), (here + 1) % n]
    least = np.min(K)
    return float(np.max(K) - least) < _SIGNAL * float(np.max(own) - least)


def left_out_size(evidence: Any, model: Any, data: Data | WaveSums, of: Spread) -> float:
    """Return the root mean square of ``zᵢ = (yᵢ − mean) / sd``, each reading told from all others.

    It is near 1 where a model is right. Zero where there is no reason to look: of models but a
    `GP`, and where the noise is more than a thousandth of the variance of y. [eq-fv-loo].
    """
    if type(model) is not GP or not isinstance(data, Rows) or data.X.shape[0] < 3:
        return 0.0
    if model.noise_var > _SMALL * of.unit * of.unit or data.noise_var is not None or of.constant:
        return 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JitterWarning)
        one = evidence.posterior(model).leave_one_out()
    z = to_numpy((data.y - one.mean) / one.variance**0.5)
    size = float(np.sqrt(np.mean(np.square(z.astype(np.float64)))))
    return size if math.isfinite(size) else 0.0


def far_from_zero(model: Any, of: Spread) -> tuple[float, ...]:
    """Return mean and standard deviation of y, if a model without a level leaves it far off."""
    gp = getattr(model, "gp", model)
    mean, sd = float(of.mean[-1]), float(of.deviation[-1])
    if of.latent or of.constant or of.count < 2 or abs(mean) <= sd or not isinstance(gp, GP):
        return ()
    parts = gp.kernel.parts if isinstance(gp.kernel, Sum) else (gp.kernel,)
    level = gp.kernel.labels_rows or any(isinstance(part, Constant) for part in parts)
    return () if level or type(gp.mean) is not ZeroMean else (mean, sd)
