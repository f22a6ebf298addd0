/* Formulas that come or change after the page was built: previews, results of the search, an equation with
   a slip, what waits in a long table. They are set as those of the page were, by the script beside this one,
   which is asked for when the first of them comes.

   The engine's scripts and ours speak to MathJax, which other books have. Here the few functions that they
   call do without it. */
(() => {
  "use strict";

  const here = document.currentScript.src;
  const LEFT = "math, script, style, pre, code, textarea, .tex2jax_ignore";
  const DELIMITED = /\\\(([\s\S]*?)\\\)|\\\[([\s\S]*?)\\\]/;
  const NEEDS = ["temml.js", "set-formula.js"];

  let asked = null;
  const ask = (name) => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.onload = done;
    script.onerror = () => failed(new Error(`${name} did not come`));
    script.async = false;
    script.src = here.replace(/set-mathematics\.js/, name);
    document.head.append(script);
  });
  const setter = () => (asked ??= Promise.all(NEEDS.map(ask)));

  const make = (tag, name) => Object.assign(document.createElement(tag), { className: name });

  /* What cannot be read says so, as a reader typed it. */
  const fill = (box, latex, display) => {
    box.dataset.latex = latex;
    const place = display ? make("span", "math-set") : box;
    place.replaceChildren();
    try {
      place.innerHTML = window.setFormula(latex, display);
    } catch (error) {
      place.append(Object.assign(make("span", "math-error"), { textContent: latex, title: error.message.split("\n")[0] }));
    }
    if (display) box.append(place);
  };

  /* A text with formulas: each gets an element, or the one that it fills. */
  const setText = (node) => {
    let rest = node;
    for (let found = DELIMITED.exec(rest.data); found; found = DELIMITED.exec(rest.data)) {
      const [all, inline, display] = found;
      const formula = rest.splitText(found.index);
      rest = formula.splitText(all.length);
      const { parentElement: parent } = formula;
      const alone = parent.matches(".math") && parent.textContent.trim() === all;
      const box = alone ? parent : make(display === undefined ? "span" : "div", "math");
      if (alone) parent.replaceChildren();
      else formula.replaceWith(box);
      fill(box, inline ?? display, display !== undefined);
      if (alone) return;
    }
  };

  const setIn = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    // What stands around what is to be set says nothing: a long table is left alone, but not a row that was asked for.
    const isLeft = (text) => root.contains(text.parentElement.closest(LEFT));
    texts.filter((text) => DELIMITED.test(text.data) && !isLeft(text)).forEach(setText);
  };

  const set = (elements) => {
    elements.forEach(setIn);
    document.dispatchEvent(new Event("formulas-set"));
  };

  const waits = (element) => DELIMITED.test(element.textContent);
  window.MathJax = {
    startup: { promise: Promise.resolve() },
    typeset: (elements) => (window.setFormula ? set(elements) : setter().then(() => set(elements))),
    typesetPromise: async (elements) => {
      if (!elements.some(waits)) return;
      await setter();
      set(elements);
    },
  };

  /* A printer does not wait: where something may have to be set for it, the script is there before. */
  addEventListener("load", () => {
    if (document.querySelector(".eqn-later")) (window.requestIdleCallback ?? setTimeout)(() => setter().catch(() => {}));
  });
})();
