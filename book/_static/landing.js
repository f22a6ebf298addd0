/* Whoever comes from the search lands on what was found: marked, in sight, out of its fold.

   The address says which words (`?highlight=…`); they are kept nowhere, and Escape takes the marks
   away. Where a page has folds that must be told (`eqnReveal`), it is asked; else they are opened. */
(() => {
  "use strict";

  const letter = (character) => character.normalize("NFD")[0].toLowerCase();
  const bare = (text) => [...text].map(letter).join("");
  const stem = (word) => (word.length < 5 ? word : word.replace(/(?:ies|es|s|ing|ed)$/, ""));
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const SKIP = "script, style, .math, .eqn-later, .headerlink, .book-hits, button, #jb-print-docs-body";
  const MOST = 300;

  /* The word in both spellings, with any ending. */
  const either = (word) => `(?:${window.bookSpelling.spellings(word).map((one) => escaped(stem(one))).join("|")})[\\p{L}\\p{N}]*`;

  const pattern = (query) => {
    const words = bare(query).split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const any = words.map(either);
    const whole = any.join("[^\\p{L}\\p{N}]+");
    return words.length && new RegExp(`(?<![\\p{L}\\p{N}])(?:${[whole, ...any].join("|")})`, "gu");
  };

  const texts = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, {
      acceptNode: (node) => (node.parentElement.closest(SKIP) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT),
    });
    const found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  };

  /* Marks in one piece of text, from its end, so that what is before stays where it was. */
  const mark = (node, wanted) => {
    const made = [];
    for (const hit of [...bare(node.data).matchAll(wanted)].reverse()) {
      const span = document.createElement("mark");
      span.className = "book-hit";
      const rest = node.splitText(hit.index);
      rest.splitText(hit[0].length);
      rest.replaceWith(span);
      span.append(rest);
      made.unshift(span);
    }
    return made;
  };

  const reveal = (element) => {
    if (window.eqnReveal) window.eqnReveal(element);
    for (let at = element.parentElement; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.classList.contains("toggle-hidden")) at.querySelector(".toggle-button")?.click();
    }
  };

  const inside = (hit, anchor) => !anchor || anchor.contains(hit) || Boolean(anchor.compareDocumentPosition(hit) & 4);

  /* The best of the marks: in the section that was asked for, as many words of it together as there are. */
  const first = (hits, anchor) => {
    const near = hits.filter((hit) => inside(hit, anchor));
    const among = near.length ? near : hits;
    const section = anchor?.closest("section");
    const here = section ? among.filter((hit) => section.contains(hit)) : among;
    const pool = here.length ? here : among;
    const longest = Math.max(...pool.map((hit) => hit.textContent.split(/\s+/).length));
    return pool.find((hit) => hit.textContent.split(/\s+/).length === longest);
  };

  const control = (name, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = name;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };

  const start = () => {
    const query = new URLSearchParams(location.search).get("highlight");
    const article = document.querySelector("article.bd-article");
    const wanted = query && article && pattern(query);
    if (!wanted) return;
    const hits = [];
    for (const node of texts(article)) if (hits.length < MOST) hits.push(...mark(node, wanted));
    if (!hits.length) return;
    const anchor = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    let at = hits.indexOf(first(hits, anchor));

    const bar = document.createElement("div");
    bar.className = "book-hits";
    bar.setAttribute("role", "status");
    const said = document.createElement("span");
    const go = (step) => {
      at = (at + step + hits.length) % hits.length;
      hits.forEach((hit, i) => hit.classList.toggle("book-hit-here", i === at));
      reveal(hits[at]);
      hits[at].scrollIntoView({ block: "center" });
      said.textContent = `“${query}”, ${at + 1} of ${hits.length}`;
    };
    const clear = () => {
      hits.forEach((hit) => { const { parentNode } = hit; hit.replaceWith(...hit.childNodes); parentNode.normalize(); });
      bar.remove();
      document.removeEventListener("keydown", escape);
      try { history.replaceState(null, "", location.pathname + location.hash); } catch (refused) { /* on file:// some browsers do */ }
    };
    const escape = (event) => { if (event.key === "Escape") clear(); };
    bar.append(said, control("↑", "previous place", () => go(-1)), control("↓", "next place", () => go(1)),
      control("✕", "take the marks away", clear));
    document.body.append(bar);
    document.addEventListener("keydown", escape);

    // Pictures and letters that are still to come move the text: go there again, unless the reader has left.
    let left = false;
    ["wheel", "touchmove", "keydown", "pointerdown"].forEach((kind) =>
      addEventListener(kind, () => { left = true; }, { once: true, passive: true }));
    const settle = () => left || go(0);
    settle();
    addEventListener("load", settle);
  };
  /* Whoever comes for the items of one verdict finds them ticked. */
  const tick = () => {
    const asked = new URLSearchParams(location.search).get("verdict");
    const box = asked && document.querySelector(`.eqn-legend input[value="${CSS.escape(asked)}"]`);
    if (box) box.checked = true;
  };
  const both = () => {
    tick();
    start();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", both);
  else both();
})();
