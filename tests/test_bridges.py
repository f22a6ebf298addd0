"""The bridges of the page on arrays: gradients by our pullbacks where others differentiate."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpnotes as g

BRIDGES = Path(__file__).parents[1] / "book" / "api" / "bridges"
GP_AT = g.GP(g.RBF(1.3, 1.0), 0.2)


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[Any, Any]:
    Z = rng.normal(size=(7, 2))
    return Z, np.sin(Z[:, 0])


def _gradients(Z: Any, y: Any) -> list[Any]:
    gp_bar, Z_bar, y_bar = g.condition(GP_AT, Z, y).evidence_gradient()
    return [Z_bar, y_bar, gp_bar.kernel.variance, gp_bar.noise_var]


class TestJax:
    @pytest.fixture
    def log_evidence(self) -> Any:
        jax = pytest.importorskip("jax", reason="could not import 'jax': No module named 'jax'")
        before = jax.config.jax_enable_x64
        jax.config.update("jax_enable_x64", True)
        yield runpy.run_path(str(BRIDGES / "gradients_in_jax.py"))["log_evidence"]
        jax.config.update("jax_enable_x64", before)

    def test_it_has_our_gradients_compiled_or_not(self, log_evidence: Any, data: Any) -> None:
        import jax

        Z, y = data
        by_all = jax.value_and_grad(log_evidence, argnums=(0, 1, 2, 3))
        for call in (by_all, jax.jit(by_all)):
            value, gradients = call(*map(jax.numpy.asarray, (Z, y, 1.3, 0.2)))
            assert float(value) == pytest.approx(g.log_evidence(GP_AT, Z, y))
            for one, other in zip(gradients, _gradients(Z, y), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9)

    def test_a_chain_of_jaxs_goes_through_it(self, log_evidence: Any, data: Any) -> None:
        import jax
        from jax.test_util import check_grads

        Z, y = map(jax.numpy.asarray, data)

        def of_weights(W: Any) -> Any:
            return log_evidence(jax.numpy.tanh(Z @ W), y, jax.numpy.exp(W[0, 0]), W[1, 1] ** 2)

        check_grads(of_weights, (jax.numpy.asarray([[0.4, 1.0], [-0.7, 0.6]]),), 1, ["rev"])

    def test_several_at_a_time(self, log_evidence: Any, data: Any) -> None:
        import jax

        Z, y = map(jax.numpy.asarray, data)
        variances = jax.numpy.asarray([0.5, 1.3])
        values = jax.vmap(log_evidence, in_axes=(None, None, 0, None))(Z, y, variances, 0.2)
        assert float(values[1]) == pytest.approx(g.log_evidence(GP_AT, *data))
        assert float(values[0]) != float(values[1])


@pytest.mark.namespace("torch")
class TestTorch:
    @pytest.fixture
    def bridge(self) -> dict[str, Any]:
        return runpy.run_path(str(BRIDGES / "deep_kernel.py"))

    def test_it_has_our_gradients(self, bridge: Any, data: Any) -> None:
        import torch

        Z, y, variance, noise_var = (
            torch.tensor(one, dtype=torch.float64, requires_grad=True) for one in (*data, 1.3, 0.2)
        )
        asked = (Z, y, variance, noise_var)
        bridge["LogEvidence"].apply(*asked).backward()
        for one, other in zip(asked, _gradients(*data), strict=True):
            np.testing.assert_allclose(one.grad, other, rtol=1e-9)
        assert torch.autograd.gradcheck(bridge["LogEvidence"].apply, asked)

    def test_a_kernel_whose_inputs_a_network_makes_is_fitted(self, bridge: Any) -> None:
        import torch

        torch.manual_seed(1)
        X = torch.linspace(-1.0, 1.0, 40, dtype=torch.float64)[:, None]
        y = torch.sign(X[:, 0])
        model = bridge["DeepKernel"](inputs=1).double()
        before = [one.detach().clone() for one in model.parameters()]
        values = bridge["fit"](model, X, y, steps=40)
        assert values[-1] > values[0] + 1.0
        assert all((a != b).any() for a, b in zip(before, model.parameters(), strict=True))
        mean = model.posterior(X, y).mean(model.network(X).detach())
        assert float(torch.mean((mean - y) ** 2)) < 0.1
