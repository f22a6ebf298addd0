/* What all figures have in common that a reader operates: axes, curves and bands, points that are dragged
   or moved with the arrow keys, sliders and buttons. A figure says what its points are and what it draws.
   Nothing is asked of any other host, and it runs on file://. */
(function () {
  "use strict";

  const DOMAIN = { x: [0, 10], y: [-3, 3] };
  const GRID = Array.from({ length: 121 }, (_, i) => i / 12);
  const SVG = "http://www.w3.org/2000/svg";
  const ROOM = 140; // pixels
  let clips = 0; // so that each has its name

  function svg(name, attributes, parent) {
    const node = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (parent) parent.appendChild(node);
    return node;
  }

  function html(name, attributes, parent, text) {
    const node = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (text) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }

  function clamp(value, [low, high]) {
    return Math.min(high, Math.max(low, value));
  }

  /* Where the data of a panel stand in the picture, given its edges and what they mean. What lies
     far above or below is drawn no further off than the panel is high. */
  function frame({ left, right, top, bottom }, { x, y }) {
    const sx = (right - left) / (x[1] - x[0]);
    const sy = (bottom - top) / (y[1] - y[0]);
    const far = [2 * y[0] - y[1], 2 * y[1] - y[0]];
    return {
      left, right, top, bottom,
      px: (v) => left + sx * (v - x[0]),
      py: (v) => bottom - sy * (clamp(v, far) - y[0]),
      invertX: (p) => (p - left) / sx + x[0],
      invertY: (p) => (bottom - p) / sy + y[0],
    };
  }

  /* Round numbers between two, at most so many. */
  function ticks([low, high], most = 5) {
    const base = 10 ** Math.floor(Math.log10((high - low) / most));
    const step = [1, 2, 5, 10].map((by) => by * base).find((size) => high - low <= most * size);
    const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
    return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
  }

  /* A number in a few characters. */
  const few = (value) => (value !== 0 && Math.abs(value) < 0.01 ? value.toExponential(0) : value.toFixed(2));

  const minus = (text) => String(text).replace("-", "\u2212");
  /* With two digits, and no sign where these are zero. */
  const said = (value) => minus(value.toFixed(2)).replace(/^\u2212(0\.00)$/, "$1");

  /* A value of a state in an address: rows parted by semicolons, numbers or words in a row by commas. */
  function spelled(value) {
    if (Array.isArray(value)) return value.map(spelled).join(Array.isArray(value[0]) ? ";" : ",");
    return typeof value === "number" ? String(Number(value.toPrecision(7))) : encodeURIComponent(value);
  }

  /* It read again, as a value like another one, or nothing where it is none. */
  const MANY = 100;
  function read(text, like) {
    if (!Array.isArray(like)) return typeof like !== "number" ? text : text.trim() === "" ? NaN : Number(text);
    return text === "" ? [] : text.split(Array.isArray(like[0]) ? ";" : ",").map((part) => read(part, like[0]));
  }

  function alike(value, like) {
    if (!Array.isArray(like)) return typeof like !== "number" || Number.isFinite(value);
    const rows = !Array.isArray(like[0]) || value.every((row) => row.length === like[0].length);
    return rows && value.length <= MANY && value.every((part) => alike(part, like[0]));
  }

  /* A subclass has `start` (its state, with `points`), `role` (of the colours), `trialsOf`, `legendOf` and
     `says`, and brings `controls` and `paint`. Its points are readings, within `range`, unless it says otherwise. */
  class OperatedFigure {
    constructor(root) {
      this.root = root;
      this.state = structuredClone(this.start);
      this.selected = -1;
      this.root.classList.add("gp-playground", this.role);
      this.build();
      this.width = this.plot.clientWidth || 640;
      new ResizeObserver(() => this.resize()).observe(this.plot);
      this.resize();
      if (!this.keptOnReload()) this.arrive();
      addEventListener("hashchange", () => this.arrive());
    }

    /* A page that is loaded again has its figures as they were left, where the browser stores anything. */
    keptOnReload() {
      const key = `gp-figure ${location.pathname} ${this.root.dataset.gpPlayground}`;
      const [{ type } = {}] = performance.getEntriesByType("navigation");
      try {
        addEventListener("pagehide", () => sessionStorage.setItem(key, this.address));
        const left = sessionStorage.getItem(key);
        if (!left || type !== "reload") return false;
        this.restore(left);
        return true;
      } catch (refused) {
        return false;
      }
    }

    /* Plot and state line are one scene, which stays in a telephone's window while the controls go by. */
    build() {
      this.trials();
      this.legend();
      this.scene = html("div", { class: "gp-scene" }, this.root);
      this.plot = html("div", { class: "gp-plot" }, this.scene);
      this.svg = svg("svg", { role: "group", "aria-label": this.says }, this.plot);
      this.axes = svg("g", { class: "gp-axes", "aria-hidden": "true" }, this.svg);
      this.curves = svg("g", { "aria-hidden": "true" }, this.svg);
      this.marks = svg("g", {}, this.svg);
      this.status = html("p", { class: "gp-status", role: "status" }, this.scene);
      this.controls();
      this.addressed();
      this.pointer();
      this.keyboard();
    }

    legend() {
      const list = html("ul", { class: "gp-legend", "aria-label": "Legend" }, this.root);
      this.legendOf.forEach(([kind, text]) => {
        const item = html("li", {}, list);
        html("span", { class: `gp-swatch gp-swatch-${kind}`, "aria-hidden": "true" }, item);
        item.appendChild(document.createTextNode(text));
      });
    }

    trials() {
      const row = html("div", { class: "gp-buttons gp-trials", role: "group", "aria-label": "Things to try" }, this.root);
      html("span", { "aria-hidden": "true" }, row, "Try:");
      this.tries = this.trialsOf.map(([name], i) => this.button(name, `try-${i + 1}`, row, () => this.attempt(i)));
    }

    /* A thing to try stays pressed while all that it changed is as it left it. Pressed again it is tried
       afresh, and where nothing has been done since, it takes the reader back to where he was before. */
    attempt(number) {
      const { before = structuredClone(this.state), number: last, after } = this.tried ?? {};
      this.tried = null;
      if (last === number && this.address === after) return this.become(before);
      const [, changes] = this.trialsOf[number];
      this.become(changes);
      const changed = (name) => name in changes || this.spelled(name) !== this.spelled(name, this.start);
      const left = this.kept.filter(changed).map((name) => [name, this.spelled(name)]);
      this.tried = { number, before, left, after: this.address };
      this.showTried();
    }

    showTried() {
      if (this.tried?.left.some(([name, value]) => this.spelled(name) !== value)) this.tried = null;
      this.tries.forEach((button, i) => button.setAttribute("aria-pressed", String(this.tried?.number === i)));
    }

    chooser({ name, label, options }, parent) {
      const row = html("label", { class: "gp-slider" }, parent);
      html("span", {}, row, label);
      const select = html("select", { "data-name": name }, row);
      Object.entries(options).forEach(([value, said]) => html("option", { value }, select, said));
      select.value = this.state[name];
      select.addEventListener("change", () => {
        this.state[name] = select.value;
        this.draw();
      });
    }

    slider({ name, label, min, max, step, digits = 2 }, parent) {
      const row = html("label", { class: "gp-slider" }, parent);
      const words = html("span", {}, row);
      label.forEach((part, i) => html(i === 1 ? "sub" : "span", {}, words, part));
      const input = html("input", { type: "range", min, max, step, "data-name": name }, row);
      html("output", {}, row);
      input.dataset.spoken = label[0].split(" ")[0].toLowerCase();
      input.dataset.digits = digits;
      this.show(input);
      input.addEventListener("input", () => {
        this.state[name] = Number(input.value);
        this.show(input);
        this.draw();
      });
    }

    button(text, action, parent, handler) {
      const node = html("button", { type: "button", "data-action": action }, parent, text);
      node.addEventListener("click", handler);
      return node;
    }

    /* A button that plays: `step` again and again, until it has no more to do or the figure is touched. At the end it
       begins anew. The right arrow key takes one step, and so does the button where a reader wants no motion. */
    player(parent, step, rewind = () => this.reset(), every = 600) {
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      let timer = 0;
      const goes = (id) => {
        timer = id;
        node.textContent = still ? "One step" : timer ? "Pause" : "Play";
        this.status.setAttribute("aria-live", timer ? "off" : "polite"); // or each step would be read out
      };
      const stop = () => {
        clearInterval(timer);
        goes(0);
      };
      const once = () => {
        if (step()) return;
        stop();
        rewind();
        step();
      };
      const node = this.button("Play", "play", parent, () => {
        if (timer) return stop();
        once();
        if (!still) goes(setInterval(() => step() || stop(), every));
      });
      node.addEventListener("keydown", (event) => {
        if (event.key !== "ArrowRight") return;
        event.preventDefault();
        stop();
        once();
      });
      this.root.addEventListener("pointerdown", (event) => event.target === node || stop());
      document.addEventListener("visibilitychange", stop);
      goes(0);
    }

    /* A button that moves a slider to its end. */
    slides(parent, name, { by = 1, every } = {}) {
      const input = this.root.querySelector(`input[data-name="${name}"]`);
      const put = (value) => {
        this.state[name] = value;
        this.show(input);
        this.draw();
      };
      const step = () => {
        const [now, end] = [this.state[name], Number(input.max)];
        if (now < end) put(Math.min(now + by, end));
        return now < end;
      };
      this.player(parent, step, () => put(Number(input.min)), every);
    }

    /* The value of a slider as it is shown. */
    worded(value, digits) {
      return value.toFixed(digits);
    }

    /* A slider takes its value from the state, in figures and in words. */
    show(input) {
      input.value = this.state[input.dataset.name];
      const value = this.worded(this.state[input.dataset.name], Number(input.dataset.digits));
      input.nextElementSibling.textContent = value;
      input.setAttribute("aria-valuetext", `${input.dataset.spoken} ${value}`);
    }

    /* The start with some of it changed. */
    become(changes) {
      this.state = structuredClone({ ...this.start, ...changes });
      this.selected = -1;
      this.until = undefined; // what is played is shown as a whole again
      this.root.querySelectorAll("input[type=range]").forEach((input) => this.show(input));
      this.root.querySelectorAll("select").forEach((select) => (select.value = this.state[select.dataset.name]));
      this.draw();
    }

    reset() {
      this.become({});
    }

    // ------------------------------------------------------------ addresses

    /* What of a state makes an address. What the start has none of is found by drawing, or passes. */
    get kept() {
      return Object.keys(this.start).filter((name) => this.start[name].length !== 0);
    }

    spelled(name, state = this.state) {
      return spelled(name === "points" ? state.points.map(([x, y]) => this.placed(x, y)) : state[name]);
    }

    /* Whatever differs from the start, as the end of an address. */
    get address() {
      const other = this.kept.filter((name) => this.spelled(name) !== this.spelled(name, this.start));
      return other.map((name) => `${name}=${this.spelled(name)}`).join("&");
    }

    /* A link, which every browser can copy; a click copies it where the browser lets a page do so. */
    addressed() {
      const row = html("p", { class: "gp-address" }, this.root);
      this.link = html("a", { href: "#" }, row, "Link to this state");
      const told = html("span", { role: "status" }, row);
      const say = (where) => (told.textContent = where);
      this.link.addEventListener("click", () => {
        if (!navigator.clipboard) return say("It is in the address bar.");
        navigator.clipboard.writeText(this.link.href).then(() => say("Copied."), () => say("It is in the address bar."));
      });
      this.link.addEventListener("blur", () => say(""));
    }

    /* The state that the page's address asks for, if it names this figure; what no reader could set stays as
       it is at the start. */
    arrive() {
      const { gpPlayground: name } = this.root.dataset;
      const [where, asked] = location.hash.slice(1).split("?");
      if (where !== name || asked === undefined || asked === this.address) return;
      this.restore(asked);
      const go = () => document.getElementById(name)?.scrollIntoView({ behavior: "instant" });
      go();
      document.fonts.ready.then(go); // letters that came above it may have pushed it down
    }

    restore(asked) {
      const found = {};
      new URLSearchParams(asked).forEach((text, key) => {
        if (!this.kept.includes(key)) return;
        const value = read(text, this.start[key]);
        const taken = alike(value, this.start[key]) ? this.taken(key, value) : undefined;
        if (taken !== undefined) found[key] = taken;
      });
      this.tried = null;
      this.become(found);
    }

    /* A value from an address as the figure may have it: in its slider, among its choices, where points may
       stand, a count. */
    taken(name, value) {
      const control = this.root.querySelector(`[data-name="${name}"]`);
      if (control?.options) return [...control.options].some((one) => one.value === value) ? value : undefined;
      if (control) {
        const inside = clamp(value, [Number(control.min), Number(control.max)]);
        return Number.isInteger(Number(control.step)) ? Math.round(inside) : inside;
      }
      if (name === "points") return this.start.points.length === 1 && value.length !== 1 ? undefined : value.map(([x, y]) => this.placed(x, y));
      return typeof value === "number" && !(Number.isInteger(value) && value > 0) ? undefined : value;
    }

    // ------------------------------------------------------------ points

    /* Where a point may stand. */
    placed(x, y) {
      return [clamp(x, this.range.x), clamp(y, this.range.y)];
    }

    get range() { return DOMAIN; }

    describe(i, x, y) {
      return this.reading(i, x.toFixed(1), y.toFixed(1));
    }

    reading(i, x, y) {
      return `Observation ${i + 1} of ${this.state.points.length}: x = ${x}, y = ${y}. Arrow keys move it, Delete removes it.`;
    }

    add(x, y) {
      this.state.points.push(this.placed(x, y));
      this.select(this.state.points.length - 1);
    }

    move(index, x, y) {
      this.state.points[index] = this.placed(x, y);
      this.draw();
    }

    remove(index) {
      if (index < 0 || index >= this.state.points.length) return;
      this.state.points.splice(index, 1);
      this.select(Math.min(index, this.state.points.length - 1));
    }

    select(index) {
      this.selected = index;
      this.draw();
      if (index >= 0) this.marks.children[index].focus();
    }

    // ------------------------------------------------------------ input

    data(event) {
      const box = this.svg.getBoundingClientRect();
      return [this.invertX(event.clientX - box.left), this.invertY(event.clientY - box.top)];
    }

    /* A point is dragged from where it was pressed; a click beside the points adds one. A swipe
       of a finger is no click: it scrolls the page, and the browser takes the pointer back. On a point it
       must not, and `touch-action` of a part of a picture is not heeded: a refused touchmove is. (A refused
       touchstart would be, too, and would take the two taps away that remove a point.) */
    pointer() {
      let dragged = -1;
      this.svg.addEventListener("touchmove", (event) => {
        if (event.target.closest(".gp-point") && event.cancelable) event.preventDefault();
      }, { passive: false });
      this.svg.addEventListener("pointerdown", (event) => {
        const point = event.target.closest(".gp-point");
        if (event.button !== 0 || !point) return;
        event.preventDefault();
        dragged = [...this.marks.children].indexOf(point);
        this.select(dragged);
        point.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (dragged >= 0) this.move(dragged, ...this.data(event));
      });
      const stop = () => (dragged = -1);
      this.svg.addEventListener("pointerup", () => {
        if (dragged >= 0) this.released(dragged);
        stop();
      });
      this.svg.addEventListener("pointercancel", stop);
      this.svg.addEventListener("click", (event) => {
        if (!event.target.closest(".gp-point")) this.add(...this.data(event));
      });
      this.svg.addEventListener("dblclick", (event) => {
        if (event.target.closest(".gp-point")) this.remove(this.selected);
      });
    }

    /* A point that was pressed, and perhaps moved, is let go. */
    released(index) {}

    /* How far an arrow key moves a point, alone and with Shift, in units of the axes. */
    get stride() { return [0.1, 0.5]; }

    keyboard() {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      this.marks.addEventListener("keydown", (event) => {
        const index = [...this.marks.children].indexOf(event.target);
        if (event.key in steps) {
          const size = this.stride[event.shiftKey ? 1 : 0];
          const [x, y] = this.state.points[index];
          const [dx, dy] = steps[event.key];
          this.move(index, x + size * dx, y + size * dy);
        } else if (event.key === "Delete" || event.key === "Backspace") this.remove(index);
        else return;
        event.preventDefault();
      });
      this.marks.addEventListener("focusin", (event) => {
        this.selected = [...this.marks.children].indexOf(event.target);
        this.mark();
      });
    }

    // ------------------------------------------------------------ drawing

    draw() {
      this.paint();
      this.showTried();
      this.link.href = `#${this.root.dataset.gpPlayground}${this.address && "?"}${this.address}`;
      this.steady();
    }

    /* The state line gets no shorter while a reader works: what is below would move away under his finger.
       And the scene stays in the window only where it leaves room for a slider, and for the book's bar. */
    steady() {
      this.status.style.minHeight = `${this.status.offsetHeight}px`;
      const height = this.scene.offsetHeight;
      this.root.style.setProperty("--gp-scene", `${height}px`);
      this.scene.classList.toggle("gp-stays", height + ROOM <= innerHeight);
    }

    heightOf(width) {
      return clamp(0.5 * width, [230, 340]);
    }

    resize() {
      this.width = Math.max(this.plot.clientWidth, 240);
      this.height = Math.round(this.heightOf(this.width));
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.svg.setAttribute("width", this.width);
      this.svg.setAttribute("height", this.height);
      this.status.style.minHeight = "";
      this.scales();
      this.drawAxes();
      this.draw();
    }

    scales() {
      Object.assign(this, frame({ left: 50, right: this.width - 18, top: 8, bottom: this.height - 42 }, this.range));
    }

    drawAxes() {
      this.axes.replaceChildren();
      this.spines(this, [0, 2, 4, 6, 8, 10], [-3, -2, -1, 0, 1, 2, 3], ["x", "f(x)"]);
    }

    /* The axes of a panel: the places of its ticks, [place, text] where they differ, and its labels. */
    spines({ left, right, top, bottom, px, py }, across, up, [name, other]) {
      const put = (text, attributes) => (svg("text", attributes, this.axes).textContent = minus(text));
      svg("path", { d: `M${left},${top}V${bottom}H${right}`, class: "gp-spine" }, this.axes);
      across.map((tick) => [tick].flat()).forEach(([at, text = at]) => put(text, { x: px(at), y: bottom + 16, "text-anchor": "middle" }));
      up.map((tick) => [tick].flat()).forEach(([at, text = at]) => put(text, { x: left - 7, y: py(at) + 4, "text-anchor": "end" }));
      const [x, y] = [left - 36, (top + bottom) / 2];
      if (name) put(name, { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle", class: "gp-label" });
      if (other) put(other, { x, y, "text-anchor": "middle", class: "gp-label", transform: `rotate(-90 ${x} ${y})` });
    }

    /* The small panel beside the sliders, drawn afresh in `this.curve`, with its ticks and its name below:
       its frame, and a function that writes in it. */
    inset(ranges, across, up, name, sides = {}) {
      const on = frame({ left: 34, right: 232, top: 8, bottom: 116, ...sides }, ranges);
      const write = (x, y, text, anchor = "middle") => (svg("text", { x, y, "text-anchor": anchor }, this.curve).textContent = minus(text));
      this.curve.replaceChildren();
      this.curve.setAttribute("viewBox", "0 0 240 150");
      svg("path", { d: `M${on.left},${on.top}V${on.bottom}H${on.right}`, class: "gp-spine" }, this.curve);
      across.map((tick) => [tick].flat()).forEach(([at, text = at]) => write(on.px(at), on.bottom + 15, text));
      up.forEach((at) => write(on.left - 5, on.py(at) + 4, at, "end"));
      write((on.left + on.right) / 2, 146, name);
      return { on, write };
    }

    /* Values on a grid as a line in a panel. */
    path(values, { on = this, grid = GRID } = {}) {
      return values.map((v, i) => `${i ? "L" : "M"}${on.px(grid[i]).toFixed(2)},${on.py(v).toFixed(2)}`).join("");
    }

    /* A mean and the two ends of its band as lines: what an approximation is held against. */
    outline(mean, variance) {
      const ends = [-2, 2].map((by) => mean.map((m, i) => m + by * Math.sqrt(variance[i])));
      [mean, ...ends].forEach((values) => svg("path", { d: this.path(values), class: "gp-exact" }, this.curves));
    }

    /* Readings that stay where they are. */
    readings(x, y, { on = this, r = 2.5 } = {}) {
      x.forEach((a, i) => svg("circle", { cx: on.px(a), cy: on.py(y[i]), r, class: "gp-reading" }, this.curves));
    }

    band(mean, variance, name, { on = this, grid = GRID, parent = this.curves } = {}) {
      const sd = variance.map(Math.sqrt);
      const upper = this.path(mean.map((m, i) => m + 2 * sd[i]), { on, grid });
      const lower = mean.map((m, i) => [grid[i], m - 2 * sd[i]]).reverse();
      const back = lower.map(([x, y]) => `L${on.px(x).toFixed(2)},${on.py(y).toFixed(2)}`).join("");
      svg("path", { d: `${upper}${back}Z`, class: `gp-band gp-band-${name}` }, parent);
    }

    /* A group whose curves end where the panel ends. */
    clipped({ left, right, top, bottom }) {
      const id = `gp-clip-${(clips += 1)}`;
      const clip = svg("clipPath", { id }, this.curves);
      svg("rect", { x: left, y: top, width: right - left, height: bottom - top }, clip);
      return svg("g", { "clip-path": `url(#${id})` }, this.curves);
    }

    /* Points are re-used, not rebuilt, so that the focus stays on the point being moved. */
    drawPoints() {
      const { points } = this.state;
      while (this.marks.children.length > points.length) this.marks.lastChild.remove();
      while (this.marks.children.length < points.length) {
        const group = svg("g", { class: "gp-point", tabindex: "0", role: "button" }, this.marks);
        svg("circle", { r: 14, class: "gp-target" }, group);
        svg("circle", { r: 5, class: "gp-dot" }, group);
      }
      points.forEach(([x, y], i) => {
        const group = this.marks.children[i];
        group.setAttribute("transform", `translate(${this.px(x)},${this.py(y)})`);
        group.setAttribute("aria-label", this.describe(i, x, y));
      });
      this.mark();
    }

    mark() {
      [...this.marks.children].forEach((node, i) => node.classList.toggle("gp-selected", i === this.selected));
      this.able("remove", this.selected >= 0, "Select a point first");
    }

    /* A button that is of no use now says what would change that. */
    able(action, is, why) {
      const button = this.root.querySelector(`[data-action=${action}]`);
      if (!button) return;
      button.disabled = !is;
      button.title = is ? "" : why;
    }
  }

  /* Take the place of the static picture, above its caption. */
  function settle(root) {
    const figure = document.getElementById(root.dataset.gpPlayground);
    if (!figure) return;
    [...figure.children].forEach((child) => {
      if (child.localName !== "figcaption") child.hidden = true;
    });
    figure.prepend(root);
    figure.classList.add("gp-operated");
  }

  /* Every place of that kind on the page, now or once there is a page. */
  function start(kind, Kind) {
    const go = () => document.querySelectorAll("[data-gp-playground]").forEach((root) => {
      if ((root.dataset.gpKind ?? "exact") !== kind) return;
      settle(root);
      root.playground = new Kind(root);
    });
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", go);
    else go();
  }

  window.gpFigure = { DOMAIN, GRID, svg, html, clamp, frame, few, minus, said, ticks, OperatedFigure, start };
})();
