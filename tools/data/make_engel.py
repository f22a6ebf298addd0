"""Write engel.csv.gz from the copy of the data that statsmodels carries (public domain).

Run from anywhere: `python tools/data/make_engel.py`. It needs statsmodels (extra `data`) and
no network.
"""

import gzip
from pathlib import Path

import statsmodels.api as sm

FRANCS = 3  # decimals kept: a tenth of a centime

table = sm.datasets.engel.load_pandas().data[["income", "foodexp"]].round(FRANCS)
table.columns = ["income_francs", "food_francs"]
target = Path(__file__).parents[2] / "src" / "gpnotes" / "data" / "engel.csv.gz"
text = table.to_csv(index=False, lineterminator="\n")
target.write_bytes(gzip.compress(text.encode(), mtime=0))
