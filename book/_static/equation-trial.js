/* A trial of an equation in the browser: what its symbols are, whether it holds, which slips would be seen,
   and which single edit would mend it.

   Nobody binds anything here: symbols are drawn by their kinds, and both sides are the printed formula. So
   this is what the engine calls *tried*, and not *checked*. In `window.equationTrial`. */
(function () {
  "use strict";

  const { Unread, read, name, walk } = window.equationReader;
  const { Undefined, Misfit, value, judged, shape, add, times, transposed, eye, isMatrix } = window.equationValues;
  const { slips, mends, edited } = window.equationSlips;

  const DRAWS = 5;
  const TURNS = 60; // how often a draw is tried that has no value, or does not meet the conditions
  const EDITS = 400; // that are tried of one equation
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

  const KINDS = {
    number: { said: "a number", draw: signed },
    positive: { said: "a positive number", draw: (next) => between(next, 0.3, 2.6) },
    part: { said: "a number from 0 to 1", draw: (next) => between(next, 0.05, 0.95) },
    whole: { said: "a whole number", draw: (next) => Math.floor(between(next, 1, 7)) },
    size: { said: `the size, ${N}`, draw: () => N },
    vector: { said: `a vector of ${N}`, draw: (next) => grid(next, N, 1) },
    long: { said: `a vector of ${MORE}`, draw: (next) => grid(next, MORE, 1) },
    matrix: { said: `a matrix, ${N} × ${N}`, draw: (next) => grid(next, N, N) },
    tall: { said: `a matrix, ${MORE} × ${N}`, draw: (next) => grid(next, MORE, N) },
    symmetric: { said: "a symmetric matrix", draw: (next) => { const a = grid(next, N, N); return times(0.5, add(a, transposed(a))); } },
    definite: { said: "a positive definite matrix", draw: (next) => { const a = grid(next, N, N); return add(times(0.5, times(a, transposed(a))), eye(N, 0.5)); } },
  };

  // ------------------------------------------------------------ what the symbols are

  const sidesOf = ({ statements, conditions }) => [...statements, ...conditions].flatMap(({ sides }) => sides);
  const namesOf = (tree) => [...new Set(sidesOf(tree).flatMap(walk).filter(({ kind }) => kind === "name").map(({ key }) => key))];

  /* What a symbol may be, likeliest first, by its letter and by what stands at it. */
  function candidates(key, nodes) {
    const at = (test) => nodes.some(test);
    const own = (node) => node?.kind === "name" && node.key === key;
    const entries = nodes.filter((node) => node.kind === "entry" && own(node.base));
    if (entries.length) return entries.some(({ indices }) => indices.length === 2) ? ["matrix"] : ["vector"];
    const counts = at((node) => (node.kind === "function" && ["factorial", "binom"].includes(node.how) && node.args.flatMap(walk).some(own)));
    const ends = nodes.filter((node) => node.kind === "big" && [node.first, node.last].some((end) => end && walk(end).some(own)));
    if (ends.some(({ body }) => walk(body).some((node) => node.kind === "entry")) || at((node) => node.kind === "identity" && own(node.size))) return ["size"];
    const bare = key.replace(/[_^'].*$/, "");
    if (counts || ends.length || /^[nmkNMK]$/.test(bare)) return ["whole", "number"];
    const bold = /^\\(?:mathbf|boldsymbol|vec)\{(.*)\}$/.exec(bare)?.[1];
    if (bold) return /^[a-z]|^\\[a-z]/.test(bold) ? ["vector", "number"] : ["matrix", "number"];
    const upper = /^[A-Z]$|^\\[A-Z]|^\\(?:hat|bar|tilde|mathcal)\{[A-Z]\}$/.test(bare);
    const ofMatrices = at((node) => (["transpose", "inverse"].includes(node.kind) || (node.kind === "function" && ["det", "tr", "rank", "diag"].includes(node.how)))
      && walk(node).some(own)) || at((node) => node.kind === "identity");
    if (upper) return ofMatrices ? ["matrix", "number", "tall"] : ["number", "matrix"];
    return at((node) => node.kind === "transpose" && own(node.base)) ? ["vector", "number"] : ["number", "vector"];
  }

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

  // ------------------------------------------------------------ statements

  const isDefinition = ({ sides: [left, ...others], signs }, table) => left.kind === "name" && signs[0].sign === "="
    && !Object.hasOwn(table, left.key) && !others.some((side) => walk(side).some(({ key }) => key === left.key));

  /* The names that statements define, in the order in which they do. */
  function definedBy({ statements }, known) {
    const seen = { ...known }, found = [];
    statements.forEach((chain) => {
      if (isDefinition(chain, seen)) found.push(chain.sides[0].key);
      chain.sides.flatMap(walk).forEach(({ kind, key }) => { if (kind === "name") seen[key] = null; });
    });
    return found;
  }

  /* The statements on one table of values: the steps that were compared, the worst first. */
  function outcome({ statements }, table) {
    const known = { ...table };
    return statements.flatMap((chain) => {
      const { sides: [left, ...sides], signs } = chain;
      if (!isDefinition(chain, known)) return [judged(chain, known)];
      known[left.key] = value(sides[0], known);
      return sides.length > 1 ? [judged({ sides, signs: signs.slice(1) }, known)] : [];
    });
  }
  const worst = (steps) => steps.reduce((a, b) => (a.holds && (!b.holds || b.off > a.off) ? b : !a.holds && !b.holds && b.off > a.off ? b : a));

  /* Tables of values on which everything has a value and every condition is met. */
  function tables(tree, kinds, values, seed, many) {
    const next = stream(seed), found = [];
    let problem = null, without = 0;
    for (let turn = 0; turn < TURNS && found.length < many; turn += 1) {
      const table = Object.fromEntries(Object.entries(kinds).map(([key, kind]) => [key, KINDS[kind].draw(next)]));
      Object.assign(table, values);
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

  /* Whether all hold on all draws, and by how much the worst is missed. */
  function verdict(tree, all) {
    const steps = all.map((table) => outcome(tree, table));
    return steps[0].length ? { ...worst(steps.map(worst)), draws: all.length } : null;
  }

  function verdictOf(latex, names, all) {
    try {
      return verdict(read(latex, names), all);
    } catch (error) {
      if (error instanceof Unread) return null;
      if (error instanceof Undefined) return { holds: false, off: Infinity, why: error.message };
      throw error;
    }
  }

  /* Each edit with what came of it; what reads as before, or is not read, is left out. */
  function edits(make, tree, latex, names, kinds, all) {
    const seen = new Set([latex.replace(/\s/g, "")]);
    return [...make(tree, latex, kinds)].slice(0, EDITS).flatMap((edit) => {
      const reads = edited(latex, edit), plain = reads.replace(/\s/g, "");
      if (seen.has(plain)) return [];
      seen.add(plain);
      const found = verdictOf(reads, names, all);
      return found ? [{ said: edit[0], reads, ...found }] : [];
    });
  }

  // ------------------------------------------------------------ the trial

  /* The kinds of the free symbols: what is asked for, else the first choice whose shapes fit. */
  function settled(tree, asked, values, seed) {
    const nodes = sidesOf(tree).flatMap(walk);
    const free = namesOf(tree).filter((key) => !Object.hasOwn(values, key) && !definedBy(tree, values).includes(key));
    const options = Object.fromEntries(free.map((key) => [key, asked[key] ? [asked[key]] : candidates(key, nodes)]));
    let first = null;
    for (const kinds of choices(free, options)) {
      try {
        return { kinds, all: tables(tree, kinds, values, seed, DRAWS) };
      } catch (error) {
        if (!(error instanceof Undefined)) throw error;
        first ??= { kinds, error };
        if (!(error instanceof Misfit)) { first = { kinds, error }; break; }
      }
    }
    return first;
  }

  /* As above, but where numbers of both signs will not do, positive ones are tried, or those below one. */
  function drawn(tree, asked, values, seed) {
    const found = settled(tree, asked, values, seed);
    const numbers = Object.keys(found.kinds).filter((key) => found.kinds[key] === "number" && !asked[key]);
    const better = (kind) => settled(tree, { ...asked, ...found.kinds, ...Object.fromEntries(numbers.map((key) => [key, kind])) }, values, seed);
    const whole = !found.error && found.all.length === DRAWS && !found.all.without;
    if (!numbers.length || (whole && (verdict(tree, found.all)?.holds ?? true))) return found;
    for (const kind of ["positive", "part"]) {
      const other = better(kind);
      if (other.error || other.all.length < DRAWS || other.all.without) continue;
      if (!whole || verdict(tree, other.all)?.holds) return { ...other, only: kind, fails: whole };
    }
    return found;
  }

  function tried(latex, { asked = {}, values = {}, seed = 1, named = false } = {}) {
    const bound = Object.fromEntries(Object.entries(values).map(([key, given]) => [name(key), given]));
    const names = named ? Object.keys(values) : null;
    let tree;
    try {
      tree = read(latex, names);
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      return { outcome: "not read", why: error.message, symbols: [] };
    }
    const { kinds, all, error, only, fails } = drawnOrNot(tree, asked, bound, seed);
    const symbols = namesOf(tree).map((key) => ({ key, kind: kinds?.[key] ?? null, value: bound[key] ?? null }));
    if (error) return { outcome: error instanceof Unread ? "not read" : "no value", why: error.message, symbols };
    const found = verdict(tree, all);
    if (!found) return { outcome: "a definition", symbols, defines: definedBy(tree, bound), value: value(tree.statements[0].sides[1], all[0]) };
    const reading = names ?? null;
    const told = { symbols, only: only ?? null, fails: Boolean(fails), without: all.without, off: found.off, draws: found.draws, left: found.left, right: found.right };
    const like = { ...kinds, ...Object.fromEntries(Object.entries(bound).map(([key, given]) => [key, shape(given)])) };
    if (found.holds) {
      const seen = edits(slips, tree, latex, reading, like, all);
      return { outcome: "holds", ...told, slips: seen, caught: seen.filter((one) => !one.holds).length };
    }
    return { outcome: "does not hold", ...told, mends: edits(mends, tree, latex, reading, like, all).filter((one) => one.holds) };
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

  window.equationTrial = { KINDS, tried, given, isMatrix };
})();
