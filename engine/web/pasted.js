/* What is pasted, as the LaTeX of an equation: dollars and other marks around a display are taken off, and
   signs that a keyboard or a web page has are written as commands. */
import { Unread } from "./tokenizer.js";

const AROUND = [
  /^\$\$([^$]*)\$\$$/, /^\$([^$]*)\$$/, /^\\\[([\s\S]*)\\\]$/, /^\\\(([\s\S]*)\\\)$/, /^\{\s*\\(?:displaystyle|textstyle)\b([\s\S]*)\}$/,
];
const GREEK = String.raw`α \alpha β \beta γ \gamma δ \delta ε \varepsilon ϵ \epsilon ζ \zeta η \eta θ \theta ϑ \vartheta ι \iota κ \kappa
  λ \lambda μ \mu µ \mu ν \nu ξ \xi π \pi ρ \rho σ \sigma ς \varsigma τ \tau υ \upsilon φ \varphi ϕ \phi χ \chi ψ \psi ω \omega
  Γ \Gamma Δ \Delta Θ \Theta Λ \Lambda Ξ \Xi Π \Pi Σ \Sigma Υ \Upsilon Φ \Phi Ψ \Psi Ω \Omega ℓ \ell`;
const SIGNS = String.raw`− - – - ≤ \le ≥ \ge ≠ \ne · \cdot ⋅ \cdot × \times ⊗ \otimes ⊙ \odot ± \pm ∓ \mp ∈ \in ∞ \infty ∑ \sum ∏ \prod
  ∫ \int ∂ \partial ∇ \nabla √ \sqrt ⊤ \top † \dagger ° ^\circ ′ ' ’ ' ‖ \| ∥ \| ⟨ \langle ⟩ \rangle ⌊ \lfloor ⌋ \rfloor ⌈ \lceil ⌉ \rceil
  … \dots ⋯ \cdots ≈ \approx ∝ \propto ½ \frac{1}{2} ⅓ \frac{1}{3} ¼ \frac{1}{4} ¾ \frac{3}{4} ℝ \mathbb{R} ≡ \equiv`;
const pairs = (text) => text.trim().split(/\s+/).reduce((rows, one, i) => (i % 2 ? (rows.at(-1).push(one), rows) : [...rows, [one]]), []);
const COMMANDS = new Map([...pairs(GREEK), ...pairs(SIGNS)]);
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀ", RAISED_AS = "0123456789+-nT";
const LOWERED = "₀₁₂₃₄₅₆₇₈₉ᵢⱼₙ", LOWERED_AS = "0123456789ijn";
const script = (sign, from, to) => (run) => `${sign}{${[...run].map((one) => to[from.indexOf(one)]).join("")}}`;
/* A letter behind a command that ends in letters needs a space between. */
const spelled = (one) => { const found = COMMANDS.get(one); return found ? found + (/[a-z]$/i.test(found) ? " " : "") : one; };

/* Words of which the backslash was forgotten would be read as letters that are multiplied. */
const FORGOTTEN = /(^|[^\\A-Za-z{])(sqrt|sin|cos|tan|exp|log|ln|frac|sum|prod|alpha|beta|theta|lambda|sigma|pi)(?![A-Za-z])/;
const WITH_BRACES = /^(?:sqrt|frac)$/;

function pasted(text) {
  let latex = text.trim();
  for (let found = true; found;) {
    found = AROUND.map((around) => around.exec(latex)).find(Boolean);
    if (found) latex = found[1].trim();
  }
  return [...latex.normalize("NFC").replace(new RegExp(`[${RAISED}]+`, "gu"), script("^", RAISED, RAISED_AS))
    .replace(new RegExp(`[${LOWERED}]+`, "gu"), script("_", LOWERED, LOWERED_AS)).replace(/[\u00a0\u2009\u200a\u202f]/g, " ")
    .replace(/[\u200b\ufeff]/g, "")].map(spelled).join("");
}

/* Says what would be read as letters side by side, and is none. */
function refuseForgotten(latex) {
  const word = FORGOTTEN.exec(latex.replace(/\\(?:text|mathrm|operatorname|label|tag|begin|end)\*?\s*\{[^}]*\}/g, " "))?.[2];
  const instead = WITH_BRACES.test(word) ? [] : [latex.replace(new RegExp(FORGOTTEN, "g"), "$1\\$2")];
  if (word) throw Object.assign(new Unread(`${word} without a backslash is read as letters that are multiplied: write \\${word}`), { instead });
  const number = /\d[eE][-+]?\d/.exec(latex)?.[0];
  if (number) throw new Unread(`${number} would be read with Euler's number: write a power of ten, 10^{3}`);
}

export { pasted, refuseForgotten };
