/* A figure to operate: for which label to ask. Above the labels and the predicted chance, below what a further label
   would tell, and how uncertain it is. On the left of the line the labels are coins.

   `window.gpLabels` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { covariance, gram, cholesky, halfSolve, halfSolveTransposed, dot, fixedUniforms, density, cdf, logCdfSlope } = window.gpNumbers;
  const { svg, html, clamp, frame, few, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const nats = (p) => (p > 0 ? -p * Math.log(p) : 0);
  const entropy = (p) => nats(p) + nats(1 - p);

  /* The mode of the latent values given labels of 1 and -1, by Newton's method; slopes and curvatures there. */
  function mode(K, y) {
    let f = y.map(() => 0);
    for (let step = 0; step < 100; step += 1) {
      const r = f.map((value, i) => logCdfSlope(y[i] * value));
      const g = r.map((one, i) => y[i] * one);
      const w = f.map((value, i) => r[i] * (y[i] * value + r[i]));
      const root = w.map(Math.sqrt);
      const lower = cholesky(K.map((row, i) => row.map((v, j) => (i === j ? 1 : 0) + root[i] * v * root[j])));
      const b = f.map((value, i) => w[i] * value + g[i]);
      const inner = halfSolveTransposed(lower, halfSolve(lower, K.map((row, i) => root[i] * dot(row, b))));
      const next = K.map((row) => dot(row, b.map((one, j) => one - root[j] * inner[j])));
      const moved = Math.max(0, ...next.map((one, i) => Math.abs(one - f[i])));
      f = next;
      if (moved < 1e-10) return { f, g, root, lower };
    }
    return null;
  }

  /* Laplace's mean and variance of f at all places. */
  function laplace({ x, y, xs, signal, lengthscale }) {
    const k = covariance({ signal, lengthscale });
    const { f, root } = mode(gram(x, x, k), y) ?? { f: x.map(() => 0), root: x.map(() => 0) };
    const g = f.map((value, i) => y[i] * logCdfSlope(y[i] * value));
    const lower = cholesky(gram(x, x, k).map((row, i) => row.map((v, j) => (i === j ? 1 : 0) + root[i] * v * root[j])));
    const cross = gram(xs, x, k);
    const mean = cross.map((row) => dot(row, g));
    const variance = cross.map((row) => {
      const half = halfSolve(lower, row.map((v, j) => root[j] * v));
      return Math.max(signal * signal - dot(half, half), 0);
    });
    return { mean, variance, chance: mean.map((m, i) => cdf(m / Math.sqrt(1 + variance[i]))) };
  }

  /* What a label tells about f: its entropy, less the average of those that each f leaves. */
  const NODES = Array.from({ length: 121 }, (_, i) => (i - 60) * 0.14);
  const WEIGHTS = NODES.map((z) => 0.14 * density(z));
  function bald(mean, variance) {
    return mean.map((m, i) => {
      const sd = Math.sqrt(variance[i]);
      const left = NODES.reduce((sum, z, j) => sum + WEIGHTS[j] * entropy(cdf(m + sd * z)), 0);
      return Math.max(entropy(cdf(m / Math.sqrt(1 + variance[i]))) - left, 0);
    });
  }

  /* On the left coins; on the right the labels are sure, but near the three places where they change. */
  const COINS = 4;
  const truth = (x) => cdf(x <= COINS ? 0 : 4 * Math.sin(((x - COINS) * 2 * Math.PI) / 3));

  window.gpLabels = { laplace, bald, entropy, truth };

  // ---------------------------------------------------------------- the page

  const PLACES = Array.from({ length: 101 }, (_, i) => i / 10);
  const RANGE = { x: [0, 10], y: [0, 1] };
  const MOST = 40;
  const NEARLY = 1e-9;
  const START = { points: [[5, 1]], name: "entropy", lengthscale: 0.8, signal: 3 };
  const NAMES = { entropy: "Uncertainty sampling: largest entropy", bald: "BALD: most information about f", random: "At random" };
  const TRIALS = [
    ["Coins at one place", { points: [[2, 1], [2, 0], [2, 1], [2, 0], [2, 1], [2, 0], [7, 1]] }],
    ["One label", { points: [[5, 1]], lengthscale: 2 }],
    ["A weak signal", { signal: 0.5 }],
    ["Ask by BALD", { name: "bald" }],
  ];
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale"], min: 0.3, max: 3, step: 0.1, digits: 1 },
    { name: "signal", label: ["Signal, one sd of f"], min: 0.5, max: 6, step: 0.5, digits: 1 },
  ];

  class LabelsPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get range() { return RANGE; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "chance of the label 1"], ["point", "labels"], ["worth", "BALD"], ["rival", "entropy of the label"], ["inside", "labels are coins"]];
    }
    get says() { return "Labels along a line, and the information in a further one. The arrow keys move a label, up and down flip it."; }

    heightOf(width) { return clamp(0.6 * width, [340, 400]); }

    scales() {
      const sides = { left: 50, right: this.width - 18 };
      const middle = Math.round(0.55 * this.height);
      Object.assign(this, frame({ ...sides, top: 16, bottom: middle - 22 }, RANGE));
      this.below = { ...sides, top: middle + 12, bottom: this.height - 42 };
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [], [0, 0.5, 1], ["", "chance"]);
      this.on = frame(this.below, { x: RANGE.x, y: [0, 0.75] });
      this.spines(this.on, [0, 2, 4, 6, 8, 10], [[0, "0"], [Math.log(2), "log 2"]], ["x", "nats"]);
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "name", label: "Where to ask?", options: NAMES }, box);
      const columns = html("div", { class: "gp-columns" }, box);
      SLIDERS.forEach((one) => this.slider(one, columns));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.next = this.button("Ask one label", "next", buttons, () => this.ask());
      this.five = this.button("Five more", "five", buttons, () => {
        for (let i = 0; i < 5; i += 1) this.ask();
      });
      this.button("Remove", "remove", buttons, () => this.remove(this.selected));
      this.player(buttons, () => !this.next.disabled && (this.next.click(), true));
      this.button("Start again", "reset", buttons, () => this.reset());
      const label = html("label", { class: "gp-check" }, buttons);
      this.shown = html("input", { type: "checkbox" }, label);
      label.appendChild(document.createTextNode(" show the true chance"));
      this.shown.addEventListener("change", () => this.draw());
    }

    /* The start again, but for the rule that was chosen. */
    reset() { this.become({ name: this.state.name }); }

    // ------------------------------------------------------------ labels

    /* An answer, which is drawn: the same one whoever asks as many labels at this place. */
    ask() {
      const { points, name } = this.state;
      if (points.length >= MOST) return;
      const draw = fixedUniforms(100 + points.length);
      const at = name === "random" ? PLACES[Math.floor(draw() * PLACES.length)] : this.largest;
      points.push([at, draw() < truth(at) ? 1 : 0]);
      this.draw();
    }

    placed(x, y) { return [clamp(x, RANGE.x), y > 0.5 ? 1 : 0]; }

    taken(name, value) {
      const found = super.taken(name, value);
      return name === "points" ? found?.slice(0, MOST) : found;
    }

    add(x, y) {
      if (y < -0.15 || this.state.points.length >= MOST) return;
      super.add(x, y);
    }

    keyboard() {
      super.keyboard();
      this.marks.addEventListener("keydown", (event) => {
        const turned = { ArrowUp: 1, ArrowDown: 0 }[event.key];
        if (turned === undefined) return;
        const index = [...this.marks.children].indexOf(event.target);
        this.move(index, this.state.points[index][0], turned);
      });
    }

    describe(i, x, y) {
      const label = y > 0.5 ? "1" : "\u22121";
      return `Label ${i + 1} of ${this.state.points.length}: ${label} at x = ${x.toFixed(1)}. Arrow keys move it, up and down flip it, Delete removes it.`;
    }

    // ------------------------------------------------------------ drawing

    believe() {
      const { points, lengthscale, signal } = this.state;
      const asked = JSON.stringify([points, lengthscale, signal]);
      if (asked !== this.asked) {
        this.asked = asked;
        const y = points.map(([, label]) => (label > 0.5 ? 1 : -1));
        const found = laplace({ x: points.map(([x]) => x), y, xs: PLACES, signal, lengthscale });
        this.chance = found.chance;
        this.rules = { entropy: found.chance.map(entropy), bald: bald(found.mean, found.variance) };
      }
      const scores = this.rules[this.state.name] ?? this.rules.bald;
      const top = Math.max(...scores);
      this.largest = PLACES[scores.findIndex((one) => one >= top - NEARLY)];
      this.top = top;
    }

    paint() {
      this.believe();
      this.curves.replaceChildren();
      this.drawCoins();
      if (this.shown.checked) svg("path", { d: this.path(PLACES.map(truth), { grid: PLACES }), class: "gp-truth" }, this.curves);
      svg("path", { d: this.path(this.chance, { grid: PLACES }), class: "gp-mean" }, this.curves);
      svg("path", { d: this.path(this.rules.entropy, { on: this.on, grid: PLACES }), class: "gp-rival" }, this.curves);
      const line = this.path(this.rules.bald, { on: this.on, grid: PLACES });
      svg("path", { d: `${line}V${this.on.bottom}H${this.on.left}Z`, class: "gp-worth-area" }, this.curves);
      svg("path", { d: line, class: "gp-worth" }, this.curves);
      if (this.state.name !== "random") {
        const at = this.on.px(this.largest);
        svg("path", { d: `M${at},${this.py(1)}V${this.on.bottom}`, class: "gp-guide" }, this.curves);
        svg("circle", { cx: at, cy: this.on.py(this.top), r: 5, class: "gp-largest" }, this.curves);
      }
      this.drawPoints();
      [this.next, this.five].forEach((button) => (button.disabled = this.state.points.length >= MOST));
      this.tell();
    }

    drawCoins() {
      const [from, to] = [this.px(0), this.px(COINS)];
      svg("rect", { x: from, y: this.py(1), width: to - from, height: this.py(0) - this.py(1), class: "gp-inside" }, this.curves);
    }

    tell() {
      const { points, name } = this.state;
      const coins = points.filter(([x]) => x <= COINS).length;
      const clear = PLACES.map((x, i) => [truth(x), this.chance[i], x]).filter(([, , x]) => x > COINS);
      const wrong = clear.filter(([t, p]) => t > 0.5 !== p > 0.5).length;
      const many = points.length === 1 ? "1 label" : `${points.length} labels`;
      const next = name === "random" ? "" : ` Largest at x = ${this.largest.toFixed(1)}: ${few(this.top)} nats.`;
      this.status.textContent = `${many}, ${coins} of them coins. Of the line beyond them, ` +
        `${Math.round((100 * wrong) / clear.length)} % on the wrong side.${next}`;
    }
  }

  start("labels", LabelsPlayground);
})();
