"""The pole on a cart: Lagrange's equations, and what is asked of a trial."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpnotes.decide.pilco import LinearPolicy, SquashedPolicy, cartpole, pendulum
from gpnotes.decide.pilco.cartpole import FORCE, LENGTH, balanced, simulate, swing_up

CART, POLE, GRAVITY = 0.5, 0.5, 9.82


def energy(states):
    """Of a cart and a uniform rod whose lower end it carries."""
    _, speed, angle, turning = states.T
    sideways = speed + 0.5 * LENGTH * turning * np.cos(angle)
    upwards = -0.5 * LENGTH * turning * np.sin(angle)
    moving = 0.5 * CART * speed**2 + 0.5 * POLE * (sideways**2 + upwards**2)
    turned = 0.5 * (POLE * LENGTH**2 / 12.0) * turning**2
    return moving + turned + POLE * GRAVITY * 0.5 * LENGTH * np.cos(angle)


def idle(_):
    return np.zeros(1)


def test_energy_is_kept_where_nothing_pushes_or_rubs(monkeypatch):
    monkeypatch.setattr(cartpole, "_FRICTION", 0.0)
    seen = simulate(idle, [0.0, 1.0, 2.0, -3.0], 30)
    np.testing.assert_allclose(energy(seen.next_states), energy(seen.states)[0], atol=1e-5)
    assert np.ptp(seen.states[:, 2]) > 2.0


def test_friction_takes_as_much_as_it_does_work():
    """0.1 newtons a metre a second, times the way: for a small step, to first order."""
    seen = simulate(idle, [0.0, 3.0, 0.3, 0.0], 1)
    lost = energy(seen.states)[0] - energy(seen.next_states)[0]
    assert abs(lost - 0.1 * 3.0**2 * 0.1) < 0.1 * lost


def test_a_force_pushes_to_its_side_and_is_cut_off():
    """At rest and upright ẍ = u / (M + m − ¾ m), as the pole stays behind."""
    strong, just = (simulate(lambda z, u=u: np.asarray([u]), [0.0] * 4, 2) for u in (99.0, FORCE))
    np.testing.assert_array_equal(strong.next_states, just.next_states)
    assert (strong.actions == FORCE).all()
    x, _, angle, _ = just.next_states[0]
    assert abs(x / (0.5 * FORCE / 0.625 * 0.1**2) - 1.0) < 0.1
    assert angle < 0.0
    np.testing.assert_array_equal(just.next_states[:-1], just.states[1:])


def test_the_cost_is_how_far_the_tip_is_from_its_place():
    task = swing_up(np.zeros(1), width=0.5)
    x, angle = 0.3, 2.0
    z = np.asarray([x, 5.0, angle, -4.0, math.sin(angle), math.cos(angle)])
    off = (x + LENGTH * math.sin(angle)) ** 2 + (LENGTH * (math.cos(angle) - 1.0)) ** 2
    np.testing.assert_allclose(task.cost(z), 1.0 - math.exp(-0.5 * off / 0.25))


@pytest.mark.parametrize(("x", "angle", "good"), [(0.19, 0.0, True), (0.21, 0.0, False),
                                                  (-0.2, 0.3, True), (0.0, 2 * np.pi, True),
                                                  (0.0, np.pi, False)])  # fmt: skip
def test_a_pole_is_balanced_by_where_its_tip_is(x, angle, good):
    """A cart that stands to the left under a pole that leans to the right has it in place."""
    assert balanced(np.asarray([[x, 9.0, angle, 9.0]]), last=1) is good
    assert not balanced(np.asarray([[1.0, 0.0, 0.0, 0.0], [x, 9.0, angle, 9.0]]), last=2)


def test_too_few_states_are_refused():
    with pytest.raises(ValueError, match="states must have at least 10 rows; got 3"):
        balanced(np.zeros((3, 4)))


def test_without_friction_it_moves_as_the_cart_of_gymnasium(monkeypatch):
    """Whose pole is uniform, too, and whose `length` is half of it: another hand's derivation."""
    env = pytest.importorskip("gymnasium").make("CartPole-v1").unwrapped
    env.reset(seed=0)
    env.gravity, env.masscart, env.masspole, env.total_mass = GRAVITY, CART, POLE, CART + POLE
    env.length, env.polemass_length = 0.5 * LENGTH, 0.5 * POLE * LENGTH
    env.force_mag, env.tau = 7.0, 1e-6
    monkeypatch.setattr(cartpole, "_FRICTION", 0.0)
    for state in np.random.default_rng(0).normal(size=(5, 4)) * [1.0, 2.0, 3.0, 5.0]:
        env.state, env.steps_beyond_terminated = state.copy(), None
        env.step(1)
        slope = (np.asarray(env.state) - state) / env.tau
        np.testing.assert_allclose(cartpole._derivative(state, 7.0), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", [swing_up, pendulum.swing_up])
@pytest.mark.parametrize("width", [1e-320, 1e-160])
def test_a_width_whose_square_has_no_reciprocal_is_refused(make, width):
    with pytest.raises(ValueError, match="width must be larger: 1 / width² overflows"):
        make(np.zeros(1), width=width)


@pytest.mark.parametrize(("simulator", "entries"), [(cartpole, 4), (pendulum, 2)])
def test_a_trial_is_of_the_kind_of_the_policy_that_makes_it(space, simulator, entries):
    line = LinearPolicy(space.asarray(np.zeros((1, entries + 2))), space.asarray([0.5]))
    for policy in (line, SquashedPolicy(line, 2.0)):
        seen = simulator.simulate(policy, [0.0] * entries, 2)
        assert space.holds(seen.next_states)
        assert space.holds(seen.actions)
