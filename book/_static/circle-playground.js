/* A figure to operate: how much of a function on the circle a few of its values and harmonics explain.

   The kernel is π less the shorter way round. `window.gpCircle` holds the numerical functions, so that a test
   can compare them with the package. */
(function () {
  "use strict";

  const { svg, html, clamp, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const kernel = (x, z) => Math.PI - Math.acos(clamp(Math.cos(x - z), [-1, 1]));
  const coefficient = (n) => (n === 0 ? Math.PI / 2 : 4 / (Math.PI * n * n)); // of odd orders; the even ones have none

  /* An inducing variable: its covariance with f(x), with itself, and with one that comes before it. */
  function value(z) {
    const basis = (x) => kernel(x, z);
    return { basis, own: Math.PI, beside: (other) => other.basis(z) };
  }

  function harmonic(n, wave) {
    const basis = (x) => coefficient(n) * wave(n * x);
    return { basis, own: coefficient(n), beside: () => 0 };
  }

  /* The mean, and the cosines and sines of the first odd orders; then the values. */
  function variables(places, waves) {
    const orders = Array.from({ length: Math.max(waves - 1, 0) }, (_, i) => 2 * i + 1);
    const mean = waves > 0 ? [harmonic(0, Math.cos)] : [];
    return [...mean, ...orders.flatMap((n) => [harmonic(n, Math.cos), harmonic(n, Math.sin)]), ...places.map(value)];
  }

  /* What the variables have that those before them have not: a Cholesky factorisation, in which one that says
     nothing new is left out. */
  function apart(chosen) {
    const kept = [];
    chosen.forEach((one) => {
      const row = [];
      kept.forEach(({ variable, row: other, sd }) => {
        row.push((one.beside(variable) - total(row.map((v, k) => v * other[k]))) / sd);
      });
      const left = one.own - total(row.map((v) => v * v));
      if (left > 1e-9 * one.own) kept.push({ variable: one, row, sd: Math.sqrt(left) });
    });
    return kept;
  }

  /* The share of the variance at each place that they explain. */
  function explained(places, waves, at) {
    const kept = apart(variables(places, waves));
    return at.map((x) => {
      const b = [];
      kept.forEach(({ variable, row, sd }) => b.push((variable.basis(x) - total(row.map((v, k) => v * b[k]))) / sd));
      return total(b.map((v) => v * v)) / Math.PI;
    });
  }

  /* The most that so many numbers can explain in the mean: the largest shares of harmonics. */
  function most(count) {
    const pairs = Array.from({ length: count }, (_, i) => coefficient(2 * Math.floor(i / 2) + 1) / (2 * Math.PI));
    return count === 0 ? 0 : 0.5 + total(pairs.slice(0, count - 1));
  }

  window.gpCircle = { explained, most };

  // ---------------------------------------------------------------- the page

  const RANGE = { x: [-Math.PI, Math.PI], y: [0, 1.08] };
  const TURN = Array.from({ length: 361 }, (_, i) => Math.PI * (i / 180 - 1));
  const COMPASS = ["S", "W", "N", "E", "S"].map((name, i) => [Math.PI * (i / 2 - 1), name]);
  const MANY = 9;
  const row = (...places) => places.map((x) => [x, 0]);
  const even = (count) => row(...Array.from({ length: count }, (_, i) => 2 * Math.PI * (i - (count - 1) / 2) / count));
  const START = { points: row(0), waves: 0 };
  const TRIALS = [
    ["The mean alone", { points: [], waves: 1 }],
    ["Two opposite values", { points: row(-Math.PI / 2, Math.PI / 2) }],
    ["Nine even values", { points: even(9) }],
    ["Nine harmonics", { points: [], waves: 5 }],
    ["Three harmonics, six values", { points: even(6), waves: 2 }],
  ];

  class CirclePlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get range() { return RANGE; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "share explained"], ["exact", "its average"], ["truth", "the best average of as many numbers"], ["point", "values that are known"]];
    }
    get says() { return "What a few numbers explain of a function on the circle. Values can be moved with the arrow keys."; }

    placed(x) { return [clamp(x, RANGE.x), 0]; }

    describe(i, x) {
      return `Value ${i + 1} of ${this.state.points.length}: ${minus(x.toFixed(1))} radians from north. Arrow keys move it, Delete removes it.`;
    }

    add(x, y) {
      if (this.state.points.length < MANY) super.add(x, y);
    }

    taken(name, found) {
      if (name !== "points") return super.taken(name, found);
      return found.length <= MANY ? found.map(([x]) => this.placed(x)) : undefined;
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const left = html("div", {}, pair);
      this.slider({ name: "waves", label: ["Harmonics: none, the mean, odd orders"], min: 0, max: 5, step: 1, digits: 0 }, left);
      const buttons = html("div", { class: "gp-buttons" }, left);
      this.button("Remove the selected value", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
    }

    worded(waves) {
      return ["none", "mean", "to 1", "to 3", "to 5", "to 7"][waves];
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, COMPASS, [0, 0.5, 1], ["bearing", "share explained"]);
    }

    paint() {
      const { points, waves } = this.state;
      const places = points.map(([x]) => x);
      const shares = explained(places, waves, TURN);
      const count = points.length + Math.max(2 * waves - 1, 0);
      this.result = { count, mean: total(shares.slice(1)) / 360, most: most(count) };
      this.curves.replaceChildren();
      const level = (share, name) => svg("path", { d: `M${this.left},${this.py(share)}H${this.right}`, class: name }, this.curves);
      level(this.result.most, "gp-truth");
      level(this.result.mean, "gp-exact");
      svg("path", { d: this.path(shares, { grid: TURN }), class: "gp-mean" }, this.curves);
      this.drawPoints();
      this.drawCurve(variables(places, waves));
      this.tell();
    }

    /* The basis functions: the covariance of each number with the function. */
    drawCurve(chosen) {
      const { on } = this.inset({ x: RANGE.x, y: [-1.6, 3.4] }, COMPASS, [-1, 0, 1, 2, 3], "basis functions");
      this.curve.setAttribute("aria-label", `The basis functions of ${chosen.length} numbers: their covariances with the function.`);
      chosen.forEach(({ basis }) => svg("path", { d: this.path(TURN.map(basis), { on, grid: TURN }), class: "gp-mean" }, this.curve));
    }

    tell() {
      const { count, mean, most: best } = this.result;
      const many = `${count} number${count === 1 ? "" : "s"}`;
      this.status.textContent = count === 0
        ? "No number is known, and nothing is explained."
        : `${many}: ${mean.toFixed(2)} of the variance is explained, averaged over the circle. The most that ${many} can explain is ${best.toFixed(2)}.`;
    }
  }

  start("circle", CirclePlayground);
})();
