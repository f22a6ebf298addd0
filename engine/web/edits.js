/* Single edits of an equation that `parser.js` has read, each as a change of its text.

   `slips` are what a slip of the pen could have made of it, `mends` what could have been meant where it does
   not hold. An edit is [what it is called, start, end, the new text]; whoever tries it reads the equation
   anew, so that what is evaluated is what one would see. */
import { walk } from "./parser.js";

const OTHER = Object.fromEntries(
  [["sin", "cos"], ["sinh", "cosh"], ["tan", "cot"], ["exp", "log"], ["det", "tr"], ["min", "max"], ["floor", "ceil"]]
    .flatMap(([a, b]) => [[a, b], [b, a]]),
);
const WRITTEN = { tr: "\\operatorname{tr}" };
const written = (how) => WRITTEN[how] ?? `\\${how}`;
const ROUND = { "<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le" };

/* What is said of a stretch of the text: mathematics stands between dollars. */
const said = (latex, [start, end]) => `$${latex.slice(start, end).replace(/&|\\label\{[^}]*\}/g, "").trim()}$`;

/* What stood in a command, where nothing holds it together any more. */
const alone = (latex, node) => {
  const text = latex.slice(...node.span);
  return ["name", "number", "group", "function", "quotient", "root"].includes(node.kind) ? `{${text}}` : `(${text})`;
};

function* ofSum(node, latex) {
  const { terms } = node;
  for (let i = 0; i < terms.length; i += 1) {
    const { sign, written: at, node: term } = terms[i];
    const start = at?.[0] ?? term.span[0];
    yield [`flip the sign of ${said(latex, term.span)}`, start, at?.[1] ?? start, at ? (sign > 0 ? "-" : "+") : "-"];
    if (terms.length === 1) continue;
    const after = terms[i + 1];
    const stop = i === 0 && after.sign > 0 ? after.node.span[0] : term.span[1];
    yield [`drop the term ${said(latex, term.span)}`, start, stop, ""];
  }
}

function* ofProduct(node, latex) {
  for (let i = 0; i < node.factors.length; i += 1) {
    const { span, mark } = node.factors[i];
    const start = mark?.[0] ?? span[0];
    const stop = i === 0 ? node.factors[1].mark?.[1] ?? span[1] : span[1];
    yield [`drop the factor ${said(latex, span)}`, start, stop, " "];
  }
}

/* A script taken away, or one of the two that stand in one. */
function* unscripted(node, latex) {
  const { base } = node;
  const what = node.kind === "power" ? (latex.slice(base.span[1], node.span[1]).match(/2\}?$/) ? "square" : "power") : node.kind;
  const both = node.kind === "transpose" && base.kind === "inverse" && base.span[1] === node.span[1];
  if (both) {
    const inner = base.base.span[1];
    yield [`drop the transpose of ${said(latex, base.base.span)}`, inner, node.span[1], "^{-1}"];
    yield [`drop the inverse of ${said(latex, base.base.span)}`, inner, node.span[1], "^\\top"];
  } else yield [`drop the ${what} of ${said(latex, base.span)}`, base.span[1], node.span[1], ""];
}

function* ofFunction(node, latex) {
  const { how, args, written: word, span } = node;
  if (!word) return;
  const words = args.map((arg) => said(latex, arg.span)).join(", ");
  if (how in OTHER) yield [`${OTHER[how]} for ${how} of ${words}`, ...word, `${written(OTHER[how])} `];
  if (args.length === 1) yield [`drop ${how} of ${words}`, ...span, `(${latex.slice(...args[0].span)})`];
}

function* ofBig(node, latex) {
  const { how, first, last, written: word } = node;
  const other = { sum: "\\prod", prod: "\\sum", max: "\\min", min: "\\max" }[how];
  yield [`$${other}$ for ${said(latex, word)}`, ...word, other];
  if (first) yield [`begin one later than ${said(latex, first.span)}`, ...first.span, `{${latex.slice(...first.span)} + 1}`];
  if (last && last.kind !== "infinity") yield [`end one before ${said(latex, last.span)}`, ...last.span, `{${latex.slice(...last.span)} - 1}`];
}

const RULES = {
  sum: ofSum,
  product: ofProduct,
  power: unscripted,
  inverse: unscripted,
  transpose: unscripted,
  function: ofFunction,
  big: ofBig,
  *derivative(node, latex) { yield [`drop the derivative of ${said(latex, node.body.span)}`, ...node.span, `(${latex.slice(...node.body.span)})`]; },
  *gradient(node, latex) { yield [`drop the gradient of ${said(latex, node.body.span)}`, ...node.span, `(${latex.slice(...node.body.span)})`]; },
  *entrywise(node) { yield ["matrix product for the one entry by entry", ...node.factors[1].mark, " "]; },
  *quotient(node, latex) { yield [`drop the denominator ${said(latex, node.below.span)}`, ...node.span, alone(latex, node.above)]; },
  *number(node) { yield [`$${node.value + 1}$ for $${node.value}$`, ...node.span, `{${node.value + 1}}`]; },
  *root(node, latex) { yield [`drop the root of ${said(latex, node.base.span)}`, ...node.span, alone(latex, node.base)]; },
  *bars(node, latex) { yield [`drop the bars of ${said(latex, node.base.span)}`, ...node.span, `(${latex.slice(...node.base.span)})`]; },
  *norm(node, latex) { yield [`drop the norm of ${said(latex, node.base.span)}`, ...node.span, `(${latex.slice(...node.base.span)})`]; },
};

/* A symbol in the place of another of its kind. */
function* likeSymbols(nodes, latex, kinds) {
  const names = [...new Map(nodes.filter(({ kind }) => kind === "name").map((node) => [node.key, latex.slice(...node.span)]))];
  for (const node of nodes.filter(({ kind }) => kind === "name")) {
    for (const [key, text] of names) {
      if (key !== node.key && kinds[key] === kinds[node.key]) yield [`$${text}$ for ${said(latex, node.span)}`, ...node.span, `{${text}}`];
    }
  }
}

const nodesOf = ({ statements }) => statements.flatMap(({ sides }) => sides.flatMap(walk));

function* slips(tree, latex, kinds) {
  const nodes = nodesOf(tree);
  /* Behind a function without brackets what loses its own word would be taken for part of the argument. */
  const behind = new Set(nodes.flatMap((node) => (node.factors ?? []).filter((_, i) => node.factors[i - 1]?.bare)));
  for (const node of nodes) {
    for (const edit of RULES[node.kind]?.(node, latex) ?? []) {
      if (node.kind !== "function" || !behind.has(node) || !edit[0].startsWith("drop")) yield edit;
    }
  }
  yield* likeSymbols(nodes, latex, kinds);
  for (const { signs } of tree.statements) {
    for (const { sign, span } of signs) if (sign in ROUND) yield [`$${ROUND[sign]}$ for $${sign}$`, ...span, ROUND[sign]];
  }
}

/* What is put in: around a symbol, a bracket, a factor; in front of a term. */
function* insertions(nodes, latex) {
  const inScript = new Set(nodes.flatMap((node) => [node.exponent, ...(node.indices ?? []), node.size, node.first, node.last, node.point]
    .filter((one) => one?.kind).flatMap(walk)));
  const bases = new Set(nodes.filter(({ kind }) => ["inverse", "transpose", "power"].includes(kind)).flatMap((node) => node.base));
  for (const node of nodes.filter((one) => !inScript.has(one))) {
    const text = latex.slice(...node.span), name = said(latex, node.span);
    if (node.kind === "name" || (node.kind === "group" && node.opens !== "{")) {
      for (const [what, script] of [["transpose", "^\\top"], ["inverse", "^{-1}"], ["square", "^2"]]) {
        if (!bases.has(node)) yield [`a ${what} at ${name}`.replace("a inv", "an inv"), ...node.span, `${text}${script}`];
      }
      yield [`a root of ${name}`, ...node.span, `\\sqrt{${text}}`];
      yield [`$2$ before ${name}`, ...node.span, `2 ${text}`];
      yield [`one half before ${name}`, ...node.span, `\\frac{1}{2} ${text}`];
      yield [`$${text} - 1$ for ${name}`, ...node.span, `(${text} - 1)`];
      yield [`$${text} + 1$ for ${name}`, ...node.span, `(${text} + 1)`];
    }
    if (node.kind === "constant") {
      yield [`$2$ before ${name}`, ...node.span, `2 ${text}`];
      yield [`one half before ${name}`, ...node.span, `\\frac{1}{2} ${text}`];
    }
    for (const { node: term } of node.terms ?? []) {
      if (["name", "group", "number"].includes(term.kind) || term.factors) continue; // they have their own
      const words = latex.slice(...term.span).trim();
      yield [`$2$ before ${said(latex, term.span)}`, ...term.span, `2 ${words}`];
      yield [`one half before ${said(latex, term.span)}`, ...term.span, `\\frac{1}{2} ${words}`];
    }
    if (node.kind === "quotient" && !node.slash) {
      yield [`${name} upside down`, ...node.span, `\\frac{${latex.slice(...node.below.span)}}{${latex.slice(...node.above.span)}}`];
    }
    if (node.kind === "product") {
      for (let i = 1; i < node.factors.length; i += 1) {
        const [a, b] = [node.factors[i - 1], node.factors[i]];
        if (b.mark || a.mark) continue;
        const swapped = `${latex.slice(...b.span)} ${latex.slice(...a.span)}`;
        yield [`${said(latex, a.span)} and ${said(latex, b.span)} exchanged`, a.span[0], b.span[1], swapped];
      }
    }
  }
}

/* A factor 2 or one half, a minus, a logarithm, over a whole side. */
function* ofSides({ statements }, latex) {
  for (const { sides } of statements) {
    for (const { span } of sides.slice(1)) {
      const text = latex.slice(...span).replace(/&/g, ""), name = said(latex, span);
      if (text.includes("\\\\")) continue;
      yield [`$2$ before ${name}`, ...span, `2 (${text})`];
      yield [`one half before ${name}`, ...span, `\\frac{1}{2} (${text})`];
      yield [`a minus before ${name}`, ...span, `-(${text})`];
      yield [`a logarithm of ${name}`, ...span, `\\log(${text})`];
      yield [`a root of ${name}`, ...span, `\\sqrt{${text}}`];
    }
  }
}

function* mends(tree, latex, kinds) {
  yield* slips(tree, latex, kinds);
  for (const node of nodesOf(tree)) {
    if (node.kind === "number" && node.value > 1) yield [`$${node.value - 1}$ for $${node.value}$`, ...node.span, `{${node.value - 1}}`];
  }
  yield* insertions(nodesOf(tree), latex);
  yield* ofSides(tree, latex);
}

const edited = (latex, [, start, end, text]) => latex.slice(0, start) + text + latex.slice(end);

export { slips, mends, edited };
