/* The first places already while one types into the search that opens over a page.

   What the search knows is large and is asked for at the first letters; Enter goes to its page, as before. */
(() => {
  "use strict";

  const root = document.documentElement.dataset.content_root ?? "";
  const MOST = 6;

  const script = (name) => new Promise((ready, failed) => {
    const made = Object.assign(document.createElement("script"), { src: `${root}_static/${name}`, onload: ready, onerror: failed });
    document.head.append(made);
  });
  let asked = null;
  const known = () => (asked ??= window.bookFind ? Promise.resolve() : script("search-data.js").then(() => script("search.js")));

  /* Where it is, without the words around it: for those there is the page of the search. */
  const brief = (entry) => {
    const link = entry.querySelector("a");
    link.setAttribute("href", root + link.getAttribute("href"));
    for (const more of entry.querySelectorAll(".book-excerpt, .math")) more.remove();
    return entry;
  };

  const start = () => {
    const form = document.querySelector("#pst-search-dialog form.bd-search");
    const input = form?.querySelector("input");
    if (!input) return;
    const list = Object.assign(document.createElement("ol"), { className: "search book-typed", hidden: true });
    list.setAttribute("aria-label", "first places");
    form.after(list);
    let timer = 0;
    const look = async () => {
      const query = input.value.trim();
      if (query.length > 1) await known();
      if (query !== input.value.trim()) return; // more was typed meanwhile
      list.replaceChildren(...(query.length > 1 ? window.bookFind(query, MOST).slice(0, MOST).map(brief) : []));
      list.hidden = !list.children.length;
      window.MathJax?.typesetPromise?.([list]);
    };
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, 150);
    });
    // The arrows go through the list, from the field and back to it.
    form.parentElement.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [input, ...list.querySelectorAll("a")];
      const to = stops[stops.indexOf(document.activeElement) + step];
      if (!step || !to) return;
      event.preventDefault();
      to.focus();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
