/* A figure to operate: three learners race on one map with a cliff, with the reader's exploration and step.

   The numbers come from a fixed generator; others are a button away. `window.gpLearners` holds the learners, so that
   a test can compare their tables with the package's. */
(function () {
  "use strict";

  const { fixedUniforms } = window.gpNumbers;
  const { svg, html, clamp, frame, ticks, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const MAP = ["......", "......", "......", "SCCCCG"];
  const [WIDE, HIGH] = [6, 4];
  const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]]; // up, right, down, left
  const [START, GOAL] = [18, 23];
  const [DISCOUNT, COST, SLIP] = [0.95, 0.05, 0.1];
  const [STEPS, BLOCK, RUNS] = [3000, 100, 24];

  /* Of each state and action: where it may lead, in the order of the states, with what probability, and what it
     earns on average. A step goes to the left or the right of where it was meant with half of SLIP each. */
  const PAIRS = Array.from({ length: WIDE * HIGH }, (_, s) => [0, 1, 2, 3].map((a) => {
    const chances = new Map();
    let earned = -COST;
    [[0, 1 - SLIP], [1, SLIP / 2], [3, SLIP / 2]].forEach(([turn, weight]) => {
      const [up, across] = MOVES[(a + turn) % 4];
      const i = clamp(Math.floor(s / WIDE) + up, [0, HIGH - 1]);
      const j = clamp((s % WIDE) + across, [0, WIDE - 1]);
      const letter = MAP[i][j];
      const to = letter === "C" ? START : i * WIDE + j;
      earned += weight * ({ C: -1, G: 1 }[letter] ?? 0);
      chances.set(to, (chances.get(to) ?? 0) + weight);
    });
    return { ways: [...chances].sort(([x], [y]) => x - y), earned };
  }));

  /* The first of the best actions. */
  const best = (row) => row.indexOf(Math.max(...row));

  /* Any action, or one of the best by lot: one number says both. */
  function choose(row, epsilon, uniform) {
    const u = uniform();
    if (u < epsilon) return Math.min(3, Math.floor((u / epsilon) * 4));
    const highest = Math.max(...row);
    const tied = [0, 1, 2, 3].filter((a) => row[a] === highest);
    return tied[Math.min(tied.length - 1, Math.floor(((u - epsilon) / (1 - epsilon)) * tied.length))];
  }

  function led({ ways }, uniform) {
    let left = uniform();
    return (ways.find(([, weight]) => (left -= weight) < 0) ?? ways.at(-1))[0];
  }

  /* What the next state is worth to each rule, with the action that is taken there. */
  const WORTH = {
    sarsa: (row, then) => row[then],
    expected: (row, then, epsilon) => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
      return (1 - epsilon) * Math.max(...row) + epsilon * mean;
    },
    q: (row) => Math.max(...row),
  };

  /* A learner from an empty table: the table, also as it was after each block of steps, and what it was paid a step
     in each. */
  function learn({ rule, epsilon, rate, seed, steps = STEPS, pairs = PAIRS }) {
    const uniform = fixedUniforms(seed);
    const table = PAIRS.map(() => [0, 0, 0, 0]);
    const paid = new Array(Math.ceil(steps / BLOCK)).fill(0);
    const after = [];
    let [s, a] = [START, choose(table[START], epsilon, uniform)];
    for (let t = 0; t < steps; t += 1) {
      const pair = pairs[s][a];
      const to = led(pair, uniform);
      const over = to === GOAL;
      const next = over ? START : to;
      let then = rule === "sarsa" && !over ? choose(table[to], epsilon, uniform) : null; // before it learns
      const ahead = over ? 0 : DISCOUNT * WORTH[rule](table[to], then, epsilon);
      table[s][a] += rate * (pair.earned + ahead - table[s][a]);
      paid[Math.floor(t / BLOCK)] += pair.earned / BLOCK;
      then ??= choose(table[next], epsilon, uniform);
      [s, a] = [next, then];
      if ((t + 1) % BLOCK === 0) after.push(table.map((row) => [...row]));
    }
    return { table, after, paid };
  }

  /* Means over runs: what was paid, and the table after each block. */
  function race(given) {
    const runs = Array.from({ length: RUNS }, (_, k) => learn({ ...given, seed: 1000 * given.seed + k }));
    const mean = (of) => runs.reduce((sum, run) => sum + of(run), 0) / RUNS;
    return {
      paid: runs[0].paid.map((_, i) => mean((run) => run.paid[i])),
      after: runs[0].after.map((_, i) => PAIRS.map((_, s) => [0, 1, 2, 3].map((a) => mean((run) => run.after[i][s][a])))),
    };
  }

  /* Where the best actions of a table lead from the start, if nothing goes astray. */
  function way(table) {
    const cells = [START];
    while (cells.length < 20 && cells.at(-1) !== GOAL) {
      const [up, across] = MOVES[best(table[cells.at(-1)])];
      const i = clamp(Math.floor(cells.at(-1) / WIDE) + up, [0, HIGH - 1]);
      const j = clamp((cells.at(-1) % WIDE) + across, [0, WIDE - 1]);
      if (cells.includes(i * WIDE + j)) break;
      cells.push(i * WIDE + j);
      if (MAP[i][j] === "C") break;
    }
    return cells;
  }

  window.gpLearners = { PAIRS, learn, race, way };

  // ---------------------------------------------------------------- the page

  const RULES = { sarsa: ["SARSA", "mean"], expected: ["expected SARSA", "rival"], q: ["Q-learning", "worth"] };
  const FIRST = { points: [], epsilon: 0.2, rate: 0.5, seed: 1 };
  const TRIALS = [
    ["Never at random", { epsilon: 0 }],
    ["Half at random", { epsilon: 0.5 }],
    ["Small steps", { rate: 0.05 }],
    ["Whole steps", { rate: 1 }],
  ];

  class LearnersPlayground extends OperatedFigure {
    get start() { return FIRST; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() {
      const worth = [["f", "worth more than nothing to Q-learning"], ["y-against", "worth less"]];
      return [...Object.values(RULES).map(([name, kind]) => [kind, name]), ...worth];
    }
    get says() { return "The reward per step of three learners, and the ways and values that they have learned. Exploration and step size are set below."; }
    get range() { return { x: [0, STEPS], y: [-0.12, 0.06] }; }
    get narrow() { return this.width < 560; }

    heightOf(width) {
      return width < 560 ? 250 + 0.6 * width : clamp(0.45 * width, [250, 320]);
    }

    /* The map stands at the right of the curves, or below them. */
    scales() {
      const size = this.narrow ? (this.width - 60) / WIDE : Math.min((0.42 * this.width) / WIDE, (this.height - 60) / HIGH);
      const right = this.narrow ? this.width - 18 : this.width - size * WIDE - 34;
      const bottom = this.narrow ? 208 : this.height - 42;
      Object.assign(this, frame({ left: 56, right, top: 8, bottom }, this.range));
      const [x, y] = this.narrow ? [30, 262] : [right + 24, (this.height - 42 - size * HIGH) / 2];
      this.map = { size, x: (j) => x + size * j, y: (i) => y + size * i };
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, ticks(this.range.x, this.narrow ? 3 : 5), [-0.1, -0.05, 0, 0.05], ["steps", ""]);
      const { size, x, y } = this.map;
      MAP.forEach((row, i) => [...row].forEach((letter, j) => {
        const box = { x: x(j), y: y(i), width: size, height: size };
        svg("rect", { ...box, class: letter === "C" ? "gp-abyss" : "gp-spine" }, this.axes);
        if (!"SG".includes(letter)) return;
        svg("text", { x: x(j) + 5, y: y(i) + size - 6 }, this.axes).textContent = letter;
      }));
    }

    controls() {
      this.root.classList.add("gp-still");
      const row = html("div", { class: "gp-controls" }, this.root);
      this.slider({ name: "epsilon", label: ["Share at random"], min: 0, max: 0.5, step: 0.02, digits: 2 }, row);
      this.slider({ name: "rate", label: ["Step"], min: 0.02, max: 1, step: 0.02, digits: 2 }, row);
      const buttons = html("div", { class: "gp-buttons" }, row);
      this.player(buttons, () => this.learnOn(), () => {}, 250);
      this.button("Other numbers", "again", buttons, () => {
        this.state.seed += 1;
        this.draw();
      });
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    add() {}

    /* What is learned after one block of steps more, from an empty table on, until all are made. */
    learnOn() {
      this.until = (this.until ?? 0) + 1;
      const more = this.until < STEPS / BLOCK;
      if (!more) this.until = undefined;
      this.draw();
      return more;
    }

    /* The table of a rule as it is now, and what was paid so far. */
    table(rule) { return this.result[rule].after.at((this.until ?? 0) - 1); }
    paid(rule) { return this.result[rule].paid.slice(0, this.until); }

    paint() {
      const key = JSON.stringify(this.state);
      if (key !== this.drawn) this.result = Object.fromEntries(Object.keys(RULES).map((rule) => [rule, race({ ...this.state, rule })]));
      this.drawn = key;
      this.curves.replaceChildren();
      const parent = this.clipped(this);
      const grid = this.paid("q").map((_, i) => BLOCK * (i + 0.5));
      this.drawWorth(this.table("q"));
      Object.entries(RULES).forEach(([rule, [, kind]], k) => {
        svg("path", { d: this.path(this.paid(rule), { grid }), class: `gp-${kind}` }, parent);
        this.drawWay(way(this.table(rule)), `gp-${kind}`, 0.3 + 0.2 * k);
      });
      this.tell();
    }

    /* What the best action of each cell is worth, as a shade. */
    drawWorth(table) {
      const { size, x, y } = this.map;
      table.forEach((row, s) => {
        const [i, j] = [Math.floor(s / WIDE), s % WIDE];
        if ("CG".includes(MAP[i][j])) return;
        const worth = Math.max(...row);
        const box = { x: x(j), y: y(i), width: size, height: size, "fill-opacity": clamp(0.6 * Math.abs(worth), [0, 0.6]).toFixed(3) };
        svg("rect", { ...box, class: worth > 0 ? "gp-tile-for" : "gp-tile-against" }, this.curves);
      });
    }

    /* A way as a line through the cells, at a height of its own. */
    drawWay(cells, name, at) {
      const { size, x, y } = this.map;
      const points = cells.map((s) => `${(x(s % WIDE) + at * size).toFixed(1)},${(y(Math.floor(s / WIDE)) + at * size).toFixed(1)}`);
      svg("path", { d: `M${points.join("L")}`, class: name }, this.curves);
    }

    tell() {
      const late = (paid) => paid.slice(-10).reduce((sum, one) => sum + one, 0) / Math.min(10, paid.length);
      const said = Object.entries(RULES).map(([rule, [name]]) => {
        const ends = way(this.table(rule)).at(-1) === GOAL;
        const paid = late(this.paid(rule)).toFixed(3).replace(/^-(0\.0+)$/, "$1").replace("-", "\u2212");
        return `${name} ${paid}${ends ? "" : " (its way does not arrive)"}`;
      });
      const over = this.until < 10 ? "so far" : "over the last thousand";
      const steps = this.until === undefined ? "Reward" : `After ${BLOCK * this.until} steps, reward`;
      this.status.textContent = `${steps} per step ${over}: ${said.join(", ")}.`;
    }
  }

  start("learners", LearnersPlayground);
})();
