/* A figure to operate: the posterior mean at a chosen place, and the weights by which the readings enter it.

   `window.gpSmoothing` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { evidence, posterior, halfSolve, halfSolveTransposed, dot } = window.gpNumbers;
  const { GRID, svg, html, clamp, frame, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  /* A row of the hat matrix, and the variance that is left at its place. */
  function row({ lower, k }, x, place) {
    const half = halfSolve(lower, x.map((a) => k(a, place)));
    return { weights: halfSolveTransposed(lower, half), variance: k(place, place) - dot(half, half) };
  }

  /* Degrees of freedom, and the score of generalised cross-validation. */
  function criteria({ lower, half }, noise) {
    const many = half.length;
    const alpha = halfSolveTransposed(lower, half);
    const units = half.map((_, i) => halfSolve(lower, half.map((_, j) => Number(i === j))));
    const trace = units.reduce((sum, one) => sum + dot(one, one), 0);
    return { freedom: many - noise * noise * trace, gcv: (many * dot(alpha, alpha)) / (trace * trace) };
  }

  function smoother({ place, ...given }) {
    const factored = evidence(given);
    return { ...row(factored, given.x, place), ...criteria(factored, given.noise) };
  }

  /* Evenly spaced readings of two waves, none of them drawn: a sine that runs ever faster is the noise. */
  const LAST = 8;
  function readings(count) {
    const x = Array.from({ length: count }, (_, i) => (LAST * i) / (count - 1));
    const y = x.map((a, i) => Math.sin(1.2 * a) + 0.4 * Math.sin(2.9 * a) + 0.4 * Math.SQRT2 * Math.sin(2.4 * (i + 1) ** 2));
    return { x, y };
  }

  window.gpSmoothing = { smoother, readings };

  // ---------------------------------------------------------------- the page

  const RANGE = { x: [0, 10], y: [-2.6, 2.6] };
  const TICKS = [0, 2, 4, 6, 8, 10];
  const TOPS = [0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3];
  const at = (x) => [[x, 0]]; // its height is the mean's
  const START = { points: at(4), kernel: "rbf", lengthscale: 0.8, noise: 0.4, signal: 1, count: 33 };
  const KERNELS = { rbf: "squared exponential", matern52: "Mat\u00e9rn 5/2", matern12: "Mat\u00e9rn 1/2" };
  const TRIALS = [
    ["At the last observation", { points: at(LAST) }],
    ["Beyond it", { points: at(LAST + 1) }],
    ["81 observations", { count: 81 }],
    ["Mat\u00e9rn 1/2", { kernel: "matern12" }],
    ["Mat\u00e9rn 1/2, 81 observations", { kernel: "matern12", count: 81 }],
    ["Much noise", { noise: 1.5 }],
  ];
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.2, max: 3, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.1, max: 2, step: 0.05 },
    { name: "count", label: ["Observations"], min: 5, max: 81, step: 4, digits: 0 },
  ];

  class SmoothingPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior mean"], ["f", "f: 2 sd"], ["reading", "observations"], ["weight", "weights"], ["against", "negative weights"], ["point", "your place"]];
    }
    get says() { return "A posterior mean, and the weights of the observations in it at a place that the arrow keys move."; }

    get beside() { return this.width >= 560; }

    heightOf(width) { return width >= 560 ? 280 : 440; }

    /* The mean on the left and the weights on the right, or one above the other. */
    scales() {
      const right = this.width - 18;
      const [half, middle] = [Math.round(this.width / 2), Math.round(this.height / 2)];
      const bottom = this.height - 42;
      const upper = this.beside ? { right: half - 12, bottom } : { right, bottom: middle - 32 };
      Object.assign(this, frame({ left: 50, top: 8, ...upper }, RANGE));
      this.other = { left: this.beside ? half + 56 : 50, right, top: this.beside ? 8 : middle + 4, bottom };
    }

    drawAxes() {} // with the curves: the weights' panel fits what it shows

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const columns = html("div", { class: "gp-columns" }, box);
      this.chooser({ name: "kernel", label: "Kernel", options: KERNELS }, columns);
      SLIDERS.forEach((slider) => this.slider(slider, columns));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    // ------------------------------------------------------------ the place

    get place() { return this.state.points[0][0]; }

    placed(x) { return [clamp(x, RANGE.x), 0]; }

    /* A click or a tap in the left panel moves the place there. */
    add(x) {
      if (x < RANGE.x[0] - 0.2 || x > RANGE.x[1] + 0.2) return;
      this.state.points = [this.placed(x)];
      this.select(0);
    }

    remove() {}

    describe(i, x, y) {
      return `Your place: x = ${x.toFixed(1)}, mean ${minus(y.toFixed(2))}. The arrow keys move it.`;
    }

    // ------------------------------------------------------------ drawing

    /* What does not depend on the place. */
    believe() {
      const { points, count, ...prior } = this.state;
      const asked = JSON.stringify([count, prior]);
      if (asked === this.asked) return;
      this.asked = asked;
      this.given = { ...readings(count), ...prior };
      this.result = posterior({ ...this.given, xs: GRID });
      this.factored = evidence(this.given);
      Object.assign(this.result, criteria(this.factored, prior.noise));
    }

    paint() {
      this.believe();
      this.row = row(this.factored, this.given.x, this.place);
      this.value = dot(this.row.weights, this.given.y);
      this.state.points[0][1] = this.value;
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.drawMean();
      this.drawWeights();
      this.drawPoints();
      this.tell();
    }

    drawMean() {
      this.spines(this, this.beside ? TICKS : [], [-2, -1, 0, 1, 2], [this.beside ? "x" : "", "f(x)"]);
      this.band(this.result.mean, this.result.varianceF, "f");
      svg("path", { d: this.path(this.result.mean), class: "gp-mean" }, this.curves);
      this.readings(this.given.x, this.given.y);
      this.guide(this);
    }

    guide({ px, top, bottom }) {
      svg("path", { d: `M${px(this.place)},${top}V${bottom}`, class: "gp-guide" }, this.curves);
    }

    /* What rounding makes of a weight that is zero. */
    get nothing() { return 1e-9 * Math.max(...this.row.weights); }

    drawWeights() {
      const { weights } = this.row;
      const none = this.nothing;
      const need = Math.max(...weights, -Math.min(...weights) / 0.4);
      const top = TOPS.find((one) => one >= need) ?? need;
      const on = frame(this.other, { x: RANGE.x, y: [-0.45 * top, 1.05 * top] });
      this.spines(on, TICKS, [0, [top, Number(top.toPrecision(2))]], ["x of the observation", "weight"]);
      svg("path", { d: `M${on.left},${on.py(0)}H${on.right}`, class: "gp-spine" }, this.curves);
      this.guide(on);
      weights.forEach((weight, i) => {
        const kind = weight < -none ? "gp-stem gp-stem-against" : "gp-stem";
        const x = on.px(this.given.x[i]);
        svg("path", { d: `M${x},${on.py(0)}V${on.py(weight)}`, class: kind }, this.curves);
        svg("circle", { cx: x, cy: on.py(weight), r: weights.length > 50 ? 1.7 : 2.6, class: kind }, this.curves);
      });
    }

    tell() {
      const { weights, variance } = this.row;
      const { freedom, gcv } = this.result;
      const [least, most] = [Math.min(...weights), Math.max(...weights)];
      const sum = weights.reduce((total, one) => total + one, 0);
      const share = Math.round((-100 * least) / most);
      const negative = least > -this.nothing ? "none is negative"
        : share < 1 ? "none is negative by a hundredth of that"
        : `the most negative ${minus(least.toPrecision(2))}, ${share} % of that`;
      const noise = this.state.noise ** 2;
      const sure = this.place > LAST ? `beyond the observations, where one sd of f is ${Math.sqrt(variance).toFixed(2)}`
        : `as sure as a plain average of ${(noise / variance).toFixed(1)} observations`;
      this.status.textContent = `At x = ${this.place.toFixed(1)} the mean is ${minus(this.value.toFixed(2))}, ${sure}. `
        + `The weights add up to ${minus(sum.toFixed(2))}; the largest is ${most.toPrecision(2)}, ${negative}. `
        + `All in all ${freedom.toFixed(1)} degrees of freedom from ${weights.length} observations; GCV ${gcv.toFixed(3)}.`;
    }
  }

  start("smoothing", SmoothingPlayground);
})();
