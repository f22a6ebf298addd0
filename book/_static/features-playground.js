/* A figure to operate: how many random waves stand in for the kernel, and what they make of the error bars.

   The frequencies come from a fixed generator; another set of them is a button away. `window.gpFeatures` holds
   the kernel of the features, so that a test can compare what is drawn with the package. */
(function () {
  "use strict";

  const { posterior, dot, fixedNormals } = window.gpNumbers;
  const { GRID, svg, html, OperatedFigure, start } = window.gpFigure;

  /* The mean of cos(\u03c9 (a \u2212 b)/\u2113) over standard normal frequencies \u03c9, for one lengthscale: the product of the
     points' features, pairs of sines and cosines, which are found once for each point. */
  function correlation(frequencies) {
    const scale = 1 / Math.sqrt(frequencies.length);
    const known = new Map();
    const features = (x, ell) => {
      if (known.ell !== ell) known.clear();
      known.ell = ell;
      if (!known.has(x)) known.set(x, frequencies.flatMap((w) => [scale * Math.cos((w * x) / ell), scale * Math.sin((w * x) / ell)]));
      return known.get(x);
    };
    return (a, b, ell) => dot(features(a, ell), features(b, ell));
  }

  window.gpFeatures = { correlation };

  const MOST = 400;
  const START = {
    points: [[0.4, -0.2], [0.9, 0.5], [1.3, 1.1], [1.8, 1.2], [2.2, 0.7], [2.7, 0.2], [3.1, -0.6], [3.6, -0.9], [4.1, -0.7], [4.4, -0.1]],
    pairs: 20,
    lengthscale: 0.8,
    noise: 0.2,
    signal: 1,
    seed: 5,
  };
  const TRIALS = [
    ["Three waves", { pairs: 3 }],
    ["A hundred", { pairs: 100 }],
    ["Four hundred", { pairs: MOST }],
    ["A short lengthscale", { lengthscale: 0.3 }],
  ];
  const SLIDERS = [
    { name: "pairs", label: ["Pairs of features"], min: 1, max: MOST, step: 1, digits: 0 },
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.2, max: 3, step: 0.05 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.06, max: 1, step: 0.02 },
  ];

  class FeaturesPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "mean from the features"], ["f", "f: 2 sd"], ["exact", "exact process"], ["point", "observations"]];
    }
    get says() { return "A Gaussian process on random Fourier features. Each observation can be moved with the arrow keys."; }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.slides(buttons, "pairs", { every: 300 });
      this.button("Other frequencies", "again", buttons, () => this.again());
      this.button("Remove the selected observation", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    again() {
      this.state.seed += 1;
      this.draw();
    }

    paint() {
      const { points, pairs, seed, ...prior } = this.state;
      const given = { x: points.map((p) => p[0]), y: points.map((p) => p[1]), xs: GRID, ...prior };
      this.frequencies = fixedNormals(MOST, seed).slice(0, pairs);
      this.result = posterior({ ...given, kernel: correlation(this.frequencies) });
      this.exact = posterior(given);
      this.curves.replaceChildren();
      this.band(this.result.mean, this.result.varianceF, "f");
      this.outline(this.exact.mean, this.exact.varianceF);
      svg("path", { d: this.path(this.result.mean), class: "gp-mean" }, this.curves);
      this.drawPoints();
      this.tell();
    }

    /* How wide the bands are beyond the readings, where waves cannot be uncertain about everything. */
    tell() {
      const beyond = GRID.map((x, i) => i).filter((i) => this.state.points.every(([x]) => Math.abs(x - GRID[i]) > this.state.lengthscale));
      const mean = (variance) => beyond.reduce((sum, i) => sum + Math.sqrt(variance[i]), 0) / beyond.length;
      const { pairs } = this.state;
      const waves = `${pairs} pair${pairs === 1 ? "" : "s"} of features`;
      this.status.textContent = beyond.length === 0
        ? `${waves}. No place is further than a lengthscale from all observations.`
        : `${waves}. Further than a lengthscale from all observations, one sd of f is ${mean(this.result.varianceF).toFixed(2)} on average; the exact process says ${mean(this.exact.varianceF).toFixed(2)}.`;
    }
  }

  start("features", FeaturesPlayground);
})();
