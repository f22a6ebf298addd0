"""The first Ctrl-C is put off where it can be, and nowhere else."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpnotes.ground.interrupts import (
    InterruptWarning,
    deferred_interrupts,
    kept_interrupts,
    raised_interrupts,
    warn_of,
)


@pytest.mark.usefixtures("interruptible")
def test_the_first_is_put_off_and_the_second_raised():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts() as pressed:
        signal.raise_signal(signal.SIGINT)
        assert pressed == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_somebody_else_stays():
    before, heard = signal.getsignal(signal.SIGINT), []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with deferred_interrupts() as pressed:
            signal.raise_signal(signal.SIGINT)
        assert (pressed, heard) == ([], [signal.SIGINT])
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_none():
    def steps():
        with deferred_interrupts() as pressed:
            return pressed

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(steps).result() == []


def test_interrupts_are_kept_unless_they_are_to_be_raised_further_out():
    assert kept_interrupts() == (KeyboardInterrupt,)
    with raised_interrupts():
        assert kept_interrupts() == ()
        with raised_interrupts():
            assert kept_interrupts() == ()
        assert kept_interrupts() == ()
    assert kept_interrupts() == (KeyboardInterrupt,)


def test_a_warning_is_of_the_line_that_called():
    with pytest.warns(InterruptWarning, match=r"^interrupted: two of three$") as caught:
        warn_of("two of three")
    assert caught[0].filename == __file__
