"""Learners whose runs a loop on single numbers walks bit for bit as all at once are walked."""

from __future__ import annotations

from gpnotes.mdp.learning import SARSA, EpsilonGreedy, ExpectedSARSA, PowerLawDecay, QLearning

SLOW = EpsilonGreedy(PowerLawDecay(0.9, 0.4))
LEARNERS = {
    "Q": QLearning(0.9, exploration=SLOW),
    "Q by time": QLearning(
        0.9, PowerLawDecay(0.5, 0.6, clock="time"), EpsilonGreedy(PowerLawDecay(clock="time"))
    ),
    "Q, greedy and hopeful": QLearning(0.9, 0.1, EpsilonGreedy(0.0), initial_values=9.0),
    "SARSA": SARSA(0.9, exploration=SLOW, initial_values=0.5),
    "SARSA by time": SARSA(1.0, PowerLawDecay(0.5, 0.6, clock="time"), EpsilonGreedy(0.2)),
    "expected": ExpectedSARSA(0.9, exploration=SLOW),
    "off policy": ExpectedSARSA(0.9, 0.2, EpsilonGreedy(1.0), policy=EpsilonGreedy(0.3)),
}
