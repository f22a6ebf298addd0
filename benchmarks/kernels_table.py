"""Each kernel's matrix and its pullback, beside the floor of its own functions, and beside a peer.

``python benchmarks/kernels_table.py`` prints a line for each kernel. The floor is what no program
can do without: a product of matrices for the distances or phases, and once for each entry the
functions in the kernel's formula, in blocks that fit the cache. The matrix is symmetric, the floor
works on all of it, as a matrix between two sets of points would need. For a pullback the floor is
that of the matrix, since what the derivative needs can be kept. scikit-learn's column is its matrix
with all derivatives, which it forms, n × n × p; who does not have the kernel is left out. Where
scikit-learn has it, matrices are compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure import once

from gpnotes.model import kernels
from gpnotes.model.kernels import WithGradients, gradients_at, values_at

D = 4
TOLERANCE = 1e-10
Function = Callable[..., Any]
_BLOCK = 20  # rows: they fit the cache
_SQRT, _COS = np.sqrt, np.cos


def _decay(block: np.ndarray, out: np.ndarray) -> None:
    np.negative(block, out=out)
    np.exp(out, out=out)


@dataclass(frozen=True)
class Task:
    """A kernel, the functions that each entry of its matrix takes, and scikit-learn's kernel."""

    name: str
    kernel: kernels.Kernel
    entry: Sequence[Function]
    peer: Callable[[], Any] | None = None
    gradients: bool = False
    columns: int = D

    def inputs(self, n: int) -> np.ndarray:
        """n rows: points, or the values and the derivatives of a fifth as many."""
        x = np.random.default_rng(7).normal(size=(n, self.columns))
        if not self.gradients:
            return x
        few = x[: n // (D + 1)]
        return np.concatenate([values_at(few), gradients_at(few)])


def tasks() -> list[Task]:
    """The kernels with a formula of their own; what is made of them costs what they cost."""
    from sklearn.gaussian_process import kernels as sk

    lengths = np.linspace(1.5, 3.0, D)
    angle = (_SQRT, _SQRT, np.arctan)  # of two distances
    return [
        Task("RBF", kernels.RBF(1.0, lengths), (_decay,), lambda: sk.RBF(lengths)),
        Task("Matern12", kernels.Matern12(1.0, lengths), (_SQRT, _decay),
             lambda: sk.Matern(lengths, nu=0.5)),
        Task("Matern32", kernels.Matern32(1.0, lengths), (_SQRT, _decay),
             lambda: sk.Matern(lengths, nu=1.5)),
        Task("Matern52", kernels.Matern52(1.0, lengths), (_SQRT, _decay),
             lambda: sk.Matern(lengths, nu=2.5)),
        Task("RationalQuadratic", kernels.RationalQuadratic(1.0, 2.0, 1.5), (np.log1p, _decay),
             lambda: sk.RationalQuadratic(2.0, 1.5)),
        Task("Periodic", kernels.Periodic(1.0, lengths, 2.0), (_decay,)),
        Task("Linear", kernels.Linear(1.0), (), lambda: sk.DotProduct(0.0)),
        Task("Cosine", kernels.Cosine(0.1 * lengths), (_COS,)),
        Task("mixture of two", kernels.spectral_mixture(
            [1.0, 0.5], [0.1 * lengths, 0.3 * lengths], [0.1 / lengths, 0.2 / lengths]),
            (_decay, _COS, _decay, _COS)),
        *(Task(f"ArcCosine {order}", kernels.ArcCosine(order=order), angle) for order in (0, 1, 2)),
        Task("ThinPlate", kernels.ThinPlate(1.0, 9.0), (_SQRT,), columns=3),
        Task("WithGradients RBF", WithGradients(kernels.RBF(1.0, lengths)), (_decay,),
             gradients=True),
        Task("WithGradients M52", WithGradients(kernels.Matern52(1.0, lengths)), (_SQRT, _decay),
             gradients=True),
    ]  # fmt: skip


def floor(task: Task, x: np.ndarray) -> Callable[[], None]:
    """A product of the points with themselves, then the functions of each entry."""
    points = np.ascontiguousarray(x[:, : task.columns])
    K = np.empty((len(x), len(x)))

    def call() -> None:
        np.matmul(points, points.T, out=K)
        for start in range(0, len(x), _BLOCK):
            block = K[start : start + _BLOCK]
            np.abs(block, out=block)  # so that each function has a value
            for function in task.entry:
                function(block, out=block)

    return call


def measured(task: Task, n: int, rounds: int) -> dict[str, Any]:
    """The least seconds of each, in turns; how far matrices lie apart, if they are compared."""
    x = task.inputs(n)
    weights = np.random.default_rng(8).normal(size=(len(x), len(x)))
    peer = task.peer() if task.peer else None
    calls: dict[str, Callable[[], Any]] = {
        "floor": floor(task, x),
        "matrix": lambda: task.kernel(x),
        "pullback": lambda: task.kernel.pullback(x, None, weights),
    }
    if peer is not None:
        calls["scikit-learn"] = lambda: peer(x, eval_gradient=True)
    least = dict.fromkeys(calls, np.inf)
    answers = {}
    for _ in range(rounds):
        for name, call in calls.items():
            call()  # the first fetches memory from the system
            seconds, answers[name] = once(call)
            least[name] = min(least[name], seconds)
    row = {"name": task.name, "n": len(x), "seconds": least, "disagreement": None}
    if peer is not None:
        row["disagreement"] = float(np.max(np.abs(answers["matrix"] - answers["scikit-learn"][0])))
    return row


def shown(row: dict[str, Any]) -> str:
    """A line: seconds of the floor, and all else as multiples of it."""
    seconds = row["seconds"]
    times = {name: value / seconds["floor"] for name, value in seconds.items()}
    peer = f"{times['scikit-learn']:14.1f}" if "scikit-learn" in times else f"{'':14}"
    return (
        f"{row['name']:<20}{seconds['floor']:12.4f}{times['matrix']:10.1f}{times['pullback']:10.1f}"
        f"{peer}"
    )


def main() -> int:
    """Measure and print; 1 if answers differ, 0 otherwise, whatever the speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    wanted = parser.parse_args()
    print(
        f"\nmatrices of {wanted.rows} rows in {D} dimensions; the least of {wanted.rounds} rounds"
    )
    print(f"{'':20}{'floor, s':>12}{'times the floor':^20}{'with n × n × p':>16}")
    print(f"{'kernel':<20}{'':12}{'matrix':>10}{'pullback':>10}{'scikit-learn':>14}")
    rows = [measured(task, wanted.rows, wanted.rounds) for task in tasks()]
    print("\n".join(map(shown, rows)))
    gaps = [row["disagreement"] for row in rows if row["disagreement"] is not None]
    print(f"where both have the kernel, matrices differ by at most {max(gaps):.1e}")
    return int(max(gaps) > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
