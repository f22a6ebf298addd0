"""Sums over chunks on a Dask cluster: two processes, which fetch their rows themselves."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import Rows, count

from gpnotes import (
    GP,
    RBF,
    Chunks,
    FeatureGP,
    SparseGP,
    condition,
    log_evidence_and_gradient,
    stream,
)
from gpnotes.ground.chunks import ChunkError, add_up
from gpnotes.ground.params import flatten_gradient
from gpnotes.infer import features

# of the extra `scale`, which the locks have; `make versions` does without
distributed = pytest.importorskip("distributed")

N, EACH = 700, 150


@dataclass
class OnCluster:
    """A `map` by a cluster: what fails is tried again, `retries` times; answers as they come."""

    client: Any
    retries: int = 0

    def __call__(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        futures = self.client.map(work, list(items), retries=self.retries, pure=False)
        return (future.result() for future in distributed.as_completed(futures))


@pytest.fixture(scope="module")
def port_taken():
    """Dask's own port for its dashboard, held by another: by us, or by whoever has it already."""
    with socket.socket() as other:
        with contextlib.suppress(OSError):
            other.bind(("127.0.0.1", 8787))
            other.listen()
        yield


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, port_taken):
    folder = str(tmp_path_factory.mktemp("cluster"))
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # for None, Dask takes port 8787 all the same
            local_directory=folder,
            silence_logs="CRITICAL",
        ) as both,
        distributed.Client(both) as client,
    ):
        yield OnCluster(client)


@pytest.fixture
def table(rng):
    X = rng.uniform(0.0, 6.0, size=(N, 2))
    return np.column_stack([X, np.sin(X).sum(axis=1) + 0.1 * rng.normal(size=N)])


@pytest.fixture
def chunks(table, tmp_path) -> list[Rows]:
    path = Path(tmp_path) / "rows.npy"
    np.save(path, table)
    return [Rows(path, start, min(start + EACH, N)) for start in range(0, N, EACH)]


@pytest.fixture
def gp():
    return GP(RBF(1.2, np.asarray([1.0, 1.5])), 0.05)


def near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.max(np.abs(theirs)))


def test_the_processes_are_two_and_none_is_this_one(cluster):
    seen = set(cluster.client.run(os.getpid).values())
    assert len(seen) == 2
    assert os.getpid() not in seen


def test_random_features_are_those_in_memory(cluster, chunks, table, gp):
    X, y, Xs = table[:, :2], table[:, 2], table[:20, :2] + 0.1
    drawn = features.draw_frequencies(gp.kernel, X, 40, rng=stream(0))
    theirs = condition(FeatureGP(gp, drawn), X, y)
    ours = condition(FeatureGP(gp, drawn), Chunks(chunks, map=cluster))
    near(ours.log_evidence, theirs.log_evidence)
    for one, other in zip(ours.predict(Xs), theirs.predict(Xs), strict=True):
        near(one, other)


def test_the_variational_bound_is_that_in_memory_with_its_derivatives(cluster, chunks, table, gp):
    X, y, Xs = table[:, :2], table[:, 2], table[:20, :2] + 0.1
    Z = table[::50, :2]
    theirs = condition(SparseGP(gp, Z), X, y)
    ours = condition(SparseGP(gp, Z), Chunks(chunks, map=cluster))
    for one, other in zip(ours.predict(Xs), theirs.predict(Xs), strict=True):
        near(one, other)
    value, model_bar = log_evidence_and_gradient(SparseGP(gp, Z), X, y)
    gp_bar, Z_bar = model_bar.gp, model_bar.inducing
    told = log_evidence_and_gradient(SparseGP(gp, Z), Chunks(chunks, map=cluster))
    near(told[0], value)
    near(flatten_gradient(gp, told[1].gp), flatten_gradient(gp, gp_bar))
    near(told[1].inducing, Z_bar)


def test_the_engine_tries_again_and_no_row_counts_twice(cluster, chunks):
    chunks[2] = replace(chunks[2], failures=1)
    again = replace(cluster, retries=1)
    assert add_up(count, chunks, again) == N
    assert list(chunks[2].path.parent.glob("*.300.*")), "it did not fail"


def test_a_chunk_that_fails_too_often_is_named(cluster, chunks, gp):
    chunks[3] = replace(chunks[3], failures=3)
    with pytest.raises(ChunkError, match="chunk 3 of chunks failed: OSError: the disk") as caught:
        condition(SparseGP(gp, np.zeros((1, 2))), Chunks(chunks, map=replace(cluster, retries=1)))
    assert caught.value.number == 3
    assert len(list(chunks[3].path.parent.glob("*.450.*"))) == 2
