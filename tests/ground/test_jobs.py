"""Work on several processes: in order, by value, whatever was defined here."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpnotes import GP, RBF, fit
from gpnotes.ground.jobs import checked_jobs, mapper_of


def test_processes_answer_in_order_and_take_what_has_no_name():
    pytest.importorskip("joblib", reason="the extra `sklearn` brings it")
    assert list(mapper_of(2)(lambda x: x - 1, range(5))) == [-1, 0, 1, 2, 3]


@pytest.mark.parametrize("jobs", [map, "threads", 2])
def test_the_runs_of_a_fit_are_the_same_by_any_jobs(rng, jobs):
    if jobs == 2:
        pytest.importorskip("joblib", reason="the extra `sklearn` brings it")
    X = rng.uniform(0.0, 6.0, (20, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=20)
    settings = {"restarts": 3, "rng": 1, "max_steps": 4}
    expected = fit(GP(RBF(), 0.1), X, y, **settings)
    with ThreadPoolExecutor(2) as pool:
        found = fit(GP(RBF(), 0.1), X, y, jobs=pool.map if jobs == "threads" else jobs, **settings)
    for one, other in zip(found.runs, expected.runs, strict=True):
        assert abs(one.log_evidence - other.log_evidence) < 1e-9
        assert (one.message, one.evaluations) == (other.message, other.evaluations)


def test_what_is_no_number_of_jobs_is_refused_and_joblib_asked_for(monkeypatch):
    with pytest.raises(ValueError, match="jobs must be"):
        checked_jobs(0)
    with pytest.raises(TypeError, match="jobs must be"):
        checked_jobs("two")
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match="jobs=2 needs the package joblib"):
        mapper_of(2)
