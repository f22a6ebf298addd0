/* A figure to operate: five numbers that swing a pendulum up, and what becomes of them at the limit of the motor.

   `window.gpSwing` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { fixedNormals } = window.gpNumbers;
  const { svg, html, clamp, frame, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const [STEPS, REPEAT, TICK] = [50, 3, 0.05]; // torques, time steps that one is held, seconds of a time step
  const [STARTS, SPREAD, SEED] = [20, 0.1, 1];
  const [LAST, WITHIN] = [10, 0.3];
  const BEGIN = { hanging: Math.PI, standing: 0 };

  /* What the line asks for, and the torque that the motor gives. */
  function torque({ angle, speed, sine, cosine, bias, limit, bounded }, [theta, omega]) {
    const asked = angle * theta + speed * omega + sine * Math.sin(theta) + cosine * Math.cos(theta) + bias;
    return { asked, given: limit * (bounded === "sine" ? Math.sin(asked) : clamp(asked, [-1, 1])) };
  }

  /* The pendulum of gymnasium: angles, and torques asked for and given. */
  function swing(state, begin, steps = STEPS) {
    let [theta, omega] = begin;
    const [angles, asked, given] = [[theta], [], []];
    for (let t = 0; t < steps; t += 1) {
      const u = torque(state, [theta, omega]);
      for (let k = 0; k < REPEAT; k += 1) {
        omega = clamp(omega + TICK * (15 * Math.sin(theta) + 3 * u.given), [-8, 8]);
        theta += TICK * omega;
      }
      angles.push(theta);
      asked.push(u.asked);
      given.push(u.given);
    }
    return { angles, asked, given };
  }

  /* How often what is asked for crosses a crest or a trough of the sine, where more becomes less. */
  const branch = (v) => Math.round(v / Math.PI);
  const folds = (asked) => asked.filter((v, t) => t && branch(v) !== branch(asked[t - 1])).length;

  const off = (angle) => Math.abs(angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI)));
  const upright = ({ angles }) => angles.slice(-LAST).every((angle) => off(angle) < WITHIN);

  /* All swings of a state, from places near where it begins. */
  const normals = fixedNormals(2 * STARTS, SEED);
  function swings(state) {
    return Array.from({ length: STARTS }, (_, i) =>
      swing(state, [BEGIN[state.from] + SPREAD * normals[2 * i], SPREAD * normals[2 * i + 1]]));
  }

  window.gpSwing = { swing, swings, upright, folds };

  // ---------------------------------------------------------------- the page

  const START = {
    points: [], bounded: "sine", from: "hanging", limit: 2, angle: 0.8, speed: 0.62, sine: 2.42, cosine: 0.85, bias: 3.58,
  };
  const TRIALS = [
    ["Clip it", { bounded: "clip" }],
    ["A weaker motor", { limit: 1.2 }],
    ["Only hold it up", { angle: -3, speed: -0.5, sine: 0, cosine: 0, bias: 0, from: "standing" }],
    ["The same from below", { angle: -3, speed: -0.5, sine: 0, cosine: 0, bias: 0 }],
  ];
  const SLIDERS = [
    { name: "angle", label: ["Weight of the angle"], min: -3, max: 3, step: 0.01 },
    { name: "speed", label: ["of its velocity"], min: -3, max: 3, step: 0.01 },
    { name: "sine", label: ["of the sine"], min: -5, max: 5, step: 0.01 },
    { name: "cosine", label: ["of the cosine"], min: -5, max: 5, step: 0.01 },
    { name: "bias", label: ["Bias"], min: -6, max: 6, step: 0.01 },
    { name: "limit", label: ["Limit of the motor"], min: 0.2, max: 6, step: 0.1, digits: 1 },
  ];
  const SECONDS = STEPS * REPEAT * TICK;
  const TIMES = Array.from({ length: STEPS + 1 }, (_, t) => t * REPEAT * TICK);

  class SwingPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["sample", "height of the tip, twenty starts"], ["rival", "torque, the first start"], ["mean", "the first pendulum"]]; }
    get says() { return "Above, the height of the tip of twenty pendulums over time. Below, the torque of the first."; }
    get range() { return { x: [0, SECONDS], y: [-1.05, 1.05] }; }

    heightOf(width) { return clamp(0.6 * width, [280, 380]); }

    /* The torque has a strip of its own below the heights. */
    scales() {
      const side = clamp(0.24 * this.width, [70, 150]);
      const [left, right, floor] = [50, this.width - side - 26, this.height - 42];
      const middle = 8 + 0.62 * (floor - 8);
      Object.assign(this, frame({ left, right, top: 8, bottom: middle - 8 }, this.range));
      this.pivot = { x: right + 16 + side / 2, y: 12 + side / 2, length: side / 2 - 6 };
      this.strip = frame({ left, right, top: middle + 8, bottom: floor }, { x: this.range.x, y: [-1.1, 1.1] });
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [], [-1, 0, 1], ["", "height"]);
      this.spines(this.strip, [0, 2, 4, 6], [[-1, "\u2212limit"], [0, "0"], [1, "limit"]], ["seconds", ""]);
    }

    controls() {
      this.root.classList.add("gp-still");
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "bounded", label: "At the limit", options: { sine: "a sine, folded", clip: "clipped" } }, box);
      this.chooser({ name: "from", label: "It begins", options: { hanging: "hanging", standing: "upright" } }, box);
      const columns = html("div", { class: "gp-columns" }, box);
      SLIDERS.forEach((one) => this.slider(one, columns));
      const row = html("div", { class: "gp-buttons" }, box);
      this.player(row, () => this.swingOn(), () => {}, 1000 * REPEAT * TICK);
      this.button("Start again", "reset", row, () => this.reset());
    }

    add() {}

    /* The pendulums as they stand one torque later. */
    swingOn() {
      this.until = (this.until ?? 0) + 1;
      const more = this.until <= STEPS;
      if (!more) this.until = undefined;
      this.draw();
      return more;
    }

    /* The twenty pendulums at a time, which a line shows among the heights. */
    drawPendulums(t) {
      const { x, y, length } = this.pivot;
      [...this.result.entries()].reverse().forEach(([i, { angles }]) => {
        const [across, up] = [length * Math.sin(angles[t]), length * Math.cos(angles[t])];
        svg("path", { d: `M${x},${y}l${across.toFixed(1)},${(-up).toFixed(1)}`, class: i ? "gp-rod" : "gp-rod gp-rod-first" }, this.curves);
      });
      svg("circle", { cx: x, cy: y, r: 3, class: "gp-newest" }, this.curves);
      const text = svg("text", { x, y: y + length + 24, "text-anchor": "middle" }, this.axes);
      text.textContent = `${TIMES[t].toFixed(1)} s`;
      if (t) svg("path", { d: `M${this.px(TIMES[t])},${this.top}V${this.strip.bottom}`, class: "gp-guide" }, this.curves);
    }

    paint() {
      this.result = swings(this.state);
      this.curves.replaceChildren();
      const parent = this.clipped(this);
      this.result.forEach(({ angles }) =>
        svg("path", { d: this.path(angles.map(Math.cos), { grid: TIMES }), class: "gp-sample" }, parent));
      const { limit } = this.state;
      const held = this.result[0].given.map((u, t) => {
        const [x, to, y] = [this.strip.px(TIMES[t]), this.strip.px(TIMES[t + 1]), this.strip.py(u / limit)];
        return `${t ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}H${to.toFixed(1)}`;
      });
      svg("path", { d: held.join(""), class: "gp-rival" }, this.curves);
      this.drawAxes();
      this.drawPendulums(this.until ?? 0);
      this.tell();
    }

    tell() {
      const { limit, bounded } = this.state;
      const good = this.result.filter(upright).length;
      const early = this.result.flatMap(({ given }) => given.slice(0, 13));
      const full = Math.round((100 * early.filter((u) => Math.abs(u) > 0.9 * limit).length) / early.length);
      const asked = this.result.map((one) => one.asked);
      const share = asked.flat().filter((v) => Math.abs(v) > 1).length / asked.flat().length;
      const fate = bounded === "sine"
        ? `crosses a fold ${(asked.reduce((sum, v) => sum + folds(v), 0) / STARTS).toFixed(1)} times a swing`
        : `is cut off in ${Math.round(100 * share)} %`;
      this.status.textContent = `Upright in the end from ${good} of ${STARTS} starts. In the first two seconds nearly ` +
        `all that the motor has in ${full} % of the steps; what the line asks for ${fate}.`;
    }
  }

  start("swing", SwingPlayground);
})();
