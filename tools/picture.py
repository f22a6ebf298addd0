"""Draw the picture of the README, on light and on dark paper: ``python tools/picture.py``.

To the left a formula, checked and spoilt by the engine; to the right a posterior of the package.
What was computed stands in each file, so that a test can tell whether the picture still shows it.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from scipy.stats import multivariate_normal

from checked_equations import check_equation
from gpnotes import GP, Matern52, condition, plot, stream

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "book" / "_static"
LATEX = (
    r"\log p(\mathbf{y}) = -\frac{1}{2} \mathbf{y}^{\top} K_y^{-1} \mathbf{y}"
    r" - \frac{1}{2} \log |K_y| - \frac{N}{2} \log 2\pi"
)
SLIPS = (
    r"flip the sign of \frac{1}{2} \log |K_y|",
    "drop the inverse of K_y",
    "drop the factor one half",
    "trace for determinant of K_y",
)
X = np.asarray([0.6, 1.5, 2.6, 3.2, 5.6, 7.0, 8.3])[:, None]
LINE = np.linspace(0.0, 10.0, 201)[:, None]
PAPERS = ("light", "dark")


def facts() -> dict[str, Any]:
    """Return the content of the picture, in numbers and words, and the script that draws it."""
    record = check_equation(LATEX, _numbers, oracle="SciPy's density")
    residuals = {mutant.edit: mutant.residual for mutant in record.mutants.list}
    posterior = condition(GP(Matern52(1.0, 1.4), 0.01), X, np.sin(X[:, 0]) + 0.1 * X[:, 0])
    mean, variance = posterior.predict(LINE)
    return {
        "script": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
        "caught": record.mutants.caught,
        "slips": {slip: residuals[slip] for slip in SLIPS if slip in residuals},
        "mean": mean.round(4).tolist(),
        "sd": np.sqrt(variance).round(4).tolist(),
        "draws": posterior.sample(LINE, 3, rng=stream(7)).round(4).tolist(),
    }


def _numbers(draw: np.random.Generator) -> dict[str, Any]:
    N = 5
    A, y = draw.standard_normal((N, N)), draw.standard_normal(N)
    K_y = A @ A.T + np.eye(N)
    log_p = multivariate_normal(np.zeros(N), K_y).logpdf(y)
    return {r"\log p(\mathbf{y})": log_p, r"\mathbf{y}": y, "K_y": K_y, "N": N}


def kept(paper: str) -> dict[str, Any]:
    """Return the facts that a picture was drawn from."""
    description = "{http://purl.org/dc/elements/1.1/}description"
    return json.loads(next(ElementTree.parse(_file(paper)).iter(description)).text or "")


def colours_on(paper: str) -> dict[str, str]:
    """Return the colours of the pages of the book, on light or on dark paper."""
    light, _, dark = (ROOT / "src/gpnotes/colours.css").read_text("utf-8").partition("[data-theme=")
    given = dict(re.findall(r"--([\w-]+): (.+);", light + (dark if paper == "dark" else "")))

    def value(name: str) -> str:
        return value(given[name][6:-1]) if given[name].startswith("var(") else given[name]

    roles = {"paper": "background", "ink": "text", "pale": "muted", "curve": "exact"}
    return {role: value(f"page-{name}") for role, name in roles.items()}


def _file(paper: str) -> Path:
    return FOLDER / f"picture-{paper}.svg"


def draw(shown: dict[str, Any], paper: str) -> None:
    """Write the picture of these facts on a paper."""
    plot.use_style()
    colours = colours_on(paper)
    fig, ax = plot.figure("single")
    fig.set_size_inches(9.0, 3.0)
    fig.set_layout_engine("none")
    fig.set_facecolor(colours["paper"])
    _words(fig, shown, colours)
    ax.set_position((0.60, 0.06, 0.38, 0.88))
    ax.set_facecolor(colours["paper"])
    ax.set_axis_off()
    x, mean, sd = LINE[:, 0], np.asarray(shown["mean"]), np.asarray(shown["sd"])
    fill = {"facecolor": colours["curve"], "edgecolor": "none", "alpha": 0.25}
    plot.band(ax, x, mean, sd, **fill)
    ax.plot(x, np.asarray(shown["draws"]).T, color=colours["curve"], linewidth=0.6, linestyle="-")
    plot.line(ax, x, mean, color=colours["curve"], linewidth=2.0)
    plot.points(ax, X[:, 0], np.sin(X[:, 0]) + 0.1 * X[:, 0], color=colours["ink"])
    about = json.dumps(shown, indent=None)
    fig.savefig(
        _file(paper), facecolor=colours["paper"], metadata={"Date": None, "Description": about}
    )


def _words(fig: Any, shown: dict[str, Any], colours: dict[str, str]) -> None:
    fig.text(0.03, 0.80, f"${LATEX}$", color=colours["ink"], fontsize=13)
    said = f"✓ checked to 1e-9 from this text; {shown['caught']} of {shown['caught']} slips caught:"
    fig.text(0.03, 0.60, said, color=colours["curve"], fontsize=10)
    for row, (slip, residual) in enumerate(shown["slips"].items()):
        height = 0.46 - 0.12 * row
        words, _, symbol = slip.partition(" of ")
        math = f" of ${symbol}$" if symbol else ""
        fig.text(0.055, height, words + math, color=colours["pale"], fontsize=9)
        off = f"off by {100 * residual:.0f} %"
        fig.text(0.50, height, off, color=colours["pale"], fontsize=9, ha="right")


if __name__ == "__main__":
    computed = facts()
    for name in PAPERS:
        draw(computed, name)
