"""The first Ctrl-C is put off where it can be, and nowhere else."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpnotes.ground.interrupts import deferred_interrupts


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
