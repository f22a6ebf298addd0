/* A formula as MathML, by Temml: when the book is built, and in a page where one comes or changes later.

   Temml writes what a browser can set; this takes from it what only costs nodes, and gives it TeX's spaces
   where Chromium has its own: none around signs in a script, a thin one before the name of a function. */
(() => {
  "use strict";

  const APPLY = "\u2061"; // between a function and what it is applied to
  const SCRIPTED = new Set(["msub", "msup", "msubsup", "munder", "mover", "munderover"]);
  const ROWS = new Set(["mrow", "math", "mtd", "mstyle", "msqrt"]); // whose children stand in a row
  const WORDLESS = new Set(["mspace", "mo", "mtext"]); // behind which a function needs no space
  const isFragment = (node) => !node.type && node.children;
  const says = (node, text) => node?.type === "mo" && node.toText() === text;
  const isFunction = ({ type, classes, children }) => type === "mrow" && !classes.length && children.some((child) => says(child, APPLY))
    && children.every((child) => ["mi", "mo", "mspace"].includes(child.type));
  const isBracket = ({ type, classes, children }) => type === "mrow" && !classes.length
    && children.some(({ type: kind, attributes }) => kind === "mo" && attributes.form && attributes.stretchy === "false");
  const isAlone = ({ type, classes, children }) => type === "mrow" && !classes.length && children.length === 1;
  const opens = (node) => isFragment(node) || isFunction(node) || isBracket(node) || isAlone(node);
  const flat = (node) => (opens(node) ? node.children.flatMap(flat) : [node]);
  const endsWord = (node) => Boolean(node) && (!WORDLESS.has(node.type) || node.attributes.form === "postfix" || says(node, "\u2207"));

  /* Chromium gives a bracket that may stretch the width of the largest: one around what is not tall does not. */
  const TALL = new Set(["mfrac", "mtable", "munder", "munderover", "msqrt", "mroot"]);
  const LARGE = /^[\u220f-\u2211\u222b-\u2230\u22c0-\u22c3]$/;
  const isTall = ({ type, attributes, children }) => TALL.has(type) || Boolean(attributes?.maxsize ?? attributes?.minsize)
    || (type === "mo" && LARGE.test(children[0]?.text)) || Boolean(children?.some(isTall));
  const still = (children) => {
    const ends = [children[0], children.at(-1)];
    const stretch = ({ type, attributes }) => type === "mo" && attributes.stretchy === "true" && attributes.form;
    if (children.length > 2 && ends.every(stretch) && !children.some(isTall))
      ends.forEach(({ attributes }) => { attributes.stretchy = "false"; });
  };

  const thin = (model) => {
    const space = Object.create(Object.getPrototypeOf(model));
    return Object.assign(space, { type: "mspace", attributes: { width: "0.1667em" }, children: [], classes: [], style: {} });
  };

  /* The space after a function stands on the sign that applies it, and before it where TeX has one. */
  const spaced = (children) => children.reduce((done, node, i) => {
    const last = done.at(-1);
    if (node.type === "mspace" && says(last, APPLY) && node.attributes.width === "0.1667em") {
      last.attributes.rspace = "0.1667em";
      return done;
    }
    if (says(children[i + 1], APPLY) && endsWord(last)) done.push(thin(node));
    return [...done, node];
  }, []);

  const tidy = (node, script = false) => {
    if (!node.children?.length || !node.type) return node;
    const { attributes, type } = node;
    if (type === "mo") {
      if (script && !attributes.fence && !attributes.stretchy) attributes.lspace = attributes.rspace = "0em";
      delete attributes.fence;
      delete attributes.separator;
      return node;
    }
    const [row] = node.children;
    if (type === "mtd" && node.children.length === 1 && row.type === "mrow" && !row.classes.length) node.children = row.children;
    if (ROWS.has(type)) still(node.children);
    if (ROWS.has(type)) node.children = spaced(node.children.flatMap(flat));
    else node.children = node.children.map((child) => (isFragment(child) && child.children.length === 1 ? child.children[0] : child));
    node.children.forEach((child, i) => tidy(child, script || (SCRIPTED.has(type) && i > 0)));
    return node;
  };

  /* The markup of a formula; an error where it is none. */
  globalThis.setFormula = (latex, display) => {
    const trust = ({ command }) => command === "\\class";
    const options = { displayMode: display, throwOnError: true, trust };
    const told = latex.replace(/\\(begin|end)\s*\{(?:split|align)\*?\}/g, "\\$1{aligned}"); // which a line may have, too
    let math = globalThis.temml.__renderToMathMLTree(told, options);
    while (isFragment(math)) [math] = math.children;
    math.children = math.children.flatMap(flat);
    const [row] = math.children; // which the formula itself is, too
    if (math.children.length === 1 && row.type === "mrow" && !row.classes.length) math.children = row.children;
    math.classes = [];
    math.style = {};
    return tidy(math).toMarkup();
  };
})();
