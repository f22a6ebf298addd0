"""Program that `dist.py` runs with its wheels: a fit, an estimator, an equation, every name."""

from pathlib import Path

import numpy as np

import checked_equations
import checked_papers
import gpnotes
import gpnotes_book
from gpnotes import GP, RBF, fit, stream

X = np.linspace(0.0, 6.0, 60)[:, None]
y = np.sin(X[:, 0]) + 0.1 * stream(1).normal(60)
found = fit(GP(RBF(), noise_var=1.0), X, y)
assert 0.05 < found.model.noise_var**0.5 < 0.2, found.model
assert "lengthscale" in str(found)
gpnotes.save(found.posterior, "found.npz")
again = gpnotes.load("found.npz")
assert (again.mean(X) == found.posterior.mean(X)).all()

mean, sd = gpnotes.GPRegressor().fit(X, y).predict(X[:3], return_std=True)
assert mean.shape == sd.shape == (3,)

A, B = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([[1.0, 0.3], [-0.7, 2.0]])
checked = checked_equations.check_equation(r"(A B)^{-1} = B^{-1} A^{-1}", {"A": A, "B": B})
assert "11 of 11 mutants caught" in str(checked), checked

for name in gpnotes.__all__:
    assert getattr(gpnotes, name).__doc__, name
for package in (gpnotes, checked_equations, checked_papers, gpnotes_book):
    assert "site-packages" in Path(package.__file__).parts, package.__file__
assert (Path(gpnotes_book.__file__).parent / "book" / "notation.yml").is_file()
