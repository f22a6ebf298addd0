"""What is found of displays where little effort is allowed: limits that bind, and soon.

``python small_efforts.py`` prints that of `DISPLAYS`, the last one first, with a clock that runs
ten times as fast.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from unittest.mock import patch

from checked_papers import display_trials
from checked_papers.declarations import Declared
from checked_papers.tried import display, sample_fates, verdicts

DISPLAYS = (
    r"(a + b)^2 = a^2 + 2 a b + b^2",
    r"(a + b)^2 = a^2 + 3 a b + b^2",
    r"a^3 - b^3 = (a - b) (a^2 + a b - b^2)",
    r"\frac{a}{b} - \frac{c}{d} = \frac{a d + b c}{b d}",
    r"\sqrt{x^2} = x",
    r"\sqrt{a b} = \sqrt a \sqrt b",
    r"\frac{a + b}{2} \ge \sqrt{a b}, \quad a, b > 0",
    r"|x + y| \le |x| + |y|",
    r"x^2 + y^2 \ge 3 x y",
    r"-\sum_{k} p_k \log p_k \le \log n, \quad \sum_k p_k = 1",
    r"\left(\sum_k a_k b_k\right)^2 \le \sum_k a_k^2 \sum_k b_k^2",
    r"\cos(x + y) = \cos x \cos y - \sin x \sin y",
    r"\cos 3 x = 4 \cos^3 x - 2 \cos x",
    r"\sin \pi n = 0",
    r"\log(x y) = \log x + \log y",
    r"\int_0^\infty e^{-a x} \cos(b x) dx = \frac{a}{a^2 + b^2}",
    r"\int_0^\infty e^{-a x} \cos(b x) dx = \frac{b}{a^2 + b^2}",
    r"\int_{-\infty}^{\infty} \frac{dx}{1 + x^2} = \pi",
    r"\int_{-\infty}^\infty \frac{1}{\sqrt{2 \pi \sigma^2}}"
    r" e^{-\frac{(x - \mu)^2}{2 \sigma^2}} dx = 1",
    r"\int_0^x e^{-t^2} dt = \frac{\sqrt \pi}{2} \operatorname{erf}(x)",
    r"\int_0^1 \int_0^x t x \, dt \, dx = \frac18",
    r"\ln x = \int_1^x \frac{dt}{t} \quad (x > 0).",
    r"\sum_{k=1}^\infty \frac{1}{k^2} = \frac{\pi^2}{6}",
    r"\sum_{k=0}^\infty \frac{x^k}{k!} = e^{2 x}",
    r"\sum_{k=0}^{n} \binom{n}{k} x^k = (1 + x)^n",
    r"\sum_{i=1}^n \sum_{j=1}^m a_{ij} = \sum_{j=1}^m \sum_{i=2}^n a_{ij}",
    r"1 + x + x^2 + \dots = \frac{1}{1 - x}",
    r"n! \sim \sqrt{2 \pi n}\, n^n e^{-n}, \quad n \to \infty",
    r"\Gamma(z + 1) = z \Gamma(z)",
    r"\Gamma(x) \Gamma(1 - x) = \frac{\pi}{\cos \pi x}",
    r"{}_2F_1(1, 1; 2; x) = -\frac{\ln(1 - x)}{x}",
    r"\frac{d}{dx} \ln x = \frac{2}{x}",
    r"\frac{\partial}{\partial x} e^{a x y} = a y e^{a x y}",
    r"\operatorname{tr}(A B) = \sum_{i,j} A_{ij} B_{ji}",
    r"(A B)^{-1} = A^{-1} B^{-1}",
    r"\mathbf a \cdot (\mathbf b \times \mathbf c) = \mathbf b \cdot (\mathbf c \times \mathbf a)",
    r"|\vec u + \vec v|^2 = |\vec u|^2 + \vec u \cdot \vec v + |\vec v|^2",
    r"P(|X| > t) = P(X > t) + P(X < -t), \quad t > 0",
    r"\mathbb{E}[a X + b] = a \mathbb{E}[X] + b",
    r"\operatorname{Var}(a X) = a \operatorname{Var}(X)",
    r"\int_0^\infty \lambda^2 x e^{-\lambda x} dx = 1",
)  # fmt: skip
MOST = (300, 2000)  # values of nodes: two limits


def found(displays: Sequence[str]) -> dict[str, str]:
    """The finding of each display within each of the limits, as JSON."""
    told = {}
    for most in MOST:
        with (
            patch.object(display, "_PATIENCE", 3 * most),
            patch.object(sample_fates, "_PATIENCE", most),
            patch.object(sample_fates, "_EACH", most // 10),
            patch.object(verdicts, "_PATIENCE", most),
        ):
            for latex in displays:
                task = display_trials.Task(("a.tex", 1, 1), latex, "", {}, Declared(), mending=most)
                told[f"{most}: {latex}"] = json.dumps(display_trials.try_one(task).to_json())
    return told


def main() -> None:
    """Print the findings, taken in reverse order while the clock runs ten times as fast."""
    clock = time.process_time
    with patch.object(time, "process_time", lambda: 10.0 * clock()):
        json.dump(found(DISPLAYS[::-1]), sys.stdout)


if __name__ == "__main__":
    main()
