"""Make tumours.csv.gz and irises.csv.gz from the tables that scikit-learn carries.

Run it from anywhere: ``python tools/data/make_tumours.py``. It needs scikit-learn (extra
`sklearn`), which brings the tables with it, so nothing is downloaded.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_iris

FOLDER = Path(__file__).parents[2] / "src" / "gpnotes" / "data"
MEANS = 10  # the first of thirty columns: means over the nuclei of an image


def written(name: str, head: list[str], rows: list[list[str]]) -> None:
    text = "".join(f"{','.join(row)}\n" for row in (head, *rows)).encode()
    (FOLDER / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)


def main() -> None:
    tumours = load_breast_cancer()
    head = [name.removeprefix("mean ").replace(" ", "_") for name in tumours.feature_names[:MEANS]]
    rows = [
        [*(f"{value:.6g}" for value in row[:MEANS]), str(1 - kind)]
        for row, kind in zip(tumours.data, tumours.target, strict=True)
    ]
    written("tumours.csv.gz", [*head, "malignant"], rows)
    irises = load_iris()
    head = [name.removesuffix(" (cm)").replace(" ", "_") + "_cm" for name in irises.feature_names]
    rows = [
        [*(f"{value:.1f}" for value in row), str(kind)]
        for row, kind in zip(irises.data, irises.target, strict=True)
    ]
    written("irises.csv.gz", [*head, "species"], rows)


if __name__ == "__main__":
    main()
