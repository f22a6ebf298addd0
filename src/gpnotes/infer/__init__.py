"""Posteriors: exact, of weights, of labels, through features and inducing points; and fits."""
