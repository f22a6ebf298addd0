"""Claims: what an experiment shows, repeated on draws that its author did not choose."""

from .outcome import Outcome, Pick

__all__ = ["Outcome", "Pick"]
