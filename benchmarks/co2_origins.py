"""How much does one hidden decade say about a forecast? The same experiment at twelve cuts.

The record of carbon dioxide is cut at the start of a year. A Gaussian process with the kernel of
the chapter *The function view* is fitted to the months before, always from the same first guess,
and forecasts the ten years after. Nothing else is seen by the fit.

Run it with `python benchmarks/co2_origins.py`; it takes one or two minutes and writes
`src/gpnotes/data/co2-origins.csv`.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import gpnotes as gp

CUTS = range(1970, 1993, 2)
TARGET = Path(__file__).resolve().parent.parent / "src" / "gpnotes" / "data" / "co2-origins.csv"
STAYS = ("kernel.parts.1.parts.1.variance", "kernel.parts.1.parts.1.period")


def guess() -> gp.GP:
    """The first guess of the chapter: trend, season, medium and short term, noise."""
    trend = gp.RBF(50.0**2, 50.0)
    season = gp.RBF(3.0**2, 100.0) * gp.Periodic(1.0, 1.0, period=1.0)
    medium, short = gp.RationalQuadratic(1.0, 1.0, 1.0), gp.RBF(0.2**2, 0.1)
    return gp.GP(trend + season + medium + short, noise_var=0.2**2)


def forecast(cut: int) -> tuple[int, int, int, int, str, str]:
    """The cut, months seen and hidden, hidden inside 2 sd, mean error and last sd in ppm."""
    table = gp.dataset("co2-monthly")
    time, co2 = table[:, 0] + (table[:, 1] - 0.5) / 12, table[:, 2]
    seen, hidden = time < cut, (time >= cut) & (time < cut + 10)
    offset = co2[seen].mean()
    X, y = time[seen][:, None], co2[seen] - offset
    posterior = gp.fit(guess(), X, y, fixed=STAYS).posterior
    mean, variance = posterior.predict(time[hidden][:, None], noise=True)
    error, sd = co2[hidden] - offset - mean, np.sqrt(variance)
    inside = int(np.sum(np.abs(error) < 2 * sd))
    counts = cut, int(seen.sum()), int(hidden.sum()), inside
    return *counts, f"{error.mean():.2f}", f"{sd[-1]:.2f}"


def main() -> None:
    """Write the table, a row for each cut."""
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["cut", "seen", "hidden", "inside", "mean_error_ppm", "last_sd_ppm"])
        writer.writerows(forecast(cut) for cut in CUTS)


if __name__ == "__main__":
    main()
