/* What a function gives of a number. Its names are those of the engine's register; one that is not computed
   here is none of `ENTRIES`, and needs the command. */
import { LANGUAGE } from "./language.js";
import { Nonsense, Unread } from "./tokenizer.js";
import { gamma, erf, erfc } from "./special.js";

/* What has no value: a logarithm of nothing, a singular matrix; and shapes that do not fit. */
class Undefined extends Nonsense {}
class Misfit extends Undefined {}

function real(value, said) {
  if (Number.isNaN(value)) throw new Undefined(`${said} is no real number`);
  return value;
}

function whole(value, what) {
  if (typeof value !== "number" || !Number.isInteger(value)) throw new Undefined(`${what} must be a whole number`);
  return value;
}
const count = (value, what) => {
  if (whole(value, what) < 0) throw new Undefined(`${what} must not be negative`);
  return value;
};

const MOST_FACTORS = 200;
const few = (n) => {
  if (n > MOST_FACTORS) throw new Unread("so large a factorial or binomial needs the command");
  return n;
};
const factorial = (n) => Array.from({ length: few(count(n, "what has a factorial")) }, (_, i) => i + 1).reduce((a, b) => a * b, 1);
function binomial(n, k) {
  const above = count(n, "a binomial's n"), below = count(k, "a binomial's k");
  return below > above ? 0 : Array.from({ length: few(Math.min(below, above - below)) }, (_, i) => (above - i) / (i + 1)).reduce((a, b) => a * b, 1);
}

/* The same function in JavaScript: arccosh is acosh. */
const ofMath = (name) => Math[name.replace(/^arc/, "a")];
const entry = (name) => [name, (v) => real(ofMath(name)(v), `${name} of ${v}`)];
const pole = (name) => (v) => {
  const below = ofMath(name)(v);
  if (below === 0) throw new Undefined("there is a pole");
  return 1 / below;
};
const arc = (name) => (v) => {
  if (v === 0) throw new Undefined("there is a pole");
  return ENTRIES[`arc${name}`](1 / v);
};
const nearly = LANGUAGE.rounding;
/* What arithmetic has moved off a whole number is that number. */
const rounded = (of) => (v) => (Math.abs(v - Math.round(v)) <= nearly * Math.max(1, Math.abs(v)) ? Math.round(v) : of(v));
const ENTRIES = {
  ...Object.fromEntries(LANGUAGE.entrywise.filter(ofMath).map(entry)),
  ...Object.fromEntries(Object.entries(LANGUAGE.reciprocals).flatMap(([name, of]) => [[name, pole(of)], [`arc${name}`, arc(of)]])),
  gamma: (v) => {
    if (Number.isNaN(gamma(v))) throw new Undefined("there is a pole");
    return gamma(v);
  },
  erf, erfc, Re: (v) => v, Im: () => 0, arg: (v) => (v < 0 ? Math.PI : 0),
  floor: rounded(Math.floor), ceil: rounded(Math.ceil),
  log: (v) => {
    if (v <= 0) throw new Undefined("the logarithm of what is not positive is no real number");
    return Math.log(v);
  },
};

export { Undefined, Misfit, ENTRIES, MOST_FACTORS, real, whole, count, factorial, binomial };
