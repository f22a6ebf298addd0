/* A figure to operate: the log evidence as a map over lengthscale and noise, and beside it the fit at the place
   on the map where the reader stands.

   The readings come with the page, in `data-gp-given`; places on the map are logarithms. `window.gpEvidence` holds
   the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { covariance, halfSolve, halfSolveTransposed, dot, evidence, posterior } = window.gpNumbers;
  const { GRID, svg, html, clamp, frame, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const MAP = { x: [0.2, 30].map(Math.log), y: [0.03, 2].map(Math.log) };
  const [ACROSS, UP] = [48, 40]; // cells of the map
  const placed = (place) => [clamp(place[0], MAP.x), clamp(place[1], MAP.y)];
  const at = (given, [length, noise]) => ({ ...given, lengthscale: Math.exp(length), noise: Math.exp(noise) });
  const height = (given, place) => evidence(at(given, place)).logEvidence;

  /* The slope by the two logarithms: half the trace of (alpha alphaᵀ - K_y⁻¹) dK, for the squared exponential kernel. */
  function slope(given, place) {
    const { lengthscale, noise, ...rest } = at(given, place);
    const { lower, half } = evidence({ ...rest, lengthscale, noise });
    const k = covariance({ ...rest, lengthscale });
    const alpha = halfSolveTransposed(lower, half);
    const unit = (i) => given.x.map((_, j) => (i === j ? 1 : 0));
    const inverse = given.x.map((_, i) => halfSolveTransposed(lower, halfSolve(lower, unit(i))));
    const inner = alpha.map((a, i) => alpha.map((b, j) => a * b - inverse[i][j]));
    const by = (entry) => 0.5 * inner.reduce((sum, row, i) => sum + dot(row, given.x.map((_, j) => entry(i, j))), 0);
    const apart = (i, j) => (given.x[i] - given.x[j]) / lengthscale;
    return [by((i, j) => k(given.x[i], given.x[j]) * apart(i, j) ** 2), by((i, j) => (i === j ? 2 * noise * noise : 0))];
  }

  /* The slope without what leads off the map. */
  function inside(given, place) {
    return slope(given, place).map((g, i) => {
      const [low, high] = i === 0 ? MAP.x : MAP.y;
      return (place[i] <= low && g < 0) || (place[i] >= high && g > 0) ? 0 : g;
    });
  }

  /* Gradient ascent, in steps too short to leave the hill: all places from the start to the top. */
  function climb(given, begin) {
    const path = [placed(begin)];
    let step = 0.1;
    while (path.length < 1000) {
      const here = path.at(-1);
      const uphill = inside(given, here);
      const steep = Math.hypot(...uphill);
      if (steep < 1e-4) break;
      const value = height(given, here);
      step = Math.min(step, 0.2 / steep);
      const next = () => placed(here.map((v, i) => v + step * uphill[i]));
      while (step > 1e-10 && !(height(given, next()) >= value + 0.3 * step * steep * steep)) step /= 2;
      if (step <= 1e-10) break;
      path.push(next());
      step *= 1.7;
    }
    return path;
  }

  /* How the slope changes: a symmetric matrix, by differences. */
  function curvature(given, place, by = 1e-4) {
    const rows = [0, 1].map((i) => {
      const [up, down] = [by, -by].map((d) => slope(given, place.map((v, j) => v + (i === j ? d : 0))));
      return up.map((v, j) => (v - down[j]) / (2 * by));
    });
    return [rows[0][0], (rows[0][1] + rows[1][0]) / 2, rows[1][1]];
  }

  /* Newton's steps to where the slope is zero, be it a top or a pass. */
  function level(given, place) {
    for (let i = 0; i < 20; i += 1) {
      const [a, b, c] = curvature(given, place);
      const [g, h] = slope(given, place);
      const det = a * c - b * b;
      const step = [(c * g - b * h) / det, (a * h - b * g) / det];
      const short = Math.min(1, 0.5 / Math.hypot(...step));
      place = placed(place.map((v, j) => v - short * step[j]));
    }
    return place;
  }

  /* The heights at the corners of the cells, row by row from below. */
  function survey(given) {
    const along = ([low, high], cells) => Array.from({ length: cells + 1 }, (_, i) => low + ((high - low) * i) / cells);
    const [xs, ys] = [along(MAP.x, ACROSS), along(MAP.y, UP)];
    return { xs, ys, heights: ys.map((y) => xs.map((x) => height(given, [x, y]))) };
  }

  window.gpEvidence = { height, slope, climb, level, curvature, survey, MAP };

  // ---------------------------------------------------------------- the page

  const BELOW = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 10, 20]; // nats below the highest top: a line at each
  const FIT = { x: [0, 10], y: [-1.2, 2.8] };
  const FROM = { wave: [1, 0.1].map(Math.log), noise: [10, 0.5].map(Math.log) };
  const START = { points: [], length: Math.log(3), noise: Math.log(0.1), many: "few", trail: [] };
  const TRIALS = [
    ["The wave is signal", { to: "wave" }],
    ["The wave is noise", { to: "noise" }],
    ["The pass between them", { to: "pass" }],
  ];
  const SLIDERS = [
    { name: "length", label: ["Lengthscale \u2113"], min: MAP.x[0], max: MAP.x[1], step: "any" },
    { name: "noise", label: ["Noise \u03c3", "n"], min: MAP.y[0], max: MAP.y[1], step: "any" },
  ];
  const TICKS = { x: [0.3, 1, 3, 10, 30], y: [0.03, 0.1, 0.3, 1] };
  const logs = (ticks) => ticks.map((value) => [Math.log(value), value]);
  const short = (log) => Math.exp(log).toPrecision(2);

  class EvidencePlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["hills", "log evidence"], ["mean", "posterior mean"], ["f", "f: 2 sd"], ["y", "y: 2 sd"], ["reading", "observations"], ["point", "you are here"]];
    }
    get says() { return "A map of the log evidence, and the posterior at one place on it. The arrow keys move the place."; }

    /* All readings, of which the first few are a set of their own. */
    get given() {
      const { x, y, few, signal = 1 } = (this.readingsOf ??= JSON.parse(this.root.dataset.gpGiven));
      const count = this.state.many === "few" ? few : x.length;
      return { x: x.slice(0, count), y: y.slice(0, count), signal };
    }

    get place() { return [this.state.length, this.state.noise]; }

    heightOf(width) {
      return this.besides(width) ? clamp(0.46 * width, [260, 330]) : 470;
    }

    besides(width) { return width >= 560; }

    scales() {
      const [w, h] = [this.width, this.height];
      const wide = this.besides(w);
      const [right, bottom] = wide ? [Math.round(w / 2) - 12, h - 42] : [w - 14, Math.round(h / 2) - 42];
      this.map = frame({ left: 50, right, top: 8, bottom }, MAP);
      this.fit = frame({ left: wide ? Math.round(w / 2) + 48 : 50, right: w - 14, top: wide ? 8 : Math.round(h / 2) + 8, bottom: h - 42 }, FIT);
      Object.assign(this, this.map);
      this.drawn = null;
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this.map, logs(TICKS.x), logs(TICKS.y), ["lengthscale \u2113", "noise \u03c3\u2099"]);
      this.spines(this.fit, [0, 2, 4, 6, 8, 10], [-1, 0, 1, 2], ["x", "y"]);
    }

    /* The marker is carried, or goes where the map is clicked. */
    placed(x, y) { return placed([x, y]); }

    move(index, x, y, trail = []) {
      [this.state.length, this.state.noise] = this.placed(x, y);
      this.state.trail = trail;
      this.showAll();
      this.draw();
    }

    add(x, y) {
      if (x > MAP.x[1] + 0.1 || y < MAP.y[0] - 0.1) return; // on the other panel
      this.move(0, x, y);
      this.select(0);
    }

    remove() {}

    select(index) {
      this.halt();
      super.select(index);
    }

    become({ to, ...changes }) {
      this.halt();
      super.become({ many: this.state.many, ...changes });
      if (to) this.move(0, ...this.found(to));
    }

    taken(name, value) {
      if (name === "many") return ["few", "all"].includes(value) ? value : undefined;
      return super.taken(name, value);
    }

    reset() { this.become({ many: START.many }); }

    /* A top, or the pass between the two: where the slope is zero. */
    found(what) {
      if (what !== "pass") return climb(this.given, FROM[what]).at(-1);
      const [one, other] = ["wave", "noise"].map((name) => this.found(name));
      return level(this.given, one.map((v, i) => (v + other[i]) / 2));
    }

    controls() {
      this.ground = svg("g", { "aria-hidden": "true" });
      this.svg.prepend(this.ground);
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      box.addEventListener("input", () => {
        this.halt();
        this.state.trail = [];
        this.draw();
      });
      box.addEventListener("keydown", (event) => this.press(event));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Climb from here", "climb", buttons, () => this.climb());
      this.many = ["few", "all"].map((which) => this.button(`${which === "few" ? "Few" : "All"} observations`, which, buttons, () => {
        this.halt();
        this.state.many = which;
        this.state.trail = [];
        this.draw();
      }));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    /* A slider that has any value moves by a tenth of a logarithm. */
    press(event) {
      const by = { ArrowRight: 0.1, ArrowUp: 0.1, ArrowLeft: -0.1, ArrowDown: -0.1, PageUp: 0.5, PageDown: -0.5 }[event.key];
      const { name } = event.target.dataset;
      if (!by || !name) return;
      event.preventDefault();
      this.halt();
      const change = (which) => (which === name ? by : 0);
      this.move(0, this.state.length + change("length"), this.state.noise + change("noise"));
    }

    worded(value) { return short(value); }

    showAll() { this.root.querySelectorAll("input[type=range]").forEach((input) => this.show(input)); }

    describe() {
      return `Lengthscale ${short(this.state.length)}, noise ${short(this.state.noise)}. Arrow keys move the place on the map.`;
    }

    /* Some of the places of a climb, at least so far apart. */
    thinned(path, apart = 0.03) {
      const kept = [path[0]];
      path.forEach((place) => {
        if (Math.hypot(...place.map((v, i) => v - kept.at(-1)[i])) >= apart) kept.push(place);
      });
      return [...kept, path.at(-1)];
    }

    /* All the way at once, or step by step before the eyes of those who do not mind motion. */
    climb() {
      this.halt();
      const path = this.thinned(climb(this.given, this.place));
      const arrive = () => {
        this.moving = 0;
        this.move(0, ...path.at(-1), path);
      };
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) return arrive();
      const began = performance.now();
      const go = (now) => {
        const done = Math.max(0, (now - began) / 1200);
        if (done >= 1) return arrive();
        const steps = 1 + Math.floor(done * (path.length - 1));
        this.move(0, ...path[steps - 1], path.slice(0, steps));
        this.moving = requestAnimationFrame(go);
      };
      this.moving = requestAnimationFrame(go);
    }

    halt() {
      if (this.moving) cancelAnimationFrame(this.moving);
      this.moving = 0;
    }

    paint() {
      this.state.points = [this.place];
      this.drawGround();
      this.result = posterior({ ...at(this.given, this.place), xs: GRID });
      this.curves.replaceChildren();
      const parent = this.clipped(this.fit);
      this.band(this.result.mean, this.result.varianceY, "y", { on: this.fit, parent });
      this.band(this.result.mean, this.result.varianceF, "f", { on: this.fit, parent });
      svg("path", { d: this.path(this.result.mean, { on: this.fit }), class: "gp-mean" }, parent);
      this.readings(this.given.x, this.given.y, { on: this.fit, r: 3.5 });
      const trail = this.state.trail.map(([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`);
      if (trail.length) svg("polyline", { points: trail.join(" "), class: "gp-trail" }, this.curves);
      this.drawPoints();
      this.tell();
    }

    /* The hills: for each height the part of the map that lies above it, and its border. */
    drawGround() {
      if (this.drawn === this.state.many) return;
      this.drawn = this.state.many;
      this.survey = survey(this.given);
      const all = this.survey.heights.flat();
      const highest = all.indexOf(Math.max(...all));
      const begin = [this.survey.xs[highest % (ACROSS + 1)], this.survey.ys[Math.floor(highest / (ACROSS + 1))]];
      this.top = height(this.given, climb(this.given, begin).at(-1));
      this.ground.replaceChildren();
      BELOW.map((by) => this.above(this.top - by)).forEach(([area, border]) => {
        svg("path", { d: area, class: "gp-hill" }, this.ground);
        svg("path", { d: border, class: "gp-contour" }, this.ground);
      });
      this.many.forEach((button) => button.setAttribute("aria-pressed", button.dataset.action === this.state.many));
    }

    /* Cell by cell: the corners that are high enough, and where the sides cross the height. */
    above(bound) {
      const { xs, ys, heights } = this.survey;
      const [areas, borders] = [[], []];
      const spot = ([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`;
      for (let row = 0; row < UP; row += 1) {
        const whole = (col) => [0, 1].every((i) => [0, 1].every((j) => heights[row + j][col + i] >= bound));
        for (let col = 0; col < ACROSS; col += 1) {
          const from = col;
          while (col < ACROSS && whole(col)) col += 1;
          if (col > from) areas.push(`M${spot([xs[from], ys[row]])}L${[[xs[col], ys[row]], [xs[col], ys[row + 1]], [xs[from], ys[row + 1]]].map(spot).join("L")}Z`);
          if (col === ACROSS) break;
          const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([i, j]) => ({ at: [xs[col + i], ys[row + j]], value: heights[row + j][col + i] }));
          const [outline, crossings] = this.cut(corners, bound);
          if (outline.length) areas.push(`M${outline.map(spot).join("L")}Z`);
          if (crossings.length === 2) borders.push(`M${crossings.map(spot).join("L")}`);
        }
      }
      return [areas.join(""), borders.join("")];
    }

    cut(corners, bound) {
      const [outline, crossings] = [[], []];
      corners.forEach((one, i) => {
        const other = corners[(i + 1) % 4];
        if (one.value >= bound) outline.push(one.at);
        if ((one.value >= bound) === (other.value >= bound)) return;
        const share = (bound - one.value) / (other.value - one.value);
        const point = one.at.map((v, j) => v + share * (other.at[j] - v));
        outline.push(point);
        crossings.push(point);
      });
      return [outline, crossings];
    }

    tell() {
      if (this.moving) return; // words when it has come to rest
      const value = this.result.logEvidence;
      const below = this.top - value;
      const far = below < 0.05 ? "as high as it gets on this map" : `${below.toFixed(1)} less than at the highest top`;
      this.status.textContent = `${this.given.x.length} observations, lengthscale ${short(this.state.length)}, noise sd ${short(this.state.noise)}. `
        + `The log evidence is ${minus(value.toFixed(1))}, ${far}. ${this.uphill()}`;
    }

    uphill() {
      const [by, noise] = slope(this.given, this.place);
      if (Math.hypot(by, noise) < 0.01) {
        const [a, b, c] = curvature(this.given, this.place);
        return a * c - b * b > 0 ? "The slope is zero: a top." : "The slope is zero, and yet this is a pass between two hills.";
      }
      const ways = [[by, "a longer", "a shorter", "lengthscale"], [noise, "more", "less", "noise"]]
        .filter(([g]) => Math.abs(g) > 0.1 * Math.hypot(by, noise))
        .map(([g, more, less, what]) => `${g > 0 ? more : less} ${what}`);
      return `Uphill: ${ways.join(" and ")}.`;
    }
  }

  start("evidence", EvidencePlayground);
})();
