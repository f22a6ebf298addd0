/* A slip that is seen: under the badge of some equations, what the chosen slip does to a curve or a band.

   One small problem for all of them: five readings on a line, a squared exponential. The equation is
   evaluated from its own LaTeX, as it was printed (dashed) and as it reads now. The scripts that read and
   evaluate it are asked for when the first slip is made. */
(() => {
  "use strict";

  /* What each equation gives, and what is drawn of it: a `mean` at each place, a `band` from a covariance,
     `columns` of a matrix, or `weights` of a line. */
  const DRAWN = {
    "eq-fv-mean": "mean", "eq-fv-cov": "band", "eq-fv-predict-y": "band", "eq-fv-mean-function": "mean",
    "eq-mf-fixed": "mean", "eq-mf-left": "columns", "eq-mf-cov": "band", "eq-sm-posterior": "columns", "eq-wv-mean": "weights",
    "eq-wv-ridge": "weights", "eq-ff-covariance": "band", "eq-ip-degenerate": "band", "eq-vi-all": "band",
  };
  const X = [1, 2.2, 3.1, 5.6, 8.4];
  const Y = [-0.9, 0.4, 1.2, -0.3, 0.8];
  const INDUCING = [1.5, 4, 8];
  const GRID = Array.from({ length: 61 }, (_, i) => i / 6);
  const [SIGNAL, LENGTH, NOISE] = [1, 1, 0.3];
  const WAVES = [0.4, 0.9, 1.5, 2.2];

  const own = document.currentScript.src;
  const NEEDS = [
    ["gp-numbers.js", "gpNumbers"], ["operated-figure.js", "gpFigure"], ["equation-members.js", "equationMembers"],
  ];
  const asked = new Map();
  const ask = ([name, made]) => {
    if (window[made]) return null; // a figure of the page has asked for it
    if (!asked.has(name))
      asked.set(name, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.onload = done;
        script.onerror = failed;
        script.async = false; // each builds on those before it
        script.src = own.replace(/seen-slips\.js.*/, name);
        document.head.append(script);
      }));
    return asked.get(name);
  };

  /* The numbers behind the symbols of all these equations, each by a formula. */
  const table = () => {
    const { covariance, gram } = window.gpNumbers;
    const k = covariance({ kernel: "rbf", signal: SIGNAL, lengthscale: LENGTH });
    const column = (values) => values.map((v) => [v]);
    const lines = (places) => places.map((x) => [1, (x - 5) / 5]);
    const waves = (places) => places.map((x) => WAVES.flatMap((w) => [Math.cos(w * x), Math.sin(w * x)].map((v) => v / 2)));
    const known = {
      "K_{*f}": gram(GRID, X, k), "K_{f*}": gram(X, GRID, k), "K_{ff}": gram(X, X, k), "K_{**}": gram(GRID, GRID, k),
      "K_{*u}": gram(GRID, INDUCING, k), "K_{u*}": gram(INDUCING, GRID, k), "K_{uu}": gram(INDUCING, INDUCING, k), "K_{uf}": gram(INDUCING, X, k),
      "K_{fu}": gram(X, INDUCING, k), "\\sigma_n": NOISE, "\\sigma_w": 1.5, "\\mathbf y": column(Y),
      "\\boldsymbol\\mu_*": column(GRID.map((x) => 0.4 * (x - 5))), "\\boldsymbol\\mu_f": column(X.map((x) => 0.4 * (x - 5))),
      "H_*": lines(GRID), H: lines(X), B: [[4, 0], [0, 4]], S_w: [[2, 0], [0, 0.5]],
    };
    const add = (symbol, latex) => { known[symbol] = window.equationMembers.value(`a = ${latex}`, `a = ${latex}`, known); };
    add("K_y", "K_{ff} + \\sigma_n^2 I");
    add("\\boldsymbol\\alpha", "K_y^{-1} \\mathbf y");
    add("S", "K_{ff} - K_{ff} K_y^{-1} K_{ff}");
    add("C_{**}", "K_{**} - K_{*f} K_y^{-1} K_{f*}");
    add("R_*", "H_* - K_{*f} K_y^{-1} H");
    add("A_\\beta", "B^{-1} + H^\\top K_y^{-1} H");
    return { known, waves, lines, add };
  };

  /* Letters that mean something else in a chapter of their own. */
  const of = (label) => {
    const { known, waves, lines, add } = table();
    if (label.startsWith("eq-wv-")) {
      [known["\\Phi"], known["\\Phi_*"]] = [lines(X), lines(GRID)];
      add("A", "S_w^{-1} + \\frac{1}{\\sigma_n^2} \\Phi^\\top \\Phi");
    } else {
      [known["\\Phi"], known["\\Phi_*"]] = [waves(X), waves(GRID)];
      add("A", "I + \\frac{1}{\\sigma_n^2} \\Phi^\\top \\Phi");
    }
    if (label.startsWith("eq-sm-")) {
      add("H_*", "K_{*f} K_y^{-1}"); // the smoother's weights
      add("C_{*f}", "K_{*f} - K_{*f} K_y^{-1} K_{ff}");
    }
    if (label.startsWith("eq-ip-")) add("B", "K_{uu} + \\frac{1}{\\sigma_n^2} K_{uf} K_{fu}");
    return known;
  };

  /* Curves: each a list of values at the places; of a band its upper end, and where it is negative, that. */
  const curves = (label, latex, whole) => {
    const known = of(label);
    const kind = DRAWN[label];
    const shape = { mean: [GRID.length, 1], band: [GRID.length, GRID.length], weights: [2, 1] }[kind] ?? [];
    const found = window.equationMembers.shaped(latex, whole, known, ...shape);
    if (kind === "band") {
      const variance = found.map((row, i) => row[i]);
      return { places: GRID, values: [1, -1].map((by) => variance.map((v) => by * 2 * Math.sqrt(Math.abs(v)))), negative: variance.map((v) => v < -1e-9) };
    }
    if (kind === "weights") return { places: GRID, values: [GRID.map((x) => found[0][0] + (found[1][0] * (x - 5)) / 5)] };
    return { places: GRID, values: found[0].map((_, j) => found.map((row) => row[j])) };
  };

  const SIZE = [360, 120];
  const draw = (right, now) => {
    const [width, height] = SIZE;
    const all = [right, now].filter(Boolean).flatMap(({ values }) => values.flat());
    const most = Math.min(Math.max(...all.map(Math.abs), 1e-9), 3 * Math.max(...right.values.flat().map(Math.abs), 1e-9));
    const at = (x, v) => `${(6 + (width - 12) * x / 10).toFixed(1)},${(height / 2 - (height / 2 - 6) * Math.max(-1.5, Math.min(1.5, v / most))).toFixed(1)}`;
    const path = ({ places, values }) => values.map((one) => one.map((v, i) => `${i ? "L" : "M"}${at(places[i], v)}`).join("")).join("");
    const { svg } = window.gpFigure;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "book-seen-slip", role: "img" });
    svg("path", { d: `M6,${height / 2}H${width - 6}`, class: "book-seen-axis" }, picture);
    svg("path", { d: path(right), class: "book-seen-right" }, picture);
    if (now) svg("path", { d: path(now), class: "book-seen-now" }, picture);
    return picture;
  };

  const WORDS = {
    mean: "the curve", band: "two standard deviations either side", columns: "the columns over the line", weights: "the line that these weights give",
  };
  /* What is to be seen, in a sentence. */
  const sentence = (label, right, now, why) => {
    const what = WORDS[DRAWN[label]];
    if (why) return `On five observations: ${why}, so that there is nothing to draw. Dashed: ${what} as the equation is printed.`;
    const negative = now.negative?.filter(Boolean).length ?? 0;
    const off = Math.max(...right.values.flatMap((one, j) => one.map((v, i) => Math.abs(v - now.values[j][i]))));
    const worse = negative ? ` The variance is negative at ${Math.round((100 * negative) / GRID.length)} % of the places; its size is drawn.` : "";
    return `On five observations: ${what} with the slip, and dashed as the equation is printed; off by up to ${off.toFixed(2)}.${worse}`;
  };

  const show = async ({ target, detail: { label, latex, whole, said } }) => {
    if (!(label in DRAWN) || document.querySelector("#fig-front")) return;
    target.querySelector(".book-seen")?.remove();
    if (!said) return;
    await Promise.all(NEEDS.map(ask));
    const right = curves(label, whole, whole);
    let [now, why] = [null, ""];
    try { now = curves(label, latex, whole); } catch (error) {
      if (!(error instanceof window.equationMembers.Nonsense)) throw error;
      why = error.message;
    }
    if (now && now.values.length !== right.values.length) [now, why] = [null, "what comes out has another shape"];
    const box = document.createElement("div");
    box.className = "book-seen";
    const words = document.createElement("p");
    words.textContent = sentence(label, right, now, why);
    const picture = draw(right, now);
    picture.setAttribute("aria-label", words.textContent);
    box.append(picture, words);
    target.querySelector(".book-seen")?.remove();
    target.querySelector(".eqn-now")?.append(box);
  };

  document.addEventListener("eqn-reads", show);
  window.seenSlips = { DRAWN, curves };
})();
