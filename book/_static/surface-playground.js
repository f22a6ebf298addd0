/* A figure to operate: a curve in the plane from touches, each a place and a normal.

   The curve is where the posterior mean of a process is zero that has read values and slopes. `window.gpSurface`
   holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { evidence, halfSolve, halfSolveTransposed, dot } = window.gpNumbers;
  const { svg, html, clamp, frame, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  /* Rows are places with a label: 0 sees the value there, 1 and 2 the slopes by either coordinate. The squared
     exponential kernel with its slopes; the signal's variance stands before it. */
  function correlation([x, y, label], [u, v, other], ell) {
    const apart = [0, (x - u) / ell, (y - v) / ell];
    const value = Math.exp(-0.5 * (apart[1] ** 2 + apart[2] ** 2));
    if (!label && !other) return value;
    if (!label) return (value * apart[other]) / ell;
    if (!other) return (-value * apart[label]) / ell;
    return (value * (Number(label === other) - apart[label] * apart[other])) / ell ** 2;
  }

  const normal = (angle) => [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  const degrees = (up, right) => (Math.atan2(up, right) * 180) / Math.PI;

  /* Mean and standard deviation of f at places, where touches [x, y, angle] say that it is zero and rises along
     the normal. `level` is the prior mean, and all readings have the same noise. */
  function surface({ touches, places, lengthscale, signal, noise, level }) {
    const values = touches.map(([x, y]) => [x, y, 0]);
    const slopes = touches.flatMap(([x, y]) => [[x, y, 1], [x, y, 2]]);
    const x = [...values, ...slopes];
    const y = [...values.map(() => -level), ...touches.flatMap(([, , angle]) => normal(angle))];
    const { k, lower, half } = evidence({ x, y, noise, signal, lengthscale, kernel: correlation });
    const alpha = halfSolveTransposed(lower, half);
    const [mean, sd] = [[], []];
    places.forEach(([a, b]) => {
      const row = x.map((seen) => k([a, b, 0], seen));
      const explained = halfSolve(lower, row);
      mean.push(level + dot(row, alpha));
      sd.push(Math.sqrt(Math.max(signal * signal - dot(explained, explained), 0)));
    });
    return { mean, sd };
  }

  /* Marching squares: where values on a grid change their sign, as chains of places. Each cell links the edges that
     are crossed; where all four are, its middle decides. */
  function trace({ xs, ys }, values) {
    const [places, links] = [new Map(), new Map()];
    const at = ([i, j]) => values[j * xs.length + i];
    const link = (a, b) => [[a, b], [b, a]].forEach(([from, to]) => links.set(from, [...(links.get(from) ?? []), to]));
    const crossed = (one, other, edge) => {
      const [a, b] = [at(one), at(other)];
      if (a >= 0 === b >= 0) return false;
      const share = a / (a - b);
      places.set(edge, [xs, ys].map((axis, d) => axis[one[d]] + share * (axis[other[d]] - axis[one[d]])));
      return true;
    };
    for (let j = 0; j + 1 < ys.length; j += 1) {
      for (let i = 0; i + 1 < xs.length; i += 1) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
        const edge = 2 * (j * xs.length + i); // an even one goes right from its place, an odd one up
        const edges = [edge, edge + 3, edge + 2 * xs.length, edge + 1];
        const cut = edges.filter((id, e) => crossed(corners[e], corners[(e + 1) % 4], id));
        if (cut.length === 2) link(...cut);
        if (cut.length !== 4) continue;
        const middle = corners.reduce((sum, corner) => sum + at(corner), 0) >= 0;
        const first = middle === at(corners[0]) >= 0 ? 0 : 3;
        link(edges[first], edges[(first + 1) % 4]);
        link(edges[(first + 2) % 4], edges[(first + 3) % 4]);
      }
    }
    const left = new Set(links.keys());
    const walk = (from, closed) => {
      const chain = [];
      for (let id = from; id !== undefined; id = links.get(id).find((next) => left.has(next))) {
        left.delete(id);
        chain.push(places.get(id));
      }
      return { closed, chain };
    };
    const walks = (from, closed) => from.flatMap((id) => (left.has(id) ? [walk(id, closed)] : []));
    const open = walks([...links.keys()].filter((id) => links.get(id).length === 1), false);
    return [...walks([...left], true), ...open];
  }

  /* The borders of where values on a grid are positive, closed along the edge of the grid. */
  function borders({ xs, ys }, values) {
    const [wide, outside] = [xs.length, new Array(xs.length + 2).fill(-1)];
    const rows = ys.map((_, j) => [-1, ...values.slice(j * wide, (j + 1) * wide), -1]);
    const [across, up] = [xs, ys].map((axis) => [axis[0], ...axis, axis.at(-1)]);
    return trace({ xs: across, ys: up }, [...outside, ...rows.flat(), ...outside]);
  }

  window.gpSurface = { correlation, surface, trace, borders };

  // ---------------------------------------------------------------- the page

  const ROOM = { x: [-3, 3], y: [-2.4, 2.4] };
  const CELLS = { xs: Array.from({ length: 61 }, (_, i) => i / 10 - 3), ys: Array.from({ length: 49 }, (_, i) => i / 10 - 2.4) };
  const PLACES = CELLS.ys.flatMap((y) => CELLS.xs.map((x) => [x, y]));
  const TIP = 0.6; // how long a normal is drawn
  const MOST = 16;
  const turned = (angle) => Math.round(angle - 360 * Math.round(angle / 360));

  /* Eight touches of a bean, x [cos, 0.62 sin + 0.38 cos squared - 0.25], and which way it faces there. */
  const RING = Array.from({ length: 8 }, (_, i) => {
    const [cos, sin] = normal(45 * i + 13.5);
    return [cos, 0.62 * sin + 0.38 * cos * cos - 0.25, turned(degrees(sin, 0.62 * cos - 0.76 * cos * sin))];
  });
  const START = { points: [], touches: [[0, 0, 90]], lengthscale: 1, noise: 0.01, level: 0 };
  const TRIALS = [
    ["Eight touches", { touches: RING, lengthscale: 1.2 }],
    ["One turned", { lengthscale: 1.2, touches: RING.map(([x, y, angle], i) => [x, y, i === 1 ? turned(angle + 180) : angle]) }],
    ["A hole", { touches: RING.filter(([x]) => x < 0.8), lengthscale: 1.2 }],
    ["Short lengthscale", { touches: RING, lengthscale: 0.6 }],
    ["A prior mean", { touches: RING, lengthscale: 0.6, level: 0.5 }],
  ];
  const SLIDERS = [
    { name: "lengthscale", label: ["Lengthscale \u2113"], min: 0.4, max: 3, step: 0.1, digits: 1 },
    { name: "noise", label: ["Noise \u03c3", "n"], min: 0.01, max: 0.5, step: 0.01 },
    { name: "level", label: ["Prior mean c", "0"], min: 0, max: 1, step: 0.1, digits: 1 },
  ];
  const many = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

  class SurfacePlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      return [["mean", "the mean is zero"], ["f", "zero is within 2 sd"], ["inside", "surely inside"], ["point", "touches and normals"]];
    }
    get says() { return "A curve from touches with normals. Arrow keys move a touch, and turn a normal."; }

    heightOf(width) { return 0.8 * (width - 64) + 54; }

    scales() {
      Object.assign(this, frame({ left: 46, right: this.width - 18, top: 12, bottom: this.height - 42 }, ROOM));
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [-3, -2, -1, 0, 1, 2, 3], [-2, -1, 0, 1, 2], ["x\u2081", "x\u2082"]);
    }

    controls() {
      this.root.classList.add("gp-beside");
      const box = html("div", { class: "gp-controls" }, this.root);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.button("Turn the normal round", "turn", buttons, () => this.turn(this.selected, 180));
      this.button("Remove the touch", "remove", buttons, () => this.remove(this.selected));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    /* Each touch has two points: its own place, and the tip of its normal. */
    placed(x, y) { return [clamp(x, [-2.6, 2.6]), clamp(y, [-2, 2])]; }

    taken(name, value) {
      if (name !== "touches") return super.taken(name, value);
      return value.slice(0, MOST).map(([x, y, angle]) => [...this.placed(x, y), turned(angle)]);
    }

    /* A new touch faces away from the middle of the others. */
    add(x, y) {
      const { touches } = this.state;
      if (Math.abs(x) > 3.1 || Math.abs(y) > 2.5 || touches.length >= MOST) return;
      const [u, v] = [0, 1].map((d) => touches.reduce((sum, touch) => sum + touch[d], 0) / touches.length);
      touches.push([...this.placed(x, y), touches.length ? turned(degrees(y - v, x - u)) : 90]);
      this.select(2 * touches.length - 2);
    }

    move(index, x, y) {
      const touch = this.state.touches[index >> 1];
      if (index % 2 === 0) touch.splice(0, 2, ...this.placed(x, y));
      else touch[2] = turned(degrees(y - touch[1], x - touch[0]));
      this.draw();
    }

    turn(index, by) {
      this.state.touches[index >> 1][2] = turned(this.state.touches[index >> 1][2] + by);
      this.draw();
    }

    remove(index) {
      if (index < 0) return;
      this.state.touches.splice(index >> 1, 1);
      this.select(Math.max(2 * Math.min(index >> 1, this.state.touches.length - 1), -1));
    }

    keyboard() {
      const ways = { ArrowLeft: 5, ArrowUp: 5, ArrowRight: -5, ArrowDown: -5 };
      this.marks.addEventListener("keydown", (event) => {
        const index = [...this.marks.children].indexOf(event.target);
        if (index % 2 === 0 || !(event.key in ways)) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        this.turn(index, ways[event.key] * (event.shiftKey ? 6 : 1));
      });
      super.keyboard();
    }

    describe(index, x, y) {
      const which = `ouch ${(index >> 1) + 1} of ${this.state.touches.length}`;
      return index % 2 === 0
        ? minus(`T${which}: x1 = ${x.toFixed(1)}, x2 = ${y.toFixed(1)}.`) + " Arrow keys move it, Delete removes it."
        : minus(`Normal of t${which}: ${this.state.touches[index >> 1][2]} degrees.`) + " Arrow keys turn it.";
    }

    mark() {
      super.mark();
      [...this.marks.children].forEach((node, i) => node.classList.toggle("gp-tip", i % 2 === 1));
      this.able("turn", this.selected >= 0, "Select a point first");
    }

    paint() {
      const { touches, lengthscale, noise, level } = this.state;
      this.result = surface({ touches, places: PLACES, lengthscale, signal: lengthscale, noise, level });
      const { mean, sd } = this.result;
      const [lower, upper] = [-2, 2].map((by) => mean.map((m, i) => m + by * sd[i]));
      this.zeros = trace(CELLS, mean);
      this.curves.replaceChildren();
      const area = (values) => this.lines(borders(CELLS, values));
      svg("path", { d: area(upper.map((v) => -v)), class: "gp-inside", "fill-rule": "evenodd" }, this.curves);
      svg("path", { d: area(upper) + area(lower), class: "gp-band gp-band-f", "fill-rule": "evenodd" }, this.curves);
      svg("path", { d: this.lines(this.zeros), class: "gp-mean" }, this.curves);
      this.state.points = touches.flatMap(([x, y, angle]) => [[x, y], normal(angle).map((n, d) => [x, y][d] + TIP * n)]);
      const stalks = touches.map((_, i) => ({ chain: this.state.points.slice(2 * i, 2 * i + 2) }));
      svg("path", { d: this.lines(stalks), class: "gp-normal" }, this.curves);
      this.drawPoints();
      this.tell();
    }

    lines(chains) {
      const spot = ([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`;
      return chains.map(({ closed, chain }) => `M${chain.map(spot).join("L")}${closed ? "Z" : ""}`).join("");
    }

    tell() {
      const { touches, level } = this.state;
      const { mean, sd } = this.result;
      const share = (where) => `${Math.round((100 * mean.filter(where).length) / mean.length)} %`;
      const [closed, open] = [true, false].map((is) => this.zeros.filter((one) => one.closed === is).length);
      const lines = open ? `, and ${many(open, "line that leaves", "lines that leave")} the picture` : "";
      const zeros = touches.length + level === 0
        ? "The mean is zero everywhere: nothing tells a curve from its surroundings."
        : `The zero set has ${many(closed, "closed piece")}${lines}.`;
      const read = `${many(touches.length, "touch", "touches")}: ${many(touches.length, "value")} and ${many(2 * touches.length, "slope")} are read`;
      this.status.textContent = `${read}${touches.length >= MOST ? ", and no more fit in" : ""}. ${zeros} `
        + `Of the picture ${share((m, i) => m < -2 * sd[i])} is surely inside; on ${share((m, i) => Math.abs(m) <= 2 * sd[i])} zero is within 2 sd.`;
    }
  }

  start("surface", SurfacePlayground);
})();
