/* The live equation. Open a badge: the places at which a slip was tried are marked in its equation. Choose
   one, and the equation reads as it did then, the badge turns red and says how far off it was. Nothing is
   computed here: the edits and their residuals were found when the page was made, and lie in a file beside
   it. Without MathJax, or without a MathJax that knows \class, the list of the edits is still there. */
(() => {
  "use strict";

  const ARGUMENT = /(?:[_^]|\\(?:[dt]?frac|binom|sqrt|bar|hat|tilde|vec|dot|over\w+|under\w+|wide\w+|math\w+|boldsymbol)\s*(?:\{[^{}]*\}|\d)?)\s*$/;
  const FORMULA = ":scope > :is(mjx-container, .math-set)"; // as MathJax sets one, or a book without it
  const DRAWN = "mjx-math, math:not(mjx-assistive-mml *)"; // not what screen readers have
  const GONE = String.raw`\class{eqn-gone}{\rule[-0.2em]{0.5em}{1em}}`;
  const ASK = "Every underlined place is one where a slip was tried. Choose one to make it; "
    + "with the keyboard, the arrow up leads from the badge to them, and Escape back.";

  /* The data of a page: one file, which assigns them. A page on a disk may ask for no other kind. */
  const files = new Map();
  const dataOf = (name) => {
    if (!files.has(name))
      files.set(name, new Promise((done, failed) => {
        const script = document.createElement("script");
        script.onload = () => done(window.checkedEquations);
        script.onerror = failed;
        script.src = name;
        document.head.append(script);
      }));
    return files.get(name);
  };

  const make = (tag, name, ...content) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...content);
    return element;
  };

  /* A name such as "drop the factor $A$": words, and mathematics that is set when it is seen. */
  const phrase = (said) => said.split(/(\$[^$]*\$|`[^`]*`)/).filter(Boolean).map((piece) => {
    if (piece[0] === "`") return make("code", "", piece.slice(1, -1));
    if (piece[0] !== "$") return piece;
    return make("span", "eqn-later tex2jax_ignore notranslate nohighlight", `\\(${piece.slice(1, -1)}\\)`);
  });
  const capital = (said) => said[0].toUpperCase() + said.slice(1);
  const spoken = (said) => said.replace(/[$`]/g, "");

  const typeset = async (root) => {
    const waiting = [...root.querySelectorAll(".eqn-later")];
    waiting.forEach((span) => {
      span.classList.remove("eqn-later", "tex2jax_ignore");
      span.classList.add("math", "eqn-set");
    });
    await window.MathJax?.startup?.promise;
    if (waiting.length) await window.MathJax?.typesetPromise?.(waiting);
  };

  const mutant = ([said, reads, outcome, off, why, changed, place, shown]) =>
    ({ said, reads, outcome, off, why, changed, place, shown });

  /* What an edit shows, in a few words and in a sentence. */
  const verdict = ({ outcome, off, why }) => {
    if (outcome === "caught" && off === "does not conform")
      return ["it no longer fits", "It can no longer be evaluated: the shapes do not fit. The check would have failed."];
    if (outcome === "caught") return [`off by ${off}`, `The two sides are off by ${off}, relative to the larger. The check would have failed.`];
    if (outcome === "indistinct") return ["no number can tell", "No number can tell: what is edited keeps its value here."];
    return ["equally true here", `It is equally true here${why ? `: ${why}` : ""}.`];
  };

  /* The list of all edits, made when it is first opened. */
  const row = (one, why, attempt) => {
    const words = phrase(one.said);
    const cell = make("td", "");
    if (attempt) {
      const button = make("button", "eqn-try", ...words);
      button.type = "button";
      button.addEventListener("click", () => attempt(one));
      cell.append(button);
    } else cell.append(...words);
    if (why) cell.append(make("small", "", why));
    const outcome = make("td", "eqn-number", one.outcome === "caught" ? one.off : one.outcome);
    return make("tr", `eqn-${one.outcome}`, cell, make("td", "", ...phrase(one.reads)), outcome);
  };

  const list = (record, attempt) => {
    const details = make("details", "eqn-more", make("summary", "", record.sum));
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const titles = ["single edit", "there it now reads", "residual"].map((title) => {
        const cell = make("th", "", title);
        cell.scope = "col";
        return cell;
      });
      const rows = record.rows.map(([i, why]) => {
        const one = mutant(record.mutants[i]);
        return row(one, why, one.place.length ? attempt() : null);
      });
      const table = make("table", "eqn-mutants", make("thead", "", make("tr", "", ...titles)), make("tbody", "", ...rows));
      const box = make("div", "eqn-scroll", table);
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "mutants");
      details.append(box);
      typeset(table);
    });
    return details;
  };

  /* LaTeX with stretches of it wrapped in classes: [start, end, class], each nested in or apart from others. */
  const wrapped = (latex, marks) => {
    const at = new Map();
    const add = (place, order, text) => at.set(place, [...(at.get(place) ?? []), [order, text]]);
    marks.forEach(([start, end, name]) => {
      if (start === end) return add(start, 0, GONE);
      const braces = ARGUMENT.test(latex.slice(0, start));
      add(start, 1e6 - end, `${braces ? "{" : ""}\\class{${name}}{`);
      add(end, -1e6 - start, `}${braces ? "}" : ""}`);
    });
    let out = "";
    for (let i = 0; i <= latex.length; i++) {
      (at.get(i) ?? []).sort((a, b) => a[0] - b[0]).forEach(([, text]) => { out += text; });
      out += latex[i] ?? "";
    }
    return out;
  };

  const display = (latex) => {
    const parts = latex.split(/\n\s*\n/).filter((part) => part.trim());
    const joined = parts.join(" \\\\ ");
    return /\\\\|&/.test(joined) ? `\\begin{split}${joined}\\end{split}` : joined;
  };

  /* Where a stretch of the text is once the edit is made; nothing where the edit takes part of it away. */
  const moved = ([a, b], [start, end, text]) => {
    const by = text.length - (end - start);
    if (b <= start) return [a, b];
    if (a >= end) return [a + by, b + by];
    return a <= start && b >= end && !(a === start && b === end) ? [a, b + by] : null;
  };
  const crosses = ([a, b], [c, d]) => (a < c && c < b && b < d) || (c < a && a < d && d < b);

  class Live {
    constructor(badge, records) {
      this.badge = badge;
      this.frame = badge.closest(".eqn-equation");
      this.math = this.frame?.querySelector(":scope > div.math, :scope > div > div.math");
      this.latex = records[0].latex;
      const all = records.filter((one) => one.latex === this.latex).flatMap((one) => one.mutants.map(mutant));
      this.places = this.gather(all.filter((one) => one.place.length));
      this.chosen = null;
      this.now = 0;
      this.turn = Promise.resolve();
    }

    /* The places in reading order, each with its edits: what was caught first. */
    gather(all) {
      const known = new Map();
      all.forEach((one) => {
        const key = one.place.join();
        if (!known.has(key)) known.set(key, { span: one.place, edits: [] });
        const { edits } = known.get(key);
        if (!edits.some((other) => other.changed.join("\0") === one.changed.join("\0"))) edits.push(one);
      });
      const order = (one) => ["caught", "spared", "indistinct"].indexOf(one.outcome);
      const places = [...known.values()].sort((p, q) => p.span[0] - q.span[0] || q.span[1] - p.span[1]);
      places.forEach((place) => place.edits.sort((p, q) => order(p) - order(q)));
      return places.filter((p, i) => !places.slice(0, i).some((q) => crosses(p.span, q.span)));
    }

    async start() {
      this.whole = this.math?.querySelector(FORMULA);
      if (!this.whole || !this.places.length || this.latex === "") return false;
      this.build();
      this.announce();
      if (await this.show()) return true;
      this.stop();
      return false;
    }

    build() {
      this.bar = make("span", "eqn-places");
      this.bar.setAttribute("role", "toolbar");
      this.bar.setAttribute("aria-label", "Places in the equation where a slip was tried");
      this.buttons = this.places.map((place, i) => {
        const button = make("button", "eqn-place");
        button.type = "button";
        button.tabIndex = i ? -1 : 0;
        button.addEventListener("click", () => this.press(i));
        button.addEventListener("focus", () => this.focus(i));
        return button;
      });
      this.bar.append(...this.buttons);
      this.bar.addEventListener("keydown", (event) => this.key(event));
      this.label();
      this.status = make("div", "eqn-now");
      this.sentence = make("p", "", ASK);
      this.sentence.setAttribute("role", "status");
      this.others = make("div", "eqn-others");
      this.others.setAttribute("role", "group");
      this.others.setAttribute("aria-label", "Slips tried at this place");
      this.status.append(this.sentence, this.others);
      this.badge.querySelector(".eqn-panel").prepend(this.status);
      this.short = make("span", "eqn-said eqn-said-now");
      this.badge.querySelector(":scope > summary").append(this.short);
      this.watch = new ResizeObserver(() => this.lay());
    }

    get edit() {
      return this.chosen === null ? null : this.places[this.chosen].edits[this.now];
    }

    /* The LaTeX of the equation as it reads now. */
    get reads() {
      const [start, end, text] = this.edit?.changed ?? [0, 0, ""];
      return this.latex.slice(0, start) + text + this.latex.slice(end);
    }

    label() {
      this.buttons.forEach((button, i) => {
        const { edits } = this.places[i];
        const one = this.chosen === i ? this.edit : edits[0];
        const more = edits.length > 1 ? `; one of ${edits.length} slips here, up and down choose` : "";
        button.setAttribute("aria-pressed", String(this.chosen === i));
        button.setAttribute("aria-label", spoken(one.said) + more);
        button.title = spoken(one.said);
      });
    }

    press(i) {
      if (this.chosen === i) this.choose(null);
      else this.choose(i, 0);
    }

    choose(i, now = 0) {
      this.chosen = i;
      this.now = now;
      this.tell();
      this.announce();
      this.turn = this.turn.then(() => this.show()).catch(() => {});
    }

    /* Where the edit stands of which something holds: its place, and which of the edits there. */
    spot(holds) {
      const i = this.places.findIndex(({ edits }) => edits.some(holds));
      return i < 0 ? null : [i, this.places[i].edits.findIndex(holds)];
    }

    attempt(one) {
      const at = this.spot((other) => other.changed.join() === one.changed.join());
      if (!at) return;
      this.choose(...at);
      this.frame.scrollIntoView({ block: "nearest" });
    }

    /* The edit of this name, or none: what else is on a page may ask for it. */
    named(said) {
      const at = this.spot((one) => spoken(one.said) === said);
      if (at) this.choose(...at);
      else if (this.edit) this.choose(null);
    }

    focus(i) {
      this.buttons.forEach((button, j) => { button.tabIndex = j === i ? 0 : -1; });
    }

    key(event) {
      const i = this.buttons.indexOf(event.target);
      if (i < 0) return;
      const seen = this.buttons.filter((button) => !button.hidden);
      const at = seen.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: seen.length - 1 }[event.key];
      if (to !== undefined) seen[(to + seen.length) % seen.length].focus();
      else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.turnTo(i, event.key === "ArrowDown" ? 1 : -1);
      else if (event.key === "Escape" && this.chosen !== null) this.choose(null);
      else if (event.key === "Escape") this.badge.querySelector(":scope > summary").focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    }

    /* From the badge into the equation above it, which the tab order has left behind. */
    enter(event) {
      if (event.key !== "ArrowUp" || !this.set) return;
      this.buttons.find((button) => !button.hidden && button.tabIndex === 0)?.focus();
      event.preventDefault();
    }

    turnTo(i, by) {
      const many = this.places[i].edits.length;
      this.choose(i, this.chosen === i ? (this.now + by + many) % many : by > 0 ? 0 : many - 1);
    }

    /* What the equation reads now, for whatever on the page follows it: `latex`, that of the `whole` one,
       and what was `said` of the edit. */
    announce() {
      const detail = { label: this.badge.dataset.label, latex: this.reads, whole: this.latex, said: this.edit ? spoken(this.edit.said) : "" };
      this.badge.dispatchEvent(new CustomEvent("eqn-reads", { bubbles: true, detail }));
    }

    /* The badge: its line, and the sentence that is read out. */
    tell() {
      const edit = this.edit;
      const caught = edit?.outcome === "caught";
      this.badge.classList.toggle("eqn-broken", caught);
      this.badge.classList.toggle("eqn-edited", Boolean(edit));
      this.others.replaceChildren();
      this.label();
      if (!edit) {
        this.short.replaceChildren();
        this.sentence.replaceChildren("The equation is whole again.");
        return;
      }
      const [short, long] = verdict(edit);
      this.short.replaceChildren(make("span", "", "one slip"), make("span", "", short));
      this.sentence.replaceChildren(make("strong", "", ...phrase(capital(edit.said))), ". ", long);
      this.offer();
      typeset(this.status);
    }

    /* What else was tried at this place. */
    offer() {
      const { edits } = this.places[this.chosen];
      if (edits.length < 2) return;
      this.others.append(make("span", "", "Tried here:"), ...edits.map((one, i) => {
        const button = make("button", "", ...phrase(one.said));
        button.type = "button";
        button.setAttribute("aria-pressed", String(i === this.now));
        button.addEventListener("click", () => this.choose(this.chosen, i));
        return button;
      }));
    }

    /* The LaTeX with its marks, as it reads now. */
    marked() {
      const edit = this.edit;
      const named = this.places.map(({ span }, i) => [span, `eqn-p${i}`]);
      if (!edit) return wrapped(this.latex, named.map(([span, name]) => [...span, name]));
      const left = named.map(([span, name]) => [moved(span, edit.changed), name])
        .filter(([span, name]) => span && name !== `eqn-p${this.chosen}`)
        .filter(([span]) => !crosses(span, edit.shown) && !(edit.shown[0] <= span[0] && span[1] <= edit.shown[1] && edit.shown[0] < edit.shown[1]));
      return wrapped(this.reads, [...left.map(([span, name]) => [...span, name]), [...edit.shown, "eqn-changed"]]);
    }

    async show() {
      const box = make("div", "math eqn-setting", `\\[${display(this.marked())}\\]`);
      this.math.append(box);
      await window.MathJax.typesetPromise([box]);
      const set = box.querySelector(FORMULA);
      const fine = set && !set.querySelector("mjx-merror, .math-error") && set.querySelector("[class*='eqn-']");
      if (!fine || this.stopped) {
        box.remove();
        return false;
      }
      const held = this.bar.contains(document.activeElement) ? document.activeElement : null;
      const scrolled = (this.set ?? this.whole).scrollLeft;
      set.classList.add("eqn-live-math");
      if (this.set) this.drop();
      this.whole.hidden = true;
      this.whole.after(set);
      box.remove();
      this.set = set;
      set.append(this.bar);
      set.scrollLeft = scrolled;
      this.watch.disconnect();
      this.watch.observe(set);
      const inside = set.querySelector(DRAWN);
      if (inside) this.watch.observe(inside);
      this.lay();
      requestAnimationFrame(() => this.set === set && this.lay());
      held?.focus({ preventScroll: true });
      return true;
    }

    drop() {
      this.bar.remove();
      this.set.remove();
      window.MathJax.startup?.document?.clearMathItemsWithin?.([this.set]);
    }

    /* Each button over its place; the smaller one above the larger that holds it. */
    lay() {
      const formula = this.set.querySelector(DRAWN) ?? this.set;
      const origin = this.set.getBoundingClientRect();
      const spot = (name) => {
        const boxes = [...formula.querySelectorAll(`.${name}`)].map((e) => e.getBoundingClientRect());
        const sides = (side, pick) => pick(...boxes.map((box) => box[side]));
        return boxes.length && [sides("left", Math.min), sides("top", Math.min), sides("right", Math.max), sides("bottom", Math.max)];
      };
      const areas = this.buttons.map((button, i) => {
        const box = i === this.chosen ? spot("eqn-changed") || spot("eqn-gone") : spot(`eqn-p${i}`);
        button.hidden = !box;
        if (!box) return 0;
        const [left, top, right, bottom] = box;
        const pad = 2;
        const [wide, high] = [right - left, bottom - top].map((size) => Math.max(size, 8)); // a minus is flat
        Object.assign(button.style, {
          left: `${(left + right - wide) / 2 - origin.left + this.set.scrollLeft - this.set.clientLeft - pad}px`,
          top: `${(top + bottom - high) / 2 - origin.top + this.set.scrollTop - this.set.clientTop - pad}px`,
          width: `${wide + 2 * pad}px`,
          height: `${high + 2 * pad}px`,
        });
        return (right - left) * (bottom - top);
      });
      const order = areas.map((area, i) => [area, i]).sort((a, b) => b[0] - a[0]);
      order.forEach(([, i], z) => { this.buttons[i].style.zIndex = i === this.chosen ? areas.length + 1 : z + 1; });
    }

    /* Closed: the equation as it was, and the badge as it was. */
    stop() {
      this.stopped = true;
      if (this.edit) {
        this.chosen = null;
        this.announce();
      }
      this.watch?.disconnect();
      if (this.set) this.drop();
      if (this.whole) this.whole.hidden = false;
      this.badge.classList.remove("eqn-broken", "eqn-edited");
      this.status?.remove();
      this.short?.remove();
    }
  }

  const lives = new WeakMap();

  const open = async (badge) => {
    const spots = [...badge.querySelectorAll(".eqn-tried")];
    if (!spots.length) return;
    const records = (await dataOf(spots[0].dataset.mutants))?.[badge.dataset.label];
    if (!records) return;
    spots.forEach((spot) => {
      const record = records[Number(spot.dataset.record)];
      const attempt = () => (record.latex === records[0].latex && lives.has(badge) ? (one) => lives.get(badge)?.attempt(one) : null);
      spot.replaceWith(list(record, attempt));
    });
    badge.checked = records;
    near(badge);
  };

  /* The equation itself is set anew only where it is seen: all badges of a page may be opened at once. */
  const seen = "IntersectionObserver" in window && new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting) enliven(entry.target.querySelector(":scope > .eqn-badge"));
  }), { rootMargin: "200px" });
  const near = (badge) => {
    const frame = badge.closest(".eqn-equation");
    if (seen && frame) seen.observe(frame);
  };

  const enliven = async (badge) => {
    if (!badge?.open || !badge.checked || lives.has(badge)) return;
    const live = new Live(badge, badge.checked);
    lives.set(badge, live);
    await window.MathJax?.startup?.promise;
    if (!window.MathJax?.typesetPromise || live.stopped || !(await live.start().catch(() => false))) lives.set(badge, null);
  };

  /* A slip that something else on the page asks for, by its name, wherever the badge is. */
  const attempt = async (badge, said) => {
    badge.open = true;
    if (!badge.checked) await open(badge);
    await enliven(badge);
    lives.get(badge)?.named(said);
  };

  const close = (badge) => {
    const frame = badge.closest(".eqn-equation");
    if (seen && frame) seen.unobserve(frame);
    lives.get(badge)?.stop();
    lives.delete(badge);
  };

  const start = () => {
    document.querySelectorAll("details.eqn-badge").forEach((badge) => {
      if (!badge.querySelector(".eqn-tried")) return;
      const turn = () => {
        if (!badge.open) close(badge);
        else if (badge.checked) near(badge);
        else open(badge).catch(() => {});
      };
      badge.addEventListener("toggle", (event) => event.target === badge && turn());
      badge.querySelector(":scope > summary").addEventListener("keydown", (event) => lives.get(badge)?.enter(event));
      badge.addEventListener("eqn-attempt", ({ detail }) => attempt(badge, detail));
      if (badge.open) turn();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else if (document.readyState === "complete") start();
  else window.addEventListener("load", start);
})();
