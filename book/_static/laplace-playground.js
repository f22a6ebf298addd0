/* A figure to operate: a density made of humps, and the bell that has its mode and its curvature there.

   The reader drags the tops of the humps. `window.gpLaplace` holds the numerical function, so that a test can
   compare it with quadrature. */
(function () {
  "use strict";

  const { svg, html, clamp, minus, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const ROUND = Math.sqrt(2 * Math.PI);
  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  /* Shares of the humps (each [place, height]) in the density at x, and the density. */
  function shares(humps, width, x) {
    const parts = humps.map(([m, h]) => h * Math.exp(-0.5 * ((x - m) / width) ** 2));
    const density = total(parts);
    return { density, share: parts.map((part) => part / density) };
  }

  /* Uphill from x: to the mean of the humps by their shares, which never lowers the density, and again. */
  function uphill(humps, width, x) {
    for (let i = 0; i < 20000; i += 1) {
      const next = total(shares(humps, width, x).share.map((w, j) => w * humps[j][0]));
      if (Math.abs(next - x) < 1e-12) return next;
      x = next;
    }
    return x;
  }

  /* The bell at one top: its height, its variance (infinite where the top is flat) and its area. */
  function bell(humps, width, mode) {
    const { density, share } = shares(humps, width, mode);
    const mean = total(share.map((w, j) => w * humps[j][0]));
    const spread = total(share.map((w, j) => w * (humps[j][0] - mean) ** 2));
    const curvature = (1 - spread / width ** 2) / width ** 2;
    const variance = curvature * width ** 2 > 1e-3 ? 1 / curvature : Infinity; // all but flat is flat
    return { mode, height: density, variance, area: ROUND * density * Math.sqrt(variance) };
  }

  /* All tops of a density of humps of one width, the highest first; its area, mean and variance. */
  function laplace(humps, width) {
    const height = (x) => shares(humps, width, x).density;
    const dip = (a, b) => height((a + b) / 2) < Math.min(height(a), height(b)) * (1 - 1e-12);
    const modes = [];
    humps.map(([m]) => uphill(humps, width, m)).sort((a, b) => a - b).forEach((top) => {
      const last = modes.length - 1;
      if (last < 0 || dip(modes[last], top)) modes.push(top);
      else modes[last] = [modes[last], (modes[last] + top) / 2, top].reduce((a, b) => (height(b) > height(a) ? b : a));
    });
    const bells = modes.map((mode) => bell(humps, width, mode)).sort((a, b) => b.height - a.height);
    const heights = total(humps.map(([, h]) => h));
    const mean = total(humps.map(([m, h]) => h * m)) / heights;
    const variance = width ** 2 + total(humps.map(([m, h]) => h * (m - mean) ** 2)) / heights;
    return { bells, area: ROUND * width * heights, mean, variance };
  }

  window.gpLaplace = { laplace, density: (humps, width, x) => shares(humps, width, x).density };

  // ---------------------------------------------------------------- the page

  const RANGE = { x: [0, 10], y: [0, 1.5] };
  const FINE = Array.from({ length: 401 }, (_, i) => i / 40);
  const START = { points: [[3, 1], [6.5, 0.7]], width: 0.8, bells: "highest" };
  const BELLS = { highest: "at the highest mode", all: "at every mode, added" };
  const TRIALS = [
    ["One hump", { points: [[5, 1]] }],
    ["Nearly one", { points: [[4.3, 1], [5.7, 0.9]], width: 0.8 }],
    ["A flat top", { points: [[4.2, 1], [5.8, 1]], width: 0.8 }],
    ["A small, far one", { points: [[3, 1], [8.5, 0.25]], width: 0.6 }],
    ["A bell at every mode", { bells: "all" }],
  ];
  const SLIDERS = [{ name: "width", label: ["Width of a hump"], min: 0.3, max: 2, step: 0.05 }];

  class LaplacePlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get range() { return RANGE; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["exact", "density"], ["mean", "Laplace's bell"], ["point", "tops of the humps"]];
    }
    get says() { return "A density of a few humps, and Laplace's bell. Each hump can be moved with the arrow keys."; }

    placed(x, y) {
      return [clamp(x, RANGE.x), clamp(y, [0.05, 1.3])];
    }

    describe(i, x, y) {
      const many = this.state.points.length;
      return `Hump ${i + 1} of ${many}: at ${x.toFixed(1)}, ${y.toFixed(2)} high. Arrow keys move it, Delete removes it.`;
    }

    add(x, y) {
      if (this.state.points.length < 6) super.add(x, y);
    }

    remove(index) {
      if (this.state.points.length > 1) super.remove(index);
    }

    taken(name, value) {
      if (name === "points" && (value.length < 1 || value.length > 6)) return undefined;
      return super.taken(name, value);
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "bells", label: "Bell", options: BELLS }, box);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Remove the selected hump", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, ticks(RANGE.x), [0, 0.5, 1, 1.5], ["f", "likelihood times prior"]);
    }

    paint() {
      const { points, width, bells } = this.state;
      this.result = laplace(points, width);
      this.shown = this.result.bells.slice(0, bells === "all" ? undefined : 1);
      const height = (x) => total(this.shown.map(({ mode, height: top, variance }) => top * Math.exp(-0.5 * (x - mode) ** 2 / variance)));
      this.curves.replaceChildren();
      const inside = this.clipped(this);
      const density = FINE.map((x) => shares(points, width, x).density);
      svg("path", { d: this.path(density, { grid: FINE }), class: "gp-exact" }, inside);
      svg("path", { d: this.path(FINE.map(height), { grid: FINE }), class: "gp-mean" }, inside);
      this.drawPoints();
      this.tell();
    }

    tell() {
      const { bells, area, variance } = this.result;
      const many = `${bells.length} mode${bells.length === 1 ? "" : "s"}`;
      const held = total(this.shown.map((one) => one.area));
      const sd = Math.sqrt(this.shown[0].variance);
      this.status.textContent = !Number.isFinite(held)
        ? `${many}. The mode is all but flat: its curvature is close to zero, and there is no bell.`
        : `${many}. The area under the density is ${area.toFixed(2)}, that of ${this.shown.length === 1 ? "the bell" : "the bells"} ${held.toFixed(2)}: `
          + `its logarithm is ${minus(Math.log(held / area).toFixed(2))} off. `
          + `The sd of the ${this.shown.length === 1 ? "bell" : "highest bell"} is ${sd.toFixed(2)}, that of the density ${Math.sqrt(variance).toFixed(2)}.`;
    }
  }

  start("laplace", LaplacePlayground);
})();
