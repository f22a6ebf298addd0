/* What a link leads to, beside it: the equation, the reference, the meaning of a symbol.

   With a mouse or the keyboard a preview comes and goes with the pointer or the focus; with a finger the
   first touch shows it and the link inside it leads on. The formulas come in one script of the book, which
   is asked for when the first preview needs it: over file:// nothing else may be fetched. */
(() => {
  "use strict";

  const EQUATION = 'a[href*="#equation-"]:not(.headerlink)';
  const CITATION = '.bibtex-citation a[title], a[data-citation]';
  const SYMBOL = ".math[data-latex]:not(div)";
  const root = document.documentElement.dataset.content_root ?? "";
  let shown = null, timer = 0, latest = 0;

  const make = (tag, className, ...inside) => {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...inside);
    return made;
  };

  let asked = null;
  const data = () => (asked ??= new Promise((ready) => {
    const script = document.createElement("script");
    script.src = `${root}_static/preview-data.js`;
    script.addEventListener("load", () => ready(window.bookPreviews));
    script.addEventListener("error", () => ready({ equations: {}, symbols: [] }));
    document.head.append(script);
  }));

  /* What there is to say about an element: nodes, or nothing. */
  const ofEquation = async (link) => {
    const [number, latex] = (await data()).equations[link.hash.slice(1)] ?? [];
    return latex && [make("p", "book-preview-head", `Equation (${number})`), make("div", "math", `\\[${latex}\\]`)];
  };

  const ofCitation = async (link) => [make("p", "", link.dataset.citation)];

  const spelled = (latex) => latex.replace(/\\([a-zA-Z]+)\s*\{(\w)\}/g, "\\$1$2").replace(/\\[,;!]|\s+/g, "");
  const here = location.pathname.split("/").pop().replace(".html", "");
  const rowOf = (symbols, latex) => {
    const rows = symbols.filter((row) => row.latex.some((form) => spelled(form) === spelled(latex))
      && (!row.chapter || row.chapter.endsWith(`/${here}`)));
    return rows.find((row) => row.chapter) ?? rows[0];
  };
  const words = (said) => said.split("$").map((part, i) => (i % 2 ? make("span", "math", `\\(${part}\\)`) : part));
  const ofSymbol = async (container) => {
    const { latex } = container.dataset;
    if (latex.length > 40) return null;
    const row = rowOf((await data()).symbols, latex);
    if (!row) return null;
    container.classList.add("book-symbol");
    const where = make("a", "book-preview-go", "notation");
    where.href = `${root}${row.page}#${row.anchor}`;
    const code = row.code ? [", in code ", make("code", "", row.code)] : [];
    return [make("p", "", make("span", "math", `\\(${latex}\\)`), ": ", ...words(row.meaning), ...code),
      make("p", "book-preview-head", where)];
  };

  const kinds = [[EQUATION, ofEquation], [CITATION, ofCitation], [SYMBOL, ofSymbol]];
  const about = (target) => {
    if (!(target instanceof Element) || target.closest(".book-preview")) return null;
    for (const [selector, say] of kinds) {
      const element = target.closest(selector);
      if (element?.closest("article")) return { element, say };
    }
    return null;
  };

  const hide = () => {
    clearTimeout(timer);
    latest++;
    if (!shown) return;
    shown.element.removeAttribute("aria-describedby");
    shown.box.remove();
    shown = null;
  };

  const place = (element, box) => {
    const at = element.getBoundingClientRect(), its = box.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const above = at.bottom + its.height + 12 > innerHeight && at.top > its.height + 12;
    box.style.left = `${Math.max(16, Math.min(at.left, wide - its.width - 16)) + scrollX}px`;
    box.style.top = `${(above ? at.top - its.height - 8 : at.bottom + 8) + scrollY}px`;
  };

  const show = async ({ element, say }, touched) => {
    if (shown?.element === element) return;
    const mine = ++latest;
    clearTimeout(timer);  // what was to be hidden goes when this comes
    const content = await say(element);
    if (mine !== latest) return;  // the reader has gone on while the formulas came
    hide();
    if (!content) return;
    const box = make("div", "book-preview", ...content);
    box.id = "book-preview";
    box.setAttribute("role", touched ? "status" : "tooltip");
    if (touched && element.href) {
      const go = make("a", "book-preview-go", "go there");
      go.href = element.href;
      box.append(make("p", "book-preview-head", go));
    }
    shown = { element, box };
    document.body.append(box);
    element.setAttribute("aria-describedby", box.id);
    box.addEventListener("pointerleave", () => { timer = setTimeout(hide, 200); });
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    place(element, box);
    await window.MathJax?.typesetPromise?.([box]);
    if (shown?.box === box) place(element, box);
  };

  const soon = (act, delay) => { clearTimeout(timer); timer = setTimeout(act, delay); };

  const start = () => {
    document.querySelectorAll(".bibtex-citation a[title]").forEach((link) => {
      link.dataset.citation = link.title;  // else the browser shows it a second time
      link.removeAttribute("title");
    });
    let finger = false;
    document.addEventListener("pointerdown", (event) => { finger = event.pointerType === "touch"; }, true);
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      const wanted = about(event.target);
      if (wanted) soon(() => show(wanted), wanted.say === ofSymbol ? 450 : 200);
    });
    document.addEventListener("pointerout", (event) => {
      if (event.pointerType !== "touch" && about(event.target)) soon(hide, 300);
    });
    document.addEventListener("focusin", (event) => {
      const wanted = about(event.target);
      if (wanted && !finger && event.target.matches(":focus-visible")) show(wanted);
    });
    document.addEventListener("focusout", () => { if (!finger) soon(hide, 100); });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    document.addEventListener("click", (event) => {
      const wanted = about(event.target);
      if (!finger) return wanted && hide();
      if (event.target.closest?.(".book-preview")) return undefined;
      if (!wanted) return hide();
      if (wanted.say !== ofSymbol) event.preventDefault();
      return show(wanted, true);
    }, true);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
