"""The face for scikit-learn: Gaussian processes for numbers and classes, and a search.

scikit-learn belongs to the extra ``sklearn`` and is imported with this room, not with the package.
"""

try:
    import sklearn as sklearn
except ImportError as problem:
    raise ImportError(
        "an estimator needs scikit-learn: from a clone, pip install '.[sklearn]'"
    ) from problem

from .bayes_search import BayesSearchCV
from .classifier import GPClassifier
from .multi_output import MultiOutputGPRegressor
from .regressor import GPRegressor

__all__ = ["BayesSearchCV", "GPClassifier", "GPRegressor", "MultiOutputGPRegressor"]
