"""One run of Q-learning and of SARSA in gymnasium's toy environments, beside a plain loop.

``python benchmarks/gymnasium_loops.py`` prints processor seconds for a step, environment and all:
of a loop over a table of NumPy as a textbook has it, with a constant step size and nothing kept but
the table, and of `run`, which counts visits, keeps the episodes and seeds each of them, so that its
runs can be repeated and go on from a file. The environment alone, acted in at random, is the floor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from gpnotes import stream
from gpnotes.mdp.learning import SARSA, EpsilonGreedy, GymnasiumEnvironment, QLearning, run

NAMES = "FrozenLake-v1", "Taxi-v4", "CliffWalking-v1"
LEARNERS: dict[str, Any] = {"Q-learning": QLearning, "SARSA": SARSA}
DISCOUNT, ALPHA, EPSILON = 0.99, 0.1, 0.1


def alone(env: Any, steps: int) -> None:
    """The environment by actions at random."""
    draw = np.random.default_rng(1)
    env.reset(seed=1)
    for action in draw.integers(env.action_space.n, size=steps).tolist():
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def by_q_learning(env: Any, steps: int) -> None:
    """A plain loop."""
    draw, num_actions = np.random.default_rng(1), int(env.action_space.n)
    table = np.zeros((int(env.observation_space.n), num_actions))
    state, _ = env.reset(seed=1)
    for _ in range(steps):
        explores = draw.random() < EPSILON
        action = int(draw.integers(num_actions) if explores else table[state].argmax())
        reached, reward, terminated, truncated, _ = env.step(action)
        ahead = 0.0 if terminated else table[reached].max()
        table[state, action] += ALPHA * (reward + DISCOUNT * ahead - table[state, action])
        state = env.reset()[0] if terminated or truncated else reached


def by_sarsa(env: Any, steps: int) -> None:
    """A plain loop."""
    draw, num_actions = np.random.default_rng(1), int(env.action_space.n)
    table = np.zeros((int(env.observation_space.n), num_actions))

    def chosen(state: int) -> int:
        explores = draw.random() < EPSILON
        return int(draw.integers(num_actions) if explores else table[state].argmax())

    state, _ = env.reset(seed=1)
    action = chosen(state)
    for _ in range(steps):
        reached, reward, terminated, truncated, _ = env.step(action)
        following = chosen(reached)
        ahead = 0.0 if terminated else table[reached, following]
        table[state, action] += ALPHA * (reward + DISCOUNT * ahead - table[state, action])
        if terminated or truncated:
            reached = env.reset()[0]
            following = chosen(reached)
        state, action = reached, following


PLAIN = {"Q-learning": by_q_learning, "SARSA": by_sarsa}


def ours(learner: Any, env: Any, steps: int) -> None:
    """One run."""
    made = learner(DISCOUNT, ALPHA, EpsilonGreedy(EPSILON))
    run(made, GymnasiumEnvironment(env), num_steps=steps, rng=stream(1))


def least(call: Callable[[], None], rounds: int) -> float:
    """The least processor seconds of some rounds."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60_000)
    wanted = parser.parse_args()
    each = 1e6 / wanted.steps
    for name in NAMES:
        env = gymnasium.make(name)
        floor = each * least(lambda env=env: alone(env, wanted.steps), wanted.rounds)
        for kind, learner in LEARNERS.items():
            calls: list[Callable[[], None]] = [
                lambda env=env, kind=kind: PLAIN[kind](env, wanted.steps),
                lambda env=env, learner=learner: ours(learner, env, wanted.steps),
            ]
            plain, walk = (each * least(call, wanted.rounds) for call in calls)
            print(f"{name:16} {kind:10} alone {floor:5.1f} µs a step, a plain loop {plain:5.1f}, "
                  f"ours {walk:5.1f}: {walk / plain:.2f} × the plain loop", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
