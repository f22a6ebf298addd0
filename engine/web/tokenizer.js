/* The LaTeX of an equation in pieces, and in rows of pieces that are statements or conditions.

   Layout is dropped, other spellings are settled, a letter is one piece with its font. What the browser
   does not read has its reason here. */
import { LANGUAGE } from "./language.js";

/* What has no answer: an equation that is not read here, or one that has no value. */
class Nonsense extends Error {}
class Unread extends Nonsense {}

const words = (text) => text.trim().split(/\s+/);
/* The keys of a table whose values pass. */
const set = (table, passes) => new Set(Object.keys(table).filter((key) => passes(table[key])));

const FONTS = new Set([...LANGUAGE.fonts, "\\text"]);
const LAYOUT = new Set([...LANGUAGE.layout, ...words(String.raw`\nobreak \protect`)]);
const DROPPED = new Set(LANGUAGE.dropped);
const WIDE = new Set(LANGUAGE.wide);
/* What stands for another; the engine takes the last four for words, which a page writes as letters, too. */
const SAME = {
  ...LANGUAGE.same, "\\textrm": "\\mathrm", "\\textsf": "\\mathsf", "\\textbf": "\\mathbf", "\\textit": "\\mathit",
};
const equality = (sign) => (LANGUAGE.defining[sign] ?? sign).replace(":=", "=");
/* The relations that are judged here, and as which. */
const RELATIONS = Object.fromEntries(LANGUAGE.relations.map((sign) => [sign, equality(sign)]).filter(([, sign]) => sign in LANGUAGE.judged));
const BLOCKS = set(LANGUAGE.blocks, (kind) => kind === "_BLOCK");
const DETERMINANTS = set(LANGUAGE.blocks, (kind) => kind === "_DETBLOCK");
const CASES = set(LANGUAGE.blocks, (kind) => kind === "_CASES");
const LAID = new Set(LANGUAGE.laidOut);
const COLUMNS = new Set(LANGUAGE.withColumns);
const LINE_SKIP = new RegExp(LANGUAGE.lineSkip, "y");

const COMMAND = "needs the command";
const ELSEWHERE = {
  "\\int": "an integral", "\\iint": "an integral", "\\oint": "an integral", "\\partial": "a derivative", "\\nabla": "a gradient",
  "\\ddot": "a derivative", "\\lim": "a limit", "\\dots": "what goes on with dots", "\\pm": "both signs at once", "\\mp": "both signs at once",
  "\\mathbb{E}": "a mean over a distribution", "\\mathbb{V}": "a variance", "\\mathrm{Var}": "a variance",
  "\\mathrm{Cov}": "a covariance", "\\propto": "proportionality", "\\approx": "an approximation", "\\sim": "an asymptotic relation",
  "\\succeq": "an order of matrices", "\\preceq": "an order of matrices", "\\succ": "an order of matrices", "\\prec": "an order of matrices",
  "\\Re": "a complex number", "\\Im": "a complex number", "\\arg": "a complex number", "\\in": "a set", "\\forall": "a condition in signs",
  "\\mathbb{1}": "an indicator", "\\gcd": "a greatest common divisor", "\\cap": "a set", "\\cup": "a set", "\\bmod": "a remainder", "\\pmod": "a congruence",
  "\\implies": "a conclusion", "\\Rightarrow": "a conclusion", "\\iff": "a conclusion", "\\Leftrightarrow": "a conclusion", "\\Pr": "a probability",
  "\\mid": "what stands behind a bar", "\\begin{cases}": "a function in cases", "\\mathrm{argmax}": "where a maximum is",
  "\\mathrm{argmin}": "where a minimum is", "\\mathrm{d}": "a differential", "\\infty": "infinity",
};
/* Why a word is not read: the engine reads it, or it says what to write instead. */
function elsewhere(text) {
  if (text in ELSEWHERE || !Object.hasOwn(LANGUAGE.unread, text)) return new Unread(`${ELSEWHERE[text] ?? text} ${COMMAND}`);
  return new Unread(`${text} is not read: ${LANGUAGE.unread[text]}`);
}
const KNOWN = new Set([...Object.keys(LANGUAGE.unread), ...Object.keys(LANGUAGE.functions), ...Object.keys(LANGUAGE.big), ...LANGUAGE.relations].filter((word) => !(word in RELATIONS)));
/* Whether a word has such a reason; those that the parser knows come first there. */
const isElsewhere = (text) => Object.hasOwn(ELSEWHERE, text) || KNOWN.has(text);

// ------------------------------------------------------------ pieces

const PIECE = /(\s+|%[^\n]*\n?|~)|\\(begin|end)\s*\{([A-Za-z]+\*?)\}|\\operatorname\*|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\.\d+|:=|[^]/y;

/* Pieces { text, start, end, wide }: no layout, aliases settled, a styled letter as one piece. */
function pieces(latex) {
  const found = [];
  let wide = false;
  const push = (text, start, end) => { found.push({ text, start, end, wide }); wide = false; };
  const after = (at) => /^\s*/.exec(latex.slice(at))[0].length + at;
  const group = (at) => { // the text in braces, or one letter or command, from `at` on
    const start = after(at);
    if (latex[start] !== "{") {
      const [one] = /^(?:\\[A-Za-z]+|.)/.exec(latex.slice(start)) ?? [""];
      if (!one) throw new Unread("the equation ends too early");
      return [one, start + one.length];
    }
    for (let depth = 0, i = start; i < latex.length; i += latex[i] === "\\" ? 2 : 1) {
      depth += latex[i] === "{" ? 1 : latex[i] === "}" ? -1 : 0;
      if (!depth) return [latex.slice(start + 1, i), i + 1];
    }
    throw new Unread("a brace is never closed");
  };
  PIECE.lastIndex = 0;
  for (let match; PIECE.lastIndex < latex.length && (match = PIECE.exec(latex)); ) {
    const [start, end] = [match.index, PIECE.lastIndex];
    const text = SAME[match[0].replace("*", "")] ?? SAME[match[0]] ?? match[0];
    if (match[1]) continue;
    if (match[2]) {
      if (COLUMNS.has(`\\${match[2]}{${match[3]}}`)) [, PIECE.lastIndex] = group(end);
      if (LAID.has(match[3])) continue;
      if (CASES.has(match[3])) throw elsewhere("\\begin{cases}");
      if (!BLOCKS.has(match[3]) && !DETERMINANTS.has(match[3])) throw new Unread(`the environment ${match[3]} ${COMMAND}`);
      push(`\\${match[2]}{${match[3]}}`, start, end);
    } else if (WIDE.has(text)) wide = true;
    else if (LAYOUT.has(text)) {
      const dot = /^\s*\./.exec(latex.slice(end));
      if (/^\\(left|right)$/.test(text) && dot) throw new Unread(`a bracket without its partner ${COMMAND}`);
    } else if (DROPPED.has(text)) {
      const [dropped, stop] = group(latex[end] === "*" ? end + 1 : end);
      PIECE.lastIndex = stop;
      wide ||= text === "\\hspace" && !dropped.includes("-");
    } else if (FONTS.has(text) && !(text in ELSEWHERE)) {
      const [inside, stop] = group(end);
      PIECE.lastIndex = stop;
      const lowered = found.at(-1)?.text === "_" || (found.at(-1)?.text === "{" && found.at(-2)?.text === "_");
      if (text === "\\text" && (WORD.test(inside) || (lowered && /^\s*\w+\s*$/.test(inside)))) push(`\\mathrm{${inside.trim()}}`, start, stop);
      else if (text === "\\text") push(`\\text{${inside.trim()}}`, start, stop);
      else push(`${text}{${tight(inside)}}`, start, stop);
    } else {
      push(text, start, end);
      LINE_SKIP.lastIndex = end;
      if (text === "\\\\" && LINE_SKIP.test(latex)) PIECE.lastIndex = LINE_SKIP.lastIndex;
    }
  }
  return found.map((piece, i) => (piece.text === "\\circ" && !raises(found, i) ? { ...piece, text: "\\odot" } : piece));
}

/* The inside of a font without layout, \hat{\mathbf x} as \hat{\mathbf{x}}. */
const tight = (inside) => inside.replace(/\\[,;:! ]/g, "").replace(/(\\(?:math[a-z]+|boldsymbol|bm))\s+(\w)/g, "$1{$2}")
  .replace(/(\\[A-Za-z]+)\s+(?=[A-Za-z])/g, "$1\0").replace(/\s/g, "").replace(/\0/g, " ");
/* Words that stand in \text and are none of prose. */
const WORD = /^\s*(?:tr|Tr|trace|diag|rank|sgn|sign|det|log|ln|exp|sin|cos|tan|erf|erfc|E|Var|Cov|T)\s*$/;
/* Whether a piece is alone in an exponent: a ring there is a degree, elsewhere a product entry by entry. */
const raises = (all, i) => all[i - 1]?.text === "^" || (all[i - 1]?.text === "{" && all[i - 2]?.text === "^");

// ------------------------------------------------------------ statements

const isBracket = {
  "(": 1, "[": 1, "{": 1, "\\{": 1, "\\langle": 1, ")": -1, "]": -1, "}": -1, "\\}": -1, "\\rangle": -1,
};
const depths = (all) => {
  let depth = 0;
  return all.map(({ text }) => {
    const change = isBracket[text] ?? (text.startsWith("\\begin") ? 1 : text.startsWith("\\end") ? -1 : 0);
    if (change < 0) depth += change;
    const here = depth;
    if (change > 0) depth += change;
    return here;
  });
};
const CONDITIONS = new Set(LANGUAGE.conditions);
const GOES_ON = new Set(LANGUAGE.connectives);
const REASON = new RegExp(`^\\((?:${LANGUAGE.reasons.join("|")})\\b.*\\)$`);

/* The rows of pieces that are statements, and those that are conditions. */
function rows(all) {
  const found = [{ kind: "statement", row: [] }];
  const begin = (kind) => { if (found.at(-1).row.length) found.push({ kind, row: [] }); else found.at(-1).kind = kind; };
  const depth = depths(all);
  all.forEach((piece, i) => {
    const { text } = piece, outside = !depth[i], last = found.at(-1);
    const next = all.slice(i + 1).find((one) => one.text !== "&")?.text;
    if (outside && text === "&") { // a second column; else what lines rows up
      const second = last.row.some((one) => one.text in RELATIONS) && !(next in RELATIONS) && !["+", "-", "\\\\", undefined].includes(next);
      return second && !(last.row.at(-1).text in RELATIONS) ? begin("statement") : undefined;
    }
    if (outside && text === "\\forall") return begin("condition");
    if (text.startsWith("\\text{")) {
      const said = text.slice(6, -1).trim().replace(/^[,.]\s*|[,.:]$/g, "").toLowerCase();
      if (outside && REASON.test(said)) return;
      if (outside && CONDITIONS.has(said)) return begin("condition");
      if (outside && (GOES_ON.has(said) || !said)) return begin(said === "and" ? last.kind : "statement");
      throw new Unread(`the words "${said}" are not read here`);
    }
    if (outside && text === "\\\\" && (last.row.at(-1)?.text in RELATIONS || ["+", "-", "\\cdot", "\\times"].includes(last.row.at(-1)?.text))) return undefined;
    if (outside && [",", ";", "\\\\"].includes(text)) {
      const line = all.slice(i + 1), end = line.findIndex((one, j) => one.text === "\\\\" && !depth[i + 1 + j]);
      const alone = !(end < 0 ? line : line.slice(0, end)).some((one) => one.text in RELATIONS);
      const goesOn = text === "\\\\" && (next in RELATIONS || (["+", "-"].includes(next) && alone));
      const columns = line.filter((one, j) => one.text === "&" && j && (end < 0 || j < end) && !depth[i + 1 + j]).length;
      if (goesOn && columns > 1) throw new Unread("a line that goes on and begins another column is not read here");
      if (goesOn) return undefined;
      const rest = all.slice(i + 1), stop = rest.findIndex((one, j) => !depth[i + 1 + j] && ([",", ";", "\\\\"].includes(one.text) || one.text.startsWith("\\text{")));
      const listed = last.kind === "condition" && isListed((stop < 0 ? rest : rest.slice(0, stop)).filter((one) => one.text !== "."), last.row);
      return begin(listed ? "condition" : "statement");
    }
    if (outside && text === "." && i === all.length - 1) return undefined;
    if (outside && piece.wide && last.row.length && !(text in RELATIONS)) begin("statement");
    found.at(-1).row.push(piece);
    return undefined;
  });
  if (found.at(-1).kind === "condition" && !found.at(-1).row.length) throw new Unread("a condition is missing");
  return found.filter(({ row }) => row.length && !isNumbering(row)).map(unbracketed);
}
/* Whether "b > 0" goes on with what "for all a," has begun: a list of letters that have one condition. */
const isListed = (next, row) => row.length <= 2 && !row.some((one) => one.text in RELATIONS || one.text === "\\in")
  && (next.length <= 2 || next[1].text !== "=" ) && next.length > 0;
const isNumbering = (row) => /^\(\d+(?:\.\d+)?[a-z]?\)$/.test(row.map((one) => one.text).join(""));
/* (x > 0) behind an equation is a condition of it. */
function unbracketed({ kind, row }, i) {
  const inside = row.slice(1, -1), depth = depths(inside);
  const whole = i > 0 && row[0].text === "(" && row.at(-1).text === ")" && inside.some((one, j) => !depth[j] && (one.text in RELATIONS || one.text === "\\in"));
  return whole ? { kind: "condition", row: inside } : { kind, row };
}

export { Nonsense, Unread, words, pieces, depths, rows, elsewhere, isElsewhere, COMMAND, RELATIONS, DETERMINANTS };
