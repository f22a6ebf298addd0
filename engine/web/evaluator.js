/* The values of an equation that `parser.js` has read: on numbers, vectors and matrices.

   A number is a number, a matrix a list of rows, a vector a matrix of one column, a row one of one row; what
   has a single entry is a number. The identity without a size fits any square. Shapes are strict, as in the
   engine: nothing is stretched but by a number. */
import { LANGUAGE } from "./language.js";
import { Unread } from "./tokenizer.js";
import { walk, mentions } from "./parser.js";
import { Undefined, Misfit, ENTRIES, MOST_FACTORS, real, whole, count, factorial, binomial } from "./numbers.js";
import { OF_COMPLEX, isComplex, plus, minus, mul, over, power, modulus, parts } from "./complex.js";
import { derivative, folded, limit, series, product } from "./calculus.js";

const budget = { left: Infinity };
/* What is evaluated from now on has so many steps. */
const allow = (steps) => { budget.left = steps; };
const isSpent = () => budget.left < 0;

const isMatrix = Array.isArray;
const isEye = (value) => typeof value === "object" && "eye" in value;
const isNumber = (value) => typeof value === "number" || isComplex(value);
const isSquare = (value) => isMatrix(value) && value.length === value[0].length;
const isLine = (value) => isMatrix(value) && (value.length === 1 || value[0].length === 1);
const shape = (value) => (isMatrix(value) ? `${value.length} × ${value[0].length}` : isEye(value) ? "the identity" : "a number");
const single = (rows) => (rows.length === 1 && rows[0].length === 1 ? rows[0][0] : rows);
const map = (value, by) => (isMatrix(value) ? value.map((row) => row.map(by)) : isEye(value) ? { eye: by(value.eye) } : by(value));
const flat = (value) => (isMatrix(value) ? value.flat() : [isEye(value) ? value.eye : value]);
const most = (value) => (typeof value === "number" ? Math.abs(value) : Math.max(...flat(value).map(modulus)));
const eye = (n, by = 1) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => (i === j ? by : 0)));

const LARGEST = 5000; // numbers in a matrix
function smallEnough(count) {
  if (count > LARGEST) throw new Unread("so large a matrix needs the command");
}

function add(a, b) {
  if (isEye(a) && isEye(b)) return { eye: a.eye + b.eye };
  if (isEye(a)) return add(b, a);
  if (isEye(b) && isSquare(a)) return a.map((row, i) => row.map((v, j) => v + (i === j ? b.eye : 0)));
  return alike(a, b, plus, "added");
}

function alike(a, b, by, said) {
  if (isNumber(a) && isNumber(b)) return by(a, b);
  if (isMatrix(a) && isMatrix(b) && shape(a) === shape(b)) return a.map((row, i) => row.map((v, j) => by(v, b[i][j])));
  throw new Misfit(`${shape(a)} and ${shape(b)} cannot be ${said}`);
}

function times(a, b) {
  if (typeof a === "number" && typeof b === "number") return a * b;
  if ((isComplex(a) && !isNumber(b)) || (isComplex(b) && !isNumber(a))) throw new Unread("a complex matrix needs the command");
  if (isNumber(a)) return map(b, (v) => mul(a, v));
  if (isNumber(b)) return map(a, (v) => mul(v, b));
  if (isEye(a)) return map(b, (v) => a.eye * v);
  if (isEye(b)) return map(a, (v) => v * b.eye);
  if (a[0].length !== b.length) throw new Misfit(`${shape(a)} times ${shape(b)} does not fit`);
  const columns = transposed(b);
  budget.left -= a.length * columns.length;
  return single(a.map((row) => columns.map((column) => row.reduce((sum, v, i) => sum + v * column[i], 0))));
}

const transposed = (a) => (isMatrix(a) ? a[0].map((_, j) => a.map((row) => row[j])) : a);

function square(a, what) {
  if (!isSquare(a)) throw new Misfit(`${shape(a)} has no ${what}`);
  return a;
}

function divided(a, b) {
  if (!isNumber(b)) throw new Misfit(`${shape(b)} stands below a line`);
  if (b === 0) throw new Undefined("there is a division by zero");
  return map(a, (v) => over(v, b));
}

/* Gauss and Jordan, with the largest number of a column first: [inverse, determinant]. */
function eliminated(a) {
  const n = a.length;
  const rows = a.map((row, i) => [...row, ...eye(n)[i]]);
  budget.left -= 5 * n ** 2;
  let det = 1;
  for (let k = 0; k < n; k += 1) {
    const best = rows.reduce((at, row, i) => (i >= k && Math.abs(row[k]) > Math.abs(rows[at][k]) ? i : at), k);
    if (best !== k) det = -det;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    const pivot = rows[k][k];
    if (pivot === 0) return [null, 0];
    det *= pivot;
    rows[k] = rows[k].map((v) => v / pivot);
    rows.forEach((row, i) => {
      if (i !== k && row[k] !== 0) rows[i] = row.map((v, j) => v - row[k] * rows[k][j]);
    });
  }
  return [rows.map((row) => row.slice(n)), det];
}

function inverse(a) {
  if (isNumber(a)) return divided(1, a);
  if (isEye(a)) return { eye: divided(1, a.eye) };
  const [found] = eliminated(square(a, "inverse"));
  const norm = (value) => Math.hypot(...value.flat());
  if (!found || norm(a) * norm(found) > LANGUAGE.singular) throw new Undefined("a singular matrix has no inverse");
  return found;
}

const determinant = (a) => (isNumber(a) ? a : eliminated(square(sized(a), "determinant"))[1]);
const sized = (a) => {
  if (isEye(a)) throw new Unread("the size of the identity is not said here: write I_n");
  return a;
};

function raised(a, by) {
  if (!isNumber(by)) throw new Misfit(`${shape(by)} is no exponent`);
  if (isNumber(a)) {
    if (a === 0 && by < 0) throw new Undefined("there is a division by zero");
    if (isComplex(a) || isComplex(by)) return power(a, by);
    return real(a ** by, "a root of a negative number");
  }
  if (!Number.isInteger(by)) throw new Unread(`a broken power of a matrix needs the command`);
  if (isEye(a)) return { eye: raised(a.eye, by) };
  if (Math.abs(by) > MOST_FACTORS) throw new Unread("so high a power needs the command");
  const base = by < 0 ? inverse(a) : square(a, "power");
  return Array(Math.abs(by)).fill(base).reduce(times, eye(base.length));
}

function rank(a) {
  const rows = a.map((row) => [...row]);
  const least = 1e-12 * most(a);
  let found = 0;
  for (let j = 0; j < rows[0].length && found < rows.length; j += 1) {
    const best = rows.reduce((at, row, i) => (i >= found && Math.abs(row[j]) > Math.abs(rows[at][j]) ? i : at), found);
    if (Math.abs(rows[best][j]) <= least) continue;
    [rows[found], rows[best]] = [rows[best], rows[found]];
    for (let i = found + 1; i < rows.length; i += 1) {
      const by = rows[i][j] / rows[found][j];
      rows[i] = rows[i].map((v, k) => v - by * rows[found][k]);
    }
    found += 1;
  }
  return found;
}

const extreme = (choose) => (...values) => {
  if (values.length > 1 && !values.every(isNumber)) throw new Misfit("an extreme of several things that are no numbers");
  return choose(...values.flatMap((value) => flat(sized(value))));
};
function diagonal(a) {
  if (isNumber(a)) return a;
  if (sized(a)[0].length === 1) return eye(a.length).map((row, i) => row.map((v) => v * a[i][0]));
  return square(a, "diagonal").map((row, i) => [row[i]]);
}
const WHOLE = {
  det: determinant, diag: diagonal, factorial, binom: binomial, min: extreme(Math.min), max: extreme(Math.max),
  inner: (a, b) => flat(alike(a, b, (v, w) => v * w, "multiplied entry by entry")).reduce((sum, v) => sum + v, 0),
  tr: (a) => (isNumber(a) ? a : square(sized(a), "trace").reduce((sum, row, i) => sum + row[i], 0)),
  rank: (a) => (isNumber(a) ? Number(a !== 0) : rank(sized(a))),
};

function applied(how, args) {
  if (how in WHOLE) {
    const many = { binom: 2, inner: 2, min: args.length, max: args.length }[how] ?? 1;
    if (args.length !== many) throw new Unread(`${how} of ${args.length} arguments is not read`);
    return WHOLE[how](...args);
  }
  if (args.length !== 1) throw new Unread(`${how} of ${args.length} arguments is not read`);
  const [a] = args;
  if (isEye(a) || (isSquare(a) && a.length > 1)) throw new Unread(`${how} of a square matrix: of its entries, or of the matrix?`);
  if (isComplex(a)) {
    if (!(how in OF_COMPLEX)) throw new Unread(`${how} of a complex number needs the command`);
    return OF_COMPLEX[how](a);
  }
  return map(a, ENTRIES[how]);
}

function length(a, order) {
  if (isNumber(a)) return modulus(a);
  const all = sized(a).flat();
  if (order === "F" || order === "\\mathrm{F}") return Math.hypot(...all);
  if (!isLine(a)) throw new Unread(order ? `the norm ${order} of a matrix needs the command` : "which norm of a matrix? write \\|A\\|_F");
  if (order === "1") return all.reduce((sum, v) => sum + Math.abs(v), 0);
  return order === "\\infty" ? most(a) : Math.hypot(...all);
}

function entry(base, indices) {
  const all = indices.map((index) => whole(index, "an index"));
  if (!isMatrix(base)) throw new Misfit(`${shape(base)} has no entries`);
  const inside = (i, n) => {
    if (i < 1 || i > n) throw new Undefined(`the entry ${i} of ${n}`);
    return i - 1;
  };
  if (all.length === 1 && isLine(base)) return base.flat()[inside(all[0], base.flat().length)];
  if (all.length !== 2 || isLine(base)) throw new Unread(`${all.length === 1 ? "a row" : "so many entries"} of ${shape(base)} needs the command`);
  return base[inside(all[0], base.length)][inside(all[1], base[0].length)];
}

function block(rows) {
  if (rows.flat().some(isComplex)) throw new Unread("a complex matrix needs the command");
  const grids = rows.map((row) => row.map((value) => (isNumber(value) ? [[value]] : sized(value))));
  const beside = grids.map((row) => {
    if (row.some((grid) => grid.length !== row[0].length)) throw new Misfit("the rows of a block matrix do not fit");
    return row[0].map((_, i) => row.flatMap((grid) => grid[i]));
  });
  const all = beside.flat();
  if (all.some((row) => row.length !== all[0].length)) throw new Misfit("the columns of a block matrix do not fit");
  return single(all);
}

function kronecker(a, b) {
  const [p, q] = [a, b].map((value) => (isNumber(value) ? [[value]] : sized(value)));
  smallEnough(p.flat().length * q.flat().length);
  return single(p.flatMap((row) => q.map((other) => row.flatMap((v) => other.map((w) => v * w)))));
}

// ------------------------------------------------------------ trees

const MOST = 20000; // terms of a sum

/* How far a bare index runs: as far as the entries along it. */
function extent(index, body, table) {
  const found = new Set();
  walk(body).filter((node) => node.kind === "entry").forEach((node) => node.indices.forEach((one, i) => {
    if (one.key !== index) return;
    const base = value(node.base, table);
    if (!isMatrix(base)) throw new Misfit(`${shape(base)} has no entries`);
    found.add(node.indices.length === 1 && isLine(base) ? base.flat().length : i ? base[0].length : base.length);
  }));
  if (found.size !== 1) throw new Unread(`how far ${index} runs is not said`);
  return [...found][0];
}

function run(node, table) {
  const { how, indices, first, last, body } = node;
  const from = first ? whole(value(first, table), "where a sum begins") : 1;
  if (last?.kind === "infinity") return endless(node, from, table);
  const spans = indices.map((index) => {
    const to = last ? whole(value(last, table), "where a sum ends") : extent(index, body, table);
    if ((to - from + 1) ** indices.length > MOST) throw new Unread("so long a sum needs the command");
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
  });
  const places = spans.reduce((rows, span, i) => rows.flatMap((row) => span.map((at) => ({ ...row, [indices[i]]: at }))), [{}]);
  const values = places.map((place) => value(body, { ...table, ...place }));
  if (how === "max" || how === "min") {
    if (!values.length || !values.every(isNumber)) throw new Undefined("an extreme of nothing");
    return Math[how](...values);
  }
  if (how === "prod") return values.reduce(times, 1);
  values.forEach((one_) => note(table, one_));
  return values.length ? values.reduce(add) : 0;
}

/* What is a real number, as `calculus.js` wants them. */
function plainly(found) {
  if (typeof found !== "number") throw new Unread(isComplex(found) ? "a sum, a limit or an integral of complex numbers needs the command" : `an integral, a limit or an endless sum of ${shape(found)} is not computed here`);
  return found;
}
/* What stands behind a sign as a function of its variable; how large the terms are far away is left out. */
function along(node, table, by = node.by) {
  const own = { ...table, [SIZE]: { most: 0 } };
  return (x) => {
    own[by] = x;
    return plainly(value(node.body, own));
  };
}
/* What has another form on either side of its zeros, as the base of bars has, or what is compared. */
function foldsOf(node, table) {
  const found = walk(node.body).flatMap(({ kind, how, base, args }) => {
    if (kind === "bars") return [base];
    if (how === "sign") return args;
    return how === "max" || how === "min" ? (args ?? []).flatMap((one_, i) => args.slice(i + 1).map((other) => [one_, other])) : [];
  });
  const ofIt = found.filter((fold) => [fold].flat().some((one_) => mentions(one_, node.by)));
  return ofIt.map((fold) => {
    const [first, second] = [fold].flat().map((body) => along({ body, by: node.by }, table));
    return second ? (x) => first(x) - second(x) : first;
  });
}
const noting = (table, [found, size]) => { note(table, size); return found; };

function endless({ how, indices, body }, from, table) {
  if (!(how === "sum" || how === "prod") || indices.length > 1) throw new Unread("what runs without end is a sum or a product here");
  return noting(table, (how === "sum" ? series : product)(along({ body }, table, indices[0]), from));
}

/* The number that an end of a range is, perhaps infinite. */
const ending = (node, of) => (node.kind === "infinity" ? node.sign * Infinity : plainly(of(node)));

/* The derivative of what `at` gives of the value of a symbol there: by a number, or by each entry. */
function slope(at, point, order, table, jacobian) {
  const by = (f, x) => noting(table, derivative(f, x, order, { add, times, most: (one_) => (isEye(one_) ? Math.abs(one_.eye) : most(one_)) }));
  if (isComplex(point)) throw new Unread("a derivative by a complex number needs the command");
  if (isNumber(point)) return by(at, point);
  if (!isMatrix(point) || order > 1) throw new Unread("this derivative by a vector needs the command");
  const slopes = point.map((row, i) => row.map((v, j) => by((x) => at(point.map((one_, k) => (k === i ? one_.map((w, l) => (l === j ? x : w)) : one_))), v)));
  if (slopes.flat().every(isNumber)) return slopes;
  const columns = slopes.flat();
  if (!jacobian || point[0].length > 1 || !columns.every((one_) => isMatrix(one_) && one_[0].length === 1)) throw new Unread("this derivative by a vector needs the command");
  return columns[0].map((_, i) => columns.map((column) => column[i][0]));
}
const SLOPED = (node, _, table) => {
  if (!mentions(node.body, node.by)) throw new Unread(`${node.by} does not occur in what is differentiated`);
  if (!Object.hasOwn(table, node.by)) throw new Unread(`${node.by} has no value here`);
  const own = { ...table, [SIZE]: { most: 0 } };
  return slope((x) => { own[node.by] = x; return value(node.body, own); }, table[node.by], node.order ?? 1, table, node.kind === "derivative");
};

/* Random variables, in the symbols of a draw: few points, with these weights. */
const WEIGHTS = [0.13, 0.31, 0.22, 0.09, 0.25];
const LAW = Symbol("the points of random variables");
function mean(table, keys, of) {
  const law = table[LAW] ?? {}, random = keys.filter((key) => Object.hasOwn(law, key));
  if (!random.length) throw new Unread("the mean of what is not random: which letter is?");
  const groups = [random.filter((key) => !law[key].apart), ...random.filter((key) => law[key].apart).map((key) => [key])].filter((group) => group.length);
  const places = groups.reduce((all, group) => all.flatMap(([weight, at]) => WEIGHTS
    .map((w, i) => [weight * w, { ...at, ...Object.fromEntries(group.map((key) => [key, law[key].random[i]])) }])), [[1, {}]]);
  return places.map(([weight, at]) => { const term = times(weight, of({ ...table, ...at })); note(table, term); return term; }).reduce(add);
}
function averaged({ how, args }, table) {
  const keys = [...new Set(args.flatMap(walk).map(({ key }) => key))];
  const centred = args.map((arg) => (how === "mean" ? null : mean(table, keys, (at) => plainly(value(arg, at)))));
  const apart = (i) => (at) => plainly(value(args[i], at)) - centred[i];
  if (how === "mean") return mean(table, keys, (at) => value(args[0], at));
  return mean(table, keys, (at) => apart(0)(at) * apart(args.length - 1)(at));
}

/* The value of a function that was defined, on the symbols as they were there. */
function called({ key, args, primes }, of, table) {
  const known = table[key];
  if (!known?.parameters) throw new Unread(`the function ${key} is not known: write in front what it is, with a comma behind`);
  if (known.parameters.length !== args.length) throw new Unread(`${key} was defined with ${known.parameters.length} arguments`);
  const own = { ...known.table, [SIZE]: table[SIZE] };
  const at = (values) => value(known.body, { ...own, ...Object.fromEntries(known.parameters.map((one_, i) => [one_, values[i]])) });
  const values = args.map(of);
  if (!primes) return at(values);
  if (values.length > 1) throw new Unread(`a prime at a function of ${values.length} arguments is not read`);
  return slope((x) => at([x]), values[0], primes, table, false);
}

/* How large the terms are that may cancel. */
const SIZE = Symbol("size of the terms");
const note = (table, term) => { if (table[SIZE]) table[SIZE].most = Math.max(table[SIZE].most, most(term)); };

const magnitude = (a) => map(a, modulus);
/* A product, and how large what it adds up is; between columns a dot or a cross means another one. */
function multiplied(a, b, { mark }, table) {
  if (typeof a === "number" && typeof b === "number") return a * b;
  if (mark && [a, b].every((one_) => isMatrix(one_) && one_[0].length === 1)) {
    throw new Unread("between two columns \\cdot and \\times are not read here: write \\mathbf a^\\top \\mathbf b for the inner product");
  }
  const found = times(a, b);
  if (isMatrix(a) && isMatrix(b)) note(table, times(magnitude(a), magnitude(b)));
  return found;
}

/* The value of a part that is raised to a power, and by how much larger its terms are: what cancels
   in a denominator moves a quotient in proportion, however large it is. */
function raisable(node, table) {
  const outer = table[SIZE], inner = { most: 0 };
  table[SIZE] = inner;
  try {
    const found = value(node, table), size = most(found);
    return [found, size > 0 ? inner.most / size : 0];
  } finally {
    table[SIZE] = outer;
  }
}
const noted = (table, share, found) => { if (share > 0) note(table, times(share, found)); return found; };

const RULES = {
  identity: (node, of) => {
    if (!node.size) return { eye: 1 };
    const size = count(of(node.size), "the size of an identity");
    if (!size) throw new Undefined("an identity of size zero");
    smallEnough(size ** 2);
    return single(eye(size));
  },
  group: (node, of) => of(node.inside),
  sum: (node, of, table) => {
    let found = null;
    for (const { sign, node: one_ } of node.terms) {
      const term = times(sign, of(one_));
      note(table, term);
      found = found === null ? term : typeof found === "number" && typeof term === "number" ? found + term : add(found, term);
    }
    return found;
  },
  product: (node, of, table) => {
    let found = of(node.factors[0]);
    for (let i = 1; i < node.factors.length; i += 1) found = multiplied(found, of(node.factors[i]), node.factors[i], table);
    return found;
  },
  entrywise: (node, of) => node.factors.map(of).reduce((a, b) => alike(a, b, (v, w) => v * w, "multiplied entry by entry")),
  kronecker: (node, of) => node.factors.map(of).reduce(kronecker),
  quotient: (node, of, table) => {
    const [below, share] = raisable(node.below, table);
    return noted(table, share, divided(of(node.above), below));
  },
  power: (node, of, table) => {
    const [base, share] = raisable(node.base, table);
    return noted(table, share, raised(base, of(node.exponent)));
  },
  inverse: (node, of, table) => {
    const [base, share] = raisable(node.base, table);
    return noted(table, share, inverse(base));
  },
  transpose: (node, of) => {
    const base = of(node.base);
    const made = node.letter && !walk(node.base).some(({ kind }) => kind === "transpose");
    if (isNumber(base) && node.base.kind === "name") throw new Misfit(`${node.base.key} is a number, which has no transpose`);
    if (isNumber(base) && made) throw new Misfit("a number has no transpose: for a power write another letter than T");
    return transposed(base);
  },
  derivative: SLOPED,
  gradient: SLOPED,
  integral: (node, of, table) => noting(table, folded(along(node, table), foldsOf(node, table), ending(node.first, of), ending(node.last, of))),
  limit: (node, of, table) => noting(table, limit(along(node, table), ending(node.point, of), node.side)),
  average: (node, of, table) => averaged(node, table),
  call: (node, of, table) => called(node, of, table),
  root: (node, of) => {
    const base = of(node.base), degree = node.degree ? of(node.degree) : 2;
    if (!isNumber(base) || !isNumber(degree)) throw new Misfit(`${shape(base)} has no root`);
    return raised(base, 1 / degree);
  },
  bars: (node, of) => { const base = of(node.base); return isMatrix(base) && !isLine(base) ? determinant(base) : length(base, ""); },
  norm: (node, of) => length(of(node.base), node.order),
  entry: (node, of) => entry(of(node.base), node.indices.map(of)),
  block: (node, of) => block(node.rows.map((row) => row.map(of))),
  big: (node, of, table) => run(node, table),
  function: (node, of, table) => {
    const args = node.args.map(of);
    const found = applied(node.how, args);
    if (["sin", "cos", "tan"].includes(node.how)) args.forEach((arg) => note(table, arg));
    return node.base ? divided(found, Math.log(of(node.base))) : found;
  },
};


/* The value of a tree, where `table` has a value for each symbol. */
function value(node, table) {
  budget.left -= 1;
  if (budget.left < 0) throw new Unread("so much arithmetic needs the command");
  if (node.kind === "number" || node.kind === "constant") return node.value;
  if (node.kind === "name" || node.kind === "index") {
    if (!Object.hasOwn(table, node.key)) throw new Unread(`${node.key} has no value here`);
    const known = table[node.key];
    if (known?.random) throw new Unread(`${node.key} is random, and has no value outside of E[…]`);
    if (known?.parameters) throw new Unread(`${node.key} is a function, so a bracket belongs behind it`);
    return known;
  }
  const found = RULES[node.kind](node, (part) => value(part, table), table);
  // Next to an infinite part any side would be as good as another.
  if (typeof found === "number" ? !Number.isFinite(found) : isComplex(found) && !parts(found).every(Number.isFinite)) throw new Undefined("a part is no finite number");
  return found;
}

// ------------------------------------------------------------ sides

const ROUNDING = LANGUAGE.rounding;
const ALLOWED = LANGUAGE.tolerance;

/* Two sides of one shape; the identity, and the number zero, take that of the other. */
function fitted(left, right) {
  if (isEye(left) && isEye(right)) return [left.eye, right.eye];
  if (isEye(left) && isSquare(right)) return [eye(right.length, left.eye), right];
  if (isEye(right) && isSquare(left)) return [left, eye(left.length, right.eye)];
  if (left === 0 || right === 0) return [left, right].map((side) => (side === 0 ? map(left === 0 ? right : left, () => 0) : side));
  if (shape(left) !== shape(right) || isEye(left) || isEye(right)) throw new Misfit(`the left side is ${shape(left)}, the right side ${shape(right)}`);
  return [left, right];
}

const apart = (a, b) => modulus(minus(a, b));
const GAP = { "=": apart, "\\ne": apart, "<": (a, b) => a - b, "\\le": (a, b) => a - b, ">": (a, b) => b - a, "\\ge": (a, b) => b - a };

/* Whether a relation holds between two values, and by how much it is missed, relative to the larger;
   `terms` is how large what cancels in them is; a side that is a decimal was rounded to its `places`.
   A gap is `blurred` where rounding of those terms may be all of it. */
function compared(left, sign, right, terms = 0, places = 0) {
  const zero = left === 0 || right === 0;
  const [a, b] = fitted(left, right);
  const all = [flat(a), flat(b)];
  if (!all.flat().flatMap(parts).every(Number.isFinite)) throw new Undefined("a side is no finite number");
  if (sign !== "=" && sign !== "\\ne" && all.flat().some(isComplex)) throw new Undefined("complex numbers have no order");
  const larger = Math.max(most(a), most(b));
  const size = zero || larger <= ROUNDING * terms ? Math.max(larger, terms) : larger;
  const gaps = all[0].map((v, i) => GAP[sign](v, all[1][i]));
  const gap = Math.max(0, ...gaps);
  const off = size > 0 ? gap / size : gap;
  if (sign === "\\ne") return { off: 0, holds: off > ALLOWED };
  const strict = sign === "<" || sign === ">";
  const holds = strict ? gaps.every((one_, i) => -one_ > ALLOWED * Math.max(Math.abs(all[0][i]), Math.abs(all[1][i]))) : off <= ALLOWED || (sign === "=" && places > 0 && gap <= 0.5000001 * 10 ** -places);
  return { off, holds, allowed: ALLOWED, blurred: !holds && sign === "=" && gap <= ROUNDING * terms };
}

/* The worst of the steps of a chain, on one table of values. */
function judged({ sides, signs }, table) {
  const steps = signs.map(({ sign }, i) => {
    const size = { most: table[SIZE]?.most ?? 0 };
    const [left, right] = [sides[i], sides[i + 1]].map((side) => value(side, { ...table, [SIZE]: size }));
    const places = Math.max(...[sides[i], sides[i + 1]].map((side) => side.places ?? 0));
    return { ...compared(left, sign, right, size.most, places), left, right };
  });
  return steps.reduce((worst, step) => (Number(step.holds) - Number(worst.holds) || worst.off - step.off) < 0 ? step : worst);
}

/* A table in which the size of what is added is kept, from one statement to the next. */
const sizing = (table) => ({ ...table, [SIZE]: { most: 0 } });

export { Undefined, Misfit, LAW, value, judged, sizing, allow, isSpent, shape, inverse, transposed, times, add, eye, isEye, isMatrix };
