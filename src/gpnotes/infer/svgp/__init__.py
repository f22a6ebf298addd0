"""Many data, any likelihood: a Gaussian over inducing values, fitted by natural gradients.

``f(Z) = m(Z) + L v`` with ``K_uu = L Lᵀ`` and ``q(v) = N(P⁻¹ t, P⁻¹)``: of every observation two
numbers enter ``P = I + Λ`` and t, those of a Gaussian factor that stands for its likelihood.
`gpnotes.condition` of an `SVGP` finds q for given hyperparameters, `gpnotes.fit` fits them too,
from batches of rows. Under `RobustMax` and `Categorical` there is a function, and a q, for each
class: a `ClassesPosterior`.
"""

from . import per_class as per_class  # the verbs below, for several classes
from .batch_fit import Minibatches, Progress, batches
from .evidence_lower_bound import elbo, elbo_and_gradient
from .model import SVGP
from .multiclass import ClassesPosterior
from .natural_gradients import natural_gradient_step
from .posterior import VariationalPosterior, initial_posterior

__all__ = [
    "SVGP",
    "ClassesPosterior",
    "Minibatches",
    "Progress",
    "VariationalPosterior",
    "batches",
    "elbo",
    "elbo_and_gradient",
    "initial_posterior",
    "natural_gradient_step",
]
