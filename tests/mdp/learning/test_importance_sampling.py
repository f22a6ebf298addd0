"""Values of a policy from what another one did."""

from __future__ import annotations

import numpy as np
import pytest

from gpnotes import stream
from gpnotes.mdp import MDP, evaluate
from gpnotes.mdp.learning import (
    ExpectedSARSA,
    FixedPolicy,
    MDPEnvironment,
    importance_weights,
    off_policy_value,
    run,
)

DISCOUNT = 0.9
BEHAVIOUR = np.asarray([[0.5, 0.5], [0.3, 0.7], [0.6, 0.4], [0.5, 0.5]])
POLICY = np.asarray([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])


def process():
    """Three states in a random order, and an end."""
    rng = np.random.default_rng(3)
    P, r = rng.dirichlet(np.ones(4), size=(4, 2)), rng.standard_normal((4, 2))
    P[3], r[3] = np.eye(4)[3], 0.0
    return MDP.from_arrays(P, r, DISCOUNT)


def seen(runs, steps, behaviour=BEHAVIOUR, **more):
    learner = ExpectedSARSA(DISCOUNT, exploration=FixedPolicy(behaviour))
    settings = {"num_steps": steps, "num_runs": runs, "rng": stream(1), "record": True, **more}
    return run(learner, MDPEnvironment(process()), **settings).transitions


def test_weights_are_products_since_an_episode_began():
    record = seen(4, 30, horizon=5)
    weights = importance_weights(record, POLICY, BEHAVIOUR)
    over = record.terminated | record.truncated
    for one in range(4):
        begins = 0
        for t in range(30):
            span = slice(begins, t + 1)
            pairs = record.states[span, one], record.actions[span, one]
            assert weights[t, one] == pytest.approx(np.prod(POLICY[pairs] / BEHAVIOUR[pairs]))
            begins = t + 1 if over[t, one] else begins


def test_returns_are_discounted_from_where_each_episode_began():
    record = seen(4, 60, horizon=6)
    found, wanted = off_policy_value(record, POLICY, BEHAVIOUR, DISCOUNT), []
    over = record.terminated | record.truncated
    for t, one in np.argwhere(record.terminated):
        begins = max((int(s) + 1 for s in np.flatnonzero(over[:t, one])), default=0)
        rewards = record.rewards[begins : t + 1, one]
        wanted.append(rewards @ DISCOUNT ** np.arange(rewards.size))
    assert found.returns == pytest.approx(np.asarray(wanted))
    assert found.returns.size > 20


def test_the_policy_that_acted_has_weights_of_one():
    record = seen(3, 20)
    assert importance_weights(record, BEHAVIOUR, BEHAVIOUR) == pytest.approx(np.ones((20, 3)))
    found = off_policy_value(record, BEHAVIOUR, BEHAVIOUR, DISCOUNT)
    assert found.ordinary == pytest.approx(found.returns.mean()) == pytest.approx(found.weighted)
    assert found.effective_sample_size == pytest.approx(found.returns.size)


@pytest.mark.parametrize("policy", [POLICY, np.asarray([0, 1, 1, 0])])
def test_the_ordinary_estimate_has_no_bias(policy):
    """First episodes of many runs, all of them over; within five standard errors."""
    record = seen(4000, 120)
    over = record.terminated | record.truncated
    first = np.cumsum(over, axis=0) - over == 0
    assert over.any(0).all()
    record = record._replace(terminated=record.terminated & first)
    found = off_policy_value(record, policy, BEHAVIOUR, DISCOUNT)
    exact = float(evaluate(process(), policy)[0])
    assert found.returns.size == 4000
    terms = found.weights * found.returns
    assert abs(found.ordinary - exact) < 5 * terms.std() / np.sqrt(4000)
    rest = found.weights * (found.returns - exact)
    assert abs(found.weighted - exact) < 6 * rest.std() / np.sqrt(4000)
    assert found.effective_sample_size < 2500


@pytest.mark.parametrize(
    ("policy", "behaviour", "said"),
    [
        (POLICY, np.asarray([[1.0, 0.0]] * 4), "behaviour must take every action"),
        (POLICY[:3], BEHAVIOUR, "policy must have shape"),
        (np.asarray([0, 1, 2, 0]), BEHAVIOUR, "policy must be actions 0 to 1"),
        (POLICY[:2], BEHAVIOUR[:2], "behaviour must have all states and actions"),
        (POLICY * 2.0, BEHAVIOUR, "policy must have rows of probabilities that sum to 1; row 0"),
        (-POLICY, BEHAVIOUR, "policy must have rows"),
        (np.asarray([0, 0, 0, 0]), np.asarray([[1.0, 0.0]] * 4), "behaviour must be the policy"),
    ],
)
def test_what_has_no_weights_is_refused(policy, behaviour, said):
    with pytest.raises(ValueError, match=said):
        importance_weights(seen(2, 40), policy, behaviour)


@pytest.mark.parametrize(
    ("part", "other", "error", "said"),
    [
        ("states", lambda states: states - states.max() - 1, ValueError, "behaviour must have all"),
        ("actions", lambda actions: actions - 1, ValueError, "behaviour must have all"),
        ("actions", lambda actions: actions * 1.0, TypeError, "actions must hold whole numbers"),
        ("terminated", lambda ended: ended.astype(int), TypeError, "terminated must hold bool"),
        ("truncated", lambda cut: cut[:1], TypeError, "truncated must hold bool"),
        ("rewards", lambda rewards: rewards + np.nan, ValueError, "rewards must be finite"),
        ("rewards", lambda rewards: rewards[:, :1], TypeError, "rewards must hold numbers"),
    ],
)
@pytest.mark.parametrize("estimate", [importance_weights, off_policy_value])
def test_transitions_from_elsewhere_are_looked_at(estimate, part, other, error, said):
    """As read from a table: a flag of 0 and 1 would be an index, a state of −1 the last one."""
    record = seen(2, 40)
    more = () if estimate is importance_weights else (DISCOUNT,)
    wrong = record._replace(**{part: other(getattr(record, part))})
    with pytest.raises(error, match=said):
        estimate(wrong, POLICY, BEHAVIOUR, *more)
    listed = type(record)(*(column.tolist() for column in record))
    once, again = (estimate(each, POLICY, BEHAVIOUR, *more) for each in (record, listed))
    np.testing.assert_array_equal(*(getattr(each, "returns", each) for each in (once, again)))
    empty = type(record)(*(column[:0] for column in record))
    with pytest.raises(TypeError, match=r"states must hold whole numbers, .* at least one"):
        estimate(empty, POLICY, BEHAVIOUR, *more)


def test_no_value_without_an_episode_or_a_weight():
    record = seen(1, 30)
    none = record._replace(terminated=np.zeros_like(record.terminated))
    with pytest.raises(ValueError, match="transitions must hold an episode"):
        off_policy_value(none, POLICY, BEHAVIOUR, DISCOUNT)
    start = int(record.actions[0, 0])
    other = np.asarray([1 - start, 0, 0, 0])
    only = record._replace(**{n: getattr(record, n)[:1] for n in record._fields})
    only = only._replace(terminated=np.ones((1, 1), bool))
    with pytest.raises(ValueError, match="policy must be able to do what was seen"):
        off_policy_value(only, other, BEHAVIOUR, DISCOUNT)
