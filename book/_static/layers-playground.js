/* A figure to operate: a composition of processes, layer by layer.

   Each layer is a draw of a Gaussian process at the values of the one before, with fixed normal numbers, so that
   only what the reader sets changes it. `window.gpLayers` has the composition, for a test to compare with the package. */
(function () {
  "use strict";

  const { covariance, gram, samples, fixedNormals } = window.gpNumbers;
  const { svg, html, frame, ticks, minus, OperatedFigure, start } = window.gpFigure;

  const MOST = 10;
  const STEP = 0.03; // twice as long, and the bends of a composition look like corners
  const PLACES = Array.from({ length: 201 }, (_, i) => -3 + STEP * i);

  /* The values after each layer; the normals of each layer are given. */
  function compose({ x, normals, signal, lengthscale, linear }) {
    const layers = [];
    let h = x;
    normals.forEach((z) => {
      const matrix = gram(h, h, covariance({ signal, lengthscale }));
      h = samples(linear ? h : h.map(() => 0), matrix, signal, [z])[0];
      layers.push(h);
    });
    return layers;
  }

  window.gpLayers = { compose };

  const START = { points: [], depth: 4, lengthscale: 1, signal: 1, mean: "zero", seed: 13 };
  const TRIALS = [
    ["Ten layers forget", { depth: 10 }],
    ["Short lengthscale: chaos", { depth: 8, lengthscale: 0.3 }],
    ["A linear mean keeps", { depth: 10, mean: "linear", signal: 0.3 }],
    ["One layer", { depth: 1 }],
  ];
  const SLIDERS = [
    { name: "depth", label: ["Depth T"], min: 1, max: MOST, step: 1, digits: 0 },
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.2, max: 3, step: 0.05 },
    { name: "signal", label: ["Signal \u03c3", "f"], min: 0.1, max: 3, step: 0.05 },
  ];

  class LayersPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-approximation"; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["mean", "the composition"], ["sample", "the layers below it"]]; }
    get says() { return "One draw of a composition of Gaussian processes, after each of its layers."; }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      this.chooser({ name: "mean", label: "Mean of a layer", options: { zero: "zero", linear: "the identity" } }, box);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.slides(buttons, "depth");
      this.button("Another draw", "again", buttons, () => this.again());
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    again() {
      this.state.seed += 1;
      this.draw();
    }

    add() {} // there are no points

    drawAxes() {} // with the curves, which they fit

    paint() {
      const { depth, lengthscale, signal, mean, seed } = this.state;
      const all = fixedNormals(PLACES.length * MOST, seed);
      const normals = Array.from({ length: depth }, (_, t) => all.slice(t * PLACES.length, (t + 1) * PLACES.length));
      this.layers = compose({ x: PLACES, normals, signal, lengthscale, linear: mean === "linear" });
      const far = 1.05 * Math.max(...this.layers.flat().map(Math.abs), 0.1);
      const on = frame({ left: 50, right: this.width - 18, top: 8, bottom: this.height - 42 }, { x: [-3, 3], y: [-far, far] });
      this.curves.replaceChildren();
      this.axes.replaceChildren();
      this.spines(on, [-3, -2, -1, 0, 1, 2, 3], ticks([-far, far]), ["x", "h(x)"]);
      this.layers.forEach((values, t) => {
        const last = t === depth - 1;
        const node = svg("path", { d: this.path(values, { on, grid: PLACES }), class: last ? "gp-mean" : "gp-sample" }, this.curves);
        if (!last) node.setAttribute("opacity", (0.25 + (0.5 * (t + 1)) / depth).toFixed(2));
      });
      this.tell();
    }

    /* Where the slope of the composition is small beside that of its input. */
    tell() {
      const values = this.layers[this.layers.length - 1];
      const slopes = values.slice(1).map((v, i) => Math.abs(v - values[i]) / STEP);
      const flat = slopes.filter((s) => s < 0.1).length / slopes.length;
      const reach = Math.max(...values) - Math.min(...values);
      const many = this.state.depth;
      this.status.textContent = minus(`After ${many} layer${many === 1 ? "" : "s"} the values reach over ${reach.toFixed(2)}; ${Math.round(100 * flat)} % of the line has a slope below 0.1.`);
    }
  }

  start("layers", LayersPlayground);
})();
