"""Learning to act from a model of the dynamics: fantasies, policies, rollouts."""

from . import fantasy

__all__ = ["fantasy"]
