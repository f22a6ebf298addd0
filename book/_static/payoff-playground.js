/* A figure to operate: what one may expect of a bridge, from the counts as they are and by the closed form.

   The payoff is learned from nine circles, whose heights the reader sets. `window.gpPayoff` holds the numerical
   functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { posterior } = window.gpNumbers;
  const { svg, html, clamp, frame, minus, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const NOISE = 0.02;
  const SHARES = Array.from({ length: 101 }, (_, i) => i / 100);

  /* The probabilities of 0, 1, … n others, by the recursion of their quotients from the likeliest. */
  function binomial(n, p) {
    const chance = new Array(n + 1).fill(0);
    const top = Math.min(n, Math.floor((n + 1) * p));
    chance[top] = 1;
    for (let k = top; k < n; k += 1) chance[k + 1] = p < 1 ? (chance[k] * (n - k) * p) / ((k + 1) * (1 - p)) : 0;
    for (let k = top; k > 0; k -= 1) chance[k - 1] = p > 0 ? (chance[k] * k * (1 - p)) / ((n - k + 1) * p) : 0;
    const sum = chance.reduce((a, b) => a + b, 0);
    return chance.map((value) => value / sum);
  }

  const places = (count, n) => Array.from({ length: count }, (_, k) => (n * k) / (count - 1));

  /* The learned payoff: its circles, its weights, and its mean at some numbers of others. */
  function learn({ heights, others, length }, xs) {
    const x = places(heights.length, others);
    const { mean, alpha } = posterior({ xs, x, y: heights, noise: NOISE, signal: 1, lengthscale: length });
    return { x, alpha, mean };
  }

  /* The integral over the normal distribution, and what its lack of skewness leaves out. */
  function closed({ x, alpha }, { others: n, length }, p) {
    const variance = n * p * (1 - p);
    const width = Math.sqrt(length * length + variance);
    const third = (variance * (1 - 2 * p)) / (6 * width ** 3);
    let [value, skew] = [0, 0];
    x.forEach((at, j) => {
      const t = (at - n * p) / width;
      const bump = (alpha[j] * length * Math.exp(-0.5 * t * t)) / width;
      value += bump;
      skew += third * (t ** 3 - 3 * t) * bump;
    });
    return { value, skew };
  }

  /* Exact expectation, closed form and its correction, at each probability. */
  function expected(given, shares) {
    const counts = Array.from({ length: given.others + 1 }, (_, k) => k);
    const known = learn(given, counts);
    return shares.map((p) => {
      const exact = binomial(given.others, p).reduce((sum, chance, k) => sum + chance * known.mean[k], 0);
      return { exact, ...closed(known, given, p) };
    });
  }

  window.gpPayoff = { binomial, expected, NOISE };

  // ---------------------------------------------------------------- the page

  const PAYOFFS = [-1.2, 1.2];
  const at = (heights) => heights.map((y, k) => [k / 8, y]);
  const JAM = at([0.8, 0.8, 0.8, 0.8, 0.8, 0.4, 0, -0.4, -0.8]);
  const BRIDGE = { points: JAM, others: 24, share: 0.5, length: 6 };
  const START = { points: at([1, 0, 0, 0, 0, 0, 0, 0, 0]), others: 8, share: 0.13, length: 0.5 }; // nobody is there
  const TRIALS = [
    ["The bridge", BRIDGE],
    ["One expected on it", { ...BRIDGE, share: 0.04, length: 1.5 }],
    ["Every other count", { points: at([1, 1, 1, 1, 1, 1, 1, 1, 1]), others: 16, share: 0.5, length: 0.2 }],
    ["A hundred", { ...BRIDGE, others: 100, length: 25 }],
  ];
  const SLIDERS = [
    { name: "others", label: ["Others n"], min: 2, max: 100, step: 1, digits: 0 },
    { name: "share", label: ["Probability p"], min: 0.01, max: 0.99, step: 0.01, digits: 2 },
    { name: "length", label: ["Lengthscale, players"], min: 0.2, max: 30, step: 0.1, digits: 1 },
  ];

  class PayoffPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [
        ["point", "simulated, to drag"], ["mean", "learned payoff; what to expect, exact"], ["rival", "by the closed form"],
        ["inside", "how probable each count is"], ["exact", "the normal distribution"],
      ];
    }
    get says() { return "A payoff learned from nine circles, the counts of the others, and what to expect for each probability."; }
    get range() { return { x: [0, this.state.others], y: PAYOFFS }; }

    get narrow() { return this.width < 520; }

    heightOf(width) { return width < 520 ? 470 : clamp(0.38 * width, [245, 280]); }

    scales() {
      const [right, bottom] = [this.width - 14, this.height - 42];
      const one = this.narrow ? { right, bottom: bottom / 2 - 8 } : { right: this.width / 2 - 12, bottom };
      const two = this.narrow ? { left: 50, top: bottom / 2 + 42 } : { left: this.width / 2 + 42, top: 8 };
      Object.assign(this, frame({ left: 50, top: 8, ...one }, this.range));
      this.chances = frame({ ...two, right, bottom }, { x: [0, 1], y: PAYOFFS });
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, ticks(this.range.x, 6), [-1, 0, 1], ["others on the bridge", "payoff"]);
      this.spines(this.chances, [0, 0.25, 0.5, 0.75, 1], [-1, 0, 1], ["probability p", "expected"]);
    }

    controls() {
      const box = html("div", { class: "gp-controls gp-columns" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    // ------------------------------------------------------------ circles: nine, each at its number

    placed(x, y) {
      return [clamp(x, [0, 1]), clamp(y, [-1, 1])];
    }

    move(index, x, y) {
      this.state.points[index] = this.placed(index / 8, y);
      this.draw();
    }

    taken(name, value) {
      if (name !== "points") return super.taken(name, value);
      return value.length === START.points.length ? value.map(([, y], k) => this.placed(k / 8, y)) : undefined;
    }

    add() {}

    remove() {}

    describe(i, x, y) {
      return `${Math.round(x * this.state.others)} others: payoff ${y.toFixed(2)}. The arrows up and down move it.`;
    }

    get given() {
      const { points, others, length } = this.state;
      return { heights: points.map(([, y]) => y), others, length };
    }

    // ------------------------------------------------------------ drawing

    paint() {
      this.scales();
      this.drawAxes();
      this.curves.replaceChildren();
      this.found = expected(this.given, [this.state.share])[0];
      this.drawCounts();
      this.drawChances();
      this.drawCircles();
      this.tell();
    }

    /* The circles stand in fractions of the players, so that they stay where they are on the page. */
    drawCircles() {
      const { px } = this;
      this.px = (x) => px(x * this.state.others);
      this.drawPoints();
      this.px = px;
    }

    drawCounts() {
      const { others: n, share: p } = this.state;
      const parent = this.clipped(this);
      const chance = binomial(n, p);
      const sd = Math.sqrt(n * p * (1 - p));
      const top = Math.max(...chance, 1 / (sd * Math.sqrt(2 * Math.PI)));
      const up = (value) => this.bottom - (0.55 * (this.bottom - this.top) * value) / top;
      const half = clamp((0.36 * (this.right - this.left)) / (n + 1), [1, 7]);
      chance.forEach((value, k) => {
        const bar = { x: this.px(k) - half, width: 2 * half, y: up(value), height: this.bottom - up(value) };
        if (value > 1e-4) svg("rect", { ...bar, class: "gp-inside" }, parent);
      });
      const grid = Array.from({ length: 201 }, (_, i) => n * p + sd * (i / 25 - 4));
      const bell = grid.map((x) => Math.exp(-0.5 * ((x - n * p) / sd) ** 2) / (sd * Math.sqrt(2 * Math.PI)));
      const line = grid.map((x, i) => `${i ? "L" : "M"}${this.px(x).toFixed(1)},${up(bell[i]).toFixed(1)}`).join("");
      svg("path", { d: line, class: "gp-exact" }, parent);
      const fine = Array.from({ length: 401 }, (_, i) => (n * i) / 400);
      svg("path", { d: this.path(learn(this.given, fine).mean, { grid: fine }), class: "gp-mean" }, parent);
    }

    drawChances() {
      const on = this.chances;
      const parent = this.clipped(on);
      const all = expected(this.given, SHARES);
      const at = on.px(this.state.share);
      svg("path", { d: `M${at},${on.top}V${on.bottom}`, class: "gp-guide" }, parent);
      svg("path", { d: this.path(all.map((one) => one.exact), { on, grid: SHARES }), class: "gp-mean" }, parent);
      svg("path", { d: this.path(all.map((one) => one.value), { on, grid: SHARES }), class: "gp-rival" }, parent);
      svg("circle", { cx: at, cy: on.py(this.found.exact), r: 4, class: "gp-newest" }, parent);
    }

    tell() {
      const { exact, value, skew } = this.found;
      const said = (number) => minus(number.toFixed(3).replace(/^-(0\.0+)$/, "$1"));
      this.status.textContent = `To expect, exactly, ${said(exact)}; by the closed form ${said(value)}. `
        + `It misses ${said(exact - value)}, of which the skewness is ${said(skew)}.`;
    }
  }

  start("payoff", PayoffPlayground);
})();
