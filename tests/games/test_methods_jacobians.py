"""The Jacobians of the methods are the derivatives of their payoffs along the simplex."""

import numpy as np
import pytest


@pytest.mark.parametrize("method", ["exact", "enumerated", "gaussian", "point", "neighbours"])
@pytest.mark.parametrize(("players", "strategies"), [((6,), (3,)), ((4, 3), (3, 2))])
def test_a_jacobian_is_that_of_differences(make_model, make_mixtures, method, players, strategies):
    model = make_model(players, strategies, lengths=(1.0, 4.0))
    p = 0.7 * make_mixtures(model.game, 3) + 0.3 / np.repeat(strategies, strategies)
    J = model.deviation_payoffs_and_jacobian(p, method)[1]
    for start, size in zip(np.cumsum((0, *strategies)), strategies, strict=False):
        way = np.zeros(p.shape[1])
        way[start], way[start + size - 1] = 1.0, -1.0
        ahead, behind = (
            model.deviation_payoffs_and_jacobian(p + h * way, method)[0] for h in (1e-5, -1e-5)
        )
        np.testing.assert_allclose(J @ way, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-8)
