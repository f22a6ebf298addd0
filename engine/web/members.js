/* What an equation of a figure says now: the member that an edit has changed, evaluated on its numbers.

   A page has these exports in `window.equationMembers`. */
import { Nonsense, pieces } from "./tokenizer.js";
import { expression, name } from "./parser.js";
import { Misfit, value as valueOf, shape, eye, isEye, isMatrix } from "./evaluator.js";

/* The members between signs of equality, each as a list of pieces without layout. */
function members(latex) {
  const parts = [[]];
  pieces(latex).filter(({ text }) => !["&", "\\\\", ".", ",", ";"].includes(text))
    .forEach((piece) => (piece.text === "=" ? parts.push([]) : parts.at(-1).push(piece)));
  return parts;
}

/* The value of the member that an edit has changed, or of the first after the sign of equality. */
function value(latex, whole, table) {
  const [now, then] = [members(latex), members(whole)];
  const plain = (part) => part.map(({ text }) => text).join(" ");
  const changed = now.findIndex((part, i) => then[i] && plain(part) !== plain(then[i]));
  const part = now[changed < 0 ? 1 : changed];
  const named = Object.fromEntries(Object.entries(table).map(([key, number]) => [name(key), number]));
  return valueOf(expression(part, new Set(Object.keys(named)), latex), named);
}

/* It, if it has so many rows and columns (any, where none are asked for) and finite numbers alone; the
   identity has any square. */
function shaped(latex, whole, table, rows, columns) {
  const raw = value(latex, whole, table);
  const found = isEye(raw) && rows === columns ? eye(rows, raw.eye) : typeof raw === "number" ? [[raw]] : raw;
  const fits = isMatrix(found) && [rows ?? found.length, columns ?? found[0].length].join() === [found.length, found[0].length].join();
  if (!fits) throw new Misfit(`what comes out has another shape: ${shape(found)}`);
  if (!found.flat().every(Number.isFinite)) throw new Misfit("what comes out is no number");
  return found;
}

export { Nonsense, value, shaped };
