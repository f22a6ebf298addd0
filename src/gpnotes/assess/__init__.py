"""Assessments of predictions: scores and cross-validation."""
