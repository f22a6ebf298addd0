/* Matrix algebra as it is printed: the LaTeX of an equation is read and evaluated on numbers.

   Sums, products, inverses, transposes, powers and brackets of named matrices and numbers: what an
   equation of a posterior consists of. A number is a number, a matrix a list of rows, a vector a
   matrix of one column, and the identity fits any square. In `window.gpAlgebra`, so that a test can
   compare it with the engine that checks the book. */
(function () {
  "use strict";

  const SKIP = /^(?:\s|&|~|\\\\|\\[,;:! ]|\\(?:left|right|big[lr]?|Big[lr]?|quad|qquad)(?![a-zA-Z]))/;
  const FONT = /^\\(?:mathbf|boldsymbol|bm|mathrm|mathcal|bar|hat|tilde)(?![a-zA-Z])/;
  const WORD = /^(?:\\[a-zA-Z]+|[A-Za-z]|\*)/;
  const NUMBER = /^\d+(?:\.\d+)?/;

  class Nonsense extends Error {}

  /* What stands in the braces at the start of a text, and how long it is with them; one token where
     there are none. */
  function group(text) {
    if (text[0] !== "{") {
      const [one] = /^\\[a-zA-Z]+|^./.exec(text) ?? [""];
      return [one, one.length];
    }
    let depth = 0;
    for (let i = 0; i < text.length; i += 1) {
      depth += text[i] === "{" ? 1 : text[i] === "}" ? -1 : 0;
      if (depth === 0) return [text.slice(1, i), i + 1];
    }
    throw new Nonsense("a brace is left open");
  }

  /* A symbol by its letters alone: K_{y} and K_y are one. */
  const name = (text) => text.replace(/[\s{}]/g, "");
  const named = (table) => Object.fromEntries(Object.entries(table).map(([symbol, value]) => [name(symbol), value]));

  /* Tokens: { kind, text }. A symbol has its font and its subscript with it; ^ has what it raises to. */
  function tokens(latex) {
    const found = [];
    let rest = latex;
    const take = (length) => { rest = rest.slice(length); };
    const blanks = () => { for (let skip; (skip = SKIP.exec(rest)); ) take(skip[0].length); };
    for (blanks(); rest; blanks()) {
      const number = NUMBER.exec(rest);
      if (number) {
        found.push({ kind: "number", text: number[0] });
        take(number[0].length);
      } else if (rest.startsWith("\\frac")) {
        found.push({ kind: "frac", text: "" });
        take(5);
      } else if (FONT.test(rest) || WORD.test(rest)) {
        let text = (FONT.exec(rest) ?? WORD.exec(rest))[0];
        const font = FONT.test(rest);
        take(text.length);
        if (font) {
          blanks();
          const [inside, length] = group(rest);
          text += ` ${inside}`;
          take(length);
        }
        blanks();
        if (rest[0] === "_") {
          take(1);
          blanks();
          const [inside, length] = group(rest);
          text += `_${inside}`;
          take(length);
        }
        found.push({ kind: "symbol", text: name(text) });
      } else if (rest[0] === "^") {
        take(1);
        blanks();
        const [inside, length] = group(rest);
        found.push({ kind: "power", text: inside.trim() });
        take(length);
      } else if ("+-=()[]{}".includes(rest[0])) {
        found.push({ kind: rest[0], text: rest[0] });
        take(1);
      } else if (".,;".includes(rest[0])) take(1);
      else throw new Nonsense(`${rest[0]} is not read`);
    }
    return found;
  }

  const OPENS = { "(": ")", "[": "]", "{": "}" };

  /* A tree: [kind, ...parts]. A sum of products of powers, as it is read. */
  function read(latex) {
    const all = Array.isArray(latex) ? latex : tokens(latex);
    let at = 0;
    const next = () => all[at]?.kind;
    const sum = () => {
      const terms = [];
      for (let first = true; first || next() === "+" || next() === "-"; first = false) {
        let sign = 1;
        for (; next() === "+" || next() === "-"; at += 1) if (next() === "-") sign = -sign;
        terms.push(sign < 0 ? ["minus", product()] : product());
      }
      return terms.length > 1 ? ["sum", ...terms] : terms[0];
    };
    const product = () => {
      const factors = [];
      while (next() === "symbol" || next() === "number" || next() === "frac" || next() in OPENS) factors.push(power());
      if (!factors.length) throw new Nonsense("something is missing");
      return factors.length > 1 ? ["product", ...factors] : factors[0];
    };
    const power = () => {
      let base = atom();
      for (; next() === "power"; at += 1) base = ["power", base, all[at].text];
      return base;
    };
    const atom = () => {
      const { kind, text } = all[at];
      at += 1;
      if (kind === "number") return ["number", Number(text)];
      if (kind === "symbol") return ["symbol", text];
      if (kind === "frac") return ["product", atom(), ["power", atom(), "-1"]];
      const inside = sum();
      if (next() !== OPENS[kind]) throw new Nonsense("a bracket is left open");
      at += 1;
      return inside;
    };
    const tree = sum();
    if (at < all.length) throw new Nonsense(`${all[at].text} is not expected`);
    return tree;
  }

  /* The two sides of an equation and what stands between, each as a list of tokens. */
  function members(latex) {
    const parts = [[]];
    tokens(latex).forEach((one) => (one.kind === "=" ? parts.push([]) : parts.at(-1).push(one)));
    return parts;
  }

  // ------------------------------------------------------------ numbers

  const EYE = { eye: 1 };
  const isEye = (value) => typeof value === "object" && "eye" in value;
  const isMatrix = (value) => Array.isArray(value);
  const shape = (value) => (isMatrix(value) ? `${value.length} × ${value[0].length}` : "a number");
  const map = (value, by) => (isMatrix(value) ? value.map((row) => row.map(by)) : isEye(value) ? { eye: by(value.eye) } : by(value));

  function add(a, b) {
    if (isEye(a) && isEye(b)) return { eye: a.eye + b.eye };
    if (isEye(a)) return add(b, a);
    if (isEye(b) && isMatrix(a) && a.length === a[0].length) return a.map((row, i) => row.map((v, j) => v + (i === j ? b.eye : 0)));
    if (typeof a === "number" && typeof b === "number") return a + b;
    if (isMatrix(a) && isMatrix(b) && shape(a) === shape(b)) return a.map((row, i) => row.map((v, j) => v + b[i][j]));
    throw new Nonsense(`${shape(a)} and ${shape(b)} cannot be added`);
  }

  function times(a, b) {
    if (typeof a === "number") return map(b, (v) => a * v);
    if (typeof b === "number") return map(a, (v) => v * b);
    if (isEye(a)) return map(b, (v) => a.eye * v);
    if (isEye(b)) return map(a, (v) => v * b.eye);
    if (a[0].length !== b.length) throw new Nonsense(`${shape(a)} times ${shape(b)} does not fit`);
    const columns = transposed(b);
    return a.map((row) => columns.map((column) => row.reduce((sum, v, i) => sum + v * column[i], 0)));
  }

  const transposed = (a) => (isMatrix(a) ? a[0].map((_, j) => a.map((row) => row[j])) : a);

  /* By elimination, with the largest number of a column first: what is spoilt need not be definite. */
  function inverse(a) {
    if (!isMatrix(a)) return map(a, (v) => 1 / v);
    if (a.length !== a[0].length) throw new Nonsense(`${shape(a)} has no inverse`);
    const n = a.length;
    const rows = a.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
    for (let k = 0; k < n; k += 1) {
      const best = rows.reduce((at, row, i) => (i >= k && Math.abs(row[k]) > Math.abs(rows[at][k]) ? i : at), k);
      [rows[k], rows[best]] = [rows[best], rows[k]];
      const pivot = rows[k][k];
      if (pivot === 0) throw new Nonsense("a singular matrix has no inverse");
      rows[k] = rows[k].map((v) => v / pivot);
      rows.forEach((row, i) => {
        if (i !== k && row[k] !== 0) rows[i] = row.map((v, j) => v - row[k] * rows[k][j]);
      });
    }
    return rows.map((row) => row.slice(n));
  }

  function raised(value, by) {
    if (by === "\\top" || by === "T") return transposed(value);
    const power = Number(by.replace(/[{}\s]/g, ""));
    if (!Number.isInteger(power) || power === 0) throw new Nonsense(`the power ${by} is not read`);
    const base = power < 0 ? inverse(value) : value;
    return Array(Math.abs(power) - 1).fill(base).reduce(times, base);
  }

  /* The value of a tree, where `table` has a value for each symbol; I is the identity. */
  function evaluate([kind, ...parts], table) {
    const value = (part) => evaluate(part, table);
    if (kind === "number") return parts[0];
    if (kind === "sum") return parts.map(value).reduce(add);
    if (kind === "product") return parts.map(value).reduce(times);
    if (kind === "minus") return times(-1, value(parts[0]));
    if (kind === "power") return raised(value(parts[0]), parts[1]);
    if (parts[0] in table) return table[parts[0]];
    if (parts[0] === "I") return EYE;
    throw new Nonsense(`${parts[0]} has no value here`);
  }

  /* What an equation says now: the value of the member that an edit has changed, or of the first after
     the sign of equality. */
  function value(latex, whole, table) {
    const [now, then] = [members(latex), members(whole)];
    const same = (a, b) => a.map((one) => one.kind + one.text).join(" ") === b.map((one) => one.kind + one.text).join(" ");
    const changed = now.findIndex((one, i) => then[i] && !same(one, then[i]));
    return evaluate(read(now[changed < 0 ? 1 : changed]), named(table));
  }

  /* It, if it has so many rows and columns (any, where none are asked for) and finite numbers alone; the
     identity has any square. */
  function shaped(latex, whole, table, rows, columns) {
    const raw = value(latex, whole, table);
    const square = isEye(raw) && rows === columns;
    const found = square ? Array.from({ length: rows }, (_, i) => Array.from({ length: columns }, (__, j) => (i === j ? raw.eye : 0))) : raw;
    const fits = isMatrix(found) && [rows ?? found.length, columns ?? found[0].length].join() === [found.length, found[0].length].join();
    if (!fits) throw new Nonsense("what comes out has another shape");
    if (!found.flat().every(Number.isFinite)) throw new Nonsense("what comes out is no number");
    return found;
  }

  window.gpAlgebra = { Nonsense, value, shaped };
})();
