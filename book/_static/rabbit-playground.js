/* A figure to operate: the surface that a chapter finds, smooth and in the light, which the reader turns.

   Its places, with the slopes of the posterior mean for normals, come from `rabbit-mesh.js`, which
   `tools/rabbit.py` writes from the chapter. The picture is made here, a pixel at a time: what is nearer hides
   what is farther, and each pixel is lit by a normal of its own. `window.gpSkin` holds the functions. */
(function () {
  "use strict";

  const { svg, html, clamp, minus, OperatedFigure, start } = window.gpFigure;
  const own = document.currentScript.src;

  // ---------------------------------------------------------------- numbers

  /* Places and touches in ten-thousandths, normals with parts of at most 127, standard deviations in hundredths of a
     thousandth: whole numbers in a string. */
  function unpack({ places, squares, touches, data }) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer;
    let from = 0;
    const take = (Kind, count, by) => {
      const found = new Kind(bytes, from, count);
      from += found.byteLength + (found.byteLength % 2);
      return Float32Array.from(found, (value) => value / by);
    };
    return {
      at: take(Int16Array, 3 * places, 10000), sd: take(Uint16Array, places, 100), touches: take(Int16Array, 3 * touches, 10000),
      corners: Uint16Array.from(take(Uint16Array, 4 * squares, 1)), normals: take(Int8Array, 3 * places, 127), facing: take(Int8Array, 3 * touches, 127),
    };
  }

  /* What is right, what is up, and where the eye is, for an animal turned and a head tilted by so many degrees. */
  function eye(turn, tilt) {
    const [a, b] = [(turn - AHEAD) * (Math.PI / 180), tilt * (Math.PI / 180)];
    const [cos, sin] = [Math.cos(a), Math.sin(a)];
    return [[-sin, cos, 0], [-Math.sin(b) * cos, -Math.sin(b) * sin, Math.cos(b)], [Math.cos(b) * cos, Math.cos(b) * sin, Math.sin(b)]];
  }

  const dot = ([a, b, c], all, i) => a * all[3 * i] + b * all[3 * i + 1] + c * all[3 * i + 2];

  /* Of the places that face the eye, the standard deviations that one half and nine tenths do not exceed, and the largest. */
  function known({ normals, sd }, turn, tilt) {
    const view = eye(turn, tilt)[2];
    const found = [...sd].filter((_, i) => dot(view, normals, i) > 0).sort((a, b) => a - b);
    return [0.5, 0.9, 1].map((share) => found[Math.ceil(share * found.length) - 1]);
  }

  /* The picture, so many pixels wide and high: of each pixel how near to the eye it is, how light, and the standard
     deviation. Places are blended by areas; a normal is, too, and has the length one again. */
  function render({ at, normals, sd, corners }, turn, tilt, size) {
    const [right, up, view] = eye(turn, tilt);
    const scale = size / WIDE;
    const lift = scale * MIDDLE * up[2];
    const [across, down, ahead] = [new Float32Array(sd.length), new Float32Array(sd.length), new Float32Array(sd.length)];
    const facing = new Float32Array(3 * sd.length);
    for (let i = 0; i < sd.length; i += 1) {
      across[i] = size / 2 + scale * dot(right, at, i);
      down[i] = size / 2 - scale * dot(up, at, i) + lift;
      ahead[i] = dot(view, at, i);
      facing[3 * i] = dot(right, normals, i);
      facing[3 * i + 1] = dot(up, normals, i);
      facing[3 * i + 2] = dot(view, normals, i);
    }
    const [near, level, spread] = [new Float32Array(size * size).fill(-Infinity), new Float32Array(size * size), new Float32Array(size * size)];
    const fill = (a, b, c) => {
      const [bx, by, cx, cy] = [across[b] - across[a], down[b] - down[a], across[c] - across[a], down[c] - down[a]];
      const area = bx * cy - cx * by;
      if (Math.abs(area) < 1e-9 || Math.max(facing[3 * a + 2], facing[3 * b + 2], facing[3 * c + 2]) < -0.3) return; // it faces away
      const bottom = Math.min(Math.floor(down[a] + Math.max(0, by, cy)), size - 1);
      const last = Math.min(Math.floor(across[a] + Math.max(0, bx, cx)), size - 1);
      const first = Math.max(Math.ceil(across[a] + Math.min(0, bx, cx)), 0);
      for (let y = Math.max(Math.ceil(down[a] + Math.min(0, by, cy)), 0); y <= bottom; y += 1) {
        for (let x = first; x <= last; x += 1) {
          const v = ((x - across[a]) * cy - cx * (y - down[a])) / area;
          const w = (bx * (y - down[a]) - (x - across[a]) * by) / area;
          const u = 1 - v - w;
          if (u < -1e-6 || v < -1e-6 || w < -1e-6) continue;
          const depth = u * ahead[a] + v * ahead[b] + w * ahead[c];
          const pixel = y * size + x;
          if (depth <= near[pixel]) continue;
          const nx = u * facing[3 * a] + v * facing[3 * b] + w * facing[3 * c];
          const ny = u * facing[3 * a + 1] + v * facing[3 * b + 1] + w * facing[3 * c + 1];
          const nz = u * facing[3 * a + 2] + v * facing[3 * b + 2] + w * facing[3 * c + 2];
          const straight = (LIGHT[0] * nx + LIGHT[1] * ny + LIGHT[2] * nz) / Math.sqrt(nx * nx + ny * ny + nz * nz);
          near[pixel] = depth;
          level[pixel] = 0.25 + 0.75 * Math.max(straight, 0);
          spread[pixel] = u * sd[a] + v * sd[b] + w * sd[c];
        }
      }
    };
    for (let i = 0; i < corners.length; i += 4) {
      fill(corners[i], corners[i + 1], corners[i + 2]);
      fill(corners[i], corners[i + 2], corners[i + 3]);
    }
    return { near, level, spread };
  }

  const AHEAD = 90 - (Math.atan2(0.35, 0.85) * 180) / Math.PI; // the eye of the printed picture, from the axis of the body
  const TILT = 18;
  const WIDE = 3.1;
  const MIDDLE = 0.5; // how high the middle of the picture is
  const LIGHT = eye(0, TILT).map((axis) => dot(axis, [0.2, -0.6, 0.75], 0) / Math.hypot(0.2, 0.6, 0.75));

  window.gpSkin = { unpack, eye, known, render };

  // ---------------------------------------------------------------- the page

  /* Small to large, by matplotlib's cividis, as the printed picture has it. */
  const RAMP = [[0, 34, 78], [26, 56, 111], [67, 78, 108], [97, 101, 111], [125, 124, 120], [155, 148, 118], [188, 174, 108], [222, 201, 88], [254, 232, 56]];
  const START = { points: [], turn: 0, tilt: TILT, shown: "light" };
  const SHOWN = { light: "light", sd: "1 sd", touches: "touches" };
  const TRIALS = [
    ["Face to face", { turn: 68, tilt: 5 }],
    ["From above", { tilt: 80 }],
    ["From behind", { turn: 180 }],
    ["How sure?", { shown: "sd" }],
    ["What was touched", { shown: "touches" }],
  ];
  const SLIDERS = [
    { name: "turn", label: ["Turn, degrees"], min: -180, max: 180, step: 1, digits: 0 },
    { name: "tilt", label: ["Tilt, degrees"], min: -90, max: 90, step: 1, digits: 0 },
  ];
  const PACE = 20; // degrees a second
  const STALK = 0.15; // how long a normal is drawn
  const turned = (angle) => Math.round(angle - 360 * Math.round(angle / 360));
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  /* The mesh, asked for once. */
  function mesh() {
    if (window.gpRabbit) return Promise.resolve(window.gpRabbit);
    return new Promise((done, failed) => {
      const script = html("script", { src: own.replace(/rabbit-playground\.js.*/, "rabbit-mesh.js") }, document.head);
      script.onload = () => done(window.gpRabbit);
      script.onerror = failed;
    });
  }

  class RabbitPlayground extends OperatedFigure {
    constructor(root) {
      super(root);
      mesh().then((packed) => {
        this.mesh = unpack(packed);
        this.most = Float32Array.from(this.mesh.sd).sort()[Math.floor(0.98 * (this.mesh.sd.length - 1))];
        this.draw();
      });
    }

    get start() { return START; }
    get role() { return "gp-role-exact"; }
    get trialsOf() { return TRIALS; }
    get legendOf() { return [["ramp", "1 sd of its place, small to large"], ["touch", "touches, with their normals"]]; }
    get says() { return "A surface that can be turned. Left and right arrow keys turn it, up and down tilt it."; }

    build() {
      super.build();
      this.root.classList.add("gp-beside", "gp-turns");
      this.root.querySelector(".gp-swatch-ramp").style.background = `linear-gradient(90deg, ${RAMP.map((one) => `rgb(${one})`)})`;
      this.canvas = html("canvas", { "aria-hidden": "true" });
      this.plot.prepend(this.canvas);
      this.handle = svg("rect", { class: "gp-turntable", tabindex: "0", role: "slider", "aria-valuemin": -180, "aria-valuemax": 180 }, this.marks);
    }

    heightOf(width) { return Math.min(width, 400); }

    scales() {
      const box = { x: 1, y: 1, width: this.width - 2, height: this.height - 2 };
      Object.entries(box).forEach(([name, value]) => this.handle?.setAttribute(name, value));
    }

    drawAxes() {}

    controls() {
      const box = html("div", { class: "gp-controls" }, this.root);
      this.chooser({ name: "shown", label: "Shown", options: SHOWN }, box);
      SLIDERS.forEach((slider) => this.slider(slider, box));
      const buttons = html("div", { class: "gp-buttons" }, box);
      this.turner = this.button(still() ? "Turn a little" : "Turn slowly", "turn", buttons, () => (still() ? this.turn(-30, 0) : this.go(!this.going)));
      this.button("Start again", "reset", buttons, () => this.reset());
    }

    become(changes) {
      this.go(false);
      super.become(changes);
    }

    worded(value) { return minus(value.toFixed(0)); }

    // ------------------------------------------------------------ turning

    turn(right, up) {
      this.state.turn = turned(this.state.turn - right);
      this.state.tilt = clamp(Math.round(this.state.tilt + up), [-90, 90]);
      this.root.querySelectorAll("input[type=range]").forEach((input) => this.show(input));
      this.draw();
    }

    /* Slowly round, until it is told to stop, is taken in hand or is out of sight. What it says waits until then. */
    go(going) {
      if (!going && !this.going) return;
      this.going = going;
      this.turner?.setAttribute("aria-pressed", String(going));
      if (!going) return this.mesh && this.draw();
      let [before, owed] = [performance.now(), 0];
      const step = (now) => {
        if (!this.going) return;
        const { top, bottom } = this.plot.getBoundingClientRect();
        if (bottom < 0 || top > innerHeight) return this.go(false);
        owed += (PACE * Math.min(now - before, 100)) / 1000;
        before = now;
        const whole = Math.floor(owed);
        owed -= whole;
        if (whole) this.turn(-whole, 0);
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    }

    /* A pointer takes hold anywhere; a finger that goes up or down scrolls the page. */
    pointer() {
      let last = null;
      const letGo = () => {
        if (!last) return;
        last = null;
        this.held = false;
        this.draw();
      };
      this.svg.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        this.go(false);
        last = [event.clientX, event.clientY];
        this.held = true;
        this.svg.setPointerCapture(event.pointerId);
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (!last) return;
        const moved = [event.clientX - last[0], event.clientY - last[1]].map((by) => Math.round(by / 2));
        if (moved[0] || moved[1]) this.turn(...moved);
        last = last.map((at, d) => at + 2 * moved[d]);
      });
      ["pointerup", "pointercancel"].forEach((name) => this.svg.addEventListener(name, letGo));
    }

    keyboard() {
      const steps = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, -5], ArrowDown: [0, 5] };
      this.marks.addEventListener("keydown", (event) => {
        if (!(event.key in steps)) return;
        event.preventDefault();
        this.go(false);
        this.turn(...steps[event.key].map((by) => by * (event.shiftKey ? 6 : 1)));
      });
    }

    // ------------------------------------------------------------ drawing

    paint() {
      if (!this.mesh) return;
      const { turn, tilt, shown } = this.state;
      const size = Math.round((this.going || this.held ? 1.2 : 2) * this.height); // finer than the page has it: edges are smooth
      this.canvas.width = this.canvas.height = size;
      Object.assign(this.canvas.style, { width: `${this.height}px`, left: `${(this.width - this.height) / 2}px` });
      const { near, level, spread } = render(this.mesh, turn, tilt, size);
      const pixels = new Uint8ClampedArray(4 * size * size);
      const colour = shown === "sd" ? this.sure : this.lit;
      for (let i = 0; i < near.length; i += 1) if (near[i] > -Infinity) colour(pixels, 4 * i, level[i], spread[i] / this.most);
      const context = this.canvas.getContext("2d", { willReadFrequently: true });
      context.putImageData(new ImageData(pixels, size, size), 0, 0);
      if (shown === "touches") this.drawTouches(context, near, size);
      this.drawScale(shown === "sd");
      this.handle.setAttribute("aria-valuenow", turn);
      this.handle.setAttribute("aria-label", `The surface, turned by ${this.worded(turn)} degrees and seen from ${this.worded(tilt)} degrees above. Arrow keys turn and tilt it.`);
      if (!this.going) this.tell();
    }

    lit(pixels, at, level) {
      pixels[at] = 18 + 235 * level;
      pixels[at + 1] = 20 + 229 * level;
      pixels[at + 2] = 28 + 213 * level;
      pixels[at + 3] = 255;
    }

    sure(pixels, at, level, share) {
      const place = Math.min(share, 1) * (RAMP.length - 1);
      const low = Math.min(Math.floor(place), RAMP.length - 2);
      for (let k = 0; k < 3; k += 1) pixels[at + k] = (0.7 + 0.3 * level) * (RAMP[low][k] + (place - low) * (RAMP[low + 1][k] - RAMP[low][k]));
      pixels[at + 3] = 255;
    }

    /* The touches that nothing hides. */
    drawTouches(context, near, size) {
      const { touches, facing } = this.mesh;
      const axes = eye(this.state.turn, this.state.tilt);
      const scale = size / WIDE;
      const spot = (d, i, out) => dot(axes[d], touches, i) + out * dot(axes[d], facing, i);
      const on = (i, out) => [size / 2 + scale * spot(0, i, out), size / 2 - scale * (spot(1, i, out) - MIDDLE * axes[1][2])];
      context.lineWidth = size / 400;
      context.strokeStyle = context.fillStyle = getComputedStyle(this.root).getPropertyValue("--book-approximation");
      for (let i = 0; i < touches.length / 3; i += 1) {
        const [x, y] = on(i, 0);
        if (dot(axes[2], facing, i) <= 0 || spot(2, i, 0) < near[Math.round(y) * size + Math.round(x)] - 0.03) continue;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(...on(i, STALK));
        context.stroke();
        context.beginPath();
        context.arc(x, y, size / 130, 0, 2 * Math.PI);
        context.fill();
      }
    }

    /* What the colours mean, beside the animal. */
    drawScale(wanted) {
      this.axes.replaceChildren();
      if (!wanted) return;
      const [x, top, high] = [this.width - 16, 30, 120];
      RAMP.slice().reverse().forEach(([r, g, b], i) => svg("rect", { x, y: top + (i * high) / RAMP.length, width: 12, height: high / RAMP.length + 0.5, fill: `rgb(${r},${g},${b})` }, this.axes));
      const write = (y, text) => (svg("text", { x: x - 4, y, "text-anchor": "end" }, this.axes).textContent = text);
      write(top + 10, `${this.most.toFixed(0)} or more`);
      write(top + high, "0");
      svg("text", { x: x + 12, y: top - 10, "text-anchor": "end" }, this.axes).textContent = "1 sd, thousandths";
    }

    tell() {
      const { turn, tilt } = this.state;
      const [half, most, all] = known(this.mesh, turn, tilt).map((one) => one.toFixed(1));
      this.status.textContent = `Turned by ${this.worded(turn)}\u00b0, seen from ${this.worded(Math.abs(tilt))}\u00b0 ${tilt < 0 ? "below" : "above"}. `
        + `Of the places that face you, one half is known to ${half} thousandths (one sd) or better, nine tenths to ${most}, and all to ${all}.`;
    }
  }

  start("rabbit", RabbitPlayground);
})();
