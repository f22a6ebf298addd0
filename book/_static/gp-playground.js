/* The figure that the reader operates: an exact Gaussian process posterior in one dimension.

   A few kernels, a handful of readings, nothing approximated. */
(function () {
  "use strict";

  const { PERIOD, evidence, posterior, samples, fixedNormals } = window.gpNumbers;
  const { GRID, svg, html, OperatedFigure, start } = window.gpFigure;
  const NORMALS = [11, 23, 37].map((seed) => fixedNormals(GRID.length, seed));
  const START = {
    points: [[1, -0.9], [2.2, 0.4], [3.1, 1.2], [5.6, -0.3], [8.4, 0.8]],
    lengthscale: 1,
    noise: 0.3,
    signal: 1,
    kernel: "rbf",
  };
  const NAMES = {
    rbf: "squared exponential",
    matern12: "Mat\u00e9rn 1/2",
    periodic: `periodic, period ${PERIOD}`,
    line: "straight line",
  };
  /* Things to try: what each button changes of the start. */
  const TRIALS = [
    ["No observations", { points: [] }],
    ["A short lengthscale", { lengthscale: 0.3 }],
    ["Much noise", { noise: 0.9 }],
    ["A surprise", { points: START.points.map(([x, y]) => (x === 5.6 ? [x, 2.6] : [x, y])) }],
    ["A kernel that repeats", { kernel: "periodic" }],
  ];
  const LENGTHS = Array.from({ length: 61 }, (_, i) => 0.2 * 20 ** (i / 60));
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.2, max: 4, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.02, max: 1, step: 0.02 },
    { name: "signal", label: ["Signal \u03c3", "f"], min: 0.2, max: 3, step: 0.05 },
  ];

  class Playground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior mean"], ["f", "f: 2 sd"], ["y", "y: 2 sd"], ["sample", "samples of f"], ["point", "observations"]];
    }
    get says() { return "Gaussian process posterior. Each observation can be moved with the arrow keys."; }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const sliders = html("div", {}, pair);
      this.chooser({ name: "kernel", label: "Kernel", options: NAMES }, sliders);
      SLIDERS.forEach((slider) => this.slider(slider, sliders));
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Add an observation", "add", buttons, () => this.addWhereWidest());
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
      const label = html("label", { class: "gp-check" }, buttons);
      this.showSamples = html("input", { type: "checkbox", checked: "" }, label);
      label.appendChild(document.createTextNode(" samples"));
      this.showSamples.addEventListener("change", () => this.draw());
    }

    addWhereWidest() {
      const { varianceF, mean } = this.result;
      const widest = varianceF.indexOf(Math.max(...varianceF));
      this.add(GRID[widest], mean[widest]);
    }

    paint() {
      const { points, ...prior } = this.state;
      const given = { x: points.map((p) => p[0]), y: points.map((p) => p[1]), ...prior };
      const result = (this.result = posterior({ xs: GRID, ...given }));
      this.root.classList.toggle("gp-prior", points.length === 0);
      this.curves.replaceChildren();
      this.band(result.mean, result.varianceY, "y");
      this.band(result.mean, result.varianceF, "f");
      if (this.showSamples.checked) {
        samples(result.mean, result.covariance, prior.signal, NORMALS)
          .forEach((values) => svg("path", { d: this.path(values), class: "gp-sample" }, this.curves));
      }
      svg("path", { d: this.path(result.mean), class: "gp-mean" }, this.curves);
      this.drawPoints();
      this.drawCurve(given);
      this.tell();
    }

    /* The log evidence against the lengthscale, all else as it is, and where the slider stands. */
    drawCurve(given) {
      const [width, height] = [240, 150];
      const box = { left: 38, right: width - 8, top: 10, bottom: height - 34 };
      const values = LENGTHS.map((lengthscale) => evidence({ ...given, lengthscale }).logEvidence);
      this.best = LENGTHS[values.indexOf(Math.max(...values))];
      const top = Math.max(...values);
      const low = Math.max(Math.min(...values, top - 1), top - 12);
      const cx = (ell) => box.left + ((box.right - box.left) * Math.log(ell / 0.2)) / Math.log(20);
      const cy = (v) => box.bottom - ((box.bottom - box.top) * (Math.max(v, low) - low)) / (top - low);
      const here = [cx(given.lengthscale), cy(this.result.logEvidence)];
      this.curve.replaceChildren();
      this.curve.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.curve.setAttribute("aria-label", `Log evidence against the lengthscale; it is largest at ${this.best.toFixed(1)}.`);
      svg("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}`, class: "gp-spine" }, this.curve);
      const at = (x, y, text, anchor = "middle") =>
        (svg("text", { x, y, "text-anchor": anchor }, this.curve).textContent = text);
      [0.2, 0.5, 1, 2, 4].forEach((ell) => at(cx(ell), box.bottom + 15, ell));
      [low, top].forEach((v) => at(box.left - 5, cy(v) + 4, v.toFixed(0).replace("-", "\u2212"), "end"));
      at((box.left + box.right) / 2, height - 4, "log evidence against \u2113");
      const d = values.map((v, i) => `${i ? "L" : "M"}${cx(LENGTHS[i]).toFixed(1)},${cy(v).toFixed(1)}`).join("");
      svg("path", { d, class: "gp-mean" }, this.curve);
      svg("circle", { cx: here[0], cy: here[1], r: 5, class: "gp-dot" }, this.curve);
    }

    tell() {
      const { varianceF, logEvidence } = this.result;
      const n = this.state.points.length;
      const widest = varianceF.indexOf(Math.max(...varianceF));
      const sd = Math.sqrt(varianceF[widest]).toFixed(2);
      const evidence = logEvidence.toFixed(1).replace("-", "\u2212");
      this.status.textContent = n === 0
        ? "No observations: this is the prior."
        : `${n} observation${n > 1 ? "s" : ""}. Log evidence ${evidence}; it is largest at the lengthscale ${this.best.toFixed(1)}. The band of f is widest at x = ${GRID[widest].toFixed(1)}, where one sd is ${sd}.`;
    }
  }

  start("exact", Playground);
})();
