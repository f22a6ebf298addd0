"""Noise that varies with x, learnt: a second process is the logarithm of its variance."""

from .model import HeteroscedasticGP
from .posterior import HeteroscedasticPosterior

__all__ = ["HeteroscedasticGP", "HeteroscedasticPosterior"]
