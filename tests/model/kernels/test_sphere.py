"""Places on the sphere: what every kernel must do is asked in test_base.py."""

import numpy as np
import pytest

import gpnotes as g
from gpnotes.ground.xp import to_numpy
from gpnotes.infer.features import draw_frequencies
from gpnotes.model.bounds import spread
from gpnotes.model.kernels import OnSphere, WithGradients, great_circle_distances
from gpnotes.model.starts import started
from gpnotes.testing import check_kernel

KERNEL = OnSphere(g.Matern32(1.3, 900.0))


@pytest.fixture
def places(space, rng):
    latitude, longitude = rng.uniform(-89.0, 89.0, 8), rng.uniform(-400.0, 400.0, 8)
    return space.asarray(np.stack([latitude, longitude], axis=1))


def test_distances_are_those_of_the_law_of_cosines(space, places):
    found = great_circle_distances(places, places[:3, :])
    assert space.holds(found)
    lat, lon = np.deg2rad(to_numpy(places).astype(np.float64)).T
    cosine = np.sin(lat)[:, None] * np.sin(lat) + np.cos(lat)[:, None] * np.cos(lat) * np.cos(
        lon[:, None] - lon
    )
    want = 6371.0 * np.arccos(np.clip(cosine, -1.0, 1.0))[:, :3]
    np.testing.assert_allclose(to_numpy(found), want, atol=1e-3 if space.double else 10.0)


def test_the_kernel_sees_the_chord(space, places):
    chord = 2.0 * np.sin(to_numpy(great_circle_distances(places, radius=1.0)) / 2.0)
    s = np.sqrt(3.0) * 6371.0 * chord / 900.0
    tolerance = 1e-9 if space.double else 1e-3
    np.testing.assert_allclose(
        to_numpy(KERNEL(places)), 1.3 * (1.0 + s) * np.exp(-s), atol=tolerance
    )


def test_poles_and_date_line_are_places_like_others():
    pole = np.asarray([[90.0, 0.0], [90.0, 77.0], [-90.0, 5.0], [-90.0, -120.0]])
    K = KERNEL(pole)
    np.testing.assert_allclose(K[0, 1], 1.3)
    np.testing.assert_allclose(K[2, 3], 1.3)
    assert K[0, 2] < 1e-8
    line = np.asarray([[10.0, 180.0], [10.0, -180.0], [10.0, 540.0]])
    np.testing.assert_allclose(KERNEL(line), np.full((3, 3), 1.3))
    near = [[89.5, 0.0], [89.0, 100.0], [0.0, 179.5], [1.0, -179.5], [-89.9, 3.0]]
    check_kernel(OnSphere(g.RBF(0.7, 3000.0)), np.asarray(near))


def test_its_matrices_are_positive_semidefinite_all_over_the_sphere(rng):
    """As those with great-circle distances in the place of chords need not be."""
    z, turn = rng.uniform(-1.0, 1.0, 300), rng.uniform(-180.0, 180.0, 300)
    places = np.stack([np.rad2deg(np.arcsin(z)), turn], axis=1)
    for kernel in (g.RBF(1.0, 7000.0), g.Matern52(1.0, 9000.0), g.Matern12(1.0, 5000.0)):
        assert np.linalg.eigvalsh(OnSphere(kernel)(places)).min() > -1e-11
    d = great_circle_distances(places)
    assert np.linalg.eigvalsh(np.exp(-0.5 * (d / 7000.0) ** 2)).min() < -1e-6
    assert np.linalg.eigvalsh(np.exp(-d / 5000.0)).min() > 0.0  # Matérn ½ is one of the few


def test_a_fit_in_degrees_is_one_in_kilometres(rng):
    """Of a small region, whose map is nearly flat."""
    east, north = rng.uniform(0.0, 30.0, (2, 60))
    flat = np.stack([north, east], axis=1)
    latitude = 36.5 + np.rad2deg(north / 6371.0)
    places = np.stack([latitude, 10.0 + np.rad2deg(east / 6371.0) / np.cos(np.deg2rad(36.6))], 1)
    y = np.sin(east / 5.0) + np.cos(north / 6.0) + 0.1 * rng.normal(size=60)
    on_map = g.fit(g.GP(g.Matern52(1.0, 5.0), 0.1), flat, y)
    on_sphere = g.fit(g.GP(OnSphere(g.Matern52(1.0, 5.0)), 0.1), places, y)
    assert on_sphere.model.kernel.radius == 6371.0
    assert on_sphere.log_evidence == pytest.approx(on_map.log_evidence, abs=0.3)
    both = on_map.model.kernel.lengthscale, on_sphere.model.kernel.kernel.lengthscale
    assert both[0] == pytest.approx(both[1], rel=0.02)


def test_a_fit_starts_from_the_spread_of_the_places(rng):
    """Whatever the radius is counted in: at sixty degrees a degree of longitude counts half."""
    latitude, longitude = 60.0 + rng.normal(size=200), 179.0 + 2.0 * rng.normal(size=200)
    places = np.stack([latitude, longitude], axis=1)
    y = np.sin(latitude) + 0.1 * rng.normal(size=200)
    kilometres, metres = (
        g.fit(g.GP(OnSphere(g.Matern32(), radius)), places, y) for radius in (6371.0, 6371000.0)
    )
    assert metres.log_evidence == pytest.approx(kilometres.log_evidence, abs=1e-4)
    lengths = [one.model.kernel.kernel.lengthscale for one in (kilometres, metres)]
    assert type(lengths[0]) is float
    assert lengths[1] == pytest.approx(1000.0 * lengths[0], rel=1e-2)
    start = started(g.GP(OnSphere(g.RBF())), spread(places, y), places).kernel.kernel
    assert start.lengthscale == pytest.approx(157.0, rel=0.1)
    assert start.variance == pytest.approx(np.var(y))
    power = started(g.GP(g.RBF() ** 2), spread(places, y), places).kernel.kernel
    assert power.variance == pytest.approx(np.std(y))


def test_it_is_saved_and_combined(tmp_path):
    kernel = OnSphere(g.RBF(1.0, 500.0), 1.0).on(0, 1) * g.Matern32().on(2)
    g.save(kernel, tmp_path / "kernel")
    assert g.load(tmp_path / "kernel") == kernel
    assert repr(OnSphere(g.White())) == "OnSphere(kernel=White(variance=1), radius=6371)"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: KERNEL([[139.0, 35.0]]), ValueError, "x must have latitudes from -90 to 90"),
        (lambda: KERNEL(np.ones((2, 3))), ValueError, r"x must have two columns, latitude and"),
        (lambda: OnSphere(g.RBF(), 0.0), ValueError, "radius must be positive"),
        (lambda: OnSphere(3.0), TypeError, "kernel must be a gpnotes Kernel; got float"),
        (lambda: OnSphere(WithGradients(g.RBF())), TypeError, r"OnSphere\.kernel must read no la"),
        (lambda: great_circle_distances([[91.0, 0.0]]), ValueError, "x must have latitudes"),
        (lambda: great_circle_distances([[1.0, 0.0]], [[1.0]]), ValueError, "z must have two col"),
        (lambda: draw_frequencies(KERNEL, np.ones((2, 2)), 3, rng=1), TypeError, "kernel must"),
    ],
)
def test_what_is_no_place_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_no_places_have_no_distances(space, places):
    none = places[:0, :]
    assert great_circle_distances(none, places).shape == (0, 8)
    assert OnSphere(g.RBF(1.0, 900.0))(none, places).shape == (0, 8)
