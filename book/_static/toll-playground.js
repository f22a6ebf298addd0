/* A figure to operate: a short road that gets slower and a wide one that does not, drivers who mind only
   their own minutes, and a toll.

   `window.gpToll` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { svg, html, clamp, frame, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const FULL = 60; // minutes of the short road with everybody on it

  /* Minutes that a driver on the short road expects if each of the others takes it with probability p. */
  function short(p, { drivers, power }) {
    const others = drivers - 1;
    if (p <= 0) return FULL * (1 / drivers) ** power;
    if (p >= 1) return FULL;
    let [chance, sum] = [(1 - p) ** others, 0];
    for (let k = 0; k <= others; k += 1) {
      sum += chance * FULL * ((k + 1) / drivers) ** power;
      chance *= ((others - k) / (k + 1)) * (p / (1 - p));
    }
    return sum;
  }

  /* The share on the short road at which nobody gains by changing: with the toll both are alike, or all go one way. */
  function settles(state) {
    const gap = (p) => short(p, state) + state.toll - state.wide;
    if (gap(1) <= 0) return 1;
    if (gap(0) >= 0) return 0;
    let [low, high] = [0, 1];
    for (let i = 0; i < 40; i += 1) {
      const middle = 0.5 * (low + high);
      if (gap(middle) > 0) high = middle;
      else low = middle;
    }
    return 0.5 * (low + high);
  }

  /* Minutes of a driver in the mean; a toll is no minute, since it can be given back. */
  const mean = (p, state) => p * short(p, state) + (1 - p) * state.wide;

  /* The share at which the mean is least. */
  function best(state) {
    let [low, high] = [0, 1];
    for (let i = 0; i < 50; i += 1) {
      const [a, b] = [low + 0.382 * (high - low), low + 0.618 * (high - low)];
      if (mean(a, state) < mean(b, state)) high = b;
      else low = a;
    }
    return 0.5 * (low + high);
  }

  window.gpToll = { short, settles, mean, best };

  // ---------------------------------------------------------------- the page

  const SHARES = Array.from({ length: 81 }, (_, i) => i / 80);
  const TOLLS = Array.from({ length: 61 }, (_, i) => i);
  const START = { points: [], toll: 0, drivers: 40, wide: 60, power: 1 };
  const TRIALS = [
    ["Half an hour", { toll: 30 }],
    ["A ban", { toll: 60 }],
    ["Two drivers", { drivers: 2 }],
    ["A jam at the end", { power: 4 }],
    ["A quick way round", { wide: 35 }],
  ];
  const SLIDERS = [
    { name: "toll", label: ["Toll, minutes"], min: 0, max: 60, step: 1, digits: 0 },
    { name: "drivers", label: ["Drivers"], min: 2, max: 60, step: 1, digits: 0 },
    { name: "wide", label: ["Wide road, minutes"], min: 20, max: 60, step: 1, digits: 0 },
    { name: "power", label: ["Power of the crowd"], min: 1, max: 4, step: 1, digits: 0 },
  ];

  class TollPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "short road, and mean minutes"], ["rival", "short road with the toll"], ["truth", "wide road"],
        ["point", "where it settles"]];
    }
    get says() { return "Minutes on two roads by the share of drivers on the short one, and mean minutes by the toll. The arrow keys change the toll."; }

    heightOf(width) { return clamp(0.42 * width, [230, 310]); }

    scales() {
      const [top, bottom] = [8, this.height - 42];
      const middle = Math.round(0.5 * (this.width - 50)) + 20;
      const panels = [{ left: 50, right: middle - 20, top, bottom }, { left: middle + 46, right: this.width - 14, top, bottom }];
      this.roads = frame(panels[0], { x: [0, 1], y: [0, 125] });
      Object.assign(this, frame(panels[1], { x: [0, 60], y: [0, 65] }));
    }

    drawAxes() {} // with the curves

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("The best toll", "best", buttons, () => this.charge());
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    /* The whole minutes after which the mean is least. */
    charge() {
      const after = (toll) => mean(settles({ ...this.state, toll }), this.state);
      const toll = TOLLS.reduce((least, one) => (after(one) < after(least) - 1e-9 ? one : least), 0);
      this.move(0, toll);
    }

    // ------------------------------------------------------------ what is charged

    get stride() { return [1, 5]; }

    move(index, toll) {
      this.state.toll = Math.round(clamp(toll, [0, 60]));
      this.show(this.root.querySelector("[data-name=toll]"));
      this.draw();
    }

    add(toll) {
      if (toll < -1 || toll > 61) return; // beside the panel
      this.move(0, toll);
      this.select(0);
    }

    remove() {}

    describe() { return `A toll of ${this.state.toll} minutes. Left and right arrow keys change it.`; }

    // ------------------------------------------------------------ drawing

    paint() {
      const p = settles(this.state);
      this.result = { p, mean: mean(p, this.state), least: mean(best(this.state), this.state) };
      this.state.points = [[this.state.toll, this.result.mean]];
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.drawRoads();
      this.drawTolls();
      this.drawPoints();
      this.tell();
    }

    drawRoads() {
      const on = this.roads;
      this.spines(on, [0, 0.5, 1], ticks([0, 125]), ["share on the short road", "minutes"]);
      const parent = this.clipped(on);
      const alone = SHARES.map((p) => short(p, this.state));
      svg("path", { d: this.path(SHARES.map(() => this.state.wide), { on, grid: SHARES }), class: "gp-truth" }, parent);
      svg("path", { d: this.path(alone, { on, grid: SHARES }), class: "gp-mean" }, parent);
      svg("path", { d: this.path(alone.map((m) => m + this.state.toll), { on, grid: SHARES }), class: "gp-rival" }, parent);
      const at = this.result.p;
      svg("circle", { cx: on.px(at), cy: on.py(short(at, this.state) + this.state.toll), r: 5, class: "gp-dot" }, this.curves);
    }

    drawTolls() {
      this.spines(this, [0, 20, 40, 60], [0, 20, 40, 60], ["toll, minutes", "mean minutes"]);
      const after = TOLLS.map((toll) => mean(settles({ ...this.state, toll }), this.state));
      svg("path", { d: this.path(after, { grid: TOLLS }), class: "gp-mean" }, this.curves);
    }

    tell() {
      const { p, mean: now, least } = this.result;
      const part = `${(100 * p).toFixed(0)} % take the short road`;
      this.status.textContent = `With a toll of ${this.state.toll} minutes ${part}, and a driver needs ${now.toFixed(1)} minutes in the mean. `
        + `The least that any toll could do is ${least.toFixed(1)}.`;
    }
  }

  start("toll", TollPlayground);
})();
