"""What is timed, by subject. Another task is another line in a module's `TASKS`."""

from __future__ import annotations

from harness import Task

from tasks import (
    approximate,
    chains,
    deep,
    draws,
    exact,
    games,
    line,
    moments,
    processes,
    search,
    small,
)

MODULES = exact, approximate, draws, moments, chains, deep, line, processes, games, search, small
TASKS: dict[str, Task] = {name: task for one in MODULES for name, task in one.TASKS.items()}
