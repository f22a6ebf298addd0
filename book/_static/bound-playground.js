/* A figure to operate: one count, its posterior, and a normal density q whose top the reader drags.

   `window.gpBound` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { svg, html, clamp, said, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const ROUND = Math.sqrt(2 * Math.PI);
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const normal = (f, mean, sd) => window.gpNumbers.density((f - mean) / sd) / sd;
  const logFactorial = (y) => total(Array.from({ length: y }, (_, i) => Math.log(i + 1)));
  const joint = (y, f) => Math.exp(y * f - Math.exp(f) - logFactorial(y)) * normal(f, 0, 1);

  /* The log evidence of a count with the rate exp(f), f ~ N(0, 1): a sum of equal steps. */
  function evidence(y) {
    const h = 0.01;
    return Math.log(h * total(Array.from({ length: 1801 }, (_, i) => joint(y, -10 + h * i))));
  }

  /* The evidence lower bound of N(mean, v). */
  function bound(y, mean, v) {
    return y * mean - Math.exp(mean + v / 2) - logFactorial(y) - 0.5 * (v + mean * mean - 1 - Math.log(v));
  }

  /* A natural-gradient step of length one, and a step of the iteration that does not arrive. */
  function natural(y, mean, v) {
    const rate = Math.exp(mean + v / 2);
    return [(y - rate + rate * mean) / (1 + rate), 1 / (1 + rate)];
  }

  function around(y, mean, v) {
    const rate = Math.exp(mean + v / 2);
    return [y - rate, 1 / (1 + rate)];
  }

  function best(y) {
    let q = [Math.log(y + 0.5), 1 / (1.5 + y)];
    for (let i = 0; i < 200; i += 1) q = natural(y, ...q);
    return q;
  }

  window.gpBound = { evidence, bound, natural, around, best };

  // ---------------------------------------------------------------- the page

  const RANGE = { x: [-2.5, 4], y: [0, 1.5] };
  const SDS = [0.3, 2]; // of q, from its highest top to its lowest
  const FINE = Array.from({ length: 326 }, (_, i) => -2.5 + i / 50);
  const START = { points: [[1.6, 0.8]], count: 4 };
  const high = (sd) => 1 / (sd * ROUND);
  const top = ([mean, v]) => [mean, high(Math.sqrt(v))];
  const TRIALS = [
    ["The best q", { points: [top(best(4))] }],
    ["The prior for q", { points: [top([0, 1])] }],
    ["Right, but too sure", { points: [[1, high(SDS[0])]] }],
    ["No count at all", { count: 0 }],
  ];

  class BoundPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get range() { return RANGE; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["exact", "posterior"], ["mean", "q"], ["truth", "best q"], ["before", "prior"], ["point", "top of q"]];
    }
    get says() { return "The posterior of one count, and a normal density q. The arrow keys move its top."; }

    placed(x, y) {
      return [clamp(x, RANGE.x), clamp(y, [high(SDS[1]), high(SDS[0])])];
    }

    describe(i, x, y) {
      return `Top of q: mean ${said(x)}, standard deviation ${said(1 / (y * ROUND))}. Arrow keys move it.`;
    }

    /* Mean and variance of q. */
    get q() {
      const [mean, height] = this.placed(...this.state.points[0]);
      return [mean, 1 / (height * ROUND) ** 2];
    }

    add(x, y) { this.move(0, x, y); }

    remove() {}

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const left = html("div", {}, pair);
      this.slider({ name: "count", label: ["Count y"], min: 0, max: 10, step: 1, digits: 0 }, left);
      const buttons = html("div", { class: "gp-buttons" }, left);
      const step = (by) => () => this.move(0, ...top(by(this.state.count, ...this.q)));
      this.button("A natural step", "natural", buttons, step(natural));
      this.button("A fixed-point step", "around", buttons, step(around));
      const walk = () => {
        const before = this.address;
        step(natural)();
        return this.address !== before;
      };
      this.player(buttons, walk);
      this.button("Start again", "reset", buttons, () => this.reset());
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, ticks(RANGE.x), [0, 0.5, 1, 1.5], ["f", "density"]);
    }

    paint() {
      const y = this.state.count;
      this.result = { evidence: evidence(y), bound: bound(y, ...this.q) };
      this.curves.replaceChildren();
      const inside = this.clipped(this);
      const line = (of, name) => svg("path", { d: this.path(FINE.map(of), { grid: FINE }), class: name }, inside);
      const [[mean, v], [mode, least]] = [this.q, best(y)];
      line((f) => normal(f, 0, 1), "gp-before");
      line((f) => normal(f, mode, Math.sqrt(least)), "gp-truth");
      line((f) => joint(y, f) / Math.exp(this.result.evidence), "gp-exact");
      line((f) => normal(f, mean, Math.sqrt(v)), "gp-mean");
      this.drawPoints();
      this.drawCurve();
      this.tell();
    }

    /* The bound by the mean of q, its sd as it is; up to the log evidence the divergence. */
    drawCurve() {
      const [mean, v] = this.q;
      const { evidence: whole, bound: here } = this.result;
      const y = [whole - 4, whole + 0.4];
      const { on } = this.inset({ x: [-1, 3], y }, [-1, 0, 1, 2, 3], ticks(y, 4), "bound, by the mean of q");
      this.curve.setAttribute("aria-label", `By the mean of q: the bound is ${said(here)} at ${said(mean)}, and the log evidence ${said(whole)}.`);
      const means = Array.from({ length: 161 }, (_, i) => -1 + i / 40);
      const of = (m) => bound(this.state.count, m, v);
      const under = this.path(means.map((m) => clamp(of(m), y)), { on, grid: means });
      const shown = means.filter((m) => of(m) >= y[0]); // one arch, as the bound is concave
      const arch = this.path(shown.map(of), { on, grid: shown });
      svg("path", { d: `${under}L${on.right},${on.py(whole)}L${on.left},${on.py(whole)}Z`, class: "gp-band gp-band-f" }, this.curve);
      if (arch) svg("path", { d: arch, class: "gp-mean" }, this.curve);
      svg("path", { d: `M${on.left},${on.py(whole)}H${on.right}`, class: "gp-exact" }, this.curve);
      if (mean >= -1 && mean <= 3 && here >= y[0]) svg("circle", { cx: on.px(mean), cy: on.py(here), r: 4, class: "gp-dot" }, this.curve);
    }

    tell() {
      const { evidence: whole, bound: here } = this.result;
      const [mean, v] = this.q;
      const rest = Number(whole.toFixed(2)) - Number(here.toFixed(2)); // as shown, they add up
      this.status.textContent = `q has the mean ${said(mean)} and the sd ${said(Math.sqrt(v))}. Its bound is ${said(here)} nats, `
        + `and its divergence from the posterior ${said(rest)}: together ${said(whole)}, the log evidence, wherever q is.`;
    }
  }

  start("bound", BoundPlayground);
})();
