/* Derivatives, integrals, limits and endless sums by numbers, each with an estimate of its error: what does
   not settle is refused. They go by the ways of the engine, `papers/src/checked_papers/numerics`, and their
   arguments are functions of a number. */
import { Unread } from "./tokenizer.js";
import { Undefined } from "./numbers.js";

/* What has a value perhaps, and none that is sure: a slip that makes it so was not seen. */
class Unsettled extends Undefined {}

const CLOSE = 1e-10; // relative: ten times less than what two sides may differ by
const unsettled = (said) => new Unsettled(`${said}, or too slowly for this page`);

// ------------------------------------------------------------ derivatives

/* Of the polynomial through values at Chebyshev's points. */
const POINTS = 24;
const PLACES = Array.from({ length: POINTS }, (_, j) => Math.cos(Math.PI * (j + 0.5) / POINTS));
const HIGHEST = 6;
const SHARES = [2, 1, 0.5, 0.25, 0.12, 0.06, 0.03]; // of the size of x, the reach to either side
const INSIDE = [0.31, -0.17]; // where the polynomial must be the function: it is not beside a kink

/* The derivatives of an order at zero of Chebyshev's polynomials. */
function slopesAtZero(order) {
  const row = Array(POINTS).fill(0), before = order ? slopesAtZero(order - 1) : null;
  row[0] = order ? 0 : 1;
  row[1] = order === 1 ? 1 : 0;
  for (let k = 1; k + 1 < POINTS; k += 1) row[k + 1] = (before ? 2 * order * before[k] : 0) - row[k - 1];
  return row;
}
const weights = [];
const weightsOf = (order) => (weights[order] ??= PLACES.map((_, j) => slopesAtZero(order)
  .reduce((sum, slope, k) => sum + (k ? 2 : 1) / POINTS * slope * Math.cos(k * Math.PI * (j + 0.5) / POINTS), 0)));

/* What each value counts for in that of the polynomial at a place. */
const shares = INSIDE.map((place) => {
  const row = PLACES.map((x, j) => (j % 2 ? -1 : 1) * Math.sin(Math.PI * (j + 0.5) / POINTS) / (place - x));
  const sum = row.reduce((a, b) => a + b, 0);
  return row.map((v) => v / sum);
});

/* The derivative of an order at x: [value, how large what cancels in it is]; two reaches must agree. The last
   argument adds and scales values, and measures them. */
function derivative(f, x, order, { add, times, most }) {
  if (order > HIGHEST) throw new Unread("so high a derivative needs the command");
  const size = Math.max(Math.abs(x), 0.2);
  let before = null, problem = null;
  const sum = (row, values) => values.map((v, j) => times(row[j], v)).reduce(add);
  for (const share of SHARES.slice(order > 1 ? 0 : 2)) { // a high one loses its digits within a short reach
    const reach = share * size;
    try {
      const values = PLACES.map((place) => f(x + reach * place)), largest = Math.max(...values.map(most));
      const apart = (i) => most(add(sum(shares[i], values), times(-1, f(x + reach * INSIDE[i]))));
      if (!INSIDE.every((_, i) => apart(i) <= 1e-9 * largest)) {
        before = null;
        continue;
      }
      const terms = weightsOf(order).map((weight, j) => times(weight / reach ** order, values[j]));
      const value = terms.reduce(add), whole = terms.reduce((sum, term) => sum + most(term), 0);
      const moved = before === null ? Infinity : most(add(value, times(-1, before)));
      if (moved <= CLOSE * most(value) || (most(value) <= 1e-12 * whole && moved <= 1e-12 * whole)) return [before, whole];
      before = value;
    } catch (error) {
      if (!(error instanceof Undefined)) throw error;
      problem = error;
      before = null;
    }
  }
  throw problem ?? unsettled("the values beside the place tell no derivative");
}

// ------------------------------------------------------------ integrals

const LEVELS = 6, REACH = 4, SETTLED = 1e-11;
/* Gauss's rule with so many points on [-1, 1], its points by Newton's method. */
function gauss(n) {
  return Array.from({ length: n }, (_, i) => {
    let x = Math.cos(Math.PI * (i + 0.75) / (n + 0.5)), slope = 1;
    for (let turn = 0; turn < 50; turn += 1) {
      let [p, q] = [1, x];
      for (let k = 2; k <= n; k += 1) [p, q] = [q, ((2 * k - 1) * x * q - (k - 1) * p) / k];
      slope = n * (x * q - p) / (x * x - 1);
      const step = q / slope;
      x -= step;
      if (Math.abs(step) < 1e-16) break;
    }
    return [x, 2 / ((1 - x * x) * slope * slope)];
  });
}
let rule = null;
function panel(f, low, high) {
  const half = (high - low) / 2;
  return (rule ??= gauss(24)).reduce(([sum, size], [x, weight]) => {
    const term = half * weight * f(low + half * (1 + x));
    return [sum + term, size + Math.abs(term)];
  }, [0, 0]);
}

/* From the variable of the trapezoidal rule to a place and its weight [Takahasi and Mori 1974]. */
function placing(low, high) {
  const s = (u) => Math.PI / 2 * Math.sinh(u), c = (u) => Math.PI / 2 * Math.cosh(u);
  if (high === Infinity && low === -Infinity) return (u) => [Math.sinh(s(u)), Math.cosh(s(u)) * c(u)];
  if (high === Infinity) return (u) => [low + Math.exp(s(u)), Math.exp(s(u)) * c(u)];
  return (u) => {
    const small = 1 / (1 + Math.exp(2 * Math.abs(s(u)))); // from the nearer end
    const x = u < 0 ? low + (high - low) * small : high - (high - low) * small;
    return [x, x === low || x === high ? 0 : (high - low) * 2 * c(u) * small * (1 - small)];
  };
}

/* Far out, where the weight leaves the reach of floats, an integrand may have no value. */
function termOf(f, [x, weight]) {
  if (weight === 0 || !Number.isFinite(x) || !Number.isFinite(weight)) return 0;
  try {
    return f(x) * weight;
  } catch (error) {
    if (!(error instanceof Undefined)) throw error;
    return weight < 1e-9 || weight > 1e9 ? 0 : NaN;
  }
}

function doubleExponential(f, low, high) {
  const place = placing(low, high), known = new Map();
  let before = null;
  for (let level = 1; level < LEVELS; level += 1) {
    const step = 0.5 ** level, last = Math.trunc(REACH / step);
    for (let k = -last; k <= last; k += 1) if (!known.has(k * step)) known.set(k * step, termOf(f, place(k * step)));
    const values = [...known.values()];
    const total = step * values.reduce((a, b) => a + b, 0), size = step * values.reduce((a, b) => a + Math.abs(b), 0);
    if (!Number.isFinite(total)) return null;
    const ends = Math.max(Math.abs(known.get(last * step)), Math.abs(known.get(-last * step)));
    if (before !== null && level > 2 && Math.abs(total - before) <= SETTLED * size && ends <= 1e-9 * size) return [total, size];
    before = total;
  }
  return null;
}

/* By Gauss's rule on panels: two divisions must agree, also on the integral of the modulus, which of what has
   a pole inside has no value. */
function byPanels(f, low, high) {
  const cuts = (n) => Array.from({ length: n }, (_, i) => low + (high - low) * i / (n - 1));
  const grown = (first, base, top) => [low, ...Array.from({ length: top }, (_, i) => low + first * base ** i)];
  const summed = (ends) => {
    let [total, whole, last] = [0, 0, 0];
    for (let i = 1; i < ends.length; i += 1) {
      const [part, size] = panel(f, ends[i - 1], ends[i]);
      [total, whole, last] = [total + part, whole + size, size];
      if (i > 3 && last <= 1e-17 * whole) break; // the rest may overflow
    }
    return [total, whole, last];
  };
  try {
    const [[one, size, last], [other, alike]] = (high === Infinity ? [grown(1, 2, 10), grown(1.3, 1.7, 12)] : [cuts(5), cuts(8)]).map(summed);
    const settled = Math.abs(one - other) <= CLOSE * size && Math.abs(size - alike) <= 0.02 * size && (high !== Infinity || last <= 1e-12 * size);
    return settled && Number.isFinite(one) ? [one, size] : null;
  } catch (error) {
    if (!(error instanceof Undefined)) throw error;
    return null;
  }
}

/* A tail that oscillates is cut at its zeros, and the partial integrals are extrapolated. */
function oscillating(f, low) {
  const zeros = [], safe = (x) => { try { return f(x); } catch (error) { if (!(error instanceof Undefined)) throw error; return NaN; } };
  for (let k = 1, left = low + 0.075, at = safe(left); k < 800 && zeros.length < 26; k += 1) {
    const right = low + 0.075 * (k + 1), there = safe(right);
    if (at * there < 0) {
      let [a, b, value] = [left, right, at];
      for (let turn = 0; turn < 28; turn += 1) {
        const middle = (a + b) / 2, now = safe(middle);
        if (now * value > 0) [a, value] = [middle, now]; else b = middle;
      }
      zeros.push((a + b) / 2);
    }
    [left, at] = [right, there];
  }
  const first = zeros.length >= 10 && doubleExponential(f, low, zeros[0]);
  if (!first) throw unsettled("the integral does not settle");
  const partial = [first[0]];
  for (let i = 1; i < zeros.length; i += 1) partial.push(partial.at(-1) + panel(f, zeros[i - 1], zeros[i])[0]);
  return [wynn(partial), first[1]];
}

/* The integral of f between two ends, either perhaps infinite: [value, that of the modulus]. */
function integral(f, low, high) {
  if (low === high) return [0, 0];
  if (low > high) { const [value, size] = integral(f, high, low); return [-value, size]; }
  if (low === -Infinity && high < Infinity) return integral((x) => f(-x), -high, Infinity);
  const settled = doubleExponential(f, low, high);
  if (settled) return settled;
  if (low === -Infinity) { // both halves must settle: else the odd part has a principal value at most
    integral((x) => f(x) - f(-x), 0, Infinity);
    return integral((x) => f(x) + f(-x), 0, Infinity);
  }
  const panelled = byPanels(f, low, high);
  if (panelled) return panelled;
  if (high === Infinity) return oscillating(f, low);
  throw unsettled("the integral does not settle");
}

const PLACES_OF_SIGNS = 240, HALVES = 80, KINKS = 40; // where signs are compared, and how near a zero is found

/* A place between two ends, of which one or both may be infinite. */
function placeAt(u, low, high) {
  if (Number.isFinite(low) && Number.isFinite(high)) return low + u * (high - low);
  if (Number.isFinite(low)) return low + u / (1 - u);
  return Number.isFinite(high) ? high - (1 - u) / u : (2 * u - 1) / (u * (1 - u));
}
/* The zeros of g between two ends where it changes its sign. */
function zeros(g, low, high) {
  const real = (x) => { try { return g(x); } catch (error) { if (!(error instanceof Undefined || error instanceof Unread)) throw error; return NaN; } };
  const places = Array.from({ length: PLACES_OF_SIGNS }, (_, i) => placeAt((i + 1) / (PLACES_OF_SIGNS + 1), low, high)), found = [];
  const values = places.map(real);
  for (let i = 0; i + 1 < places.length; i += 1) {
    let [a, b] = [places[i], places[i + 1]];
    if (values[i] === 0) found.push(a);
    if (!(values[i] * values[i + 1] < 0)) continue;
    for (let half = 0; half < HALVES && real((a + b) / 2) !== 0; half += 1) {
      if (real((a + b) / 2) * values[i] > 0) a = (a + b) / 2;
      else b = (a + b) / 2;
    }
    found.push((a + b) / 2);
  }
  return found.length > KINKS ? [] : found;
}
/* The integral of f, which has kinks at the zeros of the folds: from kink to kink. */
function folded(f, folds, first, last) {
  if (!folds.length) return integral(f, first, last);
  const [low, high] = [Math.min(first, last), Math.max(first, last)];
  const cuts = [low, ...new Set(folds.flatMap((g) => zeros(g, low, high)).filter((x) => x > low && x < high).sort((a, b) => a - b)), high];
  const parts = cuts.slice(1).map((cut, i) => integral(f, cuts[i], cut));
  const [value, size] = parts.reduce(([a, b], [c, d]) => [a + c, b + d]);
  return [first <= last ? value : -value, size];
}

// ------------------------------------------------------------ sequences

/* The columns of Wynn's epsilon table that tend to the limit of a sequence, itself the first. */
function evenColumns(values, settled = 0) {
  const table = [Array(values.length + 1).fill(0), values];
  while (table.at(-1).length > 1) {
    const older = table.at(-2), newer = table.at(-1);
    const gaps = newer.slice(1).map((v, i) => v - newer[i]);
    const least = settled * Math.max(Math.abs(newer.at(-1)), 1e-300);
    if (gaps.some((gap) => gap === 0 || Math.abs(gap) <= least)) break;
    table.push(gaps.map((gap, i) => older[i + 1] + 1 / gap));
  }
  return table.filter((_, i) => i % 2);
}

function wynn(partial) {
  const spread = (all) => Math.max(...all.map((v) => Math.abs(v - all.at(-1)))) / Math.max(Math.abs(all.at(-1)), 1e-300);
  const ends = evenColumns(partial).filter((column) => column.length > 2).map((column) => [spread(column.slice(-3)), column.at(-1)]);
  const [error, best] = ends.reduce((a, b) => (b[0] < a[0] ? b : a), [Infinity, 0]);
  if (!(error <= 1e-9)) throw unsettled("the integral does not settle");
  return best;
}

/* Where values go that come nearer to a place by half each time. */
function settledEnd(values) {
  const steps = values.slice(1).map((v, i) => Math.abs(v - values[i]));
  const most = Math.max(...values.map(Math.abs));
  if (steps.at(-1) > Math.max(steps[0], 1e-6 * most)) throw unsettled("the values on the way to the limit grow apart");
  const columns = evenColumns(values, 1e-15), last = columns.at(-1);
  const ends = [[values.at(-2), ...columns.map((column) => column.at(-1)), ...(last.length > 1 ? [last.at(-2)] : [])], halved(values)];
  const [apart, end] = ends.flatMap((row) => row.slice(1).map((v, i) => [Math.abs(v - row[i]), v])).reduce((a, b) => (b[0] < a[0] ? b : a));
  if (!(apart <= CLOSE * Math.abs(end)) && !(apart <= 1e-12 * most)) throw unsettled("the values on the way to the limit do not settle");
  return [end, most];
}
/* The last entries of the columns of Richardson's table, where the remainder is a series of whole powers. */
function halved(values) {
  const ends = [values.at(-1)];
  for (let row = values, by = 2; row.length > 1; by *= 2) {
    row = row.slice(1).map((v, i) => (by * v - row[i]) / (by - 1));
    ends.push(row.at(-1));
  }
  return ends;
}

const FEWEST = 5, VALUES = 11;
/* Places that are as near as those on the way: whole numbers that are odd, and others. */
function beside(point, sign, many) {
  const far = 2 ** (many + 1), steps = [far / 2 + 1, 2 * Math.floor(0.37 * far) + 1, 0.6180339887 * far];
  return steps.map((step) => (Number.isFinite(point) ? point + sign * (Math.abs(point) || 1) / step : sign * step));
}
/* Of the sine of pi/x, or of the powers of -1, the values on the way go somewhere, and the function does not. */
function refuseChosen(f, end, size, values, places) {
  const away = Math.max(...values.slice(-2).map((v) => Math.abs(v - end)));
  for (const place of places) {
    let value = end;
    try {
      value = f(place);
    } catch (error) {
      if (!(error instanceof Undefined)) throw error; // a factorial, which whole numbers alone have
    }
    if (!(Math.abs(value - end) <= 8 * away + 1e-9 * size)) throw unsettled("the values on the way to the limit do not settle");
  }
}

/* The limit of f at a point, from one side, "+" or "-", or from both: [value, how large the values were]. */
function limit(f, point, side) {
  const ways = Number.isFinite(point) ? ({ "+": [1], "-": [-1] }[side] ?? [-1, 1]) : [Math.sign(point)];
  const ends = ways.map((sign) => {
    const values = [];
    for (let k = 2; k < 2 + VALUES; k += 1) {
      const place = Number.isFinite(point) ? point + sign * (Math.abs(point) || 1) * 2 ** -k : sign * 2 ** k;
      try {
        values.push(f(place));
      } catch (error) {
        if (!(error instanceof Undefined) || values.length < FEWEST) throw error;
        break;
      }
    }
    const [end, size] = settledEnd(values);
    refuseChosen(f, end, size, values, beside(point, sign, values.length));
    return [end, size];
  });
  const [[one, size], [other] = [one]] = ends;
  if (Math.abs(one - other) > CLOSE * 10 * Math.max(Math.abs(one), Math.abs(other)) + 1e-12 * size) {
    throw new Undefined(`from one side it is ${one.toPrecision(6)}, from the other ${other.toPrecision(6)}`);
  }
  return [other, size];
}

const dying = () => unsettled("the terms do not die away");
/* Levin's u-transformation [Weniger 1989, section 7.2]. */
function levin(terms) {
  const kept = terms.filter((v) => v !== 0).slice(0, 60);
  const most = (some) => Math.max(...some.map(Math.abs));
  if (kept.length < 24 || most(kept.slice(-10)) >= most(kept.slice(10, 20))) throw dying();
  let [best, error, before] = [0, Infinity, null];
  for (let order = 4; order < Math.min(kept.length - 1, 34); order += 1) {
    let [above, below, total, choose] = [0, 0, 0, 1];
    for (let j = 0; j <= order; j += 1) {
      total += kept[j];
      const weight = (j % 2 ? -1 : 1) * choose * ((j + 1) / (order + 1)) ** (order - 1) / ((j + 1) * kept[j]);
      above += weight * total;
      below += weight;
      choose *= (order - j) / (j + 1);
    }
    const value = above / below, apart = before === null ? Infinity : Math.abs(value - before) / Math.max(Math.abs(value), 1e-300);
    if (apart < error) [best, error] = [value, apart];
    before = Number.isFinite(value) ? value : null;
  }
  if (!(error <= CLOSE)) throw dying();
  return best;
}

/* The sum of term(k) from `first` on: [value, how large the terms were]. */
function series(term, first) {
  const terms = [];
  let total = 0, size = 0, dead = 0;
  for (let k = 0; k < 400; k += 1) {
    terms.push(term(first + k));
    total += terms[k];
    size = Math.max(size, Math.abs(terms[k]));
    dead = total && Math.abs(terms[k]) <= 1e-17 * Math.abs(total) ? dead + 1 : 0;
    if (dead === 8) {
      const sizes = terms.filter(Boolean).map(Math.abs);
      if (sizes.length > 20 && sizes.at(-1) > 1e-3 * Math.max(...sizes)) throw dying();
      return [total, size];
    }
    const late = k === 59 && Math.max(...terms.slice(-10).map(Math.abs)), middle = k === 59 && Math.max(...terms.slice(20, 30).map(Math.abs));
    if (k === 59 && late > 1e-2 * middle) return [levin(terms), size];
  }
  if (Math.abs(terms.at(-1)) > 1e3 * Math.abs(terms[0]) + 1e6) throw dying();
  return [levin(terms), size];
}

/* The product of factor(k) from `first` on, by the differences of partial products. */
function product(factor, first) {
  const steps = [];
  let whole = 1;
  for (let k = 0; k < 60; k += 1) {
    const more = factor(first + k);
    steps.push(whole * (more - 1));
    whole *= more;
    if (whole === 0) return [0, 1];
  }
  if (steps.slice(-8).every((step) => Math.abs(step) <= 1e-16 * Math.abs(whole))) return [whole, 1];
  return [1 + levin(steps), 1];
}

export { Unsettled, derivative, integral, folded, limit, series, product };
