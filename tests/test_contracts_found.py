"""Each class of the package that a contract is for passes its check; no list has to name it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from contract_examples import APART, EXAMPLES, Example
from contract_parts import CONTRACTS, automatic, classes_of, needs_arguments

from gpnotes import testing
from gpnotes.model import contracts
from gpnotes.samplers import MinibatchDensity
from gpnotes.testing.samplers import _standard_normal

FOUND = [
    (name, kind) for name in CONTRACTS for kind in classes_of(name) if (name, kind) not in APART
]


def examples_of(name, kind):
    """The rows of the class; where it has none and can be made without arguments, two of those."""
    if kind in EXAMPLES[name]:
        return EXAMPLES[name][kind]
    asked = f"give it a row for {name!r} in tests/support/contract_examples.py"
    needs = "its check takes inputs" if CONTRACTS[name].inputs is None else None
    if needs or needs_arguments(kind):
        pytest.fail(f"{kind.__name__} is a {name}, and {needs or 'needs arguments'}: {asked}")
    return [Example(part) for part in automatic(kind)]


def checked(name, example, **options):
    contract = CONTRACTS[name]
    inputs = contract.inputs if example.inputs is None else example.inputs
    contract.check(example.part, *inputs, **example.options | options)


@pytest.mark.parametrize(("name", "kind"), FOUND, ids=lambda one: getattr(one, "__name__", one))
def test_it_keeps_its_contract(name, kind):
    for example in examples_of(name, kind):
        checked(name, example)


@pytest.mark.parametrize("kind", classes_of("sampler"))
def test_a_sampler_is_seen_to_leave_another_density(kind):
    """Else its check would pass a sampler of any density: its two steps are too short."""
    for example in examples_of("sampler", kind):
        target = narrowed(example.options.get("target", _standard_normal))
        with pytest.raises(AssertionError, match="standard errors off"):
            checked("sampler", example, target=target)


def narrowed(target):
    """A target with twice the log density, so that variances are half."""
    if isinstance(target, MinibatchDensity):
        return replace(target, log_likelihood=narrowed(target.log_likelihood))

    def twice(*given):
        answer = target(*given)
        return tuple(2.0 * a for a in answer) if isinstance(answer, tuple) else 2.0 * answer

    return twice


def test_every_contract_is_looked_for_and_has_classes():
    looked_for = {contract.base for contract in CONTRACTS.values()}
    public = [getattr(contracts, name) for name in contracts.__all__]
    protocols = [one for one in public if getattr(one, "_is_protocol", False)]
    assert [one for one in protocols if looked_for.isdisjoint(one.__mro__)] == []
    assert all(classes_of(name) for name in CONTRACTS)
    elsewhere = {"check_classes", "check_mixture", "check_network", "check_posterior"}
    checks = {contract.check.__name__ for contract in CONTRACTS.values()}
    assert {n for n in testing.__all__ if n.startswith("check_")} - checks == elsewhere


def test_what_stands_apart_is_found():
    assert [row for row in APART if row[1] not in classes_of(row[0])] == []
    rows = [(name, kind) for name, examples in EXAMPLES.items() for kind in examples]
    assert [(name, kind) for name, kind in rows if kind not in classes_of(name)] == []
