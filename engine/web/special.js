/* Special functions of a real number: the gamma function and the error functions. Where there is none, NaN. */

/* Lanczos's approximation with g = 607/128 and 15 terms, as Godfrey computed it. */
const G = 607 / 128;
const LANCZOS = [
  0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978,
  0.33994649984811888699e-4, 0.46523628927048575665e-4, -0.98374475304879564677e-4, 0.15808870322491248884e-3,
  -0.21026444172410488319e-3, 0.21743961811521264320e-3, -0.16431810653676389022e-3, 0.84418223983852743293e-4,
  -0.26190838401581408670e-4, 0.36899182659531622704e-5,
];
const series = (x) => LANCZOS.slice(1).reduce((sum, c, i) => sum + c / (x + i), LANCZOS[0]);

const EXACT = 23; // factorials below this one are floats
function gamma(x) {
  if (Number.isInteger(x)) {
    if (x <= 0) return NaN;
    if (x <= EXACT) return Array.from({ length: x - 1 }, (_, i) => i + 1).reduce((a, b) => a * b, 1);
  }
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * (x - 2 * Math.round(x / 2))) * gamma(1 - x));
  const t = x + G - 0.5, half = t ** ((x - 0.5) / 2); // in two, since the power alone may overflow
  return Math.sqrt(2 * Math.PI) * half * Math.exp(-t) * half * series(x);
}

const FAR = 1.2; // from here on the fraction converges soon
/* The series with positive terms: 2 x e^{-x^2} / sqrt(pi) times 1 + 2x^2/3 + ... */
function nearby(x) {
  let term = 1, sum = 1;
  for (let n = 1; term > 1e-18 * sum; n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return 2 * x * Math.exp(-x * x) / Math.sqrt(Math.PI) * sum;
}
/* Laplace's continued fraction of erfc, from its far end. */
function faraway(x) {
  let below = x;
  for (let n = Math.ceil(30 + 220 / (x * x)); n > 0; n -= 1) below = x + n / 2 / below;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / below;
}
const erfc = (x) => (x < FAR ? 1 - erf(x) : faraway(x));
const erf = (x) => (x < 0 ? -erf(-x) : x < FAR ? nearby(x) : 1 - faraway(x));

export { gamma, erf, erfc };
