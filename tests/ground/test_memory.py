"""Memory is asked for before it is taken, and a refusal says the numbers."""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpnotes.ground import memory

GIB = 2**30
require = {"what": "K", "remedy": "Use less."}


@pytest.fixture
def free(monkeypatch):
    """A machine with as much free memory as the test says."""

    def set_to(size):
        monkeypatch.setattr(memory, "available", lambda like=None: size)
        monkeypatch.setattr(memory, "_SMALL", 0)  # so that small matrices will do here

    return set_to


def test_a_count_beyond_memory_is_told_by_its_name_what_it_needs_and_what_there_is(free):
    free(8 * 60)
    assert memory.count(np.int64(20), "bins", each=3) == 20
    with pytest.raises(MemoryError, match=r"bins must be smaller: 21 of them need .* float64; "):
        memory.count(21, "bins", each=3)
    assert memory.count(40, "bins", each=3, like=np.zeros(1, dtype=np.float32)) == 40
    with pytest.raises(ValueError, match="bins must be a whole number from 1; got 0"):
        memory.count(0, "bins")


def test_a_count_that_no_float_holds_is_told_too(free):
    free(None)  # where nobody says what is free, no array may be larger than an address
    with pytest.raises(MemoryError, match=r"need 7\.45e\+391 GiB in float64; no array has"):
        memory.count(10**400, "bins")


def test_what_is_free_is_more_than_nothing_and_less_than_a_planet():
    free = memory.available(np.ones(1))
    assert free is None or 2**20 < free < 2**60


def test_the_kernels_estimate_is_read_in_kib(tmp_path, monkeypatch):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  99 kB\nMemAvailable:       2048 kB\nBuffers: 1 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_GROUP", tmp_path / "none")
    assert memory.available() == 2 * 2**20


def test_where_the_kernel_estimates_nothing_its_free_pages_count(tmp_path, monkeypatch):
    pages = {"SC_AVPHYS_PAGES": 300, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "_GROUP", tmp_path / "none")
    monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__, raising=False)
    assert memory.available() == 300 * 4096


def test_the_limit_of_a_container_counts(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemAvailable: 2048 kB\n")
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() == 600_000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available() == 2 * 2**20


def test_where_nobody_says_nothing_is_refused(monkeypatch):
    nowhere = Path("/nowhere/at/all")
    monkeypatch.setattr(memory, "_MEMINFO", nowhere)
    monkeypatch.setattr(memory, "_GROUP", nowhere)
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.available() is None
    memory.require(10**9, 10**9, copies=3, like=np.ones(1), **require)


def test_a_device_is_asked_for_its_own_memory(monkeypatch):
    monkeypatch.setattr(memory, "device_memory", lambda a: 12345)
    assert memory.available(np.ones(1)) == 12345


@pytest.mark.parametrize(
    ("free", "most"), [(None, 100), (2**12, 100), (2**20, 2**11), (2**50, 2**26)]
)
def test_blocks_take_a_share_of_a_device(monkeypatch, free, most):
    """No share of a host, whose caches they suit; and no less than on a host."""
    monkeypatch.setattr(memory, "device_memory", lambda a: free)
    like = np.ones(1)
    assert memory.blocks(2 * most, 1, 100, like=like)[0] == slice(0, most)
    assert memory.blocks(200, 1, 100)[0] == slice(0, 100)


def test_a_device_is_not_asked_where_one_block_will_do(monkeypatch):
    monkeypatch.setattr(memory, "device_memory", lambda a: 1 / 0)
    assert memory.blocks(10, 10, 100, like=np.ones(1)) == [slice(0, 10)]


# Their numbers stay on the host, or an order of draws depends on their blocks.
ON_THE_HOST = {"assess/variograms.py", "games/methods/exact_sum.py", "games/methods/sampled.py"}


def test_whoever_cuts_arrays_into_blocks_says_where_these_are(root):
    package = root / "src" / "gpnotes"
    for path in package.rglob("*.py"):
        place = path.relative_to(package).as_posix()
        text = path.read_text(encoding="utf-8")
        if place.startswith("fast/") or place in ON_THE_HOST or "blocks" not in text:
            continue
        for call in ast.walk(ast.parse(text)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in ("blocks", "memory.blocks"):
                said = any(word.arg == "like" for word in call.keywords)
                given = "chunk" in ast.unparse(call) or "size * width" in ast.unparse(call)
                own = "posterior, X" in ast.unparse(call)  # of variational sums, no cut
                assert said or given or own, f"{place}: {ast.unparse(call)} names no like"


def test_files_that_a_container_has_read_do_not_fill_it(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 100000\ninactive_file 700000\nfile 750000\n")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() == 800_000


def test_a_container_beyond_its_limit_has_nothing_left(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("1000900\n")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() == 0


def test_the_refusal_says_shape_need_supply_and_remedy(free):
    free(GIB)
    memory.require(8192, 8192, copies=2, like=np.ones(1), **require)  # 1 GiB: it just fits
    with pytest.raises(MemoryError) as caught:
        memory.require(8193, 8192, copies=2, like=np.ones(1), **require)
    words = "K of shape (8193, 8192) needs 1 GiB in float64 (2 at a time); 1 GiB are available."
    assert str(caught.value) == f"{words} Use less."
    memory.require(8193, 8192, copies=2, like=np.ones(1, np.float32), **require)


def test_what_just_fits_is_allowed_and_one_byte_less_is_not(monkeypatch):
    call = {"copies": 2, "like": np.ones(1), "what": "K", "remedy": "Use fewer points."}
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda like=None: 2 * 3 * 5 * 8)
    memory.require(3, 5, **call)
    monkeypatch.setattr(memory, "available", lambda like=None: 2 * 3 * 5 * 8 - 1)
    with pytest.raises(MemoryError, match=r"K of shape \(3, 5\)"):
        memory.require(3, 5, **call)


@pytest.mark.parametrize("value", [None, "3", True, 2.0, -1, [3]])
def test_sizes_are_whole_numbers(value):
    sizes = {"rows": 3, "columns": 3, "copies": 1}
    for name in sizes:
        with pytest.raises((TypeError, ValueError), match=f"{name} must be a whole number from 0"):
            memory.require(**{**sizes, name: value}, like=np.ones(1), what="K", remedy="None.")


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11])
@pytest.mark.parametrize("width", [0, 1, 7, 100])
def test_blocks_hold_every_row_once_and_no_more_entries_than_allowed(n, width):
    slices = memory.blocks(n, width, 20)
    assert [row for rows in slices for row in range(n)[rows]] == list(range(n))
    assert all((rows.stop - rows.start) * width <= max(20, width) for rows in slices)


def test_no_rows_make_one_empty_block_and_few_make_one():
    assert memory.blocks(0, 3) == [slice(0, 0)]
    assert memory.blocks(memory.ENTRIES // 4, 4) == [slice(0, memory.ENTRIES // 4)]
    assert len(memory.blocks(memory.ENTRIES // 4 + 1, 4)) == 2
    assert memory.blocks(1, 100, 20) == [slice(0, 1)]


FAULTS = """
import resource
import numpy as np
from gpnotes import GP, RBF, log_evidence_and_gradient

rng = np.random.default_rng(0)
X, y, gp = rng.normal(size=(500, 8)), rng.normal(size=500), GP(RBF(), 0.1)
for _ in range(2):
    log_evidence_and_gradient(gp, X, y)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    log_evidence_and_gradient(gp, X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 5)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of its allocator")
def test_memory_that_is_freed_is_not_asked_for_again():
    """A gradient asked for 1200 pages, which the one before had given back."""
    limits = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    pages = subprocess.run(
        [sys.executable, "-c", FAULTS], env=limits, capture_output=True, text=True, check=True
    ).stdout
    assert float(pages) < 100.0


def test_squares_are_asked_for_with_all_their_copies(free):
    free(3 * 8 * 100**2)
    for ask in (memory.require_square, memory.require_of_rows):
        ask(100, copies=3, like=np.ones(1), what="K")
        with pytest.raises(MemoryError, match=r"K .*100"):
            ask(100, copies=4, like=np.ones(1), what="K")


def test_what_is_kept_for_later_takes_a_quarter_of_a_device_and_a_few_megabytes_of_a_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = np.zeros(3)
    assert memory.entries_to_keep(a, 1000) == 1000
    for free, entries in ((2**20, 2**15), (0, 1000)):
        monkeypatch.setattr(memory, "device_memory", lambda like, free=free: free)
        assert memory.entries_to_keep(a, 1000) == entries


@pytest.mark.parametrize(("columns", "bits"), [(10, 64), (20, 32)])
def test_what_is_small_is_never_asked_for(monkeypatch, columns, bits):
    """The free memory is not looked up for up to ten rows of ten numbers in float64."""
    monkeypatch.setattr(memory, "_SMALL", 800)
    monkeypatch.setattr(memory, "available", lambda like=None: 0)
    like = np.ones(1, dtype=f"f{bits // 8}")
    memory.require(10, columns, copies=1, like=like, **require)
    for rows, copies in ((11, 1), (10, 2)):
        with pytest.raises(MemoryError, match=f"K of shape .{rows}, {columns}. needs"):
            memory.require(rows, columns, copies=copies, like=like, **require)


def test_a_device_is_asked_once_rows_and_their_width_are_too_many(monkeypatch):
    monkeypatch.setattr(memory, "device_memory", lambda a: 2**50)
    like = np.ones(1)
    assert memory.blocks(11, 10, 100, like=like) == [slice(0, 11)]
    assert memory.blocks(11, 10, 100) == [slice(0, 10), slice(10, 11)]
