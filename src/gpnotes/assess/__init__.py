"""How good predictions are: scores and cross-validation."""
