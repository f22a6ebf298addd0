/* Complex numbers; what has no imaginary part is a number. Powers and logarithms are on their principal
   branch, as in the engine. */

class Complex {
  constructor(re, im) { Object.assign(this, { re, im }); }
}
const made = (re, im) => (im === 0 ? re : new Complex(re, im));
const parts = (v) => (v instanceof Complex ? [v.re, v.im] : [v, 0]);
const isComplex = (v) => v instanceof Complex;
const both = (a, b) => typeof a === "number" && typeof b === "number";

function plus(a, b) {
  if (both(a, b)) return a + b;
  const [[p, q], [r, s]] = [parts(a), parts(b)];
  return made(p + r, q + s);
}

function mul(a, b) {
  if (both(a, b)) return a * b;
  const [[p, q], [r, s]] = [parts(a), parts(b)];
  return made(p * r - q * s, p * s + q * r);
}

function over(a, b) {
  if (both(a, b)) return a / b;
  const [r, s] = parts(b), size = r * r + s * s;
  return mul(a, made(r / size, -s / size));
}

const modulus = (v) => (typeof v === "number" ? Math.abs(v) : Math.hypot(v.re, v.im));
const minus = (a, b) => plus(a, mul(-1, b));
const angle = (v) => { const [p, q] = parts(v); return Math.atan2(q, p); };
const exp = (v) => { const [p, q] = parts(v), size = Math.exp(p); return made(size * Math.cos(q), size * Math.sin(q)); };
const log = (v) => made(Math.log(modulus(v)), angle(v));

const MANY = 64;
function power(a, b) {
  if (a === 0) return a;
  if (Number.isInteger(b) && Math.abs(b) <= MANY) {
    const all = Array(Math.abs(b)).fill(a).reduce(mul, 1);
    return b < 0 ? over(1, all) : all;
  }
  return exp(mul(b, log(a)));
}

const sinh = ({ re, im }) => made(Math.sinh(re) * Math.cos(im), Math.cosh(re) * Math.sin(im));
const cosh = ({ re, im }) => made(Math.cosh(re) * Math.cos(im), Math.sinh(re) * Math.sin(im));
const sin = ({ re, im }) => made(Math.sin(re) * Math.cosh(im), Math.cos(re) * Math.sinh(im));
const cos = ({ re, im }) => made(Math.cos(re) * Math.cosh(im), -Math.sin(re) * Math.sinh(im));
/* What functions give of a number that is not real. */
const OF_COMPLEX = {
  exp, log, sin, cos, sinh, cosh, tan: (v) => over(sin(v), cos(v)), tanh: (v) => over(sinh(v), cosh(v)),
  Re: ({ re }) => re, Im: ({ im }) => im, arg: angle,
};

export { Complex, OF_COMPLEX, isComplex, parts, plus, minus, mul, over, power, modulus, angle };
