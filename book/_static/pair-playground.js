/* A figure to operate: two jointly normal numbers, and what one of them says about the other.

   `window.gpPair` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { svg, html, clamp, frame, said, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  /* Mean and standard deviation of b given a, both with mean zero before, and their mutual information in nats. */
  function told({ rho, sa, sb, a }) {
    return { mean: (rho * sb * a) / sa, sd: sb * Math.sqrt(1 - rho * rho), nats: -0.5 * Math.log1p(-rho * rho) };
  }

  /* So many standard deviations from the mean, all around: T (cos, sin) with T Tᵀ the covariance. */
  function contour({ rho, sa, sb }, reach, count = 120) {
    return Array.from({ length: count }, (_, i) => (2 * Math.PI * i) / count).map((t) => {
      const [u, v] = [reach * Math.cos(t), reach * Math.sin(t)];
      return [sa * u, sb * (rho * u + Math.sqrt(1 - rho * rho) * v)];
    });
  }

  const density = (v, mean, sd) => Math.exp(-0.5 * ((v - mean) / sd) ** 2) / (sd * Math.sqrt(2 * Math.PI));

  window.gpPair = { told, contour, density };

  // ---------------------------------------------------------------- the page

  const REACH = [-4, 4];
  const ALONG = Array.from({ length: 401 }, (_, i) => (i - 200) / 50);
  const SIZES = Array.from({ length: 100 }, (_, i) => i / 100);
  const MOST = 2.2; // of the curves by correlation
  const START = { points: [], rho: 0.8, sa: 1, sb: 1, a: 1.5 };
  const TRIALS = [
    ["No correlation", { rho: 0 }],
    ["A surprise", { a: 3 }],
    ["Half the sd left", { rho: Math.sqrt(3) / 2 }],
    ["Opposite ways", { rho: -0.8 }],
    ["A wide a", { sa: 2 }],
    ["Nearly the same number", { rho: 0.99 }],
  ];
  const SLIDERS = [
    { name: "rho", label: ["Correlation \u03c1"], min: -0.99, max: 0.99, step: 0.01 },
    { name: "sa", label: ["Sd \u03c3", "a"], min: 0.4, max: 2, step: 0.05 },
    { name: "sb", label: ["Sd \u03c3", "b"], min: 0.4, max: 2, step: 0.05 },
    { name: "a", label: ["Observed: a"], min: REACH[0], max: REACH[1], step: 0.05 },
  ];

  class PairPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["contour", "a and b: 1 and 2 sd"], ["mean", "b given a: mean, density"], ["f", "b: 2 sd"],
        ["before", "b before: density"], ["truth", "as many sd as a"], ["point", "the observed a"]];
    }
    get says() { return "Two normal numbers, and the density of the second given the first. The arrow keys change the first."; }

    heightOf(width) { return clamp(0.44 * width, [230, 330]); }

    scales() {
      const side = Math.min(this.height - 50, this.width - 148); // of a square that leaves room beside it
      const [top, bottom, right] = [8, 8 + side, 50 + side];
      Object.assign(this, frame({ left: 50, right, top, bottom }, { x: REACH, y: REACH }));
      this.beside = { left: right + 24, right: this.width - 14, top, bottom };
    }

    drawAxes() {} // with the curves: the densities fit their panel

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const sliders = html("div", {}, pair);
      SLIDERS.forEach((slider) => this.slider(slider, sliders));
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    worded(value) { return said(value); }

    // ------------------------------------------------------------ the observed number

    /* Along a alone: where b is then expected is no choice. */
    move(index, a) {
      this.state.a = Math.round(20 * clamp(a, REACH)) / 20;
      this.show(this.root.querySelector("[data-name=a]"));
      this.draw();
    }

    add(a) {
      if (a > REACH[1] + 0.2 || a < REACH[0] - 0.2) return; // beside the panel
      this.move(0, a);
      this.select(0);
    }

    remove() {}

    describe() {
      return `Observed: a = ${said(this.state.a)}. Left and right arrow keys change it.`;
    }

    // ------------------------------------------------------------ drawing

    paint() {
      this.result = told(this.state);
      this.state.points = [[this.state.a, this.result.mean]];
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.drawJoint();
      this.drawDensities();
      this.drawPoints();
      this.drawCurve();
      this.tell();
    }

    drawJoint() {
      const { rho, sa, sb, a } = this.state;
      this.spines(this, [-4, -2, 0, 2, 4], [-4, -2, 0, 2, 4], ["a", "b"]);
      const parent = this.clipped(this);
      const means = ALONG.map((v) => told({ rho, sa, sb, a: v }).mean);
      this.band(means, ALONG.map(() => this.result.sd ** 2), "f", { grid: ALONG, parent });
      const d = [1, 2].map((reach) => `M${contour(this.state, reach).map(([x, y]) => `${this.px(x).toFixed(2)},${this.py(y).toFixed(2)}`).join("L")}Z`);
      svg("path", { d: d.join(""), class: "gp-ellipse" }, parent);
      const even = ALONG.map((v) => ((Math.sign(rho) || 1) * sb * v) / sa);
      svg("path", { d: this.path(even, { grid: ALONG }), class: "gp-truth" }, parent);
      svg("path", { d: this.path(means, { grid: ALONG }), class: "gp-mean" }, parent);
      svg("path", { d: `M${this.px(a)},${this.top}V${this.bottom}`, class: "gp-guide" }, parent);
      svg("path", { d: `M${this.px(a)},${this.py(this.result.mean)}H${this.beside.right}`, class: "gp-guide" }, this.curves);
    }

    /* Sideways, on the axis of b that the panel beside it has. */
    drawDensities() {
      const { mean, sd } = this.result;
      const most = 1.08 * density(0, 0, Math.min(sd, this.state.sb));
      const on = frame(this.beside, { x: [0, most], y: REACH });
      this.spines(on, ticks([0, most], Math.max(2, Math.round((on.right - on.left) / 60))), [], ["density of b", ""]);
      const parent = this.clipped(on);
      [["gp-before", 0, this.state.sb], ["gp-mean", mean, sd]].forEach(([name, ...by]) => {
        const fine = Array.from({ length: 241 }, (_, i) => by[0] + (by[1] * (i - 120)) / 20);
        const d = fine.map((v, i) => `${i ? "L" : "M"}${on.px(density(v, ...by)).toFixed(2)},${on.py(v).toFixed(2)}`).join("");
        svg("path", { d, class: name }, parent);
      });
    }

    /* By the size of the correlation: the share of the deviation that is left, and the nats. */
    drawCurve() {
      const size = Math.abs(this.state.rho);
      const { on, write } = this.inset({ x: [0, 1], y: [0, MOST] }, [0, 0.5, 1], [0, 1, 2], "by the size of \u03c1");
      const left = (r) => told({ rho: r, sa: 1, sb: 1, a: 0 }).sd;
      const nats = (r) => told({ rho: r, sa: 1, sb: 1, a: 0 }).nats;
      this.curve.setAttribute("aria-label", `By the size of the correlation: ${said(left(size))} of the standard deviation is left at ${said(size)}, and the mutual information is ${said(nats(size))} nats.`);
      write(on.px(0.04), on.py(1) - 6, "share left", "start");
      write(on.px(0.93), on.py(1.6), "nats", "end");
      svg("path", { d: this.path(SIZES.map(left), { on, grid: SIZES }), class: "gp-mean" }, this.curve);
      svg("path", { d: this.path(SIZES.map(nats), { on, grid: SIZES }), class: "gp-exact" }, this.curve);
      [left, nats].forEach((of) => svg("circle", { cx: on.px(size), cy: on.py(of(size)), r: 4, class: "gp-dot" }, this.curve));
    }

    tell() {
      const { a, sa, sb } = this.state;
      const { mean, sd, nats } = this.result;
      this.status.textContent = `We observe a = ${said(a)}, ${said(a / sa)} sd from its mean: b is expected at ${said(mean)}, ${said(mean / sb)} sd from its own. `
        + `Its sd is now ${said(sd)}; it was ${said(sb)}. Whatever a is, it says ${said(nats)} nats about b.`;
    }
  }

  start("pair", PairPlayground);
})();
