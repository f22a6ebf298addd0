/* A figure to operate: a mean with weights that are learnt, seen where there are no readings.

   `window.gpTrend` holds the numerical function, so that a test can compare it with the package. */
(function () {
  "use strict";

  const { evidence, halfSolve, halfSolveTransposed, dot } = window.gpNumbers;
  const { svg, html, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const DEPENDENT = 1e-9; // of a column: if less is left of it, it is a sum of those before

  /* Orthonormal columns, and a lower factor whose transpose puts the given columns together from them: Gram and
     Schmidt, each step twice for the digits. Nothing if the columns are dependent. */
  function orthogonal(columns) {
    const basis = [], lower = [];
    for (const column of columns) {
      let left = column;
      const shares = basis.map(() => 0);
      for (let twice = 0; twice < 2; twice += 1) {
        basis.forEach((unit, i) => {
          const share = dot(unit, left);
          shares[i] += share;
          left = left.map((v, k) => v - share * unit[k]);
        });
      }
      const size = Math.sqrt(dot(left, left));
      if (!(size > DEPENDENT * Math.sqrt(dot(column, column)))) return null;
      basis.push(left.map((v) => v / size));
      lower.push([...shares, size]);
    }
    return { basis, lower };
  }

  const log2pi = Math.log(2 * Math.PI);
  const powers = (x, many) => Array.from({ length: many }, (_, p) => x ** p);

  /* Weights of `many` powers with prior standard deviation `spread` (null: vague), mean and variance of g at xs, the
     variance if the weights were known, and the log evidence. Nothing if the readings do not tell the weights. */
  function trend({ xs, many, spread, ...given }) {
    const { k, lower, half, logEvidence } = evidence(given);
    const vague = spread === null;
    const columns = powers(1, many).map((_, p) => halfSolve(lower, given.x.map((a) => a ** p)));
    const prior = (p) => (vague ? [] : columns.map((_, q) => (p === q ? 1 / spread : 0)));
    const found = orthogonal(columns.map((column, p) => [...column, ...prior(p)]));
    if (!found) return null;
    const target = [...half, ...(vague ? [] : columns.map(() => 0))];
    const seen = found.basis.map((unit) => dot(unit, target));
    const weights = halfSolveTransposed(found.lower, seen);
    const rest = target.map((v, i) => v - found.basis.reduce((sum, unit, p) => sum + unit[i] * seen[p], 0));
    const sds = weights.map((_, p) => Math.sqrt(norm(halfSolve(found.lower, weights.map((_, q) => Number(p === q))))));
    const size = found.lower.reduce((sum, line, p) => sum + Math.log(line[p]), 0);
    const scale = vague ? -0.5 * many * log2pi : many * Math.log(spread);
    const at = xs.map((x) => {
      const cross = halfSolve(lower, given.x.map((a) => k(a, x)));
      const left = powers(x, many).map((h, p) => h - dot(cross, columns[p]));
      const known = Math.max(k(x, x) - norm(cross), 0);
      const added = norm(halfSolve(found.lower, left));
      return { mean: dot(cross, half) + dot(left, weights), drift: dot(powers(x, many), weights), known, variance: known + added };
    });
    const [mean, drift, known, variance] = ["mean", "drift", "known", "variance"].map((name) => at.map((one) => one[name]));
    return { weights, sds, mean, drift, known, variance, logEvidence: logEvidence + 0.5 * (norm(half) - norm(rest)) - size - scale };
  }

  function norm(v) { return dot(v, v); }

  window.gpTrend = { trend };

  // ---------------------------------------------------------------- the page

  const RANGE = { x: [-5, 5], y: [-6, 6] };
  const PLACES = Array.from({ length: 121 }, (_, i) => -5 + i / 12);
  const VAGUE = 3; // the end of the slider, a common logarithm
  const MEANS = { zero: "zero", constant: "constant", line: "line", parabola: "parabola" };
  const COLUMNS = ["1", "x", "x\u00b2"];
  const POINTS = [[-2.4, -1.2], [-1.7, -1.6], [-1, -0.4], [-0.3, 0.3], [0.4, -0.1], [1.2, 0.9], [1.9, 1.9], [2.5, 1.4]];
  const START = { points: POINTS, name: "line", tau: 0, lengthscale: 0.8, noise: 0.2, signal: 1 };
  const TRIALS = [
    ["No mean", { name: "zero" }],
    ["A constant", { name: "constant", tau: VAGUE }],
    ["A line, all but forbidden", { tau: -2 }],
    ["A vague line", { tau: VAGUE }],
    ["A vague parabola", { name: "parabola", tau: VAGUE }],
    ["The same, and an observation far out", { name: "parabola", tau: VAGUE, points: [...POINTS, [4.8, 3]] }],
  ];
  const SLIDERS = [
    { name: "tau", label: ["Prior sd \u03c4"], min: -2, max: VAGUE, step: 0.1, digits: 0 },
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.2, max: 4, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.05, max: 1, step: 0.05 },
  ];

  class MeanPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior mean of g"], ["y", "g: 2 sd"], ["f", "if the weights were known"], ["exact", "the mean function, as learnt"], ["point", "observations"]];
    }
    get says() { return "A Gaussian process with a mean function that is learnt. Each observation can be moved with the arrow keys."; }

    get range() { return RANGE; }

    describe(i, x, y) {
      return this.reading(i, minus(x.toFixed(1)), minus(y.toFixed(1)));
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [-4, -2, 0, 2, 4], [-6, -4, -2, 0, 2, 4, 6], ["x", "g(x)"]);
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const columns = html("div", { class: "gp-columns" }, box);
      this.chooser({ name: "name", label: "Mean", options: MEANS }, columns);
      SLIDERS.forEach((slider) => this.slider(slider, columns));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Vague weights", "vague", buttons, () => this.become({ ...this.state, tau: VAGUE }));
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    /* The slider without digits is that of the weights' standard deviation, by its logarithm. */
    worded(value, digits) {
      if (digits > 0) return super.worded(value, digits);
      return value >= VAGUE ? "vague" : String(Number((10 ** value).toPrecision(2)));
    }

    paint() {
      const { points, name, tau, ...prior } = this.state;
      const given = { x: points.map((p) => p[0]), y: points.map((p) => p[1]), xs: PLACES, ...prior };
      const many = Object.keys(MEANS).indexOf(name);
      this.result = trend({ ...given, many, spread: tau >= VAGUE ? null : 10 ** tau });
      this.curves.replaceChildren();
      this.root.querySelector("[data-name=tau]").disabled = many === 0;
      if (this.result) this.drawBelief();
      this.drawPoints();
      this.tell(many);
    }

    drawBelief() {
      const { mean, drift, known, variance } = this.result;
      const parent = this.clipped(this);
      const line = (values, kind) => svg("path", { d: this.path(values, { grid: PLACES }), class: kind }, parent);
      this.band(mean, variance, "y", { grid: PLACES, parent });
      this.band(mean, known, "f", { grid: PLACES, parent });
      line(drift, "gp-exact");
      line(mean, "gp-mean");
    }

    tell(many) {
      const { points, tau } = this.state;
      if (!this.result) {
        this.status.textContent = `Vague weights are learnt from observations alone: ${many} of them need observations at ${many} places or more. Add some, or choose a smaller \u03c4.`;
        return;
      }
      const { weights, sds, mean, drift, known, variance, logEvidence } = this.result;
      const said = weights.map((w, p) => `${COLUMNS[p]}: ${minus(w.toFixed(2))} \u00b1 ${sds[p].toFixed(2)}`).join(", ");
      const end = PLACES.length - 1;
      const [all, part] = [variance[end], known[end]].map((v) => Math.sqrt(v).toFixed(2));
      const vague = many > 0 && tau >= VAGUE;
      this.status.textContent = `${points.length} observations. ${many ? `Weights (\u00b1 one sd): ${said}` : "There is no mean to learn"}. `
        + `At x = 5 the process says ${minus(mean[end].toFixed(2))}, its mean function ${minus(drift[end].toFixed(2))}; `
        + `one sd of g is ${all} there${many ? `, and would be ${part} if the weights were known` : ""}. `
        + `The ${vague ? "vague " : ""}log evidence is ${minus(logEvidence.toFixed(1))}${vague ? ", which compares kernels and not means" : ""}.`;
    }
  }

  start("mean", MeanPlayground);
})();
