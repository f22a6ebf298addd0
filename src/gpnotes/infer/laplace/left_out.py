"""Labels predicted from all others, by which a Gaussian around a mode is judged.

Under a wide prior p(f | y) is skewed, and its mode lies nearer to zero than its mean. Probabilities
are then too near to those of a coin, and labels that are left out tell: far more of them are as
guessed than the probabilities say.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ground.xp import Matrix, array_namespace

__all__ = ["LeftOut", "compared"]

_FAR = 3.5  # standard deviations by which more guesses are right than their probabilities say


class LeftOut(NamedTuple):
    """Probabilities of labels, each from all others, with the labels.

    The mean probability of the likeliest class, the share of labels that are of it and how many
    deviations it lies above; then the class whose mean probability is farthest from its share.
    """

    guess: float
    right: float
    deviations: float
    which: int
    mean: float
    share: float

    def doubt(self, classes: tuple[str, ...], remedy: str) -> str:
        """Return the evidence against the probabilities, with a remedy, or an empty string."""
        if self.deviations <= _FAR:
            return ""
        found = f"{self.right:.3f} of labels, each left out, are as guessed"
        guess = f"with a mean probability of {self.guess:.3f}"
        of = f"that of {classes[self.which]} is {self.mean:.3f}, its share {self.share:.3f}"
        return f"probabilities are too near to even: {found}, {guess}; {of}: {remedy}"


def compared(chance: Matrix, told: Matrix) -> LeftOut:
    """Compare the probabilities (n, c) of labels, each from all others, with the labels, one-hot.

    If they hold, the labels of the likeliest class, with the probability p, are ``Σ p`` in the
    mean, with the variance ``Σ p (1 − p)``; we take one for less, lest few labels decide.
    """
    xp = array_namespace(chance)
    guess = xp.max(chance, axis=1)
    right = xp.sum(xp.where(chance == guess[:, None], told, xp.zeros_like(told)), axis=1)
    means, shares = xp.mean(chance, axis=0), xp.mean(told, axis=0)
    gaps = xp.abs(means - shares)
    # the first of those that are equally far but for rounding, as two classes always are
    which = int(xp.argmax(xp.astype(gaps > xp.max(gaps) - 1e-4, gaps.dtype)))
    spread = max(float(xp.sum(guess * (1.0 - guess))), 1.0) ** 0.5
    return LeftOut(
        float(xp.mean(guess)), float(xp.mean(right)), float(xp.sum(right - guess)) / spread,
        which, float(means[which]), float(shares[which]),
    )  # fmt: skip
