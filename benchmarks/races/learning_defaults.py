"""Which step sizes learn: the worth of what learners act by after some steps, from none to all.

``python benchmarks/races/learning_defaults.py`` prints, for each step size and environment, the
mean over runs of the share of the optimal value that the greedy policy has at the start, between
that of acting at random (0) and the optimum (1): for Q-learning, SARSA and expected SARSA, whose
policy explores one step in ten, or three. The defaults of the learners were chosen from this
table.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import gymnasium
import numpy as np

from gpnotes import stream
from gpnotes.mdp import MDP, evaluate, solve
from gpnotes.mdp.learning import (
    SARSA,
    EpsilonGreedy,
    ExpectedSARSA,
    MDPEnvironment,
    PowerLawDecay,
    QLearning,
    run,
)

LEARNERS = {"Q-learning": QLearning, "SARSA": SARSA, "expected SARSA": ExpectedSARSA}
STEP_SIZES: dict[str, Any] = {
    "1/k": PowerLawDecay(), "1/k^0.8": PowerLawDecay(exponent=0.8),
    "1/k^0.6": PowerLawDecay(exponent=0.6), "1/k^0.55": PowerLawDecay(exponent=0.55),
    "1/k^0.51": PowerLawDecay(exponent=0.51), "0.1": 0.1, "0.3": 0.3,
}  # fmt: skip


def table_of(name: str, discount: float, **settings: Any) -> tuple[MDP, Any]:
    """The process of an environment of gymnasium, and where its episodes begin."""
    env = gymnasium.make(name, **settings).unwrapped
    return MDP.from_gymnasium(env, discount), np.asarray(env.initial_state_distrib)


def random_process(seed: int) -> tuple[MDP, Any]:
    """A process of 30 states and 4 actions, each with 5 successors, and rewards by lot."""
    draw = np.random.default_rng(seed)
    P = np.zeros((30, 4, 30))
    for s, a in np.ndindex(30, 4):
        P[s, a, draw.choice(30, 5, replace=False)] = draw.dirichlet(np.ones(5))
    return MDP(P.reshape(120, 30), draw.normal(size=(30, 4)), 0.95), np.full(30, 1 / 30)


def padded(begin: Any, mdp: MDP) -> Any:
    """The probabilities of the states at the start, for a process with an end of its own."""
    return np.append(begin, np.zeros(mdp.num_states - len(begin)))


def worlds() -> dict[str, tuple[MDP, Any]]:
    """The environments."""
    return {
        "FrozenLake": table_of("FrozenLake-v1", 0.99),
        "no slipping": table_of("FrozenLake-v1", 0.99, is_slippery=False),
        "Taxi": table_of("Taxi-v4", 0.99),
        "CliffWalking": table_of("CliffWalking-v1", 0.99),
        "random 1": random_process(1),
        "random 2": random_process(2),
    }


def worth(mdp: MDP, begin: Any, learner: Any, steps: int, runs: int, explore: float) -> float:
    """The mean over runs of what the greedy policy is worth, between chance and the optimum."""
    begin = padded(begin, mdp)
    environment = MDPEnvironment(mdp, start=begin)
    learner = learner(exploration=EpsilonGreedy(explore))
    found = run(learner, environment, num_steps=steps, num_runs=runs, every=steps, horizon=200,
                compiled=True, rng=stream(1))  # fmt: skip
    chance = begin @ evaluate(mdp, np.full(mdp.rewards.shape, 1.0 / mdp.num_actions))
    best = begin @ solve(mdp).values
    values = [begin @ evaluate(mdp, policy) for policy in found.learner_state.greedy]
    return float(np.mean((np.asarray(values) - chance) / (best - chance)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, nargs="+", default=[10_000, 60_000])
    parser.add_argument("--explore", type=float, nargs="+", default=[0.1, 0.3])
    wanted = parser.parse_args()
    for steps, explore in itertools.product(wanted.steps, wanted.explore):
        print(f"after {steps} steps, {wanted.runs} runs, exploring {explore:g}")
        for name, (mdp, begin) in worlds().items():
            for kind, learner in LEARNERS.items():
                shares = {
                    size: worth(
                        mdp, begin, lambda step_size=step_size, learner=learner, mdp=mdp, **more:
                        learner(float(mdp.discount), step_size, **more),
                        steps, wanted.runs, explore,
                    )
                    for size, step_size in STEP_SIZES.items()
                }  # fmt: skip
                line = "  ".join(f"{size} {share:6.3f}" for size, share in shares.items())
                print(f"{name:16} {kind:15} {line}", flush=True)


if __name__ == "__main__":
    main()
