/* The first minute: readings to drag, a posterior, and below it the two equations that it is drawn from.

   Mean and variance are evaluated from the LaTeX that the page shows, by `engine/web`, on the Gram
   matrices of the readings. Whoever spoils an equation spoils the picture. */
(function () {
  "use strict";

  const { covariance, gram, posterior } = window.gpNumbers;
  const { GRID, svg, html, OperatedFigure, start } = window.gpFigure;
  const { value, shaped, Nonsense } = window.equationMembers;

  const MODEL = { kernel: "rbf", signal: 1, lengthscale: 1, noise: 0.1 };
  const START = { points: [[1, 0.4], [2.2, 0.5], [3, 0], [5.4, -0.6], [6.1, 0.1], [8.6, 1.4]] };
  const MEAN = "eq-fv-mean";
  const VARIANCE = "eq-fv-cov";
  /* What to try: the button, the equation, and the name of the edit there. */
  const SLIPS = [
    ["Plus for minus", VARIANCE, "flip the sign of K_{*f} K_y^{-1} K_{f*}"],
    ["No inverse (variance)", VARIANCE, "drop the inverse of K_y"],
    ["No inverse (mean)", MEAN, "drop the inverse of K_{ff} + \\sigma_n^2 I"],
    ["Minus the noise", MEAN, "flip the sign of \\sigma_n^2 I"],
  ];

  const badgeOf = (label) => document.querySelector(`.eqn-badge[data-label="${label}"]`);

  class FirstMinute extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return []; }
    get legendOf() { return [["mean", "mean"], ["f", "two standard deviations either side"], ["point", "observations"]]; }
    get says() { return "What six observations say about a function. Each observation can be moved with the arrow keys."; }

    trials() {
      this.reads = {};
      this.tries = [];
      const row = html("div", { class: "gp-buttons gp-trials", role: "group", "aria-label": "Slips to try" }, this.root);
      html("span", { "aria-hidden": "true" }, row, "Spoil it:");
      this.slips = SLIPS.map(([text, label, said]) => this.button(text, "slip", row, () => this.ask(label, said)));
      document.addEventListener("eqn-reads", ({ detail }) => {
        if (![MEAN, VARIANCE].includes(detail.label)) return;
        this.reads[detail.label] = detail;
        this.draw();
      });
    }

    /* The badge of an equation makes the edit, or takes it back where it is made already. */
    ask(label, said) {
      [MEAN, VARIANCE].forEach((name) => {
        const made = this.reads[name]?.said;
        const detail = name === label && made !== said ? said : "";
        if (detail || made) badgeOf(name)?.dispatchEvent(new CustomEvent("eqn-attempt", { detail }));
      });
    }

    /* Slips stand under the picture that they spoil; what else is pressed below the equations, so that picture and
       equations share a screen. */
    addressed() {
      super.addressed();
      this.scene.after(this.root.querySelector(".gp-trials"));
      const below = document.querySelector(".book-spoil");
      if (!below) return;
      const box = html("div", { class: "gp-playground book-spoil-controls" });
      box.append(...this.root.querySelectorAll(".gp-buttons:not(.gp-trials), .gp-address"));
      below.after(box);
    }

    controls() {
      const buttons = html("div", { class: "gp-buttons" }, this.root);
      this.button("Add an observation", "add", buttons, () => this.add(GRID[this.widest], this.truth.mean[this.widest]));
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => {
        this.ask("", "");
        this.reset();
      });
    }

    heightOf(width) {
      return Math.min(Math.max(0.35 * width, 170), 230);
    }

    /* The numbers behind the symbols. */
    get table() {
      const [x, y] = [0, 1].map((i) => this.state.points.map((point) => point[i]));
      const k = covariance(MODEL);
      const noisy = gram(x, x, k);
      noisy.forEach((row, i) => (row[i] += MODEL.noise ** 2));
      const table = {
        "K_{*f}": gram(GRID, x, k), "K_{ff}": gram(x, x, k), K_y: noisy, "K_{f*}": gram(x, GRID, k),
        "K_{**}": gram(GRID, GRID, k), "\\sigma_n": MODEL.noise, "\\mathbf y": y.map((v) => [v]),
      };
      const alpha = () => value("a = K_y^{-1} \\mathbf y", "a = K_y^{-1} \\mathbf y", table);
      return { ...table, "\\boldsymbol\\alpha": alpha() };
    }

    /* A side of an equation as it reads now, or why it has no value. */
    evaluated(label, table, pick, otherwise) {
      const now = this.reads[label];
      if (!now) return { values: otherwise };
      try {
        return { values: shaped(now.latex, now.whole, table, GRID.length, label === MEAN ? 1 : GRID.length).map(pick) };
      } catch (error) {
        if (!(error instanceof Nonsense)) throw error;
        return { why: error.message };
      }
    }

    paint() {
      const { points } = this.state;
      const given = { x: points.map((p) => p[0]), y: points.map((p) => p[1]), ...MODEL };
      this.truth = posterior({ xs: GRID, ...given });
      this.widest = this.truth.varianceF.indexOf(Math.max(...this.truth.varianceF));
      const table = points.length ? this.table : null;
      const flat = { values: GRID.map(() => 0) };
      const mean = table ? this.evaluated(MEAN, table, (row) => row[0], this.truth.mean) : flat;
      const variance = table ? this.evaluated(VARIANCE, table, (row, i) => row[i], this.truth.varianceF) : { values: this.truth.varianceF };
      this.now = { mean, variance };
      const spoilt = Object.values(this.reads).find((one) => one.said);
      this.root.classList.toggle("gp-spoilt-mean", Boolean(this.reads[MEAN]?.said));
      this.root.classList.toggle("gp-spoilt-variance", Boolean(this.reads[VARIANCE]?.said));
      this.curves.replaceChildren();
      const inside = this.clipped(this);
      if (variance.values) this.bands(mean.values ?? this.truth.mean, variance.values, inside);
      if (spoilt) svg("path", { d: this.path(this.truth.mean), class: "gp-exact" }, inside);
      if (mean.values) svg("path", { d: this.path(mean.values), class: "gp-mean" }, inside);
      this.drawPoints();
      this.slips.forEach((button, i) => {
        const [, label, said] = SLIPS[i];
        button.disabled = !badgeOf(label);
        button.setAttribute("aria-pressed", String(this.reads[label]?.said === said));
      });
      this.tell(spoilt);
    }

    /* The band; where the variance is negative it has no width, and what would be one is hatched. */
    bands(mean, variance, parent) {
      this.band(mean, variance.map((v) => Math.max(v, 0)), "f", { parent });
      const below = variance.map((v) => Math.max(-v, 0));
      if (below.some((v) => v > 1e-9)) this.band(mean, below, "negative", { parent });
    }

    tell(spoilt) {
      const n = this.state.points.length;
      if (!spoilt) {
        const sd = Math.sqrt(Math.max(...this.truth.varianceF));
        this.status.textContent = n === 0
          ? "No observations: the mean is zero, and the band is as wide everywhere."
          : `${n} observation${n > 1 ? "s" : ""}; the standard deviation is largest, ${sd.toFixed(2)}, at x = ${GRID[this.widest].toFixed(1)}. Drag a circle.`;
        return;
      }
      this.status.textContent = `Spoilt (${this.which(spoilt)}). ${this.seen()}`;
    }

    which({ label }) {
      return label === MEAN ? "the mean" : "the variance";
    }

    /* What the picture shows of a slip, in a sentence. */
    seen() {
      const { mean, variance } = this.now;
      const why = mean.why ?? variance.why;
      if (why) return `It cannot be evaluated: ${why}. There is nothing to draw.`;
      const share = variance.values.filter((v) => v < -1e-9).length / GRID.length;
      if (share > 0) return `The variance is negative at ${Math.round(100 * share)} % of the places, which no variance may be: there the band is turned inside out (dashed).`;
      const far = (a, b) => Math.max(...a.map((v, i) => Math.abs(v - b[i])));
      const off = far(mean.values, this.truth.mean);
      const sd = variance.values.map(Math.sqrt);
      const wider = far(sd, this.truth.varianceF.map(Math.sqrt));
      const words = [];
      if (off > 0.005) words.push(`The mean is off by up to ${off.toFixed(2)} (dashed: the right one).`);
      if (wider > 0.005) words.push(`One standard deviation is off by up to ${wider.toFixed(2)}: the band no longer says what the observations have taught us.`);
      return words.join(" ") || "Here nothing is to be seen of it: a check on other numbers sees it.";
    }
  }

  start("first", FirstMinute);
})();
