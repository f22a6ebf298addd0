/* The LaTeX of an equation as a tree, in the browser.

   This reads the part of the engine's language that is about numbers, vectors and matrices: sums, products,
   powers, inverses, transposes, fractions, roots, functions of the field, norms, determinants, entries,
   blocks, and sums and products that run. What it does not read it refuses with a reason, and so it does
   where mathematicians would differ; the engine, which reads more, is what a book is checked with. Each node
   has its `span` in the text. */
import { LANGUAGE } from "./language.js";
import { Unread, words, pieces, depths, rows, elsewhere, isElsewhere, COMMAND, RELATIONS, DETERMINANTS } from "./tokenizer.js";
import { ENTRIES } from "./numbers.js";
import { Complex } from "./complex.js";
import { derivative, gradient, integral, limit, average, averageAt, end as rangeEnd, head } from "./reader.js";

/* The functions that are computed here. */
const COMPUTED = new Set([...Object.keys(ENTRIES), ...words("det tr diag rank min max Re Im arg")]);
const KNOWN = Object.entries(LANGUAGE.functions).filter(([, how]) => COMPUTED.has(how));
/* As the engine writes them; and each command in upright letters, as word processors do. */
const WORDS = Object.fromEntries([...KNOWN, ...KNOWN.map(([word, how]) => [word.replace(/^\\([a-z]+)$/, "\\mathrm{$1}"), how])]);
/* Of the plug-in for papers, where nothing is bound. */
const SPECIAL = { "\\Gamma": "gamma", "\\mathrm{erf}": "erf", "\\mathrm{erfc}": "erfc" };
/* Functions that a letter is known for: what is written in front of an equation that does not say so. */
const FAMOUS = {
  "\\sigma": "\\sigma(x) = \\frac{1}{1 + e^{-x}}", "\\Phi": "\\Phi(x) = \\frac{1}{2} (1 + \\operatorname{erf} \\frac{x}{\\sqrt{2}})",
};
const RUNS = { sum: "sum", prod: "prod", min: "min", max: "max", sup: "max", inf: "min" };
const BIG = Object.fromEntries(Object.entries(LANGUAGE.big).map(([sign, how]) => [sign, RUNS[how]]).filter(([, how]) => how));
const ACCENTS = new Set(LANGUAGE.fonts.filter((font) => !/^\\(?:math(?!ring)|boldsymbol)/.test(font)).map((font) => font.slice(1)));
const ONE = /^\{?(?:[A-Za-z]|\\[A-Za-z]+(?:\{[A-Za-z]\})?)\}?(?:_\{?\w+\}?)?$/;
const DEEPEST = 60; // sums in sums
const INFIX = { Elementwise: "entrywise", Kronecker: "kronecker" };
const BETWEEN = Object.fromEntries(Object.entries(LANGUAGE.operators).filter(([, kind]) => ["TIMES", "DIV", "INFIX"].includes(kind)));
const CONSTANTS = { "\\pi": Math.PI, e: Math.E };
const OPENS = LANGUAGE.brackets;
const ANGLES = { "\\langle": ["\\rangle", "inner"], "\\lfloor": ["\\rfloor", "floor"], "\\lceil": ["\\rceil", "ceil"] };
const MARKS = new Set(LANGUAGE.marks.filter((mark) => mark !== "\\circ")); // of degrees
const TRANSPOSES = new Set(LANGUAGE.transposes);
const GREEK = new Set(words(String.raw`\alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta \iota \kappa \lambda
  \mu \nu \xi \pi \varpi \rho \varrho \sigma \varsigma \tau \upsilon \phi \varphi \chi \psi \omega \Gamma \Delta
  \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega \ell \hbar`));
/* Letters that before a bracket are functions more often than factors. */
const CALLED = new Set(words(String.raw`f g h k p q u F G H J P Q \Gamma \zeta \phi \varphi \psi \Phi \Psi \Theta \mathcal{N} \mathcal{L}`));

// ------------------------------------------------------------ expressions

const name = (latex) => {
  const all = pieces(latex);
  return new Parser(all, { names: { has: () => true }, latex }).symbol().key;
};

const marked = (said) => new Unread(said === "\\circ" ? "degrees are not read here: write \\frac{\\pi}{6} for 30^\\circ"
  : /H|dagger|^\*$/.test(said) ? `the adjoint ^{${said}} is not read here: for real matrices write ^\\top`
    : `the mark ^{${said}} is not read here`);

/* What {n \choose k} and {a \over b} mean, as \binom{n}{k} and \frac{a}{b}. */
function parted(all) {
  const depth = depths(all);
  const at = all.findIndex(({ text }, i) => text in LANGUAGE.parted && !depth[i]);
  if (at < 0) return all;
  const here = all[at];
  const piece = (text) => ({ ...here, text });
  const braced = (some) => [piece("{"), ...some, piece("}")];
  return [piece(LANGUAGE.parted[here.text]), ...braced(all.slice(0, at)), ...braced(all.slice(at + 1))];
}

class Parser {
  /* `names` are those that are known, or null where every letter may be one; `running` the indices;
     `functions` those that are defined, with their arguments, `loose` whether others may be called. */
  constructor(all, { names, latex, running = [], deep = 0, functions = new Map(), loose = false }) {
    Object.assign(this, { all, names, latex, running: [...running], deep, functions, loose, at: 0 });
  }

  /* What comes next. A brace that no command asks for groups nothing that a reader sees, and goes. */
  get text() {
    while (this.peek === "{") this.unbrace();
    return this.peek;
  }
  get peek() { return this.all[this.at]?.text; }
  /* What a word here computes, such as "sin"; nothing where no function begins. */
  get word() {
    const { text } = this;
    if (text in WORDS) return WORDS[text];
    return !this.names && text in SPECIAL && (text !== "\\Gamma" || this.all[this.at + 1]?.text in OPENS) ? SPECIAL[text] : null;
  }
  unbrace() {
    const { at } = this;
    const all = this.raw(), [next] = this.all.slice(this.at);
    const inside = parted(all);
    if (["^", "_"].includes(next?.text) && inside.length > 1) throw new Unread("ambiguous: a script on all of this? write brackets");
    this.all = [...this.all.slice(0, at), ...inside, ...this.all.slice(this.at)];
    this.at = at;
  }
  get place() {
    if (this.text !== undefined) return this.all[this.at];
    return { start: this.latex.length, end: this.latex.length };
  }
  next() { return this.all[this.at++]; }
  node(kind, start, more) { return { kind, span: [start, this.all[this.at - 1]?.end ?? start], ...more }; }
  expect(text) {
    if (this.text !== text) throw this.fault(`${text} is missing`);
    return this.next();
  }
  fault(said) {
    if (isElsewhere(this.text)) return elsewhere(this.text);
    return new Unread(said);
  }

  chain() {
    const sides = [this.sum()], signs = [];
    while (this.text in RELATIONS) {
      signs.push({ sign: RELATIONS[this.text], span: [this.place.start, this.place.end] });
      this.next();
      sides.push(this.sum());
    }
    if (this.at < this.all.length) throw this.fault(`${this.text} is not read here`);
    return { sides, signs };
  }

  /* What a condition says: chains that must hold, none for a symbol that is drawn anyway. */
  condition() {
    const from = this.at, first = this.sum();
    if (this.at === this.all.length && first.kind === "name") return [];
    if (this.text !== "\\in") {
      this.at = from;
      const chain = this.chain();
      if (!chain.signs.length) throw new Unread("a condition needs a relation");
      return [chain];
    }
    this.next();
    const space = this.all.slice(this.at).map((piece) => piece.text).join("");
    if (space === "\\mathbb{R}") return [];
    const made = (sides, signs) => ({ sides, signs: signs.map((sign) => ({ sign, span: first.span })) });
    const zero = { kind: "number", value: 0, span: first.span };
    if (/^\\mathbb\{R\}_(?:\{>0\}|\+)$/.test(space)) return [made([first, zero], [space.endsWith("+") ? "\\ge" : ">"])];
    if (this.text !== "(" && this.text !== "[") throw new Unread(`this set ${COMMAND}`);
    const below = this.next().text === "(" ? "<" : "\\le", low = this.end();
    this.expect(",");
    const high = this.end(), shut = this.next()?.text;
    if (![")", "]"].includes(shut) || this.at < this.all.length) throw new Unread(`this set ${COMMAND}`);
    const above = shut === ")" ? "<" : "\\le";
    return [...(low ? [made([low, first], [below])] : []), ...(high ? [made([first, high], [above])] : [])];
  }
  /* An end of an interval; nothing where it is infinite. */
  end() {
    const back = this.at;
    if (this.text === "-" || this.text === "+") this.next();
    if (this.text === "\\infty") { this.next(); return null; }
    this.at = back;
    return this.sum();
  }

  sum() {
    const { start } = this.place;
    const terms = [];
    this.deep += 1;
    if (this.deep > DEEPEST) throw new Unread(`what is so deeply nested ${COMMAND}`);
    for (let first = true; first || this.text === "+" || this.text === "-"; first = false) {
      let sign = null;
      if (this.text === "+" || this.text === "-") sign = this.next();
      if (this.text === "+" || this.text === "-") throw new Unread("two signs stand side by side: write brackets");
      terms.push({ sign: sign?.text === "-" ? -1 : 1, written: sign && [sign.start, sign.end], node: this.term() });
    }
    this.deep -= 1;
    if (terms.length === 1 && !terms[0].written) return terms[0].node;
    return this.node("sum", start, { terms });
  }

  /* Factors side by side, and what signs stand between. */
  term() {
    const { start } = this.place;
    const factors = [];
    let infix = "", bare = null, slashed = false, running = false;
    for (;;) {
      const op = this.text in BETWEEN ? this.text : "";
      if (!op && factors.length && !this.begins()) break;
      if (op && !factors.length) throw this.fault("a factor is missing");
      if (slashed) throw new Unread("what is below the line after / is ambiguous: write \\frac or brackets");
      if (op && bare) throw new Unread("ambiguous: does this belong to the argument of the function? write brackets");
      if (running) throw new Unread("what follows a product or an extreme is ambiguous: write it in front, or write brackets");
      const mark = op ? this.next() : null;
      if (infix || (factors.length > 1 && op in LANGUAGE.infix)) {
        if (op !== infix) throw new Unread("beside \\odot and \\otimes a product needs brackets");
      }
      if (op in LANGUAGE.infix) infix = op;
      const part = this.factor();
      if (!op && part.kind === "number" && factors.at(-1)?.kind === "number") throw new Unread("two numbers stand side by side: write \\cdot between them");
      bare = part.bare ? part : null;
      running = part.kind === "big" && part.how !== "sum";
      if (op === "/") {
        slashed = true;
        const above = factors.length > 1 ? this.node("product", start, { factors: [...factors] }) : factors[0];
        above.span = [start, factors.at(-1).span[1]];
        factors.splice(0, factors.length, this.node("quotient", start, { above, below: part, slash: [mark.start, mark.end] }));
      } else factors.push(Object.assign(part, { mark: mark && [mark.start, mark.end] }));
    }
    if (!factors.length) throw this.fault(this.text in RELATIONS ? `something is missing before ${this.text}` : this.text ? `${this.text} is not read here` : "something is missing at the end");
    if (factors.length === 1) return factors[0];
    if (infix) return this.node(INFIX[LANGUAGE.infix[infix]], start, { factors });
    return this.node("product", start, { factors });
  }

  /* Whether a factor begins here. */
  begins() {
    const { text } = this;
    if (text === undefined || text === "|" || text === "\\|") return text !== undefined && !this.barred;
    return text in OPENS || text in WORDS || text in BIG || /^\.?\d/.test(text)
      || text in ANGLES || ["\\frac", "\\sqrt", "\\binom"].includes(text) || text.startsWith("\\begin") || this.lettered() || (isElsewhere(text) && text !== "\\in");
  }
  lettered() {
    const { text } = this;
    return /^[A-Za-z]$/.test(text ?? "") || GREEK.has(text) || /^\\(?!begin|end|text)[a-z]+\{/.test(text ?? "");
  }

  factor() {
    const { text } = this;
    if (text in BIG && (this.all[this.at + 1]?.text === "_" || text === "\\sum" || text === "\\prod")) return this.big();
    if (text === "\\lim" && !this.names?.has(text)) return limit(this);
    const sloped = text === "\\frac" && derivative(this, true);
    return sloped || (this.word ? this.applied() : this.simple());
  }

  /* A function word: of its brackets, or of what stands side by side behind it. */
  applied() {
    const { start, end } = this.place;
    let how = this.word, power = null, base = null;
    const word = this.next().text;
    while (this.text === "^" || this.text === "_") {
      const sign = this.next().text;
      const script = this.script();
      if (sign === "_" && how === "log") base = script;
      else if (sign === "^" && script.kind === "sum" && this.latex.slice(...script.span).replace(/\s/g, "") === "-1") {
        if (!(how in LANGUAGE.inverses)) throw new Unread(`${word}^{-1} is ambiguous: write a fraction`);
        how = LANGUAGE.inverses[how];
      } else if (sign === "^") power = script;
      else throw new Unread(`a subscript at ${word} ${COMMAND}`);
    }
    const written = [start, end];
    const made = (more) => this.node("function", start, { how, written, base, ...more });
    const powered = (one) => (power ? this.node("power", start, { base: one, exponent: power }) : one);
    if (this.text in OPENS) {
      const { args } = this.group();
      const one = made({ args });
      if (this.text === "^" && (LANGUAGE.ambiguousPowers.includes(how) || (this.isInverse() && LANGUAGE.ambiguousInverses.includes(how)))) throw new Unread(`a power behind ${word}(…) is ambiguous: write brackets`);
      return powered(this.scripts(one, start));
    }
    if (this.word) return Object.assign(powered(made({ args: [this.applied()] })), { bare: true });
    const from = this.place.start, run = [];
    while (this.begins() && !this.word && !(this.text in BIG) && this.text !== "\\lim") run.push(this.simple());
    if (!run.length && (this.text in BIG || this.text === "\\lim")) throw new Unread(`write brackets around what ${word} is taken of`);
    if (!run.length) throw this.fault(`${word} of nothing`);
    if (run.length > 1 && ["bars", "norm"].includes(run[0].kind)) throw new Unread("ambiguous behind bars: write brackets");
    const arg = run.length > 1 ? this.node("product", from, { factors: run }) : run[0];
    return Object.assign(powered(made({ args: [arg] })), { bare: true });
  }

  /* A sum, a product or an extreme that runs over entries or numbers. */
  big() {
    const { start, end } = this.place;
    const how = BIG[this.next().text];
    let below = null, above = null;
    while (this.text === "_" || this.text === "^") {
      const sign = this.next().text;
      if (sign === "_" && below === null) below = this.raw();
      else if (sign === "^" && above === null) above = rangeEnd(this, this.raw());
      else throw new Unread("a second script of the same kind");
    }
    if (below === null) throw new Unread(`a sum or product that does not say what runs ${COMMAND}`);
    const equal = below.findIndex(({ text }) => text === "=");
    const odd = below.find(({ text }) => ["<", "\\le", "\\ne", "\\in", ">", "\\ge"].includes(text));
    if (odd) throw new Unread(`a range with ${odd.text} ${COMMAND}`);
    const listed = equal < 0 ? below : below.slice(0, equal);
    if (listed.some(({ text }, i) => (i % 2 ? text !== "," : !/^(?:[A-Za-z]|\\ell)$/.test(text)))) throw new Unread(`this range ${COMMAND}`);
    const indices = listed.filter((_, i) => !(i % 2)).map(({ text }) => text);
    if (!indices.length || (equal < 0) !== (above === null)) throw new Unread(`this range ${COMMAND}`);
    const first = equal < 0 ? null : this.inner(below.slice(equal + 1)).whole();
    this.running.push(...indices);
    const body = this.term();
    this.running.splice(-indices.length);
    if (how !== "sum" && (body.kind === "product" || body.kind === "quotient")) {
      if (walk(body).some((node) => node.kind === "big")) throw new Unread(`a product of products that run ${COMMAND}`);
      const last = body.kind === "product" ? body.factors.at(-1) : body.below;
      if (!indices.some((index) => mentions(last, index))) throw new Unread("the last factor does not run: write it in front, or write brackets");
    }
    return this.node("big", start, { how, indices, first, last: above, body, written: [start, end] });
  }

  inner(all) { return new Parser(all, this); }
  whole() {
    const found = this.sum();
    if (this.at < this.all.length) throw this.fault(`${this.text} is not read here`);
    return found;
  }

  /* The pieces of a script, in braces or one alone; of 12 a fraction takes the 1. */
  raw(digit = false) {
    if (this.peek !== "{") {
      if (this.peek === undefined) throw new Unread("a script is missing");
      const one = this.next();
      if (!/^\d\d|\./.test(one.text)) return [one];
      if (!digit || one.text.includes(".")) throw new Unread("only one digit is in the script: write braces");
      this.at -= 1;
      const rest = { ...one, text: one.text.slice(1), start: one.start + 1 };
      this.all = [...this.all.slice(0, this.at), rest, ...this.all.slice(this.at + 1)];
      return [{ ...one, text: one.text[0], end: one.start + 1 }];
    }
    this.next();
    const from = this.at;
    for (let depth = 1; this.at < this.all.length; this.at += 1) {
      depth += this.peek === "{" ? 1 : this.peek === "}" ? -1 : 0;
      if (!depth) return this.all.slice(from, this.at++);
    }
    throw new Unread("a brace is never closed");
  }
  script(digit = false) {
    const all = this.raw(digit);
    if (!all.length) throw new Unread("a script is empty");
    return this.inner(all).whole();
  }

  simple() {
    const { start } = this.place;
    return this.scripts(this.atom(), start);
  }

  /* Powers, inverses, transposes and entries behind an atom. */
  scripts(base, start) {
    let node = base;
    for (;;) {
      const { text } = this;
      if (text === "!") {
        if (!["name", "number", "group", "index"].includes(node.kind)) throw new Unread("! belongs to a letter, a number or a bracket");
        this.next();
        if (this.text === "!") throw new Unread(`a double factorial ${COMMAND}`);
        node = this.node("function", start, { how: "factorial", args: [node] });
      } else if (text === "'" || this.primed()) {
        if (!["name", "group"].includes(node.kind)) throw new Unread("a prime belongs to a letter or a bracket");
        this.next();
        node = this.node("transpose", start, { base: node });
      } else if (text === "^") {
        this.next();
        node = this.raised(node, start);
        if (this.text === "^") throw new Unread("a second script of the same kind: write brackets");
      } else if (text === "_") {
        if (node.kind === "name" || node.kind === "number") throw new Unread("this subscript is not read");
        if (node.kind === "group" && node.opens === "(") throw new Unread(`a bracket with a subscript ${COMMAND}`);
        this.next();
        node = this.node("entry", start, { base: node, indices: this.indices(this.raw()) });
      } else return node;
    }
  }

  /* Steps in front of the prime of a ^\prime or ^{\prime}. */
  primed() {
    const [a, b, c, d] = this.all.slice(this.at, this.at + 4).map((piece) => piece.text);
    if (a !== "^" || !(b === "'" || (b === "{" && c === "'" && d === "}"))) return false;
    this.all = [...this.all.slice(0, this.at), this.all[this.at + (b === "'" ? 1 : 2)], ...this.all.slice(this.at + (b === "'" ? 2 : 4))];
    return true;
  }

  isInverse() { return /^\^(?:\{-1\}|-1)/.test(this.all.slice(this.at, this.at + 5).map(({ text }) => text).join("")); }

  raised(base, start) {
    const all = this.raw();
    const said = all.map(({ text }) => text).join("");
    const transposes = TRANSPOSES.has(said) && !(this.names?.has(said));
    if (transposes) return this.node("transpose", start, { base, letter: said === "T" });
    if (said === "-1") return this.node("inverse", start, { base });
    if (/^-(?:\\top|T|\\mathrm\{T\}|\\mathsf\{T\})$/.test(said)) {
      return this.node("transpose", start, { base: this.node("inverse", start, { base }) });
    }
    if (!all.length || /^[(*+\\]$|^\\(?:dagger|star|circ)$|^\(/.test(said)) throw marked(said);
    if (/^(?:H|\\math(?:rm|sf)\{H\})$/.test(said) && !this.names) throw marked(said);
    return this.node("power", start, { base, exponent: this.inner(all).whole() });
  }

  /* `ij` are two indices, `i,j` too, `i+1` is one. */
  indices(all) {
    const parts = [[]];
    all.forEach((piece) => (piece.text === "," ? parts.push([]) : parts.at(-1).push(piece)));
    const plain = parts.length === 1 && all.every(({ text }) => /^(?:[A-Za-z]|\d)$/.test(text));
    const found = plain ? all.map((piece) => [piece]) : parts;
    if (found.some((part) => !part.length)) throw new Unread("an index is missing");
    return found.map((part) => this.inner(part).whole());
  }

  group() {
    const { start, text } = this.place;
    const shut = OPENS[text];
    this.next();
    const barred = this.barred;
    this.barred = false;
    const args = [this.sum()];
    while (this.text === ",") { this.next(); args.push(this.sum()); }
    this.barred = barred;
    if (this.text !== shut) throw this.fault("a bracket is left open");
    this.next();
    return { start, opens: text, args };
  }

  atom() {
    if (this.text === undefined) throw new Unread("something is missing");
    const { text, start } = this.place;
    if (/^\.?\d/.test(text)) { this.next(); return this.node("number", start, { value: Number(text), places: text.split(".")[1]?.length ?? 0 }); }
    if (text in OPENS) {
      const { args } = this.group();
      if (args.length > 1) throw new Unread("a comma in brackets, as in a commutator or an interval, is not read here");
      return this.node("group", start, { inside: args[0], opens: text });
    }
    if (text === "|" || text === "\\|") return this.bars(text, start);
    const sloped = text === "\\frac" && derivative(this, false);
    if (sloped) return sloped;
    if (text === "\\frac" || text === "\\binom") {
      this.next();
      const above = this.script(true), below = this.script(true);
      if (text === "\\frac") return this.node("quotient", start, { above, below });
      return this.node("function", start, { how: "binom", args: [above, below] });
    }
    if (text === "\\sqrt") return this.root(start);
    if (text in ANGLES) {
      this.next();
      const bra = this.all.slice(this.at).find((piece) => ["|", "\\mid", ",", "\\rangle"].includes(piece.text))?.text;
      if (text === "\\langle" && bra !== ",") throw new Unread("a bra, a ket or a mean in angles is not read here: \\langle x, y \\rangle is an inner product");
      const args = [this.sum()];
      if (text === "\\langle") { this.expect(","); args.push(this.sum()); }
      this.expect(ANGLES[text][0]);
      return this.node("function", start, { how: ANGLES[text][1], args });
    }
    if (text.startsWith("\\begin")) return this.block(start);
    if (text === "\\nabla") return gradient(this);
    if (text === "\\int" && !this.names) return integral(this);
    if (averageAt(this)) return average(this);
    if (isElsewhere(text) && !this.names?.has(text)) throw elsewhere(text);
    if (this.lettered()) return this.symbol();
    throw this.fault(`${text} is not read here`);
  }

  bars(text, start) {
    this.next();
    const outer = this.barred;
    this.barred = true;
    const base = this.sum();
    this.barred = outer;
    this.expect(text);
    if (text === "|") return this.node("bars", start, { base });
    let order = "";
    if (this.text === "_") { this.next(); order = this.raw().map((piece) => piece.text).join(""); }
    if (!(order in LANGUAGE.norms)) throw new Unread(`the norm with subscript ${order} ${COMMAND}`);
    return this.node("norm", start, { base, order });
  }

  root(start) {
    this.next();
    let degree = null;
    if (this.peek === "[") {
      this.next();
      const from = this.at;
      while (this.peek !== undefined && this.peek !== "]") this.next();
      degree = this.inner(this.all.slice(from, this.at)).whole();
      this.expect("]");
    }
    return this.node("root", start, { degree, base: this.script() });
  }

  block(start) {
    const kind = this.next().text;
    const end = kind.replace("begin", "end"), found = [[]];
    let cell = [], depth = 0;
    const shut = () => { found.at(-1).push(this.inner(cell).whole()); cell = []; };
    for (; this.peek !== undefined && !(depth === 0 && this.peek === end); this.at += 1) {
      depth += this.peek.startsWith("\\begin") ? 1 : this.peek.startsWith("\\end") ? -1 : 0;
      if (depth === 0 && this.peek === "&") shut();
      else if (depth === 0 && this.peek === "\\\\") { shut(); found.push([]); } else cell.push(this.all[this.at]);
    }
    if (cell.length) shut();
    else if (!found.at(-1).length) found.pop();
    this.expect(end);
    if (!found.length) throw new Unread("an empty matrix is not read");
    const made = this.node("block", start, { rows: found });
    return DETERMINANTS.has(kind.slice(7, -1)) ? this.node("function", start, { how: "det", args: [made] }) : made;
  }

  /* A letter with what belongs to its name: a subscript that does not run, a mark; or its entry. */
  symbol() {
    const { start, text } = this.place;
    this.next();
    const base = text;
    const known = (key) => this.names?.has(key);
    let primes = 0;
    for (; this.functions.has(base) && (this.text === "'" || this.primed()); this.next()) primes += 1;
    if (primes) return this.call(base, start, primes);
    if (!this.names && base in FAMOUS && this.text === "'" && this.all[this.at + 1]?.text === "(") throw this.unknown(base);
    if ((this.text === "'" || this.primed()) && (known(`${base}'`) || !this.names)) {
      const econometric = /[A-Z]\}?'/.test(this.latex); // X'X: whoever writes so writes u' for a transpose
      if (!this.names && !econometric && !/^(?:[A-Z]|\\(?:mathbf|boldsymbol)\{)/.test(base)) throw new Unread("a prime at a small letter may be a derivative or a transpose: write ^\\top for a transpose; for a derivative say in front what the function is, as f(x) = x^2, with a comma behind, and write f'(x)");
      if (known(`${base}'`)) { this.next(); return this.node("name", start, { key: `${base}'` }); }
    }
    let key = base;
    if (this.text === "_") {
      const back = this.at;
      this.next();
      const all = this.raw();
      key = `${base}_{${all.map((piece) => piece.text).join("")}}`;
      const runs = all.some((piece) => this.running.includes(piece.text));
      const isName = this.names ? known(key) : !runs;
      if (!isName && this.isIdentity(base)) return this.node("identity", start, { size: this.size(all) });
      if (isName && this.names && runs) return this.node("entry", start, { base: this.named(key, start), indices: this.indices(all) }); // x_i of a sum, where x is another
      if (!isName) {
        const whole = this.named(base, start, back);
        return this.node("entry", start, { base: whole, indices: this.indices(all) });
      }
      if (!this.names && this.isIdentity(base)) return this.node("identity", start, { size: this.size(all) });
    }
    if (this.text === "^") {
      const back = this.at;
      this.next();
      const said = this.raw().map((piece) => piece.text).join("");
      if (known(`${key}^{${said}}`) || (MARKS.has(said) && !this.names)) return this.named(`${key}^{${said}}`, start);
      this.at = back;
    }
    return this.named(key, start);
  }

  named(key, start, end = this.at) {
    const node = { kind: "name", span: [start, this.all[end - 1].end], key };
    if (this.running.includes(key)) return { ...node, kind: "index" };
    const known = this.names?.has(key);
    if (!known && key in LANGUAGE.constants) return { ...node, kind: "constant", value: CONSTANTS[LANGUAGE.constants[key]] };
    if (!known && this.isIdentity(key)) return { ...node, kind: "identity", size: null };
    if (known) return node;
    if (this.names) throw new Unread(`${key} has no value here`);
    if (["i", "\\mathrm{i}", "\\imath"].includes(key)) return { ...node, kind: "constant", value: new Complex(0, 1) };
    if (this.functions.has(key) || (this.loose && this.callsFor(key) && this.text === "(")) return this.call(key, start);
    if (/^\\math(?:bf|bb)\{[01]\}$/.test(key)) throw new Unread(`a vector of ${key.includes("0") ? "zeros" : "ones"} ${COMMAND}`);
    const [, font, inside] = /^\\([a-z]+)\{(.*?)\}(?:_.*)?$/.exec(key) ?? [];
    if (/^math(?:bf|sf)$|^boldsymbol$/.test(font) && /^[A-Za-z]{2,}$/.test(inside)) throw new Unread(`\\${font}{${inside}} may be one name, or a product: write \\${font}{${inside[0]}} \\${font}{${inside[1]}} for a product`);
    if (ACCENTS.has(font) && !ONE.test(inside)) throw new Unread(`a bar or a hat over more than one letter is not read here`);
    if (/KL\}$/.test(key)) throw new Unread("a divergence of laws by their names is read neither here nor by the command: write out its sum or its integral");
    if (/^\\mathrm\{..+\}$/.test(key)) throw new Unread(`the word ${key.slice(8, -1)} is not known here, and ${COMMAND}`);
    if (key.replace(/_.*/, "") in LANGUAGE.averages && this.text === "[") throw new Unread(`a mean over a distribution ${COMMAND}`);
    if (this.callsFor(key)) throw this.unknown(key);
    return node;
  }
  /* What to write where a letter before a bracket may be a function. */
  unknown(key) {
    if (key === "P") return new Unread(`P before a bracket may be a probability, which ${COMMAND}`);
    const famous = FAMOUS[key], other = famous ? null : this.withoutPrimes();
    const said = famous ? `say in front what it is, as ${famous}, with a comma behind`
      : other ? "of its arguments none may have a prime: write another letter"
        : `for a product, write the bracket first; for a function say in front what it is, as ${key}(x) = x^2, with a comma behind`;
    const instead = famous ? [`${famous}, \\quad ${this.latex}`] : other ? [other] : [];
    return Object.assign(new Unread(`${key} before a bracket may be a function: ${said}`), { instead });
  }
  /* The equation with z for x', where a function has such an argument. */
  withoutPrimes() {
    const primed = /,\s*([a-z])'\s*\)/.exec(this.latex)?.[1];
    return primed && !this.latex.includes("z") ? this.latex.replaceAll(`${primed}'`, "z") : null;
  }
  /* f(x) or f''(x) of a function that is defined. */
  call(key, start, primes = 0) {
    if (this.text !== "(") throw new Unread(`${key} is a function, so a bracket belongs behind it`);
    return this.node("call", start, { args: this.group().args, key, primes });
  }
  /* Whether a symbol before a bracket looks like a function: by its letter, or by a lone symbol in there. */
  callsFor(key) {
    if (!["(", "["].includes(this.text)) return false;
    const [one, two, three] = this.all.slice(this.at + 1, this.at + 4).map((piece) => piece.text);
    const inside = one === "-" ? two : one, shut = one === "-" ? three : two;
    return CALLED.has(key.replace(/_.*/, "")) || /^\\math(?!bf)/.test(key) || (/^(?:[A-Za-z]|\\[a-z]+|\\[a-z]+\{.*\})$/.test(inside) && [")", "]", ","].includes(shut));
  }
  isIdentity(key) { return LANGUAGE.identities.includes(key) && !this.names?.has(key); }
  size(all) {
    const end = all.findIndex(({ text }) => text === "\\times");
    const [rows, columns] = end < 0 ? [all, all] : [all.slice(0, end), all.slice(end + 1)];
    const plain = (part) => part.map(({ text }) => text).join(" ");
    if (plain(rows) !== plain(columns)) throw new Unread("the size of an identity is one number, or the same number twice");
    return this.inner(rows).whole();
  }
}

// ------------------------------------------------------------ trees

const PARTS = ["base", "exponent", "above", "below", "inside", "body", "first", "last", "degree", "size", "point"];
const children = (node) => [
  ...(node.terms ?? []).map((term) => term.node), ...(node.factors ?? []), ...(node.args ?? []), ...(node.indices ?? []),
  ...(node.rows ?? []).flat(), ...PARTS.map((part) => node[part]),
].filter((child) => child && typeof child === "object" && child.kind);
const walk = (node) => [node, ...children(node).flatMap(walk)];
const mentions = (node, key) => walk(node).some((one) => one.key === key);

const nothingSaid = (row, latex) => {
  const text = latex.slice(row[0].start, row.at(-1).end);
  return text === latex.trim() ? "there is no sign such as = in it"
    : `there is no sign such as = in "${text}", which a comma, a new line or a wide space parts from the rest`;
};

/* The statements of an equation, each a chain of sides and signs, and its conditions. */
function read(latex, names = null) {
  const normal = names && new Set([...names].map(name));
  const found = { statements: [], conditions: [] };
  const functions = new Map();
  let waiting = []; // the a of "for a, b > 0"
  rows(pieces(latex)).forEach(({ kind, row }) => {
    const defined = !names && kind === "statement" && !(row[0].text in SPECIAL) ? head(row) : null;
    const loose = defined !== null && !functions.has(defined[0]);
    const parser = new Parser(row, { names: normal, latex, functions: loose ? new Map([...functions, defined]) : functions, loose });
    if (kind === "condition") {
      const made = parser.condition(), alone = !made.length && row.length <= 2 && parser.inner(row).whole();
      if (alone) waiting.push(alone);
      else {
        const own = made[0]?.sides.find((side) => side.kind === "name")?.key;
        const like = (one) => made.map((chain) => ({ ...chain, sides: chain.sides.map((side) => (side.key === own ? one : side)) }));
        found.conditions.push(...made, ...(own ? waiting.flatMap(like) : []));
        waiting = [];
      }
      return undefined;
    }
    const chain = parser.chain();
    if (!chain.signs.length) throw new Unread(nothingSaid(row, latex));
    if (loose) functions.set(...defined);
    return found.statements.push(chain);
  });
  if (!found.statements.length) throw new Unread("there is no sign such as = in it");
  return found;
}

/* One side of an equation, where the names of its symbols are known. */
const expression = (all, names, latex) => new Parser(all, { names, latex }).whole();

export { Unread, read, expression, name, walk, mentions, children };
