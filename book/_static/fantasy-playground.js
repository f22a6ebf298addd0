/* A figure to operate: what one more observation takes from the variance of f at an uncertain input.

   `window.gpFantasy` holds the numerical function, so that a test can compare it with the package. */
(function () {
  "use strict";

  const { covariance, gram, evidence, halfSolve, halfSolveTransposed, dot, posterior } = window.gpNumbers;
  const { DOMAIN, GRID, svg, html, clamp, frame, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const NODES = 121; // of the sum over the input, six standard deviations to each side

  function input({ mean, sd }) {
    const z = Array.from({ length: NODES }, (_, j) => -6 + (12 * j) / (NODES - 1));
    const weights = z.map((a) => Math.exp(-0.5 * a * a));
    const total = weights.reduce((sum, w) => sum + w, 0);
    return { places: z.map((a) => mean + sd * a), weights: weights.map((w) => w / total) };
  }

  /* The variance of f(x) for an input x ~ N(mean, sd²), and for a reading at each of `xs` what it takes from the expected
     variance of the function, what it gives to the variance of the mean, and the difference: what it takes in all. */
  function worth({ xs, mean, sd, x, y, ...prior }) {
    const { places, weights } = input({ mean, sd });
    const { k, lower, half } = evidence({ x, y, ...prior });
    const alpha = halfSolveTransposed(lower, half);
    const solved = (at) => gram(at, x, k).map((row) => halfSolve(lower, row));
    const [ofPlaces, ofReadings] = [solved(places), solved(xs)];
    const means = gram(places, x, k).map((row) => dot(row, alpha));
    const variances = places.map((a, j) => k(a, a) - dot(ofPlaces[j], ofPlaces[j]));
    const average = dot(weights, means);
    const now = dot(weights, variances) + dot(weights, means.map((m) => (m - average) ** 2));
    const parts = xs.map((at, i) => {
      const c = places.map((a, j) => k(at, a) - dot(ofReadings[i], ofPlaces[j]));
      const s = k(at, at) - dot(ofReadings[i], ofReadings[i]) + prior.noise ** 2;
      const [square, g] = [dot(weights, c.map((v) => v * v)), dot(weights, c)];
      return { falls: square / s, grows: Math.max(square - g * g, 0) / s, total: (g * g) / s };
    });
    const [falls, grows, total] = ["falls", "grows", "total"].map((name) => parts.map((part) => part[name]));
    return { now, falls, grows, total };
  }

  window.gpFantasy = { worth };

  // ---------------------------------------------------------------- the page

  // one reading where the input is: in all one asks there again, for the function alone to its side
  const POINTS = [[1, 0.6], [5, -0.5], [9.3, 0.4]];
  const START = { points: POINTS, mean: 5, sd: 1.3, lengthscale: 2.2, noise: 0.3, signal: 1 };
  const TRIALS = [
    ["A known input", { sd: 0.05 }],
    ["Hardly known", { sd: 3 }],
    ["Blind on one side", { points: [[2.1, 0.4], [5.1, 0.7], [5.5, -0.8]], mean: 2.8, lengthscale: 2.1 }],
    ["No observation near", { points: [[0.8, -0.9], [2.2, 0.6], [8.6, -0.4]], mean: 4.5, sd: 1.2, lengthscale: 1.2 }],
  ];
  const SLIDERS = [
    { name: "mean", label: ["Next input: mean"], min: 0, max: 10, step: 0.1, digits: 1 },
    { name: "sd", label: ["Its standard deviation"], min: 0.05, max: 3, step: 0.05 },
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.4, max: 4, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.05, max: 1, step: 0.05 },
  ];
  const largest = (values) => values.indexOf(Math.max(...values));

  class FantasyPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior mean"], ["f", "f: 2 sd"], ["before", "next input"], ["worth", "takes in all"], ["rival", "takes from the function"]];
    }
    get says() {
      return "Observations, the belief in f, and below it what one more observation at each place would take from the variance of f at the next input.";
    }

    heightOf(width) { return clamp(0.66 * width, [400, 450]); }

    /* Two panels, one below the other. */
    scales() {
      const [left, right] = [50, this.width - 18];
      const middle = Math.round(0.6 * this.height);
      Object.assign(this, frame({ left, right, top: 8, bottom: middle - 8 }, DOMAIN));
      this.below = { left, right, top: middle + 14, bottom: this.height - 42 };
    }

    drawAxes() {} // with the curves: the lower panel fits what it shows

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Remove the observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    remove(index) {
      if (this.state.points.length > 1) super.remove(index);
    }

    paint() {
      const { points, mean, sd, lengthscale, noise, signal } = this.state;
      const given = { x: points.map(([a]) => a), y: points.map(([, b]) => b), lengthscale, noise, signal };
      this.belief = posterior({ xs: GRID, ...given });
      this.result = worth({ xs: GRID, mean, sd, ...given });
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.spines(this, [], [-2, 0, 2], ["", "f(x)"]);
      const parent = this.clipped(this);
      this.band(this.belief.mean, this.belief.varianceF, "f", { parent });
      svg("path", { d: this.path(this.belief.mean), class: "gp-mean" }, parent);
      const bell = GRID.map((a) => -2.95 + 1.3 * Math.exp(-0.5 * ((a - mean) / sd) ** 2));
      svg("path", { d: this.path(bell), class: "gp-before" }, parent);
      this.drawWorth();
      this.drawPoints();
      this.tell();
    }

    drawWorth() {
      const { falls, total } = this.result;
      const high = 1.08 * Math.max(...falls, 1e-6);
      const on = frame(this.below, { x: DOMAIN.x, y: [0, high] });
      this.spines(on, [0, 2, 4, 6, 8, 10], [[0, "0"], [high / 1.08, (high / 1.08).toPrecision(2)]], ["x", "variance"]);
      const line = this.path(total, { on });
      svg("path", { d: `${line}V${on.bottom}H${on.left}Z`, class: "gp-worth-area" }, this.curves);
      svg("path", { d: line, class: "gp-worth" }, this.curves);
      svg("path", { d: this.path(falls, { on }), class: "gp-rival" }, this.curves);
      const best = largest(total);
      const at = on.px(GRID[best]);
      svg("path", { d: `M${at},${this.top}V${on.bottom}`, class: "gp-guide" }, this.curves);
      svg("circle", { cx: at, cy: on.py(total[best]), r: 5, class: "gp-largest" }, this.curves);
    }

    tell() {
      const { now, falls, total } = this.result;
      const there = Math.round((100 * total[largest(falls)]) / Math.max(...total));
      const places = [total, falls, this.belief.varianceF].map((values) => GRID[largest(values)].toFixed(1));
      const share = Math.round((100 * Math.max(...total)) / now);
      this.status.textContent = minus(
        `The variance of f at the next input is ${now.toFixed(2)}. An observation at x = ${places[0]} takes most of it, ${share} %; ` +
        `for the function alone one would ask at ${places[1]}, where it takes ${there} % of that, and f is least known at ${places[2]}.`);
    }
  }

  start("fantasy", FantasyPlayground);
})();
