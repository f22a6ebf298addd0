"""Write elevation.csv.gz from the heights that matplotlib carries as sample data (public domain).

Run from anywhere: `python tools/data/make_elevation.py`. It needs matplotlib (extra `book`) and no
network.
"""

import gzip
from io import StringIO
from pathlib import Path

import numpy as np
from matplotlib.cbook import get_sample_data

SIDE, ROWS, COLUMNS = 40, 8, 10  # cells a side; heights averaged in a cell
DEGREE = 111.2  # km in a degree of latitude

table = get_sample_data("jacksboro_fault_dem.npz")
north = max(float(table["ymin"]), float(table["ymax"]))
heights = table["elevation"][: SIDE * ROWS, : SIDE * COLUMNS]  # the first row is the northernmost
cells = heights.reshape(SIDE, ROWS, SIDE, COLUMNS).mean((1, 3))[::-1]

tall = ROWS * float(table["dy"]) * DEGREE
middle = np.radians(north - SIDE * ROWS / 2 * float(table["dy"]))
wide = COLUMNS * float(table["dx"]) * DEGREE * np.cos(middle)
place = np.arange(SIDE) + 0.5
y, x = np.meshgrid(place * tall, place * wide, indexing="ij")

text = StringIO()
np.savetxt(
    text,
    np.column_stack([x.ravel(), y.ravel(), cells.ravel()]),
    fmt=("%.3f", "%.3f", "%.1f"),
    delimiter=",",
    header="east_km,north_km,height_m",
    comments="",
)
target = Path(__file__).parents[2] / "src" / "gpnotes" / "data" / "elevation.csv.gz"
target.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
