"""Integrals, series and derivatives of functions of one number: each settles, or says that not."""
