/* A figure to operate: a chain on a density with two modes, whose step and rule the reader sets.

   The numbers come from a fixed generator; others are a button away. `window.gpChain` holds the numerical functions,
   so that a test can compare them with the package. */
(function () {
  "use strict";

  const { fixedNormals, fixedUniforms } = window.gpNumbers;
  const { svg, html, clamp, frame, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const COUNT = 400;
  const WIDTH = 0.7; // of each hill
  const HILLS = [3, 7];
  const LEAPS = 10; // of a Hamiltonian path
  const DOUBLINGS = 6; // of a path without a U-turn, at most
  const LOST = 1000; // of the energy, with which such a path is given up
  const PRIOR = { mean: 5, sd: 2 }; // of elliptical slices
  const FAR = 1e6; // where a chain that is never adjusted has left everything

  /* The log density up to a constant, and its slope. */
  function density(x) {
    const logs = HILLS.map((at) => -0.5 * ((x - at) / WIDTH) ** 2);
    const top = Math.max(...logs);
    const weights = logs.map((log) => Math.exp(log - top));
    const total = weights[0] + weights[1];
    const slope = HILLS.reduce((sum, at, i) => sum - (weights[i] / total) * ((x - at) / WIDTH ** 2), 0);
    return { value: top + Math.log(total), slope };
  }

  const energy = ({ value, r }) => 0.5 * r * r - value;

  function leapfrog({ x, r, slope }, step) {
    const half = r + 0.5 * step * slope;
    const to = x + step * half;
    const there = density(to);
    return { ...there, x: to, r: half + 0.5 * step * there.slope };
  }

  /* The places on a path of leapfrog steps, and the momentum at its end; one that has left everything is not gone on. */
  function leapfrogs(x, momentum, step) {
    const path = [{ ...density(x), x, r: momentum }];
    while (path.length <= LEAPS && Math.abs(path.at(-1).x) < FAR) path.push(leapfrog(path.at(-1), step));
    return { path: path.map((one) => one.x), momentum: path.at(-1).r };
  }

  const normal = (uniform) => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

  /* What is left of the log density when a normal prior is taken away. */
  const likelihood = (x) => density(x).value + 0.5 * ((x - PRIOR.mean) / PRIOR.sd) ** 2;

  /* A step of elliptical slice sampling: the tries, each with the bracket of angles from which it was drawn. */
  function ellipse(x, step, uniform) {
    const [own, other] = [x - PRIOR.mean, PRIOR.sd * normal(uniform)];
    const at = (angle) => PRIOR.mean + own * Math.cos(angle) + other * Math.sin(angle);
    const level = likelihood(x) + Math.log1p(-uniform());
    const above = (angle) => likelihood(at(angle)) >= level;
    let angle = 2 * Math.PI * uniform();
    let [low, high] = [angle - 2 * Math.PI, angle];
    const tries = [{ angle, low, high }];
    while (!above(angle)) {
      if (angle < 0) low = angle;
      else high = angle;
      angle = low + (high - low) * uniform();
      tries.push({ angle, low, high });
    }
    return { to: at(angle), own, other, above, tries };
  }

  const logSum = (a, b) => Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));

  /* Two paths as one, and whether it turns back. On a line a momentum at an end points against the sum of all, where no
     part has turned before, if and only if the momenta at the two ends have different signs. */
  function join(tree, more, forward, to) {
    const [early, late] = forward ? [tree, more] : [more, tree];
    const [{ first }, { last }] = [early, late];
    return { first, last, to, weight: logSum(tree.weight, more.weight), ends: first.r * last.r <= 0, path: [...early.path, ...late.path] };
  }

  /* A step of the no-U-turn sampler: a path doubled until it turns back, and what was left out of it. */
  function doubled(x, step, uniform) {
    const start = { ...density(x), x, r: normal(uniform) };
    const leaf = (at) => ({ first: at, last: at, to: at, weight: energy(start) - energy(at), path: [at.x] });
    const choose = (old, more, log) => (uniform() < Math.exp(Math.min(0, log)) ? more.to : old.to);
    const seen = [];
    const grow = (tree, depth, forward) => {
      if (!depth) {
        const one = leaf(leapfrog(forward ? tree.last : tree.first, forward ? step : -step));
        seen.push(one.to.x);
        return { ...one, ends: !(one.weight > -LOST) };
      }
      const inner = grow(tree, depth - 1, forward);
      const outer = inner.ends ? inner : grow(inner, depth - 1, forward);
      if (outer.ends) return outer;
      return join(inner, outer, forward, choose(inner, outer, outer.weight - logSum(inner.weight, outer.weight)));
    };
    let tree = leaf(start);
    for (let depth = 0; depth < DOUBLINGS && !tree.ends; depth += 1) {
      const forward = uniform() < 0.5;
      seen.length = 0;
      const more = grow(tree, depth, forward);
      if (more.ends) return { ...tree, to: tree.to.x, out: seen };
      tree = join(tree, more, forward, choose(tree, more, more.weight - tree.weight));
    }
    return { ...tree, to: tree.to.x, out: [] };
  }

  const DRAWN = { slice: ellipse, nuts: doubled }; // rules that draw as many numbers as they need, and refuse nothing

  /* All places of a chain. A step of the other rules has three normal numbers: its noise, and two whose squares decide.
     The noise of every rule has the deviation `step`: a Langevin step is half its square. */
  function walk({ rule, step, seed, count = COUNT }) {
    const z = fixedNormals(3 * count, seed);
    const [places, paths] = [[HILLS[0]], []];
    let [accepted, here] = [0, density(HILLS[0])];
    const drift = rule === "walk" ? 0 : 0.5 * step * step;
    const uniform = fixedUniforms(seed);
    for (let i = 0; i < count; i += 1) {
      const x = places.at(-1);
      if (rule in DRAWN) {
        const last = DRAWN[rule](x, step, uniform);
        accepted += last.to !== x;
        places.push(last.to);
        paths.push(last);
        continue;
      }
      const { path, momentum } = rule === "hmc" ? leapfrogs(x, z[3 * i], step) : { path: [x] };
      const to = rule === "hmc" ? path.at(-1) : x + drift * here.slope + step * z[3 * i];
      const there = density(to);
      const back = rule === "hmc" ? momentum : (x - to - drift * there.slope) / step;
      paths.push({ path });
      const ratio = there.value - here.value - 0.5 * (back * back - z[3 * i] ** 2);
      const level = -0.5 * (z[3 * i + 1] ** 2 + z[3 * i + 2] ** 2); // the logarithm of a uniform number
      const taken = rule === "ula" || Math.abs(to) >= FAR ? Math.abs(to) < FAR : level < ratio;
      if (taken) [accepted, here] = [accepted + 1, there];
      places.push(taken ? to : x);
    }
    return { places, paths, accepted };
  }

  window.gpChain = { density, walk, COUNT };

  // ---------------------------------------------------------------- the page

  const START = { points: [], rule: "walk", step: 0.3, seed: 1 };
  const RULES = {
    walk: "Random walk", mala: "MALA", ula: "ULA", hmc: "Hamiltonian, ten leapfrog steps", nuts: "No-U-turn sampler",
    slice: "Elliptical slices",
  };
  const TRIALS = [
    ["Timid", { step: 0.1 }],
    ["Bold", { step: 8 }],
    ["About right", { step: 2.5 }],
    ["Never adjusted", { rule: "ula", step: 0.9 }],
    ["Leapfrog paths", { rule: "hmc", step: 0.3 }],
    ["No U-turn", { rule: "nuts", step: 0.3 }],
    ["Elliptical slices", { rule: "slice" }],
  ];

  class ChainPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["mean", "the chain"], ["f", "its draws"], ["density", "the density"]]; }
    get says() { return "Four hundred steps of a chain on a density with two modes. The step is set below."; }
    get range() { return { x: [0, COUNT], y: [0, 10] }; }

    /* With room for the density at the right. */
    scales() {
      const side = clamp(0.22 * this.width, [60, 130]);
      const box = { left: 50, right: this.width - side - 14, top: 8, bottom: this.height - 42 };
      Object.assign(this, frame(box, this.range));
      this.side = { left: box.right + 6, width: side };
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [0, 100, 200, 300, 400], [0, 2, 4, 6, 8, 10], ["step", "x"]);
    }

    controls() {
      this.root.classList.add("gp-still");
      const row = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "rule", label: "Rule", options: RULES }, row);
      this.slider({ name: "step", label: ["Step"], min: 0.1, max: 10, step: 0.1, digits: 1 }, row);
      const buttons = html("div", { class: "gp-buttons" }, row);
      this.player(buttons, () => this.walkOn(), () => {}, 60);
      this.button("Other numbers", "again", buttons, () => {
        this.state.seed += 1;
        this.draw();
      });
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    add() {}

    /* Two steps more of the chain are shown, from its first on, until all are. */
    walkOn() {
      this.until = (this.until ?? 0) + 2;
      const more = this.until < COUNT;
      if (!more) this.until = undefined;
      this.draw();
      return more;
    }

    paint() {
      this.result = walk(this.state);
      this.root.querySelector("[data-name=step]").disabled = this.state.rule === "slice"; // which has none
      const places = this.result.places.slice(0, this.until === undefined ? undefined : this.until + 1);
      this.curves.replaceChildren();
      const parent = this.clipped(this);
      const line = places.map((x, i) => `${i ? "L" : "M"}${this.px(i).toFixed(1)},${this.py(x).toFixed(1)}`).join("");
      svg("path", { d: line, class: "gp-mean" }, parent);
      if (this.until !== undefined) svg("circle", { cx: this.px(this.until), cy: this.py(places.at(-1)), r: 5, class: "gp-newest" }, this.curves);
      this.drawSide(places);
      this.tell(places);
    }

    /* The share of draws in each stretch of the line, and the density, both lying on their side. */
    drawSide(places) {
      const bins = Array.from({ length: 40 }, (_, i) => places.filter((x) => x >= i / 4 && x < (i + 1) / 4).length);
      const most = 0.5 / (WIDTH * Math.sqrt(2 * Math.PI)); // the height of the density
      const across = (height) => this.side.left + clamp((height / most) * 0.6, [0, 1]) * this.side.width;
      bins.forEach((many, i) => {
        const [low, high] = [this.py(i / 4), this.py((i + 1) / 4)];
        const end = across((4 * many) / places.length);
        if (many) svg("path", { d: `M${this.side.left},${low}H${end}V${high}H${this.side.left}Z`, class: "gp-band gp-band-f" }, this.curves);
      });
      const grid = Array.from({ length: 101 }, (_, i) => i / 10);
      const hill = grid.map((x) => `${across(most * Math.exp(density(x).value)).toFixed(1)},${this.py(x).toFixed(1)}`);
      svg("path", { d: `M${this.side.left},${this.py(0)}L${hill.join("L")}L${this.side.left},${this.py(10)}Z`, class: "gp-density" }, this.curves);
      if (this.until === undefined) return;
      const last = this.result.paths[this.until - 1];
      if (last.tries) this.drawEllipse(last);
      else this.drawPath(last, (x) => across(most * Math.exp(density(x).value)));
    }

    /* The last ellipse, drawn over the density: its slice, the brackets of the last tries outside it, and the tries. */
    drawEllipse({ own, other, above, tries }) {
      const { left, width } = this.side;
      const panel = this.clipped({ left, right: left + width, top: this.py(10), bottom: this.py(0) });
      const wide = (0.4 * width) / Math.hypot(own, other); // the other number has no axis, so any width will do
      const put = (angle, by = 1) => {
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        return [left + 0.5 * width + wide * by * (other * cos - own * sin), this.py(PRIOR.mean + by * (own * cos + other * sin))];
      };
      const arc = (low, high, look, by, is = () => true) => {
        const angles = Array.from({ length: 181 }, (_, i) => low + ((high - low) * i) / 180);
        const line = angles.map((angle, i) => is(angle) ? `${i && is(angles[i - 1]) ? "L" : "M"}${put(angle, by).map((at) => at.toFixed(1))}` : "");
        svg("path", { d: line.join(""), class: look }, panel);
      };
      const dot = (angle, r, look) => {
        const [cx, cy] = put(angle);
        svg("circle", { cx, cy, r, class: look }, panel);
      };
      arc(0, 2 * Math.PI, "gp-truth", 1);
      arc(0, 2 * Math.PI, "gp-mean", 1, above);
      tries.slice(-3).reverse().forEach(({ low, high }, i) => arc(low, high, "gp-exact", 1.08 + 0.08 * i));
      dot(0, 5, "gp-own");
      tries.slice(0, -1).forEach(({ angle }) => dot(angle, 2.5, "gp-own"));
      dot(tries.at(-1).angle, 4, "gp-newest");
    }

    /* The last leapfrog path, as it runs along the density; where it was doubled, rings around its ends, and hollow
       what was left out. */
    drawPath({ path, out, first, last }, across) {
      const dots = (places, r, look) => places.filter((x) => x > 0 && x < 10)
        .forEach((x) => svg("circle", { cx: across(x), cy: this.py(x), r, class: look }, this.curves));
      if (out) dots([first.x, last.x], 5, "gp-own");
      dots(out ?? [], 2.5, "gp-own");
      dots(path, 2.5, "gp-newest");
    }

    /* Of the steps that are shown. */
    tell(places) {
      const sides = places.map((x) => x > 5);
      const crossed = sides.filter((side, i) => i && side !== sides[i - 1]).length;
      const moved = places.filter((x, i) => i && x !== places[i - 1]).length;
      const taken = Math.round((100 * moved) / (places.length - 1));
      const above = Math.round((100 * sides.filter(Boolean).length) / sides.length);
      const when = this.until === undefined ? "" : `After ${this.until} steps: `;
      const moves = this.state.rule in DRAWN ? "steps move" : "proposals taken";
      const { tries, path, out } = this.result.paths[this.until - 1] ?? {};
      const count = (many, one, more) => `${many} ${many === 1 ? one : more}`;
      const last = tries ? ` The last step took ${count(tries.length, "try", "tries")}.`
        : out ? ` The last path has ${count(path.length, "place", "places")}${out.length ? `, with ${out.length} more left out` : ""}.` : "";
      this.status.textContent = `${when}${taken} % of the ${moves}; from hill to hill ${crossed} times; ` +
        `${above} % of the draws beyond the middle, where half of the probability is.${last}`;
    }
  }

  start("chain", ChainPlayground);
})();
