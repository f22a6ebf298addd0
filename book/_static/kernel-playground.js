/* A figure to operate: a laboratory of kernels. Above the kernel as a function of one input, while the other stands
   at a place that can be carried along the line; below three samples of the prior.

   `window.gpKernel` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { KERNELS, gram, cholesky, dot, fixedNormals } = window.gpNumbers;
  const { svg, html, clamp, frame, said, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const SLOPE = 0.5; // standard deviation of the slope of lines
  const END = -3; // where the line begins, and the logarithm of a warp

  const PARTS = {
    rbf: (a, b, { lengthscale }) => KERNELS.rbf(a, b, lengthscale),
    matern12: (a, b, { lengthscale }) => KERNELS.matern12(a, b, lengthscale),
    matern52: (a, b, { lengthscale }) => KERNELS.matern52(a, b, lengthscale),
    periodic: (a, b, { lengthscale, period }) => Math.exp(-2 * (Math.sin((Math.PI * (a - b)) / period) / lengthscale) ** 2),
    linear: (a, b, { intercept }) => intercept ** 2 + SLOPE ** 2 * a * b,
    arccos: (a, b) => {
      const [sine, cosine] = [Math.abs(a - b), 1 + a * b]; // times the lengths of (a, 1) and (b, 1)
      return (sine + (Math.PI - Math.atan2(sine, cosine)) * cosine) / Math.PI;
    },
  };

  const WAYS = {
    alone: (first) => first,
    sum: (first, second) => (a, b) => first(a, b) + second(a, b),
    product: (first, second) => (a, b) => first(a, b) * second(a, b),
    warp: (first) => (a, b) => ((a - END) / 3) * first(Math.log(a - END), Math.log(b - END)) * ((b - END) / 3),
  };

  /* The kernel of a state, as a function of two places. */
  function together({ way, first, second, one, two, period, intercept }) {
    const part = (name, lengthscale) => (a, b) => PARTS[name](a, b, { lengthscale, period, intercept });
    return WAYS[way](part(first, one), part(second, two));
  }

  /* The weights of cosines and sines in the periodic kernel, from its values around the circle. */
  function series(lengthscale, many = 40, around = 128) {
    const values = Array.from({ length: around }, (_, m) => PARTS.periodic(m / around, 0, { lengthscale, period: 1 }));
    return Array.from({ length: many }, (_, k) => {
      const sum = values.reduce((all, v, m) => all + v * Math.cos((2 * Math.PI * k * m) / around), 0);
      return Math.sqrt(Math.max(((k ? 2 : 1) * sum) / around, 0));
    });
  }

  /* Functions whose products add up to the kernel; their values at a place stand in a row. With fixed weights they
     make a sample that follows the hyperparameters: waves are stretched, lines turned. */
  function features(name, places, given) {
    if (name === "linear") return places.map((x) => [given.intercept, SLOPE * x]);
    if (name !== "periodic") {
      const matrix = gram(places, places, (a, b) => PARTS[name](a, b, given));
      matrix.forEach((row, i) => (row[i] *= 1 + 1e-8));
      return cholesky(matrix);
    }
    const weights = series(given.lengthscale);
    const turn = (2 * Math.PI) / given.period;
    return places.map((x) => weights.flatMap((w, k) => (k ? [w * Math.cos(k * turn * x), w * Math.sin(k * turn * x)] : [w])));
  }

  /* A sample for each set of normals: of a sum the sum of two, of a product all products of features. */
  function drawn({ way, first, second, one, two, period, intercept }, places, normals) {
    const scale = places.map((x) => (way === "warp" ? (x - END) / 3 : 1));
    const at = way === "warp" ? places.map((x) => Math.log(x - END)) : places;
    const left = features(first, at, { lengthscale: one, period, intercept });
    if (way === "alone" || way === "warp") return normals.map((z) => left.map((row, n) => scale[n] * dot(row, z.one)));
    const right = features(second, places, { lengthscale: two, period, intercept });
    const also = {
      sum: (z) => (row, n) => dot(row, z.one) + dot(right[n], z.two),
      product: (z) => (row, n) => row.reduce((sum, value, i) => (value === 0 ? sum : sum + value * dot(right[n], z.both[i])), 0),
    }[way];
    return normals.map((z) => left.map(also(z)));
  }

  window.gpKernel = { together, features, drawn };

  // ---------------------------------------------------------------- the page

  const PLACES = Array.from({ length: 120 }, (_, i) => (i - 59) / 20);
  const NORMALS = [4, 15, 16].map((seed) => {
    const both = fixedNormals(PLACES.length ** 2, seed + 200);
    return {
      one: fixedNormals(PLACES.length, seed),
      two: fixedNormals(PLACES.length, seed + 100),
      both: PLACES.map((_, i) => both.slice(i * PLACES.length, (i + 1) * PLACES.length)),
    };
  });
  const DOMAIN = [END, 3];
  const NAMES = {
    rbf: "squared exponential",
    matern12: "Mat\u00e9rn 1/2",
    matern52: "Mat\u00e9rn 5/2",
    periodic: "periodic",
    linear: "line with intercept",
    arccos: "arc-cosine",
  };
  const TAKEN = { alone: "the first kernel alone", sum: "the sum of both", product: "the product of both", warp: "the first kernel, warped: (x + 3) f(log(x + 3)) / 3" };
  const START = { points: [[1, 0]], way: "sum", first: "rbf", second: "periodic", one: 2, two: 1, period: 1, intercept: 1 };
  const TRIALS = [
    ["A season that drifts", { way: "product" }],
    ["Lines and a season", { first: "linear" }],
    ["Lines times a season", { first: "linear", way: "product", intercept: 0 }],
    ["Lines times lines", { first: "linear", second: "linear", way: "product" }],
    ["Lines without an intercept", { first: "linear", way: "alone", intercept: 0 }],
    ["A warp", { way: "warp", one: 0.5 }],
  ];
  const SIDES = [
    [["first", "First kernel"], { name: "one", label: ["Lengthscale \u2113", "1"], min: 0.2, max: 4, step: 0.05 },
      { name: "period", label: ["Period"], min: 0.5, max: 4, step: 0.05 }],
    [["second", "Second kernel"], { name: "two", label: ["Lengthscale \u2113", "2"], min: 0.2, max: 4, step: 0.05 },
      { name: "intercept", label: ["Intercept, sd"], min: 0, max: 2, step: 0.05 }],
  ];


  class KernelPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "the kernel, k(x, x\u2032)"], ["point", "the place x\u2032"], ["sample", "three samples of the prior"]];
    }
    get says() { return "A kernel by one input, and samples of its prior. The arrow keys move the place of the other input."; }

    heightOf(width) { return clamp(0.64 * width, [380, 430]); }

    scales() {
      this.sides = { left: 50, right: this.width - 18 };
      this.middle = Math.round(0.5 * this.height);
    }

    drawAxes() {} // with the curves: both panels fit what they show

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "way", label: "Take", options: TAKEN }, box);
      const columns = html("div", { class: "gp-columns" }, box);
      SIDES.forEach(([[name, label], ...sliders]) => {
        const column = html("div", {}, columns);
        this.chooser({ name, label, options: NAMES }, column);
        sliders.forEach((slider) => this.slider(slider, column));
      });
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    // ------------------------------------------------------------ the place

    get place() { return this.state.points[0][0]; }

    placed(x) { return [Math.round(20 * clamp(x, [PLACES[0], DOMAIN[1]])) / 20, 0]; }

    /* A click or a tap brings the place there. */
    add(x) {
      this.state.points = [this.placed(x)];
      this.select(0);
    }

    remove() {}

    describe() {
      return `Place x\u2032 = ${said(this.place)}. Left and right arrow keys move it.`;
    }

    // ------------------------------------------------------------ drawing

    /* What does not depend on the place. */
    prepare() {
      const { points, ...asked } = this.state;
      if (this.asked === JSON.stringify(asked)) return;
      this.asked = JSON.stringify(asked);
      this.k = together(this.state);
      this.matrix = gram(PLACES, PLACES, this.k);
      this.variances = this.matrix.map((row, i) => row[i]);
      this.drawn = drawn(this.state, PLACES, NORMALS);
    }

    paint() {
      this.prepare();
      this.values = PLACES.map((x) => this.k(x, this.place));
      this.state.points = [[this.place, this.k(this.place, this.place)]];
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.drawKernel();
      this.drawSamples(3 * Math.sqrt(Math.max(...this.variances)));
      this.drawPoints();
      this.uses();
      this.tell();
    }

    /* On one scale for all places, so that what changes is the kernel. */
    drawKernel() {
      const all = this.matrix.flat();
      const y = [Math.min(0, ...all), 1.08 * Math.max(...all)];
      Object.assign(this, frame({ ...this.sides, top: 8, bottom: this.middle - 18 }, { x: DOMAIN, y }));
      this.spines(this, [], ticks(y), ["", "k(x, x\u2032)"]);
      const at = this.px(this.place);
      svg("path", { d: `M${at},${this.top}V${this.height - 42}`, class: "gp-guide" }, this.curves);
      svg("path", { d: this.path(this.values, { grid: PLACES }), class: "gp-mean" }, this.curves);
    }

    drawSamples(far) {
      const y = [-far, far];
      const on = frame({ ...this.sides, top: this.middle, bottom: this.height - 42 }, { x: DOMAIN, y });
      this.spines(on, [-3, -2, -1, 0, 1, 2, 3], ticks(y), ["x", "f(x)"]);
      const parent = this.clipped(on);
      this.drawn.forEach((values) => svg("path", { d: this.path(values, { on, grid: PLACES }), class: "gp-sample gp-bold" }, parent));
    }

    /* Only what the kernel depends on can be moved. */
    uses() {
      const { way, first, second } = this.state;
      const both = way === "sum" || way === "product";
      const named = both ? [first, second] : [first];
      const long = (name) => !["linear", "arccos"].includes(name);
      const used = {
        one: long(first), two: both && long(second), second: both,
        period: named.includes("periodic"), intercept: named.includes("linear"),
      };
      Object.entries(used).forEach(([name, is]) => (this.root.querySelector(`[data-name=${name}]`).disabled = !is));
    }

    /* Whether a step of both places changes nothing, wherever it begins. */
    get stationary() {
      const tiny = 1e-9 * Math.max(...this.variances);
      return this.matrix.every((row, i) => i === 0 || row.every((v, j) => j === 0 || Math.abs(v - this.matrix[i - 1][j - 1]) < tiny));
    }

    tell() {
      const [here, beside] = [0, 0.5].map((by) => this.k(this.place, this.place + by));
      const where = `At x\u2032 = ${said(this.place)} the variance is ${said(here)}, and the covariance with the place half a unit further right is ${said(beside)}. `;
      this.status.textContent = where + (this.stationary
        ? "A stationary kernel: carry x\u2032 along, and its curve comes along as it is."
        : `Not stationary: the variance goes from ${said(Math.min(...this.variances))} to ${said(Math.max(...this.variances))}, and the curve changes with x\u2032.`);
    }
  }

  start("kernel", KernelPlayground);
})();
