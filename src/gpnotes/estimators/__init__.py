"""The face for scikit-learn: Gaussian process regression, and a search over hyperparameters.

scikit-learn belongs to the extra ``sklearn`` and is imported with this room, not with the package.
"""

try:
    import sklearn as sklearn
except ImportError as problem:
    raise ImportError(
        "an estimator needs scikit-learn: from a clone, pip install '.[sklearn]'"
    ) from problem

from .regressor import GPRegressor
from .search import BayesSearchCV

__all__ = ["BayesSearchCV", "GPRegressor"]
