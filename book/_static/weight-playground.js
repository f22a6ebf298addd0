/* A figure to operate: lines as points of a plane. One reading after another makes the posterior of
   intercept and slope narrower; beside it are the lines that it believes in.

   `window.gpWeights` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { fixedNormals } = window.gpNumbers;
  const { svg, html, clamp, frame, minus, said, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const sum = (values) => values.reduce((all, value) => all + value, 0);
  const logNormal = (y, mean, variance) => -0.5 * ((y - mean) ** 2 / variance + Math.log(2 * Math.PI * variance));

  /* Mean and variance of the line at x. Weights are intercept and slope, with covariances aa, ab, bb. */
  function predict({ mean: [a, b], cov: [aa, ab, bb] }, x) {
    return { mean: a + b * x, variance: aa + 2 * x * ab + x * x * bb };
  }

  /* The belief after one more reading: recursive least squares, with the log evidence so far. */
  function observe(belief, [x, y], noise) {
    const { mean, variance } = predict(belief, x);
    const [aa, ab, bb] = belief.cov;
    const total = variance + noise * noise;
    const shared = [aa + ab * x, ab + bb * x]; // covariances of the weights with the line at x
    const [g, h] = shared.map((one) => one / total);
    return {
      mean: [belief.mean[0] + g * (y - mean), belief.mean[1] + h * (y - mean)],
      cov: [aa - g * shared[0], ab - g * shared[1], bb - h * shared[1]],
      logEvidence: belief.logEvidence + logNormal(y, mean, total),
    };
  }

  /* The prior, and what is believed after each of the readings. */
  function learn({ readings, prior, noise }) {
    const before = { mean: [0, 0], cov: [prior * prior, 0, prior * prior], logEvidence: 0 };
    return readings.reduce((all, one) => [...all, observe(all.at(-1), one, noise)], [before]);
  }

  /* A line by its two deviations from the mean: T z with T Tᵀ the covariance. */
  function drawn({ mean: [a, b], cov: [aa, ab, bb] }, [u, v]) {
    const root = Math.sqrt(aa);
    return [a + root * u, b + (ab / root) * u + Math.sqrt(bb - (ab * ab) / aa) * v];
  }

  /* The curve that encloses so much of the probability. */
  function contour(belief, mass, count = 120) {
    const reach = Math.sqrt(-2 * Math.log(1 - mass));
    const angles = Array.from({ length: count }, (_, i) => (2 * Math.PI * i) / count);
    return angles.map((t) => drawn(belief, [reach * Math.cos(t), reach * Math.sin(t)]));
  }

  function logPrior([a, b], prior) {
    return logNormal(a, 0, prior * prior) + logNormal(b, 0, prior * prior);
  }

  function logLikelihood([a, b], readings, noise) {
    return sum(readings.map(([x, y]) => logNormal(y, a + b * x, noise * noise)));
  }

  window.gpWeights = { learn, predict, drawn, contour, logPrior, logLikelihood };

  // ---------------------------------------------------------------- the page

  const ROOM = { x: [-1.5, 3], y: [-4, 8] };
  const WEIGHTS = { x: [-3, 4], y: [-3, 4] }; // slope to the right, intercept up
  const XS = Array.from({ length: 46 }, (_, i) => i / 10 - 1.5);
  const SLOPES = Array.from({ length: 71 }, (_, i) => i / 10 - 3);
  const MOST = 12;
  const DRAWS = Array.from({ length: 12 }, (_, i) => fixedNormals(2, 71 + i));
  const START = { points: [], readings: [[0, 1], [1, 3]], line: [2, 1], used: 2, prior: 1, noise: 1 };
  const TWELVE = [1.9, -0.6, 2.7, 0.4, -1.2, 1.3, 2.3, -0.1, 0.9, -0.9, 1.6, 2.9].map((x, i) => [
    x, Math.round(10 * (0.5 + 1.5 * x + [0.3, -0.5, 0.2, 0.7, -0.2, -0.8, 0.4, 0.1, -0.4, 0.6, -0.1, -0.3][i])) / 10,
  ]);
  const TRIALS = [
    ["Before any observation", { used: 0 }],
    ["One observation", { used: 1 }],
    ["Little noise", { noise: 0.2 }],
    ["A narrow prior", { prior: 0.3 }],
    ["Two at one place", { readings: [[1, 1], [1, 3]] }],
    ["Twelve observations", { readings: TWELVE, used: 12, noise: 0.5 }],
  ];
  const SLIDERS = [
    { name: "used", label: ["Observations used"], min: 0, max: START.used, step: 1, digits: 0 },
    { name: "prior", label: ["Prior sd \u03c3", "w"], min: 0.1, max: 3, step: 0.1, digits: 1 },
    { name: "noise", label: ["Noise sd \u03c3", "n"], min: 0.1, max: 3, step: 0.1, digits: 1 },
  ];
  const rounded = (value) => Math.round(100 * value) / 100;

  class WeightPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get range() { return ROOM; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior: 50 and 95 %, mean line"], ["sample", "its draws"], ["f", "f: 2 sd"], ["y", "y: 2 sd"],
        ["before", "prior: 95 %"], ["strip", "within 1 sd of an observation"], ["rival", "your line"], ["point", "your line, observations"]];
    }
    get says() { return "A plane in which each point is a line, and the lines with their observations. The arrow keys move a line or an observation."; }

    // ------------------------------------------------------------ two panels

    get narrow() { return this.width < 520; }

    heightOf(width) { return width < 520 ? 392 : clamp(0.46 * width, [250, 330]); }

    /* Side by side, or one above the other. */
    scales() {
      const [top, bottom, right] = [8, this.height - 42, this.width - 14];
      const [one, other] = this.narrow
        ? [{ left: 48, right, top, bottom: 158 }, { left: 48, right, top: 204, bottom }]
        : [{ left: 48, right: 0.46 * this.width, top, bottom }, { left: 0.46 * this.width + 54, right, top, bottom }];
      this.plane = frame(one, WEIGHTS);
      Object.assign(this, frame(other, ROOM));
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this.plane, [-2, 0, 2, 4], [-2, 0, 2, 4], ["slope w\u2082", "intercept w\u2081"]);
      this.spines(this, [-1, 0, 1, 2, 3], [-4, 0, 4, 8], ["x", "f and y"]);
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Add an observation", "add", buttons, () => this.addFarthest());
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    // ------------------------------------------------------------ the line, and the readings

    /* The first point is the line, a point of the plane of weights; the others are readings. */
    placed(x, y, { x: across, y: up } = ROOM) {
      return [rounded(clamp(x, across)), rounded(clamp(y, up))];
    }

    taken(name, value) {
      if (name === "readings") return value.slice(0, MOST).map(([x, y]) => this.placed(x, y));
      if (name === "line") return value.length === 2 ? this.placed(...value, WEIGHTS) : undefined;
      return name === "used" ? clamp(Math.round(value), [0, MOST]) : super.taken(name, value);
    }

    /* While the line is dragged the pointer is read in its plane, and wherever that was clicked. */
    data(event) {
      const box = this.svg.getBoundingClientRect();
      const [u, v] = [event.clientX - box.left, event.clientY - box.top];
      const { left, right, top, bottom } = this.plane;
      const there = u >= left && u <= right && v >= top && v <= bottom;
      const on = (event.type === "click" ? there : this.selected === 0) ? this.plane : this;
      return [on.invertX(u), on.invertY(v), on];
    }

    move(index, x, y) {
      if (index === 0) this.state.line = this.placed(x, y, WEIGHTS);
      else this.state.readings[index - 1] = this.placed(x, y);
      this.draw();
    }

    /* A new reading is used, and so are those before it. */
    add(x, y, on = this) {
      const { readings } = this.state;
      if (on === this.plane) {
        this.move(0, x, y);
        this.select(0);
      } else if (readings.length < MOST && Math.abs(x - 0.75) < 2.4) {
        readings.push(this.placed(x, y));
        this.state.used = readings.length;
        this.select(readings.length);
      }
    }

    /* Where the others are far away, on the mean line. */
    addFarthest() {
      const far = (x) => Math.min(9, ...this.state.readings.map(([other]) => Math.abs(x - other)));
      const x = XS.reduce((best, one) => (far(one) > far(best) + 1e-9 ? one : best));
      this.add(x, predict(this.now, x).mean);
    }

    remove(index) {
      if (index < 1) return;
      this.state.readings.splice(index - 1, 1);
      if (index <= this.state.used) this.state.used -= 1;
      this.select(Math.min(index, this.state.readings.length));
    }

    describe(index, x, y) {
      if (index === 0) return minus(`Your line: slope ${x.toFixed(1)}, intercept ${y.toFixed(1)}.`) + " Arrow keys move it.";
      const words = minus(`Observation ${index} of ${this.state.readings.length}: x = ${x.toFixed(1)}, y = ${y.toFixed(1)}`);
      return `${words}${index > this.state.used ? ", not used" : ""}. Arrow keys move it, Delete removes it.`;
    }

    // ------------------------------------------------------------ drawing

    paint() {
      const { state } = this;
      state.used = Math.min(state.used, state.readings.length);
      const slider = this.root.querySelector("[data-name=used]");
      slider.max = state.readings.length;
      this.show(slider);
      this.read = state.readings.slice(0, state.used);
      this.beliefs = learn({ ...state, readings: this.read });
      this.now = this.beliefs.at(-1);
      this.lines = DRAWS.map((z) => drawn(this.now, z));
      state.points = [state.line, ...state.readings];
      this.curves.replaceChildren();
      this.drawWeights();
      this.drawLines();
      this.drawPoints();
      this.tell();
    }

    /* In the plane: what each reading allows, the beliefs one after another, and some draws. */
    drawWeights() {
      const on = this.plane;
      const parent = this.clipped(on);
      const put = (d, name) => svg("path", { d, class: name }, parent);
      this.state.readings.forEach(([x, y], i) => {
        const edge = (by) => SLOPES.map((slope) => `${on.px(slope).toFixed(2)},${on.py(y - slope * x + by * this.state.noise).toFixed(2)}`);
        const chosen = i === this.selected - 1;
        if (i < this.state.used || chosen) put(`M${[...edge(1), ...edge(-1).reverse()].join("L")}Z`, `gp-strip${chosen ? " gp-strip-chosen" : ""}`);
      });
      const around = (belief, mass) => `M${contour(belief, mass).map(([a, b]) => `${on.px(b).toFixed(2)},${on.py(a).toFixed(2)}`).join("L")}Z`;
      this.beliefs.slice(1, -1).forEach((belief) => put(around(belief, 0.95), "gp-contour"));
      if (this.beliefs.length > 1) [0.95, 0.5].forEach((mass) => put(around(this.now, mass), "gp-hill"));
      put(around(this.beliefs[0], 0.95), "gp-before");
      if (this.beliefs.length > 1) put(around(this.now, 0.95), "gp-mean");
      this.lines.forEach(([a, b]) => svg("circle", { cx: on.px(b), cy: on.py(a), r: 2, class: "gp-drawn" }, parent));
      const [a, b] = this.now.mean;
      svg("circle", { cx: on.px(b), cy: on.py(a), r: 4, class: "gp-drawn gp-middle" }, parent);
    }

    /* The lines: bands, draws, the mean, and the one that the reader has chosen. */
    drawLines() {
      const parent = this.clipped(this);
      const put = ([a, b], name) => svg("path", { d: this.path(XS.map((x) => a + b * x), { grid: XS }), class: name }, parent);
      const all = XS.map((x) => predict(this.now, x));
      const mean = all.map((one) => one.mean);
      this.band(mean, all.map((one) => one.variance + this.state.noise ** 2), "y", { grid: XS, parent });
      this.band(mean, all.map((one) => one.variance), "f", { grid: XS, parent });
      this.lines.forEach((line) => put(line, "gp-sample"));
      put(this.now.mean, "gp-mean");
      const [slope, intercept] = this.state.line;
      put([intercept, slope], "gp-rival");
    }

    drawPoints() {
      super.drawPoints();
      const [slope, intercept] = this.state.line;
      this.marks.firstChild.setAttribute("transform", `translate(${this.plane.px(slope)},${this.plane.py(intercept)})`);
    }

    mark() {
      super.mark();
      [...this.marks.children].forEach((node, i) => {
        node.classList.toggle("gp-mine", i === 0);
        node.classList.toggle("gp-unread", i > this.state.used);
      });
      this.able("remove", this.selected >= 1, "Select an observation first");
      this.able("add", this.state.readings.length < MOST, "Remove an observation first");
    }

    /* A reading that gets the focus shows its strip. */
    keyboard() {
      super.keyboard();
      this.marks.addEventListener("focusin", () => this.draw());
    }

    tell() {
      const { line: [slope, intercept], readings, used, prior, noise } = this.state;
      const { mean: [a, b], cov: [aa, , bb], logEvidence } = this.now;
      const mine = [intercept, slope];
      const parts = [logPrior(mine, prior), logLikelihood(mine, this.read, noise), logEvidence].map(rounded); // as shown, they add up
      const [before, likelihood, evidence] = parts.map(said);
      this.status.textContent = `${used} of ${readings.length} observations used: intercept ${said(a)}, sd ${said(Math.sqrt(aa))}; slope ${said(b)}, sd ${said(Math.sqrt(bb))}. `
        + `Your line, of intercept ${said(intercept)} and slope ${said(slope)}: log prior ${before}, plus log likelihood ${likelihood}, minus log evidence ${evidence}, is its log posterior ${said(parts[0] + parts[1] - parts[2])}.`;
    }
  }

  start("weight", WeightPlayground);
})();
