"""Whole functions drawn from a posterior: a draw of the prior, updated by the data.

`ExactPosterior.sample` draws values at points that are known beforehand, and jointly at all of
them. A path is a function: it has a value and a gradient anywhere, at any time, and the same ones
when it is asked again. By Matheron's rule, a function f of the prior and a noise ε drawn with it
become a function of the posterior by

    f(x) + k(x, X) K_y⁻¹ (y − f(X) − ε).

Drawn from the prior by features, ``f = m + φ·w``, it is known everywhere. The features are
random, and an approximation; the update is exact, and it has the last word near the data.

A posterior of inducing points updates a draw of the prior by a draw of u, at the same cost
whatever the number of data:

    f(x) + k(x, Z) K_uu⁻¹ (u − f(Z)).
"""

from .functions import Paths, sample_paths

__all__ = ["Paths", "sample_paths"]
