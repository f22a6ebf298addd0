"""Kernels: covariance functions with their pullbacks."""
