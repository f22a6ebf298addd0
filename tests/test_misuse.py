"""Wrong calls of every public function: each gets a clear error, none an answer or a NaN."""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
from collections import Counter
from typing import Any

import pytest
from misuse.answers import Answer, Call, answers, names_it
from misuse.calls import CALLS

ROOMS = (
    "assess.calibration", "assess.crossval", "assess.scores", "assess.variograms", "datasets",
    "decide.bayesopt", "decide.design", "decide.fantasy", "games", "mdp", "mdp.learning",
    "decide.moments", "decide.pilco", "decide.pilco.cartpole", "decide.pilco.pendulum",
    "draw.grids", "draw.paths", "estimators", "ground.arrays", "ground.chunks",
    "ground.distances", "ground.levels", "ground.linalg", "ground.params", "ground.quadrature",
    "ground.random", "infer.deep", "infer.exact",
    "infer.features", "infer.fitting", "infer.heteroscedastic", "infer.interdomain",
    "infer.laplace", "infer.state_space",
    "infer.linear", "networks", "infer.repeats", "infer.report", "samplers", "infer.saving",
    "infer.linear_smoother", "infer.sparse", "infer.stacks", "infer.svgp", "infer.verbs",
    "model.normal", "model.kernels", "model.likelihoods", "model.means", "model.positive_priors",
    "model.priors", "testing",
)  # fmt: skip
CLEAR = 0.95  # the share of wrong calls whose error names the argument


@pytest.fixture(scope="module")
def tried() -> list[Answer]:
    return [answer for called in CALLS for answer in answers(called)]


def test_no_wrong_call_is_answered_as_if_it_were_right(tried: list[Answer]) -> None:
    assert not [str(answer) for answer in tried if answer.outcome == "silent"]


def test_no_wrong_call_is_answered_with_nan(tried: list[Answer]) -> None:
    assert not [str(answer) for answer in tried if answer.outcome == "nan"]


def test_nearly_all_errors_name_the_argument(tried: list[Answer]) -> None:
    outcomes = Counter(answer.outcome for answer in tried)
    obscure = [str(answer) for answer in tried if answer.outcome == "obscure"]
    assert len(tried) > 20000, "fewer wrong calls than have been tried before"
    assert outcomes["clear"] >= CLEAR * len(tried), "\n".join(obscure)


def test_errors_name_arguments_of_the_function_that_was_called(tried: list[Answer]) -> None:
    """Not those of a function that it calls, which the caller never gave."""
    parameters: dict[str, set[str]] = {}
    for row in CALLS:  # of which several may have one name
        parameters.setdefault(row.called, set()).update(row.arguments, _parameters(row.function))
    said = [(one, one.said.partition(": ")[2]) for one in tried if one.outcome != "silent"]
    without = {
        (one.called, one.argument) for one, words in said
        if one.outcome == "obscure" and not any(names_it(words, p) for p in parameters[one.called])
    }  # fmt: skip
    assert without == NAMED_BY_NOTHING
    begun = [(one, re.match(r"(\w+) must ", words)) for one, words in said]
    others = {(one.called, word[1]) for one, word in begun if word} - {
        (called, word) for called, known in parameters.items() for word in known
    }
    assert {(called, word) for called, word in others if word not in FIELDS} == set()


# what a caller's own function raises, and numbers beyond floats in the engine
NAMED_BY_NOTHING = {("sample", "jobs"), ("check_equation", "rtol"), ("check_equation", "atol")}
# fields of what the caller gave: of `Chunks`, of a posterior of networks
FIELDS = {"chunks", "theta"}


def test_every_public_function_is_in_the_catalogue() -> None:
    """Results, which nobody makes by hand, and what takes no argument have no row."""
    catalogue = {id(_function(called.function)) for called in CALLS}
    missing = [
        f"{room}.{name}" for room in ROOMS for name, value in _public(room)
        if id(_function(value)) not in catalogue and name not in UNTRIED
    ]  # fmt: skip
    assert missing == []


def test_whole_numbers_get_one_answer_everywhere() -> None:
    """2.0, True and 2.5 are no whole numbers: a `TypeError`. −1 is one, but too small."""
    wrong = {2.0: TypeError, True: TypeError, 2.5: TypeError, -1: ValueError}
    other = []
    asked = ((row, name) for row in CALLS for name in _whole(row.function))
    for (row, name), (value, error) in itertools.product(asked, wrong.items()):
        answer = _answer(row, name, value)
        if type(answer) is not error or f"{name} must be a whole number" not in str(answer):
            other.append((row.called, name, value, answer))
    # the lower end of a range may lie anywhere
    free = [("Stream.integers", "low", -1), ("Integer", "lower", -1)]
    assert sorted(row[:3] for row in other) == sorted(free), other


def test_no_count_is_too_large_for_its_own_words() -> None:
    """10³⁰ is answered or refused by the argument's name; steps and budgets may go on."""
    asked = [
        (row, name) for row in CALLS
        for name in _whole(row.function) if name in row.arguments and name not in ENDLESS
    ]  # fmt: skip
    other = {}
    for row, name in asked:
        try:
            row.function(**{**row.right(), name: 10**30})
        except (MemoryError, TypeError, ValueError) as error:
            if not re.search(rf"\b{name}\b", str(error)):
                other[row.called, name] = str(error)
    assert len(asked) > 130
    # what does not go together, or the words of another argument
    assert {at[0] for at in other} == {"Stream.integers", "sample", "upright", "balanced"}, other


# each is another turn of a loop, and holds no memory
ENDLESS = {
    "restarts", "max_steps", "num_steps", "num_warmup", "budget", "replicator_steps", "horizon",
    "num_proposals", "num_profiles", "batch", "inducing",
}  # fmt: skip


def test_flags_get_one_answer_everywhere() -> None:
    """What is only as good as true or false is neither: a `TypeError`."""
    asked = [(row, name) for row in CALLS for name in _declared(row.function, "bool")]
    answers = {
        (row.called, name, value): _answer(row, name, value)
        for (row, name), value in itertools.product(asked, (1, 0, "no", None, 1.0))
    }
    assert len(asked) > 20
    assert not {
        at: answer for at, answer in answers.items()
        if not isinstance(answer, TypeError) or f"{at[1]} must be True or" not in str(answer)
    }  # fmt: skip


def test_covariances_get_one_answer_everywhere() -> None:
    """One that is not symmetric, or has a negative eigenvalue, is refused in the same words."""
    wrong = {"an asymmetric matrix": "symmetric", "a negative matrix": "positive semidefinite"}
    other, seen = [], 0
    for row in CALLS:
        for name, argument in row.arguments.items():
            for what in argument.wrong.keys() & wrong.keys():
                answer, seen = _answer(row, name, argument.wrong[what]), seen + 1
                if f"{name} must be {wrong[what]}; its" not in str(answer):
                    other.append((row.called, what, str(answer)))
    assert seen > 80
    # to factorise is to find out
    assert [row[:2] for row in other] == [("cholesky", "a negative matrix")], other


def _whole(function: Any) -> list[str]:
    """The parameters that are declared to be whole numbers."""
    return _declared(function, "int", "int | None")


def _declared(function: Any, *types: str) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.annotation in types]


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:  # a class that NumPy or Python wrote
        return []


def _answer(called: Call, name: str, value: Any) -> Exception | None:
    try:
        result = called.function(**{**called.right(), name: value})
        if inspect.isgenerator(result):
            next(result)
    except (TypeError, ValueError) as error:
        return error
    return None


UNTRIED = {
    # results
    "FittedWeights", "FittedMeanField", "LastLayer", "LinearisedLaplace", "SWAG",
    "Fit", "Run", "Levels", "LeaveOneOut", "ExactPosterior", "LaplacePosterior", "SoftmaxPosterior",
    "EPPosterior", "PartPosterior", "Variogram", "HeteroscedasticPosterior", "Repeats",
    "WeightPosterior", "Design", "VariationalPosterior", "ClassesPosterior", "ClassesMarginals",
    "ClassesSums", "Whitened", "Variational", "Progress", "CrossValidation", "Scores",
    "CertifiedMixture", "Equilibria", "Equilibrium", "Search", "Simulations",
    "Estimate", "GaussianBelief", "Moments", "RunningMoments", "Predictor", "ControlledChain",
    "FilterResult",
    "Augmented", "Improvement", "Rollout", "SineMoments", "Transitions", "Trial", "Choice",
    "LookAhead", "VarianceParts", "FeaturePosterior", "SparsePosterior",
    "StateSpaceForecast", "StateSpacePosterior",
    "Inducing", "PayoffMethod", "SparseMethod", "Term", "WaveSums",
    "LocalMaximum", "Maximum", "Evaluation", "Outcome", "Recommendation", "Paths", "FinishedRun",
    "Slice", "SobolIndex", "plot_sobol_indices", "ParetoOutcome", "VectorEvaluation",
    "Hyperparameter", "Report", "ObjectiveSurvey",
    "CirculantEmbedding", "Chains", "ChainWarning", "PhasePoint", "State", "Step",
    "Reliability", "SplitConformal", "ConformalCoverage", "Solution",
    "Cholesky", "ChunkError", "FitWarning", "FactorisationError", "JitterWarning",
    "RoundingWarning",
    "Stream", "Space", "left_open",
    "ArraySpace",
    "DynaState", "Episodes", "LearnerState", "ModelState", "NStepState", "OffPolicyEstimate",
    "QLambdaState", "SARSALambdaState", "SARSAState", "TDState", "TimeStep", "Transition",
    # for subclasses and for other rooms
    "Environment", "ExplorationPolicy", "FeatureMap", "Learner", "Schedule",
    "Circular", "ComposableCost", "Kernel", "OnGraph", "Stationary", "LikelihoodBase",
    "MulticlassLikelihood", "Mapper",
    "Chunks", "Rows", "Sampler", "StateModel", "leapfrog",
    "added",
    "cotangent", "fixed", "flatten_gradient", "holds_derivatives", "nonnegative", "positive",
    "real", "settle", "stream_of", "by_differences", "centroid", "gradcheck",
    # looked at by fit, as scikit-learn wants it: test_bayes_search.py
    "BayesSearchCV",
    # without arguments
    "Poisson", "ZeroMean", "backend", "array_spaces",
}  # fmt: skip


def _function(value: Any) -> Any:
    return inspect.unwrap(getattr(value, "__func__", value))


def _public(room: str) -> list[tuple[str, Any]]:
    module = importlib.import_module(f"gpnotes.{room}")
    named = ((name, getattr(module, name)) for name in module.__all__)
    return [(name, value) for name, value in named if callable(value)]
