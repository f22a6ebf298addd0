"""The face for scikit-learn: Gaussian process regression as one of its estimators.

scikit-learn belongs to the extra ``sklearn`` and is imported with this room, not with the package.
"""

try:
    import sklearn as sklearn
except ImportError as problem:
    raise ImportError(
        "an estimator needs scikit-learn: from a clone, pip install '.[sklearn]'"
    ) from problem

from .regressor import GPRegressor

__all__ = ["GPRegressor"]
