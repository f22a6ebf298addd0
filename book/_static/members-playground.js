/* A figure to operate: the members of an ensemble of small networks, fitted to readings that the reader moves.

   Every network has one hidden layer of hyperbolic tangents and a normal prior on its weights; the noise is known.
   `window.gpMembers` holds the log joint density with its gradient, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { GRID, svg, html, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const WIDTH = 6; // hidden neurons
  const SIZE = 3 * WIDTH + 1; // their weights, their offsets, the output's weights, its offset
  const MEMBERS = 8;
  const inner = (x) => (x - 5) / 2.5; // what the networks see of a place on the line

  /* Prior variances of all weights: those of an output's weights are shared by its neurons. */
  function variances(prior) {
    const v = new Array(SIZE).fill(1);
    for (let r = 0; r < WIDTH; r += 1) {
      v[r] = prior;
      v[2 * WIDTH + r] = prior / WIDTH;
    }
    return v;
  }

  function value(w, x) {
    let f = w[3 * WIDTH];
    for (let r = 0; r < WIDTH; r += 1) f += w[2 * WIDTH + r] * Math.tanh(w[r] * x + w[WIDTH + r]);
    return f;
  }

  /* log p(y | w) + log p(w), and its derivatives; each reading counts as often as `counts` says. */
  function joint({ w, x, y, noise, prior, counts = x.map(() => 1) }) {
    const v = variances(prior);
    const slope = w.map((a, j) => -a / v[j]);
    let total = -0.5 * w.reduce((sum, a, j) => sum + (a * a) / v[j] + Math.log(2 * Math.PI * v[j]), 0);
    x.forEach((place, i) => {
      const hidden = [];
      let f = w[3 * WIDTH];
      for (let r = 0; r < WIDTH; r += 1) {
        hidden.push(Math.tanh(w[r] * place + w[WIDTH + r]));
        f += w[2 * WIDTH + r] * hidden[r];
      }
      const miss = (y[i] - f) / noise;
      total -= 0.5 * counts[i] * (miss * miss + Math.log(2 * Math.PI * noise * noise));
      const bar = (counts[i] * miss) / noise;
      slope[3 * WIDTH] += bar;
      for (let r = 0; r < WIDTH; r += 1) {
        slope[2 * WIDTH + r] += bar * hidden[r];
        const sum = bar * w[2 * WIDTH + r] * (1 - hidden[r] * hidden[r]);
        slope[r] += sum * place;
        slope[WIDTH + r] += sum;
      }
    });
    return { value: total, slope };
  }

  const dot = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0);

  /* Uphill by at most so many steps of BFGS; `arrived` tells whether the slope has become zero. */
  function climbed(given, w, steps) {
    let inverse = w.map((_, i) => w.map((__, j) => (i === j ? 1 : 0))); // of the curvature, as it is learnt
    let here = joint({ ...given, w });
    const level = () => Math.max(...here.slope.map(Math.abs)) < 1e-3;
    for (let t = 0; t < steps && !level(); t += 1) {
      let way = inverse.map((row) => dot(row, here.slope));
      if (dot(way, here.slope) <= 0) way = here.slope;
      let length = Math.min(1, 1 / Math.sqrt(dot(way, way)));
      let next;
      let there;
      for (let half = 0; half < 40; half += 1) {
        next = w.map((x, j) => x + length * way[j]);
        there = joint({ ...given, w: next });
        if (there.value >= here.value + 1e-4 * length * dot(way, here.slope)) break;
        length /= 2;
      }
      const moved = next.map((x, j) => x - w[j]);
      const bent = here.slope.map((x, j) => x - there.slope[j]);
      const along = dot(moved, bent);
      if (along > 1e-12) {
        const turned = inverse.map((row) => dot(row, bent));
        const both = (1 + dot(bent, turned) / along) / along;
        inverse = inverse.map((row, i) => row.map((x, j) =>
          x + both * moved[i] * moved[j] - (moved[i] * turned[j] + turned[i] * moved[j]) / along));
      }
      [w, here] = [next, there];
    }
    return { w, value: here.value, arrived: level() };
  }

  /* Numbers in [0, 1) that are the same on every page: the fractional parts of large multiples of a sine. */
  function chance(seed) {
    let n = 0;
    return () => {
      n += 1;
      const s = 43758.5453 * Math.sin(12.9898 * n + 78.233 * seed);
      return s - Math.floor(s);
    };
  }

  function normal(next) {
    return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  }

  window.gpMembers = { joint, value, climbed };

  // ---------------------------------------------------------------- the page

  const PLACES = [0.5, 1, 1.6, 2.1, 2.7, 3.2, 6.6, 7.1, 7.7, 8.3, 8.9, 9.4];
  const READ = PLACES.map((x) => [x, Math.sin(0.9 * x) + 0.15 * Math.sin(29 * x)]);
  const START = { points: READ, prior: 4, noise: 0.15, steps: 20, sample: "all", seed: 1 };
  const TRIALS = [
    ["Let them converge", { steps: 500 }],
    ["No gap", { points: [...READ, [4, -0.4], [4.7, -0.9], [5.4, -1], [6, -0.8]] }],
    ["Two observations", { points: [[3, 1], [7, -1]] }],
    ["A sample for each, converged", { sample: "boot", steps: 500 }],
    ["A wide prior", { prior: 30 }],
    ["No observations", { points: [] }],
  ];
  const SLIDERS = [
    { name: "prior", label: ["Prior variance"], min: 0.5, max: 40, step: 0.5, digits: 1 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.06, max: 1, step: 0.02 },
    { name: "steps", label: ["Steps, at most"], min: 10, max: 500, step: 10, digits: 0 },
  ];
  const SAMPLES = { all: "Each network sees all observations", boot: "Each sees a sample, with replacement" };

  class MembersPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "mean of the networks"], ["f", "f: 2 sd of their spread"], ["exact", "the networks"], ["point", "observations"]];
    }
    get says() { return "Eight networks, fitted from different starts, to convergence or not. Each observation can be moved with the arrow keys."; }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "sample", label: "Observations", options: SAMPLES }, box);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.slides(buttons, "steps", { by: 10, every: 300 });
      this.button("Other starts", "again", buttons, () => this.again());
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    again() {
      this.state.seed += 1;
      this.draw();
    }

    /* A member, where its ascent ended: its start and its sample are its own, whatever the others do. */
    member(k) {
      const { points, prior, noise, steps, sample, seed } = this.state;
      const next = chance(seed * MEMBERS + k);
      const from = variances(prior).map((v) => Math.sqrt(v) * normal(next));
      const counts = points.map(() => (sample === "all" ? 1 : 0));
      if (sample === "boot") points.forEach(() => (counts[Math.floor(next() * points.length)] += 1));
      const x = points.map((p) => inner(p[0]));
      return climbed({ x, y: points.map((p) => p[1]), noise, prior, counts }, from, steps);
    }

    paint() {
      this.members = Array.from({ length: MEMBERS }, (_, k) => this.member(k));
      const curves = this.members.map(({ w }) => GRID.map((x) => value(w, inner(x))));
      const mean = GRID.map((_, i) => curves.reduce((sum, f) => sum + f[i], 0) / MEMBERS);
      const variance = GRID.map((_, i) => curves.reduce((sum, f) => sum + (f[i] - mean[i]) ** 2, 0) / (MEMBERS - 1));
      this.result = { mean, variance };
      this.curves.replaceChildren();
      this.band(mean, variance, "f");
      curves.forEach((f) => svg("path", { d: this.path(f), class: "gp-exact" }, this.curves));
      svg("path", { d: this.path(mean), class: "gp-mean" }, this.curves);
      this.drawPoints();
      this.tell();
    }

    /* How far the members disagree near readings, and far from all of them. */
    tell() {
      const away = (x) => Math.min(...this.state.points.map((p) => Math.abs(p[0] - x)), Infinity);
      const sd = (keep) => {
        const kept = this.result.variance.filter((_, i) => keep(away(GRID[i])));
        return kept.length ? (kept.reduce((sum, v) => sum + Math.sqrt(v), 0) / kept.length).toFixed(2) : "";
      };
      const [near, far] = [sd((d) => d < 0.5), sd((d) => d >= 0.5)];
      const arrived = this.members.filter((member) => member.arrived).length;
      this.status.textContent = `${MEMBERS} networks of ${WIDTH} neurons, ${arrived} of them converged.`
        + (near ? ` Within half a unit of an observation one sd of f is ${near} on average` : " There are no observations")
        + (far ? `${near ? ", further away" : "; everywhere"} it is ${far}.` : ".");
    }
  }

  start("members", MembersPlayground);
})();
