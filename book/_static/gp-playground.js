/* The figure that the reader operates: an exact Gaussian process posterior in one dimension.

   A few kernels, a handful of readings, nothing approximated: the same formulas as in the
   chapter (one Cholesky factor, two triangular solves), in double precision. `window.gpPlayground` holds the numerical functions, so that a test can
   compare them with the package. The script asks nothing of any other host and runs on file://. */
(function () {
  "use strict";

  // ---------------------------------------------------------------- numbers

  const PERIOD = 4;
  const CENTRE = 5; // where the straight lines have their smallest variance

  /* Correlations of two inputs; the signal's variance stands before them. */
  const KERNELS = {
    rbf: (a, b, ell) => Math.exp(-0.5 * ((a - b) / ell) ** 2),
    matern12: (a, b, ell) => Math.exp(-Math.abs(a - b) / ell),
    periodic: (a, b, ell) => Math.exp(-2 * (Math.sin((Math.PI * (a - b)) / PERIOD) / ell) ** 2),
    line: (a, b, ell) => 1 + ((a - CENTRE) * (b - CENTRE)) / (CENTRE * ell) ** 2,
  };

  function covariance({ kernel = "rbf", signal, lengthscale }) {
    return (a, b) => signal * signal * KERNELS[kernel](a, b, lengthscale);
  }

  function gram(left, right, k) {
    return left.map((a) => right.map((b) => k(a, b)));
  }

  /* The lower factor L of a symmetric positive definite matrix A = L Lᵀ. */
  function cholesky(matrix) {
    const n = matrix.length;
    const lower = matrix.map((row) => row.map(() => 0));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = matrix[i][j];
        for (let k = 0; k < j; k += 1) sum -= lower[i][k] * lower[j][k];
        if (i === j && !(sum > 0)) throw new Error("matrix is not positive definite");
        lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j];
      }
    }
    return lower;
  }

  /* v = L⁻¹ b, forward substitution. */
  function halfSolve(lower, b) {
    const v = [];
    for (let i = 0; i < b.length; i += 1) {
      let sum = b[i];
      for (let k = 0; k < i; k += 1) sum -= lower[i][k] * v[k];
      v.push(sum / lower[i][i]);
    }
    return v;
  }

  /* w = L⁻ᵀ v, back substitution. */
  function halfSolveTransposed(lower, v) {
    const n = v.length;
    const w = new Array(n).fill(0);
    for (let i = n - 1; i >= 0; i -= 1) {
      let sum = v[i];
      for (let k = i + 1; k < n; k += 1) sum -= lower[k][i] * w[k];
      w[i] = sum / lower[i][i];
    }
    return w;
  }

  function dot(a, b) {
    return a.reduce((sum, value, i) => sum + value * b[i], 0);
  }

  /* The factor of K_y, L⁻¹ y and the log evidence; noise and signal are standard deviations. */
  function evidence({ x, y, noise, ...prior }) {
    const k = covariance(prior);
    const noisy = gram(x, x, k);
    noisy.forEach((row, i) => (row[i] += noise * noise));
    const lower = cholesky(noisy);
    const half = halfSolve(lower, y);
    const logDet = 2 * lower.reduce((sum, row, i) => sum + Math.log(row[i]), 0);
    const logEvidence = -0.5 * (dot(half, half) + logDet + x.length * Math.log(2 * Math.PI));
    return { k, lower, half, logEvidence };
  }

  /* Mean, covariance of f and log evidence. */
  function posterior({ xs, ...given }) {
    const { k, lower, half, logEvidence } = evidence(given);
    const alpha = halfSolveTransposed(lower, half);
    const cross = gram(xs, given.x, k);
    const mean = cross.map((row) => dot(row, alpha));
    const explained = cross.map((row) => halfSolve(lower, row));
    const covariance = xs.map((a, i) => xs.map((b, j) => k(a, b) - dot(explained[i], explained[j])));
    const varianceF = covariance.map((row, i) => Math.max(row[i], 0));
    const varianceY = varianceF.map((v) => v + given.noise * given.noise);
    return { mean, covariance, varianceF, varianceY, alpha, logEvidence };
  }

  /* Standard normals that never change: a small generator with a fixed seed, Box and Muller. */
  function fixedNormals(count, seed) {
    let state = seed >>> 0;
    const uniform = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
    return Array.from({ length: count }, () =>
      Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
    );
  }

  /* mean + L z with L Lᵀ = covariance + jitter; the jitter moves a sample by less than a pixel. */
  function samples(mean, covariance, signal, normals) {
    const jitter = 1e-8 * signal * signal;
    const lower = cholesky(covariance.map((row, i) => row.map((v, j) => (i === j ? v + jitter : v))));
    return normals.map((z) =>
      mean.map((m, i) => m + dot(lower[i].slice(0, i + 1), z))
    );
  }

  window.gpPlayground = { posterior, evidence, samples, cholesky, fixedNormals };

  // ---------------------------------------------------------------- the page

  const DOMAIN = { x: [0, 10], y: [-3, 3] };
  const GRID = Array.from({ length: 121 }, (_, i) => i / 12);
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
    ["No readings", { points: [] }],
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
  const SVG = "http://www.w3.org/2000/svg";

  function svg(name, attributes, parent) {
    const node = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (parent) parent.appendChild(node);
    return node;
  }

  function html(name, attributes, parent, text) {
    const node = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (text) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }

  function clamp(value, [low, high]) {
    return Math.min(high, Math.max(low, value));
  }

  class Playground {
    constructor(root) {
      this.root = root;
      this.state = structuredClone(START);
      this.selected = -1;
      this.root.classList.add("gp-playground");
      this.build();
      this.width = this.plot.clientWidth || 640;
      new ResizeObserver(() => this.resize()).observe(this.plot);
      this.resize();
    }

    build() {
      this.trials();
      this.legend();
      this.plot = html("div", { class: "gp-plot" }, this.root);
      this.svg = svg("svg", {
        role: "group",
        "aria-label": "Gaussian process posterior. Each reading can be moved with the arrow keys.",
      }, this.plot);
      this.axes = svg("g", { class: "gp-axes", "aria-hidden": "true" }, this.svg);
      this.curves = svg("g", { "aria-hidden": "true" }, this.svg);
      this.marks = svg("g", {}, this.svg);
      this.controls();
      this.status = html("p", { class: "gp-status", role: "status" }, this.root);
      this.pointer();
      this.keyboard();
    }

    legend() {
      const list = html("ul", { class: "gp-legend", "aria-label": "Legend" }, this.root);
      [["mean", "posterior mean"], ["f", "f: 2 sd"], ["y", "y: 2 sd"], ["sample", "samples of f"], ["point", "readings"]]
        .forEach(([kind, text]) => {
          const item = html("li", {}, list);
          html("span", { class: `gp-swatch gp-swatch-${kind}`, "aria-hidden": "true" }, item);
          item.appendChild(document.createTextNode(text));
        });
    }

    trials() {
      const row = html("div", { class: "gp-buttons gp-trials", role: "group", "aria-label": "Things to try" }, this.root);
      html("span", { "aria-hidden": "true" }, row, "Try:");
      TRIALS.forEach(([name, changes], i) => this.button(name, `try-${i + 1}`, row, () => this.become(changes)));
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      const pair = html("div", { class: "gp-pair" }, box);
      const sliders = html("div", {}, pair);
      this.chooser(sliders);
      SLIDERS.forEach((slider) => this.slider(slider, sliders));
      this.curve = svg("svg", { class: "gp-curve", role: "img" }, pair);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Add a reading", "add", buttons, () => this.addWhereWidest());
      this.button("Remove the selected reading", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
      const label = html("label", { class: "gp-check" }, buttons);
      this.showSamples = html("input", { type: "checkbox", checked: "" }, label);
      label.appendChild(document.createTextNode(" samples"));
      this.showSamples.addEventListener("change", () => this.draw());
    }

    chooser(parent) {
      const row = html("label", { class: "gp-slider" }, parent);
      html("span", {}, row, "Kernel");
      const select = html("select", { "data-name": "kernel" }, row);
      Object.entries(NAMES).forEach(([value, name]) => html("option", { value }, select, name));
      select.addEventListener("change", () => {
        this.state.kernel = select.value;
        this.draw();
      });
    }

    slider({ name, label, min, max, step }, parent) {
      const row = html("label", { class: "gp-slider" }, parent);
      const words = html("span", {}, row);
      label.forEach((part, i) => html(i === 1 ? "sub" : "span", {}, words, part));
      const input = html("input", { type: "range", min, max, step, "data-name": name }, row);
      html("output", {}, row);
      input.dataset.spoken = label[0].split(" ")[0].toLowerCase();
      this.show(input);
      input.addEventListener("input", () => {
        this.state[name] = Number(input.value);
        this.show(input);
        this.draw();
      });
    }

    button(text, action, parent, handler) {
      const node = html("button", { type: "button", "data-action": action }, parent, text);
      node.addEventListener("click", handler);
      return node;
    }

    /* A slider takes its value from the state, in figures and in words. */
    show(input) {
      input.value = this.state[input.dataset.name];
      const value = Number(input.value).toFixed(2);
      input.nextElementSibling.textContent = value;
      input.setAttribute("aria-valuetext", `${input.dataset.spoken} ${value}`);
    }

    /* The start with some of it changed. */
    become(changes) {
      this.state = structuredClone({ ...START, ...changes });
      this.selected = -1;
      this.root.querySelectorAll("input[type=range]").forEach((input) => this.show(input));
      this.root.querySelector("select").value = this.state.kernel;
      this.draw();
    }

    reset() {
      this.become({});
    }

    // ------------------------------------------------------------ points

    add(x, y) {
      this.state.points.push([clamp(x, DOMAIN.x), clamp(y, DOMAIN.y)]);
      this.select(this.state.points.length - 1);
    }

    addWhereWidest() {
      const { varianceF, mean } = this.result;
      const widest = varianceF.indexOf(Math.max(...varianceF));
      this.add(GRID[widest], mean[widest]);
    }

    move(index, x, y) {
      this.state.points[index] = [clamp(x, DOMAIN.x), clamp(y, DOMAIN.y)];
      this.draw();
    }

    remove(index) {
      if (index < 0 || index >= this.state.points.length) return;
      this.state.points.splice(index, 1);
      this.select(Math.min(index, this.state.points.length - 1));
    }

    select(index) {
      this.selected = index;
      this.draw();
      if (index >= 0) this.marks.children[index].focus();
    }

    // ------------------------------------------------------------ input

    data(event) {
      const box = this.svg.getBoundingClientRect();
      return [this.invertX(event.clientX - box.left), this.invertY(event.clientY - box.top)];
    }

    /* A reading is dragged from where it was pressed; a click beside the readings adds one. A swipe
       of a finger is no click: it scrolls the page, and the browser takes the pointer back. */
    pointer() {
      let dragged = -1;
      this.svg.addEventListener("pointerdown", (event) => {
        const point = event.target.closest(".gp-point");
        if (event.button !== 0 || !point) return;
        event.preventDefault();
        dragged = [...this.marks.children].indexOf(point);
        this.select(dragged);
        point.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (dragged >= 0) this.move(dragged, ...this.data(event));
      });
      const stop = () => (dragged = -1);
      this.svg.addEventListener("pointerup", stop);
      this.svg.addEventListener("pointercancel", stop);
      this.svg.addEventListener("click", (event) => {
        if (!event.target.closest(".gp-point")) this.add(...this.data(event));
      });
      this.svg.addEventListener("dblclick", (event) => {
        if (event.target.closest(".gp-point")) this.remove(this.selected);
      });
    }

    keyboard() {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      this.marks.addEventListener("keydown", (event) => {
        const index = [...this.marks.children].indexOf(event.target);
        if (event.key in steps) {
          const size = event.shiftKey ? 0.5 : 0.1;
          const [x, y] = this.state.points[index];
          const [dx, dy] = steps[event.key];
          this.move(index, x + size * dx, y + size * dy);
        } else if (event.key === "Delete" || event.key === "Backspace") this.remove(index);
        else return;
        event.preventDefault();
      });
      this.marks.addEventListener("focusin", (event) => {
        this.selected = [...this.marks.children].indexOf(event.target);
        this.mark();
      });
    }

    // ------------------------------------------------------------ drawing

    resize() {
      this.width = Math.max(this.plot.clientWidth, 240);
      this.height = Math.round(clamp(0.5 * this.width, [230, 340]));
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.svg.setAttribute("width", this.width);
      this.svg.setAttribute("height", this.height);
      this.scales();
      this.drawAxes();
      this.draw();
    }

    scales() {
      const inner = { left: 50, right: this.width - 18, top: 8, bottom: this.height - 42 };
      const sx = (inner.right - inner.left) / (DOMAIN.x[1] - DOMAIN.x[0]);
      const sy = (inner.bottom - inner.top) / (DOMAIN.y[1] - DOMAIN.y[0]);
      this.px = (x) => inner.left + sx * (x - DOMAIN.x[0]);
      this.py = (y) => inner.bottom - sy * (clamp(y, [-9, 9]) - DOMAIN.y[0]);
      this.invertX = (p) => (p - inner.left) / sx + DOMAIN.x[0];
      this.invertY = (p) => (inner.bottom - p) / sy + DOMAIN.y[0];
    }

    drawAxes() {
      this.axes.replaceChildren();
      const [left, bottom] = [this.px(DOMAIN.x[0]), this.py(DOMAIN.y[0])];
      svg("path", { d: `M${left},8V${bottom}H${this.px(DOMAIN.x[1])}`, class: "gp-spine" }, this.axes);
      for (let x = 0; x <= 10; x += 2) {
        svg("text", { x: this.px(x), y: bottom + 16, "text-anchor": "middle" }, this.axes).textContent = x;
      }
      for (let y = -3; y <= 3; y += 1) {
        const text = svg("text", { x: left - 7, y: this.py(y) + 4, "text-anchor": "end" }, this.axes);
        text.textContent = y < 0 ? `\u2212${-y}` : y;
      }
      const [middle, centre] = [this.px(5), this.py(0)];
      svg("text", { x: middle, y: bottom + 34, "text-anchor": "middle", class: "gp-label" }, this.axes).textContent = "x";
      const up = svg("text", { x: 14, y: centre, "text-anchor": "middle", class: "gp-label" }, this.axes);
      up.setAttribute("transform", `rotate(-90 14 ${centre})`);
      up.textContent = "f(x)";
    }

    path(values) {
      return values.map((v, i) => `${i ? "L" : "M"}${this.px(GRID[i]).toFixed(2)},${this.py(v).toFixed(2)}`).join("");
    }

    band(mean, variance, name) {
      const sd = variance.map(Math.sqrt);
      const upper = this.path(mean.map((m, i) => m + 2 * sd[i]));
      const lower = mean.map((m, i) => [GRID[i], m - 2 * sd[i]]).reverse();
      const back = lower.map(([x, y]) => `L${this.px(x).toFixed(2)},${this.py(y).toFixed(2)}`).join("");
      svg("path", { d: `${upper}${back}Z`, class: `gp-band gp-band-${name}` }, this.curves);
    }

    draw() {
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

    /* Points are re-used, not rebuilt, so that the focus stays on the point being moved. */
    drawPoints() {
      const { points } = this.state;
      while (this.marks.children.length > points.length) this.marks.lastChild.remove();
      while (this.marks.children.length < points.length) {
        const group = svg("g", { class: "gp-point", tabindex: "0", role: "button" }, this.marks);
        svg("circle", { r: 14, class: "gp-target" }, group);
        svg("circle", { r: 5, class: "gp-dot" }, group);
      }
      points.forEach(([x, y], i) => {
        const group = this.marks.children[i];
        group.setAttribute("transform", `translate(${this.px(x)},${this.py(y)})`);
        group.setAttribute("aria-label",
          `Reading ${i + 1} of ${points.length}: x = ${x.toFixed(1)}, y = ${y.toFixed(1)}. Arrow keys move it, Delete removes it.`);
      });
      this.mark();
    }

    mark() {
      [...this.marks.children].forEach((node, i) => node.classList.toggle("gp-selected", i === this.selected));
      const button = this.root.querySelector("[data-action=remove]");
      if (button) button.disabled = this.selected < 0;
    }

    tell() {
      const { varianceF, logEvidence } = this.result;
      const n = this.state.points.length;
      const widest = varianceF.indexOf(Math.max(...varianceF));
      const sd = Math.sqrt(varianceF[widest]).toFixed(2);
      const evidence = logEvidence.toFixed(1).replace("-", "\u2212");
      this.status.textContent = n === 0
        ? "No readings: this is the prior."
        : `${n} reading${n > 1 ? "s" : ""}. Log evidence ${evidence}; it is largest at the lengthscale ${this.best.toFixed(1)}. The band of f is widest at x = ${GRID[widest].toFixed(1)}, where one sd is ${sd}.`;
    }
  }

  /* Take the place of the static picture, above its caption. */
  function settle(root) {
    const figure = document.getElementById(root.dataset.gpPlayground);
    if (!figure) return;
    [...figure.children].forEach((child) => {
      if (child.localName !== "figcaption") child.hidden = true;
    });
    figure.prepend(root);
    figure.classList.add("gp-operated");
  }

  function start() {
    document.querySelectorAll("[data-gp-playground]").forEach((root) => {
      settle(root);
      root.playground = new Playground(root);
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
