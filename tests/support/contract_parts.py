"""The classes of gpnotes that a contract is for, found by their base class or by their members.

A class is on no list: each public one that can be made, in any module of the package, is found, and
`tests/test_contracts_found.py` puts it through the check of its contract. One whose arguments all
have defaults is its own example; the others have theirs in `contract_examples`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

import gpnotes
from gpnotes import testing
from gpnotes.ground.params import leaves, replaced
from gpnotes.mdp.learning import Environment, Learner
from gpnotes.model import contracts
from gpnotes.model.kernels import Kernel
from gpnotes.samplers import Sampler

_DRAW = np.random.default_rng(0)
X = _DRAW.normal(size=(5, 3)) + 0.5
_FACTORS = (1.3, 0.8, 1.15, 0.7)  # of the defaults: with ones a factor that is missing is not seen
_M, _S = np.asarray([0.4, -0.3]), np.asarray([[0.3, 0.1], [0.1, 0.2]])
_MEANS = np.asarray([-3.0, -0.4, 0.6, 0.95, 1.3, 4.0])
_VARIANCES = np.asarray([0.9, 0.3, 1.7, 0.05, 0.6, 2.0])


@dataclass(frozen=True)
class Contract:
    """What makes a class one of its kind, the check of such an object, and the check's inputs."""

    base: type
    check: Callable[..., None]
    inputs: tuple[Any, ...] | None = None  # of an example that brings none; None if each must


CONTRACTS = {
    "kernel": Contract(Kernel, testing.check_kernel, (X,)),
    "mean": Contract(contracts.Mean, testing.check_mean, (X,)),
    "prior": Contract(contracts.Prior, testing.check_prior, (0.7,)),
    "likelihood": Contract(contracts.Likelihood, testing.check_likelihood),
    "inducing variables": Contract(
        contracts.InducingVariables, testing.check_inducing_variables
    ),
    "policy": Contract(contracts.Policy, testing.check_policy, (_M, _S)),
    "cost": Contract(contracts.Cost, testing.check_cost, (_M, _S)),
    "criterion": Contract(contracts.Criterion, testing.check_criterion),
    "acquisition": Contract(
        contracts.Acquisition, testing.check_acquisition, (_MEANS, _VARIANCES)
    ),
    "sampler": Contract(Sampler, testing.check_sampler, (np.zeros(1),)),
    "learner": Contract(Learner, testing.check_learner, ()),
    "environment": Contract(Environment, testing.check_environment, ()),
}  # fmt: skip


@cache
def classes_of(name: str) -> tuple[type, ...]:
    """The public classes of the package that the contract of that name is for."""
    base = CONTRACTS[name].base
    return tuple(kind for kind in _public_classes() if _is_for(base, kind))


def automatic(kind: type) -> list[Any]:
    """Objects of a class whose arguments all have defaults, with hyperparameters unlike those.

    A hyperparameter that may differ by dimension does so in the second of two.
    """
    plain: Any = kind()
    moved = {
        leaf.path: factor * leaf.value if leaf.value else factor - 1.0
        for leaf, factor in zip(leaves(plain), _FACTORS, strict=False)
    }
    if not moved:
        return [plain]
    lengths = [item.name for item in fields(kind) if item.metadata.get("per_dimension")]
    by_dimension = {name: moved[name] * np.asarray([0.7, 1.4, 2.5]) for name in lengths}
    every = [moved, moved | by_dimension] if by_dimension else [moved]
    return [replaced(plain, values) for values in every]


def needs_arguments(kind: type) -> bool:
    """Return True if an object of the class cannot be made without arguments."""
    given = inspect.signature(kind).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(one.default is one.empty and one.kind not in kinds for one in given)


@cache
def _public_classes() -> tuple[type, ...]:
    names = [module.name for module in pkgutil.walk_packages(gpnotes.__path__, "gpnotes.")]
    return tuple(kind for name in names for kind in _defined_in(name))


def _defined_in(module: str) -> Iterator[type]:
    for name, kind in vars(importlib.import_module(module)).items():
        public = inspect.isclass(kind) and kind.__module__ == module and name[0] != "_"
        if public and not inspect.isabstract(kind) and not getattr(kind, "_is_protocol", False):
            yield kind


def _is_for(base: Any, kind: type) -> bool:
    if not getattr(base, "_is_protocol", False):
        return issubclass(kind, base)
    if issubclass(kind, Kernel):  # which can be called, and has a pullback, as a mean does
        return False
    return all(_has(kind, base, name) for name in contracts._members(base))


def _has(kind: type, base: type, name: str) -> bool:
    """Return True if the class has the member: as a method, where the contract has a method."""
    absent = object()
    member = inspect.getattr_static(kind, name, absent)
    if inspect.isfunction(inspect.getattr_static(base, name)):
        return inspect.isfunction(member)
    return member is not absent or name in getattr(kind, "__dataclass_fields__", {})
