/* What the figures that a reader operates compute: exact Gaussian process posteriors in one dimension,
   and the normal distribution.

   The same formulas as in the chapters (one Cholesky factor, two triangular solves), in double
   precision, in `window.gpNumbers`, so that a test can compare them with the package. */
(function () {
  "use strict";

  const PERIOD = 4;
  const CENTRE = 5; // where the straight lines have their smallest variance

  /* Correlations of two inputs; the signal's variance stands before them. */
  const KERNELS = {
    rbf: (a, b, ell) => Math.exp(-0.5 * ((a - b) / ell) ** 2),
    matern12: (a, b, ell) => Math.exp(-Math.abs(a - b) / ell),
    matern52: (a, b, ell) => {
      const r = (Math.sqrt(5) * Math.abs(a - b)) / ell;
      return (1 + r + (r * r) / 3) * Math.exp(-r);
    },
    periodic: (a, b, ell) => Math.exp(-2 * (Math.sin((Math.PI * (a - b)) / PERIOD) / ell) ** 2),
    line: (a, b, ell) => 1 + ((a - CENTRE) * (b - CENTRE)) / (CENTRE * ell) ** 2,
  };

  function covariance({ kernel = "rbf", signal, lengthscale }) {
    const correlation = KERNELS[kernel] ?? kernel;  // a name, or a function
    return (a, b) => signal * signal * correlation(a, b, lengthscale);
  }

  function gram(left, right, k) {
    return left.map((a) => right.map((b) => k(a, b)));
  }

  /* The lower factor L of a symmetric positive definite matrix A = L Lᵀ. */
  function cholesky(matrix) {
    const n = matrix.length;
    const lower = matrix.map((row) => row.map(() => 0));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = matrix[i][j];
        for (let k = 0; k < j; k += 1) sum -= lower[i][k] * lower[j][k];
        if (i === j && !(sum > 0)) throw new Error("matrix is not positive definite");
        lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j];
      }
    }
    return lower;
  }

  /* v = L⁻¹ b, forward substitution. */
  function halfSolve(lower, b) {
    const v = [];
    for (let i = 0; i < b.length; i += 1) {
      let sum = b[i];
      for (let k = 0; k < i; k += 1) sum -= lower[i][k] * v[k];
      v.push(sum / lower[i][i]);
    }
    return v;
  }

  /* w = L⁻ᵀ v, back substitution. */
  function halfSolveTransposed(lower, v) {
    const n = v.length;
    const w = new Array(n).fill(0);
    for (let i = n - 1; i >= 0; i -= 1) {
      let sum = v[i];
      for (let k = i + 1; k < n; k += 1) sum -= lower[k][i] * w[k];
      w[i] = sum / lower[i][i];
    }
    return w;
  }

  function dot(a, b) {
    return a.reduce((sum, value, i) => sum + value * b[i], 0);
  }

  /* The factor of K_y, L⁻¹ y and the log evidence; noise and signal are standard deviations. */
  function evidence({ x, y, noise, ...prior }) {
    const k = covariance(prior);
    const noisy = gram(x, x, k);
    noisy.forEach((row, i) => (row[i] += noise * noise));
    const lower = cholesky(noisy);
    const half = halfSolve(lower, y);
    const logDet = 2 * lower.reduce((sum, row, i) => sum + Math.log(row[i]), 0);
    const logEvidence = -0.5 * (dot(half, half) + logDet + x.length * Math.log(2 * Math.PI));
    return { k, lower, half, logEvidence };
  }

  /* Mean and variances of f and y, log evidence; the covariance of f, much dearer, when it is asked for. */
  function posterior({ xs, ...given }) {
    const { k, lower, half, logEvidence } = evidence(given);
    const alpha = halfSolveTransposed(lower, half);
    const cross = gram(xs, given.x, k);
    const mean = cross.map((row) => dot(row, alpha));
    const explained = cross.map((row) => halfSolve(lower, row));
    const varianceF = xs.map((a, i) => Math.max(k(a, a) - dot(explained[i], explained[i]), 0));
    const varianceY = varianceF.map((v) => v + given.noise * given.noise);
    return {
      mean, varianceF, varianceY, alpha, logEvidence,
      get covariance() {
        return xs.map((a, i) => xs.map((b, j) => k(a, b) - dot(explained[i], explained[j])));
      },
    };
  }

  /* Numbers between 0 and 1 that never change: a small generator with a fixed seed. */
  function fixedUniforms(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
  }

  /* Standard normals made of them, by Box and Muller. */
  function fixedNormals(count, seed) {
    const uniform = fixedUniforms(seed);
    return Array.from({ length: count }, () =>
      Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
    );
  }

  /* mean + L z with L Lᵀ = covariance + jitter; the jitter moves a sample by less than a pixel. */
  function samples(mean, covariance, signal, normals) {
    const jitter = 1e-8 * signal * signal;
    const lower = cholesky(covariance.map((row, i) => row.map((v, j) => (i === j ? v + jitter : v))));
    return normals.map((z) =>
      mean.map((m, i) => m + dot(lower[i].slice(0, i + 1), z))
    );
  }

  const FAR = 3; // above this, and below minus this, Phi is a continued fraction
  const density = (z) => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);

  /* q = 1 / (x + 2 / (x + 3 / ...)), with which Phi(-x) is the density over x + q. */
  function fraction(x) {
    let rest = 0;
    for (let k = 80; k >= 1; k -= 1) rest = k / (x + rest);
    return rest;
  }

  /* Phi: a series of positive terms near zero, a fraction far from it. */
  function cdf(z) {
    if (z < -FAR) return density(z) / (fraction(-z) - z);
    if (z > FAR) return 1 - cdf(-z);
    let [term, sum] = [z, z];
    for (let k = 3; k < 120; k += 2) sum += term *= (z * z) / k;
    return 0.5 + density(z) * sum;
  }

  /* The slope of log Phi. */
  const logCdfSlope = (z) => (z < -FAR ? fraction(-z) - z : density(z) / cdf(z));

  window.gpNumbers = {
    KERNELS, PERIOD, covariance, gram, cholesky, halfSolve, halfSolveTransposed, dot, evidence, posterior, samples, fixedUniforms, fixedNormals,
    density, cdf, logCdfSlope,
  };
})();
