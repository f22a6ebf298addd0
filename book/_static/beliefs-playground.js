/* A figure to operate: a belief about a machine with three states, on a triangle, and the planes that say what to do.

   `window.gpBeliefs` holds the numerical functions, so that a test can compare them with the package. */
(function () {
  "use strict";

  const { svg, html, frame, clamp, minus, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const STATES = ["good", "worn", "broken"];
  const ACTIONS = ["run", "examine", "replace"];
  const SEEN = [["a sound part", "a bad part"], ["it is good", "it is worn", "it is broken"], ["a new machine"]];
  const DISCOUNT = 0.95;
  const SOUND = [0.9, 0.8, 0.6];
  const STILL = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const NEW = [[1, 0, 0], [1, 0, 0], [1, 0, 0]];

  const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);

  /* Moves, rewards and chances of what is seen, each by action. */
  function machine({ look, price, breaks }) {
    const wears = [[0.94, 0.05, 0.01], [0, 1 - breaks, breaks], [0, 0, 1]];
    return {
      moves: [wears, STILL, NEW],
      rewards: [[1, 0.5, -2], [-look, -look, -look], [-price, -price, -price]],
      seen: [SOUND.map((p) => [p, 1 - p]), STILL, NEW.map(() => [1])],
    };
  }

  /* The chance of what is seen after an action, and what is then believed. */
  function update({ moves, seen }, belief, action, kind) {
    const joint = STATES.map((_, to) => dot(belief, moves[action].map((row) => row[to])) * seen[action][to][kind]);
    const chance = joint.reduce((sum, one) => sum + one, 0);
    return { chance, belief: chance > 0 ? joint.map((one) => one / chance) : belief };
  }

  /* The beliefs whose probabilities are multiples of 1/n. */
  function grid(n) {
    const points = [];
    for (let i = 0; i <= n; i += 1) for (let j = 0; j <= n - i; j += 1) points.push([i / n, j / n, (n - i - j) / n]);
    return points;
  }

  const NEARLY = 1e-9;
  /* The first of the numbers that is the largest, up to rounding. */
  function first(heights) {
    const top = Math.max(...heights);
    return heights.findIndex((one) => one >= top - NEARLY);
  }

  /* The planes of one more step, one for each point, equal ones once. */
  function backup(model, planes, points) {
    const ahead = model.moves.map((rows, a) => model.seen[a][0].map((_, kind) => planes.map(({ heights }) =>
      rows.map((row) => DISCOUNT * row.reduce((sum, p, to) => sum + p * model.seen[a][to][kind] * heights[to], 0)))));
    const found = new Map();
    points.forEach((belief) => {
      const each = ACTIONS.map((_, a) => ahead[a].reduce((sum, kinds) => {
        const best = kinds[first(kinds.map((one) => dot(one, belief)))];
        return sum.map((one, s) => one + best[s]);
      }, model.rewards[a]));
      const action = first(each.map((one) => dot(one, belief)));
      found.set(`${action}:${each[action].map((one) => one.toFixed(9))}`, { action, heights: each[action] });
    });
    return [...found.values()];
  }

  const POINTS = grid(12);

  function plan({ steps, ...given }) {
    const model = machine(given);
    let planes = [{ action: 0, heights: [0, 0, 0] }];
    for (let step = 0; step < steps; step += 1) planes = backup(model, planes, POINTS);
    return { model, planes };
  }

  /* The part of a polygon of beliefs where a plane is not below zero. */
  function above(polygon, plane) {
    const heights = polygon.map((belief) => dot(plane, belief));
    return polygon.flatMap((belief, i) => {
      const j = (i + 1) % polygon.length;
      const kept = heights[i] >= 0 ? [belief] : [];
      if (heights[i] * heights[j] >= 0) return kept;
      const part = heights[i] / (heights[i] - heights[j]);
      return [...kept, belief.map((p, s) => p + part * (polygon[j][s] - p))];
    });
  }

  /* The corners of the region where each plane is the highest: convex, and empty where it never is. */
  function regions(planes) {
    return planes.map((plane, k) => planes.reduce((polygon, other, j) => (j === k || polygon.length < 3 ? polygon
      : above(polygon, plane.map((one, s) => one - other[s] + (j > k ? NEARLY : -NEARLY)))), STILL))
      .map((polygon) => (polygon.length < 3 ? [] : polygon));
  }

  window.gpBeliefs = { machine, update, plan, grid, regions };

  // ---------------------------------------------------------------- the page

  const HIGH = Math.sqrt(3) / 2;
  const RANGE = { x: [-0.08, 1.08], y: [-0.1, 0.98] };
  const place = ([, worn, broken]) => [worn + broken / 2, broken * HIGH];
  const START = { points: [place([0.8, 0.15, 0.05])], look: 0.1, price: 5, breaks: 0.2, steps: 30, trail: [] };
  const TRIALS = [
    ["One step ahead", { steps: 1 }],
    ["Three steps", { steps: 3 }],
    ["Examining is dear", { look: 1 }],
    ["Machines are cheap", { price: 2 }],
  ];
  const SLIDERS = [
    { name: "steps", label: ["Steps ahead"], min: 1, max: 40, step: 1, digits: 0 },
    { name: "look", label: ["Price of examining"], min: 0, max: 1.5, step: 0.05 },
    { name: "price", label: ["New machine"], min: 1, max: 10, step: 0.5, digits: 1 },
    { name: "breaks", label: ["Worn ones break"], min: 0.02, max: 0.5, step: 0.02 },
  ];

  /* The belief at a place of the page; outside the triangle the nearest that is cut off. */
  function believed([x, y]) {
    const broken = clamp(y / HIGH, [0, 1]);
    const worn = clamp(x - broken / 2, [0, 1 - broken]);
    return [1 - worn - broken, worn, broken];
  }

  class BeliefsPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get range() { return RANGE; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["run", "run"], ["examine", "examine"], ["replace", "replace"], ["point", "your belief"]]; }
    get says() { return "A triangle of beliefs about a machine, coloured by what to do. The arrow keys move your belief."; }

    heightOf(width) { return clamp(0.72 * width, [250, 400]); }

    /* The triangle keeps its shape. */
    scales() {
      const [width, height] = [RANGE.x[1] - RANGE.x[0], RANGE.y[1] - RANGE.y[0]];
      const scale = Math.min(this.width / width, this.height / height);
      const left = (this.width - scale * width) / 2;
      Object.assign(this, frame({ left, right: left + scale * width, top: 0, bottom: scale * height }, RANGE));
    }

    placed(x, y) { return place(believed([x, y])); }

    drawAxes() {
      this.axes.replaceChildren();
      STATES.forEach((name, s) => {
        const [x, y] = place(STILL[s]);
        const text = svg("text", { x: this.px(x), y: this.py(y) + (s === 2 ? -8 : 18), "text-anchor": "middle" }, this.axes);
        text.textContent = name;
      });
    }

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.hours = html("div", { class: "gp-buttons gp-hours" }, box);
      const columns = html("div", { class: "gp-columns" }, box);
      SLIDERS.forEach((one) => this.slider(one, columns));
      const row = html("div", { class: "gp-buttons" }, box);
      this.slides(row, "steps", { every: 300 });
      this.button("Start again", "reset", row, () => this.reset());
    }

    add(x, y) { this.move(0, x, y); }

    remove() {}

    move(index, x, y) {
      this.state.trail = [];
      super.move(index, x, y);
    }

    describe(i, x, y) {
      const shares = believed([x, y]).map((p, s) => `${STATES[s]} ${Math.round(100 * p)} %`).join(", ");
      return `Your belief: ${shares}. Arrow keys move it.`;
    }

    paint() {
      const { steps, look, price, breaks } = this.state;
      const key = [steps, look, price, breaks].join();
      if (key !== this.key) [this.key, this.result] = [key, plan(this.state)];
      this.curves.replaceChildren();
      this.drawRegions();
      this.drawTrail();
      this.drawPoints();
      this.tell();
    }

    best(belief) {
      return first(this.result.planes.map(({ heights }) => dot(heights, belief)));
    }

    /* Where each plane is the highest, and the borders between them. Of equal planes the first is on top. */
    drawRegions() {
      const outline = (beliefs) => `M${beliefs.map((belief) => {
        const [x, y] = place(belief);
        return `${this.px(x).toFixed(2)},${this.py(y).toFixed(2)}`;
      }).join("L")}Z`;
      const { planes } = this.result;
      const found = regions(planes.map(({ heights }) => heights));
      const drawn = found.map((region, k) => region.length && { path: outline(region), action: planes[k].action }).filter(Boolean);
      drawn.reverse().forEach(({ path, action }) => svg("path", { d: path, class: `gp-act gp-act-${ACTIONS[action]}` }, this.curves));
      svg("path", { d: drawn.map(({ path }) => path).join(""), class: "gp-border" }, this.curves);
      svg("path", { d: outline(STILL), class: "gp-row" }, this.curves);
    }

    drawTrail() {
      const { trail, points } = this.state;
      if (!trail.length) return;
      const line = [...trail, points[0]].map(([x, y]) => `${this.px(x).toFixed(1)},${this.py(y).toFixed(1)}`);
      svg("path", { d: `M${line.join("L")}`, class: "gp-trail" }, this.curves);
    }

    /* A button for each thing that may be seen after the action that the plan takes here. */
    tell() {
      const belief = believed(this.state.points[0]);
      const plane = this.result.planes[this.best(belief)];
      const worth = dot(plane.heights, belief);
      this.hours.replaceChildren();
      html("span", {}, this.hours, `It says: ${ACTIONS[plane.action]}. You see`);
      SEEN[plane.action].forEach((words, kind) => {
        const { chance, belief: next } = update(this.result.model, belief, plane.action, kind);
        const button = this.button(words, `see-${kind + 1}`, this.hours, () => this.see(next));
        button.disabled = chance < NEARLY;
      });
      const shares = belief.map((p, s) => `${STATES[s]} ${Math.round(100 * p)} %`).join(", ");
      const used = new Set(POINTS.map((one) => this.best(one))).size;
      this.status.textContent = minus(`${shares}: ${ACTIONS[plane.action]}, worth ${worth.toFixed(2)} over ` +
        `${this.state.steps} ${this.state.steps === 1 ? "step" : "steps"}; ${used} ${used === 1 ? "plane" : "planes"}.`);
    }

    see(next) {
      this.state.trail = [...this.state.trail.slice(-30), this.state.points[0]];
      this.state.points = [place(next)];
      this.draw();
      const button = this.hours.querySelector("button:not(:disabled)");
      if (button) button.focus();
    }
  }

  start("beliefs", BeliefsPlayground);
})();
