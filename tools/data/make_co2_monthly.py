"""Make co2-monthly.csv.gz from the weekly Mauna Loa record that statsmodels carries.

Run it from anywhere: ``python tools/data/make_co2_monthly.py``. It needs statsmodels (extra
`data`), which brings the record with it, so nothing is downloaded.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import statsmodels.api as sm

TARGET = Path(__file__).parents[2] / "src" / "gpnotes" / "data" / "co2-monthly.csv.gz"


def monthly_means() -> list[tuple[int, int, str, int]]:
    """(year, month, mean in ppm, weeks averaged) of every month with at least one week."""
    weekly = sm.datasets.co2.load_pandas().data["co2"].dropna()
    groups = weekly.groupby([weekly.index.year, weekly.index.month])
    return [
        (int(year), int(month), f"{values.mean():.3f}", len(values))
        for (year, month), values in groups
    ]


def main() -> None:
    with gzip.open(TARGET, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["year", "month", "co2_ppm", "weeks"])
        writer.writerows(monthly_means())


if __name__ == "__main__":
    main()
