/* Signs that name a variable, as `parser.js` meets them: derivatives, gradients, integrals, limits, means; and
   the heads of definitions of functions. Each takes the parser, which stands at the sign. */
import { LANGUAGE } from "./language.js";
import { Unread, depths, COMMAND, RELATIONS } from "./tokenizer.js";

const SIGNS = new Set(["d", "\\mathrm{d}", "\\partial"]);
const isLetter = (piece) => /^(?:[A-Za-z]|\\[A-Za-z]+(?:\{.*\})?)$/.test(piece?.text ?? "") && !/^\\(?:frac|int|begin|end)/.test(piece.text);
const plain = (all) => all.map(({ text }) => text).join("");
const among = (running, key, read) => {
  running.push(key);
  const found = read();
  running.pop();
  return found;
};

/* A number, or the infinite end of a range. */
function end(s, all) {
  const infinite = /^([+-]?)\\infty$/.exec(plain(all));
  if (!infinite) return s.inner(all).whole();
  return { kind: "infinity", sign: infinite[1] === "-" ? -1 : 1, span: [all[0].start, all.at(-1).end] };
}

// ------------------------------------------------------------ derivatives

/* d/dx with what is differentiated, above the line or, where the sign is a `tail`, behind; null for a fraction. */
function derivative(s, tail) {
  const { all, at } = s, { start } = s.place;
  s.next();
  const [above, below] = [s.raw(true), s.raw(true)];
  const sign = above[0]?.text;
  if (!SIGNS.has(sign) || below[0]?.text !== sign || (sign !== "\\partial" && s.names?.has(sign))) {
    Object.assign(s, { all, at });
    return null;
  }
  const [order, rest] = powered(above.slice(1));
  const by = variables(s, below, sign);
  if (by.reduce((sum, [, times]) => sum + times, 0) !== order) throw new Unread("the order of a derivative is not that of its variables");
  if (!rest.length && !tail) throw new Unread("write brackets around a derivative");
  const alone = s.functions.get(plain(rest)), { start: from, end: to } = rest[0] ?? {};
  const args = alone?.map((key) => ({ kind: "name", key, span: [from, to] })); // df/dx is that of f(x)
  const body = alone ? { kind: "call", key: plain(rest), args, primes: 0, span: [from, to] } : rest.length ? s.inner(rest).whole() : s.term();
  if (rest.length && s.text === "(") throw new Unread("ambiguous: a derivative at a point, or a product? write brackets");
  return by.reduceRight((inner, [key, times]) => s.node("derivative", start, { body: inner, by: key, order: times }), body);
}

/* The power that stands in front, and what follows. */
function powered(all) {
  if (all[0]?.text !== "^") return [1, all];
  const braced = all[1]?.text === "{", said = all[braced ? 2 : 1]?.text;
  if (!/^[1-9]$/.test(said ?? "") || (braced && all[3]?.text !== "}")) throw new Unread(`the order of a derivative that is no digit ${COMMAND}`);
  return [Number(said), all.slice(braced ? 4 : 2)];
}

/* Below the line: of each variable its symbol and how often. */
function variables(s, below, sign) {
  const found = [];
  for (let rest = below; rest.length;) {
    if (rest[0].text !== sign || !isLetter(rest[1])) throw new Unread("what a derivative is taken by is not read here");
    let stop = 2;
    if (rest[stop]?.text === "_") stop = rest[stop + 1]?.text === "{" ? rest.findIndex(({ text }, i) => i > stop && text === "}") + 1 : stop + 2;
    const key = variable(s, rest.slice(1, stop));
    const [times, others] = powered(rest.slice(stop));
    found.push([key, times]);
    rest = others;
  }
  return found;
}

function variable(s, all) {
  const node = s.inner(all).whole();
  if (node.kind !== "name" && node.kind !== "index") throw new Unread(`a derivative by what is no symbol ${COMMAND}`);
  return node.key;
}

const UNCLEAR = "ambiguous: put brackets around what is differentiated";
function gradient(s) {
  const { start } = s.place;
  s.next();
  if (s.peek !== "_") throw new Unread(`a gradient that does not name its variable, as in \\nabla_x, ${COMMAND}`);
  s.next();
  const by = variable(s, s.raw());
  if (s.peek === "^") throw new Unread(`a second gradient ${COMMAND}`);
  const from = s.place.start, bracketed = ["(", "[", "\\{", "\\|"].includes(s.text);
  const body = bracketed ? s.text === "\\|" ? s.simple() : s.atom() : s.term();
  if (!bracketed && !["name", "call", "function", "average"].includes(body.kind)) {
    const stop = body.span[1];
    throw Object.assign(new Unread(UNCLEAR), { instead: [`${s.latex.slice(0, from)}(${s.latex.slice(from, stop)})${s.latex.slice(stop)}`] });
  }
  return s.node("gradient", start, { body, by });
}

// ------------------------------------------------------------ integrals and limits

function integral(s) {
  const { start } = s.place;
  s.next();
  let [below, above] = [null, null];
  while (s.peek === "_" || s.peek === "^") if (s.next().text === "_") below = s.raw(); else above = s.raw();
  if (!below && !above) throw new Unread(`an integral without limits ${COMMAND}`);
  const line = !above && below && plain(below) === "\\mathbb{R}";
  if (!line && !(below && above)) throw new Unread(`this domain of an integral ${COMMAND}`);
  const whole = (sign) => ({ kind: "infinity", sign, span: [below[0].start, below[0].end] });
  const [first, last] = line ? [whole(-1), whole(1)] : [end(s, below), end(s, above)];
  const { inside, key } = integrand(s);
  const body = among(s.running, key, () => s.inner(inside).whole());
  return s.node("integral", start, { first, last, by: key, body });
}

/* What stands between the sign and its differential, and the variable of that; the parser stands behind. */
function integrand(s) {
  const rest = s.all.slice(s.at), depth = depths(rest);
  let open = 0;
  for (let i = 0; i < rest.length && depth[i] >= 0; i += 1) {
    const { text } = rest[i];
    if (depth[i]) continue;
    if (text === "\\int") open += 1;
    const lone = SIGNS.has(text) && text !== "\\partial" && isLetter(rest[i + 1]);
    if (lone && open) open -= 1;
    else if (lone) {
      if (!i) throw new Unread("what is integrated is missing: write 1");
      s.at += i + 2;
      if (s.peek === "(" || s.peek === "_") throw new Unread(`an integral over this variable ${COMMAND}`);
      return { inside: rest.slice(0, i), key: rest[i + 1].text };
    }
    const shut = text === "\\frac" && rest[i + 1]?.text === "{" ? rest.findIndex((one, j) => j > i + 1 && one.text === "}" && depth[j] === 0) : -1;
    if (shut > 0 && !open && SIGNS.has(rest[shut - 2].text) && depth[shut - 2] === 1 && isLetter(rest[shut - 1])) { // \frac{dx}{x}
      const stop = rest[shut + 1]?.text === "{" ? rest.findIndex((one, j) => j > shut + 1 && one.text === "}" && depth[j] === 0) : shut + 1;
      const above = rest.slice(0, shut - 2), { start } = rest[shut];
      s.at += stop + 1;
      return { inside: [...above, ...(shut - 2 === i + 2 ? [{ text: "1", start, end: start }] : []), ...rest.slice(shut, stop + 1)], key: rest[shut - 1].text };
    }
  }
  throw new Unread("an integral does not say by dx where it ends");
}

/* A limit, which takes the rest of the term. */
function limit(s) {
  const { start } = s.place;
  s.next();
  if (s.peek !== "_") throw new Unread("a limit does not say what tends where");
  s.next();
  const below = s.raw(), to = below.findIndex(({ text }) => text === "\\to");
  if (to !== 1 || !isLetter(below[0])) throw new Unread(`this limit ${COMMAND}`);
  const [, point, side] = /^(.*?)(?:\^\{?([+-])\}?)?$/.exec(plain(below.slice(2)));
  const raised = below.findIndex(({ text }, i) => i > 1 && text === "^" && side && /^[+-]/.test(plain(below.slice(i + 1)).replace("{", "")));
  if (!point) throw new Unread(`this limit ${COMMAND}`);
  const place = end(s, below.slice(2, raised < 0 ? undefined : raised));
  const body = among(s.running, below[0].text, () => s.term());
  return s.node("limit", start, { by: below[0].text, point: place, side: side ?? "", body });
}

// ------------------------------------------------------------ means

const AVERAGES = { EXPECT: "mean", VARIANCE: "variance", COVARIANCE: "covariance" };
/* How an average is called that begins here, with a bracket behind it. */
function averageAt(s) {
  const how = AVERAGES[LANGUAGE.averages[s.text]];
  return !s.names && how && s.text !== "\\mathbb{C}" && ["(", "[", "\\{"].includes(s.all[s.at + 1]?.text) ? how : null;
}
function average(s) {
  const { start } = s.place, how = averageAt(s);
  s.next();
  const { args } = s.group();
  if (args.length !== (how === "covariance" ? 2 : 1)) throw new Unread(`an average of ${args.length} things is not read`);
  return s.node("average", start, { how, args });
}

// ------------------------------------------------------------ functions of one's own

/* The function that a row defines, f(x, t) = ...: its key and its arguments; else null. */
function head(row) {
  let at = 1, key = row[0]?.text;
  if (!isLetter(row[0]) || key in LANGUAGE.constants || key in LANGUAGE.averages) return null;
  if (row[1]?.text === "_") {
    const shut = row[2]?.text === "{" ? row.findIndex(({ text }) => text === "}") : 2;
    key = `${key}_{${plain(row.slice(row[2]?.text === "{" ? 3 : 2, row[2]?.text === "{" ? shut : 3))}}`;
    at = shut + 1;
  }
  const shut = row.findIndex(({ text }, i) => i > at && text === ")");
  const inside = row.slice(at + 1, shut);
  const listed = inside.length % 2 && inside.every((piece, i) => (i % 2 ? [",", ";"].includes(piece.text) : isLetter(piece) && piece.text !== row[0].text));
  if (row[at]?.text !== "(" || shut < 0 || !listed || RELATIONS[row[shut + 1]?.text] !== "=") return null;
  const behind = row.slice(shut + 2).map(({ text }) => text);
  return behind.length && !behind.includes(row[0].text) ? [key, inside.filter((_, i) => !(i % 2)).map(({ text }) => text)] : null;
}

export { derivative, gradient, integral, limit, average, averageAt, end, head };
