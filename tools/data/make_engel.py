"""Write engel.csv from the copy of the data that statsmodels carries (public domain).

Run from anywhere: `python tools/data/make_engel.py`. It needs statsmodels (extra `data`) and
no network.
"""

from pathlib import Path

import statsmodels.api as sm

FRANCS = 3  # decimals kept: a tenth of a centime

table = sm.datasets.engel.load_pandas().data[["income", "foodexp"]].round(FRANCS)
table.columns = ["income_francs", "food_francs"]
target = Path(__file__).parents[2] / "src" / "gpnotes" / "data" / "engel.csv"
table.to_csv(target, index=False, lineterminator="\n")
