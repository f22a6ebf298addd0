/* A figure to operate: a lake that the reader draws, with the value of each cell and the best heading there.

   The letters are those of the package's maps: # a rock, G the harbour, X the weir. `window.gpGrid` holds value
   iteration, so that a test can compare it with the package. */
(function () {
  "use strict";

  const { svg, html, OperatedFigure, start } = window.gpFigure;

  // ---------------------------------------------------------------- numbers

  const MOVES = [[-1, 0], [0, 1], [1, 0], [0, -1]]; // north, east, south, west
  const PAID = { G: 1, X: -1 };
  const TIE = 1e-7; // of actions that are as good, the first is taken

  const inside = (rows, i, j) => i >= 0 && i < rows.length && j >= 0 && j < rows[0].length && rows[i][j] !== "#";

  /* Where a move leads, and the wind of the column after it: numbers above zero blow north. */
  function moved(rows, wind, [i, j], [di, dj]) {
    if (inside(rows, i + di, j + dj)) [i, j, wind] = [i + di, j + dj, wind[j]];
    else wind = wind[j];
    for (let k = 0; k < Math.abs(wind); k += 1) if (inside(rows, i - Math.sign(wind), j)) i -= Math.sign(wind);
    return [i, j];
  }

  /* Of each state and action the states that may follow, with their probabilities, and the reward. */
  function table({ rows, wind, slip }) {
    const cells = rows.flatMap((row, i) => [...row].map((letter, j) => [i, j, letter])).filter(([, , letter]) => letter !== "#");
    const number = new Map(cells.map(([i, j], s) => [`${i},${j}`, s]));
    const shares = [[0, 1 - slip], [1, slip / 2], [3, slip / 2]].filter(([, share]) => share > 0);
    return cells.map(([i, j, letter], s) => MOVES.map((_, a) => {
      if (letter in PAID) return { reward: 0, next: [[s, 1]] };
      const next = shares.map(([turn, share]) => [number.get(moved(rows, wind, [i, j], MOVES[(a + turn) % 4]).join()), share]);
      return { reward: next.reduce((sum, [to, share]) => sum + share * (PAID[cells[to][2]] || 0), 0), next };
    }));
  }

  /* Value iteration, until no value can be off by more than the tolerance, or for so many sweeps. */
  function solve({ discount, tolerance = 1e-9, most = Infinity, ...map }) {
    const steps = table(map);
    let values = steps.map(() => 0);
    for (let sweeps = 1; ; sweeps += 1) {
      const ahead = steps.map((actions) => actions.map(({ reward, next }) =>
        reward + discount * next.reduce((sum, [to, share]) => sum + share * values[to], 0)));
      const best = ahead.map((q) => Math.max(...q));
      const change = Math.max(...best.map((v, s) => Math.abs(v - values[s])));
      values = best;
      if ((discount / (1 - discount)) * change <= tolerance || sweeps >= most) {
        return { values, policy: ahead.map((q, s) => q.findIndex((one) => one >= best[s] - TIE)), sweeps };
      }
    }
  }

  window.gpGrid = { solve };

  // ---------------------------------------------------------------- the page

  const ROWS = ["........G", ".##...#..", "......#..", ".........", ".#....##.", "S..XXXX.."];
  const START = { points: [], rows: ROWS, wind: [0, 0, 0, -1, -1, -1, 0, 0, 0], slip: 0.2, discount: 0.97, brush: "#" };
  const BRUSHES = { "#": "Rock", X: "Weir, \u22121", G: "Harbour, +1", ".": "Open water" };
  const SAID = { "#": "rock", X: "weir", G: "harbour", ".": "open water", S: "the start" };
  const HEADINGS = ["north", "east", "south", "west"];
  const WINDS = { "-1": "blows south", 0: "is calm", 1: "blows north" };
  const TRIALS = [
    ["No wind", { wind: START.wind.map(() => 0) }],
    ["More gusts", { slip: 0.5 }],
    ["Short sight", { discount: 0.7 }],
    ["No rocks", { rows: ROWS.map((row) => row.replaceAll("#", ".")) }],
    ["Wind from the south", { wind: START.wind.map((w) => -w) }],
  ];

  class GridPlayground extends OperatedFigure {
    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["f", "worth more than nothing"], ["y-against", "worth less"], ["inside", "rocks; H the harbour, W the weir"]]; }
    get says() { return "A map of cells with the best heading in each. A cell is changed by Enter; arrow keys go from cell to cell."; }

    get columns() { return this.state.rows[0].length; }
    get height_() { return this.state.rows.length + 1; } // a row for the wind above the map

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "brush", label: "A click sets", options: BRUSHES }, box);
      this.slider({ name: "slip", label: ["Gusts"], min: 0, max: 0.8, step: 0.05 }, box);
      this.slider({ name: "discount", label: ["Discount \u03b3"], min: 0.3, max: 0.99, step: 0.01 }, box);
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.player(buttons, () => this.sweep(), () => {}, 150);
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    heightOf(width) {
      this.side = Math.min(50, Math.floor((width - 8) / this.columns));
      return this.side * this.height_ + 8;
    }

    scales() { this.left = (this.width - this.side * this.columns) / 2; }

    drawAxes() { this.axes.replaceChildren(); }

    /* What each tile is drawn of; filled by the first drawing. */
    get parts() { return (this.made ||= []); }

    /* Tiles are numbered row by row; those of the first row are the winds. */
    place(tile) { return [Math.floor(tile / this.columns) - 1, tile % this.columns]; }

    /* The number of a tile, by its element; below zero for another element. */
    numberOf(element) { return this.parts.findIndex(({ group }) => group === element); }

    pointer() {
      this.svg.addEventListener("click", (event) => {
        const tile = event.target.closest(".gp-tile");
        if (tile) this.change(this.numberOf(tile));
      });
    }

    keyboard() {
      const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      this.marks.addEventListener("keydown", (event) => {
        const tile = this.numberOf(event.target);
        if (tile < 0) return;
        if (event.key in steps) {
          const [i, j] = [this.place(tile)[0] + steps[event.key][0], this.place(tile)[1] + steps[event.key][1]];
          if (i >= -1 && i < this.height_ - 1 && j >= 0 && j < this.columns) this.focusOn((i + 1) * this.columns + j);
        } else if (event.key === "Enter" || event.key === " ") this.change(tile);
        else return;
        event.preventDefault();
      });
    }

    focusOn(tile) {
      this.selected = tile;
      this.mark();
      this.parts[tile].group.focus();
    }

    /* A wind turns; a cell becomes what the brush is, or open water if it is that. The start stays. */
    change(tile) {
      const [i, j] = this.place(tile);
      const { rows, wind, brush } = this.state;
      if (i < 0) this.state.wind = wind.map((w, k) => (k === j ? [-1, 0, 1][(w + 2) % 3] : w));
      else if (rows[i][j] !== "S") {
        const letter = rows[i][j] === brush ? "." : brush;
        this.state.rows = rows.map((row, k) => (k === i ? row.slice(0, j) + letter + row.slice(j + 1) : row));
      }
      this.selected = tile;
      this.draw();
    }

    add() {}

    /* The values after one sweep more, from nothing on, until they no longer change. */
    sweep() {
      this.until = (this.until ?? 0) + 1;
      this.draw();
      const more = this.result.sweeps === this.until;
      if (!more) this.until = undefined;
      return more;
    }

    /* A map of the same size, with its start where it is, and winds that there are. */
    taken(name, value) {
      if (name === "wind") return value.length === START.wind.length && value.every((w) => w in WINDS) ? value : undefined;
      if (name !== "rows") return super.taken(name, value);
      const [letters, before] = [value.join(""), ROWS.join("")];
      const fits = value.length === ROWS.length && value.every((row) => row.length === ROWS[0].length);
      const drawn = (letter, i) => (letter === "S" ? before[i] === "S" : letter in BRUSHES && before[i] !== "S");
      return fits && [...letters].every(drawn) ? value : undefined;
    }

    paint() {
      this.result = solve({ ...this.state, most: this.until });
      this.tiles();
      let s = 0;
      this.state.rows.forEach((row, i) => [...row].forEach((letter, j) => {
        const state = letter === "#" ? -1 : (s += 1) - 1;
        this.cell((i + 1) * this.columns + j, letter, state);
      }));
      this.state.wind.forEach((w, j) => this.windy(j, w));
      this.mark();
      this.tell();
    }

    /* Tiles are made once, so that the focus stays on the one that is being changed. */
    tiles() {
      while (this.parts.length < this.columns * this.height_) {
        const group = svg("g", { class: "gp-tile", role: "button", tabindex: "-1" }, this.marks);
        this.parts.push({
          group,
          worth: svg("rect", { class: "gp-tile-worth" }, group),
          rim: svg("rect", { class: "gp-tile-rim" }, group),
          heading: svg("path", { class: "gp-tile-heading" }, group),
          word: svg("text", { "aria-hidden": "true" }, group),
        });
      }
      this.parts.forEach(({ group, worth, rim }, tile) => {
        const [i, j] = this.place(tile);
        group.setAttribute("transform", `translate(${this.left + j * this.side},${(i + 1) * this.side + 4})`);
        [worth, rim].forEach((box) => ["width", "height"].forEach((name) => box.setAttribute(name, this.side - 1)));
      });
    }

    /* An arrow in the middle of a tile. */
    arrow([di, dj]) {
      const [mid, half, head] = [(this.side - 1) / 2, 0.3 * this.side, 0.13 * this.side];
      const at = (along, across) => `${mid + along * dj + across * di},${mid + along * di - across * dj}`;
      return `M${at(-half, 0)}L${at(half, 0)}M${at(half - head, head)}L${at(half, 0)}L${at(half - head, -head)}`;
    }

    fill(tile, { look = "", worth = 0, path = "", text = "", says }) {
      const { group, worth: box, heading, word } = this.parts[tile];
      box.setAttribute("class", `gp-tile-worth ${look}`);
      box.style.fillOpacity = worth;
      heading.setAttribute("d", path);
      word.textContent = text;
      word.setAttribute("x", (this.side - 1) / 2);
      word.setAttribute("y", (this.side - 1) / 2 + 5);
      group.setAttribute("aria-label", says);
    }

    cell(tile, letter, state) {
      const [i, j] = this.place(tile);
      const where = `Row ${i + 1}, column ${j + 1}: ${SAID[letter]}`;
      if (letter === "#") return this.fill(tile, { look: "gp-tile-rock", worth: 0.6, says: where });
      const v = this.result.values[state];
      const look = (letter === "X" ? -1 : v) < 0 ? "gp-tile-against" : "gp-tile-for";
      if (letter in PAID) return this.fill(tile, { look, worth: 0.75, text: letter === "G" ? "H" : "W", says: where });
      const heading = this.result.policy[state];
      const says = `${where}, worth ${v.toFixed(2)}, head ${HEADINGS[heading]}`;
      this.fill(tile, { look, worth: 0.7 * Math.min(1, Math.abs(v)), path: this.arrow(MOVES[heading]), says });
    }

    windy(j, w) {
      const path = w ? this.arrow([-w, 0]) : "";
      this.fill(j, { path, text: w ? "" : "\u00b7", says: `Wind of column ${j + 1} ${WINDS[w]}` });
      this.parts[j].group.classList.add("gp-tile-wind");
    }

    /* One tile can be reached by the tabulator; from it arrow keys lead on. */
    mark() {
      const kept = this.selected >= 0 ? this.selected : this.columns;
      this.parts.forEach(({ group }, tile) => group.setAttribute("tabindex", tile === kept ? "0" : "-1"));
    }

    tell() {
      const letters = this.state.rows.join("");
      const state = letters.slice(0, letters.indexOf("S")).replaceAll("#", "").length;
      const worth = this.result.values[state].toFixed(2).replace("-", "\u2212");
      this.status.textContent = `The start, in the corner below, is worth ${worth}. ${this.until ? "After" : "Value iteration took"} ${this.result.sweeps} sweeps${this.until ? " of value iteration" : ""}. ` +
        "A click on a cell changes it; one above a column turns its wind.";
    }
  }

  start("grid", GridPlayground);
})();
