/* A figure to operate: one value of a function after another, each drawn given those before it.

   The standard normal numbers come from a fixed generator; others are a button away. `window.gpForward` holds the
   numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { covariance, gram, cholesky, dot, posterior, fixedNormals } = window.gpNumbers;
  const { DOMAIN, GRID, svg, html, clamp, frame, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const JITTER = 1e-8; // of the signal's variance: a smooth kernel's values are known from few of them

  /* Which of so many places is when: from the left, or the ends and then the middle of each gap. */
  function orderOf(name, count) {
    if (name === "left") return Array.from({ length: count }, (_, i) => i);
    const order = [0, count - 1];
    for (let step = count - 1; step > 1; step /= 2) for (let i = step / 2; i < count; i += step) order.push(i);
    return order;
  }

  /* The factor of the places' covariance in their order, and what its rows say of each value. */
  function forward({ places, z, signal = 1, ...prior }) {
    const K = gram(places, places, covariance({ ...prior, signal }));
    const lower = cholesky(K.map((row, i) => row.map((v, j) => (i === j ? v + JITTER * signal * signal : v))));
    const mean = lower.map((row, i) => dot(row.slice(0, i), z));
    const sd = lower.map((row, i) => row[i]);
    return { lower, mean, sd, values: mean.map((m, i) => m + sd[i] * z[i]) };
  }

  window.gpForward = { orderOf, forward, JITTER };

  // ---------------------------------------------------------------- the page

  const COUNT = 17;
  const START = { points: [], drawn: 4, order: "left", kernel: "rbf", lengthscale: 1, seed: 3 };
  const ORDERS = { left: "from left to right", halving: "ends first, then by halves" };
  const NAMES = { rbf: "squared exponential", matern52: "Mat\u00e9rn, \u03bd = 5/2", matern12: "exponential" };
  const TRIALS = [
    ["All from the left", { drawn: COUNT }],
    ["All by halves", { order: "halving", drawn: COUNT }],
    ["Rough kernel", { kernel: "matern12", drawn: 9 }],
    ["Long lengthscale", { lengthscale: 4, drawn: 9 }],
  ];
  const few = (value) => (Math.abs(value) < 0.005 && value !== 0 ? value.toExponential(0) : value.toFixed(2));

  class ForwardPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["drawn", "values drawn"], ["bar", "2 sd when drawn"], ["density", "the next value"], ["f", "f: 2 sd"], ["mean", "mean"]];
    }
    get says() { return "Values of a function, drawn one after another. The buttons below draw the next."; }

    heightOf(width) { return clamp(0.42 * width, [220, 290]); }

    /* With some room for the bars at either end. */
    scales() {
      const box = { left: 50, right: this.width - 12, top: 8, bottom: this.height - 42 };
      Object.assign(this, frame(box, { ...DOMAIN, x: [-0.2, 10.2] }));
    }

    controls() {
      this.root.classList.add("gp-still");
      const pair = html("div", { class: "gp-controls gp-pair" }, this.root);
      const choices = html("div", {}, pair);
      const buttons = html("div", { class: "gp-buttons" }, choices);
      this.next = this.button("Next value", "next", buttons, () => this.go(this.state.drawn + 1));
      this.all = this.button("All", "all", buttons, () => this.go(COUNT));
      this.back = this.button("One back", "back", buttons, () => this.go(this.state.drawn - 1));
      const step = () => this.state.drawn < COUNT && (this.go(this.state.drawn + 1), true);
      this.player(buttons, step, () => this.go(0), 300);
      this.button("Other numbers", "again", buttons, () => {
        this.state.seed += 1;
        this.draw();
      });
      this.button("Start again", "reset", buttons, () => this.reset());
      this.chooser({ name: "order", label: "Order", options: ORDERS }, choices);
      this.chooser({ name: "kernel", label: "Kernel", options: NAMES }, choices);
      this.slider({ name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.3, max: 5, step: 0.1, digits: 1 }, choices);
      this.matrix = svg("svg", { class: "gp-curve", role: "img", viewBox: "0 0 240 176" }, pair);
    }

    add() {}

    taken(name, value) {
      return name === "drawn" ? clamp(Math.trunc(value), [0, COUNT]) : super.taken(name, value);
    }

    /* None drawn, with the order, the kernel and the numbers that were chosen. */
    reset() { this.become({ ...this.state, drawn: 0 }); }

    go(drawn) {
      this.state.drawn = clamp(drawn, [0, COUNT]);
      this.draw();
    }

    // ------------------------------------------------------------ drawing

    paint() {
      const { drawn, order, seed, kernel, lengthscale } = this.state;
      const prior = { kernel, lengthscale, signal: 1 };
      this.places = orderOf(order, COUNT).map((i) => (10 * i) / (COUNT - 1));
      this.result = forward({ places: this.places, z: fixedNormals(COUNT, seed), ...prior });
      const [x, y] = [this.places.slice(0, drawn), this.result.values.slice(0, drawn)];
      this.given = posterior({ x, y, xs: GRID, noise: Math.sqrt(JITTER), ...prior });
      this.curves.replaceChildren();
      const parent = this.clipped(this);
      this.band(this.given.mean, this.given.varianceF, "f", { parent });
      svg("path", { d: this.path(this.given.mean), class: "gp-mean" }, parent);
      x.forEach((_, i) => this.drawBar(i, parent));
      if (drawn < COUNT) this.drawDensity(drawn, parent);
      x.forEach((at, i) => {
        const newest = i === drawn - 1;
        svg("circle", { cx: this.px(at), cy: this.py(y[i]), r: newest ? 5 : 3.5, class: "gp-newest" }, this.curves);
      });
      [this.next, this.all].forEach((button) => (button.disabled = drawn === COUNT));
      this.back.disabled = drawn === 0;
      this.drawMatrix();
      this.tell();
    }

    /* Two standard deviations to either side, as they were before the value was drawn. */
    drawBar(i, parent) {
      const { mean, sd } = this.result;
      const [low, high] = [-2, 2].map((by) => this.py(mean[i] + by * sd[i]));
      svg("path", { d: `M${this.px(this.places[i])},${low}V${high}m-4,0h8M${this.px(this.places[i]) - 4},${low}h8`, class: "gp-bar" }, parent);
    }

    /* The density of a value, as a hill on its side. */
    drawDensity(i, parent) {
      const { mean, sd } = this.result;
      const at = this.px(this.places[i]);
      const side = this.places[i] > 9 ? -1 : 1;
      const hill = Array.from({ length: 49 }, (_, j) => j / 8 - 3).map((t) =>
        `${(at + side * 34 * Math.exp(-0.5 * t * t)).toFixed(1)},${this.py(mean[i] + sd[i] * t).toFixed(1)}`);
      svg("path", { d: `M${at},${this.py(mean[i] - 3 * sd[i])}L${hill.join("L")}L${at},${this.py(mean[i] + 3 * sd[i])}Z`, class: "gp-density" }, parent);
    }

    /* The rows of the factor that have been used, and the one that is next. */
    drawMatrix() {
      const { lower, sd } = this.result;
      const now = Math.min(this.state.drawn, COUNT - 1);
      const [left, top, size] = [52, 4, 9];
      this.matrix.replaceChildren();
      lower.slice(0, now + 1).forEach((row, i) => row.slice(0, i + 1).forEach((value, j) => {
        const box = { x: left + size * j, y: top + size * i, width: size, height: size };
        svg("rect", { ...box, class: `gp-cell gp-cell-${value < 0 ? "minus" : "plus"}`, "fill-opacity": Math.min(Math.sqrt(Math.abs(value)), 1).toFixed(3) }, this.matrix);
      }));
      svg("rect", { x: left, y: top, width: size * COUNT, height: size * COUNT, class: "gp-spine" }, this.matrix);
      svg("rect", { x: left, y: top + size * now, width: size * (now + 1), height: size, class: "gp-row" }, this.matrix);
      const put = (text, x, y, anchor) => (svg("text", { x, y, "text-anchor": anchor }, this.matrix).textContent = text);
      put(`row ${now + 1}`, left - 6, top + size * now + 9, "end");
      put("Cholesky factor", left + (size * COUNT) / 2, top + size * COUNT + 15, "middle");
      this.matrix.setAttribute("aria-label", `The Cholesky factor of the covariance, up to row ${now + 1}, which ends in ${few(sd[now])} on the diagonal.`);
    }

    tell() {
      const { drawn } = this.state;
      const { mean, sd } = this.result;
      const said = (value) => minus(few(value));
      if (drawn === COUNT) {
        const logs = sd.reduce((sum, s) => sum + Math.log(s), 0);
        this.status.textContent = `All ${COUNT} values are drawn, with sds from ${said(sd[0])} to ${said(Math.min(...sd))}. `
          + `The logs of the sds add up to ${minus(logs.toFixed(2))}: half the log determinant of the covariance, in any order.`;
        return;
      }
      const before = drawn === 0 ? "Nothing is drawn yet" : `Given the ${drawn === 1 ? "value" : `${drawn} values`} before`;
      this.status.textContent = `Next is value ${drawn + 1} of ${COUNT}, at x = ${this.places[drawn].toFixed(1)}. `
        + `${before}: its mean is ${said(mean[drawn])}, and its sd ${said(sd[drawn])}, the last entry of row ${drawn + 1} of the Cholesky factor.`;
    }
  }

  start("forward", ForwardPlayground);
})();
