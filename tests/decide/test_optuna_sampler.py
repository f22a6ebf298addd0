"""The sampler of Optuna's studies, where Optuna is installed."""

from __future__ import annotations

import math

import pytest

from gpnotes import GP, RBF, condition

optuna = pytest.importorskip("optuna")


from gpnotes.decide.optuna_sampler import ProcessSampler  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)


def quick(X, y, *, rng):
    return condition(GP(RBF(1.0, 0.5), 1e-4), X, y)


def objective(trial):
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    depth = trial.suggest_int("depth", 2, 12, step=2)
    share = trial.suggest_float("share", 0.0, 1.0, step=0.25)
    width = trial.suggest_int("width", 1, 512, log=True)
    rule = trial.suggest_categorical("rule", ["relu", None, 3])
    one = trial.suggest_int("one", 1, 1)
    bends = math.log10(rate / 0.003) ** 2 + (depth - 6) ** 2 / 8 + (share - 0.75) ** 2
    return bends + math.log2(width / 32) ** 2 / 8 + (rule != "relu") + one


def studied(seed, trials, sampler=ProcessSampler, enough=0.0, **options):
    """A study that ends when a trial is good enough."""

    def stop(study, trial):
        if trial.value < enough:
            study.stop()

    study = optuna.create_study(sampler=sampler(seed=seed, **options), direction="minimize")
    study.optimize(objective, n_trials=trials, callbacks=[stop])
    return study


def test_a_study_finds_more_than_by_chance():
    """Thirty trials, or fewer; the least value is 1."""
    ours = studied(1, 30, enough=1.1).best_value
    assert ours < 1.1
    assert ours < studied(1, 30, optuna.samplers.RandomSampler).best_value


def test_all_kinds_of_parameters_come_as_a_study_wants_them():
    study = studied(1, 14, model=quick, num_initial=4)
    for trial in study.trials:
        assert trial.params["depth"] in (2, 4, 6, 8, 10, 12)
        assert trial.params["share"] in (0.0, 0.25, 0.5, 0.75, 1.0)
        assert trial.params["rule"] in ("relu", None, 3)
        assert type(trial.params["width"]) is int
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 14


def test_a_seed_repeats_a_study():
    one, other = (studied(3, 8, model=quick, num_initial=3) for _ in range(2))
    assert [trial.params for trial in one.trials] == [trial.params for trial in other.trials]


def test_trials_under_way_are_not_asked_for_again():
    study = studied(1, 8, model=quick, num_initial=3)
    names = {name: d for name, d in study.trials[0].distributions.items() if not d.single()}
    asked = [study.ask(study.trials[0].distributions).params for _ in range(4)]
    assert len({tuple(params[name] for name in names) for params in asked}) == 4


def test_what_failed_or_was_pruned_does_not_stop_a_study():
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick), direction="maximize")

    def often(trial):
        x = trial.suggest_float("x", -1.0, 2.0)
        if x > 1.2:
            raise optuna.TrialPruned
        return math.nan if x < -0.4 else -((x - 0.5) ** 2)

    study.optimize(often, n_trials=16)
    assert study.best_value > -0.05


@pytest.mark.parametrize("error", [ValueError, optuna.TrialPruned])
def test_a_trial_without_a_value_is_not_repeated(error):
    """A study made anew each time from complete trials alone came to one place for ever."""
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))

    def part(trial):
        x = trial.suggest_float("x", -1.0, 2.0)
        if x > 0.2:
            raise error
        return (x - 0.5) ** 2

    study.optimize(part, n_trials=14, catch=(ValueError,))
    places = [trial.params["x"] for trial in study.trials]
    assert min(abs(one - other) for i, one in enumerate(places) for other in places[:i]) > 1e-6
    assert study.best_params["x"] > 0.15


def test_a_study_ends_once_its_settings_are_used_up():
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))

    def whole(trial):
        return "uvw".index(trial.suggest_categorical("a", "uvw")) + trial.suggest_int("b", 0, 1)

    with pytest.warns(UserWarning, match="all settings are used up"):
        study.optimize(whole, n_trials=20)
    assert len({tuple(trial.params.values()) for trial in study.trials}) == 6
    assert len(study.trials) < 10
    with pytest.warns(UserWarning, match="all settings are used up"):
        study.ask(study.trials[0].distributions)


def test_the_last_step_of_a_float_is_asked_for():
    """Three times 0.1 is above 0.3, where Optuna drew another value without a word."""
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))
    with pytest.warns(UserWarning, match="all settings are used up"):
        study.optimize(lambda trial: -trial.suggest_float("x", 0.0, 0.3, step=0.1), n_trials=20)
    assert len(study.trials) < 8
    assert study.best_params == {"x": 0.3}


@pytest.mark.parametrize("branched", [False, True])
def test_a_study_resumed_with_its_seed_draws_other_values(branched):
    """As a script does that is started again and again, and fails each time, or branches."""
    storage = optuna.storages.InMemoryStorage()

    def failing(trial):
        x = trial.suggest_float(f"x{trial.number if branched else 0}", 0.0, 1.0)
        return x if branched else 1.0 / 0.0

    for _ in range(4):
        sampler = ProcessSampler(seed=1, model=quick)
        study = optuna.create_study(
            storage=storage, sampler=sampler, study_name="one", load_if_exists=True
        )
        study.optimize(failing, n_trials=1, catch=(ZeroDivisionError,))
    assert len({x for trial in study.trials for x in trial.params.values()}) == 4


def test_trials_outside_the_ranges_do_not_end_a_study():
    """A trial that was enqueued, and ranges that a user narrowed after failures."""
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))

    def failing(trial):
        trial.suggest_float("x", 0.0, 9.0)
        raise optuna.TrialPruned

    study.optimize(failing, n_trials=3)
    study.ask({"x": optuna.distributions.FloatDistribution(7.0, 9.0)})
    study.enqueue_trial({"x": 3.0})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0) ** 2, n_trials=6)
    assert all(trial.params["x"] <= 1.0 for trial in study.trials[-5:])


def test_trials_that_begin_together_are_of_different_places():
    """A trial that runs has no parameters in the study before its objective asks for them."""
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick, num_initial=4))
    for _ in range(3):
        trials = [study.ask() for _ in range(4)]  # as four threads or processes do
        [trial.relative_params for trial in trials]  # is chosen when it is first looked at
        places = [trial.suggest_float("x", 0.0, 1.0) for trial in trials]
        assert len(set(places)) == 4
        for trial, x in zip(trials, places, strict=True):
            study.tell(trial, (x - 0.4) ** 2)


def test_a_sampler_serves_a_second_study():
    """What Optuna keeps of the parameters of the first left those of the second to chance."""
    sampler = ProcessSampler(seed=1, model=quick, num_initial=3)
    for name, upper in (("x", 1.0), ("x", 9.0), ("z", 1.0)):
        study = optuna.create_study(sampler=sampler)
        there = {name: optuna.distributions.FloatDistribution(0.0, upper)}
        for _ in range(5):
            trial = study.ask(there)
            study.tell(trial, trial.params[name])
        assert sampler.infer_relative_search_space(study, study.trials[-1]) == there


def test_branches_are_no_settings_that_are_used_up():
    """Values that repeat say nothing of parameters that the model does not see."""
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))

    def plateau(trial):
        rule = trial.suggest_categorical("rule", ["a", "b"])
        return float(trial.suggest_float(rule, 0.0, 1.0) < 0.9)

    study.optimize(plateau, n_trials=30)
    assert len(study.trials) == 30
    assert study.best_value == 0.0


def test_the_page_about_it_runs(root, capsys):
    """Its block needs Optuna, which the book is built without."""
    page = (root / "book" / "api" / "searching.md").read_text("utf-8")
    block = page.split("```python\n")[2].split("```")[0]
    exec(block.replace("n_trials=20", "n_trials=8"), {"math": math})
    assert "depth" in capsys.readouterr().out


def test_parameters_of_branches_are_drawn():
    study = optuna.create_study(sampler=ProcessSampler(seed=1, model=quick))

    def branched(trial):
        x = trial.suggest_float("x", -1.0, 2.0)
        return x**2 + (trial.suggest_float("more", 0.0, 1.0) if x > 0.5 else 0.0)

    study.optimize(branched, n_trials=10)
    assert len(study.trials) == 10


def test_several_objectives_are_refused():
    study = optuna.create_study(sampler=ProcessSampler(seed=1), directions=["minimize"] * 2)
    with pytest.raises(ValueError, match="study must have one objective; got 2"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0), 1.0), n_trials=3)


def test_the_sampler_looks_at_its_arguments():
    with pytest.raises(ValueError, match="seed must be a whole number"):
        ProcessSampler(seed=-1)
    with pytest.raises(TypeError, match="model must be"):
        ProcessSampler(model=3)
