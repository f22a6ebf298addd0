/* A figure to operate: a reliability diagram whose bins the reader chooses, and a temperature.

   The forecasts stay. `window.gpReliability` holds the numerical functions, so that a test can compare them with the
   package. */
(function () {
  "use strict";

  const { svg, html, clamp, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const sigmoid = (f) => 1 / (1 + Math.exp(-f));
  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  /* For each prediction the number of its bin: of one width, of one size, or by lot. */
  function binned(p, bins, kind) {
    const n = p.length;
    if (kind === "lot") return p.map((_, i) => Math.floor(bins * (((i + 1) * 0.7320508075688772) % 1)));
    const rising = [...p].sort((a, b) => a - b);
    const edge = kind === "width" ? (k) => k / bins : (k) => rising[Math.floor(((n - 1) * k) / bins)];
    const edges = Array.from({ length: bins - 1 }, (_, k) => edge(k + 1));
    return p.map((value) => edges.filter((e) => value > e).length);
  }

  /* The bins that hold predictions, the expected calibration error, and what chance makes of it at most. */
  function reliability({ p, t, bins = 10, kind = "width" }) {
    const numbers = binned(p, bins, kind);
    const rows = [];
    for (let b = 0; b < bins; b += 1) {
      const inside = p.map((_, i) => i).filter((i) => numbers[i] === b);
      if (!inside.length) continue;
      const mean = (of) => total(inside.map(of)) / inside.length;
      const sd = Math.sqrt(total(inside.map((i) => p[i] * (1 - p[i])))) / inside.length;
      rows.push({ count: inside.length, confidence: mean((i) => p[i]), frequency: mean((i) => t[i]), sd });
    }
    const over = (of) => total(rows.map((row) => row.count * of(row))) / p.length;
    return { rows, error: over((row) => Math.abs(row.frequency - row.confidence)), chance: over((row) => row.sd) };
  }

  /* Forecasts without chance: golden steps for the log odds, and others for the labels, whose log odds are half of these. */
  const COUNT = 120;
  const steps = Array.from({ length: COUNT }, (_, i) => i + 1);
  const ODDS = steps.map((i) => 8 * ((i * 0.6180339887498949) % 1) - 4);
  const CAME = steps.map((i, j) => ((i * 0.4142135623730951) % 1 < sigmoid(ODDS[j] / 2) ? 1 : 0));

  function forecasts(temperature) {
    return ODDS.map((f) => sigmoid(f / temperature));
  }

  function logLoss(p) {
    return -total(p.map((value, i) => Math.log(CAME[i] ? value : 1 - value))) / COUNT;
  }

  window.gpReliability = { reliability, forecasts, logLoss, CAME };

  // ---------------------------------------------------------------- the page

  const MOST = 30;
  const UNIT = { x: [0, 1], y: [0, 1] };
  const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const START = { points: [], bins: 10, kind: "width", temperature: 1 };
  const KINDS = { width: "of equal width", size: "of equal mass", lot: "at random" };
  const TRIALS = [
    ["Twenty bins, temperature 2", { bins: 20, temperature: 2 }],
    ["Ten, temperature 2", { temperature: 2 }],
    ["At random, temperature 1", { kind: "lot" }],
    ["One bin", { bins: 1 }],
    ["Temperature 4", { temperature: 4 }],
  ];
  const SLIDERS = [
    { name: "bins", label: ["Bins"], min: 1, max: MOST, step: 1, digits: 0 },
    { name: "temperature", label: ["Temperature T"], min: 0.5, max: 5, step: 0.1, digits: 1 },
  ];

  class ReliabilityPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "frequency, by bin"], ["inside", "2 sd if the forecasts are right"], ["before", "error by chance, at most"]];
    }
    get says() { return "A reliability diagram of 120 forecasts. The controls below set the bins and the temperature."; }

    heightOf(width) { return clamp(0.7 * width, [240, 380]); }

    get range() { return UNIT; }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, TICKS, TICKS, ["said", "came"]);
    }

    controls() {
      this.root.classList.add("gp-still");
      const pair = html("div", { class: "gp-controls gp-pair" }, this.root);
      const choices = html("div", {}, pair);
      this.chooser({ name: "kind", label: "Bins", options: KINDS }, choices);
      SLIDERS.forEach((slider) => this.slider(slider, choices));
      const buttons = html("div", { class: "gp-buttons" }, choices);
      this.button("Start again", "reset", buttons, () => this.reset());
      this.curve = svg("svg", { class: "gp-curve", role: "img", viewBox: "0 0 240 150" }, pair);
    }

    add() {}

    // ------------------------------------------------------------ drawing

    paint() {
      const { bins, kind, temperature } = this.state;
      const p = forecasts(temperature);
      this.result = reliability({ p, t: CAME, bins, kind });
      this.loss = logLoss(p);
      this.curves.replaceChildren();
      svg("path", { d: `M${this.px(0)},${this.py(0)}L${this.px(1)},${this.py(1)}`, class: "gp-guide" }, this.curves);
      this.result.rows.forEach(({ confidence, sd }) => {
        const [low, high] = [clamp(confidence - 2 * sd, [0, 1]), clamp(confidence + 2 * sd, [0, 1])];
        const box = { x: this.px(confidence) - 4, width: 8, y: this.py(high), height: this.py(low) - this.py(high) };
        svg("rect", { ...box, class: "gp-inside" }, this.curves);
      });
      this.result.rows.forEach(({ confidence, frequency, count }) => {
        const r = clamp(1.5 + Math.sqrt(count), [2.5, 7]);
        svg("circle", { cx: this.px(confidence), cy: this.py(frequency), r, class: "gp-stem" }, this.curves);
      });
      this.drawCurve(p);
      this.tell();
    }

    /* The error, and what chance makes of it at most, for each number of bins. */
    drawCurve(p) {
      const { bins, kind } = this.state;
      const all = Array.from({ length: MOST }, (_, i) => reliability({ p, t: CAME, bins: i + 1, kind }));
      const sides = { left: 38, top: 10 };
      const { on } = this.inset({ x: [1, MOST], y: [0, 0.25] }, [1, 10, 20, 30], [0, 0.1, 0.2], "error by number of bins", sides);
      this.curve.setAttribute("aria-label", `The error against the number of bins: ${all[0].error.toFixed(3)} in one, ${all[MOST - 1].error.toFixed(3)} in ${MOST}.`);
      const grid = all.map((_, i) => i + 1);
      svg("path", { d: this.path(all.map((one) => one.chance), { on, grid }), class: "gp-before" }, this.curve);
      svg("path", { d: this.path(all.map((one) => one.error), { on, grid }), class: "gp-mean" }, this.curve);
      svg("circle", { cx: on.px(bins), cy: on.py(this.result.error), r: 5, class: "gp-dot" }, this.curve);
    }

    tell() {
      const { rows, error, chance } = this.result;
      const off = rows.filter((row) => Math.abs(row.frequency - row.confidence) > 2 * row.sd).length;
      this.status.textContent = `${rows.length} bin${rows.length === 1 ? "" : "s"} with forecasts, ${off} outside of two standard deviations. `
        + `Expected calibration error ${error.toFixed(3)}; for perfect forecasts at most ${chance.toFixed(3)} on average. `
        + `Log loss ${this.loss.toFixed(3)}.`;
    }
  }

  start("reliability", ReliabilityPlayground);
})();
