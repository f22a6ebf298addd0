"""An example or more of each class that a contract is for and that asks for arguments or inputs.

A row is a class and its `Example`s: an object, and what the check of its contract takes besides.
A class that can be made without arguments needs no row where the common inputs of its contract in
`contract_parts` do; a row of its own comes before that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gymnasium
import numpy as np

from gpnotes import GP, Normal
from gpnotes.decide import pilco
from gpnotes.decide.bayesopt import acquisition as acquisitions
from gpnotes.decide.bayesopt.pareto import ExpectedHypervolumeImprovement
from gpnotes.decide.design import criteria
from gpnotes.infer import interdomain
from gpnotes.mdp import MDP, learning
from gpnotes.model import kernels as k
from gpnotes.model import likelihoods, means, positive_priors
from gpnotes.samplers import HMC, MALA, NUTS, SGLD, ULA, EllipticalSlice, MinibatchDensity
from gpnotes.samplers import RandomWalkMetropolis as Metropolis


class Example(NamedTuple):
    """An object, the inputs of its check if they are not the contract's, and its options."""

    part: Any
    inputs: tuple[Any, ...] | None = None
    options: dict[str, Any] = {}  # noqa: RUF012  (a named tuple's, which nothing changes)


def of(part: Any, *inputs: Any, **options: Any) -> Example:
    """Make an example."""
    return Example(part, inputs or None, options)


# Kernels and means

_DRAW = np.random.default_rng(1)
_X = _DRAW.normal(size=(5, 3)) + 0.5
_LINE, _ANGLES = _X[:, :1], np.asarray([[-4.0], [-0.5], [0.4], [2.5], [3.9]])
_CODES = np.asarray([[0.0], [2.0], [1.0], [2.0], [0.0]])
_LABELLED = np.concatenate([_X[:4, :2], [[0.0], [1.0], [2.0], [0.0]]], axis=1)
_LENGTHS = np.asarray([0.7, 1.4, 2.5])
_TREE = k.Graph(5, [(0, 1), (0, 2), (1, 3)])  # and a node on its own
_WEIGHTS = np.asarray([[1.0, 0.3], [-0.7, 0.8], [0.4, -1.1]])
_BELIEF = Normal(np.asarray([0.3, -0.2]), np.asarray([[0.5, 0.1], [0.1, 0.4]]))

KERNELS = {
    k.Sum: (of(k.RBF(1.3, _LENGTHS) + k.Linear(0.3) + k.White(0.2)),),
    k.Product: (of(k.RBF(1.3, 0.8) * k.Periodic(1.0, 1.5, 3.0) * k.Constant(2.0)),),
    k.Scaled: (of(1.7 * k.Matern52(1.3, 0.8)),),
    k.Power: (of((k.RBF(1.3, _LENGTHS) + 0.3) ** 3),),
    k.ActiveDims: (of(k.RBF(1.3, _LENGTHS[:2]).on(2, 0)),),
    k.ArcCosine: tuple(of(k.ArcCosine(0.7, _LENGTHS, 0.6, order)) for order in (0, 1, 2)),
    k.CircularRBF: (of(k.CircularRBF(1.3, 0.6), _ANGLES), of(k.CircularRBF(1.3, 1.7), _ANGLES)),
    k.CircularMatern12: (of(k.CircularMatern12(1.3, 0.8), _ANGLES),),
    k.CircularMatern32: (of(k.CircularMatern32(1.3, 0.8), _ANGLES),),
    k.CircularArcCosine: (of(k.CircularArcCosine(1.3), _ANGLES),),
    k.Coregion: (of(k.Coregion(_WEIGHTS, np.asarray([0.2, 0.1, 0.5])), _CODES, labels=True),),
    k.OutputNoise: (of(k.OutputNoise(np.asarray([0.1, 0.4, 0.02])), _CODES, labels=True),),
    k.WithGradients: (of(k.WithGradients(k.RBF(1.3, 0.8)), _LABELLED, labels=True),),
    k.GradientNoise: (of(k.GradientNoise(0.3), _LABELLED, labels=True),),
    k.GraphHeat: (of(k.GraphHeat(_TREE, 1.3, 0.8), _CODES, labels=True),),
    k.GraphMatern: (of(k.GraphMatern(_TREE, 1.3, 0.8, 1.7), _CODES, labels=True),),
    k.Hamming: (of(k.Hamming(1.3, 0.7), _CODES, labels=True),),
    k.OnSphere: (of(k.OnSphere(k.RBF(1.3, 90.0) + k.Linear(1e-8)), 30.0 * _X[:, :2]),),
    k.ThinPlate: (of(k.ThinPlate(1.3, 9.0)),),
    k.Wiener: (of(k.Wiener(1.3, -9.0), _LINE),),
    k.IntegratedWiener: (of(k.IntegratedWiener(1.3, -9.0), _LINE),),
}
MEANS = {
    means.ConstantOfValues: (of(means.ConstantOfValues(1.3), _LABELLED),),
    means.BasisMean: (
        of(means.BasisMean(means.Powers(1))),
        of(means.BasisMean(means.Powers(1), _BELIEF), _LINE),
    ),
}

# Priors and likelihoods

PRIORS = {
    positive_priors.GammaPrior: (of(positive_priors.GammaPrior(2.5, 1.3)),),
    positive_priors.InverseGammaPrior: (of(positive_priors.InverseGammaPrior(2.5, 1.3)),),
    positive_priors.HalfNormalPrior: (of(positive_priors.HalfNormalPrior(1.3)),),
    positive_priors.HalfCauchyPrior: (of(positive_priors.HalfCauchyPrior(1.3)),),
}
_F = np.asarray([0.1, 0.8, -0.5])
_LABELS, _COUNTS = np.asarray([1.0, -1.0, -1.0]), np.asarray([0.0, 3.0, 7.0])
_NUMBERS = np.asarray([0.3, -1.2, 2.0])
LIKELIHOODS = {
    likelihoods.Bernoulli: tuple(
        of(likelihoods.Bernoulli(link), _LABELS, _F) for link in ("probit", "logit")
    ),
    likelihoods.Binomial: (of(likelihoods.Binomial(7), _COUNTS, _F),),
    likelihoods.Gaussian: (of(likelihoods.Gaussian(0.7), _NUMBERS, _F),),
    likelihoods.NegativeBinomial: (of(likelihoods.NegativeBinomial(0.6), _COUNTS, _F),),
    likelihoods.Poisson: (of(likelihoods.Poisson(), _COUNTS, _F),),
    likelihoods.StudentT: tuple(
        of(likelihoods.StudentT(0.9, dof), _NUMBERS, _F, log_concave=False)
        for dof in (0.8, 1.5, 3.5)
    ),
}

# Inducing variables, with a kernel and inputs

_Z = _ANGLES[1:]
_SHARES = np.asarray([[1.0, -1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
_WIDTHS = np.asarray([[0.5], [-1.0], [0.2], [0.7]])
_ORDERS = np.asarray([0.0, 1.0, 3.0])
VARIABLES = {
    interdomain.InducingPoints: (
        of(interdomain.InducingPoints(_Z), k.Matern32(1.3, 0.8), _ANGLES),
    ),
    interdomain.WeightedPoints: (
        of(interdomain.WeightedPoints(_Z, _SHARES), k.RBF(1.3, 0.8), _ANGLES),
    ),
    interdomain.GaussianWindows: (
        of(interdomain.GaussianWindows(_Z, _WIDTHS), k.RBF(1.3, 0.8), _ANGLES),
    ),
    interdomain.Harmonics: (
        of(interdomain.Harmonics(_ORDERS), k.CircularRBF(1.3, 0.8), _ANGLES),
    ),
    # `apply` integrates the kernels, which have a kink, by a rule for smooth functions
    interdomain.IntervalHarmonics: tuple(
        of(interdomain.IntervalHarmonics(_ORDERS, -5.0, 6.0), kernel, _ANGLES, rtol=rtol)
        for kernel, rtol in ((k.Matern12(1.3, 0.8), 2e-3), (k.Matern32(1.3, 0.8), 1e-5),
                             (k.Matern52(1.3, 0.8), 1e-5))
    ),
}  # fmt: skip

# Policies and costs in a state of two numbers, acquisitions, criteria

_LINEAR = pilco.LinearPolicy(np.asarray([[1.0, -0.5]]), np.asarray([0.2]))
_BUMPS = pilco.RBFPolicy(
    _X[:3, :2], np.asarray([[0.7], [-0.4], [1.1]]), np.asarray([1.0, 1.5]), (0, 1), 2
)
POLICIES = {
    pilco.LinearPolicy: (of(_LINEAR),),
    pilco.RBFPolicy: (of(_BUMPS),),
    pilco.SquashedPolicy: (of(pilco.SquashedPolicy(_BUMPS, 1.5)),),
}
_GOAL = np.asarray([0.1, 0.2]), np.asarray([[1.0, 0.3], [0.3, 2.0]])
_NEAR, _FAR = pilco.SaturatingCost(*_GOAL), pilco.QuadraticCost(*_GOAL)
_FIRST = pilco.QuadraticCost(_GOAL[0][:1], _GOAL[1][:1, :1])
COSTS = {
    pilco.SaturatingCost: (of(_NEAR),),
    pilco.QuadraticCost: (of(_FAR),),
    pilco.SumCost: (of(0.5 * _NEAR + _FAR),),
    pilco.PartialCost: (of(pilco.PartialCost(_FIRST, (1,))),),
}
ACQUISITIONS = {
    acquisitions.UpperConfidenceBound: (of(acquisitions.UpperConfidenceBound(2.5)),),
    acquisitions.ProbabilityOfImprovement: (of(acquisitions.ProbabilityOfImprovement(0.7, 0.2)),),
    acquisitions.ExpectedImprovement: (of(acquisitions.ExpectedImprovement(0.7, 0.2)),),
    acquisitions.LogExpectedImprovement: (of(acquisitions.LogExpectedImprovement(0.7, 0.2)),),
    acquisitions.LogProbabilityOfImprovement: (
        of(acquisitions.LogProbabilityOfImprovement(0.7, 0.2)),
    ),
}
_CANDIDATES = (GP(k.RBF(), 0.1), _X, np.full(5, 0.1), 5)
CRITERIA = {
    kind: (of(kind(*_CANDIDATES, reference=_X), _X),)
    for kind in (criteria.Information, criteria.Variance, criteria.IntegratedVariance,
                 criteria.MutualInformation)
}  # fmt: skip

# Samplers whose two steps lead far enough to show that they sample another density.

_ROWS = np.asarray([-0.5, 0.5, -0.5, 0.5])


def _halves(x: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Four rows of whose sum the normal density is made, and the slope."""
    gaps = _ROWS[rows][:, None] - x
    return -0.125 * float(np.sum(gaps * gaps)), 0.25 * gaps.sum(axis=0)


SAMPLERS = {
    Metropolis: (of(Metropolis(1.5)),),
    MALA: (of(MALA(0.4)), of(MALA(0.3, np.asarray([1.2, 0.8])))),
    ULA: (of(ULA(0.2)),),
    HMC: (of(HMC(0.7, 3)),),
    NUTS: (of(NUTS(0.6)),),
    # of a prior of twice the variance the likelihood leaves the standard normal
    EllipticalSlice: (
        of(EllipticalSlice(2.0**0.5 * np.eye(2)), target=lambda f: -0.25 * float(f @ f)),
    ),
    SGLD: (
        of(SGLD(0.2, batch=2), target=MinibatchDensity(
            lambda x: (0.0, 0.0 * x), _halves, np.arange(4))),
    ),
}  # fmt: skip

# Learners and environments

_EVEN = np.full((3, 2), 0.5)
_OTHER = np.asarray([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]])
LEARNERS = {
    learning.QLearning: (of(learning.QLearning(0.9)),),
    learning.SARSA: (
        of(learning.SARSA(0.9)), of(learning.SARSA(0.9, exploration=learning.UCB(0.5))),
    ),
    learning.ExpectedSARSA: (of(learning.ExpectedSARSA(0.9)),),
    learning.QLambda: (of(learning.QLambda(0.9)),),
    learning.SARSALambda: (of(learning.SARSALambda(0.9)),),
    learning.NStepSARSA: (of(learning.NStepSARSA(0.9, n=3)),),
    learning.NStepTD: (of(learning.NStepTD(0.9, _OTHER, behaviour=_EVEN, n=3)),),
    learning.TD: (
        of(learning.TD(0.9, _EVEN, trace_decay=0.5)),
        of(learning.TD(0.9, _EVEN, trace_decay=0.5, behaviour=_OTHER)),
    ),
    learning.RMax: (of(learning.RMax(1.0, 2, 0.9)),),
    learning.CertaintyEquivalence: (of(learning.CertaintyEquivalence(0.9, plan_every=5)),),
    learning.PosteriorSampling: (of(learning.PosteriorSampling(0.9)),),
    learning.DynaQ: (of(learning.DynaQ(0.9, planning_steps=3)),),
}  # fmt: skip
_TERMINAL = MDP(np.asarray([[0.5, 0.5], [0.0, 1.0]]), np.asarray([[1.0], [0.0]]), 0.9)
ENVIRONMENTS = {
    learning.MDPEnvironment: (
        of(learning.MDPEnvironment(_TERMINAL)),
        of(
            learning.MDPEnvironment(MDP(np.full((4, 2), 0.5), np.eye(2), 0.9), _EVEN[0], (0.0, 1.0))
        ),
    ),
    learning.GymnasiumEnvironment: (
        of(learning.GymnasiumEnvironment(gymnasium.make("FrozenLake-v1"))),
        of(learning.GymnasiumEnvironment(gymnasium.make("Taxi-v4", max_episode_steps=5))),
    ),
}

EXAMPLES: dict[str, dict[type, tuple[Example, ...]]] = {
    "kernel": KERNELS, "mean": MEANS, "prior": PRIORS, "likelihood": LIKELIHOODS,
    "inducing variables": VARIABLES, "policy": POLICIES, "cost": COSTS, "criterion": CRITERIA,
    "acquisition": ACQUISITIONS, "sampler": SAMPLERS, "learner": LEARNERS,
    "environment": ENVIRONMENTS,
}  # fmt: skip
# Classes with the members of a contract that mean something else by them.
APART = {
    ("mean", means.Powers): "a basis: it has a column for each power",
    ("acquisition", ExpectedHypervolumeImprovement): "it takes moments of several objectives",
}
