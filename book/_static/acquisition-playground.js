/* A figure to operate: Bayesian optimisation in one dimension. Above what is believed of a function after a few
   evaluations, below what an evaluation would be worth at each place.

   Kernel and first places come with the page, in `data-gp-given`; the function is below. `window.gpAcquisition`
   holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { posterior, samples, fixedNormals, density, cdf } = window.gpNumbers;
  const { DOMAIN, svg, html, clamp, frame, few, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  /* E max(t + z, 0) for a standard normal t. What cancels far below are three digits of sixteen. */
  const excess = (z) => density(z) + z * cdf(z);

  /* What an evaluation is worth, from mean and variance of f and the best value so far. */
  const WORTH = {
    ei: (mean, sd, { best }) => (sd > 0 ? sd * excess((mean - best) / sd) : Math.max(mean - best, 0)),
    pi: (mean, sd, { best }) => (sd > 0 ? cdf((mean - best) / sd) : Number(mean > best)),
    ucb: (mean, sd, { beta }) => mean + Math.sqrt(beta) * sd,
  };

  function acquisition(name, { mean, variance, ...known }) {
    return mean.map((m, i) => WORTH[name](m, Math.sqrt(variance[i]), known));
  }

  /* What is looked for: two hills, the higher of them off to the right. */
  const truth = (x) => 0.9 * Math.sin(1.15 * x - 0.6) + 0.8 * Math.sin(2.7 * x + 0.4) + 0.06 * x;

  window.gpAcquisition = { acquisition, cdf, excess, truth };

  // ---------------------------------------------------------------- the page

  const PLACES = Array.from({ length: 201 }, (_, i) => i / 20);
  const TOP = Math.max(...PLACES.map(truth));
  const LOW = -2.75; // where the reader's own place stands
  const MOST = 40;
  const START = { points: [[5, LOW]], evaluated: [], name: "ei", beta: 4 };
  const NAMES = {
    ei: "Expected improvement",
    pi: "Probability of improvement",
    ucb: "Upper confidence bound",
    thompson: "Thompson: a sample of f",
  };
  const SHORT = { ei: "EI", pi: "PI", ucb: "UCB", thompson: "sample" };
  const TRIALS = [
    ["Probability of improvement", { name: "pi" }],
    ["The mean alone", { name: "ucb", beta: 0 }],
    ["A wide band", { name: "ucb", beta: 9 }],
    ["Let a sample decide", { name: "thompson" }],
  ];

  class AcquisitionPlayground extends OperatedFigure {
    get start() {
      this.believed ??= JSON.parse(this.root.dataset.gpGiven);
      const { evaluated } = this.believed;
      return { ...START, evaluated };
    }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "posterior mean"], ["f", "f: 2 sd"], ["reading", "evaluations"], ["worth", "worth of an evaluation"], ["point", "your own choice"]];
    }
    get says() { return "A Gaussian process that looks for the top of a function. The arrow keys move a place, and Enter evaluates there."; }

    heightOf(width) { return clamp(0.66 * width, [400, 450]); }

    scales() {
      const sides = { left: 50, right: this.width - 18 };
      const middle = Math.round(0.6 * this.height);
      Object.assign(this, frame({ ...sides, top: 8, bottom: middle - 20 }, DOMAIN));
      this.below = { ...sides, top: middle + 12, bottom: this.height - 42 };
    }

    drawAxes() {} // with the curves: the lower panel fits what it shows

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "name", label: "Where next?", options: NAMES }, box);
      this.slider({ name: "beta", label: ["Weight \u03b2 of the band"], min: 0, max: 16, step: 0.5, digits: 1 }, box);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.next = this.button("Evaluate where it is largest", "next", buttons, () => this.evaluate(this.largest));
      this.five = this.button("Five more", "five", buttons, () => {
        for (let i = 0; i < 5; i += 1) this.evaluate(this.largest);
      });
      this.player(buttons, () => !this.next.disabled && (this.next.click(), true));
      this.button("Start again", "reset", buttons, () => this.reset());
      const label = html("label", { class: "gp-check" }, buttons);
      this.shown = html("input", { type: "checkbox" }, label);
      label.appendChild(document.createTextNode(" show the function"));
      this.shown.addEventListener("change", () => this.draw());
    }

    /* The same function again, with the acquisition that was chosen. */
    reset() { this.become({ name: this.state.name, beta: this.state.beta }); }

    // ------------------------------------------------------------ evaluations

    evaluate(x) {
      const place = Math.round(20 * clamp(x, DOMAIN.x)) / 20;
      const { evaluated } = this.state;
      if (evaluated.includes(place) || evaluated.length >= MOST) return;
      evaluated.push(place);
      this.draw();
    }

    placed(x) { return [clamp(x, DOMAIN.x), LOW]; }

    /* Places that were evaluated are some of those that can be, each once. */
    taken(name, value) {
      if (name !== "evaluated") return super.taken(name, value);
      const places = [...new Set(value)].filter((x) => PLACES.includes(x)).slice(0, MOST);
      return places.length ? places : undefined;
    }

    /* A click or a tap beside the reader's place evaluates there. */
    add(x) {
      if (x < DOMAIN.x[0] - 0.1 || x > DOMAIN.x[1] + 0.1) return;
      this.state.points = [this.placed(x)];
      this.evaluate(x);
      this.select(0);
    }

    released() { this.evaluate(this.state.points[0][0]); }

    remove() {}

    keyboard() {
      super.keyboard();
      this.marks.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.evaluate(this.state.points[0][0]);
      });
    }

    describe(i, x) {
      const at = Math.round(20 * x);
      return `Your place: x = ${x.toFixed(1)}, mean ${few(this.result.mean[at])}, ${SHORT[this.state.name]} ${few(this.values[at])}. Arrow keys move it, Enter evaluates there.`;
    }

    // ------------------------------------------------------------ drawing

    /* The belief on all places, and what each is worth. */
    believe() {
      const { evaluated, name, beta } = this.state;
      const asked = JSON.stringify([evaluated, name, beta]);
      if (asked === this.asked) return;
      this.asked = asked;
      const y = evaluated.map(truth);
      const { evaluated: _, ...prior } = this.believed;
      this.result = posterior({ x: evaluated, y, xs: PLACES, ...prior });
      this.best = Math.max(...y);
      const { mean, covariance, varianceF: variance } = this.result;
      this.values = name === "thompson"
        ? samples(mean, covariance, prior.signal, [fixedNormals(PLACES.length, 1000 + evaluated.length)])[0]
        : acquisition(name, { mean, variance, best: this.best, beta });
      const open = this.values.map((v, i) => (evaluated.includes(PLACES[i]) ? -Infinity : v));
      this.largest = PLACES[open.indexOf(Math.max(...open))];
    }

    paint() {
      this.believe();
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.spines(this, [], [-2, 0, 2], ["", "f(x)"]);
      this.drawBelief();
      this.drawWorth();
      this.drawPoints();
      const full = this.state.evaluated.length >= MOST;
      [this.next, this.five].forEach((button) => (button.disabled = full));
      this.root.querySelector("[data-name=beta]").disabled = this.state.name !== "ucb";
      this.tell();
    }

    drawBelief() {
      const { evaluated, name } = this.state;
      const parent = this.clipped(this);
      this.band(this.result.mean, this.result.varianceF, "f", { grid: PLACES, parent });
      if (this.shown.checked) svg("path", { d: this.path(PLACES.map(truth), { grid: PLACES }), class: "gp-truth" }, parent);
      if (name === "thompson") svg("path", { d: this.path(this.values, { grid: PLACES }), class: "gp-worth" }, parent);
      svg("path", { d: this.path(this.result.mean, { grid: PLACES }), class: "gp-mean" }, parent);
      this.readings(evaluated, evaluated.map(truth), { r: 4 });
      if (evaluated.length > this.start.evaluated.length) {
        this.curves.lastChild.setAttribute("class", "gp-newest");
        this.curves.lastChild.setAttribute("r", 5);
      }
    }

    drawWorth() {
      const [low, high] = [Math.min(...this.values), Math.max(...this.values)];
      const on = frame(this.below, { x: DOMAIN.x, y: [low, high > low ? low + 1.08 * (high - low) : low + 1] });
      this.spines(on, [0, 2, 4, 6, 8, 10], [[low, few(low)], [high, few(high)]], ["x", SHORT[this.state.name]]);
      const line = this.path(this.values, { on, grid: PLACES });
      svg("path", { d: `${line}V${on.bottom}H${on.left}Z`, class: "gp-worth-area" }, this.curves);
      svg("path", { d: line, class: "gp-worth" }, this.curves);
      const at = on.px(this.largest);
      const [own] = this.state.points[0];
      const here = this.px(own);
      svg("path", { d: `M${at},${this.top}V${on.bottom}`, class: "gp-guide" }, this.curves);
      const worth = on.py(this.values[Math.round(20 * own)]);
      svg("path", { d: `M${here},${this.py(LOW)}V${worth}`, class: "gp-own" }, this.curves);
      svg("circle", { cx: here, cy: worth, r: 3.5, class: "gp-own" }, this.curves);
      svg("circle", { cx: at, cy: on.py(this.values[Math.round(20 * this.largest)]), r: 5, class: "gp-largest" }, this.curves);
    }

    tell() {
      const { evaluated, name } = this.state;
      const regret = TOP - this.best;
      const where = evaluated.find((x) => truth(x) === this.best);
      const small = regret < 0.005 ? "nothing more to gain" : `a simple regret of ${regret.toFixed(2)}`;
      const [own] = this.state.points[0];
      const worth = `${SHORT[name]} ${minus(few(this.values[Math.round(20 * own)]))}`;
      const next = evaluated.length >= MOST ? "That is enough." : `${NAMES[name].replace(/:.*/, "\u2019s sample")} is largest at x = ${this.largest.toFixed(2)}.`;
      this.status.textContent = `${evaluated.length} evaluations. The best is ${minus(this.best.toFixed(2))} at x = ${where.toFixed(2)}: ${small}. ${next} ` +
        `At your place, x = ${own.toFixed(1)}: ${worth}. Let it go, or press Enter, to evaluate there.`;
    }
  }

  start("acquisition", AcquisitionPlayground);
})();
