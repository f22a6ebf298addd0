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
  const stretches = ({ type, attributes }) => type === "mo" && attributes.stretchy === "true";
  const isBracket = ({ type, classes, children }) => type === "mrow" && !classes.length && !children.some(stretches)
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
  const still = ({ type, children }) => {
    children?.forEach(still);
    if (!children || (type && !ROWS.has(type))) return;
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

  /* What a browser does of itself need not be said, which makes pages of hundreds of formulas light. Its dictionary
     has these signs stretch, these have one form only, and these are names where they stand alone in a script. */
  const STRETCHES = new Set("()[]{}|\u2016\u27e8\u27e9\u2308\u2309\u230a\u230b\u02c6~\u203e");
  const ONE_FORM = new Set("()[]{}\u27e8\u27e9\u2308\u2309\u230a\u230b!\u2207");
  const STARS = new Set("\u2217\u22c5\u22c6\u2299\u2216");
  const SIGNS = new Set("+\u2212\u00b1"); // without spaces before what they belong to
  const isSpaceless = ({ attributes }) => [attributes.lspace, attributes.rspace].every((space) => !parseFloat(space ?? 0));

  /* A sign that the engine marks stands between its neighbours as it stood without the mark, for which Temml takes
     its spaces. Behind another sign it has none. */
  const CLOSES = new Set(")]}\u27e9\u2309\u230b!\u2032");
  const isMarked = ({ classes }) => classes.some((name) => name.startsWith("eqn-"));
  const isTerm = (node) => Boolean(node) && (node.type !== "mo" || node.attributes.form === "postfix" || CLOSES.has(node.toText()));

  const unsaid = (node, { script, display, row, first, before }) => {
    const { attributes, classes } = node;
    const text = node.toText();
    const drop = (...names) => names.forEach((name) => delete attributes[name]);
    if (isMarked(node) && isTerm(before)) drop("form", "lspace", "rspace");
    const isStar = script && STARS.has(text) && attributes.form;
    if (script && ((!attributes.fence && !attributes.stretchy) || isStar)) attributes.lspace = attributes.rspace = "0";
    drop("fence", "separator");
    if (!STRETCHES.has(text) || (attributes.stretchy === "true" && attributes.form)) drop("stretchy");
    if (ONE_FORM.has(text) || isStar || (first && attributes.form === "prefix")) drop("form");
    const has = !row || (first && SIGNS.has(text)) || classes.includes("tml-prime") || text === APPLY;
    if (has && isSpaceless(node)) drop("lspace", "rspace");
    if (display) drop("movablelimits");
  };

  /* The paddings and sides of cells that the style sheet has for all. */
  const cells = ({ classes, children: rows }) => {
    const steps = classes.includes("tml-jot");
    const gap = (end) => (steps || end ? "0em" : "5.9776pt");
    rows.forEach(({ children }) => children?.forEach((cell, i) => {
      const { style } = cell;
      if (style.paddingLeft === gap(i === 0) && style.paddingRight === gap(i === children.length - 1)) cell.style = {};
      if (steps) cell.classes = cell.classes.filter((name) => name !== (i % 2 ? "tml-left" : "tml-right"));
    }));
  };

  /* Temml's names of a hat by browser and letter are one here; those of no rule are none. */
  const NAMES = {
    "tml-jot": "steps", "tml-sml-pad": "pad1", "tml-med-pad": "pad2", "tml-lrg-pad": "pad3", "tml-prime": "", mathcal: "",
    "chr-sml": "", "chr-med": "", "chr-lrg": "", "wbk-sml": "tilde1", "wbk-med": "tilde2", "wbk-lrg": "tilde3",
    "wbk-acc": "acc", "wbk-sml-acc": "acc1", "wbk-med-acc": "acc2", "wbk-lrg-acc": "acc3",
  };
  const brief = (node) => {
    const { attributes } = node;
    node.classes = node.classes.map((name) => NAMES[name] ?? name).filter(Boolean);
    if ("mathDepth" in node.style && !node.classes.length) node.classes = ["tilde"];
    if (/^(acc|tilde)/.test(node.classes)) node.style = {};
    Object.entries(attributes).forEach(([name, value]) => { attributes[name] = String(value).replace(/^0\./, "."); });
  };

  /* Outside of a row nothing needs one around it alone, nor a letter the nothing that keeps Firefox from spacing it. */
  const isEmpty = ({ type, attributes }) => type === "mspace" && !Object.keys(attributes).length;
  const unwrapped = (node) => {
    const { type, classes, children } = node;
    const isLoose = isFragment(node) || (type === "mrow" && !classes.length);
    return isLoose && (children.length === 1 || (children.length === 2 && isEmpty(children[1]))) ? unwrapped(children[0]) : node;
  };

  const isDisplay = ({ type, attributes: { displaystyle } }, display, isScript) => (
    displaystyle ? String(displaystyle) === "true" : display && type !== "mfrac" && type !== "mtable" && !isScript);

  const tidy = (node, script = false, display = false, at = {}) => {
    if (!node.children || !node.type) return node;
    const { type } = node;
    const row = ROWS.has(type);
    const [only] = node.children;
    if (type === "mo") unsaid(node, { script, display, ...at });
    else if (type === "mtable") cells(node);
    if (row && node.children.length === 1 && only.type === "mrow" && !only.classes.length) node.children = only.children;
    node.children = row ? spaced(node.children.flatMap(flat)) : node.children.map(unwrapped);
    node.children.forEach((child, i, { length }) => {
      const isScript = SCRIPTED.has(type) && i > 0;
      const place = { row, first: row && i === 0 && length > 1, before: row && node.children[i - 1] };
      tidy(child, script || isScript, isDisplay(node, display, isScript), place);
    });
    brief(node);
    return node;
  };

  /* The markup of a formula; an error where it is none. */
  globalThis.setFormula = (latex, display) => {
    const trust = ({ command }) => command === "\\class";
    const options = { displayMode: display, throwOnError: true, trust };
    const told = latex.replace(/\\(begin|end)\s*\{(?:split|align)\*?\}/g, "\\$1{aligned}") // which a line may have, too
      .replace(/([_^])\s*(\\(?:max|min))(?![a-zA-Z])/g, "$1{$2}"); // as TeX reads V_\max
    let math = globalThis.temml.__renderToMathMLTree(told, options);
    while (isFragment(math)) [math] = math.children;
    math.children = math.children.flatMap(flat);
    const [row] = math.children; // which the formula itself is, too
    if (math.children.length === 1 && row.type === "mrow" && !row.classes.length) math.children = row.children;
    math.classes = [];
    math.style = {};
    still(math);
    return tidy(math, false, display).toMarkup().replace(/><\/mspace>/g, "/>");
  };
})();
