/* A figure to operate: where to read a road next. Above what readings at some places leave uncertain, below what a
   further one would tell at each place, by one of three yardsticks. What is read plays no part.

   `window.gpReadings` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { covariance, gram, cholesky, halfSolve, dot } = window.gpNumbers;
  const { DOMAIN, svg, html, clamp, frame, few, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const PLACES = Array.from({ length: 101 }, (_, i) => i / 10);

  /* The covariance of f at all places given readings at some of them, a reading at a time: a downdate. */
  function given({ lengthscale, noise, chosen, places = PLACES }) {
    const k = covariance({ signal: 1, lengthscale });
    const c = gram(places, places, k);
    chosen.forEach((j) => {
      const row = [...c[j]];
      const scale = 1 / (row[j] + noise * noise);
      c.forEach((one, a) => {
        const by = row[a] * scale;
        one.forEach((_, b) => (one[b] -= by * row[b]));
      });
    });
    return c;
  }

  /* The variance of one more reading at each place given readings at all open places but itself: at an open place by
     the diagonal of an inverse; a place that was read is none of them. */
  function typical({ lengthscale, noise, chosen, places = PLACES }) {
    const k = covariance({ signal: 1, lengthscale });
    const open = places.map((_, j) => j).filter((j) => !chosen.includes(j));
    const at = open.map((j) => places[j]);
    const noisy = gram(at, at, k);
    noisy.forEach((row, i) => (row[i] += noise * noise));
    const lower = cholesky(noisy);
    return places.map((x, j) => {
      const here = open.indexOf(j);
      const row = here < 0 ? gram(at, [x], k).map(([v]) => v) : at.map((_, a) => (a === here ? 1 : 0));
      const column = halfSolve(lower, row);
      return here < 0 ? k(x, x) - dot(column, column) + noise * noise : 1 / dot(column, column);
    });
  }

  /* What one more reading at each place is worth, also where there is one already: its noise is new. */
  const WORTH = {
    information: (c, { noise }) => c.map((row, j) => 0.5 * Math.log1p(Math.max(row[j], 0) / noise ** 2)),
    integrated: (c, { noise }) =>
      c.map((row, j) => row.reduce((sum, v) => sum + v * v, 0) / (row[j] + noise ** 2) / c.length),
    mutual: (c, { noise, ...state }) => {
      const others = typical({ noise, ...state });
      return c.map((row, j) => 0.5 * Math.log((row[j] + noise ** 2) / others[j]));
    },
  };

  function worth(name, state) {
    const c = given(state);
    return { variance: c.map((row, j) => Math.max(row[j], 0)), values: WORTH[name](c, state) };
  }

  window.gpReadings = { PLACES, given, worth };

  // ---------------------------------------------------------------- the page

  const LOW = -2.75; // where the reader's own place stands
  const MOST = 30;
  const NEARLY = 1e-9;
  const START = { points: [[5, LOW]], chosen: [50], name: "information", lengthscale: 2.5, noise: 0.5 };
  const NAMES = {
    information: "Information: where f varies most",
    integrated: "Integrated variance",
    mutual: "Mutual information with the rest",
  };
  const SHORT = { information: "nats", integrated: "fall of variance", mutual: "nats" };
  const TRIALS = [
    ["An empty road", { chosen: [] }],
    ["Four more by information", { name: "information", chosen: [50, 0, 100, 25, 75] }],
    ["Four more by summed variance", { name: "integrated", chosen: [50, 16, 85, 67, 33] }],
    ["Four more by mutual information", { name: "mutual", chosen: [50, 7, 93, 28, 71] }],
    ["A short lengthscale", { lengthscale: 0.5 }],
  ];
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale"], min: 0.2, max: 5, step: 0.1, digits: 1 },
    { name: "noise", label: ["Noise, one sd"], min: 0.1, max: 1.5, step: 0.05 },
  ];

  class ReadingsPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["f", "f: 2 sd"], ["reading", "observations"], ["worth", "worth of one more"], ["point", "your own choice"]];
    }
    get says() { return "What observations of a road leave uncertain. The arrow keys move a place, and Enter reads there."; }

    heightOf(width) { return clamp(0.6 * width, [340, 400]); }

    scales() {
      const sides = { left: 50, right: this.width - 18 };
      const middle = Math.round(0.55 * this.height);
      Object.assign(this, frame({ ...sides, top: 8, bottom: middle - 20 }, DOMAIN));
      this.below = { ...sides, top: middle + 12, bottom: this.height - 42 };
    }

    drawAxes() {} // with the curves: the lower panel fits what it shows

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "name", label: "Where next?", options: NAMES }, box);
      const columns = html("div", { class: "gp-columns" }, box);
      SLIDERS.forEach((one) => this.slider(one, columns));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.next = this.button("Read where it is largest", "next", buttons, () => this.read(this.largest));
      this.back = this.button("Take the last one back", "back", buttons, () => {
        this.state.chosen.pop();
        this.draw();
      });
      this.player(buttons, () => !this.next.disabled && (this.next.click(), true));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    /* The same road and rule, with the first reading. */
    reset() {
      const { name, lengthscale, noise } = this.state;
      this.become({ name, lengthscale, noise });
    }

    // ------------------------------------------------------------ readings

    read(j) {
      const { chosen } = this.state;
      if (chosen.length >= MOST) return;
      chosen.push(j);
      this.draw();
    }

    placed(x) { return [clamp(x, DOMAIN.x), LOW]; }

    /* Readings are whole numbers of places, some of them more than once. */
    taken(name, value) {
      if (name !== "chosen") return super.taken(name, value);
      return value.filter((j) => Number.isInteger(j) && j >= 0 && j < PLACES.length).slice(0, MOST);
    }

    /* A click or a tap beside the reader's place reads there. */
    add(x) {
      if (x < DOMAIN.x[0] - 0.1 || x > DOMAIN.x[1] + 0.1) return;
      this.state.points = [this.placed(x)];
      this.read(this.here);
      this.select(0);
    }

    get here() { return Math.round(10 * this.state.points[0][0]); }

    released() { this.read(this.here); }

    remove() {}

    keyboard() {
      super.keyboard();
      this.marks.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.read(this.here);
      });
    }

    describe(i, x) {
      const { name } = this.state;
      return `Your place: ${x.toFixed(1)}, worth ${few(this.values[Math.round(10 * x)])} ${SHORT[name]}. Arrow keys move it, Enter reads there.`;
    }

    // ------------------------------------------------------------ drawing

    believe() {
      const { chosen, name, lengthscale, noise } = this.state;
      const asked = JSON.stringify([chosen, name, lengthscale, noise]);
      if (asked === this.asked) return;
      this.asked = asked;
      const found = worth(name, { chosen, lengthscale, noise });
      Object.assign(this, found);
      const top = Math.max(...this.values);
      this.largest = this.values.findIndex((v) => v >= top - NEARLY);
      const told = given({ lengthscale, noise, chosen: [] });
      this.nats = 0;
      chosen.forEach((j) => {
        this.nats += 0.5 * Math.log1p(Math.max(told[j][j], 0) / noise ** 2);
        const row = [...told[j]];
        const scale = 1 / (row[j] + noise * noise);
        told.forEach((one, a) => one.forEach((_, b) => (one[b] -= row[a] * scale * row[b])));
      });
    }

    paint() {
      this.believe();
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.spines(this, [], [-2, 0, 2], ["", "f(x)"]);
      const parent = this.clipped(this);
      this.band(this.variance.map(() => 0), this.variance, "f", { grid: PLACES, parent });
      const { chosen } = this.state;
      this.readings(chosen.map((j) => PLACES[j]), chosen.map(() => 0), { r: 4 });
      this.drawWorth();
      this.drawPoints();
      this.next.disabled = chosen.length >= MOST;
      this.back.disabled = chosen.length === 0;
      this.tell();
    }

    drawWorth() {
      const high = Math.max(...this.values);
      const on = frame(this.below, { x: DOMAIN.x, y: [0, high > 0 ? 1.08 * high : 1] });
      this.spines(on, [0, 2, 4, 6, 8, 10], [[0, "0"], [high, few(high)]], ["x", SHORT[this.state.name]]);
      const line = this.path(this.values.map((v) => Math.max(v, 0)), { on, grid: PLACES });
      svg("path", { d: `${line}V${on.bottom}H${on.left}Z`, class: "gp-worth-area" }, this.curves);
      svg("path", { d: line, class: "gp-worth" }, this.curves);
      const at = on.px(PLACES[this.largest]);
      const here = this.px(this.state.points[0][0]);
      svg("path", { d: `M${at},${this.top}V${on.bottom}`, class: "gp-guide" }, this.curves);
      const worth = on.py(Math.max(this.values[this.here], 0));
      svg("path", { d: `M${here},${this.py(LOW)}V${worth}`, class: "gp-own" }, this.curves);
      svg("circle", { cx: here, cy: worth, r: 3.5, class: "gp-own" }, this.curves);
      svg("circle", { cx: at, cy: on.py(this.values[this.largest]), r: 5, class: "gp-largest" }, this.curves);
    }

    tell() {
      const { chosen } = this.state;
      const sd = Math.sqrt(this.variance.reduce((sum, v) => sum + v, 0) / PLACES.length);
      const worst = Math.sqrt(Math.max(...this.variance));
      const many = chosen.length === 1 ? "1 observation" : `${chosen.length} observations`;
      this.status.textContent = `${many}: ${this.nats.toFixed(2)} nats. Left: one sd of f ${sd.toFixed(3)} on average, ` +
        `${worst.toFixed(3)} at worst. Largest at x = ${PLACES[this.largest].toFixed(1)}. ` +
        `At your place, x = ${PLACES[this.here].toFixed(1)}: ${few(this.values[this.here])} ${SHORT[this.state.name]}. Let it go, or press Enter, to read there.`;
    }
  }

  start("readings", ReadingsPlayground);
})();
