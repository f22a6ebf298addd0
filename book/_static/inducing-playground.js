/* A figure to operate: inducing points that the reader drags along the line.

   The readings stay; the process sees them through its values at the points alone. `window.gpSparse` holds the
   numerical function, so that a test can compare it with the package. */
(function () {
  "use strict";

  const { covariance, gram, halfSolve, halfSolveTransposed, dot, evidence, posterior } = window.gpNumbers;
  const { DOMAIN, GRID, svg, html, clamp, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const KNOWN = 1e-9; // of the signal's variance: less than that, and a value is known from the others

  /* The points whose values are not known from those before them, and the lower factor of their K_uu. */
  function factor(z, k) {
    const rows = [], kept = [];
    z.forEach((point, i) => {
      const row = halfSolve(rows, kept.map((j) => k(z[j], point)));
      const left = k(point, point) - dot(row, row);
      if (!(left > KNOWN * k(point, point))) return;
      rows.push([...row, Math.sqrt(left)]);
      kept.push(i);
    });
    return { lower: rows, kept };
  }

  /* I + A Aᵀ for the rows of A. */
  function augmented(rows) {
    return rows.map((a, i) => rows.map((b, j) => dot(a, b) + (i === j ? 1 : 0)));
  }

  const log2pi = Math.log(2 * Math.PI);
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const transposed = (rows, count) => Array.from({ length: count }, (_, j) => rows.map((row) => row[j]));

  /* Mean and variance of f at xs and the bound (VFE) or the approximate log evidence (the others). */
  function sparse({ x, y, z, xs, noise, method = "vfe", ...prior }) {
    const k = covariance(prior);
    const { lower, kept } = factor(z, k);
    const seen = (a) => halfSolve(lower, kept.map((j) => k(z[j], a)));
    const columns = x.map(seen);
    const left = x.map((a, i) => Math.max(k(a, a) - dot(columns[i], columns[i]), 0));
    const noises = left.map((v) => noise * noise + (method === "fitc" ? v : 0));
    const scaled = transposed(columns.map((c, i) => c.map((v) => v / Math.sqrt(noises[i]))), kept.length);
    const weighted = y.map((v, i) => v / Math.sqrt(noises[i]));
    const outer = window.gpNumbers.cholesky(augmented(scaled));
    const half = halfSolve(outer, scaled.map((row) => dot(row, weighted)));
    const fit = dot(weighted, weighted) - dot(half, half);
    const logDet = total(noises.map(Math.log)) + 2 * total(outer.map((row, i) => Math.log(row[i])));
    const trace = method === "vfe" ? total(left) / (noise * noise) : 0;
    const bound = -0.5 * (fit + logDet + x.length * log2pi + trace);
    const weights = halfSolveTransposed(outer, half);
    const tests = xs.map(seen);
    const mean = tests.map((c) => dot(c, weights));
    const varianceF = tests.map((c, i) => {
      const after = halfSolve(outer, c);
      const lost = method === "sor" ? 0 : Math.max(k(xs[i], xs[i]) - dot(c, c), 0);
      return lost + dot(after, after);
    });
    return { mean, varianceF, bound, kept };
  }

  window.gpSparse = { sparse };

  // ---------------------------------------------------------------- the page

  /* Forty readings of a curve, none of them drawn: a golden step for the places, a fast sine for the noise. */
  const X = Array.from({ length: 40 }, (_, i) => (10 * ((i + 1) * 0.6180339887498949)) % 10);
  const Y = X.map((x, i) => Math.sin(1.3 * x) + 0.6 * Math.sin(3.1 * x) + 0.25 * Math.SQRT2 * Math.sin(37 * (i + 1)));
  const LOW = -2.7; // where the points stand
  const row = (...places) => places.map((x) => [x, LOW]);
  const EVEN = row(0.5, 2.3, 4.1, 5.9, 7.7, 9.5);
  const START = { points: EVEN, lengthscale: 0.8, noise: 0.3, signal: 1, method: "vfe" };
  const METHODS = { vfe: "VFE: the variational bound", fitc: "FITC", dtc: "DTC", sor: "SoR: subset of regressors" };
  const TRIALS = [
    ["Two points", { points: row(3, 7) }],
    ["All in one corner", { points: row(0.2, 0.9, 1.6, 2.3, 3, 3.7) }],
    ["Ten, evenly", { points: row(...Array.from({ length: 10 }, (_, i) => 0.2 + (9.6 * i) / 9)) }],
    ["Variances of SoR", { points: row(0.2, 0.9, 1.6, 2.3, 3, 3.7), method: "sor" }],
    ["FITC with two points", { points: row(3, 7), method: "fitc" }],
  ];
  const PLACES = Array.from({ length: 60 }, (_, i) => (i + 0.5) / 6); // beside the points: two that coincide count as one
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.3, max: 3, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.06, max: 1, step: 0.02 },
  ];

  class InducingPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "mean from the points"], ["f", "f: 2 sd"], ["exact", "exact process"], ["reading", "observations"], ["point", "inducing points"]];
    }
    get says() { return "A sparse Gaussian process. Each inducing point can be moved along the line with the arrow keys."; }

    /* Along the line, and no further. */
    placed(x) {
      return [clamp(x, DOMAIN.x), LOW];
    }

    describe(i, x) {
      return `Inducing point ${i + 1} of ${this.state.points.length}: x = ${x.toFixed(1)}. Arrow keys move it, Delete removes it.`;
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const sliders = html("div", {}, pair);
      this.chooser({ name: "method", label: "Method", options: METHODS }, sliders);
      SLIDERS.forEach((slider) => this.slider(slider, sliders));
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Add the best point", "add", buttons, () => this.add(this.bestPlace([...this.places(), null]), LOW));
      this.button("Move the selected point to its best place", "best", buttons, () => this.settle());
      this.button("Remove the selected point", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    places() {
      return this.state.points.map(([x]) => x);
    }

    given(z) {
      const { points, ...rest } = this.state;
      return { x: X, y: Y, z, xs: [], ...rest };
    }

    /* Where on the line the bound is largest for the one place that is null. */
    bestPlace(z) {
      const bounds = PLACES.map((place) => sparse(this.given(z.map((x) => x ?? place))).bound);
      return PLACES[bounds.indexOf(Math.max(...bounds))];
    }

    settle() {
      const i = this.selected;
      if (i < 0) return;
      this.move(i, this.bestPlace(this.places().map((x, j) => (j === i ? null : x))));
    }

    paint() {
      const z = this.places();
      this.result = sparse({ ...this.given(z), xs: GRID });
      const { kernel, lengthscale, noise, signal } = this.state;
      this.exact = posterior({ x: X, y: Y, xs: GRID, kernel, lengthscale, noise, signal });
      this.curves.replaceChildren();
      this.band(this.result.mean, this.result.varianceF, "f");
      this.outline(this.exact.mean, this.exact.varianceF);
      svg("path", { d: this.path(this.result.mean), class: "gp-mean" }, this.curves);
      this.readings(X, Y);
      this.drawPoints();
      this.drawCurve();
      this.tell();
    }

    mark() {
      super.mark();
      this.able("best", this.selected >= 0, "Select a point first");
      if (this.result) this.drawCurve();
    }

    /* The bound against the place of the selected point (or of a new one), all others as they are. */
    drawCurve() {
      const z = this.places();
      const i = this.selected >= 0 && this.selected < z.length ? this.selected : z.length;
      const others = (place) => [...z.slice(0, i), place, ...z.slice(i + 1)];
      const values = PLACES.map((place) => sparse(this.given(others(place))).bound);
      const [width, height] = [240, 150];
      const box = { left: 44, right: width - 8, top: 10, bottom: height - 34 };
      const [low, top] = [Math.min(...values), Math.max(...values, Math.min(...values) + 1)];
      const cx = (x) => box.left + ((box.right - box.left) * x) / 10;
      const cy = (v) => box.bottom - ((box.bottom - box.top) * (v - low)) / (top - low);
      const what = i < z.length ? `of point ${i + 1}` : "of a new point";
      this.curve.replaceChildren();
      this.curve.setAttribute("viewBox", `0 0 ${width} ${height}`);
      const best = PLACES[values.indexOf(Math.max(...values))];
      this.curve.setAttribute("aria-label", `The bound against the place ${what}; it is largest at ${best.toFixed(1)}.`);
      svg("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}`, class: "gp-spine" }, this.curve);
      const at = (x, y, text, anchor = "middle") =>
        (svg("text", { x, y, "text-anchor": anchor }, this.curve).textContent = text);
      [0, 2, 4, 6, 8, 10].forEach((x) => at(cx(x), box.bottom + 15, x));
      [low, top].forEach((v) => at(box.left - 5, cy(v) + 4, minus(v.toFixed(0)), "end"));
      at(box.right, height - 4, `bound by the place ${what}`, "end");
      const d = values.map((v, j) => `${j ? "L" : "M"}${cx(PLACES[j]).toFixed(1)},${cy(v).toFixed(1)}`).join("");
      svg("path", { d, class: "gp-mean" }, this.curve);
      if (i < z.length) svg("circle", { cx: cx(z[i]), cy: cy(this.result.bound), r: 5, class: "gp-dot" }, this.curve);
    }

    tell() {
      const { bound, kept } = this.result;
      const many = this.state.points.length;
      const named = { vfe: "The bound", fitc: "FITC's log evidence", dtc: "DTC's log evidence", sor: "SoR's log evidence" }[this.state.method];
      const idle = many - kept.length;
      const away = this.exact.logEvidence - bound;
      this.status.textContent = `${many} inducing point${many === 1 ? "" : "s"}${idle ? `, ${idle} of no use: known from the others` : ""}. `
        + `${named} is ${minus(bound.toFixed(1))}, the exact log evidence ${minus(this.exact.logEvidence.toFixed(1))}: `
        + `${Math.abs(away).toFixed(1)} ${away >= 0 ? "less" : "more"}.`;
    }
  }

  start("inducing", InducingPlayground);
})();
