/* A trial of an equation in the browser: what its symbols are, whether it holds, which slips would be seen,
   and which single edit would mend it.

   Symbols are drawn by their kinds, and both sides are the printed formula. So this is what the engine calls
   *tried*, and not *checked*. */
import { Unread, read, name, walk, mentions, children } from "./parser.js";
import { pasted, refuseForgotten } from "./pasted.js";
import { Complex, isComplex } from "./complex.js";
import { Unsettled } from "./calculus.js";
import { Undefined, Misfit, LAW, value, judged, sizing, allow, isSpent, shape, inverse, add, times, transposed, eye } from "./evaluator.js";
import { slips, mends, edited } from "./edits.js";

const DRAWS = 32; // so many that a statement about the signs, or about numbers below one, is hardly seen on one side alone
const FEW_DRAWS = 12, DENSITY_DRAWS = 8; // where a value takes hundreds of others
const STEPS = 1e6, EDIT_STEPS = 2e5, TIMES = 8; // of arithmetic, for an equation and for the edits of it; so many more there
const EDIT_CHARACTERS = 1e5; // that are read of all edits
const TURNS = 160; // how often a draw is tried that has no value, or does not meet the conditions
const EDITS = 400; // that are tried of one equation
const CHOICES = 1500; // of kinds for the symbols
const N = 3, MORE = 4; // rows of a vector, and of a longer one

// ------------------------------------------------------------ draws

/* Mulberry32: the same numbers for everybody. */
function stream(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
const between = (next, low, high) => low + (high - low) * next();
const signed = (next) => (next() < 0.5 ? -1 : 1) * between(next, 0.3, 2.2);
const grid = (next, rows, columns) => Array.from({ length: rows }, () => Array.from({ length: columns }, () => signed(next)));

const WORST = 9; // condition of a matrix: its powers and inverses keep their digits
const norm = (a) => Math.hypot(...a.flat());
/* The first of some matrices that is far from a singular one. */
const regular = (draw) => (next) => {
  for (let turn = 0; turn < TURNS; turn += 1) {
    const a = draw(next);
    try {
      if (norm(a) * norm(inverse(a)) < WORST) return a;
    } catch (error) {
      if (!(error instanceof Undefined)) throw error;
    }
  }
  return draw(next);
};
/* With a floor in the equation, also whole numbers: it jumps there. */
const points = (next) => Array.from({ length: 5 }, () => signed(next));
const drawNumber = (next, jumps) => { const drawn = signed(next); return jumps && next() < 0.25 ? Math.round(drawn) : drawn; };

const KINDS = {
  number: { said: "a number", draw: drawNumber },
  positive: { said: "a positive number", draw: (next) => between(next, 0.3, 2.6) },
  part: { said: "a number from 0 to 1", draw: (next) => between(next, 0.05, 0.95) },
  whole: { said: "a whole number", draw: (next) => Math.floor(between(next, 1, 7)) },
  complex: { said: "a complex number", draw: (next) => new Complex(signed(next), signed(next)) },
  random: { said: "a random variable", draw: (next) => ({ random: points(next) }) },
  apart: { said: "random, independent", draw: (next) => ({ random: points(next), apart: true }) },
  size: { said: `the size, ${N}`, draw: () => N },
  vector: { said: `a vector of ${N}`, draw: (next) => grid(next, N, 1) },
  long: { said: `a vector of ${MORE}`, draw: (next) => grid(next, MORE, 1) },
  matrix: { said: `a matrix, ${N} × ${N}`, draw: regular((next) => grid(next, N, N)) },
  tall: { said: `a matrix, ${MORE} × ${N}`, draw: (next) => grid(next, MORE, N) },
  symmetric: { said: "a symmetric matrix", draw: regular((next) => { const a = grid(next, N, N); return times(0.5, add(a, transposed(a))); }) },
  definite: { said: "a positive definite matrix", draw: (next) => { const a = grid(next, N, N); return add(times(0.5, times(a, transposed(a))), eye(N, 0.5)); } },
};

// ------------------------------------------------------------ what the symbols are

const sidesOf = ({ statements, conditions }) => [...statements, ...conditions].flatMap(({ sides }) => sides);
const namesOf = (tree) => [...new Set(sidesOf(tree).flatMap(walk).filter(({ kind }) => kind === "name").map(({ key }) => key))];

const OPERATORS = new Set(["derivative", "gradient", "integral", "limit"]);
const isLong = (node) => OPERATORS.has(node.kind) || node.last?.kind === "infinity";
const isOfComplex = (node) => (node.kind === "constant" && isComplex(node.value)) || ["Re", "Im", "arg"].includes(node.how);

/* The letters that are random in an equation: capitals inside its means, or where there are none small ones. */
function randomIn(nodes) {
  const inside = nodes.filter(({ kind }) => kind === "average").map((node) => new Set(node.args.flatMap(walk).filter(({ kind }) => kind === "name").map(({ key }) => key)));
  const of = (form) => inside.map((keys) => [...keys].filter((key) => form.test(key)));
  const capital = of(/^[A-DF-Z](?:_\{\d\})?$/), found = capital.flat().length ? capital : of(/^[u-z](?:_\{\d\})?$/);
  if (found.some((keys) => !keys.length)) throw new Unread("the mean of what is not random: which letter is?");
  return new Set(found.flat());
}
/* As the command, which finds that a few distributions say little of an order. */
function refuseOrder({ statements }, nodes) {
  const ordered = statements.some(({ signs }) => signs.some(({ sign }) => sign !== "="));
  if (ordered && nodes.some(({ kind }) => kind === "average")) throw new Unread("an order of means is not tried: the distributions that are drawn say nothing of the others");
}

/* A symbol that depends on the variable of a derivative, a sum or a limit, and was defined apart from it. */
function refuseHidden({ statements }) {
  const behind = {};
  const bound = (node) => (["big", "integral", "limit"].includes(node.kind) ? [node.by ?? node.indices].flat() : []);
  const keysOf = (node) => [...(node.key ? [node.key, ...(behind[node.key] ?? [])] : []), ...children(node).flatMap(keysOf)].filter((key) => !bound(node).includes(key));
  for (const { sides: [left, ...sides] } of statements) {
    for (const node of sides.flatMap(walk).concat(walk(left))) {
      const by = node.by ?? node.indices ?? [];
      const hidden = node.body && [by].flat().find((one) => walk(node.body).some(({ key }) => behind[key]?.includes(one)));
      if (hidden) throw new Unread(`what depends on ${hidden} is defined apart from it: write it out`);
    }
    if (left.kind === "name" && sides.length) behind[left.key] ??= sides.flatMap(keysOf);
    if (left.kind === "call" && sides.length) behind[left.key] ??= keysOf(sides[0]).filter((key) => !left.args.some((arg) => arg.key === key));
  }
}

/* What a symbol may be, likeliest first, by its letter and by what stands at it. */
function candidates(key, nodes) {
  const at = (test) => nodes.some(test);
  const own = (node) => node?.kind === "name" && node.key === key;
  if (randomIn(nodes).has(key)) return ["random"];
  if (/^[zwsZ](?:_.*)?$/.test(key) && at(isOfComplex)) return ["complex"];
  const entries = nodes.filter((node) => node.kind === "entry" && own(node.base));
  if (entries.length) return entries.some(({ indices }) => indices.length === 2) ? ["matrix"] : ["vector"];
  const counts = at((node) => (node.kind === "function" && ["factorial", "binom"].includes(node.how) && node.args.flatMap(walk).some(own)));
  const ends = nodes.filter((node) => node.kind === "big" && [node.first, node.last].some((end) => end && walk(end).some(own)));
  if (ends.some(({ body }) => walk(body).some((node) => node.kind === "entry")) || at((node) => node.kind === "identity" && own(node.size))) return ["size"];
  const bare = key.replace(/[_^'].*$/, "");
  const ofMatrices = at(isOfMatrices);
  if (counts || ends.length || (/^[nmkNMK]$/.test(bare) && !(ofMatrices && /[A-Z]/.test(bare)))) return ["whole", "number"];
  const bold = /^\\(?:mathbf|boldsymbol|vec)\{(.*)\}$/.exec(bare)?.[1];
  if (bold) return /^[a-z]|^\\[a-z]/.test(bold) ? ["vector", "long"] : at(isSquaredUp(own)) ? ["tall", "matrix"] : ["matrix", "tall"];
  const upper = /^[A-Z]$|^\\[A-Z]|^\\(?:hat|bar|tilde|mathcal)\{[A-Z]\}$/.test(bare);
  if (upper) return !ofMatrices ? ["number", "matrix"] : at(isSquaredUp(own)) ? ["tall", "matrix", "number"] : ["matrix", "number", "tall"];
  const follows = ({ kind, factors }) => kind === "product" && factors.some((factor, i) => factor.kind === "transpose" && isSmall(factor.base) && factors[i + 1] && own(factors[i + 1]));
  if (at(follows)) return ["vector", "long"];
  const line = at((node) => (node.kind === "transpose" && own(node.base)) || ((node.kind === "norm" || node.how === "inner") && walk(node).some(own)));
  return line ? ["vector", "number", "long"] : ["number", "vector", "long"];
}
const MATRIX = new Set(["transpose", "kronecker", "entrywise"]);
const isSmall = ({ kind, key }) => kind === "name" && /^(?:[a-z]|\\[a-z]+|\\(?:mathbf|boldsymbol)\{[a-z]\})$/.test(key);
const isLarge = ({ kind, key }) => kind === "name" && /^(?:[A-Z]|\\[A-Z])/.test(key);
/* What shows that the capitals of an equation are matrices. */
const isOfMatrices = (node) => MATRIX.has(node.kind) || ["identity", "block", "norm"].includes(node.kind) || (node.kind === "inverse" && walk(node.base).some(isLarge))
  || ["det", "tr", "rank", "diag", "inner"].includes(node.how) || (node.kind === "name" && /^\\(?:mathbf|boldsymbol|vec)\{/.test(node.key));
/* Whether a node is X^\top X or X X^\top: such an X has more rows than columns. */
const isSquaredUp = (own) => ({ kind, factors }) => kind === "product" && factors.some((factor, i) => {
  const [a, b] = [factor, factors[i + 1]];
  return b && ((a.kind === "transpose" && own(a.base) && own(b)) || (own(a) && b.kind === "transpose" && own(b.base)));
});

/* Every choice of kinds, those with the fewest departures from the likeliest first. */
function* choices(keys, options, most = 3) {
  const choose = function* (from, left, chosen) {
    if (!left) { yield chosen; return; }
    for (let i = from; i < keys.length; i += 1) {
      for (const other of options[keys[i]].slice(1)) yield* choose(i + 1, left - 1, { ...chosen, [keys[i]]: other });
    }
  };
  const likeliest = Object.fromEntries(keys.map((key) => [key, options[key][0]]));
  for (let departures = 0; departures <= Math.min(most, keys.length); departures += 1) yield* choose(0, departures, likeliest);
}

// ------------------------------------------------------------ what could be meant otherwise

/* I beside numbers alone is a current more often than the identity. */
function refuseLonelyIdentity(tree, latex) {
  const nodes = sidesOf(tree).flatMap(walk);
  const isPlain = (node) => node.kind === "identity" && !node.size && latex.slice(...node.span) === "I";
  if (!nodes.some(isPlain)) return;
  const last = (node) => (node.kind === "product" ? node.factors.at(-1) : node);
  const beside = nodes.some((node) => node.kind === "sum" && node.terms.some((term) => isPlain(last(term.node)))) || sidesOf(tree).some(isPlain);
  const others = nodes.some((node) => node.kind !== "identity" && isOfMatrices(node));
  if (!beside && !others) throw new Unread("I is the identity matrix here, and nothing else looks like a matrix: for a number write another letter");
}

/* Symbols that likely belong together, though they were drawn apart: why the answer would be none. */
function tangle(tree, latex, kinds, values) {
  const nodes = sidesOf(tree).flatMap(walk);
  const keys = namesOf(tree), free = keys.filter((key) => Object.hasOwn(kinds, key) && !Object.hasOwn(values, key));
  const stems = new Set(keys.map((key) => key.replace(/[_^].*$/, "")));
  const runs = nodes.filter(({ kind, base }) => kind === "entry" && base.kind === "name");
  const two = new Set([...runs.filter(({ indices }) => indices.length === 2).map(({ base }) => base.key),
    ...keys.flatMap((key) => /^([A-Za-z])_\{(?:\d\d|[a-z][a-z]|\w,\w)\}$/.exec(key)?.[1] ?? [])]);
  const raised = new Set(nodes.filter(({ kind }) => kind === "power").map(({ base }) => base));
  if (free.length && nodes.some((node) => node.kind === "constant" && node.value === Math.E && !raised.has(node))) return "e is Euler's number here: for an error, a charge or an eccentricity write another letter";
  const run = /(?<!\\[A-Za-z]*|\\(?:math[a-z]+|operatorname|text)\s*\{\w*|[A-Za-z])[A-Z]{3,}/.exec(latex)?.[0];
  if (run && !Object.values(kinds).some((kind) => ["matrix", "tall"].includes(kind))) return `${run} is read as the product ${[...run].join(" ")}: for one name write ${run[0]}_{${run.slice(1)}}`;
  const isCross = ({ factors }) => factors?.some((factor, i) => factor.mark && latex.slice(...factor.mark).includes("\\times") && [factors[i - 1], factor].every((one) => one.kind !== "number"));
  if (nodes.some(isCross)) return "\\times may be the cross product of vectors, which is not read here: between numbers write \\cdot, or nothing";
  const change = /\\Delta\s*([a-zA-Z])(?![A-Za-z])/.exec(latex)?.[1];
  if (change && free.includes("\\Delta")) return `\\Delta ${change} is read as a product: for one name write \\Delta_${change}`;
  for (const key of free) {
    const [, mark, of] = /^\\(bar|overline)\{(.*)\}$/.exec(key) ?? /^(.*)\^\{(\*|\\dagger)\}$/.exec(key)?.map((one, i, all) => all[[0, 2, 1][i]]) ?? [];
    if (of && stems.has(of)) return /bar|over/.test(mark) && runs.some(({ base }) => base.key === of) ? `${key} may be the mean of ${of}: write ${key} = \\frac{1}{n} \\sum_{i=1}^n ${of}_i, in front` : `${key} may be the conjugate of ${of}, a complex number: it needs the command`;
    const letter = /^\\(?:mathbf|boldsymbol|vec)\{(.*)\}$/.exec(key)?.[1];
    const entry = letter && (runs.find(({ base }) => base.key === letter)?.base.key ?? keys.find((other) => other.startsWith(`${letter}_`)));
    if (entry) return `${entry.replace(/_.*/, "")} with a subscript may be an entry of ${key}, and was drawn apart from it: in a sum that runs write ${key}_i`;
    if (/^[A-Z]$/.test(key) && (two.has(key.toLowerCase()) || (two.has(key) && keys.some((other) => other.startsWith(`${key}_`))))) return `the letters with two subscripts may be entries of ${key}, and were drawn apart from it: in a sum that runs write ${key}_{ij}`;
  }
  return null;
}

/* What a reader may take for a symbol of his own, and is read as known. */
function knownIn(tree, latex) {
  const nodes = sidesOf(tree).flatMap(walk);
  const has = (test) => nodes.some(test);
  return [
    has((node) => node.kind === "constant" && node.value === Math.E) && "e is Euler's number",
    has((node) => node.kind === "identity") && "I is the identity matrix",
    has((node) => node.how === "log" && !node.base && latex.slice(...node.written).includes("log")) && "log is the natural logarithm",
  ].filter(Boolean);
}

/* Numbers that stand in it once only: an equation may be there to say what such a one is. */
function aloneIn(tree, kinds) {
  const all = sidesOf(tree).flatMap(walk).filter(({ kind }) => kind === "name").map(({ key }) => key);
  return Object.keys(kinds).filter((key) => all.filter((one) => one === key).length === 1);
}

/* Capitals that were drawn as numbers, and what would come of matrices: false, or nothing that is read here. */
function capitalsOf(tree, kinds, asked, values, seed) {
  const keys = Object.keys(kinds).filter((key) => kinds[key] === "number" && !asked[key] && CAPITAL.test(key));
  if (!keys.length) return null;
  try {
    const found = settled(tree, { ...kinds, ...Object.fromEntries(keys.map((key) => [key, "matrix"])) }, values, seed);
    if (!found.error) return verdict(tree, found.all).holds ? null : { keys, fails: true };
  } catch (error) {
    if (!(error instanceof Unread || error instanceof Undefined)) throw error;
  }
  return keys.length > 1 ? { keys, fails: false } : null;
}

// ------------------------------------------------------------ statements

const isDefinition = ({ sides: [left, ...others], signs }, table) => signs[0].sign === "=" && !Object.hasOwn(table, left.key ?? "")
  && (left.kind === "name" || (left.kind === "call" && !left.primes && left.args.every(({ kind }) => kind === "name"))) && !others.some((side) => mentions(side, left.key));

/* The names that statements define, in the order in which they do. */
function definedBy({ statements }, known) {
  const seen = { ...known }, found = [];
  statements.forEach((chain) => {
    if (isDefinition(chain, seen)) found.push(chain.sides[0].key);
    chain.sides.flatMap(walk).forEach(({ kind, key }) => { if (kind === "name") seen[key] = null; });
  });
  return found;
}

/* The statements on one table of values: the steps that were compared, the worst first. What was computed is
   kept, since an integral takes long. */
const OUTCOMES = new WeakMap();
function outcome(tree, table) {
  if (!OUTCOMES.has(tree)) OUTCOMES.set(tree, new WeakMap());
  const kept = OUTCOMES.get(tree);
  if (!kept.has(table)) kept.set(table, outcomeOf(tree, table));
  return kept.get(table);
}
function outcomeOf({ statements }, table) {
  const known = sizing(table);
  return statements.flatMap((chain) => {
    const { sides: [left, ...sides], signs } = chain;
    if (!isDefinition(chain, known)) return [judged(chain, known)];
    known[left.key] = left.kind === "name" ? value(sides[0], known)
      : { parameters: left.args.map(({ key }) => key), body: sides[0], table: { ...known } };
    return sides.length > 1 ? [judged({ sides, signs: signs.slice(1) }, known)] : [];
  });
}
const worst = (steps) => steps.reduce((a, b) => (a.holds && (!b.holds || b.off > a.off) ? b : !a.holds && !b.holds && b.off > a.off ? b : a));

/* Tables of values on which everything has a value and every condition is met. */
function tables(tree, kinds, values, seed, many) {
  const next = stream(seed), found = [];
  const jumps = sidesOf(tree).flatMap(walk).some(({ how }) => how === "floor" || how === "ceil");
  let problem = null, without = 0;
  for (let turn = 0; turn < TURNS && found.length < many; turn += 1) {
    const table = Object.fromEntries(Object.entries(kinds).map(([key, kind]) => [key, KINDS[kind].draw(next, jumps)]));
    Object.assign(table, values);
    table[LAW] = Object.fromEntries(Object.entries(table).filter(([, one]) => one?.random));
    try {
      if (!tree.conditions.every((chain) => judged(chain, table).holds)) continue;
      outcome(tree, table);
      found.push(table);
    } catch (error) {
      if (error instanceof Misfit || !(error instanceof Undefined)) throw error;
      problem = error;
      without += 1;
    }
    if (!Object.keys(kinds).length) break;
  }
  if (!found.length) throw problem ?? new Undefined("no draw meets the conditions");
  return Object.assign(found, { without });
}

/* Whether all hold on all draws, and by how much the worst is missed; a draw that rounding decides counts only
   where it decides every one. */
function verdict(tree, all) {
  const steps = all.map((table) => outcome(tree, table));
  if (!steps[0].length) return null;
  const each = steps.map(worst), clear = each.filter(({ blurred }) => !blurred);
  const counted = clear.length ? clear : each;
  return { ...worst(counted), draws: counted.length };
}

/* As above for an edit: the first draw on which it does not hold is enough. */
function verdictOf(latex, names, all) {
  try {
    const tree = read(latex, names);
    let found = null;
    for (const table of all) {
      const here = verdict(tree, [table]);
      if (!here?.holds && !here?.blurred) return here;
      if (!found?.holds) found = here;
    }
    return found;
  } catch (error) {
    if (error instanceof Unread) return null;
    if (error instanceof Unsettled) return { holds: false, unsure: true };
    if (error instanceof Undefined) return { holds: false, off: Infinity, fits: !(error instanceof Misfit) };
    throw error;
  }
}

/* Each edit with what came of it; what reads as before, or is not read, is left out. */
function edits(make, tree, latex, names, kinds, all) {
  const seen = new Set([latex.replace(/\s/g, "")]);
  allow(isHard(tree) ? TIMES * EDIT_STEPS : EDIT_STEPS);
  return [...make(tree, latex, kinds)].slice(0, Math.min(EDITS, EDIT_CHARACTERS / latex.length)).flatMap((edit) => {
    const reads = edited(latex, edit), plain = reads.replace(/\s/g, "");
    if (seen.has(plain) || isSpent()) return [];
    seen.add(plain);
    const found = verdictOf(reads, names, all);
    return found ? [{ said: edit[0], reads, ...found }] : [];
  });
}

/* Whether one side stands there twice: that `P = P` mends `P^2 = P` tells nobody anything. */
function saysNothing(latex) {
  const [first, ...others] = latex.split("=").map((side) => side.replace(/[\s&{}]/g, "").replace(/\^1(?!\d)/g, ""));
  return others.length > 0 && others.every((side) => side === first);
}

// ------------------------------------------------------------ the trial

const manyOf = (tree) => (isHard(tree) ? FEW_DRAWS : DRAWS);
/* The kinds of the free symbols: what is asked for, else the first choice whose shapes fit. */
function settled(tree, asked, values, seed) {
  const nodes = sidesOf(tree).flatMap(walk);
  const free = namesOf(tree).filter((key) => !Object.hasOwn(values, key) && !definedBy(tree, values).includes(key));
  const options = Object.fromEntries(free.map((key) => [key, asked[key] ? [asked[key]] : candidates(key, nodes)]));
  let first = null, count = 0;
  for (const kinds of choices(free, options)) {
    if ((count += 1) > CHOICES) break;
    try {
      return { kinds, all: tables(tree, kinds, values, seed, manyOf(tree)) };
    } catch (error) {
      if (!(error instanceof Undefined)) throw error;
      first ??= { kinds, error };
      if (!(error instanceof Misfit)) { first = { kinds, error }; break; }
    }
  }
  return first;
}

/* What is no truth of numbers may be one of matrices, and the n beside them how large they are. */
function asMatrices(tree, kinds, asked, values, seed) {
  const free = Object.keys(kinds).filter((key) => !asked[key]);
  const large = free.filter((key) => kinds[key] === "number" && CAPITAL.test(key)), counts = free.filter((key) => kinds[key] === "whole");
  const beside = Object.values(kinds).some((kind) => ["vector", "matrix", "tall"].includes(kind));
  if (!large.length && !(counts.length && beside)) return null;
  const of = (keys, kind) => Object.fromEntries(keys.map((key) => [key, kind]));
  for (const change of [of(large, "matrix"), { ...of(large, "matrix"), ...of(counts, "size") }]) {
    try {
      const found = settled(tree, { ...kinds, ...change }, values, seed);
      if (!found.error && verdict(tree, found.all).holds) return { ...found, matrices: large };
    } catch (error) {
      if (!(error instanceof Unread || error instanceof Undefined)) throw error;
    }
  }
  return null;
}
const CAPITAL = /^(?:[A-Z]|\\hat\{[A-Z]\})$/;

/* How much arithmetic an equation may take, next to a plain one; how many draws it has. */
const isHard = (tree) => sidesOf(tree).flatMap(walk).some(isLong);

/* As above, but where numbers of both signs will not do, positive ones are tried, or those below one; where
   random variables that depend on each other will not do, independent ones. */
function drawn(tree, asked, values, seed) {
  const found = settled(tree, asked, values, seed);
  const numbers = Object.keys(found.kinds).filter((key) => found.kinds[key] === "number" && !asked[key]);
  const better = (kind) => settled(tree, { ...asked, ...found.kinds, ...Object.fromEntries(numbers.map((key) => [key, kind])) }, values, seed);
  const whole = !found.error && found.all.length === manyOf(tree) && !found.all.without;
  if (whole && (verdict(tree, found.all)?.holds ?? true)) return found;
  const sized = whole && asMatrices(tree, found.kinds, asked, values, seed);
  if (sized) return sized;
  const random = Object.keys(found.kinds).filter((key) => found.kinds[key] === "random" && !asked[key]);
  if (whole && random.length > 1) {
    const apart = settled(tree, { ...asked, ...found.kinds, ...Object.fromEntries(random.map((key) => [key, "apart"])) }, values, seed);
    if (!apart.error && verdict(tree, apart.all)?.holds) return { ...apart, only: "apart", fails: true };
  }
  for (const kind of ["positive", "part"]) {
    const other = better(kind);
    if (other.error || other.all.length < manyOf(tree) || other.all.without) continue;
    if (!whole || verdict(tree, other.all)?.holds) return { ...other, only: kind, fails: whole };
  }
  return found;
}

/* What is told of an equation: whether it holds, on what, and what edits of it do, unless that is left out. */
function tried(given, { asked = {}, values = {}, seed = 1, named = false, briefly = false } = {}) {
  const bound = Object.fromEntries(Object.entries(values).map(([key, one]) => [name(key), one]));
  const names = named ? Object.keys(values) : null;
  const latex = pasted(given);
  let tree;
  try {
    if (!named) refuseForgotten(latex);
    tree = read(latex, names);
    if (!named) refuseLonelyIdentity(tree, latex);
    refuseHidden(tree);
    refuseOrder(tree, sidesOf(tree).flatMap(walk));
    randomIn(sidesOf(tree).flatMap(walk));
  } catch (error) {
    if (!(error instanceof Unread)) throw error;
    return { outcome: "not read", why: error.message, instead: error.instead ?? [], symbols: [] };
  }
  allow(isHard(tree) ? TIMES * STEPS : STEPS);
  const { kinds, all, error, only, fails, matrices = [] } = drawnOrNot(tree, asked, bound, seed);
  const symbols = namesOf(tree).map((key) => ({ key, kind: kinds?.[key] ?? null, value: bound[key] ?? null }));
  if (error) return { outcome: error instanceof Unread ? "not read" : "no value", why: error.message, symbols };
  const found = verdict(tree, all);
  if (!found) return { outcome: "a definition", symbols, defines: definedBy(tree, bound), functions: tree.statements.every(({ sides: [left] }) => left.kind === "call"), density: kinds && densityOf(tree, kinds, seed) };
  if (briefly) return { outcome: found.holds ? "holds" : "does not hold", symbols };
  const tangled = !found.holds && !named && tangle(tree, latex, kinds, bound);
  if (tangled) return { outcome: "not read", why: tangled, symbols };
  const alone = aloneIn(tree, kinds);
  const ties = !found.holds && alone.length > 1 && alone.length === Object.keys(kinds).length && tree.statements.length === 1;
  if (ties && tree.statements[0].signs.every(({ sign }) => sign === "=")) return { outcome: "a law", symbols };
  const equal = tree.statements.every(({ signs }) => signs.every(({ sign }) => sign === "="));
  const told = { symbols, equal, known: knownIn(tree, latex), only: only ?? null, fails: Boolean(fails), without: all.without, hard: isHard(tree), off: found.off, draws: found.draws };
  const like = { ...kinds, ...Object.fromEntries(Object.entries(bound).map(([key, one]) => [key, shape(one)])) };
  if (found.holds) {
    const squares = Object.keys(kinds).filter((key) => kinds[key] === "matrix" && !asked[key] && candidates(key, sidesOf(tree).flatMap(walk))[0] === "tall");
    const capitals = matrices.length ? { keys: matrices, as: "matrices" } : squares.length ? { keys: squares, as: "square", fails: true } : capitalsOf(tree, kinds, asked, bound, seed);
    const every = edits(slips, tree, latex, names, like, all), seen = every.filter((one) => !one.unsure);
    const caught = seen.filter((one) => !one.holds).length;
    return { outcome: "holds", ...told, rounded: found.off > found.allowed, capitals, slips: seen, caught, unsure: every.length - seen.length };
  }
  if (!equal) return { outcome: "does not hold", ...told, alone, mends: [] }; // almost any edit would turn an inequality
  return { outcome: "does not hold", ...told, alone, mends: edits(mends, tree, latex, names, like, all).filter((one) => one.holds && !saysNothing(one.reads)) };
}

/* Where the function that an equation defines integrates to one, as a density does; nothing where it does not. */
const LINES = [["the whole line", -1], ["the positive numbers", 0]];
function densityOf({ statements: [{ sides: [left, body] }, ...others] }, kinds, seed) {
  if (others.length || left.kind !== "call" || left.args.length > 1 || !body) return null;
  const by = left.args[0].key, infinity = (sign) => ({ kind: "infinity", sign });
  const [zero, one] = [0, 1].map((number) => ({ kind: "number", value: number }));
  const free = Object.keys(kinds).filter((key) => key !== by && mentions(body, key));
  if (free.some((key) => kinds[key] !== "number") || !mentions(body, by)) return null;
  const chain = (sign) => ({ sides: [{ kind: "integral", by, first: sign ? infinity(-1) : zero, last: infinity(1), body }, one], signs: [{ sign: "=" }] });
  for (const [over, sign] of LINES) {
    for (const kind of free.length ? ["number", "positive"] : ["number"]) {
      allow(STEPS);
      const next = stream(seed);
      const isOne = () => judged(chain(sign), sizing(Object.fromEntries(free.map((key) => [key, KINDS[kind].draw(next)])))).holds;
      try {
        if (Array.from({ length: free.length ? DENSITY_DRAWS : 1 }).every(isOne)) return { over, positive: kind === "positive" };
      } catch (error) {
        if (!(error instanceof Unread || error instanceof Undefined)) throw error;
      }
    }
  }
  return null;
}

function drawnOrNot(tree, asked, bound, seed) {
  try {
    return drawn(tree, asked, bound, seed);
  } catch (error) {
    if (!(error instanceof Unread || error instanceof Undefined)) throw error;
    return { error };
  }
}

/* A value that somebody wrote: 1.5, or [1, 2, 3] for a vector, or [1, 2; 3, 4] for a matrix. */
function given(text) {
  const rows = text.trim().replace(/^\[|\]$/g, "").split(";").map((row) => row.trim().split(/[\s,]+/).map(Number));
  const fine = text.trim() && rows.every((row) => row.length === rows[0].length && row.every(Number.isFinite));
  if (!fine) throw new Unread(`${text.trim() || "nothing"} is no number, and no rows of numbers such as [1, 2; 3, 4]`);
  if (rows.length > 1) return rows;
  return rows[0].length === 1 ? rows[0][0] : rows[0].map((entry) => [entry]);
}

export { KINDS, tried, given, pasted };
