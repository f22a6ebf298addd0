"""Kernels on graphs: against dense functions of the Laplacian, and what nodes are."""

import numpy as np
import pytest
from scipy import linalg

import gpnotes as g
from gpnotes.ground.xp import to_numpy
from gpnotes.model.kernels import Graph, GraphHeat, GraphMatern
from gpnotes.testing import gradcheck

RING = Graph(6, [(i, (i + 1) % 6) for i in range(6)])
TREE = Graph(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)])  # and a node 6 on its own
KERNELS = (GraphHeat(TREE, 1.3, 0.8), GraphMatern(TREE, 1.3, 0.8, 1.7))


@pytest.fixture(params=KERNELS, ids=lambda kernel: type(kernel).__name__)
def kernel(request):
    return request.param


@pytest.fixture
def nodes(space):
    return space.asarray([[0.0], [3.0], [6.0], [5.0], [3.0]])


def dense(kernel):
    """The same by SciPy's functions of matrices."""
    delta, length = kernel.graph.laplacian, kernel.lengthscale
    if isinstance(kernel, GraphHeat):
        K = linalg.expm(-0.5 * length**2 * delta)
    else:
        base = 2.0 * kernel.smoothness / length**2 * np.eye(len(delta)) + delta
        K = linalg.fractional_matrix_power(base, -kernel.smoothness).real
    return kernel.variance * K / np.mean(np.diag(K))


def test_it_is_a_function_of_the_laplacian(kernel, nodes, close):
    chosen = to_numpy(nodes)[:, 0].astype(int)
    K = dense(kernel)[np.ix_(chosen, chosen)]
    close(kernel(nodes), K, scale=100.0)
    close(kernel(nodes, nodes[1:3, :]), K[:, 1:3], scale=100.0)
    close(kernel.diag(nodes), np.diag(K), scale=100.0)
    host = to_numpy(kernel(nodes))
    assert np.array_equal(host, host.T)


def test_its_pullbacks_are_derivatives(kernel):
    x, z = np.asarray([[0.0], [3.0], [6.0], [5.0]]), np.asarray([[1.0], [3.0]])
    gradcheck(
        lambda k: k(x, z), lambda k, bar: k.pullback(x, z, bar)[:1], kernel,
        names=("kernel",), what="pullback(x, z, K_bar)",
    )  # fmt: skip
    gradcheck(
        lambda k: k(x), lambda k, bar: k.pullback(x, None, bar)[:1], kernel,
        names=("kernel",), what="pullback(x, None, K_bar)",
    )  # fmt: skip
    gradcheck(
        lambda k: k.diag(x), lambda k, bar: k.diag_pullback(x, bar)[:1], kernel,
        names=("kernel",), what="diag_pullback",
    )  # fmt: skip


def test_a_node_has_no_derivative(kernel, nodes, space):
    _, x_bar, z_bar = kernel.pullback(nodes, nodes[:2, :], kernel(nodes, nodes[:2, :]))
    for bar in (x_bar, z_bar, kernel.diag_pullback(nodes, kernel.diag(nodes))[1]):
        assert space.holds(bar)
        assert (to_numpy(bar) == 0.0).all()


def test_the_variance_is_the_mean_over_all_nodes(kernel):
    everywhere = np.arange(7.0)[:, None]
    np.testing.assert_allclose(kernel.diag(everywhere).mean(), 1.3, rtol=1e-12)


def test_nodes_without_a_path_are_independent(kernel):
    K = kernel(np.asarray([[6.0]]), np.arange(6.0)[:, None])
    np.testing.assert_allclose(K, 0.0, atol=1e-14)


def test_on_a_ring_the_heat_kernel_has_cosines_as_eigenvectors():
    K = GraphHeat(RING, 1.0, 0.9)(np.arange(6.0)[:, None])
    wave = np.cos(2.0 * np.pi * 2.0 * np.arange(6) / 6.0)
    np.testing.assert_allclose(K @ wave, (K @ wave)[0] * wave, atol=1e-12)


def test_a_graph_counts_its_edges_once():
    graph = Graph(3, [(0, 1), (1, 0), (2, 1)])
    assert graph.edges == ((0, 1), (1, 2))
    assert hash(graph) == hash(Graph(3, [(1, 2), (0, 1)]))
    np.testing.assert_array_equal(graph.distances(), [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert np.isinf(TREE.distances()[6, :6]).all()


def test_the_laplacian_sums_squared_steps(rng):
    f = rng.normal(size=7)
    steps = sum((f[i] - f[j]) ** 2 for i, j in TREE.edges)
    np.testing.assert_allclose(f @ TREE.laplacian @ f, steps, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph(0, []), r"Graph\.nodes must be a whole number from 1; got 0"),
        (lambda: Graph(3, [(0, 3)]), r"Graph\.edges must be entries 0 to 2 of the nodes"),
        (lambda: Graph(3, [(0, 0)]), r"Graph\.edges must name each entry once; got \(0, 0\)"),
        (lambda: Graph(3, [(0, 1, 2)]), r"Graph\.edges must be pairs of nodes"),
        (lambda: KERNELS[0](np.asarray([[7.0]])), "x must hold nodes, 0 to 6"),
        (lambda: KERNELS[0](np.asarray([[0.5]])), "x must hold nodes, 0 to 6"),
        (lambda: KERNELS[0](np.ones((2, 2))), "x must have one column, of nodes"),
    ],
)
def test_what_is_no_graph_and_no_node_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_kernel_on_a_graph_can_be_fitted():
    nodes = np.asarray([[0.0], [1.0], [2.0], [4.0], [5.0]])
    y = np.asarray([0.3, 0.5, -0.2, 0.9, -0.4])
    found = g.fit(g.GP(GraphHeat(TREE), 0.1), nodes, y)
    assert found.log_evidence >= g.log_evidence(g.GP(GraphHeat(TREE), 0.1), nodes, y)


@pytest.mark.parametrize("kind", [GraphHeat, GraphMatern])
def test_lengths_whose_squares_overflow_are_refused_by_name(kind):
    at = np.asarray([[0.0], [3.0]])
    for length in (1e-300, 1e-160, 1e160, 1e300):
        with pytest.raises(ValueError, match=rf"^{kind.__name__}\.lengthscale must be from"):
            kind(TREE, 1.3, length)(at)


@pytest.mark.parametrize("smoothness", [1e9, 1e20, 1e160])
def test_of_large_smoothness_it_is_the_heat_kernel(smoothness):
    """As a power of ``2ν/ℓ² + λ`` it had no digits there."""
    at, bar = np.asarray([[0.0], [3.0], [5.0]]), np.asarray([[1.0, 0.3, 0.2]] * 3)
    smooth, heat = GraphMatern(TREE, 1.3, 0.8, smoothness), GraphHeat(TREE, 1.3, 0.8)
    np.testing.assert_allclose(smooth(at), heat(at), rtol=1e-7)
    found, wanted = (kernel.pullback(at, None, bar)[0] for kernel in (smooth, heat))
    assert found.lengthscale == pytest.approx(wanted.lengthscale, rel=1e-7)
    assert abs(found.smoothness) < 1e-12
