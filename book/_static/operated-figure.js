/* What all figures have in common that a reader operates: axes, curves and bands, points that are dragged
   or moved with the arrow keys, sliders and buttons. A figure says what its points are and what it draws.
   Nothing is asked of any other host, and it runs on file://. */
(function () {
  "use strict";

  const DOMAIN = { x: [0, 10], y: [-3, 3] };
  const GRID = Array.from({ length: 121 }, (_, i) => i / 12);
  const SVG = "http://www.w3.org/2000/svg";

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

  /* A subclass has `start` (its state, with `points`), `role` (of the colours), `trialsOf`, `legendOf` and
     `says`, and brings `controls`, `draw` and `describe`. */
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
    }

    build() {
      this.trials();
      this.legend();
      this.plot = html("div", { class: "gp-plot" }, this.root);
      this.svg = svg("svg", { role: "group", "aria-label": this.says }, this.plot);
      this.axes = svg("g", { class: "gp-axes", "aria-hidden": "true" }, this.svg);
      this.curves = svg("g", { "aria-hidden": "true" }, this.svg);
      this.marks = svg("g", {}, this.svg);
      this.controls();
      this.status = html("p", { class: "gp-status", role: "status" }, this.root);
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
      this.trialsOf.forEach(([name, changes], i) => this.button(name, `try-${i + 1}`, row, () => this.become(changes)));
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

    /* A slider takes its value from the state, in figures and in words. */
    show(input) {
      input.value = this.state[input.dataset.name];
      const value = Number(input.value).toFixed(input.dataset.digits);
      input.nextElementSibling.textContent = value;
      input.setAttribute("aria-valuetext", `${input.dataset.spoken} ${value}`);
    }

    /* The start with some of it changed. */
    become(changes) {
      this.state = structuredClone({ ...this.start, ...changes });
      this.selected = -1;
      this.root.querySelectorAll("input[type=range]").forEach((input) => this.show(input));
      this.root.querySelectorAll("select").forEach((select) => (select.value = this.state[select.dataset.name]));
      this.draw();
    }

    reset() {
      this.become({});
    }

    // ------------------------------------------------------------ points

    /* Where a point may stand. */
    placed(x, y) {
      return [clamp(x, DOMAIN.x), clamp(y, DOMAIN.y)];
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
       of a finger is no click: it scrolls the page, and the browser takes the pointer back. */
    pointer() {
      let dragged = -1;
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
      this.svg.addEventListener("pointerup", stop);
      this.svg.addEventListener("pointercancel", stop);
      this.svg.addEventListener("click", (event) => {
        if (!event.target.closest(".gp-point")) this.add(...this.data(event));
      });
      this.svg.addEventListener("dblclick", (event) => {
        if (event.target.closest(".gp-point")) this.remove(this.selected);
      });
    }

    keyboard() {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      this.marks.addEventListener("keydown", (event) => {
        const index = [...this.marks.children].indexOf(event.target);
        if (event.key in steps) {
          const size = event.shiftKey ? 0.5 : 0.1;
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

    resize() {
      this.width = Math.max(this.plot.clientWidth, 240);
      this.height = Math.round(clamp(0.5 * this.width, [230, 340]));
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.svg.setAttribute("width", this.width);
      this.svg.setAttribute("height", this.height);
      this.scales();
      this.drawAxes();
      this.draw();
    }

    scales() {
      const inner = { left: 50, right: this.width - 18, top: 8, bottom: this.height - 42 };
      const sx = (inner.right - inner.left) / (DOMAIN.x[1] - DOMAIN.x[0]);
      const sy = (inner.bottom - inner.top) / (DOMAIN.y[1] - DOMAIN.y[0]);
      this.px = (x) => inner.left + sx * (x - DOMAIN.x[0]);
      this.py = (y) => inner.bottom - sy * (clamp(y, [-9, 9]) - DOMAIN.y[0]);
      this.invertX = (p) => (p - inner.left) / sx + DOMAIN.x[0];
      this.invertY = (p) => (inner.bottom - p) / sy + DOMAIN.y[0];
    }

    drawAxes() {
      this.axes.replaceChildren();
      const [left, bottom] = [this.px(DOMAIN.x[0]), this.py(DOMAIN.y[0])];
      svg("path", { d: `M${left},8V${bottom}H${this.px(DOMAIN.x[1])}`, class: "gp-spine" }, this.axes);
      for (let x = 0; x <= 10; x += 2) {
        svg("text", { x: this.px(x), y: bottom + 16, "text-anchor": "middle" }, this.axes).textContent = x;
      }
      for (let y = -3; y <= 3; y += 1) {
        const text = svg("text", { x: left - 7, y: this.py(y) + 4, "text-anchor": "end" }, this.axes);
        text.textContent = y < 0 ? `\u2212${-y}` : y;
      }
      const [middle, centre] = [this.px(5), this.py(0)];
      svg("text", { x: middle, y: bottom + 34, "text-anchor": "middle", class: "gp-label" }, this.axes).textContent = "x";
      const up = svg("text", { x: 14, y: centre, "text-anchor": "middle", class: "gp-label" }, this.axes);
      up.setAttribute("transform", `rotate(-90 14 ${centre})`);
      up.textContent = "f(x)";
    }

    path(values) {
      return values.map((v, i) => `${i ? "L" : "M"}${this.px(GRID[i]).toFixed(2)},${this.py(v).toFixed(2)}`).join("");
    }

    /* A mean and the two ends of its band as lines: what an approximation is held against. */
    outline(mean, variance) {
      const ends = [-2, 2].map((by) => mean.map((m, i) => m + by * Math.sqrt(variance[i])));
      [mean, ...ends].forEach((values) => svg("path", { d: this.path(values), class: "gp-exact" }, this.curves));
    }

    /* Readings that stay where they are. */
    readings(x, y) {
      x.forEach((a, i) => svg("circle", { cx: this.px(a), cy: this.py(y[i]), r: 2.5, class: "gp-reading" }, this.curves));
    }

    band(mean, variance, name) {
      const sd = variance.map(Math.sqrt);
      const upper = this.path(mean.map((m, i) => m + 2 * sd[i]));
      const lower = mean.map((m, i) => [GRID[i], m - 2 * sd[i]]).reverse();
      const back = lower.map(([x, y]) => `L${this.px(x).toFixed(2)},${this.py(y).toFixed(2)}`).join("");
      svg("path", { d: `${upper}${back}Z`, class: `gp-band gp-band-${name}` }, this.curves);
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
      const button = this.root.querySelector("[data-action=remove]");
      if (button) button.disabled = this.selected < 0;
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

  window.gpFigure = { DOMAIN, GRID, svg, html, clamp, OperatedFigure, start };
})();
