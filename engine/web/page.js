/* A page on which one pastes an equation. What is typed is read and tried here, by `trial.js`, without
   any other machine; the examples of the language stand beside it, with the numbers that the engine used. */
import { KINDS, tried, given, pasted } from "./trial.js";

const FIRST = String.raw`(A + \mathbf u \mathbf v^\top)^{-1} = A^{-1} + \frac{A^{-1} \mathbf u \mathbf v^\top A^{-1}}{1 + \mathbf v^\top A^{-1} \mathbf u}`;
const LONGEST = 2000; // characters
const PAUSE = 250; // milliseconds without a key before it is set and tried
const UNSET = /\\(?:href|class|style|cssId|data|require|url|def|let|(?:re)?new(?:command|environment)|unicode)(?![a-zA-Z])/; // what we do not hand to MathJax

const make = (tag, options = {}, ...content) => {
  const element = document.createElement(tag);
  Object.entries(options).forEach(([key, value]) => (key in element ? (element[key] = value) : element.setAttribute(key, value)));
  element.append(...content);
  return element;
};
const math = (latex) => make("span", { className: "math notranslate nohighlight" }, UNSET.test(latex) ? latex : `\\(${latex}\\)`);
const phrase = (said) => said.split(/(\$[^$]*\$)/).filter(Boolean).map((piece) => (piece[0] === "$" ? math(piece.slice(1, -1)) : piece));
const typeset = async (root) => {
  await window.MathJax?.startup?.promise;
  await window.MathJax?.typesetPromise?.([root]);
};
const forget = (root) => window.MathJax?.startup?.document?.clearMathItemsWithin?.([root]);

const digits = (value) => (value === 0 ? "0" : value.toPrecision(2).replace(/\.0+(?=e|$)/, ""));
const written = (value) => (Array.isArray(value) ? `[${value.map((row) => row.join(", ")).join(value[0].length > 1 ? "; " : ", ")}]` : String(value));
const WAY = { positive: "if the numbers are positive", part: "if the numbers are between 0 and 1", apart: "if the random variables are independent" };
const DRAWN = { positive: "positive", part: "between 0 and 1" };
const and = (all) => (all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`);
const sentence = (all) => (all.length ? ` Here ${and(all)}.` : "");

/* On what it was compared. */
function compared({ symbols, draws }) {
  if (!symbols.length) return "";
  return symbols.every(({ value }) => value !== null) ? " at these numbers" : ` on ${draws} draw${draws > 1 ? "s" : ""}`;
}

/* For which numbers it was tried. */
function region({ only, fails, without, hard }) {
  if (only === "apart") return " For those that depend on each other it is not true.";
  if (only && fails) return ` For numbers of both signs, some ${only === "part" ? "larger than 1" : "negative"}, it is not true.`;
  const value = `no real value${hard ? ", or none that this page computes closely" : ""}`;
  if (only) return ` Numbers were drawn ${DRAWN[only]}: for some others a side has ${value}.`;
  return without ? ` Draws for which a side has ${value}, ${without} of them, were left out.` : "";
}

function capitalsSaid({ capitals }) {
  if (!capitals) return "";
  if (capitals.as === "square") return ` ${and(capitals.keys)} ${capitals.keys.length > 1 ? "were" : "was"} drawn square: with more rows than columns the two sides do not fit.`;
  if (capitals.as) return ` ${and(capitals.keys)} ${capitals.keys.length > 1 ? "were drawn as matrices" : "was drawn as a matrix"}: of numbers it is not true.`;
  const letters = and(capitals.keys.map((key) => key.replace(/^\\hat\{(.*)\}$/, "$1")));
  return ` ${letters} ${capitals.keys.length > 1 ? "were" : "was"} drawn as ${capitals.keys.length > 1 ? "numbers" : "a number"}: ${
    capitals.fails ? "of matrices it is not true" : "this says nothing of matrices"}.`;
}

function heldSaid(found) {
  const { off, only, fails, rounded, slips, caught, unsure, known } = found;
  const exact = rounded ? ", to the decimals that are printed" : off > 0 ? `, but for rounding (${digits(off)})` : found.equal ? ", exactly" : "";
  const seen = !caught ? " No slip in it would have been seen, so this says little."
    : ` Slips that would have been seen: ${caught} of ${slips.length}${unsure ? `; ${unsure} more give no value that is sure` : ""}.`;
  return `${caught ? "Holds" : "Agrees"}${only && fails ? ` ${WAY[only]},` : ""}${compared(found)}${exact}.${region(found)}${capitalsSaid(found)}${sentence(known)}${seen}`;
}

function failedSaid(found) {
  const { mends, off, symbols, alone, known, equal } = found;
  const edits = !equal ? "What would mend an inequality is not looked for, since many edits would." : ["No single edit that we tried mends it.", "One single edit mends it; it is a suggestion, and no more."][mends.length]
    ?? `${mends.length} single edits would mend it, each by itself: numbers cannot choose among them.`;
  const once = alone.length === 1 ? ` ${alone[0]} stands in it once only, so it may be there to say what ${alone[0]} is.`
    : alone.length ? " Some symbols stand in it once only, so it may be a law that ties them." : "";
  const tied = symbols.every(({ value }) => value !== null) ? ""
    : `${once} Symbols were drawn freely. If yours depend on each other, as the sides of a triangle do, or are zero where something ends, give them values; if a matrix is symmetric, choose that below.`;
  return `Does not hold${compared(found)}: off by ${digits(off)}, relative to the larger side. ${edits}${tied}${region(found)}${sentence(known)}`;
}

/* What is told of a trial: the class of its mark, and sentences. */
function told(found) {
  const { outcome, why, defines, density } = found;
  if (outcome === "holds") return [(found.only && found.fails) || found.capitals?.fails ? "holds-if" : "holds", heldSaid(found)];
  if (outcome === "does not hold") return ["fails", failedSaid(found)];
  if (outcome === "a definition") {
    const whole = density ? ` What can be tried: its integral over ${density.over} is 1${density.positive ? " on 8 draws of positive numbers for the other symbols" : ""}, as that of a density is.` : "";
    const more = found.functions ? "Add" : "Give the symbol on the left a value below, or add";
    return ["definition", `This says what its left side${defines.length > 1 ? "s are" : " is"}, and leaves nothing to compare.${whole} ${more} what should follow from it, behind a comma.`];
  }
  if (outcome === "a law") return ["definition", "Each symbol stands in it once, so it is no identity but a law that ties them, and of numbers that are drawn freely it cannot be true. Give the symbols values below to compare."];
  if (outcome === "no value") return ["unread", `No answer: ${why}.${found.symbols.length ? " Another kind for a symbol, or a value, may help; choose below." : ""}`];
  return ["unread", `No answer: ${why}.${found.instead?.length ? " What may be meant stands below." : ""}`];
}

class Trial {
  constructor(root, examples) {
    this.root = root;
    this.examples = examples;
    this.state = { latex: FIRST, asked: {}, values: {}, named: false, seed: 1 };
    this.build();
    this.arrive();
    window.addEventListener("hashchange", () => this.arrive());
  }

  build() {
    const id = "equation-typed";
    this.field = make("textarea", { id, rows: 3, spellcheck: false, autocomplete: "off", className: "eqn-field" });
    this.field.addEventListener("input", () => this.typed());
    this.choice = this.menu();
    this.shown = make("div", { className: "eqn-shown", role: "img", ariaLabel: "the equation as it is set" });
    this.status = make("p", { className: "eqn-answer", role: "status" });
    this.symbols = make("div", { className: "eqn-symbols" });
    this.edits = make("div", { className: "eqn-edits" });
    this.again = make("button", { type: "button" }, "Other draws");
    this.again.addEventListener("click", () => { this.state.seed += 1; this.answer(); });
    this.free = make("button", { type: "button" }, "Draw the symbols");
    this.free.addEventListener("click", () => { Object.assign(this.state, { values: {}, named: false }); this.answer(); });
    this.root.append(
      make("div", { className: "eqn-ask" },
        make("label", { htmlFor: id }, "An equation, in LaTeX"), this.field,
        make("label", { className: "eqn-or" }, "or an example of the language ", this.choice)),
      this.shown, this.status, make("div", { className: "eqn-buttons" }, this.again, this.free), this.symbols, this.edits,
    );
  }

  menu() {
    const select = make("select", { autocomplete: "off" }, make("option", { value: "" }, "…"));
    let here = 0;
    const groups = new Map();
    this.examples.forEach((example, i) => {
      if (!groups.has(example.section)) groups.set(example.section, make("optgroup", { label: example.section }));
      const fine = example.values && tried(example.latex, { values: example.values, named: true, briefly: true }).outcome === "holds";
      here += fine ? 1 : 0;
      const option = make("option", { value: String(i), disabled: !fine }, fine ? example.says : `${example.says} (needs the command)`);
      groups.get(example.section).append(option);
    });
    select.append(...groups.values());
    select.dataset.here = String(here);
    select.addEventListener("change", () => {
      const example = this.examples[Number(select.value)];
      if (example) this.take({ latex: example.latex, values: { ...example.values }, named: true, asked: {} });
    });
    return select;
  }

  /* What a link asks for, #latex=..., or a form of another page, ?latex=... */
  arrive() {
    const asked = [location.hash.slice(1), location.search].map((said) => new URLSearchParams(said).get("latex")).find(Boolean);
    this.take(asked ? { latex: asked, values: {}, named: false, asked: {} } : {});
  }

  take(change) {
    Object.assign(this.state, change);
    this.field.value = this.state.latex;
    this.answer();
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.state.latex = this.field.value;
      history.replaceState(null, "", `#latex=${encodeURIComponent(this.state.latex)}`);
      this.answer();
    }, PAUSE);
  }

  answer() {
    const { latex, asked, values, seed, named } = this.state;
    this.found = !latex.trim() ? { outcome: "not read", why: "nothing is written yet, so write an equation above", symbols: [] }
      : latex.length > LONGEST ? { outcome: "not read", why: `more than ${LONGEST} characters need the command`, symbols: [] }
        : tried(latex, { asked, values, seed, named });
    const [kind, sentence] = told(this.found);
    this.root.dataset.outcome = kind;
    this.status.replaceChildren(make("span", { className: "eqn-sign", ariaHidden: "true" }), make("span", {}, sentence));
    this.again.hidden = !this.found.draws || this.found.symbols.every(({ value }) => value !== null);
    this.free.hidden = !Object.keys(values).length;
    this.show();
    this.list();
    this.edit();
  }

  show() {
    const latex = pasted(this.state.latex);
    forget(this.shown);
    const plain = UNSET.test(latex) ? latex : /\\begin|\\\\|&/.test(latex) && !/\\begin\{(?:align|gather|split|equation|multline)/.test(latex)
      ? `\\[\\begin{aligned}${latex}\\end{aligned}\\]` : `\\[${latex}\\]`;
    this.shown.replaceChildren(make("div", { className: "math notranslate nohighlight" }, latex.trim() ? plain : ""));
    typeset(this.shown).catch(() => {});
  }

  /* The symbols: what each is drawn as, and its value where one is given. */
  list() {
    const { symbols } = this.found;
    forget(this.symbols);
    this.symbols.replaceChildren();
    if (!symbols.length) return;
    const rows = symbols.map(({ key, kind, value }) => {
      const drawn = value === null && kind ? this.kindOf(key, kind) : value === null ? "defined above" : "";
      return make("tr", {}, make("td", {}, math(key)), make("td", {}, drawn), make("td", {}, this.valueOf(key, value)));
    });
    const heads = ["symbol", "drawn as", "or its value"].map((said) => make("th", { scope: "col" }, said));
    this.symbols.append(make("table", { className: "eqn-kinds-table" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
    typeset(this.symbols).catch(() => {});
  }

  kindOf(key, kind) {
    const select = make("select", { ariaLabel: `what ${key} is drawn as`, autocomplete: "off" },
      ...Object.entries(KINDS).map(([name, { said }]) => make("option", { value: name }, said)));
    select.value = kind;
    select.addEventListener("change", () => {
      this.state.asked = { ...this.state.asked, [key]: select.value };
      this.answer();
    });
    return select;
  }

  valueOf(key, value) {
    const field = make("input", { type: "text", ariaLabel: `the value of ${key}`, placeholder: "1.5 or [1, 2; 3, 4]", autocomplete: "off" });
    field.value = value === null ? "" : written(value);
    field.addEventListener("change", () => {
      const values = Object.fromEntries(this.found.symbols.filter((one) => one.value !== null).map((one) => [one.key, one.value]));
      delete values[key];
      field.setCustomValidity("");
      try {
        if (field.value.trim()) values[key] = given(field.value);
      } catch (error) {
        field.setCustomValidity(error.message);
        field.reportValidity();
        return;
      }
      const named = this.state.named && this.found.symbols.every((one) => Object.hasOwn(values, one.key));
      Object.assign(this.state, { values, named });
      this.answer();
    });
    return field;
  }

  /* The slips that were tried, or the edits that would mend it. */
  edit() {
    forget(this.edits);
    this.edits.replaceChildren();
    const { slips, mends, instead } = this.found;
    if (instead?.length) this.edits.append(this.meant(instead));
    if (mends?.length) this.edits.append(this.table("What would mend it", mends, true));
    if (slips?.length) {
      const survivors = slips.filter((one) => one.holds), seen = slips.filter((one) => !one.holds);
      const details = make("details", {}, make("summary", {}, `The ${slips.length} slips that were tried`));
      details.addEventListener("toggle", () => {
        if (!details.open || details.querySelector("table")) return;
        details.append(this.table("", [...survivors, ...seen], false));
        typeset(details).catch(() => {});
      });
      this.edits.append(details);
    }
    typeset(this.edits).catch(() => {});
  }

  /* A button that puts LaTeX in the field. */
  taking(latex) {
    const button = make("button", { type: "button", title: "put this in the field" }, "take it");
    button.addEventListener("click", () => { this.take({ latex }); this.field.focus(); });
    return button;
  }

  meant(instead) {
    const rows = instead.map((latex) => make("tr", {}, make("td", {}, math(latex)), make("td", {}, this.taking(latex))));
    return make("div", {}, make("h3", {}, "What may be meant"),
      make("div", { className: "eqn-scroll", tabIndex: 0, role: "region", ariaLabel: "What may be meant" }, make("table", { className: "eqn-edits-table" }, make("tbody", {}, ...rows))));
  }

  table(title, edits, mending) {
    const rows = edits.map((one) => {
      const last = mending ? this.taking(one.reads) : one.holds ? "equally true" : one.off < Infinity ? `off by ${digits(one.off)}` : one.fits ? "it has no value" : "it does not fit";
      return make("tr", { className: one.holds && !mending ? "eqn-survived" : "" }, make("td", {}, ...phrase(one.said)),
        make("td", {}, math(one.reads.replace(/&|\\\\/g, " "))), make("td", {}, last));
    });
    const heads = ["single edit", "it then reads", mending ? "" : "residual"].map((said) => make("th", { scope: "col" }, said));
    const table = make("table", { className: "eqn-edits-table" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
    const box = make("div", { className: "eqn-scroll", tabIndex: 0, role: "region", ariaLabel: title || "slips" }, table);
    return title ? make("div", {}, make("h3", {}, title), box) : box;
  }
}

const start = () => document.querySelectorAll("[data-equation-trial]").forEach((root) => {
  const data = document.querySelector("script.equation-examples");
  root.replaceChildren();
  root.trial = new Trial(root, data ? JSON.parse(data.textContent) : []);
});
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
